"""The quiz of notebook 15."""

from __future__ import annotations

from agentkit.checks.quizzes import Option, Question, Quiz

QUIZ = Quiz(
    "15",
    (
        Question(
            "A tool may send mails to your team only. Which defence makes sure of that?",
            (
                Option(
                    "A sentence in the system prompt.", "It asks the model. A model that is misled does not obey it."
                ),
                Option(
                    "A list with the names of allowed tools.", "The name of the tool is right; the receiver is wrong."
                ),
                Option(
                    "A policy with a pattern for the receiver.", "It stands at the door and looks at the arguments."
                ),
            ),
            "c",
        ),
        Question(
            "Somebody removes the last ten records of an audit log. What shows it?",
            (
                Option(
                    "An anchor that is kept somewhere else.", "It names how many records there were, and the last hash."
                ),
                Option("The chain of hashes alone.", "The records that are left still fit together."),
                Option("The file is append-only.", "Whoever can write the file can also cut it."),
            ),
            "a",
        ),
        Question(
            "All defences together stop every attack of your set. What do you know?",
            (
                Option(
                    "The agent is safe.", "Somebody who knows your defences writes attacks that are not in the set."
                ),
                Option("These attacks fail, in this setting.", "It is a measurement, and it says what was measured."),
                Option("The model is no longer gullible.", "It is as gullible as before; the door stopped its calls."),
            ),
            "b",
        ),
    ),
)
