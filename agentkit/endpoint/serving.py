"""The web server itself: uvicorn, driven so that it starts, tells so, and stops at once."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Callable

import uvicorn

from agentkit.endpoint.app import App
from agentkit.endpoint.desk import Desk
from agentkit.messages import Model

GRACE_SECONDS = 1
TURNS = 4  # of the event loop


class Server(uvicorn.Server):
    """uvicorn's server without its ten wake-ups a second, and with a stop that does not wait for open streams."""

    def __init__(self, config: uvicorn.Config, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._told = started
        self._stopping = asyncio.Event()

    async def main_loop(self) -> None:
        self._told()
        await self._stopping.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Let nobody in, give up what is going on, close every connection, and only then let uvicorn tidy up."""
        for sock in sockets or ():
            with contextlib.suppress(NotImplementedError):  # Windows, whose loop lets clients in another way
                asyncio.get_running_loop().remove_reader(sock)
        # A client that has just been let in becomes a connection within these turns. asyncio would lose it, open, if the
        # server were closed before that.
        for _ in range(TURNS):
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


def make_server(desk: Desk, model: Model, token: str | None, max_bytes: int, started: Callable[[], None]) -> Server:
    """A server that is ready to be run with a listening socket."""
    config = uvicorn.Config(
        App(desk, model, token, max_bytes),
        http="h11",  # the same on every machine
        ws="none",
        lifespan="off",
        interface="asgi3",
        log_config=None,
        log_level="critical",  # a dropped connection is meant, and no news
        access_log=False,
        server_header=False,
        date_header=False,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    return Server(config, started)
