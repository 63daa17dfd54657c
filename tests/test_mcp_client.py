"""The client by hand, against a server in memory and against functions that play a server."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from _mcp import RawTransport, add, calc

from agentkit import Registry, tool
from agentkit.errors import AgentkitError
from agentkit.mcp import Client, McpError, MemoryTransport, Recorder, Server, current_call
from agentkit.mcp.jsonrpc import CONNECTION_CLOSED, TIMED_OUT, Notification, Request, encode
from agentkit.mcp.revisions import SUPPORTED

Say = Callable[[str], None]


def answers(**results: str) -> RawTransport:
    """A server that gives each method (its last word) a fixed result, as JSON text with ID in it."""

    def on(message: Any, say: Say) -> None:
        if isinstance(message, Request):
            text = results[message.method.replace("/", "_")]
            say(f'{{"jsonrpc":"2.0","id":{message.id},"result":{text}}}')

    return RawTransport(on)


def test_the_handshake_and_what_is_learned_from_it() -> None:
    client = Client(calc(instructions="Add."), name="me", version="2.0")
    assert repr(client).endswith("not connected)")
    with client:
        assert client.revision == "2025-11-25" and client.server_info == {"name": "calc", "version": "1.0"}
        assert client.instructions == "Add." and client.server_capabilities["tools"] == {"listChanged": True}
        assert client.connect() is client
        client.ping()
    with pytest.raises(McpError, match="not connected") as caught:
        client.ping()
    assert caught.value.code == CONNECTION_CLOSED and isinstance(caught.value, AgentkitError)
    client.close()


@pytest.mark.parametrize("revision", SUPPORTED)
def test_each_revision_can_be_spoken(revision: str) -> None:
    with Client(calc(), revision=revision) as client:
        assert client.revision == revision and client.call_tool("add", {"a": 1, "b": 2}).text == '{"sum": 3}'


@pytest.mark.parametrize("revision", ['"1999-01-01"', "5", "null"])
def test_a_revision_that_is_not_known_ends_the_connection(revision: str) -> None:
    closed: list[bool] = []

    class Odd(RawTransport):
        def send(self, message: Any) -> None:
            assert self.peer is not None
            self.peer.receive(
                f'{{"jsonrpc":"2.0","id":{message.id},"result":{{"protocolVersion":{revision},"capabilities":{{}}}}}}'
            )

        def close(self) -> None:
            closed.append(True)

    with pytest.raises(McpError, match="this client speaks 2025-11-25"):
        Client(Odd(lambda message, say: None)).connect()
    assert closed


def test_calls_and_outcomes() -> None:
    with Client(calc()) as client:
        assert [item.name for item in client.list_tools()][:2] == ["add", "shout"] and client.rejected == ()
        found = client.list_tools()[0]
        assert found.annotations["readOnlyHint"] is True and found.input_schema["required"] == ["a", "b"]
        good = client.call_tool("add", {"a": 1, "b": 2})
        assert (good.ok, good.data, good.text) == (True, {"sum": 3}, '{"sum": 3}')
        bad = client.call_tool("fail")
        assert (bad.ok, bad.is_error, bad.text) == (False, True, "The shelf is empty. Order more.")
        with pytest.raises(McpError, match="There is no tool 'ad'") as caught:
            client.call_tool("ad")
        assert caught.value.code == -32602
        with pytest.raises(McpError, match="JSON does not have"):
            client.call_tool("add", {"a": float("nan"), "b": 1})
        assert client.peer._waiting == {}


def test_what_a_server_asks_is_answered(tmp_path: Path) -> None:
    def model(params: Any) -> str:
        assert params["systemPrompt"] == "Be brief." and params["maxTokens"] == 500
        return "echo: " + params["messages"][0]["content"]["text"]

    with Client(calc(), sampling=model, roots=[tmp_path, "https://example.org/x"]) as client:
        assert client.capabilities == {"sampling": {}, "roots": {}}
        assert client.call_tool("think", {"question": "why?"}).text == "echo: why?"
        assert client.call_tool("folders").text == f'["{tmp_path.as_uri()}", "https://example.org/x"]'
    with Client(calc()) as client:
        told = client.call_tool("think", {"question": "why?"})
        assert told.is_error and "does not offer sampling" in told.text


def test_a_model_that_fails_is_told_to_the_server() -> None:
    def model(params: Any) -> str:
        raise OSError("no model")

    with Client(calc(), sampling=model) as client:
        told = client.call_tool("think", {"question": "why?"})
        assert told.is_error and "did not answer sampling/createMessage" in told.text
        client.ping()


def test_progress_logs_and_notifications() -> None:
    seen: list[Any] = []
    told: list[Notification] = []
    with Client(calc(), notified=told.append) as client:
        client.call_tool("steps", {"count": 2}, progress=lambda *step: seen.append(step))
        assert seen == [(1, 2, "step 1"), (2, 2, "step 2")]
        logs = [item.params["data"] for item in client.notifications if item.method == "notifications/message"]
        assert logs == [{"step": 1}, {"step": 2}] and told == list(client.notifications)
        client.set_log_level("error")
        client.notifications.clear()
        client.call_tool("steps", {"count": 2})
        assert not client.notifications
        with pytest.raises(McpError, match="function for progress failed: ZeroDivisionError"):
            client.call_tool("steps", {"count": 1}, progress=lambda *step: 1 // 0)  # type: ignore[arg-type, return-value]
        client.ping()


def test_a_time_out_tells_the_server_and_the_late_answer_is_dropped() -> None:
    go, cancelled = threading.Event(), threading.Event()

    @tool
    def wait() -> str:
        """Wait."""
        call = current_call()
        go.wait(10)
        if call.cancelled:
            cancelled.set()
        return "late"

    recorder = Recorder()
    with Client(Server("s", registry=Registry([wait, add])), recorder=recorder) as client:
        with pytest.raises(McpError, match=r"did not answer tools/call within 0.05 seconds") as caught:
            client.call_tool("wait", timeout=0.05)
        assert caught.value.code == TIMED_OUT
        go.set()
        assert cancelled.wait(10)
        assert client.call_tool("add", {"a": 1, "b": 1}).data == {"sum": 2}
    told = [item.message for item in recorder if getattr(item.message, "method", "") == "notifications/cancelled"]
    assert [item.params["requestId"] for item in told] == [2]  # type: ignore[union-attr]


def test_cancelling_from_another_thread() -> None:
    started = threading.Event()
    caught: list[McpError] = []
    transport = RawTransport(lambda message, say: started.set() if isinstance(message, Request) else None)
    with Client(transport) as client:

        def ask() -> None:
            try:
                client.call_tool("slow")
            except McpError as error:
                caught.append(error)

        thread = threading.Thread(target=ask)
        thread.start()
        assert started.wait(10)
        client.cancel("enough")
        thread.join(10)
    assert "tools/call was cancelled: enough." in str(caught[0])
    assert transport.sent[-1] == Notification("notifications/cancelled", {"requestId": 2, "reason": "enough"})


def test_the_handshake_is_never_cancelled() -> None:
    class Deaf(RawTransport):
        def send(self, message: Any) -> None:
            self.sent.append(message)

    transport = Deaf(lambda message, say: None)
    with pytest.raises(McpError, match="did not answer initialize"):
        Client(transport, timeout=0.02).connect()
    assert [type(item) for item in transport.sent] == [Request]


def test_one_bad_definition_does_not_hide_the_rest() -> None:
    bad = [
        '{"name":"","inputSchema":{"type":"object"}}', '{"inputSchema":{"type":"object"}}', "5", '{"name":"a"}',
        '{"name":"b","inputSchema":{"type":"array"}}', '{"name":"c","inputSchema":{"type":"object"},"description":7}',
        '{"name":"good","inputSchema":{"type":"object"}}',
    ]  # fmt: skip
    good = (
        '{"name":"good","description":"d","inputSchema":{"type":"object"},"annotations":[],"title":3,"outputSchema":0}'
    )
    with Client(answers(tools_list=f'{{"tools":[{good},{",".join(bad)}]}}')) as client:
        [found] = client.list_tools()
        assert (found.name, found.description, found.annotations, found.title) == ("good", "d", {}, "")
        assert [item.name for item in client.rejected] == ["", "", "", "a", "b", "c", "good"]
        assert "same name" in client.rejected[-1].reason and client.rejected[2].definition == 5


def test_mc_06_all_pages_are_read_and_no_more_than_a_cap() -> None:
    names = {"": ("a", '"2"'), "2": ("b", '"3"'), "3": ("c", "null")}

    def on(message: Any, say: Say) -> None:
        if isinstance(message, Request):
            name, cursor = names[message.params.get("cursor", "")]
            say(
                f'{{"jsonrpc":"2.0","id":{message.id},"result":{{"tools":[{{"name":"{name}","inputSchema":{{"type":"object"}}}}],"nextCursor":{cursor}}}}}'
            )

    with Client(RawTransport(on)) as client:
        assert [item.name for item in client.list_tools()] == ["a", "b", "c"]

    def endless(message: Any, say: Say) -> None:
        if isinstance(message, Request):
            say(f'{{"jsonrpc":"2.0","id":{message.id},"result":{{"tools":[],"nextCursor":"{message.id}"}}}}')

    with Client(RawTransport(endless)) as client, pytest.raises(McpError, match="more than 100 pages"):
        client.list_tools()


@pytest.mark.parametrize("rest", ['"result":[]', '"error":"no"', '"result":{},"error":{"code":1,"message":""}'])
def test_an_answer_that_is_no_message_fails_its_request_at_once(rest: str) -> None:
    def on(message: Any, say: Say) -> None:
        if isinstance(message, Request):
            say(f'{{"jsonrpc":"2.0","id":{message.id},{rest}}}')

    with Client(RawTransport(on), timeout=60) as client, pytest.raises(McpError, match="answer cannot be read"):
        client.ping()


@pytest.mark.parametrize("result", ["{}", '{"tools":{}}', '{"tools":[],"nextCursor":5}'])
def test_an_answer_that_is_no_page_is_told(result: str) -> None:
    with Client(answers(tools_list=result)) as client, pytest.raises(McpError, match="tools/list has no list"):
        client.list_tools()


@pytest.mark.parametrize(
    ("result", "text", "error"),
    [
        ('{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}', "a\nb", False),
        ('{"content":[{"type":"image","data":"AA==","mimeType":"image/png"}]}', "[image image/png]", False),
        ('{"content":[{"type":"resource","resource":{"uri":"x:y","text":"inside"}}]}', "inside", False),
        ('{"content":[{"type":"resource","resource":{"uri":"x:y","blob":""}},{"type":"resource_link","uri":"x:z"},{}]}', "[resource x:y]\n[resource x:z]\n[block]", False),
        ('{"content":[],"isError":true}', "", True), ('{"content":[],"isError":"yes"}', "", True), ('{"structuredContent":{"a":1}}', "", False),
    ],
)  # fmt: skip
def test_outcomes_of_every_kind(result: str, text: str, error: bool) -> None:
    with Client(answers(tools_call=result)) as client:
        outcome = client.call_tool("x")
        assert (outcome.text, outcome.is_error) == (text, error)


def test_an_outcome_that_is_none_is_told() -> None:
    with Client(answers(tools_call='{"content":"x"}')) as client, pytest.raises(McpError, match="no list of content"):
        client.call_tool("x")


def test_everything_is_recorded_in_order_with_the_given_clock() -> None:
    ticks = iter(range(100))
    recorder = Recorder(clock=lambda: float(next(ticks)))
    with Client(calc(), name="host", server_name="calc", recorder=recorder) as client:
        client.call_tool("add", {"a": 1, "b": 2})
    shown = [(item.time, item.sender, item.receiver, type(item.message).__name__) for item in recorder]
    assert shown == [
        (0.0, "host", "calc", "Request"), (1.0, "calc", "host", "Response"), (2.0, "host", "calc", "Notification"),
        (3.0, "host", "calc", "Request"), (4.0, "calc", "host", "Response"),
    ]  # fmt: skip
    assert recorder.messages[3].text == encode(recorder.messages[3].message)  # type: ignore[arg-type]
    small = Recorder(limit=2)
    with Client(calc(), recorder=small) as client:
        client.ping()
    assert len(small) == 2 and small.dropped == 3


def test_a_forgotten_client_closes_its_connection() -> None:
    closed: list[bool] = []

    class Watched(MemoryTransport):
        def close(self) -> None:
            super().close()
            closed.append(True)

    client = Client(Watched(calc())).connect()
    known = weakref.ref(client)
    del client
    gc.collect()
    assert known() is None and closed == [True]


def test_many_threads_share_one_client() -> None:
    results: dict[int, Any] = {}
    with Client(calc()) as client:

        def ask(number: int) -> None:
            results[number] = client.call_tool("add", {"a": number, "b": number}).data

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(10)
    assert results == {number: {"sum": 2 * number} for number in range(20)}
