"""The quiz of notebook 14."""

from __future__ import annotations

from agentkit.checks.quizzes import Option, Question, Quiz

QUIZ = Quiz(
    "14",
    (
        Question(
            "A client in the mode `auto` meets a server that knows only the handshake. What happens?",
            (
                Option("The connection fails.", "That is what a client does that speaks the newest revision only."),
                Option(
                    "It asks `server/discover`, is refused, and begins with `initialize`.",
                    "The refusal itself tells it that the server is of the older era.",
                ),
                Option(
                    "It reads the version of the server's SDK.", "No version of any package travels. Only messages do."
                ),
            ),
            "b",
        ),
        Question(
            "A server answers your call with 403. What helps?",
            (
                Option(
                    "A token with the scope that the call needs.", "You are known, and your token is not good for this."
                ),
                Option("The same token once more.", "Nothing has changed, so the answer will be the same."),
                Option("A handshake first.", "The server knows who you are. A handshake gives no scope."),
            ),
            "a",
        ),
        Question(
            "A stranger's server says of its tool: `readOnlyHint: true`. What follows?",
            (
                Option("The tool may run without asking.", "The hint was written by the stranger, who may err or lie."),
                Option(
                    "The tool must be left out.", "You may use it. A person looks at each call until you know better."
                ),
                Option(
                    "Nothing, until you vouch for the tool yourself.",
                    "The permission comes from you, not from the server.",
                ),
            ),
            "c",
        ),
    ),
)
