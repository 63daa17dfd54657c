"""The client's side of Streamable HTTP: each message is a POST; the answer is JSON or a stream of events."""

from __future__ import annotations

import contextlib
import re
import socket
import threading
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from agentkit.errors import DefinitionError
from agentkit.mcp.jsonrpc import (
    CONNECTION_CLOSED,
    INTERNAL_ERROR,
    ErrorResponse,
    McpError,
    Message,
    Notification,
    Request,
    encode,
    parse,
)
from agentkit.mcp.peer import Peer
from agentkit.mcp.sse import LONGEST, read_events
from agentkit.mcp.transport import Transport

if TYPE_CHECKING:
    import httpx2

READ_SECONDS: Final = 600.0  # of silence in an answer; how long a request may take is the client's own time-out
LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "::1"})


class HttpTransport(Transport):
    """A server at an address such as ``http://127.0.0.1:8000/mcp``.

    Args:
        url: the address.
        token: a bearer token, sent with every message; it is never shown.
        headers: more headers.
        timeout: seconds to connect, and to hand over a message that has no answer.

    Raises:
        DefinitionError: the address does not begin with http:// or https://.
    """

    def __init__(
        self, url: str, *, token: str | None = None, headers: Mapping[str, str] | None = None, timeout: float = 10.0
    ) -> None:
        if urlsplit(url).scheme not in ("http", "https"):
            raise DefinitionError("The address of an MCP server begins with http:// or https://.")
        self.url = url
        self.session_id: str | None = None
        self._headers = {**(headers or {}), **({"Authorization": f"Bearer {token}"} if token else {})}
        self._timeout = timeout
        self._http: httpx2.Client | None = None
        self._peer: Peer | None = None
        self._open: set[httpx2.Response] = set()
        self._revision: str | None = None

    def start(self, peer: Peer) -> None:
        import httpx2

        self._peer, self.session_id, self._revision = peer, None, None
        wait = httpx2.Timeout(self._timeout, read=READ_SECONDS)
        parts = urlsplit(self.url)
        self._http = httpx2.Client(
            timeout=wait,
            follow_redirects=False,  # a redirect could carry the token to somebody else
            trust_env=parts.hostname not in LOOPBACK,  # a proxy from the environment cannot reach this machine
            verify=parts.scheme
            == "https",  # without encryption there is nothing to verify, and certificates load slowly
        )

    def negotiated(self, revision: str) -> None:
        self._revision = revision

    def send(self, message: Message) -> None:
        """A request is answered in a thread of its own; anything else is handed over before this returns."""
        if isinstance(message, Request):
            self._thread(self._exchange, message)
            return
        with self._posted(message, self._timeout):
            pass
        if isinstance(message, Notification) and message.method == "notifications/initialized":
            self._thread(self._listen)

    def close(self) -> None:
        http, self._http = self._http, None
        if http is None:
            return
        if self.session_id is not None:
            with contextlib.suppress(Exception):  # whether the server is still there or not, this is the end
                http.delete(self.url, headers=self._all_headers(), timeout=2.0)
        for answer in list(self._open):
            _hang_up(answer)
        http.close()

    # --- one message ------------------------------------------------------------------------------------------------------

    def _exchange(self, message: Request) -> None:
        """Post a request, and hand on all that comes back."""
        peer = self._peer
        assert peer is not None
        try:
            with self._posted(message, READ_SECONDS) as answer:
                if message.method == "initialize":
                    self.session_id = answer.headers.get("mcp-session-id")
                for text in _messages(answer):
                    peer.receive(text)
            error = McpError(f"The server's answer to {message.method} ended without a result.")
        except McpError as failed:
            error = failed
        except Exception as failed:
            error = McpError(f"The server's answer to {message.method} cannot be read ({type(failed).__name__}).")
        peer.failed(message.id, error)  # nobody hears it if the result has come

    def _listen(self) -> None:
        """Read what the server wants to say by itself. Not every server offers that."""
        http, peer = self._http, self._peer
        if http is None or peer is None:
            return
        with contextlib.suppress(Exception):  # the stream has ended; each request still tells its own failure
            headers = self._all_headers() | {"Accept": "text/event-stream"}
            with self._kept(http.stream("GET", self.url, headers=headers)) as answer:
                if answer.status_code == 200:
                    for text in _messages(answer):
                        peer.receive(text)

    @contextlib.contextmanager
    def _posted(self, message: Message, seconds: float) -> Iterator[httpx2.Response]:
        """The answer to a message, whose body has not been read yet. Raises `McpError` when it is a refusal."""
        import httpx2

        if self._http is None:
            raise McpError("The connection is closed.", code=CONNECTION_CLOSED)
        headers = self._all_headers() | {
            "Accept": "application/json, text/event-stream",
            "Content-Type": "application/json",
        }
        wait = httpx2.Timeout(self._timeout, read=seconds)
        body = encode(message).encode("utf-8")
        try:
            with self._kept(self._http.stream("POST", self.url, content=body, headers=headers, timeout=wait)) as answer:
                if answer.status_code >= 300:
                    raise self._refusal(answer)
                yield answer
        except (httpx2.HTTPError, httpx2.StreamError, RuntimeError, OSError) as error:
            told = f"The server at {self._shown()} cannot be reached ({type(error).__name__})."
            raise McpError(told, code=CONNECTION_CLOSED) from None

    @contextlib.contextmanager
    def _kept(self, opening: Any) -> Iterator[httpx2.Response]:
        with opening as answer:
            self._open.add(answer)
            try:
                yield answer
            finally:
                self._open.discard(answer)

    def _refusal(self, answer: httpx2.Response) -> McpError:
        answer.read()
        status, challenge = answer.status_code, answer.headers.get("www-authenticate", "")
        scope = re.search(r'scope="([^"]*)"', challenge)
        said = parse(answer.text)
        told = said.message if isinstance(said, ErrorResponse) else ""
        match status:
            case 401:
                told = f"The server wants a valid token (401). {told}"
            case 403:
                told = f"The server does not allow this (403). {told}"
            case 404 if self.session_id is not None:
                told = f"The session has ended (404): connect again. {told}"
            case _:
                told = f"The server refused the message with HTTP status {status}. {told}"
        code = said.code if isinstance(said, ErrorResponse) else INTERNAL_ERROR
        return McpError(told.strip(), code=code, data={"status": status, "scope": scope[1] if scope else None})

    def _all_headers(self) -> dict[str, str]:
        headers = dict(self._headers)
        if self.session_id is not None:
            headers["Mcp-Session-Id"] = self.session_id
        if self._revision is not None:
            headers["MCP-Protocol-Version"] = self._revision
        return headers

    def _thread(self, work: Any, *arguments: Any) -> None:
        threading.Thread(target=work, args=arguments, daemon=True, name="agentkit-mcp-http").start()

    def _shown(self) -> str:
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"

    def __repr__(self) -> str:
        return f"HttpTransport({self._shown()!r})"


def _messages(answer: httpx2.Response) -> Iterator[str]:
    """The messages in the body of an answer, as they come."""
    kind = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "text/event-stream":
        yield from read_events(answer.iter_bytes())
    elif kind == "application/json":
        body = b""
        for chunk in answer.iter_bytes():
            body += chunk
            if len(body) > LONGEST:
                raise McpError(f"The server's answer is longer than {LONGEST:,} bytes.")
        yield body.decode("utf-8", "replace")
    else:
        raise McpError(f"The server answered with {kind or 'no content type'}, not with JSON or a stream of events.")


def _hang_up(answer: httpx2.Response) -> None:
    """End a stream that another thread is reading: only closing the socket in both directions wakes it up."""
    with contextlib.suppress(Exception):
        answer.extensions["network_stream"].get_extra_info("socket").shutdown(socket.SHUT_RDWR)
