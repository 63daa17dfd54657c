"""Checks of notebook 05 that look at whole runs: verdicts on a paused run, and a fork."""

from __future__ import annotations

from typing import Any

from agentkit.checks.exercise import CheckFailed, expect
from agentkit.checks.faces import shown
from agentkit.loop import Agent
from agentkit.messages import AskUser, CallTools, FinalAnswer, Message, Run, ToolCall
from agentkit.models.scripted import ScriptedModel
from agentkit.registry import Registry
from agentkit.tools import tool

# What the solution of the open exercise needs: an agent at the desk of the sample world.
FORKED_SOURCE = """\
from agentkit import Agent, get_model
from agentkit.worlds import orders


def desk_agent():
    return Agent(get_model("offline", rules=orders.rules), orders.make_tools(), system=orders.system)
"""


@tool(permission="dangerous")
def refund_order(order_id: str, amount: int) -> str:
    """Pay money back for an order."""
    return "paid"


@tool(permission="dangerous")
def delete_account(customer: str) -> str:
    """Delete a customer's account."""
    return "deleted"


@tool
def lookup_order(order_id: str) -> str:
    """Look up an order."""
    return "delivered"


def _waiting() -> Run:
    """A run that waits for four verdicts, and has one more call that needs none."""
    calls = (
        ToolCall("lookup_order", {"order_id": "A1"}),
        ToolCall("refund_order", {"order_id": "A1", "amount": 20_000}),
        ToolCall("refund_order", {"order_id": "A2", "amount": 100_000}),
        ToolCall("refund_order", {"order_id": "A3", "amount": 250_000}),
        ToolCall("delete_account", {"customer": "C01"}),
    )
    script = ScriptedModel([CallTools("", calls), FinalAnswer("", "done")])
    return Agent(script, [refund_order, delete_account, lookup_order]).run("Settle everything.")


def check_verdicts(verdicts: Any) -> None:
    """Try a function that gives verdicts on the calls of a paused run."""
    run = _waiting()
    found = verdicts(run)
    if not isinstance(found, dict):
        raise CheckFailed(f"the verdicts are a dictionary from call id to True or False, not {shown(found)}")
    for call in run.pending:
        if call.id not in run.awaiting:
            expect(
                call.id not in found,
                f"{call.name} does not wait for approval, so it needs no verdict; see `run.awaiting`",
            )
            continue
        expect(call.id in found, f"the call {call.id} waits for approval and has no verdict")
        if call.name != "refund_order":
            expect(found[call.id] is False, f"{call.name} is not a refund, so it must be refused")
            continue
        amount = dict(call.arguments)["amount"]  # type: ignore[arg-type]
        small = amount <= 100_000
        words = "is at most 100,000, so approve it" if small else "is more than 100,000, so refuse it"
        expect(found[call.id] is small, f"a refund of {amount:,} {words}")


def check_pair(pair: Any) -> None:
    """Try a pair of runs of which the second is a resumed fork of the first."""
    if not (isinstance(pair, (tuple, list)) and len(pair) == 2 and all(isinstance(run, Run) for run in pair)):
        raise CheckFailed("hand in a pair of two runs: `pair = (run, other)`")
    first, second = pair
    expect(first != second, "these are the same run twice; the second must be a fork of the first")
    expect(first.goal == second.goal, "the second run has another goal, so it is not a fork of the first")
    expect(second.stop_reason != "forked", "the fork has not been resumed; call `agent.resume(fork)`")
    expect(first.answer and second.answer, "both runs must end with an answer")
    expect(first.answer != second.answer, "the answers are equal; change something that the answer rests on")


def check_own_loop(run_agent: Any) -> None:
    """What the contract of a loop does not ask for: ids for the calls, and a question to the user as an end."""
    calls = (ToolCall("lookup_order", {"order_id": "A1"}), ToolCall("lookup_order", {"order_id": "A2"}))
    script = ScriptedModel([CallTools("", calls), CallTools("", calls), FinalAnswer("", "done")])
    messages = [m for m in run_agent(script, Registry([lookup_order]), "Look.", 8) if isinstance(m, Message)]
    ids = [call.id for message in messages for call in message.calls]
    expect(all(ids) and len(set(ids)) == 4, f"every call needs an id of its own, but the four calls have {shown(ids)}")
    answered = [message.result.call_id for message in messages if message.result]
    expect(answered == ids, "each result must carry the id of its call: run the call that has the id")
    asking = ScriptedModel([AskUser("", "Which order do you mean?")])
    last = run_agent(asking, Registry([lookup_order]), "Look.", 8)[-1]
    text = getattr(last, "text", "")
    expect("Which order" in text, "the question to the user must be the last message, so that the user can read it")
