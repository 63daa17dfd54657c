"""The checklist: a good agent has every line, and for each line there is an agent that misses just this one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest

from agentkit import (
    Agent,
    CallTools,
    FinalAnswer,
    HumanModel,
    Limits,
    Memory,
    Message,
    Registry,
    Reply,
    ScriptedModel,
    ToolCall,
    ToolResult,
    Usage,
    tool,
)  # fmt: skip
from agentkit.checks.agent_checklist import LINES, Checklist, checklist
from agentkit.models.offline import OfflineModel
from agentkit.worlds import orders

LIMITS = Limits(max_steps=20, timeout=60, max_tokens=100_000)
MEMORY = Memory(max_tokens=20_000)
SYSTEM = "You look things up."


@tool
def stock(item: str) -> int:
    """Pieces of one item in the warehouse.

    Args:
        item: the name of the item.
    """
    raise AssertionError("a checklist runs no tool of the agent")


@tool
def price(item: str) -> int:
    """Price of one item in US dollars.

    Args:
        item: the name of the item.
    """
    raise AssertionError("a checklist runs no tool of the agent")


@tool
def bare(item: str) -> int:
    """A tool whose parameter nobody describes."""
    return 0


@tool(permission="dangerous", approval=False)
def launch(rocket: str) -> str:
    """Launch a rocket without asking anybody.

    Args:
        rocket: the name of the rocket.
    """
    return "gone"


def model(*, reports: bool = True) -> ScriptedModel:
    return ScriptedModel([Reply(FinalAnswer("", "Hello."), Usage(10, 2) if reports else None)])


def agent(kind: type[Agent] = Agent, tools: Sequence[Any] | Registry = (stock, price), **options: Any) -> Agent:
    given = {"model": model(), "system": SYSTEM, "limits": LIMITS, "memory": MEMORY, **options}
    return kind(given.pop("model"), tools, **given)


class Hand(Agent):
    """A loop by hand with everything on the list. The classes below each leave out one thing."""

    def run(self, goal: str | None = None, *, history: Sequence[Message] = ()) -> Any:
        messages = [Message("system", self.system), *history, Message("user", goal or "")]
        started, spent = self.clock(), 0
        for step in range(self.limits.max_steps or 20):
            if step and (self.clock() - started >= 60 or spent >= 100_000):
                break
            reply = self.model.decide(self.memory.view(tuple(messages), self.registry.specs()), self.registry.specs())
            assert isinstance(reply, Reply)
            spent += reply.usage.total_tokens if reply.usage else 0
            if not isinstance(reply.decision, CallTools):
                return messages
            calls = tuple(replace(call, id=f"call_{len(messages)}") for call in reply.decision.calls)
            messages.append(Message("assistant", "", calls))
            if not self.act(calls, messages):
                return messages
        return messages

    def act(self, calls: tuple[ToolCall, ...], messages: list[Message]) -> bool:
        """Run the calls; False ends the run."""
        messages.extend(Message("tool", result=self.registry.call(call)) for call in calls)
        return True


class Careless(Hand):
    """Every call is answered, but with nothing that helps."""

    def act(self, calls: tuple[ToolCall, ...], messages: list[Message]) -> bool:
        for call in calls:
            found = self.registry.call(call)
            messages.append(Message("tool", result=ToolResult(call.id, call.name, "done") if found.ok else found))
        return True


class Raises(Hand):
    def act(self, calls: tuple[ToolCall, ...], messages: list[Message]) -> bool:
        for call in calls:
            if call.name not in self.registry:
                raise KeyError(call.name)
        return super().act(calls, messages)


class GivesUp(Hand):
    def act(self, calls: tuple[ToolCall, ...], messages: list[Message]) -> bool:
        super().act(calls, messages)
        last = messages[-1].result
        return last is None or last.error is None or last.error.code != "tool_failed"


class Vague(Hand):
    def act(self, calls: tuple[ToolCall, ...], messages: list[Message]) -> bool:
        super().act(calls, messages)
        last = messages[-1].result
        if last and last.error and last.error.code == "bad_arguments":
            messages[-1] = Message("tool", result=replace(last, error=replace(last.error, message="No.", hint="")))
        return True


class Unanswered(Hand):
    def act(self, calls: tuple[ToolCall, ...], messages: list[Message]) -> bool:
        super().act(calls, messages)
        if len(messages) > 35:
            messages.pop()
        return True


class Diary(Agent):
    """Keeps every conversation in itself."""

    diary: tuple[Message, ...] = ()

    def run(self, goal: str | None = None, *, history: Sequence[Message] = ()) -> Any:
        run = super().run(goal, history=[*self.diary, *history])
        self.diary = run.messages
        return run


GOOD: dict[str, Callable[[], Any]] = {
    "agentkit": agent,
    "by hand": lambda: agent(Hand),
    "the order desk": lambda: agent(model=OfflineModel(rules=orders.rules), tools=orders.make_tools()),
}

MISSING: dict[str, tuple[Callable[[], Any], str]] = {
    "system prompt": (lambda: agent(system=""), "give the agent a `system`"),
    "descriptions": (lambda: agent(tools=[stock, bare]), "the parameter `item` of bare has no description"),
    "result": (lambda: agent(Careless), "does not see the result"),
    "unknown tool": (lambda: agent(Raises), "the run ended with KeyError; tell the model"),
    "bad argument": (lambda: agent(Vague), "not told about 'colour'"),
    "failing tool": (lambda: agent(GivesUp), "the run ended; tell the model"),
    "step limit": (lambda: agent(limits=replace(LIMITS, max_steps=None)), "set `Limits(max_steps=…)`"),
    "time limit": (lambda: agent(limits=replace(LIMITS, timeout=None)), "set `Limits(timeout=…)`"),
    "spending limit": (lambda: agent(limits=replace(LIMITS, max_tokens=None)), "set `Limits(max_tokens=…)`"),
    "memory": (lambda: agent(memory=Memory()), "was sent whole; set `memory=Memory(max_tokens=…)`"),
    "approval": (lambda: agent(tools=[stock, launch]), "launch is dangerous and runs without asking"),
    "history": (lambda: agent(Unanswered), "would be refused"),
    "two users": (lambda: agent(Diary), "sees the goal of the first one"),
    "usage": (lambda: agent(model=model(reports=False)), "does not report its tokens"),
}


@pytest.mark.parametrize("name", GOOD)
def test_a_good_agent_has_every_line(name: str) -> None:
    report = checklist(GOOD[name]())
    assert report.passed, report.first_failure


def test_there_is_a_bad_agent_for_every_line() -> None:
    assert tuple(MISSING) == tuple(line.name for line in LINES)


@pytest.mark.parametrize("line", MISSING)
def test_an_agent_that_misses_one_line_is_told_just_that(line: str) -> None:
    make, words = MISSING[line]
    report = checklist(make())
    assert report.failed == (line,)
    assert words in report.first_failure


OTHERS: dict[str, tuple[Callable[[], Any], str, str]] = {
    "no tools": (lambda: agent(tools=[]), "descriptions", "the agent has no tools"),
    "two alike": (
        lambda: agent(tools=[stock, tool(name="store")(stock)]),
        "descriptions",
        "stock and store have the same",
    ),
    "short": (lambda: agent(tools=[tool(description="Stock.")(stock)]), "descriptions", "says too little"),
    "a person": (lambda: agent(model=HumanModel()), "usage", "the model is a person"),
    "too small a memory": (lambda: agent(memory=Memory(max_messages=1)), "memory", "was not asked at all"),
    "too many steps": (lambda: agent(limits=replace(LIMITS, max_steps=51)), "step limit", "more than 50 times"),
    "a text": (lambda: "an agent", "result", "there is no `model`"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_things_that_are_missing_are_named(name: str) -> None:
    make, line, words = OTHERS[name]
    points = {point.name: point for point in checklist(make()).points}
    assert not points[line].passed and words in points[line].message


@dataclass(frozen=True, slots=True)
class Frozen:
    """An agent of one's own, as small as the checklist allows: no clock, no memory, no limits, no history."""

    model: Any
    tools: Registry

    def run(self, goal: str) -> list[Message]:
        reply = self.model.decide([Message("user", goal)], self.tools.specs())
        assert isinstance(reply, Reply)
        return [Message("user", goal), Message("assistant", "yes")]


def test_an_agent_of_ones_own_is_tried_too_and_told_what_it_lacks() -> None:
    own = Frozen(model(), Registry([stock]))
    messages = {point.name: point.message for point in checklist(own).points if not point.passed}
    assert set(messages) == {
        "system prompt", "result", "unknown tool", "bad argument", "failing tool", "time limit", "memory",
    }  # fmt: skip
    assert "no `clock`" in messages["time limit"] and "no `history`" in messages["memory"]
    assert own.model.decisions == model().decisions


def test_the_agent_is_left_as_it_was_and_no_tool_ran() -> None:
    mine = agent()
    before = dict(vars(mine))
    assert checklist(mine).passed  # stock and price would raise
    assert vars(mine) == before


def faces() -> Iterator[Checklist]:
    yield checklist(agent())
    yield checklist(agent(limits=Limits(), system=""))


def test_both_faces_say_which_lines_are_missing() -> None:
    good, bad = faces()
    assert repr(good).startswith("Checklist of the agent · 14 of 14 lines hold\n")
    assert "missing · system prompt: " in repr(bad) and "11 of 14" in repr(bad)
    assert "missing · system prompt: " in bad._repr_html_()
    assert repr(checklist(agent())) == repr(good)
