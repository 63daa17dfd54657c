"""The exercises and the quiz of notebook 00, Start here. Each answer is a run, and the check looks at what happened in it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any

from agentkit.checks.exercise import CheckFailed, Exercise, Wrong, expect
from agentkit.checks.faces import shown
from agentkit.checks.quizzes import Option, Question, Quiz
from agentkit.messages import AskUser, Run, ToolCall, ToolResult

__all__ = ["EXERCISES", "QUIZ"]

# What the stubs and the solutions need when they run outside their notebook.
AGENT_SOURCE = """\
from agentkit import Agent, get_model
from agentkit.worlds import orders

agent = Agent(get_model("offline", rules=orders.rules), orders.make_tools(), system=orders.system)
"""


def _the_run(answer: Any) -> Run:
    """The run that was handed in, or a sentence about what was handed in instead."""
    if isinstance(answer, Run):
        return answer
    if isinstance(answer, str):
        raise CheckFailed("this is a text; give the text to `agent.run(…)`, and hand in what that returns")
    if callable(getattr(answer, "run", None)):
        raise CheckFailed("this is an agent; call its `run` with a goal, and hand in what that returns")
    raise CheckFailed(f"hand in a run, which is what `agent.run(…)` returns, not {shown(answer, 60)}")


def _made(run: Run) -> Iterator[tuple[ToolCall, Mapping[str, Any], ToolResult]]:
    """Every call that has a result, with its arguments."""
    for step in run.steps:
        results = {result.call_id: result for result in step.results}
        for call in step.calls:
            if call.id in results:
                arguments = call.arguments if isinstance(call.arguments, Mapping) else {}
                yield call, arguments, results[call.id]


def _orders_seen(run: Run) -> dict[str, Mapping[str, Any]]:
    """The orders whose status the agent has seen, by their codes."""
    found = {}
    for _, arguments, result in _made(run):
        data = result.data if isinstance(result.data, Mapping) else {}
        if result.ok and ("status" in data or "shipment_status" in data):
            found[str(arguments.get("order_id"))] = data
    return found


def _answered(run: Run) -> None:
    why = f"the run ended as `{run.stop_reason}`, without an answer"
    expect(run.stop_reason == "answered" and run.answer, why + (f": {run.question}" if run.question else ""))


def check_looks_up_a101(answer: Any) -> None:
    """The run has looked up order A101 and answers."""
    run = _the_run(answer)
    seen = _orders_seen(run)
    if "A101" not in seen:
        what = f"it looked up {', '.join(sorted(seen))}" if seen else "it looked up no order"
        raise CheckFailed(f"the run did not look up A101: {what}. Is the code A101 in your goal?")
    _answered(run)
    expect("A101" in str(run.answer), "the agent looked A101 up, but its answer does not name it; ask about that order")


def check_answer_turns(answer: Any) -> None:
    """The run says of A100 that the time for a refund is over."""
    run = _the_run(answer)
    order = _orders_seen(run).get("A100")
    if order is None or not order.get("delivered_on"):
        raise CheckFailed("the run did not look up A100; keep the question about A100 and change only the date")
    results = [result.data for _, _, result in _made(run) if isinstance(result.data, Mapping)]
    window = next((data["window_days"] for data in results if "window_days" in data), None)
    if window is None:
        raise CheckFailed("the run did not look up the refund policy; ask whether A100 can be refunded")
    _answered(run)
    stated = [day for text in re.findall(r"\d{4}-\d{2}-\d{2}", run.goal) if (day := _day(text))]
    if not stated:
        raise CheckFailed("your goal states no date; write one as year-month-day, for example 2026-10-13")
    days = (max(stated) - date.fromisoformat(order["delivered_on"])).days
    if days < 0:
        raise CheckFailed(f"{max(stated)} is before the delivery on {order['delivered_on']}; choose a later date")
    expect(
        days > window, f"on {max(stated)} only {days} days have passed, and {window} are allowed; choose a later date"
    )
    expect(
        f"{days}" in str(run.answer), f"{days} days have passed, but the answer does not say so; ask about the refund"
    )


def check_asks_back(answer: Any) -> None:
    """The run is paused by a question of the agent."""
    run = _the_run(answer)
    if run.stop_reason == "needs_approval":
        raise CheckFailed("the run waits for a person to approve a call; it should wait for an answer to a question")
    if run.stop_reason == "answered":
        raise CheckFailed("the agent answered; leave out something that it needs, for example the code of the order")
    expect(run.stop_reason == "needs_input", f"the run ended as `{run.stop_reason}`; it should pause with a question")
    asked = bool(run.steps) and isinstance(run.steps[-1].decision, AskUser)
    expect(asked, 'the run waits for you to play the model; make the agent with `get_model("offline", …)`')


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


LOOK_UP = Exercise(
    id="00.1",
    title="Another order",
    prompt="Write a goal of your own, so that the agent looks up order A101. Hand in the run.",
    stub="run_a101 = ...\n",
    check=check_looks_up_a101,
    hints=(
        'A run is what `agent.run("…")` returns. The text between the quotes is the goal.',
        'For example `agent.run("Where is my order A101?")`. Put it in place of the `...`.',
    ),
    setup=AGENT_SOURCE,
    solution='run_a101 = agent.run("Where is my order A101?")\n',
    why="you only changed the goal; the agent chose the tool and filled in the code by itself.",
    known_wrong=(
        Wrong('run_a101 = "Where is my order A101?"\n', "this is a text"),
        Wrong('run_a101 = agent.run("Where is my order A100?")\n', "it looked up A100"),
        Wrong("run_a101 = agent\n", "this is an agent"),
        Wrong('run_a101 = agent.run("What is your refund policy?")\n', "it looked up no order"),
        Wrong('run_a101 = agent.run("Where is my order A101?").answer\n', "this is a text"),
    ),
)

LATER = Exercise(
    id="00.2",
    title="The answer turns",
    prompt="Ask the refund question about A100 again, with another date, so that the answer becomes no.",
    stub="run_later = ...\n",
    check=check_answer_turns,
    hints=(
        "The order was delivered on 2026-10-01, and refunds are possible within 30 days. Which day is too late?",
        "Any date after 2026-10-31 will do. Write it as year-month-day, with the words `Today is` before it.",
    ),
    setup=AGENT_SOURCE,
    solution='run_later = agent.run("Can my order A100 be refunded? Today is 2026-11-05.")\n',
    why="the tools returned the same data as before, and another date led to another conclusion.",
    known_wrong=(
        Wrong(
            'run_later = agent.run("Can my order A100 be refunded? Today is 2026-10-31.")\n', "only 30 days have passed"
        ),
        Wrong(
            'run_later = agent.run("Can my order A100 be refunded? Today is 2026-09-13.")\n', "is before the delivery"
        ),
        Wrong('run_later = agent.run("Can my order A103 be refunded? Today is 2026-10-13.")\n', "did not look up A100"),
        Wrong('run_later = agent.run("Can my order A100 be refunded?")\n', "states no date"),
    ),
)

ASK_BACK = Exercise(
    id="00.3",
    title="It asks back",
    prompt="Write a goal that the agent cannot work on before it has asked you something. Hand in the paused run.",
    stub="run_asking = ...\n",
    check=check_asks_back,
    hints=(
        "What did every goal so far contain that the tool `lookup_order` needs?",
        "Ask about an order and leave out its code, for example: Can my order be refunded?",
    ),
    setup=AGENT_SOURCE,
    solution='run_asking = agent.run("Can my order be refunded? Today is 2026-10-13.")\n',
    why="the agent needs a code that stands nowhere, and it asks instead of inventing one.",
    known_wrong=(
        Wrong('run_asking = agent.run("Can my order A101 be refunded? Today is 2026-10-13.")\n', "the agent answered"),
        Wrong('run_asking = agent.run("Please refund order A100, 250000 KRW.")\n', "waits for a person to approve"),
        Wrong(
            'run_asking = Agent(get_model("human"), orders.make_tools()).run("Where is it?")\n', "waits for you to play"
        ),
        Wrong('run_asking = agent.run("Can my order be refunded?").question\n', "this is a text"),
    ),
)

EXERCISES = (LOOK_UP, LATER, ASK_BACK)

QUIZ = Quiz(
    "00",
    (
        Question(
            "Why can a model alone not say whether order A100 can be refunded?",
            (
                Option("It is too small.", "A larger model has not seen the shop's database either."),
                Option("The order stands neither in its input nor in what it was made from.", "It must be looked up."),
                Option("It does not understand the question.", "It does. What it lacks is the order, the facts."),
            ),
            "b",
        ),
        Question(
            "What is an observation?",
            (
                Option("What a tool returned.", "It enters the history, and the model reads it in the next step."),
                Option("What the model thinks.", "That is the thought. An observation comes from outside the model."),
                Option("The text of the goal.", "The goal comes from you. An observation comes from a tool."),
            ),
            "a",
        ),
        Question(
            "The agent needs an order code, and your goal has none. What should happen?",
            (
                Option("It tries the codes one after another.", "Then it looks at orders that nobody asked about."),
                Option("It invents a likely code.", "Then the answer is about some other order, and looks right."),
                Option("The run pauses with a question to you.", "Only you can know the code."),
            ),
            "c",
        ),
    ),
)
