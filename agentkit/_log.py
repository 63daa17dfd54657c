"""The growing record of one run. The loop writes into it; what leaves it is a frozen `Run`."""

from __future__ import annotations

import copy
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from agentkit.errors import DefinitionError
from agentkit.messages import (
    AskUser, CallTools, ErrorDetail, FinalAnswer, Message, Reply, Run, Status, Step, StopReason, ToolCall, ToolResult,
    ToolSpec, Usage, goal_positions, unanswered, with_arguments,
)  # fmt: skip

Verdict = bool | str | Mapping[str, Any]


def new_id() -> str:
    """An id that no other run has. It ties writes together and is never shown."""
    return os.urandom(8).hex()


class Log:
    """Messages, steps and usage of a run while it goes on.

    ``pending`` are the calls that have no result yet, ``done`` the results that have arrived for them, ``approved`` the ids
    of those that a person has allowed, ``given`` a reply that was put in from outside instead of asking the model.
    """

    def __init__(self, messages: Sequence[Message], specs: tuple[ToolSpec, ...], run_id: str) -> None:
        self.messages = list(messages)
        self.specs = specs
        self.id = run_id
        self.steps: list[Step] = []
        self.usage = Usage()
        self.pending: tuple[ToolCall, ...] = unanswered(messages)
        self.done: dict[str, ToolResult] = {}
        self.approved: set[str] = set()
        self.given: Reply | None = None
        self.same = 0
        self.nudged = False
        self.view: tuple[int | Message, ...] | None = None
        self._positions = {id(message): place for place, message in enumerate(self.messages)}
        self._ids = {call.id for message in self.messages for call in message.calls}
        self._calls = sum(len(message.calls) for message in self.messages)
        self.first = max(goal_positions(self.messages), default=0)
        self.goal = self.messages[self.first].text if self.messages else ""

    @classmethod
    def of(cls, run: Run, specs: tuple[ToolSpec, ...]) -> Log:
        """Go on from a paused run."""
        log = cls(run.messages, specs, run.id)
        log.goal, log.first, log.usage, log.pending = run.goal, run.first, run.usage, run.pending
        log.steps = list(run.steps)
        return log

    # --- writing -----------------------------------------------------------------------------------------------------

    def add(self, message: Message) -> None:
        self._positions[id(message)] = len(self.messages)
        self.messages.append(message)

    def sees(self, view: Sequence[Message], history: Sequence[Message]) -> None:
        """Remember what is about to be sent: nothing when it is the whole history, else the positions."""
        self.view = None if view is history else tuple(self._positions.get(id(m), m) for m in view)

    def think(self, reply: Reply) -> Step:
        """Record the model's reply as a message and as a step that has no results yet."""
        seen = len(self.messages)
        decision = reply.decision
        if isinstance(decision, CallTools):
            calls = self._numbered(decision.calls)
            if calls is not decision.calls:
                reply = replace(reply, decision=CallTools(decision.thought, calls))
            self.pending = calls
            self.add(Message("assistant", decision.thought, calls, provider=reply.provider))
        else:
            text = decision.question if isinstance(decision, AskUser) else decision.text
            self.add(Message("assistant", text, provider=reply.provider))
        return self._step(reply, seen)

    def nudge(self, reply: Reply) -> Step:
        """Record a reply without content, and a note that asks for one."""
        step = self._step(reply, len(self.messages))
        self.nudged = True
        self.add(Message("user", "Your reply was empty. Call a tool, or give the final answer.", kind="note"))
        return step

    def observe(self, results: Sequence[ToolResult], rounds: int) -> Step:
        """Put one result for each pending call into the history, in the order of the calls, and complete the step."""
        by_id = {**self.done, **{result.call_id: result for result in results}}
        ordered = [by_id.get(call.id) or _missing(call) for call in self.pending]
        self.same = self.same + 1 if self._repeats(ordered) else 0
        if self.same == rounds - 1 and ordered:
            note = "You have made this same call several times with the same result. Do something else, or answer."
            ordered[-1] = replace(ordered[-1], note=f"{ordered[-1].note} {note}".strip())
        for result in ordered:
            self.add(Message("tool", result=result))
        step = self._asking_step()
        if step.results:  # a fork: some calls of this step kept their recorded results
            known = {result.call_id: result for result in (*step.results, *ordered)}
            ordered = [known[call.id] for call in step.calls if call.id in known]
        self.steps[-1] = Step(step.number, step.seen, step.reply, tuple(ordered), step.view)
        self.pending, self.done, self.nudged = (), {}, False
        return self.steps[-1]

    def _asking_step(self) -> Step:
        """The step that asked for the pending calls; made now when the history began with unanswered calls."""
        if self.steps and (self.steps[-1].calls is self.pending or _ids(self.pending) <= _ids(self.steps[-1].calls)):
            return self.steps[-1]
        place = self._last_assistant()
        reply = Reply(CallTools(self.messages[place].text, self.messages[place].calls))
        self.steps.append(Step(len(self.steps) + 1, place, reply))
        return self.steps[-1]

    def _last_assistant(self) -> int:
        return next(i for i in range(len(self.messages) - 1, -1, -1) if self.messages[i].role == "assistant")

    def _step(self, reply: Reply, seen: int) -> Step:
        if reply.usage is not None:
            self.usage = self.usage + reply.usage
        step = Step(len(self.steps) + 1, seen, reply, (), self.view)
        self.steps.append(step)
        return step

    def _numbered(self, calls: tuple[ToolCall, ...]) -> tuple[ToolCall, ...]:
        """Every call gets an id that no other call of the history has: its own, or its number."""
        numbered = []
        changed = not isinstance(calls, tuple)
        for call in calls:
            self._calls += 1
            if not call.id or call.id in self._ids:
                number = self._calls
                while f"call_{number}" in self._ids:
                    number += 1
                call = replace(call, id=f"call_{number}")
                changed = True
            self._ids.add(call.id)
            numbered.append(call)
        return tuple(numbered) if changed else calls

    def _repeats(self, results: Sequence[ToolResult]) -> bool:
        """Whether the pending calls and their results are those of the step before."""
        complete = [step for step in self.steps[-2:] if step.results]
        if not complete:
            return False
        old, calls = complete[-1], self.pending
        return (
            len(old.calls) == len(calls)
            and all(a.name == b.name and a.arguments == b.arguments for a, b in zip(old.calls, calls, strict=True))
            and all(a.data == b.data and a.error == b.error for a, b in zip(old.results, results, strict=True))
        )

    # --- judging from outside ----------------------------------------------------------------------------------------

    def judge(self, verdicts: Mapping[str, Verdict], awaiting: Sequence[str]) -> None:
        """Apply a person's verdicts: True approves, False or a reason denies, an object approves with these arguments."""
        for call_id, verdict in verdicts.items():
            if call_id not in awaiting:
                waiting = ", ".join(awaiting) or "none"
                raise DefinitionError(f"No call {call_id!r} waits for approval in this run. Waiting: {waiting}.")
            call = next(call for call in self.pending if call.id == call_id)
            if verdict is True:
                self.approved.add(call_id)
            elif verdict is False or isinstance(verdict, str):
                why = f" The reason: {verdict}" if verdict else ""
                detail = ErrorDetail("denied", f"A person refused this call.{why}", "Do not repeat it. Answer without it.")
                self.done[call_id] = ToolResult(call_id, call.name, error=detail)
            elif isinstance(verdict, Mapping):
                self._edit(call, verdict)
                self.approved.add(call_id)
            else:
                raise DefinitionError("A verdict is True, False, a reason to refuse, or an object with new arguments.")

    def _edit(self, call: ToolCall, arguments: Mapping[str, Any]) -> None:
        """The call in the history becomes the call that is run, so that the history tells what happened."""
        self.pending = tuple(with_arguments(c, arguments) if c.id == call.id else c for c in self.pending)
        place = self._last_assistant()
        message = replace(self.messages[place], calls=self.pending, provider=None)
        self.messages[place] = message
        self._positions[id(message)] = place
        if self.steps:
            step = self.steps[-1]
            self.steps[-1] = replace(step, reply=replace(step.reply, decision=CallTools(step.thought, self.pending)))

    def copy(self) -> Log:
        """A log of its own that stands where this one stands."""
        twin = copy.copy(self)
        twin.messages, twin.steps, twin.done = list(self.messages), list(self.steps), dict(self.done)
        twin._positions = dict(self._positions)
        return twin

    # --- reading -----------------------------------------------------------------------------------------------------

    def run(self, status: Status, reason: StopReason, **more: Any) -> Run:
        """The run as it stands, as a frozen value."""
        answer = None
        if status == "done" and self.steps and isinstance(self.steps[-1].decision, FinalAnswer):
            answer = self.steps[-1].decision.text
        return Run(
            self.goal, tuple(self.messages), tuple(self.steps), status, reason, answer, self.pending,
            usage=self.usage, tools=self.specs, first=self.first, id=self.id, **more,
        )  # fmt: skip

    def stopped(self, reason: StopReason, error: str | None = None) -> Run:
        """The run as stopped: calls without a result get one, so that the history stays one that providers accept."""
        if self.pending:
            kept = [self.done.get(call.id) or _missing(call) for call in self.pending]
            self.observe(kept, rounds=0)
        return self.run("stopped", reason, error=error)


def _ids(calls: Sequence[ToolCall]) -> set[str]:
    return {call.id for call in calls}


def _missing(call: ToolCall) -> ToolResult:
    message = "The run was interrupted before this call had an answer; it is not known whether it took effect."
    return ToolResult(call.id, call.name, error=ErrorDetail("cancelled", message, "Check the current state first."))
