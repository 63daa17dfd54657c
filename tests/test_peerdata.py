"""Records that others made: text agents of 2022 replayed through our loop, and 200 conversations under our windows."""

from __future__ import annotations

import functools
import gzip
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from math import comb
from typing import Any

import pytest
from _needs import require
from strategies import Counting, problems

from agentkit import (
    Agent,
    CallTools,
    ContextFullError,
    FinalAnswer,
    Limits,
    Memory,
    Message,
    ReplyError,
    Run,
    ToolCall,
    ToolResult,
    anthropic_problems,
    from_openai,
    openai_problems,
    parse_react,
    render_react,
    to_anthropic,
    to_openai,
    tool,
)

pytestmark = pytest.mark.peerdata


@functools.cache
def load(name: str) -> Any:
    with gzip.open(require("peerdata") / name, "rt", encoding="utf-8") as file:
        return json.load(file)


# --- ReAct on FEVER, GPT-3, 2022 -------------------------------------------------------------------------------------


def as_text(step: dict[str, str], number: int) -> str:
    """A recorded step as the model wrote it, and what a model that knows no better would go on to invent."""
    return f"Thought {number}: {step['thought']}\nAction {number}: {step['action']}\nObservation {number}: invented"


class Recorded:
    """Reads the recorded texts through `parse_react`; a text that cannot be read is refused, and the next one is tried."""

    def __init__(self, steps: Sequence[dict[str, str]]) -> None:
        self.texts = iter([as_text(step, number) for number, step in enumerate(steps, 1)])
        self.refused = 0

    def decide(self, messages: Sequence[Message], tools: Any) -> Any:
        assert problems(messages) == []
        for text in self.texts:
            try:
                decision = parse_react(text, tools)
            except ReplyError:
                self.refused += 1
                continue
            assert isinstance(decision, CallTools)
            [call] = decision.calls
            if call.name.casefold() != "finish":
                return decision
            assert isinstance(call.arguments, dict)
            return FinalAnswer(decision.thought, call.arguments["answer"] or "(blank)")
        return FinalAnswer("", "(no answer)")


def observations(episode: dict[str, Any]) -> list[str]:
    """What the tools of the episode answered. The end, and what was no action for that program either, came from elsewhere."""
    texts = [step["observation"] for step in episode["steps"] if not step["action"].startswith("Finish[")]
    return [text for text in texts if not text.startswith("Invalid action")]


def replay(episode: dict[str, Any]) -> tuple[Run, Recorded]:
    """The episode in our loop; the tools give the recorded observations."""
    steps = episode["steps"]
    waiting = iter(observations(episode))

    @tool(name="Search")
    def search(entity: str) -> str:
        """Search a page."""
        return next(waiting)

    @tool(name="Lookup")
    def lookup(keyword: str) -> str:
        """Look up a word on the page."""
        return next(waiting)

    @tool(name="Finish")
    def finish(answer: str) -> str:
        """Answer."""
        raise AssertionError("the answer ends the run")

    model = Recorded(steps)
    run = Agent(model, [search, lookup, finish], limits=Limits(max_steps=30, same_rounds=99)).run(episode["claim"])
    return run, model


@functools.cache
def replays() -> list[tuple[dict[str, Any], Run, Recorded]]:
    return [(episode, *replay(episode)) for episode in load("react_fever_episodes.json.gz")]


def test_fever_answers_are_equal_in_all_episodes() -> None:
    assert len(replays()) == 500
    for episode, run, _ in replays():
        assert run.status == "done", run.error
        wanted = episode["answer"]
        assert run.answer == (wanted if wanted else "(no answer)")


def test_fever_scores_are_those_of_the_record() -> None:
    answers = [(run.answer, episode) for episode, run, _ in replays()]
    assert sum(str(found).strip().lower() == str(e["gold"]).strip().lower() for found, e in answers) == 270
    assert sum(found == "(no answer)" for found, _ in answers) == 9


def test_fever_observations_are_the_recorded_ones_in_order() -> None:
    for episode, run, model in replays():
        results = [result for step in run.steps for result in step.results]
        assert [result.data for result in results if result.ok] == observations(episode)
        assert problems(run.messages) == []
        invalid = sum(step["observation"].startswith("Invalid action") for step in episode["steps"])
        assert model.refused + sum(not result.ok for result in results) == invalid


def test_an_empty_action_is_a_format_error() -> None:
    empty = [step for episode, _, _ in replays() for step in episode["steps"] if not step["action"].strip()]
    assert empty
    for step in empty:
        with pytest.raises(ReplyError):
            parse_react(as_text(step, 1))


