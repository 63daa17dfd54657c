"""Any value becomes a value that JSON can carry, of a bounded size, without ever raising."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import islice
from typing import Any

MAX_ITEMS = 10_000
MAX_DEPTH = 40
MAX_PARTS = 200_000

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


def json_safe(value: Any) -> Any:
    """The value as dict, list, str, int, float, bool or None.

    Dates become ISO text, enums their value, decimals and UUIDs text, bytes a note of their size (text if they are
    UTF-8), models and dataclasses objects, sets sorted lists, generators lists (10,000 items at most). NaN and infinity,
    which JSON does not have, become the texts "NaN", "Infinity", "-Infinity". What contains itself is cut where it does, and
    so is a value of more than 200,000 parts. Anything else becomes the name of its type.
    """
    if type(value) is str:
        return _clean(value)
    if value is None or type(value) in (bool, int, float):
        return _number(value)
    return _Walk().safe(value, 0)


def _number(value: Any) -> Any:
    if type(value) is float and not math.isfinite(value):
        return "NaN" if math.isnan(value) else f"{'-' if value < 0 else ''}Infinity"
    if type(value) is int and abs(value) >= 10**300:
        return "an integer of more than 300 digits"
    return value


class _Walk:
    """One walk through a value: what stands above the present part, and how many parts it may still look at."""

    def __init__(self) -> None:
        self.above: set[int] = set()
        self.left = MAX_PARTS

    def safe(self, value: Any, depth: int) -> Any:
        if type(value) is str:
            return _clean(value)
        if value is None or type(value) in (bool, int, float):
            return _number(value)
        self.left -= 1
        if depth >= MAX_DEPTH or self.left < 0:
            return "… (nested too deeply)" if depth >= MAX_DEPTH else "… (too many parts)"
        if id(value) in self.above:
            return "… (contains itself)"
        self.above.add(id(value))
        try:
            return self.composed(value, depth + 1)
        except Exception:
            return f"a value of type {type(value).__name__}"
        finally:
            self.above.discard(id(value))

    def composed(self, value: Any, depth: int) -> Any:
        if isinstance(value, Mapping):
            pairs = islice(value.items(), MAX_ITEMS)
            return {_clean(key if isinstance(key, str) else _key(key)): self.safe(item, depth) for key, item in pairs}
        if isinstance(value, (bytes, bytearray, memoryview)):
            return _bytes(bytes(value))
        if isinstance(value, Set):
            items = [self.safe(item, depth) for item in islice(value, MAX_ITEMS)]
            return sorted(items, key=lambda item: (type(item).__name__, dumps(item)))
        if isinstance(value, (Sequence, Iterator)) and not isinstance(value, str):
            items = [self.safe(item, depth) for item in islice(value, MAX_ITEMS)]
            left = len(value) - MAX_ITEMS if isinstance(value, Sequence) else 0
            return [*items, f"… and {left:,} more items"] if left > 0 else items
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return {part.name: self.safe(getattr(value, part.name), depth) for part in dataclasses.fields(value)}
        if hasattr(value, "model_dump"):
            return self.safe(value.model_dump(mode="json"), depth)
        if hasattr(value, "tolist"):  # arrays and array scalars
            return self.safe(value.tolist(), depth)
        return _scalar(value)


def _scalar(value: Any) -> Any:
    import datetime
    import decimal
    import enum
    import fractions
    import pathlib
    import uuid

    if isinstance(value, enum.Enum):
        return json_safe(value.value)
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, datetime.timedelta):
        return f"{value.total_seconds()} seconds"
    if isinstance(value, (decimal.Decimal, uuid.UUID, fractions.Fraction, complex, pathlib.PurePath)):
        return str(value)
    if isinstance(value, str):
        return _clean(str.__str__(value))
    if isinstance(value, int):
        return json_safe(int(value))
    if isinstance(value, float):
        return json_safe(float(value))
    if type(value).__module__.startswith("pydantic"):  # an address, a secret (which shows as stars), and the like
        return _clean(str(value))
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
    if isinstance(value, list) and value:
        kept = _leading(value, limit)
        if kept:
            return value[:kept], f"Shortened: the first {kept:,} of {len(value):,} items."
        first, _ = fit(value[0], limit - 2)
        return [first], f"Shortened: a part of the first of {len(value):,} items."
    if isinstance(value, dict):
        return _fit_fields(value, limit)
    text = value if isinstance(value, str) else dumps(value)
    return text[: max(limit, 0)], f"Shortened: the first {limit:,} of {len(text):,} characters."


def _fit_fields(value: dict[str, Any], limit: int) -> tuple[Any, str]:
    """Small fields stay whole; the large ones share the room that is left. Of very many fields the first ones stay."""
    sizes = {key: len(dumps(key)) + len(dumps(item)) + 4 for key, item in value.items()}
    share = limit // max(len(value), 1)
    if share < 40:
        kept = _leading([[key, item] for key, item in value.items()], limit)
        fields = dict(list(value.items())[:kept])
        return fields, f"Shortened: the first {kept:,} of {len(value):,} fields."
    large = [key for key, size in sizes.items() if size > share]
    room = (limit - 2 - sum(size for key, size in sizes.items() if key not in large)) // len(large)
    fitted = {key: fit(value[key], room - len(dumps(key)) - 4) for key in large}
    notes = [note.replace("Shortened:", f"Shortened in {key!r}:") for key, (_, note) in fitted.items() if note]
    return {**value, **{key: part for key, (part, _) in fitted.items()}}, " ".join(notes)


def _leading(items: list[Any], limit: int) -> int:
    used = 2
    for count, item in enumerate(items):
        used += len(dumps(item)) + 2
        if used > limit:
            return count
    return len(items)
