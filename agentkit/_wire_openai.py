"""Our history as the ``messages`` of OpenAI's Chat Completions, and back.

``Message.provider["openai"]`` holds the keys of a message that our own values cannot express; they go over the generated
ones on the way back. Three things are not kept, since they mean the same: a missing, null or empty content beside calls is
null, a content of one text part is the text, and a key that is null is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from agentkit._wire import (
    Wire,
    arguments_text,
    custom_input,
    entries,
    fresh,
    joined,
    known,
    objects,
    reads_as,
    result_of,
    text_of,
    unreadable,
    wire_name,
    written,
)
from agentkit.messages import Message, Role, ToolCall

_ROLES: dict[str, Role] = {
    "system": "system", "developer": "system", "user": "user", "assistant": "assistant", "tool": "tool",
}  # fmt: skip


def to_openai(messages: Iterable[Message]) -> list[Wire]:
    """A history as the ``messages`` of a Chat Completions request.

    ``content`` is null only beside tool calls: some servers refuse an empty text there, others a null without calls.
    """
    return [_restored(message) if message.provider else _plain(message) for message in messages]


def _plain(message: Message) -> Wire:
    if message.role == "tool" and message.result is not None:
        return {"role": "tool", "tool_call_id": message.result.call_id, "content": message.result.content}
    if not message.calls:
        return {"role": message.role, "content": message.text}
    calls = list(map(_plain_call, message.calls))
    return {"role": "assistant", "content": message.text or None, "tool_calls": calls}


def _plain_call(call: ToolCall) -> Wire:
    body = {"name": wire_name(call.name), "arguments": arguments_text(call)}
    return {"id": call.id, "type": "function", "function": body}


def _restored(message: Message) -> Wire:
    """The message with what was kept of its first form, as far as that still says what the message says."""
    plain = _plain(message)
    kept = fresh((message.provider or {}).get("openai") or {})
    calls = kept.pop("tool_calls", None) or ()
    if message.result is not None and not reads_as(
        text_of(kept.get("content", ""), marked=True), False, message.result
    ):
        kept.pop("content", None)
    if len(calls) == len(message.calls) > 0:
        kept["tool_calls"] = [
            _restored_call(old, call, made)
            for old, call, made in zip(calls, message.calls, plain["tool_calls"], strict=True)
        ]
    return {**plain, **kept}


def _restored_call(old: Mapping[str, Any], call: ToolCall, plain: Wire) -> Wire:
    """The kept call under its present id: the loop numbers a call anew when its id was used before."""
    if not isinstance(old.get("custom"), Mapping):
        return {**old, **plain}
    return {**old, "id": call.id, "custom": {**old["custom"], "input": custom_input(call)}}


def from_openai(messages: Iterable[Mapping[str, Any]]) -> tuple[Message, ...]:
    """A Chat Completions history as ours, from which `to_openai` makes the same document again.

    Tool output becomes the data of a result. What is not text stays in ``provider["openai"]``. Raises `DefinitionError` for
    something that is no history; `openai_problems` tells more.
    """
    ours = []
    names: dict[str, str] = {}
    for place, message in enumerate(entries(messages)):
        role: Role | None = known(message.get("role"), _ROLES)
        if role is None:
            raise unreadable(place, message, "openai")
        made = _tool_message(message, names) if role == "tool" else _message(message, role)
        names.update((call.id, call.name) for call in made.calls)
        kept = _beyond(message, _plain(made))
        ours.append(replace(made, provider={"openai": fresh(kept)}) if kept else made)
    return tuple(ours)


def _tool_message(message: Mapping[str, Any], names: Mapping[str, str]) -> Message:
    call_id = str(message.get("tool_call_id", ""))
    name = names.get(call_id) or str(message.get("name") or "")
    return Message("tool", result=result_of(call_id, name, text_of(message.get("content"), marked=True)))


def _message(message: Mapping[str, Any], role: Role) -> Message:
    content = message.get("content")
    text = text_of(content, "") if role == "assistant" else text_of(content, marked=True)
    calls = tuple(map(_call_of, objects(message.get("tool_calls"))))
    if calls:  # beside calls the text is the thought, and reasoning that some servers show is part of it
        text = joined(text_of(message.get("reasoning_content") or message.get("reasoning")), text)
    return Message(role, text or text_of(message.get("refusal")), calls)


def _call_of(call: Mapping[str, Any]) -> ToolCall:
    call_id = str(call.get("id") or "")
    custom = isinstance(call.get("custom"), Mapping)
    body = call.get("custom" if custom else "function")
    body = body if isinstance(body, Mapping) else {}
    name = str(body.get("name") or "")
    return ToolCall(
        name, {"input": str(body.get("input") or "")} if custom else written(body.get("arguments")), call_id
    )


def _beyond(message: Mapping[str, Any], plain: Wire) -> Wire:
    """What of a message the generated one does not say."""
    calls, content = objects(message.get("tool_calls")), message.get("content")
    kept = {
        key: value
        for key, value in message.items()
        if key not in ("content", "tool_calls") and value is not None and plain.get(key) != value
    }
    if any(set(call) - {"id", "type", "function"} for call in calls):
        kept["tool_calls"] = calls
    if (calls or kept.get("refusal") or kept.get("audio")) and not content:
        content = None
    elif not content or content == [{"type": "text", "text": plain["content"]}]:
        content = plain["content"]
    if content != plain["content"]:
        kept["content"] = content
    return kept
