"""Every message that travels can be written down, to be read and drawn later."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from agentkit._text import one_line
from agentkit._value import value
from agentkit.mcp.jsonrpc import Message, Problem


@value
class Recorded:
    """One message on its way.

    ``time`` is in seconds of the recorder's clock. ``message`` is a `Problem` when the line was no message. ``text`` is the
    line as it travelled.
    """

    time: float
    sender: str
    receiver: str
    message: Message | Problem
    text: str

    def __repr__(self) -> str:
        """Without arguments and results, which may be long or secret."""
        kind = type(self.message).__name__
        about = getattr(self.message, "method", "") if kind in ("Request", "Notification") else kind
        return f"Recorded({self.sender} to {self.receiver}: {one_line(about, 60)}, {len(self.text):,} characters)"


class Recorder:
    """Keeps messages in the order in which one side sent and received them.

    Several clients may share one recorder. Of two sides that talk to each other, give it to one only.

    Args:
        clock: seconds; injected where the times are shown.
        limit: how many messages are kept; after that, new ones are counted in `dropped` only.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic, limit: int = 10_000) -> None:
        self.messages: list[Recorded] = []
        self.dropped = 0
        self._clock = clock
        self._limit = limit

    def __call__(self, sender: str, receiver: str, message: Message | Problem, text: str) -> None:
        if len(self.messages) < self._limit:
            self.messages.append(Recorded(self._clock(), sender, receiver, message, text))
        else:
            self.dropped += 1

    def __iter__(self) -> Iterator[Recorded]:
        return iter(list(self.messages))

    def __len__(self) -> int:
        return len(self.messages)

    def __bool__(self) -> bool:
        return True  # an empty one is no missing one: `recorder or Recorder()` must keep it

    def __repr__(self) -> str:
        return f"Recorder({len(self.messages)} messages)"
