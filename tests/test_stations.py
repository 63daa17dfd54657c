"""The stations of the door as a picture: the text, the HTML and the panel say what the trace says."""

from __future__ import annotations

import html
from collections.abc import Iterator
from typing import Any

import ipywidgets as widgets
import pytest
from hypothesis import given
from strategies import arguments, names, profile

from agentkit import Registry, Tool, ToolCall, ToolError, tool
from agentkit._door import STAGES, Station
from agentkit._stations import (
    ASKED,
    NOT_REACHED,
    door,
    door_html,
    door_text,
    journey_html,
    journey_text,
    rows_of,
    travel,
)
from agentkit.widgets import stations

HOSTILE = "<script>alert(1)</script>"
SECRET = "sk-stations-0123456789"


class Shelf:
    def __init__(self) -> None:
        self.ran = 0

        def small(amount: int, note: str = "") -> None:
            if amount > 100:
                raise ToolError("More than 100 is too much.", code="too_much")

        @tool(permission="write", rule=small)
        def put(amount: int, note: str = "") -> dict[str, Any]:
            """Put pieces on the shelf."""
            self.ran += 1
            if amount == 7:
                raise ValueError("the shelf is full")
            return {"amount": amount, "note": note}

        @tool(permission="dangerous")
        def clear(amount: int) -> str:
            """Throw pieces away."""
            self.ran += 1
            return "gone"

        self.put: Tool = put
        self.registry = Registry([put, clear])


def put(amount: Any = 5, call_id: str = "call_1", **more: Any) -> ToolCall:
    return ToolCall("put", {"amount": amount, **more}, call_id)


def test_every_stage_of_the_door_has_its_question_in_order() -> None:
    assert list(ASKED) == [stage.__name__ for stage in STAGES] + ["run", "result"]


def test_a_good_call_reaches_every_station_and_the_document_grows() -> None:
    shelf = Shelf()
    journey = travel(shelf.registry, ToolCall("put", '{"amount": "5"}', "call_1"), run_id="r")
    assert shelf.ran == 1 and journey.result.ok
    assert [station.stage for station in journey.trace] == list(ASKED)
    documents = dict(zip(ASKED, journey.documents, strict=True))
    assert documents["parse"] == '{"name": "put", "arguments": {"amount": "5"}, "permission": "write"}'
    assert '"arguments": {"amount": 5' in documents["schema"]  # the text became a number
    assert '"key": ["r", "put", {"amount": 5' in documents["idempotency"]
    assert documents["reserve"].endswith('"outcome": null}')
    assert documents["result"] == journey.result.content


@pytest.mark.parametrize(
    ("call", "stage", "outcome", "code"),
    [
        (ToolCall("prut", {}, "c"), "lookup", "refused", "unknown_tool"),
        (ToolCall("put", "{", "c"), "parse", "refused", "bad_json"),
        (put("much"), "schema", "refused", "bad_arguments"),
        (ToolCall("clear", {"amount": 1}, "c"), "approval", "refused", "needs_approval"),
        (put(500), "rule", "refused", "too_much"),
        (put(7), "run", "failed", "tool_failed"),
    ],
)
def test_a_call_that_stops_is_shown_where_it_stops(call: ToolCall, stage: str, outcome: str, code: str) -> None:
    journey = travel(Shelf().registry, call, run_id="r")
    rows = {name: (said, note) for name, said, note in rows_of(journey.trace)}
    assert rows[stage][0] == outcome and rows[stage][1].startswith(f"{code}: ")
    after = list(ASKED)[list(ASKED).index(stage) + 1 :]
    if stage != "run":
        assert all(rows[name] == (NOT_REACHED, "") for name in after)
        assert journey.documents[-1] == journey.result.content
    text, page = door_text(journey.trace), door_html(journey.trace)
    for name, (said, note) in rows.items():
        line = next(line for line in text.splitlines() if line.startswith(f"{name} "))
        assert said in line and note.replace("\n", "\\n") in line
        assert name in page and html.escape(said, quote=True) in page
    assert repr(door(journey.trace)) == text and door(journey.trace)._repr_html_() == page


