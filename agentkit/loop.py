"""The loop: think, act, observe, until it is time to stop.

The loop is one text with two drivers. `think_act_observe` is a generator: it *asks* for things ("ask the model", "run these
calls") and is sent the results; it does no input or output itself. A small driver for ordinary code and one for async code
do what it asks. The idea is that of ReAct (Yao et al. 2022); the form is that of generator-based coroutines.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, assert_never

from agentkit._log import Log, Verdict, new_id
from agentkit.errors import AgentkitError, ContextFullError, DefinitionError, ModelError, ReplyError
from agentkit.memory import Memory, MemoryPolicy
from agentkit.messages import (
    AskUser, CallTools, Decision, FinalAnswer, Message, Model, Pause, Reply, Run, Step, StopReason, TextDelta, ToolCall,
    ToolSpec,
)  # fmt: skip
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
    same_rounds: int = 3

    def reached(self, log: Log, elapsed: float) -> StopReason | None:
        """The first limit that this run has reached, or None."""
        if log.same >= self.same_rounds:
            return "stuck"
        if self.max_steps is not None and len(log.steps) >= self.max_steps:
            return "max_steps"
        if self.timeout is not None and elapsed >= self.timeout:
            return "timeout"
        if self.max_tokens is not None and log.usage.total_tokens >= self.max_tokens:
            return "max_tokens"
        if self.max_cost is not None and (log.usage.cost or 0.0) >= self.max_cost:
            return "max_cost"
        return None


@dataclass(slots=True)
class AskModel:
    """The loop asks its driver: let the model decide."""

    messages: Sequence[Message]
    tools: Sequence[ToolSpec]


@dataclass(slots=True)
class RunTools:
    """The loop asks its driver: run these calls."""

    calls: Sequence[ToolCall]


Loop = Generator[AskModel | RunTools | Step, Any, Run]


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
                reason = agent.limits.reached(log, agent.clock() - started)
                if reason is not None:
                    return log.stopped(reason)
                reply = log.given or (yield _request(agent, log))
                log.given = None
                if isinstance(reply, Pause):
                    return log.run("paused", "needs_input", question=reply.prompt)
                if _is_empty(reply.decision):
                    if log.nudged:
                        return log.stopped(
                            "model_error", "The model gave an empty reply twice. Try again, or another model."
                        )
                    yield log.nudge(reply)
                    continue
                log.think(reply)
                match reply.decision:
                    case FinalAnswer():
                        yield log.close()
                        return log.run("done", "answered")
                    case AskUser(question=question):
                        yield log.close()
                        return log.run("paused", "needs_input", question=question)
                    case CallTools():
                        pass
                    case other:
                        assert_never(other)

            # Act: run the calls, unless a person has to approve one of them first.
            awaiting = agent.awaiting(log)
            if awaiting:
                return log.run("paused", "needs_approval", awaiting=awaiting)
            results = yield RunTools(log.unfinished())

            # Observe: put one result for each call into the history.
            yield log.observe(results, agent.limits.same_rounds)
    except ContextFullError as error:
        return log.stopped("context_full", str(error))
    except ModelError as error:
        return log.stopped("model_error", str(error))


def _request(agent: Agent, log: Log) -> AskModel:
    history = tuple(log.messages)
    view = agent.memory.view(history, log.specs)
    log.sees(view, history)
    return AskModel(view, log.specs)


def _is_empty(decision: Decision) -> bool:
    match decision:
        case FinalAnswer(text=text) | AskUser(question=text):
            return not text.strip()
        case CallTools(calls=calls):
            return not calls
        case other:
            assert_never(other)


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
    """

    def __init__(
        self,
        model: Model,
        tools: Registry | Iterable[Any] = (),
        *,
        system: str = "",
        limits: Limits = Limits(),
        memory: MemoryPolicy = Memory(),
        clock: Callable[[], float] = time.monotonic,
        ids: Callable[[], str] = new_id,
    ) -> None:
        if not hasattr(model, "decide"):
            raise DefinitionError("The model must have a method decide(messages, tools), for example get_model().")
        self.model = model
        self.registry: Registry = tools if hasattr(tools, "specs") else Registry(tools)  # type: ignore[assignment]
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
            DefinitionError: there is no goal. Whatever the model or a tool does wrong ends up in the run instead.
        """
        return self.stream(goal, history=history).finish()

    def stream(self, goal: str | None = None, *, history: Sequence[Message] = ()) -> Stream:
        """Like `run`, step by step: iterate over the `TextDelta` and `Step` values; the stream has the ``.run``."""
        return Stream(self, self._begin(goal, history))

    async def arun(self, goal: str | None = None, *, history: Sequence[Message] = ()) -> Run:
        """Like `run`, for async code."""
        return await self._adrive(self._begin(goal, history))

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
        return Stream(self, self._continue(run, answer, approvals, decision)).finish()

    async def aresume(
        self,
        run: Run,
        *,
        answer: str | None = None,
        approvals: Mapping[str, Verdict] | None = None,
        decision: Decision | None = None,
    ) -> Run:
        """Like `resume`, for async code."""
        return await self._adrive(self._continue(run, answer, approvals, decision))

    def awaiting(self, log: Log) -> tuple[str, ...]:
        """The ids of the pending calls that a person must approve first."""
        check = getattr(self.registry, "needs_approval", None)
        if check is None:
            return ()
        return tuple([c.id for c in log.unfinished() if c.id not in log.approved and check(c)])

    # --- starting ----------------------------------------------------------------------------------------------------

    def _begin(self, goal: str | None, history: Sequence[Message]) -> Log:
        messages = list(history)
        if not all(isinstance(message, Message) for message in messages):
            raise DefinitionError("A history is a sequence of Message values, for example history=run.messages.")
        if self.system and not (messages and messages[0].role == "system"):
            messages.insert(0, Message("system", self.system))
        log = Log(messages, self.registry.specs(), self.ids())
        if goal is None:
            if not (log.pending or (messages and messages[-1].role in ("user", "tool"))):
                raise DefinitionError("Give the agent a goal, or a history that ends in one.")
            return log
        if not isinstance(goal, str) or not goal.strip():
            raise DefinitionError("The goal is empty. Give the agent a question or a task in words.")
        if log.pending:  # the user goes on with something else: close the open calls, so that the history stays valid
            log.stopped("cancelled")
        return Log([*log.messages, Message("user", goal)], log.specs, log.id)

    def _continue(
        self, run: Run, answer: str | None, approvals: Mapping[str, Verdict] | None, decision: Decision | None
    ) -> Log:
        if run.status != "paused":
            raise DefinitionError(
                f"This run is {run.status} ({run.stop_reason}), so it cannot be resumed. "
                "Start a new one with agent.run(goal, history=run.messages)."
            )
        log = Log.of(run, self.registry.specs())
        log.judge(approvals or {}, run.awaiting)
        if (answer is not None or decision is not None) and log.pending:
            raise DefinitionError(
                "This run waits for the results of its calls. Give approvals={call_id: True or False}."
            )
        if answer is not None:
            log.add(Message("user", answer, kind="answer"))
        if decision is not None:
            _request(self, log)
            log.given = _as_reply(decision)
        return log

    # --- driving -----------------------------------------------------------------------------------------------------

    def _drive(self, log: Log, streaming: bool) -> Generator[TextDelta | Step, None, Run]:
        """Do what the loop asks for, in ordinary code. Never starts an event loop in the caller's thread."""
        loop = think_act_observe(self, log)
        answer: Any = None
        try:
            while True:
                asked = loop.send(answer)
                answer = None
                if isinstance(asked, Step):
                    yield asked
                elif isinstance(asked, RunTools):
                    answer = self._run_tools(asked, log)
                else:
                    try:
                        answer = yield from self._ask(asked, streaming)
                    except AgentkitError as error:
                        loop.throw(error)
        except StopIteration as stop:
            run: Run = stop.value
            return run
        except BaseException as error:
            _carry(error, log)
            raise

    async def _adrive(self, log: Log) -> Run:
        """Do what the loop asks for, in async code."""
        loop = think_act_observe(self, log)
        answer: Any = None
        try:
            while True:
                asked = loop.send(answer)
                answer = None
                if isinstance(asked, RunTools):
                    answer = await self._arun_tools(asked, log)
                elif isinstance(asked, AskModel):
                    try:
                        answer = await self._aask(asked)
                    except AgentkitError as error:
                        loop.throw(error)
        except StopIteration as stop:
            run: Run = stop.value
            return run
        except BaseException as error:
            _carry(error, log)
            raise

    def _ask(self, asked: AskModel, streaming: bool) -> Generator[TextDelta, None, Reply | Pause]:
        stream = getattr(self.model, "stream", None) if streaming else None
        if stream is None:
            return _as_reply(self.model.decide(asked.messages, asked.tools))
        reply: Any = None
        for item in stream(asked.messages, asked.tools):
            if isinstance(item, TextDelta):
                yield item
            else:
                reply = item
        return _as_reply(reply)

    async def _aask(self, asked: AskModel) -> Reply | Pause:
        decide = getattr(self.model, "adecide", None)
        if decide is not None:
            return _as_reply(await decide(asked.messages, asked.tools))
        return _as_reply(await asyncio.to_thread(self.model.decide, asked.messages, asked.tools))

    def _run_tools(self, asked: RunTools, log: Log) -> Sequence[Any]:
        run_all = getattr(self.registry, "call_all", None)
        if run_all is None:  # a registry written by hand needs no more than `call`
            return [self.registry.call(call) for call in asked.calls]
        results: Sequence[Any] = run_all(asked.calls, run_id=log.id, approved=log.approved, done=log.done)
        return results

    async def _arun_tools(self, asked: RunTools, log: Log) -> Sequence[Any]:
        run_all = getattr(self.registry, "acall_all", None)
        if run_all is None:
            return await asyncio.to_thread(self._run_tools, asked, log)
        results: Sequence[Any] = await run_all(asked.calls, run_id=log.id, approved=log.approved, done=log.done)
        return results


