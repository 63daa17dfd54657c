"""The same history and the same tools in the form of each provider: what all the forms share.

`tool_form` gives a tool in each form. Histories have one module for each form, with a function there and a function back:
`_wire_openai` (Chat Completions), `_wire_responses` (Responses) and `_wire_anthropic` (Messages); `_wire_problems` lists what
each service would refuse. Their functions can be imported from here; they are loaded when they are first asked for.

What our own values cannot hold (images, files, cache marks, signed thinking, calls that the service runs itself) stays in
``Message.provider``, so that a history which came from a service goes back to it as the same document.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from agentkit._jsonsafe import dumps, json_safe
from agentkit.errors import DefinitionError
from agentkit.messages import ErrorDetail, ToolCall, ToolResult, ToolSpec

if TYPE_CHECKING:
    from agentkit._wire_anthropic import from_anthropic, to_anthropic
    from agentkit._wire_openai import from_openai, to_openai
    from agentkit._wire_problems import anthropic_problems, openai_problems, responses_problems
    from agentkit._wire_responses import from_responses, to_responses

__all__ = [
    "Form", "Wire", "anthropic_problems", "arguments_text", "from_anthropic", "from_openai", "from_responses",
    "openai_problems", "responses_problems", "to_anthropic", "to_openai", "to_responses", "tool_form", "wire_id", "wire_name",
]  # fmt: skip

Form = Literal["chat", "responses", "anthropic", "mcp"]
Wire: TypeAlias = dict[str, Any]
"""A JSON object as it goes over the wire."""

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def __getattr__(name: str) -> Any:
    if name in __all__:  # what is here was found before this is asked
        from importlib import import_module

        part = name.split("_")[-1]  # to_openai, from_openai, openai_problems
        return getattr(import_module(f"agentkit._wire_{part}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


# --- names -----------------------------------------------------------------------------------------------------------


def wire_name(name: str) -> str:
    """The name as providers accept it (letters, digits, ``_`` and ``-``, 64 at most); different names stay different."""
    if is_wire_name(name):
        return name
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return re.sub(r"[^a-zA-Z0-9_-]+", "_", name)[:55].strip("_") + "_" + digest


def is_wire_name(name: Any) -> bool:
    """Whether the providers accept this as the name of a tool."""
    return isinstance(name, str) and _NAME.fullmatch(name) is not None


def wire_id(call_id: str) -> str:
    """A call id as Anthropic accepts it; ids of other servers may hold dots, colons or letters of any script."""
    if re.fullmatch(r"[a-zA-Z0-9_-]+", call_id):
        return call_id
    digest = hashlib.sha256(call_id.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return re.sub(r"[^a-zA-Z0-9_-]+", "_", call_id)[:40] + "_" + digest


# --- tools -----------------------------------------------------------------------------------------------------------


def tool_form(tool: Any, form: Form) -> Wire:
    """One tool (a `Tool` or a `ToolSpec`) in a provider's form.

    The strict schema is used where there is one, and only then is strict claimed. The form of MCP also tells what a tool may
    do, which a `ToolSpec` does not know.
    """
    if form == "mcp":
        return _mcp_form(tool)
    strict = _strict_parameters(tool)
    if form == "anthropic" and strict is not None and _bounded(strict):
        strict = None
    schema = tool.parameters if strict is None else strict
    head = {"name": wire_name(tool.name), "description": tool.description}
    if form == "anthropic":
        return {**head, "input_schema": schema, **({"strict": True} if strict is not None else {})}
    body = {**head, "parameters": schema, "strict": strict is not None}
    return {"type": "function", **body} if form == "responses" else {"type": "function", "function": body}


def _mcp_form(tool: Any) -> Wire:
    form: Wire = {"name": tool.name, "description": tool.description, "inputSchema": tool.parameters}
    if isinstance(tool, ToolSpec):
        return form
    hints = {"readOnlyHint": tool.permission == "read", "destructiveHint": tool.permission == "dangerous"}
    return {**form, "annotations": hints}


def _strict_parameters(tool: Any) -> Wire | None:
    if not isinstance(tool, ToolSpec):
        known: Wire | None = tool.strict_parameters
        return known
    from agentkit._strict import strict_form

    return strict_form(tool.parameters)[0]


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


# --- what the forms share --------------------------------------------------------------------------------------------


def arguments_text(call: ToolCall) -> str:
    """The arguments as JSON text; text that the model wrote stays as it was."""
    return call.arguments if isinstance(call.arguments, str) else dumps(json_safe(call.arguments))


def written(arguments: Any) -> Mapping[str, Any] | str:
    """The arguments of a foreign call as ours: an object or the text; servers may also send null or a list."""
    if isinstance(arguments, Mapping):
        return dict(fresh(arguments))
    return arguments if isinstance(arguments, str) else "" if arguments is None else dumps(json_safe(arguments))


def custom_input(call: ToolCall) -> str:
    """The text of a call of a custom tool, whose input is any text and not an object; ours is ``{"input": text}``."""
    given = call.arguments
    if isinstance(given, Mapping) and isinstance(given.get("input"), str):
        return str(given["input"])
    return arguments_text(call)


def result_of(call_id: str, name: str, text: str, failed: bool = False) -> ToolResult:
    """Tool output in our own form is read back as what it was; any other text is the data, or the error's message."""
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
    if failed:
        return ToolResult(call_id, name, None, ErrorDetail("tool_error", text or "The tool failed."))
    return ToolResult(call_id, name, text)


