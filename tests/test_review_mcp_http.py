"""Faults of the HTTP side of MCP that a review has shown: long silence, servers that do not answer, foreign web pages."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import warnings
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx2
import pytest
from _mcp import add, calc

from agentkit import DefinitionError, Registry, tool
from agentkit.mcp import Bearer, Client, HttpServer, HttpTransport, McpError, Server, sse
from agentkit.mcp import _http_app as app_module
from agentkit.mcp import http as http_module
from agentkit.mcp._http_session import HttpSession
from agentkit.mcp.jsonrpc import Notification
from agentkit.mcp.sse import Place, read_events

GUARD = 20.0  # seconds; only a fault waits this long
ACCEPT = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
INITIALIZE = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": HELLO}
WELCOME = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "fake", "version": "1"}}
CHANGED = b'data: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n\n'
TOKEN = "a-token-of-a-test"


class Visit(BaseHTTPRequestHandler):
    """One request to a fake server."""

    protocol_version = "HTTP/1.1"
    message: Any = None

    def log_message(self, *_: Any) -> None:
        pass

    def do_POST(self) -> None:
        self.message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.do_GET()

    def do_GET(self) -> None:
        with contextlib.suppress(OSError):  # the client may have gone
            self.server.visited(self)  # type: ignore[attr-defined]

    do_DELETE = do_GET

    @property
    def method(self) -> str:
        return self.message.get("method", "") if self.message is not None else self.command

    def plain(self, status: int, body: Any = None) -> None:
        data = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def result(self, **result: Any) -> None:
        self.plain(200, {"jsonrpc": "2.0", "id": self.message["id"], "result": result})

    def events(self, data: bytes) -> None:
        """A stream that ends after these bytes."""
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.wfile.write(data)
        self.close_connection = True

    def gone(self) -> None:
        """Wait until the client closes its side."""
        self.connection.settimeout(GUARD)
        with contextlib.suppress(ConnectionError):
            assert self.connection.recv(1) == b""
        self.close_connection = True


@contextlib.contextmanager
def fake(on: Callable[[Visit], bool | None]) -> Iterator[str]:
    """The address of a server of a few lines. What ``on`` leaves (it returns True) is answered in the ordinary way."""

    def visited(visit: Visit) -> None:
        if not on(visit):
            return
        if visit.method == "initialize":
            visit.result(**WELCOME)
        elif visit.message is None:
            visit.plain(405)
        elif "id" in visit.message:
            visit.result()
        else:
            visit.plain(202)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Visit)
    server.daemon_threads, server.block_on_close = True, False
    server.visited = visited  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/mcp"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(GUARD)


def transports() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name == "agentkit-mcp-http"}


@contextlib.contextmanager
def nothing_left() -> Iterator[None]:
    """Every thread that a transport starts in this block has to end."""
    before = transports()
    yield
    for thread in transports() - before:
        thread.join(GUARD)
        assert not thread.is_alive()


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "PAUSE", 0.001)
    monkeypatch.setattr(sse, "SHORTEST_PAUSE", 0.001)


@pytest.fixture(scope="module")
def web() -> Iterator[httpx2.Client]:
    with httpx2.Client(trust_env=False, verify=False, timeout=GUARD) as client:
        yield client


def session(web: httpx2.Client, url: str, **headers: str) -> dict[str, str]:
    """The headers of a session that this opens."""
    first = web.post(url, json=INITIALIZE, headers=ACCEPT | headers)
    return ACCEPT | headers | {"Mcp-Session-Id": first.headers["mcp-session-id"]}


# --- 4: the stream of what the server says by itself --------------------------------------------------------------------


def test_the_stream_may_be_silent_for_as_long_as_it_likes(monkeypatch: pytest.MonkeyPatch) -> None:
    real, asked, listened = httpx2.Client, {}, threading.Event()

    def answer(request: httpx2.Request) -> httpx2.Response:
        asked[request.method] = request.extensions["timeout"]["read"]
        if request.method == "GET":
            listened.set()
            return httpx2.Response(405)
        body = json.loads(request.content)
        if "id" not in body:
            return httpx2.Response(202)
        return httpx2.Response(200, json={"jsonrpc": "2.0", "id": body["id"], "result": WELCOME})

    monkeypatch.setattr(httpx2, "Client", lambda **more: real(transport=httpx2.MockTransport(answer)))
    with Client(HttpTransport("http://127.0.0.1:9/mcp"), timeout=GUARD):
        assert listened.wait(GUARD)
    assert asked["GET"] is None and asked["POST"] is not None


def test_a_stream_that_ends_is_opened_again(quick: None) -> None:
    heard, opened = threading.Event(), []

    def on(visit: Visit) -> bool | None:
        if visit.command != "GET":
            return True
        opened.append(visit.headers.get("last-event-id"))
        match len(opened):
            case 1:
                return visit.events(b"id: 7\ndata:\n\n")
            case 2:
                return visit.plain(503)
            case 3:
                return visit.events(CHANGED)
        return visit.gone()

    with nothing_left(), fake(on) as url:
        with Client(HttpTransport(url), timeout=GUARD, notified=lambda message: heard.set()) as client:
            assert heard.wait(GUARD) and client.noise == ()
        assert opened[:3] == [None, "7", "7"]


@pytest.mark.parametrize("status", [405, 404, 401])
def test_a_server_without_such_a_stream_is_asked_once(quick: None, status: int) -> None:
    asked: list[str] = []

    def on(visit: Visit) -> bool | None:
        if visit.command != "GET":
            return True
        asked.append("GET")
        return visit.plain(status)

    before = transports()
    with fake(on) as url, Client(HttpTransport(url), timeout=GUARD) as client:
        for thread in transports() - before:
            thread.join(GUARD)
            assert not thread.is_alive()  # while the client is still connected
        client.ping()
    assert asked == ["GET"]


def test_the_pauses_between_two_attempts_are_bounded() -> None:
    assert [Place().pause(failures) for failures in (1, 2, 3, 6, 10_000)] == [1.0, 2.0, 4.0, 30.0, 30.0]
    wishes = {0.5: 0.5, 0.0: 0.1, 60.0: 60.0, 1e300: 600.0}  # of the server
    assert {wish: Place(retry=wish).pause() for wish in wishes} == wishes
    assert Place(retry=0.0).pause(10_000) == 30.0 and Place(retry=60.0).pause(10_000) == 60.0


def test_a_silent_stream_is_kept_alive_by_comments(web: httpx2.Client) -> None:
    with HttpServer(calc(), heartbeat=0.01) as server:
        headers = session(web, server.url) | {"Accept": "text/event-stream"}
        with web.stream("GET", server.url, headers=headers) as answer:
            lines = answer.iter_lines()
            assert [next(lines) for _ in range(6)] == [": open", "", ": alive", "", ": alive", ""]
    assert HttpServer(calc()).heartbeat == 15.0
    with pytest.raises(DefinitionError, match="heartbeat"):
        HttpServer(calc(), heartbeat=0)


def test_what_a_broken_stream_did_not_carry_waits_for_the_next_one() -> None:
    import asyncio

    async def heard() -> list[Any]:
        one = HttpSession(Server("s"), "")
        assert one.listen() is not None
        for number in (1, 2):
            one._route(Notification(f"notifications/{number}"), None)
        one.unlisten()
        again = one.listen()
        assert again is not None
        return [again.get_nowait() for _ in range(again.qsize())]

    assert [item.method for item in asyncio.run(heard())] == ["notifications/1", "notifications/2"]


# --- 11: giving up -------------------------------------------------------------------------------------------------------


def test_a_time_out_does_not_wait_for_the_cancellation() -> None:
    release, told = threading.Event(), threading.Event()

    def on(visit: Visit) -> bool | None:
        if visit.method not in ("ping", "notifications/cancelled"):
            return True
        if visit.method != "ping":
            told.set()
        release.wait(2 * GUARD)
        return None

    with fake(on) as url, Client(HttpTransport(url, timeout=5 * GUARD), timeout=GUARD) as client:
        failed: list[McpError] = []

        def ask() -> None:
            try:
                client.ping(timeout=0.05)
            except McpError as error:
                failed.append(error)

        thread = threading.Thread(target=ask, daemon=True)
        thread.start()
        thread.join(GUARD)
        late = thread.is_alive()
        assert told.wait(GUARD)
        release.set()
        assert not late and "did not answer ping" in str(failed[0])


@pytest.mark.parametrize("reused", [False, True])
def test_a_request_that_is_given_up_leaves_nothing_open(reused: bool) -> None:
    """The server has not even sent headers; the client stays connected."""
    left = threading.Event()
    mode = {"silent": not reused}

    def on(visit: Visit) -> bool | None:
        if visit.method != "ping" or not mode["silent"]:
            return True
        visit.gone()
        left.set()
        return None

    with fake(on) as url, Client(HttpTransport(url), timeout=GUARD) as client:
        if reused:  # over a connection that was there already
            for _ in range(3):
                client.ping()
        mode["silent"] = True
        before = transports()
        with pytest.raises(McpError, match="did not answer"):
            client.ping(timeout=0.05)
        assert left.wait(GUARD)
        for thread in transports() - before:
            thread.join(GUARD)
            assert not thread.is_alive()
        mode["silent"] = False
        client.ping()


def test_a_failed_connect_leaves_nothing_open() -> None:
    with nothing_left(), socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(GUARD)
        client = Client(HttpTransport(f"http://127.0.0.1:{server.getsockname()[1]}/mcp"), timeout=0.05)
        with pytest.raises(McpError, match="did not answer initialize"):
            client.connect()
        with server.accept()[0] as accepted:
            accepted.settimeout(GUARD)
            while accepted.recv(65_536):  # the request itself, then the end
                pass


def test_closing_ends_a_request_without_headers() -> None:
    asked = threading.Event()

    def on(visit: Visit) -> bool | None:
        if visit.method != "ping":
            return True
        asked.set()
        return visit.gone()

    with nothing_left(), fake(on) as url:
        client = Client(HttpTransport(url), timeout=5 * GUARD).connect()
        failed: list[McpError] = []

        def ask() -> None:
            try:
                client.ping()
            except McpError as error:
                failed.append(error)

        thread = threading.Thread(target=ask, daemon=True)
        thread.start()
        assert asked.wait(GUARD)
        client.close()
        thread.join(GUARD)
        assert not thread.is_alive() and "closed" in str(failed[0])


def test_a_refusal_is_not_read_to_its_end() -> None:
    sent, ended = [0], threading.Event()

    def on(visit: Visit) -> bool | None:
        visit.send_response(500)
        visit.send_header("connection", "close")
        visit.end_headers()
        visit.close_connection = True
        try:
            while sent[0] < 100_000_000:
                visit.wfile.write(b"x" * 65_536)
                sent[0] += 65_536
        except OSError:
            pass
        ended.set()
        return None

    with fake(on) as url:
        with pytest.raises(McpError, match="HTTP status 500"):
            Client(HttpTransport(url), timeout=GUARD).connect()
        assert ended.wait(GUARD) and sent[0] < 50_000_000  # what the sockets' buffers take is not under our control


# --- 13: events ---------------------------------------------------------------------------------------------------------


def test_the_limit_holds_for_an_event_and_not_only_for_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "LONGEST", 1_000)
    small = b"data: " + b"x" * 90 + b"\n"
    assert len(list(read_events([(small * 10 + b"\n") * 50]))) == 50  # each event is short enough
    with pytest.raises(ValueError, match="longer than 1,000 bytes"):
        list(read_events([small * 11 + b"\n"]))
    with pytest.raises(ValueError, match="longer than 1,000 bytes"):
        list(read_events([b"data:\n" * 200 + b"\n"]))  # lines that hold nothing are kept, too
    with pytest.raises(ValueError, match="longer than 1,000 bytes"):
        list(read_events([b"x" * 10] * 101))
    assert list(read_events([b": a comment\n" * 500 + b"data: a\n\n"])) == ["a"]


def test_a_long_line_in_small_pieces_takes_time_in_proportion() -> None:
    """If each piece moved the whole line again, this would take minutes."""
    stop, found = threading.Event(), []

    def pieces() -> Iterator[bytes]:
        yield b"data: "
        for _ in range(65_536):
            if stop.is_set():
                return
            yield b"x" * 64
        yield b"\n\n"

    thread = threading.Thread(target=lambda: found.extend(read_events(pieces())), daemon=True)
    thread.start()
    thread.join(GUARD)
    late = thread.is_alive()
    stop.set()
    thread.join(GUARD)
    assert not late and [len(text) for text in found] == [65_536 * 64]


# --- 14: streams that are polled ------------------------------------------------------------------------------------------


def test_an_event_without_data_is_no_message() -> None:
    place = Place()
    assert list(read_events([b"id: 7\nretry: 2500\ndata:\n\n"], place)) == []
    assert place == Place("7", 2.5)
    assert list(read_events([b"id: 8\ndata: half"], place)) == [] and place.id == "7"  # that event did not come
    assert list(read_events([b"id: a\x00b\nretry: -1\nretry: \xc2\xb2\ndata: x\n\n"], place)) == ["x"]
    assert place == Place("7", 2.5)
    assert list(read_events([b"id\n\n"], place)) == [] and place.id is None


def answer_event(visit_id: Any) -> bytes:
    return b"id: 9\ndata: " + json.dumps({"jsonrpc": "2.0", "id": visit_id, "result": {"x": 1}}).encode() + b"\n\n"


def test_a_stream_that_is_closed_to_be_polled_goes_on(quick: None) -> None:
    asked: list[str | None] = []
    number: list[Any] = []

    def on(visit: Visit) -> bool | None:
        if visit.method == "slow":
            number.append(visit.message["id"])
            return visit.events(b"id: 7\nretry: 1\ndata:\n\n")
        if visit.command != "GET" or "last-event-id" not in visit.headers:
            return True
        asked.append(visit.headers["last-event-id"])
        return visit.events(b"id: 8\ndata:\n\n" if len(asked) == 1 else answer_event(number[0]))

    with nothing_left(), fake(on) as url, Client(HttpTransport(url), timeout=GUARD) as client:
        assert client.request("slow") == {"x": 1}
        assert asked == ["7", "8"] and client.noise == ()


def test_an_answer_of_the_wrong_type_is_not_asked_for_again(quick: None) -> None:
    asked: list[str] = []

    def on(visit: Visit) -> bool | None:
        if visit.method == "slow":
            return visit.events(answer_event(str(visit.message["id"])))
        if "last-event-id" in visit.headers:
            asked.append("again")
        return True

    with fake(on) as url, Client(HttpTransport(url), timeout=GUARD) as client:
        client.ping()
        with nothing_left(), pytest.raises(McpError, match="must keep its type"):
            client.request("slow")
    assert asked == []


def test_a_resumed_stream_that_stays_open_is_left_after_the_answer(quick: None) -> None:
    left = threading.Event()
    number: list[Any] = []

    def on(visit: Visit) -> bool | None:
        if visit.method == "slow":
            number.append(visit.message["id"])
            return visit.events(b"id: 7\ndata:\n\n")
        if "last-event-id" not in visit.headers:
            return True
        visit.events(answer_event(number[0]))
        visit.gone()
        left.set()
        return None

    with fake(on) as url, Client(HttpTransport(url), timeout=GUARD) as client:
        assert client.request("slow") == {"x": 1}
        assert left.wait(GUARD)


@pytest.mark.parametrize(
    ("first", "says"),
    [(b"id: 7\ndata:\n\n", r"cannot be resumed \(HTTP status 405\)"), (b"data:\n\n", "ended without a result")],
)
def test_a_stream_that_cannot_be_resumed_is_told_so(quick: None, first: bytes, says: str) -> None:
    def on(visit: Visit) -> bool | None:
        return visit.events(first) if visit.method == "slow" else True

    with fake(on) as url, Client(HttpTransport(url), timeout=GUARD) as client, pytest.raises(McpError, match=says):
        client.request("slow")


def test_a_request_that_is_given_up_is_not_polled_any_longer(quick: None) -> None:
    asked = threading.Event()

    def on(visit: Visit) -> bool | None:
        if visit.method == "slow":
            return visit.events(b"id: 7\ndata:\n\n")
        if "last-event-id" not in visit.headers:
            return True
        asked.set()
        return visit.events(b"id: 7\ndata:\n\n")

    with fake(on) as url, Client(HttpTransport(url), timeout=GUARD) as client:
        client.ping()
        before = transports()
        with pytest.raises(McpError, match="did not answer slow"):
            client.request("slow", timeout=0.3)
        assert asked.wait(GUARD)
        for thread in transports() - before:
            thread.join(GUARD)
            assert not thread.is_alive()


def test_the_sdks_server_may_be_polled() -> None:
    pytest.importorskip("mcp")
    from mcp.shared.exceptions import MCPDeprecationWarning

    from agentkit.mcp.sdk_http import SdkHttpServer

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MCPDeprecationWarning)
        from mcp_conformance_server import Events, conformance_server

        server: Any = SdkHttpServer(conformance_server(), event_store=Events(), retry_interval=10)  # type: ignore[arg-type]
        with nothing_left(), server as web, Client(HttpTransport(web.url), timeout=GUARD) as client:
            for _ in range(2):
                assert "after the stream was closed" in client.call_tool("test_reconnection").text
            assert client.noise == ()


# --- 15: who is let in ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        (None, 200), ("https://good.example", 200), ("HTTPS://Good.example", 200), ("https://evil.example", 403), ("null", 403),
        ("http://localhost:3000", 403), ("https://good.example.evil.example", 403), ("http://good.example", 403), ("", 403),
    ],
)  # fmt: skip
def test_a_server_for_other_machines_checks_the_origin(
    monkeypatch: pytest.MonkeyPatch, web: httpx2.Client, origin: str | None, status: int
) -> None:
    monkeypatch.setattr(http_module, "LOOPBACK", frozenset())  # so that a loopback address counts as any other
    headers = ACCEPT | {"Authorization": f"Bearer {TOKEN}", "Host": "tools.example"}
    with HttpServer(calc(), bearer=Bearer({TOKEN: ["mcp:read"]}), origins=["https://good.example/"]) as server:
        given = headers if origin is None else headers | {"Origin": origin}
        assert web.post(server.url, json=INITIALIZE, headers=given).status_code == status


def test_no_origin_is_allowed_unless_it_is_named(monkeypatch: pytest.MonkeyPatch, web: httpx2.Client) -> None:
    monkeypatch.setattr(http_module, "LOOPBACK", frozenset())
    headers = ACCEPT | {"Authorization": f"Bearer {TOKEN}", "Origin": "https://good.example"}
    with HttpServer(calc(), bearer=Bearer({TOKEN: ["mcp:read"]})) as server:
        assert web.post(server.url, json=INITIALIZE, headers=headers).status_code == 403
    with pytest.raises(DefinitionError, match="origins is a list"):
        HttpServer(calc(), bearer=Bearer({TOKEN: []}), origins="https://good.example")


def test_a_named_origin_may_ask_a_loopback_server(web: httpx2.Client) -> None:
    with HttpServer(calc(), origins=["https://good.example"]) as server:
        for origin, status in (
            ("https://good.example", 200),
            ("https://evil.example", 403),
            ("http://localhost:1", 200),
        ):
            assert web.post(server.url, json=INITIALIZE, headers=ACCEPT | {"Origin": origin}).status_code == status


def test_a_batch_with_a_handshake_opens_no_session(monkeypatch: pytest.MonkeyPatch, web: httpx2.Client) -> None:
    monkeypatch.setattr(app_module, "MAX_SESSIONS", 1)  # so that another session would push out the first
    with HttpServer(calc()) as server:
        headers = session(web, server.url)
        ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        old = {**INITIALIZE, "params": HELLO | {"protocolVersion": "2025-03-26"}}
        for batch in ([INITIALIZE], [old], [INITIALIZE, ping], [ping, INITIALIZE]):
            told = web.post(server.url, json=batch, headers=ACCEPT)
            assert told.status_code == 400 and "mcp-session-id" not in told.headers
        assert web.post(server.url, json=ping, headers=headers).status_code == 200


@pytest.mark.parametrize("given", [True, "1", 1.0, None, [1]])
def test_a_cancellation_of_another_id_ends_no_stream(web: httpx2.Client, given: Any) -> None:
    started, go_on = threading.Event(), threading.Event()

    @tool
    def wait() -> str:
        """Wait."""
        started.set()
        go_on.wait(GUARD)
        return "done"

    with HttpServer(Server("s", registry=Registry([wait, add]))) as server:
        headers, answers = session(web, server.url), []
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "wait", "arguments": {}}}
        thread = threading.Thread(target=lambda: answers.append(web.post(server.url, json=call, headers=headers)))
        thread.start()
        assert started.wait(GUARD)
        cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": given}}
        assert web.post(server.url, json=cancelled, headers=headers).status_code == 202
        go_on.set()
        thread.join(GUARD)
        assert answers[0].text and answers[0].json()["result"]["content"][0]["text"] == "done"


# --- 20: what the header of a refusal says -----------------------------------------------------------------------------------


def test_a_refusal_says_what_rfc_6750_asks_for(web: httpx2.Client) -> None:
    """Section 3.1: no error code for a request without a token, invalid_token (401), insufficient_scope and its scope (403)."""

    def challenge(token: str) -> tuple[int, str, dict[str, str]]:
        told = web.post(server.url, json=INITIALIZE, headers=ACCEPT | ({"Authorization": token} if token else {}))
        scheme, _, rest = told.headers["www-authenticate"].partition(" ")
        return told.status_code, scheme, dict(part.split("=", 1) for part in rest.split(", "))

    realm = {"realm": '"mcp"'}
    with HttpServer(calc(), bearer=Bearer({TOKEN: ["other"]})) as server:
        assert challenge("") == challenge("Basic eDp5") == challenge("Bearer") == (401, "Bearer", realm)
        assert challenge("Bearer wrong") == (401, "Bearer", realm | {"error": '"invalid_token"'})
        needed = {"error": '"insufficient_scope"', "scope": '"mcp:read"'}
        assert challenge(f"Bearer {TOKEN}") == (403, "Bearer", realm | needed)


# --- the server of the SDK runs in the same web server --------------------------------------------------------------------


def test_a_server_of_the_sdk_that_cannot_start_says_so() -> None:
    pytest.importorskip("mcp")
    from mcp.server.mcpserver import MCPServer

    from agentkit.mcp.sdk_http import SdkHttpServer

    @contextlib.asynccontextmanager
    async def broken(app: Any) -> Any:
        raise RuntimeError("no paper")
        yield

    server: Any = MCPServer("s")
    real = server.streamable_http_app

    def app(**options: Any) -> Any:
        made = real(**options)
        made.router.lifespan_context = broken
        return made

    server.streamable_http_app = app
    before = set(threading.enumerate())
    web = SdkHttpServer(server)
    with pytest.raises(DefinitionError, match="did not start"):
        web.start()
    for thread in set(threading.enumerate()) - before:
        thread.join(GUARD)
        assert not thread.is_alive()
