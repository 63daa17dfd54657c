"""Our history as ``system`` and ``messages`` of Anthropic's Messages, and back.

``Message.provider["anthropic"]`` holds the content blocks of a message that our own values cannot express (thinking, images,
cache marks, tools that the service runs itself); they are sent again unchanged, with the present ids of the calls. What is
not kept, since it means the same: neighbours of one role become one message, a content that is a text becomes one text
block, empty texts go, and so does white space at the very end of a last assistant message.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from agentkit._arguments import BadArguments, parse_arguments
from agentkit._jsonsafe import json_safe
from agentkit._wire import (
    Wire,
    entries,
    fresh,
    joined,
    objects,
    reads_as,
    result_of,
    text_of,
    unreadable,
    wire_id,
    wire_name,
    written,
)
from agentkit.messages import Message, ToolCall


def to_anthropic(messages: Iterable[Message]) -> tuple[str | list[Wire], list[Wire]]:
    """A history as ``(system, messages)`` of a Messages request.

    System text is lifted out, tool results become blocks of a user message and stand first in it, empty texts are left
    out, and neighbours of the same role become one message. ``system`` is a list of blocks only where there is more to
    say about it than its text, such as a cache mark.
    """
    system: list[Message] = []
    turns: list[Wire] = []
    for message in messages:
        role = {"assistant": "assistant", "system": "system"}.get(message.role, "user")
        if role == "system" and not (_kept(message) and turns and turns[-1]["role"] != "assistant"):
            system.append(message)
            continue
        blocks = _blocks(message)
        if blocks and turns and turns[-1]["role"] == role:
            turns[-1]["content"] = sorted([*turns[-1]["content"], *blocks], key=_behind_results)
        elif blocks:
            turns.append({"role": role, "content": blocks})
    if turns and turns[-1]["role"] == "assistant" and turns[-1]["content"][-1].get("type") == "text":
        turns[-1]["content"][-1]["text"] = turns[-1]["content"][-1]["text"].rstrip()
    return _system_of(system), turns


def _behind_results(block: Wire) -> bool:
    return block.get("type") != "tool_result"


def _kept(message: Message) -> list[Wire]:
    return objects(fresh((message.provider or {}).get("anthropic")))


def _system_of(messages: Sequence[Message]) -> str | list[Wire]:
    if not any(map(_kept, messages)):
        return "\n\n".join(message.text for message in messages if message.text.strip())
    blocks = [block for message in messages for block in _kept(message) or _plain(message)]
    return [block for block in blocks if block.get("type") == "text"]


def _blocks(message: Message) -> list[Wire]:
    """The blocks of a message: those that were kept, as far as they still say what the message says, or plain ones."""
    plain, kept = _plain(message), _kept(message)
    if message.result is not None:
        if kept and reads_as(
            text_of(kept[0].get("content"), marked=True), kept[0].get("is_error") is True, message.result
        ):
            return [{**kept[0], "tool_use_id": plain[0]["tool_use_id"]}]
        return plain
    uses = [block for block in kept if block.get("type") == "tool_use"]
    if not kept or len(uses) != len(message.calls):
        return plain
    calls = iter(message.calls)
    made = [_present(block, next(calls)) if block.get("type") == "tool_use" else block for block in kept]
    return [block for block in made if not is_blank(block)]


def _present(block: Wire, call: ToolCall) -> Wire:
    """A kept ``tool_use`` under the present id of its call: the loop numbers a call anew when its id was used before."""
    same = call.arguments == block.get("input")
    return {**block, "id": wire_id(call.id), "input": block["input"] if same else _input_of(call)}


def _plain(message: Message) -> list[Wire]:
    if message.result is not None:
        made = {
            "type": "tool_result",
            "tool_use_id": wire_id(message.result.call_id),
            "content": message.result.content,
        }
        return [made if message.result.ok else {**made, "is_error": True}]
    blocks: list[Wire] = [{"type": "text", "text": message.text}] if message.text.strip() else []
    return blocks + [
        {"type": "tool_use", "id": wire_id(call.id), "name": wire_name(call.name), "input": _input_of(call)}
        for call in message.calls
    ]


def _input_of(call: ToolCall) -> Wire:
    """The API takes objects only, so text that is no JSON object goes back under a key that says so."""
    try:
        safe = json_safe(parse_arguments(call))
    except BadArguments:
        safe = {"not_json": json_safe(call.arguments)}
    return safe if isinstance(safe, dict) else {"not_json": safe}


# --- and back --------------------------------------------------------------------------------------------------------


def from_anthropic(system: Any, messages: Iterable[Mapping[str, Any]]) -> tuple[Message, ...]:
    """A Messages history as ours, from which `to_anthropic` makes the same document again.

    ``system`` is a text, a list of text blocks, or None. Each tool result becomes a message of its own, and so does each
    plain text of a user. Raises `DefinitionError` for something that is no history; `anthropic_problems` tells more.
    """
    ours = _system_messages(system)
    names: dict[str, str] = {}
    spoken: list[Wire] = []  # by the assistant in the messages right before
    for place, message in enumerate(entries(messages)):
        blocks, role = content_blocks(message.get("content")), message.get("role")
        if role == "assistant":
            if spoken:
                ours.pop()
            spoken += blocks
            ours.append(_assistant(spoken))
            names.update((call.id, call.name) for call in ours[-1].calls)
        elif role == "system":
            ours.append(Message("system", text_of(blocks), provider={"anthropic": blocks}))
        elif role == "user":
            ours += _user(blocks, names)
        else:
            raise unreadable(place, message, "anthropic")
        spoken = spoken if role == "assistant" else []
    return tuple(ours)


def content_blocks(content: Any) -> list[Wire]:
    """A content as a list of blocks: a text is one text block, and what is no object is left out."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return objects(fresh(content))