def reads_as(text: str, failed: bool, result: ToolResult) -> bool:
    """Whether tool output that was kept still says what the result says; it does not when the result was changed."""
    return result_of(result.call_id, result.name, text, failed) == result


def text_of(content: Any, glue: str = "\n", marked: bool = False) -> str:
    """The text of a content: a text, or the texts (and refusals) among its parts.

    ``marked`` puts a word such as ``[image]`` in the place of each part that is not text: a model that reads only text then
    knows that there was something.
    """
    if isinstance(content, str):
        return content
    if not isinstance(content, Sequence):
        return ""
    texts = [_text_of_part(part, marked) for part in content if isinstance(part, Mapping)]
    return glue.join(text for text in texts if text is not None)


_MARKS = {
    "image_url": "image",
    "input_image": "image",
    "input_audio": "audio",
    "input_file": "file",
    "document": "file",
}


def _text_of_part(part: Mapping[str, Any], marked: bool) -> str | None:
    for text in (part.get("text"), part.get("refusal")):
        if isinstance(text, str):
            return text
    kind = str(part.get("type"))
    return f"[{_MARKS.get(kind, kind)}]" if marked else None


def joined(*texts: str) -> str:
    """Texts that are not empty, with an empty line between them."""
    return "\n\n".join(text for text in texts if text)


def fresh(value: Any) -> Any:
    """A copy of a JSON value, so that changing what was sent, or what was read, never changes a history."""
    if isinstance(value, Mapping):
        return {key: fresh(part) for key, part in value.items()}
    return list(map(fresh, value)) if isinstance(value, (list, tuple)) else value


def objects(value: Any) -> list[Wire]:
    """The objects of a list from outside; anything else in it, or in its place, is left out."""
    return [dict(part) for part in value if isinstance(part, Mapping)] if isinstance(value, (list, tuple)) else []


def known(word: Any, words: Mapping[str, Any]) -> Any:
    """What a table says about a word from outside, which may be no text at all; None when it says nothing."""
    return words.get(word) if isinstance(word, str) else None


def entries(messages: Iterable[Any]) -> list[Mapping[str, Any]]:
    """The entries of a foreign history. Raises `DefinitionError` for anything that is not a list of objects."""
    found = [] if isinstance(messages, (str, Mapping)) else list(messages)
    if isinstance(messages, (str, Mapping)) or not all(isinstance(entry, Mapping) for entry in found):
        raise DefinitionError("A history is a list of messages, and each message is a dict with a role.")
    return found


def unreadable(place: int, entry: Mapping[str, Any], form: str) -> DefinitionError:
    """What to say about an entry that has no place in our history."""
    what = entry.get("role", entry.get("type"))
    return DefinitionError(
        f"Message {place} of the history has the role {what!r}, which {form} does not have. "
        f"Let {form}_problems(messages) list everything that is wrong with it."
    )
