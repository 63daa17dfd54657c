"""Server-sent events: how one HTTP answer carries several messages, one after the other.

event: message
data: {"jsonrpc": "2.0", …}
(an empty line)
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from agentkit.mcp.jsonrpc import McpError

LONGEST: Final = 32_000_000  # bytes of one event, and of one line

# Seconds before a stream is asked for again: the first time, the least, and the most, also when the server wishes more.
PAUSE, SHORTEST_PAUSE, LONGEST_PAUSE, LONGEST_WISH = 1.0, 0.1, 30.0, 600.0

# Some clients take these for line ends, too. JSON may write them as escapes.
_LINE_ENDS: Final = str.maketrans({"\u2028": "\\u2028", "\u2029": "\\u2029", "\x85": "\\u0085"})
_END: Final = re.compile(rb"\r\n|\r|\n")


@dataclass(slots=True)
class Place:
    """Where a reader stands in a stream: what it needs to ask for the rest of it later.

    ``id`` is that of the last whole event, None without one; ``retry`` is how many seconds the server wants it to wait.
    """

    id: str | None = None
    retry: float | None = None

    def pause(self, failures: int = 1) -> float:
        """Seconds to wait before the stream is asked for again: as the server wishes, and longer after each failure."""
        least = max(SHORTEST_PAUSE, min(PAUSE if self.retry is None else self.retry, LONGEST_WISH))
        return max(least, min(least * 2.0 ** min(failures - 1, 20), LONGEST_PAUSE))


def event(text: str) -> bytes:
    """One event whose data is this line of JSON."""
    return f"event: message\ndata: {text.translate(_LINE_ENDS)}\n\n".encode()


def read_events(chunks: Iterable[bytes], place: Place | None = None) -> Iterator[str]:
    """The data of each whole event in a stream of bytes.

    Comments, names and events without data are left out, half an event is dropped. ``place`` is kept up to date.

    Raises:
        ValueError: an event is longer than `LONGEST`.
    """
    place = Place() if place is None else place
    data: list[str] = []
    size, id = 0, place.id
    for line in _lines(chunks):
        name, _, text = line.decode("utf-8", "replace").partition(":")
        text = text.removeprefix(" ")
        if name == "data":
            size += len(line) + 1
            _check(size)
            data.append(text)
        elif name == "id" and "\0" not in text:
            id = text or None
        elif name == "retry" and text.isascii() and text.isdigit():
            place.retry = float(text[:12]) / 1_000  # it comes in milliseconds
        elif not line:
            whole = "\n".join(data)
            data, size, place.id = [], 0, id
            if whole:  # an event may carry nothing but an id, from which the stream can be resumed
                yield whole


def messages(content_type: str, chunks: Iterable[bytes], place: Place) -> Iterator[str]:
    """The messages in an HTTP answer with this content type: one as JSON, or those of a stream of events, as they come.

    Raises:
        McpError: it is neither of the two, or JSON that is longer than `LONGEST`.
        ValueError: as `read_events`.
    """
    kind = content_type.partition(";")[0].strip().lower()
    if kind == "text/event-stream":
        yield from read_events(chunks, place)
    elif kind == "application/json":
        body = bytearray()
        for chunk in chunks:
            body += chunk
            if len(body) > LONGEST:
                raise McpError(f"The server's answer is longer than {LONGEST:,} bytes.")
        yield body.decode("utf-8", "replace")
    else:
        raise McpError(f"The server answered with {kind or 'no content type'}, not with JSON or a stream of events.")


def _lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Lines that end with a line feed, a carriage return, or both. The pieces of a line are put together once."""
    pieces: list[bytes] = []
    size, after_return = 0, False
    for chunk in chunks:
        if after_return and chunk.startswith(b"\n"):  # the second half of a line end
            chunk, after_return = chunk[1:], False
        if not chunk:
            continue
        after_return = chunk.endswith(b"\r")
        *ends, rest = _END.split(chunk)
        for end in ends:
            yield b"".join([*pieces, end])
            pieces, size = [], 0
        pieces.append(rest)
        size += len(rest)
        _check(size)


def _check(size: int) -> None:
    if size > LONGEST:
        raise ValueError(f"an event is longer than {LONGEST:,} bytes")