def _system_messages(system: Any) -> list[Message]:
    blocks = content_blocks(system)
    if not text_of(blocks):
        return []
    made = Message("system", text_of(blocks, "\n\n"))
    return [made if blocks == _plain(made) else replace(made, provider={"anthropic": blocks})]


def _assistant(blocks: list[Wire]) -> Message:
    calls = tuple(_call_of(block) for block in blocks if block.get("type") == "tool_use")
    text = said(blocks)
    if calls:  # beside calls the text is the thought, and thinking is part of it
        text = joined(*(str(block.get("thinking") or "") for block in blocks if block.get("type") == "thinking"), text)
    made = Message("assistant", text, calls)
    same = _plain(made) == [block for block in blocks if not is_blank(block)]
    return made if same else replace(made, provider={"anthropic": blocks})


def said(blocks: Iterable[Mapping[str, Any]]) -> str:
    """The text of an assistant's blocks. An empty line stands where something else came between two texts."""
    texts: list[str] = []
    for block in blocks:
        if not _is_text(block):
            texts.append("")
        elif texts:
            texts[-1] += block["text"]
        else:
            texts.append(block["text"])
    return joined(*texts)


def _call_of(block: Mapping[str, Any]) -> ToolCall:
    given: Any = block.get("input")
    if isinstance(given, Mapping) and set(given) == {"not_json"} and isinstance(given["not_json"], str):
        given = given["not_json"]  # the text that `to_anthropic` could not send as an object
    return ToolCall(str(block.get("name") or ""), {} if given is None else written(given), str(block.get("id") or ""))


def _user(blocks: list[Wire], names: Mapping[str, str]) -> list[Message]:
    results = [_result_message(block, names) for block in blocks if block.get("type") == "tool_result"]
    rest = [block for block in blocks if block.get("type") != "tool_result"]
    if all(_is_text(block) and set(block) == {"type", "text"} for block in rest):
        return results + [Message("user", block["text"]) for block in rest]
    return [*results, Message("user", text_of(rest, marked=True), provider={"anthropic": rest})]


def _result_message(block: Wire, names: Mapping[str, str]) -> Message:
    call_id = str(block.get("tool_use_id") or "")
    failed = block.get("is_error") is True
    made = Message(
        "tool", result=result_of(call_id, names.get(call_id, ""), text_of(block.get("content"), marked=True), failed)
    )
    return made if _plain(made) == [block] else replace(made, provider={"anthropic": [block]})


def _is_text(block: Mapping[str, Any]) -> bool:
    return block.get("type") == "text" and isinstance(block.get("text"), str)


def is_blank(block: Mapping[str, Any]) -> bool:
    return block.get("type") == "text" and not (_is_text(block) and block["text"].strip())
