"""The loop: think, act, observe, until it is time to stop.

The loop is one text with two drivers. `think_act_observe` is a generator: it *asks* for things ("ask the model", "run these
calls") and is sent the results; it does no input or output itself. A small driver for ordinary code and one for async code
do what it asks. The idea is that of ReAct (Yao et al. 2022); the form is that of generator-based coroutines.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, assert_never

from agentkit._drivers import AskModel, Loop, RunTools, Stream, adrive, finish
from agentkit._log import Log, Verdict, new_id
from agentkit._starting import begin, go_on
from agentkit.errors import ContextFullError, DefinitionError, ModelError
from agentkit.memory import Memory, MemoryPolicy
from agentkit.messages import (
    AskUser,
    CallTools,
    Decision,
    FinalAnswer,
    Message,
    Model,
    Pause,
    Run,
    StopReason,
    ToolCall,
)
from agentkit.registry import Registry


@dataclass(frozen=True, slots=True)
class Limits:
    """When a run stops even without an answer. None means no limit.

    Args:
        max_steps: how often the model is asked.
        timeout: seconds for the whole run, checked before the model is asked again.
        max_tokens, max_cost: tokens (in and out) and US dollars, as far as the model reports them.
        same_rounds: how many equal rounds (same calls, same results) are allowed before the model is told once; the next
            one stops the run as ``stuck``.
    """

    max_steps: int | None = 20
    timeout: float | None = None
    max_tokens: int | None = None
    max_cost: float | None = None
    same_rounds: int | None = 3

    def __post_init__(self) -> None:
        for name in ("max_steps", "same_rounds"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise DefinitionError(f"{name} must be at least 1, or None for no limit, not {value!r}.")

    def reached(self, log: Log, elapsed: float) -> StopReason | None:
        """The first limit that this run has reached, or None."""
        if self.same_rounds is not None and log.same >= self.same_rounds:
            return "stuck"
        if self.max_steps is not None and len(log.steps) >= self.max_steps:
            return "max_steps"
        if self.timeout is not None and elapsed >= self.timeout:
            return "timeout"
        if self.max_tokens is not None and log.usage.total_tokens >= self.max_tokens:
            return "max_tokens"
        if self.max_cost is not None and log.spent >= self.max_cost:
            return "max_cost"
        return None


def think_act_observe(agent: Agent, log: Log) -> Loop:
    """Think, act, observe, until it is time to stop.

    Yields what it needs (`AskModel` is answered with a `Reply`, `RunTools` with the results) and each finished `Step`;
    returns the `Run`. A history that ends in unanswered calls goes on with the calls.
    """
    started = agent.clock()
    try:
        while True:
            if not log.pending:
                # Think: let the model decide, unless a limit is reached.
                if reason := agent.limits.reached(log, agent.clock() - started):
                    return log.stopped(reason)
                request = AskModel(log.view(agent.memory), log.specs)
                reply = log.take_given() or (yield request)
                if isinstance(reply, Pause):
                    return log.run("paused", "needs_input", question=reply.prompt)
                match reply.decision:
                    case CallTools(calls=calls) if calls:
                        log.think(reply)
                    case FinalAnswer(text=text) if text.strip():
                        yield log.think(reply).close()
                        return log.run("done", "answered")
                    case AskUser(question=question) if question.strip():
                        yield log.think(reply).close()
                        return log.run("paused", "needs_input", question=question)
                    case CallTools() | FinalAnswer() | AskUser():  # it says nothing
                        yield log.nudge(reply)
                        continue
                    case other:
                        assert_never(other)

            # Act: run the calls, unless a person has to approve one of them first.
            if awaiting := agent.awaiting(log):
                return log.run("paused", "needs_approval", awaiting=awaiting)
            results = yield RunTools(log.unfinished())

            # Observe: put one result for each call into the history.
            yield log.observe(results, agent.limits.same_rounds)
    except ContextFullError as error:
        return log.stopped("context_full", str(error))
    except ModelError as error:
        return log.stopped("model_error", str(error))


EVERYTHING = Memory()


class Agent:
    """A model, its tools, and the rules by which they work together. Running an agent does not change it.

    Args:
        model: anything with ``decide(messages, tools)``; see `agentkit.Model`.
        tools: a `Registry`, or tools and functions to make one of.
        system: the system prompt, the first message of every history.
        limits: when to stop without an answer.
        memory: what of the history is sent to the model.
        clock: seconds from any start; injected in tests.
        ids: makes the id of a new run; injected in tests.
        name: tells agents apart. An approval that was given to one does not count for another.
    """

    def __init__(
        self,
        model: Model,
        tools: Registry | Iterable[Any] | Callable[..., Any] = (),
        *,
        system: str = "",
        limits: Limits = Limits(),
        memory: MemoryPolicy = EVERYTHING,
        clock: Callable[[], float] = time.monotonic,
        ids: Callable[[], str] = new_id,
        name: str = "agent",
    ) -> None:
        if not hasattr(model, "decide"):
            raise DefinitionError("The model must have a method decide(messages, tools), for example get_model().")
        self.model = model
        given: Any = [tools] if callable(tools) and not hasattr(tools, "specs") else tools  # one tool will do, too
        self.registry: Registry = given if hasattr(given, "specs") else Registry(given)
        self._needs_approval = getattr(self.registry, "needs_approval", None)
        self.name = name
        self.system = system
        self.limits = limits
        self.memory = memory
        self.clock = clock
        self.ids = ids

    def run(self, goal: str | None = None, *, history: Sequence[Message] = ()) -> Run:
        """Work on a goal until there is an answer, a pause, or a limit.

        ``history`` continues a conversation, for example ``history=run.messages``. Without a goal the history must end in
        a goal or in calls that still need their results.

        Raises:
            DefinitionError: there is no goal. A tool that fails, and a model that raises `ModelError`, end up in the run
                instead. Anything else that is raised carries the run so far in ``.run``.
        """
        log = begin(self, goal, history)
        return finish(self, log, think_act_observe(self, log))

    def stream(self, goal: str | None = None, *, history: Sequence[Message] = ()) -> Stream:
        """Like `run`, step by step: iterate over the `TextDelta` and `Step` values; the stream has the ``.run``."""
        log = begin(self, goal, history)
        return Stream(self, log, think_act_observe(self, log))

    async def arun(self, goal: str | None = None, *, history: Sequence[Message] = ()) -> Run:
        """Like `run`, for async code."""
        log = begin(self, goal, history)
        return await adrive(self, log, think_act_observe(self, log))

    def resume(
        self,
        run: Run,
        *,
        answer: str | None = None,
        approvals: Mapping[str, Verdict] | None = None,
        decision: Decision | None = None,
    ) -> Run:
        """Go on from a paused run; the run that is given stays as it is.

        Args:
            run: a run whose status is ``paused``, also one that was saved and loaded.
            answer: the user's answer to the question of the agent.
            approvals: for each call id True (run it), False or a reason (refuse it), or an object (run it with these
                arguments instead). A call without a verdict keeps the run paused.
            decision: the next decision, instead of asking the model.

        Raises:
            DefinitionError: the run is not paused, or a verdict names a call that does not wait.
        """
        log = go_on(self, run, answer, approvals, decision)
        return finish(self, log, think_act_observe(self, log))

    def resume_stream(
        self,
        run: Run,
        *,
        answer: str | None = None,
        approvals: Mapping[str, Verdict] | None = None,
        decision: Decision | None = None,
    ) -> Stream:
        """Like `resume`, as a stream. Of the steps that the run had, only one that waited for results comes again."""
        log = go_on(self, run, answer, approvals, decision)
        return Stream(self, log, think_act_observe(self, log))

    async def aresume(
        self,
        run: Run,
        *,
        answer: str | None = None,
        approvals: Mapping[str, Verdict] | None = None,
        decision: Decision | None = None,
    ) -> Run:
        """Like `resume`, for async code."""
        log = go_on(self, run, answer, approvals, decision)
        return await adrive(self, log, think_act_observe(self, log))

    def awaiting(self, log: Log) -> tuple[str, ...]:
        """The ids of the pending calls that a person must approve first."""
        check = self._needs_approval
        if check is None:  # a registry written by hand may know no approvals
            return ()
        waiting: tuple[str, ...] = ()
        for call in log.pending:
            if check(call) and call.id not in log.done and not self._is_approved(call, log):
                waiting += (call.id,)
        return waiting

    def _is_approved(self, call: ToolCall, log: Log) -> bool:
        """Whether a person has approved this very call for this agent, or has granted calls like it."""
        approval = log.approved.get(call.id)
        mine = approval if approval is not None and approval.agent == self.name else None
        covers = getattr(self.registry, "covers", None)
        return mine is not None if covers is None else bool(covers(call, mine, run_id=log.id))
