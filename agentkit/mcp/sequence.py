"""Recorded messages as a sequence diagram: who said what to whom, in order.

It shows itself as text and as a picture with a table. What a server wrote is shown with every invisible character written out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, Final, Literal, TypeAlias

from agentkit._redact import mask, mask_text
from agentkit._text import MARK, TABLE, cell, escape, one_line, pad, shown, width
from agentkit._value import value
from agentkit.mcp.jsonrpc import ErrorResponse, Notification, Problem, Request, Response
from agentkit.mcp.recording import Recorded

LONGEST: Final = 38  # columns of a label
_ESCAPED: Final = re.compile(r'\\+"')
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
        gap, digits = self._gap, len(str(len(self.arrows)))
        head = " " * (digits + 2) + "".join(pad(one_line(name, 20), gap) for name in self.parties)
        drawn = [self._line(arrow, gap, digits) for arrow in self.arrows[first:last]]
        return [head.rstrip(), *drawn]

    @cached_property
    def _gap(self) -> int:
        """Columns from one party to the next. It looks at every arrow, so that all parts of a diagram have the same."""
        words = [_words(arrow) for arrow in self.arrows] + [one_line(name, 20) for name in self.parties]
        return max([*map(width, words), 8]) + 8

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
        return f'{picture_html(self.lines())}<table style="{TABLE}"><tr>{head}</tr>{body}</table>'

    def _row(self, arrow: Arrow) -> str:
        answers = "" if arrow.answers is None else f" (answers {arrow.answers})"
        folded = f"<details><summary>{arrow.kind}{answers}</summary>{pretty_html(arrow)}</details>"
        named = (str(arrow.number), one_line(arrow.sender, 40), one_line(arrow.receiver, 40), arrow.label)
        return "".join(cell(escape(text)) for text in named) + cell(folded)


def picture_html(lines: list[str], marked: int | None = None) -> str:
    """Lines of a diagram, its head first; the arrow at index ``marked`` in bold."""
    drawn = [escape(line) for line in lines]
    if marked is not None:
        drawn[marked + 1] = f"<b>{drawn[marked + 1]}</b>"
    picture = "\n".join(drawn)
    return f'<pre style="font-family:monospace;margin:4px 0;line-height:1.3;overflow-x:auto">{picture}</pre>'


def pretty_html(arrow: Arrow) -> str:
    """The message as JSON over several lines, or the line as it came."""
    try:
        text = json.dumps(json.loads(arrow.text), ensure_ascii=False, indent=2)
    except (ValueError, RecursionError):
        text = arrow.text
    style = f"font-family:monospace;margin:4px 0;white-space:pre-wrap;{MARK};padding-left:8px"
    return f'<pre style="{style}">{escape(shown(text, 8_000))}</pre>'


def sequence(recorded: Iterable[Recorded]) -> Sequence:
    """The diagram of recorded messages. A response knows its request by the id, its type included."""
    parties: dict[str, None] = {}
    arrows: list[Arrow] = []
    asked: dict[tuple[str, str, type, Any], tuple[int, str]] = {}
    for number, item in enumerate(recorded, 1):
        parties[item.sender] = parties[item.receiver] = None
        kind, words, answers = _read(item, number, asked)
        text = _masked(item.text)
        arrows.append(Arrow(number, item.time, item.sender, item.receiver, kind, mask_text(words), text, answers))
    return Sequence(tuple(parties), tuple(arrows))


def _read(
    item: Recorded, number: int, asked: dict[tuple[str, str, type, Any], tuple[int, str]]
) -> tuple[Kind, str, int | None]:
    message = item.message
    if isinstance(message, Problem):
        return "noise", f"no message: {one_line(_masked(item.text)[:200], 24)}", None
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


def _masked(text: str) -> str:
    """A line with its secrets masked, also those in JSON that travels inside a text. Without any it stays as it is."""
    try:
        return mask_text(_json_masked(text))
    except RecursionError:
        return mask_text(text)


def _json_masked(text: str) -> str:
    """The same for a text that may be JSON, or hold some, with the quotes escaped so that `mask_text` sees no field names."""
    try:
        found = json.loads(text)
    except ValueError:
        plain = _ESCAPED.sub('"', text)
        return text if mask_text(plain) == plain else mask_text(plain)
    better = mask(_inside(found))
    return text if better == found else json.dumps(better, ensure_ascii=False, separators=(",", ":"))


def _inside(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _inside(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_inside(item) for item in value]
    return _json_masked(value) if isinstance(value, str) else value


def _subject(params: Mapping[str, Any]) -> list[str]:
    """What a request is about: the name of a tool or prompt, or an address."""
    return [str(params[key]) for key in ("name", "uri") if isinstance(params.get(key), str)][:1]


def _words(arrow: Arrow) -> str:
    return (
        arrow.label if width(arrow.label) <= LONGEST else one_line(arrow.label, LONGEST // 2 - 1)[: LONGEST // 2] + "…"
    )
