"""What a plan is made of: the calls that one need takes, each with its outcome when it has one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from agentkit.messages import ToolScore
from agentkit.models.offline.history import Outcome, call_key
from agentkit.models.offline.known import Filling
from agentkit.models.offline.needs import Need
from agentkit.models.offline.schema import Parameter, ToolView


@dataclass(slots=True)
class Planned:
    """One call that a need takes, with its outcome when it has one. ``why`` is first, more, helper, followup or instead."""

    tool: ToolView
    filling: Filling
    arguments: dict[str, Any]
    why: str
    outcome: Outcome | None = None
    tries: int = 1

    @property
    def key(self) -> str:
        return call_key(self.tool.name, self.arguments)


@dataclass(slots=True)
class Plan:
    """What one need takes. ``missing`` holds required values that are stated nowhere, with the tool that wants them."""

    need: Need
    scores: tuple[ToolScore, ...] = ()
    calls: list[Planned] = field(default_factory=list)
    missing: tuple[ToolView, tuple[Parameter, ...]] | None = None

    @property
    def ready(self) -> list[Planned]:
        return [call for call in self.calls if call.outcome is None]

    @property
    def outcomes(self) -> list[Outcome]:
        return [call.outcome for call in self.calls if call.outcome is not None]

    @property
    def fits(self) -> bool:
        return bool(self.calls) or self.missing is not None
