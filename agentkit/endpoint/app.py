"""The web application: who may ask, what is asked, and the answer in the form of the service that was asked."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import json
from collections.abc import AsyncGenerator, Mapping
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from agentkit._jsonsafe import dumps
from agentkit.endpoint.answering import Writer, streamed, whole
from agentkit.endpoint.asking import Item, replies
from agentkit.endpoint.desk import Desk, Route
from agentkit.endpoint.errors import anthropic_type, error_document, error_headers, openai_error
from agentkit.endpoint.faults import FAIL_HEADER, fault_of, refused_by
from agentkit.endpoint.hosts import host_name, is_loopback
from agentkit.endpoint.values import Asked, Exchange, Family, Fault, Refused
from agentkit.messages import Model

NO_ANSWER = 499  # what proxies write down when there is nobody left to answer
_LINE_ENDS = str.maketrans({"\u2028": "\\u2028", "\u2029": "\\u2029", "\x85": "\\u0085"})


class Dropped(Exception):
    """Ends the connection in the middle of an answer, as a fault on demand."""


class App:
    """An ASGI application in front of one model."""

    def __init__(self, desk: Desk, model: Model, token: str | None, max_bytes: int) -> None:
        self.desk = desk
        self.model = model
        self.token = token
        self.max_bytes = max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        visit = Visit(self, Request(scope, receive))
        try:
            response = await visit.response()
        except ClientDisconnect:
            visit.log(NO_ANSWER, None)
            return
        except asyncio.CancelledError:
            visit.log(NO_ANSWER, None)
            raise
        await response(scope, receive, send)


class Visit:
    """One request on its way through: checked, read, answered, and put on record before its last byte is sent."""

    def __init__(self, app: App, request: Request) -> None:
        self.app = app
        self.request = request
        self.path: str = request.scope["path"]
        self.route = app.desk.route(request.method, self.path)
        self.family: Family = self._family()
        self.body: Any = None
        self.events: list[dict[str, Any]] = []
        self.logged = False
        self.request_id = app.desk.request_id()

    def _family(self) -> Family:
        if isinstance(self.route, Route) and self.route.family:
            return self.route.family
        return "anthropic" if "anthropic-version" in self.request.headers else "openai"

    async def response(self) -> Response:
        """The answer to send. Whatever goes wrong becomes an error document."""
        try:
            return await self._answer()
        except Refused as refused:
            return self._refusal(refused)
        except ClientDisconnect:
            raise
        except Exception as error:  # a mistake of ours still has to reach the client in the form that it reads
            told = f"The endpoint itself failed ({type(error).__name__}). This is a mistake in agentkit."
            return self._refusal(Refused(500, told, retry=False))

    async def _answer(self) -> Response:
        self._authorise()
        if isinstance(self.route, Refused):
            raise self.route
        if self.request.method == "POST":
            self.body = await self._read()
        fault = self._fault()
        if fault is not None and fault.after_chunks is None:
            return self._drop() if fault.status is None else self._refusal(refused_by(fault))
        if self.family == "anthropic" and "anthropic-version" not in self.request.headers:
            raise Refused(400, "anthropic-version: header is required")
        found = self.route.handle(self.body, self.family)
        if isinstance(found, Mapping):
            return self._document(dict(found))
        return await self._ask(*found, fault)

    def _authorise(self) -> None:
        host = self.request.headers.get("host", "")
        # A web page whose name was made to point here (DNS rebinding) still sends its own name.
        if self.app.token is None and not is_loopback(host_name(host)):
            raise Refused(403, "This endpoint answers to the names of the loopback address only.")
        given = self.request.headers.get("x-api-key", "")
        scheme, _, bearer = self.request.headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            given = given or bearer.strip()
        if not given:
            raise Refused(
                401, "No key was sent. Send one in the header 'Authorization: Bearer …' or 'x-api-key: …'.", retry=False
            )
        token = self.app.token
        if token is not None and not hmac.compare_digest(given.encode("utf-8"), token.encode("utf-8")):
            raise Refused(401, "The key that was sent is not the one of this endpoint.", retry=False)

    async def _read(self) -> Any:
        data = bytearray()
        size = 0
        async for chunk in self.request.stream():
            size += len(chunk)
            if size <= self.app.max_bytes:  # what is too much is read all the same, so that the client hears the answer
                data += chunk
            elif size > 8 * self.app.max_bytes:
                break
        if size > self.app.max_bytes:
            raise Refused(413, f"The request is too large: at most {self.app.max_bytes:,} bytes are read.")
        try:
            found = json.loads(bytes(data).decode("utf-8"), parse_constant=_no_constant)
        except (ValueError, RecursionError):
            raise Refused(400, "The body of the request is not valid JSON in UTF-8.") from None
        if not isinstance(found, dict):
            raise Refused(400, "The body of the request must be a JSON object.")
        return found

    def _fault(self) -> Fault | None:
        asked_for = self.request.headers.get(FAIL_HEADER)
        return fault_of(asked_for) if asked_for else self.app.desk.next_fault()

    # --- answers --------------------------------------------------------------------------------------------------------

    async def _ask(self, asked: Asked, writer: Writer, fault: Fault | None) -> Response:
        items = replies(self.app.model, asked)
        if not asked.stream:
            async with contextlib.aclosing(items):
                document = await self._or_gone(whole(asked, writer, items))
            self.app.desk.keep(asked, document)
            if fault is not None:
                return self._drop() if fault.status is None else self._refusal(refused_by(fault))
            return self._document(document)
        try:
            # The first item is waited for, so that a model that fails can still be told by the status.
            first: Item = await self._or_gone(anext(items))
        except BaseException:
            await items.aclose()
            raise
        source = self._chunks(asked, writer, first, items, fault)
        return _Events(source, headers={**self._headers(), "cache-control": "no-cache"}, media_type="text/event-stream")

    async def _or_gone(self, work: Any) -> Any:
        """The result of ``work``, unless the client goes away before it is there."""
        answer: asyncio.Future[Any] = asyncio.ensure_future(work)
        left = asyncio.ensure_future(self._disconnected())
        try:
            await asyncio.wait({answer, left}, return_when=asyncio.FIRST_COMPLETED)
            if not answer.done():
                raise ClientDisconnect
            return answer.result()
        finally:
            for task in (answer, left):
                task.cancel()
            await asyncio.gather(answer, left, return_exceptions=True)

    async def _disconnected(self) -> None:
        while (await self.request.receive())["type"] != "http.disconnect":
            pass

    async def _chunks(
        self, asked: Asked, writer: Writer, first: Item, items: AsyncGenerator[Item], fault: Fault | None
    ) -> AsyncGenerator[bytes]:
        limit = None if fault is None else fault.after_chunks
        batches = streamed(asked, writer, first, items)
        try:
            async for batch, document in batches:
                broken = fault is not None and limit is not None and len(self.events) + len(batch) > limit
                if broken and limit is not None:
                    batch, document = batch[: limit - len(self.events)], None
                self.events += batch
                if document is not None:
                    self.app.desk.keep(asked, document)
                    self.log(200, document)
                yield b"".join(map(self._event, batch)) + (b"" if document is None else self._done())
                if broken and fault is not None:
                    yield self._broken(fault)
                    return
        except Refused as refused:
            yield self._failure(refused)
        finally:
            await batches.aclose()
            await items.aclose()
            self.log(200, None)

    def _broken(self, fault: Fault) -> bytes:
        if fault.status is None:
            self.log(200, None)
            raise Dropped
        return self._failure(refused_by(fault))

    def _failure(self, refused: Refused) -> bytes:
        """An error in a stream that has begun."""
        if self.family == "anthropic":
            error = {"type": anthropic_type(refused.status), "message": refused.message}
            event: dict[str, Any] = {"type": "error", "error": error, "request_id": self.request_id}
        elif self.route_name == "responses":
            code = refused.code or "server_error"
            event = {"type": "error", "code": code, "message": refused.message, "param": None}
            event["sequence_number"] = len(self.events)
        else:
            event = {"error": openai_error(refused)}
        self.events.append(event)
        self.log(200, None)
        return self._event(event)

    def _event(self, event: Mapping[str, Any]) -> bytes:
        found = dumps(event)
        if not found.isascii():
            found = found.translate(_LINE_ENDS)  # some readers of such streams take these letters for the end of a line
        text = f"data: {found}\n\n"
        return (text if self.route_name == "chat" else f"event: {event['type']}\n{text}").encode("utf-8", "replace")

    def _done(self) -> bytes:
        return b"data: [DONE]\n\n" if self.route_name == "chat" else b""

    def _document(self, document: dict[str, Any]) -> Response:
        self.log(200, document)
        return _json(document, 200, self._headers())

    def _refusal(self, refused: Refused) -> Response:
        document = error_document(self.family, refused, self.request_id)
        self.log(refused.status, document)
        return _json(document, refused.status, {**self._headers(), **error_headers(refused)})

    def _drop(self) -> Response:
        async def nothing() -> AsyncGenerator[bytes]:
            self.log(200, None)
            yield b""
            raise Dropped

        return _Events(nothing(), headers=self._headers(), media_type="application/json")

    def _headers(self) -> dict[str, str]:
        return {"request-id" if self.family == "anthropic" else "x-request-id": self.request_id}

    @property
    def route_name(self) -> str:
        return self.route.service if isinstance(self.route, Route) else "unknown"

    def log(self, status: int, document: Any) -> None:
        """Put the exchange on record, once."""
        if not self.logged:
            self.logged = True
            exchange = Exchange(self.route_name, self.path, self.body, status, document, tuple(self.events))
            self.app.desk.record(exchange)


class _Events(StreamingResponse):
    """A stream whose source is closed whatever happens, also when the client or the server goes away."""

    def __init__(self, source: AsyncGenerator[bytes], headers: Mapping[str, str], media_type: str) -> None:
        super().__init__(source, headers=headers, media_type=media_type)
        self._source = source

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with contextlib.aclosing(self._source):
            await super().__call__(scope, receive, send)


def _json(document: Mapping[str, Any], status: int, headers: Mapping[str, str]) -> Response:
    return Response(dumps(document).encode("utf-8", "replace"), status, dict(headers), "application/json")


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")
