"""A form made from a JSON Schema: one field for each parameter, and the arguments that were typed in."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import ipywidgets as widgets

from agentkit._text import escape, json_text, one_line, shown
from agentkit.errors import DefinitionError
from agentkit.widgets._base import html

MISSING: Any = object()
"""What a field that was left empty gives: the argument is not sent."""
DEEPEST = 4
Schema = Mapping[str, Any]


class FormError(DefinitionError):
    """Something typed into a form cannot be read; the message names the field."""


@dataclass(frozen=True, slots=True)
class Field:
    """One part of a form: what is drawn, and how to read the value (`MISSING` when it was left empty)."""

    box: Any
    read: Callable[[], Any]
    fill: Callable[[Any], None]


@dataclass(frozen=True, slots=True)
class Form:
    """A form for a JSON Schema of type object. ``box`` is the widget; ``fields`` are its parts by name."""

    box: Any
    fields: Mapping[str, Field]

    def values(self) -> dict[str, Any]:
        """The arguments as typed in; empty optional fields are left out. Raises `FormError` for what cannot be read."""
        read = {name: field.read() for name, field in self.fields.items()}
        return {name: value for name, value in read.items() if value is not MISSING}

    def fill(self, arguments: Mapping[str, Any]) -> None:
        """Put values into the fields; names that the form does not have are ignored."""
        for name, value in arguments.items():
            if name in self.fields:
                self.fields[name].fill(value)


def form(schema: Schema) -> Form:
    """The form for the parameters of a tool."""
    fields = _fields(schema, schema, depth=0)
    boxes = [field.box for field in fields.values()] or [html("<i>This tool takes no arguments.</i>")]
    return Form(widgets.VBox(boxes), fields)


def _fields(schema: Schema, root: Schema, depth: int, prefix: str = "") -> dict[str, Field]:
    required = schema.get("required", ())
    properties = schema.get("properties", {})
    return {
        name: _field(f"{prefix}{name}", part, root, name in required, depth)
        for name, part in properties.items()
        if isinstance(part, Mapping)
    }


def resolve(schema: Schema, root: Schema) -> tuple[Schema, bool]:
    """The schema behind references and behind "or null", and whether null is allowed."""
    nullable = False
    for _ in range(20):
        if "$ref" in schema:
            schema = {**_target(str(schema["$ref"]), root), **{k: v for k, v in schema.items() if k != "$ref"}}
            continue
        options = schema.get("anyOf") or schema.get("oneOf")
        if not options:
            break
        others = [option for option in options if option.get("type") != "null"]
        nullable = nullable or len(others) < len(options)
        if len(others) != 1:
            break
        schema = {**others[0], **{k: v for k, v in schema.items() if k not in ("anyOf", "oneOf")}}
    kind = schema.get("type")
    if isinstance(kind, list):
        others = [name for name in kind if name != "null"]
        nullable = nullable or len(others) < len(kind)
        schema = {**schema, "type": others[0] if len(others) == 1 else None}
    return schema, nullable


def _target(reference: str, root: Schema) -> Schema:
    found: Any = root
    for key in reference.removeprefix("#/").split("/"):
        found = found.get(key.replace("~1", "/").replace("~0", "~"), {}) if isinstance(found, Mapping) else {}
    return found if isinstance(found, Mapping) else {}


def _field(name: str, schema: Schema, root: Schema, required: bool, depth: int) -> Field:
    schema, nullable = resolve(schema, root)
    empty = None if required and nullable else MISSING
    if "const" in schema:
        return Field(_labelled(name, "fixed", schema, None), lambda: schema["const"], lambda value: None)
    if "enum" in schema:
        return _choice(name, list(schema["enum"]), schema, required, empty)
    kind = schema.get("type")
    if kind == "boolean":
        return _choice(name, [True, False], schema, required, empty)
    if kind == "object" and schema.get("properties") and depth < DEEPEST:
        return _object(name, schema, root, required, depth, empty)
    if kind == "string" and schema.get("format") == "date":
        return _date(name, schema, required, empty)
    if kind in ("string", "integer", "number"):
        return _line(name, str(kind), schema, required, empty)
    return _json(name, schema, required, empty)


def _line(name: str, kind: str, schema: Schema, required: bool, empty: Any) -> Field:
    """Text and numbers are both typed: a number field that starts at 0 would send a 0 that nobody chose."""
    entry = widgets.Text(value="", placeholder=_example(schema), layout=_wide())

    def read() -> Any:
        text = entry.value
        if not text:
            return text if kind == "string" and required and empty is MISSING else empty
        return text if kind == "string" else _number(name, kind, text)

    def fill(value: Any) -> None:
        entry.value = value if isinstance(value, str) else "" if value is None else json.dumps(value)

    if "default" in schema and schema["default"] is not None:
        fill(schema["default"])
    return Field(_labelled(name, str(schema.get("format", kind)), schema, entry, required), read, fill)


def _number(name: str, kind: str, text: str) -> int | float:
    try:
        return int(text) if kind == "integer" else float(text)
    except ValueError:
        words = "a whole number such as 3" if kind == "integer" else "a number such as 2.5"
        raise FormError(f"{one_line(name)}: write {words}, not {one_line(text, 40)!r}.") from None


def _choice(name: str, values: list[Any], schema: Schema, required: bool, empty: Any) -> Field:
    """A list to choose from. Nothing is chosen at first, unless the schema has a default."""
    first = "(choose)" if required and empty is MISSING else "(empty)"
    labels = [first, *(one_line(value) if isinstance(value, str) else json_text(value) for value in values)]
    entry = widgets.Dropdown(options=[(label, place) for place, label in enumerate(labels)], value=0, layout=_wide())

    def fill(value: Any) -> None:
        entry.value = values.index(value) + 1 if value in values else 0

    if "default" in schema:
        fill(schema["default"])
    kind = "choice" if "enum" in schema else "true or false"
    return Field(
        _labelled(name, kind, schema, entry, required), lambda: values[entry.value - 1] if entry.value else empty, fill
    )


def _date(name: str, schema: Schema, required: bool, empty: Any) -> Field:
    import datetime

    entry = widgets.DatePicker(value=None, layout=_wide())

    def fill(value: Any) -> None:
        try:
            entry.value = datetime.date.fromisoformat(str(value))
        except ValueError:
            entry.value = None

    if schema.get("default"):
        fill(schema["default"])
    return Field(
        _labelled(name, "date", schema, entry, required),
        lambda: empty if entry.value is None else entry.value.isoformat(),
        fill,
    )


def _object(name: str, schema: Schema, root: Schema, required: bool, depth: int, empty: Any) -> Field:
    """A form inside the form. An optional one is left out when every field in it is empty."""
    fields = _fields(schema, root, depth + 1, prefix=f"{name}.")
    border = "1px solid rgba(128,128,128,0.4)"
    inner = widgets.VBox([field.box for field in fields.values()], layout=widgets.Layout(border=border, padding="4px"))
    whole = Form(inner, fields)

    def read() -> Any:
        values = whole.values()
        given = {key: value for key, value in values.items() if value not in ("", None)}
        return values if given or (required and empty is MISSING) else empty

    def fill(value: Any) -> None:
        if isinstance(value, Mapping):
            whole.fill(value)

    return Field(_labelled(name, "object", schema, inner, required), read, fill)


def _json(name: str, schema: Schema, required: bool, empty: Any) -> Field:
    """Lists and everything else are written as JSON text."""
    kind = str(schema.get("type") or "value")
    example = "[1, 2]" if kind == "array" else '{"key": "value"}' if kind == "object" else '"text", 3, true …'
    entry = widgets.Textarea(value="", placeholder=_example(schema) or f"JSON, for example {example}", layout=_wide())

    def read() -> Any:
        if not entry.value.strip():
            return empty
        try:
            return json.loads(entry.value)
        except (ValueError, RecursionError):
            raise FormError(f"{one_line(name)}: this is not JSON. Write for example {example}.") from None

    def fill(value: Any) -> None:
        entry.value = json.dumps(value, ensure_ascii=False)

    if "default" in schema and schema["default"] is not None:
        fill(schema["default"])
    return Field(_labelled(name, f"{kind} as JSON", schema, entry, required), read, fill)


def _example(schema: Schema) -> str:
    examples = schema.get("examples")
    return f"for example {json_text(examples[0], 60)}" if isinstance(examples, list) and examples else ""


def _labelled(name: str, kind: str, schema: Schema, entry: Any, required: bool = True) -> Any:
    """A field under its name, kind and description."""
    words = f"<b>{escape(one_line(name))}</b> ({escape(one_line(kind))}{'' if required else ', optional'})"
    description = schema.get("description")
    if isinstance(description, str) and description:
        words += f" <span>{escape(shown(description, 300))}</span>"
    if "const" in schema:
        words += f" {escape(json_text(schema['const']))}"
    if entry is None:
        return html(words)
    entry.tooltip = one_line(name)  # the name of the field for a screen reader
    return widgets.VBox([html(words), entry])


def _wide() -> Any:
    return widgets.Layout(width="auto", max_width="480px")
