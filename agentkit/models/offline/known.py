"""Where arguments may be taken from, and the arguments of a call while they are being filled."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from agentkit.models.offline.needs import Need, Reading
from agentkit.models.offline.observed import Observation
from agentkit.models.offline.schema import Parameter
from agentkit.models.offline.values import Value

GOAL, ANSWER, EARLIER = "goal", "answer", "earlier"


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """Everything that arguments may be taken from.

    ``reading`` is the goal; ``answers`` are the user's later answers; ``earlier`` are the goals before; ``own`` are the
    observations of this need, ``others`` all others. ``before`` are the observations that "it" and "that number" may mean,
    newest first: those of the needs before this one, or of earlier goals. It is empty while they are not there yet.
    """

    reading: Reading
    answers: tuple[Reading, ...] = ()
    earlier: tuple[Reading, ...] = ()
    own: tuple[Observation, ...] = ()
    others: tuple[Observation, ...] = ()
    before: tuple[Observation, ...] = ()


@dataclass(slots=True)
class Filling:
    """The arguments of one call: where each came from, what is missing, and what else would have fitted.

    ``used`` are the places and ``answers`` the whole answers that are taken, so that nothing is used twice.
    """

    arguments: dict[str, Any] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)
    missing: list[Parameter] = field(default_factory=list)
    spare: dict[str, list[Any]] = field(default_factory=dict)
    used: set[tuple[int, int]] = field(default_factory=set)
    answers: set[str] = field(default_factory=set)

    def put(self, name: str, value: Any, source: str) -> None:
        self.arguments[name], self.sources[name] = value, source

    @property
    def observed(self) -> bool:
        """Whether a value came from an observation."""
        return any(source not in (GOAL, ANSWER, EARLIER, "schema") for source in self.sources.values())


def pools(need: Need, known: Known) -> list[tuple[tuple[Value, ...], str]]:
    """The stated values, nearest first."""
    return [
        (need.values, GOAL),
        (tuple(value for answer in reversed(known.answers) for value in answer.values), ANSWER),
        (need.inherited, GOAL),
    ]


def far_pools(need: Need, known: Known) -> list[tuple[tuple[Value, ...], str]]:
    """Values stated elsewhere: in sentences that are no needs, then in earlier goals."""
    taken = {value.start for each in known.reading.needs for value in each.values}
    loose = tuple(value for value in known.reading.values if value.start not in taken)
    return [(loose, GOAL), *((reading.values, EARLIER) for reading in reversed(known.earlier))]


def hints(need: Need) -> frozenset[str]:
    """Words that the dictionary does not know; they may name a row of a list, such as a product."""
    return frozenset(word.stem for word in need.words if not word.known)


def first_fitting(
    parameter: Parameter,
    pools: list[tuple[tuple[Value, ...], str]],
    accept: Callable[[Value], Any],
    filling: Filling,
) -> tuple[Any, str] | None:
    found: list[tuple[Any, str, Value]] = []
    for values, source in pools:
        for value in values:
            if (value.start, value.end) not in filling.used and (fitting := accept(value)) is not None:
                found.append((fitting, source, value))
        if found:
            break
    if not found:
        return None
    found.sort(key=lambda item: -_alike(str(item[0]), parameter.examples))
    chosen = found[0]
    filling.used.add((chosen[2].start, chosen[2].end))
    filling.spare[parameter.name] = [item[0] for item in found[1:]]
    return chosen[0], chosen[1]


def _alike(text: str, examples: tuple[Any, ...]) -> bool:
    """Whether a value has the form of an example: letters where it has letters, digits where it has digits."""

    def form(value: str) -> str:
        return re.sub(r"[^\W\d_]+", "A", re.sub(r"\d+", "9", value))

    return any(isinstance(example, str) and form(example) == form(text) for example in examples)


def accept_scalar(parameter: Parameter, value: Any) -> bool:
    """Whether an observed value can be the value of a parameter."""
    if value is None or isinstance(value, bool) or (isinstance(value, str) and not value):
        return False
    if parameter.shape == "enum":
        return value in parameter.choices
    if parameter.shape == "integer":
        return isinstance(value, int) and in_range(parameter, value)
    if parameter.shape == "number":
        return isinstance(value, int | float) and in_range(parameter, value)
    if parameter.shape == "pattern":
        return isinstance(value, str) and parameter.pattern is not None and bool(parameter.pattern.search(value))
    return isinstance(value, str)


def in_range(parameter: Parameter, value: float) -> bool:
    low, high = parameter.low, parameter.high
    return (low is None or value >= low) and (high is None or value <= high)
