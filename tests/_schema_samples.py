"""Functions whose parameters have every kind of type, and good arguments for each."""

from __future__ import annotations

from datetime import date
from enum import Enum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from agentkit import Tool, tool


class Unit(Enum):
    METRE = "m"
    FOOT = "ft"


class Part(BaseModel):
    name: str
    count: int = 1
    unit: Unit | None = None


class Tree(BaseModel):
    value: int
    children: list[Tree] = []


def flat(city: str, unit: str = "C", limit: Annotated[int, Field(ge=1, le=50)] = 10) -> None:
    """Plain values with defaults."""


def choice(
    mode: Literal["fast", "full"], unit: Unit, maybe: Unit | None, other: Literal["x", "y"] | None = None
) -> None:
    """Choices, some of which may be null."""


def nested(part: Part, parts: list[Part], best: Part | None = None) -> None:
    """Models inside."""


class Closed(BaseModel, extra="forbid"):
    name: str


def closed(part: Closed) -> None:
    """A model that takes no other fields."""


def recursive(tree: Tree) -> None:
    """A model in itself."""


def dated(day: date, numbers: list[int], ratio: float = 0.5, flag: bool = False) -> None:
    """Dates and lists."""


def mixed(value: int | str | list[int], texts: list[str] | None = None) -> None:
    """Unions."""


def free(data: dict[str, Any], counts: dict[str, int]) -> None:
    """Objects with free keys."""


def nothing() -> None:
    """No parameters."""


def anything(value: Any) -> None:
    """Any value."""


STRICT = [flat, choice, nested, closed, recursive, dated, mixed, nothing]
TOOLS: dict[str, Tool] = {function.__name__: tool(function) for function in [*STRICT, free, anything]}

EXAMPLES: dict[str, list[dict[str, Any]]] = {
    "flat": [{"city": "Seoul"}, {"city": "", "unit": "F", "limit": 50}],
    "choice": [{"mode": "fast", "unit": "m", "maybe": None}, {"mode": "full", "unit": "ft", "maybe": "m", "other": "x"}],
    "nested": [{"part": {"name": "a"}, "parts": []}, {"part": {"name": "a", "unit": None}, "parts": [{"name": "b", "count": 2}]}],
    "closed": [{"part": {"name": "a"}}],
    "recursive": [{"tree": {"value": 1, "children": [{"value": 2}]}}],
    "dated": [{"day": "2026-10-13", "numbers": [1, 2]}, {"day": "2026-10-13", "numbers": [], "ratio": 1, "flag": True}],
    "mixed": [{"value": 1}, {"value": "a", "texts": ["b"]}, {"value": [1], "texts": None}],
    "free": [{"data": {"a": [1]}, "counts": {"b": 2}}],
    "nothing": [{}],
    "anything": [{"value": {"a": 1}}],
}  # fmt: skip
