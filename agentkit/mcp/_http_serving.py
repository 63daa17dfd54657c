"""The web server itself: uvicorn in a thread, started so that it tells so, and stopped so that nothing stays open."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Callable

import uvicorn

from agentkit.mcp._http_app import App


class WebServer(uvicorn.Server):
    """uvicorn's server, without its ten wake-ups a second, and with a stop that does not wait for open streams."""

    def __init__(self, app: App, started: Callable[[], None]) -> None:
        config = uvicorn.Config(
            app,
            http="h11",  # the same on every machine
            ws="none",
            lifespan="off",
            interface="asgi3",
            log_config=None,
            log_level="critical",  # a client that goes away is no news
            access_log=False,
            server_header=False,
            date_header=False,
            timeout_graceful_shutdown=1,
        )
        super().__init__(config)
        self._app, self._told = app, started
        self._stopping = asyncio.Event()

    async def main_loop(self) -> None:
        self._told()
        await self._stopping.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End every session, which ends its streams, and then what is still open."""
        for sock in sockets or ():
            with contextlib.suppress(NotImplementedError):  # Windows, whose loop lets clients in another way
                asyncio.get_running_loop().remove_reader(sock)
        self._app.close()
        for _ in range(4):  # turns of the loop: a client that has just been let in becomes a connection in these
            await asyncio.sleep(0)
        for connection in list(self.server_state.connections):
            connection.transport.abort()
        for task in list(self.server_state.tasks):
            task.cancel()
        await super().shutdown(sockets)

    def stop(self) -> None:
        """End `main_loop`. To be called in the server's own loop."""
        self.should_exit = True
        self._stopping.set()


def serve(loop: asyncio.AbstractEventLoop, server: WebServer, sock: socket.socket) -> None:
    """Run a server in this thread until it is stopped."""
    with sock, asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.run(server.serve(sockets=[sock]))


def end(loop: asyncio.AbstractEventLoop, server: WebServer) -> None:
    """Stop a server from another thread."""
    with contextlib.suppress(RuntimeError):  # the loop has ended already
        loop.call_soon_threadsafe(server.stop)
