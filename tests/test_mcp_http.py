"""Streamable HTTP by hand, on both sides, on loopback."""

from __future__ import annotations

import gc
import json
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from _mcp import add, calc
from hypothesis import given
from hypothesis import strategies as st

from agentkit import DefinitionError, Registry, tool
from agentkit.mcp import Bearer, Client, HttpServer, HttpTransport, McpError, Server, current_call
from agentkit.mcp import _http_app as app_module
from agentkit.mcp.sse import event, read_events

READER, WRITER = "reader-token", "writer-token"
ACCEPT = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
WEB = httpx2.Client(
    trust_env=False, verify=False
)  # no proxy; nothing here is https, and certificates take long to load
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}


@pytest.fixture(scope="module", autouse=True)
def one_client() -> Iterator[None]:
    with WEB:
        yield


@pytest.fixture(scope="module")
def web() -> Iterator[HttpServer]:
    with HttpServer(calc()) as server:
        yield server


class Raw:
    """A client of raw requests."""

    def __init__(self, url: str, revision: str = "2025-11-25", **headers: str) -> None:
        self.url, self.headers, self.session = url, ACCEPT | headers, ""
        answer = self.post(
            {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": HELLO | {"protocolVersion": revision}}
        )
        self.first = answer
        self.session = answer.headers.get("mcp-session-id", "")
        self.headers = self.headers | {"Mcp-Session-Id": self.session, "MCP-Protocol-Version": revision}

    def post(self, body: Any, **headers: str) -> httpx2.Response:
        content = body if isinstance(body, (str, bytes)) else json.dumps(body)
        mine = {name.lower(): text for name, text in self.headers.items()} | {
            k.replace("_", "-").lower(): v for k, v in headers.items()
        }
        return WEB.post(self.url, content=content, headers={k: v for k, v in mine.items() if v != "-"})


def ping(id: int | str = 1) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "method": "ping"}


# --- both sides together ------------------------------------------------------------------------------------------------


def test_everything_works_as_over_pipes(web: HttpServer) -> None:
    seen: list[Any] = []
    transport = HttpTransport(web.url)
    with Client(transport, sampling=lambda params: "because", roots=["https://example.org/r"]) as client:
        assert transport.session_id and client.revision == "2025-11-25"
        assert len(client.list_tools()) == 8 and client.call_tool("add", {"a": 1, "b": 2}).data == {"sum": 3}
        client.call_tool("steps", {"count": 2}, progress=lambda *step: seen.append(step))
        assert seen == [(1, 2, "step 1"), (2, 2, "step 2")]
        assert client.call_tool("think", {"question": "why?"}).text == "because"
        assert client.call_tool("folders").text == '["https://example.org/r"]'
        assert client.call_tool("fail").is_error
        with pytest.raises(McpError) as caught:
            client.call_tool("nope")
        assert caught.value.code == -32602


def test_what_the_server_says_by_itself_comes_over_the_get_stream() -> None:
    heard = threading.Event()
    server = Server("s", registry=Registry([add]))

    @tool
    def later() -> str:
        """Come later."""
        return "x"

    with HttpServer(server) as web, Client(HttpTransport(web.url), notified=lambda message: heard.set()) as client:
        server.add(later)  # kept for the client, if its stream is not open yet
        assert heard.wait(10)
        assert [item.method for item in client.notifications] == ["notifications/tools/list_changed"]


def test_a_cancelled_call_ends_its_stream() -> None:
    started, stop = threading.Event(), threading.Event()

    @tool
    def wait() -> str:
        """Wait."""
        started.set()
        stop.wait(20)
        return str(current_call().cancelled)

    with HttpServer(Server("s", registry=Registry([wait]))) as web:
        raw, answers = Raw(web.url), []
        call = {"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"name": "wait", "arguments": {}}}
        thread = threading.Thread(target=lambda: answers.append(raw.post(call)))
        thread.start()
        assert started.wait(10)
        assert raw.post(call).status_code == 400  # the same id at the same time
        raw.post({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 5}})
        thread.join(10)
        assert not thread.is_alive() and answers[0].text == ""
        stop.set()


def test_two_clients_have_two_sessions(web: HttpServer) -> None:
    first, second = HttpTransport(web.url), HttpTransport(web.url)
    with Client(first) as one, Client(second) as two:
        assert first.session_id != second.session_id
        one.ping(), two.ping()
    assert Raw(web.url).post(ping(), Mcp_Session_Id=str(first.session_id)).status_code == 404


