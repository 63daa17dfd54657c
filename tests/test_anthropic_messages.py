"""The wire of the Messages API as pure functions: requests, documents, and streams put together."""

from __future__ import annotations

import functools
import gzip
import json
from typing import Any

import pytest
from _needs import require
from hypothesis import given
from hypothesis import strategies as st
from strategies import profile

from agentkit import (
    CallTools,
    DefinitionError,
    FinalAnswer,
    Message,
    ProviderError,
    Registry,
    ReplyError,
    ToolCall,
    ToolResult,
    ToolSpec,
    Usage,
    anthropic_problems,
    to_anthropic,
    tool,
)
from agentkit.models._messages import (
    MessageAssembler,
    continued,
    message_request,
    read_message,
    resumed,
    said,
)
from agentkit.models.catalog import cost

Json = dict[str, Any]
MODEL = "claude-haiku-4-5"
LOOK = ToolSpec(
    "look",
    "Look at one thing.",
    {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"], "additionalProperties": False},
)
BOUNDED = ToolSpec("wait", "Wait.", {"type": "object", "properties": {"days": {"type": "integer", "minimum": 1}}})
THINKING = {"type": "thinking", "thinking": "Look first.", "signature": "c2ln+/=="}
HIDDEN = {"type": "redacted_thinking", "data": "ZW5jcnlwdGVk"}
SEARCH = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "boxes"}}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}


def text(words: str) -> Json:
    return {"type": "text", "text": words}


def use(call_id: str = "toolu_1", name: str = "look", input: Any = None) -> Json:
    return {"type": "tool_use", "id": call_id, "name": name, "input": {"name": "box"} if input is None else input}


def document(*content: Json, stop: str | None = "end_turn", **more: Any) -> Json:
    usage = {"input_tokens": 10, "output_tokens": 5}
    return {
        "type": "message",
        "role": "assistant",
        "model": MODEL,
        "content": list(content),
        "stop_reason": stop,
        "usage": usage,
        **more,
    }


def user(words: str = "go") -> Message:
    return Message("user", words)


# --- requests --------------------------------------------------------------------------------------------------------


def test_a_request_is_what_the_service_documents() -> None:
    history = [
        Message("system", "Be brief."), user(), Message("assistant", "I look.", (ToolCall("look", {"name": "box"}, "toolu_1"),)),
        Message("tool", result=ToolResult("toolu_1", "look", 7)),
    ]  # fmt: skip
    assert message_request(MODEL, history, [LOOK], max_output_tokens=100, thinking={"type": "adaptive"}) == {
        "model": MODEL,
        "max_tokens": 100,
        "system": "Be brief.",
        "thinking": {"type": "adaptive"},
        "messages": [
            {"role": "user", "content": [text("go")]},
            {"role": "assistant", "content": [text("I look."), use()]},
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": '{"ok": true, "data": 7}'}],
            },
        ],
        "tools": [
            {"name": "look", "description": "Look at one thing.", "strict": True, "input_schema": LOOK.parameters}
        ],
    }


def test_what_is_not_wanted_is_not_sent() -> None:
    assert message_request(MODEL, [user()]).keys() == {"model", "max_tokens", "messages"}


def test_one_call_at_a_time() -> None:
    body = message_request(MODEL, [user()], [LOOK], parallel_tools=False)
    assert body["tool_choice"] == {"type": "auto", "disable_parallel_tool_use": True}
    assert "tool_choice" not in message_request(MODEL, [user()], [LOOK])
    assert "tool_choice" not in message_request(MODEL, [user()], parallel_tools=False), "refused without tools"


def test_bounds_are_sent_without_the_strict_form() -> None:
    [sent] = message_request(MODEL, [user()], [BOUNDED])["tools"]
    assert "strict" not in sent and sent["input_schema"] == BOUNDED.parameters


def test_options_are_passed_on_and_win() -> None:
    body = message_request(
        MODEL, [user()], [LOOK], options={"stop_sequences": ["END"], "tool_choice": {"type": "any"}, "max_tokens": 7}
    )
    assert (body["stop_sequences"], body["tool_choice"], body["max_tokens"]) == (["END"], {"type": "any"}, 7)


