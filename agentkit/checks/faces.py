"""Two faces for everything that the exercises say: a stable text and the same words as HTML.

A value lists its `Line`s once, and both faces are made from that list, so that they cannot say different things. The
HTML uses inline styles and no colours for text, so it is legible in a light and in a dark theme.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from typing import Any, Literal, TypeAlias

Style: TypeAlias = Literal["head", "text", "item", "code"]
Mark: TypeAlias = Literal["good", "open", "bad", "plain"]

_EDGE: dict[Mark, str] = {"good": "#2e8b57", "open": "#888888", "bad": "#c77700", "plain": "#4878a8"}
_ADDRESS = re.compile(r" at 0x[0-9A-Fa-f]+")
_TICKED = re.compile(r"`([^`\n]+)`")
_SHOWN_CHARS = 120


@dataclass(frozen=True, slots=True)
class Line:
    """One line (or one block of code) of what is shown."""

    text: str
    style: Style = "text"


class Shown:
    """Base of the values that show themselves. A subclass says its lines, and which edge the HTML face has."""

    __slots__ = ()

    def _lines(self) -> Iterable[Line]:
        raise NotImplementedError

    def _mark(self) -> Mark:
        return "plain"

    def __repr__(self) -> str:
        return "\n".join(_as_text(line) for line in self._lines())

    def _repr_html_(self) -> str:
        body = "".join(_as_html(line) for line in self._lines())
        style = f"border-left:4px solid {_EDGE[self._mark()]};padding:2px 0 2px 12px;margin:4px 0"
        return f'<div style="{style}">{body}</div>'


def _as_text(line: Line) -> str:
    if line.style == "item":
        return f"  {line.text}"
    if line.style == "code":
        return "\n".join(f"    {row}".rstrip() for row in line.text.splitlines())
    return line.text


def _as_html(line: Line) -> str:
    if line.style == "code":
        return f'<pre style="margin:4px 0;white-space:pre-wrap">{escape(line.text)}</pre>'
    words = _TICKED.sub(r"<code>\1</code>", escape(line.text))
    if line.style == "head":
        return f"<div><strong>{words}</strong></div>"
    indent = ";padding-left:16px" if line.style == "item" else ""
    return f'<div style="white-space:pre-wrap{indent}">{words}</div>'


def without_addresses(text: str) -> str:
    """The text without memory addresses, which would be different in every run."""
    return _ADDRESS.sub("", text)


def shown(value: Any, limit: int = _SHOWN_CHARS) -> str:
    """A learner's value in a message: short, the same in every run, and never an exception.

    Sets are sorted (their order changes from run to run) and memory addresses are left out.
    """
    try:
        if isinstance(value, (set, frozenset)) and value:
            text = "{" + ", ".join(sorted(repr(item) for item in value)) + "}"
        else:
            text = repr(value)
    except Exception:
        return f"a value of type {type(value).__name__}"
    text = without_addresses(text)
    return text if len(text) <= limit else f"{text[:limit]} …"
