"""How a client's messages travel. A transport carries lines and understands none of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentkit.mcp.jsonrpc import CONNECTION_CLOSED, McpError, Message, encode

if TYPE_CHECKING:
    from agentkit.mcp.peer import Peer
    from agentkit.mcp.server import Server
    from agentkit.mcp.session import Session


class Transport:
    """What a client needs of its transport. Derive from it to make another one."""

    def start(self, peer: Peer) -> None:
        """Open the connection. From now on ``peer.receive(line)`` is told each line, ``peer.closed(reason)`` the end.

        Raises:
            McpError: there is nobody to connect to.
        """
        raise NotImplementedError

    def send(self, message: Message) -> None:
        """Send one message. Raises `McpError` when the connection is gone."""
        raise NotImplementedError

    def close(self) -> None:
        """End the connection and whatever it holds. May be called twice, and never raises."""

    def negotiated(self, revision: str) -> None:
        """Is told the revision of the protocol after the handshake."""


class MemoryTransport(Transport):
    """A server in the same process: lines go over, and no process or socket is needed."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._session: Session | None = None

    def start(self, peer: Peer) -> None:
        self._session = self._server.connect(lambda message, about: peer.receive(encode(message)))

    def send(self, message: Message) -> None:
        if self._session is None:
            raise McpError("The connection is closed.", code=CONNECTION_CLOSED)
        self._session.peer.receive(encode(message))

    def close(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            session.peer.closed("The client has gone.")

    def __repr__(self) -> str:
        return f"MemoryTransport({self._server!r})"
