"""The schema of a tool that somebody else has written: checked before it is believed, and then used to check calls.

The library `jsonschema` does both. It gets no network (a ``$ref`` may only point into the schema itself), no regular
expression that could run for ever, and no schema of unusual size. What it finds is told in our own words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from agentkit._jsonsafe import short
from agentkit._schema import ArgumentsError, Validate, _without_nulls
from agentkit.errors import did_you_mean
from agentkit.mcp._jsonschema import load_jsonschema

LARGEST: Final = 100_000  # characters of JSON text
DEEPEST: Final = 30  # levels
LONGEST_PATTERN: Final = 300  # characters

# A repeated group that repeats or chooses inside, as in (a+)+ or (a|a)*: such a pattern can take hours on a short text.
_RISKY = re.compile(r"\((?:[^()]|\([^()]*\))*[+*{|](?:[^()]|\([^()]*\))*\)\s*[+*{]")
_VALUES: Final = ("enum", "const", "default", "examples")  # under these stand values, not schemas
_KINDS: Final = {
    "string": "a string", "integer": "an integer", "number": "a number", "boolean": "true or false", "null": "null",
    "array": "a list", "object": "an object",
}  # fmt: skip
_WRONG: Final = {
    "minLength": "too short", "maxLength": "too long", "minItems": "too short a list", "maxItems": "too long a list",
    "uniqueItems": "a list with equal items", "minProperties": "too small an object", "maxProperties": "too large an object",
}  # fmt: skip


class BadSchema(Exception):
    """This schema cannot be used; the text says why."""


def remote_validator(schema: Mapping[str, Any]) -> Validate:
    """A function from the arguments to the arguments, which raises `ArgumentsError`.

    Raises:
        BadSchema: it is no JSON Schema, or one that is not safe to use.
        DefinitionError: the package ``jsonschema`` is missing.
    """
    checker = _checker(schema)

    def validate(arguments: dict[str, Any]) -> dict[str, Any]:
        problems = list(checker.iter_errors(arguments))
        places = [tuple(problem.absolute_path) for problem in problems if problem.instance is None]
        if places:  # in the strict form of a schema null stands for "not given"
            arguments = _without_nulls(arguments, places)
            problems = list(checker.iter_errors(arguments))
        if problems:
            raise ArgumentsError(" ".join(dict.fromkeys(_sentence(problem, schema) for problem in problems[:5])))
        return arguments

    return validate


def plain_schema(schema: Mapping[str, Any], clean: Any) -> dict[str, Any]:
    """A copy of a schema in which the texts for the reader (``description``, ``title``) went through ``clean``."""
    found: dict[str, Any] = _cleaned(schema, clean)
    return found


def _cleaned(part: Any, clean: Any) -> Any:
    if isinstance(part, list):
        return [_cleaned(item, clean) for item in part]
    if not isinstance(part, Mapping):
        return part
    copy: dict[str, Any] = {}
    for key, item in part.items():
        if key in ("description", "title") and isinstance(item, str):
            copy[key] = clean(item)
        else:
            copy[key] = item if key in _VALUES else _cleaned(item, clean)
    return copy


def _checker(schema: Mapping[str, Any]) -> Any:
    library = load_jsonschema()
    from referencing import Registry

    _look(schema)
    kind = library.validators.validator_for(dict(schema), default=library.Draft202012Validator)
    try:
        kind.check_schema(schema)
    except (library.SchemaError, RecursionError) as error:
        told = short(getattr(error, "message", "it never ends"), 200)
        raise BadSchema(f"Its inputSchema is not a JSON Schema: {told}.") from None
    # An empty registry: with the default one the library would fetch what a $ref names.
    return kind(_without_risk(dict(schema)), registry=Registry())


def _look(schema: Mapping[str, Any]) -> None:
    try:
        size = len(json.dumps(schema, ensure_ascii=False))
    except (TypeError, ValueError, RecursionError):
        raise BadSchema("Its inputSchema is nested too deeply, or is not JSON.") from None
    if size > LARGEST:
        raise BadSchema(f"Its inputSchema has {size:,} characters; {LARGEST:,} are allowed.")
    for part, depth in _parts(schema, 0):
        if depth > DEEPEST:
            raise BadSchema(f"Its inputSchema is nested more than {DEEPEST} levels deep.")
        for word in ("$ref", "$dynamicRef"):
            target = part.get(word)
            if isinstance(target, str) and not target.startswith("#"):
                raise BadSchema(f"Its inputSchema points outside itself ({word}: {target[:80]!r}).")
        named = part.get("patternProperties")
        if isinstance(named, Mapping) and any(_risky(pattern) for pattern in named):
            raise BadSchema("Its inputSchema holds a regular expression that could run for ever.")


def _parts(part: Any, depth: int) -> Iterator[tuple[Mapping[str, Any], int]]:
    if isinstance(part, Mapping):
        yield part, depth
    inside = part.values() if isinstance(part, Mapping) else part if isinstance(part, list) else ()
    for item in inside:
        if isinstance(item, Mapping | list):
            yield from _parts(item, depth + 1)


def _risky(pattern: object) -> bool:
    return isinstance(pattern, str) and (len(pattern) > LONGEST_PATTERN or _RISKY.search(pattern) is not None)


def _without_risk(part: Any) -> Any:
    """The schema as it is checked here: the model still reads such a pattern, and the server still checks it."""
    if isinstance(part, list):
        return [_without_risk(item) for item in part]
    if not isinstance(part, Mapping):
        return part
    return {
        key: item if key in _VALUES else _without_risk(item)
        for key, item in part.items()
        if not (key == "pattern" and _risky(item))
    }


def _sentence(problem: Any, root: Mapping[str, Any]) -> str:
    """What is wrong at one place, in our own words."""
    place, word, wanted, found = (
        list(problem.absolute_path),
        problem.validator,
        problem.validator_value,
        problem.instance,
    )
    here = _named(place)
    if word == "required":
        missing = [name for name in wanted if name not in found]
        return " ".join(f"{_named([*place, name])} is required, but missing." for name in missing)
    if word in ("additionalProperties", "unevaluatedProperties") and isinstance(found, Mapping):
        known = list((problem.schema.get("properties") or {}) if isinstance(problem.schema, Mapping) else ())
        extra = [name for name in found if name not in known]
        more = "".join(did_you_mean(name, known) for name in extra[:1])
        return f"{here} has no {', '.join(map(repr, extra[:3]))}. {more}It has: {', '.join(known) or 'nothing'}."
    if word in ("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf"):
        bound = {"minimum": "at least", "exclusiveMinimum": "greater than", "maximum": "at most",
                 "exclusiveMaximum": "less than", "multipleOf": "a multiple of"}[word]  # fmt: skip
        return f"{here} must be {bound} {wanted}, not {short(found)}."
    if word in _WRONG:
        return f"{here} is {_WRONG[word]} ({word}: {short(wanted)})."
    return f"{here} must be {_wanted(word, wanted)}, not {short(found)}."


def _wanted(word: str, wanted: Any) -> str:
    if word == "type":
        kinds = wanted if isinstance(wanted, list) else [wanted]
        return " or ".join(_KINDS.get(kind, short(kind)) for kind in kinds)
    if word == "enum":
        return "one of " + ", ".join(short(item) for item in wanted[:20])
    if word in ("const", "pattern", "format"):
        return {"const": "", "pattern": "a text that matches ", "format": "written as "}[word] + short(wanted)
    return f"as its schema says ({word})"


def _named(place: list[Any]) -> str:
    if not place:
        return "The object of arguments"
    text = str(place[0]) + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place[1:])
    return repr(text)
