"""The contract of an MCP client over standard input and output: what it does when its server is not as nice as it hoped."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from agentkit.checks import contract_mcp_programs as programs
from agentkit.checks.contract_mcp_bench import Bench, MakeClient, NoClient
from agentkit.checks.contract_report import ContractReport, Point, Promise
from agentkit.checks.exercise import CheckFailed, expect
from agentkit.checks.faces import shown
from agentkit.checks.words import explain_error

_MOST_PAGES: Final = 1_000
_GOING: Final = 2.0  # seconds for a process to be gone when `close` has returned
_AT_ANY_TIME: Final = ("ping", "server/discover")  # with the second, a client asks whether newer revisions are spoken


def mcp_client_contract(make: MakeClient) -> ContractReport:
    """Try an MCP client: ``mcp_client_contract(MyClient)``, ``mcp_client_contract(lambda command: connect(command))``.

    Every promise starts a small server program of its own and ends it. Nothing that a client does leaves one behind.

    Args:
        make: takes a command, a list of texts, starts it as a child process, does the handshake, and returns the client. The
            client has ``list_tools()``, which gives all tools (dicts with ``"name"``, or objects with ``.name``);
            ``call_tool(name, arguments)``, which gives the server's result (a dict with ``"content"`` and ``"isError"``, or an
            object with ``.content`` and ``.is_error``); and ``close()``.
    """
    points: list[Point] = []
    no_client = False
    for promise in _PROMISES:
        if no_client:
            points.append(Point(promise.name, False, "not tried, since `make(command)` gave no client"))
            continue
        problem = _tried(promise, make)
        points.append(Point(promise.name, problem is None, promise.text if problem is None else str(problem)))
        no_client = promise is _PROMISES[0] and isinstance(problem, NoClient)  # then there would be none each time
    return ContractReport("MCP client", tuple(points))


def _tried(promise: Promise[MakeClient], make: MakeClient) -> CheckFailed | None:
    """Why a promise does not hold. The probe itself is not guarded, since everything that the client does in it is."""
    try:
        promise.probe(make)
    except CheckFailed as problem:
        return problem
    except Exception as error:
        return CheckFailed(explain_error(error))
    return None


# --- the handshake -------------------------------------------------------------------------------------------------------


def _handshake(make: MakeClient) -> None:
    with Bench(make, programs.PLAIN) as bench:
        bench.attempt(bench.listing, "`list_tools()`")
        sent = bench.received()
    expect(sent, "The server received nothing. `make(command)` must do the handshake.")
    for item in sent:
        expect(isinstance(item, dict), f"The client sent {shown(item)}. Each line must be one message, a JSON object.")
        version = item.get("jsonrpc")
        expect(version == "2.0", f'The client sent {shown(item)}. Each message says "jsonrpc": "2.0".')
    ordered: list[Mapping[str, Any]] = [item for item in sent if item.get("method") not in _AT_ANY_TIME]
    _initialize(ordered[0] if ordered else {})
    told = "notifications/initialized"
    second: Mapping[str, Any] = ordered[1] if ordered[1:] else {}
    came = f"came `{second['method']}`" if "method" in second else "came nothing"
    expect(second.get("method") == told, f"After the answer to `initialize` {came}. First say `{told}`.")
    expect("id" not in second, f"`{told}` was sent with an id. It is a notification: it has none, and gets no answer.")
    ids = [repr(item["id"]) for item in sent if "id" in item]
    expect(len(set(ids)) == len(ids), f"Requests had the ids {', '.join(ids)}. Each needs one of its own.")


def _initialize(message: Mapping[str, Any]) -> None:
    right = message.get("method") == "initialize" and "id" in message
    expect(right, f"The first message was {shown(message)}. It must be the request `initialize`.")
    params = message.get("params")
    given = params if isinstance(params, dict) else {}
    for name, kind in (("protocolVersion", str), ("capabilities", dict), ("clientInfo", dict)):
        found, word = given.get(name), "a text" if kind is str else "an object"
        expect(isinstance(found, kind), f"`initialize` has the `{name}` {shown(found)}. It must be {word}.")


# --- lists ---------------------------------------------------------------------------------------------------------------


def _pages(make: MakeClient) -> None:
    hint = "Ask again with the very `nextCursor` as `cursor`, until an answer has none."
    with Bench(make, programs.PAGES, hint) as bench:
        names = bench.names()
    wanted, came = ["north", "east", "south"], ", ".join(names) or "nothing"
    told = f"The server has {', '.join(wanted)} on three pages, and `list_tools()` gave {came}."
    expect(names == wanted, f"{told} {hint}")


def _endless(make: MakeClient) -> None:
    hint = "Stop when a cursor comes twice, or after some number of pages."
    with Bench(make, programs.ENDLESS.replace("LIMIT", str(_MOST_PAGES)), hint) as bench:
        bench.attempt(bench.listing, "`list_tools()`")
        sent = bench.received()
    told = f"The server gave the same cursor each time, and `list_tools()` went on for more than {_MOST_PAGES} pages."
    expect("too many" not in sent, f"{told} {hint}")


# --- lines that are no answers -------------------------------------------------------------------------------------------


def _fine(make: MakeClient, source: str, hint: str) -> None:
    """The tool says "fine", whatever else came. Called twice, since what is late comes then."""
    with Bench(make, source, hint) as bench:
        for _ in range(2):
            failed, text = bench.call()
            expect(text == "fine" and not failed, f"The tool said 'fine'; `call_tool()` gave {shown(text)}. {hint}")


def _noise(make: MakeClient) -> None:
    _fine(make, programs.NOISE, "The server also prints lines that are no messages. Skip them, and read on.")


def _notifications(make: MakeClient) -> None:
    hint = "The server also sends notifications. They have a method and no id, and answer nothing: read on."
    _fine(make, programs.NOTIFICATIONS, hint)


def _foreign(make: MakeClient) -> None:
    hint = "Answers to other requests come, too. Take only the one that has the id of your request."
    _fine(make, programs.FOREIGN, hint)


# --- failures ------------------------------------------------------------------------------------------------------------


def _failed_tool(make: MakeClient) -> None:
    hint = "A tool that fails is an outcome: return it, for the model has to read it."
    with Bench(make, programs.FAILING, hint) as bench:
        failed, text = bench.call()
    expect(failed, f"The server's result had `isError` true, and what `call_tool()` gave does not say so. {hint}")
    kept = "The shelf is empty." in text
    expect(kept, f"The tool said 'The shelf is empty.'; `call_tool()` gave {shown(text)}. Keep its `content`.")


def _refused(make: MakeClient) -> None:
    hint = "Raise an exception with the message of the error."
    with Bench(make, programs.REFUSING, hint) as bench:
        outcome = bench.attempt(bench.calling, "`call_tool()`")
    raised = isinstance(outcome, Exception)
    expect(raised, f"The server answered with an `error`, and `call_tool()` gave {shown(outcome)}. {hint}")
    told = "There is no tool of this name." in str(outcome)
    kind = type(outcome).__name__
    expect(told, f"The server refused the call with a sentence, and `call_tool()` raised {kind} without it. {hint}")


def _dies(make: MakeClient) -> None:
    hint = "The server died in the call. When its output ends, raise an exception at once."
    with Bench(make, programs.DYING, hint) as bench:
        outcome = bench.attempt(bench.calling, "`call_tool()`")
    expect(isinstance(outcome, Exception), f"`call_tool()` gave {shown(outcome)}. {hint}")


# --- the end -------------------------------------------------------------------------------------------------------------


def _close(make: MakeClient) -> None:
    for source, hint in (
        (programs.PLAIN, "Close its standard input, which ends it, and wait for its end."),
        (programs.STUBBORN, "It does not end when its standard input is closed: wait a little, then terminate it."),
    ):
        with Bench(make, source, hint) as bench:
            bench.close()
            expect(bench.gone(_GOING), f"After `close()` the server was still running. {hint}")


_PROMISES: tuple[Promise[MakeClient], ...] = (
    Promise("handshake", "initialize comes first, then notifications/initialized, and then all else", _handshake),
    Promise("pages", "a list is read to its last page", _pages),
    Promise("endless list", "a cursor that never advances comes to an end", _endless),
    Promise("noise", "lines that are no messages do not disturb", _noise),
    Promise("notifications", "notifications that it does not know do not disturb", _notifications),
    Promise("foreign answers", "an answer to another request is not taken", _foreign),
    Promise("failed tool", "it is an outcome", _failed_tool),
    Promise("refused request", "it is an exception with the server's sentence", _refused),
    Promise("server dies", "its death in a call is noticed at once", _dies),
    Promise("close", "afterwards the server is gone, also one that does not end by itself", _close),
)
