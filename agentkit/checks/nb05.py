"""Exercises and quiz of notebook 05, the loop."""

from __future__ import annotations

from typing import Any

from agentkit.checks.exercise import CheckFailed, Exercise, Wrong, expect
from agentkit.checks.faces import shown
from agentkit.checks.nb05_own_loop import OWN_LOOP
from agentkit.checks.nb05_quiz import QUIZ
from agentkit.checks.nb05_runs import FORKED_SOURCE, check_pair, check_verdicts
from agentkit.messages import AskUser, CallTools, FinalAnswer, ToolCall

_CALL = CallTools("I look it up.", (ToolCall("stock", {"item": "cable"}),))


def _check_kind(kind: Any) -> None:
    for decision, wanted in ((_CALL, "act"), (FinalAnswer("", "12"), "answer"), (AskUser("", "Which item?"), "ask")):
        name = type(decision).__name__
        found = kind(decision)
        expect(found == wanted, f'for the decision {name} the answer is "{wanted}", but you return {shown(found)}')


def _check_first_action(first_action: Any) -> None:
    cases = (
        ("Thought: hm.\nAction: look_up\nAction Input: {}", "look_up", "the action stands after `Action:`"),
        (
            "Thought: hm.\nAction: a\nAction Input: {}\nAction: b\nAction Input: {}",
            "a",
            "there are two actions; the first one counts",
        ),
        ("Thought: hm.\nFinal Answer: 12", None, "there is no action in it, so the answer is None"),
        ("Observation: done\nAction: b\nAction Input: {}", None, "the only action comes after an invented observation"),
        (
            "Thought: hm.\nAction:   look_up  \nAction Input: {}",
            "look_up",
            "white space around a name does not belong to it",
        ),
        ("Thought: the Action: label comes next.\nAction: look_up", "look_up", "a label stands at the start of a line"),
    )
    for text, wanted, why in cases:
        found = first_action(text)
        expect(found == wanted, f"for {shown(text)} you return {shown(found)}: {why}")


def _check_stuck(is_stuck: Any) -> None:
    one, two = ("stock", {"item": "cable"}, 12), ("stock", {"item": "lamp"}, 3)
    cases: tuple[tuple[list[Any], bool, str], ...] = (
        ([one, one, one], True, "three equal rounds with a limit of 3 are stuck"),
        ([one, one], False, "two rounds are fewer than the limit of 3"),
        ([], False, "no rounds at all are not stuck"),
        ([two, one, one, one], True, "only the last rounds count, not the first"),
        ([one, one, one, two], False, "the last round is another one, so the agent has moved on"),
        ([one, ("stock", {"item": "cable"}, 11), one], False, "the results differ, so something has changed"),
    )
    for rounds, wanted, why in cases:
        try:
            found = is_stuck(rounds, 3)
        except TypeError as problem:
            raise CheckFailed(
                "the arguments are dicts, and a dict cannot be put into a set; compare rounds with `==`"
            ) from problem
        expect(found is wanted, f"{why}; you return {shown(found)}")
    expect(
        is_stuck([one], 1) is True, "with a limit of 1 a single round is enough; use `limit`, not a number of your own"
    )


KIND = Exercise(
    id="05.1",
    title="Name the kind",
    prompt='Write `kind(decision)` with a `match`: return "act", "answer" or "ask".',
    stub="def kind(decision):\n    ...\n",
    check=_check_kind,
    hints=(
        "A class pattern is written like a call: `case CallTools():`.",
        'Three cases: `case CallTools(): return "act"`, and the same for `FinalAnswer` and `AskUser`.',
    ),
    setup="from agentkit import AskUser, CallTools, FinalAnswer\nfrom typing import assert_never\n",
    solution="""\
def kind(decision):
    match decision:
        case CallTools():
            return "act"
        case FinalAnswer():
            return "answer"
        case AskUser():
            return "ask"
        case other:
            assert_never(other)
""",
    why="The union is closed, so three cases are all there are, and `assert_never` guards the day when a fourth is added.",
    known_wrong=(
        Wrong(
            'def kind(decision):\n    return "act" if decision.thought else "answer"\n',
            'for the decision AskUser the answer is "ask"',
        ),
        Wrong(
            "def kind(decision):\n    return type(decision).__name__\n",
            'for the decision CallTools the answer is "act"',
        ),
        Wrong(
            'def kind(decision):\n    match decision:\n        case CallTools:\n            return "act"\n',
            "for the decision FinalAnswer the answer is",
        ),
    ),
)

FIRST_ACTION = Exercise(
    id="05.2",
    title="First action only",
    prompt="Write `first_action(text)`: the name of the first action before the first observation, or None.",
    stub="def first_action(text):\n    ...\n",
    check=_check_first_action,
    hints=(
        "Walk over `text.splitlines()`. What do you do at a line that starts with `Observation:`?",
        "At `Observation:` return None. At a line that starts with `Action:` return the rest of that line, stripped.",
    ),
    solution="""\
def first_action(text):
    for line in text.splitlines():
        if line.startswith("Observation:"):
            return None
        if line.startswith("Action:"):
            return line.removeprefix("Action:").strip()
    return None
""",
    why="Only the program may write observations, so nothing after one can be trusted.",
    known_wrong=(
        Wrong('def first_action(text):\n    return text.split("Action:")[1].split("\\n")[0].strip()\n', "IndexError"),
        Wrong(
            'import re\ndef first_action(text):\n    found = re.findall(r"(?m)^Action: *(.*)$", text)\n'
            "    return found[0].strip() if found else None\n",
            "after an invented observation",
        ),
        Wrong(
            "import re\ndef first_action(text):\n    trusted = text.split('Observation:')[0]\n"
            '    found = re.findall(r"(?m)^Action: *(.*)$", trusted)\n'
            "    return found[-1].strip() if found else None\n",
            "the first one counts",
        ),
    ),
)

