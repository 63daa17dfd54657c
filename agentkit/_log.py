"""The growing record of one run. The loop writes into it; what leaves it is a frozen `Run`."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from agentkit._arguments import BadArguments, parse_arguments
from agentkit._jsonsafe import canonical
from agentkit.errors import DefinitionError, ReplyError
from agentkit.messages import (
    Approval,
    AskUser,
    CallTools,
    ErrorDetail,
    FinalAnswer,
    Message,
    Reply,
    Run,
    Status,
    Step,
    StopReason,
    ToolCall,
    ToolResult,
    ToolSpec,
    Usage,
    goal_positions,
    unanswered,
    with_arguments,
)  # fmt: skip

Verdict = bool | str | Mapping[str, Any]
_Round = tuple[Sequence[ToolCall], Sequence[ToolResult]]  # the calls of a round, and a result for each


def new_id() -> str:
    """An id that no other run has. It ties writes together and is never shown."""
    return os.urandom(8).hex()


class Log:
    """Messages, steps and usage of a run while it goes on.

    ``pending`` are the calls that have no result yet, ``done`` the results that have arrived for them, ``approved`` what
    a person has allowed, ``given`` a reply that was put in from outside instead of asking the model.
    """

    def __init__(self, messages: Sequence[Message], specs: tuple[ToolSpec, ...], run_id: str) -> None:
        self.messages = list(messages)
        self.specs = specs
        self.id = run_id
        self.steps: list[Step] = []
        self.usage = Usage()
        self.spent = 0.0  # the known part of the cost, in US dollars
        self.pending: tuple[ToolCall, ...] = unanswered(messages)
        self.done: dict[str, ToolResult] = {}
        self.opened: tuple[Reply, int, tuple[int | Message, ...] | None] | None = None
        self.kept: tuple[ToolResult, ...] = ()
        self.approved: dict[str, Approval] = {}
        self.given: Reply | None = None
        self.same = 0
        self._round: _Round = ((), ())
        self.nudged = False
        self._sent: tuple[int | Message, ...] | None = None
        self._positions: dict[int, int] = {}  # id(message) -> place, filled when a view is partial
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
        log.spent = sum(step.reply.usage.cost or 0.0 for step in run.steps if step.reply.usage)
        log.approved = {approval.call_id: approval for approval in run.approved}
        log.done = {result.call_id: result for result in run.decided}
        return log

    # --- writing -----------------------------------------------------------------------------------------------------

    def view(self, memory: Any) -> Sequence[Message]:
        """What the memory sends of the history; the step to come remembers it, by positions if it is not everything."""
        history = tuple(self.messages)
        sent: Sequence[Message] = memory.view(history, self.specs)
        if sent is history:
            self._sent = None
            return sent
        for place in range(len(self._positions), len(history)):
            self._positions.setdefault(id(history[place]), place)
        self._sent = tuple([self._positions.get(id(message), message) for message in sent])
        return sent

    def take_given(self) -> Reply | None:
        """The reply that was put in from outside, once."""
        given, self.given = self.given, None
        return given

    def think(self, reply: Reply) -> Log:
        """Record the model's reply as a message; its step stays open until it is closed or its calls have results."""
        seen = len(self.messages)
        decision = reply.decision
        if isinstance(decision, CallTools):
            text = decision.thought
            self.pending = calls = self._numbered(decision.calls)
            if calls is not decision.calls:
                reply = Reply(CallTools(text, calls), reply.usage, reply.scores, reply.provider)
            self.messages.append(Message("assistant", text, calls, None, "goal", reply.provider))
        else:
            text = decision.question if isinstance(decision, AskUser) else decision.text
            self.messages.append(Message("assistant", text, (), None, "goal", reply.provider))
        return self._open(reply, seen)

    def nudge(self, reply: Reply) -> Step:
        """Record a reply without content and a note that asks for one. Raises `ReplyError` the second time in a row."""
        if self.nudged:
            raise ReplyError("The model gave an empty reply twice. Try again, or choose another model.")
        self._open(reply, len(self.messages))
        self.nudged = True
        self.messages.append(
            Message("user", "Your reply was empty. Call a tool, or give the final answer.", kind="note")
        )
        return self.close()

    def observe(self, results: Sequence[ToolResult], rounds: int | None) -> Step:
        """Put one result for each pending call into the history, in the order of the calls, and close the step."""
        ordered = self._in_order(results)
        self.same = self.same + 1 if self._repeats(ordered) else 0
        if self.same and rounds is not None and self.same == rounds - 1:
            note = "You have made this same call several times with the same result. Do something else, or answer."
            ordered[-1] = replace(ordered[-1], note=f"{ordered[-1].note} {note}".strip())
        self.messages.extend([Message("tool", "", (), result) for result in ordered])
        if self.opened is None:
            self._reopen()
        step = self.close(tuple(ordered))
        self.pending, self.nudged = (), False
        self.done.clear()
        return step

    def _in_order(self, results: Sequence[ToolResult]) -> list[ToolResult]:
        """Exactly one result for each pending call; a call without one gets a result that says so."""
        if len(results) == len(self.pending) == 1 and results[0].call_id == self.pending[0].id:
            return [results[0]]
        known = {**self.done, **{result.call_id: result for result in results}}
        return [known.get(call.id) or _missing(call) for call in self.pending]

    def close(self, results: tuple[ToolResult, ...] = ()) -> Step:
        """Turn the open reply into a step. Results that a fork had kept join the new ones in the order of the calls."""
        assert self.opened is not None
        reply, seen, view = self.opened
        if self.kept:
            known = {result.call_id: result for result in (*self.kept, *results)}
            calls = reply.decision.calls if isinstance(reply.decision, CallTools) else ()
            results = tuple(known[call.id] for call in calls if call.id in known)
        step = Step(len(self.steps) + 1, seen, reply, results, view)
        self.steps.append(step)
        self.opened, self.kept = None, ()
        return step

    def _open(self, reply: Reply, seen: int) -> Log:
        if reply.usage is not None:
            try:
                self.usage = self.usage + reply.usage
            except (TypeError, AttributeError):
                raise ReplyError("The usage of a reply must be a Usage value with numbers, or None.") from None
            self.spent += reply.usage.cost or 0.0
        self.opened = (reply, seen, self._sent)
        return self

    def _reopen(self) -> None:
        """Open the step that asked for the pending calls: of an earlier part of this run, or of the given history."""
        if self.steps and _ids(self.pending) <= _ids(self.steps[-1].calls):
            step = self.steps.pop()
            self.opened, self.kept = (step.reply, step.seen, step.view), step.results
            return
        place = self._last_assistant()
        self.kept = tuple(m.result for m in self.messages[place + 1 :] if m.result is not None)
        self.opened = (Reply(CallTools(self.messages[place].text, self.messages[place].calls)), place, None)

    def _last_assistant(self) -> int:
        return next(i for i in range(len(self.messages) - 1, -1, -1) if self.messages[i].role == "assistant")

    def _numbered(self, calls: tuple[ToolCall, ...]) -> tuple[ToolCall, ...]:
        """Every call gets an id that no other call of the history has: its own, or its number."""
        given = self._ids
        first = self._calls + 1
        self._calls += len(calls)
        if len(calls) == 1 and type(calls) is tuple and calls[0].id and calls[0].id not in given:
            given.add(calls[0].id)
            return calls
        numbered = []
        for number, call in enumerate(calls, first):
            if not call.id or call.id in given:
                while f"call_{number}" in given:
                    number += 1
                call = ToolCall(call.name, call.arguments, f"call_{number}", call.truncated)
            given.add(call.id)
            numbered.append(call)
        return tuple(numbered)

    def _repeats(self, results: Sequence[ToolResult]) -> bool:
        """Whether the pending calls and their results are those of the round before."""
        before, self._round = self._round, (self.pending, results)
        return _same(before, self._round) or _alike(before, self._round)

    # --- judging from outside ----------------------------------------------------------------------------------------

    def judge(
        self,
        verdicts: Mapping[str, Verdict],
        awaiting: Sequence[str],
        approve: Callable[[ToolCall], Approval],
        deny: Callable[[ToolCall], None],
    ) -> None:
        """Apply a person's verdicts: True approves, False or a reason denies, an object approves with these arguments.

        ``approve`` makes the approval of one call as it stands; ``deny`` is told about a call that was refused.
        """
        for call_id, verdict in verdicts.items():
            if call_id not in awaiting:
                waiting = ", ".join(awaiting) or "none"
                raise DefinitionError(f"No call {call_id!r} waits for approval in this run. Waiting: {waiting}.")
            call = next(call for call in self.pending if call.id == call_id)
            if verdict is True:
                self.approved[call_id] = approve(call)
            elif verdict is False or isinstance(verdict, str):
                why = f" The reason: {verdict}" if verdict else ""
                detail = ErrorDetail(
                    "denied", f"A person refused this call.{why}", "Do not repeat it. Answer without it."
                )
                deny(call)
                self.done[call_id] = ToolResult(call_id, call.name, error=detail)
            elif isinstance(verdict, Mapping):
                self._edit(call, verdict)
                self.approved[call_id] = approve(next(call for call in self.pending if call.id == call_id))
            else:
                raise DefinitionError("A verdict is True, False, a reason to refuse, or an object with new arguments.")

    def _edit(self, call: ToolCall, arguments: Mapping[str, Any]) -> None:
        """The call in the history becomes the call that is run, so that the history tells what happened."""
        self.pending = tuple(with_arguments(c, arguments) if c.id == call.id else c for c in self.pending)
        place = self._last_assistant()
        old = self.messages[place]
        calls = tuple(with_arguments(c, arguments) if c.id == call.id else c for c in old.calls)
        message = replace(old, calls=calls)  # what the provider needs back stays; the wire takes the new arguments
        self.messages[place] = message
        self._positions.clear()
        if self.steps:
            step = self.steps[-1]
            self.steps[-1] = replace(step, reply=replace(step.reply, decision=CallTools(step.thought, calls)))

    def unfinished(self) -> Sequence[ToolCall]:
        """The pending calls for which no result has arrived."""
        return [call for call in self.pending if call.id not in self.done] if self.done else self.pending

    def copy(self) -> Log:
        """A log of its own that stands where this one stands."""
        twin = copy.copy(self)
        twin.messages, twin.steps, twin.done = list(self.messages), list(self.steps), dict(self.done)
        twin._ids = set(self._ids)
        twin._positions = dict(self._positions)
        return twin

    # --- reading -----------------------------------------------------------------------------------------------------

    def run(self, status: Status, reason: StopReason, **more: Any) -> Run:
        """The run as it stands, as a frozen value."""
        if self.opened is not None:  # the run pauses before the calls of this step have results
            self.close()
        last = self.steps[-1].decision if self.steps else None
        answer = last.text if status == "done" and isinstance(last, FinalAnswer) else None
        if status == "paused":
            more = {**more, "approved": tuple(self.approved.values()), "decided": tuple(self.done.values())}
        return Run(
            self.goal, tuple(self.messages), tuple(self.steps), status, reason, answer, self.pending,
            usage=self.usage, tools=self.specs, first=self.first, id=self.id, **more,
        )  # fmt: skip

    def stopped(self, reason: StopReason, error: str | None = None) -> Run:
        """The run as stopped: calls without a result get one, so that the history stays one that providers accept."""
        self.pending = unanswered(self.messages)  # an interruption may have come right after the results
        if self.pending:
            kept = [self.done.get(call.id) or _missing(call) for call in self.pending]
            self.observe(kept, rounds=0)
        return self.run("stopped", reason, error=error)