def test_fever_runs_as_text_and_back() -> None:
    for _, run, _ in replays()[:100]:
        text = render_react(run)
        assert text.count("\nObservation: ") >= sum(len(step.results) for step in run.steps)
        first = parse_react(text.split("\n", 1)[1], run.tools)
        assert isinstance(first, FinalAnswer) or first.calls[0].name == run.steps[0].calls[0].name


# --- tau-bench airline, GPT-4o ---------------------------------------------------------------------------------------


def runs() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = load("tau_airline_gpt4o_runs.json.gz")["runs"]
    return found


@pytest.fixture(scope="module")
def histories() -> list[tuple[Message, ...]]:
    return [from_openai(run["messages"]) for run in runs()]


def test_tau_scores_are_those_of_the_record() -> None:
    """pass^k: the chance that k tries of one task all succeed, from n tries with c successes."""
    trials: dict[int, list[bool]] = defaultdict(list)
    for run in runs():
        trials[run["task_id"]].append(run["reward"] == 1)
    assert len(trials) == 50 and {len(tries) for tries in trials.values()} == {4}
    scores = [sum(comb(sum(t), k) / comb(len(t), k) for t in trials.values()) / len(trials) for k in (1, 2, 3, 4)]
    assert [round(score, 3) for score in scores] == [0.420, 0.273, 0.220, 0.200]


def test_tau_conversations_are_accepted_raw_and_converted(histories: list[tuple[Message, ...]]) -> None:
    for run, history in zip(runs(), histories, strict=True):
        assert openai_problems(run["messages"]) == []
        assert openai_problems(to_openai(history)) == [] == anthropic_problems(to_anthropic(history)[1])
        raw = [(m["role"], [c["id"] for c in m.get("tool_calls") or ()]) for m in run["messages"]]
        assert [(m.role, [c.id for c in m.calls]) for m in history] == raw


def test_a_broken_tau_conversation_is_refused(histories: list[tuple[Message, ...]]) -> None:
    """Each conversation without one of its tool messages: the validators can say no to real data."""
    for history in histories:
        place = next((i for i, m in enumerate(history) if m.role == "tool"), None)
        if place is not None:
            broken = [*history[:place], *history[place + 1 :]]
            assert openai_problems(to_openai(broken)) and anthropic_problems(to_anthropic(broken)[1])


@pytest.mark.parametrize(
    "memory",
    [Memory(max_messages=n) for n in (2, 3, 5, 8, 20)] + [Memory(max_tokens=n) for n in (200, 800, 3_000)],
    ids=repr,
)  # fmt: skip
def test_every_window_keeps_tau_conversations_valid(memory: Memory, histories: list[tuple[Message, ...]]) -> None:
    kept = full = 0
    for history in histories:
        for end in {len(history), len(history) * 2 // 3, len(history) // 2}:
            while end < len(history) and history[end].role == "tool":
                end += 1
            try:
                view = memory.view(history[:end])
            except ContextFullError:
                full += 1
                continue
            kept += 1
            assert problems(view) == [] and view[0] is history[0] and view[-1] is history[end - 1]
    assert kept + full > 400 and (full == 0 or memory.max_messages in (2, 3) or memory.max_tokens is not None)


class Replay:
    """A registry that answers with what was recorded, in order (some records use one call id in several turns)."""

    def __init__(self, recorded: Iterator[str]) -> None:
        self.recorded = recorded

    def specs(self) -> tuple[Any, ...]:
        return ()

    def call(self, made: ToolCall) -> ToolResult:
        return ToolResult(made.id, made.name, next(self.recorded))


def test_tau_conversations_replayed_under_a_window() -> None:
    """Each user message is a goal of our agent; the recorded decisions and results are replayed, and the window holds."""
    memory, limits = Memory(max_messages=9), Limits(None, same_rounds=99)
    for run in runs()[:40]:
        said = [m for m in from_openai(run["messages"]) if m.role == "assistant"]
        script = [CallTools("", m.calls) if m.calls else FinalAnswer("", m.text) for m in said]
        registry: Any = Replay(iter([m["content"] for m in run["messages"] if m["role"] == "tool"]))
        made = Agent(Counting(script), registry, memory=memory, limits=limits)
        history: tuple[Message, ...] = ()
        for goal in [m["content"] for m in run["messages"] if m["role"] == "user"]:
            turn = made.run(goal, history=history)
            history = turn.messages
            assert problems(history) == [] and all(problems(turn.sent(step.number)) == [] for step in turn.steps)
        ids = [item.id for message in history for item in message.calls]
        assert len(set(ids)) == len(ids) == sum(len(m.calls) for m in said if m.calls)
