"""MCP over HTTP ("Streamable HTTP"): a server that the notebook starts and stops, and a client's transport."""

from __future__ import annotations

import asyncio
import importlib.util
import socket
import threading
import weakref
from collections.abc import Collection
from types import TracebackType
from typing import TYPE_CHECKING, Final

from agentkit.errors import DefinitionError
from agentkit.mcp._http_client import LOOPBACK, HttpTransport
from agentkit.mcp.bearer import Bearer
from agentkit.mcp.server import Server

if TYPE_CHECKING:
    from agentkit._serving import WebServer

__all__ = ["Bearer", "HttpServer", "HttpTransport"]

START_SECONDS: Final = 20.0
STOP_SECONDS: Final = 10.0
MAX_BYTES: Final = 4_000_000
HEARTBEAT: Final = 15.0


class HttpServer:
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
        self._web: WebServer | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._address: tuple[str, int] | None = None

    def start(self) -> HttpServer:
        """Listen, and return when requests are answered; nothing happens when it runs already."""
        if self._thread is not None:
            return self
        missing = [name for name in ("starlette", "uvicorn") if importlib.util.find_spec(name) is None]
        if missing:
            raise DefinitionError(
                f"HttpServer needs the package(s) {' and '.join(missing)}. Install agentkit-course[mcp]."
            )
        from agentkit._serving import end, make_server, serve
        from agentkit.mcp._http_app import App

        sock = self._listen()
        started = threading.Event()
        hosts = LOOPBACK if self.host in LOOPBACK else frozenset[str]()
        loop = self._loop = asyncio.new_event_loop()
        app = App(
            self.server, self.path, self._bearer, hosts=hosts, origins=self._origins,
            max_bytes=self._max_bytes, heartbeat=self.heartbeat,
        )  # fmt: skip
        web = self._web = make_server(app, started.set, app.close)
        self._thread = threading.Thread(target=serve, args=(loop, web, sock), daemon=True, name="agentkit-mcp-http")
        self._thread.start()
        # A cell that is run again forgets the server that it started before; that one then ends by itself.
        self._forgotten = weakref.finalize(self, end, loop, web)
        self._forgotten.atexit = False
        if not started.wait(START_SECONDS):
            self.stop()
            raise DefinitionError(f"The server did not start within {START_SECONDS:g} seconds.")
        return self

    def stop(self) -> None:
        """Stop listening, end every session, and close every connection. May be called twice."""
        thread, loop, web = self._thread, self._loop, self._web
        self._thread = self._address = None
        if thread is None or loop is None or web is None:
            return
        from agentkit._serving import end

        end(loop, web)
        thread.join(STOP_SECONDS)

    @property
    def url(self) -> str:
        """The address for clients, such as ``http://127.0.0.1:51234/mcp``. Raises `DefinitionError` when not running."""
        if self._address is None:
            raise DefinitionError("The server is not running. Use it in a `with` block, or call start() first.")
        host, port = self._address
        return f"http://[{host}]:{port}{self.path}" if ":" in host else f"http://{host}:{port}{self.path}"

    def __enter__(self) -> HttpServer:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _listen(self) -> socket.socket:
        from agentkit._serving import listening

        try:
            sock = listening(self.host, self.port)
        except (OSError, OverflowError, TypeError) as error:
            told = f"The server cannot listen on {self.host}, port {self.port}: {error}. Another port, or 0, may help."
            raise DefinitionError(told) from None
        self._address = (self.host, sock.getsockname()[1])
        return sock

    def __repr__(self) -> str:
        return f"HttpServer({self.server!r}, {'not running' if self._address is None else self.url})"
