"""The same history and the same tools in the form of each provider, and the rules that each provider checks.

Rules and forms: OpenAI Chat Completions and Responses, Anthropic Messages, Model Context Protocol ``tools/list``.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from agentkit._jsonsafe import dumps, json_safe
from agentkit.messages import ErrorDetail, Message, ToolCall, ToolResult

Form = Literal["chat", "responses", "anthropic", "mcp"]

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def wire_name(name: str) -> str:
    """The name as providers accept it (letters, digits, ``_`` and ``-``, 64 at most); different names stay different."""
    if _NAME.fullmatch(name):
        return name
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return re.sub(r"[^a-zA-Z0-9_-]+", "_", name)[:55].strip("_") + "_" + digest


def wire_id(call_id: str) -> str:
    """A call id as Anthropic accepts it; ids of other servers may hold dots, colons or letters of any script."""
    if re.fullmatch(r"[a-zA-Z0-9_-]+", call_id):
        return call_id
    digest = hashlib.sha256(call_id.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return re.sub(r"[^a-zA-Z0-9_-]+", "_", call_id)[:40] + "_" + digest


def tool_form(tool: Any, form: Form) -> dict[str, Any]:
    """One tool in a provider's form. The strict schema is used where there is one, and only then is strict claimed."""
    if form == "mcp":
        return {
            "name": tool.name,
            "description": tool.description,
            "inputSchema": tool.parameters,
            "annotations": {
                "readOnlyHint": tool.permission == "read",
                "destructiveHint": tool.permission == "dangerous",
            },
        }
    strict = tool.strict_parameters
    schema = tool.parameters if strict is None else strict
    head = {"name": wire_name(tool.name), "description": tool.description}
    if form == "anthropic":
        strict = None if strict is None or _bounded(strict) else strict
        schema = tool.parameters if strict is None else strict
        return {**head, "input_schema": schema, **({"strict": True} if strict is not None else {})}
    body = {**head, "parameters": schema, "strict": strict is not None}
    return {"type": "function", **body} if form == "responses" else {"type": "function", "function": body}


_BOUNDS = {
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
}


def _bounded(part: Any) -> bool:
    """Whether a schema limits numbers or lengths, which Anthropic's strict form does not take."""
    if isinstance(part, Mapping):
        return bool(_BOUNDS & set(part)) or any(map(_bounded, part.values()))
    return isinstance(part, list) and any(map(_bounded, part))


# --- OpenAI ----------------------------------------------------------------------------------------------------------


def to_openai(messages: Iterable[Message]) -> list[dict[str, Any]]:
    """A history as the ``messages`` of a Chat Completions request.

    ``content`` is null only beside tool calls: some servers refuse an empty text there, others a null without calls.
    """
    return [_openai_message(message) for message in messages]


def _openai_message(message: Message) -> dict[str, Any]:
    if message.role == "tool" and message.result is not None:
        return {"role": "tool", "tool_call_id": message.result.call_id, "content": message.result.content}
    if not message.calls:
        return {"role": message.role, "content": message.text}
    calls = [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": wire_name(call.name), "arguments": arguments_text(call)},
        }
        for call in message.calls
    ]
    return {"role": "assistant", "content": message.text or None, "tool_calls": calls}


def arguments_text(call: ToolCall) -> str:
    """The arguments as JSON text; text that the model wrote stays as it was."""
    return call.arguments if isinstance(call.arguments, str) else dumps(json_safe(call.arguments))


def from_openai(messages: Iterable[Mapping[str, Any]]) -> tuple[Message, ...]:
    """A Chat Completions history as ours. Tool output becomes the data of a result; parts that are not text are left out."""
    ours = []
    names: dict[str, str] = {}
    for message in messages:
        text = _text_of(message.get("content"))
        if message["role"] == "tool":
            call_id = message["tool_call_id"]
            ours.append(
                Message("tool", result=_result_of(call_id, names.get(call_id, message.get("name") or ""), text))
            )
            continue
        calls = tuple(map(_call_of, message.get("tool_calls") or ()))
        names.update((call.id, call.name) for call in calls)
        role: Any = "system" if message["role"] == "developer" else message["role"]
        ours.append(Message(role, text, calls))
    return tuple(ours)


