"""The official Anthropic SDK cannot tell the endpoint from the service: messages, thinking, streams, tokens, errors."""

from __future__ import annotations

import asyncio
import contextlib
import functools
from collections.abc import Iterator
from typing import Any

import pytest
from endpoint_kit import ANSWER, ANTHROPIC_TOOLS, KEY, LOOP, TWO_CALLS, Hanging, Live, add, ask, serving
from pydantic import BaseModel

from agentkit import CallTools, FinalAnswer, Message, Reply, ToolCall, ToolSpec, Usage
from agentkit.endpoint import Endpoint
from agentkit.endpoint.messages import signature

anthropic = pytest.importorskip("anthropic", reason="needs anthropic: pip install 'agentkit-course[providers]'")
httpx2 = pytest.importorskip("httpx2", reason="needs httpx2, which anthropic brings")

USER: list[Any] = [{"role": "user", "content": "1 + 2, 3 + 4, and the date?"}]
HEADERS = {"x-api-key": KEY, "anthropic-version": "2023-06-01"}
THINK = {"thinking": {"type": "enabled", "budget_tokens": 1024}, "max_tokens": 3000}


class Sums(BaseModel):
    """What a reply in a given form looks like."""

    first: int
    words: str


@pytest.fixture(scope="module")
def server() -> Iterator[Endpoint]:
    with Endpoint(LOOP) as running:
        yield running


@functools.cache
def root() -> Any:
    """One client for all tests, since making one takes a third of a second."""
    return anthropic.Anthropic(base_url="http://127.0.0.1:9", api_key=KEY, max_retries=0)


@pytest.fixture(scope="module", autouse=True)
def closed_at_the_end() -> Iterator[None]:
    yield
    root().close()


def client(endpoint: Endpoint, **options: Any) -> Any:
    return contextlib.nullcontext(root().with_options(base_url=endpoint.anthropic_url, **options))


def create(endpoint: Endpoint, **request: Any) -> Any:
    """The message, or the list of events of a stream."""
    with client(endpoint) as sdk:
        found = sdk.messages.create(**{"model": "offline", "max_tokens": 500, "messages": USER, **request})
        return list(found) if request.get("stream") else found


def streamed(endpoint: Endpoint, **request: Any) -> Any:
    """The message as the SDK's stream helper puts it together."""
    with client(endpoint) as sdk:
        full = {"model": "offline", "max_tokens": 500, "messages": USER, **request}
        with sdk.messages.stream(**full) as events:
            return events.get_final_message()


def plain(message: Any) -> dict[str, Any]:
    """The message without what differs from request to request."""
    found: dict[str, Any] = message.to_dict()
    found.pop("id")
    for block in found["content"]:
        block.pop("parsed_output", None)
    return found


def answers(content: Any) -> dict[str, Any]:
    uses = [block for block in content if block.type == "tool_use"]
    found = [str(add(**use.input)) if use.name == "add" else "2026-03-01" for use in uses]
    blocks = [
        {"type": "tool_result", "tool_use_id": use.id, "content": text} for use, text in zip(uses, found, strict=True)
    ]
    return {"role": "user", "content": blocks}


# --- the tool loop ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("by", [create, streamed])
@pytest.mark.parametrize("extra", [{}, THINK], ids=["plain", "thinking"])
def test_a_tool_loop_with_parallel_calls(server: Endpoint, by: Any, extra: dict[str, Any]) -> None:
    messages, ids = list(USER), []
    for _ in range(3):
        reply = by(server, messages=messages, tools=ANTHROPIC_TOOLS, **extra)
        ids += [block.id for block in reply.content if block.type == "tool_use"]
        messages.append({"role": "assistant", "content": reply.content})
        if reply.stop_reason == "tool_use":
            messages.append(answers(reply.content))
    assert (reply.stop_reason, reply.content[-1].text) == ("end_turn", ANSWER.text)
    assert ids == ["toolu_1", "toolu_2", "toolu_3"]


def test_the_message_has_every_field_of_the_service(server: Endpoint) -> None:
    reply = create(server, tools=ANTHROPIC_TOOLS)
    checked = type(reply).model_validate(reply.to_dict())
    assert (checked.type, checked.role, checked.model) == ("message", "assistant", "offline")
    assert (checked.stop_reason, checked.stop_sequence) == ("tool_use", None)
    assert [block.type for block in checked.content] == ["text", "tool_use", "tool_use"]
    assert checked.content[0].text == TWO_CALLS.thought and checked.content[1].input == {"a": 1, "b": 2}
    assert checked.id.startswith("msg_") and reply._request_id.startswith("req_") and checked.usage.output_tokens > 0


