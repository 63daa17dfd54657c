"""Whatever a model decides and however a run is stopped, paused, resumed, forked or continued: its history stays sound."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

from hypothesis import event, given
from hypothesis import strategies as st
from strategies import (
    TOOLS,
    Counting,
    Inspector,
    act,
    answer,
    call,
    calls,
    complete,
    decisions,
    json_values,
    limits,
    objects,
    problems,
    profile,
    results_by_call,
    scripts,
    texts,
)

from agentkit import (
    Agent,
    CallTools,
    FinalAnswer,
    Limits,
    Memory,
    Message,
    Run,
    ScriptedModel,
    ToolCall,
    ToolResult,
    to_anthropic,
    to_openai,
)

# Mostly calls that run or wait for an approval, so that the runs get long enough for windows, limits and pauses to matter.
plain = st.sampled_from(
    [
        call("look", key="a"),
        call("look", key="b"),
        call("save", name="n", value=1),
        call("broken"),
        call("wipe", what="it"),
    ]
)
rounds = st.builds(CallTools, texts, st.lists(plain | calls, min_size=1, max_size=3).map(tuple))
lively = st.builds(list.__add__, st.lists(rounds, max_size=5), scripts)
memories = st.builds(Memory, st.sampled_from([None, None, 5, 8, 12]), st.sampled_from([None, None, 600, 900, 1_500]))
roomy = st.builds(
    Limits,
    max_steps=st.sampled_from([None, 2, 5, 20]),
    timeout=st.sampled_from([None, None, 9.5]),
    same_rounds=st.sampled_from([2, 3]),
)
verdicts = st.sampled_from([True, True, False, "Not now.", {"what": "other"}, {"waht": 1}, None])


class Clock:
    """A second passes each time somebody looks."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1
        return self.now


def made(script: Sequence[Any], limit: Limits, memory: Memory) -> Agent:
    """An agent whose model asserts that both providers would accept each view, and reads its script to the end."""
    return Agent(Inspector(Counting(script)), TOOLS, system="Be brief.", limits=limit, memory=memory, clock=Clock())


def sound(run: Run) -> None:
    """What holds of every run, whatever its status."""
    event(run.stop_reason)
    assert Run.from_json(run.to_json()) == run
    ids = [item.id for message in run.messages for item in message.calls]
    assert len(set(ids)) == len(ids) and all(ids)
    assert [step.number for step in run.steps] == list(range(1, len(run.steps) + 1))
    counts = results_by_call(run)
    open_ids = [item.id for item in run.pending]
    assert set(counts) == set(ids)
    assert all(counts[call_id] == (0 if call_id in open_ids else 1) for call_id in ids)
    if any(step.view is not None for step in run.steps):
        event("a window")
    for step in run.steps:
        assert problems(run.sent(step.number)) == []
    if run.status == "paused":
        assert list(run.pending) == [item for item in last_calls(run) if item.id in open_ids]
        assert set(run.awaiting) <= set(open_ids)
        closed = [*run.messages, *[Message("tool", result=result(item)) for item in run.pending]]
        assert problems(closed) == []  # nothing else is missing
    else:
        complete(run)


def last_calls(run: Run) -> tuple[ToolCall, ...]:
    return next((m.calls for m in reversed(run.messages) if m.role == "assistant"), ())


def result(item: ToolCall) -> ToolResult:
    return ToolResult(item.id, item.name)


def go_on(data: st.DataObject, agent: Agent, run: Run) -> Run:
    """A paused run goes on in one of the ways that fit it, sometimes in another process, sometimes in async code."""
    if data.draw(st.booleans(), label="saved"):
        run = Run.from_json(run.to_json())
    options: dict[str, Any] = {}
    if run.awaiting:
        chosen = {call_id: data.draw(verdicts, label="verdict") for call_id in run.awaiting}
        options["approvals"] = {call_id: verdict for call_id, verdict in chosen.items() if verdict is not None}
    elif not run.pending and run.stop_reason == "needs_input":
        way = data.draw(st.sampled_from(["answer", "decision", "decision"]), label="way")
        options[way] = data.draw(texts.map("a{}".format) if way == "answer" else decisions, label=way)
    if data.draw(st.booleans(), label="async"):
        return asyncio.run(agent.aresume(run, **options))
    return agent.resume(run, **options)


@profile(90)
@given(lively, limits | roomy, memories, st.data())
def test_any_run_however_it_pauses_and_goes_on(script: Any, limit: Limits, memory: Memory, data: st.DataObject) -> None:
    agent = made(script, limit, memory)
    run = agent.run("goal")
    sound(run)
    for _ in range(4):
        if run.status != "paused":
            break
        before = run.to_json()
        later = go_on(data, agent, run)
        sound(later)
        assert run.to_json() == before and later.messages[: run.first + 1] == run.messages[: run.first + 1]
        run = later