def test_a_session_that_has_ended_is_told(web: HttpServer) -> None:
    transport = HttpTransport(web.url)
    with Client(transport) as client:
        WEB.delete(web.url, headers={"Mcp-Session-Id": str(transport.session_id)})
        with pytest.raises(McpError, match=r"session has ended \(404\)"):
            client.ping()


def test_a_server_that_is_not_there_or_goes_away() -> None:
    server = HttpServer(calc())
    with server:
        url = server.url
        client = Client(HttpTransport(url)).connect()
    with pytest.raises(McpError, match="cannot be reached"):
        client.ping()
    client.close()
    with pytest.raises(McpError, match="cannot be reached"):
        Client(HttpTransport(url)).connect()
    with pytest.raises(DefinitionError, match="http://"):
        HttpTransport("ftp://example.org")


def test_starting_stopping_and_forgetting() -> None:
    server = HttpServer(calc())
    assert "not running" in repr(server)
    with pytest.raises(DefinitionError, match="not running"):
        _ = server.url
    assert server.start() is server.start() and server.url in repr(server)
    with pytest.raises(DefinitionError, match="cannot listen"):
        HttpServer(calc(), port=int(server.url.split(":")[2].split("/")[0])).start()
    server.stop()
    server.stop()
    thread = server.start()._thread
    assert thread is not None
    del server
    gc.collect()
    thread.join(10)
    assert not thread.is_alive()
    with pytest.raises(DefinitionError, match="tokens are needed"):
        HttpServer(calc(), host="0.0.0.0")


def test_closing_ends_the_threads_of_the_client(web: HttpServer) -> None:
    before = set(threading.enumerate())
    with Client(HttpTransport(web.url)) as client:
        client.ping()
    for thread in set(threading.enumerate()) - before:
        thread.join(10)
        assert not thread.is_alive()


def test_closing_ends_a_stream_that_the_server_keeps_open() -> None:
    heard = threading.Event()
    server = calc()
    with HttpServer(server) as web:
        running = set(threading.enumerate())
        transport = HttpTransport(web.url)
        client = Client(transport, notified=lambda message: heard.set()).connect()
        server.changed("tools")
        assert heard.wait(10)  # so the stream is open
        [reader] = [thread for thread in set(threading.enumerate()) - running if thread.name == "agentkit-mcp-http"]
        deadline = time.monotonic() + 10
        while not _is_reading(reader):
            assert time.monotonic() < deadline
            heard.wait(0)
        transport.session_id = None  # so the server is not told that this is the end
        client.close()
        reader.join(10)
        assert not reader.is_alive()


def _is_reading(thread: threading.Thread) -> bool:
    """Whether a thread waits for bytes of a socket: the case that closing the socket alone does not end."""
    frame = sys._current_frames().get(thread.ident or 0)
    return frame is not None and frame.f_code.co_name == "read" and "httpcore" in frame.f_code.co_filename


# --- the server, request by request ---------------------------------------------------------------------------------------


def test_answers_are_json_or_a_stream(web: HttpServer) -> None:
    raw = Raw(web.url)
    assert raw.first.headers["content-type"] == "application/json" and len(raw.session) == 32
    call = {
        "jsonrpc": "2.0",
        "id": "c",
        "method": "tools/call",
        "params": {"name": "add", "arguments": {"a": 1, "b": 1}},
    }
    assert raw.post(call).headers["content-type"] == "application/json"
    call["params"] = {"name": "steps", "arguments": {"count": 1}}
    told = raw.post(call)
    assert told.headers["content-type"].startswith("text/event-stream")
    found = [json.loads(text) for text in read_events([told.content])]
    assert [item.get("method", item.get("id")) for item in found] == ["notifications/message", "c"]
    note = raw.post({"jsonrpc": "2.0", "method": "notifications/x"})
    assert (note.status_code, note.content) == (202, b"")


@pytest.mark.parametrize("id", [1, "1"])
def test_mc_03_ids_keep_their_type(web: HttpServer, id: int | str) -> None:
    assert Raw(web.url).post(ping(id)).json() == {"jsonrpc": "2.0", "id": id, "result": {}}


