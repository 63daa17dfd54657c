"""What the providers would refuse in a history: one list of sentences for each form, empty when it is fine.

These are rules that the services check before the model sees anything. Whatever JSON can hold may be given; nothing here
raises.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any

from agentkit._wire import Wire, is_wire_name
from agentkit._wire_anthropic import content_blocks, is_blank

_ROLES = ("system", "developer", "user", "assistant")
_CHAT_PARTS = {"user": ("text", "image_url", "input_audio", "file"), "assistant": ("text", "refusal")}
_CALLS = ("function_call", "custom_tool_call")
_OUTPUTS = ("function_call_output", "custom_tool_call_output")


def _named(ids: Iterable[str]) -> str:
    return ", ".join(map(repr, ids))


def _list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else []


# --- OpenAI, Chat Completions ----------------------------------------------------------------------------------------


def openai_problems(messages: Sequence[Any]) -> list[str]:
    """What the Chat Completions API would refuse in a history; an empty list when it is fine.

    The rule that matters most: every tool call is answered by one tool message before anything else is said.
    """
    problems = [] if messages else ["The history is empty."]
    open_calls: dict[str, None] = {}
    for place, message in enumerate(messages):
        at = f"Message {place}"
        if not isinstance(message, Mapping):
            problems.append(f"{at} is not an object.")
            continue
        if message.get("role") == "tool":
            problems += _tool_message(message, at, open_calls)
            open_calls.pop(str(message.get("tool_call_id")), None)
            continue
        if open_calls:
            problems.append(f"{at} comes before an answer to the call(s) {_named(open_calls)}.")
        open_calls = {}
        problems += _chat_message(message, at)
        for call in _list(message.get("tool_calls")):
            problems += _chat_call(call, at, open_calls)
            open_calls[str(call.get("id")) if isinstance(call, Mapping) else ""] = None
    if open_calls:
        problems.append(f"The history ends before an answer to the call(s) {_named(open_calls)}.")
    return problems


def _tool_message(message: Mapping[str, Any], at: str, open_calls: Container[str]) -> list[str]:
    call_id = message.get("tool_call_id")
    problems = _chat_content(message.get("content"), at, ("text",))
    if not isinstance(call_id, str) or call_id not in open_calls:
        problems.append(f"{at} answers the call {call_id!r}, which the assistant message before it did not make.")
    if message.get("content") is None:
        problems.append(f"{at} has no content.")
    return problems


def _chat_message(message: Mapping[str, Any], at: str) -> list[str]:
    role, calls, content = message.get("role"), message.get("tool_calls"), message.get("content")
    problems = []
    if role not in _ROLES:
        problems.append(f"{at} has the unknown role {role!r}.")
    if calls and (role != "assistant" or not isinstance(calls, (list, tuple))):
        problems.append(f"{at} has tool_calls that are not a list in an assistant message.")
    if content is None and not (calls or message.get("refusal") or message.get("audio")):
        problems.append(f"{at} has no content.")
    return problems + _chat_content(content, at, _CHAT_PARTS.get(str(role), ("text",)))


def _chat_content(content: Any, at: str, allowed: Sequence[str]) -> list[str]:
    if content is None or isinstance(content, str):
        return []
    if not isinstance(content, (list, tuple)):
        return [f"{at} has a content that is neither text nor a list of parts."]
    if not content:
        return [f"{at} has an empty list of parts as its content."]
    for part in content:
        kind = part.get("type") if isinstance(part, Mapping) else None
        if kind not in allowed:
            return [f"{at} has a part of the type {kind!r}; allowed are {', '.join(allowed)}."]
        if kind == "text" and not isinstance(part.get("text"), str):
            return [f"{at} has a text part without a text."]
    return []


def _chat_call(call: Any, at: str, seen: Container[str]) -> list[str]:
    if not isinstance(call, Mapping):
        return [f"{at} has a call that is not an object."]
    custom = call.get("type") == "custom"
    body = call.get("custom" if custom else "function")
    body = body if isinstance(body, Mapping) else {}
    return _call(call.get("id"), body.get("name"), body.get("input" if custom else "arguments"), at, seen)


def _call(call_id: Any, name: Any, arguments: Any, at: str, seen: Container[str]) -> list[str]:
    problems = []
    if not isinstance(call_id, str) or not call_id:
        problems.append(f"{at} has a call without an id.")
    if str(call_id) in seen:
        problems.append(f"{at} uses the call id {call_id!r} twice.")
    if not is_wire_name(name):
        problems.append(f"{at} calls a tool named {name!r}, which is not a name that the API accepts.")
    if not isinstance(arguments, str):
        problems.append(f"{at} has arguments that are not text.")
    return problems


# --- OpenAI, Responses -----------------------------------------------------------------------------------------------


def responses_problems(items: str | Sequence[Any]) -> list[str]:
    """What the Responses API would refuse in ``input``; an empty list when it is fine.

    The rule that matters most: every call has one output somewhere behind it, and every output a call before it.
    """
    if isinstance(items, str):
        return []
    problems = [] if items else ["The history is empty."]
    open_calls: dict[str, None] = {}
    for place, item in enumerate(items):
        at = f"Item {place}"
        if not isinstance(item, Mapping):
            problems.append(f"{at} is not an object.")
            continue
        kind, call_id = item.get("type", "message" if "role" in item else None), str(item.get("call_id"))
        if not isinstance(kind, str):
            problems.append(f"{at} has neither a type nor a role.")
        elif kind == "message":
            problems += _item_message(item, at)
        elif kind in _CALLS:
            arguments = item.get("arguments" if kind == "function_call" else "input")
            problems += _call(item.get("call_id"), item.get("name"), arguments, at, open_calls)
            open_calls[call_id] = None
        elif kind in _OUTPUTS:
            problems += _item_output(item, at, open_calls)
            open_calls.pop(call_id, None)
    if open_calls:
        problems.append(f"No output was found for the call(s) {_named(open_calls)}.")
    return problems


def _item_message(item: Mapping[str, Any], at: str) -> list[str]:
    role, content = item.get("role"), item.get("content")
    if role not in _ROLES:
        return [f"{at} has the unknown role {role!r}."]
    if isinstance(content, str):
        return []
    kinds = [part.get("type") if isinstance(part, Mapping) else None for part in _list(content)]
    if not isinstance(content, (list, tuple)) or not all(isinstance(kind, str) for kind in kinds):
        return [f"{at} has a content that is neither text nor a list of parts."]
    right, wrong = ("output_text", "input_text") if role == "assistant" else ("input_text", "output_text")
    if wrong in kinds or "text" in kinds:
        return [f"{at} has a part of a type that its role does not have; a text of the role {role!r} is {right!r}."]
    return []


def _item_output(item: Mapping[str, Any], at: str, open_calls: Container[str]) -> list[str]:
    call_id, output = item.get("call_id"), item.get("output")
    problems = []
    if not isinstance(call_id, str) or call_id not in open_calls:
        problems.append(f"{at} answers the call {call_id!r}, which no item before it made.")
    if not isinstance(output, (str, list)) or not all(isinstance(part, (str, Mapping)) for part in output):
        problems.append(f"{at} has an output that is neither text nor a list of parts.")
    return problems


# --- Anthropic, Messages ---------------------------------------------------------------------------------------------


def anthropic_problems(messages: Sequence[Any]) -> list[str]:
    """What the Messages API would refuse in a history; an empty list when it is fine.

    The rule that matters most: the turn after a ``tool_use`` starts with the ``tool_result`` of every one of them. The service
    takes neighbours of one role as one turn.
    """
    problems = [] if messages else ["The history is empty."]
    turns: list[tuple[str, str, list[Wire]]] = []
    for place, message in enumerate(messages):
        at = f"Message {place}"
        if not isinstance(message, Mapping):
            problems.append(f"{at} is not an object.")
            continue
        role, content = message.get("role"), message.get("content")
        blocks = content_blocks(content) if isinstance(content, (str, list, tuple)) else []
        if role not in ("user", "assistant") and not (role == "system" and turns and turns[-1][0] != "assistant"):
            allowed = "user and assistant, and system behind a user"
            problems.append(f"{at} has the role {role!r}; allowed are {allowed}.")
        problems += _turn_content(content, blocks, at, role == "assistant" and place == len(messages) - 1)
        if turns and turns[-1][0] == role:
            turns[-1][2].extend(blocks)
        else:
            turns.append((str(role), at, blocks))
    return problems + _turn_problems(turns)


def _turn_problems(turns: Iterable[tuple[str, str, list[Wire]]]) -> list[str]:
    problems = []
    open_uses: list[str] = []
    for role, at, blocks in turns:
        problems += _tool_results(blocks, at, open_uses)
        problems += _tool_uses(blocks, at)
        open_uses = [str(block.get("id")) for block in blocks if block.get("type") == "tool_use"]
        if open_uses and role != "assistant":
            problems.append(f"{at} has a tool_use, and only the assistant may use tools.")
    if open_uses:
        problems.append(f"The history ends before a tool_result for {_named(open_uses)}.")
    return problems


def _turn_content(content: Any, blocks: list[Wire], at: str, last: bool) -> list[str]:
    if not isinstance(content, (str, list, tuple)) and content is not None:
        return [f"{at} has a content that is neither text nor a list of blocks."]
    problems = []
    if not blocks and not (last and content is not None):
        problems.append(f"{at} has no content.")
    if len(blocks) < len(_list(content)) or not all(isinstance(block.get("type"), str) for block in blocks):
        problems.append(f"{at} has a block that is not an object with a type.")
    pieces = {str(block.get("type")) for block in blocks if str(block.get("type")).endswith("_delta")}
    if pieces:
        problems.append(f"{at} has a piece of a stream ({_named(sorted(pieces))}) in the place of a whole block.")
    if any(map(is_blank, blocks)):
        problems.append(f"{at} has an empty text block.")
    if last and blocks and str(blocks[-1].get("text", "")).endswith((" ", "\n")):
        problems.append("The final assistant message ends with white space.")
    return problems


def _tool_results(blocks: list[Wire], at: str, expected: list[str]) -> list[str]:
    problems = []
    given = [str(block.get("tool_use_id")) for block in blocks if block.get("type") == "tool_result"]
    for use in expected:
        if given.count(use) != 1:
            problems.append(f"{at} has {given.count(use)} tool_result blocks for the tool_use {use!r}; one is needed.")
    for use in given:
        if use not in expected:
            problems.append(f"{at} answers {use!r}, which the message before it did not ask for.")
    kinds = [block.get("type") == "tool_result" for block in blocks]
    if expected and kinds != sorted(kinds, reverse=True):
        problems.append(f"{at} has other content before a tool_result for {_named(expected)}.")
    return problems


def _tool_uses(blocks: list[Wire], at: str) -> list[str]:
    problems = []
    uses = [block for block in blocks if block.get("type") == "tool_use"]
    ids = [str(block.get("id")) for block in uses]
    if len(set(ids)) < len(ids):
        problems.append(f"{at} uses a tool_use id twice.")
    for block in uses:
        if not re.fullmatch(r"[a-zA-Z0-9_-]+", str(block.get("id"))):
            problems.append(f"{at} has the tool_use id {block.get('id')!r}, which is not one that the API accepts.")
        if not is_wire_name(block.get("name")):
            problems.append(f"{at} uses a tool named {block.get('name')!r}, which is not a name that the API accepts.")
        if not isinstance(block.get("input"), Mapping):
            problems.append(f"{at} has an input that is not an object.")
    return problems
