"""The client's side of Streamable HTTP: each message is a POST; the answer is JSON or a stream of events."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from agentkit.errors import DefinitionError
from agentkit.mcp.bearer import refusal
from agentkit.mcp.jsonrpc import (
    CONNECTION_CLOSED,
    Id,
    McpError,
    Message,
    Notification,
    Request,
    encode,
    parse_many,
)
from agentkit.mcp.peer import Peer
from agentkit.mcp.sse import Place, messages
from agentkit.mcp.transport import Transport

if TYPE_CHECKING:
    import httpx2

READ_SECONDS: Final = 600.0  # of silence in an answer; how long a request may take is the client's own time-out
CANCEL_SECONDS: Final = 2.0  # to hand over that a request is not wanted any more
IDLE: Final = 4  # connections that are kept for the next messages
MAX_RESUMED: Final = 1_000  # times that the stream of one answer is asked for again
PASSING: Final = {408, 409, 425, 429}  # refusals that need not last
LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "::1"})


class HttpTransport(Transport):
    """A server at an address such as ``http://127.0.0.1:8000/mcp``.

    What the server wants to say by itself comes over a stream of its own, which is opened again whenever it ends. An
    answer whose stream ends too early is asked for again, if its events had ids (the header ``Last-Event-ID``).

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
        self._lines: _Lines | None = None
        self._peer: Peer | None = None
        self._revision: str | None = None

    def start(self, peer: Peer) -> None:
        import httpx2

        self._peer, self.session_id, self._revision = peer, None, None
        parts = urlsplit(self.url)
        trust = parts.hostname not in LOOPBACK  # a proxy from the environment cannot reach this machine
        # Made once, because certificates load slowly; without encryption there is nothing to verify.
        tls = httpx2.create_ssl_context(verify=parts.scheme == "https", trust_env=trust)
        # A redirect could carry the token to somebody else.
        self._lines = _Lines(lambda: httpx2.Client(follow_redirects=False, trust_env=trust, verify=tls))

    def negotiated(self, revision: str) -> None:
        self._revision = revision

    def send(self, message: Message) -> None:
        """A request is answered in a thread of its own; anything else is handed over before this returns.

        A cancellation is handed over in a thread, too: whoever has waited long enough must not wait for it.
        """
        lines, peer = self._lines, self._peer
        if lines is None or peer is None:
            raise McpError("The connection is closed.", code=CONNECTION_CLOSED)
        if isinstance(message, Request):
            return self._thread(self._exchange, message, lines, peer)
        if isinstance(message, Notification) and message.method == "notifications/cancelled":
            return self._thread(self._cancel, message, lines)
        self._hand_over(message, lines, self._timeout)
        if isinstance(message, Notification) and message.method == "notifications/initialized":
            self._thread(self._listen, lines, peer)

    def close(self) -> None:
        lines, self._lines = self._lines, None
        if lines is None:
            return
        if self.session_id is not None:
            # This is the end, whether the server hears it or not.
            with contextlib.suppress(Exception), lines.line() as line, self._asked(line, "DELETE", {}, 2.0, 2.0):
                pass
        lines.close()

    # --- one message ------------------------------------------------------------------------------------------------------

    def _hand_over(self, message: Message, lines: _Lines, seconds: float) -> None:
        with lines.line() as line, self._posted(line, message, seconds, seconds):
            pass

    def _cancel(self, message: Notification, lines: _Lines) -> None:
        """Tell that a request is not wanted any more, and end whatever still waits for its answer."""
        with contextlib.suppress(McpError):
            self._hand_over(message, lines, CANCEL_SECONDS)
        lines.end(message.params.get("requestId"))

    def _exchange(self, message: Request, lines: _Lines, peer: Peer) -> None:
        """Post a request, and hand on all that comes back."""
        place = Place()
        try:
            with lines.line(message.id) as line:
                with self._posted(line, message, self._timeout, READ_SECONDS) as answer:
                    if message.method == "initialize" and peer is self._peer:
                        self.session_id = answer.headers.get("mcp-session-id")
                    done = _told(answer, message, peer, place)
                if not done:
                    self._resume(line, message, peer, place)
            error = McpError(f"The server's answer to {message.method} ended without a result.")
        except McpError as failed:
            error = failed
        except Exception as failed:
            error = McpError(f"The server's answer to {message.method} cannot be read ({type(failed).__name__}).")
        peer.failed(message.id, error)  # nobody hears it if the result has come

    def _resume(self, line: _Line, message: Request, peer: Peer, place: Place) -> None:
        """Ask for the rest of a stream. Servers end streams on purpose, so that nothing is open while they work."""
        for _ in range(MAX_RESUMED):
            if place.id is None or line.over.wait(place.pause()):
                return
            with self._stream(line, place, READ_SECONDS) as answer:
                status = answer.status_code
                if status != 200:
                    told = f"The server's answer to {message.method} ended without a result, and it cannot be resumed"
                    raise McpError(f"{told} (HTTP status {status}).", data={"status": status})
                if _told(answer, message, peer, place, resumed=True):
                    return

    def _listen(self, lines: _Lines, peer: Peer) -> None:
        """Read what the server wants to say by itself, until the connection is closed. Not every server offers that."""
        place, failures, going_on = Place(), 0, True
        with contextlib.suppress(McpError), lines.line() as line:
            while going_on:
                failures += 1
                # The stream has ended; each request still tells its own failure.
                with contextlib.suppress(Exception), self._stream(line, place, None) as answer:
                    if answer.status_code == 200:
                        failures = 1
                        for text in messages(answer.headers.get("content-type", ""), answer.iter_bytes(), place):
                            peer.receive(text)
                    elif answer.status_code // 100 == 4 and answer.status_code not in PASSING:
                        going_on = place.id is not None  # perhaps the server has only forgotten this event
                        place.id = None
                going_on = going_on and not line.over.wait(place.pause(failures))

    @contextlib.contextmanager
    def _posted(self, line: _Line, message: Message, connect: float, read: float) -> Iterator[httpx2.Response]:
        """The answer to a message, whose body has not been read yet. Raises `McpError` when it is a refusal."""
        headers = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
        with self._asked(line, "POST", headers, connect, read, encode(message).encode("utf-8")) as answer:
            if answer.status_code >= 300:
                asked = answer.headers.get("www-authenticate", "")
                raise refusal(answer.status_code, asked, answer.iter_bytes(), self.session_id is not None)
            yield answer

    def _stream(self, line: _Line, place: Place, read: float | None) -> AbstractContextManager[httpx2.Response]:
        """The answer to a GET: a stream from this place on."""
        headers = {"Accept": "text/event-stream"} | ({} if place.id is None else {"Last-Event-ID": place.id})
        return self._asked(line, "GET", headers, self._timeout, read)

    @contextlib.contextmanager
    def _asked(
        self, line: _Line, method: str, headers: dict[str, str], connect: float, read: float | None, body: bytes = b""
    ) -> Iterator[httpx2.Response]:
        import httpx2

        wait = httpx2.Timeout(connect, read=read)
        headers = self._headers | headers
        if self.session_id is not None:
            headers["Mcp-Session-Id"] = self.session_id
        if self._revision is not None:
            headers["MCP-Protocol-Version"] = self._revision
        try:
            with line.ask(method, self.url, content=body or None, headers=headers, timeout=wait) as answer:
                yield answer
        except (httpx2.HTTPError, httpx2.StreamError, RuntimeError, OSError) as error:
            told = f"The server at {self._shown()} cannot be reached ({type(error).__name__})."
            raise McpError(told, code=CONNECTION_CLOSED) from None

    def _thread(self, work: Any, *arguments: Any) -> None:
        threading.Thread(target=work, args=arguments, daemon=True, name="agentkit-mcp-http").start()

    def _shown(self) -> str:
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"

    def __repr__(self) -> str:
        return f"HttpTransport({self._shown()!r})"


