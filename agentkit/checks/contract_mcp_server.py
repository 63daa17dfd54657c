"""The contract of an MCP server: what comes back for each line that a client sends. For a server by hand, and the package's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from agentkit.checks.contract_mcp_line import Line, expect_error, hello, open_line, request, result_of
from agentkit.checks.contract_mcp_tools import Call, call_well, fail_well, list_well, not_there
from agentkit.checks.contract_report import ContractReport, Promise, try_promises
from agentkit.checks.exercise import expect
from agentkit.checks.faces import shown

MakeServer: TypeAlias = Callable[[], Any]

_FUTURE: Final = "2099-12-31"
_ORDINARY: Final = ("ping", "tools/list", "no/such/method")


def mcp_server_contract(make: MakeServer, *, failing: Call | None = None) -> ContractReport:
    """Try an MCP server: ``mcp_server_contract(lambda: answer)``, ``mcp_server_contract(lambda: jail_server(folder))``.

    A tool is really called, with arguments made up from its schema: give a server whose tools may be tried.

    Args:
        make: returns the server, for each promise a fresh one. It is an `agentkit.mcp.Server`, or a function that takes one
            line of JSON text and returns its answer as one line, or None when the line is not answered.
        failing: a tool and the arguments with which it fails. By default a tool is called without its required arguments.
    """

    def opened() -> Line:
        return open_line(make())

    def in_use() -> Line:
        line = opened()
        line.shake_hands()  # not judged: the handshake is a promise of its own
        return line

    return try_promises("MCP server", _PROMISES, _Subject(opened, in_use, failing))


@dataclass(frozen=True, slots=True)
class _Subject:
    """``opened()`` gives a line to a fresh server, ``in_use()`` one after the handshake."""

    opened: Callable[[], Line]
    in_use: Callable[[], Line]
    failing: Call | None


# --- the handshake -------------------------------------------------------------------------------------------------------


def _handshake(subject: _Subject) -> None:
    result = result_of(subject.opened().ask("initialize", hello()), "`initialize`")
    _known(result)
    info, able = result.get("serverInfo"), result.get("capabilities")
    named = isinstance(info, dict) and all(isinstance(info.get(key), str) and info[key] for key in ("name", "version"))
    expect(named, f"`serverInfo` is {shown(info)}. It must be an object with the texts `name` and `version`.")
    has_tools = isinstance(able, dict) and isinstance(able.get("tools"), dict)
    expect(has_tools, f'`capabilities` is {shown(able)}. A server with tools says so: {{"tools": {{}}}}.')


def _unknown_revision(subject: _Subject) -> None:
    answer = subject.opened().ask("initialize", hello(_FUTURE))
    result = result_of(answer, f"`initialize` with the unknown revision {_FUTURE}")
    told = f"A client asked for the unknown revision {_FUTURE}, and the server agreed."
    expect(result.get("protocolVersion") != _FUTURE, f"{told} Answer with one of your own.")
    _known(result)


def _known(result: Mapping[str, Any]) -> None:
    from agentkit.mcp.revisions import SUPPORTED

    found = result.get("protocolVersion")
    expect(found in SUPPORTED, f"`protocolVersion` is {shown(found)}. It must be one of {', '.join(SUPPORTED)}.")


# --- messages ------------------------------------------------------------------------------------------------------------


def _one_line(subject: _Subject) -> None:
    line = subject.in_use()
    for method in _ORDINARY:
        raw = line.ask_raw(request(method))[1].strip("\r\n")
        whole = "\n" not in raw and "\r" not in raw
        expect(whole, f"The answer to `{method}` goes over several lines. A message is one line: no indentation.")


def _form(subject: _Subject) -> None:
    line = subject.in_use()
    for method in _ORDINARY:
        answer = line.ask(method)
        version = answer.get("jsonrpc")
        told = f'The answer to `{method}` has the "jsonrpc" {shown(version)}.'
        expect(version == "2.0", f'{told} Each message says "jsonrpc": "2.0".')
        one = ("result" in answer) != ("error" in answer)
        expect(one, f"The answer to `{method}` must have a `result` or an `error`, and one only: {shown(answer)}.")


def _ping(subject: _Subject) -> None:
    result = result_of(subject.in_use().ask("ping"), "`ping`")
    expect(not result, f"`ping` came back with {shown(result)}. Its result is an empty object.")


def _ids(subject: _Subject) -> None:
    line = subject.in_use()
    for method in ("ping", "no/such/method"):
        for id in (7, "7", 0, "a-1"):
            found = line.ask(method, id=id).get("id")
            told = f"The request {id!r} was answered with the id {shown(found)}."
            same = type(found) is type(id) and found == id
            expect(same, f"{told} The id must come back as it was sent, with its type.")


def _notifications(subject: _Subject) -> None:
    line = subject.in_use()
    cancelled = {"requestId": 99, "reason": "no longer needed"}
    for name, params in (("initialized", {}), ("cancelled", cancelled), ("never_heard_of", {})):
        came = line.tell(f"notifications/{name}", params)
        told = f"`notifications/{name}` was answered with {shown(came)}."
        expect(came is None, f"{told} It has no id, and nobody waits for an answer: return None.")


def _bad_json(subject: _Subject) -> None:
    line, what = subject.in_use(), "a line that is not JSON"
    answer = line.ask_raw('{"jsonrpc": "2.0", "id": 5, "method": ')[0]
    expect_error(answer, -32700, what)
    told = f"The error for {what} has the id {shown(answer.get('id'))}." if "id" in answer else "The error has no `id`."
    expect(answer.get("id", "") is None, f"{told} It must be null, since no id could be read.")
    result_of(line.ask("ping"), f"after {what}, `ping`")


def _unknown_method(subject: _Subject) -> None:
    expect_error(subject.in_use().ask("no/such/method"), -32601, "an unknown method")


_PROMISES: tuple[Promise[_Subject], ...] = (
    Promise("initialize", "it tells a known revision, its name, and that it has tools", _handshake),
    Promise("unknown revision", "asked for an unknown revision, it answers with one of its own", _unknown_revision),
    Promise("one line", "each answer is one line", _one_line),
    Promise("form", 'each answer says "jsonrpc": "2.0" and has either a result or an error', _form),
    Promise("ping", "it is answered with an empty result", _ping),
    Promise("id", "it comes back as it was sent, with its type", _ids),
    Promise("notification", "it is not answered", _notifications),
    Promise("bad JSON", "it is answered with the error -32700 and the id null, and the server goes on", _bad_json),
    Promise("unknown method", "it is answered with the error -32601", _unknown_method),
    Promise(
        "tool list", "each tool has a name, a description and a schema of type object", lambda s: list_well(s.in_use())
    ),
    Promise("tool call", "its result has content", lambda s: call_well(s.in_use())),
    Promise("unknown tool", "a call of it is answered with the error -32602", lambda s: not_there(s.in_use())),
    Promise("failing tool", "its failure is a result with isError true", lambda s: fail_well(s.in_use(), s.failing)),
)
