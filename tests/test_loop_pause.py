"""Runs that pause: a question, an approval, a decision from outside; saved and resumed elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from strategies import TOOLS, act, agent, answer, call, complete, data, problems, python, results_by_call, waiting

from agentkit import Agent, AskUser, DefinitionError, Limits, Run, ToolCall, tool
from agentkit.models.human import HumanModel


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
        with pytest.raises(DefinitionError, match=r"call_9.*call_1"):
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
        with pytest.raises(Exception, match=r"decision|decide"):
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


def test_calls_of_a_paused_run_are_named_as_they_are() -> None:
    made = agent(act(ToolCall("wipe", '{"what": "a"}')), answer())
    assert made.resume(made.run("go"), approvals={"call_1": True}).status == "done"
