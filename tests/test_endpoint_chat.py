"""The official OpenAI SDK cannot tell the endpoint from the service: chat completions, plain, streamed, and with every option."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest
from endpoint_kit import (
    ANSWER,
    CHAT_TOOLS,
    KEY,
    LOOP,
    NOW,
    TWO_CALLS,
    USER,
    Live,
    Sums,
    add,
    chat,
    openai_client,
    respond,
    serving,
)

from agentkit import AskUser, CallTools, FinalAnswer, Message, Reply, ToolCall, ToolSpec, Usage
from agentkit.endpoint import Endpoint

openai = pytest.importorskip("openai", reason="needs openai: pip install 'agentkit-course[providers]'")


@pytest.fixture(scope="module")
def server() -> Iterator[Endpoint]:
    with Endpoint(LOOP, clock=lambda: NOW) as running:
        yield running


# --- chat completions ------------------------------------------------------------------------------------------------


def test_a_tool_loop_with_parallel_calls(server: Endpoint) -> None:
    messages = list(USER)
    with openai_client(server) as sdk:
        for _ in range(3):
            reply = sdk.chat.completions.create(model="offline", messages=messages, tools=CHAT_TOOLS).choices[0]
            messages.append(reply.message)
            for call in reply.message.tool_calls or []:
                given = json.loads(call.function.arguments)
                found = add(**given) if call.function.name == "add" else "2026-03-01"
                messages.append({"role": "tool", "tool_call_id": call.id, "content": str(found)})
    assert reply.finish_reason == "stop" and reply.message.content == ANSWER.text
    calls = [call.id for message in messages if hasattr(message, "tool_calls") for call in message.tool_calls or []]
    assert calls == ["call_1", "call_2", "call_3"], "numbered from the history, so the same in every run"


def test_the_document_has_every_field_of_the_service(server: Endpoint) -> None:
    reply = chat(server, tools=CHAT_TOOLS)
    checked = type(reply).model_validate(reply.to_dict(), strict=True)  # the SDK itself never validates
    choice = checked.choices[0]
    assert (reply.object, reply.created, reply.model) == ("chat.completion", NOW, "offline")
    assert reply.id.startswith("chatcmpl-") and reply._request_id.startswith("req_")
    assert choice.finish_reason == "tool_calls" and choice.message.content == TWO_CALLS.thought
    assert [call.function.arguments for call in choice.message.tool_calls] == ['{"a": 1, "b": 2}', '{"a": 3, "b": 4}']
    assert reply.usage.total_tokens == reply.usage.prompt_tokens + reply.usage.completion_tokens > 0


def test_a_stream_adds_up_to_the_document(server: Endpoint) -> None:
    whole = chat(server, tools=CHAT_TOOLS)
    with openai_client(server) as sdk:
        options = {"include_usage": True}
        stream = sdk.chat.completions.stream(model="offline", messages=USER, tools=CHAT_TOOLS, stream_options=options)
        with stream as events:
            kinds = {event.type for event in events}
            final = events.get_final_completion()
    assert {
        "content.delta",
        "content.done",
        "tool_calls.function.arguments.delta",
        "tool_calls.function.arguments.done",
    } <= kinds
    streamed = final.choices[0].message
    assert (streamed.content, streamed.refusal) == (whole.choices[0].message.content, None)
    assert _calls(streamed) == _calls(whole.choices[0].message)
    assert [call.function.parsed_arguments for call in streamed.tool_calls] == [{"a": 1, "b": 2}, {"a": 3, "b": 4}]
    assert (final.choices[0].finish_reason, final.usage) == ("tool_calls", whole.usage)
    exchange = server.exchanges[-1]
    assert exchange.response["choices"] == server.exchanges[-2].response["choices"], "the record knows the document too"
    assert {event["object"] for event in exchange.events} == {"chat.completion.chunk"}


def _calls(message: Any) -> list[tuple[str, str, str]]:
    return [(call.id, call.function.name, call.function.arguments) for call in message.tool_calls]


def test_the_chunks_are_those_of_the_service(server: Endpoint) -> None:
    chunks = chat(server, tools=CHAT_TOOLS, stream=True, stream_options={"include_usage": True})
    for chunk in chunks:
        type(chunk).model_validate(chunk.to_dict(), strict=True)
    assert chunks[0].choices[0].delta.to_dict() == {"role": "assistant", "content": "", "refusal": None}
    assert [len(chunk.choices) for chunk in chunks[-2:]] == [1, 0] and chunks[-1].usage.total_tokens > 0
    assert all(chunk.usage is None for chunk in chunks[:-1]) and len({chunk.id for chunk in chunks}) == 1
    calls = [call for chunk in chunks[:-1] for call in chunk.choices[0].delta.tool_calls or []]
    assert [(call.index, call.id, call.function.name) for call in calls if call.id] == [
        (0, "call_1", "add"),
        (1, "call_2", "add"),
    ]
    assert sum(call.index == 0 for call in calls) > 3, "the arguments come in pieces"
    assert "usage" not in chat(server, stream=True)[0].to_dict(), "without include_usage there is no usage"


def test_a_call_without_text_opens_with_null_content() -> None:
    with serving(CallTools("", (ToolCall("today"),))) as endpoint:
        first = chat(endpoint, tools=CHAT_TOOLS, stream=True)[0]
        assert first.choices[0].delta.content is None
        assert chat(endpoint, tools=CHAT_TOOLS).choices[0].message.content is None


def test_async_clients_side_by_side(server: Endpoint) -> None:
    async def work() -> list[str]:
        async with openai.AsyncOpenAI(base_url=server.openai_url, api_key=KEY, max_retries=0) as sdk:
            plain = [sdk.chat.completions.create(model="offline", messages=USER) for _ in range(8)]
            replies = await asyncio.gather(*plain)
            async with sdk.chat.completions.stream(model="offline", messages=USER) as events:
                async for _ in events:
                    pass
                streamed = await events.get_final_completion()
            async with sdk.responses.stream(model="offline", input=USER) as events:
                async for _ in events:
                    pass
                responded = await events.get_final_response()
            return [*(reply.choices[0].message.content for reply in (*replies, streamed)), responded.output_text]

    assert set(asyncio.run(work())) == {TWO_CALLS.thought}


def test_words_go_out_while_the_model_still_writes() -> None:
    model = Live(["The ", "sum ", "is 3."], FinalAnswer("", "The sum is 3."))
    with Endpoint(model) as endpoint, openai_client(endpoint, timeout=20) as sdk:
        stream = iter(sdk.chat.completions.create(model="offline", messages=USER, stream=True))
        assert [next(stream).choices[0].delta.content for _ in range(2)] == ["", "The "]
        assert model.written == 1, "the rest is not written yet"
        model.gate.set()
        assert "".join(chunk.choices[0].delta.content or "" for chunk in stream) == "sum is 3."
        assert endpoint.exchanges[0].response["choices"][0]["message"]["content"] == "The sum is 3."


def test_live_words_stay_when_the_reply_says_something_else() -> None:
    model = Live(["One ", "two"], CallTools("Reasoning.\n\nOne two", (ToolCall("today"),)))
    model.gate.set()
    with Endpoint(model) as endpoint:
        text = "".join(chunk.choices[0].delta.content or "" for chunk in chat(endpoint, stream=True, tools=CHAT_TOOLS))
        message = endpoint.exchanges[0].response["choices"][0]["message"]
        assert text == message["content"] == "One two" and message["tool_calls"][0]["function"]["name"] == "today"


def test_a_failure_in_the_middle_of_a_stream_is_an_error_event() -> None:
    model = Live(["One "], ANSWER, fails=True)
    model.gate.set()
    with Endpoint(model) as endpoint:
        with pytest.raises(openai.APIError, match="raised RuntimeError: the line is dead") as caught:
            chat(endpoint, stream=True)
        assert "sk-abc" not in str(caught.value)
        assert endpoint.exchanges[0].response is None and "error" in endpoint.exchanges[0].events[-1]


# --- what the request says about the reply ---------------------------------------------------------------------------


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("key", ["max_tokens", "max_completion_tokens"])
def test_the_length_limit_cuts_the_text(stream: bool, key: str) -> None:
    with serving(ANSWER) as endpoint:
        chat(endpoint, stream=stream, **{key: 3})
        choice = endpoint.exchanges[0].response["choices"][0]
        assert (choice["message"]["content"], choice["finish_reason"]) == (ANSWER.text[:12], "length")
        assert endpoint.exchanges[0].response["usage"]["completion_tokens"] == 3


def test_a_letter_of_several_bytes_is_not_cut_in_two() -> None:
    with serving(FinalAnswer("", "합은칠")) as endpoint:  # 9 bytes, of which 8 are allowed
        choice = chat(endpoint, max_tokens=2).choices[0]
        assert (choice.message.content, choice.finish_reason) == ("합은", "length")
        assert chat(endpoint, max_tokens=3).choices[0].finish_reason == "stop"


def test_the_length_limit_cuts_the_arguments() -> None:
    with serving(CallTools("", (ToolCall("add", {"a": 12345, "b": 67890}), ToolCall("today")))) as endpoint:
        choice = chat(endpoint, tools=CHAT_TOOLS, max_tokens=4).choices[0]
        assert choice.finish_reason == "length" and len(choice.message.tool_calls) == 1
        assert choice.message.tool_calls[0].function.arguments == '{"a": 12345, '
        with pytest.raises(openai.LengthFinishReasonError), openai_client(endpoint) as sdk:
            sdk.chat.completions.parse(model="offline", messages=USER, tools=CHAT_TOOLS, max_tokens=4)


def test_a_call_that_the_model_cut_itself_says_so() -> None:
    with serving(CallTools("", (ToolCall("add", '{"a": 1', truncated=True),))) as endpoint:
        choice = chat(endpoint, tools=CHAT_TOOLS).choices[0]
        assert (choice.finish_reason, choice.message.tool_calls[0].function.arguments) == ("length", '{"a": 1')


def test_malformed_arguments_go_out_as_they_are() -> None:
    with serving(CallTools("", (ToolCall("add", "{a: 1}"),))) as endpoint:
        choice = chat(endpoint, tools=CHAT_TOOLS).choices[0]
        assert (choice.finish_reason, choice.message.tool_calls[0].function.arguments) == ("tool_calls", "{a: 1}")


@pytest.mark.parametrize("stream", [False, True])
def test_stop_sequences_end_the_text_also_across_pieces(stream: bool) -> None:
    model = Live(["The sum", "s are 3 an", "d 7."], FinalAnswer("", "The sums are 3 and 7."))
    model.gate.set()
    with Endpoint(model) as endpoint:
        found = chat(endpoint, stream=stream, stop=["3 and", "9"])
        text = "".join(c.choices[0].delta.content or "" for c in found) if stream else found.choices[0].message.content
        assert text == "The sums are "
        assert endpoint.exchanges[0].response["choices"][0]["finish_reason"] == "stop"
        kept = chat(endpoint, stop="8").choices[0].message.content
        assert kept == "The sums are 3 and 7."


def test_parallel_calls_can_be_turned_off(server: Endpoint) -> None:
    assert len(chat(server, tools=CHAT_TOOLS, parallel_tool_calls=False).choices[0].message.tool_calls) == 1
    assert len(chat(server, tools=CHAT_TOOLS, parallel_tool_calls=True).choices[0].message.tool_calls) == 2


class Chooser:
    """Calls the first tool that it is shown, or answers when there is none."""

    def decide(self, messages: list[Message], tools: list[ToolSpec]) -> Reply:
        return Reply(CallTools("", (ToolCall(tools[0].name),)) if tools else FinalAnswer("", "No tool."))


ALLOWED = {"type": "function", "function": {"name": "today"}}


@pytest.mark.parametrize(
    ("choice", "wanted"),
    [("auto", "add"), ("none", None), ("required", "add"), (ALLOWED, "today"),
     ({"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [ALLOWED]}}, "today")],
)  # fmt: skip
def test_tool_choice_decides_what_the_model_is_shown(choice: Any, wanted: str | None) -> None:
    with Endpoint(Chooser()) as endpoint:
        message = chat(endpoint, tools=CHAT_TOOLS, tool_choice=choice).choices[0].message
        assert [call.function.name for call in message.tool_calls or []] == ([wanted] if wanted else [])


@pytest.mark.parametrize(
    ("decision", "choice", "words"),
    [(ANSWER, "required", "demands a tool call"), (AskUser("", "Which?"), ALLOWED, "demands a tool call"),
     (TWO_CALLS, "none", "forbids it"), (TWO_CALLS, ALLOWED, "another tool")],
)  # fmt: skip
def test_a_model_that_does_not_keep_to_the_choice_is_a_failure(decision: Any, choice: Any, words: str) -> None:
    with serving(decision) as endpoint, pytest.raises(openai.InternalServerError, match=words):
        chat(endpoint, tools=CHAT_TOOLS, tool_choice=choice)


def test_json_in_a_given_form_is_parsed_by_the_sdk_and_other_text_refused() -> None:
    given = Sums(first=3, words="three")
    with serving(FinalAnswer("", given.model_dump_json())) as endpoint, openai_client(endpoint) as sdk:
        chatted = sdk.chat.completions.parse(model="offline", messages=USER, response_format=Sums)
        with sdk.chat.completions.stream(model="offline", messages=USER, response_format=Sums) as events:
            streamed = events.get_final_completion()
        responded = sdk.responses.parse(model="offline", input="x", text_format=Sums)
        assert (
            chatted.choices[0].message.parsed == streamed.choices[0].message.parsed == responded.output_parsed == given
        )
    with serving(FinalAnswer("", "three")) as endpoint, pytest.raises(openai.InternalServerError, match="JSON"):
        chat(endpoint, response_format={"type": "json_object"})


def test_arguments_are_parsed_by_the_sdk_with_a_pydantic_tool() -> None:
    call = CallTools("", (ToolCall("Sums", {"first": 3, "words": "three"}),))
    with serving(call) as endpoint, openai_client(endpoint) as sdk:
        tools = [openai.pydantic_function_tool(Sums)]
        reply = sdk.chat.completions.parse(model="offline", messages=USER, tools=tools)
        assert reply.choices[0].message.tool_calls[0].function.parsed_arguments == Sums(first=3, words="three")


def test_usage_of_the_model_is_passed_on_with_its_cached_tokens() -> None:
    with serving(Reply(ANSWER, Usage(100, 20, 60, None))) as endpoint:
        usage = chat(endpoint).usage
        assert (usage.prompt_tokens, usage.completion_tokens, usage.prompt_tokens_details.cached_tokens) == (
            100,
            20,
            60,
        )
        usage = respond(endpoint).usage
        assert (usage.input_tokens, usage.output_tokens, usage.input_tokens_details.cached_tokens) == (100, 20, 60)


def test_ids_of_the_model_are_kept_unless_they_are_taken() -> None:
    calls = (ToolCall("today", {}, "mine"), ToolCall("today", {}, "mine"), ToolCall("today", {}, "not ok!"))
    with serving(CallTools("", calls)) as endpoint:
        ids = [call.id for call in chat(endpoint, tools=CHAT_TOOLS).choices[0].message.tool_calls]
        assert ids == ["mine", "call_2", "call_3"]


def test_numbers_that_a_history_uses_already_are_left_out() -> None:
    history = [
        *USER,
        {"role": "assistant", "content": None, "tool_calls": [{"id": "call_2", "type": "function", "function": {"name": "today", "arguments": ""}}]},
        {"role": "tool", "tool_call_id": "call_2", "content": "x"},
        *USER,
    ]  # fmt: skip
    with serving(CallTools("", (ToolCall("today"),))) as endpoint:
        reply = chat(endpoint, messages=history, tools=CHAT_TOOLS)
        assert reply.choices[0].message.tool_calls[0].id == "call_3"


@pytest.mark.parametrize("stream", [False, True])
def test_custom_tools_take_plain_text(stream: bool) -> None:
    tool = {"type": "custom", "custom": {"name": "shell", "description": "Runs a line."}}
    call = CallTools("", (ToolCall("shell", {"input": "ls -l /tmp"}),))
    with serving(call) as endpoint:
        found = chat(endpoint, tools=[tool], stream=stream)
        if stream:
            parts = [part.to_dict() for chunk in found for part in chunk.choices[0].delta.tool_calls or []]
            assert "".join(part["custom"]["input"] for part in parts) == "ls -l /tmp" and parts[0]["type"] == "custom"
        else:
            made = found.choices[0].message.tool_calls[0]
            assert (made.type, made.custom.name, made.custom.input) == ("custom", "shell", "ls -l /tmp")
        responded = respond(endpoint, tools=[{"type": "custom", "name": "shell"}], stream=stream)
        if stream:
            responded = next(event for event in responded if event.type == "response.completed").response
        assert (responded.output[0].type, responded.output[0].input) == ("custom_tool_call", "ls -l /tmp")


def test_letters_that_some_readers_take_for_the_end_of_a_line_survive_a_stream() -> None:
    text = "one\u2028two\u2029three\x85four\r\n다섯"
    with serving(FinalAnswer("", text)) as endpoint:
        for found in (chat(endpoint, stream=True), respond(endpoint, stream=True)):
            parts = [c.choices[0].delta.content if hasattr(c, "choices") else getattr(c, "delta", "") for c in found]
            assert "".join(part or "" for part in parts) == text
        assert endpoint.exchanges[0].response["choices"][0]["message"]["content"] == text
