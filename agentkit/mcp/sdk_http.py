"""A server of the SDK over Streamable HTTP, started and stopped by a notebook, and bearer tokens with scopes for it."""

from __future__ import annotations

import asyncio
import hmac
import socket
import threading
import weakref
from collections.abc import Collection, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final

from agentkit._serving import WebServer, end, listening, make_server, serve
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
        self._web: WebServer | None = None

    def start(self) -> SdkHttpServer:
        """Listen, and return when requests are answered; nothing happens when it runs already."""
        if self._thread is not None:
            return self
        sock = self._listen()
        started = threading.Event()
        # The SDK allows one start for each app, so every start makes a new one.
        app = self.server.streamable_http_app(streamable_http_path=self.path, host="127.0.0.1", **self._options)
        loop = self._loop = asyncio.new_event_loop()
        web = self._web = make_server(app, started.set, lifespan=True)  # the app runs its sessions inside its lifespan
        self._thread = threading.Thread(
            target=_serve, args=(loop, web, sock, started), daemon=True, name="agentkit-mcp-sdk"
        )
        self._thread.start()
        # A cell that is run again forgets the server that it started before; that one then ends by itself.
        self._forgotten = weakref.finalize(self, end, loop, web)
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
            end(loop, web)
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
        try:
            sock = listening("127.0.0.1", self.port)
        except (OSError, OverflowError, TypeError) as error:
            told = f"The server cannot listen on port {self.port}: {error}. Another port, or 0, may help."
            raise DefinitionError(told) from None
        self._address = ("127.0.0.1", sock.getsockname()[1])
        return sock

    def __repr__(self) -> str:
        return f"SdkHttpServer({self.server.name!r}, {'not running' if self._address is None else self.url})"


def _serve(loop: asyncio.AbstractEventLoop, web: WebServer, sock: socket.socket, told: threading.Event) -> None:
    try:
        serve(loop, web, sock)
    finally:
        told.set()  # whoever waits for the start must not wait any longer


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
