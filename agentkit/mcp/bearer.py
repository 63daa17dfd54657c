"""Who may ask over HTTP, and what: bearer tokens with scopes.

    401  nobody knows who you are: no token, or a wrong one
    403  it is known who you are, but your token is not good for this

The header ``WWW-Authenticate`` tells the client which of the two, in the words of RFC 6750, section 3: no error code for a
request without a token, ``error="invalid_token"`` for a wrong one, and for a 403 ``error="insufficient_scope"`` with the
``scope`` that this message needs. A 401 names no scope, because the token is looked at before the message is read.

This is not the whole authorization chapter of MCP: there, a server also names in ``resource_metadata`` a document (RFC 9728)
that tells where tokens are given out. Here nobody gives out tokens, both sides know them beforehand, so there is no such
document and no such parameter.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Final, TypeAlias

from agentkit._value import value
from agentkit.errors import DefinitionError
from agentkit.mcp.jsonrpc import INTERNAL_ERROR, ErrorResponse, McpError, Message, Request, parse
from agentkit.mcp.server import Server

READ: Final = "mcp:read"
WRITE: Final = "mcp:write"
REFUSAL_BYTES: Final = 65_536

Needs: TypeAlias = Callable[[Server, Message], str]


@value
class Turned:
    """A visitor who is turned away: the HTTP status, the value of ``WWW-Authenticate``, and a sentence."""

    status: int
    challenge: str
    sentence: str


class Bearer:
    """Tokens, and the scopes of each.

    Args:
        tokens: maps each token to its scopes. A token is a secret: it is never shown, logged or recorded.
        needs: the scope that a message needs; by default ``mcp:write`` for a call of a tool that may change something, and
            ``mcp:read`` for everything else.
    """

    def __init__(self, tokens: Mapping[str, Collection[str]], *, needs: Needs | None = None) -> None:
        if not tokens or any(len(token) < 8 or isinstance(scopes, str) for token, scopes in tokens.items()):
            raise DefinitionError("Bearer needs tokens of at least 8 characters, each with a list of scopes.")
        self._tokens = {token: frozenset(scopes) for token, scopes in tokens.items()}
        self._needs = needs or needed_scope

    def who(self, authorization: str) -> str | Turned:
        """The token that a header ``Authorization`` holds if it is one of ours, else a 401."""
        scheme, _, given = authorization.partition(" ")
        if scheme.lower() != "bearer" or not given.strip():
            return Turned(401, 'Bearer realm="mcp"', "Send a token: Authorization: Bearer …")
        found = [token for token in self._tokens if hmac.compare_digest(token.encode(), given.strip().encode())]
        if not found:
            return Turned(401, 'Bearer realm="mcp", error="invalid_token"', "This token is not one of this server's.")
        return found[0]

    def allows(self, token: str, server: Server, message: Message) -> Turned | None:
        """None if the token is good for this message, else a 403."""
        scope = self._needs(server, message)
        if not scope or scope in self._tokens[token]:
            return None
        challenge = f'Bearer realm="mcp", error="insufficient_scope", scope="{scope}"'
        return Turned(403, challenge, f"This token does not have the scope {scope}.")

    def __repr__(self) -> str:
        return f"Bearer({len(self._tokens)} tokens)"


def needed_scope(server: Server, message: Message) -> str:
    """``mcp:write`` to call a tool that is not known to only read, ``mcp:read`` for everything else."""
    if isinstance(message, Request) and message.method == "tools/call" and server.registry is not None:
        found = server.registry.find(message.params.get("name"))
        return READ if found is not None and found.permission == "read" else WRITE
    return READ


def refusal(status: int, challenge: str, body: Iterable[bytes], in_session: bool) -> McpError:
    """The client's side: what an HTTP answer says that refuses a message. ``challenge`` is its ``WWW-Authenticate``.

    No more than the first `REFUSAL_BYTES` of its body are read.

    The error's ``data`` holds the ``status`` and the ``scope`` that is needed, or None.
    """
    scope = re.search(r'scope="([^"]*)"', challenge)
    beginning = b""
    for chunk in body:
        beginning += chunk[:REFUSAL_BYTES]
        if len(beginning) >= REFUSAL_BYTES:
            break
    said = parse(beginning.decode("utf-8", "replace"))
    told = said.message if isinstance(said, ErrorResponse) else ""
    match status:
        case 401:
            told = f"The server wants a valid token (401). {told}"
        case 403:
            told = f"The server does not allow this (403). {told}"
        case 404 if in_session:
            told = f"The session has ended (404): connect again. {told}"
        case _:
            told = f"The server refused the message with HTTP status {status}. {told}"
    code = said.code if isinstance(said, ErrorResponse) else INTERNAL_ERROR
    return McpError(told.strip(), code=code, data={"status": status, "scope": scope[1] if scope else None})
