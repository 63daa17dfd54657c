"""Finer points of MCP: a client that is connected once more, and a server of the SDK that asks a person."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest
from _mcp import ENV, RawTransport, calc, odd

from agentkit import DefinitionError, Registry, tool
from agentkit.mcp import Client, HttpServer, HttpTransport, McpError, Recorder, StdioTransport, Transport
from agentkit.mcp.bridge import add_mcp
from agentkit.mcp.jsonrpc import CONNECTION_CLOSED, Request

ORDERS = ["-m", "agentkit.mcp.orders_server"]


# --- a client that is connected once more --------------------------------------------------------------------------------


@contextmanager
def in_memory() -> Iterator[Any]:
    yield calc()


@contextmanager
def over_stdio() -> Iterator[Any]:
    yield StdioTransport(sys.executable, ORDERS, env=ENV)


@contextmanager
def over_http() -> Iterator[Any]:
    with HttpServer(calc()) as web:
        yield HttpTransport(web.url)


@pytest.mark.parametrize("way", [in_memory, over_stdio, over_http])
def test_a_closed_client_connects_again(way: Callable[[], Any]) -> None:
    recorder = Recorder()
    with way() as server:
        client = Client(server, timeout=30, recorder=recorder)
        for _ in range(3):
            with client:
                assert client.revision == "2025-11-25" and client.list_tools()
            with pytest.raises(McpError, match="not connected") as caught:
                client.list_tools()
            assert caught.value.code == CONNECTION_CLOSED
    asked = [item.message.method for item in recorder if isinstance(item.message, Request)]
    assert asked == ["initialize", "tools/list"] * 3


def test_a_client_that_could_not_connect_tries_again() -> None:
    with HttpServer(calc()) as web:
        url, port = web.url, web.url.rpartition(":")[2].partition("/")[0]
    client = Client(HttpTransport(url), timeout=30)
    for _ in range(2):
        with pytest.raises(McpError, match="cannot be reached"):
            client.connect()
    with HttpServer(calc(), port=int(port)), client:
        client.ping()


def test_connect_replaces_a_connection_that_is_known_to_be_gone() -> None:
    transport = odd("def on(message): sys.exit('out of paper') if message['method'] == 'ping' else answer(message)")
    with Client(transport, timeout=30) as client:
        first = transport.pid
        assert client.connect() is client and transport.pid == first
        with pytest.raises(McpError, match="out of paper"):
            client.ping()
        assert client.connect() is client and transport.pid not in (None, first)
        client.request("resources/list")


def test_what_is_left_of_the_old_connection_is_closed_first() -> None:
    """A server may have closed its output and live on: nobody else would end it."""
    ends: list[str] = []

    class Deaf(RawTransport):
        def start(self, peer: Any) -> None:
            super().start(peer)
            ends.append("started")

        def close(self) -> None:
            ends.append("closed")

    def on(message: Any, say: Callable[[str], None]) -> None:
        if isinstance(message, Request):
            assert transport.peer is not None
            transport.peer.failed(message.id, McpError("Nobody is there.", code=CONNECTION_CLOSED))

    transport = Deaf(on)
    client = Client(transport).connect()
    with pytest.raises(McpError, match="Nobody"):
        client.ping()
    client.connect()
    assert ends == ["started", "closed", "started"]


def test_connect_replaces_a_session_that_the_server_has_forgotten() -> None:
    with HttpServer(calc()) as web:
        port = int(web.url.rpartition(":")[2].partition("/")[0])
        transport = HttpTransport(web.url)
        client = Client(transport, timeout=30).connect()
        first = transport.session_id
    with HttpServer(calc(), port=port), client:
        with pytest.raises(McpError, match=r"session has ended \(404\): connect again"):
            client.ping()
        client.connect().ping()
        assert transport.session_id not in (None, first)


def test_a_failure_that_is_no_end_keeps_the_connection() -> None:
    with Client(calc()) as client:
        peer = client.peer
        for wrong in (lambda: client.call_tool("nowhere"), lambda: client.read_resource("x:y")):
            with pytest.raises(McpError):
                wrong()
        assert client.connect().peer is peer


def test_the_end_of_an_old_connection_does_not_end_the_new_one() -> None:
    """The thread that watched the first server may tell its death after the client has connected again."""

    def on(message: Any, say: Callable[[str], None]) -> None:
        if isinstance(message, Request):
            say(f'{{"jsonrpc":"2.0","id":{message.id},"result":{{}}}}')

    transport = RawTransport(on)
    client = Client(transport)
    client.connect()
    old = transport.peer
    client.close()
    client.connect()
    assert old is not None and transport.peer is not old
    old.closed("The server stopped with exit code 1.")
    client.ping()


def test_a_connection_of_a_registry_is_used_again() -> None:
    transport: Transport = StdioTransport(sys.executable, ORDERS, env=ENV)
    client, registry = Client(transport, timeout=30), Registry()
    for _ in range(2):
        with client:
            assert add_mcp(registry, client, permission="read", fenced=False)


# --- a server of the SDK asks a person -----------------------------------------------------------------------------------


class Shop:
    """A server of the SDK with one tool that needs approval. ``paid`` says what ran, ``asked`` what a person was asked."""

    def __init__(self, **more: Any) -> None:
        from agentkit.mcp.sdk_servers import sdk_server

        self.paid: list[tuple[str, int]] = []
        self.asked: list[tuple[str, Any]] = []

        @tool(permission="write", approval=True)
        def refund(order_id: str, approval: int = 3, context: str = "", json: bool = False) -> dict[str, str]:
            """Pay money back."""
            self.paid.append((order_id, approval))
            return {"paid": order_id}

        @tool
        def look() -> dict[str, str]:
            """Look around."""
            return {"seen": "all"}

        self.registry = Registry([refund, look], **more)
        self.server = sdk_server("shop", self.registry)

    def person(self, action: str, content: Any = None) -> Any:
        """A client's way to ask, which answers like this."""
        from mcp_types import ElicitResult

        async def ask(context: Any, params: Any) -> Any:
            self.asked.append((params.message, params.requested_schema))
            return ElicitResult.model_construct(action=action, content=content)

        return ask


