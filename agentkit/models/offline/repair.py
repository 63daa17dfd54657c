"""What to do after a failed call: repair the arguments once, or see whether another tool may be tried."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from agentkit.messages import ErrorDetail
from agentkit.models.offline.choices import pick
from agentkit.models.offline.history import Outcome
from agentkit.models.offline.known import Filling
from agentkit.models.offline.lazy import Pattern
from agentkit.models.offline.needs import Need
from agentkit.models.offline.schema import Parameter, ToolView

_SERVICE = Pattern(
    r"timeout|timed_out|unavailable|busy|rate|down|internal|failed|server|connection|network|bad_|unknown_tool|tool_error"
)
_QUOTED = Pattern(r"['\"‘“]([^'\"’”]{1,60})['\"’”]")


def may_try_another(outcome: Outcome) -> bool:
    """Whether a failure says something about the tool and not about the thing asked for.

    "There is no such order" is an answer, and a refusal is final; a service that is down is neither.
    """
    return outcome.error is not None and not outcome.refused and bool(_SERVICE.search(outcome.error.code))


def another_try(
    tool: ToolView, filling: Filling, tried: dict[str, Any], error: ErrorDetail, need: Need
) -> dict[str, Any] | None:
    """Other arguments for a call whose arguments were refused, or None. Every value still comes from what is known."""
    told = f"{error.message} {error.hint}"
    parameters = sorted(tool.parameters, key=lambda each: each.name not in told)
    for parameter in parameters:
        if parameter.name not in tried:
            continue
        for value in _others(parameter, tried[parameter.name], filling, told, need):
            if value != tried[parameter.name] or type(value) is not type(tried[parameter.name]):
                return {**tried, parameter.name: value}
        if not parameter.required and parameter.name in told:
            return {name: value for name, value in tried.items() if name != parameter.name}
    return None


def _others(parameter: Parameter, value: Any, filling: Filling, told: str, need: Need) -> Iterator[Any]:
    offered = tuple(each for each in dict.fromkeys(_QUOTED.findall(told)) if each not in (parameter.name, str(value)))
    meant = pick(offered, f"{need.text} {value}", need.words) if isinstance(value, str) else None
    if meant is not None:
        yield meant
    yield from filling.spare.get(parameter.name, [])
    lowered = told.lower()
    if isinstance(value, str):
        if re.fullmatch(r"-?\d{1,15}", value) and ("number" in lowered or "integer" in lowered):
            yield int(value)
        if parameter.shape not in ("text", "query", "sql", "expression"):
            yield from (form for form in (value.upper(), value.lower(), value.title()) if form != value)
    elif isinstance(value, int | float) and not isinstance(value, bool) and ("string" in lowered or "text" in lowered):
        yield str(value)
