"""Child processes: started, spoken to, and gone when they should be."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil
import pytest
from _mcp import ENV, add, calc, odd

from agentkit import Registry, tool
from agentkit.mcp import Client, McpError, Server, StdioTransport
from agentkit.mcp import stdio as stdio_module
from agentkit.mcp._process import TAIL, child_environment
from agentkit.mcp.jsonrpc import CONNECTION_CLOSED
from agentkit.mcp.stdio import serve_stdio

INITIALIZE = '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}'


def jail(folder: Path, *more: str) -> StdioTransport:
    return StdioTransport(sys.executable, ["-m", "agentkit.mcp.jail_server", str(folder), *more], env=ENV)


def gone(pid: int) -> bool:
    try:
        psutil.Process(pid).wait(10)
    except psutil.NoSuchProcess:
        return True
    return not psutil.pid_exists(pid)


def test_both_servers_as_programs(tmp_path: Path) -> None:
    (tmp_path / "메모.md").write_text("한글 텍스트", encoding="utf-8")
    transport = jail(tmp_path)
    with Client(transport, timeout=30) as client:
        pid = transport.pid
        assert client.call_tool("read_file", {"path": "메모.md"}).text == "한글 텍스트"
        assert client.call_tool("read_file", {"path": "../x"}).is_error
        assert repr(transport).startswith("StdioTransport(")
    assert pid is not None and gone(pid) and transport.pid is None and transport.stderr == ""
    with Client(StdioTransport(sys.executable, ["-m", "agentkit.mcp.orders_server"], env=ENV), timeout=30) as client:
        assert client.call_tool("lookup_order", {"order_id": "A100"}).data["order_id"] == "A100"  # type: ignore[index]


def test_a_server_of_lines_in_and_lines_out() -> None:
    lines = [
        INITIALIZE,
        '{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"add","arguments":{"a":1,"b":2}}}',
        "",
        "{bad",
    ]
    out = io.BytesIO()
    serve_stdio(calc(), io.BytesIO("\r\n".join(lines).encode()), out)
    told = [json.loads(line) for line in out.getvalue().splitlines()]
    assert {json.dumps(item["id"]) for item in told} == {"1", '"x"', "null"}  # also what was asked just before the end


def test_mc_01_prints_of_tools_and_their_programs_go_to_standard_error() -> None:
    script = """
import os, subprocess, sys
from agentkit import Registry, tool
from agentkit.mcp import Server, serve_stdio
print("Starting", file=sys.stderr)
@tool
def noisy() -> str:
    "Print in every way."
    print("from print"); os.write(1, b"from the system\\n")
    code = "import sys; print('from a child', repr(sys.stdin.read()))"
    subprocess.run([sys.executable, "-c", code])
    return "quiet"
serve_stdio(Server("s", registry=Registry([noisy])))
"""
    transport = StdioTransport(sys.executable, ["-c", script], env=ENV)
    with Client(transport, timeout=30) as client:
        assert client.call_tool("noisy").text == "quiet" and client.noise == ()
    for part in ("Starting", "from print", "from the system", "from a child ''"):
        assert part in transport.stderr


def test_mc_08_no_fileno_of_this_process_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    class Kernel(io.StringIO):
        def fileno(self) -> int:
            raise io.UnsupportedOperation("fileno")

    for name in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(sys, name, Kernel())
    with Client(odd("def on(message): answer(message)"), timeout=30) as client:
        client.ping()


def test_mc_05_a_server_that_dies_is_noticed_at_once_with_its_last_words() -> None:
    transport = odd("def on(message): sys.stderr.write('out of paper'); sys.stderr.flush(); os._exit(3)")
    with Client(transport, timeout=60) as client:
        begun = time.monotonic()
        with pytest.raises(McpError, match=r"exit code 3\. Its last words: out of paper") as caught:
            client.call_tool("x")
        assert time.monotonic() - begun < 30 and caught.value.code == CONNECTION_CLOSED
        with pytest.raises(McpError, match="exit code 3"):
            client.ping()


def test_a_server_that_dies_in_the_handshake_says_why() -> None:
    with pytest.raises(
        McpError, match=r"initialize got no answer\. The server stopped with exit code 1\. Its last words: no key"
    ):
        Client(StdioTransport(sys.executable, ["-c", "import sys; sys.exit('no key')"], env=ENV), timeout=30).connect()


def test_a_server_that_closes_its_output_but_lives_on_is_noticed() -> None:
    with (
        Client(odd("def on(message): os.close(1); time.sleep(60)"), timeout=60) as client,
        pytest.raises(McpError, match="closed its standard output"),
    ):
        client.call_tool("x")


def test_a_server_for_a_folder_that_is_not_there_says_so(tmp_path: Path) -> None:
    with pytest.raises(
        McpError, match=r"(?s)exit code 2\..*error: A jail needs a folder, and 'none' is none"
    ) as caught:
        Client(jail(tmp_path / "none"), timeout=30).connect()
    assert "Traceback" not in str(caught.value)


@pytest.mark.parametrize("program", ["no-such-program-anywhere", "", "\x00"])
def test_a_program_that_is_not_there(program: str) -> None:
    with pytest.raises(McpError, match="program"):
        Client(StdioTransport(program)).connect()


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(McpError, match="cannot be started"):
        Client(StdioTransport(sys.executable, cwd=tmp_path / "none")).connect()


def test_windows_command_lines_are_looked_up_with_the_path_of_the_child(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, str | None]] = []

    def which(command: str, path: str | None = None) -> str:
        asked.append((command, path))
        return sys.executable  # as "npx" is found as "npx.cmd"

    monkeypatch.setattr(stdio_module.shutil, "which", which)
    started: list[list[str]] = []
    real = subprocess.Popen

    def popen(command: list[str], **more: object) -> object:
        started.append(command)
        return real(command, **more)  # type: ignore[call-overload]

    monkeypatch.setattr(stdio_module.subprocess, "Popen", popen)
    with pytest.raises(McpError):
        Client(StdioTransport("npx", ["-c", "a b", 'say "hi"', ""], env={"PATH": "/somewhere"}), timeout=30).connect()
    assert asked == [("npx", "/somewhere")] and started == [[sys.executable, "-c", "a b", 'say "hi"', ""]]


def test_the_child_does_not_inherit_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "secret")
    monkeypatch.setenv("LANG", "() { :; }")
    found = child_environment({"GIVEN": "1"})
    assert "SOME_API_KEY" not in found and "LANG" not in found and found["GIVEN"] == "1" and found["PATH"]
    body = "def on(message): answer(message, **outcome(repr([os.environ.get('SOME_API_KEY'), os.environ['GIVEN'], os.getcwd()])))"
    transport = odd(body)
    transport._env["GIVEN"] = "yes"
    with Client(transport, timeout=30) as client:
        assert client.call_tool("x").text == repr([None, "yes", str(Path.cwd())])


def test_only_the_end_of_standard_error_is_kept() -> None:
    body = "def on(message): sys.stderr.write('x' * 200_000 + 'end'); sys.stderr.flush(); answer(message)"
    transport = odd(body)
    with Client(transport, timeout=30) as client:
        client.ping()
    assert len(transport.stderr) == TAIL and transport.stderr.endswith("xend")


def test_a_server_that_does_not_read_does_not_block_the_client() -> None:
    """The pipe is full after 64 kB; the call must still end with its time-out, and closing must work."""
    with Client(odd("def on(message): time.sleep(60)"), timeout=0.5) as client:
        for _ in range(2):
            with pytest.raises(McpError, match="did not answer tools/call"):
                client.call_tool("x", {"text": "x" * 500_000}, timeout=0.2)


@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX")
def test_a_server_that_ignores_the_end_is_killed_with_what_it_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stdio_module, "CLOSE_SECONDS", 0.3)
    body = """
