"""Server-sent events: how one HTTP answer carries several messages, one after the other.

event: message
data: {"jsonrpc": "2.0", …}
(an empty line)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

LONGEST: Final = 32_000_000  # bytes of one event

# Some clients take these for line ends, too. JSON may write them as escapes.
_LINE_ENDS: Final = str.maketrans({"\u2028": "\\u2028", "\u2029": "\\u2029", "\x85": "\\u0085"})


def event(text: str) -> bytes:
    """One event whose data is this line of JSON."""
    return f"event: message\ndata: {text.translate(_LINE_ENDS)}\n\n".encode()


def read_events(chunks: Iterable[bytes]) -> Iterator[str]:
    """The data of each whole event in a stream of bytes. Comments, names and ids are left out, half an event is dropped.

    Raises:
        ValueError: an event is too long.
    """
    data: list[str] = []
    for line in _lines(chunks):
        name, _, text = line.partition(":")
        if name == "data":
            data.append(text.removeprefix(" "))
        elif not line and data:
            yield "\n".join(data)
            data = []


def _lines(chunks: Iterable[bytes]) -> Iterator[str]:
    """Lines that end with a line feed, a carriage return, or both."""
    rest = b""
    for chunk in chunks:
        rest += chunk
        # A carriage return at the end may be the first half of a line end: it waits for the next chunk.
        ready, rest = (rest[:-1], rest[-1:]) if rest.endswith(b"\r") else (rest, b"")
        *whole, last = ready.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        rest = last + rest
        if len(rest) > LONGEST:
            raise ValueError(f"an event is longer than {LONGEST:,} bytes")
        for line in whole:
            yield line.decode("utf-8", "replace")