class Stream(Iterator["TextDelta | Step"]):
    """The events of one run as they happen. ``.run`` is the run: the finished one, or what there is so far."""

    def __init__(self, agent: Agent, log: Log) -> None:
        self._log = log
        self._driver: Generator[TextDelta | Step, None, Run] = agent._drive(log, streaming=True)
        self._agent = agent
        self._run: Run | None = None

    def __next__(self) -> TextDelta | Step:
        try:
            return next(self._driver)
        except StopIteration as stop:
            if stop.value is not None:
                self._run = stop.value
            raise StopIteration from None

    def finish(self) -> Run:
        """Run to the end and return the run."""
        self._driver = self._agent._drive(self._log, streaming=False)
        for _ in self:
            pass
        assert self._run is not None
        return self._run

    @property
    def run(self) -> Run:
        """The run. Before the end it is what there is so far, stopped as ``cancelled``, with a result for every call."""
        return self._run or self._log.copy().stopped("cancelled")


def _as_reply(found: Any) -> Reply | Pause:
    """A model may return a bare decision."""
    if isinstance(found, (Reply, Pause)):
        return found
    if isinstance(found, (CallTools, FinalAnswer, AskUser)):
        return Reply(found)
    raise ReplyError(
        f"decide() must return CallTools, FinalAnswer, AskUser or a Reply, but it returned a value of type {type(found).__name__}."
    )


def _carry(error: BaseException, log: Log) -> None:
    """An interruption carries the run so far in ``.run``; every call in it has a result."""
    try:
        error.run = log.stopped("cancelled")  # type: ignore[attr-defined]
    except AttributeError:  # an exception that takes no attributes is raised as it is
        pass
