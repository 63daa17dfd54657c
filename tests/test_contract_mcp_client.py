"""The contract of an MCP client: the package's keeps it, a small one by hand too, and each point fails alone on some client."""

from __future__ import annotations

import contextlib
import json
import subprocess
from collections.abc import Callable, Iterator
from typing import Any

import psutil
import pytest

from agentkit.checks import contract_mcp_bench, contract_mcp_client, contract_mcp_programs, mcp_client_contract
from agentkit.mcp import Client, StdioTransport
from agentkit.mcp import stdio as stdio_module

POINTS = [
    "handshake", "pages", "endless list", "noise", "notifications", "foreign answers", "failed tool", "refused request",
    "server dies", "close",
]  # fmt: skip


class HandClient:
    """A client as a notebook may write it. A subclass breaks one of its promises."""

    def __init__(self, command: list[str]) -> None:
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")
        self.last = 0
        self.shake_hands()

    def shake_hands(self) -> None:
        info = {"name": "hand", "version": "1"}
        self.request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info})
        self.write({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def write(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def read(self) -> Any:
        """The next line that is JSON."""
        assert self.process.stdout is not None
        while line := self.process.stdout.readline():
            with contextlib.suppress(ValueError):
                return json.loads(line)
        raise RuntimeError("The server has gone.")

    def is_answer(self, message: Any) -> bool:
        return isinstance(message, dict) and "method" not in message and message.get("id") == self.last

    def request(self, method: str, params: dict[str, Any]) -> Any:
        self.last += 1
        self.write({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params})
        while not self.is_answer(message := self.read()):
            pass
        if "error" in message:
            raise RuntimeError(message["error"]["message"])
        return message["result"]

    def list_tools(self) -> Any:
        tools: list[Any] = []
        cursors: list[str] = []
        while True:
            page = self.request("tools/list", {"cursor": cursors[-1]} if cursors else {})
            tools += page["tools"]
            if "nextCursor" not in page:
                return tools
            if page["nextCursor"] in cursors:
                raise RuntimeError("The list never ends.")
            cursors.append(page["nextCursor"])

    def call_tool(self, name: str, arguments: dict[str, Any]) -> Any:
        return self.request("tools/call", {"name": name, "arguments": arguments})

    def close(self) -> None:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.close()
        try:
            self.process.wait(0.2)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()


# --- broken ones ---------------------------------------------------------------------------------------------------------


class NoHello(HandClient):
    def shake_hands(self) -> None:
        pass


class NeverReady(HandClient):
    def shake_hands(self) -> None:
        info = {"name": "hand", "version": "1"}
        self.request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info})


class WaitsToBeTold(HandClient):
    def write(self, message: dict[str, Any]) -> None:
        if message["method"] == "notifications/initialized":
            message["id"] = "told"
        super().write(message)


class NoVersion(HandClient):
    def write(self, message: dict[str, Any]) -> None:
        if message["method"] == "initialize":
            del message["params"]["protocolVersion"]
        super().write(message)


class NoJsonrpc(HandClient):
    def write(self, message: dict[str, Any]) -> None:
        del message["jsonrpc"]
        super().write(message)


class SameId(HandClient):
    def shake_hands(self) -> None:
        super().shake_hands()
        self.last = 0


class FirstPage(HandClient):
    def list_tools(self) -> Any:
        return self.request("tools/list", {})["tools"]


class StopsAtAnEmptyPage(HandClient):
    def list_tools(self) -> Any:
        tools: list[Any] = []
        cursor: dict[str, Any] = {}
        for _ in range(10):
            page = self.request("tools/list", cursor)
            tools += page["tools"]
            if not page["tools"] or "nextCursor" not in page:
                break
            cursor = {"cursor": page["nextCursor"]}
        return tools


class OwnCursor(HandClient):
    def list_tools(self) -> Any:
        page = self.request("tools/list", {})
        return page["tools"] + (self.request("tools/list", {"cursor": "2"})["tools"] if "nextCursor" in page else [])


class ReadsForEver(HandClient):
    def list_tools(self) -> Any:
        tools: list[Any] = []
        page: dict[str, Any] = {"nextCursor": None}
        while "nextCursor" in page:
            page = self.request("tools/list", {"cursor": page["nextCursor"]} if page["nextCursor"] else {})
            tools += page["tools"]
        return tools


class AllIsJson(HandClient):
    def read(self) -> Any:
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())


class AllIsObjects(HandClient):
    def is_answer(self, message: Any) -> bool:
        return message.get("id") == self.last and "method" not in message


class KnowsAllNotifications(HandClient):
    def is_answer(self, message: Any) -> bool:
        if isinstance(message, dict) and message.get("method") == "notifications/never_heard_of":
            raise KeyError(message["method"])
        return super().is_answer(message)