STUCK = Exercise(
    id="05.3",
    title="Is it stuck?",
    prompt="Write `is_stuck(rounds, limit)`: True when the last `limit` rounds are all equal.",
    stub="def is_stuck(rounds, limit):\n    ...\n",
    check=_check_stuck,
    hints=(
        "`rounds[-limit:]` are the last rounds. When are there too few of them?",
        "Compare every one of the last rounds with the first of them: `all(r == last[0] for r in last)`.",
    ),
    solution="""\
def is_stuck(rounds, limit):
    last = rounds[-limit:]
    return len(last) == limit and all(found == last[0] for found in last)
""",
    why="A round that gives a new result is progress, even when the call is the same.",
    known_wrong=(
        Wrong("def is_stuck(rounds, limit):\n    return all(r == rounds[0] for r in rounds)\n", "fewer than the limit"),
        Wrong("def is_stuck(rounds, limit):\n    return len(rounds) >= limit\n", "moved on"),
        Wrong(
            "def is_stuck(rounds, limit):\n    last = [r[:2] for r in rounds[-limit:]]\n"
            "    return len(last) == limit and all(r == last[0] for r in last)\n",
            "the results differ",
        ),
        Wrong("def is_stuck(rounds, limit):\n    return len(set(rounds[-limit:])) == 1\n", "cannot be put into a set"),
        Wrong(
            "def is_stuck(rounds, limit):\n    return len(rounds) >= 3 and rounds[-1] == rounds[-2] == rounds[-3]\n",
            "use `limit`",
        ),
    ),
)

VERDICTS = Exercise(
    id="05.4",
    title="A careful clerk",
    prompt="Write `verdicts(run)`: approve refunds of at most 100,000, refuse every other call that waits.",
    stub="def verdicts(run):\n    ...\n",
    check=check_verdicts,
    hints=(
        "`run.awaiting` holds the ids of the calls that wait, `run.pending` the calls themselves.",
        "For each call in `run.pending` whose id is in `run.awaiting`: its name and its `arguments` decide.",
    ),
    solution="""\
def verdicts(run):
    return {
        call.id: call.name == "refund_order" and call.arguments["amount"] <= 100_000
        for call in run.pending
        if call.id in run.awaiting
    }
""",
    why="A verdict is given for one call with its exact arguments, and a call that nobody thought of is refused.",
    known_wrong=(
        Wrong("def verdicts(run):\n    return {call.id: True for call in run.pending}\n", "does not wait for approval"),
        Wrong("def verdicts(run):\n    return {id: True for id in run.awaiting}\n", "is more than 100,000"),
        Wrong(
            'def verdicts(run):\n    return {c.id: c.arguments.get("amount", 0) <= 100_000 '
            "for c in run.pending if c.id in run.awaiting}\n",
            "is not a refund",
        ),
        Wrong(
            'def verdicts(run):\n    return {c.id: c.name == "refund_order" and c.arguments["amount"] < 100_000 '
            "for c in run.pending if c.id in run.awaiting}\n",
            "at most 100,000",
        ),
    ),
)

WHAT_IF = Exercise(
    id="05.6",
    title="What if?",
    prompt="Hand in a pair of runs: one of the desk, and a fork of it that was resumed and answers otherwise.",
    stub="pair = ...\n",
    check=check_pair,
    hints=(
        "Run the desk first, and look at `run.steps[0].calls` for the ids of its calls.",
        "`run.fork(step, observations={call_id: data})` gives a paused run; resume it with a fresh desk agent.",
        "Hand in `(run, resumed)`. If the answers are equal, change a field that the answer rests on.",
    ),
    setup=FORKED_SOURCE,
    solution="""\
first = desk_agent().run("Can my order A100 be refunded? Today is 2026-10-13.")
call = next(call for call in first.steps[0].calls if call.name == "lookup_order")
data = next(result.data for result in first.steps[0].results if result.call_id == call.id)
second = desk_agent().resume(first.fork(1, observations={call.id: {**data, "status": "cancelled", "delivered_on": None}}))
pair = (first, second)
""",
    why="The loop starts from any history, so a changed observation is all that a what-if needs.",
    known_wrong=(
        Wrong('run = desk_agent().run("Where is my order A101?")\npair = (run, run)\n', "the same run twice"),
        Wrong(
            'pair = (desk_agent().run("Where is my order A101?"), desk_agent().run("Where is my order A114?"))\n',
            "is not a fork",
        ),
        Wrong('pair = desk_agent().run("Where is my order A101?")\n', "a pair of two runs"),
        Wrong(
            'run = desk_agent().run("Where is my order A101?")\n'
            "call = run.steps[0].calls[0]\npair = (run, run.fork(1, observations={call.id: {}}))\n",
            "has not been resumed",
        ),
    ),
)

__all__ = ["EXERCISES", "QUIZ"]

EXERCISES = (KIND, FIRST_ACTION, STUCK, VERDICTS, OWN_LOOP, WHAT_IF)