def _call_of(call: Mapping[str, Any]) -> ToolCall:
    body = call.get("function") or call.get("custom") or {}
    return ToolCall(str(body.get("name", "")), body.get("arguments", body.get("input", "")), str(call.get("id", "")))


def _result_of(call_id: str, name: str, text: str) -> ToolResult:
    """Tool output in our own form is read back as what it was; any other text is the data."""
    try:
        body = json.loads(text) if text.startswith('{"ok"') else None
        if isinstance(body, dict) and body.get("ok") is True:
            return ToolResult(call_id, name, body.get("data"), None, str(body.get("note", "")))
        if isinstance(body, dict) and body.get("ok") is False:
            detail = body["error"]
            error = ErrorDetail(detail["code"], detail["message"], detail.get("hint", ""))
            return ToolResult(call_id, name, None, error, str(body.get("note", "")))
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    return ToolResult(call_id, name, text)


def _text_of(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "".join(part.get("text") or "" for part in content or () if isinstance(part, Mapping))


def openai_problems(messages: Sequence[Mapping[str, Any]]) -> list[str]:
    """What the Chat Completions API would refuse in a history; an empty list when it is fine.

    The rule that matters most: every tool call is answered by one tool message before anything else is said.
    """
    problems = [] if messages else ["The history is empty."]
    open_calls: dict[str, None] = {}
    for place, message in enumerate(messages):
        role = message.get("role")
        if role == "tool":
            call_id = message.get("tool_call_id")
            if call_id not in open_calls:
                problems.append(
                    f"Message {place} answers the call {call_id!r}, which the assistant message before it did not make."
                )
            open_calls.pop(str(call_id), None)
            continue
        if open_calls:
            problems.append(
                f"Message {place} comes before an answer to the call(s) {', '.join(map(repr, open_calls))}."
            )
        open_calls = {}
        if role not in ("system", "developer", "user", "assistant"):
            problems.append(f"Message {place} has the unknown role {role!r}.")
        calls = message.get("tool_calls") or ()
        if message.get("content") is None and not (calls or message.get("refusal") or message.get("audio")):
            problems.append(f"Message {place} has no content.")
        for call in calls:
            problems += _openai_call_problems(call, place, open_calls)
            open_calls[str(call.get("id"))] = None
    if open_calls:
        problems.append(f"The history ends before an answer to the call(s) {', '.join(map(repr, open_calls))}.")
    return problems


def _openai_call_problems(call: Mapping[str, Any], place: int, seen: Mapping[str, None]) -> list[str]:
    problems = []
    body = call.get("function") or call.get("custom") or {}
    if not call.get("id"):
        problems.append(f"Message {place} has a call without an id.")
    if call.get("id") in seen:
        problems.append(f"Message {place} uses the call id {call.get('id')!r} twice.")
    if not _NAME.fullmatch(str(body.get("name", ""))):
        problems.append(
            f"Message {place} calls a tool named {body.get('name')!r}, which is not a name that the API accepts."
        )
    if call.get("type") == "function" and not isinstance(body.get("arguments"), str):
        problems.append(f"Message {place} has arguments that are not text.")
    return problems


# --- Anthropic -------------------------------------------------------------------------------------------------------


def to_anthropic(messages: Iterable[Message]) -> tuple[str, list[dict[str, Any]]]:
    """A history as ``(system, messages)`` of a Messages request.

    System text is lifted out, tool results become blocks of a user message and stand first in it, empty texts are left
    out, and neighbours of the same role become one message.
    """
    system: list[str] = []
    turns: list[dict[str, Any]] = []
    for message in messages:
        if message.role == "system":
            system.append(message.text)
            continue
        role = "assistant" if message.role == "assistant" else "user"
        blocks = _anthropic_blocks(message)
        if blocks and turns and turns[-1]["role"] == role:
            turns[-1]["content"].extend(blocks)
        elif blocks:
            turns.append({"role": role, "content": blocks})
    if turns and turns[-1]["role"] == "assistant" and turns[-1]["content"][-1].get("type") == "text":
        turns[-1]["content"][-1]["text"] = turns[-1]["content"][-1]["text"].rstrip()
    return "\n\n".join(text for text in system if text.strip()), turns


def _anthropic_blocks(message: Message) -> list[dict[str, Any]]:
    if message.result is not None:
        block = {
            "type": "tool_result",
            "tool_use_id": wire_id(message.result.call_id),
            "content": message.result.content,
        }
        return [block if message.result.ok else {**block, "is_error": True}]
    kept = (message.provider or {}).get("anthropic")
    if kept:
        return [dict(block) for block in kept]
    blocks: list[dict[str, Any]] = [{"type": "text", "text": message.text}] if message.text.strip() else []
    return blocks + [
        {"type": "tool_use", "id": wire_id(call.id), "name": wire_name(call.name), "input": _input_of(call)}
        for call in message.calls
    ]


def _input_of(call: ToolCall) -> dict[str, Any]:
    """The API takes objects only, so text that is no JSON object goes back under a key that says so."""
    from agentkit._arguments import BadArguments, parse_arguments

    try:
        safe = json_safe(parse_arguments(call))
    except BadArguments:
        safe = {"not_json": json_safe(call.arguments)}
    return safe if isinstance(safe, dict) else {"not_json": safe}


def anthropic_problems(messages: Sequence[Mapping[str, Any]]) -> list[str]:
    """What the Messages API would refuse in a history; an empty list when it is fine.

    The rule that matters most: the message after a ``tool_use`` starts with the ``tool_result`` of every one of them.
    """
    problems = [] if messages else ["The history is empty."]
    open_uses: list[str] = []
    for place, message in enumerate(messages):
        if message.get("role") not in ("user", "assistant"):
            problems.append(
                f"Message {place} has the role {message.get('role')!r}; only user and assistant are allowed."
            )
        content = message.get("content")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else list(content or ())
        last = place == len(messages) - 1
        if not blocks and not (last and message.get("role") == "assistant"):
            problems.append(f"Message {place} has no content.")
        problems += _text_problems(blocks, place)
        problems += _result_problems(blocks, place, open_uses)
        open_uses = [str(block.get("id")) for block in blocks if block.get("type") == "tool_use"]
        problems += _use_problems(blocks, place)
        if (
            last
            and message.get("role") == "assistant"
            and blocks
            and str(blocks[-1].get("text", "")).endswith((" ", "\n"))
        ):
            problems.append("The final assistant message ends with white space.")
    if open_uses:
        problems.append(f"The history ends before a tool_result for {', '.join(map(repr, open_uses))}.")
    return problems


def _text_problems(blocks: list[Any], place: int) -> list[str]:
    empty = any(block.get("type") == "text" and not str(block.get("text", "")).strip() for block in blocks)
    return [f"Message {place} has an empty text block."] if empty else []


def _result_problems(blocks: list[Any], place: int, expected: list[str]) -> list[str]:
    problems = []
    given = [str(block.get("tool_use_id")) for block in blocks if block.get("type") == "tool_result"]
    for use in expected:
        if given.count(use) != 1:
            problems.append(
                f"Message {place} has {given.count(use)} tool_result blocks for the tool_use {use!r}; one is needed."
            )
    for use in given:
        if use not in expected:
            problems.append(f"Message {place} answers {use!r}, which the message before it did not ask for.")
    kinds = [block.get("type") == "tool_result" for block in blocks]
    if expected and kinds != sorted(kinds, reverse=True):
        problems.append(f"Message {place} has other content before a tool_result.")
    return problems


def _use_problems(blocks: list[Any], place: int) -> list[str]:
    problems = []
    uses = [block for block in blocks if block.get("type") == "tool_use"]
    ids = [str(block.get("id")) for block in uses]
    if len(set(ids)) < len(ids):
        problems.append(f"Message {place} uses a tool_use id twice.")
    for block in uses:
        if not re.fullmatch(r"[a-zA-Z0-9_-]+", str(block.get("id"))):
            problems.append(
                f"Message {place} has the tool_use id {block.get('id')!r}, which is not one that the API accepts."
            )
        if not _NAME.fullmatch(str(block.get("name"))):
            problems.append(
                f"Message {place} uses a tool named {block.get('name')!r}, which is not a name that the API accepts."
            )
        if not isinstance(block.get("input"), Mapping):
            problems.append(f"Message {place} has an input that is not an object.")
    return problems
