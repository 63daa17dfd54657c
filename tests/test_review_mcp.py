"""Faults that a review of MCP by hand has shown, each as a test."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from _mcp import ENV, ODD, Line, RawTransport, calc, odd

from agentkit import Registry, tool
from agentkit._text import width
from agentkit.mcp import (
    Client,
    HttpServer,
    HttpTransport,
    McpError,
    Recorded,
    Recorder,
    Resource,
    Server,
    StdioTransport,
    _process,
    calling,
    jail_server,
    lines,
)
from agentkit.mcp import sequence as sequence_module
from agentkit.mcp.config import server_configs
from agentkit.mcp.jsonrpc import CONNECTION_CLOSED, Notification, Problem, Request, Response, encode
from agentkit.mcp.peer import Peer
from agentkit.mcp.remote_tool import Link
from agentkit.mcp.sequence import sequence
from agentkit.mcp.stdio import serve_stdio

CHANGED = Notification("notifications/tools/list_changed")
posix = pytest.mark.skipif(os.name != "posix", reason="programs that begin with #! are POSIX")


@tool(permission="write", approval=True)
def send(note: str, to: str, more: dict[str, Any] | None = None) -> str:
    """Send a note."""
    return f"sent to {to}"


class Person:
    """Says yes to everything, and keeps the questions."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, message: str, schema: Any) -> dict[str, Any]:
        self.asked.append(message)
        return {"approve": True}

    async def sdk(self, context: Any, params: Any) -> Any:
        from mcp_types import ElicitResult

        return ElicitResult(action="accept", content=self(params.message, params.requested_schema))


@pytest.fixture(params=["ours", "sdk"])
def sent(request: pytest.FixtureRequest) -> Any:
    """``sent(arguments)``: what came of a call that needs approval, and what the person was asked."""
    person, registry = Person(), Registry([send])

    def call(arguments: dict[str, Any]) -> tuple[Any, list[str]]:
        if request.param == "ours":
            with Client(Server("post", registry=registry), elicitation=person) as client:
                return client.call_tool("send", arguments), person.asked
        pytest.importorskip("mcp")
        from agentkit.mcp.sdk_client import SdkClient
        from agentkit.mcp.sdk_servers import sdk_server

        with SdkClient(sdk_server("post", registry), elicitation_callback=person.sdk, timeout=30) as sdk:
            return sdk.call_tool("send", arguments), person.asked

    return call


class TestTheQuestionToAPerson:
    def test_every_name_and_every_short_value_is_shown(self, sent: Any) -> None:
        note = "hello " + "." * 5_000 + " and burn it"
        outcome, asked = sent({"note": note, "to": "evil.example", "more": {"copy": ["x" * 2_000, "spy.example"]}})
        assert outcome.ok and len(asked) == 1
        for part in ('"note": "hello .', "burn it", '"to": "evil.example"', '"more"', '"copy"', '"spy.example"'):
            assert part in asked[0]
        assert "characters are not shown" in asked[0] and len(asked[0]) < 5_000

    def test_what_is_too_much_to_show_is_not_asked_and_does_not_run(self, sent: Any) -> None:
        many = {f"name{number}": number for number in range(1_000)}
        outcome, asked = sent({"note": "a", "to": "b", "more": many})
        assert asked == [] and outcome.is_error and "only after a person has approved" in outcome.text

    def test_invisible_letters_are_written_out(self, sent: Any) -> None:
        _, asked = sent({"note": "a\u202eb", "to": "c"})
        assert "\u202e" not in asked[0] and "\\u202e" in asked[0]

    def test_the_refusal_says_why_nobody_was_asked(self) -> None:
        person = Person()
        with Client(Server("post", registry=Registry([send])), elicitation=person) as client:
            many = {f"name{number}": number for number in range(1_000)}
            outcome = client.call_tool("send", {"note": "a", "to": "b", "more": many})
        assert outcome.data is not None and outcome.data["error"]["code"] == "needs_approval"
        assert "too long to be shown" in outcome.text and person.asked == []

    @pytest.mark.parametrize(
        ("able", "asks"),
        [({}, True), ({"form": {}}, True), ({"form": {}, "url": {}}, True), ({"url": {}}, False), (None, False)],
    )
    def test_a_client_that_can_only_open_addresses_gets_no_form(self, able: Any, asks: bool) -> None:
        line = Line(Server("post", registry=Registry([send])), handshake=None)
        info = {"name": "t", "version": "1"}
        line.say(1, "initialize", protocolVersion="2025-11-25", capabilities={"elicitation": able}, clientInfo=info)
        call = {"name": "send", "arguments": {"note": "a", "to": "b"}}
        line.raw(json.dumps({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}))
        first = line.wait(lambda item: isinstance(item, Request) or getattr(item, "id", None) == 2)
        assert isinstance(first, Request) is asks
        line.session.peer.closed("The test is over.")


