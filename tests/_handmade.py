"""Small hand-made pieces, as a notebook may write them, each with a switch that breaks one promise of its contract."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from agentkit.messages import AskUser, CallTools, FinalAnswer, Message, ToolResult

# --- tools -----------------------------------------------------------------------------------------------------------

JSON_TYPES = {str: "string", int: "integer", bool: "boolean"}


@dataclass
class HandTool:
    """A tool as a notebook may build it, from the signature alone."""

    name: str
    description: str
    parameters: dict[str, Any]
    function: Callable[..., Any]
    fault: str = ""

    def call(self, arguments: dict[str, Any]) -> Any:
        for name, parameter in inspect.signature(self.function).parameters.items():
            if name not in arguments and parameter.default is inspect.Parameter.empty:
                if self.fault != "missing argument":
                    raise ValueError(f"{name} is required")
                arguments = {**arguments, name: 1}
            elif name not in arguments and self.fault == "default":
                arguments = {**arguments, name: True}
            if (
                not isinstance(arguments.get(name, parameter.default), parameter.annotation)
                and self.fault != "wrong type"
            ):
                return {"ok": False, "error": {"code": "bad_arguments", "message": f"{name} has a wrong type"}}
        value = self.function(**arguments)
        return None if self.fault == "valid call" else value


def hand_tool(function: Callable[..., Any], fault: str = "") -> HandTool:
    taken = inspect.signature(function).parameters
    properties = {name: {"type": JSON_TYPES[parameter.annotation]} for name, parameter in taken.items()}
    required = [name for name, parameter in taken.items() if parameter.default is inspect.Parameter.empty]
    if fault == "types":
        properties["express"] = {"type": "string"}
    if fault == "required":
        required = list(taken)
    schema = {"type": "string" if fault == "object" else "object", "properties": properties, "required": required}
    name = "tool" if fault == "name" else function.__name__
    return HandTool(name, "A tool." if fault == "description" else function.__doc__ or "", schema, function, fault)


def dict_tool(function: Callable[..., Any]) -> dict[str, Any]:
    """The same as a dict."""
    made = hand_tool(function)
    return {"name": made.name, "description": made.description, "input_schema": made.parameters, "run": made.call}


# --- registries ------------------------------------------------------------------------------------------------------


class HandRegistry:
    """A registry as a notebook may build it: ``call(name, arguments)`` gives a dict."""

    fault = ""

    def __init__(self, tools: Sequence[Any]) -> None:
        self.tools = {item.name: item for item in tools}

    def call(self, name: str, arguments: dict[str, Any]) -> Any:
        if self.fault == "look-up" and name == "colour":
            name, arguments = "stock", {"item": "lamp", "shop": 2}
        if name not in self.tools:
            return self.tools[name] if self.fault == "unknown tool" else self.refuse("unknown_tool", f"no tool {name}")
        try:
            keywords = self.checked(name, arguments)
        except Exception:
            return self.refuse("bad_arguments", "the arguments do not fit")
        try:
            data = self.tools[name].function(**keywords)
        except Exception as error:
            if self.fault == "tool that raises":
                raise
            return self.refuse("tool_failed", type(error).__name__)
        return {"ok": True, "data": str(data)} if self.fault == "data" else {"ok": True, "data": data, "error": None}

    def checked(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        if self.fault == "missing argument" and name == "stock" and "shop" not in arguments:
            return {**arguments, "shop": 0}
        if self.fault == "wrong type" and isinstance(arguments.get("shop"), str):
            return {**arguments, "shop": 0}
        return dict(self.tools[name].validate(arguments))

    def refuse(self, code: str, message: str) -> Any:
        if self.fault == "error":
            return {"ok": False, "error": {"message": message}}
        return {"ok": False, "error": {"code": code, "message": message}}


class AddRegistry(HandRegistry):
    """Takes its tools one by one, and answers with JSON text."""

    def __init__(self) -> None:
        super().__init__([])

    def add(self, item: Any) -> None:
        self.tools[item.name] = item

    def call(self, name: str, arguments: dict[str, Any]) -> Any:
        return json.dumps(super().call(name, arguments))


# --- memories --------------------------------------------------------------------------------------------------------


class HandMemory:
    """System prompt, first goal, and as many of the newest whole units as fit."""

    fault = ""

    def __init__(self, limit: int) -> None:
        self.limit = limit + 1 if self.fault == "limit" else limit

    def view(self, messages: list[Any]) -> list[Any]:
        if len(messages) <= self.limit:
            return list(messages)
        head = [i for i in (0, 1) if not self.dropped(i)]
        tail: list[int] = []
        for unit in reversed(self.units(messages)):
            if len(head) + len(tail) + len(unit) > self.limit:
                break
            tail = unit + tail
            if self.fault == "newest":
                break
        return self.send([messages[i] for i in head + tail])

    def dropped(self, index: int) -> bool:
        return (self.fault, index) in {("system prompt", 0), ("first goal", 1)}

    def units(self, messages: list[Any]) -> list[list[int]]:
        found: list[list[int]] = []
        for index in range(2, len(messages)):
            if role(messages[index]) == "tool" and self.fault != "together":
                found[-1].append(index)
            else:
                found.append([index])
        return found

    def send(self, view: list[Any]) -> list[Any]:
        if self.fault == "order":
            view = [Message(m.role, "Shortened.", m.calls) if m.calls else m for m in view]
        return view


def role(message: Any) -> str:
    return str(message["role"] if isinstance(message, dict) else message.role)


class KeepingMemory(HandMemory):
    """The same, filled message by message."""

    def __init__(self, limit: int) -> None:
        super().__init__(limit)
        self.kept: list[Any] = []

    def add(self, message: Any) -> None:
        self.kept.append(message)

    def view(self) -> list[Any]:  # type: ignore[override]
        return HandMemory.view(self, self.kept)


def history_eater(limit: int) -> Any:
    """Right in every view, but it takes the messages out of the list it was given."""

    class Eater(HandMemory):
        def view(self, messages: list[Any]) -> list[Any]:
            view = super().view(messages)
            messages.clear()
            return view

    return Eater(limit)


def forgetful_when_small(limit: int) -> Any:
    """Right while it trims; what fits is sent without its last assistant text."""

    class Forgetful(HandMemory):
        def view(self, messages: list[Any]) -> list[Any]:
            if len(messages) > limit:
                return super().view(messages)
            return [m for m in messages if m.calls or m.role != "assistant"]

    return Forgetful(limit)


# --- loops -----------------------------------------------------------------------------------------------------------


def hand_loop(model: Any, registry: Any, goal: str, max_steps: int = 10, fault: str = "") -> list[Message]:
    """Think, act, observe, as a notebook writes it."""
    messages = [Message("user", goal)]
    asked = 0
    while asked < max_steps or fault == "step limit":
        asked += 1
        decision = model.decide(tuple(messages), registry.specs()).decision
        match decision:
            case FinalAnswer(text=text):
                if fault == "stops" and asked < 3:
                    continue
                messages.append(Message("assistant", "" if fault == "answers" else text))
                return messages
            case AskUser(question=question):
                messages.append(Message("assistant", question))
                return messages
            case CallTools(thought=thought, calls=calls):
                messages.append(Message("assistant", thought, calls))
                messages.extend(Message("tool", result=result) for result in answers(registry, calls, fault))
    return messages


def answers(registry: Any, calls: Sequence[Any], fault: str) -> list[ToolResult]:
    known = {item.name for item in registry}
    if fault == "unknown tool" and calls[0].name not in known:
        raise KeyError(calls[0].name)
    if fault == "failing tool" and calls[0].name == "broken_door":
        return []
    if fault == "one result each":
        calls = calls[:1]
    results = [registry.call(call) for call in calls]
    if fault == "acts":
        results = [registry.call(call) for call in calls]
    if fault == "observes":
        results = [ToolResult(result.call_id, result.name, "done", result.error) for result in results]
    return results


def dict_loop(goal: str, tools: Any, model: Any, max_steps: int = 10) -> str:
    """Another shape: other order of parameters, messages as dicts, functions looked up by name, the text as result."""
    messages = [{"role": "user", "content": goal}]
    for _ in range(max_steps):
        decision = model.decide(messages, []).decision
        if isinstance(decision, FinalAnswer):
            return decision.text
        messages.append({"role": "assistant", "content": decision.thought})
        for call in decision.calls:
            try:
                observation = str(tools[call.name](**call.arguments))
            except Exception as error:
                observation = f"{call.name} failed with {type(error).__name__}"
            messages.append({"role": "tool", "content": observation})
    return "no answer"


# --- parsers ---------------------------------------------------------------------------------------------------------


def hand_parser(text: str, fault: str = "") -> dict[str, Any]:
    """A small parser as a notebook may write it."""
    simple = text.count("\n") == 3 and "`" not in text
    if fault != "invented observation":
        text = text.split("Observation:")[0]
    action = re.search(r"Action:\s*(.+)", text)
    answer = re.search(r"Final Answer:\s*(.+)" if fault == "long answer" else r"(?s)Final Answer:\s*(.+)", text)
    if fault == "answer" and answer:
        return {"answer": text}
    if answer and (not action or fault == "invented observation"):
        return {"answer": answer.group(1).strip()}
    if not action:
        guess = {"answer": text or "nothing"}
        return guess if fault == "format error" else {"error": "Write an Action or a Final Answer."}
    name = action.group(1).strip() if fault == "back-ticks" else action.group(1).strip().strip("`")
    if name == "None" and fault != "action None":
        return {"error": "None is no action. Write a Final Answer."}
    found = re.search(r"Action Input:\s*(\{.*\})" if fault == "many lines" else r"(?s)Action Input:\s*(\{.*?\})", text)
    if fault == "first action":
        names = re.findall(r"Action:\s*(.+)", text)
        name = names[-1].strip("`")
    return {
        "action": "?" if fault == "action" and simple else name,
        "action_input": json.loads(found.group(1)) if found else {},
    }
