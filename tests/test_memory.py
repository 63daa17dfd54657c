"""What is sent: a window never separates a call from its results, never drops what is pinned, and keeps to its limits."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import TOOLS, call, histories, problems, profile

from agentkit import ContextFullError, DefinitionError, Memory, Message, ToolResult, ToolSpec, estimate_tokens
from agentkit.memory import MemoryPolicy, message_tokens, tool_tokens, units
from agentkit.messages import goal_positions

SPECS = tuple(item.spec for item in TOOLS)


def turn(number: int, size: int = 20) -> list[Message]:
    """One call and its result."""
    made = call("look", f"c{number}", key=str(number))
    return [Message("assistant", "I look.", (made,)), Message("tool", result=ToolResult(made.id, "look", "x" * size))]


def conversation(turns: int) -> list[Message]:
    return [Message("system", "Be brief."), Message("user", "What is it?"), *[m for i in range(turns) for m in turn(i)]]


def cost(messages: Sequence[Message], tools: Sequence[ToolSpec] = ()) -> int:
    return sum(map(message_tokens, messages)) + tool_tokens(tools)


class TestLimits:
    @pytest.mark.parametrize(
        "memory", [Memory(), Memory(max_messages=1_000), Memory(max_tokens=100_000), Memory(1_000, 100_000)]
    )
    def test_under_the_limit_the_history_itself_is_sent(self, memory: Memory) -> None:
        for history in (tuple(conversation(5)), conversation(5)):
            assert memory.view(history, SPECS) is history

    def test_exactly_at_the_limit_nothing_is_cut(self) -> None:
        history = tuple(conversation(5))
        assert Memory(max_messages=12).view(history) is history
        assert Memory(max_tokens=cost(history, SPECS)).view(history, SPECS) is history
        assert len(Memory(max_messages=11).view(history)) == 10
        assert len(Memory(max_tokens=cost(history, SPECS) - 1).view(history, SPECS)) == 10

    def test_the_newest_units_are_kept_in_order(self) -> None:
        history = conversation(5)
        assert list(Memory(max_messages=6).view(history)) == [*history[:2], *history[-4:]]
        assert list(Memory(max_messages=7).view(history)) == [*history[:2], *history[-4:]]

    def test_tools_and_system_prompt_take_their_part(self) -> None:
        history = tuple(conversation(30))
        whole = Memory(max_tokens=cost(history)).view(history)
        fewer = Memory(max_tokens=cost(history)).view(history, SPECS)
        assert whole is history and len(fewer) < len(whole)
        assert cost(fewer, SPECS) <= cost(history)

    @pytest.mark.parametrize("options", [{"max_messages": 0}, {"max_messages": -1}, {"max_tokens": 0}])
    def test_a_limit_below_one_is_refused(self, options: dict[str, int]) -> None:
        with pytest.raises(DefinitionError, match="at least 1"):
            Memory(**options)

    @pytest.mark.parametrize("memory", [Memory(max_messages=3), Memory(max_tokens=30)])
    def test_what_cannot_fit_is_said_with_what_to_do(self, memory: Memory) -> None:
        with pytest.raises(ContextFullError, match="Raise the limit"):
            memory.view(conversation(5), SPECS)

    def test_it_is_a_policy_and_does_not_change(self) -> None:
        policy: MemoryPolicy = Memory(max_messages=6)
        history = conversation(5)
        before = list(history)
        assert policy.view(history, ()) == policy.view(history, ()) and history == before
        with pytest.raises(AttributeError):
            policy.max_messages = 3  # type: ignore[attr-defined]

    def test_a_history_without_a_goal_and_an_empty_one(self) -> None:
        assert Memory(max_messages=2).view([]) == []
        only = [Message("assistant", "a"), Message("assistant", "b"), Message("assistant", "c")]
        assert list(Memory(max_messages=2).view(only)) == only[-2:]


class TestPinned:
    def test_first_goal_latest_goal_and_the_answers_after_it(self) -> None:
        history = [
            Message("system", "Be brief."), Message("user", "first"), *turn(0), Message("assistant", "one"),
            Message("user", "second"), Message("assistant", "two"), Message("user", "third"), Message("assistant", "Which?"),
            Message("user", "this", kind="answer"), *turn(1), *turn(2),
        ]  # fmt: skip
        texts = [m.text for m in Memory(max_messages=6).view(history) if m.role in ("system", "user")]
        assert texts == ["Be brief.", "first", "third", "this"]

    def test_an_answer_to_an_older_goal_may_go(self) -> None:
        history = [Message("user", "first"), Message("user", "old", kind="answer"), Message("user", "second"), *turn(1)]
        assert [m.text for m in Memory(max_messages=4).view(history) if m.role == "user"] == ["first", "second"]

    def test_a_note_is_not_a_goal(self) -> None:
        history = [Message("user", "goal"), Message("user", "note", kind="note"), *turn(1), *turn(2)]
        assert [m.text for m in Memory(max_messages=3).view(history) if m.role == "user"] == ["goal"]


def parallel(count: int) -> list[Message]:
    calls = tuple(call("look", f"p{i}", key=str(i)) for i in range(count))
    return [Message("assistant", "", calls), *[Message("tool", result=ToolResult(c.id, "look", 1)) for c in calls]]


def test_a_call_and_its_results_are_one_unit() -> None:
    history = [Message("user", "go"), *turn(0), *parallel(3), Message("assistant", "text")]
    assert [len(unit) for unit in units(history)] == [1, 4, 2, 1]
    for limit in (2, 3, 4, 5):
        assert list(Memory(max_messages=limit).view(history)) == [history[0], history[-1]]
    assert len(Memory(max_messages=6).view(history)) == 6
    with pytest.raises(ContextFullError):
        Memory(max_messages=4).view(history[:-1])


@profile(250)
@given(histories(), st.integers(1, 14) | st.none(), st.integers(1, 500) | st.none(), st.booleans())
def test_any_window_of_any_history(
    history: tuple[Message, ...], most: int | None, tokens: int | None, tools: bool
) -> None:
    specs = SPECS if tools else ()
    try:
        view = Memory(most, tokens).view(history, specs)
    except ContextFullError:
        least = required(history)
        over = (most is not None and len(least) > most) or (tokens is not None and cost(least, specs) > tokens)
        assert over
        return
    assert most is None or len(view) <= most
    assert tokens is None or cost(view, specs) <= tokens
    places = [next(i for i, m in enumerate(history) if m is message) for message in view]
    assert places == sorted(set(places))  # nothing invented, nothing twice, in order
    assert all(any(message is kept for kept in view) for message in required(history))
    assert problems(view) == []
    if most is None or len(history) <= most:
        assert (tokens is not None and cost(history, specs) > tokens) or view is history


def required(history: Sequence[Message]) -> list[Message]:
    """Written apart from the code under test: the system prompt, the goals that count, the answers, the newest unit."""
    goals = list(goal_positions(history))
    needed = {i for i, m in enumerate(history) if m.role == "system"} | {goals[0], goals[-1]}
    needed |= {i for i, m in enumerate(history) if m.kind == "answer" and m.role == "user" and i > goals[-1]}
    place = len(history) - 1
    while history[place].role == "tool":
        place -= 1
    return [history[i] for i in sorted(needed | set(range(place, len(history))))]


class TestEstimate:
    @pytest.mark.parametrize(
        ("text", "least", "most"),
        [
            ("", 0, 0), ("hello world, this is a test of tokens", 7, 12), ("안녕하세요" * 50, 150, 400), ("🔥🎉💯", 3, 9),
            ("東京都渋谷区" * 10, 40, 90), ("สวัสดีครับ" * 10, 50, 110), ("{\"order_id\": \"A100\"}", 4, 12), ("\ud83d", 1, 3),
        ],
    )  # fmt: skip
    def test_close_to_what_tokenisers_count(self, text: str, least: int, most: int) -> None:
        assert least <= estimate_tokens(text) <= most

    @profile(60)
    @given(st.text(st.characters(), max_size=50), st.text(st.characters(), max_size=50))
    def test_longer_texts_never_have_fewer_tokens(self, one: str, two: str) -> None:
        assert max(estimate_tokens(one), estimate_tokens(two)) <= estimate_tokens(one + two) <= len(one + two) * 4

    def test_calls_results_and_tools_are_counted(self) -> None:
        plain = message_tokens(Message("assistant", "x"))
        assert message_tokens(Message("assistant", "x", (call("look", "c", key="k" * 400),))) > plain + 100
        assert message_tokens(Message("tool", result=ToolResult("c", "look", "k" * 400))) > 100
        spec = ToolSpec("t", "d", {"type": "object", "description": "k" * 400})
        assert tool_tokens([spec] * 3) == 3 * tool_tokens([spec]) > 300 and json.dumps(dict(spec.parameters))
