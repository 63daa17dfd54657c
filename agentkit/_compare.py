"""Two runs side by side."""

from __future__ import annotations

from itertools import zip_longest

from agentkit._text import MARK, TABLE, Shown, cell, escape, hanging, one_line

Row = tuple[str, list[tuple[str, str]]]
FIRST = "first difference"


Lines = list[tuple[str, str]] | None
Aligned = tuple[str, Lines, Lines]
Laid = tuple[bool, str, Lines, Lines]


def lay(whole: list[list[Row]], short: list[list[Row]]) -> list[Laid]:
    """Lay two lists of rows side by side: for each row whether it is the first difference, its name, and both sides.

    Args:
        whole: the rows of both sides in full; they decide where the sides differ.
        short: the same rows as they are shown.
    """
    pairs = list(zip(_aligned(*whole), _aligned(*short), strict=True))
    differs = [left != right for ((_, left, right), _) in pairs]
    first = differs.index(True) if True in differs else None
    return [(place == first, name, left, right) for place, (_, (name, left, right)) in enumerate(pairs)]


def faces(rows: list[Laid], labels: tuple[str, str]) -> Shown:
    """All rows, one below the other, under a sentence that says where the first difference is."""
    names = (one_line(labels[0]), one_line(labels[1]))
    first = next((name for is_first, name, _, _ in rows if is_first), None)
    summary = "The two runs are the same." if first is None else f"The first difference is at: {first}."
    return Shown(_as_text(rows, names, summary), f"<div><div>{escape(summary)}</div>{rows_as_html(rows, names)}</div>")


def _aligned(left: list[Row], right: list[Row]) -> list[Aligned]:
    """Rows with the same place side by side; the goals at the start and the ends at the end always meet."""
    pairs: list[Aligned] = [(left[0][0], left[0][1], right[0][1])]
    for one, other in zip_longest(left[1:-1], right[1:-1]):
        pairs.append(((one or other)[0], one[1] if one else None, other[1] if other else None))
    return [*pairs, (left[-1][0], left[-1][1], right[-1][1])]


def _as_text(rows: list[Laid], names: tuple[str, str], summary: str) -> str:
    blocks = [summary]
    for first, title, left, right in rows:
        blocks.append(f"{title} ({FIRST})" if first else title)
        if left == right and not first:
            blocks += _side_text("both", left)
        else:
            blocks += [*_side_text(names[0], left), *_side_text(names[1], right)]
    return "\n".join(blocks)


def _side_text(name: str, lines: Lines) -> list[str]:
    if lines is None:
        return [f"  {name} | (nothing)"]
    return [hanging(f"{name} | {label}", text, indent="  ") for label, text in lines]


def rows_as_html(rows: list[Laid], labels: tuple[str, str]) -> str:
    """Some of the rows as a table of three columns."""
    head = "".join(cell(escape(text), tag="th") for text in ("", *map(one_line, labels)))
    body = "".join(_row_html(*row) for row in rows)
    return f'<table style="{TABLE}"><tr>{head}</tr>{body}</table>'


def _row_html(first: bool, title: str, left: Lines, right: Lines) -> str:
    name = f"<b>{title} ({FIRST})</b>" if first else title
    return f"<tr>{cell(name, MARK if first else '')}{cell(_side_html(left))}{cell(_side_html(right))}</tr>"


def _side_html(lines: Lines) -> str:
    if lines is None:
        return "(nothing)"
    return "".join(f"<div><b>{escape(label)}:</b> {escape(text)}</div>" for label, text in lines)
