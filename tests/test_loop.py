"""The loop: think, act, observe, until it is time to stop; and what a run looks like however it ends."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from strategies import (
    TOOLS,
    Counting,
    Inspector,
    act,
    agent,
    answer,
    call,
    complete,
    limits,
    look,
    profile,
    scripts,
)

from agentkit import (
    Agent,
    AskUser,
    CallTools,
    DefinitionError,
    FinalAnswer,
    Limits,
    Memory,
    Message,
    Pause,
    Registry,
    Reply,
    ToolCall,
    ToolResult,
    Usage,
    tool,
)

LOOKS = [act(call("look", key=str(i))) for i in range(30)]


class Plain:
    """A model of one's own: a function that decides."""

    def __init__(self, decide: Any) -> None:
        self._decide = decide

    def decide(self, messages: Sequence[Message], tools: Any) -> Any:
        return self._decide(messages)


class TestOneRun:
    def test_thought_action_observation_answer(self) -> None:
        run = agent(act(call("look", key="a")), answer("It is a."), system="Be brief.").run("What is a?")
        assert (run.status, run.stop_reason, run.answer, run.goal) == ("done", "answered", "It is a.", "What is a?")
        assert [m.role for m in run.messages] == ["system", "user", "assistant", "tool", "assistant"]
        assert run.messages[3].result == ToolResult("call_1", "look", {"key": "a", "day": None})
        assert [s.number for s in run.steps] == [1, 2] and run.steps[0].results[0].ok
        assert run.sent(1) == run.messages[:2] and run.sent(2) == run.messages[:4]
        assert run.first == 1 and [t.name for t in run.tools] == [t.name for t in TOOLS]
        complete(run)

    def test_mistakes_come_back_as_observations(self) -> None:
        run = agent(
            act(call("lok", key="a")),
            act(ToolCall("look", '{"key": ')),
            act(call("look", kye="a")),
            act(call("broken")),
            answer(),
        ).run("go")
        codes = [step.results[0].error.code for step in run.steps[:4] if step.results[0].error]
        assert codes == ["unknown_tool", "bad_json", "bad_arguments", "tool_failed"]
        assert run.status == "done"
        complete(run)

    def test_running_does_not_change_the_agent(self) -> None:
        made = agent(act(call("look", key="a")), answer())
        before = dict(vars(made))
        runs = [made.run("go") for _ in range(3)]
        assert runs[0] == runs[1] == runs[2] and vars(made) == before

    def test_call_ids_are_counted_over_the_whole_conversation(self) -> None:
        two = act(call("look", key="a"), call("look", key="b"))
        made = agent(two, act(call("look", key="c")), answer())
        first = made.run("one")
        second = made.run("two", history=first.messages)
        ids = [c.id for m in second.messages for c in m.calls]
        assert ids == [f"call_{i}" for i in range(1, 7)]
        assert second.first == len(first.messages) and second.messages[: second.first] == first.messages
        complete(second)

    def test_ids_of_the_model_are_kept_unless_they_are_taken(self) -> None:
        run = agent(
            act(call("look", "call_2", key="a"), call("look", key="b"), call("look", "x", key="c")),
            act(call("look", "x", key="d")),
            answer(),
        ).run("go")
        ids = [c.id for m in run.messages for c in m.calls]
        assert ids[0] == "call_2" and ids[2] == "x" and len(set(ids)) == 4
        complete(run)

    @pytest.mark.parametrize("given_id", ["functions.look:0", "call 1", "호출", "x" * 100, "a/b"])
    def test_an_id_that_one_provider_would_refuse(self, given_id: str) -> None:
        complete(agent(act(call("look", given_id, key="a")), answer()).run("go"))

    def test_a_history_that_ends_in_calls_goes_on_with_the_calls(self) -> None:
        history = [Message("user", "go"), Message("assistant", "I look.", (call("look", "c1", key="a"),))]
        run = agent(act(call("look", key="unused")), answer()).run(history=history)
        assert run.messages[2].result == ToolResult("c1", "look", {"key": "a", "day": None})
        complete(run)

    def test_a_new_goal_closes_the_open_calls(self) -> None:
        history = [Message("user", "go"), Message("assistant", "I look.", (call("look", "c1", key="a"),))]
        run = agent(answer()).run("something else", history=history)
        result = run.messages[2].result
        assert result is not None and result.error is not None and result.error.code == "cancelled"
        complete(run)

    @pytest.mark.parametrize("goal", ["", "  \n", None, 5, b"go"])
    def test_no_goal_is_said_in_a_sentence(self, goal: Any) -> None:
        with pytest.raises(DefinitionError, match="goal"):
            agent(answer()).run(goal)

    def test_a_goal_of_one_megabyte(self) -> None:
        goal = "문장 " * 300_000
        assert agent(answer()).run(goal).goal == goal
        assert agent(answer(), memory=Memory(max_tokens=1_000)).run(goal).stop_reason == "context_full"


