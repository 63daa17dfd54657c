"""What the history says: the goal, the user's answers, and what each call has brought so far.

The model keeps nothing between two decisions; all of this is read again from the messages each time.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agentkit.messages import ErrorDetail, Message
from agentkit.models.offline.needs import Reading, read
from agentkit.models.offline.observed import Observation

REFUSED = ("not_permitted", "denied", "needs_approval")


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """One call that has its result. ``current`` is False for a call of an earlier goal."""

    tool: str
    arguments: Mapping[str, Any]
    data: Any
    error: ErrorDetail | None
    current: bool
    key: str
    observation: Observation

    @property
    def ok(self) -> bool:
        return self.error is None

    @property
    def refused(self) -> bool:
        return self.error is not None and self.error.code in REFUSED


@dataclass(frozen=True, slots=True)
class History:
    """The conversation as the procedure sees it. ``asked`` are its own questions about the latest goal."""

    goal: str
    reading: Reading
    answers: tuple[Reading, ...]
    earlier: tuple[Reading, ...]
    outcomes: tuple[Outcome, ...]
    asked: tuple[str, ...]

    @property
    def dates(self) -> tuple[str, ...]:
        """The dates stated in the goal and in the answers, or else in the latest earlier goal that states one."""
        stated = tuple(dict.fromkeys((*self.reading.dates, *(day for each in self.answers for day in each.dates))))
        return stated or next((each.dates for each in reversed(self.earlier) if each.dates), ())


def call_key(tool: str, arguments: Mapping[str, Any]) -> str:
    """The same text for the same call, whatever the order of its arguments."""
    if not any(isinstance(value, Mapping | list) for value in arguments.values()):
        return f"{tool} {sorted((str(name), value) for name, value in arguments.items())!r}"
    try:
        return f"{tool} {json.dumps(arguments, sort_keys=True, ensure_ascii=False, default=str)}"
    except (TypeError, ValueError, RecursionError):
        return f"{tool} {arguments!r}"


def read_history(messages: Sequence[Message]) -> History:
    """Read the messages once, in order."""
    goals = [place for place, each in enumerate(messages) if each.role == "user" and each.kind == "goal"]
    start = goals[-1] if goals else 0
    goal = messages[start].text if goals else ""
    answers, asked, outcomes = [], [], []
    arguments: dict[str, Mapping[str, Any]] = {}
    for place, message in enumerate(messages):
        if message.role == "assistant":
            arguments.update({call.id: _object(call.arguments) for call in message.calls})
            if place > start and message.text and not message.calls:
                asked.append(message.text)
        elif message.role == "tool" and message.result is not None:
            result = message.result
            given = arguments.get(result.call_id, {})
            key = call_key(result.name, given)
            seen = Observation(result.name, given, result.data)
            outcomes.append(Outcome(result.name, given, result.data, result.error, place > start, key, seen))
        elif message.role == "user" and message.kind == "answer" and place > start:
            answers.append(read(message.text))
    earlier = tuple(read(messages[place].text) for place in goals[:-1][-4:])
    return History(goal, read(goal), tuple(answers), earlier, tuple(outcomes), tuple(asked))


def _object(arguments: Any) -> Mapping[str, Any]:
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except ValueError:
            return {}
    return arguments if isinstance(arguments, Mapping) else {}
