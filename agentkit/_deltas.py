"""A streamed reply event by event: what arrived, and what is assembled of it so far.

It reads the events of OpenAI Chat Completions and Responses, of Anthropic Messages, and of `agentkit` itself, as they are:
parsed JSON, or the objects of an SDK. It shows how a stream is put together; models have readers of their own, and a test
holds that both come to the same end.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from agentkit._tables import table
from agentkit._text import Shown, hanging, json_text, one_line, rows_html, shown
from agentkit.messages import Reply, TextDelta

RUN, RUN_ENDS = 8, (4, 2)
ENDS = (60, 40, 20)
ARRIVED, SO_FAR = 120, 100
SPACE = "␣"

Arrival = tuple[str, str, bool]
"""The part of the reply, what arrived of it, and whether it is added to what is there (or stands for itself)."""


@dataclass(slots=True)
class _Reading:
    """What is known while the events are read: the text of each part so far, and the names of the parts."""

    parts: dict[str, str] = field(default_factory=dict)
    names: dict[Any, str] = field(default_factory=dict)
    begun: dict[Any, tuple[Any, str]] = field(default_factory=dict)
    calls: int = 0

    def call(self, key: Any, name: str = "") -> str:
        """The part that holds the arguments of a call. Its name comes once, with the first event."""
        if key not in self.names:
            self.calls += 1
            self.names[key] = f"call {self.calls}" + (f" {name}" if name else "")
        return self.names[key]


def deltas(events: Iterable[Any]) -> Shown:
    """A table of the events of one streamed reply: what arrived with each, and what is assembled so far.

    Args:
        events: parsed server-sent events (dicts), objects of an SDK, or what ``model.stream`` yields.

    A space at the edge of a piece is drawn as ``␣``. Of more than 8 pieces in a row of one part only the first 4 and the last
    2 are shown, and of more than 60 rows the first 40 and the last 20.
    """
    reading = _Reading()
    rows = [row for number, event in enumerate(events, 1) for row in _rows(reading, number, event)]
    header = ("Event", "Kind", "Part", "Arrived", "So far", "JSON?")
    rows = _between([row for _, run in groupby(rows, _alike) for row in _between(list(run), RUN, *RUN_ENDS)], *ENDS)
    if not rows:
        return Shown("(no events)", "<div>(no events)</div>")
    drawn = table(rows, header)
    whole = [(f"Assembled {one_line(part)}", shown(text) or "(empty)") for part, text in reading.parts.items()]
    if not whole:
        return drawn
    text = "\n".join([drawn.text, *(hanging(*line) for line in whole)])
    return Shown(text, f"<div>{drawn.html}{rows_html(whole)}</div>")


def assembled(events: Iterable[Any]) -> dict[str, str]:
    """What the events come to: the text of each part, in the order in which the parts began."""
    reading = _Reading()
    for number, event in enumerate(events, 1):
        for _ in _rows(reading, number, event):
            pass
    return reading.parts


def _alike(row: Sequence[str]) -> tuple[str, ...]:
    """What pieces in a row have in common: kind and part. Rows that are no pieces stand alone."""
    return (row[1], row[2]) if row[4] else tuple(row)


def _between(rows: list[Sequence[str]], most: int, first: int, last: int) -> list[Sequence[str]]:
    """The rows, or the first and the last of them around a line that says how many there are between."""
    if len(rows) <= most:
        return rows
    return [*rows[:first], ("…", f"[{len(rows) - first - last:,} more]", "", "", "", ""), *rows[-last:]]


def _rows(reading: _Reading, number: int, event: Any) -> Iterator[Sequence[str]]:
    """The rows of one event: one for each thing that arrived with it."""
    kind, arrivals = _read(reading, event)
    found = list(arrivals) or [("", "", False)]
    for place, (part, text, added) in enumerate(found):
        head = (str(number), one_line(kind)) if place == 0 else ("", "")
        if not added:
            yield (*head, one_line(part), one_line(text, ARRIVED), "", "")
            continue
        so_far = reading.parts[part] = reading.parts.get(part, "") + text
        is_json = ("yes" if _is_json(so_far) else "not yet") if part.startswith("call") else ""
        yield (*head, one_line(part), _edges(text), _tail(so_far), is_json)


def _read(reading: _Reading, event: Any) -> tuple[str, Iterable[Arrival]]:
    if isinstance(event, TextDelta):
        return "TextDelta", [("text", event.text, True)]
    if isinstance(event, Reply):
        decision = type(event.decision).__name__
        return "Reply", [("decision", decision, False)]
    if isinstance(event, str):  # the last line of a stream of Chat Completions
        return event.strip(), ()
    if not isinstance(event, Mapping):
        event = event.model_dump(mode="json", exclude_unset=True)
    kind = str(event.get("type") or "")
    if "choices" in event:
        return "chunk", _chat(reading, event)
    if kind.startswith("response.") or "sequence_number" in event:
        return kind, _responses(reading, event)
    return kind or "event", _anthropic(reading, event)


# --- OpenAI Chat Completions -------------------------------------------------------------------------------------------


def _chat(reading: _Reading, event: Mapping[str, Any]) -> Iterator[Arrival]:
    """The first piece of a call has its id and name; its place in the list of calls (the index) is on every piece."""
    for choice in event.get("choices") or ():
        if choice.get("index"):  # only the first of several answers is put together
            continue
        delta = choice.get("delta") or {}
        if delta.get("role"):
            yield "role", str(delta["role"]), False
        for key, part in (("reasoning_content", "thinking"), ("content", "text"), ("refusal", "refusal")):
            if text := _plain(delta.get(key)):
                yield part, text, True
        for call in delta.get("tool_calls") or ():
            yield from _chat_call(reading, call)
        if choice.get("finish_reason"):
            yield "finish_reason", str(choice["finish_reason"]), False
    if event.get("usage"):
        yield "usage", json_text(_numbers(event["usage"])), False


def _chat_call(reading: _Reading, call: Mapping[str, Any]) -> Iterator[Arrival]:
    inner = call.get("function") or call.get("custom") or {}
    call_id, name = str(call.get("id") or ""), str(inner.get("name") or "")
    # Some servers send no index, or the same one for every call: there a new id begins a new call.
    index = call.get("index")
    key = reading.begun.get(index)
    is_new = key is None or bool(call_id and name and key[1] and call_id != key[1])
    if is_new:
        key = reading.begun[index] = (index, call_id)
    part = reading.call(key, name)
    if is_new:
        yield part, f"id {call_id or '(none)'}", False
    arguments = inner.get("arguments", inner.get("input"))
    if isinstance(arguments, (dict, list)):
        arguments = json_text(arguments, None)
    if arguments is not None and (arguments or not is_new):
        yield part, str(arguments), True


# --- OpenAI Responses --------------------------------------------------------------------------------------------------

_RESPONSES = {
    "response.output_text.delta": "text",
    "response.refusal.delta": "refusal",
    "response.reasoning_text.delta": "thinking",
    "response.reasoning_summary_text.delta": "thinking",
}


def _responses(reading: _Reading, event: Mapping[str, Any]) -> Iterator[Arrival]:
    kind = event.get("type")
    item = event.get("item") or {}
    if kind in _RESPONSES:
        yield _RESPONSES[kind], _plain(event.get("delta")), True
    elif kind in ("response.function_call_arguments.delta", "response.custom_tool_call_input.delta"):
        yield reading.call(event.get("output_index")), _plain(event.get("delta")), True
    elif kind == "response.output_item.added" and item.get("type") in ("function_call", "custom_tool_call"):
        part = reading.call(event.get("output_index"), str(item.get("name") or ""))
        yield part, f"call_id {item.get('call_id') or '(none)'}", False
    elif kind == "response.output_item.added":
        yield "item", str(item.get("type")), False
    elif kind in ("response.completed", "response.incomplete", "response.failed"):
        whole = event.get("response") or {}
        yield "status", str(whole.get("status") or kind.partition(".")[2]), False
        if whole.get("usage"):
            yield "usage", json_text(_numbers(whole["usage"])), False


# --- Anthropic Messages ------------------------------------------------------------------------------------------------

_BLOCKS = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "partial_json"}


def _anthropic(reading: _Reading, event: Mapping[str, Any]) -> Iterator[Arrival]:
    kind, index = event.get("type"), event.get("index")
    if kind == "content_block_start":
        block = event.get("content_block") or {}
        if block.get("type") == "tool_use":
            yield reading.call(index, str(block.get("name") or "")), f"id {block.get('id') or '(none)'}", False
        elif str(block.get("type")).endswith("tool_use"):  # a tool that the service runs itself
            reading.names[index] = f"tool of the service {block.get('name') or ''}".strip()
            yield reading.names[index], f"id {block.get('id') or '(none)'}", False
        else:
            yield "block", str(block.get("type")), False
            if text := _plain(block.get("text")):
                yield "text", text, True
    elif kind == "content_block_delta":
        delta = event.get("delta") or {}
        if delta.get("type") == "input_json_delta":
            yield reading.call(index), _plain(delta.get("partial_json")), True
        elif delta.get("type") in _BLOCKS:
            part = _BLOCKS[delta["type"]]
            yield part, _plain(delta.get(part)), True
        else:
            yield str(delta.get("type")), "(kept for the way back)", False
    elif kind == "message_delta":
        yield "stop_reason", str((event.get("delta") or {}).get("stop_reason")), False
    elif kind == "error":
        yield "error", str((event.get("error") or {}).get("message")), False
    usage = event.get("usage") or (event.get("message") or {}).get("usage")
    if usage:
        yield "usage", json_text(_numbers(usage)), False


# --- small things ------------------------------------------------------------------------------------------------------


def _plain(content: Any) -> str:
    """The text of a delta; some servers send a list of parts, or null."""
    if isinstance(content, list):
        return "".join(str(part.get("text") or "") for part in content if isinstance(part, Mapping))
    return "" if content is None else str(content)


def _numbers(usage: Mapping[str, Any]) -> dict[str, Any]:
    """The counts of a usage; what is nested or empty is left to the full document."""
    return {key: value for key, value in usage.items() if isinstance(value, int) and not isinstance(value, bool)}


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _edges(text: str) -> str:
    """A piece with the spaces at its edges drawn, since nobody can see them in a table."""
    if not text:
        return "(empty)"
    core = text.strip(" ")
    left = len(text) - len(text.lstrip(" "))
    right = len(text) - left - len(core)
    return one_line(SPACE * left + core + SPACE * right, ARRIVED)


def _tail(text: str) -> str:
    """The end of what is assembled: the part that has just grown."""
    return one_line(text if len(text) <= SO_FAR else f"…{text[-SO_FAR:]}", None)
