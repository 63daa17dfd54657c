"""Runs that pause: a question, an approval, a decision from outside, a branch; saved and resumed elsewhere."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from strategies import TOOLS, act, agent, answer, call, complete, look, problems, python, results_by_call

from agentkit import Agent, AskUser, DefinitionError, FinalAnswer, Limits, Message, Run, ToolCall, tool
from agentkit.models.human import HumanModel
from agentkit.models.scripted import ScriptedModel

WIPE_TWO = act(call("wipe", what="a"), call("look", key="k"), call("wipe", what="b"))


def waiting() -> tuple[Agent, Run]:
    """Paused before three calls, of which two need an approval."""
    made = agent(WIPE_TWO, answer())
    return made, made.run("go")


def data(run: Run, step: int = 1) -> list[Any]:
    return [r.data if r.ok else r.error.code for r in run.step(step).results]  # type: ignore[union-attr]


class TestQuestion:
    def test_the_answer_goes_on_with_the_run(self) -> None:
        made = agent(AskUser("I need it.", "Which order?"), answer("A100 it is."))
        run = made.run("go")
        assert (run.status, run.stop_reason, run.question) == ("paused", "needs_input", "Which order?")
        assert problems(run.messages) == []
        done = made.resume(run, answer="A100")
        assert done.answer == "A100 it is." and done.goal == "go" and done.question is None
        assert [(m.role, m.kind) for m in done.messages][-2] == ("user", "answer")
        assert run.status == "paused" and len(run.messages) == 2
        complete(done)

    @pytest.mark.parametrize("text", ["", "  ", None])
    def test_no_answer_is_said_in_a_sentence(self, text: Any) -> None:
        made = agent(AskUser("", "Which?"), answer())
        with pytest.raises(DefinitionError, match="answer"):
            made.resume(made.run("go"), answer=text)

    def test_a_finished_run_cannot_be_resumed(self) -> None:
        made = agent(answer())
        with pytest.raises(DefinitionError, match="done"):
            made.resume(made.run("go"), answer="x")

    def test_usage_and_steps_go_on(self) -> None:
        made = agent(
            act(call("look", key="a")),
            AskUser("", "Which?"),
            act(call("look", key="b")),
            answer(),
            limits=Limits(max_steps=4),
        )
        done = made.resume(made.run("go"), answer="x")
        assert [s.number for s in done.steps] == [1, 2, 3, 4] and done.status == "done"


class TestApproval:
    def test_nothing_runs_before_the_verdict(self) -> None:
        seen = []

        @tool(permission="write")
        def note(text: str) -> str:
            """Note."""
            seen.append(text)
            return text

        made = agent(act(call("note", text="n"), call("wipe", what="a")), answer(), tools=[*TOOLS, note])
        run = made.run("go")
        assert (run.stop_reason, run.awaiting, len(run.pending), seen) == ("needs_approval", ("call_2",), 2, [])
        assert made.resume(run, approvals={"call_2": True}).status == "done" and seen == ["n"]

    def test_yes_no_reason_and_edit(self) -> None:
        made, run = waiting()
        assert run.awaiting == ("call_1", "call_3")
        assert data(made.resume(run, approvals={"call_1": True, "call_3": True})) == [
            "a is gone",
            {"key": "k", "day": None},
            "b is gone",
        ]
        done = made.resume(run, approvals={"call_1": "Not this one.", "call_3": {"what": "c"}})
        assert data(done) == ["denied", {"key": "k", "day": None}, "c is gone"]
        assert "Not this one." in done.step(1).results[0].content
        assert [c.arguments for c in done.messages[1].calls][2] == {"what": "c"} == done.step(1).calls[2].arguments
        assert data(made.resume(run, approvals={"call_1": False, "call_3": False}))[::2] == ["denied", "denied"]
        complete(done)

    def test_an_empty_reason_is_still_a_no(self) -> None:
        made, run = waiting()
        assert data(made.resume(run, approvals={"call_1": "", "call_3": False}))[::2] == ["denied", "denied"]

    def test_a_missing_verdict_keeps_the_run_paused(self) -> None:
        made, run = waiting()
        half = made.resume(run, approvals={"call_1": True})
        assert (half.status, half.stop_reason, half.awaiting) == ("paused", "needs_approval", ("call_3",))
        assert made.resume(run).status == "paused" and made.resume(run).awaiting == run.awaiting

    @pytest.mark.parametrize("saved", [False, True])
    @pytest.mark.parametrize(
        "verdicts", [(True, True), ("no", True), (True, "no"), ({"what": "x"}, True), (False, {"what": "y"})]
    )
    def test_verdicts_may_come_one_after_the_other(self, verdicts: tuple[Any, Any], saved: bool) -> None:
        made, run = waiting()
        at_once = made.resume(run, approvals=dict(zip(run.awaiting, verdicts, strict=True)))
        half = made.resume(run, approvals={"call_1": verdicts[0]})
        half = Run.from_json(half.to_json()) if saved else half
        done = made.resume(half, approvals={"call_3": verdicts[1]})
        assert done.status == "done" and data(done) == data(at_once)
        complete(done)

    def test_an_unknown_id_and_a_strange_verdict(self) -> None:
        made, run = waiting()
        with pytest.raises(DefinitionError, match="call_9.*call_1"):
            made.resume(run, approvals={"call_9": True})
        with pytest.raises(DefinitionError, match="call_2"):
            made.resume(run, approvals={"call_2": True})
        for verdict in (None, 1, [True]):
            with pytest.raises(DefinitionError, match="verdict"):
                made.resume(run, approvals={"call_1": verdict})  # type: ignore[dict-item]

    def test_an_answer_is_not_a_verdict(self) -> None:
        made, run = waiting()
        for wrong in ({"answer": "yes"}, {"decision": answer()}):
            with pytest.raises(DefinitionError, match="approvals"):
                made.resume(run, **wrong)  # type: ignore[arg-type]

    def test_an_approval_is_bound_to_the_arguments(self) -> None:
        made, run = waiting()
        done = made.resume(run, approvals={"call_1": {"waht": "x"}, "call_3": True})
        assert data(done)[0] == "bad_arguments"
        again = agent(act(call("wipe", what="a")), act(call("wipe", what="b")), answer())
        second = again.resume(again.run("go"), approvals={"call_1": True})
        assert second.status == "paused" and second.awaiting == ("call_2",)

    def test_going_on_with_another_goal_refuses_the_calls(self) -> None:
        _, run = waiting()
        done = agent(answer()).run("else", history=run.messages)
        complete(done)
        assert set(results_by_call(done).values()) == {1}


class TestDecision:
    def test_be_the_model(self) -> None:
        made = Agent(HumanModel(), TOOLS)
        run = made.run("go")
        assert run.question and run.steps == ()
        run = made.resume(run, decision=act(call("look", key="a")))
        assert run.status == "paused" and data(run) == [{"key": "a", "day": None}]
        assert run.sent(1) == run.messages[:1]
        done = made.resume(run, decision=answer("It is a."))
        assert done.answer == "It is a."
        complete(done)

    def test_a_decision_that_is_none(self) -> None:
        made = Agent(HumanModel(), TOOLS)
        with pytest.raises(Exception, match="decision|decide"):
            made.resume(made.run("go"), decision="look")  # type: ignore[arg-type]


class TestElsewhere:
    @pytest.mark.parametrize(
        ("script", "resume", "wanted"),
        [
            ("AskUser('', 'Which?'), FinalAnswer('', 'B')", "answer='b'", "B"),
            ("CallTools('', (ToolCall('wipe', {'what': 'x'}),)), FinalAnswer('', 'Gone')", "approvals={'call_1': True}", "Gone"),
            ("AskUser('', 'Which?'), FinalAnswer('', 'B')", "decision=FinalAnswer('', 'Mine')", "Mine"),
        ],
    )  # fmt: skip
    def test_another_process_goes_on(self, tmp_path: Path, script: str, resume: str, wanted: str) -> None:
        setting = f"""
