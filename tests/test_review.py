"""Faults that a careful reader of the core found, each kept as a test."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from datetime import date
from typing import Any

import pytest
from pydantic import HttpUrl

from agentkit import (
    Agent,
    CallTools,
    DefinitionError,
    FinalAnswer,
    Limits,
    Memory,
    Message,
    Registry,
    Reply,
    ScriptedModel,
    ToolCall,
    Usage,
    from_openai,
    openai_problems,
    parse_react,
    to_openai,
    tool,
)
from agentkit._jsonsafe import dumps, fit, json_safe
from agentkit._redact import mask, mask_text


@tool(permission="dangerous", timeout=3.0)
def pay(amount: int) -> str:
    """Pay money."""
    return f"paid {amount}"


def test_another_name_does_not_lose_a_permission() -> None:
    """SF-18: a tool that is registered again under another name keeps what it needs."""
    renamed = tool(name="settle")(pay)
    assert (renamed.name, renamed.permission, renamed.approval, renamed.timeout) == ("settle", "dangerous", True, 3.0)
    assert tool(permission="write")(pay).approval is False, "what is given explicitly counts"


def test_two_open_calls_with_one_id_are_refused() -> None:
    calls = (ToolCall("pay", {"amount": 1}, "x"), ToolCall("pay", {"amount": 1000}, "x"))
    history = [Message("user", "Pay."), Message("assistant", "", calls)]
    with pytest.raises(DefinitionError, match="same id"):
        Agent(ScriptedModel([FinalAnswer("", "done")]), [pay]).run(history=history)


def test_writes_to_different_addresses_are_different_writes() -> None:
    hit: list[str] = []
    may_answer = threading.Event()

    @tool(permission="write", timeout=0.02)
    def hook(url: HttpUrl) -> str:
        """Set a hook."""
        hit.append(str(url))
        may_answer.wait(5)
        return f"set {url}"

    registry = Registry([hook])
    first = registry.call(ToolCall("hook", {"url": "http://a.test/"}, "c1"), run_id="r")
    may_answer.set()
    second = registry.call(ToolCall("hook", {"url": "http://b.test/"}, "c2"), run_id="r")
    assert first.error is not None and first.error.code == "timeout"
    assert hit == ["http://a.test/", "http://b.test/"]
    assert second.error is not None or "b.test" in second.data


def test_an_approved_reading_tool_runs_once_for_one_call() -> None:
    ran: list[int] = []

    @tool(approval=True)
    def look(number: int) -> int:
        """Look."""
        ran.append(number)
        return number

    agent = Agent(ScriptedModel([CallTools("", (ToolCall("look", {"number": 1}),)), FinalAnswer("", "done")]), [look])
    paused = agent.run("Look.")
    agent.resume(paused, approvals={"call_1": True})
    agent.resume(paused, approvals={"call_1": True})
    assert ran == [1]


@pytest.mark.parametrize(
    "value",
    [
        {"stdout": "a" * 25_000, "stderr": "b" * 25_000},
        {"small": 1, "rows": [{"text": "x" * 30_000}, {"text": "y"}]},
        [{"text": "x" * 50_000}],
        {f"key{i}": "v" * 30 for i in range(5_000)},
    ],
    ids=["two large fields", "a large row", "one large item", "many fields"],
)
def test_a_shortened_value_keeps_something_of_every_large_part(value: Any) -> None:
    kept, note = fit(value, 20_000)
    assert note.startswith("Shortened") and len(dumps(kept)) <= 20_500
    assert type(kept) is type(value) and kept
    if isinstance(value, dict) and len(value) < 10:
        assert set(kept) == set(value) and all(kept.values())


def test_a_tree_with_links_to_the_parent_is_looked_at_once() -> None:
    parent: dict[str, Any] = {"name": "root"}
    parent["children"] = [{"name": str(i), "parent": parent} for i in range(10)]
    assert json_safe(parent)["children"][0]["parent"] == "… (contains itself)"
    wide: Any = "leaf"
    for _ in range(30):
        wide = [wide, wide]
    assert json_safe(wide)  # a billion leaves, but a bounded walk


def test_an_async_tool_may_call_the_registry_in_its_turn() -> None:
    @tool
    async def inner() -> str:
        """Inner."""
        await asyncio.sleep(0)
        return "inner"

    registry = Registry([inner])

    @tool(timeout=5.0)
    async def outer() -> Any:
        """Outer."""
        return registry.call(ToolCall("inner")).data

    assert Registry([outer]).call(ToolCall("outer")).data == "inner"


def test_a_lazy_result_is_computed_where_a_failure_is_seen() -> None:
    @tool
    def lazy() -> Iterator[int]:
        """Lazy."""
        return iter(map((1).__floordiv__, [1, 0]))

    result = Registry([lazy]).call(ToolCall("lazy"))
    assert result.error is not None and result.error.code == "tool_failed"


def test_what_a_tool_does_with_a_list_does_not_change_the_history() -> None:
    @tool
    def empty(items: Any) -> int:
        """Empty a list."""
        items.clear()
        return 0

    run = Agent(
        ScriptedModel([CallTools("", (ToolCall("empty", {"items": [1, 2]}),)), FinalAnswer("", "done")]), [empty]
    ).run("Go.")
    assert run.steps[0].calls[0].arguments == {"items": [1, 2]}


@pytest.mark.parametrize("key", ["accessToken", "refreshToken", "dbPassword", "SECRET_KEY", "passphrase", "x-api-key"])
def test_a_field_with_a_secret_name_is_masked(key: str) -> None:
    assert mask({key: "correct horse"}) == {key: "[secret]"}


@pytest.mark.parametrize(
    "text",
    ['{"password": "correct horse battery"}', "postgres://u:pa@ss@host/db", "password='a b, c'"],
)
def test_a_secret_is_masked_whole(text: str) -> None:
    masked = mask_text(text)
    assert "[secret]" in masked
    assert not any(piece in masked for piece in ("horse", "battery", "ss@", "b, c"))


@pytest.mark.parametrize("arguments", [{"day": 86_400}, {"day": "1700000000"}, {"days": [86_400]}])
def test_a_number_is_no_date_wherever_it_stands(arguments: dict[str, Any]) -> None:
    @tool
    def plan(day: date | None = None, days: list[date] | None = None) -> str:
        """Plan."""
        return "planned"

    result = Registry([plan]).call(ToolCall("plan", arguments))
    assert result.error is not None and result.error.code == "bad_arguments"


def test_a_cost_that_is_partly_unknown_still_reaches_the_limit() -> None:
    calls = [CallTools("", (ToolCall("ping", {"n": n}),)) for n in range(5)]

    @tool
    def ping(n: int) -> int:
        """Ping."""
        return n

    replies = [Reply(calls[0], Usage(cost=None)), *(Reply(call, Usage(cost=2.0)) for call in calls[1:])]
    run = Agent(ScriptedModel(replies), [ping], limits=Limits(max_cost=3.0)).run("Go.")
    assert (run.stop_reason, len(run.steps), run.usage.cost) == ("max_cost", 3, None)


@pytest.mark.parametrize("limits", [{"same_rounds": 0}, {"max_steps": 0}])
def test_a_limit_that_allows_nothing_is_refused(limits: dict[str, int]) -> None:
    with pytest.raises(DefinitionError, match="at least 1"):
        Limits(**limits)


def test_no_limit_on_equal_rounds() -> None:
    same = [CallTools("", (ToolCall("pay", {"amount": 1}),))] * 6
    agent = Agent(
        ScriptedModel([*same, FinalAnswer("", "done")]), [tool(approval=False)(pay)], limits=Limits(same_rounds=None)
    )
    assert agent.run("Go.").stop_reason == "answered"


def test_one_tool_will_do_as_tools_and_one_word_does_not_as_permissions() -> None:
    assert len(Agent(ScriptedModel([]), pay).registry) == 1
    with pytest.raises(DefinitionError, match="list of kinds"):
        Registry([pay], permissions="read")


def test_our_own_results_are_read_back_from_the_wire() -> None:
    script = ScriptedModel([CallTools("", (ToolCall("pay", {"amount": 1}), ToolCall("nope"))), FinalAnswer("", "done")])
    run = Agent(script, [tool(approval=False)(pay)]).run("Go.")
    again = from_openai(to_openai(run.messages))
    assert [m.result for m in again if m.result] == [m.result for m in run.messages if m.result]
    assert not openai_problems(to_openai(again))


def test_an_edited_date_can_be_counted_and_saved() -> None:
    agent = Agent(
        ScriptedModel([CallTools("", (ToolCall("pay", {"amount": 1}),)), FinalAnswer("", "done")]),
        [pay],
        memory=Memory(max_tokens=500),
    )
    run = agent.resume(agent.run("Go."), approvals={"call_1": {"amount": 2, "when": date(2026, 10, 13)}})
    assert type(run).from_json(run.to_json()) == run


@pytest.mark.parametrize(("text", "wanted"), [("*.py", "*.py"), ('say "hi"', 'say "hi"'), ('"quoted"', "quoted")])
def test_an_action_input_in_plain_text_stays_as_it_is(text: str, wanted: str) -> None:
    found = parse_react(f"Thought: t\nAction: find\nAction Input: {text}")
    assert isinstance(found, CallTools) and found.calls[0].arguments == {"input": wanted}


def test_many_empty_lines_in_a_fence_are_read_in_linear_time() -> None:
    text = "```" + "\n" * 200_000
    assert Registry([pay]).call(ToolCall("pay", text), approved=True).error is not None
    assert json.loads(dumps({"a": text}))["a"] == text
