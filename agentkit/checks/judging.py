"""Judges one answer to one exercise, guarded. Says nothing to anybody and notes nothing down."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from agentkit.checks.contract_report import ContractReport
from agentkit.checks.exercise import CheckFailed, Exercise, Verdict
from agentkit.checks.guard import Ended, run_guarded
from agentkit.checks.unattempted import is_unattempted
from agentkit.checks.words import explain


@dataclass(frozen=True, slots=True)
class Judged:
    """A verdict, and what the answer printed while it was judged."""

    verdict: Verdict
    printed: str = ""


def judge(exercise: Exercise, answer: Any) -> Judged:
    """What the check says about an answer. Raises nothing but KeyboardInterrupt."""
    return _judged(exercise, run_guarded(lambda: _verdict(exercise, answer)))


def judge_source(exercise: Exercise, source: str) -> Judged:
    """What the check says about an answer that is given as source."""
    ended = run_guarded(lambda: (exercise.run(source),))
    if isinstance(ended.value, tuple):
        return judge(exercise, ended.value[0])
    return _judged(exercise, ended)


def _judged(exercise: Exercise, ended: Ended) -> Judged:
    if isinstance(ended.value, Verdict):
        return Judged(ended.value, ended.printed)
    return Judged(Verdict(exercise.id, exercise.title, "not yet", explain(ended)), ended.printed)


def _verdict(exercise: Exercise, answer: Any) -> Verdict:
    if is_unattempted(answer) or is_unattempted(answer, _stub_of(exercise)):
        todo = f'Write your code in place of the `...`, then run the cell again. Stuck? `hint("{exercise.id}")` helps.'
        return Verdict(exercise.id, exercise.title, "not attempted", todo)
    try:
        said = exercise.check(answer)
    except CheckFailed as problem:
        return Verdict(exercise.id, exercise.title, "not yet", str(problem))
    if isinstance(said, ContractReport) and not said.passed:
        return Verdict(exercise.id, exercise.title, "not yet", said.first_failure)
    if isinstance(said, Verdict):
        return said
    return Verdict(exercise.id, exercise.title, "correct", exercise.why)


def _stub_of(exercise: Exercise) -> Any:
    """What the stub gives when it runs, or None when it cannot run outside its notebook."""
    try:
        return exercise.run(exercise.stub)
    except Exception:
        return None
