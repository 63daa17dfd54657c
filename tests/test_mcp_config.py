"""Configuration files of hosts: read as they are, wrong ones answered with a sentence, and no value ever shown."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from agentkit import DefinitionError, Registry, ToolCall
from agentkit.mcp import McpError
from agentkit.mcp.bridge import add_mcp, close_mcp, links
from agentkit.mcp.config import ServerConfig, server_configs
from agentkit.mcp.http import HttpTransport
from agentkit.mcp.stdio import StdioTransport

ENVIRONMENT = {"TOKEN": "geheim-123", "FOLDER": "/data/files", "EMPTY": ""}


def one(entry: Any, **variables: str) -> ServerConfig:
    (found,) = server_configs({"mcpServers": {"disk": entry}}, environment=ENVIRONMENT | variables)
    return found


def test_a_program_with_all_its_keys() -> None:
    found = one({"type": "stdio", "command": "python", "args": ["-m", "x"], "env": {"A": "b"}, "cwd": "/tmp"})
    assert found == ServerConfig("disk", "python", ("-m", "x"), {"A": "b"}, "/tmp")
    transport = found.transport()
    assert isinstance(transport, StdioTransport) and transport.args == ("-m", "x")


def test_an_address_with_headers() -> None:
    found = one({"type": "http", "url": "https://x.example/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}})
    assert found.headers == {"Authorization": "Bearer geheim-123"}
    assert isinstance(found.transport(), HttpTransport)


def test_variables_are_put_in_everywhere() -> None:
    found = one(
        {"command": "${EMPTY}x", "args": ["${FOLDER}/a", "${MISSING:-b c}", "$FOLDER"], "env": {"K": "${TOKEN}"}}
    )
    assert (found.command, found.args, found.env) == ("x", ("/data/files/a", "b c", "$FOLDER"), {"K": "geheim-123"})


def test_the_variables_of_this_process_are_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENTKIT_TEST_FOLDER", "/x")
    (found,) = server_configs({"mcpServers": {"a": {"command": "${AGENTKIT_TEST_FOLDER}"}}})
    assert found.command == "/x"


def test_what_is_switched_off_is_left_out() -> None:
    servers = {"a": {"command": "x", "disabled": True}, "b": {"command": "y", "disabled": False}}
    assert [config.name for config in server_configs({"mcpServers": servers})] == ["b"]


def test_no_value_is_shown() -> None:
    shown = repr(one({"command": "x", "args": ["--key=${TOKEN}"], "env": {"API_KEY": "${TOKEN}"}}))
    assert shown == "ServerConfig('disk', command='x', 1 args, variables: API_KEY)"
    url = "https://user:geheim-123@x.example:8443/mcp?key=geheim-123"
    shown = repr(one({"url": url, "headers": {"X-Key": "geheim-123"}}))
    assert shown == "ServerConfig('disk', url=https://x.example:8443/mcp, headers: X-Key)"


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ("x", "is not a JSON object"),
        ({}, 'needs either a "command"'),
        ({"command": "x", "url": "http://x"}, 'needs either a "command"'),
        ({"comand": "x"}, "Did you mean 'command'?"),
        ({"command": "x", "headers": {}}, "'headers', which does not belong to a command"),
        ({"url": "http://x", "args": []}, "'args', which does not belong to a url"),
        ({"command": 3}, "'command' of the server 'disk'"),
        ({"command": " "}, "is not a text"),
        ({"command": "x", "args": "y"}, "is not a list of texts"),
        ({"command": "x", "args": [1]}, "is not a list of texts"),
        ({"command": "x", "env": {"A": 1}}, "is not an object of texts"),
        ({"url": "ftp://geheim-123"}, "begins with http"),
        ({"url": "http://[x"}, "begins with http"),
        ({"url": "http://x/sse", "type": "sse"}, "the old HTTP+SSE form"),
        ({"command": "x", "type": "http"}, "can only be stdio"),
        ({"command": "x", "env": {"A": "${NOWHERE}"}}, "needs the environment variable NOWHERE"),
    ],
)
def test_a_wrong_entry_is_a_sentence_without_its_values(entry: Any, told: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        one(entry)
    assert told in str(caught.value) and "disk" in str(caught.value) and "geheim" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"{", "is not JSON. The mistake is in line 1."),
        (b"[]", "is not a JSON object"),
        (b"{}", 'needs an object "mcpServers"'),
        (b'{"mcpServers": []}', 'needs an object "mcpServers"'),
        (b"\xff\xfe{", "is not UTF-8"),
        (b"[" * 100_000, "is not JSON"),
    ],
)
def test_a_wrong_file_is_a_sentence(content: bytes, told: str, tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    path.write_bytes(content)
    with pytest.raises(DefinitionError, match=r"mcp\.json") as caught:
        server_configs(path)
    assert told in str(caught.value)


def test_a_file_that_is_not_there() -> None:
    with pytest.raises(DefinitionError, match=r"nowhere\.json cannot be read"):
        server_configs("nowhere.json")


def test_a_file_with_two_servers_fills_a_registry(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.txt").write_text("안녕", encoding="utf-8")
    servers = {
        "notes": {"command": sys.executable, "args": ["-m", "agentkit.mcp.jail_server", "${HERE}/notes"]},
        "shop": {"command": sys.executable, "args": ["-m", "agentkit.mcp.orders_server"]},
    }
    path = tmp_path / "mcp.json"
    text = json.dumps({"mcpServers": servers}).replace("${HERE}", tmp_path.as_posix())
    path.write_text("\ufeff" + text, encoding="utf-8")  # some editors on Windows write such a mark
    registry = Registry()
    try:
        add_mcp(registry, path, permission="read", fenced=False)
        assert list(links(registry)) == ["notes", "shop"]
        assert registry.call(ToolCall("read_file", {"path": "a.txt"}, "1")).data == "안녕"
        assert registry.call(ToolCall("refund_policy", {}, "2")).ok
        first = [link.client for link in links(registry).values()]
        add_mcp(registry, path, permission="read")  # a cell that is run twice
        assert [client.revision for client in first] == [None, None] and len(links(registry)) == 2
    finally:
        close_mcp(registry)
    assert registry.call(ToolCall("read_file", {"path": "a.txt"}, "3")).error.code == "server_gone"  # type: ignore[union-attr]


def test_a_program_gets_time_to_start_and_an_address_does_not() -> None:
    """A program may have to be loaded first; the handshake waits for it, every other answer has the usual time."""
    program, address = one({"command": "x"}).client(timeout=0.05), one({"url": "https://x.example/mcp"}).client()
    waited: list[Any] = []

    def asked(method: str, params: Any = None, *, timeout: float | None = None, **more: Any) -> Any:
        waited.append(timeout)
        raise McpError("not now")

    for client in (program, address):
        client.peer.request = asked  # type: ignore[method-assign]
        with pytest.raises(McpError, match="not now"):
            client.initialize()
    assert waited == [60.0, None]
    assert one({"command": "x"}).client(start_timeout=5.0)._start_timeout == 5.0
