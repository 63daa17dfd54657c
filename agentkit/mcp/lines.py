"""Lines of UTF-8 on pipes: one message each, and never two writers in one line."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from queue import SimpleQueue
from typing import IO, Final

from agentkit.mcp.jsonrpc import CONNECTION_CLOSED, McpError, Message, encode

LONGEST: Final = 32_000_000  # bytes of a line; whoever sends more is not listened to any longer


def read_lines(stream: IO[bytes], sender: str) -> Iterator[str]:
    """The lines of a stream, without empty ones; ends with the stream. A last line may be half a message.

    Only the line feed ends a line: JSON text may hold other characters that some systems take for line ends.

    Raises:
        McpError: the ``sender`` sent a line longer than ``LONGEST``.
    """
    while True:
        try:
            raw = stream.readline(LONGEST + 1)
        except (OSError, ValueError):  # closed under our hands
            return
        if not raw:
            return
        if len(raw) > LONGEST:
            told = f"The {sender} sent a line of more than {LONGEST:,} bytes, so nothing more is read from it."
            raise McpError(told, code=CONNECTION_CLOSED)
        text = raw.decode("utf-8", "replace").strip()
        if text:
            yield text


class LineWriter:
    """Writes messages to a stream, each as one line, from any thread."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._lock = threading.Lock()

    def __call__(self, message: Message) -> None:
        """Write a message. Raises `McpError` when nobody reads any more."""
        data = encode(message).encode("utf-8") + b"\n"
        try:
            with self._lock:
                self._stream.write(data)
                self._stream.flush()
        except (OSError, ValueError):
            raise McpError("The other side does not read any more.", code=CONNECTION_CLOSED) from None


class QueueWriter:
    """The same from a thread of its own: whoever sends never waits for a reader that does not read."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._queue: SimpleQueue[Message | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, args=(stream,), daemon=True, name="agentkit-mcp-write")
        self._thread.start()

    def __call__(self, message: Message) -> None:
        encode(message)  # a value that JSON does not have is the sender's mistake, and told here
        self._queue.put(message)

    def close(self, seconds: float = 0.5) -> None:
        """Close the stream after what was sent; wait for it, but not longer than this."""
        self._queue.put(None)
        self._thread.join(seconds)

    def _run(self, stream: IO[bytes]) -> None:
        write = LineWriter(stream)
        with contextlib.suppress(McpError, OSError, ValueError), stream:
            while (message := self._queue.get()) is not None:
                write(message)
