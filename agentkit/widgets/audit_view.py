"""An audit log as a table, and a button that tampers with a copy of it and shows where the chain breaks."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

import ipywidgets as widgets

from agentkit._text import Shown, json_text, one_line
from agentkit.safety.audit import START, Anchor, hash_of, problems_of
from agentkit.show import table
from agentkit.widgets._base import Panel, button, html, row, wide
from agentkit.widgets._faces import joined, title

CHANGE, REMOVE, MOVE, CUT = "change it", "remove it", "swap it with the next", "cut the log off before it"
WAYS: Final = (CHANGE, REMOVE, MOVE, CUT)
HEADER: Final = ("record", "event", "tool", "arguments", "code", "its hash fits", "follows the one before")
Record = Mapping[str, Any]


class Log(Protocol):
    """What both audit logs can do."""

    def records(self) -> list[dict[str, Any]]: ...
    def anchor(self) -> Anchor: ...


class AuditView(Panel):
    """The panel. ``number`` and ``way`` choose what to do; ``go`` does it to a copy; ``copy`` is that copy."""

    def __init__(self, records: Sequence[Record], anchor: Anchor) -> None:
        self.records = list(records)
        self.anchor = anchor
        self.copy: list[dict[str, Any]] = []
        self.number = widgets.Dropdown(
            options=[(_label(number, record), number) for number, record in enumerate(self.records, 1)],
            value=(len(self.records) + 1) // 2 or None, description="Record", layout=wide(max_width="480px"),
        )  # fmt: skip
        self.way = widgets.ToggleButtons(options=WAYS, value=CHANGE, style={"button_width": "auto"})
        self.go = button("Tamper with a copy", self._tamper, "warning")
        self.go.disabled = not self.records
        self.output = html()
        whole = html(self._log_face().html)
        super().__init__("audit", [whole, row(self.number), self.way, self.go, self.output], self._face_now)

    def _tamper(self) -> None:
        self.copy = tampered(self.records, self.way.value, self.number.value)
        self.output.value = self._copy_face().html

    def _log_face(self) -> Shown:
        words = "1 record" if len(self.records) == 1 else f"{len(self.records)} records"
        return joined(title(f"The log: {words}. {verdict(self.records, self.anchor)}"), rows(self.records))

    def _copy_face(self) -> Shown:
        said = f"A copy in which somebody tampered: {verdict(self.copy, self.anchor)}"
        return joined(title(said), rows(self.copy))

    def _face_now(self) -> Shown:
        if self.copy:
            return joined(self._log_face(), self._copy_face())
        if not self.records:
            return self._log_face()
        number = self.number.value
        tried = [[way, verdict(tampered(self.records, way, number), self.anchor)] for way in WAYS]
        said = title(f"What a check says when somebody takes record {number} of a copy and …")
        return joined(self._log_face(), said, Shown(repr(table(tried)), table(tried)._repr_html_()))


def audit_view(log: Log) -> AuditView:
    """An audit log as it stands now, with a button that changes one record in a copy. The log itself is never touched.

    Args:
        log: an `agentkit.safety.AuditLog` or `AuditDatabase`. The anchor that the copy is compared with is taken from it now.
    """
    return AuditView(log.records(), log.anchor())


def tampered(records: Sequence[Record], way: str, number: int) -> list[dict[str, Any]]:
    """A copy of the records after somebody did one thing to the record with this number (the first is 1)."""
    made = [copy.deepcopy(dict(record)) for record in records]
    place = number - 1
    if way == CHANGE:
        event = made[place]["event"]
        made[place]["event"] = {**event, "tool": "something_else"} if isinstance(event, dict) else "something else"
    elif way == REMOVE:
        del made[place]
    elif way == MOVE and number < len(made):
        made[place], made[number] = made[number], made[place]
    elif way == CUT:
        del made[place:]
    return made


def verdict(records: Sequence[Record], anchor: Anchor) -> str:
    """What a check of the chain says: the first problem, or that the chain holds."""
    found = problems_of(records, anchor)
    return found[0].message if found else "The chain holds."


def rows(records: Sequence[Record]) -> Shown:
    """The records as a table, with two marks for each: whether its hash fits, and whether it follows the one before."""
    body, before = [], START
    for number, record in enumerate(records, 1):
        event = record.get("event")
        told = event if isinstance(event, Mapping) else {"event": event}
        follows = record.get("before") == before and record.get("number") == number
        own = record.get("hash") == hash_of(record)
        before = str(record.get("hash"))
        body.append(
            [
                str(record.get("number")), *(one_line(told.get(key, ""), 40) for key in ("event", "tool")),
                json_text(told.get("arguments", {}), 90), one_line(told.get("code", ""), 40), _word(own), _word(follows),
            ]
        )  # fmt: skip
    shown = table(body, HEADER)
    return Shown(repr(shown), shown._repr_html_()) if body else Shown("(no records)", "<div>(no records)</div>")


def _word(fits: bool) -> str:
    return "yes" if fits else "NO"


def _label(number: int, record: Record) -> str:
    event = record.get("event")
    told = event if isinstance(event, Mapping) else {}
    return one_line(f"{number}. {told.get('event', '')} {told.get('tool', '')}", 60)
