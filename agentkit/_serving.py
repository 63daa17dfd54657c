"""A web server in a thread of its own: uvicorn, driven so that it starts, tells so, and stops with nothing left open."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import threading
import weakref
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, ClassVar, Final, Protocol, Self

from agentkit.errors import DefinitionError

START_SECONDS: Final = 20.0
STOP_SECONDS: Final = 10.0
TURNS: Final = 4  # of the event loop


class WebServer(Protocol):
    """What `make_server` gives: run it with a listening socket, and stop it in its own loop."""

    started: bool  # whether it listens, or has listened

    async def serve(self, sockets: list[socket.socket] | None = None) -> None: ...
    def stop(self) -> None: ...


class Served:
    """Something that is served on one address: in a ``with`` block, or between `start` and `stop`.

    A class derived from it says in `_made` what is served, and has ``host`` and ``port`` (0 takes a free one).
    """

    called: ClassVar = "The server"  # in errors
    host: str
    port: int
    path = ""  # after the address
    _thread: threading.Thread | None = None
    _address: tuple[str, int] | None = None
    _end: Callable[[], object] | None = None

    def _made(self, started: Callable[[], None]) -> WebServer:
        """The server for one start, from `make_server`."""
        raise NotImplementedError

    def start(self) -> Self:
        """Listen, and return when requests are answered; nothing happens when it runs already.

        Raises:
            DefinitionError: the address cannot be listened on, or the server does not start.
        """
        if self._thread is not None:
            return self
        told, loop = threading.Event(), asyncio.new_event_loop()
        try:
            server = self._made(told.set)
            sock = self._listen()
        except BaseException:
            loop.close()
            raise
        self._thread = threading.Thread(target=_serve, args=(loop, server, sock, told), daemon=True, name=self._name())
        self._thread.start()
        # A cell that is run again forgets what it served before; that one then ends by itself.
        self._end = forgotten = weakref.finalize(self, end, loop, server)
        forgotten.atexit = False
        if not told.wait(START_SECONDS) or not server.started:
            self.stop()
            raise DefinitionError(f"{self.called} did not start within {START_SECONDS:g} seconds, or ended at once.")
        return self

    def stop(self) -> None:
        """Stop listening, end what is going on, and close every connection. May be called twice."""
        thread, stop = self._thread, self._end
        self._thread = self._address = self._end = None
        if thread is not None and stop is not None:
            stop()
            thread.join(STOP_SECONDS)

    @property
    def running(self) -> bool:
        return self._thread is not None

    @property
    def url(self) -> str:
        """The address for clients, such as ``http://127.0.0.1:51234``. Raises `DefinitionError` when not running."""
        if self._address is None:
            raise DefinitionError(f"{self.called} is not running. Use it in a `with` block, or call start() first.")
        host, port = self._address
        return f"http://[{host}]:{port}{self.path}" if ":" in host else f"http://{host}:{port}{self.path}"

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _listen(self) -> socket.socket:
        try:
            sock = listening(self.host, self.port)
        except (OSError, OverflowError, TypeError) as error:
            raise DefinitionError(
                f"{self.called} cannot listen on {self.host}, port {self.port}: {error}. Is the port in use? "
                "Another port, or 0 for a free one, may help."
            ) from None
        self._address = (self.host, sock.getsockname()[1])
        return sock

    def _name(self) -> str:
        return f"agentkit-{type(self).__name__}"


def make_server(
    app: Any, started: Callable[[], None], closing: Callable[[], None] = lambda: None, *, lifespan: bool = False
) -> WebServer:
    """uvicorn's server without its ten wake-ups a second, and with a stop that does not wait for open streams.

    Args:
        app: the ASGI application.
        started: called, in the server's thread, when requests are answered.
        closing: called when it stops: what the application has to end, such as its sessions.
        lifespan: whether the application wants to be told (ASGI's lifespan) that it starts and stops. When it refuses to
            start, the server ends and ``started`` is not called.
    """
    import uvicorn  # only where something is served

    stopping = asyncio.Event()

    class Server(uvicorn.Server):
        async def main_loop(self) -> None:
            started()
            await stopping.wait()

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            await _let_nobody_in(sockets or (), closing)
            for connection in list(self.server_state.connections):
                connection.transport.abort()
            for task in list(self.server_state.tasks):
                task.cancel()
            await super().shutdown(sockets)

        def stop(self) -> None:
            self.should_exit = True
            stopping.set()

    return Server(uvicorn.Config(app, lifespan="on" if lifespan else "off", **OPTIONS))


OPTIONS: dict[str, Any] = {
    "http": "h11",  # the same on every machine
    "ws": "none",
    "interface": "asgi3",
    "log_config": None,
    "log_level": "critical",  # a dropped connection is meant, and no news
    "access_log": False,
    "server_header": False,
    "date_header": False,
    "timeout_graceful_shutdown": 1,
}


async def _let_nobody_in(sockets: Sequence[socket.socket], closing: Callable[[], None]) -> None:
    for sock in sockets:
        with contextlib.suppress(NotImplementedError):  # Windows, whose loop lets clients in another way
            asyncio.get_running_loop().remove_reader(sock)
    closing()
    # A client that has just been let in becomes a connection within these turns. asyncio would lose it, open, if the server
    # were closed before that.
    for _ in range(TURNS):
        await asyncio.sleep(0)


def listening(host: str, port: int) -> socket.socket:
    """A socket that listens; port 0 takes a free one. Raises OSError, OverflowError or TypeError when it cannot."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # The protocol is named, because asyncio turns off Nagle's algorithm only then; with it each answer takes 40 ms more.
    sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if os.name == "posix":  # a port can be taken again at once; on Windows this would let two servers share one
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((host, port))
        sock.listen(128)
    except BaseException:
        sock.close()
        raise
    return sock


def _serve(loop: asyncio.AbstractEventLoop, server: WebServer, sock: socket.socket, told: threading.Event) -> None:
    """Run a server in this thread until it is stopped."""
    try:
        # SystemExit is uvicorn's way to say that the application did not start.
        with sock, asyncio.Runner(loop_factory=lambda: loop) as runner, contextlib.suppress(SystemExit):
            runner.run(server.serve(sockets=[sock]))
    finally:
        told.set()  # whoever waits for the start must not wait any longer


def end(loop: asyncio.AbstractEventLoop, server: WebServer) -> None:
    """Stop a server from another thread."""
    with contextlib.suppress(RuntimeError):  # the loop has ended already
        loop.call_soon_threadsafe(server.stop)
