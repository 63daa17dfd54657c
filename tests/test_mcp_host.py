"""The host with several clients, the sequence diagram of their messages, and N × M against N + M."""

from __future__ import annotations

from html import unescape
from pathlib import Path
from typing import Any

import pytest

from agentkit import DefinitionError, Registry, ToolCall
from agentkit._approvals import Grant
from agentkit.mcp import Client, McpError, Recorded, Recorder, StdioTransport
from agentkit.mcp.bridge import add_mcp, owner_of
from agentkit.mcp.host import Host, integrations
from agentkit.mcp.integrations import Integrations
from agentkit.mcp.jail_server import jail_server
from agentkit.mcp.jsonrpc import ErrorResponse, Notification, Problem, Request, Response, encode, parse
from agentkit.mcp.orders_server import orders_server
from agentkit.mcp.sequence import sequence

SHOP = len(orders_server().tools())
HOSTILE = "<script>alert(1)</script>\u202e"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.txt").write_text("hello", encoding="utf-8")
    return tmp_path


def said(sender: str, receiver: str, message: Any) -> Recorded:
    text = message.text if isinstance(message, Problem) else encode(message)
    return Recorded(0.0, sender, receiver, message, text)


class TestHost:
    def test_each_client_has_one_server_and_all_tools_are_in_one_registry(self, folder: Path) -> None:
        servers = {"files": jail_server(folder), "shop": orders_server()}
        with Host(servers, permission="read", fenced=False) as host:
            assert list(host.clients) == ["files", "shop"] and "read_file" in host.registry
            assert owner_of(host.registry.get("refund_policy")) == "shop"
            assert host.registry.call(ToolCall("read_file", {"path": "a.txt"}, "1")).data == "hello"
            assert host.sequence.parties == ("host", "files", "shop")
        assert host.registry.call(ToolCall("read_file", {"path": "a.txt"}, "2")).error.code == "server_gone"  # type: ignore[union-attr]
        with host:  # a cell that is run twice
            host.connect()
            assert (
                host.registry.call(ToolCall("read_file", {"path": "a.txt"}, "3")).ok and len(host.registry) == 3 + SHOP
            )

    def test_what_a_person_has_granted_holds_after_a_new_connection(self, folder: Path) -> None:
        server = jail_server(folder)
        host = Host({"files": server}, fenced=False)
        with host:
            assert host.registry.call(ToolCall("read_file", {"path": "a.txt"}, "1")).error.code == "needs_approval"  # type: ignore[union-attr]
            host.registry.grant(Grant("read_file", {"path": "*"}))
            assert host.registry.call(ToolCall("read_file", {"path": "a.txt"}, "2")).data == "hello"
        with host:
            assert host.registry.call(ToolCall("read_file", {"path": "a.txt"}, "3")).data == "hello"

    def test_permissions_are_given_for_each_server(self, folder: Path) -> None:
        servers = {"files": jail_server(folder), "shop": orders_server()}
        with Host(servers, permission={"files": {"read_*": "read"}}) as host:
            kinds = {name: host.registry.get(name).permission for name in ("read_file", "list_files", "refund_policy")}
        assert kinds == {"read_file": "read", "list_files": "write", "refund_policy": "write"}

    def test_a_name_that_is_nobody_is_a_sentence(self, folder: Path) -> None:
        with pytest.raises(DefinitionError, match="no server 'file' here"):
            Host({"files": jail_server(folder)}, permission={"file": "read"})
        with pytest.raises(DefinitionError, match="cannot be a value of type int"):
            Host({"files": 3})

    def test_when_one_server_fails_none_stays_open(self, folder: Path) -> None:
        host = Host({"files": jail_server(folder), "gone": StdioTransport("no-such-program")})
        with pytest.raises(McpError, match="no-such-program"):
            host.connect()
        assert host.clients["files"].revision is None

    def test_two_hosts_and_their_servers_are_counted(self, folder: Path) -> None:
        servers = {"files": jail_server(folder), "shop": orders_server()}
        desk = Registry()
        with Host(servers, permission="read") as both, Client(servers["shop"]) as client:
            add_mcp(desk, client, prefix="shop")
            found = integrations({"writer": both, "desk": desk})
        assert (found.without, found.together) == (3, 4)
        assert repr(found).splitlines() == [
            "        files  shop",
            "writer  x      x",
            "desk           x",
            "Without a protocol: an adapter for each x, 3 in all.",
            "With MCP: 2 hosts and 2 servers, 4 in all.",
        ]
        page = found._repr_html_()
        assert "3 in all" in page
        before, after = page.split("<svg")[1:]  # every adapter, client and server is one line of a picture
        assert (before.count("<line"), after.count("<line")) == (found.without, found.together)

    def test_names_in_the_picture_do_nothing(self) -> None:
        page = Integrations({HOSTILE: [HOSTILE]})._repr_html_()
        assert "<script>" not in page and "\u202e" not in page


