"""The way of a call through the door, for people to look at: each station, what it said, and the document as it stood.

A **trace** is the list of `agentkit._door.Station` values that `Registry.call(…, trace=…)` fills. A **journey** is a call
with its trace, its result, and its document after each station.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from agentkit._door import STAGES, Passage, Station, key_of
from agentkit._jsonsafe import dumps, json_safe
from agentkit._redact import mask, mask_text
from agentkit._tables import table
from agentkit._text import LONG, MARK, TABLE, Shown, cell, escape, hanging, one_line, shown, visible
from agentkit._value import value
from agentkit.messages import Approval, ToolCall, ToolResult
from agentkit.registry import Registry

ASKED = {
    "lookup": "Is there a tool of this name?",
    "parse": "Are the arguments a JSON object?",
    "schema": "Do they fit the schema of the tool?",
    "permission": "May this kind of tool run here?",
    "approval": "Has a person agreed to this call?",
    "idempotency": "Was this call made before?",
    "rule": "Does the business allow it?",
    "reserve": "Is it written down that it will run?",
    "run": "What does the tool answer?",
    "result": "Is the answer JSON, short and without secrets?",
}
"""The question that each station asks, in the order of the door."""

NOT_REACHED = "not reached"
_BY_NAME = {stage.__name__: stage for stage in STAGES}
_PURE = ("lookup", "parse", "schema")  # these fill in the document and change nothing else


@value
class Journey:
    """One call on its way: the call, its trace, its result, and the document (JSON text) after each station."""

    call: ToolCall
    trace: tuple[Station, ...]
    result: ToolResult
    documents: tuple[str, ...]


def travel(registry: Registry, call: ToolCall, *, run_id: str = "", approved: bool | Approval = False) -> Journey:
    """Run a call through the door, once, and keep what can be seen of it."""
    trace: list[Station] = []
    result = registry.call(call, run_id=run_id, approved=approved, trace=trace)
    return Journey(call, tuple(trace), result, tuple(_documents(registry, Passage(call, run_id), trace, result)))


def written(call: ToolCall) -> str:
    """The document as the model wrote it."""
    return _text({"name": json_safe(call.name), "arguments": json_safe(call.arguments)})


def _documents(registry: Registry, passage: Passage, trace: Sequence[Station], result: ToolResult) -> list[str]:
    document: dict[str, Any] = {"name": json_safe(passage.call.name), "arguments": json_safe(passage.call.arguments)}
    found = []
    for station in trace:
        if station.outcome in ("refused", "answered") or station.stage == "result":
            found.append(visible(result.content))
            continue
        if station.stage in _PURE:
            _BY_NAME[station.stage](registry, passage)
        document |= _added(station, passage, result)
        found.append(_text(document))
    return found


def _added(station: Station, passage: Passage, result: ToolResult) -> dict[str, Any]:
    """What one station adds to the document."""
    match station.stage:
        case "lookup":
            return {"name": passage.tool.name, "permission": passage.tool.permission}
        case "parse":
            return {"arguments": passage.arguments}
        case "schema":
            return {"arguments": json_safe(passage.keywords)}
        case "approval" if station.outcome == "passed":
            return {"approved": "exactly these arguments"}
        case "idempotency" if station.outcome == "passed":
            run_id, name, same = key_of(passage)
            return {"key": [run_id, name, json.loads(same)]}
        case "reserve" if station.outcome == "passed":
            return {"outcome": None}
        case "run":
            return {"outcome": result.data if result.error is None else result.error.code}
        case _:
            return {}


def _text(document: Any) -> str:
    return visible(mask_text(dumps(mask(json_safe(document)))))


def rows_of(trace: Sequence[Station]) -> list[tuple[str, str, str]]:
    """For every station of the door: its name, what happened there, and the code with the note (or the question)."""
    seen = {station.stage: station for station in trace}
    rows = []
    for stage, asked in ASKED.items():
        station = seen.pop(stage, None)
        if station is None:
            rows.append((stage, NOT_REACHED, ""))
            continue
        said = ": ".join(part for part in (station.code, station.note) if part)
        rows.append((stage, station.outcome, shown(said or asked, LONG)))
    rows += [(one_line(name), station.outcome, shown(station.note)) for name, station in seen.items()]
    return rows


def door_text(trace: Sequence[Station]) -> str:
    """The ten stations of the door as a table of text: reached or not, the outcome, the code and the note."""
    return table(rows_of(trace), ("station", "outcome", "asked or said")).text


def door_html(trace: Sequence[Station]) -> str:
    """The same as HTML. A station that was reached has a thick edge and bold type, so that colour is never needed."""
    return _lit(rows_of(trace), len(ASKED))


def door(trace: Sequence[Station]) -> Shown:
    """A trace as a value that a notebook can show."""
    return Shown(door_text(trace), door_html(trace))


def journey_text(journey: Journey) -> str:
    """The stations, and under each one that changed it the document as it stood there."""
    lines = [hanging("Written", shown(written(journey.call))), door_text(journey.trace)]
    lines += [hanging(f"After {stage}", shown(text)) for stage, text in _changes(journey)]
    return "\n".join(lines)


def journey_html(journey: Journey) -> str:
    """The same as HTML."""
    shown_at = dict(_changes(journey))
    head = "".join(cell(text, tag="th") for text in ("station", "outcome", "asked or said", "the document"))
    rows = [f"<tr>{cell('<b>written</b>')}{cell('')}{cell('')}{cell(escape(shown(written(journey.call))))}</tr>"]
    for stage, outcome, said in rows_of(journey.trace):
        inner = [escape(text) for text in (stage, outcome, said, shown(shown_at.get(stage, "")))]
        rows.append(f"<tr>{_row(inner, outcome != NOT_REACHED)}</tr>")
    return f'<table style="{TABLE}"><tr>{head}</tr>{"".join(rows)}</table>'


def frame_html(journey: Journey, reached: int) -> str:
    """A journey when ``reached`` of its stations are lit (0: only what the model wrote)."""
    reached = min(reached, len(journey.trace))
    text = journey.documents[reached - 1] if reached else written(journey.call)
    where = f"after {one_line(journey.trace[reached - 1].stage)}" if reached else "as the model wrote it"
    lines = escape(shown(_indented(text))).replace("<br>", "\n")
    document = f'<div><b>The document {escape(where)}</b><pre style="white-space:pre-wrap">{lines}</pre></div>'
    return f"<div>{_lit(rows_of(journey.trace[:reached]), reached)}{document}</div>"


def _indented(text: str) -> str:
    """JSON text on several lines. What is no longer JSON, because characters were written out, stays on one."""
    try:
        return json.dumps(json.loads(text), ensure_ascii=False, indent=2)
    except ValueError:
        return text


def _changes(journey: Journey) -> list[tuple[str, str]]:
    """The documents that differ from the one before."""
    before, found = written(journey.call), []
    for station, text in zip(journey.trace, journey.documents, strict=True):
        if text != before:
            found.append((one_line(station.stage), text))
        before = text
    return found


def _lit(rows: Sequence[tuple[str, str, str]], current: int) -> str:
    head = "".join(cell(text, tag="th") for text in ("", "station", "outcome", "asked or said"))
    body = ""
    for number, row in enumerate(rows, 1):
        inner = [str(number), *map(escape, row)]
        here = " ◀" if number == current < len(ASKED) else ""
        inner[1] += here
        body += f"<tr>{_row(inner, row[1] != NOT_REACHED)}</tr>"
    return f'<table style="{TABLE}"><tr>{head}</tr>{body}</table>'


def _row(inner: Sequence[str], lit: bool) -> str:
    first = f"<b>{inner[0]}</b>" if lit else inner[0]
    style = "" if lit else "opacity:0.55"
    return cell(first, MARK if lit else style) + "".join(cell(text, style) for text in inner[1:])