class TestSecrets:
    def test_arguments_of_a_program_are_in_no_repr(self) -> None:
        [config] = server_configs(
            {"mcpServers": {"x": {"command": "npx", "args": ["--api-key", "${K}"]}}}, environment={"K": "hunter2-key"}
        )
        client = config.client()
        link = Link("x", client, Registry())
        for shown in (repr(config), repr(config.transport()), repr(client), repr(link)):
            assert "hunter2" not in shown and "npx" in shown and "2 arg" in shown

    @pytest.mark.parametrize("layers", [1, 2, 3])
    def test_in_json_inside_a_text(self, layers: int) -> None:
        text: Any = {"user": "mina", "password": "hunter2hunter", "deep": [{"api_key": "abcd-efgh-1234"}]}
        for _ in range(layers):
            text = json.dumps(text)
        body = {"content": [{"type": "text", "text": text}]}
        recorder = Recorder()
        answer = '{{"jsonrpc":"2.0","id":{0},"result":{1}}}'
        transport = RawTransport(
            lambda message, say: say(answer.format(message.id, json.dumps(body))) if hasattr(message, "id") else None
        )
        with Client(transport, recorder=recorder) as client:
            client.call_tool("x", {"password": "correct-horse"})
        found = sequence(recorder)
        everything = found._repr_html_() + repr(found) + "".join(arrow.text for arrow in found.arrows)
        for secret in ("hunter2", "abcd-efgh", "correct-horse"):
            assert secret not in everything
        assert "mina" in everything and all(json.loads(arrow.text) for arrow in found.arrows)

    def test_in_a_line_that_was_no_message(self) -> None:
        text = json.dumps({"a": json.dumps({"pwd": "hunter2hunter"})})
        problem = Problem(-32600, "no message", None, text)
        for line in (text, f"Result: {text}", text[:-4]):
            assert "hunter2" not in sequence([Recorded(0.0, "a", "b", problem, line)])._repr_html_()

    def test_ordinary_messages_stay_as_they_travelled(self) -> None:
        text = '{"jsonrpc": "2.0",  "id":1, "method":"tools/call","params":{"name":"x","arguments":{"text":"{\\"a\\": 1}"}}}'
        [arrow] = sequence([Recorded(0.0, "a", "b", Request(1, "tools/call", {"name": "x"}), text)]).arrows
        assert arrow.text == text

    def test_a_recorded_message_is_short_and_shows_no_arguments(self) -> None:
        message = Request(1, "tools/call", {"name": "x", "arguments": {"password": "hunter2"}})
        shown = repr(Recorded(0.0, "host", "jail", message, encode(message)))
        assert "hunter2" not in shown and all(word in shown for word in ("host", "jail", "tools/call"))
        answer = Response(1, {"content": [{"type": "text", "text": "hunter2"}]})
        assert "hunter2" not in repr(Recorded(0.0, "jail", "host", answer, encode(answer)))


