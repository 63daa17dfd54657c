"""The words of a streaming model as they came: piece by piece, with a thin bar between two pieces."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from agentkit._text import LONG, Shown, hanging, rows_html, visible

BAR = "│"
Pieces = Mapping[int, Sequence[str]]


def pieces(found: Any) -> Shown:
    """The words of a run in the pieces in which they came.

    Args:
        found: a stream of an agent, its ``pieces`` (for each step number the pieces of text), or the pieces of one text.
    """
    given = getattr(found, "pieces", found)
    if isinstance(given, Mapping):
        lines = [(f"Step {number}, {counted(words)}", words) for number, words in given.items()]
    else:
        words = tuple(given)
        lines = [(counted(words), words)] if words else []
    if not lines:
        return Shown("(no words came)", "<div>(no words came)</div>")
    shown = [(label, barred(words)) for label, words in lines]
    return Shown("\n".join(hanging(*line) for line in shown), barred_html(rows_html(shown)))


def counted(words: Sequence[str]) -> str:
    """How many pieces there are."""
    return "1 piece" if len(words) == 1 else f"{len(words):,} pieces"


def barred(words: Iterable[str], limit: int = LONG) -> str:
    """The pieces in one text with a bar between two of them; after ``limit`` characters only how many more came."""
    kept: list[str] = []
    room, left_out = limit, 0
    for word in words:
        if left_out or (kept and len(word) > room):
            left_out += 1
        else:
            kept.append(word if len(word) <= room else f"{word[:room]}… [{len(word) - room:,} more characters]")
            room -= len(word)
    text = BAR.join(map(visible, kept))
    return f"{text}{BAR}… [{left_out:,} more]" if left_out else text


def barred_html(page: str) -> str:
    """The bars of a page made pale, so that the words stay the first thing to read."""
    return page.replace(BAR, f'<span style="opacity:0.45">{BAR}</span>')
