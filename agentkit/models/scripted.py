"""A model that replays a list of decisions, for tests and for showing one exact situation."""

from __future__ import annotations

from collections.abc import Sequence

from agentkit.errors import ScriptError
from agentkit.messages import CallTools, Decision, Message, Pause, Reply, Run, ToolSpec, goal_positions


class ScriptedModel:
    """Replays decisions, one for each request of a goal.

    The model keeps no count. It looks at the history to know where it is (how many assistant messages and notes of the loop
    follow the latest goal), so running a cell again never finds the script exhausted. It counts what it is shown: under a
    memory window that drops its earlier replies it repeats a decision, so give a scripted agent a memory without a limit.

    Args:
        decisions: what to decide, in order; a `Reply` where usage or scores matter.

    Raises:
        ScriptError: from `decide`, when the run needs more decisions than the script holds, or a decision calls a tool that
            was not offered and ``known_tools_only`` is set; from `check_finished`, when some were not used.
    """

    def __init__(self, decisions: Sequence[Decision | Reply], *, known_tools_only: bool = False) -> None:
        self.decisions = tuple(decisions)
        self.known_tools_only = known_tools_only

    def decide(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Reply | Pause:
        place = self.place(messages)
        if place >= len(self.decisions):
            raise ScriptError(
                f"Unexpected call: the script holds {len(self.decisions)} decisions, and this is request {place + 1}. "
                "Add a decision to the script, or find out why the run goes on."
            )
        found = self.decisions[place]
        reply = found if isinstance(found, Reply) else Reply(found)
        if self.known_tools_only and isinstance(reply.decision, CallTools):
            offered = {tool.name for tool in tools}
            for call in reply.decision.calls:
                if call.name not in offered:
                    raise ScriptError(
                        f"Decision {place + 1} calls {call.name!r}, which is not among the offered tools."
                    )
        return reply

    async def adecide(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Reply | Pause:
        return self.decide(messages, tools)

    @staticmethod
    def place(messages: Sequence[Message]) -> int:
        """How many decisions of this goal the history already holds."""
        start = max(goal_positions(messages), default=-1) + 1
        return sum(1 for m in messages[start:] if m.role == "assistant" or (m.role == "user" and m.kind == "note"))

    def check_finished(self, run: Run) -> None:
        """Raise `ScriptError` when the run did not use every decision."""
        used = sum(1 for step in run.steps)
        if used < len(self.decisions):
            raise ScriptError(
                f"Unconsumed decisions: the run used {used} of {len(self.decisions)} and stopped as {run.stop_reason}. "
                "Shorten the script, or find out why the run ended early."
            )

    def __repr__(self) -> str:
        return f"ScriptedModel({len(self.decisions)} decisions)"
