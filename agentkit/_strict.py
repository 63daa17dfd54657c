"""The strict form of a JSON Schema, in which a provider can force the model to follow it exactly.

Strict means: every object is closed (``additionalProperties: false``) and lists every key in ``required``. An optional
parameter therefore also accepts null, and null stands for its default (where null is a value of its own, it stays one). A
schema with a free-form object has no strict form.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_DROPPED = {
    "default",
    "examples",
    "example",
    "title",
    "uniqueItems",
    "discriminator",
    "deprecated",
    "readOnly",
    "writeOnly",
}


class _NotStrict(Exception):
    pass


def strict_form(schema: Mapping[str, Any]) -> tuple[dict[str, Any] | None, str]:
    """The strict form of a schema and "", or None and the reason why there is none."""
    try:
        strict = _convert(schema, "the parameters")
        for name, part in schema.get("$defs", {}).items():
            strict.setdefault("$defs", {})[name] = _convert(part, name)
        return strict, ""
    except _NotStrict as reason:
        return None, str(reason)


def _convert(part: Any, place: str) -> dict[str, Any]:
    if not isinstance(part, Mapping) or not set(part) - _DROPPED - {"description"}:
        raise _NotStrict(f"{place} accepts any value, and a strict schema must name a type.")
    found = {key: value for key, value in part.items() if key not in _DROPPED | {"$defs"}}
    if "$ref" in found:
        words = found.pop("description", "")
        return {"anyOf": [found], "description": words} if words else found
    if "allOf" in found or "not" in found or "patternProperties" in found or "prefixItems" in found:
        raise _NotStrict(f"{place} uses a form that strict schemas do not have (a tuple or a combination of schemas).")
    options = found.pop("oneOf", None) or found.pop("anyOf", None)
    if options:
        return {**found, "anyOf": [_convert(option, place) for option in options]}
    if found.get("type") == "array":
        found["items"] = _convert(found.get("items"), f"each item of {place}")
    if found.get("type") == "object":
        return _object(found, place)
    if "const" in found:
        found["enum"] = [found.pop("const")]
    return found


def _object(part: dict[str, Any], place: str) -> dict[str, Any]:
    properties = part.get("properties")
    if part.get("additionalProperties") not in (None, False) or (properties is None and place != "the parameters"):
        raise _NotStrict(f"{place} is an object with free keys, and a strict schema must name every key.")
    required = set(part.get("required", ()))
    closed = {
        key: _convert(inner, key) if key in required else _nullable(inner, key)
        for key, inner in (properties or {}).items()
    }
    return {**part, "properties": closed, "required": list(closed), "additionalProperties": False}


def _nullable(part: Mapping[str, Any], place: str) -> dict[str, Any]:
    strict = _convert(part, place)
    options = strict.get("anyOf", [strict])
    if any(option.get("type") == "null" for option in options):
        return strict
    words = strict.pop("description", "") if "anyOf" not in strict else strict.get("description", "")
    remark = "null means the default" + (f", {part['default']!r}." if "default" in part else ".")
    return {"anyOf": [*options, {"type": "null"}], "description": f"{words} ({remark})".strip()}
