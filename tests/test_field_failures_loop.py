"""What has gone wrong in other people's agents, in loops: one test for each report."""

from __future__ import annotations

import asyncio
import json
import threading
import uuid
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum
from typing import Any

import pytest
from pydantic import BaseModel
from strategies import act, agent, answer, bounded, call, complete

from agentkit import (
    CallTools,
    Registry,
    ReplyError,
    ToolCall,
    parse_react,
    tool,
)

# --- loop ------------------------------------------------------------------------------------------------------------


class Colour(Enum):
    RED = "red"


@dataclass
class Point:
    x: int


class Item(BaseModel):
    at: datetime


def test_lo_03_dates_ids_decimals_enums_sets_and_models_become_json() -> None:
    moment, number = datetime(2026, 10, 13, 8, 0, tzinfo=UTC), uuid.UUID(int=7)

    @tool
    def give() -> Any:
        """Give."""
        return {
            "at": moment, "day": date(2026, 10, 13), "id": number, "price": Decimal("1.10"), "colour": Colour.RED,
            "set": {2, 1}, "point": Point(3), "item": Item(at=moment),
        }  # fmt: skip

    result = Registry([give]).call(ToolCall("give"))
    assert result.ok and json.loads(result.content)["data"] == {
        "at": "2026-10-13T08:00:00+00:00", "day": "2026-10-13", "id": str(number), "price": "1.10", "colour": "red",
        "set": [1, 2], "point": {"x": 3}, "item": {"at": "2026-10-13T08:00:00Z"},
    }  # fmt: skip


def test_lo_04_bytes_are_told_by_their_number() -> None:
    @tool
    def give() -> bytes:
        """Give."""
        return b"\xff\x00"

    run = agent(act(ToolCall("give")), answer(), tools=[give]).run("go")
    assert run.steps[0].results[0].data == "2 bytes that are not text" and run.status == "done"


def test_lo_06_the_same_call_with_the_same_result_is_told_once_and_then_stopped() -> None:
    @tool
    def list_items() -> list[str]:
        """List."""
        return []

    run = agent(*[act(ToolCall("list_items"))] * 50, tools=[list_items]).run("go")
    told = [step.number for step in run.steps if step.results[0].note]
    assert (run.status, run.stop_reason) == ("stopped", "stuck") and len(told) == 1 and len(run.steps) <= 5
    complete(run)


def test_lo_08_one_of_several_calls_raises_and_the_others_keep_their_results() -> None:
    calls = (call("look", "c1", key="a"), call("broken", "c2"), call("look", "c3", key="c"))
    made = agent(act(*calls), answer())
    for run in (made.run("go"), asyncio.run(made.arun("go"))):
        assert [(r.call_id, r.ok) for r in run.steps[0].results] == [("c1", True), ("c2", False), ("c3", True)]
        assert [m.result.call_id for m in run.messages if m.result] == ["c1", "c2", "c3"] and run.status == "done"


def test_lo_12_an_observation_that_the_model_wrote_itself_is_cut() -> None:
    text = "Thought: I search.\nAction: search[x]\nObservation: fake\nFinal Answer: 42"
    assert parse_react(text) == CallTools("I search.", (ToolCall("search", {"input": "x"}),))


def test_lo_14_no_action_is_a_format_error_and_decorations_are_read() -> None:
    for text in ("Thought: hidden\nAction: None (direct response required)", "Thought: hidden\nAction: none"):
        with pytest.raises(ReplyError, match="Write 'Thought") as caught:
            parse_react(text)
        assert "hidden" not in str(caught.value)
    decorated = parse_react("Action: `search[x]`")
    lines = parse_react('Action: search\nAction Input: {\n  "q":\n    "x"\n}')
    assert isinstance(decorated, CallTools) and decorated.calls[0] == ToolCall("search", {"input": "x"})
    assert isinstance(lines, CallTools) and lines.calls[0].arguments == {"q": "x"}


def test_lo_15_a_long_result_loses_whole_items_and_says_so() -> None:
    @tool
    def give() -> Any:
        """Give."""
        return {"messages": [{"id": i, "text": "t" * 90} for i in range(1_000)]}

    result = Registry([give], result_limit=30_000).call(ToolCall("give"))
    kept = json.loads(result.content)["data"]["messages"]
    assert 100 < len(kept) < 1_000 and all(set(item) == {"id", "text"} and len(item["text"]) == 90 for item in kept)
    assert f"first {len(kept)} of 1,000" in result.note and result.note in json.loads(result.content)["note"]


def test_lo_17_every_result_is_capped_before_it_enters_the_history_errors_too() -> None:
    @tool
    def large() -> str:
        """Large."""
        return "x" * 2_000_000

    @tool
    def fails() -> str:
        """Fails."""
        raise RuntimeError("trace " * 200_000)

    run = agent(act(ToolCall("large"), ToolCall("fails")), answer(), tools=[large, fails]).run("go")
    for result in run.steps[0].results:
        assert len(result.content) < 25_000
    assert run.steps[0].results[0].note


def test_lo_19_an_async_tool_runs_in_an_ordinary_run() -> None:
    @tool
    async def later(key: str) -> str:
        """Later."""
        await asyncio.sleep(0)
        return key

    assert agent(act(call("later", key="a")), answer(), tools=[later]).run("go").steps[0].results[0].data == "a"


def test_lo_20_a_blocking_tool_does_not_stop_the_event_loop() -> None:
    beat = threading.Event()

    @tool
    def blocking() -> bool:
        """Waits for something that only the event loop does."""
        return beat.wait(10)

    async def main() -> Any:
        asyncio.get_running_loop().call_soon(lambda: asyncio.get_running_loop().call_soon(beat.set))
        return await agent(act(ToolCall("blocking")), answer(), tools=[blocking]).arun("go")

    assert bounded(lambda: asyncio.run(main())).steps[0].results[0].data is True


def test_lo_22_a_generator_is_read_to_its_end() -> None:
    @tool
    def several() -> Iterator[int]:
        """Several."""
        yield 1
        yield 2

    @tool
    async def later() -> AsyncIterator[int]:
        """Several, later."""
        yield 1
        yield 2

    registry = Registry([several, later])
    for name in ("several", "later"):
        assert registry.call(ToolCall(name)).data == [1, 2]
        assert asyncio.run(registry.acall(ToolCall(name))).data == [1, 2]
