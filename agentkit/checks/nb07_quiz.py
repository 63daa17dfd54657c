"""The quiz of notebook 07."""

from __future__ import annotations

from agentkit.checks.quizzes import Option, Question, Quiz

QUIZ = Quiz(
    "07",
    (
        Question(
            "A key for a service stands in your environment, and AGENTKIT_MODEL is not set. Which model do the notebooks use?",
            (
                Option(
                    "The model of that service.",
                    "Then a forgotten key would cost money without anybody's decision.",
                ),
                Option(
                    "The offline model.",
                    "Only AGENTKIT_MODEL changes the model; a key alone changes nothing.",
                ),
                Option("None: a cell fails.", "A key that nobody uses is no mistake."),
            ),
            "b",
        ),
        Question(
            "In a stream, two calls are open, and a piece of arguments arrives. To which call does it belong?",
            (
                Option("To the one that began last.", "The pieces of two calls may come in turns."),
                Option("To the one whose arguments are not yet JSON.", "Both may be unfinished."),
                Option(
                    "To the one with the index of the piece.",
                    "Every piece carries the index; the id and the name come only once.",
                ),
            ),
            "c",
        ),
        Question(
            "A small model's output is constrained to a JSON Schema with three tool names. What is sure?",
            (
                Option(
                    "That the output is valid.",
                    "Tokens that would break the schema cannot be chosen. Which of the three names comes is up to the model.",
                ),
                Option("That the tool is the right one.", "A wrong name is valid JSON, too."),
                Option("That the model has understood the question.", "The form says nothing about understanding."),
            ),
            "a",
        ),
    ),
)
