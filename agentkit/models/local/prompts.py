"""What the small model is given, as chat messages. They are short, since every token of a prompt costs about 10 ms.

The forms were chosen by trying them on the examples in questions.json, never on the questions that are measured: examples
as turns of a conversation, and none at all for arguments, because the model copies the values of an example.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from agentkit._jsonsafe import dumps, json_safe
from agentkit.messages import ToolSpec
from agentkit.models.local.routing import Example

Chat: TypeAlias = list[dict[str, str]]

FORM = '{"tool": "name of a tool", "arguments": {"name": "value"}}'


def choice_chat(tools: Sequence[ToolSpec], examples: Sequence[Example], question: str) -> Chat:
    """Choose a tool. The question comes last, so that prompts with the same examples begin alike."""
    lines = [f"- {tool.name}: {' '.join(tool.description.split())}" for tool in tools]
    start = "\n".join(["Choose the tool for each question.", *lines])
    shown = [(example.question, {"tool": example.tool}) for example in examples]
    return _chat(start, shown, question)


def choice_schema(tools: Sequence[ToolSpec]) -> dict[str, Any]:
    """The JSON Schema of ``{"tool": …}`` with one of the names of these tools."""
    tool = {"type": "string", "enum": [tool.name for tool in tools]}
    return {"type": "object", "properties": {"tool": tool}, "required": ["tool"], "additionalProperties": False}


def free_chat(tools: Sequence[ToolSpec], examples: Sequence[Example], question: str) -> Chat:
    """Choose a tool and its arguments, with nothing but a request to write JSON."""
    lines = [f"- {tool.name}({', '.join(_properties(tool))}): {' '.join(tool.description.split())}" for tool in tools]
    start = "\n".join(["Choose a tool for each question. Write one JSON object and nothing else:", FORM, *lines])
    shown = [(example.question, {"tool": example.tool, "arguments": example.arguments}) for example in examples]
    return _chat(start, shown, question)


def arguments_chat(tool: ToolSpec, question: str, note: str = "") -> Chat:
    """Fill the arguments of a tool that has been chosen."""
    about = [f"- {name}: {said}" for name, schema in _properties(tool).items() if (said := _about(schema))]
    start = "\n".join([f"Write the arguments of {tool.name} for the last question as JSON.", *about])
    return _user("\n\n".join([start, f"Question: {question}", *([note] if note else [])]))


def phrase_chat(question: str, data: Any) -> Chat:
    """Put a result into words."""
    order = "Answer the question in one short sentence. Use only the data."
    return _user(f"Question: {question}\nData: {dumps(json_safe(data))}\n{order}")


def _chat(start: str, shown: Sequence[tuple[str, Mapping[str, Any]]], question: str) -> Chat:
    chat = [{"role": "system", "content": start}]
    for asked, answered in shown:
        chat += [*_user(asked), {"role": "assistant", "content": dumps(json_safe(answered))}]
    return [*chat, *_user(question)]


def _user(text: str) -> Chat:
    return [{"role": "user", "content": text}]


def _properties(tool: ToolSpec) -> Mapping[str, Any]:
    return tool.parameters.get("properties") or {}


def _about(schema: Any) -> str:
    """The description of a parameter. Not its examples: the model would copy them."""
    return str(schema.get("description") or "").strip() if isinstance(schema, Mapping) else ""
