"""Is an answer still the stub? Compared by what the code does, not by how it is written down."""

from __future__ import annotations

import dis
import functools
from types import CodeType, FunctionType
from typing import Any

_NOT_CODE = frozenset({"RESUME", "NOP", "CACHE", "EXTENDED_ARG", "NOT_TAKEN"})
_JUMPS = frozenset((*dis.hasjrel, *dis.hasjabs))
_STUB_BODIES = ("...", "return ...", "raise NotImplementedError", "raise NotImplementedError()")


def is_unattempted(answer: Any, stub: Any = None) -> bool:
    """True for None, Ellipsis, a function or class with an empty body, and for anything that equals the stub.

    ``stub`` is what the exercise's own stub gives when it is run (None when that is not known). What cannot be looked
    into was attempted.
    """
    try:
        return _is_unattempted(answer, stub)
    except Exception:
        return False


def _is_unattempted(answer: Any, stub: Any) -> bool:
    if answer is None or answer is ... or answer is NotImplemented:
        return True
    if isinstance(answer, (tuple, list)) and answer and all(is_unattempted(item) for item in answer):
        return True
    if isinstance(answer, dict) and answer and all(is_unattempted(item) for item in answer.values()):
        return True
    function = _function_of(answer)
    if function is not None:
        return _is_empty(function.__code__) or _same_function(function, _function_of(stub))
    if isinstance(answer, type):
        return _is_empty_class(answer) or _same_class(answer, stub)
    return stub is not None and type(answer) is type(stub) and bool(answer == stub)


def _function_of(answer: Any) -> FunctionType | None:
    """The plain function behind a function, a method, a partial, or a Tool."""
    for _ in range(5):
        if isinstance(answer, FunctionType):
            return answer
        if isinstance(answer, type):
            return None
        if isinstance(answer, functools.partial):
            answer = answer.func
        else:
            answer = getattr(answer, "__func__", None) or getattr(answer, "function", None)
    return None


def _shape(code: CodeType) -> list[tuple[str, Any]]:
    """The instructions without their positions, so that two texts of the same code compare equal."""
    steps = list(dis.get_instructions(code))
    place, places = 0, {}  # the offset of each instruction → how many real ones stand before it
    for step in steps:
        places[step.offset] = place
        place += step.opname not in _NOT_CODE
    shape: list[tuple[str, Any]] = []
    for step in steps:
        value = step.argval
        if step.opcode in _JUMPS:
            value = places.get(value, value)
        elif isinstance(value, CodeType):
            value = _shape(value)
        if step.opname not in _NOT_CODE:
            shape.append((step.opname, value))
    return shape


@functools.cache
def _empty_shapes(kind: str) -> tuple[list[tuple[str, Any]], ...]:
    shapes = []
    for body in _STUB_BODIES:
        namespace: dict[str, Any] = {}
        exec(f"{kind} f():\n    {body}\n", namespace)
        shapes.append(_shape(namespace["f"].__code__))
    return tuple(shapes)


def _is_empty(code: CodeType) -> bool:
    return _shape(code) in _empty_shapes("def") or _shape(code) in _empty_shapes("async def")


def _same_function(one: FunctionType, other: FunctionType | None) -> bool:
    return other is not None and one.__name__ == other.__name__ and _shape(one.__code__) == _shape(other.__code__)


def _members(cls: type) -> dict[str, Any]:
    """What the class itself defines: its functions, and its other names that do not begin with an underscore."""
    found: dict[str, Any] = {}
    for name, value in vars(cls).items():
        if name.startswith("__annot"):  # since Python 3.14 a class keeps its annotations as a function
            continue
        inner = getattr(value, "__func__", None) or getattr(value, "fget", None) or value
        if isinstance(inner, FunctionType) and not _is_generated(inner):
            found[name] = inner
        elif not name.startswith("_") and name != "model_config":
            found[name] = value
    return found


def _is_generated(function: FunctionType) -> bool:
    """Functions that `dataclass` writes are no work of the learner."""
    return function.__code__.co_filename == "<string>"


def _annotations(cls: type) -> frozenset[str]:
    try:
        return frozenset(getattr(cls, "__annotations__", ()))
    except NameError:
        return frozenset()


def _is_empty_class(cls: type) -> bool:
    members = _members(cls)
    functions = [value for value in members.values() if isinstance(value, FunctionType)]
    if len(functions) != len(members) or _annotations(cls):
        return False
    return all(_is_empty(function.__code__) for function in functions)


def _same_class(one: type, other: Any) -> bool:
    if not isinstance(other, type) or _annotations(one) != _annotations(other):
        return False
    mine, theirs = _members(one), _members(other)
    if mine.keys() != theirs.keys():
        return False
    for name, value in mine.items():
        twin = theirs[name]
        if isinstance(value, FunctionType) and isinstance(twin, FunctionType):
            if _shape(value.__code__) != _shape(twin.__code__):
                return False
        elif repr(value) != repr(twin):
            return False
    return True
