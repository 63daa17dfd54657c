"""The way to each concept in the documents of each service: one generator for each wire format.

Forms: OpenAI Chat Completions and Responses, Anthropic Messages. A place that a document does not have may be named too; the
reader looks whether something stands there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

Path: TypeAlias = tuple[str | int, ...]
Place: TypeAlias = tuple[str, str, Path]
"""The concept, ``request`` or ``response``, and the way into that document."""
Calls: TypeAlias = list[tuple[str, Path, Mapping[str, Any]]]
"""The calls of an exchange, first come first: the document, the way to the call or its message, and what stands there."""


def at(found: Any, path: Path) -> Any:
    """What stands at the end of a path, or None."""
    for key in path:
        try:
            found = found[key]
        except (KeyError, IndexError, TypeError):
            return None
    return found


def _items(found: Any) -> list[tuple[int, Mapping[str, Any]]]:
    """The objects of a list, each with its place."""
    if not isinstance(found, (list, tuple)):
        return []
    return [(place, item) for place, item in enumerate(found) if isinstance(item, Mapping)]


def _tool_place(request: Mapping[str, Any], called: Any, *names: str) -> int:
    """Which of the offered tools is the one that was called (the first one when nobody knows)."""
    matches = [place for place, tool in _items(request.get("tools")) if called and at(tool, names) == called]
    return matches[0] if matches else 0


def _error(response: Mapping[str, Any]) -> Iterator[Place]:
    if isinstance(response.get("error"), Mapping):
        yield "Error kind", "response", ("error", "type")
        yield "Error message", "response", ("error", "message")


# --- OpenAI Chat Completions -------------------------------------------------------------------------------------------


def _chat(request: Mapping[str, Any], response: Mapping[str, Any]) -> Iterator[Place]:
    messages = _items(request.get("messages"))
    for place, message in messages:
        if message.get("role") in ("system", "developer"):
            yield "System text", "request", ("messages", place, "content")
    for place, message in reversed(messages):
        if message.get("role") == "user":
            yield "Goal", "request", _text_path(("messages", place, "content"), message.get("content"))
    calls: Calls = [("request", ("messages", p), message) for p, message in messages if message.get("tool_calls")]
    answer = at(response, ("choices", 0, "message"))
    if isinstance(answer, Mapping) and answer.get("tool_calls"):
        calls.append(("response", ("choices", 0, "message"), answer))
    for side, path, message in calls[:1]:
        if message.get("content"):
            yield "Thought", side, _text_path((*path, "content"), message["content"])
        yield "Call id", side, (*path, "tool_calls", 0, "id")
        yield "Call name", side, (*path, "tool_calls", 0, "function", "name")
        yield "Arguments", side, (*path, "tool_calls", 0, "function", "arguments")
    called = at(calls[0][2], ("tool_calls", 0, "function", "name")) if calls else None
    tool = ("tools", _tool_place(request, called, "function", "name"), "function")
    yield from _tool(tool, "parameters")
    for key in ("max_completion_tokens", "max_tokens"):
        yield "Length limit", "request", (key,)
    for place, message in messages:
        if message.get("role") == "tool":
            yield "Role of the result", "request", ("messages", place, "role")
            yield "Id in the result", "request", ("messages", place, "tool_call_id")
            yield "Tool result", "request", _text_path(("messages", place, "content"), message.get("content"))
    yield from _chat_end(answer)
    yield "Tokens in", "response", ("usage", "prompt_tokens")
    yield "Tokens out", "response", ("usage", "completion_tokens")
    yield from _error(response)


def _chat_end(answer: Any) -> Iterator[Place]:
    if not isinstance(answer, Mapping):
        return
    end = "call" if answer.get("tool_calls") else "answer"
    yield f"Stop reason of the {end}", "response", ("choices", 0, "finish_reason")
    if end == "answer" and answer.get("content"):
        yield "Answer", "response", ("choices", 0, "message", "content")
    yield "Refusal", "response", ("choices", 0, "message", "refusal")


def _tool(path: Path, schema: str) -> Iterator[Place]:
    yield "Tool name", "request", (*path, "name")
    yield "Tool description", "request", (*path, "description")
    yield "Tool schema", "request", (*path, schema)
    yield "Strict schema", "request", (*path, "strict")


def _text_path(path: Path, content: Any) -> Path:
    """The way to the first text of a content that is a text or a list of blocks."""
    for place, block in _items(content):
        if "text" in block:
            return (*path, place, "text")
    return path


# --- OpenAI Responses --------------------------------------------------------------------------------------------------


def _responses(request: Mapping[str, Any], response: Mapping[str, Any]) -> Iterator[Place]:
    sent, came = _items(request.get("input")), _items(response.get("output"))
    yield "System text", "request", ("instructions",)
    if isinstance(request.get("input"), str):
        yield "Goal", "request", ("input",)
    for place, item in reversed(sent):
        if item.get("role") == "user":
            yield "Goal", "request", _text_path(("input", place, "content"), item.get("content"))
    calls: Calls = [("request", ("input", place), item) for place, item in sent if item.get("type") == "function_call"]
    calls += [("response", ("output", place), item) for place, item in came if item.get("type") == "function_call"]
    for side, path, _ in calls[:1]:
        yield "Call id", side, (*path, "call_id")
        yield "Call name", side, (*path, "name")
        yield "Arguments", side, (*path, "arguments")
    called = calls[0][2].get("name") if calls else None
    yield from _tool(("tools", _tool_place(request, called, "name")), "parameters")
    yield "Length limit", "request", ("max_output_tokens",)
    for place, item in sent:
        if item.get("type") == "function_call_output":
            yield "Role of the result", "request", ("input", place, "type")
            yield "Id in the result", "request", ("input", place, "call_id")
            yield "Tool result", "request", ("input", place, "output")
    calling = any(item.get("type") == "function_call" for _, item in came)
    for place, item in came:
        if item.get("type") == "message":
            text = "Thought" if calling else "Answer"
            yield text, "response", _text_path(("output", place, "content"), item.get("content"))
    yield f"Stop reason of the {'call' if calling else 'answer'}", "response", ("status",)
    yield "Tokens in", "response", ("usage", "input_tokens")
    yield "Tokens out", "response", ("usage", "output_tokens")
    yield from _error(response)


# --- Anthropic Messages ------------------------------------------------------------------------------------------------


def _anthropic(request: Mapping[str, Any], response: Mapping[str, Any]) -> Iterator[Place]:
    messages, came = _items(request.get("messages")), _items(response.get("content"))
    yield "System text", "request", _text_path(("system",), request.get("system"))
    blocks = [
        (place, number, message.get("role"), block)
        for place, message in messages
        for number, block in _items(message.get("content"))
    ]
    for place, message in reversed(messages):
        if message.get("role") == "user" and isinstance(message.get("content"), str):
            yield "Goal", "request", ("messages", place, "content")
        for number, block in _items(message.get("content")):
            if message.get("role") == "user" and block.get("type") == "text":
                yield "Goal", "request", ("messages", place, "content", number, "text")
    calls: Calls = [
        ("request", ("messages", p, "content", n), b) for p, n, _, b in blocks if b.get("type") == "tool_use"
    ]
    for place, number, _, block in blocks:
        if calls and block.get("type") == "text" and place == calls[0][1][1]:
            yield "Thought", "request", ("messages", place, "content", number, "text")
    calls += [("response", ("content", place), block) for place, block in came if block.get("type") == "tool_use"]
    yield from _anthropic_call(request, calls)
    for place, number, _, block in blocks:
        if block.get("type") == "tool_result":
            path: Path = ("messages", place, "content", number)
            yield "Role of the result", "request", ("messages", place, "role")
            yield "Id in the result", "request", (*path, "tool_use_id")
            yield "Tool result", "request", _text_path((*path, "content"), block.get("content"))
            yield "Result is an error", "request", (*path, "is_error")
    calling = any(block.get("type") == "tool_use" for _, block in came)
    for place, block in came:
        if block.get("type") == "text":
            yield "Thought" if calling else "Answer", "response", ("content", place, "text")
    yield f"Stop reason of the {'call' if calling else 'answer'}", "response", ("stop_reason",)
    yield "Tokens in", "response", ("usage", "input_tokens")
    yield "Tokens out", "response", ("usage", "output_tokens")
    yield from _error(response)


def _anthropic_call(request: Mapping[str, Any], calls: Calls) -> Iterator[Place]:
    for side, path, _ in calls[:1]:
        yield "Call id", side, (*path, "id")
        yield "Call name", side, (*path, "name")
        yield "Arguments", side, (*path, "input")
    called = calls[0][2].get("name") if calls else None
    yield from _tool(("tools", _tool_place(request, called, "name")), "input_schema")
    yield "Length limit", "request", ("max_tokens",)


PLACES = {"chat": _chat, "responses": _responses, "anthropic": _anthropic}
