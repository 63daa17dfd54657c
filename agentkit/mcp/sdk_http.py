"""A server of the SDK over Streamable HTTP, started and stopped by a notebook, and bearer tokens with scopes for it."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import os
import socket
import threading
import weakref
from collections.abc import Collection, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final

import uvicorn

from agentkit.errors import DefinitionError

if TYPE_CHECKING:
    from mcp.server import MCPServer
    from mcp.server.auth.provider import AccessToken
    from mcp.server.auth.settings import AuthSettings

START_SECONDS: Final = 20.0
STOP_SECONDS: Final = 10.0


class SdkHttpServer:
    """Lets clients ask a server of the SDK over HTTP. Use it in a ``with`` block, or call `start` and `stop`.

    It listens on the loopback address only, and runs in a thread of its own.

    Args:
        server: the server.
        port: 0 takes a free one.
        path: where the server answers.
        options: further options of the SDK's ``streamable_http_app``.

    Raises:
        DefinitionError: the port cannot be listened on, or the server does not start.
    """

    def __init__(self, server: MCPServer[Any], *, port: int = 0, path: str = "/mcp", **options: Any) -> None:
        self.server, self.port, self.path, self._options = server, port, path, options
        self._address: tuple[str, int] | None = None
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._web: _WebServer | None = None

    def start(self) -> SdkHttpServer:
        """Listen, and return when requests are answered; nothing happens when it runs already."""
        if self._thread is not None:
            return self
        sock = self._listen()
        started = threading.Event()
        # The SDK allows one start for each app, so every start makes a new one.
        app = self.server.streamable_http_app(streamable_http_path=self.path, host="127.0.0.1", **self._options)
        loop = self._loop = asyncio.new_event_loop()
        web = self._web = _WebServer(app, started)
        self._thread = threading.Thread(target=_serve, args=(loop, web, sock), daemon=True, name="agentkit-mcp-sdk")
        self._thread.start()
        # A cell that is run again forgets the server that it started before; that one then ends by itself.
        self._forgotten = weakref.finalize(self, _end, loop, web)
        self._forgotten.atexit = False
        if not started.wait(START_SECONDS) or not web.started:
            self.stop()
            raise DefinitionError("The server of the SDK did not start. Was it run before? Make a new one.")
        return self

    def stop(self) -> None:
        """Stop listening and close every connection. May be called twice."""
        thread, loop, web = self._thread, self._loop, self._web
        self._thread = self._address = None
        if thread is not None and loop is not None and web is not None:
            _end(loop, web)
            thread.join(STOP_SECONDS)

    @property
    def url(self) -> str:
        """The address for clients, such as ``http://127.0.0.1:51234/mcp``. Raises `DefinitionError` when not running."""
        if self._address is None:
            raise DefinitionError("The server is not running. Use it in a `with` block, or call start() first.")
        return f"http://{self._address[0]}:{self._address[1]}{self.path}"

    def __enter__(self) -> SdkHttpServer:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _listen(self) -> socket.socket:
        # The protocol is named, because asyncio turns off Nagle's algorithm only then.
        sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        try:
            if os.name == "posix":  # on Windows this would let two servers share one port
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            sock.bind(("127.0.0.1", self.port))
            sock.listen(128)
        except (OSError, OverflowError, TypeError) as error:
            sock.close()
            told = f"The server cannot listen on port {self.port}: {error}. Another port, or 0, may help."
            raise DefinitionError(told) from None
        self._address = ("127.0.0.1", sock.getsockname()[1])
        return sock

    def __repr__(self) -> str:
        return f"SdkHttpServer({self.server.name!r}, {'not running' if self._address is None else self.url})"


class _WebServer(uvicorn.Server):
    """uvicorn's server, which says when it runs, and closes open streams when it stops."""

    def __init__(self, app: Any, told: threading.Event) -> None:
        config = uvicorn.Config(
            app, http="h11", ws="none", lifespan="on", log_config=None, log_level="critical", access_log=False,
            server_header=False, date_header=False, timeout_graceful_shutdown=1,
        )  # fmt: skip
        super().__init__(config)
        self._told = told
        self._stopping = asyncio.Event()

    async def main_loop(self) -> None:
        self._told.set()
        await self._stopping.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for connection in list(self.server_state.connections):
            connection.transport.abort()
        for task in list(self.server_state.tasks):
            task.cancel()
        await super().shutdown(sockets)

    def end(self) -> None:
        self.should_exit = True
        self._stopping.set()


def _serve(loop: asyncio.AbstractEventLoop, server: _WebServer, sock: socket.socket) -> None:
    try:
        with sock, asyncio.Runner(loop_factory=lambda: loop) as runner, contextlib.suppress(SystemExit):
            runner.run(server.serve(sockets=[sock]))
    finally:
        server._told.set()  # whoever waits for the start must not wait any longer


def _end(loop: asyncio.AbstractEventLoop, server: _WebServer) -> None:
    with contextlib.suppress(RuntimeError):  # the loop has ended already
        loop.call_soon_threadsafe(server.end)


class Tokens:
    """Who may ask: the SDK's form of a token check. It never shows or logs a token.

    Args:
        tokens: each token with the scopes that it stands for.
    """

    def __init__(self, tokens: Mapping[str, Collection[str]]) -> None:
        self._tokens = {token.encode("utf-8"): tuple(scopes) for token, scopes in tokens.items()}

    async def verify_token(self, token: str) -> AccessToken | None:
        """What the token stands for, or None when it is not known (the answer is then 401)."""
        from mcp.server.auth.provider import AccessToken

        given = token.encode("utf-8", "replace")
        for number, (known, scopes) in enumerate(self._tokens.items(), 1):
            if hmac.compare_digest(known, given):
                return AccessToken(token=token, client_id=f"client-{number}", scopes=list(scopes))
        return None

    def __repr__(self) -> str:
        return f"Tokens({len(self._tokens)} tokens)"


def auth_settings(scopes: Collection[str], address: str = "http://127.0.0.1") -> AuthSettings:
    """The SDK's settings for a server that wants a token with all of these scopes (else the answer is 403).

    ``address`` stands in for the service that gives out tokens. Here nobody does: the tokens are known beforehand.
    """
    from mcp.server.auth.settings import AuthSettings
    from pydantic import AnyHttpUrl

    place = AnyHttpUrl(address)
    # The tokens belong to this server alone: `Tokens` knows no others.
    return AuthSettings(
        issuer_url=place, resource_server_url=place, required_scopes=list(scopes), validate_token_resource=False
    )
