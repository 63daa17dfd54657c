"""What the tests of the endpoint share: models that do one thing, tools, and bounded waiting."""

from __future__ import annotations

import contextlib
import functools
import json
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest
from pydantic import BaseModel

from agentkit import (
    CallTools,
    FinalAnswer,
    Message,
    Registry,
    Reply,
    ScriptedModel,
    TextDelta,
    ToolCall,
    ToolSpec,
    tool,
)
from agentkit.endpoint import Endpoint
from agentkit.messages import Decision

for package in ("starlette", "uvicorn"):
    pytest.importorskip(package, reason=f"needs {package}: pip install 'agentkit-course[providers]'")

KEY = "test-key-0123456789"
NOW = 1764500000


@tool
def add(a: int, b: int) -> int:
    """Add two numbers.

    Args:
        a: The first number.
        b: The second number.
    """
    return a + b


@tool
def today() -> str:
    """The date of today."""
    return "2026-03-01"


REGISTRY = Registry([add, today])
CHAT_TOOLS: list[Any] = REGISTRY.openai()
RESPONSES_TOOLS: list[Any] = REGISTRY.openai(form="responses")
ANTHROPIC_TOOLS: list[Any] = REGISTRY.anthropic()

TWO_CALLS = CallTools("I add both pairs.", (ToolCall("add", {"a": 1, "b": 2}), ToolCall("add", {"a": 3, "b": 4})))
ANSWER = FinalAnswer("I have both sums.", "The sums are 3 and 7. 합은 3과 7입니다.")
LOOP = ScriptedModel([TWO_CALLS, CallTools("And the date.", (ToolCall("today"),)), ANSWER])


def says(*decisions: Decision | Reply) -> ScriptedModel:
    return ScriptedModel(decisions)


def serving(*decisions: Decision | Reply, **options: Any) -> Endpoint:
    return Endpoint(says(*decisions), clock=lambda: NOW, **options)


class Hanging:
    """Does not answer before it is let go."""

    def __init__(self) -> None:
        self.asked = threading.Event()
        self.gate = threading.Event()

    def decide(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Reply:
        self.asked.set()
        self.gate.wait(30)
        return Reply(ANSWER)


class Live:
    """Streams words, and waits at the gate behind the first of them."""

    def __init__(self, words: Sequence[str], decision: Decision, *, fails: bool = False) -> None:
        self.words, self.decision, self.fails = words, decision, fails
        self.gate = threading.Event()
        self.closed = threading.Event()
        self.written = 0

    def decide(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Reply:
        return Reply(self.decision)

    def stream(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Iterator[TextDelta | Reply]:
        try:
            for word in self.words:
                self.written += 1
                yield TextDelta(word)
                self.gate.wait(30)
            if self.fails:
                raise RuntimeError("the line is dead, key=sk-abcdef0123456789")
            yield Reply(self.decision)
        finally:
            self.closed.set()


def ask(url: str, body: Any, headers: Mapping[str, str] | None = None, method: str = "POST") -> tuple[int, Any, Any]:
    """Status, JSON and headers of a bare request."""
    data = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
    sent = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"} if headers is None else dict(headers)
    request = urllib.request.Request(url, data, sent, method=method)
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.status, json.loads(answer.read() or b"null"), answer.headers
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.loads(error.read() or b"null"), error.headers


def leftovers() -> list[threading.Thread]:
    """Threads of endpoints that still run, after each had time to end."""
    ours = [thread for thread in threading.enumerate() if thread.name.startswith("agentkit-endpoint")]
    for thread in ours:
        thread.join(10)
    return [thread for thread in ours if thread.is_alive()]


USER: list[Any] = [{"role": "user", "content": "1 + 2, 3 + 4, and the date?"}]


class Sums(BaseModel):
    """What a reply in a given form looks like."""

    first: int
    words: str


# --- the OpenAI SDK --------------------------------------------------------------------------------------------------


@functools.cache
def openai_root() -> Any:
    """One client for all tests: making one takes a third of a second, since it loads the certificates of the system."""
    import openai

    return openai.OpenAI(base_url="http://127.0.0.1:9/v1", api_key=KEY, max_retries=0)


def openai_client(endpoint: Endpoint, **options: Any) -> Any:
    return contextlib.nullcontext(openai_root().with_options(base_url=endpoint.openai_url, **options))


def chat(endpoint: Endpoint, **request: Any) -> Any:
    """The reply, or the list of chunks of a stream."""
    with openai_client(endpoint) as sdk:
        found = sdk.chat.completions.create(**{"model": "offline", "messages": USER, **request})
        return list(found) if request.get("stream") else found


def respond(endpoint: Endpoint, **request: Any) -> Any:
    """The response, or the list of events of a stream."""
    with openai_client(endpoint) as sdk:
        found = sdk.responses.create(**{"model": "offline", "input": USER, **request})
        return list(found) if request.get("stream") else found