class TestStopping:
    def test_max_steps(self) -> None:
        run = agent(*LOOKS, limits=Limits(max_steps=3)).run("go")
        assert (run.status, run.stop_reason, len(run.steps), run.answer) == ("stopped", "max_steps", 3, None)
        complete(run)

    def test_time_out_with_a_clock_of_ours(self) -> None:
        ticks = iter(range(1_000))
        run = agent(*LOOKS, limits=Limits(timeout=5), clock=lambda: float(next(ticks))).run("go")
        assert run.stop_reason == "timeout" and 0 < len(run.steps) <= 5
        complete(run)

    @pytest.mark.parametrize(
        ("limit", "reason"), [({"max_tokens": 25}, "max_tokens"), ({"max_cost": 0.25}, "max_cost")]
    )
    def test_tokens_and_cost(self, limit: dict[str, Any], reason: str) -> None:
        script = [Reply(decision, Usage(7, 3, 0, 0.1)) for decision in LOOKS]
        run = agent(*script, limits=Limits(**limit)).run("go")
        assert (run.stop_reason, len(run.steps), run.usage.total_tokens) == (reason, 3, 30)
        complete(run)

    def test_an_unknown_price_stays_unknown(self) -> None:
        assert agent(Reply(answer(), Usage(7, 3, 0, None))).run("go").usage.cost is None

    def test_context_full_says_what_to_do(self) -> None:
        run = agent(answer(), memory=Memory(max_tokens=10)).run("x " * 200)
        assert run.stop_reason == "context_full" and run.error is not None and "limit" in run.error
        complete(run)

    def test_stuck_is_told_once_and_then_stopped(self) -> None:
        run = agent(*[act(call("look", key="a"))] * 20).run("go")
        assert (run.status, run.stop_reason) == ("stopped", "stuck")
        notes = [step.results[0].note for step in run.steps]
        assert sum(bool(note) for note in notes) == 1 and notes[-2] and len(run.steps) < 20
        complete(run)

    def test_other_arguments_or_results_are_not_stuck(self) -> None:
        count = iter(range(100))

        @tool
        def tick() -> int:
            """Tick."""
            return next(count)

        for script in (LOOKS[:10], [act(call("tick"))] * 10):
            assert agent(*script, answer(), tools=[look, tick]).run("go").status == "done"

    def test_the_same_arguments_in_another_order_are_the_same(self) -> None:
        one, two = ToolCall("look", {"key": "a", "day": None}), ToolCall("look", '{"day": null, "key": "a"}')
        run = agent(*[act(one), act(two)] * 10).run("go")
        assert run.stop_reason == "stuck"

    def test_a_model_that_heeds_the_note_goes_on(self) -> None:
        def decide(messages: Sequence[Message]) -> Any:
            last = messages[-1].result
            return answer("I stop.") if last is not None and last.note else act(call("look", key="a"))

        assert Agent(Plain(decide), TOOLS).run("go").answer == "I stop."

    @pytest.mark.parametrize("empty", [FinalAnswer("hm", " "), CallTools("hm", ()), AskUser("hm", "")])
    def test_an_empty_reply_is_answered_once_and_then_stopped(self, empty: Any) -> None:
        once = agent(empty, answer()).run("go")
        assert once.status == "done" and [m.kind for m in once.messages if m.role == "user"] == ["goal", "note"]
        twice = agent(empty, empty, answer()).run("go")
        assert (twice.stop_reason, bool(twice.error)) == ("model_error", True)
        for run in (once, twice):
            complete(run)

    def test_empty_replies_that_are_not_in_a_row(self) -> None:
        empty = FinalAnswer("", "")
        assert agent(empty, LOOKS[0], empty, LOOKS[1], answer()).run("go").status == "done"


@profile(80)
@given(scripts, limits)
def test_arun_does_the_same_as_run(script: Any, limit: Limits) -> None:
    def made() -> Agent:
        ticks = iter(range(10_000))
        return agent(*script, limits=limit, clock=lambda: float(next(ticks)))

    one, two = made().run("go"), asyncio.run(made().arun("go"))
    assert replace(one, id="") == replace(two, id="")


def test_a_pause_of_the_model_is_a_paused_run() -> None:
    run = Agent(Plain(lambda messages: Pause("Your turn.")), TOOLS).run("go")
    assert (run.status, run.stop_reason, run.question, run.steps) == ("paused", "needs_input", "Your turn.", ())


def test_every_view_is_one_that_providers_accept() -> None:
    model = Inspector(Counting([*LOOKS[:12], answer()]))
    run = Agent(model, TOOLS, system="s", memory=Memory(max_messages=5)).run("go")
    assert run.status == "done" and len(model.views) == 13 and all(len(view) <= 5 for view in model.views)
    assert [run.sent(i + 1) for i in range(13)] == model.views


def test_a_registry_is_used_as_it_is() -> None:
    registry = Registry(TOOLS)
    assert agent(answer(), tools=registry).registry is registry
