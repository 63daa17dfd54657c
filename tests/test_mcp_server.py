"""The server by hand, asked line by line."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest
from _mcp import Line, add, calc, shout

from agentkit import DefinitionError, Registry, ToolError, tool
from agentkit.mcp import Client, Prompt, Resource, Server, Template, current_call
from agentkit.mcp.jail_server import jail_server
from agentkit.mcp.jsonrpc import ErrorResponse, McpError, Notification, Response
from agentkit.mcp.orders_server import orders_server
from agentkit.mcp.revisions import LATEST, SUPPORTED
from agentkit.safety import Allow, Policy


def offers() -> Server:
    return Server(
        "library",
        resources=[
            Resource("lib://hours", "hours", lambda: "9 to 5", "When it is open."),
            Resource("lib://logo", "logo", lambda: b"\x00\x01", mime_type="image/png"),
            Template("lib://book/{title}", "book", lambda title: f"The text of {title}"),
            Template("lib://shelf/{+path}", "shelf", lambda path: _shelf(path)),
        ],
        prompts=[
            Prompt("greet", lambda name, tone="kind": f"Greet {name}, {tone}.", "A greeting.", {"name": "Who.", "tone": "How."}, ("tone",)),
            Prompt("talk", lambda: [{"role": "assistant", "content": {"type": "text", "text": "Hello"}}]),
        ],
        page_size=1,
    )  # fmt: skip


def _shelf(path: str) -> str:
    raise ToolError(f"The shelf {path} is empty.")


# --- the handshake ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("asked", [*SUPPORTED, "1999-01-01", "2026-07-28"])
def test_the_revision_is_negotiated(asked: str) -> None:
    line = Line(calc(instructions="Add."), handshake=None)
    told = line.say("a", "initialize", protocolVersion=asked, capabilities={}, clientInfo={"name": "t", "version": "1"})
    assert told.result["protocolVersion"] == (asked if asked in SUPPORTED else LATEST)
    assert told.result["serverInfo"] == {"name": "calc", "version": "1.0"} and told.result["instructions"] == "Add."
    assert told.result["capabilities"] == {"tools": {"listChanged": True}, "logging": {}}


def test_nothing_but_a_ping_before_the_handshake_and_no_second_handshake() -> None:
    line = Line(calc(), handshake=None)
    assert line.say(1, "ping") == Response(1, {})
    early = line.say(2, "tools/list")
    assert isinstance(early, ErrorResponse) and early.code == -32600 and "initialize first" in early.message
    line = Line(calc())
    again = line.say(9, "initialize", protocolVersion=LATEST, capabilities={}, clientInfo={})
    assert isinstance(again, ErrorResponse) and again.code == -32600


@pytest.mark.parametrize(
    "params", [{}, {"protocolVersion": 1, "capabilities": {}, "clientInfo": {}}, {"protocolVersion": LATEST}]
)
def test_a_handshake_without_its_fields_is_refused(params: dict[str, Any]) -> None:
    line = Line(calc(), handshake=None)
    told = line.say(1, "initialize", **params)
    assert isinstance(told, ErrorResponse) and told.code == -32602


def test_mc_02_a_broken_line_is_answered_with_a_null_id() -> None:
    line = Line(calc())
    line.raw("{bad")
    assert line.came[-1] == ErrorResponse(None, -32700, "This line is not JSON (at character 1).")
    line.raw('{"jsonrpc":"2.0","id":"x","method":7}')
    assert isinstance(line.came[-1], ErrorResponse) and (line.came[-1].id, line.came[-1].code) == ("x", -32600)


@pytest.mark.parametrize("id", [0, 1, -5, "1", "a", ""])
def test_mc_03_the_id_of_an_answer_has_the_type_of_the_request(id: int | str) -> None:
    told = Line(calc(), handshake=None).say(id, "ping")
    assert told.id == id and type(told.id) is type(id)


def test_unknown_methods_are_refused_and_unknown_notifications_ignored() -> None:
    line = Line(calc())
    told = line.say(5, "server/discover")
    assert isinstance(told, ErrorResponse) and told.code == -32601
    before = len(line.came)
    line.raw('{"jsonrpc":"2.0","method":"notifications/unheard_of"}')
    line.raw('{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":77,"progress":1}}')  # MC-10
    line.raw('{"jsonrpc":"2.0","id":99,"result":{}}')
    line.raw('{"jsonrpc":"2.0","id":99,"result":[]}')  # an answer is never answered, whatever it looks like
    line.raw('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":[1]}}')
    assert len(line.came) == before and isinstance(line.say(6, "ping"), Response)


def test_a_batch_is_taken_in_the_one_revision_that_has_it() -> None:
    batch = '[{"jsonrpc":"2.0","id":"p","method":"ping"},{"jsonrpc":"2.0","id":"q","method":"ping"}]'
    line = Line(calc(), handshake="2025-03-26")
    line.raw(batch)
    assert [item.id for item in line.came[-2:]] == ["p", "q"]
    for revision in ("2025-06-18", LATEST):
        line = Line(calc(), handshake=revision)
        line.raw(batch)
        assert isinstance(line.came[-1], ErrorResponse) and line.came[-1].code == -32600


# --- tools ------------------------------------------------------------------------------------------------------------


def test_a_call_goes_through_the_registry() -> None:
    line = Line(calc())
    told = line.say(2, "tools/call", name="add", arguments={"a": 2, "b": 3}).result
    assert told == {
        "content": [{"type": "text", "text": '{"sum": 5}'}],
        "structuredContent": {"sum": 5},
        "isError": False,
    }
    told = line.say(3, "tools/call", name="shout", arguments={"text": "hi"}).result
    assert told == {"content": [{"type": "text", "text": "HI"}], "isError": False}


@pytest.mark.parametrize("revision", SUPPORTED)
def test_older_revisions_have_no_structured_result(revision: str) -> None:
    told = Line(calc(), handshake=revision).say(2, "tools/call", name="add", arguments={"a": 2, "b": 3}).result
    assert ("structuredContent" in told) == (revision >= "2025-06-18")


@pytest.mark.parametrize(
    ("name", "arguments", "code", "says"),
    [
        ("fail", {}, "empty", "The shelf is empty. Order more."), ("crash", {}, "tool_failed", "crash"),
        ("add", {"a": "x", "b": 1}, "bad_arguments", "a must be an integer"), ("add", {}, "bad_arguments", "a is required"),
        ("launch", {"target": "moon"}, "needs_approval", "approved"),
    ],
)  # fmt: skip
def test_mc_12_and_mc_13_a_failure_is_a_result_that_says_so(name: str, arguments: Any, code: str, says: str) -> None:
    told = Line(calc()).say(2, "tools/call", name=name, arguments=arguments).result
    assert told["isError"] is True and says in told["content"][0]["text"]
    assert told["structuredContent"]["error"]["code"] == code and "Traceback" not in json.dumps(told)


@pytest.mark.parametrize(
    ("params", "says"),
    [({"name": "nope"}, "no tool 'nope'"), ({}, "no tool"), ({"name": "add", "arguments": [1]}, "JSON object")],
)
def test_mc_12_an_unknown_tool_is_an_error_of_the_protocol(params: dict[str, Any], says: str) -> None:
    told = Line(calc()).say(2, "tools/call", **params)
    assert isinstance(told, ErrorResponse) and told.code == -32602 and says in told.message


def test_mc_06_the_list_comes_in_pages() -> None:
    line, names, cursor, id = Line(calc(page_size=3)), [], {}, 10
    while True:
        told = line.say(id, "tools/list", **cursor).result
        names += [item["name"] for item in told["tools"]]
        if "nextCursor" not in told:
            break
        cursor, id = {"cursor": told["nextCursor"]}, id + 1
    assert names == ["add", "shout", "fail", "crash", "steps", "think", "folders", "launch"] and id == 12


@pytest.mark.parametrize("cursor", ["", "x", "from-0", "from-999", "from--1", 5, {}, "from-1\n"])
def test_a_foreign_cursor_is_refused(cursor: Any) -> None:
    told = Line(calc(page_size=3)).say(2, "tools/list", cursor=cursor)
    assert isinstance(told, ErrorResponse) and told.code == -32602


def test_a_changed_registry_is_told_to_every_client() -> None:
    server = calc()
    first, second, early = Line(server), Line(server), Line(server, handshake=None)

    @tool
    def later() -> str:
        """Come later."""
        return "x"

    server.add(later)
    changed = Notification("notifications/tools/list_changed")
    assert first.came[-1] == second.came[-1] == changed and early.came == []
    assert first.say(5, "tools/call", name="later", arguments={}).result["content"][0]["text"] == "x"
    server.look_again()
    assert first.came.count(changed) == 1


def test_a_tool_that_adds_a_tool_is_noticed() -> None:
    registry = Registry([add])

    @tool
    def grow() -> str:
        """Add a tool."""
        registry.add(shout)
        return "grown"

    registry.add(grow)
    line = Line(Server("s", registry=registry))
    line.say(2, "tools/call", name="grow", arguments={})
    assert line.came.count(Notification("notifications/tools/list_changed")) == 1


def test_what_a_policy_never_allows_is_not_listed() -> None:
    registry = Registry([add, shout], policy=Policy([Allow("add")]))
    names = [item["name"] for item in Line(Server("s", registry=registry)).say(2, "tools/list").result["tools"]]
    assert names == ["add"]


# --- while a tool runs --------------------------------------------------------------------------------------------------


def test_progress_needs_a_token_and_logs_a_level() -> None:
    line = Line(calc())
    line.say(2, "tools/call", name="steps", arguments={"count": 2})
    assert not [item for item in line.came if getattr(item, "method", "") == "notifications/progress"]
    line.say(3, "logging/setLevel", level="warning")
    line.came.clear()
    line.say(4, "tools/call", name="steps", arguments={"count": 2}, _meta={"progressToken": "t"})
    assert [item.params for item in line.came[:-1]] == [
        {"progressToken": "t", "progress": 1, "total": 2, "message": "step 1"},
        {"progressToken": "t", "progress": 2, "total": 2, "message": "step 2"},
    ]
    wrong = line.say(5, "logging/setLevel", level="loud")
    assert isinstance(wrong, ErrorResponse) and wrong.code == -32602


def test_a_cancelled_call_is_not_answered_and_the_server_goes_on() -> None:
    started, stop = threading.Event(), threading.Event()
    seen: list[bool] = []

    @tool
    def wait() -> str:
        """Wait for a sign."""
        started.set()
        stop.wait(10)
        seen.append(current_call().cancelled)
        current_call().progress(1)
        return "late"

    line = Line(Server("s", registry=Registry([wait])))
    line.raw(
        '{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"wait","arguments":{},"_meta":{"progressToken":1}}}'
    )
    assert started.wait(10) and isinstance(line.say(6, "ping"), Response)  # a ping is answered meanwhile
    line.raw(
        '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"5"}}'
    )  # not this one: another type
    line.raw('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}')
    stop.set()
    line.session.peer.finish(10)
    assert seen == [True] and [getattr(item, "id", None) for item in line.came] == [1, 6]


def test_the_same_id_twice_at_once_and_too_many_at_once_are_refused() -> None:
    stop = threading.Event()

    @tool
    def wait() -> str:
        """Wait."""
        stop.wait(10)
        return "x"

    line = Line(Server("s", registry=Registry([wait])))
    call = '{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"wait","arguments":{}}}'
    for id in [*range(10, 110), 10, 200]:
        line.raw(call % id)
    refused = [item.id for item in line.came if isinstance(item, ErrorResponse)]
    stop.set()
    line.session.peer.finish(10)
    assert refused == [10, 200] and sum(isinstance(item, Response) for item in line.came) == 101


def test_current_call_outside_a_server_says_so() -> None:
    with pytest.raises(DefinitionError, match="inside a tool"):
        current_call()
    with pytest.raises(DefinitionError, match="needs a name"):
        Server("")
    with pytest.raises(DefinitionError, match="without a registry"):
        Server("s").add(add)


# --- resources and prompts ----------------------------------------------------------------------------------------------


def test_resources_in_pages_texts_and_bytes() -> None:
    with Client(offers()) as client:
        assert [item["uri"] for item in client.list_resources()] == ["lib://hours", "lib://logo"]
        assert client.list_resources()[0]["description"] == "When it is open."
        assert [item["uriTemplate"] for item in client.list_resource_templates()] == [
            "lib://book/{title}",
            "lib://shelf/{+path}",
        ]
        assert client.read_resource("lib://hours") == (
            {"uri": "lib://hours", "mimeType": "text/plain", "text": "9 to 5"},
        )
        assert client.read_resource("lib://logo")[0]["blob"] == "AAE="
        assert client.read_resource("lib://book/A%20B")[0]["text"] == "The text of A B"
        for uri in ("lib://nothing", "lib://book/a/b", "lib://shelf/x/y"):
            with pytest.raises(McpError) as caught:
                client.read_resource(uri)
            assert caught.value.code == -32002 and caught.value.data == {"uri": uri}


def test_prompts_and_their_arguments() -> None:
    with Client(offers()) as client:
        listed = client.list_prompts()
        assert [(item["name"], len(item["arguments"])) for item in listed] == [("greet", 2), ("talk", 0)]
        assert [item["required"] for item in listed[0]["arguments"]] == [True, False]
        assert client.get_prompt("greet", {"name": "Mina"}) == (
            {"role": "user", "content": {"type": "text", "text": "Greet Mina, kind."}},
        )
        assert client.get_prompt("talk")[0]["role"] == "assistant"
        for name, given in (("greet", {}), ("greet", {"name": "a", "x": "b"}), ("greet", {"name": 1}), ("nope", {})):
            with pytest.raises(McpError) as caught:
                client.get_prompt(name, given)  # type: ignore[arg-type]
            assert caught.value.code == -32602


def test_a_server_offers_only_what_it_has() -> None:
    line = Line(Server("bare"))
    assert line.came[0].result["capabilities"] == {"logging": {}}
    for method in ("tools/list", "resources/list", "prompts/list"):
        assert line.say(method, method).code == -32601


# --- the two servers ----------------------------------------------------------------------------------------------------


def test_sf_01_and_sf_02_the_jail_reads_inside_and_nowhere_else(tmp_path: Path) -> None:
    folder, beside = tmp_path / "share", tmp_path / "share-secret"
    (folder / "notes").mkdir(parents=True)
    beside.mkdir()
    (folder / "notes" / "plan.md").write_text("Buy milk.\nCall Mina.", encoding="utf-8")
    (beside / "loot.md").write_text("loot", encoding="utf-8")
    with Client(jail_server(folder)) as client:
        assert client.call_tool("list_files").data == {"files": ["notes/plan.md"]}
        assert client.call_tool("read_file", {"path": "notes/plan.md"}).text.startswith("Buy milk.")
        found = client.call_tool("search_files", {"words": "MINA"}).data
        assert found == {"matches": [{"path": "notes/plan.md", "line": 2, "text": "Call Mina."}], "count": 1}
        for path in ("../share-secret/loot.md", "../../etc/passwd", "/etc/passwd", "notes/../../share-secret/loot.md"):
            refused = client.call_tool("read_file", {"path": path})
            assert refused.is_error and "loot" not in refused.text.replace(path, "").replace("loot.md", "")
        assert client.read_resource("jail:///notes/plan.md")[0]["text"].startswith("Buy milk.")
        with pytest.raises(McpError):
            client.read_resource("jail:///../share-secret/loot.md")
        with pytest.raises(McpError):
            client.read_resource("jail:///%2e%2e/share-secret/loot.md")
        assert "notes/plan.md" in client.get_prompt("summarise_file", {"path": "notes/plan.md"})[0]["content"]["text"]


def test_the_jail_writes_only_where_that_is_allowed(tmp_path: Path) -> None:
    with Client(jail_server(tmp_path)) as client:
        refused = client.call_tool("write_file", {"path": "a.md", "text": "x"})
        assert refused.is_error and refused.data is not None and refused.data["error"]["code"] == "not_permitted"
        assert list(tmp_path.iterdir()) == []
        # It is not listed, since it can never run; the door answers all the same, for a list is no defence.
        assert [item.name for item in client.list_tools()] == ["list_files", "read_file", "search_files"]
    with Client(jail_server(tmp_path, write=True)) as client:
        assert "write_file" in {item.name for item in client.list_tools()}
        assert client.call_tool("write_file", {"path": "a/b.md", "text": "한글"}).data == {
            "path": "a/b.md",
            "characters": 2,
        }
        assert client.call_tool("write_file", {"path": "../b.md", "text": "x"}).is_error
    assert (tmp_path / "a" / "b.md").read_text(encoding="utf-8") == "한글" and not (tmp_path.parent / "b.md").exists()


def test_the_orders_desk_and_its_refund_needs_a_person() -> None:
    asked: list[str] = []

    def person(message: str, schema: Any) -> dict[str, Any] | None:
        asked.append(message)
        assert schema["properties"]["approve"]["type"] == "boolean"
        return [None, {"approve": False}, {"approve": True}][len(asked) - 1]

    refund = {"order_id": "A100", "amount": 1000}
    with Client(orders_server()) as client:
        assert client.call_tool("lookup_order", {"order_id": "A100"}).data["amount"] == 250000  # type: ignore[index]
        assert client.call_tool("refund_order", refund).is_error
        assert "30" in client.read_resource("orders://refund-policy")[0]["text"]
        assert "A100" in client.get_prompt("can_it_be_refunded", {"order_id": "A100"})[0]["content"]["text"]
    with Client(orders_server(), elicitation=person) as client:
        assert client.call_tool("refund_order", refund).is_error
        assert client.call_tool("refund_order", refund).is_error
        assert client.call_tool("refund_order", refund).data["refunded_amount"] == 1000  # type: ignore[index]
    assert len(asked) == 3 and "1000" in asked[0] and "A100" in asked[0]
