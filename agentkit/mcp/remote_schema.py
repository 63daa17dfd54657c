"""The schema of a tool that somebody else has written: checked before it is believed, and then used to check calls.

The library `jsonschema` does both. It gets no network (a ``$ref`` may only point into the schema itself), no regular
expression at all (some run for ever, and no look at one tells which; the server checks its patterns itself), and no schema of
unusual size. What it finds is told in our own words.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from agentkit._jsonsafe import short
from agentkit._schema import ArgumentsError, Validate, _without_nulls
from agentkit.errors import DefinitionError, did_you_mean
from agentkit.mcp._jsonschema import TooMuch, all_errors, load_jsonschema, tame
from agentkit.mcp._schema_places import LISTED, NAMED, ONE, BadSchema, check_references
from agentkit.safety.untrusted import neutral

LARGEST: Final = 100_000  # characters of JSON text
DEEPEST: Final = 30  # levels
LONGEST_NAME: Final = 200  # characters of the name of a property

# Texts that mean something: a cleaned one would be another one, so it is clean already or the tool is refused.
_EXACT: Final = frozenset({
    "$anchor", "$dynamicAnchor", "$dynamicRef", "$id", "$recursiveRef", "$ref", "const", "dependentRequired", "enum", "id",
    "required",
})  # fmt: skip
_KINDS: Final = {
    "string": "a string", "integer": "an integer", "number": "a number", "boolean": "true or false", "null": "null",
    "array": "a list", "object": "an object",
}  # fmt: skip
_WRONG: Final = {
    "minLength": "too short", "maxLength": "too long", "minItems": "too short a list", "maxItems": "too long a list",
    "uniqueItems": "a list with equal items", "minProperties": "too small an object", "maxProperties": "too large an object",
}  # fmt: skip

__all__ = ["BadSchema", "plain_schema", "remote_validator"]


def remote_validator(schema: Mapping[str, Any]) -> Validate:
    """A function from the arguments to the arguments, which raises `ArgumentsError`.

    Raises:
        BadSchema: it is no JSON Schema, or one that is not safe to use.
        DefinitionError: the package ``jsonschema`` is missing.
    """
    try:
        checker = _checker(schema)
    except (BadSchema, DefinitionError):
        raise
    except Exception:  # whatever a strange schema does to the library, it hides only its own tool
        raise BadSchema("Its inputSchema is not a JSON Schema.") from None

    def validate(arguments: dict[str, Any]) -> dict[str, Any]:
        try:
            problems = all_errors(checker, arguments)
            places = [tuple(problem.absolute_path) for problem in problems if problem.instance is None]
            if places:  # in the strict form of a schema null stands for "not given"
                arguments = _without_nulls(arguments, places)
                problems = all_errors(checker, arguments)
        except TooMuch:
            raise ArgumentsError("There is too much in these arguments to check them by the schema.") from None
        if problems:
            told = dict.fromkeys(_sentence(problem) for problem in problems[:5])
            raise ArgumentsError(neutral(" ".join(told)))
        return arguments

    return validate


# --- what the model reads ------------------------------------------------------------------------------------------------


def plain_schema(schema: Mapping[str, Any], clean: Callable[[str], str]) -> dict[str, Any]:
    """A copy of a schema for the model, in which every text went through ``clean`` that may be changed.

    Raises:
        BadSchema: a name or a value that must stay as it is holds invisible or control characters, or one of our marks.
    """
    return {_name(key): _plain_value(key, item, clean) for key, item in schema.items()}


def _plain(part: Any, clean: Callable[[str], str]) -> Any:
    return plain_schema(part, clean) if isinstance(part, Mapping) else _cleaned(part, clean)


def _plain_value(key: str, item: Any, clean: Callable[[str], str]) -> Any:
    if key in NAMED and isinstance(item, Mapping):
        return {_name(name): _exact(key, inner) if isinstance(inner, list) else _plain(inner, clean)
                for name, inner in item.items()}  # fmt: skip
    if key in LISTED and isinstance(item, list):
        return [_plain(inner, clean) for inner in item]
    if key in ONE:
        return _plain(item, clean)
    return _exact(key, item) if key in _EXACT else _cleaned(item, clean)


def _cleaned(item: Any, clean: Callable[[str], str]) -> Any:
    if isinstance(item, str):
        return clean(item)
    if isinstance(item, list):
        return [_cleaned(inner, clean) for inner in item]
    if isinstance(item, Mapping):
        return {clean(key): _cleaned(inner, clean) for key, inner in item.items()}
    return item


def _name(name: str) -> str:
    if len(name) > LONGEST_NAME or not name.isprintable() or neutral(name) != name:
        raise BadSchema(
            f"A name in its inputSchema is too long, or holds invisible or control characters: {name[:60]!a}."
        )
    return name


def _exact(key: str, item: Any) -> Any:
    if isinstance(item, str) and neutral(item) != item:
        raise BadSchema(f"A text of {key} in its inputSchema holds invisible or control characters: {item[:60]!a}.")
    for inner in item if isinstance(item, list) else item.values() if isinstance(item, Mapping) else ():
        _exact(key, inner)
    for name in item if isinstance(item, Mapping) else ():
        _exact(key, name)
    return item


# --- looking at it -------------------------------------------------------------------------------------------------------


def _checker(schema: Mapping[str, Any]) -> Any:
    library = load_jsonschema()
    from referencing import Registry

    patterns = _look(schema)
    kind = library.validators.validator_for(dict(schema), default=library.Draft202012Validator)
    if kind is library.Draft3Validator:
        raise BadSchema("Its inputSchema is written in draft 3 of JSON Schema; draft 4 and later are read here.")
    try:
        # Without a checker of formats: a pattern may be written in the regular expressions of another language.
        kind.check_schema(_bare(schema, 200), format_checker=None)
    except (library.SchemaError, RecursionError) as error:
        told = short(neutral(getattr(error, "message", "it never ends")), 200)
        raise BadSchema(f"Its inputSchema is not a JSON Schema: {told}.") from None
    bare = _bare(schema)
    check_references(bare, kind)
    # An empty registry: with the default one the library would fetch what a $ref names.
    return tame(kind, patterns)(bare, registry=Registry())


def _look(schema: Mapping[str, Any]) -> bool:
    """Whether the schema has patterns. Raises `BadSchema` for what is too large or points outside."""
    try:
        size = len(json.dumps(schema, ensure_ascii=False))
    except (TypeError, ValueError, RecursionError):
        raise BadSchema("Its inputSchema is nested too deeply, or is not JSON.") from None
    if size > LARGEST:
        raise BadSchema(f"Its inputSchema has {size:,} characters; {LARGEST:,} are allowed.")
    patterns = False
    for part, depth in _parts(schema, 0):
        if depth > DEEPEST:
            raise BadSchema(f"Its inputSchema is nested more than {DEEPEST} levels deep.")
        for word in ("$ref", "$dynamicRef", "$recursiveRef"):
            target = part.get(word)
            if isinstance(target, str) and not target.startswith("#"):
                raise BadSchema(f"Its inputSchema points outside itself ({word}: {target[:80]!a}).")
        patterns = patterns or isinstance(part.get("pattern"), str) or "patternProperties" in part
    return patterns


def _parts(part: Any, depth: int) -> Iterator[tuple[Mapping[str, Any], int]]:
    if isinstance(part, Mapping):
        yield part, depth
    inside = part.values() if isinstance(part, Mapping) else part if isinstance(part, list) else ()
    for item in inside:
        if isinstance(item, Mapping | list):
            yield from _parts(item, depth + 1)


def _bare(part: Any, most: int | None = None, key: str = "") -> Any:
    """A copy without ``$schema``: where the library meets it again, it would go on with its own class instead of ours.

    With ``most`` lists of values are cut, for the check that all are different takes long for thousands of unlike ones.
    """
    if isinstance(part, list):
        return [_bare(item, most) for item in (part if key in LISTED else part[:most])]
    if not isinstance(part, Mapping):
        return part
    return {
        name: _bare(item, most, name)
        for name, item in part.items()
        if not (name == "$schema" and isinstance(item, str))
    }


# --- what is wrong with arguments ----------------------------------------------------------------------------------------


def _sentence(problem: Any) -> str:
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
        return f"{here} has no {', '.join(map(repr, extra[:3]))}. {more}It has: {', '.join(known[:30]) or 'nothing'}."
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
    if word == "const":
        return short(wanted)
    return f"as its schema says ({word})"


def _named(place: list[Any]) -> str:
    if not place:
        return "The object of arguments"
    text = str(place[0]) + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place[1:])
    return repr(text)
