"""A streamed reply put together event by event, and the words of a model piece by piece."""

from __future__ import annotations

import functools
import gzip
import json
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from _needs import require
from hypothesis import given, settings
from hypothesis import strategies as st
from test_show import HOSTILE, assert_same_facts, read

from agentkit import FinalAnswer, Reply, TextDelta, show
from agentkit._deltas import assembled

Json = dict[str, Any]


def chunk(delta: Json, finish: str | None = None, **more: Any) -> Json:
    return {
        "object": "chat.completion.chunk",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
        **more,
    }


def piece(index: int | None, arguments: Any, call_id: str | None = None, name: str | None = None) -> Json:
    call: Json = {"function": {"arguments": arguments}}
    if index is not None:
        call["index"] = index
    if call_id is not None:
        call |= {"id": call_id, "type": "function"}
    if name is not None:
        call["function"]["name"] = name
    return chunk({"tool_calls": [call]})


def block(index: int, kind: str, **more: Any) -> Json:
    return {"type": "content_block_start", "index": index, "content_block": {"type": kind, **more}}


def delta(index: int, kind: str, **more: Any) -> Json:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **more}}


TWO_CALLS = [
    chunk({"role": "assistant", "content": ""}),
    chunk({"content": "I look"}),
    chunk({"content": " both up."}),
    piece(0, "", "a", "lookup"),
    piece(1, "", "b", "lookup"),
    piece(0, '{"order'),
    piece(1, '{"order_id":'),
    piece(0, '_id": "A100"}'),
    piece(1, ' "B2"}'),
    chunk({}, "tool_calls"),
    {"object": "chat.completion.chunk", "choices": [], "usage": {"prompt_tokens": 12, "completion_tokens": 4}},
    "[DONE]",
]
ONE_BLOCK = [
    {"type": "message_start", "message": {"usage": {"input_tokens": 12, "output_tokens": 1}}},
    block(0, "text", text=""),
    delta(0, "text_delta", text="I look "),
    delta(0, "text_delta", text="it up."),
    {"type": "content_block_stop", "index": 0},
    block(1, "tool_use", id="toolu_1", name="lookup", input={}),
    delta(1, "input_json_delta", partial_json=""),
    delta(1, "input_json_delta", partial_json='{"order_'),
    delta(1, "input_json_delta", partial_json='id": "A100"}'),
    {"type": "content_block_stop", "index": 1},
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 18}},
    {"type": "message_stop"},
]


# --- deltas -------------------------------------------------------------------------------------------------------------


def test_ST_01_interleaved_calls_are_put_together_by_their_index() -> None:
    assert assembled(TWO_CALLS) == {
        "text": "I look both up.",
        "call 1 lookup": '{"order_id": "A100"}',
        "call 2 lookup": '{"order_id": "B2"}',
    }


def test_ST_04_a_name_that_comes_again_is_not_appended() -> None:
    events = [piece(0, "{", "a", "search"), piece(0, "}", "a", "search")]
    assert assembled(events) == {"call 1 search": "{}"}


def test_ST_05_fragments_are_joined_and_only_the_whole_is_called_json() -> None:
    rows = [line.split(" | ") for line in show.deltas(ONE_BLOCK).text.splitlines() if line[:1] in "789"]
    assert [(row[3].strip(), row[4].strip(), row[5].strip()) for row in rows] == [
        ("(empty)", "", "not yet"),
        ('{"order_', '{"order_', "not yet"),
        ('id": "A100"}', '{"order_id": "A100"}', "yes"),
    ]
    assert assembled(ONE_BLOCK)["call 1 lookup"] == '{"order_id": "A100"}'


def test_ST_07_an_empty_first_fragment_is_a_fragment() -> None:
    assert "(empty)" in show.deltas(ONE_BLOCK).text
    only_empty = [block(0, "tool_use", id="t", name="now"), delta(0, "input_json_delta", partial_json="")]
    assert assembled(only_empty) == {"call 1 now": ""}


