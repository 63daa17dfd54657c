"""Validation errors as sentences that a model can act on, in our own words, so that they never change with a library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agentkit._jsonsafe import short
from agentkit.errors import did_you_mean

_BOUNDS = {"gt": "greater than", "ge": "at least", "lt": "less than", "le": "at most", "multiple_of": "a multiple of"}
_ABSENT = ("missing", "missing_argument", "missing_keyword_only_argument")
MOST_LINKS = 50


def explain(problems: Sequence[Mapping[str, Any]], schema: Mapping[str, Any], arguments: Any) -> str:
    """One sentence for each place that is wrong (five at most), from pydantic's error records and the JSON Schema."""
    sentences: dict[str, None] = {}
    for problem in problems:
        sentences[_sentence(problem, list(real_place(problem, arguments)), schema)] = None
    return " ".join(list(sentences)[:5])


def real_place(problem: Mapping[str, Any], arguments: Any) -> tuple[Any, ...]:
    """Where in the arguments a problem stands. A union also names the branch that it tried; those parts are left out."""
    here, place = arguments, []
    parts = problem["loc"]
    for number, part in enumerate(parts):
        inside = isinstance(here, Mapping) and part in here
        inside = inside or (isinstance(here, list) and isinstance(part, int) and 0 <= part < len(here))
        if inside:
            here = here[part]
        elif not (number == len(parts) - 1 and problem["type"] in _ABSENT):
            continue
        place.append(part)
    return tuple(place)


def _sentence(problem: Mapping[str, Any], place: list[Any], schema: Mapping[str, Any]) -> str:
    kind, context = problem["type"], problem.get("ctx", {})
    name = _path(place)
    found = short(problem["input"])
    if kind in _ABSENT:
        return f"{name} is required."
    if kind in ("unexpected_keyword_argument", "extra_forbidden"):
        known = list(resolve(schema, place[:-1]).get("properties", {}))
        accepted = f"The parameters are: {', '.join(known)}." if known else "It takes no parameters."
        return f"{name} is not a parameter. {did_you_mean(str(place[-1]), known)}{accepted}"
    if kind in ("value_error", "assertion_error") and "error" in context:
        return f"{name}: {str(context['error'])[:500]}."
    for bound, words in (("min_length", "at least"), ("max_length", "at most")):
        if bound in context:
            unit = "characters" if isinstance(problem["input"], str) else "items"
            return f"{name} must have {words} {context[bound]} {unit}, but it is {found}."
    for bound, words in _BOUNDS.items():
        if bound in context:
            return f"{name} must be {words} {context[bound]}, but it is {found}."
    return f"{name} must be {describe(resolve(schema, place), schema)}, but it is {found}."


def _path(place: list[Any]) -> str:
    parts = [f"[{part}]" if isinstance(part, int) else f".{part[:60]}{'…' if len(part) > 60 else ''}" for part in place]
    return "".join(parts[:12]).lstrip(".") or "the arguments"


def resolve(schema: Mapping[str, Any], place: Sequence[Any]) -> Mapping[str, Any]:
    """The part of a JSON Schema that stands at a place; an empty schema when the place is not described."""
    here = _follow(schema, schema)
    for part in place:
        options = [_follow(option, schema) for option in (here, *here.get("anyOf", ()), *here.get("oneOf", ()))]
        key = "items" if isinstance(part, int) else "properties"
        inner: Any = next((option[key] for option in options if key in option), {})
        step = inner if key == "items" else inner.get(part, {})
        here = _follow(step, schema)
    return here


def _follow(part: Any, root: Mapping[str, Any]) -> Mapping[str, Any]:
    for _ in range(MOST_LINKS):  # a foreign schema may lead in a circle
        if not (isinstance(part, Mapping) and "$ref" in part):
            break
        part = root.get("$defs", {}).get(str(part["$ref"]).rpartition("/")[2], {})
    return part if isinstance(part, Mapping) else {}


def describe(part: Mapping[str, Any], root: Mapping[str, Any]) -> str:
    """What a schema asks for, in a few words: ``one of 'fast', 'full'``, ``an integer or null``."""
    part = _follow(part, root)
    if "enum" in part or "const" in part:
        return "one of " + ", ".join(repr(value) for value in part.get("enum", [part.get("const")]))
    options = part.get("anyOf") or part.get("oneOf")
    if options:
        return " or ".join(dict.fromkeys(describe(option, root) for option in options))
    words = {
        "string": "a string", "integer": "an integer", "number": "a number", "boolean": "true or false",
        "null": "null", "array": "a list", "object": "an object",
    }.get(str(part.get("type")), "a value of the type in its schema")  # fmt: skip
    if part.get("format"):
        forms = {"date": " (YYYY-MM-DD)", "date-time": " (YYYY-MM-DDTHH:MM:SS)"}
        words = f"a {part['format']}{forms.get(part['format'], '')}"
    if "pattern" in part:
        words += f" that matches {part['pattern']}"
    if part.get("type") == "object" and part.get("properties"):
        words += f" with {', '.join(part['properties'])}"
    return words
