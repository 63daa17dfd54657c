"""Exercise 05.5: a loop of your own, and the loops that miss something."""

from __future__ import annotations

from typing import Any

from agentkit.checks.contract_report import ContractReport
from agentkit.checks.contracts import loop_contract
from agentkit.checks.exercise import Exercise, Wrong
from agentkit.checks.nb05_runs import check_own_loop


def _check_own_loop(run_agent: Any) -> ContractReport:
    report = loop_contract(run_agent)
    if report.passed:
        check_own_loop(run_agent)
    return report


_SOLUTION = """\
def run_agent(model, tools, goal, max_steps=8):
    history = [Message("user", goal)]
    count = 0
    for _ in range(max_steps):
        decision = model.decide(history, tools.specs()).decision
        if not isinstance(decision, CallTools):
            return [*history, Message("assistant", getattr(decision, "text", getattr(decision, "question", "")))]
        calls = []
        for call in decision.calls:
            count += 1
            calls.append(replace(call, id=f"call_{count}"))
        history.append(Message("assistant", decision.thought, tuple(calls)))
        history += [Message("tool", result=tools.call(call)) for call in calls]
    return history
"""


def _without(*changes: tuple[str, str], lacks: str) -> Wrong:
    """The solution with one thing missing, and what the learner must be told then."""
    source = _SOLUTION
    for old, new in changes:
        assert old in source
        source = source.replace(old, new)
    return Wrong(source, lacks)


OWN_LOOP = Exercise(
    id="05.5",
    title="Your own loop",
    prompt="Write `run_agent(model, tools, goal, max_steps)` that returns the messages and passes the contract of a loop.",
    stub="def run_agent(model, tools, goal, max_steps=8):\n    ...\n",
    check=_check_own_loop,
    hints=(
        "Begin with `history = [Message('user', goal)]`, and repeat at most `max_steps` times: decide, act, observe.",
        "Give every call an id of its own before it enters the history: `replace(call, id=f'call_{n}')`.",
        "For each call append `Message('tool', result=tools.call(call))`; on a `FinalAnswer` append it and return.",
    ),
    setup="from dataclasses import replace\nfrom agentkit import CallTools, Message\n",
    solution=_SOLUTION,
    why="Each call has one result in the history, an error is an observation, and the limit always holds.",
    known_wrong=(
        _without(
            ('        history.append(Message("assistant", decision.thought, tuple(calls)))\n', ""),
            (
                '        history += [Message("tool", result=tools.call(call)) for call in calls]\n',
                "        [tools.call(call) for call in calls]\n",
            ),
            lacks="result",
        ),
        _without(("for _ in range(max_steps):", "while True:"), lacks="limit"),
        _without(('replace(call, id=f"call_{count}")', "call"), lacks="an id of its own"),
        _without(('getattr(decision, "question", "")', '""'), lacks="the question to the user"),
    ),
)
