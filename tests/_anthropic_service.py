"""Anthropic's service as the tests of `AnthropicModel` see it: recorded requests, prepared answers, no network.

Everything goes through the real SDK; only the transport below it is replaced.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pytest

httpx2 = pytest.importorskip("httpx2", reason="needs the extra 'providers': pip install 'agentkit-course[providers]'")
pytest.importorskip("anthropic", reason="needs the extra 'providers': pip install 'agentkit-course[providers]'")

from agentkit import Message, Reply, TextDelta, ToolSpec  # noqa: E402
from agentkit.models.anthropic import AnthropicModel  # noqa: E402

KEY = "test-key-0123456789"
MODEL = "claude-haiku-4-5"  # a name of the catalog, so that a cost can be known
Json = dict[str, Any]

LOOK = ToolSpec(
    "look",
    "Look at one thing.",
    {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"], "additionalProperties": False},
)
DOTTED = ToolSpec("shop.lookup", "A name that the service does not accept.", {"type": "object", "properties": {}})


def text(words: str) -> Json:
    return {"type": "text", "text": words}


def use(call_id: str, tool: str = "look", /, **arguments: Any) -> Json:
    return {"type": "tool_use", "id": call_id, "name": tool, "input": arguments}


def thinking(words: str, signature: str = "c2ln+/=") -> Json:
    return {"type": "thinking", "thinking": words, "signature": signature}


def document(
    *content: Json, stop: str | None = "end_turn", usage: Mapping[str, Any] | None = None, **more: Any
) -> Json:
    counts = {"input_tokens": 10, "output_tokens": 5, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}
    return {
        "id": "msg_1", "type": "message", "role": "assistant", "model": MODEL, "content": list(content),
        "stop_reason": stop, "stop_sequence": None, "usage": {**counts, **(usage or {})}, **more,
    }  # fmt: skip


def cut(words: str, size: int = 4) -> list[str]:
    return [words[i : i + size] for i in range(0, len(words), size)]


def events(message: Json) -> Iterator[Json]:
    """The events in which the service streams a document: fragments of text, of thinking, and of arguments."""
    start = {**message, "content": [], "stop_reason": None, "usage": {**message["usage"], "output_tokens": 1}}
    yield {"type": "message_start", "message": start}
    yield {"type": "ping"}
    for index, block in enumerate(message["content"]):
        empty, deltas = opened(block)
        yield {"type": "content_block_start", "index": index, "content_block": empty}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    end = {key: message[key] for key in ("stop_reason", "stop_sequence", "stop_details") if key in message}
    counts = {"output_tokens": message["usage"]["output_tokens"]}
    yield {"type": "message_delta", "delta": end, "usage": counts}
    yield {"type": "message_stop"}


def opened(block: Json) -> tuple[Json, list[Json]]:
    """How a block starts, and the deltas that fill it."""
    match block["type"]:
        case "text":
            return {**block, "text": ""}, [{"type": "text_delta", "text": part} for part in cut(block["text"])]
        case "thinking":
            parts = [{"type": "thinking_delta", "thinking": part} for part in cut(block["thinking"])]
            return {**block, "thinking": "", "signature": ""}, [
                *parts, {"type": "signature_delta", "signature": block["signature"]},
            ]  # fmt: skip
        case "tool_use" | "server_tool_use":
            written = block["input"] if isinstance(block["input"], str) else json.dumps(block["input"])
            written = "" if written == "{}" else written
            return {**block, "input": {}}, [
                {"type": "input_json_delta", "partial_json": part} for part in ["", *cut(written)]
            ]
    return block, []


def sse(found: Sequence[Json] | Iterator[Json]) -> bytes:
    return "".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in found).encode("utf-8")


def failure(status: int, kind: str, words: str, **headers: str) -> Callable[[Any], Any]:
    body = {"type": "error", "error": {"type": kind, "message": words}, "request_id": "req_1"}
    return lambda request: httpx2.Response(status, json=body, headers={"retry-after-ms": "1", **headers})


class Service:
    """Answers requests in order. An answer is a document (sent as JSON or as a stream, as asked), or a function."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.requests: list[Any] = []

    def __call__(self, request: Any) -> Any:
        self.requests.append(request)
        assert self.answers, "the service was asked more often than the test expects"
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if callable(answer):
            return answer(request)
        if json.loads(request.content).get("stream"):
            return httpx2.Response(200, content=sse(events(answer)), headers={"content-type": "text/event-stream"})
        return httpx2.Response(200, json=answer)

    @property
    def bodies(self) -> list[Json]:
        return [json.loads(request.content) for request in self.requests]

    def model(self, **options: Any) -> AnthropicModel:
        transport = httpx2.MockTransport(self)
        given = {
            "api_key": KEY, "http_client": httpx2.Client(transport=transport),
            "async_http_client": httpx2.AsyncClient(transport=transport), **options,
        }  # fmt: skip
        return AnthropicModel(MODEL, **given)


def goal(words: str = "What is in the box?") -> list[Message]:
    return [Message("system", "You are careful."), Message("user", words)]


def streamed(
    model: AnthropicModel, messages: Sequence[Message], tools: Sequence[ToolSpec] = ()
) -> tuple[list[str], Reply]:
    """The pieces of text, and the reply at the end."""
    *pieces, reply = list(model.stream(messages, tools))
    assert isinstance(reply, Reply) and all(isinstance(piece, TextDelta) for piece in pieces)
    return [piece.text for piece in pieces if isinstance(piece, TextDelta)], reply
