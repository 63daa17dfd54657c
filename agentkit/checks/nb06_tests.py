"""Exercise 06.4: a test that the learner writes, tried on loops that are right and on loops that are broken."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from agentkit.checks.exercise import CheckFailed, Exercise, Wrong
from agentkit.checks.faces import shown
from agentkit.messages import AskUser, FinalAnswer, Message, Pause, ToolCall, ToolResult

Act: TypeAlias = Callable[[Any, Sequence[ToolCall]], list[ToolResult]]


def _loop(act: Act, ids: str = "call_{}") -> Callable[..., list[Message]]:
    """A small loop whose acting is given, so that it can be right or broken in one place."""

    def run_agent(model: Any, registry: Any, goal: str, max_steps: int = 8) -> list[Message]:
        history = [Message("user", goal)]
        count = 0
        for _ in range(max_steps):
            reply = model.decide(history, registry.specs())
            assert not isinstance(reply, Pause)
            decision = getattr(reply, "decision", reply)
            if isinstance(decision, FinalAnswer | AskUser):
                text = decision.text if isinstance(decision, FinalAnswer) else decision.question
                return [*history, Message("assistant", text)]
            calls = [replace(call, id=ids.format(count + place)) for place, call in enumerate(decision.calls, 1)]
            count += len(calls)
            history.append(Message("assistant", decision.thought, tuple(calls)))
            history += [Message("tool", result=result) for result in act(registry, calls)]
        return history

    return run_agent


def _right(registry: Any, calls: Sequence[ToolCall]) -> list[ToolResult]:
    return [registry.call(call) for call in calls]


def _first_only(registry: Any, calls: Sequence[ToolCall]) -> list[ToolResult]:
    return [registry.call(call) for call in calls[:1]]


def _none(registry: Any, calls: Sequence[ToolCall]) -> list[ToolResult]:
    return []


def _same_id(registry: Any, calls: Sequence[ToolCall]) -> list[ToolResult]:
    return [replace(registry.call(call), call_id=calls[0].id) for call in calls]


def _swapped(registry: Any, calls: Sequence[ToolCall]) -> list[ToolResult]:
    results = _right(registry, calls)
    turned = reversed(results)
    return [replace(result, data=other.data) for result, other in zip(results, turned, strict=True)]


_BROKEN: tuple[tuple[Act, str], ...] = (
    (_none, "a loop that puts no result into the history"),
    (_first_only, "a loop that runs only the first of two calls"),
    (_same_id, "a loop that gives both results the id of the first call"),
    (_swapped, "a loop that swaps the data of the two results"),
)


def _check(test: Any) -> None:
    for ids in ("call_{}", "id-{}"):
        try:
            said = test(_loop(_right, ids))
        except AssertionError:
            raise CheckFailed(
                f"your test fails for a loop that is right (its ids look like {ids.format(1)!r}); assert less, or compare "
                "the ids of the results with those of the calls"
            ) from None
        if said is not None:
            raise CheckFailed(f"your test returns {shown(said)}; a test returns nothing, and says no with `assert`")
    for act, what in _BROKEN:
        try:
            test(_loop(act))
        except Exception:
            continue
        raise CheckFailed(f"your test passes for {what}")


OWN_TEST = Exercise(
    id="06.4",
    title="A test of your own",
    prompt="Write `test_two_calls(run_agent)`: after a step with two calls the history holds both results, each with the "
    "id of its call and with the data that belong to it.",
    stub="def test_two_calls(run_agent):\n    ...\n",
    check=_check,
    hints=(
        "Script one `CallTools` with two calls that have different arguments, and a `FinalAnswer`. Take a tool whose result "
        "tells which call it belongs to.",
        "Collect `message.result` of all messages that have one, and `message.calls` of the message that has calls.",
        "Two asserts do it: the `call_id` of the results are the ids of the calls, and the `data` are what you expect.",
    ),
    setup="""\
from agentkit import CallTools, FinalAnswer, Message, Registry, ScriptedModel, ToolCall, tool


@tool
def echo(text: str) -> str:
    \"\"\"Answer with the same text.

    Args:
        text: what to answer.
    \"\"\"
    return text
""",
    solution="""\
def test_two_calls(run_agent):
    calls = (ToolCall("echo", {"text": "one"}), ToolCall("echo", {"text": "two"}))
    script = ScriptedModel([CallTools("Both.", calls), FinalAnswer("", "Done.")])
    history = run_agent(script, Registry([echo]), "Say one and two.")
    ids = [call.id for message in history for call in message.calls]
    results = [message.result for message in history if message.result]
    assert [result.call_id for result in results] == ids, "a result has the wrong id"
    assert [result.data for result in results] == ["one", "two"], "a result is missing or wrong"
""",
    why="It passes for a loop that is right and fails for each of four loops that are broken. Only the second half makes it "
    "a test.",
    known_wrong=(
        Wrong(
            "def test_two_calls(run_agent):\n"
            '    calls = (ToolCall("echo", {"text": "one"}), ToolCall("echo", {"text": "two"}))\n'
            '    script = ScriptedModel([CallTools("", calls), FinalAnswer("", "Done.")])\n'
            '    assert run_agent(script, Registry([echo]), "Go.")[-1].text == "Done."\n',
            "passes for a loop that puts no result into the history",
        ),
        Wrong(
            "def test_two_calls(run_agent):\n"
            '    calls = (ToolCall("echo", {"text": "one"}), ToolCall("echo", {"text": "two"}))\n'
            '    script = ScriptedModel([CallTools("", calls), FinalAnswer("", "Done.")])\n'
            '    history = run_agent(script, Registry([echo]), "Go.")\n'
            "    assert len([m for m in history if m.result]) == 2\n",
            "gives both results the id of the first call",
        ),
        Wrong(
            "def test_two_calls(run_agent):\n"
            '    calls = (ToolCall("echo", {"text": "one"}), ToolCall("echo", {"text": "two"}))\n'
            '    script = ScriptedModel([CallTools("", calls), FinalAnswer("", "Done.")])\n'
            '    history = run_agent(script, Registry([echo]), "Go.")\n'
            "    results = [m.result for m in history if m.result]\n"
            '    assert [r.call_id for r in results] == ["call_1", "call_2"]\n',
            "fails for a loop that is right",
        ),
        Wrong(
            "def test_two_calls(run_agent):\n"
            '    calls = (ToolCall("echo", {"text": "one"}), ToolCall("echo", {"text": "two"}))\n'
            '    script = ScriptedModel([CallTools("", calls), FinalAnswer("", "Done.")])\n'
            '    history = run_agent(script, Registry([echo]), "Go.")\n'
            "    return len([m for m in history if m.result]) == 2\n",
            "says no with `assert`",
        ),
        Wrong(
            "def test_two_calls(run_agent):\n"
            '    calls = (ToolCall("echo", {"text": "one"}), ToolCall("echo", {"text": "one"}))\n'
            '    script = ScriptedModel([CallTools("", calls), FinalAnswer("", "Done.")])\n'
            '    history = run_agent(script, Registry([echo]), "Go.")\n'
            "    ids = [c.id for m in history for c in m.calls]\n"
            "    assert [m.result.call_id for m in history if m.result] == ids\n",
            "swaps the data of the two results",
        ),
    ),
)
