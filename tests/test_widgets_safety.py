"""The approval card and the audit view: what they show, what their buttons do, and that the faces say the same."""

from __future__ import annotations

import copy
import html
import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import ipywidgets as widgets
import pytest

from agentkit import Agent, Registry, ScriptedModel, ToolCall, tool
from agentkit.messages import CallTools, Decision, FinalAnswer, Run
from agentkit.safety import Anchor, AuditDatabase, AuditLog, FencedRegistry
from agentkit.widgets import approval as approval_module
from agentkit.widgets import approval_card, audit_view
from agentkit.widgets.audit_view import CHANGE, CUT, MOVE, REMOVE, WAYS, tampered, verdict

HOSTILE = "<script>alert(1)</script>"
paid: list[tuple[str, int]] = []


@tool(permission="dangerous")
def refund(order_id: str, amount: int) -> str:
    """Pay money back.

    Args:
        order_id: the code
        amount: in KRW
    """
    paid.append((order_id, amount))
    return f"paid {amount}"


@pytest.fixture(autouse=True)
def _no_payments() -> Iterator[None]:
    paid.clear()
    yield
    paid.clear()


def agent(*amounts: Any, door: Any = None, order: str = "A100") -> Agent:
    calls = tuple(ToolCall("refund", {"order_id": order, "amount": each}) for each in amounts)
    script: list[Decision] = [CallTools("I pay.", calls), FinalAnswer("", "Done.")]
    return Agent(ScriptedModel(script), Registry([refund]) if door is None else door, ids=lambda: "r")


def opened(*amounts: Any, **options: Any) -> Any:
    made = agent(*amounts, **options)
    return approval_card(made, made.run("Refund A100?"))


def inside(widget: Any, kind: type) -> list[Any]:
    found = [widget] if isinstance(widget, kind) else []
    for child in getattr(widget, "children", ()):
        found += inside(child, kind)
    return found


def texts(panel: Any) -> str:
    return html.unescape("\n".join(each.value for each in inside(panel, widgets.HTML)))


# --- the card ----------------------------------------------------------------------------------------------------------


def test_the_card_shows_what_a_yes_covers_and_both_faces_say_it() -> None:
    panel = opened(250_000)
    for words in (
        "refund", "dangerous", "Pay money back.", "A100", "250000", "in this run, of this agent", "60 minutes after the yes",
    ):  # fmt: skip
        assert words in texts(panel)
        assert words in repr(panel)
        assert words in html.unescape(panel._repr_html_())
    assert {"text/plain", "text/html"} <= panel._repr_mimebundle_().keys()


def test_nothing_is_decided_by_itself() -> None:
    panel = opened(3)
    assert [each.value for each in panel.choices.values()] == ["Not decided"]
    panel.go.click()
    assert paid == [] and panel.run.status == "paused" and "Decide about every call first" in panel.output.value


def test_approve_runs_the_call_as_it_was_shown() -> None:
    panel = opened(3)
    panel.choices["call_1"].value = approval_module.APPROVE
    panel.go.click()
    assert paid == [("A100", 3)] and panel.run.answer == "Done." and "No call waits" in repr(panel)
    assert panel.forms == {} and panel.go.disabled


def test_deny_tells_the_model_the_reason() -> None:
    panel = opened(3)
    panel.choices["call_1"].value, panel.reasons["call_1"].value = approval_module.DENY, "Too early."
    panel.go.click()
    error = panel.run.steps[0].results[0].error
    assert paid == [] and error is not None and error.code == "denied" and "Too early." in error.message


def test_edit_is_a_form_that_holds_the_arguments_and_runs_the_changed_call() -> None:
    panel = opened(3, 4)
    amount = inside(panel.forms["call_2"].fields["amount"].box, widgets.Text)[0]
    assert amount.value == "4"
    panel.choices["call_1"].value, panel.choices["call_2"].value = approval_module.DENY, approval_module.EDIT
    amount.value = "many"
    panel.go.click()
    assert paid == [] and "a whole number such as 3" in panel.output.value
    amount.value = "9"
    panel.go.click()
    assert paid == [("A100", 9)] and panel.run.status == "done"


def test_the_form_and_the_reason_are_seen_only_when_they_are_needed() -> None:
    panel = opened(3)

    def seen() -> tuple[bool, bool]:
        shown = [box.layout.display != "none" for box in (panel.forms["call_1"].box, panel.reasons["call_1"])]
        return shown[0], shown[1]

    assert seen() == (False, False)
    panel.choices["call_1"].value = approval_module.EDIT
    assert seen() == (True, False)
    panel.choices["call_1"].value = approval_module.DENY
    assert seen() == (False, True)


