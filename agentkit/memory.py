"""What of a history is sent to the model.

A model has no memory of its own: what it remembers is what you send. Everything is kept in the history; a `Memory` is a
frozen policy that chooses a *view* of it for each request. A tool call and its results are one unit: they are sent together
or not at all, because a provider refuses one without the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from agentkit._jsonsafe import dumps
from agentkit.errors import ContextFullError, DefinitionError
from agentkit.messages import Message, ToolSpec, goal_positions

MESSAGE_OVERHEAD = 4  # tokens that a provider adds around each message, roughly


def estimate_tokens(text: str) -> int:
    """About how many tokens a text has: its UTF-8 bytes divided by four, rounded up.

    An estimate, not a count. Bytes and not characters, because one Korean or Chinese character is about one token while
    four English letters are: characters divided by four would come out at less than half for Korean.
    """
    return (len(text.encode("utf-8", "surrogatepass")) + 3) // 4


def message_tokens(message: Message) -> int:
    """About how many tokens a message has, with its calls or its result."""
    total = MESSAGE_OVERHEAD + estimate_tokens(message.text)
    for call in message.calls:
        text = call.arguments if isinstance(call.arguments, str) else dumps(call.arguments)
        total += MESSAGE_OVERHEAD + estimate_tokens(call.name) + estimate_tokens(text)
    if message.result is not None:
        total += estimate_tokens(message.result.content)
    return total


def tool_tokens(tools: Sequence[ToolSpec]) -> int:
    """About how many tokens the descriptions and schemas of the tools have; they are sent with every request."""
    return sum(
        MESSAGE_OVERHEAD + estimate_tokens(tool.name + tool.description + dumps(tool.parameters)) for tool in tools
    )


class MemoryPolicy(Protocol):
    """Anything that can choose what is sent. `Memory` is one; a class of your own can be another."""

    def view(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Sequence[Message]:
        """The messages to send, in order. Raises `ContextFullError` when even the necessary ones do not fit."""
        ...


@dataclass(frozen=True, slots=True)
class Memory:
    """Send everything, or a window: the newest units that fit, and always what is pinned.

    Pinned are the system prompt, the first goal, the latest goal, and the user's answers after it. The newest unit must fit
    too, since it holds what the model has just learned.

    Args:
        max_messages: how many messages are sent at most, the pinned ones among them.
        max_tokens: how many estimated tokens are sent at most, tool schemas included.
    """

    max_messages: int | None = None
    max_tokens: int | None = None

    def __post_init__(self) -> None:
        for name, value in (("max_messages", self.max_messages), ("max_tokens", self.max_tokens)):
            if value is not None and value < 1:
                raise DefinitionError(f"{name} must be at least 1, or None for no limit, not {value!r}.")

    def view(self, messages: Sequence[Message], tools: Sequence[ToolSpec] = ()) -> Sequence[Message]:
        """The messages to send. Under the limits that is ``messages`` itself."""
        if self.max_messages is not None:
            messages = _window(messages, self.max_messages, lambda message: 1, "messages")
        if self.max_tokens is not None:
            room = self.max_tokens - tool_tokens(tools)
            messages = _window(messages, room, message_tokens, "tokens (what the tools leave of the budget)")
        return messages


def units(messages: Sequence[Message]) -> Iterator[range]:
    """The units of a history from the newest to the oldest, as ranges of positions: a call with its results is one."""
    end = len(messages)
    while end > 0:
        start = end - 1
        while start > 0 and messages[start].role == "tool":
            start -= 1
        yield range(start, end)
        end = start


def _window(messages: Sequence[Message], room: int, size: Any, words: str) -> Sequence[Message]:
    """The pinned messages and the newest units that fit into ``room``."""
    keep = set(pinned(messages))
    limit = room
    room -= sum(size(messages[i]) for i in keep)
    for newest, unit in enumerate(units(messages)):
        fresh = [i for i in unit if i not in keep]
        room -= sum(size(messages[i]) for i in fresh)
        if room < 0:
            if newest == 0:
                raise ContextFullError(
                    f"The system prompt, the goal and the newest messages do not fit into {max(limit, 0)} {words}. "
                    "Raise the limit, shorten the goal, or let tools return less."
                )
            break
        keep.update(fresh)
    if len(keep) == len(messages):
        return messages
    return tuple(messages[i] for i in sorted(keep))


def pinned(messages: Sequence[Message]) -> list[int]:
    """The positions that every window keeps: system prompt, first goal, latest goal, and the answers after it."""
    goals = list(goal_positions(messages))
    latest = goals[-1] if goals else 0
    return [
        i
        for i, message in enumerate(messages)
        if message.role == "system"
        or (goals and i in (goals[0], latest))
        or (message.role == "user" and message.kind == "answer" and i > latest)
    ]
