"""Text for people to look at: nothing invisible, nothing endless, nothing that a browser would take for HTML.

Everything that came from a model, a tool or a server goes through these functions before it is shown. They never change
the data, only the picture of it.
"""

from __future__ import annotations

import html
import json
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

LONG = 1200
"""How many characters of one value a face shows before it is shortened."""

ADDRESS = re.compile(r"\s+at 0x[0-9A-Fa-f]+")
# Joiners hold emoji and some scripts together; to show them as escapes would break honest text.
KEPT = frozenset("\n\t\u200c\u200d")
HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


def visible(text: str) -> str:
    r"""The text with every control, direction-changing and invisible character written out, such as ``\x1b``."""
    text = text.replace("\r\n", "\n")
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text
    return "".join(_written_out(char) if _is_hidden(char) else char for char in text)


def _is_hidden(char: str) -> bool:
    return char not in KEPT and unicodedata.category(char) in HIDDEN


def _written_out(char: str) -> str:
    code = ord(char)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def shorten(text: str, limit: int | None = LONG) -> str:
    """The first ``limit`` characters and how many more there are; None keeps all."""
    if limit is None or len(text) <= limit:
        return text
    return f"{text[:limit]}… [{len(text) - limit:,} more characters]"


def shown(text: object, limit: int | None = LONG) -> str:
    """Text of any length and any content, ready to be looked at."""
    return visible(shorten(str(text), limit))


def one_line(text: object, limit: int | None = 200) -> str:
    r"""The same on one line: a line break is written as ``\n``."""
    return shown(text, limit).replace("\n", "\\n").replace("\t", "\\t")


def json_text(value: Any, limit: int | None = LONG) -> str:
    """A value as JSON on one line. What JSON cannot hold is named by its type, never by its place in memory."""
    try:
        text = json.dumps(value, ensure_ascii=False, default=_type_name)
    except (TypeError, ValueError, RecursionError):
        text = f"<{type(value).__name__} that JSON cannot hold>"
    return visible(shorten(text, limit))


def _type_name(value: object) -> str:
    return f"<{type(value).__name__}>"


def plain(value: Any, limit: int | None = LONG) -> str:
    """Any value as text for a cell of a table: text as it is, numbers as numbers, data as JSON."""
    if isinstance(value, str):
        return shown(value, limit)
    if value is None or isinstance(value, (bool, int, float)):
        return str(value)
    if isinstance(value, (Mapping, list, tuple)):
        return json_text(value, limit)
    return shown(ADDRESS.sub("", str(value)), limit)


def escape(text: str) -> str:
    """Text for HTML, in content or in an attribute. Line breaks stay, as ``<br>``."""
    return html.escape(text, quote=True).replace("\n", "<br>")


def width(text: str) -> int:
    """How many columns a terminal needs for the text; a Korean syllable takes two."""
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)


def pad(text: str, columns: int) -> str:
    return text + " " * (columns - width(text))


def hanging(label: str, text: str, indent: str = "") -> str:
    """``label: text`` with every further line set in deeper, so that no line of the text can pass for a label."""
    first, *rest = text.split("\n")
    lines = [f"{indent}{label}: {first}", *(f"{indent}    {line}" for line in rest)]
    return "\n".join(line.rstrip() for line in lines)


EDGE = "border:1px solid rgba(128,128,128,0.4)"
CELL = f"{EDGE};padding:3px 8px;text-align:left;vertical-align:top"
TABLE = "border-collapse:collapse;margin:4px 0;line-height:1.4"
MARK = "border-left:4px solid rgba(128,128,128,0.9)"


def cell(inner: str, style: str = "", tag: str = "td") -> str:
    """One table cell around HTML that is already escaped."""
    extra = f";{style}" if style else ""
    return f'<{tag} style="{CELL}{extra}">{inner}</{tag}>'


def rows_html(lines: Iterable[tuple[str, str]]) -> str:
    """A table of two columns: labels in bold, and their texts. Colours are those of the page."""
    body = "".join(f"<tr>{cell(f'<b>{escape(label)}</b>')}{cell(escape(text))}</tr>" for label, text in lines)
    return f'<table style="{TABLE}">{body}</table>'


@dataclass(frozen=True, slots=True, repr=False)
class Shown:
    """Something to look at: the same content as text and as HTML."""

    text: str
    html: str

    def __repr__(self) -> str:
        return self.text

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(self.text)

    def _repr_html_(self) -> str:
        return self.html