@pytest.mark.parametrize("extra", [{}, THINK, {"max_tokens": 3}, {"stop_sequences": ["both"]}], ids=str)
def test_a_stream_adds_up_to_the_message(server: Endpoint, extra: dict[str, Any]) -> None:
    whole = create(server, tools=ANTHROPIC_TOOLS, **extra)
    assert plain(streamed(server, tools=ANTHROPIC_TOOLS, **extra)) == plain(whole)
    exchange = server.exchanges[-1]
    assert {**exchange.response, "id": whole.id} == server.exchanges[-2].response


def test_the_events_are_those_of_the_service(server: Endpoint) -> None:
    create(server, tools=ANTHROPIC_TOOLS, stream=True)
    events = server.exchanges[-1].events
    kinds = [event["type"] for event in events]
    assert kinds[:3] == ["message_start", "ping", "content_block_start"] and kinds[-2:] == [
        "message_delta",
        "message_stop",
    ]
    assert kinds.count("content_block_start") == kinds.count("content_block_stop") == 3
    assert events[0]["message"]["content"] == [] and events[0]["message"]["stop_reason"] is None
    assert events[-2]["delta"]["stop_reason"] == "tool_use" and events[-2]["usage"]["output_tokens"] > 0
    parts = [event["delta"]["partial_json"] for event in events if event.get("index") == 1 and "delta" in event]
    assert parts[0] == "" and len(parts) > 3 and "".join(parts) == '{"a": 1, "b": 2}'


def test_a_call_without_arguments_in_a_stream_ST_07() -> None:
    with serving(CallTools("", (ToolCall("today", ""),))) as endpoint:
        reply = streamed(endpoint, tools=ANTHROPIC_TOOLS)
        assert reply.content[0].input == {} and reply.stop_reason == "tool_use"


def test_arguments_that_are_no_object_go_out_under_a_key_that_says_so() -> None:
    with serving(CallTools("", (ToolCall("add", "{a: 1}"),))) as endpoint:
        assert create(endpoint, tools=ANTHROPIC_TOOLS).content[0].input == {"not_json": "{a: 1}"}
        assert streamed(endpoint, tools=ANTHROPIC_TOOLS).content[0].input == {"not_json": "{a: 1}"}


def test_the_tool_runner_of_the_sdk_completes_a_loop(server: Endpoint) -> None:
    @anthropic.beta_tool(name="add")
    def added(a: int, b: int) -> str:
        """Add two numbers.

        Args:
            a: The first.
            b: The second.
        """
        return str(a + b)

    @anthropic.beta_tool(name="today")
    def date() -> str:
        """The date."""
        return "2026-03-01"

    with client(server) as sdk:
        runner = sdk.beta.messages.tool_runner(model="offline", max_tokens=500, messages=USER, tools=[added, date])
        assert runner.until_done().content[0].text == ANSWER.text
    threads = [exchange for exchange in server.exchanges if "thread" in (exchange.request or {})]
    assert [exchange.status for exchange in threads] == [400], "it is told once that no conversation is held here"


def test_async_clients_side_by_side(server: Endpoint) -> None:
    async def work() -> list[str]:
        async with anthropic.AsyncAnthropic(base_url=server.anthropic_url, api_key=KEY, max_retries=0) as sdk:
            many = [sdk.messages.create(model="offline", max_tokens=50, messages=USER) for _ in range(8)]
            replies = await asyncio.gather(*many)
            async with sdk.messages.stream(model="offline", max_tokens=50, messages=USER) as events:
                text = "".join([piece async for piece in events.text_stream])
            return [*(reply.content[0].text for reply in replies), text]

    assert set(asyncio.run(work())) == {TWO_CALLS.thought}


def test_words_go_out_while_the_model_still_writes() -> None:
    model = Live(["The ", "sum ", "is 3."], FinalAnswer("", "The sum is 3."))
    full = {"model": "offline", "max_tokens": 50, "messages": USER}
    with Endpoint(model) as endpoint, client(endpoint, timeout=20) as sdk, sdk.messages.stream(**full) as events:
        words = iter(events.text_stream)
        assert next(words) == "The " and model.written == 1
        model.gate.set()
        assert "".join(words) == "sum is 3."


