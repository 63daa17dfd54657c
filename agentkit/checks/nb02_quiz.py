"""The quiz of notebook 02."""

from __future__ import annotations

from agentkit.checks.quizzes import Option, Question, Quiz

QUIZ = Quiz(
    "02",
    (
        Question(
            "By what does a model choose a tool?",
            (
                Option("By the code of the function", "The model never sees the code."),
                Option(
                    "By its name, its description and its parameters",
                    "This text is all that is sent, so it decides where a question goes.",
                ),
                Option("By how quickly it answers", "Nobody has told the model how quick a tool is."),
            ),
            right="b",
        ),
        Question(
            "In the strict form of a schema, what happens to a parameter that has a default?",
            (
                Option("It is left out of the schema", "Then the model could never set it."),
                Option("It stays optional", "A strict schema has no optional keys."),
                Option(
                    "It is required and also accepts null, which stands for the default",
                    "So every key is always there, and a call can still say that it has no wish.",
                ),
            ),
            right="c",
        ),
        Question(
            "A calculator lets only digits and signs through and then calls eval. What is still wrong?",
            (
                Option(
                    "A short expression can have an enormous result",
                    "9**9**9 passes the list. Only the meaning of the text shows its size.",
                ),
                Option("It can open files", "That needs letters, and the list has none."),
                Option("Nothing, it is safe", "Try to guess how many digits 9**9**9 has."),
            ),
            right="a",
        ),
    ),
)
