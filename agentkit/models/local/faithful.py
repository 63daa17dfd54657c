"""Whether a sentence says what the data say: a check in code, because a small model writes fluent sentences that are wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from agentkit._jsonsafe import canonical

_MONTHS = "january february march april may june july august september october november december".split()
_MONTH = re.compile(rf"\b({'|'.join(_MONTHS)}|{'|'.join(name[:3] for name in _MONTHS)})\b", re.IGNORECASE)


def numbers(text: str) -> frozenset[str]:
    """The numbers in a text, also inside codes and dates, without thousands separators and leading zeros."""
    plain = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", text)
    return frozenset(str(int(found)) for found in re.findall(r"\d{1,300}", plain))


def invented(text: str, *sources: str) -> list[str]:
    """The numbers in a text that stand in none of the sources. A month's number may come from its name."""
    known: set[str] = set()
    for source in sources:
        known |= numbers(source)
        known |= {str(_MONTHS.index(_full(name)) + 1) for name in _MONTH.findall(source)}
    return sorted(numbers(text) - known)


def _full(name: str) -> str:
    return next(month for month in _MONTHS if month.startswith(name.casefold()[:3]))


def missing(text: str, facts: tuple[str, ...]) -> list[str]:
    """The facts that a text does not name. Numbers count with or without separators, words in any case."""
    folded = text.casefold()
    return [fact for fact in facts if fact.casefold() not in folded and not _has_number(text, fact)]


def _has_number(text: str, fact: str) -> bool:
    return fact.isdigit() and fact in numbers(text)


def leaves(data: Any) -> Iterator[str]:
    """Every value in a JSON value, as text."""
    if isinstance(data, Mapping):
        for item in data.values():
            yield from leaves(item)
    elif isinstance(data, list):
        for item in data:
            yield from leaves(item)
    elif isinstance(data, str):
        yield data
    elif data is not None:
        yield canonical(data)


def _tokens(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text.casefold()))


def fault(text: str, data: Any, question: str) -> str:
    """What is wrong with a sentence about data, as a part of a sentence; empty when nothing was found.

    This finds invented numbers and sentences that name nothing of the data. It cannot find a wrong relation between right
    words: "A100 cost 3 days" passes when both stand in the data.
    """
    if not text.strip():
        return "it is empty"
    wrong = invented(text, canonical(data), question)
    if wrong:
        return f"it names {', '.join(wrong[:3])}, which no tool returned"
    if _tokens(text) == _tokens(question):
        return "it only repeats the question"
    named = [leaf for leaf in leaves(data) if leaf and not missing(text, (leaf,))]
    if not named and any(leaves(data)):
        return "it names nothing that the tool returned"
    return ""