@pytest.mark.parametrize(
    ("events", "wanted"),
    [
        (
            [piece(None, '{"a": 1}', "x", "f"), piece(None, '{"a": 2}', "y", "f")],
            {"call 1 f": '{"a": 1}', "call 2 f": '{"a": 2}'},
        ),
        (
            [piece(0, '{"a": 1}', "x", "f"), piece(0, '{"a": 2}', "y", "f")],
            {"call 1 f": '{"a": 1}', "call 2 f": '{"a": 2}'},
        ),
        ([piece(0, "{}", "x", "f"), piece(1, "{}", "x", "g")], {"call 1 f": "{}", "call 2 g": "{}"}),
        ([piece(0, {"a": 1}, "x", "f")], {"call 1 f": '{"a": 1}'}),
        ([chunk({"content": [{"type": "text", "text": "hi"}]}), chunk({"content": None})], {"text": "hi"}),
        ([chunk({"reasoning_content": "hm"}), chunk({"refusal": "No."})], {"thinking": "hm", "refusal": "No."}),
    ],
    ids=["no index", "the same index", "the same id", "an object", "a list of parts", "thinking and refusal"],
)
def test_the_habits_of_other_servers(events: list[Json], wanted: dict[str, str]) -> None:
    assert assembled(events) == wanted


def test_the_events_of_responses() -> None:
    item = {"type": "function_call", "call_id": "call_1", "name": "lookup", "arguments": ""}
    events = [
        {"type": "response.created", "sequence_number": 0, "response": {}},
        {"type": "response.output_text.delta", "output_index": 0, "delta": "I look."},
        {"type": "response.output_item.added", "output_index": 1, "item": item},
        {"type": "response.function_call_arguments.delta", "output_index": 1, "delta": '{"order_id"'},
        {"type": "response.function_call_arguments.delta", "output_index": 1, "delta": ': "A100"}'},
        {
            "type": "response.completed",
            "response": {"status": "completed", "usage": {"input_tokens": 12, "output_tokens": 4}},
        },
    ]
    assert assembled(events) == {"text": "I look.", "call 1 lookup": '{"order_id": "A100"}'}
    assert "call_id call_1" in show.deltas(events).text and '"input_tokens": 12' in show.deltas(events).text


def test_a_tool_that_the_service_runs_is_no_call_of_ours() -> None:
    events = [
        block(0, "server_tool_use", id="srv_1", name="web_search"),
        delta(0, "input_json_delta", partial_json='{"query": "x"}'),
        block(1, "web_search_tool_result", content=[]),
        block(2, "tool_use", id="toolu_1", name="lookup"),
        delta(2, "input_json_delta", partial_json="{}"),
    ]
    assert assembled(events) == {"tool of the service web_search": '{"query": "x"}', "call 1 lookup": "{}"}


def test_the_table_as_it_is_read() -> None:
    assert show.deltas([chunk({"content": "Hi"}), piece(0, "{}", "a", "now"), chunk({}, "tool_calls")]).text == (
        "Event | Kind  | Part          | Arrived    | So far | JSON?\n"
        "------+-------+---------------+------------+--------+------\n"
        "1     | chunk | text          | Hi         | Hi     |\n"
        "2     | chunk | call 1 now    | id a       |        |\n"
        "      |       | call 1 now    | {}         | {}     | yes\n"
        "3     | chunk | finish_reason | tool_calls |        |\n"
        "Assembled text: Hi\n"
        "Assembled call 1 now: {}"
    )


def test_what_a_model_of_ours_streams() -> None:
    text = show.deltas([TextDelta("Ye"), TextDelta("s."), Reply(FinalAnswer("", "Yes."))]).text
    assert "Assembled text: Yes." in text and "FinalAnswer" in text


def test_the_objects_of_an_sdk() -> None:
    class Chunk:
        def model_dump(self, **options: Any) -> Json:
            assert options == {"mode": "json", "exclude_unset": True}
            return chunk({"content": "hi"})

    assert assembled([Chunk()]) == {"text": "hi"}