@pytest.mark.parametrize(
    ("history", "words"),
    [
        pytest.param([user(), Message("assistant", "ok ")], "own words", id="PA-08 an assistant message at the end"),
        pytest.param([], "empty", id="nothing"),
        pytest.param([Message("system", "x")], "empty", id="only a system prompt"),
        pytest.param([user("  ")], "empty", id="only blanks"),
    ],
)
def test_a_history_that_leaves_nothing_to_answer_is_not_sent(history: list[Message], words: str) -> None:
    with pytest.raises(DefinitionError, match=f"{words}.*Let it end with a goal"):
        message_request(MODEL, history)


def test_field_failures_of_histories_pa_01_pa_03_pa_07_pa_09() -> None:
    calls = (ToolCall("look", {"name": "a"}, "t1"), ToolCall("look", {"name": "b"}, "t2"))
    history = [
        user("one"), Message("assistant", ""), user("two"), Message("system", "Late."),
        Message("assistant", " \n", calls, provider={"anthropic": [THINKING, text(" "), use("t1"), use("t2")]}),
        Message("tool", result=ToolResult("t1", "look", 1)), Message("tool", result=ToolResult("t2", "look", 2)), user("three"),
    ]  # fmt: skip
    body = message_request(MODEL, history, [LOOK])
    assert anthropic_problems(body["messages"]) == []
    assert body["system"] == "Late."
    assert [turn["role"] for turn in body["messages"]] == ["user", "assistant", "user"]
    assert [block["type"] for block in body["messages"][1]["content"]] == ["thinking", "tool_use", "tool_use"]
    assert [block["type"] for block in body["messages"][2]["content"]] == ["tool_result", "tool_result", "text"]


# --- documents: every way to end -------------------------------------------------------------------------------------


@pytest.mark.parametrize("stop", ["end_turn", "stop_sequence", "tool_use", None])
def test_an_ordinary_end_leaves_no_trace(stop: str | None) -> None:
    assert read_message(document(text("Seven."), stop=stop)).decision == FinalAnswer("", "Seven.")
    assert read_message(document(text("Seven."), stop=stop)).provider is None


def test_calls() -> None:
    found = read_message(document(text("I look."), use(), use("toolu_2", input={}), stop="tool_use"), [LOOK])
    assert found.decision == CallTools(
        "I look.", (ToolCall("look", {"name": "box"}, "toolu_1"), ToolCall("look", {}, "toolu_2"))
    )
    assert found.provider is None


def test_a_name_of_the_wire_becomes_the_name_of_the_tool() -> None:
    dotted = ToolSpec("shop.lookup", "", {"type": "object", "properties": {}})
    [sent] = message_request(MODEL, [user()], [dotted])["tools"]
    found = read_message(document(use(name=sent["name"]), use(name="shop_lookup"), stop="tool_use"), [dotted]).decision
    assert isinstance(found, CallTools)
    assert [call.name for call in found.calls] == ["shop.lookup", "shop_lookup"], "an unknown name stays as it is"


@pytest.mark.parametrize("stop", ["max_tokens", "model_context_window_exceeded"])
def test_a_text_that_was_cut_off_stays_and_says_so(stop: str) -> None:
    found = read_message(document(text("Seven or"), stop=stop))
    assert found.decision == FinalAnswer("", "Seven or") and found.provider == {"stop_reason": stop}


@pytest.mark.parametrize("stop", ["max_tokens", "model_context_window_exceeded"])
@pytest.mark.parametrize("half", [{"name": "bo"}, {}, '{"name": "bo'], ids=["looks whole", "empty", "text"])
def test_a_call_that_may_be_half_is_truncated_and_never_runs(stop: str, half: Any) -> None:
    ran: list[str] = []

    @tool
    def look(name: str = "all") -> str:
        """Look."""
        ran.append(name)
        return name

    found = read_message(document(use(), use("toolu_2", input=half), stop=stop)).decision
    assert isinstance(found, CallTools)
    assert [call.truncated for call in found.calls] == [False, True]
    first, second = Registry([look]).call_all(found.calls)
    assert first.ok and second.error is not None and second.error.code == "truncated"
    assert ran == ["box"]


