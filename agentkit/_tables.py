"""Two small pictures for notebooks: a table, and bars for numbers such as probabilities."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from agentkit._text import TABLE, Shown, cell, escape, one_line, pad, plain, width

BAR_COLUMNS = 24
CELL_LIMIT = 300
BAR = "background-color:#7a8fa6;height:10px"


def table(rows: Iterable[Sequence[Any]], header: Sequence[Any] = ()) -> Shown:
    """A small table.

    Args:
        rows: the rows; each is a sequence of values. Text stays as it is, data become JSON.
        header: the names of the columns, or nothing.
    """
    head = [plain(value, CELL_LIMIT) for value in header]
    body = [[plain(value, CELL_LIMIT) for value in row] for row in rows]
    columns = max((len(row) for row in [head, *body]), default=0)
    return Shown(_table_text(head, body, columns), _table_html(head, body, columns))


def _table_text(head: list[str], body: list[list[str]], columns: int) -> str:
    written = [_filled([one_line(text, None) for text in row], columns) for row in ([head] if head else []) + body]
    sizes = [max((width(row[column]) for row in written), default=0) for column in range(columns)]
    lines = [" | ".join(map(pad, row, sizes)).rstrip() for row in written]
    if head:
        lines.insert(1, "-+-".join("-" * size for size in sizes))
    return "\n".join(lines) if lines else "(empty table)"


def _table_html(head: list[str], body: list[list[str]], columns: int) -> str:
    if not head and not body:
        return "<div>(empty table)</div>"
    rows = [[cell(escape(text), tag="th") for text in _filled(head, columns)]] if head else []
    rows += [[cell(escape(text)) for text in _filled(row, columns)] for row in body]
    body_html = "".join(f"<tr>{''.join(row)}</tr>" for row in rows)
    return f'<table style="{TABLE}">{body_html}</table>'


def _filled(row: list[str], columns: int) -> list[str]:
    return row + [""] * (columns - len(row))


def bars(values: Mapping[str, float], title: str = "") -> Shown:
    """Horizontal bars with the number beside each.

    Args:
        values: a number from 0 up for each name. Bars are parts of 1, or of the largest value above 1.
        title: one line above the bars.
    """
    whole = max([1.0, *(value for value in values.values() if math.isfinite(value))])
    rows = [(one_line(name), _number(value), _part(value, whole)) for name, value in values.items()]
    return Shown(_bars_text(rows, one_line(title)), _bars_html(rows, one_line(title)))


def _number(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.3f}"


def _part(value: float, whole: float) -> float:
    return min(max(value / whole, 0.0), 1.0) if math.isfinite(value) else 0.0


def _bars_text(rows: list[tuple[str, str, float]], title: str) -> str:
    names = max((width(name) for name, _, _ in rows), default=0)
    numbers = max((len(number) for _, number, _ in rows), default=0)
    lines = [
        f"{pad(name, names)}  {number.rjust(numbers)}  {'#' * round(part * BAR_COLUMNS)}".rstrip()
        for name, number, part in rows
    ]
    return "\n".join([*([title] if title else []), *lines]) or "(no values)"


def _bars_html(rows: list[tuple[str, str, float]], title: str) -> str:
    if not rows and not title:
        return "<div>(no values)</div>"
    body = ""
    for name, number, part in rows:
        bar = f'<div style="{BAR};width:{part * 100:.1f}%"></div>'
        body += f"<tr>{cell(escape(name))}{cell(number)}{cell(bar, 'width:240px;vertical-align:middle')}</tr>"
    head = f"<div><b>{escape(title)}</b></div>" if title else ""
    return f'<div>{head}<table style="{TABLE}">{body}</table></div>'
