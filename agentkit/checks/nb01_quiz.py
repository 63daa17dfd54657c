"""The quiz of notebook 01."""

from __future__ import annotations

from agentkit.checks.quizzes import Option, Question, Quiz

QUIZ = Quiz(
    "01",
    (
        Question(
            "What makes an agent out of a model?",
            (
                Option("More training.", "The model stays as it is. What is added stands around it."),
                Option(
                    "A loop that runs the tools it asks for and shows it the results.", "Model, tools, loop, memory."
                ),
                Option("A longer question.", "A longer question is still one call: nothing is looked up."),
            ),
            "b",
        ),
        Question(
            "Every request has the same form: an order code and a date in two fields. Which do you choose?",
            (
                Option(
                    "An agent, because it is smarter.", "It costs tokens and can go astray, and gives the same answers."
                ),
                Option("A single model call.", "It cannot know the order."),
                Option(
                    "A workflow in plain code.", "It is exact, quick, free of tokens, and does the same every time."
                ),
            ),
            "c",
        ),
        Question(
            "A loop runs the tool but does not put the result into the history. What happens?",
            (
                Option(
                    "The model asks for the same again and again.", "It sees the same history, so it decides the same."
                ),
                Option("The model remembers the result by itself.", "A model has no memory. It knows what you send."),
                Option("The tool raises an error.", "The tool worked. Only nobody told the model."),
            ),
            "a",
        ),
    ),
)
