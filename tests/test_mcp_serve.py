"""``agentkit mcp serve``: a registry as a server for somebody else's host."""

from __future__ import annotations

import argparse
import sys
import threading
from pathlib import Path

import pytest

from agentkit import DefinitionError
from agentkit.mcp import Client, HttpTransport, McpError, StdioTransport
from agentkit.mcp.config import server_configs
from agentkit.mcp.serve import add_arguments, instructions, run_mcp, served

START = "import sys; from test_mcp_serve import options; from agentkit.mcp.serve import run_mcp; run_mcp(options(*sys.argv[1:]))"


def options(*given: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return parser.parse_args(given)


@pytest.mark.parametrize(("given", "tool"), [((), "refund_policy"), (("--world", "research"), "search")])
def test_a_world_over_stdio(given: tuple[str, ...], tool: str) -> None:
    paths = f"{Path(__file__).parents[1]}{':' if sys.platform != 'win32' else ';'}{Path(__file__).parent}"
    with Client(
        StdioTransport(sys.executable, ["-c", START, *given], env={"PYTHONPATH": paths}), timeout=60.0
    ) as client:
        assert any(tool in item.name for item in client.list_tools())


def test_a_folder(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("hello", encoding="utf-8")
    with Client(served(options("--folder", str(tmp_path)))) as client:
        assert client.call_tool("read_file", {"path": "a.txt"}).text == "hello"
        assert client.call_tool("write_file", {"path": "b.txt", "text": "x"}).is_error
    with Client(served(options("--folder", str(tmp_path), "--write"))) as client:
        assert client.call_tool("write_file", {"path": "b.txt", "text": "x"}).ok


def test_a_registry_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = "from agentkit import Registry, tool\n\n@tool\ndef hi() -> str:\n    'Say hello.'\n    return 'hello'\n\nmine = Registry([hi])\nno = 3\n"
    (tmp_path / "own_tools_for_the_test.py").write_text(code, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    with Client(served(options("--registry", "own_tools_for_the_test:mine"))) as client:
        assert client.call_tool("hi").text == "hello"
    for wrong, told in [
        ("own_tools_for_the_test", "MODULE:NAME"),
        ("no_such_module:x", "There is no"),
        ("own_tools_for_the_test:no", "type int"),
    ]:
        with pytest.raises(DefinitionError, match=told):
            served(options("--registry", wrong))


def test_over_http_with_a_token() -> None:
    told: list[str] = []
    started, done = threading.Event(), threading.Event()

    def say(text: str) -> None:
        told.append(text)
        started.set()

    given = options("--http", "--port", "0", "--token", "geheim-1")
    thread = threading.Thread(target=run_mcp, args=(given,), kwargs={"say": say, "done": done}, daemon=True)
    thread.start()
    try:
        assert started.wait(30)
        url = next(word for word in told[0].split() if word.startswith("http://")).rstrip(".")
        with Client(HttpTransport(url, token="geheim-1")) as client:
            assert client.call_tool("refund_policy").ok
        with pytest.raises(McpError, match="401"):
            Client(HttpTransport(url)).connect()
    finally:
        done.set()
        thread.join(30)
    assert told[-1] == "The server has stopped." and "geheim" not in "".join(told)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (("--write",), "--write belongs to --folder"),
        (("--folder", "/no/such/folder"), "A jail needs a folder"),
        (("--token", "x"), "A token belongs to --http"),
        (("--http", "--host", "0.0.0.0", "--port", "0"), "tokens are needed"),
    ],
)
def test_wrong_options_are_sentences(given: tuple[str, ...], told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AGENTKIT_MCP_TOKEN", raising=False)
    with pytest.raises(DefinitionError, match=told):
        run_mcp(options(*given))


def test_the_instructions_are_a_configuration_that_we_read_ourselves(tmp_path: Path) -> None:
    text = instructions(options("--folder", str(tmp_path), "--write"))
    path = tmp_path / "mcp.json"
    path.write_text(text[text.index("{") :], encoding="utf-8")
    (found,) = server_configs(path)
    assert found.command == sys.executable
    assert found.args == ("-m", "agentkit", "mcp", "serve", "--folder", str(tmp_path), "--write")
