"""A service behind the official SDK without a network: a transport that answers with what the test lays out.

It needs httpx2, which the SDKs bring. What the SDK sent is kept, so that a test can look at it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import httpx2

KEY = "test-key-0123456789"
OWN = "https://api.openai.com/v1"
ELSEWHERE = "http://127.0.0.1:9/v1"


class FakeService:
    """Answers requests in order; the last answer is given again and again. An exception is raised instead.

    ``http`` and ``async_http`` are clients for the SDK; ``requests`` is what came, ``bodies`` the JSON of it,
    ``responses`` what was answered.
    """

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.requests: list[httpx2.Request] = []
        self.responses: list[httpx2.Response] = []
        self.http = httpx2.Client(transport=httpx2.MockTransport(self._answer))
        self.async_http = httpx2.AsyncClient(transport=httpx2.MockTransport(self._answer))

    def _answer(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(request)
        answer = self.answers[min(len(self.requests), len(self.answers)) - 1]
        if isinstance(answer, Exception):
            raise answer
        self.responses.append(answer() if callable(answer) else httpx2.Response(200, json=answer))
        return self.responses[-1]

    @property
    def bodies(self) -> list[Any]:
        return [json.loads(request.content) for request in self.requests]


def problem(status: int, body: Any, **headers: str) -> Callable[[], httpx2.Response]:
    """An error of the service; a body that is a text goes out as it is."""
    if isinstance(body, str):
        return lambda: httpx2.Response(status, text=body, headers=headers)
    return lambda: httpx2.Response(status, json=body, headers=headers)


def events(items: list[dict[str, Any]], *, done: bool = True, broken: Exception | None = None) -> Callable[[], Any]:
    """A stream of server-sent events; ``broken`` is raised where the stream stops."""

    class Stream(httpx2.SyncByteStream, httpx2.AsyncByteStream):
        def __iter__(self) -> Iterator[bytes]:
            for item in items:
                kind = f"event: {item['type']}\n" if "type" in item else ""
                yield f"{kind}data: {json.dumps(item, ensure_ascii=False)}\n\n".encode()
            if broken is not None:
                raise broken
            if done:
                yield b"data: [DONE]\n\n"

    return lambda: httpx2.Response(200, headers={"content-type": "text/event-stream"}, stream=Stream())


def chat(content: Any = None, calls: Any = None, finish: str | None = None, **more: Any) -> dict[str, Any]:
    """A document of Chat Completions."""
    message: dict[str, Any] = {"role": "assistant", "content": content, "refusal": None}
    if calls is not None:
        message["tool_calls"] = calls
    message.update(more.pop("message", {}))
    finish = finish or ("tool_calls" if calls else "stop")
    return {
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "gpt-5-mini-2025-08-07",
        "choices": [{"index": 0, "message": message, "finish_reason": finish, "logprobs": None}],
        "usage": {
            "prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120,
            "prompt_tokens_details": {"cached_tokens": 40},
        },
        **more,
    }  # fmt: skip


def call(name: Any, arguments: Any, call_id: Any = "call_a") -> dict[str, Any]:
    """A call in a document of Chat Completions."""
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def chunk(delta: dict[str, Any] | None = None, finish: str | None = None, **more: Any) -> dict[str, Any]:
    """A chunk of a streamed reply of Chat Completions; without a delta one that has no choices."""
    choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish}]
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "gpt-5-mini-2025-08-07"}
    return {**head, "choices": choices, **more}


def fragment(index: int | None, arguments: Any = None, name: str | None = None, call_id: str | None = None) -> Any:
    """A delta with a piece of one call."""
    found: dict[str, Any] = {} if index is None else {"index": index}
    if call_id is not None:
        found |= {"id": call_id, "type": "function"}
    body = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    return {"tool_calls": [{**found, "function": body}]}
