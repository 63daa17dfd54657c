"""The values: frozen, equal by content, short to read, and right about themselves."""

from __future__ import annotations

import json
import pickle
from dataclasses import FrozenInstanceError, fields, replace
from typing import Any

import pytest
from strategies import act, agent, answer, call

from agentkit import (
    AskUser,
    DefinitionError,
    ErrorDetail,
    FinalAnswer,
    Message,
    Reply,
    Step,
    TextDelta,
    ToolCall,
    ToolResult,
    ToolScore,
    ToolSpec,
    Usage,
)
from agentkit.errors import did_you_mean
from agentkit.messages import goal_positions, unanswered, with_arguments

VALUES: list[Any] = [
    Usage(1, 2), ToolCall("n", {"a": 1}, "c"), ErrorDetail("c", "m"), ToolResult("c", "n", 1), Message("user", "t"), act(call("n")), answer(),
    AskUser("t", "q"), ToolScore("n", "t", 0.5, 1.0), Reply(answer()), TextDelta("t"), ToolSpec("n", "d", {}), Step(1, 0, Reply(answer())),
    agent(act(call("look", key="a")), answer()).run("go"),
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
class TestEveryValue:
    def test_it_is_frozen_and_slotted(self, value: Any) -> None:
        first = fields(value)[0].name
        with pytest.raises((FrozenInstanceError, AttributeError)):
            setattr(value, first, None)
        with pytest.raises((FrozenInstanceError, AttributeError, TypeError)):
            value.something_else = 1
        assert not hasattr(value, "__dict__")

    def test_it_is_equal_by_content(self, value: Any) -> None:
        assert replace(value) == value and replace(value) is not value and value != object()
        assert pickle.loads(pickle.dumps(value)) == value

    def test_its_text_has_no_place_in_memory(self, value: Any) -> None:
        assert " at 0x" not in repr(value) and repr(value).startswith(type(value).__name__)


class TestMaking:
    def test_the_text_shows_only_what_is_not_the_default(self) -> None:
        assert repr(ToolCall("look", {"a": 1})) == "ToolCall(name='look', arguments={'a': 1})"
        assert repr(Message("user", "hi")) == "Message(role='user', text='hi')"

    def test_wrong_arguments_are_errors_with_the_name(self) -> None:
        with pytest.raises(TypeError, match="colour"):
            Message("user", colour="x")  # type: ignore[call-arg]
        with pytest.raises(TypeError, match="name"):
            ToolCall()  # type: ignore[call-arg]

    def test_defaults_are_not_shared(self) -> None:
        one, two = ToolCall("a"), ToolCall("b")
        assert one.arguments == {} and one.arguments is not two.arguments


class TestUsage:
    def test_it_adds_up_and_an_unknown_price_stays_unknown(self) -> None:
        assert Usage(1, 2, 1, 0.5) + Usage(10, 20, 3, 0.25) == Usage(11, 22, 4, 0.75)
        assert (Usage(1, 2, 0, None) + Usage(1, 1)).cost is None and (Usage() + Usage(1, 1, 0, None)).cost is None
        assert sum([Usage(1, 2), Usage(3, 4)], Usage()).total_tokens == 10

    def test_a_run_adds_up_all_steps_and_not_the_last_one_only(self) -> None:
        script = [Reply(act(call("look", key=str(i))), Usage(10, 1, 0, 0.1)) for i in range(3)]
        run = agent(*script, Reply(answer(), Usage(10, 1, 0, 0.1))).run("go")
        assert (run.usage.input_tokens, run.usage.output_tokens) == (40, 4) and run.usage.cost == pytest.approx(0.4)


class TestToolResult:
    def test_what_the_model_reads(self) -> None:
        assert json.loads(ToolResult("c", "n", {"a": "한"}).content) == {"ok": True, "data": {"a": "한"}}
        failed = ToolResult("c", "n", error=ErrorDetail("code", "Message.", "Hint."), note="Note.")
        assert json.loads(failed.content) == {
            "ok": False, "error": {"code": "code", "message": "Message.", "hint": "Hint."}, "note": "Note.",
        }  # fmt: skip
        assert "hint" not in ToolResult("c", "n", error=ErrorDetail("code", "Message.")).content
        assert "한" in ToolResult("c", "n", "한").content and json.loads(ToolResult("c", "n").content)["data"] is None


class TestRun:
    def test_steps_are_found_by_number(self) -> None:
        run = agent(act(call("look", key="a"), thought="Hm."), answer()).run("go")
        assert run.step(1).thought == "Hm." and run.step(2).decision == FinalAnswer("I know enough.", "Done.")
        assert [len(step.calls) for step in run.steps] == [1, 0]
        for wrong in (0, 3, -1, "1"):
            with pytest.raises(DefinitionError, match="steps 1 to 2"):
                run.step(wrong)  # type: ignore[arg-type]

    def test_its_text_is_one_line(self) -> None:
        assert repr(agent(answer("Yes.")).run("go")) == "Run(done, answered, 1 steps, answer='Yes.')"


class TestReadingHistories:
    def test_unanswered_calls_in_their_order(self) -> None:
        asked = Message("assistant", "", (call("a", "1"), call("b", "2"), call("c", "3")))
        told = Message("tool", result=ToolResult("2", "b"))
        assert [c.id for c in unanswered([asked, told])] == ["1", "3"]
        assert unanswered([]) == () == unanswered([asked, told, Message("user", "x")])

    def test_goals_are_users_messages_that_are_neither_notes_nor_answers(self) -> None:
        kinds = [
            Message("user", "a"),
            Message("user", "b", kind="note"),
            Message("assistant", "c"),
            Message("user", "d", kind="answer"),
            Message("user", "e"),
        ]
        assert list(goal_positions(kinds)) == [0, 4]

    def test_other_arguments_are_whole(self) -> None:
        made = with_arguments(ToolCall("n", '{"a":', "c", truncated=True), {"a": 1})
        assert made == ToolCall("n", {"a": 1}, "c") and not made.truncated


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("lookup_ordr", "Did you mean 'lookup_order'? "),
        ("LOOKUP_ORDER", "Did you mean 'lookup_order'? "),
        ("zzz", ""),
        ("", ""),
    ],
)
def test_did_you_mean(name: str, wanted: str) -> None:
    assert did_you_mean(name, ["lookup_order", "refund"]) == wanted
