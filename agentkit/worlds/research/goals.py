"""What a reader may ask in the world `research`, the calls that answer it, and what the answer must say.

The expected values follow from the texts by hand; a test looks them up again.
"""

from __future__ import annotations

from typing import Final

from agentkit.worlds import Goal
from agentkit.worlds.research.goals_ko import KOREAN
from agentkit.worlds.research.wanted import calc, read, search

__all__ = ["GOAL_CALCULATE", "GOAL_FAIL", "GOAL_NORMAL", "goals"]

GOAL_NORMAL: Final = "What is FastAPI built on?"
GOAL_CALCULATE: Final = "Look up how many characters of English text one token is, and divide 20000 by that number."
GOAL_FAIL: Final = "What do the documents say about Kubernetes?"

# The words that say that the documents do not hold the answer.
NOTHING: Final = ("not found",)


def _ask(id: str, text: str, words: str, document: str, *has: str) -> Goal:
    """A question that one search answers; reading the whole document as well does no harm."""
    return Goal(
        id, text, (search(*words.split()),), (document, *has), optional_calls=(read(document),), answer_lacks=NOTHING
    )


def _absent(id: str, text: str, words: str) -> Goal:
    """A question that the documents do not answer."""
    return Goal(id, text, (search(*words.split()),), NOTHING)


def _calculate(id: str, text: str, expression: str, *has: str) -> Goal:
    return Goal(id, text, (calc(expression),), has)


FRAMEWORKS: Final = (
    _ask("fastapi-base", GOAL_NORMAL, "FastAPI", "D03", "Starlette", "pydantic"),
    _ask(
        "fastapi-422",
        "Which status code does FastAPI answer when a request does not fit the types?",
        "FastAPI",
        "D03",
        "422",
    ),
    _ask("flask-port", "On which port does the development server of Flask listen?", "Flask port", "D01", "5000"),
    _ask("django-port", "What is the default port of Django's development server?", "Django port", "D02", "8000"),
    _ask(
        "django-orm",
        "Which framework comes with an admin site and an object-relational mapper?",
        "admin",
        "D02",
        "Django",
    ),
    _ask("starlette-offers", "What does Starlette offer?", "Starlette", "D04", "routing", "WebSockets"),
    _ask("wsgi-pep", "Which PEP describes WSGI?", "WSGI", "D05", "3333"),
    _ask("asgi-what", "What is ASGI?", "ASGI", "D06", "asynchronous"),
    _ask(
        "asgi-arguments",
        "With which three arguments is an ASGI application called?",
        "ASGI",
        "D06",
        "scope",
        "receive",
        "send",
    ),
    _ask("wsgi-asgi", "What is the difference between WSGI and ASGI?", "WSGI ASGI", "D06", "successor"),
    _ask("gunicorn-windows", "Does Gunicorn run on Windows?", "Gunicorn Windows", "D08", "fork"),
    _ask("gunicorn-silent", "After how many seconds does Gunicorn restart a silent worker?", "Gunicorn", "D08", "30"),
    _ask("uvicorn-what", "What is Uvicorn?", "Uvicorn", "D07", "ASGI server"),
    _ask("choose-api", "Which framework suits a web API with typed requests?", "API", "D34", "FastAPI"),
)

THE_WEB: Final = (
    _ask("middleware-what", "Please explain middleware.", "middleware", "D09", "wraps"),
    _ask("idempotent", "Which HTTP methods are idempotent?", "idempotent", "D10", "PUT", "DELETE"),
    _ask("status-429", "What does the HTTP status code 429 mean?", "429", "D11", "too many requests"),
    _ask("pydantic-schema", "Can a pydantic model write its own JSON Schema?", "pydantic schema", "D12", "JSON Schema"),
    _ask("escaping", "How does automatic escaping protect a page?", "escaping", "D13", "script"),
    _ask("sql-injection", "How do I prevent SQL injection?", "SQL injection", "D14", "parameters"),
    _ask("cookie-size", "How many bytes do browsers allow for one cookie?", "cookie", "D15", "4096"),
    _ask("csrf-cure", "What stops CSRF?", "CSRF", "D16", "token"),
    _ask("websocket-code", "With which status code is a WebSocket switched over?", "WebSocket", "D17", "101"),
    _ask("sse-type", "What media type do server-sent events have?", "server sent", "D18", "text/event-stream"),
    _ask(
        "event-loop-block",
        "What happens to the event loop when a call blocks?",
        "event loop",
        "D20",
        "stops every coroutine",
    ),
    _ask("reverse-proxy", "What is a reverse proxy for?", "reverse proxy", "D21"),
)