class _Line:
    """One connection, used by one exchange at a time: so it is known whose socket to close when an exchange has to end."""

    def __init__(self, http: httpx2.Client) -> None:
        self.over = threading.Event()
        self.http = http
        self._socket: Any = None

    def ask(self, method: str, url: str, **more: Any) -> AbstractContextManager[httpx2.Response]:
        return self.http.stream(method, url, extensions={"trace": self._trace}, **more)

    def hang_up(self) -> None:
        """End what another thread waits for: only closing the socket in both directions wakes it up."""
        self.over.set()
        with contextlib.suppress(Exception):
            self._socket.shutdown(socket.SHUT_RDWR)

    def _trace(self, name: str, info: Mapping[str, Any]) -> None:
        """Is told by httpx what it does."""
        if name.endswith((".connect_tcp.complete", ".start_tls.complete")):
            self._socket = info["return_value"].get_extra_info("socket")
            if self.over.is_set():  # while it was connecting
                self.hang_up()


class _Lines:
    """All connections to one server: one for each exchange that goes on, and a few idle ones for the next."""

    def __init__(self, make: Callable[[], httpx2.Client]) -> None:
        self._make, self._lock, self._closed = make, threading.Lock(), False
        self._idle: list[_Line] = []
        self._used: dict[_Line, Id | None] = {}

    @contextlib.contextmanager
    def line(self, about: Id | None = None) -> Iterator[_Line]:
        """A line for one exchange, which may be about a request."""
        with self._lock:
            if self._closed:
                raise McpError("The connection is closed.", code=CONNECTION_CLOSED)
            line = self._idle.pop() if self._idle else _Line(self._make())
            self._used[line] = about
        try:
            yield line
        finally:
            with self._lock:
                del self._used[line]
                keep = len(self._idle) < IDLE and not (self._closed or line.over.is_set())
                if keep:
                    self._idle.append(line)
            if not keep:
                line.http.close()

    def end(self, about: object) -> None:
        """Hang up on the exchange about this request."""
        with self._lock:  # so that the line is not given to another exchange meanwhile
            for line in [line for line, request in self._used.items() if request is not None and request == about]:
                line.hang_up()

    def close(self) -> None:
        with self._lock:
            self._closed = True
            for line in self._used:
                line.hang_up()
            idle, self._idle = self._idle, []
        for line in idle:
            line.http.close()


def _told(answer: httpx2.Response, asked: Request, peer: Peer, place: Place, *, resumed: bool = False) -> bool:
    """Hand on what comes, and say whether the answer was among it, be it a good one or not."""
    import httpx2

    done = False
    try:
        for text in messages(answer.headers.get("content-type", ""), answer.iter_bytes(), place):
            for item in parse_many(text):  # an id of the wrong type is an answer, too
                done = done or (not isinstance(item, Request | Notification) and str(item.id) == str(asked.id))
            peer.receive(text)
            if done and resumed:  # some servers leave such a stream open
                return True
    except httpx2.TransportError:
        if place.id is None:
            raise
    return done