def test_broken_json_without_a_length_limit_is_told_as_broken_json() -> None:
    @tool
    def look(name: str) -> str:
        """Look."""
        return name

    found = read_message(document(use(input='{"name": box}'), stop="tool_use")).decision
    assert isinstance(found, CallTools) and found.calls[0] == ToolCall("look", '{"name": box}', "toolu_1")
    error = Registry([look]).call(found.calls[0]).error
    assert error is not None and error.code == "bad_json"


@pytest.mark.parametrize(
    ("stop", "words"),
    [
        ("max_tokens", "max_output_tokens"),
        ("model_context_window_exceeded", "smaller memory"),
        ("pause_turn", "paused"),
    ],
)
@pytest.mark.parametrize("content", [[], [THINKING], [text(" ")]], ids=["nothing", "only thinking", "a blank"])
def test_nothing_said_before_the_end_is_an_error_that_says_what_to_do(
    stop: str, words: str, content: list[Json]
) -> None:
    with pytest.raises(ReplyError, match=words):
        read_message(document(*content, stop=stop))


@pytest.mark.parametrize(
    ("content", "details", "answer"),
    [
        ([text("I will not do that.")], None, "I will not do that."),
        ([], {"type": "refusal", "category": "cyber", "explanation": "It could do harm."}, "It could do harm."),
        ([text("First,")], {"type": "refusal", "category": None, "explanation": "Stopped."}, "First,\n\nStopped."),
        ([], {"type": "refusal", "category": None, "explanation": None}, "The model declined to answer this request."),
        ([use()], None, "The model declined to answer this request."),
    ],
)
def test_a_refusal_is_an_answer(content: list[Json], details: Any, answer: str) -> None:
    found = read_message(document(*content, stop="refusal", stop_details=details))
    assert found.decision == FinalAnswer("", answer) and found.provider == {"stop_reason": "refusal"}


def test_an_empty_reply_with_an_ordinary_end_is_left_to_the_loop() -> None:
    assert read_message(document()).decision == FinalAnswer("", "")


def test_a_stop_reason_of_a_later_version_is_passed_on() -> None:
    assert read_message(document(text("Hm."), stop="too_late")).provider == {"stop_reason": "too_late"}
    assert isinstance(read_message(document(use(), stop="too_late")).decision, CallTools)


@pytest.mark.parametrize("found", [{}, {"content": None}, {"choices": []}, [], "hello", None], ids=repr)
def test_something_that_is_no_message(found: Any) -> None:
    with pytest.raises(ReplyError, match="no content"):
        read_message(found)


def test_an_error_document_is_an_error() -> None:
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Busy, api_key=abcdef123"}}
    for take in (read_message, MessageAssembler().add):
        with pytest.raises(ProviderError, match="Busy") as raised:
            take(error)
        assert raised.value.code == "server_error" and "abcdef123" not in str(raised.value)


# --- documents: what is kept, and sent back unchanged ----------------------------------------------------------------


KEPT: dict[str, list[Json]] = {
    "thinking": [THINKING, text("Seven.")],
    "thinking before a call": [THINKING, text("I look."), use()],
    "thinking between calls": [THINKING, use(), {**THINKING, "signature": "b3RoZXI="}, use("toolu_2")],
    "hidden thinking": [HIDDEN, use()],
    "thinking without words": [{**THINKING, "thinking": ""}, use()],
    "a search of the service": [text("I search."), SEARCH, FOUND, text("Found.")],
    "citations": [{**text("Seven."), "citations": [{"type": "char_location", "cited_text": "7"}]}],
    "text after a call": [use(), text("I look.")],
    "several texts": [text("One"), text("Two")],
    "a call made by the service's own code": [{**use(), "caller": {"type": "code_execution_20250825", "tool_id": "srvtoolu_1"}}],
    "a kind of a later version": [{"type": "hologram", "data": [1]}, text("Seven.")],
}  # fmt: skip


