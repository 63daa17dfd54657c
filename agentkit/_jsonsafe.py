"""Any value becomes a value that JSON can carry, of a bounded size, without ever raising."""

from __future__ import annotations

import dataclasses
import json
import math
import types
from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import islice
from typing import Any

MAX_ITEMS = 10_000
MAX_DEPTH = 40

_encode = json.JSONEncoder(ensure_ascii=False, check_circular=False).encode


def dumps(value: Any) -> str:
    """Compact readable JSON text of a JSON-safe value; Korean and other letters stay as they are."""
    return _encode(value)


def canonical(value: Any) -> str:
    """JSON text that is equal for equal values: keys sorted, no spaces."""
    return json.dumps(json_safe(value), ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def short(value: Any, limit: int = 80) -> str:
    """A value in a sentence: its JSON text, cut at ``limit`` characters."""
    if isinstance(value, str):
        value = value[: limit + 1]
    text = dumps(json_safe(value))
    return text if len(text) <= limit else text[:limit] + " …"


def json_safe(value: Any, depth: int = 0) -> Any:
    """The value as dict, list, str, int, float, bool or None.

    Dates become ISO text, enums their value, decimals and UUIDs text, bytes a note of their size (text if they are
    UTF-8), models and dataclasses objects, sets sorted lists, generators lists (10,000 items at most). NaN and infinity,
    which JSON does not have, become the texts "NaN", "Infinity", "-Infinity". Anything else becomes the name of its type.
    """
    if value is None or type(value) in (str, bool):
        return _clean(value) if type(value) is str else value
    if type(value) is int:
        return value if abs(value) < 10**300 else "an integer of more than 300 digits"
    if isinstance(value, float):
        return value if math.isfinite(value) else "NaN" if math.isnan(value) else f"{'-' if value < 0 else ''}Infinity"
    if depth >= MAX_DEPTH:
        return "… (nested too deeply)"
    try:
        return _composed(value, depth)
    except Exception:
        return f"a value of type {type(value).__name__}"


def _composed(value: Any, depth: int) -> Any:
    if isinstance(value, Mapping):
        pairs = islice(value.items(), MAX_ITEMS)
        return {_clean(key if isinstance(key, str) else _key(key)): json_safe(item, depth + 1) for key, item in pairs}
    if isinstance(value, (bytes, bytearray, memoryview)):
        return _bytes(bytes(value))
    if isinstance(value, Set):
        items = [json_safe(item, depth + 1) for item in islice(value, MAX_ITEMS)]
        return sorted(items, key=lambda item: (type(item).__name__, dumps(item)))
    if isinstance(value, (Sequence, types.GeneratorType, Iterator)) and not isinstance(value, str):
        items = [json_safe(item, depth + 1) for item in islice(value, MAX_ITEMS)]
        left = len(value) - MAX_ITEMS if isinstance(value, Sequence) else 0
        return [*items, f"… and {left:,} more items"] if left > 0 else items
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: json_safe(getattr(value, field.name), depth + 1) for field in dataclasses.fields(value)}
    if hasattr(value, "model_dump"):
        return json_safe(value.model_dump(mode="json"), depth + 1)
    return _scalar(value, depth)


def _scalar(value: Any, depth: int) -> Any:
    import datetime
    import decimal
    import enum
    import fractions
    import pathlib
    import uuid

    if isinstance(value, enum.Enum):
        return json_safe(value.value, depth + 1)
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, datetime.timedelta):
        return f"{value.total_seconds():g} seconds"
    if isinstance(value, (decimal.Decimal, uuid.UUID, fractions.Fraction, complex, pathlib.PurePath)):
        return str(value)
    if isinstance(value, str):
        return _clean(str.__str__(value))
    if isinstance(value, int):
        return json_safe(int(value), depth)
    if hasattr(value, "tolist"):  # arrays and array scalars
        return json_safe(value.tolist(), depth + 1)
    return f"a value of type {type(value).__name__}"


def _key(key: Any) -> str:
    safe = json_safe(key)
    return safe if isinstance(safe, str) else dumps(safe)


def _bytes(data: bytes) -> str:
    try:
        return _clean(data.decode("utf-8"))
    except UnicodeDecodeError:
        return f"{len(data):,} bytes that are not text"


def _clean(text: str) -> str:
    """A lone surrogate cannot be written as UTF-8, so it is replaced by the replacement character."""
    if text.isascii():
        return text
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")


def fit(value: Any, limit: int) -> tuple[Any, str]:
    """A JSON-safe value whose text has at most about ``limit`` characters, and a note that says what was left out.

    Whole items are dropped from the end of the longest list, then long texts are cut with a mark. The result is a JSON
    value again, never half a record.
    """
    size = len(dumps(value))
    if size <= limit:
        return value, ""
    if isinstance(value, list):
        kept = _leading(value, limit)
        if kept:
            return value[:kept], f"Shortened: the first {kept:,} of {len(value):,} items."
    if isinstance(value, dict):
        return _fit_fields(value, limit, size)
    text = value if isinstance(value, str) else dumps(value)
    return text[:limit], f"Shortened: the first {limit:,} of {len(text):,} characters."


def _fit_fields(value: dict[str, Any], limit: int, size: int) -> tuple[Any, str]:
    largest = max(value, key=lambda key: len(dumps(value[key])), default="")
    room = limit - (size - len(dumps(value.get(largest)))) - 2
    if room < 40:  # many small fields: keep whole ones
        kept = _leading([[key, item] for key, item in value.items()], limit)
        fields = dict(list(value.items())[:kept])
        return fields, f"Shortened: the first {kept:,} of {len(value):,} fields."
    part, note = fit(value[largest], room)
    return {**value, largest: part}, note.replace("Shortened:", f"Shortened in {largest!r}:")


def _leading(items: list[Any], limit: int) -> int:
    used = 2
    for count, item in enumerate(items):
        used += len(dumps(item)) + 2
        if used > limit:
            return count
    return len(items)
