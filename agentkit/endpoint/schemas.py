"""What the services refuse in a schema that claims to be strict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from agentkit.endpoint.fields import bad

_BOUNDS = (
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "maxItems",
)
_MAPS = ("properties", "$defs", "definitions")
_LISTS = ("anyOf", "allOf", "oneOf", "prefixItems")


def parts(schema: Any, place: str = "the schema", depth: int = 0) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Every schema inside a schema, with where it stands."""
    if not isinstance(schema, Mapping) or depth > 50:
        return
    yield schema, place
    for key in _MAPS:
        inner = schema.get(key)
        for name, part in inner.items() if isinstance(inner, Mapping) else ():
            yield from parts(part, f"'{name}' in {place}", depth + 1)
    for key in _LISTS:
        options = schema.get(key)
        for part in options if isinstance(options, list) else ():
            yield from parts(part, place, depth + 1)
    yield from parts(schema.get("items"), f"an item of {place}", depth + 1)


def check_strict_openai(schema: Any, what: str, param: str) -> None:
    """Refuse a strict schema with an object that is not closed or does not list every key as required."""
    for part, place in parts(schema):
        if part.get("type") != "object" and "properties" not in part:
            continue
        if part.get("additionalProperties") is not False:
            raise bad(
                f"Invalid schema for {what}: {place} must have 'additionalProperties' set to false, since it is strict.",
                param,
                "invalid_function_parameters",
            )
        properties, required = part.get("properties") or {}, part.get("required") or ()
        missing = [name for name in properties if name not in required]
        if missing:
            raise bad(
                f"Invalid schema for {what}: 'required' of {place} must list every key, since it is strict. "
                f"Missing: {', '.join(map(repr, missing))}.",
                param,
                "invalid_function_parameters",
            )


def check_strict_anthropic(schema: Any, what: str) -> None:
    """Refuse a strict schema with an open object, or with bounds, which strict mode there does not know."""
    for part, place in parts(schema):
        if part.get("type") == "object" and part.get("additionalProperties") is not False:
            raise bad(f"{what}: for 'object' type, 'additionalProperties' must be explicitly set to false ({place}).")
        found = [key for key in _BOUNDS if key in part]
        if found:
            raise bad(f"{what}: a strict schema does not support {', '.join(map(repr, found))} ({place}).")
