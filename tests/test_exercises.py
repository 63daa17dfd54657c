"""Hints, quizzes, progress, and the exercises themselves: the last part tests every exercise of every notebook."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import _example_exercises as example
import pytest
from _hostile import Hostile

import agentkit.checks as checks
from agentkit.checks import (
    CheckFailed,
    Exercise,
    Option,
    Question,
    Quiz,
    Wrong,
    check,
    faults,
    hint,
    progress,
    quiz,
    quiz_faults,
    registered,
    solution,
    solution_source,
)
from agentkit.checks.saved_progress import FILE_NAME
from agentkit.errors import DefinitionError


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENTKIT_STATE", str(tmp_path))
    monkeypatch.setattr(registered, "_added", {"T1": "_example_exercises"})


def longest(texts: list[str]) -> str:
    return max(texts, key=len, default="")


# --- hints, solutions, wrong ids -------------------------------------------------------------------------------------


def test_a_hint_depends_on_its_stage_alone() -> None:
    first, last = repr(hint("T1.1")), repr(hint("T1.1", 2))
    assert first.splitlines()[0] == "T1.1 · The longest text · hint 1 of 2"
    assert 'hint("T1.1", 2)' in first
    assert 'solution("T1.1")' in last
    assert repr(hint("T1.1")) == first


@pytest.mark.parametrize("stage", [0, 3, -1, "2", None, 1.0, True])
def test_a_stage_that_does_not_exist_is_a_sentence(stage: Any) -> None:
    assert repr(hint("T1.1", stage)) == f"Exercise T1.1 has hints 1 to 2; there is no hint {stage!r}."


def test_a_solution_is_shown_and_its_source_is_given() -> None:
    assert "return max(texts, key=len, default" in repr(solution("T1.1"))
    assert example.LONGEST.why in repr(solution("T1.1"))
    assert solution_source("T1.1") == example.LONGEST.solution


@pytest.mark.parametrize("wrong", ["T1.9", "t1.1", "T1", "", "x" * 1000, 3.1, None, object(), Hostile, ["T1.1"]])
def test_a_wrong_id_is_a_sentence(wrong: Any) -> None:
    wrong = Hostile() if wrong is Hostile else wrong
    verdict = check(wrong, longest)
    assert verdict.outcome == "no such exercise"
    for text in (verdict.message, repr(hint(wrong)), repr(solution(wrong))):
        assert text.startswith("There is no exercise ")
        assert len(text) < 200
    with pytest.raises(DefinitionError, match="There is no exercise"):
        solution_source(wrong)


def test_a_nearly_right_id_gets_a_suggestion() -> None:
    assert "Did you mean 'T1.1'?" in check("t1.1").message
    assert "Did you mean 'T1'?" in repr(quiz("t1"))


# --- quizzes ---------------------------------------------------------------------------------------------------------


def test_a_quiz_shows_its_questions_and_judges_answers() -> None:
    asked = repr(quiz("T1"))
    assert "1. What does a model remember between two requests?" in asked
    assert "  a) What you send it" in asked
    assert 'quiz("T1", "a", "b", "c")' in asked
    assert not any(option.why in asked for question in example.QUIZ.questions for option in question.options)
    result = repr(quiz("T1", "b", "B)", "x"))
    assert result.splitlines()[0] == "Quiz T1 · 1 of 3 correct"
    assert "b) The whole conversation · not correct. Nothing is kept on its side" in result
    assert "b) Your program · correct." in result
    assert "'x' is not one of the letters a, b, c" in result


@pytest.mark.parametrize("answers", [("a",), ("a", "b", "c", "a"), (1, None, Hostile), ("", "aa", "d")])
def test_strange_answers_are_not_correct(answers: tuple[Any, ...]) -> None:
    result = quiz("T1", *(Hostile() if answer is Hostile else answer for answer in answers))
    assert isinstance(result, checks.QuizResult)
    assert not result.all_correct
    assert repr(result)


# --- progress --------------------------------------------------------------------------------------------------------


def test_progress_notes_correct_answers_only(tmp_path: Path) -> None:
    check("T1.1", lambda texts: "")
    assert not (tmp_path / FILE_NAME).exists()
    check("T1.1", longest)
    check("T1.1", lambda texts: "")
    quiz("T1", "a", "b", "c")
    row = next(row for row in progress().rows if row.notebook == "T1")
    assert (row.done, row.open, row.quiz) == (("T1.1",), ("T1.2", "T1.3"), True)
    assert "T1: 1 of 3 exercises, quiz done, still open: T1.2, T1.3" in repr(progress(tmp_path))
    assert json.loads((tmp_path / FILE_NAME).read_text(encoding="utf-8"))["exercises"] == ["T1.1"]
    assert [path.name for path in tmp_path.iterdir()] == [FILE_NAME], "a whole-file write leaves nothing behind"


def test_without_a_named_folder_progress_stands_beside_the_notebook(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AGENTKIT_STATE")
    (tmp_path / "my_notebooks").mkdir()
    monkeypatch.chdir(tmp_path / "my_notebooks")
    check("T1.1", longest)
    assert (tmp_path / "my_notebooks" / FILE_NAME).is_file()


@pytest.mark.parametrize("content", ["", "{", "[]", '{"exercises": {"a": 1}}', '{"exercises": [1, null]}', "\x00", "["])
def test_a_corrupt_file_is_an_empty_one_and_is_kept(tmp_path: Path, content: str) -> None:
    path = tmp_path / FILE_NAME
    path.write_text(content * (100_000 if content == "[" else 1), encoding="utf-8")
    assert all(not row.done for row in progress().rows)
    assert check("T1.1", longest).correct
    assert "T1.1" in path.read_text(encoding="utf-8")
    assert len(list(tmp_path.iterdir())) == (2 if content else 1)


def test_a_folder_that_cannot_be_written_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = repr(check("T1.1", longest))
    (tmp_path / "file").write_text("", encoding="utf-8")
    for folder in (tmp_path / "file", tmp_path / "file" / "below"):
        monkeypatch.setenv("AGENTKIT_STATE", str(folder))
        assert repr(check("T1.1", longest)) == before
        assert not any(row.done for row in progress().rows)


# --- the exercises themselves ----------------------------------------------------------------------------------------


def test_the_example_is_without_faults() -> None:
    for exercise in example.EXERCISES:
        assert faults(exercise) == []
    assert quiz_faults(example.QUIZ) == []


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"stub": "def longest(texts):\n    return 1\n", "answer": "longest"}, ""),
        ({"stub": example.LONGEST.solution}, "the solution gets 'not attempted'"),
        ({"solution": "def longest(texts):\n    return ''\n"}, "the solution gets 'not yet'"),
        ({"solution": "longest = 1 / 0\n"}, "the solution gets 'not yet'"),
        ({"check": lambda answer: None}, "known wrong answer 1 gets 'correct'"),
        ({"known_wrong": (Wrong("longest = 1\n", "something else"),)}, "does not contain 'something else'"),
        ({"known_wrong": ()}, "give at least one known wrong answer"),
        ({"known_wrong": (Wrong("longest = 1\n", ""),)}, "must say which part"),
    ],
)
def test_a_faulty_exercise_is_found(change: dict[str, Any], part: str) -> None:
    found = faults(replace(example.LONGEST, **change))
    if part:
        assert any(part in fault for fault in found), found
    else:
        assert found == []


def test_a_check_whose_message_changes_is_found() -> None:
    count = iter(range(1000))

    def counting(answer: Any) -> None:
        raise CheckFailed(f"this is try {next(count)}")

    found = faults(replace(example.LONGEST, check=counting, known_wrong=(Wrong("longest = 1\n", "this is try"),)))
    assert any("another message the second time" in fault for fault in found)


def test_a_faulty_quiz_is_found() -> None:
    assert quiz_faults(Quiz("T1", example.QUIZ.questions[:2])) == ["quiz T1 has 2 questions, not 3"]


@pytest.mark.parametrize(
    "change",
    [
        {"id": "1"},
        {"id": "03-1"},
        {"title": " "},
        {"prompt": ""},
        {"hints": ("one",)},
        {"hints": ("one", "")},
        {"why": ""},
    ],
)
def test_a_badly_defined_exercise_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(DefinitionError):
        replace(example.LONGEST, **change)


def test_a_badly_defined_question_is_refused() -> None:
    options = (Option("yes", "It is."), Option("no", "It is not."))
    for broken in (("", options, "a"), ("Is it?", options, "c"), ("Is it?", options[:1], "a")):
        with pytest.raises(DefinitionError):
            Question(*broken)
    with pytest.raises(DefinitionError):
        Question("Is it?", (Option("yes", ""), options[1]), "b")


# --- every registered exercise ---------------------------------------------------------------------------------------

SHIPPED = registered.notebooks()
SHIPPED_EXERCISES = [exercise for notebook in SHIPPED for exercise in registered.exercises_of(notebook)]


@pytest.mark.parametrize("exercise", SHIPPED_EXERCISES, ids=lambda exercise: exercise.id)
def test_every_exercise_judges_stub_wrong_answers_and_solution_rightly(exercise: Exercise) -> None:
    assert faults(exercise) == []


@pytest.mark.parametrize("notebook", SHIPPED)
def test_every_notebooks_exercises_and_quiz_are_in_order(notebook: str, root: Path) -> None:
    exercises = registered.exercises_of(notebook)
    assert [exercise.id for exercise in exercises] == [f"{notebook}.{n}" for n in range(1, len(exercises) + 1)]
    assert registered.quiz_of(notebook).id == notebook
    assert quiz_faults(registered.quiz_of(notebook)) == []
    for source in sorted((root / "notebooks" / "src").glob(f"{notebook}_*.py")):
        text = source.read_text(encoding="utf-8")
        for exercise in exercises:
            assert exercise.stub.strip() in text, f"{exercise.id}: the stub does not stand in {source.name} as it is"
            assert f'check("{exercise.id}", {exercise.answer})' in text, (
                f"{exercise.id} is not checked in {source.name}"
            )
        used = set(re.findall(r'\b(?:check|hint|solution)\("(\w+\.\d+)"', text))
        assert used <= {exercise.id for exercise in exercises}, f"{source.name} names an exercise that does not exist"
