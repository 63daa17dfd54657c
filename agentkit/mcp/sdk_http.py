"""A server of the SDK over Streamable HTTP, started and stopped by a notebook, and bearer tokens with scopes for it."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any

from agentkit._serving import Served, WebServer, make_server

if TYPE_CHECKING:
    from mcp.server import MCPServer
    from mcp.server.auth.provider import AccessToken
    from mcp.server.auth.settings import AuthSettings


class SdkHttpServer(Served):
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
        self.server, self.host, self.port, self.path, self._options = server, "127.0.0.1", port, path, options

    def _made(self, started: Callable[[], None]) -> WebServer:
        # The SDK allows one start for each app, so every start makes a new one.
        app = self.server.streamable_http_app(streamable_http_path=self.path, host=self.host, **self._options)
        return make_server(app, started, lifespan=True)  # the app runs its sessions inside its lifespan

    def __repr__(self) -> str:
        return f"SdkHttpServer({self.server.name!r}, {'not running' if self._address is None else self.url})"


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
