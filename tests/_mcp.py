"""Small servers and clients for the tests of MCP: ordinary ones, and odd ones that speak raw lines."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agentkit import Registry, tool
from agentkit.errors import ToolError
from agentkit.mcp.calling import current_call
from agentkit.mcp.jsonrpc import Message, encode, parse
from agentkit.mcp.peer import Peer
from agentkit.mcp.server import Server
from agentkit.mcp.stdio import StdioTransport
from agentkit.mcp.transport import Transport

ROOT = Path(__file__).resolve().parents[1]
ENV = {"PYTHONPATH": str(ROOT)}

# The head of a server of a few lines: `say` sends, and each request but the handshake goes to `on(message)`.
ODD = """
import json, os, sys, time
def say(text):
    sys.stdout.write(text if isinstance(text, str) else json.dumps(text) + "\\n"); sys.stdout.flush()
def answer(message, **result):
    say({"jsonrpc": "2.0", "id": message["id"], "result": result})
def outcome(text):
    return {"content": [{"type": "text", "text": text}]}
BODY
for line in sys.stdin:
    message = json.loads(line)
    if message.get("method") == "initialize":
        answer(message, protocolVersion="2025-11-25", capabilities={"tools": {}}, serverInfo={"name": "odd", "version": "1"})
    elif message.get("method") != "notifications/initialized":
        on(message)
"""


def odd(body: str, head: str = ODD) -> StdioTransport:
    """A server in a process of its own whose ``on(message)`` is given here."""
    return StdioTransport(sys.executable, ["-c", head.replace("BODY", body)], env=ENV)


class RawTransport(Transport):
    """A server that is a function: it gets each message and a function that sends lines."""

    def __init__(self, on: Callable[[Any, Callable[[str], None]], None]) -> None:
        self.on = on
        self.sent: list[Message] = []
        self.peer: Peer | None = None

    def start(self, peer: Peer) -> None:
        self.peer = peer

    def send(self, message: Message) -> None:
        assert self.peer is not None
        self.sent.append(message)
        if getattr(message, "method", "") == "initialize":
            result = '{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"raw","version":"1"}}'
            self.peer.receive(f'{{"jsonrpc":"2.0","id":{message.id},"result":{result}}}')  # type: ignore[union-attr]
        else:
            self.on(message, self.peer.receive)


class Line:
    """A client of raw lines: what it sends reaches a session of a server, and what comes back is kept."""

    def __init__(self, server: Server, *, handshake: str | None = "2025-11-25") -> None:
        self.came: list[Any] = []
        self._more = threading.Condition()
        self.session = server.connect(self._take)
        if handshake is not None:
            self.say(
                1, "initialize", protocolVersion=handshake, capabilities={}, clientInfo={"name": "t", "version": "1"}
            )
            self.raw('{"jsonrpc":"2.0","method":"notifications/initialized"}')

    def _take(self, message: Message, about: Any) -> None:
        found = parse(encode(message))
        with self._more:
            self.came.append(found)
            self._more.notify_all()

    def raw(self, text: str) -> None:
        self.session.peer.receive(text)

    def say(self, id: int | str, method: str, **params: Any) -> Any:
        """Send a request, and wait for the answer with this very id."""
        import json

        self.raw(json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
        return self.wait(
            lambda item: type(getattr(item, "id", None)) is type(id) and item.id == id and not hasattr(item, "method")
        )

    def wait(self, wanted: Callable[[Any], bool]) -> Any:
        with self._more:
            assert self._more.wait_for(lambda: any(map(wanted, self.came)), 10), self.came
            return next(item for item in self.came if wanted(item))


@tool
def add(a: int, b: int) -> dict[str, int]:
    """Add two numbers."""
    return {"sum": a + b}


@tool
def shout(text: str) -> str:
    """Repeat a text loudly."""
    return text.upper()


@tool
def fail() -> str:
    """Always fail."""
    raise ToolError("The shelf is empty.", code="empty", hint="Order more.")


@tool
def crash() -> str:
    """Raise what nobody expects."""
    raise ValueError("detail")


@tool
def steps(count: int) -> str:
    """Tell progress in steps."""
    call = current_call()
    for number in range(count):
        call.progress(number + 1, count, f"step {number + 1}")
        call.log("info", {"step": number + 1})
    return "done"


@tool
def think(question: str) -> str:
    """Ask the client's model."""
    return current_call().sample(question, system="Be brief.")


@tool
def folders() -> list[str]:
    """The folders that the client offers."""
    return [root["uri"] for root in current_call().roots()]


@tool(permission="dangerous", approval=True)
def launch(target: str) -> str:
    """Launch something that cannot be called back."""
    return f"launched at {target}"


def calc(**more: Any) -> Server:
    """A server with all of these tools."""
    return Server("calc", registry=Registry([add, shout, fail, crash, steps, think, folders, launch]), **more)
