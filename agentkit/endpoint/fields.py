"""Reading fields of a request: the value, or a refusal that names the field and says what it must be."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from agentkit.endpoint.values import Choice, Refused
from agentkit.errors import AgentkitError
from agentkit.messages import Message, ToolSpec

T = TypeVar("T")
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_FREE: Mapping[str, Any] = {"type": "object", "properties": {}}
TEXT_INPUT: Mapping[str, Any] = {
    "type": "object",
    "properties": {"input": {"type": "string"}},
    "required": ["input"],
    "additionalProperties": False,
}


def bad(message: str, param: str | None = None, code: str | None = None) -> Refused:
    """A 400 with this sentence."""
    return Refused(400, message, param=param, code=code)


def text_field(body: Mapping[str, Any], key: str) -> str:
    """A required text that is not empty."""
    found = body.get(key)
    if not isinstance(found, str) or not found:
        raise bad(f"The field '{key}' is needed and must be a text that is not empty.", key)
    return found


def flag_field(body: Mapping[str, Any], key: str, default: bool) -> bool:
    """True or false; null stands for the default."""
    found = body.get(key)
    if found is None:
        return default
    if not isinstance(found, bool):
        raise bad(f"The field '{key}' must be true or false.", key)
    return found


def whole_field(body: Mapping[str, Any], key: str, minimum: int = 1) -> int | None:
    """A whole number of at least ``minimum``, or None when it is not given."""
    found = body.get(key)
    if found is None:
        return None
    if not isinstance(found, int) or isinstance(found, bool) or found < minimum:
        raise bad(f"The field '{key}' must be a whole number of at least {minimum}.", key)
    return found


def range_field(body: Mapping[str, Any], key: str, high: float) -> None:
    """A number between 0 and ``high``, when it is given. The models here are deterministic, so it is checked and not used."""
    found = body.get(key)
    if found is None:
        return
    if not isinstance(found, (int, float)) or isinstance(found, bool) or not 0 <= found <= high:
        raise bad(f"The field '{key}' must be a number between 0 and {high:g}.", key)


def object_field(body: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """An object; an empty one when it is not given."""
    found = body.get(key)
    if found is None:
        return {}
    if not isinstance(found, Mapping):
        raise bad(f"The field '{key}' must be an object.", key)
    return found


def objects_field(body: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    """A list of objects; an empty one when it is not given."""
    found = body.get(key)
    if found is None:
        return []
    if not isinstance(found, list) or not all(isinstance(item, Mapping) for item in found):
        raise bad(f"The field '{key}' must be a list of objects.", key)
    return found


def texts_field(body: Mapping[str, Any], key: str, most: int) -> tuple[str, ...]:
    """One text or a list of at most ``most`` texts; empty when it is not given."""
    found = body.get(key)
    items = [] if found is None else [found] if isinstance(found, str) else found
    if not isinstance(items, list) or len(items) > most or not all(isinstance(item, str) and item for item in items):
        raise bad(f"The field '{key}' must be a text or a list of at most {most} texts, none of them empty.", key)
    return tuple(items)


def refuse_unserved(body: Mapping[str, Any], keys: Sequence[str]) -> None:
    """What this endpoint does not do is refused, never silently left out."""
    for key in keys:
        if body.get(key):
            raise bad(f"This endpoint does not serve '{key}'. Leave it out.", key, "unsupported_parameter")


def understood(key: str, convert: Callable[[], T]) -> T:
    """The value of a conversion; a form that nobody foresaw is the client's mistake and not a server error."""
    try:
        return convert()
    except AgentkitError as error:
        raise bad(str(error), key) from None
    except (TypeError, ValueError, KeyError, AttributeError, IndexError, RecursionError):
        raise bad(f"The field '{key}' has a part of a form that cannot be read.", key) from None


def no_problems(key: str, problems: Sequence[str]) -> None:
    """Refuse a history that the real service would refuse."""
    if problems:
        raise bad(" ".join(problems), key)


def tool_spec(tool: Mapping[str, Any], schema_key: str, param: str) -> ToolSpec:
    """One tool of a request."""
    name, description, schema = tool.get("name"), tool.get("description"), tool.get(schema_key)
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise bad(f"A tool has the name {name!r}; a name has 1 to 64 letters, digits, '_' or '-'.", param)
    if description is not None and not isinstance(description, str):
        raise bad(f"The description of the tool {name!r} must be a text.", param)
    if schema is not None and (not isinstance(schema, Mapping) or schema.get("type", "object") != "object"):
        raise bad(
            f"The schema of the tool {name!r} must be a JSON Schema of type 'object'.",
            param,
            "invalid_function_parameters",
        )
    return ToolSpec(name, description or "", schema or _FREE)


def different_names(tools: Sequence[ToolSpec]) -> tuple[ToolSpec, ...]:
    """The tools, when no two have the same name."""
    names = [tool.name for tool in tools]
    for name in names:
        if names.count(name) > 1:
            raise bad(f"Two tools have the name {name!r}. Names must be different.", "tools")
    return tuple(tools)


def offered_choice(choice: Choice, tools: Sequence[ToolSpec], param: str = "tool_choice") -> Choice:
    """The choice, when the tools that it names are among those of the request."""
    known = {tool.name for tool in tools}
    for name in sorted(choice.names or ()):
        if name not in known:
            raise bad(
                f"The field '{param}' names the tool {name!r}, which is not among the tools of the request.", param
            )
    if choice.kind == "required" and not tools:
        raise bad(f"The field '{param}' demands a tool call, but the request has no tools.", param)
    return choice


def call_ids(messages: Sequence[Message]) -> tuple[frozenset[str], int]:
    """The ids of all calls of a history, and how many calls there are."""
    ids = [call.id for message in messages for call in message.calls]
    return frozenset(ids), len(ids)