@pytest.mark.parametrize("content", KEPT.values(), ids=KEPT.keys())
def test_blocks_are_sent_back_byte_for_byte(content: list[Json]) -> None:
    before = json.dumps(content)
    [sent] = replayed(document(*content))
    assert json.dumps(sent) == before


PLAIN: dict[str, list[Json]] = {
    "text": [text("Seven.")],
    "a call": [use()],
    "text and calls": [text("I look."), use(), use("toolu_2")],
    "empty extras": [{**text("Seven."), "citations": None}, {**use(), "caller": {"type": "direct"}}],
}


@pytest.mark.parametrize("content", PLAIN.values(), ids=PLAIN.keys())
def test_what_our_own_values_say_is_not_kept_twice(content: list[Json]) -> None:
    assert read_message(document(*content)).provider is None
    [sent] = replayed(document(*content))
    assert sent == [
        {key: found for key, found in block.items() if key in ("type", "text", "id", "name", "input")}
        for block in content
    ]


def replayed(found: Json) -> list[list[Json]]:
    """What of a reply is sent back with the next request."""
    reply = read_message(found)
    calls = reply.decision.calls if isinstance(reply.decision, CallTools) else ()
    words = reply.decision.text if isinstance(reply.decision, FinalAnswer) else reply.decision.thought
    answers = [Message("tool", result=ToolResult(call.id, call.name, 1)) for call in calls] or [user()]
    _, turns = to_anthropic([user(), Message("assistant", words, calls, provider=reply.provider), *answers])
    assert anthropic_problems(turns) == []
    return [turn["content"] for turn in turns if turn["role"] == "assistant"]


def test_blank_texts_are_not_kept_pa_03() -> None:
    found = read_message(document(THINKING, text("\n\n"), use(), stop="tool_use"))
    assert found.provider == {"anthropic": [THINKING, use()]}
    assert found.decision == CallTools("Look first.", (ToolCall("look", {"name": "box"}, "toolu_1"),))


@pytest.mark.parametrize(
    "last", [{**THINKING, "signature": ""}, {**SEARCH, "input": '{"que'}], ids=["thinking", "search"]
)
def test_a_last_block_that_was_cut_off_is_not_kept(last: Json) -> None:
    found = read_message(document(THINKING, text("Seven or"), last, stop="max_tokens"))
    assert found.provider == {"anthropic": [THINKING, text("Seven or")], "stop_reason": "max_tokens"}


def test_a_kept_call_has_an_input_that_is_an_object() -> None:
    found = read_message(document(THINKING, use(input='{"name": "bo'), stop="max_tokens"))
    assert found.provider is not None and found.provider["anthropic"][1]["input"] == {"not_json": '{"name": "bo'}
    [sent] = replayed(document(THINKING, use(input='{"name": box}'), stop="tool_use"))
    assert sent[1]["input"] == {"not_json": '{"name": box}'}


def test_thinking_stands_in_the_thought_before_the_text() -> None:
    both = read_message(document(THINKING, HIDDEN, text("I look."), use(), stop="tool_use")).decision
    assert isinstance(both, CallTools) and both.thought == "Look first.\n\nI look."
    assert read_message(document(THINKING, text("Seven."))).decision == FinalAnswer("Look first.", "Seven.")


def test_the_text_of_a_reply() -> None:
    assert said([text("Sev"), text("en.")]) == "Seven.", "citations cut a sentence into several blocks"
    assert said([text("I search."), SEARCH, FOUND, text(""), text("Found.")]) == "I search.\n\nFound."
    assert said([THINKING, text("Found.")]) == "Found."


# --- usage -----------------------------------------------------------------------------------------------------------


def test_usage_counts_cached_input_in() -> None:
    counts = {
        "input_tokens": 100,
        "cache_read_input_tokens": 2000,
        "cache_creation_input_tokens": 300,
        "output_tokens": 40,
    }
    dollars = (100 * 1 + 2000 * 0.1 + 300 * 1.25 + 40 * 5) / 1_000_000  # claude-haiku-4-5, US dollars per million
    found = read_message({**document(text("x")), "usage": counts}).usage
    assert found == Usage(2400, 40, 2000, pytest.approx(dollars))


