"""The quiz of notebook 03."""

from __future__ import annotations

from agentkit.checks.quizzes import Option, Question, Quiz

QUIZ = Quiz(
    "03",
    (
        Question(
            "A model calls a tool that does not exist. What should the program do?",
            (
                Option("Stop the run with an exception", "The model would never learn of its mistake."),
                Option("Call the tool with the nearest name", "It may be another tool than the one that was meant."),
                Option(
                    "Return an error result that names the tools",
                    "The model reads it and can make a correct call in its next step.",
                ),
                Option("Return an empty result", "The model would believe that there are no data."),
            ),
            right="c",
        ),
        Question(
            "A model is cut off while it writes the arguments of a call. What does the registry do with the call?",
            (
                Option(
                    "It refuses the call with a code and a sentence",
                    "What is missing is unknown, so nothing runs, and the model can call again.",
                ),
                Option("It completes the JSON and runs the call", "The tool would get arguments that nobody chose."),
                Option("It runs the call with the defaults", "The model wrote something else, and part of it is lost."),
            ),
            right="a",
        ),
        Question(
            "Which change leaves the fingerprint of a registry as it is?",
            (
                Option("A better description", "The model reads the description, so it belongs to the contract."),
                Option(
                    "Another order of the tools, or other code inside a function",
                    "Neither changes the contract: names, descriptions, schemas and permissions are the same.",
                ),
                Option("A default in the schema", "The model sees the schema, so this is another contract."),
            ),
            right="b",
        ),
    ),
)
