"""Checks the exercises themselves: a check is trusted only after it was seen to refuse and to accept."""

from __future__ import annotations

from agentkit.checks.exercise import Exercise
from agentkit.checks.judging import judge_source
from agentkit.checks.quizzes import Quiz


def faults(exercise: Exercise) -> list[str]:
    """What is wrong with an exercise: its stub, wrong answers and solution must be judged as they are meant."""
    found = []
    expected = [("the stub", exercise.stub, "not attempted", ""), ("the solution", exercise.solution, "correct", "")]
    for number, wrong in enumerate(exercise.known_wrong, 1):
        expected.append((f"known wrong answer {number}", wrong.source, "not yet", wrong.message_has))
    for what, source, outcome, part in expected:
        verdict = judge_source(exercise, source).verdict
        if verdict.outcome != outcome:
            found.append(f"{exercise.id}: {what} gets {verdict.outcome!r}, not {outcome!r}: {verdict.message}")
        elif part not in verdict.message:
            found.append(f"{exercise.id}: {what} gets {verdict.message!r}, which does not contain {part!r}")
        elif judge_source(exercise, source).verdict != verdict:
            found.append(f"{exercise.id}: {what} gets another message the second time")
    if not exercise.known_wrong:
        found.append(f"{exercise.id}: give at least one known wrong answer")
    if any(not wrong.message_has.strip() for wrong in exercise.known_wrong):
        found.append(f"{exercise.id}: a known wrong answer must say which part of the message it gets")
    return found


def quiz_faults(quiz: Quiz) -> list[str]:
    """What is wrong with a quiz: three questions, right answers pass, wrong ones are refused and explained."""
    found = [] if len(quiz.questions) == 3 else [f"quiz {quiz.id} has {len(quiz.questions)} questions, not 3"]
    if not quiz.answer(*quiz.right).all_correct:
        found.append(f"quiz {quiz.id}: the right answers do not pass")
    for place, question in enumerate(quiz.questions):
        for letter in question.letters:
            answers = [*quiz.right[:place], letter, *quiz.right[place + 1 :]]
            result = quiz.answer(*answers)
            if (letter == question.right) != result.all_correct:
                found.append(f"quiz {quiz.id}, question {place + 1}: option {letter} is judged wrongly")
            if question.option(letter).why not in repr(result):
                found.append(f"quiz {quiz.id}, question {place + 1}: option {letter} is not explained")
    return found