import signal, subprocess
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-c", "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)"])
def on(message): answer(message, **outcome(str(child.pid))); time.sleep(60)
"""
    transport = odd(body)
    with Client(transport, timeout=30) as client:
        child, pid = int(client.call_tool("x").text), transport.pid
    assert pid is not None and gone(pid) and gone(child)


@pytest.mark.skipif(os.name != "posix", reason="groups of processes are POSIX")
def test_what_a_dead_server_had_started_does_not_live_on() -> None:
    body = """
import subprocess
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
def on(message): answer(message, **outcome(str(child.pid))); os._exit(0)
"""
    with Client(odd(body), timeout=30) as client:
        child = int(client.call_tool("x").text)
        assert gone(child)
        with pytest.raises(McpError, match="exit code 0"):
            client.ping()


def test_no_process_outlives_a_program_that_forgets_to_close() -> None:
    script = (
        "import sys\nfrom agentkit.mcp import Client, StdioTransport\n"
        "t = StdioTransport(sys.executable, ['-m', 'agentkit.mcp.orders_server'])\n"
        "c = Client(t, timeout=30).connect()\nprint(t.pid)\n"
    )
    found = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=True,
        env={**os.environ, **ENV},
    )
    assert gone(int(found.stdout)) and found.stderr == ""


def test_no_threads_are_left_behind() -> None:
    before = set(threading.enumerate())
    with Client(odd("def on(message): answer(message)"), timeout=30) as client:
        client.ping()
    for thread in set(threading.enumerate()) - before:
        if thread.name.startswith("agentkit-mcp"):
            thread.join(10)
            assert not thread.is_alive()


def test_a_thousand_calls_without_growth() -> None:
    registry = Registry([add])

    @tool
    def weigh() -> int:
        """The memory of the server, in bytes."""
        return psutil.Process().memory_info().rss

    registry.add(weigh)
    script = (
        "from _mcp import add\nfrom agentkit import Registry, tool\nimport psutil\nfrom agentkit.mcp import Server, serve_stdio\n"
        "@tool\ndef weigh() -> int:\n    'Bytes.'\n    return psutil.Process().memory_info().rss\n"
        "serve_stdio(Server('s', registry=Registry([add, weigh])))"
    )
    env = {"PYTHONPATH": os.pathsep.join([ENV["PYTHONPATH"], str(Path(__file__).parent)])}
    with Client(StdioTransport(sys.executable, ["-c", script], env=env), timeout=30) as client:

        def round(count: int) -> tuple[int, int]:
            for number in range(count):
                assert client.call_tool("add", {"a": number, "b": 1}).data == {"sum": number + 1}
            return psutil.Process().memory_info().rss, int(client.call_tool("weigh").text)

        ours, theirs = round(200)
        ours_after, theirs_after = round(1_000)
        assert client.peer._waiting == {} and len(client.notifications) == 0
        assert ours_after - ours < 4_000_000 and theirs_after - theirs < 4_000_000


def test_server_in_memory_of_a_thousand_calls_keeps_nothing() -> None:
    server = Server("s", registry=Registry([add]))
    with Client(server) as client:
        for number in range(1_000):
            client.call_tool("add", {"a": number, "b": 1})
        [session] = list(server._sessions)
        session.peer.finish(10)
        assert session.peer._running == {} and client.peer._waiting == {}
