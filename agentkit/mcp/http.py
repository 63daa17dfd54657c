"""MCP over HTTP ("Streamable HTTP"): a server that the notebook starts and stops, and a client's transport."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Collection
from typing import Final

from agentkit._serving import Served, WebServer, make_server
from agentkit.errors import DefinitionError
from agentkit.mcp._http_client import LOOPBACK, HttpTransport
from agentkit.mcp.bearer import Bearer
from agentkit.mcp.server import Server

__all__ = ["Bearer", "HttpServer", "HttpTransport"]

MAX_BYTES: Final = 4_000_000
HEARTBEAT: Final = 15.0


class HttpServer(Served):
    """Lets clients ask a server over HTTP. Use it in a ``with`` block, or call `start` and `stop`.

    It runs in a thread of its own, so it works in a notebook too.

    Args:
        server: the server.
        host: the address to listen on. Anything but the loopback address needs a ``bearer``.
        port: 0 takes a free one.
        path: where the server answers.
        bearer: who may ask; without it everybody on this machine may.
        max_bytes: the largest message; a larger one is refused with 413.
        origins: the web sites whose pages may ask, such as ``https://example.org``; pages of all others are refused with
            403. Pages of this machine may ask a server on the loopback address. Programs other than browsers send no
            origin and are let in.
        heartbeat: seconds after which a comment is sent over a stream that is silent, so that proxies keep it open.

    Raises:
        DefinitionError: another address without tokens, an address that cannot be listened on, a missing package, or
            origins or a heartbeat of the wrong kind.
    """

    def __init__(
        self,
        server: Server,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        path: str = "/mcp",
        bearer: Bearer | None = None,
        max_bytes: int = MAX_BYTES,
        origins: Collection[str] = (),
        heartbeat: float = HEARTBEAT,
    ) -> None:
        if bearer is None and host not in LOOPBACK:
            raise DefinitionError(
                f"The address {host!r} can be reached from other machines, so tokens are needed: give bearer=Bearer(…), "
                "or leave host at 127.0.0.1."
            )
        if isinstance(origins, str):
            raise DefinitionError('origins is a list of web sites, such as ["https://example.org"], not one text.')
        if not heartbeat > 0:
            raise DefinitionError("heartbeat is a number of seconds greater than 0.")
        self.server, self.host, self.port, self.path, self.heartbeat = server, host, port, path, heartbeat
        self._bearer, self._max_bytes = bearer, max_bytes
        self._origins = frozenset(origin.rstrip("/").lower() for origin in origins)

    def _made(self, started: Callable[[], None]) -> WebServer:
        missing = [name for name in ("starlette", "uvicorn") if importlib.util.find_spec(name) is None]
        if missing:
            raise DefinitionError(
                f"HttpServer needs the package(s) {' and '.join(missing)}. Install agentkit-course[mcp]."
            )
        from agentkit.mcp._http_app import App

        app = App(
            self.server, self.path, self._bearer, hosts=LOOPBACK if self.host in LOOPBACK else frozenset[str](),
            origins=self._origins, max_bytes=self._max_bytes, heartbeat=self.heartbeat,
        )  # fmt: skip
        return make_server(app, started, app.close)

    def __repr__(self) -> str:
        return f"HttpServer({self.server!r}, {'not running' if self._address is None else self.url})"
