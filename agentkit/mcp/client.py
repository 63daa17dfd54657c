"""A client by hand: ordinary functions that ask a server and wait for its answer. It works in a notebook cell too."""

from __future__ import annotations

import functools
import weakref
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, Final, Self

from agentkit.mcp.answering import Elicitation, Roots, Sampling, answers
from agentkit.mcp.asking import Lists
from agentkit.mcp.jsonrpc import CONNECTION_CLOSED, McpError, Notification, Problem
from agentkit.mcp.peer import Peer, Progress, Send
from agentkit.mcp.recording import Recorder
from agentkit.mcp.remote import Rejected, ToolOutcome, read_outcome, read_page
from agentkit.mcp.revisions import LATEST, SUPPORTED, has_batches
from agentkit.mcp.server import Server
from agentkit.mcp.transport import MemoryTransport, Transport

KEPT: Final = 1_000  # notifications


class Client(Lists):
    """A connection to one server. Use it in a ``with`` block, which does the handshake, or call `connect` and `close`.

    After `close`, or a failed `connect`, it can be connected again: the transport starts anew.

    Args:
        transport: how to reach the server; a `Server` itself is reached in memory.
        name, version: what the client calls itself.
        server_name: what the server is called in a recording.
        timeout: seconds to wait for each answer.
        start_timeout: seconds to wait for the handshake, during which a server may still be starting; ``timeout`` by default.
        sampling: answers a server that asks for a text of a model; gets the request's parameters and returns a text.
        roots: folders (or addresses) that the server is told it may work in.
        elicitation: asks a person what the server wants to know; gets a message and a JSON Schema and returns the answers,
            or None when the person declines.
        recorder: writes down every message.
        notified: is told each notification as it arrives, in the thread that reads; it must not wait.
        revision: the revision of the protocol to ask for.
    """

    def __init__(
        self,
        transport: Transport | Server,
        *,
        name: str = "client",
        version: str = "1.0",
        server_name: str = "server",
        timeout: float = 10.0,
        start_timeout: float | None = None,
        sampling: Sampling | None = None,
        roots: Roots | None = None,
        elicitation: Elicitation | None = None,
        recorder: Recorder | None = None,
        notified: Callable[[Notification], None] | None = None,
        revision: str = LATEST,
    ) -> None:
        self.transport = MemoryTransport(transport) if isinstance(transport, Server) else transport
        self.info = {"name": name, "version": version}
        self.notifications: deque[Notification] = deque(maxlen=KEPT)
        self.rejected: tuple[Rejected, ...] = ()  # definitions of the last `list_tools` that cannot be used
        self.revision: str | None = None  # of the protocol, after the handshake
        self.server_info: Mapping[str, Any] = {}
        self.server_capabilities: Mapping[str, Any] = {}
        self.instructions = ""
        self._asked_revision = revision
        self._start_timeout = start_timeout
        handlers, self.capabilities = answers(sampling, roots, elicitation)
        self._new_peer = functools.partial(
            Peer,
            _sender(self.transport),
            handlers,
            quick=("ping", "roots/list"),
            name=name,
            other=server_name,
            notified=_both(self.notifications.append, notified),
            timeout=timeout,
            recorder=recorder,
        )
        self.peer = self._new_peer()
        self._lost = False  # whether a request heard that the connection is gone
        # A cell that is run again forgets the client that it made before; that one's server then ends by itself.
        self._forgotten = weakref.finalize(self, self.transport.close)

    # --- life -----------------------------------------------------------------------------------------------------------

    def connect(self) -> Self:
        """Open the connection and do the handshake. Raises `McpError`; nothing is left open then.

        A client that is connected stays as it is, unless an answer has told that the connection is gone.
        """
        if self.revision is not None and not self._lost:
            return self
        if self.revision is not None:
            self.close()
        # Each connection has its own peer: threads of the last one may still tell theirs that it has ended.
        self.peer, self._lost = self._new_peer(), False
        try:
            self.transport.start(self.peer)
            self.initialize()
        except BaseException:
            self.close()
            raise
        return self

    def initialize(self) -> Mapping[str, Any]:
        """The handshake: agree on a revision, tell and learn the capabilities, say that it is done."""
        asked = {
            "protocolVersion": self._asked_revision,
            "capabilities": self.capabilities,
            "clientInfo": self.info,
        }
        answer = self.peer.request("initialize", asked, timeout=self._start_timeout)
        revision, able, info = (answer.get(key) for key in ("protocolVersion", "capabilities", "serverInfo"))
        if revision not in SUPPORTED:
            raise McpError(
                f"The server speaks revision {str(revision)[:40]!r} of MCP; this client speaks {', '.join(SUPPORTED)}."
            )
        self.server_capabilities = able if isinstance(able, Mapping) else {}
        self.server_info = info if isinstance(info, Mapping) else {}
        self.instructions = str(answer.get("instructions") or "")
        self.transport.negotiated(revision)
        self.peer.batches = has_batches(revision)
        self.peer.notify("notifications/initialized")
        self.revision = revision
        return answer

    def close(self) -> None:
        """End the connection; a server that was started for it is stopped. May be called twice."""
        self.peer.closed("The connection was closed.")
        self.transport.close()
        self.revision = None

    @property
    def noise(self) -> tuple[Problem, ...]:
        """Lines from the server that were no messages, the last 100."""
        return tuple(self.peer.noise)

    # --- what can be asked ------------------------------------------------------------------------------------------------

    def ping(self, timeout: float | None = None) -> None:
        """Ask for a sign of life. Raises `McpError` when there is none."""
        self.request("ping", timeout=timeout)

    def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        progress: Progress | None = None,
        timeout: float | None = None,
    ) -> ToolOutcome:
        """Run a tool. A tool that fails is an outcome with ``is_error``; what the protocol refuses is an `McpError`."""
        params = {"name": name, "arguments": dict(arguments or {})}
        return read_outcome(self.request("tools/call", params, progress=progress, timeout=timeout))

    def read_resource(self, uri: str) -> tuple[Mapping[str, Any], ...]:
        """The contents behind an address, each with ``text``, or ``blob`` in base64."""
        return tuple(read_page("resources/read", "contents", self.request("resources/read", {"uri": uri}))[0])

    def get_prompt(self, name: str, arguments: Mapping[str, str] | None = None) -> tuple[Mapping[str, Any], ...]:
        """The messages of a prompt, each with ``role`` and ``content``."""
        answer = self.request("prompts/get", {"name": name, "arguments": dict(arguments or {})})
        return tuple(read_page("prompts/get", "messages", answer)[0])

    def set_log_level(self, level: str) -> None:
        """Ask the server for log messages from this level up; they arrive in `notifications`."""
        self.request("logging/setLevel", {"level": level})

    def cancel(self, reason: str = "no longer needed") -> None:
        """Give up on every request that waits for an answer, for example in another thread."""
        self.peer.cancel_all(reason)

    def request(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        progress: Progress | None = None,
        timeout: float | None = None,
    ) -> Mapping[str, Any]:
        """Any request of the protocol. Raises `McpError`: refused, no answer in time, or not connected."""
        if self.revision is None:
            raise McpError("This client is not connected. Use it in a `with` block.", code=CONNECTION_CLOSED)
        peer = self.peer
        try:
            return peer.request(method, params, progress=progress, timeout=timeout)
        except McpError as error:
            if peer is self.peer and _is_gone(error):  # not when it is about a connection that was replaced meanwhile
                self._lost = True
            raise

    def _page(self, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        return self.request(method, params)

    def __repr__(self) -> str:
        state = f"revision {self.revision}" if self.revision else "not connected"
        return f"Client({self.transport!r}, {state})"


def _is_gone(error: McpError) -> bool:
    """Whether the connection is gone: nobody is there, or the server has forgotten the session (HTTP status 404)."""
    return error.code == CONNECTION_CLOSED or (isinstance(error.data, Mapping) and error.data.get("status") == 404)


def _sender(transport: Transport) -> Send:
    return lambda message, about: transport.send(message)


def _both(
    keep: Callable[[Notification], None], tell: Callable[[Notification], None] | None
) -> Callable[[Notification], None]:
    def both(message: Notification) -> None:
        keep(message)
        if tell is not None:
            tell(message)

    return both
