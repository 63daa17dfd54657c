"""What a tool's JSON Schema says about its parameters, in the few terms that filling them needs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, TypeAlias

from agentkit.memory import tool_tokens
from agentkit.messages import ToolSpec
from agentkit.models.offline.language import Word, split_name, words_of
from agentkit.models.offline.lazy import Pattern
from agentkit.models.offline.mood import acts_by_description

Shape: TypeAlias = Literal[
    "enum", "pattern", "code", "date", "email", "url", "integer", "number", "boolean", "sql", "expression", "query",
    "text", "entity", "array", "object", "any",
]  # fmt: skip
_CODE_NAMES = Pattern(r"(?:^|_)(?:id|code|number|no|key|ref|reference|sku|isbn|serial|identifier|token)$")
_QUERY_NAMES = Pattern(r"(?:^|_)(?:query|q|question|search|topic|keyword|keywords|term|terms|phrase|about)$")
_TEXT_NAMES = Pattern(
    r"(?:^|_)(?:text|content|contents|message|body|sentence|document|paragraph|comment|note|string|s|passage|input|prompt|words|string1)$"
)
_EXPRESSION_NAMES = Pattern(r"(?:^|_)(?:expression|expr|formula|calculation|equation|sum)$")
_DATE_NAMES = Pattern(r"(?:^|_)(?:date|day|deadline|since|until|birthday)$|_on$")
_ISO = Pattern(r"^\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True, slots=True, eq=False)
class Parameter:
    """One parameter of a tool.

    ``shape`` says what kind of value is looked for. ``fields`` are the parameters of an object, ``item`` the shape of
    an array's elements. ``examples`` are never used as values, only as the shape that a value must have.
    """

    name: str
    shape: Shape
    required: bool
    nullable: bool
    default: Any
    has_default: bool
    description: str
    words: tuple[Word, ...]
    choices: tuple[Any, ...] = ()
    pattern: re.Pattern[str] | None = None
    examples: tuple[Any, ...] = ()
    low: float | None = None
    high: float | None = None
    fields: tuple[Parameter, ...] = ()
    item: Parameter | None = None
    stems: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, eq=False)
class ToolView:
    """A tool specification, read: its parameters, whether its description says that it acts, and its size in tokens.

    Views are equal only to themselves, so they are quick keys of the caches; `view_of` gives the same view for the same
    text of a specification.
    """

    name: str
    description: str
    parameters: tuple[Parameter, ...]
    acts: bool
    tokens: int = 0

    @property
    def required(self) -> tuple[Parameter, ...]:
        return tuple(each for each in self.parameters if each.required)

    @property
    def takes_topics(self) -> bool:
        """Whether the tool looks for any topic: it only reads, and a search text is all that it demands."""
        return not self.acts and [each.shape for each in self.required if not each.nullable] == ["query"]

    @property
    def calculates(self) -> bool:
        """Whether the tool takes arithmetic that is written out."""
        return any(each.shape == "expression" and each.required for each in self.parameters)


_views: dict[str, ToolView] = {}


def view_of(spec: ToolSpec) -> ToolView:
    """The tool as the procedure sees it. It is read once for each text of the specification."""
    key = f"{spec.name}\0{spec.description}\0{spec.parameters!r}"
    if key not in _views:
        if len(_views) > 512:
            _views.clear()
        schema = dict(spec.parameters) if isinstance(spec.parameters, Mapping) else {}
        _views[key] = _read(str(spec.name), str(spec.description or ""), schema, tool_tokens([_sendable(spec)]))
    return _views[key]


def _sendable(spec: ToolSpec) -> ToolSpec:
    return ToolSpec(str(spec.name), str(spec.description or ""), spec.parameters)


def _read(name: str, description: str, schema: dict[str, Any], tokens: int) -> ToolView:
    parameters = _properties(schema, schema, 0)
    acts = acts_by_description(name, description)
    numeric = [each for each in parameters if each.required and each.shape in ("integer", "number")]
    if acts and len(numeric) >= 2 and len(numeric) == sum(each.required for each in parameters):
        acts = False  # "Add two numbers" computes; "Add an item to the list" acts.
    return ToolView(name, description, parameters, acts, tokens)


def _properties(schema: dict[str, Any], root: dict[str, Any], depth: int) -> tuple[Parameter, ...]:
    schema = _resolved(schema, root, depth)
    properties, required = schema.get("properties"), schema.get("required")
    if not isinstance(properties, dict):
        return ()
    needed = {str(name) for name in required} if isinstance(required, list) else set()
    return tuple(_parameter(name, inner, name in needed, root, depth) for name, inner in list(properties.items())[:40])


def _parameter(name: str, inner: Any, required: bool, root: dict[str, Any], depth: int) -> Parameter:
    schema = _resolved(inner if isinstance(inner, dict) else {}, root, depth)
    choices = _choices(schema)
    pattern = _compiled(schema.get("pattern"))
    examples = schema.get("examples")
    examples = tuple(examples) if isinstance(examples, list) else ()
    description = str(schema.get("description") or "")
    shape = _shape(name, schema, choices, pattern, examples, description)
    fields: tuple[Parameter, ...] = ()
    item = None
    if depth < 3 and shape == "object":
        fields = _properties(schema, root, depth + 1)
    if depth < 3 and shape == "array":
        item = _parameter(name, schema.get("items"), False, root, depth + 1)
    words = words_of(split_name(name))
    return Parameter(
        name, shape, required, bool(schema.get("nullable")), schema.get("default"), "default" in schema, description,
        words, choices, pattern, examples,
        _bound(schema, "minimum", "exclusiveMinimum"), _bound(schema, "maximum", "exclusiveMaximum"), fields, item,
        frozenset(word.stem for word in words),
    )  # fmt: skip


def _bound(schema: dict[str, Any], *names: str) -> float | None:
    found = [schema[name] for name in names if isinstance(schema.get(name), int | float)]
    return float(found[0]) if found and not isinstance(found[0], bool) else None


def _resolved(schema: dict[str, Any], root: dict[str, Any], depth: int, hops: int = 0) -> dict[str, Any]:
    """Follow ``$ref``, merge ``allOf``, and take the part of ``anyOf`` or ``oneOf`` that is not null."""
    if hops > 8:
        return {}
    merged = {key: value for key, value in schema.items() if key not in ("$ref", "allOf", "anyOf", "oneOf")}
    parts: list[dict[str, Any]] = []
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference.startswith("#/"):
        target: Any = root
        for step in reference[2:].split("/"):
            target = target.get(step) if isinstance(target, dict) else None
        parts += [target] if isinstance(target, dict) else []
    parts += [part for part in _list(schema.get("allOf")) if isinstance(part, dict)]
    either = [part for name in ("anyOf", "oneOf") for part in _list(schema.get(name)) if isinstance(part, dict)]
    real = [part for part in either if part.get("type") != "null"]
    if either and len(real) < len(either):
        merged["nullable"] = True
    choices = [choice for part in real for choice in _choices(part)]
    if real and len(choices) >= len(real):
        merged["enum"] = choices
    else:
        parts += real[:1]
    for part in parts:
        merged = {**_resolved(part, root, depth, hops + 1), **merged}
    kinds = merged.get("type")
    if isinstance(kinds, list):
        merged["nullable"] = merged.get("nullable") or "null" in kinds
        merged["type"] = next((kind for kind in kinds if kind != "null"), None)
    return merged


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _choices(schema: Mapping[str, Any]) -> tuple[Any, ...]:
    if "const" in schema:
        return (schema["const"],)
    found = schema.get("enum")
    return tuple(each for each in found if each is not None)[:60] if isinstance(found, list) else ()


@lru_cache(maxsize=256)
def _compile(text: str) -> re.Pattern[str] | None:
    try:
        return re.compile(text[:200])
    except (re.error, RecursionError, OverflowError):
        return None


def _compiled(pattern: Any) -> re.Pattern[str] | None:
    return _compile(pattern) if isinstance(pattern, str) else None


def _shape(
    name: str,
    schema: dict[str, Any],
    choices: tuple[Any, ...],
    pattern: re.Pattern[str] | None,
    examples: tuple[Any, ...],
    description: str,
) -> Shape:
    kind = schema.get("type")
    if choices:
        return "enum"
    if kind in ("integer", "number", "boolean", "array", "object"):
        return kind  # type: ignore[no-any-return]
    if kind != "string":
        return "object" if isinstance(schema.get("properties"), dict) else "any"
    lowered = "_".join(split_name(name).lower().split())
    form, told = str(schema.get("format") or ""), description.lower()
    iso = any(isinstance(each, str) and _ISO.match(each) for each in examples)
    if form in ("date", "date-time") or iso or "yyyy" in told or "iso date" in told or (pattern and _dates(pattern)):
        return "date"
    if form in ("email", "idn-email") or "email" in lowered:
        return "email"
    if form in ("uri", "url", "iri") or lowered in ("url", "link", "uri"):
        return "url"
    if pattern is not None:
        return "pattern"
    if _DATE_NAMES.search(lowered) and "name" not in lowered:
        return "date"
    return _text_shape(lowered, told, examples)


def _dates(pattern: re.Pattern[str]) -> bool:
    return bool(pattern.search("2026-10-13")) and not pattern.search("A1") and not pattern.search("1")


def _text_shape(lowered: str, told: str, examples: tuple[Any, ...]) -> Shape:
    if "sql" in lowered or "sql" in told or "select statement" in told:
        return "sql"
    if _EXPRESSION_NAMES.search(lowered) or "arithmetic" in told:
        return "expression"
    coded = [each for each in examples if isinstance(each, str) and re.fullmatch(r"(?=.*\d)[\w-]+", each)]
    if _CODE_NAMES.search(lowered) or coded:
        return "code"
    if _QUERY_NAMES.search(lowered):
        return "query"
    return "text" if _TEXT_NAMES.search(lowered) else "entity"
