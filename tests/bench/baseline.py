"""The yardstick: the least agent loop that validates its messages and arguments with pydantic, and nothing else."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal

from pydantic import BaseModel, create_model


class Call(BaseModel):
    id: str
    name: str
    arguments: dict[str, Any]


class Message(BaseModel):
    role: Literal["user", "assistant", "tool"]
    text: str = ""
    calls: list[Call] = []
    call_id: str | None = None


class PlainTool:
    """A function with a pydantic model of its parameters."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.name = function.__name__
        parameters = inspect.signature(function).parameters.values()
        fields: dict[str, Any] = {
            p.name: (p.annotation, ... if p.default is p.empty else p.default) for p in parameters
        }
        self.model = create_model(self.name, **fields)
        self.schema = self.model.model_json_schema()
        self.description = inspect.getdoc(function) or ""

    def call(self, call: Call) -> Message:
        arguments = self.model.model_validate(call.arguments)
        text = str(self.function(**{key: getattr(arguments, key) for key in self.model.model_fields}))
        return Message(role="tool", text=text, call_id=call.id)


def run(model: Callable[[list[Message]], Message], tools: list[PlainTool], goal: str) -> list[Message]:
    """Ask, run the calls, repeat until there are none."""
    by_name = {tool.name: tool for tool in tools}
    messages = [Message(role="user", text=goal)]
    while True:
        reply = model(messages)
        messages.append(reply)
        if not reply.calls:
            return messages
        if len(reply.calls) == 1:
            messages.append(by_name[reply.calls[0].name].call(reply.calls[0]))
            continue
        with ThreadPoolExecutor(len(reply.calls)) as pool:
            messages.extend(pool.map(lambda call: by_name[call.name].call(call), reply.calls))
