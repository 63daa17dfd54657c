"""Runs that branch off, and runs that are interrupted: the history stays whole, and the original as it was."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from strategies import TOOLS, act, agent, answer, call, complete, data, look, results_by_call, waiting

from agentkit import Agent, DefinitionError, FinalAnswer, Message, Run, tool
from agentkit.models.scripted import ScriptedModel


def echoing() -> Agent:
    """Answers with the last observation."""

    class Echo:
        def decide(self, messages: Any, tools: Any) -> Any:
            last = messages[-1].result
            if last is None:
                return act(call("look", key="a"), call("look", key="b"))
            return FinalAnswer("", f"{[m.result.data for m in messages if m.result]}")

    return Agent(Echo(), TOOLS)


class TestFork:
    def test_another_observation(self) -> None:
        made = echoing()
        run = made.run("go")
        branch = run.fork(1, observations={"call_2": "changed"})
        assert (branch.status, branch.stop_reason, branch.pending, branch.answer) == ("paused", "forked", (), None)
        done = made.resume(branch)
        assert done.answer == f"{[{'key': 'a', 'day': None}, 'changed']}" and run.answer != done.answer
        complete(done)

    def test_other_arguments_run_again(self) -> None:
        made = echoing()
        branch = made.run("go").fork(1, arguments={"call_1": {"key": "z"}})
        assert [c.id for c in branch.pending] == ["call_1"]
        done = made.resume(branch)
        assert [d["key"] for d in data(done)] == ["z", "b"]
        assert [c.arguments for c in done.messages[1].calls] == [{"key": "z"}, {"key": "b"}]
        assert [r.call_id for r in done.step(1).results] == ["call_1", "call_2"]
        complete(done)

    def test_neither_asks_the_model_again(self) -> None:
        run = echoing().run("go")
        branch = run.fork(2)
        assert branch.messages == run.messages[:4] and len(branch.steps) == 1
        other = agent(answer("Other."), tools=TOOLS)
        other.model = type("M", (), {"decide": lambda self, m, t: answer("Other.")})()
        assert other.resume(branch).answer == "Other."

    def test_call_ids_are_the_same_every_time(self) -> None:
        made = agent(act(call("look", key="a")), act(call("look", key="b")), answer())
        run = made.run("go")
        runs = [made.resume(run.fork(1, observations={"call_1": 1})) for _ in range(2)]
        assert [[c.id for m in r.messages for c in m.calls] for r in runs] == [["call_1", "call_2"]] * 2
        assert runs[0].id != run.id

    def test_an_observation_for_a_call_that_waits_for_approval(self) -> None:
        made, run = waiting()
        done = made.resume(run.fork(1, observations={"call_1": "pretended", "call_3": "pretended"}))
        assert done.status == "done" and data(done)[::2] == ["pretended", "pretended"]
        complete(done)

    def test_edited_arguments_beside_kept_results(self) -> None:
        made, run = waiting()
        first = made.resume(run, approvals={"call_1": True, "call_3": True})
        paused = made.resume(first.fork(1, arguments={"call_3": {"what": "z"}}))
        assert paused.awaiting == ("call_3",)
        done = made.resume(paused, approvals={"call_3": {"what": "y"}})
        assert data(done) == ["a is gone", {"key": "k", "day": None}, "y is gone"]
        assert len(done.messages[1].calls) == 3
        complete(done)

    def test_a_fork_of_a_fork_and_of_a_saved_run(self) -> None:
        made = echoing()
        run = Run.from_json(made.run("go").to_json())
        once = made.resume(run.fork(1, observations={"call_1": 1}))
        twice = made.resume(once.fork(1, observations={"call_2": 2}))
        assert data(twice) == [1, 2]

    def test_wrong_steps_and_ids(self) -> None:
        run = echoing().run("go")
        with pytest.raises(DefinitionError, match="step 9"):
            run.fork(9)
        with pytest.raises(DefinitionError, match=r"call_7.*call_1"):
            run.fork(1, observations={"call_7": 1})
        with pytest.raises(DefinitionError, match="none"):
            run.fork(2, arguments={"call_1": {}})

    def test_the_original_stays_as_it_is(self) -> None:
        run = echoing().run("go")
        before = run.to_json()
        run.fork(1, observations={"call_1": {"a": [1]}})
        assert run.to_json() == before


class Boom(KeyboardInterrupt):
    pass


def boom(*_: Any, **__: Any) -> Any:
    raise Boom


class TestInterrupt:
    def stopped(self, made: Agent, **options: Any) -> Run:
        with pytest.raises(Boom) as caught:
            made.run("go", **options)
        run: Run = caught.value.run  # type: ignore[attr-defined]
        assert (run.status, run.stop_reason) == ("stopped", "cancelled")
        complete(run)
        assert set(results_by_call(run).values()) <= {1}
        return run

    def test_in_the_model(self) -> None:
        class M(ScriptedModel):
            def decide(self, messages: Any, tools: Any) -> Any:
                return super().decide(messages, tools) if len(messages) == 1 else boom()

        run = self.stopped(Agent(M([act(call("look", key="a"))]), TOOLS))
        assert data(run) == [{"key": "a", "day": None}]

    @pytest.mark.parametrize("permission", ["read", "write"])
    def test_in_one_of_several_tools(self, permission: Any) -> None:
        first_done = threading.Event()

        def first() -> str:
            """First."""
            first_done.set()
            return "kept"

        def second() -> str:
            """Second."""
            first_done.wait(10)
            raise Boom

        tools = [tool(permission=permission)(first), tool(permission="write")(second), look]
        run = self.stopped(agent(act(call("first"), call("second"), call("look", key="a")), tools=tools))
        assert data(run) == ["kept", "cancelled", "cancelled"]

    def test_in_the_memory_view(self) -> None:
        class M:
            def view(self, messages: Any, tools: Any) -> Any:
                return messages if len(messages) == 1 else boom()

        assert len(self.stopped(agent(act(call("look", key="a")), memory=M())).steps) == 1

    def test_in_the_consumer_of_a_stream(self) -> None:
        stream = agent(act(call("look", key="a")), answer()).stream("go")
        with pytest.raises(Boom):
            for _ in stream:
                boom()
        complete(stream.run)
        assert data(stream.run) == [{"key": "a", "day": None}]

    def test_in_a_resumed_run(self) -> None:
        made, run = waiting()
        made.model = type("M", (), {"decide": boom})()
        with pytest.raises(Boom) as caught:
            made.resume(run, approvals={"call_1": True, "call_3": False})
        complete(caught.value.run)  # type: ignore[attr-defined]
        assert data(caught.value.run)[::2] == ["a is gone", "denied"]  # type: ignore[attr-defined]

    def test_the_conversation_goes_on_after_it(self) -> None:
        run = self.stopped(agent(act(call("look", "x", key="a")), memory=type("M", (), {"view": boom})()))
        done = agent(answer()).run("again", history=[*run.messages, Message("user", "more", kind="note")])
        complete(done)
