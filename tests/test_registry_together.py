"""Several calls of one step: side by side or in order, and nothing that keeps the process from exiting."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from strategies import TOOLS, bounded, call, python

from agentkit import Registry, ToolCall, ToolResult, tool


def code(result: ToolResult) -> str:
    return result.error.code if result.error else "ok"


EXITS = {
    "sync": "print(registry.call(ToolCall('sleepy')).error.code)",
    "parallel": "print(registry.call_all([ToolCall('sleepy', {}, 'a'), ToolCall('sleepy', {}, 'b')])[1].error.code)",
    "async": "import asyncio; print(asyncio.run(registry.acall(ToolCall('sleepy'))).error.code)",
    "async tool": "print(registry.call(ToolCall('asleepy')).error.code)",
    "gives up": (
        "import asyncio\nasync def main():\n"
        "    try: await asyncio.wait_for(registry.acall(ToolCall('endless')), 0.05)\n"
        "    except asyncio.TimeoutError: print('timeout')\nasyncio.run(main())"
    ),
}


@pytest.mark.parametrize("way", EXITS)
def test_a_sleeping_tool_never_keeps_the_process_from_exiting(way: str) -> None:
    head = """
import asyncio, threading
from agentkit import Registry, ToolCall, tool
@tool(timeout=0.05)
def sleepy() -> int:
    "Sleeps."
    threading.Event().wait()
@tool
def endless() -> int:
    "Sleeps."
    threading.Event().wait()
@tool(timeout=0.05)
async def asleepy() -> int:
    "Sleeps."
    await asyncio.Event().wait()
registry = Registry([sleepy, asleepy, endless])
"""
    assert python(head + EXITS[way], seconds=15).strip() == "timeout"


class Meeting:
    """Tools that all have to be inside at the same time before any of them may go on."""

    def __init__(self, size: int) -> None:
        barrier = threading.Barrier(size)
        self.order: list[str] = []

        @tool
        def meet(name: str) -> str:
            """Meet."""
            barrier.wait(10)
            self.order.append(name)
            return name

        @tool
        async def ameet(name: str) -> str:
            """Meet."""
            await asyncio.to_thread(barrier.wait, 10)
            return name

        @tool(permission="write")
        def note(name: str) -> str:
            """Note."""
            self.order.append(name)
            return name

        self.registry = Registry([meet, ameet, note])


@pytest.fixture(params=["call_all", "acall_all"])
def run_all(request: pytest.FixtureRequest) -> Iterator[Any]:
    def run(registry: Registry, calls: list[ToolCall], **options: Any) -> list[ToolResult]:
        if request.param == "call_all":
            return bounded(lambda: registry.call_all(calls, **options))
        return bounded(lambda: asyncio.run(registry.acall_all(calls, **options)))

    yield run


class TestSeveralCalls:
    @pytest.mark.parametrize("name", ["meet", "ameet"])
    def test_neighbouring_reads_run_side_by_side_and_answer_in_order(self, run_all: Any, name: str) -> None:
        calls = [call(name, f"c{i}", name=str(i)) for i in range(4)]
        results = run_all(Meeting(4).registry, calls)
        assert [(r.call_id, r.data) for r in results] == [(f"c{i}", str(i)) for i in range(4)]

    def test_writes_run_in_order_between_the_reads(self, run_all: Any) -> None:
        meeting = Meeting(2)
        names = ["note", "meet", "meet", "note", "note", "meet", "meet"]
        calls = [call(name, f"c{i}", name=str(i)) for i, name in enumerate(names)]
        results = run_all(meeting.registry, calls)
        assert [r.data for r in results] == list("0123456")
        assert meeting.order[0] == "0" and set(meeting.order[1:3]) == {"1", "2"} and meeting.order[3:5] == ["3", "4"]

    def test_one_that_fails_does_not_take_the_others_along(self, run_all: Any) -> None:
        done: dict[str, ToolResult] = {}
        calls = [call("look", "a", key="x"), call("broken", "b"), call("nope", "c"), call("look", "d", key="y")]
        results = run_all(Registry(TOOLS), calls, done=done)
        assert [code(r) for r in results] == ["ok", "tool_failed", "unknown_tool", "ok"]
        assert done == dict(zip("abcd", results, strict=True))

    def test_approvals_are_by_id(self, run_all: Any) -> None:
        calls = [call("wipe", "a", what="x"), call("wipe", "b", what="x")]
        assert [code(r) for r in run_all(Registry(TOOLS), calls, approved={"b"})] == ["needs_approval", "ok"]

    def test_no_call_and_very_many(self, run_all: Any) -> None:
        assert run_all(Registry(TOOLS), []) == []
        many = [call("look", f"c{i}", key=str(i)) for i in range(100)]
        assert [r.data["key"] for r in run_all(Registry(TOOLS), many)] == [str(i) for i in range(100)]
