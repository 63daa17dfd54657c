"""Branching a run: what would have happened, had one observation or one call been different?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from agentkit._jsonsafe import json_safe
from agentkit._log import new_id
from agentkit.errors import DefinitionError
from agentkit.messages import CallTools, Message, Run, ToolResult, Usage, with_arguments


def fork(run: Run, number: int, observations: Mapping[str, Any], arguments: Mapping[str, Mapping[str, Any]]) -> Run:
    """See `Run.fork`."""
    step = run.step(number)
    known = [call.id for call in step.calls]
    for call_id in (*observations, *arguments):
        if call_id not in known:
            raise DefinitionError(
                f"Step {number} has no call {call_id!r}. Its calls are: {', '.join(known) or 'none'}."
            )
    before = run.steps[: run.steps.index(step)]
    if not observations and not arguments:
        return _branch(run, run.messages[: step.seen], before)
    calls = tuple(with_arguments(c, arguments[c.id]) if c.id in arguments else c for c in step.calls)
    asked = run.messages[step.seen]
    if arguments:
        asked = replace(asked, calls=calls)
    kept = {result.call_id: result for result in step.results}
    results = []
    for call in calls:
        if call.id in observations:
            results.append(ToolResult(call.id, call.name, json_safe(observations[call.id])))
        elif call.id in kept and call.id not in arguments:
            results.append(kept[call.id])
    answered = {result.call_id for result in results}
    pending = tuple(call for call in calls if call.id not in answered)
    messages = (*run.messages[: step.seen], asked, *(Message("tool", result=result) for result in results))
    changed = replace(step, reply=replace(step.reply, decision=CallTools(step.thought, calls)), results=tuple(results))
    return replace(_branch(run, messages, (*before, changed)), pending=pending)


def _branch(run: Run, messages: tuple[Message, ...], steps: tuple[Any, ...]) -> Run:
    usage = sum((step.reply.usage for step in steps if step.reply.usage), Usage())
    return replace(
        run, messages=messages, steps=steps, status="paused", stop_reason="forked", answer=None, pending=(), awaiting=(),
        approved=(), decided=(),
        question=None, error=None, usage=usage, id=new_id(),
    )  # fmt: skip
