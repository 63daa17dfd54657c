"""The library `jsonschema`, imported without what takes seconds, and kept from what could take for ever.

When it is imported it also tries to import a checker for the text format "iri", which builds a whole grammar: about two
seconds of computing. JupyterLab brings that package, so in a notebook the first call of a tool would wait for it.
"""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable
from typing import Any, Final

from agentkit.errors import DefinitionError

_SLOW = "rfc3987_syntax"
MOST_WORK: Final = 200_000  # keywords and listed values that one check may look at; a second or two


def load_jsonschema() -> Any:
    """The module. Raises `DefinitionError` when it is not installed."""
    hidden = "jsonschema" not in sys.modules and _SLOW not in sys.modules
    if hidden:
        sys.modules[_SLOW] = None  # type: ignore[assignment]  # to an import this means "not installed", which is allowed
    try:
        import jsonschema
    except ImportError:
        told = 'Tools of other servers need the package jsonschema: pip install "agentkit-course[mcp]".'
        raise DefinitionError(told) from None
    finally:
        if hidden:
            del sys.modules[_SLOW]
    return jsonschema


# --- a validator that always ends ----------------------------------------------------------------------------------------


class TooMuch(Exception):
    """This check would take too long."""


class _Work(threading.local):
    left = 0


_work = _Work()


def all_errors(checker: Any, instance: Any) -> list[Any]:
    """What a checker of a class made by `tame` finds. Raises `TooMuch`."""
    _work.left = MOST_WORK
    return list(checker.iter_errors(instance))


@functools.lru_cache(maxsize=32)
def tame(kind: Any, patterns: bool) -> Any:
    """A class of the library that runs no regular expression and gives up after `MOST_WORK`.

    Keywords are switched off here, in the library, and not in the schema: so it does not matter by which way (a ``$ref``, a
    property with a strange name) the library comes to a pattern.

    Args:
        kind: the library's class for one draft.
        patterns: whether the schema has patterns. What they would have decided is then left open: a schema without its
            pattern accepts more, and what must not accept it (``not``, ``oneOf``, …) would refuse more.
    """
    words: dict[str, Any] = dict(kind.VALIDATORS)
    off = ["pattern", "patternProperties"]
    if patterns:
        off += ["not", "if", "unevaluatedItems", "unevaluatedProperties"]
        words["oneOf"] = words["anyOf"]
        words["additionalProperties"] = _unless("patternProperties", words["additionalProperties"])
        if "contains" in words:
            words["contains"] = _without("maxContains", words["contains"])
    words |= dict.fromkeys(off, _nothing)
    return load_jsonschema().validators.extend(kind, {word: _counted(check) for word, check in words.items()})


def _nothing(validator: Any, word: Any, instance: Any, schema: Any) -> tuple[()]:
    return ()


def _counted(check: Callable[..., Any]) -> Callable[..., Any]:
    def counted(validator: Any, word: Any, instance: Any, schema: Any) -> Any:
        _work.left -= 1 + (len(word) if isinstance(word, list | dict) else 0)
        if _work.left < 0:
            raise TooMuch
        return check(validator, word, instance, schema)

    return counted


def _unless(other: str, check: Callable[..., Any]) -> Callable[..., Any]:
    return lambda validator, word, instance, schema: () if other in schema else check(validator, word, instance, schema)


def _without(other: str, check: Callable[..., Any]) -> Callable[..., Any]:
    def checked(validator: Any, word: Any, instance: Any, schema: Any) -> Any:
        return check(validator, word, instance, {key: item for key, item in schema.items() if key != other})

    return checked