@pytest.mark.parametrize(
    ("body", "headers", "status", "code"),
    [
        (ping(), {"Mcp_Session_Id": "-"}, 400, -32600), (ping(), {"Mcp_Session_Id": "unknown"}, 404, -32600),
        (ping(), {"MCP_Protocol_Version": "1999-01-01"}, 400, -32600), ("{bad", {}, 400, -32700), ("", {}, 400, -32700),
        ("5", {}, 400, -32600), ([ping()], {}, 400, -32600), ([], {}, 400, -32600), (ping(), {"Accept": "application/json"}, 406, -32600),
        (ping(), {"Content_Type": "text/plain"}, 415, -32600), (b"x" * 5_000_000, {}, 413, -32600),
        (ping(), {"Origin": "https://evil.example"}, 403, -32600), (ping(), {"Origin": "null"}, 403, -32600), (ping(), {"Origin": "http://[x"}, 403, -32600),
        (ping(), {"Host": "evil.example"}, 403, -32600), (ping(), {"Host": "127.0.0.1.evil.example"}, 403, -32600),
    ],
)  # fmt: skip
def test_what_is_refused(web: HttpServer, body: Any, headers: dict[str, str], status: int, code: int) -> None:
    told = Raw(web.url).post(body, **headers)
    assert told.status_code == status and told.json()["error"]["code"] == code and told.json()["id"] is None


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://localhost:3000"},
        {"Origin": "http://127.0.0.1"},
        {"MCP_Protocol_Version": "-"},
        {"Accept": "*/*"},
    ],
)
def test_what_is_let_in(web: HttpServer, headers: dict[str, str]) -> None:
    assert Raw(web.url).post(ping(), **headers).status_code == 200


def test_other_places_and_other_methods(web: HttpServer) -> None:
    assert WEB.post(web.url.replace("/mcp", "/other")).status_code == 404
    told = WEB.put(web.url)
    assert told.status_code == 405 and told.headers["allow"] == "POST, GET, DELETE"
    assert WEB.get(web.url).status_code in (400, 406)


def test_one_get_stream_for_each_session(web: HttpServer) -> None:
    raw = Raw(web.url)
    headers = {"Accept": "text/event-stream", "Mcp-Session-Id": raw.session}
    with WEB.stream("GET", web.url, headers=headers) as first:
        chunks = first.iter_bytes()  # kept: forgetting it would end the stream
        assert first.status_code == 200 and next(chunks) == b": open\n\n"
        assert WEB.get(web.url, headers=headers).status_code == 409


def test_a_batch_where_the_revision_has_it(web: HttpServer) -> None:
    told = Raw(web.url, "2025-03-26").post([ping("a"), {"jsonrpc": "2.0", "method": "notifications/x"}, ping("b")])
    assert [json.loads(text)["id"] for text in read_events([told.content])] == ["a", "b"]


def test_a_failed_handshake_opens_no_session(web: HttpServer) -> None:
    told = WEB.post(web.url, json={"jsonrpc": "2.0", "id": 1, "method": "initialize"}, headers=ACCEPT)
    assert told.json()["error"]["code"] == -32602 and "mcp-session-id" not in told.headers


def test_the_session_unused_for_longest_leaves_when_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app_module, "MAX_SESSIONS", 2)
    with HttpServer(calc()) as web:
        first, second = Raw(web.url), Raw(web.url)
        first.post(ping())
        third = Raw(web.url)
        assert [item.post(ping()).status_code for item in (first, second, third)] == [200, 404, 200]


# --- tokens ---------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def guarded() -> Iterator[HttpServer]:
    with HttpServer(calc(), bearer=Bearer({READER: ["mcp:read"], WRITER: ["mcp:read", "mcp:write"]})) as server:
        yield server


def test_401_and_403_are_told_apart(guarded: HttpServer) -> None:
    def authenticate(**headers: str) -> tuple[int, str]:
        told = Raw(guarded.url, **headers).first
        return told.status_code, told.headers.get("www-authenticate", "")

    assert authenticate() == (401, 'Bearer realm="mcp"')
    assert authenticate(Authorization="Basic x") == (401, 'Bearer realm="mcp"')
    assert authenticate(Authorization="Bearer wrong-token") == (401, 'Bearer realm="mcp", error="invalid_token"')
    assert authenticate(Authorization=f"bearer {READER}") == (200, "")
    launch = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "launch", "arguments": {"target": "x"}},
    }
    told = Raw(guarded.url, Authorization=f"Bearer {READER}").post(launch)
    assert (
        told.status_code == 403 and 'error="insufficient_scope", scope="mcp:write"' in told.headers["www-authenticate"]
    )
    assert Raw(guarded.url, Authorization=f"Bearer {WRITER}").post(launch).status_code == 200


