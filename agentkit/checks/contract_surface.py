"""How a contract reaches a hand-made piece: it looks at what the object has, so that a notebook needs one line."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from agentkit.checks.exercise import CheckFailed
from agentkit.checks.faces import shown
from agentkit.messages import Message, ToolResult

_MISSING = object()


@dataclass(frozen=True, slots=True)
class Parameters:
    """What a callable takes: names of its positional and of all its parameters, and whether it takes more."""

    positional: tuple[str, ...]
    names: tuple[str, ...]
    more_positional: bool
    more_keywords: bool


def parameters_of(function: Callable[..., Any]) -> Parameters:
    """The parameters of a function, method, class or callable object (without ``self``)."""
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        raise CheckFailed(f"{shown(function)} cannot be called") from None
    kinds = inspect.Parameter
    return Parameters(
        tuple(p.name for p in found if p.kind in (kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD)),
        tuple(p.name for p in found if p.kind not in (kinds.VAR_POSITIONAL, kinds.VAR_KEYWORD)),
        any(p.kind is kinds.VAR_POSITIONAL for p in found),
        any(p.kind is kinds.VAR_KEYWORD for p in found),
    )


def part(thing: Any, *names: str, default: Any = _MISSING) -> Any:
    """The first of these that a thing has, as a key or as an attribute. Raises `CheckFailed` when there is none."""
    for name in names:
        if isinstance(thing, Mapping):
            if name in thing:
                return thing[name]
        elif hasattr(thing, name):
            return getattr(thing, name)
    if default is not _MISSING:
        return default
    raise CheckFailed(f"there is no `{names[0]}`")


def method_of(thing: Any, *names: str) -> Callable[..., Any] | None:
    """The first of these that a thing has and that can be called, or None."""
    for name in names:
        found = part(thing, name, default=None)
        if callable(found) and not isinstance(found, type):
            return found
    return None


@dataclass(frozen=True, slots=True)
class Answer:
    """A result in one shape, whatever it came as. ``error`` is None, a text, or has a code and a message."""

    ok: bool
    data: Any
    error: Any

    @property
    def code(self) -> str:
        return "" if isinstance(self.error, str) else str(part(self.error, "code", default="") or "")

    @property
    def message(self) -> str:
        if isinstance(self.error, str):
            return self.error
        return str(part(self.error, "message", default="") or "")


def read_answer(value: Any) -> Answer | None:
    """The result in a value: a ToolResult, a Message with one, an object or dict with ``ok``, or that as JSON."""
    if isinstance(value, Message):
        value = value.result
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return None
    if isinstance(value, ToolResult):
        return Answer(value.ok, value.data, value.error)
    ok = part(value, "ok", default=None)
    if ok is None:
        return None
    return Answer(bool(ok), part(value, "data", default=None), part(value, "error", default=None))