def test_a_fence_around_the_registry_does_not_hide_the_card() -> None:
    assert "60 minutes" in repr(opened(3, door=FencedRegistry(Registry([refund]))))


def test_arguments_from_a_model_are_escaped_and_written_as_text_too() -> None:
    panel = opened(3, order=HOSTILE)
    assert HOSTILE not in panel._repr_html_() and html.escape(HOSTILE) in panel._repr_html_()
    assert all("<script" not in each.value for each in inside(panel, widgets.HTML))
    asked = agent(3)
    run = asked.run("Refund A100?")
    text = Run.from_json(re.sub(r'"amount": ?3', '"amount": 5', run.to_json()))  # a saved run that somebody changed
    assert "Argument amount: 5" in repr(approval_card(asked, text))


def test_a_call_whose_arguments_are_no_object_is_shown_as_it_is() -> None:
    asked = agent(3)
    lines = approval_module.card_lines(asked, ToolCall("refund", "[1, 2", "call_1"))
    assert ("Arguments", "refund [1, 2") in lines
    assert approval_module._written(ToolCall("refund", '{"amount": 1}')) == {"amount": 1}
    assert approval_module._written(ToolCall("refund", "[1]")) == {}


def test_an_own_registry_without_a_look_up_gets_a_card_all_the_same() -> None:
    own = SimpleNamespace(registry=SimpleNamespace())
    labels = [label for label, _ in approval_module.card_lines(own, ToolCall("refund", {"amount": 1}))]  # type: ignore[arg-type]
    assert labels == ["Tool", "Argument amount", "A yes is good for"]


# --- the audit view ------------------------------------------------------------------------------------------------------


def log(folder: Path, kind: Any = AuditLog) -> Any:
    made = kind(folder / "audit")
    for number, event in enumerate(("reserved", "answered", "refused", "answered"), 1):
        made.record({"event": event, "tool": "refund", "arguments": {"note": HOSTILE, "amount": number}, "code": ""})
    return made


@pytest.mark.parametrize("kind", [AuditLog, AuditDatabase])
def test_the_view_shows_the_log_and_what_each_tampering_would_show(kind: Any, tmp_path: Path) -> None:
    made = log(tmp_path, kind)
    panel = audit_view(made)
    assert "4 records. The chain holds." in repr(panel)
    for words in ("Record 2 was changed", "Record 2 does not follow", "The log ends after record 1"):
        assert words in repr(panel) and words in html.unescape(panel._repr_html_())
    assert "<script" not in panel._repr_html_() and "<script" not in texts(panel).replace(HOSTILE, "")
    if kind is AuditDatabase:
        made.close()


@pytest.mark.parametrize(
    ("way", "number", "words"),
    [
        (CHANGE, 3, "Record 3 was changed after it was written."),
        (REMOVE, 1, "Record 1 does not follow"),
        (MOVE, 2, "Record 2 does not follow"),
        (CUT, 4, "The log ends after record 3, but the anchor names record 4."),
    ],
)
def test_the_button_tampers_with_a_copy_and_shows_where_the_chain_breaks(
    way: str, number: int, words: str, tmp_path: Path
) -> None:
    made = log(tmp_path)
    before = made.records()
    panel = audit_view(made)
    panel.number.value, panel.way.value = number, way
    panel.go.click()
    assert words in panel.output.value and words in repr(panel) and words in panel._repr_html_()
    assert panel.copy != before and made.records() == before == panel.records and made.verify(made.anchor()) == []
    assert ("NO" in panel.output.value) == (way != CUT), "a cut end leaves no mark in what is left"


def test_each_way_is_seen_at_every_record(tmp_path: Path) -> None:
    made = log(tmp_path)
    records, anchor = made.records(), made.anchor()
    assert verdict(records, anchor) == "The chain holds."
    kept = copy.deepcopy(records)
    for way in WAYS:
        for number in range(1, 5):
            found = verdict(tampered(records, way, number), anchor)
            assert (found == "The chain holds.") == (way == MOVE and number == 4), (way, number)
    assert records == kept


def test_an_empty_log_is_shown_and_cannot_be_tampered_with(tmp_path: Path) -> None:
    panel = audit_view(AuditLog(tmp_path / "audit"))
    assert "0 records. The chain holds." in repr(panel) and panel.go.disabled
    assert verdict([], Anchor(2, "x")) == "The log ends after record 0, but the anchor names record 2."


def test_a_log_that_somebody_changed_before_says_so(tmp_path: Path) -> None:
    made = log(tmp_path)
    text = made.path.read_text(encoding="utf-8")
    made.path.write_text(re.sub(r'"amount": ?2', '"amount": 9', text), encoding="utf-8")
    panel = audit_view(made)
    assert "Record 2 was changed after it was written." in repr(panel).splitlines()[0]
