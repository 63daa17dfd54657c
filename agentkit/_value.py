"""Frozen, slotted dataclasses that are quick to make and short to read.

A frozen dataclass writes each field through ``object.__setattr__``. A run makes several values in every step, so the
``__init__`` here writes the slots through their descriptors instead, which takes about half the time. The values behave like
any frozen dataclass: ``fields``, ``replace``, equality and pydantic see no difference.
"""

from __future__ import annotations

from dataclasses import MISSING, dataclass, field, fields
from typing import Any, TypeVar, dataclass_transform

C = TypeVar("C", bound=type)


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def value(cls: C) -> C:
    """Make a frozen, slotted dataclass that shows only the fields which differ from their defaults."""
    made: Any = dataclass(frozen=True, slots=True, repr=False)(cls)
    if "__repr__" not in cls.__dict__:
        made.__repr__ = _short_repr
    made.__init__ = _quick_init(made)
    return made  # type: ignore[no-any-return]


def _quick_init(made: Any) -> Any:
    names: dict[str, Any] = {"MISSING": MISSING}
    parameters, lines = [], []
    for part in fields(made):
        key = part.name
        names[f"set_{key}"] = getattr(made, key).__set__
        if part.default is not MISSING:
            names[f"default_{key}"] = part.default
            parameters.append(f"{key}=default_{key}")
        elif part.default_factory is not MISSING:
            names[f"make_{key}"] = part.default_factory
            parameters.append(f"{key}=MISSING")
            lines.append(f"    if {key} is MISSING: {key} = make_{key}()")
        else:
            parameters.append(key)
        lines.append(f"    set_{key}(self, {key})")
    space: dict[str, Any] = {}
    # Like dataclasses itself: only written code has real parameters, and with them the right errors and signature.
    exec(f"def __init__(self, {', '.join(parameters)}):\n" + "\n".join(lines), names, space)
    init = space["__init__"]
    init.__qualname__ = f"{made.__qualname__}.__init__"
    init.__annotations__ = made.__init__.__annotations__
    return init


def _short_repr(self: Any) -> str:
    shown = []
    for part in fields(self):
        found = getattr(self, part.name)
        default = part.default if part.default_factory is MISSING else part.default_factory()
        if default is MISSING or found != default:
            shown.append(f"{part.name}={found!r}")
    return f"{type(self).__name__}({', '.join(shown)})"