@profile(100)
@given(lively, limits | roomy, memories, st.data())
def test_any_fork(script: Any, limit: Limits, memory: Memory, data: st.DataObject) -> None:
    run = made(script, limit, Memory()).run("goal")
    if not run.steps:
        return
    before = run.to_json()
    step = data.draw(st.sampled_from(run.steps), label="step")
    ids = [item.id for item in step.calls]
    observations = data.draw(st.dictionaries(st.sampled_from(ids), json_values, max_size=2)) if ids else {}
    rest = [call_id for call_id in ids if call_id not in observations]
    arguments = data.draw(st.dictionaries(st.sampled_from(rest), objects, max_size=2)) if rest else {}
    branch = run.fork(step.number, observations=observations, arguments=arguments)
    sound(branch)
    assert branch.status == "paused" and branch.stop_reason == "forked"
    for message in branch.messages:
        if message.result is not None and message.result.call_id in observations:
            assert message.result.ok
    agent = made(script, limit, memory)
    for _ in range(3):
        branch = go_on(data, agent, branch) if branch.status == "paused" else branch
        sound(branch)
    assert run.to_json() == before


@profile(100)
@given(st.lists(st.tuples(lively, limits | roomy), min_size=2, max_size=4), memories, st.data())
def test_any_conversation(turns: Any, memory: Memory, data: st.DataObject) -> None:
    """Goal after goal on one history, also when the turn before was left paused in the middle of its calls."""
    history: tuple[Message, ...] = ()
    for number, (script, limit) in enumerate(turns):
        agent = made(script, limit, memory)
        run = agent.run(f"goal {number}", history=history)
        sound(run)
        if run.status == "paused" and data.draw(st.booleans(), label="goes on"):
            run = go_on(data, agent, run)
            sound(run)
        kept = len(history) - (1 if history and number else 0)
        assert run.messages[: max(kept, 0)] == history[: max(kept, 0)]
        history = run.messages


@profile(80)
@given(st.lists(calls, min_size=1, max_size=3).map(tuple), st.data())
def test_a_history_that_ends_anywhere_in_its_results(wanted: tuple[ToolCall, ...], data: st.DataObject) -> None:
    """A history of somebody else, cut between two results: the loop runs what is missing and nothing twice."""
    whole = Agent(ScriptedModel([act(*wanted), answer()]), TOOLS).run("goal").messages
    first = next((i for i, m in enumerate(whole) if m.role == "tool"), len(whole))
    cut = whole[: data.draw(st.integers(min(2, first), max(first, len(whole) - 1)), label="end")]
    if cut[-1].role == "assistant" and not cut[-1].calls:
        return
    run = Agent(Inspector(Counting([answer()])), TOOLS).run(history=cut)
    sound(run)
    assert run.messages[: len(cut)] == cut


@profile(60)
@given(lively, limits | roomy)
def test_a_stream_gives_the_same_run_and_is_sound_wherever_it_is_left(script: Any, limit: Limits) -> None:
    run = made(script, limit, Memory()).run("goal")
    stream = made(script, limit, Memory()).stream("goal")
    for item in stream:
        so_far = stream.run
        complete(so_far)
        assert so_far.steps[-1] == item
    assert (stream.run.messages, stream.run.status, stream.run.answer) == (run.messages, run.status, run.answer)


@profile(80)
@given(lively, st.integers(0, 8), st.sampled_from(["model", "memory", "tool"]))
def test_pulling_the_plug_anywhere_leaves_a_sound_run(script: Any, after: int, where: str) -> None:
    left = iter(range(after))

    def pull() -> None:
        if next(left, None) is None:
            raise KeyboardInterrupt

    class Model(Counting):
        def decide(self, messages: Any, tools: Any) -> Any:
            if where == "model":
                pull()
            return super().decide(messages, tools)

    class View:
        def view(self, messages: Any, tools: Any) -> Any:
            if where == "memory":
                pull()
            return messages

    def probe(x: int = 0) -> int:
        """May be interrupted."""
        if where == "tool":
            pull()
        return x

    script = [*(act(ToolCall("probe"), ToolCall("probe")) for _ in range(2)), *script]
    agent = Agent(Model(script), [*TOOLS, probe], memory=View())
    try:
        run = agent.run("goal")
    except KeyboardInterrupt as stopped:
        run = stopped.run  # type: ignore[attr-defined]
        assert (run.status, run.stop_reason) == ("stopped", "cancelled")
    sound(run)
    again = Agent(ScriptedModel([answer()]), TOOLS).run("more", history=run.messages)
    assert again.status == "done"
    sound(again)


@profile(80)
@given(st.text(st.characters(), max_size=20), st.text(st.characters(), max_size=20))
def test_any_text_anywhere_can_be_saved_and_sent(one: str, two: str) -> None:
    """Also text that UTF-8 cannot hold, from the user as well as from the model."""
    script = [CallTools(one, (ToolCall("look", {"key": two}), ToolCall(two or "x", one))), FinalAnswer(two, one or "x")]
    run = Agent(Counting(script), TOOLS, system=two).run(f"goal {one}")
    run.to_json().encode("utf-8")
    for form in (to_openai(run.messages), to_anthropic(run.messages)):
        json.dumps(form, ensure_ascii=False, allow_nan=False).encode("utf-8")
    sound(run)