class TakesTheNext(HandClient):
    def is_answer(self, message: Any) -> bool:
        return isinstance(message, dict) and "method" not in message and "jsonrpc" in message


class RaisesOnFailure(HandClient):
    def call_tool(self, name: str, arguments: dict[str, Any]) -> Any:
        found = super().call_tool(name, arguments)
        if found["isError"]:
            raise RuntimeError("The tool failed.")
        return found


class OnlyTheText(HandClient):
    def call_tool(self, name: str, arguments: dict[str, Any]) -> Any:
        found = super().call_tool(name, arguments)
        return {"content": found["content"]}


class NoWords(HandClient):
    def call_tool(self, name: str, arguments: dict[str, Any]) -> Any:
        found = super().call_tool(name, arguments)
        return {"content": [], "isError": True} if found["isError"] else found


class ErrorsAreResults(HandClient):
    def call_tool(self, name: str, arguments: dict[str, Any]) -> Any:
        try:
            return super().call_tool(name, arguments)
        except RuntimeError as problem:
            if "gone" in str(problem):
                raise
            return {"content": [], "isError": True}


class ErrorsWithoutWords(HandClient):
    def call_tool(self, name: str, arguments: dict[str, Any]) -> Any:
        try:
            return super().call_tool(name, arguments)
        except RuntimeError:
            raise KeyError("result") from None


class DeathIsSilence(HandClient):
    def read(self) -> Any:
        try:
            return super().read()
        except RuntimeError:
            return None  # and so it goes round for ever


class DeathIsNothing(HandClient):
    def call_tool(self, name: str, arguments: dict[str, Any]) -> Any:
        try:
            return super().call_tool(name, arguments)
        except RuntimeError as problem:
            if "gone" not in str(problem):
                raise


class LeavesItRunning(HandClient):
    def close(self) -> None:
        pass


class OnlyClosesTheInput(HandClient):
    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()


class ClosesWithAnError(HandClient):
    def close(self) -> None:
        super().close()
        raise OSError("It was closed already.")


BROKEN: list[tuple[str, str, type[HandClient]]] = [
    ("handshake", "It must be the request `initialize`", NoHello),
    ("handshake", "came `tools/list`. First say", NeverReady),
    ("handshake", "sent with an id", WaitsToBeTold),
    ("handshake", "the `protocolVersion` None. It must be a text", NoVersion),
    ("handshake", 'Each message says "jsonrpc"', NoJsonrpc),
    ("handshake", "Requests had the ids 1, 1", SameId),
    ("pages", "`list_tools()` gave north, east", FirstPage),
    ("pages", "`list_tools()` gave north, east", StopsAtAnEmptyPage),
    ("pages", "Ask again with the very `nextCursor`", OwnCursor),
    ("endless list", "more than 1000 pages. Stop when a cursor comes twice", ReadsForEver),
    ("noise", "Your code raised JSONDecodeError", AllIsJson),
    ("noise", "Your code raised AttributeError", AllIsObjects),
    ("notifications", "Your code raised KeyError", KnowsAllNotifications),
    ("foreign answers", "gave 'an answer that comes late'", TakesTheNext),
    ("failed tool", "return it, for the model has to read it", RaisesOnFailure),
    ("failed tool", "does not say so", OnlyTheText),
    ("failed tool", "gave ''. Keep its `content`", NoWords),
    ("refused request", "The server answered with an `error`", ErrorsAreResults),
    ("refused request", "raised KeyError without it", ErrorsWithoutWords),
    ("server dies", "went round without end", DeathIsSilence),
    ("server dies", "gave None", DeathIsNothing),
    ("close", "was still running. Close its standard input", LeavesItRunning),
    ("close", "was still running. It does not end", OnlyClosesTheInput),
    ("close", "`close()` failed. Your code raised OSError", ClosesWithAnError),
]  # fmt: skip


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    before = set(psutil.Process().children(recursive=True))
    yield
    left = set(psutil.Process().children(recursive=True)) - before
    assert psutil.wait_procs(left, timeout=10)[1] == []  # what a client by hand did not wait for is put away, too


def test_the_packages_client_keeps_the_contract(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stdio_module, "CLOSE_SECONDS", 0.2)
    report = mcp_client_contract(lambda command: Client(StdioTransport(command[0], command[1:])).connect())
    assert report.passed and [point.name for point in report.points] == POINTS, report


def test_the_client_of_the_sdk_keeps_it_too() -> None:
    """Somebody else's client: the promises are those of the protocol, and not those of our own habits."""
    mcp = pytest.importorskip("mcp")
    from agentkit.mcp import SdkClient

    def make(command: list[str]) -> SdkClient:
        return SdkClient(mcp.StdioServerParameters(command=command[0], args=command[1:])).connect()

    report = mcp_client_contract(make)
    assert report.passed, report