def test_the_client_says_which_of_the_two(guarded: HttpServer) -> None:
    with pytest.raises(McpError, match=r"valid token \(401\)") as caught:
        Client(HttpTransport(guarded.url, token="wrong-token")).connect()
    assert caught.value.data["status"] == 401 and "wrong-token" not in str(caught.value)
    with Client(HttpTransport(guarded.url, token=READER)) as client:
        assert client.call_tool("add", {"a": 1, "b": 1}).ok
        with pytest.raises(McpError, match=r"\(403\).*mcp:write") as caught:
            client.call_tool("launch", {"target": "x"})
        assert caught.value.data == {"status": 403, "scope": "mcp:write"}


def test_a_session_belongs_to_its_token(guarded: HttpServer) -> None:
    session = Raw(guarded.url, Authorization=f"Bearer {WRITER}").session
    other = Raw(guarded.url, Authorization=f"Bearer {READER}")
    assert other.post(ping(), Mcp_Session_Id=session).status_code == 404


def test_tokens_are_never_shown(guarded: HttpServer) -> None:
    bearer, transport = Bearer({WRITER: ["x"]}), HttpTransport("http://user:pw@127.0.0.1:1/mcp?key=k", token=WRITER)
    for shown in (repr(bearer), repr(transport), repr(guarded), repr(Client(transport))):
        assert WRITER not in shown and "pw" not in shown and "key" not in shown
    for tokens in ({}, {"short": ["x"]}, {WRITER: "mcp:read"}):
        with pytest.raises(DefinitionError):
            Bearer(tokens)


# --- the client, against servers that misbehave ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (httpx2.Response(200, text="<html>", headers={"content-type": "text/html"}), "text/html"),
        (httpx2.Response(200, text="{}", headers={"content-type": "application/json"}), "ended without a result"),
        (httpx2.Response(200, text="data: {}\n\n", headers={"content-type": "text/event-stream"}), "ended without a result"),
        (httpx2.Response(200), "no content type"), (httpx2.Response(307, headers={"location": "http://evil.example"}), "HTTP status 307"),
        (httpx2.Response(500, text="oops"), "HTTP status 500"), (httpx2.Response(202), "no content type"),
    ],
)  # fmt: skip
def test_an_answer_that_is_none_becomes_a_sentence(
    monkeypatch: pytest.MonkeyPatch, answer: httpx2.Response, says: str
) -> None:
    real = httpx2.Client
    mock = httpx2.MockTransport(lambda request: answer)
    monkeypatch.setattr(httpx2, "Client", lambda **more: real(transport=mock))
    with pytest.raises(McpError, match=says):
        Client(HttpTransport("http://127.0.0.1:9/mcp"), timeout=10).connect()


@given(
    st.lists(st.text(st.characters(exclude_characters="\r\n", codec="utf-8"), min_size=1), max_size=4),
    st.integers(1, 9),
)
def test_events_survive_any_cut(texts: list[str], size: int) -> None:
    """JSON has the line ends of `event` only inside texts, where an escape means the same; so they are left out here."""
    texts = [text.translate({0x2028: None, 0x2029: None, 0x85: None}) for text in texts]
    data = b"".join(event(text) for text in texts)
    chunks = [data[place : place + size] for place in range(0, len(data), size)]
    assert list(read_events(chunks)) == texts


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b"data: a\r\n\r\ndata: b\r\rdata: c\n\n", ["a", "b", "c"]), (b": note\n\nid: 4\ndata:a\ndata: b\nretry: 5\n\n", ["a\nb"]),
        (b"data: a\r\ndata: b\r\n\r\n", ["a\nb"]),
        (b"data: half", []), (b"event: x\n\n", []), ("data: \u2028한\n\n".encode(), ["\u2028한"]), (b"data: \xff\n\n", ["\ufffd"]),
    ],
)  # fmt: skip
def test_events_of_other_servers(data: bytes, found: list[str]) -> None:
    assert list(read_events([data])) == list(read_events([bytes([byte]) for byte in data])) == found


def test_line_ends_inside_a_text_are_escaped() -> None:
    line = event('{"x":"\u2028\u2029\x85"}')
    assert line.isascii() and json.loads(next(read_events([line])))["x"] == "\u2028\u2029\x85"
