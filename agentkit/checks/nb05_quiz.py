"""The quiz of notebook 05."""

from __future__ import annotations

from agentkit.checks.quizzes import Option, Question, Quiz

QUIZ = Quiz(
    "05",
    (
        Question(
            "A model's text holds an action, then an observation, then a final answer. What does the program do?",
            (
                Option(
                    "It shows the final answer.",
                    "The answer rests on an observation that the model invented. No tool has run.",
                ),
                Option("It runs the action and drops the rest.", "Only the program may write observations."),
                Option(
                    "It runs the action and keeps the observation.",
                    "The observation was invented; keeping it would forge a fact.",
                ),
            ),
            "b",
        ),
        Question(
            "Three calls were asked for, and the second tool raised an exception. How many results enter the history?",
            (
                Option("Two.", "Then one call is without a result, and a provider refuses the history."),
                Option("One, with the error.", "Then two calls are without a result, and their work is lost."),
                Option("Three.", "Every call gets one result, and an error is a result."),
            ),
            "c",
        ),
        Question(
            "What is a paused run?",
            (
                Option(
                    "A value that can be saved and resumed, even elsewhere.", "Nothing waits in memory but the data."
                ),
                Option(
                    "A thread that sleeps until somebody answers.",
                    "A thread dies with its process. A paused run can be saved.",
                ),
                Option("A run that failed.", "It waits for a person. A run that cannot go on is stopped."),
            ),
            "a",
        ),
    ),
)
