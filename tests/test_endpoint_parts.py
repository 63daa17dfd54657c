"""The parts of the endpoint for themselves: for any decision, the events of a stream add up to the document; nothing crashes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from endpoint_kit import ANTHROPIC_TOOLS, CHAT_TOOLS, RESPONSES_TOOLS
from hypothesis import given
from hypothesis import strategies as st
from strategies import profile

from agentkit import AskUser, CallTools, FinalAnswer, Message, Reply, ToolCall
from agentkit.endpoint import chat, embeddings, messages, responses
from agentkit.endpoint.answering import Writer
from agentkit.endpoint.faults import fault_of
from agentkit.endpoint.schemas import check_strict_anthropic, check_strict_openai, parts
from agentkit.endpoint.speaking import Speaker
from agentkit.endpoint.values import Asked, Fault, Refused, Said

WORDS = st.text(st.sampled_from('ab c\n합\u2028"{}'), max_size=30)
VALUES = st.dictionaries(
    st.sampled_from("abc"), st.one_of(st.integers(-9, 10**9), WORDS, st.booleans(), st.none()), max_size=3
)
CALLS = st.builds(
    ToolCall,
    st.sampled_from(["add", "today", "shell"]),
    st.one_of(VALUES, st.sampled_from(["", "{a: 1}", "[1]"])),
    st.sampled_from(["", "mine", "bad id"]),
)
DECISIONS = st.one_of(
    st.builds(FinalAnswer, WORDS, WORDS),
    st.builds(AskUser, WORDS, WORDS),
    st.builds(CallTools, WORDS, st.lists(CALLS, min_size=1, max_size=3).map(tuple)),
)
ASKED = st.builds(
    Asked,
    body=st.just({"stream_options": {"include_usage": True}}),
    model=st.just("offline"),
    messages=st.just((Message("user", "hello"),)),
    custom=st.sampled_from([frozenset(), frozenset({"shell"})]),
    parallel=st.booleans(),
    max_tokens=st.one_of(st.none(), st.integers(1, 30)),
    stop=st.sampled_from([(), ("b",), ("ab", "c "), ("합a",)]),
    show_thought=st.booleans(),
)


def spoken(
    asked: Asked, decision: Any, prefix: str, cuts: list[str] | None = None, *, objects: bool = False
) -> tuple[list[Any], Said]:
    """The pieces of a decision, with some of its text given live before, and all that was said."""
    speaker = Speaker(asked, prefix, objects=objects)
    pieces = [piece for cut in cuts or [] for piece in speaker.delta(cut)]
    pieces += speaker.reply(Reply(decision))
    return pieces, speaker.said


def events_of(writer: Writer, pieces: list[Any], said: Said) -> list[dict[str, Any]]:
    made = writer.start()
    for piece in pieces:
        made += writer.add(piece)
    # Through JSON, as they go: what an event holds must not change any more when a later one is made.
    return [json.loads(json.dumps(event)) for event in made + writer.end(said)]


@profile(100)
@given(ASKED, DECISIONS)
def test_chat_chunks_add_up_to_the_document(asked: Asked, decision: Any) -> None:
    writer = chat.ChatWriter(asked, 1, 0)
    pieces, said = spoken(asked, decision, writer.prefix)
    document = writer.document(said)["choices"][0]
    content, calls, finish = None, {}, None
    for chunk in events_of(chat.ChatWriter(asked, 1, 0), pieces, said):
        for choice in chunk["choices"]:
            delta = choice["delta"]
            content = (content or "") + delta["content"] if delta.get("content") is not None else content
            finish = choice["finish_reason"] or finish
            for part in delta.get("tool_calls", ()):
                kind, key = ("custom", "input") if "custom" in part else ("function", "arguments")
                call = calls.setdefault(
                    part["index"], {"id": part.get("id"), "type": kind, kind: {"name": part[kind].get("name"), key: ""}}
                )
                call[kind][key] += part[kind][key]
    message = {"content": content or (None if calls else ""), "calls": [calls[index] for index in sorted(calls)]}
    assert message == {"content": document["message"]["content"], "calls": document["message"].get("tool_calls", [])}
    assert finish == document["finish_reason"]


@profile(100)
@given(ASKED, DECISIONS)
def test_message_events_add_up_to_the_document(asked: Asked, decision: Any) -> None:
    writer = messages.MessageWriter(asked, 1)
    pieces, said = spoken(asked, decision, writer.prefix, objects=True)
    document = writer.document(said)
    events = events_of(messages.MessageWriter(asked, 1), pieces, said)
    blocks: list[dict[str, Any]] = []
    texts: list[str] = []
    for event in events:
        if event["type"] == "content_block_start":
            assert event["index"] == len(blocks)
            blocks.append(event["content_block"])
            texts.append("")
        if event["type"] == "content_block_delta":
            delta = event["delta"]
            if delta["type"] == "signature_delta":
                blocks[event["index"]]["signature"] = delta["signature"]
            else:
                texts[event["index"]] += delta.get("text") or delta.get("thinking") or delta.get("partial_json") or ""
    for block, text in zip(blocks, texts, strict=True):
        if block["type"] == "tool_use":
            block["input"] = json.loads(text or "{}") if _is_json(text or "{}") else {}
        else:
            block[block["type"]] = text
    assert blocks == document["content"] and events[-2]["delta"]["stop_reason"] == document["stop_reason"]


def _is_json(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


@profile(100)
@given(ASKED, DECISIONS)
def test_response_events_add_up_to_the_document(asked: Asked, decision: Any) -> None:
    writer = responses.ResponsesWriter(asked, 1, 0)
    pieces, said = spoken(asked, decision, writer.prefix)
    document = json.loads(json.dumps(writer.document(said)))
    events = events_of(responses.ResponsesWriter(asked, 1, 0), pieces, said)
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    assert [event["item"] for event in events if event["type"] == "response.output_item.done"] == document["output"]
    assert events[-1]["response"] == document
    added = [event["item"] for event in events if event["type"] == "response.output_item.added"]
    assert [item.get("status", "in_progress") for item in added] == ["in_progress"] * len(document["output"])
    assert not any(item.get("content") or item.get("summary") or item.get("arguments") for item in added)
    for item in document["output"]:
        deltas = "".join(event["delta"] for event in events if event.get("item_id") == item["id"] and "delta" in event)
        text = item.get("arguments", item.get("input"))
        assert deltas == (text if text is not None else (item.get("content") or item["summary"])[0]["text"])


@profile(100)
@given(
    ASKED,
    st.text(st.sampled_from("abc 합"), max_size=20),
    st.one_of(st.just(list(range(20))), st.lists(st.integers(0, 20), max_size=4)),
)
def test_live_text_says_the_same_as_text_at_once(asked: Asked, text: str, places: list[int]) -> None:
    """However the words are cut, limits and stop sequences leave the same text."""
    cuts, before = [], 0
    for place in sorted(min(place, len(text)) for place in places):
        cuts.append(text[before:place])
        before = place
    decision = FinalAnswer("", text)
    _, whole = spoken(asked, decision, "call_")
    live_pieces, live = spoken(asked, decision, "call_", cuts)
    assert (live.text, live.finish, live.stop_sequence) == (whole.text, whole.finish, whole.stop_sequence)
    assert "".join(piece.text for piece in live_pieces if piece.kind == "text") == live.text
    assert all(stop not in live.text for stop in asked.stop)
    if asked.max_tokens is not None:
        assert live.usage.output_tokens <= asked.max_tokens


# --- any body is answered or refused, never a crash ------------------------------------------------------------------

JUNK = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-3, 3000), st.sampled_from(["", "user", "tool", "text", "add", "auto", "c1", "\ud800"])),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(
        ["type", "role", "content", "text", "name", "id", "call_id", "tool_calls", "function", "custom", "arguments", "input", "output", "tool_call_id", "parameters", "input_schema", "tool_use_id"]
    ), inner, max_size=4)),
    max_leaves=12,
)  # fmt: skip
KEYS = (
    "model messages input instructions system tools tool_choice parallel_tool_calls max_tokens max_output_tokens stop "
    "stop_sequences stream stream_options n temperature response_format text reasoning thinking output_config store "
    "previous_response_id metadata dimensions encoding_format"
).split()
SOUND: Mapping[str, Any] = {
    "model": "offline",
    "max_tokens": 100,
    "messages": [{"role": "user", "content": "x"}],
    "input": "x",
}


@profile(200)
@given(st.dictionaries(st.sampled_from(KEYS), JUNK, max_size=3))
def test_any_request_is_read_or_refused_with_a_sentence(junk: dict[str, Any]) -> None:
    body = {**SOUND, **junk}
    reads = [
        chat.read_request,
        messages.read_request,
        lambda found: responses.read_request(found, {}),
        embeddings.answer,
    ]
    for read in reads:
        try:
            found = read(body)
        except Refused as refused:
            assert refused.status == 400 and len(refused.message) > 5
        else:
            if isinstance(found, Asked):
                json.dumps([spoken(found, FinalAnswer("", "x"), "call_")[1].text])


@pytest.mark.parametrize(
    "body",
    [
        {
            "messages": [
                {
                    "role": "user",
                    "content": [
                        {"type": "image_url", "image_url": {"url": "data:,"}},
                        {"type": "text", "text": "what?"},
                    ],
                }
            ]
        }
    ],
)
def test_pictures_are_left_to_the_model(body: dict[str, Any]) -> None:
    assert chat.read_request({**SOUND, **body}).messages[0].text.endswith("what?")


# --- small things ----------------------------------------------------------------------------------------------------


def test_the_schemas_of_our_own_tools_are_strict() -> None:
    for tool in CHAT_TOOLS:
        check_strict_openai(tool["function"]["parameters"], "f", "tools")
    for tool in RESPONSES_TOOLS:
        check_strict_openai(tool["parameters"], "f", "tools")
    for tool in ANTHROPIC_TOOLS:
        check_strict_anthropic(tool["input_schema"], "f")


def test_every_part_of_a_schema_is_looked_at() -> None:
    closed = {"type": "object", "additionalProperties": False, "required": []}
    open_part = {"type": "object"}
    for place in (
        {"properties": {"a": open_part}, "required": ["a"]},
        {"properties": {"a": {"type": "array", "items": open_part}}, "required": ["a"]},
        {"properties": {"a": {"anyOf": [{"type": "null"}, open_part]}}, "required": ["a"]},
        {"$defs": {"A": open_part}},
    ):
        with pytest.raises(Refused, match="additionalProperties"):
            check_strict_openai({**closed, **place}, "f", "tools")
        with pytest.raises(Refused, match="additionalProperties"):
            check_strict_anthropic({**closed, **place}, "f")
    deep: dict[str, Any] = {}
    for _ in range(500):
        deep = {"items": deep}
    assert len(list(parts(deep))) <= 60


def test_the_header_of_a_fault() -> None:
    assert fault_of("429") == Fault(429)
    assert fault_of("drop") == Fault(None)
    assert fault_of("529; retry-after=0.5; after-chunks=3; code=x") == Fault(529, 0.5, 3, "x")
