"""Which tool fits a question, by shared words alone. No model is involved, and it is hard to beat."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agentkit.messages import ToolSpec

_DATE = r"^\d{4}-\d{2}-\d{2}$"


@dataclass(frozen=True, slots=True)
class Example:
    """A question that was answered with a call: the tool's name and the arguments."""

    question: str
    tool: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Route:
    """The tool that was chosen, and why, in words."""

    tool: ToolSpec
    why: str


def words(text: str) -> frozenset[str]:
    """The words of a text in small letters, without numbers and codes, which say nothing about the kind of question."""
    return frozenset(re.findall(r"(?<![^\W_])[^\W\d_]+(?![^\W_])", text.casefold()))


def likeness(a: str, b: str) -> float:
    """The shared part of the words of two texts, from 0 to 1 (Jaccard 1901)."""
    left, right = words(a), words(b)
    return len(left & right) / len(left | right) if left | right else 0.0


def nearest(question: str, examples: Iterable[Example], count: int) -> list[Example]:
    """The examples most like a question, the nearest last. Of equal ones the earlier counts as nearer."""
    ranked = sorted(examples, key=lambda example: -likeness(question, example.question))
    return ranked[:count][::-1]


def route(question: str, tools: Sequence[ToolSpec], examples: Sequence[Example]) -> Route | None:
    """The tool for a question, or None when nothing speaks for any.

    It is the tool of the nearest example. Where no example shares a word with the question, it is the tool whose text
    shares most, with a point for every value in the question that fits a parameter.
    """
    offered = {tool.name: tool for tool in tools}
    near = nearest(question, [example for example in examples if example.tool in offered], 1)
    if near and likeness(question, near[0].question) > 0:
        return Route(offered[near[0].tool], f"the example {near[0].question!r} is most like the question")
    asked = words(question)
    texts = [words(tool.name.replace("_", " ")) | words(tool.description) for tool in tools]
    shared = [asked & text for text in texts]
    # A word that many tools use says little about any of them, so each word's weight is shared among its tools.
    scores = [sum(1 / sum(word in text for text in texts) for word in found) for found in shared]
    fits = [fitting(tool, question) for tool in tools]
    best = max(range(len(tools)), key=lambda place: (scores[place] + fits[place], fits[place]), default=0)
    if not tools or not shared[best]:
        return None
    listed = ", ".join(repr(word) for word in sorted(shared[best]))
    return Route(tools[best], f"the question and the text of the tool share {listed}")


def fitting(tool: ToolSpec, question: str) -> int:
    """How many parameters with a pattern, or the format of a date, have a value in the question."""
    values = re.findall(r"\w(?:[\w.:/-]*\w)?", question)
    count = 0
    for schema in (tool.parameters.get("properties") or {}).values():
        if not isinstance(schema, Mapping):
            continue
        pattern = _DATE if schema.get("format") == "date" else schema.get("pattern")
        found = next((value for value in values if isinstance(pattern, str) and _matches(pattern, value)), None)
        if found is not None:
            values.remove(found)
            count += 1
    return count


def _matches(pattern: str, value: str) -> bool:
    try:
        return re.search(pattern, value) is not None
    except re.error:  # JSON Schema knows forms that Python does not
        return False