class TestSequence:
    def test_a_real_conversation(self, folder: Path) -> None:
        recorder = Recorder(clock=lambda: 0.0)
        with Client(jail_server(folder), name="host", server_name="jail", recorder=recorder) as client:
            client.call_tool("read_file", {"path": "../x"})
        found = sequence(recorder)
        assert [(arrow.kind, arrow.answers) for arrow in found.arrows] == [
            ("request", None), ("response", 1), ("notification", None), ("request", None), ("response", 4),
        ]  # fmt: skip
        assert repr(found) == "\n".join(
            [
                "   host                                 jail",
                "1  |------------ initialize ----------->|",
                "2  |<...... result of initialize .......|",
                "3  |---- notifications/initialized ---->|",
                "4  |------- tools/call read_file ------>|",
                "5  |<. result of tools/call (failed) ...|",
            ]
        )

        # A page without widgets (the stored notebook on the web) shows the same picture above the table.
        picture, _, table = found._repr_html_().partition("</pre>")
        assert unescape(picture.partition(">")[2]) == repr(found) and table.startswith("<table")

    def test_an_empty_recorder_is_no_missing_one(self) -> None:
        mine = Recorder()
        assert (mine or Recorder()) is mine and len(mine) == 0

    def test_an_answer_finds_its_request_by_the_id_and_its_type(self) -> None:
        found = sequence(
            [
                said("a", "b", Request(1, "ping")),
                said("b", "a", Request(1, "roots/list")),
                said("a", "b", Request("1", "tools/list")),
                said("b", "a", Response("1", {})),
                said("b", "a", ErrorResponse(1, -32000, "no")),
                said("a", "b", Response(1, {})),
                said("b", "a", Response(9, {})),
            ]
        )
        assert [arrow.answers for arrow in found.arrows] == [None, None, None, 3, 1, 2, None]
        assert found.arrows[4].label == "error -32000 for ping"
        assert found.arrows[6].label == "result of nothing that was asked"

    def test_three_columns(self) -> None:
        found = sequence(
            [said("h", "a", Notification("x")), said("h", "b", Notification("y")), said("b", "h", Notification("z"))]
        )
        assert repr(found).splitlines()[1:] == [
            "1  |------ x ----->|               |",
            "2  |-------------- y ------------->|",
            "3  |<------------- z --------------|",
        ]

    def test_what_was_no_message_is_shown_as_that(self) -> None:
        found = sequence([said("b", "a", parse("Starting server ..."))])
        assert found.arrows[0].kind == "noise" and "Starting server" in found.arrows[0].label

    def test_hostile_text_is_shown_and_does_nothing(self) -> None:
        found = sequence(
            [said(HOSTILE, "b", Request(1, "tools/call", {"name": HOSTILE})), said("b", HOSTILE, parse(HOSTILE))]
        )
        page = found._repr_html_()
        assert "<script>" not in page and "\u202e" not in page + repr(found)

    def test_secrets_are_masked(self) -> None:
        found = sequence(
            [said("a", "b", Request(1, "tools/call", {"name": "x", "token": "sk-live-abcdefghijklmnop1234"}))]
        )
        assert "abcdefghijklmnop" not in found._repr_html_() + found.arrows[0].text

    def test_wide_letters_keep_the_columns(self) -> None:
        found = sequence(
            [said("a", "b", Request(1, "tools/call", {"name": "환불"})), said("a", "b", Notification("x"))]
        )
        from agentkit._text import width

        assert len({width(line) for line in repr(found).splitlines()[1:]}) == 1

    def test_nothing_recorded(self) -> None:
        assert repr(sequence([])) == "(no messages)"


class TestPanel:
    def test_the_faces_say_the_same_and_every_message_has_a_picture(self, folder: Path) -> None:
        pytest.importorskip("ipywidgets")
        from agentkit.widgets.sequence import sequence_diagram

        recorder = Recorder(clock=lambda: 0.0)
        with Client(jail_server(folder), name="host", server_name="jail", recorder=recorder) as client:
            client.list_tools()
        panel = sequence_diagram(recorder)
        stack = panel.children[1]
        assert len(stack.children) == len(recorder)
        assert repr(panel) == repr(sequence(recorder))
        for number, picture in enumerate(stack.children, 1):
            assert f"Message {number} of {len(recorder)}" in picture.value and picture.value.count("<b>") == 1

    @pytest.mark.parametrize("count", [1, 12, 13, 40])
    def test_the_number_that_is_shown_is_that_of_the_message(self, count: int) -> None:
        pytest.importorskip("ipywidgets")
        from agentkit.widgets.sequence import sequence_diagram

        panel = sequence_diagram([said("a", "b", Notification("x")) for _ in range(count)])
        play, slider, jump = panel.children[0].children
        stack = panel.children[1]
        assert f"Message 1 of {count}" in stack.children[stack.selected_index].value
        if count <= 12:
            assert not slider.readout and jump.options[jump.index] == "1"
            return
        assert slider.value == play.value == jump.value == stack.selected_index == 1
        for number in (1, count):
            assert f"Message {number} of {count}" in stack.children[number].value
        assert slider.max == play.max == jump.max == count

    def test_hostile_text_in_the_pictures(self) -> None:
        pytest.importorskip("ipywidgets")
        from agentkit.widgets.sequence import sequence_diagram

        panel = sequence_diagram([said(HOSTILE, "b", Request(1, HOSTILE, {"name": HOSTILE}))])
        assert "<script>" not in panel.children[1].children[0].value
