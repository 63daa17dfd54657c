"""A JSON Schema made ready for constrained decoding, where the sampler may only take tokens that keep the text valid."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

LONGEST_TEXT: Final = 120  # characters of a string whose schema sets no end
MOST_ITEMS: Final = 8  # items of an array whose schema sets no end

# One space after commas and colons, none elsewhere. Free white space would let a small model write blanks for ever.
_SPACING: Final = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}
_CLASSES: Final = {r"\d": "[0-9]", r"\w": "[A-Za-z0-9_]", r"\s": "[ ]"}
_UNREADABLE: Final = re.compile(r"\(\?[=!<]|\\[bB1-9]")  # looking around and back, which the engine cannot do
_NOTES: Final = frozenset({"title", "description", "examples", "default", "$schema", "$comment"})
_ENDS: Final = frozenset({"maxLength", "pattern", "format", "enum", "const"})
_NAMED: Final = frozenset({"properties", "$defs", "definitions"})  # their keys are names, not keywords


def prepared(schema: Mapping[str, Any], *, loose: bool = False) -> dict[str, Any]:
    """The schema as the engine understands it.

    Notes for readers go, since they cost time and do not constrain. Texts and lists without an end get one, since a small
    model may never stop by itself. Shorthand classes in patterns are written out, and patterns that the engine cannot read
    are left out; ``loose`` leaves out all patterns and formats.
    """
    return {**_keywords(schema, loose), "x-guidance": _SPACING}


def _keywords(schema: Mapping[str, Any], loose: bool) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, item in schema.items():
        if key in _NOTES or (loose and key in ("pattern", "format")):
            continue
        if key == "pattern":
            if not _UNREADABLE.search(str(item)):
                found[key] = _plain_pattern(str(item))
        elif key in _NAMED and isinstance(item, Mapping):
            found[key] = {name: _item(part, loose) for name, part in item.items()}
        else:
            found[key] = item if key in ("enum", "const", "required") else _item(item, loose)
    if found.get("type") == "string" and not (_ENDS & found.keys()):
        found["maxLength"] = LONGEST_TEXT
    if found.get("type") == "array" and "maxItems" not in found:
        found["maxItems"] = MOST_ITEMS
    return found


def _item(item: Any, loose: bool) -> Any:
    if isinstance(item, Mapping):
        return _keywords(item, loose)
    return [_item(part, loose) for part in item] if isinstance(item, list) else item


def _plain_pattern(pattern: str) -> str:
    return re.sub(r"\\[dws]", lambda found: _CLASSES[found.group()], pattern)