def _same(before: _Round, now: _Round) -> bool:
    """Whether two rounds have the same names and arguments, data and errors; ids and notes may differ."""
    if len(before[0]) != len(now[0]):
        return False
    for old, was, new, found in zip(*before, *now, strict=True):
        if old.name != new.name or old.arguments != new.arguments or was.data != found.data or was.error != found.error:
            return False
    return True


def _alike(before: _Round, now: _Round) -> bool:
    """Whether two rounds differ only in how their arguments are written: as an object, or as text."""
    if len(before[0]) != len(now[0]) or not any(isinstance(call.arguments, str) for call in (*before[0], *now[0])):
        return False
    try:
        return _same(_read(before), _read(now))
    except BadArguments:
        return False


def _read(round_: _Round) -> _Round:
    """The round with its arguments read."""
    calls, results = round_
    return [
        ToolCall(call.name, {"": canonical(parse_arguments(ToolCall(call.name, call.arguments)))}) for call in calls
    ], results


def _ids(calls: Sequence[ToolCall]) -> set[str]:
    return {call.id for call in calls}


def _missing(call: ToolCall) -> ToolResult:
    message = "The run was interrupted before this call had an answer; it is not known whether it took effect."
    return ToolResult(call.id, call.name, error=ErrorDetail("cancelled", message, "Check the current state first."))