# --- thinking --------------------------------------------------------------------------------------------------------


def test_thinking_comes_signed_and_must_come_back_unchanged() -> None:
    with serving(TWO_CALLS, ANSWER) as endpoint:
        reply = create(endpoint, tools=ANTHROPIC_TOOLS, **THINK)
        assert [block.type for block in reply.content] == ["thinking", "tool_use", "tool_use"]
        assert reply.content[0].thinking == TWO_CALLS.thought
        kept = [block.to_dict() for block in reply.content]
        back = [*USER, {"role": "assistant", "content": kept}, answers(reply.content)]
        assert create(endpoint, messages=back, tools=ANTHROPIC_TOOLS, **THINK).content[-1].text == ANSWER.text
        for changed in ({"thinking": "I add nothing."}, {"signature": "x"}):
            wrong = [{**kept[0], **changed}, *kept[1:]]
            with pytest.raises(anthropic.BadRequestError, match="Invalid `signature`"):
                create(endpoint, messages=[USER[0], {"role": "assistant", "content": wrong}, back[2]], **THINK)
        with pytest.raises(anthropic.BadRequestError, match="Expected `thinking`"):
            create(endpoint, messages=[USER[0], {"role": "assistant", "content": kept[1:]}, back[2]], **THINK)
        left_out = [USER[0], {"role": "assistant", "content": kept[1:]}, back[2]]
        assert create(endpoint, messages=left_out).content, "without thinking nothing is missing"
        assert create(endpoint, messages=left_out, thinking={"type": "adaptive"}).content


def test_a_signature_belongs_to_its_text() -> None:
    assert signature("a") == signature("a") != signature("b")


@pytest.mark.parametrize("kind", ["adaptive", "between_tools"])
def test_other_kinds_of_thinking(server: Endpoint, kind: str) -> None:
    assert create(server, thinking={"type": kind}).content[0].type == "thinking"
    assert create(server, thinking={"type": "disabled"}).content[0].type == "text"


# --- what the request says about the reply ---------------------------------------------------------------------------


def test_the_length_limit_and_stop_sequences() -> None:
    with serving(ANSWER) as endpoint:
        cut = create(endpoint, max_tokens=3)
        assert (cut.content[0].text, cut.stop_reason, cut.usage.output_tokens) == (ANSWER.text[:12], "max_tokens", 3)
        stopped = create(endpoint, stop_sequences=["7.", "and"])
        assert (stopped.content[0].text, stopped.stop_reason, stopped.stop_sequence) == (
            "The sums are 3 ",
            "stop_sequence",
            "and",
        )
        both = create(endpoint, max_tokens=1, stop_sequences=["and"])
        assert (both.stop_reason, both.stop_sequence) == ("max_tokens", None)


@pytest.mark.parametrize("by", [create, streamed])
def test_a_call_that_is_cut_has_no_arguments_to_run_with_AR_05(by: Any) -> None:
    with serving(CallTools("", (ToolCall("add", {"a": 12345, "b": 67890}),))) as endpoint:
        reply = by(endpoint, tools=ANTHROPIC_TOOLS, max_tokens=4)
        assert reply.stop_reason == "max_tokens" and reply.content[0].input != {"a": 12345, "b": 67890}
        assert endpoint.exchanges[-1].response["content"][0]["input"] == {}


def test_parallel_calls_can_be_turned_off(server: Endpoint) -> None:
    choice = {"type": "auto", "disable_parallel_tool_use": True}
    reply = create(server, tools=ANTHROPIC_TOOLS, tool_choice=choice)
    assert [block.type for block in reply.content] == ["text", "tool_use"]


class Chooser:
    """Calls the first tool that it is shown, or answers when there is none."""

    def decide(self, messages: list[Message], tools: list[ToolSpec]) -> Reply:
        return Reply(CallTools("", (ToolCall(tools[0].name),)) if tools else FinalAnswer("", "No tool."))


