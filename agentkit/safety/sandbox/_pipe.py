"""Reading what a process says, up to a limit, without waiting for those who keep the pipe open."""

from __future__ import annotations

import contextlib
import os
import selectors
import sys
import threading
from typing import IO, Final

CHUNK: Final = 65_536
TICK: Final = 0.05  # seconds between two looks whether reading is still wanted


class Pipe:
    """A thread that reads a pipe. It keeps at most ``most`` bytes; when there are more it sets ``full`` and stops.

    A process that has left the group of its parent may keep a pipe open for ever, so the end of the file is not waited for.
    """

    def __init__(self, file: IO[bytes], most: int, full: threading.Event) -> None:
        self._file, self._most, self._full = file, most, full
        self._kept = bytearray()
        self.first = threading.Event()  # set when anything has been read
        self._last = threading.Event()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    @property
    def data(self) -> bytes:
        return bytes(self._kept)

    def close(self) -> None:
        """Take what is still in the pipe, and let go of it."""
        self._last.set()
        # On Windows a read cannot be given up. There the thread lives as long as a child that keeps the pipe.
        self._thread.join(1.0 if sys.platform == "win32" else None)

    def _read(self) -> None:
        try:
            with contextlib.suppress(OSError):
                while self._wanted():
                    data = os.read(self._file.fileno(), CHUNK)
                    self.first.set()
                    room = self._most - len(self._kept)
                    self._kept += data[:room]
                    if len(data) > room:
                        self._full.set()
                        return
                    if not data:
                        return
        finally:
            self._file.close()

    def _wanted(self) -> bool:
        """Whether there is something to read; False when nothing has come since the process ended."""
        if sys.platform == "win32":
            return True
        with selectors.DefaultSelector() as selector:
            selector.register(self._file, selectors.EVENT_READ)
            while not selector.select(0 if self._last.is_set() else TICK):
                if self._last.is_set():
                    return bool(selector.select(0))
            return True
