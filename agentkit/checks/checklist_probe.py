"""What the checklist puts in the place of an agent's model and tools, so that it can watch the agent."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from agentkit.checks.contract_surface import method_of, part
from agentkit.checks.exercise import CheckFailed
from agentkit.errors import ScriptError
from agentkit.messages import CallTools, Decision, FinalAnswer, Message, Reply, ToolCall, ToolSpec, Usage
from agentkit.registry import Registry
from agentkit.tools import tool

MOST_REQUESTS = 50
LITTLE = Usage(1, 1)
GOAL = "Which rooms are free on Monday?"


@dataclass(slots=True)
class Probe:
    """A model that replays decisions, or without a script asks for one room after the other; it remembers what it was shown."""

    script: Sequence[Decision] = ()
    usage: Usage = LITTLE
    seconds: float = 0.0
    now: float = 0.0
    seen: list[tuple[Message, ...]] = field(default_factory=list)

    def decide(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Reply:
        self.seen.append(tuple(messages))
        self.now += self.seconds
        if len(self.seen) > MOST_REQUESTS:
            raise ScriptError(f"The model was asked more than {MOST_REQUESTS} times.")
        if self.script:
            return Reply(self.script[min(len(self.seen), len(self.script)) - 1], self.usage)
        return Reply(call("find_room", floor=str(len(self.seen))), self.usage)

    def clock(self) -> float:
        return self.now


def call(name: str, **arguments: Any) -> CallTools:
    return CallTools("I look it up.", (ToolCall(name, arguments),))


@tool
def find_room(floor: str) -> str:
    """Free room on a floor of the house."""
    return f"room-on-{floor}"


@tool
def broken_door(floor: str) -> str:
    """Open the door to a floor of the house; it always fails."""
    raise RuntimeError("the door is locked")


def with_probe(agent: Any, probe: Probe, tools: Registry | None = None) -> Any:
    """The same agent with the probe as its model, and with other tools if any are given."""
    part(agent, "model")
    twin = copy.copy(agent)
    changes: dict[str, Any] = {"model": probe}
    if tools is not None:
        changes["registry" if hasattr(agent, "registry") else "tools"] = tools
    if hasattr(agent, "clock"):
        changes["clock"] = probe.clock
    for name, value in changes.items():
        object.__setattr__(twin, name, value)  # also where the agent is a frozen dataclass
    return twin


def run_probe(agent: Any, probe: Probe, tools: Registry | None = None, **options: Any) -> Any:
    run = method_of(with_probe(agent, probe, tools), "run")
    if run is None:
        raise CheckFailed("there is no method `run(goal)`")
    return run(GOAL, **options)


def probe_tools() -> Registry:
    return Registry([find_room, broken_door])


def registry_of(agent: Any) -> Any:
    return part(agent, "registry", "tools")


def text_of(messages: Sequence[Message]) -> str:
    return "\n".join(m.text if m.result is None else m.result.content for m in messages)


def answered(*decisions: Decision) -> tuple[Decision, ...]:
    return (*decisions, FinalAnswer("I know it now.", "Two rooms are free."))
