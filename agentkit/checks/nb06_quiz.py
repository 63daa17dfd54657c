"""The quiz of notebook 06."""

from __future__ import annotations

from agentkit.checks.quizzes import Option, Question, Quiz

QUIZ = Quiz(
    "06",
    (
        Question(
            "A test runs a scripted model whose last decision answers 42, and asserts only that the answer is 42. "
            "What does the test show?",
            (
                Option(
                    "That the tools ran and their results were used.",
                    "The script answers 42 whatever the tools return.",
                ),
                Option(
                    "Little: the script says 42 in any case.",
                    "A test must look at what the loop did: the history, the results, the number of requests.",
                ),
                Option("That the model can calculate.", "There is no model in it. A script was replayed."),
            ),
            "b",
        ),
        Question(
            "A run ended as max_steps. What is true?",
            (
                Option(
                    "Its results are kept, and a new run can go on from its history.",
                    "Everything that was found is in `run.messages`, and both providers accept it.",
                ),
                Option(
                    "Its answer is the last thought of the model.", "A stopped run has no answer: `run.answer` is None."
                ),
                Option(
                    "It raised an exception in your program.",
                    "A limit is a way to end. You get a run whose status is `stopped`.",
                ),
            ),
            "a",
        ),
        Question(
            "In a log of one run, the tokens in grow from request to request, and the question was short. Why?",
            (
                Option("The model thinks longer and longer.", "That would be tokens out."),
                Option("The tools are described again in more detail.", "The tools are the same in every request."),
                Option(
                    "Each request sends the whole history again.",
                    "A model has no memory, so calls and results are sent with every request until the window is full.",
                ),
            ),
            "c",
        ),
    ),
)