def test_a_retry_is_answered_from_the_ledger_and_shown_so() -> None:
    shelf = Shelf()
    panel = stations(shelf.registry, put(), put())
    assert shelf.ran == 1
    assert panel.journeys[1].trace[-1] == Station("idempotency", "answered", "", "an earlier outcome")
    assert panel.journeys[1].documents[-1] == panel.journeys[0].result.content
    assert "2. put, call_1 → ok (answered at idempotency)" in repr(panel)


def test_an_approved_call_says_so() -> None:
    shelf = Shelf()
    clear = ToolCall("clear", {"amount": 1}, "call_1")
    panel = stations(shelf.registry, clear, approved={"call_1"})
    assert shelf.ran == 1 and '"approved": "exactly these arguments"' in repr(panel)
    bound = shelf.registry.approve(clear, run_id="run-1")
    assert stations(Shelf().registry, clear, approved={"call_1": bound}).journeys[0].result.ok
    other = ToolCall("clear", {"amount": 2}, "call_1")
    assert not stations(Shelf().registry, other, approved={"call_1": bound}).journeys[0].result.ok


def test_OP02_no_secret_reaches_a_picture() -> None:
    call = put(note=f"key={SECRET}")
    for faces in (journey_text, journey_html):
        assert SECRET not in faces(travel(Shelf().registry, call, run_id="r"))
    panel = stations(Shelf().registry, call, ToolCall("put", f'{{"api_key": "{SECRET}"}}', "c"))
    assert SECRET not in repr(panel) + panel._repr_html_() + "".join(part.value for part in inside(panel, widgets.HTML))


def inside(part: Any, kind: type) -> Iterator[Any]:
    if isinstance(part, kind):
        yield part
    for child in getattr(part, "children", ()):
        yield from inside(child, kind)


def test_the_panel_has_a_picture_for_each_station_and_they_are_escaped() -> None:
    panel = stations(Shelf().registry, put(note=HOSTILE), ToolCall(HOSTILE, {}, "call_2"))
    stacks = list(inside(panel, widgets.Stack))
    assert [len(stack.children) for stack in stacks] == [2, len(ASKED) + 1, 2]
    everything = "".join(part.value for part in inside(panel, widgets.HTML)) + panel._repr_html_()
    assert "<script" not in everything and html.escape(HOSTILE) in everything
    first = stacks[1].children
    assert "as the model wrote it" in first[0].value and "after result" in first[-1].value
    assert not list(inside(panel, widgets.Output))
    bundle = panel._repr_mimebundle_()
    assert bundle["text/plain"] == repr(panel) and bundle["text/html"] == panel._repr_html_()


def test_the_form_sends_one_more_call_through_the_same_door() -> None:
    shelf = Shelf()
    panel = stations(shelf.registry, put())
    panel.arguments.value = '{"amount": 6'
    panel.go.click()
    assert panel.journeys[-1].result.error is not None and panel.journeys[-1].result.error.code == "bad_json"
    panel.tool.value, panel.arguments.value, panel.call_id.value, panel.yes.value = "clear", '{"amount": 1}', "c9", True
    panel.go.click()
    assert panel.journeys[-1].result.data == "gone" and shelf.ran == 2
    choose = next(inside(panel, widgets.Dropdown))
    assert len(choose.options) == 3 and choose.value == 2 and "3. clear, c9 → ok" in repr(panel)


def test_without_a_call_the_panel_waits() -> None:
    panel = stations(Registry())
    assert repr(panel) == "(no calls yet)"
    panel.go.click()
    assert panel.journeys[0].trace[0].code == "unknown_tool"


def test_an_empty_trace_and_a_stage_nobody_knows_can_be_shown() -> None:
    assert door_text([]).count(NOT_REACHED) == len(ASKED)
    text = door_text([Station("customs", "refused", "late", "closed\nfor today")])
    assert "customs" in text and "closed\\nfor today" in text


@given(names, arguments)
@profile(100)
def test_whatever_a_model_writes_can_be_shown(name: str, document: Any) -> None:
    for found in (name, "put"):
        journey = travel(Shelf().registry, ToolCall(found, document, "call_1"), run_id="r")
        assert len(journey.documents) == len(journey.trace)
        assert journey_text(journey) and "<script" not in journey_html(journey)