def test_usage_of_a_model_without_a_price_has_no_cost() -> None:
    assert read_message({**document(text("x")), "model": "claude-of-tomorrow"}).usage == Usage(10, 5, 0, None)
    assert read_message({**document(text("x")), "usage": None}).usage == Usage(cost=None)
    found = read_message({**document(text("x")), "usage": {"input_tokens": 3, "output_tokens": None}}).usage
    assert found == Usage(3, 0, 0, cost(MODEL, 3, 0))


def test_the_price_can_be_given() -> None:
    found = read_message(document(text("x")), price=lambda *counts: float(len(counts))).usage
    assert found == Usage(10, 5, 0, 5.0)


# --- paused turns ----------------------------------------------------------------------------------------------------


def test_a_paused_turn_goes_on_and_becomes_one_document() -> None:
    body = message_request(MODEL, [user()])
    first = document(text("I search."), SEARCH, stop="pause_turn", container={"id": "container_1"})
    first["usage"] |= {
        "server_tool_use": {"web_search_requests": 1},
        "service_tier": "standard",
        "cache_read_input_tokens": 2,
    }
    again = resumed(body, first)
    assert again["messages"] == [*body["messages"], {"role": "assistant", "content": [text("I search."), SEARCH]}]
    assert again["container"] == "container_1"
    assert len(body["messages"]) == 1, "the first request is left as it was"
    second = document(FOUND, text("Found."))
    second["usage"] |= {"server_tool_use": {"web_search_requests": 2}, "cache_read_input_tokens": None}
    whole = continued(first, second)
    assert whole["content"] == [text("I search."), SEARCH, FOUND, text("Found.")] and whole["stop_reason"] == "end_turn"
    assert whole["usage"] == {
        "input_tokens": 20, "output_tokens": 10, "cache_read_input_tokens": 2, "service_tier": "standard",
        "server_tool_use": {"web_search_requests": 3},
    }  # fmt: skip


# --- streams ---------------------------------------------------------------------------------------------------------


def start(**more: Any) -> Json:
    return {"type": "message_start", "message": {**document(stop=None), "stop_sequence": None, **more}}


def block(index: int, found: Json) -> Json:
    return {"type": "content_block_start", "index": index, "content_block": found}


def delta(index: int, kind: str, **found: Any) -> Json:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **found}}


def stopped(index: int) -> Json:
    return {"type": "content_block_stop", "index": index}


def end(stop: str | None = "end_turn", **usage: Any) -> Json:
    return {
        "type": "message_delta",
        "delta": {"stop_reason": stop, "stop_sequence": None},
        "usage": {"output_tokens": 9, **usage},
    }


def assemble(*found: Json) -> tuple[Json, list[str]]:
    assembler = MessageAssembler()
    pieces = [assembler.add(event) for event in (start(), *found)]
    return assembler.document(), [piece for piece in pieces if piece]


FRAGMENTS: dict[str, tuple[list[str], Any]] = {
    "ST-05 a number of fragments": (['{"file_', 'path": "a', '.py"}'], {"file_path": "a.py"}),
    "ST-07 the first fragment is empty": (["", '{"file_path"', ': "a.py"}'], {"file_path": "a.py"}),
    "ST-07 only an empty fragment": ([""], {}),
    "ST-07 no fragment at all": ([], {}),
    "blank fragments": ([" ", "\n"], {}),
    "an escaped letter in two fragments": (['{"a": "\\u00', 'e9"}'], {"a": "é"}),
    "AR-05 cut off": (['{"path": "x.py", "content": "abc'], '{"path": "x.py", "content": "abc'),
    "AR-07 not JSON": (['{"action": listt', "_windows}"], '{"action": listt_windows}'),
    "a list": (["[1, 2]"], "[1, 2]"),
    "encoded twice": (['"{\\"a\\": 1}"'], '"{\\"a\\": 1}"'),
    "a number that JSON does not have": (['{"a": NaN}'], '{"a": NaN}'),
    "nested too deep": (["[" * 100_000], "[" * 100_000),
}