class TestTheThreadThatReads:
    def test_a_function_of_resources_that_blocks_holds_up_nobody_else(self) -> None:
        started, gate = threading.Event(), threading.Event()

        def offers() -> list[Resource]:
            started.set()
            gate.wait(20)
            return []

        with HttpServer(Server("slow", resources=offers)) as web:
            with Client(HttpTransport(web.url)) as first, Client(HttpTransport(web.url), timeout=5) as second:
                listed: list[Any] = []
                worker = threading.Thread(target=lambda: listed.append(first.list_resource_templates()))
                worker.start()
                try:
                    assert started.wait(10)
                    second.ping()
                    with Client(HttpTransport(web.url), timeout=5) as third:
                        third.ping()
                finally:
                    gate.set()
                    worker.join(20)
            assert listed == [()]

    def test_a_function_of_resources_may_ask_the_client(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(calling, "ASK_SECONDS", 1.0)

        def offers() -> list[Resource]:
            uri = calling.current_call().roots()[0]["uri"]
            return [Resource(uri, "root", lambda: "x")]

        with (
            HttpServer(Server("s", resources=offers)) as web,
            Client(HttpTransport(web.url), roots=["https://example.org/r"]) as client,
        ):
            assert client.list_resource_templates() == ()
            assert client.list_resources()[0]["uri"] == "https://example.org/r"

    def test_what_notified_raises_is_kept_and_reading_goes_on(self) -> None:
        def broken(message: Notification) -> None:
            raise ZeroDivisionError(message.method)

        peer = Peer(lambda message, about: None, {}, notified=broken)
        peer.receive(encode(CHANGED))
        [error] = peer.raised
        assert isinstance(error, ZeroDivisionError) and CHANGED.method in str(error)
        body = """def on(message):
    say({"jsonrpc": "2.0", "method": "notifications/message", "params": {}})
    answer(message)"""
        with Client(odd(body), timeout=30, notified=broken) as client:
            client.ping()
            client.ping()
            assert len(client.peer.raised) == 2 and len(client.notifications) == 2

    def test_a_closed_client_hears_nothing(self) -> None:
        server = calc()
        client = Client(server)
        kept = []
        for _ in range(3):
            client.connect()
            kept += list(server._sessions)  # until they are collected, closed sessions are still there
            client.close()
        client.connect()
        server.changed("tools")
        assert list(client.notifications) == [CHANGED]
        client.close()
        server.changed("tools")
        assert list(client.notifications) == [CHANGED] and len({id(item) for item in kept}) == 3


class TestPrograms:
    @posix
    @pytest.mark.parametrize("relative", [True, False])
    def test_a_relative_program_is_looked_for_in_the_folder_of_the_server(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, relative: bool
    ) -> None:
        folder = tmp_path / "servers"
        folder.mkdir()
        program = folder / "run.sh"
        program.write_text(f"#!{sys.executable}\n" + ODD.replace("BODY", "on = answer"), encoding="utf-8")
        program.chmod(0o755)
        monkeypatch.chdir(tmp_path)
        with Client(StdioTransport("./run.sh", cwd="servers" if relative else folder, env=ENV), timeout=30) as client:
            client.ping()
        with pytest.raises(McpError, match=r"no program '\./run\.sh'"):
            Client(StdioTransport("./run.sh", cwd=tmp_path)).connect()

    def test_a_line_that_is_too_long_is_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(lines, "LONGEST", 2_000)
        transport = odd("def on(message): say('x' * 5_000_000 + '\\n'); answer(message)")
        with Client(transport, timeout=30) as client:
            with pytest.raises(McpError, match=r"The server sent a line of more than 2,000 bytes") as caught:
                client.ping()
            assert caught.value.code == CONNECTION_CLOSED
        out = io.BytesIO()
        serve_stdio(calc(), io.BytesIO(b'{"x":"' + b"x" * 5_000), out)
        told = json.loads(out.getvalue())
        assert told["id"] is None and "a line of more than 2,000 bytes" in told["error"]["message"]

    def test_a_line_of_just_that_length_is_read(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(lines, "LONGEST", 4)
        assert list(lines.read_lines(io.BytesIO(b"abc\nd\nefgh"), "server")) == ["abc", "d", "efgh"]

    def test_after_serving_standard_input_and_output_are_what_they_were(self) -> None:
        script = """
import os, sys
from agentkit import Registry
from agentkit.mcp import Server, serve_stdio
serve_stdio(Server("s", registry=Registry([])))
print("from print", flush=True); os.write(1, b"from the system\\n")
os.write(1, repr(os.read(0, 9)).encode())
"""
        found = subprocess.run(
            [sys.executable, "-c", script], input=b"", capture_output=True, timeout=60, env={**os.environ, **ENV}
        )
        assert found.stdout.splitlines() == [b"from print", b"from the system", b"b''"] and found.stderr == b""

    def test_variables_of_windows_have_no_case(self, monkeypatch: pytest.MonkeyPatch) -> None:
        given = {"Path": "C:\\mine", "other": "1"}
        monkeypatch.setattr(_process, "os", SimpleNamespace(name="nt", environ={"PATH": "C:\\all", "TEMP": "C:\\t"}))
        found = _process.child_environment(given)
        assert found == {"PATH": "C:\\mine", "TEMP": "C:\\t", "OTHER": "1"}
        monkeypatch.setattr(_process, "os", SimpleNamespace(name="posix", environ={"PATH": "/bin"}))
        assert _process.child_environment(given) == {"PATH": "/bin", **given}

    def test_a_command_of_windows_that_hangs_does_not_raise_out_of_closing(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        tried: list[str] = []

        class Stubborn:
            pid = 1

            def poll(self) -> None:
                return None

            def wait(self, seconds: float) -> int:
                raise subprocess.TimeoutExpired("server", seconds)

        def slow(command: list[str], **more: Any) -> None:
            tried.append(command[0])
            raise subprocess.TimeoutExpired(command, 10)

        monkeypatch.setattr(_process, "os", SimpleNamespace(name="nt"))
        monkeypatch.setattr(subprocess, "run", slow)
        _process.stop(Stubborn(), 0.0)  # type: ignore[arg-type]
        assert tried == ["taskkill", "taskkill"]


class TestTheJail:
    def test_an_unknown_tool_is_told_with_the_tools_that_can_be_used(self, tmp_path: Path) -> None:
        with (
            Client(jail_server.jail_server(tmp_path)) as client,
            pytest.raises(McpError, match="search_files") as caught,
        ):
            client.call_tool("nope")
        assert "write_file" not in str(caught.value)

    def test_a_search_reads_long_files_and_says_what_it_has_not_read(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "long.txt").write_text("a\n" * 60_000 + "needle\n", encoding="utf-8")
        with Client(jail_server.jail_server(tmp_path)) as client:
            found = client.call_tool("search_files", {"words": "needle"}).data
            match = {"path": "long.txt", "line": 60_001, "text": "needle"}
            assert found == {"matches": [match], "count": 1}
            monkeypatch.setattr(jail_server, "SEARCHED", 1_000)
            found = client.call_tool("search_files", {"words": "needle"}).data
            assert (
                found is not None
                and found["count"] == 0
                and found["only_searched"]
                == {
                    "files": ["long.txt"],
                    "characters": 1_000,
                }
            )

    def test_addresses_are_percent_encoded(self, tmp_path: Path) -> None:
        names = ["my plan#1.md", "말%20.md", "a/b c.md", "50%.md"]
        (tmp_path / "a").mkdir()
        for name in names:
            (tmp_path / name).write_text(name, encoding="utf-8")
        with Client(jail_server.jail_server(tmp_path)) as client:
            listed = {item["name"]: item["uri"] for item in client.list_resources()}
            assert listed["my plan#1.md"] == "jail:///my%20plan%231.md" and listed["a/b c.md"] == "jail:///a/b%20c.md"
            for name in names:
                assert client.read_resource(listed[name])[0]["text"] == name
        pytest.importorskip("mcp")
        from agentkit.mcp.sdk_client import SdkClient
        from agentkit.mcp.sdk_servers import sdk_jail_server

        for mode in ("auto", "legacy"):
            with SdkClient(sdk_jail_server(tmp_path), mode=mode, timeout=30) as sdk:
                for name in names:
                    assert sdk.read_resource(listed[name])[0]["text"] == name, (mode, name)


class TestTheClientOfTheSdk:
    def test_it_hears_again_after_it_was_connected_again(self) -> None:
        pytest.importorskip("mcp")
        from mcp import StdioServerParameters

        from agentkit.mcp.sdk_client import SdkClient

        heard: list[Any] = []

        async def hear(message: Any) -> None:
            heard.append(message)

        body = """
def on(message):
    if message["method"] == "prompts/list": os._exit(3)
    say({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}); answer(message, tools=[])"""
        program = StdioServerParameters(command=sys.executable, args=["-c", ODD.replace("BODY", body)], env=ENV)
        client = SdkClient(program, mode="legacy", timeout=30, message_handler=hear)
        try:
            for count in (1, 2):
                client.connect().list_tools()
                assert len(heard) == count
                client.close()
            client.connect()
            with pytest.raises(McpError):
                client.list_prompts()
            assert client.connect().list_tools() == ()  # a server that has died is started again
        finally:
            client.close()


def test_the_width_of_a_diagram_is_measured_once(monkeypatch: pytest.MonkeyPatch) -> None:
    message = Notification("notifications/message")
    found = sequence([Recorded(0.0, "a", "b", message, encode(message)) for _ in range(200)])
    whole = found.lines()
    measured: list[Any] = []

    def counted(text: str) -> int:
        measured.append(text)
        return width(text)

    monkeypatch.setattr(sequence_module, "width", counted)
    assert found.lines(5, 8) == [whole[0], *whole[6:9]] and len(measured) < 20
