"""The checks of notebook 13: what each answer is tried with."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from typing import Any

from agentkit.checks.contract_mcp_server import mcp_server_contract
from agentkit.checks.contract_report import ContractReport
from agentkit.checks.exercise import CheckFailed, expect
from agentkit.checks.faces import shown

KNOWN = ("list_files", "read_file", "write_file", "search_files", "shout", "opening_hours", "tidy", "count_stars")
"""Tools that notebook 13 has already."""


def _line(**message: Any) -> str:
    return json.dumps({"jsonrpc": "2.0", **message})


def check_kind(kind_of: Any) -> None:
    """13.1: the kind hangs on which keys are there, not on their values."""
    _fits(kind_of, "kind_of(message)")
    error = {"code": -32601, "message": "No such method."}
    for message, right, why in (
        ({"id": 1, "method": "ping"}, "request", "it has a method and an id"),
        ({"method": "notifications/initialized"}, "notification", "it has a method and no id"),
        ({"id": 1, "result": {"tools": []}}, "result", "it has a result"),
        ({"id": 1, "error": error}, "error", "it has an error"),
        ({"id": 0, "method": "ping"}, "request", "0 is an id like any other; ask whether the key is there"),
        ({"id": 2, "result": {}}, "result", "an empty result is a result; ask whether the key is there"),
        ({"id": None, "error": error}, "error", "the other side could read no id"),
    ):
        found = kind_of({"jsonrpc": "2.0"} | message)
        expect(found == right, f"{shown(message)} must give {shown(right)} ({why}), not {shown(found)}")


def check_outcome(outcome: Any) -> None:
    """13.2: three outcomes, and texts in one or several blocks."""
    _fits(outcome, "outcome(message)")
    hello, more, image = (
        {"type": "text", "text": "hello"},
        {"type": "text", "text": "more"},
        {"type": "image", "data": ""},
    )
    for body, right, why in (
        ({"result": {"content": [hello], "isError": False}}, ("ok", "hello"), "the tool ran"),
        ({"result": {"content": [hello], "isError": True}}, ("failed", "hello"), "the tool says that it failed"),
        ({"error": {"code": -32602, "message": "No such tool."}}, ("refused", "No such tool."), "there is no result"),
        ({"result": {"content": [hello]}}, ("ok", "hello"), "`isError` may be missing, and then all is well"),
        ({"result": {"content": [hello, more]}}, ("ok", "hello\nmore"), "there are two blocks"),
        ({"result": {"content": [image, hello]}}, ("ok", "hello"), "an image has no text"),
        ({"result": {"content": [], "isError": True}}, ("failed", ""), "content may be empty"),
    ):
        message = {"jsonrpc": "2.0", "id": 1} | body
        try:
            found = outcome(message)
        except (KeyError, IndexError) as problem:
            told = f"{shown(body)} must give {shown(right)}: {why}."
            raise CheckFailed(f"{told} {_looked_for(problem)}") from None
        plain = tuple(found) if isinstance(found, list) else found
        expect(plain == right, f"{shown(body)} must give {shown(right)} ({why}), not {shown(found)}")


NO_MESSAGE = "42"
_ANSWER = _line(id=1, result={"n": 1})
_STREAMS: tuple[tuple[list[str], Any, str], ...] = (
    ([_ANSWER], 1, "it comes first"),
    (["Server is ready.", "", NO_MESSAGE, _ANSWER], 1, "some lines before it are no messages"),
    ([_line(method="notifications/tools/list_changed"), _ANSWER], 1, "a notification comes before it"),
    ([_line(id=1, method="roots/list"), _ANSWER], 1, "the server's own request has the same id by chance"),
    ([_line(id=7, result={"n": 7}), _ANSWER], 1, "a late answer to another request comes before it"),
    ([_line(id="1", result={"n": "text"}), _ANSWER], 1, "the text '1' is not the number 1"),
    ([_ANSWER.replace('"id": 1', '"id": "a"')], "a", "an id may be a text"),
    (
        [_line(id=None, error={"code": -32700, "message": "no"}), _ANSWER],
        1,
        "an error without an id is no answer to it",
    ),
)


def check_answer_to(answer_to: Any) -> None:
    """13.3: noise, notifications, requests, foreign answers, types, and the end of the stream."""
    _fits(answer_to, "answer_to(lines, id)")
    for lines, id, why in _STREAMS:
        try:
            found = answer_to(_stream(lines, why), id)
        except ConnectionError:
            raise CheckFailed(f"the answer is there ({why}), but you say that the server is gone") from None
        except ValueError:
            raise CheckFailed("a line that is no JSON must be skipped, not end the client") from None
        except (AttributeError, TypeError):
            if NO_MESSAGE in lines:
                raise CheckFailed(f"The line `{NO_MESSAGE}` is JSON, but no message: skip it.") from None
            raise
        _whole(found, json.loads(lines[-1]), f"wrong when {why}: you return {shown(found)}")
    error = _line(id=1, error={"code": -32601, "message": "no"})
    found = answer_to(iter([error]), 1)
    _whole(found, json.loads(error), f"an error is an answer as well, and you return {shown(found)}")
    for lines in ([], [_line(id=2, result={})]):
        try:
            found = answer_to(iter(lines), 1)
        except ConnectionError:
            continue
        raise CheckFailed(f"when the lines end without the answer, raise a ConnectionError; you return {shown(found)}")


def _stream(lines: list[str], why: str) -> Iterator[str]:
    """The lines as they come from a server, which is silent afterwards."""
    yield from lines
    raise CheckFailed(
        f"Your code asked for one more line after the answer (case: {why}). Return as soon as you have it."
    )


def _whole(found: Any, right: dict[str, Any], otherwise: str) -> None:
    """The message itself, not what stands in it."""
    inside = [right.get(key) for key in ("result", "error") if key in right]
    if found in inside:
        raise CheckFailed(f"Return the whole message, {shown(right)}, not {shown(found)}.")
    expect(found == right, otherwise)


def _looked_for(problem: LookupError) -> str:
    if not isinstance(problem, KeyError):
        return "Your code asked for a block that is not there."
    key = problem.args[0] if problem.args else ""
    where = "a block" if key in ("type", "text") else "the message"
    return f"Your code asked {where} for the key {shown(key)}, and it does not have it."


def _fits(answer: Any, call: str) -> None:
    """The answer can be called as the task says. What cannot be looked into is tried as it is."""
    told = f"`check` needs the function itself, with the parameters of the task: `{call}`."
    expect(callable(answer), told)
    try:
        signature = inspect.signature(answer)
    except (TypeError, ValueError):
        return
    inside = call.partition("(")[2].removesuffix(")")
    try:
        signature.bind(*(inside.split(", ") if inside else ()))
    except TypeError:
        raise CheckFailed(told) from None


def check_hasty(hasty: Any) -> ContractReport:
    """13.4: the whole contract, and the tool still does its work."""
    _fits(hasty, "hasty(line)")
    call = {"name": "shout", "arguments": {"text": "hello"}}
    if isinstance(said := _ask(hasty, "tools/call", call), dict):
        expect("HELLO" in json.dumps(said), "the tool `shout` must still make a text loud")
    return mcp_server_contract(lambda: hasty)


def check_make_server(make_server: Any) -> ContractReport:
    """13.5: a server of one's own: the contract, and a tool that the notebook does not have."""
    _fits(make_server, "make_server()")
    server = make_server()
    expect(server is not None, "`make_server` returned None; did you forget `return`?")
    report = mcp_server_contract(make_server)
    if report.passed:
        names = _tool_names(server)
        own = [name for name in names if name not in KNOWN]
        expect(own, f"the contract holds; now give it a tool of your own. Its tools are: {', '.join(names)}")
    return report


def _tool_names(server: Any) -> list[str]:
    from agentkit.mcp import Client, Server

    if isinstance(server, Server):
        with Client(server) as client:
            return [found.name for found in client.list_tools()]
    found = _ask(server, "tools/list", {})
    return [str(each.get("name")) for each in found["tools"]] if isinstance(found, dict) else []


def _ask(server: Any, method: str, params: dict[str, Any]) -> Any:
    """The result of one request after the handshake; None when there is none."""
    me = {"name": "check", "version": "1.0"}
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": me}
    server(_line(id=1, method="initialize", params=hello))
    said = server(_line(id=2, method=method, params=params))
    body = json.loads(said) if isinstance(said, str) else {}
    return body.get("result") if isinstance(body, dict) else None