@pytest.mark.parametrize(("fragments", "input"), FRAGMENTS.values(), ids=FRAGMENTS.keys())
def test_fragments_of_arguments(fragments: list[str], input: Any) -> None:
    deltas = [delta(0, "input_json_delta", partial_json=fragment) for fragment in fragments]
    found, pieces = assemble(block(0, use(input={})), *deltas, stopped(0), end("tool_use"))
    assert found["content"] == [use(input=input)] and not pieces
    # ST-08: only the finished call gets into the history, never a fragment.
    assert "input_json_delta" not in json.dumps(found) and "partial_json" not in json.dumps(found)


def test_st_08_a_streamed_call_is_replayed_as_tool_use() -> None:
    found, _ = assemble(
        block(0, {"type": "thinking", "thinking": "", "signature": ""}), delta(0, "thinking_delta", thinking="Look "),
        delta(0, "thinking_delta", thinking="first."), delta(0, "signature_delta", signature="c2ln+/=="), stopped(0),
        block(1, use(input={})), delta(1, "input_json_delta", partial_json='{"name": '),
        delta(1, "input_json_delta", partial_json='"box"}'), stopped(1), end("tool_use"),
    )  # fmt: skip
    assert replayed(found) == [[THINKING, use()]]


def test_blocks_whose_deltas_come_mixed() -> None:
    found, _ = assemble(
        block(0, use("toolu_1", input={})), block(1, use("toolu_2", input={})),
        delta(1, "input_json_delta", partial_json='{"name": "b'), delta(0, "input_json_delta", partial_json='{"name"'),
        delta(1, "input_json_delta", partial_json='"}'), delta(0, "input_json_delta", partial_json=': "a"}'),
        stopped(1), stopped(0), end("tool_use"),
    )  # fmt: skip
    assert found["content"] == [use("toolu_1", input={"name": "a"}), use("toolu_2", input={"name": "b"})]


def test_a_stream_becomes_the_document() -> None:
    found, pieces = assemble(
        {"type": "ping"}, block(0, text("")), delta(0, "text_delta", text="Sev"), delta(0, "text_delta", text="en."),
        delta(0, "citations_delta", citation={"cited_text": "7"}), stopped(0), {"type": "a_kind_of_a_later_version"},
        end(cache_read_input_tokens=3, input_tokens=None), {"type": "message_stop"},
    )  # fmt: skip
    usage = {"input_tokens": 10, "output_tokens": 9, "cache_read_input_tokens": 3}
    cited = {**text("Seven."), "citations": [{"cited_text": "7"}]}
    assert found == {**document(cited), "stop_sequence": None, "usage": usage}
    assert pieces == ["Sev", "en."]


def test_a_field_that_ends_as_null_keeps_what_it_was() -> None:
    assembler = MessageAssembler()
    for event in (
        start(container={"id": "c1"}),
        {**end(), "delta": {"stop_reason": "end_turn", "container": None, "stop_details": None}},
    ):
        assembler.add(event)
    assert assembler.document()["container"] == {"id": "c1"} and assembler.document()["stop_details"] is None


def test_blocks_stand_in_the_order_of_their_index() -> None:
    found, _ = assemble(block(1, use("toolu_2")), block(0, use("toolu_1")), stopped(1), stopped(0), end("tool_use"))
    assert [call["id"] for call in found["content"]] == ["toolu_1", "toolu_2"]


def test_the_pieces_are_the_text_of_the_answer() -> None:
    found, pieces = assemble(
        block(0, text("")), delta(0, "text_delta", text="I search."), stopped(0), block(1, SEARCH), stopped(1),
        block(2, FOUND), stopped(2), block(3, text("")), delta(3, "text_delta", text=""),
        delta(3, "text_delta", text="Found"), delta(3, "text_delta", text="."), stopped(3), end(),
    )  # fmt: skip
    assert pieces == ["I search.", "\n\nFound", "."]
    assert read_message(found).decision == FinalAnswer("", "".join(pieces))
    later = MessageAssembler(after=[text("I search."), SEARCH])
    assert later.add(block(0, text("Found."))) == "\n\nFound."
    assert MessageAssembler(after=[text("Sev")]).add(block(0, text("en."))) == "en."


