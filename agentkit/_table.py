"""Tools by name, and their forms for each kind of receiver. What may run, and how, is the registry's business."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Iterator
from typing import Any, Literal

from agentkit._jsonsafe import canonical
from agentkit._wire import tool_form, wire_name
from agentkit.errors import DefinitionError, did_you_mean
from agentkit.tools import Tool, tool


class ToolTable:
    """The part of a registry that holds tools. A name may also be given as it is written on the wire."""

    def __init__(self) -> None:
        self._tools: dict[str, Tool] = {}
        self._wire_names: dict[str, str] = {}

    def add(self, item: Tool | Callable[..., Any]) -> Tool:
        """Register a tool, or make one of a function. The same function again (a cell run twice) replaces itself.

        Raises:
            DefinitionError: another function is already registered under this name, or no tool can be made of it.
        """
        made: Tool = item if hasattr(item, "validate") else tool(item)  # type: ignore[assignment]
        other = self._tools.get(made.name) or self._tools.get(self._wire_names.get(wire_name(made.name), ""))
        if other is not None and _origin(other) != _origin(made):
            raise DefinitionError(
                f"A different tool named {other.name!r} is already registered. Give one of them another name: tool(name=…)."
            )
        self._tools[made.name] = made
        self._wire_names[wire_name(made.name)] = made.name
        return made

    def get(self, name: str) -> Tool:
        """The tool of this name. Raises `DefinitionError` when there is none; `call` reports that as a result instead."""
        found = self.find(name)
        if found is None:
            raise DefinitionError(f"There is no tool {name!r}. {did_you_mean(name, self._tools)}{self.listed()}")
        return found

    def find(self, name: object) -> Tool | None:
        """The tool of this name, also as it is written on the wire; None when there is none."""
        if not isinstance(name, str):
            return None
        return self._tools.get(name) or self._tools.get(self._wire_names.get(name, ""))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._tools)

    def listed(self) -> str:
        """The names in a sentence, for whoever asked for a tool that is not there."""
        return f"The tools are: {', '.join(self._tools)}." if self._tools else "No tools are registered."

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

    def __contains__(self, name: object) -> bool:
        return self.find(name) is not None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(self._tools)})"

    def openai(self, form: Literal["chat", "responses"] = "chat") -> list[dict[str, Any]]:
        """The tools in the form of OpenAI's Chat Completions or Responses API."""
        if form not in ("chat", "responses"):
            raise DefinitionError(f'The form is "chat" or "responses", not {form!r}.')
        return [tool_form(item, form) for item in self]

    def anthropic(self) -> list[dict[str, Any]]:
        """The tools in the form of Anthropic's Messages API."""
        return [tool_form(item, "anthropic") for item in self]

    def mcp(self) -> list[dict[str, Any]]:
        """The tools in the form of an answer to MCP's ``tools/list``."""
        return [tool_form(item, "mcp") for item in self]

    def fingerprint(self) -> str:
        """A short text that changes when a name, a description, a schema or a permission does (SHA-256, 16 digits)."""
        parts = sorted(item.fingerprint for item in self)
        return hashlib.sha256(canonical(parts).encode("utf-8")).hexdigest()[:16]


def _origin(item: Tool) -> tuple[str, str]:
    function = inspect.unwrap(getattr(item, "function", item))
    return getattr(function, "__module__", "") or "", getattr(function, "__qualname__", "") or type(
        function
    ).__qualname__
