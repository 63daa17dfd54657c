"""Recorded messages as a sequence diagram: who said what to whom, in order; and N × M against N + M.

Both show themselves as text and as a table. What a server wrote is shown with every invisible character written out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal, TypeAlias

from agentkit._redact import mask_text
from agentkit._text import CELL, MARK, TABLE, cell, escape, one_line, pad, shown, width
from agentkit._value import value
from agentkit.mcp.jsonrpc import ErrorResponse, Notification, Problem, Request, Response
from agentkit.mcp.recording import Recorded

LONGEST: Final = 38  # columns of a label
Kind: TypeAlias = Literal["request", "notification", "response", "error", "noise"]


@value
class Arrow:
    """One message: its number in the diagram, who sent it to whom, and a few words about it.

    ``answers`` is the number of the request that a response or an error belongs to, or None. ``text`` is the JSON text as it
    travelled, with secrets masked.
    """

    number: int
    time: float
    sender: str
    receiver: str
    kind: Kind
    label: str
    text: str
    answers: int | None = None


class Sequence:
    """A sequence diagram. ``parties`` are the columns, ``arrows`` the messages in order."""

    def __init__(self, parties: tuple[str, ...], arrows: tuple[Arrow, ...]) -> None:
        self.parties = parties
        self.arrows = arrows

    def __len__(self) -> int:
        return len(self.arrows)

    def lines(self, first: int = 0, last: int | None = None) -> list[str]:
        """The diagram as lines of text: a head, and one line for each arrow from index ``first`` up to ``last``."""
        gap = max(
            [width(_words(arrow)) for arrow in self.arrows] + [width(one_line(name, 20)) for name in self.parties] + [8]
        )
        gap += 8
        digits = len(str(len(self.arrows)))
        head = " " * (digits + 2) + "".join(pad(one_line(name, 20), gap) for name in self.parties)
        drawn = [self._line(arrow, gap, digits) for arrow in self.arrows[first:last]]
        return [head.rstrip(), *drawn]

    def _line(self, arrow: Arrow, gap: int, digits: int) -> str:
        start, end = (self.parties.index(name) for name in (arrow.sender, arrow.receiver))
        left, right = min(start, end), max(start, end)
        room = (right - left) * gap - 1
        words = f" {_words(arrow)} "
        stroke = "-" if arrow.kind in ("request", "notification") else "."
        line = stroke * ((room - width(words)) // 2) + words
        line += stroke * (room - width(line))
        inner = line[:-1] + ">" if end > start else "<" + line[1:]
        bars = ["|" + " " * (gap - 1) for _ in self.parties]
        picture = "".join(bars[:left]) + "|" + inner + "|" + " " * (gap - 1) + "".join(bars[right + 1 :])
        return f"{arrow.number:>{digits}}  {picture}".rstrip()

    def __repr__(self) -> str:
        return "\n".join(self.lines()) if self.arrows else "(no messages)"

    def _repr_html_(self) -> str:
        if not self.arrows:
            return "<div>(no messages)</div>"
        head = "".join(cell(escape(name), tag="th") for name in ("", "from", "to", "message", "JSON"))
        body = "".join(f"<tr>{self._row(arrow)}</tr>" for arrow in self.arrows)
        return f'<table style="{TABLE}"><tr>{head}</tr>{body}</table>'

    def _row(self, arrow: Arrow) -> str:
        answers = "" if arrow.answers is None else f" (answers {arrow.answers})"
        folded = f"<details><summary>{arrow.kind}{answers}</summary>{pretty_html(arrow)}</details>"
        named = (str(arrow.number), one_line(arrow.sender, 40), one_line(arrow.receiver, 40), arrow.label)
        return "".join(cell(escape(text)) for text in named) + cell(folded)


def pretty_html(arrow: Arrow) -> str:
    """The message as JSON over several lines, or the line as it came."""
    try:
        text = json.dumps(json.loads(arrow.text), ensure_ascii=False, indent=2)
    except (ValueError, RecursionError):
        text = arrow.text
    return f'<pre style="margin:4px 0;white-space:pre-wrap;{MARK};padding-left:8px">{escape(shown(text, 8_000))}</pre>'


def sequence(recorded: Iterable[Recorded]) -> Sequence:
    """The diagram of recorded messages. A response knows its request by the id, its type included."""
    parties: dict[str, None] = {}
    arrows: list[Arrow] = []
    asked: dict[tuple[str, str, type, Any], tuple[int, str]] = {}
    for number, item in enumerate(recorded, 1):
        parties[item.sender] = parties[item.receiver] = None
        kind, words, answers = _read(item, number, asked)
        text = mask_text(item.text)
        arrows.append(Arrow(number, item.time, item.sender, item.receiver, kind, mask_text(words), text, answers))
    return Sequence(tuple(parties), tuple(arrows))


def _read(
    item: Recorded, number: int, asked: dict[tuple[str, str, type, Any], tuple[int, str]]
) -> tuple[Kind, str, int | None]:
    message = item.message
    if isinstance(message, Problem):
        return "noise", f"no message: {one_line(message.text, 24)}", None
    if isinstance(message, Notification):
        return "notification", one_line(message.method, 60), None
    if isinstance(message, Request):
        words = " ".join([message.method, *_subject(message.params)])
        asked[item.sender, item.receiver, type(message.id), message.id] = (number, message.method)
        return "request", one_line(words, 60), None
    known = asked.pop((item.receiver, item.sender, type(message.id), message.id), None)
    first, method = known if known is not None else (None, "nothing that was asked")
    if isinstance(message, ErrorResponse):
        return "error", one_line(f"error {message.code} for {method}", 60), first
    assert isinstance(message, Response)
    failed = " (failed)" if message.result.get("isError") is True else ""
    return "response", one_line(f"result of {method}{failed}", 60), first


def _subject(params: Mapping[str, Any]) -> list[str]:
    """What a request is about: the name of a tool or prompt, or an address."""
    return [str(params[key]) for key in ("name", "uri") if isinstance(params.get(key), str)][:1]


def _words(arrow: Arrow) -> str:
    return (
        arrow.label if width(arrow.label) <= LONGEST else one_line(arrow.label, LONGEST // 2 - 1)[: LONGEST // 2] + "…"
    )


# --- N × M against N + M ---------------------------------------------------------------------------------------------------


class Integrations:
    """Which agent uses which service, and how much has to be written with a common protocol and without one."""

    def __init__(self, uses: Mapping[str, Iterable[str]]) -> None:
        self.uses = {agent: tuple(services) for agent, services in uses.items()}
        self.services = tuple(dict.fromkeys(service for services in self.uses.values() for service in services))

    @property
    def without(self) -> int:
        """Adapters without a protocol: one for each agent and service that meet."""
        return sum(map(len, self.uses.values()))

    @property
    def together(self) -> int:
        """Parts with a protocol: one client in each agent, one server for each service."""
        return len(self.uses) + len(self.services)

    @property
    def sentences(self) -> tuple[str, str]:
        return (
            f"Without a protocol: an adapter for each x, {self.without} in all.",
            f"With MCP: {len(self.uses)} clients and {len(self.services)} servers, {self.together} in all.",
        )

    def _rows(self) -> list[list[str]]:
        return [
            [one_line(agent, 40), *("x" if service in services else "" for service in self.services)]
            for agent, services in self.uses.items()
        ]

    def __repr__(self) -> str:
        rows = [["", *(one_line(service, 40) for service in self.services)], *self._rows()]
        sizes = [max(width(row[column]) for row in rows) for column in range(len(rows[0]))]
        lines = ["  ".join(map(pad, row, sizes)).rstrip() for row in rows]
        return "\n".join([*lines, *self.sentences])

    def _repr_html_(self) -> str:
        head = "".join(f'<th style="{CELL}">{escape(one_line(text, 40))}</th>' for text in ("", *self.services))
        body = "".join(f"<tr>{''.join(cell(escape(text)) for text in row)}</tr>" for row in self._rows())
        told = "".join(f"<div>{sentence}</div>" for sentence in self.sentences)
        return f'<table style="{TABLE}"><tr>{head}</tr>{body}</table>{told}'