@pytest.mark.parametrize(
    ("choice", "wanted"),
    [
        ({"type": "auto"}, "add"),
        ({"type": "none"}, None),
        ({"type": "any"}, "add"),
        ({"type": "tool", "name": "today"}, "today"),
    ],
)
def test_tool_choice_decides_what_the_model_is_shown(choice: Any, wanted: str | None) -> None:
    with Endpoint(Chooser()) as endpoint:
        content = create(endpoint, tools=ANTHROPIC_TOOLS, tool_choice=choice).content
        assert [block.name for block in content if block.type == "tool_use"] == ([wanted] if wanted else [])


def test_json_in_a_given_form_is_parsed_by_the_sdk() -> None:
    given = Sums(first=3, words="three")
    with serving(FinalAnswer("", given.model_dump_json())) as endpoint, client(endpoint) as sdk:
        reply = sdk.messages.parse(model="offline", max_tokens=99, messages=USER, output_format=Sums)
        assert reply.parsed_output == given
    with (
        serving(ANSWER) as endpoint,
        client(endpoint) as sdk,
        pytest.raises(anthropic.InternalServerError, match="JSON"),
    ):
        sdk.messages.parse(model="offline", max_tokens=99, messages=USER, output_format=Sums)


def test_usage_counts_cached_tokens_apart() -> None:
    with serving(Reply(ANSWER, Usage(100, 20, 60, None))) as endpoint:
        for usage in (create(endpoint).usage, streamed(endpoint).usage):
            assert (usage.input_tokens, usage.cache_read_input_tokens, usage.output_tokens) == (40, 60, 20)


def test_tokens_are_counted(server: Endpoint) -> None:
    with client(server) as sdk:
        short = sdk.messages.count_tokens(model="offline", messages=USER).input_tokens
        long = sdk.messages.count_tokens(
            model="offline", messages=USER, tools=ANTHROPIC_TOOLS, system="Be brief."
        ).input_tokens
    assert 0 < short < long == create(server, tools=ANTHROPIC_TOOLS, system="Be brief.").usage.input_tokens


def test_models(server: Endpoint) -> None:
    with client(server) as sdk:
        models = list(sdk.models.list())
        assert [type(model).model_validate(model.to_dict()).id for model in models] == ["offline"]
        assert sdk.models.retrieve("offline").display_name == "offline"
        with pytest.raises(anthropic.NotFoundError, match="model: claude-unknown"):
            sdk.models.retrieve("claude-unknown")


def test_system_text_in_both_forms_reaches_the_model() -> None:
    seen = []

    class Listens:
        def decide(self, messages: Any, tools: Any) -> Reply:
            seen.append([(message.role, message.text) for message in messages])
            return Reply(ANSWER)

    with Endpoint(Listens()) as endpoint:
        create(endpoint, system="Be brief.")
        create(endpoint, system=[{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}])
    assert seen[0] == seen[1] == [("system", "Be brief."), ("user", USER[0]["content"])]


# --- refusals and errors ---------------------------------------------------------------------------------------------

USE = {"type": "tool_use", "id": "t1", "name": "add", "input": {}}
OPEN = {"name": "f", "strict": True, "input_schema": {"type": "object", "properties": {}}}
BOUND = {
    "name": "f", "strict": True,
    "input_schema": {"type": "object", "additionalProperties": False, "properties": {"n": {"type": "integer", "minimum": 1}}},
}  # fmt: skip


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ({"max_tokens": None}, "max_tokens: Field required"), ({"max_tokens": 0}, "max_tokens"), ({"messages": []}, "history is empty"),
        ({"messages": [*USER, {"role": "assistant", "content": [USE]}]}, "t1"), ({"messages": [3]}, "messages"),
        ({"messages": [*USER, {"role": "assistant", "content": [USE]}, {"role": "user", "content": "and?"}]}, "tool_result"),
        ({"messages": [*USER, {"role": "assistant", "content": [{"type": "text", "text": " "}]}, *USER]}, "empty"),
        ({"messages": [*USER, {"role": "assistant", "content": [{"type": "redacted_thinking", "data": "x"}, {"type": "text", "text": "a"}]}, *USER]}, "redacted_thinking"),
        ({"system": 3}, "system"), ({"tools": [{"name": "f"}]}, "input_schema: Field required"), ({"tools": [{"type": "web_search_20250305", "name": "web_search"}]}, "web_search"),
        ({"tools": [OPEN]}, "additionalProperties"), ({"tools": [BOUND]}, "minimum"), ({"tools": ANTHROPIC_TOOLS, "tool_choice": {"type": "tool", "name": "sub"}}, "'sub'"),
        ({"tool_choice": {"type": "any"}}, "no tools"), ({"tool_choice": {"type": "some"}}, "tool_choice.type"), ({"temperature": 2}, "'temperature'"),
        ({"thinking": {"type": "enabled"}}, "budget_tokens"), ({"thinking": {"type": "enabled", "budget_tokens": 10}}, "1024"), ({"thinking": {"type": "much"}}, "thinking.type"),
        ({"thinking": {"type": "enabled", "budget_tokens": 2000}}, "greater than"), ({"mcp_servers": [{}]}, "'mcp_servers'"),
        ({"thinking": {"type": "adaptive"}, "tools": ANTHROPIC_TOOLS, "tool_choice": {"type": "any"}}, "forces tool use"),
        ({"output_config": {"format": {"type": "xml"}}}, "json_schema"),
    ],
)  # fmt: skip
def test_what_the_service_would_refuse_is_a_400(server: Endpoint, part: dict[str, Any], words: str) -> None:
    body = {"model": "offline", "max_tokens": 500, "messages": USER, **part}
    status, document, _ = ask(f"{server.url}/v1/messages", body, HEADERS)
    assert status == 400 and words in document["error"]["message"]
    assert (document["type"], document["error"]["type"]) == ("error", "invalid_request_error") and document[
        "request_id"
    ]