AGENTS: Final = (
    _ask("agent-what", "What is an AI agent?", "agent", "D22", "loop"),
    _ask("agent-workflow", "How does an agent differ from a workflow?", "agent workflow", "D22", "by itself"),
    _ask("agent-limits", "Which limits does an agent loop need?", "limit", "D24", "number of steps"),
    _ask("tool-description", "Why does the description of a tool matter?", "description tool", "D23", "vague"),
    _ask("react-who", "Who described ReAct?", "ReAct", "D25", "Yao", "2022"),
    _ask("token-size", "How many characters of English text is a token?", "token", "D26", "4"),
    _ask("memory-cut", "What must stay together when old messages are cut?", "messages", "D27", "its result"),
    _ask("rag-what", "What does RAG stand for?", "RAG", "D28", "Retrieval-augmented generation"),
    _ask("cosine", "What does cosine similarity compare?", "cosine", "D29", "directions"),
    _ask("mcp-messages", "What are MCP messages?", "MCP", "D30", "JSON-RPC"),
    _ask("injection-help", "What helps against prompt injection?", "prompt injection", "D31", "least privilege"),
    _ask("pass-k", "Which measure asks whether all tries succeed?", "tries", "D32", "pass^k"),
    _ask("retry-write", "Why does a retry of an action that writes need an idempotency key?", "retry", "D33", "twice"),
)

READING: Final = (
    Goal("read-d12", "Read document D12.", (read("D12"),), ("D12", "Pydantic", "JSON Schema")),
    Goal("read-d17", "What does document D17 say?", (read("D17"),), ("D17", "chats")),
    Goal("read-sse", "Read me the whole document about server-sent events.", (search("server-sent"), read("D18")),
         ("D18", "connects again"), note="The id is found by a search first."),
    Goal("read-gunicorn", "Show me the whole text of the document on Gunicorn.", (search("Gunicorn"), read("D08")),
         ("D08", "Windows")),
    Goal("read-d99", "Read document D99.", (read("D99"),), ("D99", *NOTHING)),
)  # fmt: skip

CALCULATIONS: Final = (
    _calculate("calc-brackets", "What is (1200 + 350) * 12?", "18600", "18,600"),
    _calculate("calc-power", "Calculate 0.95 ** 20.", "0.95 ** 20", "0.358"),
    _calculate("calc-percent", "How much is 15% of 2400?", "360", "360"),
    _calculate("calc-words", "What is 12 times 250?", "3000", "3000"),
    _calculate("calc-root", "What is the square root of 1764?", "42", "42"),
    _calculate("calc-zero", "What is 10 / 0?", "10 / 0", "zero"),
    _calculate("calc-large", "Calculate 9 ** 9 ** 9.", "9 ** 9 ** 9", "too large"),
)

TOGETHER: Final = (
    Goal("two-token-chars", GOAL_CALCULATE, (search("token"), calc("5000")), ("D26", "5000")),
    Goal("two-cookie", "How many bytes do browsers allow for one cookie? Multiply that by 20.",
         (search("cookie"), calc("81920")), ("4096", "D15", "81,920")),
    Goal("two-port", "Find the port of Flask's development server and add 1 to it.",
         (search("Flask", "port"), calc("5001")), ("D01", "5001")),
    Goal("two-silent", "After how many seconds does Gunicorn restart a silent worker? Divide that by 60.",
         (search("Gunicorn"), calc("0.5")), ("D08", "0.5")),
    Goal("two-window", "What is a context window, and what is 4 * 8192?",
         (search("context window"), calc("32768")), ("D26", "32,768")),
    Goal("two-topics", "What is WSGI? And what is a WebSocket?", (search("WSGI"), search("WebSocket")), ("D05", "D17")),
)  # fmt: skip

ABSENT: Final = (
    _absent("absent-kubernetes", GOAL_FAIL, "Kubernetes"),
    _absent("absent-cup", "Who won the football world cup in 2022?", "world cup"),
    _absent("absent-price", "What does hosting a Django site cost per month?", "Django"),
    _absent("absent-mountain", "How tall is Mount Fuji?", "Fuji"),
    _absent("absent-cobol", "Which COBOL compiler do the documents recommend?", "COBOL"),
)

NO_CALLS: Final = (Goal("hello", "Hello."), Goal("thanks", "Thank you, that was helpful."))

goals: Final[tuple[Goal, ...]] = (
    *FRAMEWORKS, *THE_WEB, *AGENTS, *READING, *CALCULATIONS, *TOGETHER, *ABSENT, *NO_CALLS, *KOREAN,
)  # fmt: skip
