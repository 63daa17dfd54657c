"""What the shipping checklist tries things on: a copy of a registry in which no tool does anything, and made-up calls."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from agentkit._ledger import Ledger
from agentkit._records import Records
from agentkit.checks.contract_surface import method_of
from agentkit.checks.exercise import CheckFailed
from agentkit.messages import ToolCall, ToolResult
from agentkit.registry import Registry
from agentkit.tools import Tool

GUESSES: Mapping[str, Any] = {
    "string": "2026-10-13", "integer": 1, "number": 1.5, "boolean": True, "array": [], "object": {}, "null": None,
}  # fmt: skip


@dataclass(slots=True)
class StandIn:
    """The copy. ``ran`` holds the names of the tools that ran, ``events`` what reached the audit log."""

    registry: Any
    now: float
    ran: list[str] = field(default_factory=list)
    events: list[Mapping[str, Any]] = field(default_factory=list)
    audit_works: bool = True
    run_id: str = "checklist"

    def record(self, event: Mapping[str, Any]) -> None:
        if not self.audit_works:
            raise OSError("the disk is full")
        self.events.append(event)

    def call(self, call: ToolCall, yes: bool = False) -> ToolResult:
        """Send a call through the door of the copy; with ``yes`` a person has approved it."""
        try:
            result: ToolResult = self.registry.call(call, run_id=self.run_id, approved=yes)
        except Exception as error:
            raise CheckFailed(
                f"a call of {call.name} raised {type(error).__name__}; the door must answer every call with a result"
            ) from None
        return result

    def code(self, call: ToolCall, yes: bool = False) -> str:
        error = self.call(call, yes).error
        return error.code if error else "ok"


def tools_of(registry: Any) -> list[Tool]:
    """The tools of a registry. Raises `CheckFailed` when it is none that can be tried."""
    if not isinstance(registry, Registry) or method_of(registry, "call") is None:
        raise CheckFailed("the checklist needs an agentkit.Registry, or one of a class made from it")
    found = list(registry)
    if not found:
        raise CheckFailed("the registry has no tools")
    return found


def stand_in(
    registry: Any, *, answer: Any = "done", error: Exception | None = None, audit_works: bool = True
) -> StandIn:
    """A copy of the registry whose tools only note that they ran, and then give this answer or raise this error."""
    tools, twin = tools_of(registry), copy.copy(registry)
    probe = StandIn(twin, registry.permits.clock(), audit_works=audit_works)
    twin._tools = {item.name: _harmless(item, probe, answer, error) for item in tools}
    twin.permits = replace(registry.permits, grants=[])
    twin.records = Records(Ledger(), probe, registry.permits.clock)
    twin._guarded = True
    return probe


def _harmless(item: Tool, probe: StandIn, answer: Any, error: Exception | None) -> Tool:
    def pretend(**arguments: Any) -> Any:
        probe.ran.append(item.name)
        if error is not None:
            raise error
        return answer

    made = replace(item, function=pretend, timeout=None, rule=None)
    vars(made).pop("is_async", None)
    return made


def sampled(registry: Any, *permissions: str) -> Iterator[tuple[Tool, dict[str, Any]]]:
    """The tools of these kinds (all kinds by default), each with a valid call, as far as one can be made up."""
    for item in tools_of(registry):
        arguments = sample(item)
        if arguments is not None and (not permissions or item.permission in permissions):
            yield item, arguments


def sample(item: Tool) -> dict[str, Any] | None:
    """Valid arguments made up from the schema alone, or None when the schema does not say enough."""
    schema = item.parameters
    needed = schema.get("required", ())
    properties = schema.get("properties", {})
    arguments = {name: _value(properties.get(name, {}), schema.get("$defs", {})) for name in needed}
    try:
        item.validate(copy.deepcopy(arguments))
    except Exception:
        return None
    return arguments


def _value(schema: Mapping[str, Any], definitions: Mapping[str, Any], depth: int = 0) -> Any:
    """A value for one part of a schema: what it names itself first, then a guess by type."""
    if depth > 8:
        return None
    if "$ref" in schema:
        return _value(definitions.get(str(schema["$ref"]).rpartition("/")[2], {}), definitions, depth + 1)
    for key in ("examples", "enum"):
        if schema.get(key):
            return schema[key][0]
    for key in ("const", "default"):
        if key in schema:
            return schema[key]
    for key in ("anyOf", "oneOf", "allOf"):
        if schema.get(key):
            return _value(schema[key][0], definitions, depth + 1)
    if schema.get("type") == "object" and "properties" in schema:
        parts = schema["properties"]
        return {name: _value(parts.get(name, {}), definitions, depth + 1) for name in schema.get("required", parts)}
    if schema.get("type") in ("integer", "number"):
        return max(schema.get("minimum", schema.get("exclusiveMinimum", 0) + 1), 1)
    return GUESSES.get(str(schema.get("type")), "text")
