"""A model that is you: the run pauses for each decision, and you see just what a model would see."""

from __future__ import annotations

from collections.abc import Sequence

from agentkit.messages import Message, Pause, Reply, ToolSpec


class HumanModel:
    """Answers every request with a `Pause`; go on with ``agent.resume(run, decision=…)`` or the be-the-model panel."""

    def decide(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Reply | Pause:
        names = ", ".join(tool.name for tool in tools) or "none"
        return Pause(f"You are the model. Call tools ({names}), give the final answer, or ask the user.")

    async def adecide(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Reply | Pause:
        return self.decide(messages, tools)

    def __repr__(self) -> str:
        return "HumanModel()"
