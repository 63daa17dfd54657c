"""The quiz of notebook 08."""

from __future__ import annotations

from agentkit.checks.quizzes import Option, Question, Quiz

QUIZ = Quiz(
    "08",
    (
        Question(
            "A provider promises strict JSON Schema for every call. Which stages of the door can you leave out?",
            (
                Option(
                    "Parse and schema.", "A reply can still be cut off, and a call can also come from somewhere else."
                ),
                Option("The business rule.", "A schema says what a call looks like, not what the shop allows today."),
                Option(
                    "None of them.", "The promise makes some refusals rare. It does not say what the business allows."
                ),
            ),
            "c",
        ),
        Question(
            "A payment timed out, and the model sends the same payment with a new call id. What does the door do?",
            (
                Option("It pays, because the id is new.", "The first payment may have worked, so this may pay twice."),
                Option("It answers unknown_outcome.", "Until the first outcome is known, an equal call is a retry."),
                Option("It answers that the first payment failed.", "Nobody knows that. A late answer may still come."),
            ),
            "b",
        ),
        Question(
            "Why does the door write the call down before it runs it?",
            (
                Option(
                    "So that a crash in between leaves a trace.", "The next process finds it and does not repeat it."
                ),
                Option("So that the call is faster.", "Writing it down costs time."),
                Option("So that the model can read it.", "The model reads results. The ledger is for the program."),
            ),
            "a",
        ),
    ),
)
