"""What an exercise is, and what a check says about an answer."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from agentkit.checks.faces import Line, Mark, Shown, without_addresses
from agentkit.errors import AgentkitError, DefinitionError

if TYPE_CHECKING:
    from agentkit.checks.contract_report import ContractReport

Outcome: TypeAlias = Literal["not attempted", "not yet", "correct", "no such exercise"]

_ID = re.compile(r"[0-9A-Z][0-9]\.[0-9]+")
_SAID: dict[Outcome, str] = {
    "not attempted": "not attempted yet",
    "not yet": "not yet",
    "correct": "correct",
    "no such exercise": "no such exercise",
}
_MARKS: dict[Outcome, Mark] = {
    "not attempted": "open",
    "not yet": "bad",
    "correct": "good",
    "no such exercise": "bad",
}


class CheckFailed(AgentkitError):
    """Raised inside a check: one sentence that says what is missing, for the learner."""


def expect(condition: object, sentence: str) -> None:
    """Raise `CheckFailed` with the sentence when the condition is not true."""
    if not condition:
        raise CheckFailed(sentence)


@dataclass(frozen=True, slots=True, repr=False)
class Verdict(Shown):
    """What a check says: one of three outcomes, and one sentence.

    ``outcome`` is ``"not attempted"``, ``"not yet"`` or ``"correct"``; ``"no such exercise"`` for an unknown id.
    """

    exercise_id: str
    title: str
    outcome: Outcome
    message: str

    @property
    def correct(self) -> bool:
        return self.outcome == "correct"

    def _mark(self) -> Mark:
        return _MARKS[self.outcome]

    def _lines(self) -> Iterable[Line]:
        parts = [part for part in (self.exercise_id, self.title, _SAID[self.outcome]) if part]
        yield Line(" · ".join(parts), "head")
        yield Line(without_addresses(self.message))


@dataclass(frozen=True, slots=True)
class Wrong:
    """A known misconception: its source, as a learner would write it, and a part of the message that it must get."""

    source: str
    message_has: str


@dataclass(frozen=True, slots=True)
class Exercise:
    """One exercise of a notebook.

    Args:
        id: notebook and number, for example ``"03.1"``.
        title: a few words.
        prompt: what to do, as it stands in the notebook.
        stub: the source that the learner starts from; it stands in the notebook exactly like this.
        check: takes the answer. It returns nothing when the answer is right and raises `CheckFailed` with one sentence
            when it is not. It may also return a `Verdict`, or the report of a contract.
        hints: at least two, each giving away a little more.
        solution: the source that replaces the stub.
        why: why the right answer is right; shown when it is.
        known_wrong: misconceptions, each with a part of the message it must get.
        setup: source that must run before the stub and the solution when they run outside their notebook.
        answer: the expression that the notebook gives to ``check``; without it, the last name that the stub defines.

    Raises:
        DefinitionError: the id is malformed, a text is empty, hints are fewer than two, or the stub defines nothing.
    """

    id: str
    title: str
    prompt: str
    stub: str
    check: Callable[[Any], Verdict | ContractReport | None]
    hints: tuple[str, ...]
    solution: str
    why: str
    known_wrong: tuple[Wrong, ...] = ()
    setup: str = ""
    answer: str = ""

    def __post_init__(self) -> None:
        if not _ID.fullmatch(self.id):
            raise DefinitionError(f"An exercise id looks like '03.1' (notebook, point, number); {self.id!r} does not.")
        for field in ("title", "prompt", "stub", "solution", "why"):
            if not str(getattr(self, field)).strip():
                raise DefinitionError(f"Exercise {self.id}: write its {field}; it is empty.")
        if len(self.hints) < 2 or not all(text.strip() for text in self.hints):
            raise DefinitionError(f"Exercise {self.id}: give at least two hints, none of them empty.")
        if not self.answer:
            object.__setattr__(self, "answer", _last_name(self.id, self.stub))

    def run(self, source: str) -> Any:
        """The answer that some source gives: the setup, then the source, then the answer expression.

        Raises whatever the source raises. The name of its file says that it is not a file.
        """
        namespace: dict[str, Any] = {"__name__": "exercise"}
        for text, what in ((self.setup, "setup"), (source, "answer")):
            exec(compile(text, f"<exercise {self.id} {what}>", "exec", dont_inherit=True), namespace)
        return eval(compile(self.answer, f"<exercise {self.id} name>", "eval", dont_inherit=True), namespace)


def _last_name(exercise_id: str, stub: str) -> str:
    names: list[str] = []
    for node in ast.parse(stub).body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.append(node.name)
        elif isinstance(node, ast.Assign):
            names.extend(target.id for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.append(node.target.id)
    if not names:
        raise DefinitionError(f"Exercise {exercise_id}: the stub defines no name; give `answer`, an expression.")
    return names[-1]
