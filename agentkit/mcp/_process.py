"""The child process of a server: what it inherits, what it says on standard error, and its end."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
from collections.abc import Mapping
from typing import IO, Final

TAIL: Final = 64_000  # bytes of standard error

# What programs need to run at all. PYTHONPATH, because a course may be used without being installed.
INHERITED: Final = (
    "APPDATA", "COMSPEC", "HOME", "HOMEDRIVE", "HOMEPATH", "LANG", "LC_ALL", "LOCALAPPDATA", "LOGNAME", "PATH", "PATHEXT",
    "PROGRAMDATA", "PROGRAMFILES", "PYTHONPATH", "SHELL", "SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "TERM", "TMP", "TMPDIR", "TZ",
    "USER", "USERNAME", "USERPROFILE", "WINDIR",
)  # fmt: skip


def child_environment(more: Mapping[str, str]) -> dict[str, str]:
    """The harmless variables of this process, and those that were given."""
    # A value that begins with () is a function of the shell bash, and not to be handed on.
    kept = {name: os.environ[name] for name in INHERITED if name in os.environ}
    kept = {name: text for name, text in kept.items() if not text.startswith("()")}
    if os.name == "nt":  # there "Path" and "PATH" are one variable, and a child must not get it twice
        more = {name.upper(): text for name, text in more.items()}
    return kept | dict(more)


class StderrTail:
    """The end of a stream that is read all the time, so that the writer never has to wait."""

    def __init__(self) -> None:
        self._data = bytearray()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def follow(self, stream: IO[bytes]) -> None:
        self._thread = threading.Thread(target=self._read, args=(stream,), daemon=True, name="agentkit-mcp-stderr")
        self._thread.start()

    def wait(self, seconds: float) -> None:
        """Wait until all is read, but not longer than this."""
        if self._thread is not None:
            self._thread.join(seconds)

    @property
    def text(self) -> str:
        with self._lock:
            return self._data.decode("utf-8", "replace")

    def _read(self, stream: IO[bytes]) -> None:
        with contextlib.suppress(OSError, ValueError), stream:
            while part := os.read(stream.fileno(), 8_192):
                with self._lock:
                    self._data += part
                    del self._data[:-TAIL]


def stop(process: subprocess.Popen[bytes], seconds: float) -> None:
    """Wait until it ends by itself (its input is closed by now), then terminate, wait, and kill."""
    if not _gone(process, seconds):
        _signal(process, "SIGTERM")
        if not _gone(process, seconds):
            _signal(process, "SIGKILL")
            _gone(process, seconds)


def end_group(process: subprocess.Popen[bytes]) -> None:
    """End what a program has started and left behind. To be called as soon as it has ended: later, its number may be
    that of another program."""
    if os.name == "posix":
        _signal(process, "SIGKILL")


def _gone(process: subprocess.Popen[bytes], seconds: float) -> bool:
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return False
    return True


def _signal(process: subprocess.Popen[bytes], name: str) -> None:
    """To the whole group on POSIX; Windows has no such thing and ends the tree with a command of its own."""
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        if os.name == "posix":
            os.killpg(process.pid, getattr(signal, name))
        elif process.poll() is None:
            tree = ["taskkill", "/T", "/F", "/PID", str(process.pid)]
            subprocess.run(tree, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False, timeout=10)
