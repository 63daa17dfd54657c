"""Our history as ``instructions`` and ``input`` items of OpenAI's Responses, and back.

In this form a call and its output are items of their own beside the messages. ``Message.provider["responses"]`` holds the
items that our own values cannot express (reasoning, images, tools that the service runs itself); they are sent again
unchanged, with the present ids of the calls. What is not kept, since it means the same: an input that is a text becomes one
message, a content of one text part is the text, and an output stands directly behind the calls that were made with its own.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping
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

_CALLS = ("function_call", "custom_tool_call")
_OUTPUTS = ("function_call_output", "custom_tool_call_output")
_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system", "developer": "system"}


def to_responses(messages: Iterable[Message]) -> tuple[str, list[Wire]]:
    """A history as ``(instructions, input)`` of a Responses request.

    A system message at the very beginning becomes the instructions; later ones stay where they are.
    """
    instructions = ""
    items: list[Wire] = []
    custom: set[str] = set()
    for place, message in enumerate(messages):
        if place == 0 and message.role == "system" and not _kept(message):
            instructions = message.text
            continue
        made = _items(message, custom)
        custom.update(_call_id(item) for item in made if item.get("type") == "custom_tool_call")
        items += made
    return instructions, items


def _kept(message: Message) -> list[Wire]:
    return objects(fresh((message.provider or {}).get("responses")))


def _items(message: Message, custom: Collection[str] = ()) -> list[Wire]:
    """The items of a message: those that were kept, as far as they still say what the message says, or plain ones."""
    plain, kept = _plain(message, custom), _kept(message)
    if message.result is not None:
        if kept and reads_as(text_of(kept[0].get("output"), marked=True), False, message.result):
            return [{**kept[0], "call_id": message.result.call_id}]
        return plain
    asked = [item for item in kept if item.get("type") in _CALLS]
    if not kept or len(asked) != len(message.calls):
        return plain
    calls = iter(message.calls)
    return [_present(item, next(calls)) if item.get("type") in _CALLS else item for item in kept]


def _present(item: Wire, call: ToolCall) -> Wire:
    """A kept call under its present id: the loop numbers a call anew when its id was used before."""
    if item["type"] == "custom_tool_call":
        return {**item, "call_id": call.id, "input": custom_input(call)}
    text = item.get("arguments")
    same = call.arguments in (text, _parsed(text))
    return {**item, "call_id": call.id, "arguments": text if same else arguments_text(call)}


def _call_id(item: Mapping[str, Any]) -> str:
    return str(item.get("call_id") or "")


def _parsed(text: Any) -> Any:
    try:
        return json.loads(text)
    except (ValueError, TypeError, RecursionError):
        return None


def _plain(message: Message, custom: Collection[str] = ()) -> list[Wire]:
    if message.result is not None:
        kind = _OUTPUTS[message.result.call_id in custom]
        return [{"type": kind, "call_id": message.result.call_id, "output": message.result.content}]
    said: list[Wire] = [{"role": message.role, "content": message.text}]
    return (said if message.text or not message.calls else []) + [
        {"type": "function_call", "call_id": call.id, "name": wire_name(call.name), "arguments": arguments_text(call)}
        for call in message.calls
    ]


# --- and back --------------------------------------------------------------------------------------------------------


def from_responses(instructions: str | None, items: str | Iterable[Mapping[str, Any]]) -> tuple[Message, ...]:
    """A Responses history as ours, from which `to_responses` makes the same document again.

    Items of the assistant that belong together (reasoning, text, calls) become one message. Raises `DefinitionError` for
    something that is no history; `responses_problems` tells more.
    """
    found: Any = [{"role": "user", "content": items}] if isinstance(items, str) else fresh(entries(items))
    reader = _Reader([Message("system", instructions)] if instructions else [])
    for place, item in enumerate(_together(found)):
        reader.add(place, item)
    reader.close()
    return tuple(reader.ours)


def _together(items: Iterable[Wire]) -> Iterator[Wire]:
    """The items with each output before anything else is said, as the other services want it."""
    left = deque(items)
    open_calls: set[str] = set()
    answering = False
    while left:
        item = left.popleft()
        kind = item.get("type")
        if open_calls and kind not in _OUTPUTS and (answering or known(item.get("role"), _ROLES) in ("user", "system")):
            for other in list(left):
                if other.get("type") in _OUTPUTS and _call_id(other) in open_calls:
                    open_calls.discard(_call_id(other))
                    left.remove(other)
                    yield other
            open_calls = set()
        if kind in _CALLS:
            open_calls.add(_call_id(item))
        elif kind in _OUTPUTS:
            open_calls.discard(_call_id(item))
        answering = kind in _OUTPUTS
        yield item


class _Reader:
    """Reads item after item; ``group`` holds the items that will be one message of the assistant."""

    def __init__(self, ours: list[Message]) -> None:
        self.ours = ours
        self.group: list[Wire] = []
        self.names: dict[str, str] = {}

    def add(self, place: int, item: Wire) -> None:
        kind = item.get("type", "message")
        role: Role | None = known(item.get("role"), _ROLES) if kind == "message" else "assistant"
        if role is None:
            raise unreadable(place, item, "responses")
        if kind in _OUTPUTS:
            self.close()
            self.ours.append(_with_kept(_result_message(item, self.names), [item]))
        elif role != "assistant":
            self.close()
            self.ours.append(_with_kept(Message(role, text_of(item.get("content"), marked=True)), [item]))
        else:
            before = [part.get("type", "message") for part in self.group]
            if kind in ("message", "reasoning") and "message" in before and not any(call in before for call in _CALLS):
                self.close()  # a second text is a second message, but calls that are still unanswered stay together
            self.group.append(item)

    def close(self) -> None:
        """What the assistant said and asked for up to here is one message."""
        if self.group:
            made = _assistant(self.group)
            self.names.update((call.id, call.name) for call in made.calls)
            self.ours.append(_with_kept(made, self.group))
            self.group = []


def _assistant(items: list[Wire]) -> Message:
    calls = tuple(_call_of(item) for item in items if item.get("type") in _CALLS)
    texts = [text_of(item.get("content"), "") for item in items if item.get("type", "message") == "message"]
    if calls:  # beside calls the text is the thought, and reasoning that is shown is part of it
        texts = [_reasoning(item) for item in items if item.get("type") == "reasoning"] + texts
    return Message("assistant", joined(*texts), calls)


def _reasoning(item: Mapping[str, Any]) -> str:
    return text_of(item.get("summary"), "\n\n") or text_of(item.get("content"), "\n\n")


def _call_of(item: Mapping[str, Any]) -> ToolCall:
    name, call_id = str(item.get("name") or ""), _call_id(item)
    if item["type"] == "custom_tool_call":
        return ToolCall(name, {"input": str(item.get("input") or "")}, call_id)
    return ToolCall(name, written(item.get("arguments")), call_id)


def _result_message(item: Mapping[str, Any], names: Mapping[str, str]) -> Message:
    call_id = _call_id(item)
    return Message("tool", result=result_of(call_id, names.get(call_id, ""), text_of(item.get("output"), marked=True)))


def _with_kept(made: Message, items: list[Wire]) -> Message:
    same = _plain(made) == list(map(_simple, items)) and made.role != "system"  # which could become the instructions
    return made if same else replace(made, provider={"responses": items})


def _simple(item: Wire) -> Wire:
    """A message without what means the same: its type, and a list of one text."""
    if item.get("type", "message") != "message":
        return item
    simple = {key: value for key, value in item.items() if key != "type"}
    content = item.get("content")
    if isinstance(content, list) and len(content) == 1 and _is_plain(content[0]):
        simple["content"] = text_of(content)
    return simple


def _is_plain(part: Any) -> bool:
    return isinstance(part, Mapping) and set(part) == {"type", "text"} and isinstance(part["text"], str)
