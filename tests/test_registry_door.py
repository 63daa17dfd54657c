"""The stages behind the door: permission, approval, idempotency and deadlines."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from strategies import TOOLS, bounded, call

from agentkit import Registry, Tool, ToolCall, ToolError, ToolResult, tool


def code(result: ToolResult) -> str:
    return result.error.code if result.error else "ok"


def calling(registry: Registry, made: ToolCall, kind: str, **options: Any) -> ToolResult:
    if kind == "call":
        return bounded(lambda: registry.call(made, **options))
    return bounded(lambda: asyncio.run(registry.acall(made, **options)))


both = pytest.mark.parametrize("kind", ["call", "acall"])


@both
class TestStages:
    def test_permission_comes_after_the_schema(self, kind: str) -> None:
        registry = Registry(TOOLS, permissions=["read"])
        assert code(calling(registry, call("save", name="n"), kind)) == "not_permitted"
        assert code(calling(registry, call("save", nome="n"), kind)) == "bad_arguments"
        assert code(calling(registry, call("wipe", what="x"), kind, approved=True)) == "not_permitted"
        assert code(calling(registry, call("look", key="a"), kind)) == "ok"

    def test_approval(self, kind: str) -> None:
        registry = Registry(TOOLS)
        assert code(calling(registry, call("wipe", what="x"), kind)) == "needs_approval"
        assert code(calling(registry, call("wipe", what="x"), kind, approved=True)) == "ok"
        assert code(calling(registry, call("wipe"), kind)) == "bad_arguments"

    @pytest.mark.parametrize(
        ("made", "wanted"),
        [
            (ToolCall("nope"), "unknown_tool"), (ToolCall("look", '{"key": '), "bad_json"),
            (ToolCall("look", {"key": "a"}, truncated=True), "truncated"), (ToolCall("look", {"key": 1}), "bad_arguments"),
            (ToolCall("broken"), "tool_failed"), (ToolCall("save", {"name": "n", "value": -1}), "negative"),
        ],
    )  # fmt: skip
    def test_every_code_of_the_table(self, kind: str, made: ToolCall, wanted: str) -> None:
        assert code(calling(Registry(TOOLS), made, kind)) == wanted

    def test_a_tools_own_words_reach_the_model(self, kind: str) -> None:
        error = calling(Registry(TOOLS), call("save", name="n", value=-1), kind).error
        assert error is not None
        assert (error.message, error.hint) == ("The value is negative.", "Use a value of 0 or more.")


def test_needs_approval_is_said_only_of_a_call_that_would_run() -> None:
    registry = Registry(TOOLS)
    assert registry.needs_approval(call("wipe", what="x"))
    for made in (
        call("wipe"),
        call("look", key="a"),
        call("nope"),
        ToolCall("wipe", "{"),
        ToolCall("wipe", {"what": "x"}, truncated=True),
    ):
        assert not registry.needs_approval(made)
    assert not Registry(TOOLS, permissions=["read"]).needs_approval(call("wipe", what="x"))


def test_approval_can_be_asked_for_on_any_tool_and_waived_on_a_dangerous_one() -> None:
    @tool(approval=True)
    def careful() -> int:
        """Careful."""
        return 1

    @tool(permission="dangerous", approval=False)
    def trusted() -> int:
        """Trusted."""
        return 2

    registry = Registry([careful, trusted])
    assert code(registry.call(call("careful"))) == "needs_approval"
    assert registry.call(call("trusted")).data == 2


class Till:
    """A tool that counts its effects and can be held up."""

    def __init__(self, *, timeout: float | None = None, later: bool = False) -> None:
        self.count = 0
        self.held = threading.Event()
        self.free = threading.Event()
        self.fail = False

        def pay(amount: int) -> str:
            """Pay an amount."""
            self.count += 1
            if self.fail:
                raise ToolError("no money")
            if self.held.is_set():
                self.free.wait(20)
            return f"receipt {self.count}"

        async def apay(amount: int) -> str:
            """Pay an amount."""
            return pay(amount)

        self.tool: Tool = tool(name="pay", permission="write", timeout=timeout)(apay if later else pay)


@both
@pytest.mark.parametrize("later", [False, True])
class TestIdempotency:
    def test_the_same_call_id_gets_the_stored_result(self, kind: str, later: bool) -> None:
        till = Till(later=later)
        registry = Registry([till.tool])
        first = calling(registry, call("pay", "c1", amount=5), kind, run_id="r")
        again = calling(registry, call("pay", "c1", amount=5), kind, run_id="r")
        assert (till.count, first) == (1, again)

    def test_two_intended_calls_both_run(self, kind: str, later: bool) -> None:
        till = Till(later=later)
        registry = Registry([till.tool])
        got = [calling(registry, call("pay", f"c{i}", amount=5), kind, run_id="r").data for i in (1, 2)]
        assert got == ["receipt 1", "receipt 2"]

    def test_arguments_are_compared_after_validation(self, kind: str, later: bool) -> None:
        till = Till(later=later)
        registry = Registry([till.tool])
        calling(registry, call("pay", "c1", amount=5), kind, run_id="r")
        assert calling(registry, ToolCall("pay", ' {"amount":5}', "c1"), kind, run_id="r").data == "receipt 1"
        assert calling(registry, call("pay", "c1", amount=6), kind, run_id="r").data == "receipt 2"

    def test_other_runs_and_no_run_are_not_mixed_up(self, kind: str, later: bool) -> None:
        till = Till(later=later)
        registry = Registry([till.tool])
        for run_id in ("r", "s", "", ""):
            calling(registry, call("pay", "c1", amount=5), kind, run_id=run_id)
        assert till.count == 4

    def test_a_known_failure_is_an_outcome(self, kind: str, later: bool) -> None:
        till = Till(later=later)
        till.fail = True
        registry = Registry([till.tool])
        assert code(calling(registry, call("pay", "c1", amount=5), kind, run_id="r")) == "tool_error"
        till.fail = False
        assert calling(registry, call("pay", "c2", amount=5), kind, run_id="r").data == "receipt 2"


@both
class TestDeadlines:
    def test_a_retry_after_a_time_out_meets_its_first_try(self, kind: str) -> None:
        till = Till(timeout=0.05)
        till.held.set()
        registry = Registry([till.tool])
        assert code(calling(registry, call("pay", "c1", amount=5), kind, run_id="r")) == "timeout"
        unknown = calling(registry, call("pay", "c2", amount=5), kind, run_id="r")
        assert code(unknown) == "unknown_outcome" and till.count == 1
        till.free.set()
        late = wait_for_late(registry)
        assert late.data == "receipt 1" and late.call_id == "c1"
        retried = calling(registry, call("pay", "c3", amount=5), kind, run_id="r")
        assert (retried.data, retried.call_id, till.count) == ("receipt 1", "c3", 1)
        till.held.clear()
        assert calling(registry, call("pay", "c4", amount=5), kind, run_id="r").data == "receipt 2"

    def test_a_tool_that_never_answers(self, kind: str) -> None:
        @tool(timeout=0.05)
        def sleepy() -> int:
            """Sleeps."""
            threading.Event().wait()
            return 1

        error = calling(Registry([sleepy]), call("sleepy"), kind).error
        assert error is not None and error.code == "timeout" and "0.05" in error.message

    def test_an_async_tool_that_never_answers(self, kind: str) -> None:
        @tool(timeout=0.05)
        async def sleepy() -> int:
            """Sleeps."""
            await asyncio.Event().wait()
            return 1

        assert code(calling(Registry([sleepy]), call("sleepy"), kind)) == "timeout"

    def test_the_tools_own_time_out_error_is_not_ours(self, kind: str) -> None:
        @tool(timeout=30)
        def slow() -> int:
            """Slow."""
            raise TimeoutError("the server")

        result = calling(Registry([slow]), call("slow"), kind)
        assert code(result) == "timeout"  # and the words do not claim that 30 seconds have passed
        assert result.error.message == "slow did not answer: it gave up waiting itself."  # type: ignore[union-attr]

    def test_a_quick_tool_with_a_deadline(self, kind: str) -> None:
        @tool(timeout=30)
        def quick() -> int:
            """Quick."""
            return 1

        registry = Registry([quick])
        assert calling(registry, call("quick"), kind).data == 1
        assert list(registry.late) == []


def wait_for_late(registry: Registry) -> ToolResult:
    """The late answer. It is written by another thread, which signals nobody: look until it is there."""
    gate = threading.Event()
    for _ in range(1_000):
        if registry.late:
            return registry.late[-1]
        gate.wait(0.01)
    raise AssertionError("no late answer")
