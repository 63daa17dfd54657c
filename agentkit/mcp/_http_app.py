"""The web application of a server: one address, three methods.

POST    a message of the client; a request is answered by JSON, or by a stream when there is more than the answer to tell
GET     a stream for what the server wants to say by itself
DELETE  the end of the session
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any, Final
from urllib.parse import urlsplit

from starlette.requests import ClientDisconnect
from starlette.requests import Request as Visit
from starlette.responses import Response as Answer
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from agentkit.mcp._http_session import HttpSession, Stream
from agentkit.mcp.bearer import Bearer, Turned
from agentkit.mcp.jsonrpc import (
    INVALID_REQUEST,
    ErrorResponse,
    Id,
    Message,
    Notification,
    Problem,
    Request,
    Response,
    encode,
    parse_many,
)
from agentkit.mcp.revisions import ASSUMED, SUPPORTED, has_batches
from agentkit.mcp.server import Server
from agentkit.mcp.sse import event

MAX_SESSIONS: Final = 1_000


class Refused(Exception):
    """Ends a visit with this HTTP status and an error message in the form of JSON-RPC."""

    def __init__(self, status: int, sentence: str, *, code: int = INVALID_REQUEST, **headers: str) -> None:
        super().__init__(sentence)
        self.status, self.code = status, code
        self.headers = {name.replace("_", "-"): text for name, text in headers.items()}

    def answer(self) -> Answer:
        body = encode(ErrorResponse(None, self.code, str(self)))
        return Answer(body, self.status, self.headers, "application/json")


class App:
    """An ASGI application in front of one server. ``hosts`` are the names of this machine; none means any name."""

    def __init__(
        self,
        server: Server,
        path: str,
        bearer: Bearer | None,
        *,
        hosts: frozenset[str],
        origins: frozenset[str],
        max_bytes: int,
        heartbeat: float,
    ) -> None:
        self.server, self.path, self.bearer, self.max_bytes = server, path, bearer, max_bytes
        self.hosts, self.origins, self.heartbeat = hosts, origins, heartbeat
        self.sessions: dict[str, HttpSession] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        visit = Visit(scope, receive)
        try:
            answer = await self._answer(visit)
        except Refused as refused:
            answer = refused.answer()
        except ClientDisconnect:
            return
        await answer(scope, receive, send)

    def close(self) -> None:
        """End every session. To be called in the server's event loop."""
        for session in list(self.sessions.values()):
            session.close()
        self.sessions.clear()

    async def _answer(self, visit: Visit) -> Answer:
        if visit.scope["path"] != self.path:
            raise Refused(404, f"There is nothing here. The server answers at {self.path}.")
        self._check_origin(visit)
        token = self._token(visit)
        revision = visit.headers.get("mcp-protocol-version", ASSUMED)
        match visit.method:
            case "POST":
                return await self._post(visit, token, revision)
            case "GET":
                _accepts(visit, "text/event-stream")
                return self._listen(self._session(visit, token, revision))
            case "DELETE":
                self._end(self._session(visit, token, revision))
                return Answer(status_code=204)
        raise Refused(405, "Use POST, GET or DELETE.", Allow="POST, GET, DELETE")

    # --- who may ask ----------------------------------------------------------------------------------------------------

    def _check_origin(self, visit: Visit) -> None:
        """A web page whose name was made to point to this machine (DNS rebinding) still sends its own name.

        Only browsers send an origin. A server for other machines cannot know all names that lead to it, so it does not look
        at Host; it has tokens, which no foreign page knows.
        """
        host, origin = visit.headers.get("host", ""), visit.headers.get("origin")
        if self.hosts and _host(f"//{host}") not in self.hosts:
            raise Refused(403, "This server does not answer to that name.")
        if origin is not None and origin.lower() not in self.origins and _host(origin) not in self.hosts:
            raise Refused(403, "Web pages of other sites may not ask this server.")

    def _token(self, visit: Visit) -> str:
        if self.bearer is None:
            return ""
        who = self.bearer.who(visit.headers.get("authorization", ""))
        if isinstance(who, Turned):
            raise _turned(who)
        return who

    def _session(self, visit: Visit, token: str, revision: str) -> HttpSession:
        given = visit.headers.get("mcp-session-id")
        if given is None:
            raise Refused(400, "Send the header Mcp-Session-Id that came with the answer to initialize.")
        session = self.sessions.get(given)
        if session is None or session.owner != token:
            raise Refused(404, "There is no such session. Send initialize again.")
        if revision not in SUPPORTED:
            raise Refused(400, f"MCP-Protocol-Version is one of {', '.join(SUPPORTED)}.")
        self.sessions[session.id] = self.sessions.pop(session.id)  # the latest used stands last
        return session

    # --- messages -------------------------------------------------------------------------------------------------------

    async def _post(self, visit: Visit, token: str, revision: str) -> Answer:
        _accepts(visit, "application/json", "text/event-stream")
        if visit.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            raise Refused(415, "The body is application/json.")
        text = await self._body(visit)
        messages = self._messages(text)
        if self.bearer is not None:
            for message in messages:
                turned = self.bearer.allows(token, self.server, message)
                if turned is not None:
                    raise _turned(turned)
        batch = text.lstrip().startswith("[")
        first = isinstance(messages[0], Request) and messages[0].method == "initialize"
        if first and batch:  # before a session is opened that nobody could use
            raise Refused(400, "initialize cannot be part of a batch.")
        session = self._opened(token) if first else self._session(visit, token, revision)
        if batch and not has_batches(session.session.revision):
            raise Refused(400, "Batches are not part of this revision of MCP: send one message at a time.")
        ids: list[Id] = [message.id for message in messages if isinstance(message, Request)]
        stream = session.expect(ids)
        if stream is None:
            raise Refused(400, "A request with this id is being answered already.")
        session.session.peer.receive(text)
        for message in messages:
            if isinstance(message, Notification) and message.method == "notifications/cancelled":
                session.give_up(message.params.get("requestId"))
        if not ids:
            return Answer(status_code=202)
        return await self._told(session, ids, stream, {"Mcp-Session-Id": session.id} if first else {})

    async def _body(self, visit: Visit) -> str:
        data = b""
        async for chunk in visit.stream():
            data += chunk
            if len(data) > self.max_bytes:
                raise Refused(413, f"A message has at most {self.max_bytes:,} bytes.")
        return data.decode("utf-8", "replace")

    def _messages(self, text: str) -> list[Message]:
        found: list[Message] = []
        for message in parse_many(text):
            if isinstance(message, Problem):
                raise Refused(400, message.reason, code=message.code)
            found.append(message)
        return found

    def _opened(self, token: str) -> HttpSession:
        if len(self.sessions) >= MAX_SESSIONS:
            # Clients often go without a word: the one unused for longest has to leave.
            self._end(next(iter(self.sessions.values())))
        session = HttpSession(self.server, token)
        self.sessions[session.id] = session
        return session

    def _end(self, session: HttpSession) -> None:
        self.sessions.pop(session.id, None)
        session.close()

    async def _told(self, session: HttpSession, ids: list[Id], stream: Stream, headers: dict[str, str]) -> Answer:
        """JSON when the answer is the first thing that the server has to tell, else a stream that ends with it."""
        message = await stream.get()
        if isinstance(message, ErrorResponse) and headers:  # no handshake, no session
            self._end(session)
            headers = {}
        if len(ids) == 1 and isinstance(message, Response | ErrorResponse):
            session.forget(ids)
            return Answer(encode(message), 200, headers, "application/json")
        return _streaming(self._events(session, ids, stream, message), headers)

    async def _events(
        self, session: HttpSession, ids: list[Id], stream: Stream, message: Message | None
    ) -> AsyncIterator[bytes]:
        left = set(ids)
        try:
            while message is not None:
                yield event(encode(message))
                if isinstance(message, Response | ErrorResponse) and message.id is not None:
                    left.discard(message.id)
                    if not left:
                        return
                message = await stream.get()
        finally:
            session.forget(ids)

    def _listen(self, session: HttpSession) -> Answer:
        stream = session.listen()
        if stream is None:
            raise Refused(409, "This session has an open stream already.")

        async def events() -> AsyncIterator[bytes]:
            try:
                yield b": open\n\n"  # a comment, so that the client gets the headers at once
                while True:
                    try:
                        message = await asyncio.wait_for(stream.get(), self.heartbeat)
                    except TimeoutError:  # proxies end a connection that is silent for long
                        yield b": alive\n\n"
                        continue
                    if message is None:
                        return
                    yield event(encode(message))
            finally:
                session.unlisten()

        return _streaming(events(), {})


def _host(address: str) -> str | None:
    try:
        return urlsplit(address).hostname
    except ValueError:  # brackets that do not belong there
        return None


def _streaming(events: AsyncIterator[bytes], headers: dict[str, str]) -> Answer:
    no_store = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(events, 200, headers | no_store, "text/event-stream")


def _turned(turned: Turned) -> Refused:
    return Refused(turned.status, turned.sentence, WWW_Authenticate=turned.challenge)


def _accepts(visit: Visit, *kinds: str) -> None:
    accepted: Any = {part.partition(";")[0].strip() for part in visit.headers.get("accept", "").lower().split(",")}
    for kind in kinds:
        if not accepted & {kind, "*/*", kind.partition("/")[0] + "/*"}:
            raise Refused(406, f"Send the header Accept: {', '.join(kinds)}.")