import sys
from agentkit import Agent, AskUser, CallTools, FinalAnswer, Run, ToolCall, tool
from agentkit.models.scripted import ScriptedModel
@tool(permission="dangerous")
def wipe(what: str) -> str:
    "Wipe."
    return what + " is gone"
agent = Agent(ScriptedModel([{script}]), [wipe])
"""
        file = str(tmp_path / "실행.json")
        python(setting + "run = agent.run('go'); assert run.status == 'paused'; run.save(sys.argv[1])", file)
        python(setting + f"agent.resume(Run.load(sys.argv[1]), {resume}).save(sys.argv[1])", file)
        done = Run.load(file)
        assert (done.status, done.answer) == ("done", wanted)
        complete(done)

    def test_a_write_is_not_done_twice_when_a_saved_pause_is_resumed_twice(self) -> None:
        """The same registry, the same run, the same call: the second resume meets the stored result."""
        count = iter(range(1, 10))

        @tool(permission="dangerous")
        def pay() -> int:
            """Pay."""
            return next(count)

        made = agent(act(call("pay")), answer(), tools=[pay])
        run = made.run("go")
        assert data(made.resume(run, approvals={"call_1": True})) == [1]
        assert data(made.resume(run, approvals={"call_1": True})) == [1]


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
        with pytest.raises(DefinitionError, match="call_7.*call_1"):
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


def test_calls_of_a_paused_run_are_named_as_they_are() -> None:
    made = agent(act(ToolCall("wipe", '{"what": "a"}')), answer())
    assert made.resume(made.run("go"), approvals={"call_1": True}).status == "done"
