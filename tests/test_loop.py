"""The loop: think, act, observe, until it is time to stop; and what a run looks like however it ends."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
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
    bounded,
    call,
    complete,
    limits,
    look,
    problems,
    profile,
    scripts,
)

from agentkit import (
    Agent,
    AskUser,
    CallTools,
    ContextFullError,
    DefinitionError,
    FinalAnswer,
    Limits,
    Memory,
    Message,
    ModelError,
    Pause,
    Registry,
    Reply,
    Run,
    Step,
    TextDelta,
    ToolCall,
    ToolResult,
    Usage,
    to_anthropic,
    to_openai,
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


GARBAGE: list[Any] = [
    None, "text", 5, {"answer": "x"}, Reply(None), Reply("x"), FinalAnswer("", None), FinalAnswer("", 5), AskUser("", None),
    CallTools("t", None), CallTools("t", ("x",)), CallTools("t", (None,)), CallTools("t", 5), Message("assistant", "x"),
]  # fmt: skip
HALF_RIGHT: list[Any] = [
    FinalAnswer(None, "x"), CallTools(None, (call("look", key="a"),)), CallTools("t", (ToolCall(None),)),
    CallTools("t", (ToolCall("look", 5),)), CallTools("t", (ToolCall("look", None),)), CallTools("t", (ToolCall("look", {}, 5),)),
    CallTools("t", (ToolCall("look", {"key": b"x"}),)), CallTools("t", (ToolCall("look", {1: 2}),)),
    CallTools("t", (ToolCall("look", {"key": "\ud83d"}),)), CallTools("\ud83d", (ToolCall("lo\ud83dok"),)), FinalAnswer("", "\ud83d"),
    CallTools("t", (ToolCall("look", {"key": float("nan")}),)), CallTools("t", (ToolCall("look", {"key": {1, 2}}),)),
]  # fmt: skip


class TestModelsOfYourOwn:
    def test_a_bare_decision_will_do(self) -> None:
        assert Agent(Plain(lambda messages: answer("a")), []).run("go").answer == "a"

    @pytest.mark.parametrize("way", ["run", "arun"])
    @pytest.mark.parametrize("place", range(len(GARBAGE)), ids=lambda place: repr(GARBAGE[place])[:40])
    def test_garbage_becomes_a_sentence(self, place: int, way: str) -> None:
        made = Agent(Plain(lambda messages: GARBAGE[place]), TOOLS)
        run = made.run("go") if way == "run" else asyncio.run(made.arun("go"))
        assert (run.status, run.stop_reason) == ("stopped", "model_error")
        assert run.error and run.error.endswith(".") and "Traceback" not in run.error
        complete(run)
        assert type(run).from_json(run.to_json()) == run

    @pytest.mark.filterwarnings("error")
    @pytest.mark.parametrize("place", range(len(HALF_RIGHT)))
    def test_half_garbage_leaves_a_run_that_can_be_sent_and_saved(self, place: int, tmp_path: Path) -> None:
        run = Agent(Plain(lambda messages: HALF_RIGHT[place]), TOOLS, limits=Limits(max_steps=2)).run("go")
        complete(run)
        json.dumps([to_openai(run.messages), to_anthropic(run.messages)], allow_nan=False, ensure_ascii=False).encode(
            "utf-8"
        )
        again = Run.load(run.save(tmp_path / "run.json"))
        assert to_openai(again.messages) == to_openai(run.messages) and again.steps == run.steps

    def test_a_list_of_calls_is_as_good_as_a_tuple(self) -> None:
        calls: Any = [call("look", key="a")]
        run = agent(CallTools("t", calls), answer()).run("go")
        complete(run)
        assert isinstance(run.messages[1].calls, tuple)

    def test_an_error_of_the_model_stops_the_run(self) -> None:
        def decide(messages: Sequence[Message]) -> Any:
            raise ModelError("The service is away. Try again later.")

        run = Agent(Plain(decide), TOOLS).run("go")
        assert (run.stop_reason, run.error) == ("model_error", "The service is away. Try again later.")
        complete(run)

    @pytest.mark.parametrize("way", ["run", "arun"])
    @pytest.mark.parametrize("kind", [KeyError, StopIteration, DefinitionError, SystemExit, KeyboardInterrupt])
    def test_any_other_exception_is_raised_with_the_run(self, kind: type[BaseException], way: str) -> None:
        def decide(messages: Sequence[Message]) -> Any:
            if len(messages) > 2:
                raise kind("mine")
            return act(call("look", key="a"))

        made = Agent(Plain(decide), TOOLS)
        wanted: Any = (kind, RuntimeError) if kind is StopIteration else kind
        with pytest.raises(wanted) as caught:
            bounded(lambda: made.run("go") if way == "run" else asyncio.run(made.arun("go")), 5)
        run = caught.value.run  # type: ignore[union-attr]
        assert run.stop_reason == "cancelled" and len(run.steps) == 1
        complete(run)

    def test_something_without_decide_is_refused(self) -> None:
        with pytest.raises(DefinitionError, match="decide"):
            Agent(object())  # type: ignore[arg-type]


class TestPartsOfYourOwn:
    @pytest.mark.parametrize("way", ["run", "arun"])
    def test_a_registry_with_specs_and_call(self, way: str) -> None:
        class Mine:
            def specs(self) -> Any:
                return (look.spec,)

            def call(self, made: ToolCall) -> ToolResult:
                return ToolResult(made.id, made.name, f"seen {made.id}")

        made = agent(act(call("look", key="a"), call("x")), answer(), tools=Mine())
        run = made.run("go") if way == "run" else asyncio.run(made.arun("go"))
        assert [r.data for r in run.steps[0].results] == ["seen call_1", "seen call_2"]
        complete(run)

    def test_a_memory_class(self) -> None:
        class Last:
            def view(self, messages: Sequence[Message], tools: Any) -> Sequence[Message]:
                return [Message("user", "summary", kind="note"), *messages[:1]]

        run = agent(act(call("look", key="a")), answer(), memory=Last()).run("go")
        assert [m.text for m in run.sent(1)] == ["summary", "go"] and run.sent(2)[1] is run.messages[0]
        complete(run)

    def test_a_memory_that_is_full(self) -> None:
        class Full:
            def view(self, messages: Sequence[Message], tools: Any) -> Sequence[Message]:
                raise ContextFullError("Too much.")

        run = agent(answer(), memory=Full()).run("go")
        assert (run.stop_reason, run.error) == ("context_full", "Too much.")


@profile(80)
@given(scripts, limits)
def test_arun_does_the_same_as_run(script: Any, limit: Limits) -> None:
    def made() -> Agent:
        ticks = iter(range(10_000))
        return agent(*script, limits=limit, clock=lambda: float(next(ticks)))

    one, two = made().run("go"), asyncio.run(made().arun("go"))
    assert replace(one, id="") == replace(two, id="")


class TestInANotebook:
    def test_a_run_inside_a_running_event_loop(self) -> None:
        @tool
        async def later(key: str) -> str:
            """Later."""
            await asyncio.sleep(0)
            return key

        async def cell() -> Any:
            made = agent(act(call("later", key="a"), call("later", key="b")), answer(), tools=[later])
            return made.run("go"), [s for s in made.stream("go")]

        run, steps = bounded(lambda: asyncio.run(cell()))
        assert [r.data for r in run.steps[0].results] == ["a", "b"] and tuple(steps) == run.steps


class Talking:
    """A model that streams its answer."""

    def __init__(self, *items: Any) -> None:
        self.items = items

    def decide(self, messages: Sequence[Message], tools: Any) -> Any:
        return self.items[-1]

    def stream(self, messages: Sequence[Message], tools: Any) -> Iterator[Any]:
        yield from self.items


class TestStream:
    def test_it_yields_steps_and_ends_with_the_run(self) -> None:
        made = agent(act(call("look", key="a")), answer())
        stream = made.stream("go")
        assert problems(stream.run.messages) == [] and stream.run.stop_reason == "cancelled"
        for count, step in enumerate(stream, 1):
            assert isinstance(step, Step) and stream.run.steps[:count] == made.run("go").steps[:count]
            complete(replace(stream.run, status="stopped"))
        assert stream.run == made.run("go") and list(stream) == []

    def test_text_comes_piece_by_piece(self) -> None:
        stream = Agent(Talking(TextDelta("It "), TextDelta("is."), Reply(answer("It is."))), []).stream("go")
        assert [item.text for item in stream if isinstance(item, TextDelta)] == ["It ", "is."]
        assert stream.run.answer == "It is."

    def test_a_stream_without_a_reply_is_a_model_error(self) -> None:
        stream = Agent(Talking(TextDelta("It ")), []).stream("go")
        assert len(list(stream)) == 1 and stream.run.stop_reason == "model_error" and stream.run.error

    def test_leaving_early_keeps_what_happened(self) -> None:
        stream = agent(act(call("look", key="a")), answer()).stream("go")
        next(stream)
        complete(stream.run)
        assert len(stream.run.steps) == 1


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
