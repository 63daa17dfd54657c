"""Where a run begins, and where it goes on: from a goal, from a history, or from what a person has said to a paused run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from agentkit._jsonsafe import json_safe
from agentkit._log import Log, Verdict
from agentkit._replies import given_reply
from agentkit.errors import DefinitionError
from agentkit.messages import Approval, Decision, Message, Run, ToolCall

if TYPE_CHECKING:
    from agentkit.loop import Agent


def begin(agent: Agent, goal: str | None, history: Sequence[Message]) -> Log:
    """The log of a new run. Raises `DefinitionError` when there is nothing to work on."""
    messages = list(history)
    if not all(isinstance(message, Message) for message in messages):
        raise DefinitionError("A history is a sequence of Message values, for example history=run.messages.")
    if agent.system and not (messages and messages[0].role == "system"):
        messages.insert(0, Message("system", agent.system))
    log = Log(messages, agent.registry.specs(), agent.ids())
    open_ids = [call.id for call in log.pending]
    if len(set(open_ids)) < len(open_ids):
        raise DefinitionError("Two open calls of this history have the same id. Give each call an id of its own.")
    if goal is None:
        if not (log.pending or (messages and messages[-1].role in ("user", "tool"))):
            raise DefinitionError("Give the agent a goal, or a history that ends in one.")
        return log
    if not isinstance(goal, str) or not goal.strip():
        raise DefinitionError("The goal is empty. Give the agent a question or a task in words.")
    if log.pending:  # the user goes on with something else: close the open calls, so that the history stays valid
        log.stopped("cancelled")
    return Log([*log.messages, Message("user", json_safe(goal))], log.specs, log.id)


def go_on(
    agent: Agent, run: Run, answer: str | None, approvals: Mapping[str, Verdict] | None, decision: Decision | None
) -> Log:
    """The log of a paused run, with what a person has said. Raises `DefinitionError` when that does not fit the run."""
    if run.status != "paused":
        raise DefinitionError(
            f"This run is {run.status} ({run.stop_reason}), so it cannot be resumed. "
            "Start a new one with agent.run(goal, history=run.messages)."
        )
    log = Log.of(run, agent.registry.specs())
    log.judge(
        approvals or {}, run.awaiting, lambda call: _approve(agent, call, log), lambda call: _deny(agent, call, log)
    )
    if (answer is not None or decision is not None) and log.pending:
        raise DefinitionError("This run waits for the results of its calls. Give approvals={call_id: True or False}.")
    if answer is not None and not answer.strip():
        raise DefinitionError("The answer is empty. Answer the question of the agent in words.")
    if not log.pending and answer is None and decision is None and log.messages[-1].role == "assistant":
        raise DefinitionError("The agent has asked a question. Go on with agent.resume(run, answer=…).")
    if answer is not None:
        log.messages.append(Message("user", json_safe(answer), kind="answer"))
    if decision is not None:
        log.given = given_reply(decision)
    return log


def _approve(agent: Agent, call: ToolCall, log: Log) -> Approval:
    """A person's yes, made by the registry; one written by hand may know no approvals."""
    approve = getattr(agent.registry, "approve", None)
    if approve is None:
        return Approval(call.id, agent=agent.name)
    approval: Approval = approve(call, run_id=log.id, agent=agent.name)
    return approval


def _deny(agent: Agent, call: ToolCall, log: Log) -> None:
    """A person's no, for the registry's records."""
    deny = getattr(agent.registry, "deny", None)
    if deny is not None:
        deny(call, run_id=log.id)
