"""The quiz of notebook 13."""

from __future__ import annotations

from agentkit.checks.quizzes import Option, Question, Quiz

QUIZ = Quiz(
    "13",
    (
        Question(
            "A tool call asks for a file outside the folder. What does the server send?",
            (
                Option("A JSON-RPC error.", "That ends at the client. The model would never learn why it failed."),
                Option(
                    "A result with isError.", "The request was fine and the tool failed, so the model must read it."
                ),
                Option("A notification.", "A notification answers nothing, and the client would wait for ever."),
            ),
            "b",
        ),
        Question(
            "Five agents use four services through MCP. A fifth service comes, and all want it. What must be written?",
            (
                Option("Five adapters.", "That would be so without a protocol: one for each agent."),
                Option(
                    "One server and five clients.",
                    "Each host can speak MCP already; one more connection is not new code.",
                ),
                Option("One server.", "N + M grows by one. The agents speak the protocol already."),
            ),
            "c",
        ),
        Question(
            "A server of somebody else says that its tool only reads. Who decides whether it may run unasked?",
            (
                Option("You, in the host.", "A server can say anything. You name what you vouch for; the rest asks."),
                Option(
                    "The server: it knows its tools.", "It may be wrong, or lie. Nothing of a definition is proved."
                ),
                Option("The model.", "The model chooses tools. What may run is decided at the door of the registry."),
            ),
            "a",
        ),
    ),
)
