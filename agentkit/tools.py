"""A function becomes a tool: a name and a description that the model reads, a JSON Schema, and a validated call.

The idea is function calling as the providers define it: the model never runs code, it writes a name and a JSON object,
and the program decides what happens with them.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, overload

from agentkit._docstring import read_docstring
from agentkit._jsonsafe import canonical
from agentkit._schema import Validate, arguments_of, unwrap
from agentkit._strict import strict_form
from agentkit.errors import DefinitionError
from agentkit.messages import ToolSpec

Permission: TypeAlias = Literal["read", "write", "dangerous"]


@dataclass(frozen=True, eq=False, repr=False)
class Tool:
    """A function with everything that a model and the registry need to know about it. Made by `tool`.

    Attributes:
        name, description, parameters: what the model sees; ``parameters`` is a JSON Schema of type object.
        function: what runs. Calling the tool calls it directly, without the registry's checks.
        validate: maps a JSON object to keyword arguments; raises `agentkit._schema.ArgumentsError`.
        permission: ``read`` changes nothing, ``write`` changes something, ``dangerous`` cannot be taken back.
        approval: whether a person must approve each call (by default for dangerous tools only).
        timeout: seconds until the registry gives up waiting, or None.
        blocking: False promises that a plain function is quick, so an async run may call it in its own thread.
        rule: the business rule, or None: a plain function of the same arguments that raises `ToolError` to refuse a call that
            is well formed but not allowed. It runs before anything is reserved or done.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    function: Callable[..., Any]
    validate: Validate
    permission: Permission = "read"
    approval: bool = False
    timeout: float | None = None
    blocking: bool = True
    rule: Callable[..., Any] | None = None

    @functools.cached_property
    def fingerprint(self) -> str:
        """16 digits that change when the name, the description, the schema or the permission does (SHA-256)."""
        parts = [self.name, self.description, self.parameters, self.permission, self.approval]
        return hashlib.sha256(canonical(parts).encode("utf-8")).hexdigest()[:16]

    @functools.cached_property
    def spec(self) -> ToolSpec:
        return ToolSpec(self.name, self.description, self.parameters)

    @functools.cached_property
    def is_async(self) -> bool:
        target, _ = unwrap(self.function)
        return inspect.iscoroutinefunction(target) or inspect.isasyncgenfunction(target)

    @functools.cached_property
    def _strict(self) -> tuple[dict[str, Any] | None, str]:
        return strict_form(self.parameters)

    @property
    def strict(self) -> bool:
        """Whether the schema has a strict form (closed objects, every key required)."""
        return self._strict[0] is not None

    @property
    def strict_reason(self) -> str:
        """Why there is no strict form; empty when there is one."""
        return self._strict[1]

    @property
    def strict_parameters(self) -> dict[str, Any] | None:
        """The strict form of the schema, in which null stands for the default of an optional parameter."""
        return self._strict[0]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)

    def __get__(self, instance: object, owner: type | None = None) -> Tool:
        """A tool made from a method in a class body is bound like the method itself."""
        if instance is None:
            return self
        rule = types.MethodType(self.rule, instance) if inspect.isfunction(self.rule) else self.rule
        return replace(self, function=types.MethodType(self.function, instance), rule=rule)

    def __repr__(self) -> str:
        flag = ", approval" if self.approval else ""
        return f"Tool({self.name}({', '.join(self.parameters.get('properties', {}))}), {self.permission}{flag})"


@overload
def tool(function: Callable[..., Any], /) -> Tool: ...
@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    permission: Permission | None = None,
    approval: bool | None = None,
    timeout: float | None = None,
    blocking: bool | None = None,
    rule: Callable[..., Any] | None = None,
) -> Callable[[Callable[..., Any]], Tool]: ...
def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    permission: Permission | None = None,
    approval: bool | None = None,
    timeout: float | None = None,
    blocking: bool | None = None,
    rule: Callable[..., Any] | None = None,
) -> Tool | Callable[[Callable[..., Any]], Tool]:
    """Make a tool of a function, as ``@tool`` or ``@tool(permission="write", timeout=2.0)``.

    The name comes from the function, the description from its docstring, the schema from its type hints, and the
    description of each parameter from ``Annotated[..., Field(description=…)]`` or from the docstring (Google, NumPy or
    Sphinx style). Plain and async functions, bound methods, partials and callable objects are accepted. Given a tool, it makes
    a changed one: what is not given stays as it was, so another name never loses a permission.

    Raises:
        DefinitionError: the function has no docstring, a parameter has no type hint or one that JSON cannot carry.
    """
    if function is None:
        options: dict[str, Any] = {
            "name": name, "description": description, "permission": permission,
            "approval": approval, "timeout": timeout, "blocking": blocking, "rule": rule,
        }  # fmt: skip
        return lambda found: _make(found, **options)
    return _make(function, name, description, permission, approval, timeout, blocking, rule)


def _make(
    function: Callable[..., Any],
    name: str | None = None,
    description: str | None = None,
    permission: Permission | None = None,
    approval: bool | None = None,
    timeout: float | None = None,
    blocking: bool | None = None,
    rule: Callable[..., Any] | None = None,
) -> Tool:
    if isinstance(function, Tool):
        old = function
        name, description = name or old.name, description or old.description
        if approval is None and permission in (None, old.permission):
            approval = old.approval
        permission, timeout = permission or old.permission, timeout or old.timeout
        blocking, function = old.blocking if blocking is None else blocking, old.function
        rule = rule or old.rule
    permission = permission or "read"
    if not callable(function):
        raise DefinitionError(f"A tool is made from a function, not from a value of type {type(function).__name__}.")
    _check_options(permission, timeout, rule)
    target, _ = unwrap(function)
    own = getattr(target, "__name__", "")
    name = (type(function).__name__ if own == "__call__" else own) if name is None else name
    if not isinstance(name, str):
        raise DefinitionError(f"The name of a tool is a text, not a value of type {type(name).__name__}.")
    if not name.strip() or name == "<lambda>":
        raise DefinitionError("This function has no name. Use `def`, or give one with tool(name=…).")
    # What the model reads: the description, the schema, and a description of each parameter.
    text, documented = read_docstring(target.__doc__ or (type(function).__doc__ if own == "__call__" else ""))
    text = text if description is None else description
    if not text.strip():
        raise DefinitionError(f"Give {name!r} a docstring. It is the description by which the model chooses a tool.")
    validate, parameters = arguments_of(function, name)
    for key, words in documented.items():
        if key in parameters["properties"]:
            parameters["properties"][key].setdefault("description", words)
    approval = permission == "dangerous" if approval is None else approval
    return Tool(name, text, parameters, function, validate, permission, approval, timeout, blocking is not False, rule)


def _check_options(permission: str, timeout: float | None, rule: Any) -> None:
    if permission not in ("read", "write", "dangerous"):
        raise DefinitionError(f'permission is "read", "write" or "dangerous", not {permission!r}.')
    if timeout is not None and not timeout > 0:
        raise DefinitionError(f"timeout is a number of seconds greater than 0, not {timeout!r}.")
    if rule is not None and (not callable(rule) or inspect.iscoroutinefunction(rule)):
        raise DefinitionError(
            "rule is a plain function that takes the tool's arguments and raises ToolError to refuse."
        )
