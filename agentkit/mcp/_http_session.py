"""One client over HTTP: which answer belongs into which of its open requests."""

from __future__ import annotations

import asyncio
import secrets
from collections import deque
from typing import Final, TypeAlias

from agentkit.mcp.jsonrpc import CONNECTION_CLOSED, ErrorResponse, Id, McpError, Message, Response, as_id
from agentkit.mcp.server import Server

KEPT: Final = 100  # messages that wait for the client to open its stream

Stream: TypeAlias = "asyncio.Queue[Message | None]"
"""Messages on their way to the client; None ends the stream."""


class HttpSession:
    """A session with its streams: one for each POST that is being answered, and at most one GET for everything else."""

    def __init__(self, server: Server, owner: str) -> None:
        self.id = secrets.token_hex(16)
        self.owner = owner  # the token that it was opened with: nobody else may use it
        self._loop = asyncio.get_running_loop()
        self._streams: dict[Id, Stream] = {}
        self._listener: Stream | None = None
        self._backlog: deque[Message] = deque(maxlen=KEPT)
        self.session = server.connect(self._send)

    def expect(self, ids: list[Id]) -> Stream | None:
        """A stream for the answers to these requests, and for all that the server sends on their behalf.

        None when one of the ids is in use.
        """
        if self._streams.keys() & set(ids):
            return None
        stream: Stream = asyncio.Queue()
        self._streams |= dict.fromkeys(ids, stream)
        return stream

    def forget(self, ids: list[Id]) -> None:
        for id in ids:
            self._streams.pop(id, None)

    def give_up(self, id: object) -> None:
        """The client has cancelled this request: it gets no answer, so its stream must end."""
        known = as_id(id)  # True would be found under 1
        if known is not None and known in self._streams:
            self._streams[known].put_nowait(None)

    def listen(self) -> Stream | None:
        """The stream for what belongs to no request; None when there is one already."""
        if self._listener is not None:
            return None
        self._listener = asyncio.Queue()
        while self._backlog:
            self._listener.put_nowait(self._backlog.popleft())
        return self._listener

    def unlisten(self) -> None:
        """The stream has ended. What it did not carry waits for the next one."""
        stream, self._listener = self._listener, None
        while stream is not None and not stream.empty():
            message = stream.get_nowait()
            if message is not None:
                self._backlog.append(message)

    def close(self) -> None:
        self.session.peer.closed("The session was closed.")
        for stream in [*self._streams.values(), self._listener]:
            if stream is not None:
                stream.put_nowait(None)

    def _send(self, message: Message, about: Id | None) -> None:
        """Called from any thread: the handlers of the server run in threads of their own."""
        try:
            self._loop.call_soon_threadsafe(self._route, message, about)
        except RuntimeError:
            raise McpError("The web server has stopped.", code=CONNECTION_CLOSED) from None

    def _route(self, message: Message, about: Id | None) -> None:
        stream = self._streams.get(about) if about is not None else self._listener
        if stream is not None:
            stream.put_nowait(message)
        elif about is None and not isinstance(message, Response | ErrorResponse):
            self._backlog.append(message)
