"""A contract is a list of promises, each with a probe that tries to break it. A report says which of them hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from agentkit.checks.exercise import CheckFailed
from agentkit.checks.faces import Line, Mark, Shown, without_addresses
from agentkit.checks.guard import run_guarded
from agentkit.checks.words import explain

Subject = TypeVar("Subject")


@dataclass(frozen=True, slots=True)
class Promise(Generic[Subject]):
    """One point of a contract: a name, what is promised, and a probe that raises `CheckFailed` if it does not hold."""

    name: str
    text: str
    probe: Callable[[Subject], None]


@dataclass(frozen=True, slots=True)
class Point:
    """How one promise fared. ``message`` is the promise when it holds, and what is missing when it does not."""

    name: str
    passed: bool
    message: str


@dataclass(frozen=True, slots=True, repr=False)
class ContractReport(Shown):
    """All points of one contract, tried on one subject."""

    contract: str
    points: tuple[Point, ...]

    @property
    def passed(self) -> bool:
        return all(point.passed for point in self.points)

    @property
    def failed(self) -> tuple[str, ...]:
        """The names of the points that do not hold."""
        return tuple(point.name for point in self.points if not point.passed)

    @property
    def first_failure(self) -> str:
        """What is missing at the first point that does not hold; empty when all hold."""
        return next((f"{point.name}: {point.message}" for point in self.points if not point.passed), "")

    def _mark(self) -> Mark:
        return "good" if self.passed else "bad"

    def _lines(self) -> Iterable[Line]:
        held = sum(point.passed for point in self.points)
        yield Line(f"Contract of the {self.contract} · {held} of {len(self.points)} points hold", "head")
        for point in self.points:
            said = "holds" if point.passed else "fails"
            yield Line(f"{said} · {point.name}: {without_addresses(point.message)}", "item")


def try_promises(contract: str, promises: Sequence[Promise[Subject]], subject: Subject) -> ContractReport:
    """Try each promise on the subject, guarded: an exception or an endless loop is a point that does not hold."""
    return ContractReport(contract, tuple(_try(promise, subject) for promise in promises))


def _try(promise: Promise[Subject], subject: Subject) -> Point:
    def probe() -> str:
        try:
            promise.probe(subject)
        except CheckFailed as problem:
            return str(problem) or "does not hold"
        return ""

    ended = run_guarded(probe)
    complaint = ended.value if isinstance(ended.value, str) else explain(ended)
    return Point(promise.name, not complaint, complaint or promise.text)
