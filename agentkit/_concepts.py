"""Where each idea of a conversation stands in the JSON of a service.

Every service says the same things (a system text, a goal, a call and its result) at other places and in other forms. The
places are found in the real documents of an exchange; nothing is written down here that a document does not hold.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agentkit._concept_places import PLACES, Path, at

SERVICES = {
    "chat": "OpenAI Chat Completions",
    "responses": "OpenAI Responses",
    "anthropic": "Anthropic Messages",
}
ORDER = (
    "System text", "Goal", "Tool name", "Tool description", "Tool schema", "Strict schema", "Length limit", "Thought",
    "Call id", "Call name", "Arguments", "Stop reason of the call", "Role of the result", "Id in the result", "Tool result",
    "Result is an error", "Answer", "Refusal", "Stop reason of the answer", "Tokens in", "Tokens out", "Error kind",
    "Error message",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Found:
    """Where a concept stands and what stands there. ``number`` counts the exchanges of a turn from 0."""

    number: int
    side: str
    path: Path
    value: Any


@dataclass(frozen=True, slots=True)
class Row:
    """One concept in two services. ``differences`` names what differs: place, form, value; empty when nothing does."""

    concept: str
    left: Found | None
    right: Found | None
    differences: tuple[str, ...]


def compared(left: Sequence[Any], right: Sequence[Any]) -> list[Row]:
    """The concepts that at least one side has, in the order of a conversation."""
    one, other = found_in(left), found_in(right)
    rows = [(name, one.get(name), other.get(name)) for name in ORDER]
    return [Row(name, a, b, _differences(a, b)) for name, a, b in rows if a or b]


def found_in(exchanges: Sequence[Any]) -> dict[str, Found]:
    """Every concept of the exchanges. Where a concept comes more than once, the first place counts: its origin."""
    found: dict[str, Found] = {}
    for number, exchange in enumerate(exchanges):
        request, response = document(exchange.request), document(exchange.response)
        sides = {"request": request, "response": response}
        for concept, side, path in PLACES[service_of(exchange)](request, response):
            value = at(sides[side], path)
            if value is not None and concept not in found:
                found[concept] = Found(number, side, path, value)
    return found


def service_of(exchange: Any) -> str:
    """``chat``, ``responses`` or ``anthropic``; a word that is not one of them is guessed from the documents."""
    named = str(getattr(exchange, "service", ""))
    if named in PLACES:
        return named
    request, response = document(exchange.request), document(exchange.response)
    if "input" in request or "output" in response:
        return "responses"
    return "anthropic" if "content" in response or response.get("type") == "error" else "chat"


def document(found: Any) -> Mapping[str, Any]:
    """A request or a response as JSON; an object of an SDK becomes the document that it stands for."""
    if hasattr(found, "model_dump"):
        found = found.model_dump(mode="json", exclude_unset=True)
    return found if isinstance(found, Mapping) else {}


def written(path: Path) -> str:
    """A path as one would write it in code: ``messages[0].content``."""
    text = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in path)
    return text.removeprefix(".")


def form(value: Any) -> str:
    """The JSON type of a value in words."""
    if isinstance(value, bool):
        return "true or false"
    kinds = ((str, "text"), ((int, float), "number"), (Mapping, "object"), ((list, tuple), "list"))
    return next((name for kind, name in kinds if isinstance(value, kind)), "null")


def _differences(left: Found | None, right: Found | None) -> tuple[str, ...]:
    if left is None or right is None:
        return ("only here",)
    found = []
    if (left.side, left.path) != (right.side, right.path):
        found.append("place")
    if form(left.value) != form(right.value):
        found.append("form")
        if _parsed(left.value) != _parsed(right.value):
            found.append("value")
    elif left.value != right.value:
        found.append("value")
    return tuple(found)


def _parsed(value: Any) -> Any:
    """JSON that stands in a text as the value that it means."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value
