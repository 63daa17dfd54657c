"""One exchange of each of two services side by side: the same concepts, their places, their forms, and the full JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from agentkit._concept_places import Path
from agentkit._concepts import SERVICES, Found, Row, compared, document, form, service_of, written
from agentkit._text import MARK, TABLE, Shown, cell, escape, hanging, json_text, one_line, visible

DOCUMENT, VALUE, BESIDE = 8000, 300, 60
LINES = 60
# Viewers of notebooks keep each of these styles; the short form `flex` and some others they drop.
SIDES = "display:flex;flex-wrap:wrap;gap:4px 16px;width:100%"
SIDE = "flex-grow:1;flex-shrink:1;flex-basis:240px;min-width:0;line-height:1.4"
NAME = "width:8em;"
CODE = "font-family:monospace;white-space:pre-wrap;overflow-wrap:break-word;overflow-wrap:anywhere;line-height:1.4"
PLAIN_LINE = "border-left:4px solid transparent;padding-left:6px"
MARKED_LINE = f"{MARK};padding-left:6px;font-weight:bold"


def wire(left: Any, right: Any) -> Shown:
    """Two exchanges side by side: where each concept stands in their JSON, what differs, and the full documents.

    Args:
        left, right: an exchange, which is anything with ``service`` (``chat``, ``responses`` or ``anthropic``), ``request`` and
            ``response``; or several exchanges in a sequence, such as a whole turn of a call and its result.

    What differs is said in words: another ``place``, another ``form`` (a JSON text instead of an object), another ``value``.
    """
    sides = turn(left), turn(right)
    rows, labels = compared(*sides), side_labels(*sides)
    parts = [concepts_face(rows, labels), documents_face(*sides)]
    return Shown("\n".join(part.text for part in parts), f"<div>{''.join(part.html for part in parts)}</div>")


def turn(found: Any) -> tuple[Any, ...]:
    """One exchange, or several, as a tuple."""
    return (found,) if hasattr(found, "request") else tuple(found)


def side_labels(left: Sequence[Any], right: Sequence[Any]) -> tuple[str, str]:
    """What to call the two sides: the services, with left and right where they are the same."""
    one, other = (SERVICES[service_of(side[0])] if side else "(nothing)" for side in (left, right))
    return (one, other) if one != other else (f"{one} (left)", f"{other} (right)")


# --- the concepts -------------------------------------------------------------------------------------------------------


def concepts_face(rows: Sequence[Row], labels: tuple[str, str]) -> Shown:
    """The table of concepts."""
    head = f"{labels[0]} and {labels[1]}: {_counts(rows)}"
    text = [head]
    for row in rows:
        text.append(f"{row.concept}: {difference(row)}")
        for label, found in zip(labels, (row.left, row.right), strict=True):
            text.append(hanging(label, f"{place_text(found)}\n{value_text(found)}".rstrip(), indent="  "))
    body = "".join(_row_html(row, labels) for row in rows)
    return Shown("\n".join(text), f'<div><b>{escape(head)}</b></div><table style="{TABLE};width:100%">{body}</table>')


def _counts(rows: Sequence[Row]) -> str:
    """How many concepts there are, and how many differ in what."""
    kinds = Counter(kind for row in rows for kind in row.differences or ("the same",))
    words = {"place": "in another place", "form": "in another form", "value": "with another value"}
    words |= {"only here": "only on one side", "the same": "the same"}
    parts = [f"{kinds[kind]} {text}" for kind, text in words.items() if kinds[kind]]
    return ", ".join([f"{len(rows)} concepts", *parts])


def difference(row: Row) -> str:
    """What differs, in words."""
    if row.differences == ("only here",):
        return "only on one side"
    return f"other {', other '.join(row.differences)}" if row.differences else "the same"


def place_text(found: Found | None) -> str:
    """Where it stands: the document and the path in it."""
    if found is None:
        return "(nothing)"
    number = f" {found.number + 1}" if found.number else ""
    return f"{found.side}{number}, {one_line(written(found.path))} ({form(found.value)})"


def value_text(found: Found | None) -> str:
    """What stands there, as JSON: a text has quotes, an object has braces."""
    return json_text(found.value, VALUE) if found is not None else ""


def _row_html(row: Row, labels: tuple[str, str]) -> str:
    name = f"<b>{escape(row.concept)}</b><div>{difference(row)}</div>"
    pair = zip(labels, (row.left, row.right), strict=True)
    halves = "".join(f'<div style="{SIDE}">{_half_html(label, found)}</div>' for label, found in pair)
    both = f'<div style="{SIDES}">{halves}</div>'
    return f"<tr>{cell(name, NAME + (MARK if row.differences else ''))}{cell(both)}</tr>"


def _half_html(label: str, found: Found | None) -> str:
    head = f"<div><i>{escape(label)}</i></div>"
    where = f'<div style="{CODE}">{escape(place_text(found))}</div>'
    value = f'<div style="{CODE};opacity:0.8">{escape(value_text(found))}</div>' if found else ""
    return head + where + value


# --- the documents ------------------------------------------------------------------------------------------------------


def documents_face(left: Sequence[Any], right: Sequence[Any]) -> Shown:
    """The full JSON of both sides, folded."""
    text: list[str] = []
    halves = []
    for label, side in zip(side_labels(left, right), (left, right), strict=True):
        blocks = []
        for number, exchange in enumerate(side, 1):
            for name in ("request", "response"):
                title = f"{label}, {name}{f' {number}' if len(side) > 1 else ''}"
                body = _pretty(document(getattr(exchange, name)))
                text.append(f"{title}: {' '.join(line.strip() for line in body.split(chr(10)))}")
                inner = f'<div style="{CODE};font-size:smaller">{escape(body).replace("<br>", chr(10))}</div>'
                blocks.append(f"<details><summary>{escape(title)}</summary>{inner}</details>")
        halves.append(f'<div style="{SIDE}">{"".join(blocks)}</div>')
    return Shown("\n".join(text), f'<div style="{SIDES}">{"".join(halves)}</div>')


def _pretty(found: Any) -> str:
    """A document on several lines, shortened by whole lines."""
    text = visible(json.dumps(found, ensure_ascii=False, indent=2, default=lambda value: f"<{type(value).__name__}>"))
    if len(text) <= DOCUMENT:
        return text
    kept = text[:DOCUMENT].rpartition("\n")[0]
    return f"{kept}\n… [{text.count(chr(10)) - kept.count(chr(10)):,} more lines]"


# --- one concept in its document ----------------------------------------------------------------------------------------


def focus_face(row: Row, sides: tuple[Sequence[Any], Sequence[Any]], labels: tuple[str, str]) -> str:
    """HTML of one concept: both documents with everything else made short, and the lines of the concept marked."""
    halves = []
    for label, side, found in zip(labels, sides, (row.left, row.right), strict=True):
        body = "<div>(nothing)</div>"
        if found is not None:
            whole = document(getattr(side[found.number], found.side))
            body = "".join(map(_line_html, focused(whole, found.path)))
        where = escape(place_text(found))
        halves.append(f'<div style="{SIDE}"><div><i>{escape(label)}</i></div><div>{where}</div>{body}</div>')
    head = f"<div><b>{escape(row.concept)}</b>: {difference(row)}</div>"
    return f'<div style="width:100%">{head}<div style="{SIDES}">{"".join(halves)}</div></div>'


def _line_html(line: tuple[str, bool]) -> str:
    text, marked = line
    return f'<div style="{CODE};{MARKED_LINE if marked else PLAIN_LINE}">{escape(text)}</div>'


def focused(found: Any, path: Path, lead: str = "", depth: int = 0) -> list[tuple[str, bool]]:
    """The lines of a document in which only the way to ``path`` is unfolded, each with whether it belongs to the concept."""
    indent = "  " * depth
    if not path:
        lines = json.dumps(found, ensure_ascii=False, indent=2, default=str).split("\n")
        kept = [
            (visible(f"{indent}{lead if place == 0 else ''}{line}"), True) for place, line in enumerate(lines[:LINES])
        ]
        return [*kept, (f"{indent}… [{len(lines) - LINES:,} more lines]", True)] if len(lines) > LINES else kept
    is_object = isinstance(found, Mapping)
    entries = list(found.items()) if is_object else list(enumerate(found))
    inner: list[tuple[str, bool]] = []
    for place, (key, value) in enumerate(entries, 1):
        name = f"{json_text(key, BESIDE)}: " if is_object else ""
        one = (
            focused(value, path[1:], name, depth + 1)
            if key == path[0]
            else [(f"{indent}  {name}{_short(value)}", False)]
        )
        text, marked = one[-1]
        inner += [*one[:-1], (f"{text}{',' if place < len(entries) else ''}", marked)]
    start, end = "{}" if is_object else "[]"
    return [(f"{indent}{lead}{start}", False), *inner, (f"{indent}{end}", False)]


def _short(value: Any) -> str:
    """A value beside the way: whole when it is small, else only how much there is."""
    text = json_text(value, None)
    if len(text) <= BESIDE:
        return text
    if isinstance(value, Mapping):
        return f"{{… {len(value)} {'key' if len(value) == 1 else 'keys'}}}"
    if isinstance(value, (list, tuple)):
        return f"[… {len(value)} {'item' if len(value) == 1 else 'items'}]"
    return json_text(value, BESIDE)