@pytest.fixture
def shop() -> Shop:
    pytest.importorskip("mcp")
    return Shop()


@pytest.fixture(params=["auto", "legacy", "auto-http", "legacy-http"])
def asks(request: pytest.FixtureRequest, shop: Shop) -> Iterator[Callable[..., Any]]:
    """``asks(action, content)``: the outcome of a refund, in each era, in memory and over HTTP."""
    from agentkit.mcp.sdk_client import SdkClient
    from agentkit.mcp.sdk_http import SdkHttpServer

    mode, _, way = str(request.param).partition("-")

    def call(server: Any, action: str, content: Any) -> Any:
        options = {} if action == "nobody" else {"elicitation_callback": shop.person(action, content)}
        with SdkClient(server, mode=mode, timeout=30, **options) as client:
            assert client.revision == ("2026-07-28" if mode == "auto" else "2025-11-25")
            names = {item.name: set(item.input_schema["properties"]) for item in client.list_tools()}
            assert names == {"refund": {"order_id", "approval", "context", "json"}, "look": set()}
            assert client.call_tool("look").ok and shop.asked == []
            return client.call_tool("refund", {"order_id": "A1"})

    if way:
        with SdkHttpServer(shop.server) as web:
            yield lambda action, content=None: call(web.url, action, content)
    else:
        yield lambda action, content=None: call(shop.server, action, content)


def test_a_yes_lets_the_tool_run_once(asks: Callable[..., Any], shop: Shop) -> None:
    assert asks("accept", {"approve": True}).data == {"paid": "A1"}
    assert shop.paid == [("A1", 3)]
    [(message, schema)] = shop.asked
    assert 'run refund with {"order_id": "A1", "approval": 3, "context": "", "json": false}?' in message
    assert schema["properties"]["approve"]["type"] == "boolean" and schema["required"] == ["approve"]


