"""The quiz of notebook 04."""

from __future__ import annotations

from agentkit.checks.quizzes import Option, Question, Quiz

QUIZ = Quiz(
    "04",
    (
        Question(
            "You asked about order A101 a minute ago. Now you ask “When will it arrive?”. How can the model know what “it” is?",
            (
                Option("It keeps the last questions in its own memory.", "A model keeps nothing between two requests."),
                Option("The program sends the earlier messages again.", "What a model remembers is what you send."),
                Option(
                    "The tools remember the order.",
                    "A tool answers one call. Only the messages carry a conversation.",
                ),
            ),
            right="b",
        ),
        Question(
            "A window of ten messages begins with a tool result. What does a provider do?",
            (
                Option(
                    "It ignores the result.",
                    "It does not guess. Both providers check the history before the model sees it.",
                ),
                Option(
                    "It answers, but the answer is worse.",
                    "That happens when the goal is missing. A result without its call is an error.",
                ),
                Option(
                    "It refuses the request.",
                    "A result must answer a call of the message before it, so a window cuts between units only.",
                ),
            ),
            right="c",
        ),
        Question(
            "A Korean text is 400 syllables long. How many tokens are that by the method of this notebook?",
            (
                Option(
                    "300 tokens",
                    "400 syllables are 1,200 bytes in UTF-8, and a quarter of that is 300. Still an estimate.",
                ),
                Option(
                    "100 tokens", "That is a quarter of the characters. It fits English and is far too low for Korean."
                ),
                Option(
                    "400 tokens", "One for each syllable is another common estimate, but not the one of this notebook."
                ),
            ),
            right="a",
        ),
    ),
)
