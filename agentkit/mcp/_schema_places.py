"""Where in a JSON Schema other schemas stand, and where its references lead.

A key alone does not tell: below ``properties`` the key ``default`` is the name of a property and its value a schema; in a
schema it is a keyword, and its value is anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

# Keywords whose value is a schema, a list of schemas, or an object of schemas. Some are more than one of these.
ONE: Final = frozenset({
    "additionalItems", "additionalProperties", "contains", "contentSchema", "else", "if", "items", "not", "propertyNames",
    "then", "unevaluatedItems", "unevaluatedProperties",
})  # fmt: skip
LISTED: Final = frozenset({"allOf", "anyOf", "items", "oneOf", "prefixItems"})
NAMED: Final = frozenset({
    "$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties",
})  # fmt: skip
_STORED: Final = ("$defs", "definitions", "contentSchema")  # used only where something refers to them
# These judge the same value as the schema in which they stand; the others judge a part of it.
_SAME: Final = frozenset({"allOf", "anyOf", "dependencies", "dependentSchemas", "else", "if", "not", "oneOf", "then"})
_REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")

MOST_SCHEMAS: Final = 10_000  # that judge one value
MOST_LEVELS: Final = 50  # of schemas that judge one value


class BadSchema(Exception):
    """This schema cannot be used; the text says why."""


def check_references(schema: Mapping[str, Any], checker: type[Any]) -> None:
    """Follow every reference, and count how many schemas judge one value.

    Ten lines can refer to each other so that the number doubles at each line. The count is a sum over the graph, each schema
    once, so counting does not take long where checking would.

    Args:
        schema: an object schema that has been checked against its draft.
        checker: the library's class for that draft.

    Raises:
        BadSchema: a reference leads nowhere or in a circle, or there are too many.
    """
    same = _graph(schema, checker)
    done: dict[int, tuple[int, int]] = {}
    above: set[int] = set()

    def count(key: int) -> tuple[int, int]:
        """How many schemas judge a value where this one does, itself included, and how many levels deep."""
        if key in done:
            return done[key]
        if key in above:
            raise BadSchema("Its inputSchema refers to itself in a circle, so nothing could be checked with it.")
        if len(above) >= MOST_LEVELS:
            raise BadSchema(f"Its inputSchema refers over more than {MOST_LEVELS} levels.")
        above.add(key)
        below = [count(other) for other in same[key]]
        above.discard(key)
        done[key] = 1 + sum(total for total, _ in below), 1 + max((levels for _, levels in below), default=0)
        if done[key][0] > MOST_SCHEMAS:
            raise BadSchema(
                f"With all that its inputSchema refers to, more than {MOST_SCHEMAS:,} schemas judge one value."
            )
        if done[key][1] > MOST_LEVELS:
            raise BadSchema(f"Its inputSchema refers over more than {MOST_LEVELS} levels.")
        return done[key]

    for key in same:
        count(key)


def _graph(schema: Mapping[str, Any], checker: type[Any]) -> dict[int, list[int]]:
    """For each schema that can come into use, by its id: those that judge the same value."""
    from referencing import Registry
    from referencing.jsonschema import DRAFT202012, specification_with

    kind = specification_with(checker.ID_OF(checker.META_SCHEMA), default=DRAFT202012)
    root = kind.create_resource(schema)
    found: dict[int, list[int]] = {}
    waiting: list[tuple[Any, Any]] = [(schema, Registry().resolver_with_root(root))]
    while waiting:
        part, resolver = waiting.pop()
        if id(part) in found or not isinstance(part, Mapping):
            continue
        resolver = resolver.in_subresource(kind.create_resource(part))
        found[id(part)] = same = []
        for key, inner in _inside(part):
            waiting.append((inner, resolver))
            if key in _SAME and isinstance(inner, Mapping):
                same.append(id(inner))
        for key in _REFERENCES:
            if key in part:
                target = _target(part[key], key, resolver)
                waiting.append((target.contents, target.resolver))
                if isinstance(target.contents, Mapping):
                    same.append(id(target.contents))
    return found


def _inside(part: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The schemas that stand directly in a schema and are used with it, each with its keyword."""
    for key, item in part.items():
        if key in _STORED:
            continue
        if key in NAMED and isinstance(item, Mapping):
            yield from ((key, inner) for inner in item.values())
        elif key in LISTED and isinstance(item, list):
            yield from ((key, inner) for inner in item)
        elif key in ONE:
            yield key, item


def _target(reference: Any, key: str, resolver: Any) -> Any:
    from referencing.exceptions import Unresolvable

    if not isinstance(reference, str):
        raise BadSchema(f"The {key} in its inputSchema is no text.")
    try:
        target = resolver.lookup(reference)
    except (Unresolvable, AttributeError, TypeError, ValueError):
        target = None
    if target is None or not isinstance(target.contents, Mapping | bool):
        raise BadSchema(f"Its inputSchema refers to {reference[:80]!a}, where no schema stands.")
    return target
