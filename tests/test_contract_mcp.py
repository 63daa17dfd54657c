"""The contract of an MCP server: the package's keep it, a small one by hand too, and each point fails alone on some server."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from strategies import python

from agentkit import Registry, tool
from agentkit.checks import ContractReport, mcp_server_contract
from agentkit.mcp import Server
from agentkit.mcp.jail_server import jail_server
from agentkit.mcp.orders_server import orders_server

# --- a server by hand ----------------------------------------------------------------------------------------------------

SHELF = {"name": "shelf", "description": "What lies on a shelf.", "inputSchema": {"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]}}  # fmt: skip
ERROR = -32603


def shelf(number: int) -> str:
    return f"Shelf {number} is empty."


def refuse(id: Any, code: int, message: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}


def respond(message: dict[str, Any]) -> dict[str, Any] | None:
    method, params, id = message["method"], message.get("params", {}), message.get("id")
    if "id" not in message:
        return None
    if method == "initialize":
        revision = params["protocolVersion"] if params["protocolVersion"] == "2025-06-18" else "2025-11-25"
        result = {
            "protocolVersion": revision,
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "hand", "version": "1"},
        }
    elif method == "ping":
        result = {}
    elif method == "tools/list":
        result = {"tools": [SHELF]}
    elif method == "tools/call" and params["name"] != "shelf":
        return refuse(id, -32602, "There is no such tool.")
    elif method == "tools/call":
        try:
            text, failed = shelf(**params["arguments"]), False
        except Exception as error:
            text, failed = f"The call failed: {type(error).__name__}.", True
        result = {"content": [{"type": "text", "text": text}], "isError": failed}
    else:
        return refuse(id, -32601, "There is no such method.")
    return {"jsonrpc": "2.0", "id": id, "result": result}


def by_hand(line: str) -> str | None:
    try:
        reply = respond(json.loads(line))
    except ValueError:
        reply = refuse(None, -32700, "This is not JSON.")
    return None if reply is None else json.dumps(reply)


SERVER_POINTS = [
    "initialize", "unknown revision", "one line", "form", "ping", "id", "notification", "bad JSON", "unknown method", "tool list",
    "tool call", "unknown tool", "failing tool",
]  # fmt: skip
Change = Callable[[Any, Any], Any]
"""From a request (a text when it is not JSON) and the right reply to the wrong one."""


def on(method: str, change: Change) -> Change:
    """The change for one method only."""
    return lambda asked, reply: change(asked, reply) if isinstance(asked, dict) and asked["method"] == method else reply


def on_calls_of(name: str, change: Change) -> Change:
    return on("tools/call", lambda asked, reply: change(asked, reply) if asked["params"]["name"] == name else reply)


def result(**change: Any) -> Change:
    """Another result, or a part of it; a part that is None is taken away."""

    def changed(asked: Any, reply: Any) -> Any:
        parts = {**reply["result"], **change}
        return {**reply, "result": {key: part for key, part in parts.items() if part is not None}}

    return changed


def error(code: int = ERROR, message: str = "No.") -> Change:
    return lambda asked, reply: refuse(asked["id"], code, message)


def raising(asked: Any, reply: Any) -> Any:
    raise KeyError("params")


def without_arguments(change: Change) -> Change:
    return on_calls_of("shelf", lambda asked, reply: reply if asked["params"]["arguments"] else change(asked, reply))


def not_json(change: Change) -> Change:
    return lambda asked, reply: change(asked, reply) if isinstance(asked, str) else reply


def told(text: str, failed: bool = True) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}], "isError": failed}


def for_an_id(change: Callable[[Any], Any]) -> Change:
    return lambda asked, reply: reply and {**reply, "id": change(reply["id"])}


def without(*names: str) -> Change:
    return lambda asked, reply: reply and {key: part for key, part in reply.items() if key not in names}


def listed(**change: Any) -> Change:
    return on(
        "tools/list", result(tools=[{key: part for key, part in {**SHELF, **change}.items() if part is not None}])
    )


BROKEN_SERVERS: list[tuple[str, str, Change]] = [
    ("initialize", "`serverInfo` is None", on("initialize", result(serverInfo=None))),
    ("initialize", "It must be an object with the texts", on("initialize", result(serverInfo={"name": "hand"}))),
    ("initialize", 'says so: {"tools": {}}', on("initialize", result(capabilities={}))),
    ("unknown revision", "and the server agreed", on("initialize", lambda asked, reply: result(protocolVersion=asked["params"]["protocolVersion"])(asked, reply))),
    ("unknown revision", "must be answered with a `result`", on("initialize", lambda asked, reply: error(-32602)(asked, reply) if "2099" in str(asked) else reply)),
    ("form", 'the "jsonrpc" None', lambda asked, reply: reply if isinstance(asked, dict) and asked["method"] == "initialize" else without("jsonrpc")(asked, reply)),
    ("form", "and one only", on("tools/list", lambda asked, reply: {**reply, "error": None})),
    ("ping", "Its result is an empty object", on("ping", result(answer="pong"))),
    ("id", "The request 7 was answered with the id '7'", for_an_id(lambda id: str(id) if id is not None else None)),
    ("id", "The request '7' was answered with the id 7", for_an_id(lambda id: int(id) if str(id).isdigit() else id)),
    ("id", "The request 0 was answered with the id None", for_an_id(lambda id: id or None)),
    ("notification", "return None", lambda asked, reply: reply or refuse(None, -32601, "There is no such method.")),
    ("bad JSON", "came back with the error code -32600", not_json(lambda asked, reply: refuse(None, -32600, "What?"))),
    ("bad JSON", "The error has no `id`", not_json(without("id"))),
    ("bad JSON", "has the id 5", not_json(lambda asked, reply: {**reply, "id": 5})),
    ("bad JSON", "Your code raised KeyError", not_json(raising)),
    ("bad JSON", "got no answer", not_json(lambda asked, reply: None)),
    ("unknown method", "The code for it is -32601", on("no/such/method", error())),
    ("tool list", "the `description` None", listed(description=None)),
    ("tool list", 'with "type": "object"', listed(inputSchema={**SHELF["inputSchema"], "type": None})),  # type: ignore[dict-item]
    ("tool list", "needs a name of its own", on("tools/list", result(tools=[SHELF, SHELF]))),
    ("tool call", "must be a list of blocks", on_calls_of("shelf", lambda asked, reply: result(content="empty")(asked, reply) if asked["params"]["arguments"] else reply)),
    ("tool call", "`text` of a block must be a text", on_calls_of("shelf", lambda asked, reply: result(content=[{"type": "text", "text": 5}])(asked, reply) if asked["params"]["arguments"] else reply)),
    ("tool call", "It is true or false", on_calls_of("shelf", lambda asked, reply: result(isError="no")(asked, reply) if asked["params"]["arguments"] else reply)),
    ("unknown tool", "an `error` of code -32602", on_calls_of("no_such_tool", lambda asked, reply: {"jsonrpc": "2.0", "id": asked["id"], "result": told("?")})),
    ("unknown tool", "The code for it is -32602", on_calls_of("no_such_tool", error(-32601))),
    ("failing tool", "which the model does not get to read", without_arguments(error())),
    ("failing tool", "as if all were well", without_arguments(result(isError=False))),
    ("failing tool", "failed without a word", without_arguments(result(content=[]))),
    ("failing tool", "a stack trace", without_arguments(result(**told("Traceback (most recent call last): ...")))),
    ("failing tool", "Your code raised KeyError", without_arguments(raising)),
]  # fmt: skip


def broken_server(change: Change) -> Callable[[str], str | None]:
    def answer(line: str) -> str | None:
        reply = by_hand(line)
        try:
            asked: Any = json.loads(line)
        except ValueError:
            asked = line
        changed = change(asked, None if reply is None else json.loads(reply))
        return None if changed is None else json.dumps(changed)

    return answer


def fails_only(report: ContractReport, point: str, words: str) -> None:
    assert report.failed == (point,), report
    sentence = report.first_failure
    assert words in sentence and "Traceback" not in sentence and " at 0x" not in sentence, sentence
    assert sentence.count(". ") <= 3, sentence


# --- servers -------------------------------------------------------------------------------------------------------------


def test_the_packages_servers_keep_the_contract(tmp_path: Path) -> None:
    for make in (lambda: jail_server(tmp_path), lambda: jail_server(tmp_path, write=True), orders_server):
        report = mcp_server_contract(make)
        assert report.passed and [point.name for point in report.points] == SERVER_POINTS, report
    assert list(tmp_path.iterdir()) == []


def test_a_server_by_hand_keeps_it_too() -> None:
    report = mcp_server_contract(lambda: by_hand)
    assert report.passed and report.contract == "MCP server", report


@pytest.mark.parametrize(("point", "words", "change"), BROKEN_SERVERS, ids=[f"{b[0]}: {b[1]}" for b in BROKEN_SERVERS])
def test_a_broken_server_fails_its_point(point: str, words: str, change: Change) -> None:
    fails_only(mcp_server_contract(lambda: broken_server(change)), point, words)


def test_an_indented_answer_is_not_one_line() -> None:
    def indented(line: str) -> str | None:
        reply = by_hand(line)
        return None if reply is None else json.dumps(json.loads(reply), indent=1)

    fails_only(mcp_server_contract(lambda: indented), "one line", "goes over several lines")


def test_every_point_of_the_server_was_seen_to_fail() -> None:
    assert {point for point, _, _ in BROKEN_SERVERS} | {"one line"} == set(SERVER_POINTS)


def test_each_promise_gets_a_server_of_its_own() -> None:
    made: list[int] = []
    mcp_server_contract(lambda: made.append(1) or by_hand)  # type: ignore[func-returns-value]
    assert len(made) == len(SERVER_POINTS)


def test_a_tool_that_only_reads_is_called_before_others() -> None:
    ran: list[str] = []

    @tool(permission="write")
    def erase() -> str:
        """Erase the shelf."""
        ran.append("erase")
        return "done"

    @tool
    def count(what: str) -> str:
        """Count things."""
        ran.append(what)
        return "none"

    assert mcp_server_contract(lambda: Server("s", registry=Registry([erase, count]))).passed
    assert ran == ["2026-10-13"]  # the text that is made up for a parameter of which nothing is known


def test_a_server_whose_tools_take_nothing_needs_a_call_that_fails() -> None:
    @tool
    def look() -> str:
        """Look around."""
        return "Nothing is there."

    def make() -> Server:
        return Server("s", registry=Registry([look]))

    fails_only(
        mcp_server_contract(make), "failing tool", "Give one tool a required parameter: the contract calls it without"
    )
    assert mcp_server_contract(make, failing=("look", {"where": "left"})).passed
    fails_only(mcp_server_contract(make, failing=("look", {})), "failing tool", "as if all were well")


def test_a_list_in_pages_is_read_to_its_end() -> None:
    @tool
    def late(number: int) -> str:
        """The only tool that can be made to fail, on the second page."""
        return str(number)

    @tool
    def look() -> str:
        """Look around."""
        return "Nothing is there."

    assert mcp_server_contract(lambda: Server("s", registry=Registry([look, late]), page_size=1)).passed
    endless = on("tools/list", result(nextCursor="again"))
    report = mcp_server_contract(lambda: broken_server(endless))
    assert (
        report.failed == ("tool list", "tool call", "failing tool") and "The last page has none" in report.first_failure
    )


@pytest.mark.parametrize(
    "make", [None, lambda: None, lambda: 1 / 0, lambda: str.upper, lambda: lambda: "", lambda: lambda line: 5]
)
def test_what_is_no_server_is_a_report_and_not_an_exception(make: Any) -> None:
    report = mcp_server_contract(make)
    assert len(report.failed) > 10
    assert all(point.message for point in report.points) and " at 0x" not in repr(report)


def test_a_server_that_never_ends_is_given_up() -> None:
    def endless(line: str) -> str | None:
        while "tools/call" in line:
            pass
        return by_hand(line)

    report = mcp_server_contract(lambda: endless)
    assert report.failed == ("tool call", "unknown tool", "failing tool") and "endless loop" in report.first_failure


def test_the_contracts_cost_nothing_until_they_are_used() -> None:
    code = (
        "import sys, agentkit.checks; print([name for name in sys.modules if name.startswith(('agentkit.mcp', 'mcp'))])"
    )
    assert python(code).strip() == "[]"
