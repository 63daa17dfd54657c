"""A web server in a thread of its own: uvicorn, driven so that it starts, tells so, and stops with nothing left open."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from collections.abc import Callable, Sequence
from typing import Any, Protocol

TURNS = 4  # of the event loop


class WebServer(Protocol):
    """What `make_server` gives: run it with a listening socket, and stop it in its own loop."""

    started: bool  # whether it listens, or has listened

    async def serve(self, sockets: list[socket.socket] | None = None) -> None: ...
    def stop(self) -> None: ...


def make_server(
    app: Any, started: Callable[[], None], closing: Callable[[], None] = lambda: None, *, lifespan: bool = False
) -> WebServer:
    """uvicorn's server without its ten wake-ups a second, and with a stop that does not wait for open streams.

    Args:
        app: the ASGI application.
        started: called, in the server's thread, when requests are answered.
        closing: called when it stops: what the application has to end, such as its sessions.
        lifespan: whether the application wants to be told (ASGI's lifespan) that it starts and stops. When it refuses to
            start, `serve` returns and ``started`` is not called.
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


def serve(loop: asyncio.AbstractEventLoop, server: WebServer, sock: socket.socket) -> None:
    """Run a server in this thread until it is stopped."""
    # SystemExit is uvicorn's way to say that the application did not start.
    with sock, asyncio.Runner(loop_factory=lambda: loop) as runner, contextlib.suppress(SystemExit):
        runner.run(server.serve(sockets=[sock]))


def end(loop: asyncio.AbstractEventLoop, server: WebServer) -> None:
    """Stop a server from another thread."""
    with contextlib.suppress(RuntimeError):  # the loop has ended already
        loop.call_soon_threadsafe(server.stop)