def test_the_version_header_is_needed(server: Endpoint) -> None:
    status, document, _ = ask(f"{server.url}/v1/messages", {"model": "offline"}, {"x-api-key": KEY})
    assert status == 400 and "anthropic-version" in document["error"]["message"]


@pytest.mark.parametrize(
    ("status", "error"),
    [(400, "BadRequestError"), (401, "AuthenticationError"), (403, "PermissionDeniedError"), (404, "NotFoundError"),
     (413, "ContentTooLargeError"), (429, "RateLimitError"), (500, "InternalServerError"), (529, "OverloadedError")],
)  # fmt: skip
def test_faults_become_the_errors_of_the_sdk(server: Endpoint, status: int, error: str) -> None:
    server.fail(status)
    found = getattr(anthropic, error, None) or getattr(anthropic._exceptions, error)
    with pytest.raises(found) as caught:
        create(server)
    assert caught.value.status_code == status and caught.value.type == server.exchanges[-1].response["error"]["type"]


def test_retries_are_counted_by_what_the_endpoint_saw() -> None:
    with serving(ANSWER) as endpoint, client(endpoint, max_retries=2) as sdk:
        endpoint.fail(529, 2, retry_after=0.01)
        assert sdk.messages.create(model="offline", max_tokens=99, messages=USER).content[0].text == ANSWER.text
        assert [exchange.status for exchange in endpoint.exchanges] == [529, 529, 200]
        with pytest.raises(anthropic.BadRequestError):
            sdk.messages.create(model="offline", max_tokens=99, messages=[])
        assert len(endpoint.exchanges) == 4


def test_a_model_that_hangs_is_a_time_out_for_the_client() -> None:
    model = Hanging()
    with Endpoint(model) as endpoint:
        with client(endpoint, timeout=0.3) as sdk, pytest.raises(anthropic.APITimeoutError):
            sdk.messages.create(model="offline", max_tokens=99, messages=USER)
        endpoint.stop()
        assert [exchange.status for exchange in endpoint.exchanges] == [499]
    model.gate.set()


def test_a_stream_that_breaks_in_the_middle() -> None:
    with serving(ANSWER) as endpoint:
        endpoint.fail(529, after_chunks=4)
        with pytest.raises(anthropic.APIStatusError, match="overloaded_error"):
            create(endpoint, stream=True)
        assert len(endpoint.exchanges[0].events) == 5 and endpoint.exchanges[0].response is None
        endpoint.fail(None, after_chunks=4)
        with pytest.raises(httpx2.RemoteProtocolError):  # which this SDK passes on as it is
            streamed(endpoint)
        assert endpoint.exchanges[1].response is None


def test_a_failure_of_the_model_in_the_middle_of_a_stream() -> None:
    model = Live(["One "], ANSWER, fails=True)
    model.gate.set()
    with Endpoint(model) as endpoint, pytest.raises(anthropic.APIStatusError, match="the line is dead"):
        create(endpoint, stream=True)
