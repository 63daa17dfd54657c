"""What earlier observations hold: a value under the same (or nearly the same) field name, and dates."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from agentkit.models.offline.language import split_name, words_of
from agentkit.models.offline.lazy import Pattern
from agentkit.models.offline.schema import Parameter

_ISO = Pattern(r"^\d{4}-\d{2}-\d{2}")
_SCORES = frozenset(("score", "relevance", "similarity"))
_DATE_KEY = Pattern(r"(?:_on|_at|date|day|_until|_since|time)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Field:
    """One scalar in an observation: its key, the key above it, the value, and the number of its row in a list (or -1)."""

    key: str
    parent: str
    value: Any
    row: int = -1


def fields(data: Any, parent: str = "", row: int = -1, depth: int = 0) -> Iterator[Field]:
    """All scalars of an observation with their keys; at most four levels deep and 50 rows."""
    if depth > 4:
        return
    if isinstance(data, Mapping):
        for key, value in list(data.items())[:100]:
            if isinstance(value, Mapping | list):
                yield from fields(value, str(key), row, depth + 1)
            else:
                yield Field(str(key), parent, value, row)
    elif isinstance(data, list):
        for number, value in enumerate(data[:50]):
            if isinstance(value, Mapping):
                yield from fields(value, parent, number if row < 0 else row, depth + 1)


@lru_cache(maxsize=4096)
def key_stems(key: str) -> frozenset[str]:
    return frozenset(word.stem for word in words_of(split_name(key).lower())) or frozenset({key.lower()})


@lru_cache(maxsize=4096)
def key_concepts(key: str) -> frozenset[str]:
    return frozenset(concept for word in words_of(split_name(key).lower()) for concept in word.concepts)


@dataclass(frozen=True, eq=False)
class Observation:
    """One successful result: the tool's name, the arguments of the call, and the data."""

    tool: str
    arguments: Mapping[str, Any]
    data: Any

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        return tuple(fields(self.data))

    @cached_property
    def texts(self) -> frozenset[str]:
        """Stems and concepts of its short texts, such as a policy that counts "from delivery"."""
        found: set[str] = set()
        for each in self.fields:
            if isinstance(each.value, str) and 3 < len(each.value) < 200 and not _ISO.match(each.value):
                for word in words_of(split_name(each.value).lower()):
                    found.update((word.stem, *word.concepts))
        return frozenset(found)

    @cached_property
    def terms(self) -> frozenset[str]:
        """The same of its keys and its short texts."""
        return self.texts.union(*(key_stems(each.key) | key_concepts(each.key) for each in self.fields))


def same_name(field: Field, parameter: Parameter) -> float:
    """1 for the same name, less for a near one (``id`` inside ``order`` for ``order_id``), 0 for another."""
    if field.key.lower() == parameter.name.lower():
        return 1.0
    mine, theirs = key_stems(parameter.name), key_stems(field.key)
    if mine == theirs:
        return 0.95
    if field.parent and mine == theirs | key_stems(field.parent):
        return 0.9
    if mine < theirs and len(theirs) == len(mine) + 1 and next(iter(theirs - mine)) in ("total", "current", "the"):
        return 0.7
    return 0.0


def named_value(
    parameter: Parameter, observations: tuple[Observation, ...], accepts: Any, hints: frozenset[str]
) -> tuple[Any, str] | None:
    """The value that an observation holds under the parameter's name, and the tool it came from.

    Where a list holds several different values, the row that shares a word with the need decides; when none or more
    than one does, there is no value.
    """
    for observation in reversed(observations):
        found = observation.fields
        fitting = [(same_name(each, parameter), each) for each in found if accepts(each.value)]
        best = max((score for score, _ in fitting), default=0.0)
        if not best:
            continue
        chosen = [each for score, each in fitting if score == best]
        values = {str(each.value): each.value for each in chosen}
        if len(values) > 1 and ranked(found):
            # A list that is sorted by how well each row fits has its answer in front.
            values = {str(each.value): each.value for each in chosen[:1]}
        elif len(values) > 1:
            rows = {each.row for each in found if _mentions(each.value, hints)}
            values = {str(each.value): each.value for each in chosen if each.row in rows}
        if len(values) == 1:
            return next(iter(values.values())), observation.tool
    return None


def ranked(found: Sequence[Field]) -> bool:
    """Whether the rows of a list are in the order of a score of their own, best first."""
    scores = [each.value for each in found if each.row >= 0 and each.key.lower() in _SCORES]
    return bool(scores) and all(isinstance(each, int | float) for each in scores) and scores == sorted(scores)[::-1]


def _mentions(value: Any, hints: frozenset[str]) -> bool:
    return isinstance(value, str) and bool(hints & {word.stem for word in words_of(value.lower())})


def dated(observations: tuple[Observation, ...], wanted: frozenset[str]) -> tuple[str, str, str] | None:
    """The observed date that the need or another observation speaks of: (ISO date, its key, its tool).

    ``wanted`` holds the stems and concepts of the need. When the best-named date is empty (not delivered yet), there is
    no date: the next best would be a different event.
    """
    ranked: list[tuple[float, int, Field, str]] = []
    spoken = wanted.union(*(observation.texts for observation in observations))
    for age, observation in enumerate(observations):
        found = observation.fields
        common = {term for each in found if not _is_date(each) for term in key_stems(each.key) | key_concepts(each.key)}
        for each in found:
            if _is_date(each):
                # "order" in ordered_on tells little where there is an order_id too
                terms = (key_stems(each.key) | key_concepts(each.key)) - common
                ranked.append((len(terms & spoken) + 0.5 * len(terms & wanted), age, each, observation.tool))
    if not ranked:
        return None
    score, _, best, tool = max(ranked, key=lambda item: (item[0], item[1], str(item[2].value or "")))
    if best.value is None or (score == 0 and len({str(item[2].value) for item in ranked}) > 1):
        return None
    return best.value[:10], best.key, tool


def _is_date(each: Field) -> bool:
    if each.value is None:
        return bool(_DATE_KEY.search(each.key))
    return isinstance(each.value, str) and bool(_ISO.match(each.value))
