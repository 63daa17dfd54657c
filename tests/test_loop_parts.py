"""Models, registries and memories of one's own in the loop; runs inside an event loop; runs as a stream."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from strategies import (
    TOOLS,
    act,
    agent,
    answer,
    bounded,
    call,
    complete,
    look,
    problems,
)

from agentkit import (
    Agent,
    AskUser,
    CallTools,
    ContextFullError,
    DefinitionError,
    FinalAnswer,
    Limits,
    Message,
    ModelError,
    Reply,
    Run,
    Step,
    TextDelta,
    ToolCall,
    ToolResult,
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


class TestInANotebook:
    def test_a_run_inside_a_running_event_loop(self) -> None:
        @tool
        async def later(key: str) -> str:
            """Later."""
            await asyncio.sleep(0)
            return key

        async def cell() -> Any:
            made = agent(act(call("later", key="a"), call("later", key="b")), answer(), tools=[later])
            return made.run("go"), list(made.stream("go"))

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