def test_kinds_of_a_later_version_are_taken_in_whole() -> None:
    found, _ = assemble(
        block(0, {"type": "compaction", "content": None}),
        delta(0, "compaction_delta", content="So far"),
        stopped(0),
        end(),
    )
    assert found["content"] == [{"type": "compaction", "content": "So far"}]


BROKEN: dict[str, list[Json]] = {
    "nothing": [],
    "only the start": [start()],
    "in a text": [start(), block(0, text("")), delta(0, "text_delta", text="Sev")],
    "in a call": [start(), block(0, use(input={})), delta(0, "input_json_delta", partial_json='{"name": "bo')],
    "after a whole call": [start(), block(0, use()), stopped(0)],
    "before the reason": [start(), block(0, text("Seven.")), stopped(0), end(None)],
}


@pytest.mark.parametrize("found", BROKEN.values(), ids=BROKEN.keys())
def test_a_stream_that_ends_too_early_is_never_half_a_decision(found: list[Json]) -> None:
    assembler = MessageAssembler()
    for event in found:
        assembler.add(event)
    with pytest.raises(ProviderError, match="before the reply was complete") as raised:
        assembler.document()
    assert raised.value.code == "interrupted"


def test_a_delta_without_a_block_is_told() -> None:
    with pytest.raises(ReplyError, match="no start of block 3"):
        assemble(delta(3, "text_delta", text="x"))


def test_a_snapshot_shows_what_there_is() -> None:
    assembler = MessageAssembler()
    for event in (start(), block(0, use(input={})), delta(0, "input_json_delta", partial_json='{"name": "bo')):
        assembler.add(event)
    assert assembler.snapshot()["content"] == [use(input='{"name": "bo')]
    assembler.add(delta(0, "input_json_delta", partial_json='x"}'))
    assembler.add(stopped(0))
    assert assembler.snapshot()["content"] == [use()]


def test_a_server_that_forgets_to_end_its_blocks() -> None:
    found, _ = assemble(
        block(0, use(input={})), delta(0, "input_json_delta", partial_json='{"name": "box"}'), end("tool_use")
    )
    assert found["content"] == [use()]


@given(
    st.lists(st.text(max_size=8), max_size=6),
    st.dictionaries(st.text(max_size=4), st.integers(), max_size=3),
    st.integers(1, 5),
)
@profile(60)
def test_any_cut_gives_the_same_document(texts: list[str], arguments: dict[str, int], size: int) -> None:
    content: list[Json] = [*map(text, texts), use(input=arguments)]
    events: list[Json] = []
    for index, whole in enumerate(content):
        written = whole["text"] if whole["type"] == "text" else json.dumps(arguments)
        kind, key = ("text_delta", "text") if whole["type"] == "text" else ("input_json_delta", "partial_json")
        events.append(block(index, {**whole, "text": ""} if whole["type"] == "text" else {**whole, "input": {}}))
        events += [delta(index, kind, **{key: written[i : i + size]}) for i in range(0, len(written), size)]
        events.append(stopped(index))
    found, pieces = assemble(*events, end("tool_use"))
    assert found["content"] == content and "".join(pieces) == said(content)


# --- what others recorded --------------------------------------------------------------------------------------------


@functools.cache
def exchanges() -> list[Json]:
    with gzip.open(require("peerdata") / "provider_exchanges.json.gz", "rt", encoding="utf-8") as file:
        return [exchange for exchange in json.load(file) if exchange["provider"] == "anthropic"]


@pytest.mark.peerdata
def test_recorded_replies_are_sent_back_as_they_came() -> None:
    """Blank texts go, and so do fields without a value; everything else is the same document again."""
    count = 0
    for exchange in exchanges():
        if exchange["status"] != 200 or exchange["sse"]:
            continue
        content = exchange["response"]["content"]
        sent = replayed(exchange["response"])
        count += 1
        assert [said_of(found) for turn in sent for found in turn] == [
            said_of(found) for found in content if found.get("text", "x").strip()
        ]
    assert count == 279


def said_of(found: Json) -> Json:
    return {key: value for key, value in found.items() if value and value != {"type": "direct"}}