def test_a_client_by_hand_keeps_it_too() -> None:
    report = mcp_client_contract(HandClient)
    assert report.passed and report.contract == "MCP client", report


def only(point: str, make: Any) -> str:
    """What one promise says of a client; empty when it holds."""
    [promise] = [each for each in contract_mcp_client._PROMISES if each.name == point]
    return str(contract_mcp_client._tried(promise, make) or "")


FULL = {point: kind for point, _, kind in reversed(BROKEN)}  # the first of each point is tried on all of them


@pytest.mark.parametrize(("point", "kind"), FULL.items(), ids=FULL)
def test_a_broken_client_fails_its_point_alone(point: str, kind: type[HandClient]) -> None:
    report = mcp_client_contract(kind)
    assert report.failed == (point,), report


@pytest.mark.parametrize(("point", "words", "kind"), BROKEN, ids=[kind.__name__ for _, _, kind in BROKEN])
def test_the_sentence_says_what_came_and_what_is_wanted(point: str, words: str, kind: type[HandClient]) -> None:
    sentence = only(point, kind)
    assert words in sentence and "Traceback" not in sentence and " at 0x" not in sentence, sentence
    assert sentence.count(". ") <= 3, sentence


def test_every_point_of_the_client_was_seen_to_fail() -> None:
    assert {point for point, _, _ in BROKEN} == set(POINTS)


# --- clients that cannot be used -----------------------------------------------------------------------------------------


class NeverMade(HandClient):
    """It waits for a line that never comes."""

    def __init__(self, command: list[str]) -> None:
        super().__init__(command)
        self.read()


class CallNeverEnds(HandClient):
    def call_tool(self, name: str, arguments: dict[str, Any]) -> Any:
        return self.read()


class CloseNeverEnds(HandClient):
    def close(self) -> None:
        self.read()


def impatient(monkeypatch: pytest.MonkeyPatch, kind: type[HandClient]) -> Callable[[list[str]], HandClient]:
    """Makes such clients; once one is there, the contract waits for nothing any longer."""

    def make(command: list[str]) -> HandClient:
        made = kind(command)
        for name in ("SECONDS", "CLOSING"):
            monkeypatch.setattr(contract_mcp_bench, name, 0.3)
        return made

    return make


def test_a_client_that_is_never_ready_is_given_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contract_mcp_bench, "SECONDS", 1.0)
    report = mcp_client_contract(NeverMade)
    assert report.failed == tuple(POINTS)
    assert "`make(command)` was still waiting" in report.first_failure
    assert all(point.message.startswith("not tried") for point in report.points[1:])


def test_a_call_that_never_ends_is_given_up_and_its_server_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "`call_tool()` was still waiting" in only("failed tool", impatient(monkeypatch, CallNeverEnds))


def test_a_close_that_never_ends_is_given_up_and_the_server_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "`close()` was still waiting" in only("close", impatient(monkeypatch, CloseNeverEnds))
    monkeypatch.undo()
    assert only("failed tool", CloseNeverEnds) == ""  # how it puts its things away is another promise


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (None, "`make(command)` failed"),
        (lambda command: 1 / 0, "Your code raised ZeroDivisionError"),
        (lambda command: None, "did not start the program"),
        (lambda command: HandClient(["no-such-program-anywhere"]), "Your code raised FileNotFoundError"),
    ],
)  # fmt: skip
def test_what_is_no_client_is_told_once(make: Any, words: str) -> None:
    report = mcp_client_contract(make)
    assert report.failed == tuple(POINTS) and words in report.first_failure, report
    assert all(point.message.startswith("not tried") for point in report.points[1:])


def test_a_client_without_methods_is_told() -> None:
    class Bare:
        def __init__(self, command: list[str]) -> None:
            self.client = HandClient(command)

    for point, method in (
        ("pages", "list_tools"),
        ("failed tool", "call_tool"),
        ("server dies", "call_tool"),
        ("close", "close"),
    ):
        assert only(point, Bare) == f"the client has no method `{method}`"


@pytest.mark.parametrize("outcome", [None, "fine", 5, [], {}, object()])
def test_an_outcome_in_no_known_form_is_told(outcome: Any) -> None:
    class Strange(HandClient):
        def call_tool(self, name: str, arguments: dict[str, Any]) -> Any:
            return outcome

    sentence = only("failed tool", Strange)
    assert "with `isError` and `content`, not" in sentence and " at 0x" not in sentence


def test_the_server_programs_can_be_compiled_and_need_nothing_but_python() -> None:
    for name, source in vars(contract_mcp_programs).items():
        if name.isupper() and not name.startswith("_"):
            imported = [line for line in source.splitlines() if "import" in line]
            assert imported == ["import json, os, socket, sys, threading"], name
            compile(source.replace("LIMIT", "3"), name, "exec")