@pytest.mark.parametrize("asks", ["auto", "legacy"], indirect=True)
@pytest.mark.parametrize(
    ("action", "content"),
    [
        ("accept", {"approve": False}), ("accept", {"approve": "true"}), ("accept", {"approve": 1}), ("accept", {}),
        ("accept", None), ("decline", None), ("decline", {"approve": True}), ("cancel", None), ("nobody", None),
    ],
)  # fmt: skip
def test_everything_else_is_a_no(asks: Callable[..., Any], shop: Shop, action: str, content: Any) -> None:
    outcome = asks(action, content)
    assert outcome.is_error and shop.paid == [] and len(shop.asked) == (action != "nobody")
    if action != "accept" or content == {"approve": False}:
        assert "only after a person has approved" in outcome.text


@pytest.mark.parametrize(("answer", "paid"), [({"approve": True}, [("A1", 3)]), (None, [])])
def test_the_client_by_hand_is_asked_too(shop: Shop, answer: Any, paid: list[Any]) -> None:
    from agentkit.mcp.sdk_http import SdkHttpServer

    with (
        SdkHttpServer(shop.server) as web,
        Client(HttpTransport(web.url), timeout=30, elicitation=lambda message, schema: answer) as client,
    ):
        assert client.call_tool("refund", {"order_id": "A1"}).ok is bool(paid)
    assert shop.paid == paid


def test_what_the_registry_forbids_is_not_asked(shop: Shop) -> None:
    from agentkit.mcp.sdk_client import SdkClient

    strict = Shop(permissions=["read", "write"])
    strict.registry.permits.permissions = frozenset(["read"])  # after the server was made
    with SdkClient(strict.server, elicitation_callback=strict.person("accept", {"approve": True})) as client:
        assert client.call_tool("refund", {"order_id": "A1"}).is_error
    assert strict.asked == [] and strict.paid == []


def test_a_client_that_can_only_open_addresses_is_not_asked(shop: Shop) -> None:
    """The SDK would answer with an error of the protocol, in which the refusal and its reason would be lost."""
    from mcp_types import ClientCapabilities, ElicitationCapability, FormElicitationCapability, UrlElicitationCapability

    form, url = FormElicitationCapability(), UrlElicitationCapability()
    plans = shop.server._tool_manager.get_tool("refund").resolver_plans  # type: ignore[union-attr]
    [plan] = plans.values()
    [hidden] = [name for name, part in plan.params.items() if part.kind == "context"]

    for able, asked in [
        (ElicitationCapability(), True), (ElicitationCapability(form=form), True),
        (ElicitationCapability(form=form, url=url), True), (ElicitationCapability(url=url), False), (None, False),
    ]:  # fmt: skip
        context = SimpleNamespace(client_capabilities=ClientCapabilities(elicitation=able))
        given = {"order_id": "A1", "approval": 3, "context": "", "json": False, hidden: context}
        assert (plan.fn(**given) is not None) is asked, able


def test_a_tool_of_another_server_cannot_be_served_by_the_sdk(shop: Shop) -> None:
    from agentkit.mcp.sdk_servers import sdk_server

    registry = Registry()
    with Client(calc()) as client:
        add_mcp(registry, client, permission="read")
        with pytest.raises(DefinitionError, match=r"'add' has only a schema\. Serve it by hand"):
            sdk_server("proxy", registry)


def test_tools_called_side_by_side_are_each_asked_about(shop: Shop) -> None:
    from mcp import Client as Inner

    async def both() -> list[bool]:
        async with Inner(shop.server, elicitation_callback=shop.person("accept", {"approve": True})) as client:
            outcomes = await asyncio.gather(*(client.call_tool("refund", {"order_id": name}) for name in ("A1", "A2")))
            return [outcome.is_error for outcome in outcomes]

    assert asyncio.run(both()) == [False, False]
    assert sorted(shop.paid) == [("A1", 3), ("A2", 3)] and len(shop.asked) == 2
