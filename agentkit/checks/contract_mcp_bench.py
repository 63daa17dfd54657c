"""Where a client is tried: a server program in a process of its own, watched over a socket, and ended whatever happens."""

from __future__ import annotations

import contextlib
import json
import socket
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Final, TypeAlias

from agentkit.checks.contract_surface import method_of, part
from agentkit.checks.exercise import CheckFailed
from agentkit.checks.faces import shown
from agentkit.checks.guard import run_guarded
from agentkit.checks.words import explain_error

SECONDS: Final = 5.0  # for whatever the client does
CLOSING: Final = 8.0  # closing may itself wait: for the server to end, and to obey
_STARTING: Final = 3.0  # until the program has called; it did so long ago when its client has done the handshake
_FAILED: Final = 1.0  # the same after `make` has failed: perhaps there is no program, perhaps it is just starting

MakeClient: TypeAlias = Callable[[list[str]], Any]


class NoClient(CheckFailed):
    """There was nothing to try: `make` failed, or did not come to an end, or did not start the program."""


class Bench:
    """A client on one server program. Use it in a ``with`` block, which starts both; afterwards the process is gone."""

    def __init__(self, make: MakeClient, source: str, hint: str = "") -> None:
        self._make, self._source, self._hint = make, source, hint
        self._client: Any = None
        self._contract: socket.socket | None = None
        self._reader: threading.Thread | None = None
        self._journal = bytearray()
        self._left = contextlib.ExitStack()

    def __enter__(self) -> Bench:
        with contextlib.ExitStack() as undo:
            folder = Path(undo.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
            file = folder / "server.py"
            file.write_text(self._source, encoding="utf-8")
            listener = undo.enter_context(socket.create_server(("127.0.0.1", 0)))
            undo.callback(self._end)
            command = [sys.executable, "-I", "-S", str(file), str(listener.getsockname()[1])]
            patience = _FAILED
            try:
                self._client = self.act(lambda: self._make(command), "`make(command)`")
                patience = _STARTING
            except CheckFailed as problem:
                raise NoClient(str(problem)) from None
            finally:
                self._take_call(listener, patience)
            if self._contract is None:
                raise NoClient("`make(command)` did not start the program that it was given, as a child process.")
            self._left = undo.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._left.close()

    # --- what the client is asked to do ----------------------------------------------------------------------------------

    def act(self, function: Callable[[], Any], what: str, seconds: float | None = None) -> Any:
        """What the function gives. Raises `CheckFailed` when it raises or does not come to an end, with the hint."""
        outcome = self.attempt(function, what, seconds)
        if isinstance(outcome, Exception):
            raise CheckFailed(f"{what} failed. {explain_error(outcome)} {self._hint}".strip())
        return outcome

    def attempt(self, function: Callable[[], Any], what: str, seconds: float | None = None) -> Any:
        """The same, but an exception is what is returned."""
        ended = run_guarded(function, seconds=SECONDS if seconds is None else seconds)
        if ended.too_long:
            how = "was still waiting after some seconds" if ended.too_long == "seconds" else "went round without end"
            raise CheckFailed(f"{what} {how}, and was given up. {self._hint}".strip())
        if isinstance(ended.error, CheckFailed):  # of `_method` and its like: the client lacks something
            raise ended.error
        if ended.error is not None and not isinstance(ended.error, Exception):
            return RuntimeError(type(ended.error).__name__)
        return ended.value if ended.error is None else ended.error

    def names(self) -> list[str]:
        """The names of the tools that the client lists."""
        return list(self.act(self.listing, "`list_tools()`"))

    def listing(self) -> list[str]:
        """The same without a guard."""
        return [str(part(item, "name")) for item in self._method("list_tools")()]

    def call(self) -> tuple[bool, str]:
        """Call the tool: whether it failed, and its text."""
        failed, text = self.act(lambda: _read(self.calling()), "`call_tool()`")
        return bool(failed), str(text)

    def calling(self) -> Any:
        """The outcome as it came, without a guard."""
        return self._method("call_tool")("look", {"word": "lamp"})

    def close(self) -> None:
        self.act(self._method("close"), "`close()`", CLOSING)

    def _method(self, name: str) -> Callable[..., Any]:
        found = method_of(self._client, name)
        if found is None:
            raise CheckFailed(f"the client has no method `{name}`")
        return found

    # --- what the program tells ------------------------------------------------------------------------------------------

    def gone(self, seconds: float) -> bool:
        """Whether the process ends within this time."""
        assert self._reader is not None
        self._reader.join(seconds)
        return not self._reader.is_alive()

    def received(self) -> list[Any]:
        """All that the program received from the client; this ends it."""
        self._end()
        return [_parsed(line) for line in bytes(self._journal).decode("utf-8", "replace").splitlines() if line.strip()]

    def _take_call(self, listener: socket.socket, seconds: float) -> None:
        listener.settimeout(seconds)
        with contextlib.suppress(OSError):
            self._contract = contract = listener.accept()[0]
            contract.settimeout(None)
            work = threading.Thread(target=self._read_journal, args=(contract,), daemon=True, name="agentkit-contract")
            self._reader = work
            work.start()

    def _read_journal(self, contract: socket.socket) -> None:
        with contextlib.suppress(OSError):  # on Windows, that is how the end of a process is heard
            while found := contract.recv(8_192):
                self._journal += found

    def _end(self) -> None:
        """Hang up, which ends the program, and then let the client put its things away."""
        contract, self._contract = self._contract, None
        if contract is not None and self._reader is not None:
            with contextlib.suppress(OSError):
                contract.shutdown(socket.SHUT_WR)
            self._reader.join(SECONDS)
            contract.close()
        client, self._client = self._client, None
        close = method_of(client, "close")
        if close is not None:
            run_guarded(close, seconds=SECONDS)


def _parsed(line: str) -> Any:
    """The JSON of a line, or its text where it is none."""
    try:
        return json.loads(line)
    except ValueError:
        return line


def _read(outcome: Any) -> tuple[bool, str]:
    """Whether a call failed, and its text."""
    failed = part(outcome, "isError", "is_error", default=None)
    content = part(outcome, "content", default=None)
    if failed is None and content is None:
        wanted = "with `isError` and `content`"
        raise CheckFailed(f"`call_tool()` must give the result of the server, {wanted}, not {shown(outcome)}.")
    blocks = content if isinstance(content, (list, tuple)) else []
    texts = [part(block, "text", default="") for block in blocks]
    return bool(failed), "\n".join(text for text in texts if isinstance(text, str))