def test_a_long_stream_stays_short_and_shows_its_calls() -> None:
    words = [chunk({"content": f"w{number} "}) for number in range(2000)]
    face = show.deltas([*words, *TWO_CALLS])
    assert len(face.html) < 30_000 and "more]" in face.text and "call 2 lookup" in face.text
    cells = [
        cell for line in face.text.splitlines() for cell in line.rstrip(" |").split(" | ") if not cell.startswith("---")
    ]
    assert_same_facts("\n".join(cells), face.html)


def test_spaces_at_the_edges_are_drawn() -> None:
    text = show.deltas([chunk({"content": " a b "}), chunk({"content": "  "})]).text
    assert "␣a b␣" in text and "␣␣" in text


def test_no_events_and_no_words() -> None:
    assert show.deltas([]).text == "(no events)" and show.pieces({}).text == "(no words came)" == show.pieces([]).text


# --- pieces -------------------------------------------------------------------------------------------------------------


def test_pieces_of_steps_and_of_one_text() -> None:
    face = show.pieces({1: ("I ", "look."), 3: ("네.",)})
    assert face.text == "Step 1, 2 pieces: I │look.\nStep 3, 1 piece: 네."
    assert_same_facts(face.text, face.html)
    assert show.pieces(["a", "b"]).text == "2 pieces: a│b"
    assert show.pieces(SimpleNamespace(pieces={1: ("a",)})).text == "Step 1, 1 piece: a"


def test_many_pieces_and_long_pieces_stay_short() -> None:
    for words in (["word "] * 5000, ["x" * 100_000], ["a", "x" * 100_000, "b"]):
        text = show.pieces(words).text
        assert len(text) < 3000 and "more" in text


@settings(max_examples=30)
@given(st.text(max_size=40))
def test_nothing_of_an_event_passes_unescaped(text: str) -> None:
    evil = HOSTILE + text
    events = [chunk({"content": evil}), piece(0, evil, evil, evil), {"type": evil}, evil]
    for page in (show.deltas(events).html, show.pieces([evil]).html, show.pieces({1: [evil, text]}).html):
        assert read(page).forbidden == []
        page.encode("utf-8")


# --- the same end as the readers of the models, on streams that others recorded -----------------------------------------


@functools.cache
def streams() -> list[Json]:
    with gzip.open(require("peerdata") / "provider_exchanges.json.gz", "rt", encoding="utf-8") as file:
        return [item for item in json.load(file) if item["sse"] and item["status"] == 200]


def events_of(sse: str) -> Iterator[Json]:
    for line in sse.splitlines():
        if line.startswith("data:") and line[5:].strip() not in ("", "[DONE]"):
            yield json.loads(line[5:])


def of_document(document: Json) -> tuple[str, list[str]]:
    """Text and arguments of a document, read without the package."""
    if "choices" in document:
        message = document["choices"][0]["message"]
        calls = [call[call["type"]] for call in message.get("tool_calls") or ()]
        return message.get("content") or "", [call.get("arguments", call.get("input")) for call in calls]
    blocks = document["content"]
    texts = "".join(part["text"] for part in blocks if part["type"] == "text")
    return texts, [json.dumps(part["input"], sort_keys=True) for part in blocks if part["type"] == "tool_use"]


@pytest.mark.peerdata
def test_the_table_comes_to_the_same_end_as_the_models_on_every_recorded_stream() -> None:
    from agentkit.models._chat import ChatAssembler
    from agentkit.models._messages import MessageAssembler

    with_calls = 0
    for item in streams():
        events = list(events_of(item["sse"]))
        reader: Any = ChatAssembler() if item["provider"] == "openai" else MessageAssembler()
        for event in events:
            reader.add(event)
        text, calls = of_document(reader.snapshot())
        parts = assembled(events)
        ours = [whole for part, whole in parts.items() if part.startswith("call ")]
        if item["provider"] == "anthropic":
            ours = [json.dumps(json.loads(whole or "{}"), sort_keys=True) for whole in ours]
        assert (parts.get("text", ""), ours) == (text, calls), item["name"]
        assert show.deltas(events).html
        with_calls += bool(calls)
    assert len(streams()) == 64 and with_calls > 10
