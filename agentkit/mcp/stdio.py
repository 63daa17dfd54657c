"""MCP over standard input and output: the client starts the server as a child process, and they exchange lines.

Standard output belongs to the protocol. Whatever else a program prints has to go to standard error.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, Final

from agentkit.mcp._process import StderrTail, child_environment, end_group, stop
from agentkit.mcp.jsonrpc import CONNECTION_CLOSED, INVALID_REQUEST, ErrorResponse, McpError, Message
from agentkit.mcp.lines import LineWriter, QueueWriter, read_lines
from agentkit.mcp.peer import Peer
from agentkit.mcp.server import Server
from agentkit.mcp.transport import Transport

FINISH_SECONDS: Final = 1.0  # for what is still being answered when the input ends
CLOSE_SECONDS: Final = 2.0  # for each of: end by itself, obey "terminate", be gone after "kill"


def serve_stdio(server: Server, stdin: BinaryIO | None = None, stdout: BinaryIO | None = None) -> None:
    """Serve one client on standard input and output, until it closes the input.

    Until then, whatever a tool prints, or a program that it starts, goes to standard error, and reads nothing.
    """
    with _protocol_streams() if stdin is None or stdout is None else contextlib.nullcontext((stdin, stdout)) as (i, o):
        write = LineWriter(o)
        session = server.connect(lambda message, about: write(message))
        try:
            for line in read_lines(i, "client"):
                session.peer.receive(line)
        except McpError as error:  # a line that is too long: what comes after it cannot be told from it
            with contextlib.suppress(McpError):
                session.peer.send(ErrorResponse(None, INVALID_REQUEST, str(error)))
        session.peer.finish(FINISH_SECONDS)
        session.peer.closed("The client closed the connection.")


@contextlib.contextmanager
def _protocol_streams() -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """The real standard input and output for the protocol alone; others get an empty input and standard error."""
    sys.stdout.flush()
    with open(os.dup(0), "rb") as stdin, open(os.dup(1), "wb") as stdout:  # noqa: PTH123 (numbers, not paths)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.dup2(2, 1)
        before, sys.stdout = sys.stdout, sys.stderr
        try:
            yield stdin, stdout
        finally:
            with contextlib.suppress(OSError, ValueError):
                before.flush()  # what somebody wrote there meanwhile belongs to standard error
            sys.stdout = before
            os.dup2(stdin.fileno(), 0)
            os.dup2(stdout.fileno(), 1)


class StdioTransport(Transport):
    """A server in a child process.

    The child gets a few harmless environment variables and those of ``env``, not all: a server written by somebody else
    has no business with the keys of this process. What it writes to standard error is kept, 64 kB at most.

    Args:
        command, args: the program, as on a command line but already split.
        env: more environment variables.
        cwd: the folder in which the server starts.
    """

    def __init__(
        self,
        command: str,
        args: Sequence[str] = (),
        *,
        env: Mapping[str, str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
    ) -> None:
        self.command = command
        self.args = tuple(args)
        self._env = child_environment(env or {})
        self._cwd = None if cwd is None else Path(cwd)
        self._process: subprocess.Popen[bytes] | None = None
        self._writer: QueueWriter | None = None
        self._errors = StderrTail()

    @property
    def stderr(self) -> str:
        """The end of what the server wrote to its standard error."""
        return self._errors.text

    @property
    def pid(self) -> int | None:
        """The id of the child process, or None when there is none."""
        return None if self._process is None else self._process.pid

    def start(self, peer: Peer) -> None:
        self._errors = StderrTail()
        self._process = process = self._started()
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        self._writer = QueueWriter(process.stdin)
        self._errors.follow(process.stderr)
        reader = threading.Thread(target=_read, args=(process, peer), daemon=True, name="agentkit-mcp-read")
        reader.start()
        watch = (process, reader, peer, self._errors)
        threading.Thread(target=_watch, args=watch, daemon=True, name="agentkit-mcp-watch").start()

    def send(self, message: Message) -> None:
        if self._writer is None:
            raise McpError("The connection is closed.", code=CONNECTION_CLOSED)
        self._writer(message)

    def close(self) -> None:
        """Close the server's input, wait, terminate, kill: the shutdown that the specification asks for."""
        process, writer, self._process, self._writer = self._process, self._writer, None, None
        if process is not None and writer is not None:
            writer.close()
            stop(process, CLOSE_SECONDS)
            self._errors.wait(1.0)

    def _started(self) -> subprocess.Popen[bytes]:
        # Windows finds "npx" only as "npx.cmd", and only if it is looked up with the child's own PATH.
        found = shutil.which(self._place(), path=self._env.get("PATH"))
        if found is None:
            raise McpError(f"There is no program {self.command!r}. Is it installed, and on the PATH?")
        try:
            return subprocess.Popen(
                [found, *self.args],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=self._env,
                cwd=self._cwd,
                start_new_session=os.name
                == "posix",  # Ctrl-C here is not meant for the server, and its children end too
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            )
        except (OSError, ValueError) as error:
            raise McpError(f"The program {self.command!r} cannot be started: {error}.") from None

    def _place(self) -> str:
        """The command; one with a path part is meant from the folder in which the server starts."""
        if self._cwd is None or not os.path.dirname(self.command):  # noqa: PTH120 (a Path would lose the "./")
            return self.command
        return str(self._cwd.absolute() / self.command)

    def __repr__(self) -> str:
        """Without the arguments: one of them may be a key."""
        count = len(self.args)
        return f"StdioTransport({self.command!r}, {count} argument{'' if count == 1 else 's'})"


def _read(process: subprocess.Popen[bytes], peer: Peer) -> None:
    assert process.stdout is not None
    with process.stdout as stream:
        try:
            for line in read_lines(stream, "server"):
                peer.receive(line)
        except McpError as error:
            peer.closed(str(error))  # before the pipe is closed, of which the server will die
    # The output has ended. If the program has not, nobody can be answered any more.
    try:
        process.wait(1.0)  # `_watch` tells of its death, with the exit code
    except subprocess.TimeoutExpired:
        peer.closed("The server closed its standard output.")


def _watch(process: subprocess.Popen[bytes], reader: threading.Thread, peer: Peer, errors: StderrTail) -> None:
    """Tell the death of the server at once, and let nothing that it started outlive it."""
    code = process.wait()
    end_group(process)
    reader.join(0.5)  # what it said before it died comes first
    errors.wait(0.5)
    last = errors.text.strip()
    peer.closed(f"The server stopped with exit code {code}." + (f" Its last words: {last[-1000:]}" if last else ""))
