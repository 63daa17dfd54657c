"""Quick quizzes: a few questions with lettered options; every wrong option says why it is wrong."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from string import ascii_lowercase

from agentkit.checks.faces import Line, Mark, Shown, shown
from agentkit.errors import DefinitionError


@dataclass(frozen=True, slots=True)
class Option:
    """One possible answer, and why it is right or wrong."""

    text: str
    why: str


@dataclass(frozen=True, slots=True)
class Question:
    """One question. ``right`` is the letter of the right option; the options are lettered a, b, c in their order.

    Raises:
        DefinitionError: an empty text, fewer than two options, or a letter that no option has.
    """

    text: str
    options: tuple[Option, ...]
    right: str

    def __post_init__(self) -> None:
        if len(self.options) < 2 or self.right not in self.letters:
            raise DefinitionError(
                f"Question {self.text!r}: give at least two options, and the letter of the right one."
            )
        if not self.text.strip() or not all(option.text.strip() and option.why.strip() for option in self.options):
            raise DefinitionError(
                f"Question {self.text!r}: write the question, and a text and a reason for each option."
            )

    @property
    def letters(self) -> tuple[str, ...]:
        return tuple(ascii_lowercase[: len(self.options)])

    def option(self, letter: str) -> Option:
        return self.options[self.letters.index(letter)]


@dataclass(frozen=True, slots=True, repr=False)
class Quiz(Shown):
    """The questions of one notebook. Shows itself without the answers."""

    id: str
    questions: tuple[Question, ...]

    def answer(self, *letters: object) -> QuizResult:
        """Answer the questions in their order; what is missing counts as not answered."""
        return QuizResult(self, letters)

    @property
    def right(self) -> tuple[str, ...]:
        return tuple(question.right for question in self.questions)

    def _lines(self) -> Iterable[Line]:
        yield Line(f"Quiz {self.id}", "head")
        for number, question in enumerate(self.questions, 1):
            yield Line(f"{number}. {question.text}")
            for letter, option in zip(question.letters, question.options, strict=True):
                yield Line(f"{letter}) {option.text}", "item")
        example = ", ".join(f'"{letter}"' for letter in "abc"[: len(self.questions)])
        yield Line(f'Answer with one letter for each question, for example `quiz("{self.id}", {example})`.')


@dataclass(frozen=True, slots=True, repr=False)
class QuizResult(Shown):
    """A quiz with somebody's answers: right or wrong for each question, and why."""

    quiz: Quiz
    answers: tuple[object, ...]

    @property
    def correct(self) -> int:
        """How many questions are answered rightly."""
        pairs = zip(self.quiz.questions, self.answers, strict=False)
        return sum(_letter(given) == question.right for question, given in pairs)

    @property
    def all_correct(self) -> bool:
        return self.correct == len(self.quiz.questions) == len(self.answers)

    def _mark(self) -> Mark:
        return "good" if self.all_correct else "bad"

    def _lines(self) -> Iterable[Line]:
        total = len(self.quiz.questions)
        yield Line(f"Quiz {self.quiz.id} · {self.correct} of {total} correct", "head")
        for number, question in enumerate(self.quiz.questions, 1):
            yield Line(f"{number}. {question.text}")
            if number > len(self.answers):
                yield Line("not answered", "item")
            else:
                yield Line(_remark(question, self.answers[number - 1]), "item")
        if len(self.answers) > total:
            yield Line(f"The quiz has {total} questions, but {len(self.answers)} answers were given.")


def _letter(given: object) -> str:
    return given.strip().lower().rstrip(").") if isinstance(given, str) else ""


def _remark(question: Question, given: object) -> str:
    letter = _letter(given)
    if letter not in question.letters:
        return f"{shown(given, 20)} is not one of the letters {', '.join(question.letters)}"
    option = question.option(letter)
    verdict = "correct" if letter == question.right else "not correct"
    return f"{letter}) {option.text} · {verdict}. {option.why}"
