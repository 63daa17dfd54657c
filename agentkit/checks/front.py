"""The functions that a notebook calls: check, hint, solution, quiz, progress.

What they say depends on their arguments alone. The only trace that they leave is the progress file.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from agentkit.checks import registered, saved_progress
from agentkit.checks.exercise import Verdict
from agentkit.checks.faces import Line, Mark, Shown, shown
from agentkit.checks.judging import judge
from agentkit.checks.quizzes import Quiz, QuizResult
from agentkit.errors import DefinitionError


@dataclass(frozen=True, slots=True, repr=False)
class Card(Shown):
    """A hint, a solution, or a sentence about a wrong id."""

    lines: tuple[Line, ...]

    def _lines(self) -> Iterable[Line]:
        return self.lines


@dataclass(frozen=True, slots=True)
class ProgressRow:
    """How far one notebook is: exercises done of all, and whether its quiz was answered without a mistake."""

    notebook: str
    done: tuple[str, ...]
    open: tuple[str, ...]
    quiz: bool


@dataclass(frozen=True, slots=True, repr=False)
class Progress(Shown):
    """How far the learner is, notebook by notebook."""

    rows: tuple[ProgressRow, ...]

    def _mark(self) -> Mark:
        return "good" if self.rows and not any(row.open or not row.quiz for row in self.rows) else "plain"

    def _lines(self) -> Iterable[Line]:
        done = sum(len(row.done) for row in self.rows)
        total = done + sum(len(row.open) for row in self.rows)
        yield Line(f"Progress · {done} of {total} exercises", "head")
        for row in self.rows:
            count = f"{len(row.done)} of {len(row.done) + len(row.open)} exercises"
            still = f", still open: {', '.join(row.open)}" if row.open else ""
            yield Line(f"{row.notebook}: {count}, quiz {'done' if row.quiz else 'open'}{still}", "item")


def check(exercise_id: str, answer: Any = None) -> Verdict:
    """Check an answer: not attempted yet, not yet (and what is missing), or correct (and why).

    Never raises; whatever the answer does becomes a sentence. Only a KeyboardInterrupt passes. What the answer prints
    is printed. A correct answer is noted in the progress file.
    """
    try:
        exercise = registered.find(exercise_id)
    except DefinitionError as problem:
        return Verdict(
            exercise_id[:40] if isinstance(exercise_id, str) else shown(exercise_id, 40),
            "",
            "no such exercise",
            str(problem),
        )
    judged = judge(exercise, answer)
    if judged.printed:
        print(judged.printed.removesuffix("\n"))
    if judged.verdict.correct:
        saved_progress.note(saved_progress.state_file(), exercise=exercise.id)
    return judged.verdict


def hint(exercise_id: str, stage: int = 1) -> Card:
    """One hint: stage 1 gives away the least. Never raises."""
    try:
        exercise = registered.find(exercise_id)
    except DefinitionError as problem:
        return _sentence(str(problem))
    total = len(exercise.hints)
    if isinstance(stage, bool) or not isinstance(stage, int) or not 1 <= stage <= total:
        return _sentence(f"Exercise {exercise.id} has hints 1 to {total}; there is no hint {shown(stage, 20)}.")
    after = f'hint("{exercise.id}", {stage + 1})' if stage < total else f'solution("{exercise.id}")'
    lines = (
        Line(f"{exercise.id} · {exercise.title} · hint {stage} of {total}", "head"),
        Line(exercise.hints[stage - 1]),
        Line(f"Still stuck? `{after}` gives more."),
    )
    return Card(lines)


def solution(exercise_id: str) -> Card:
    """Our solution, and why it is right. Never raises."""
    try:
        exercise = registered.find(exercise_id)
    except DefinitionError as problem:
        return _sentence(str(problem))
    head = Line(f"{exercise.id} · {exercise.title} · one solution", "head")
    return Card((head, Line(exercise.solution.strip("\n"), "code"), Line(exercise.why)))


def solution_source(exercise_id: str) -> str:
    """The source that replaces the stub of an exercise. Raises `DefinitionError` when there is no such exercise."""
    return registered.find(exercise_id).solution


def quiz(quiz_id: str, *answers: object) -> Quiz | QuizResult | Card:
    """``quiz("03")`` shows the questions of a notebook, ``quiz("03", "b", "a", "c")`` answers them. Never raises."""
    try:
        found = registered.quiz_of((quiz_id if isinstance(quiz_id, str) else shown(quiz_id)).strip())
    except DefinitionError as problem:
        return _sentence(str(problem))
    if not answers:
        return found
    result = found.answer(*answers)
    if result.all_correct:
        saved_progress.note(saved_progress.state_file(), quiz=found.id)
    return result


def progress(folder: str | os.PathLike[str] | None = None) -> Progress:
    """How far you are. Reads the progress file in ``folder`` (else in AGENTKIT_STATE, else in the current folder)."""
    state = saved_progress.load(saved_progress.state_file(folder))
    rows = []
    for notebook in registered.notebooks():
        ids = [exercise.id for exercise in registered.exercises_of(notebook)]
        done = tuple(name for name in ids if name in state.exercises)
        still = tuple(name for name in ids if name not in state.exercises)
        rows.append(ProgressRow(notebook, done, still, registered.quiz_of(notebook).id in state.quizzes))
    return Progress(tuple(rows))


def _sentence(text: str) -> Card:
    return Card((Line(text),))
