"""The history, read as a situation: the goal, what the user added, which calls were made, and what came of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agentkit._jsonsafe import canonical
from agentkit.facts import Fact, Facts, Failure
from agentkit.messages import Message, ToolCall, ToolResult
from agentkit.models.offline.arguments import Known
from agentkit.models.offline.needs import Need, Reading, read
from agentkit.models.offline.observed import Observation


@dataclass(frozen=True, slots=True)
class Made:
    """A call that was made since the goal, with its result."""

    call: ToolCall
    result: ToolResult

    @property
    def arguments(self) -> Mapping[str, Any]:
        return self.call.arguments if isinstance(self.call.arguments, Mapping) else {}


@dataclass(frozen=True, slots=True)
class Situation:
    """All that a decision depends on besides the tools."""

    reading: Reading
    answers: tuple[Reading, ...]
    earlier: tuple[Reading, ...]
    made: tuple[Made, ...]
    asked: int

    def known(self, need: Need) -> Known:
        """What arguments may be taken from. Observations about another code than the need's stand apart."""
        own, others = [], []
        for m in self.made:
            if m.result.ok:
                about = [str(value) for value in m.arguments.values()]
                elsewhere = need.codes and set(self.reading.codes) & set(about) and not set(need.codes) & set(about)
                (others if elsewhere else own).append(Observation(m.call.name, m.arguments, m.result.data))
        return Known(self.reading, self.answers, self.earlier, tuple(own), tuple(others))

    def facts(self) -> Facts:
        """What the rules of a world may see."""
        readings = (self.reading, *self.answers)
        return Facts(
            tuple(Fact(m.arguments, m.result.data) for m in self.made if m.result.ok),
            tuple(Failure(m.arguments, m.result.error.code, m.result.error.message) for m in self.made if m.result.error),
            tuple(dict.fromkeys(code.upper() for reading in readings for code in reading.codes)),
            tuple(dict.fromkeys(date for reading in readings for date in reading.dates)),
            self.reading.language,
        )

    def has_made(self, name: str, arguments: Mapping[str, Any]) -> bool:
        wanted = canonical(arguments)
        return any(m.call.name == name and canonical(m.arguments) == wanted for m in self.made)


def situation_of(messages: Sequence[Message]) -> Situation:
    """Read the history from the latest goal on; earlier goals are kept as places where a code may have been stated."""
    goals = [i for i, message in enumerate(messages) if message.role == "user" and message.kind == "goal"]
    start = goals[-1] if goals else -1
    goal = messages[start].text if goals else ""
    later = messages[start + 1 :]
    calls = {call.id: call for message in later for call in message.calls}
    made = tuple(
        Made(calls[message.result.call_id], message.result)
        for message in later
        if message.result is not None and message.result.call_id in calls
    )
    answers = tuple(read(message.text) for message in later if message.role == "user" and message.kind == "answer")
    return Situation(read(goal), answers, tuple(read(messages[i].text) for i in goals[-5:-1]), made, len(answers))
