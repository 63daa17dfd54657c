"""The two drivers of the loop: one for ordinary code and one for async code.

The loop (see `agentkit.loop.think_act_observe`) yields requests, and a driver serves them: it asks the model, runs the calls,
and sends back what came of it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from agentkit import _tasks
from agentkit._log import Log
from agentkit._replies import as_reply
from agentkit.errors import AgentkitError
from agentkit.messages import Message, Pause, Reply, Run, Step, TextDelta, ToolCall, ToolSpec

if TYPE_CHECKING:
    from agentkit.loop import Agent


@dataclass(slots=True)
class AskModel:
    """A request of the loop: let the model decide. It is answered with a `Reply` or a `Pause`."""

    messages: Sequence[Message]
    tools: Sequence[ToolSpec]


@dataclass(slots=True)
class RunTools:
    """A request of the loop: run these calls. It is answered with their results."""

    calls: Sequence[ToolCall]


Loop: TypeAlias = Generator[AskModel | RunTools | Step, Any, Run]


class Stream(Iterator[TextDelta | Step]):
    """The events of one run as they happen. ``.run`` is the run: the finished one, or what there is so far."""

    def __init__(self, agent: Agent, log: Log, loop: Loop) -> None:
        self._log = log
        self._events = drive(agent, log, loop, streaming=True)
        self._run: Run | None = None
        self._pieces: dict[int, list[str]] = {}

    def __next__(self) -> TextDelta | Step:
        try:
            event = next(self._events)
        except StopIteration as stop:
            self._run = stop.value or self._run
            raise StopIteration from None
        if isinstance(event, TextDelta) and isinstance(event.text, str) and event.text:
            self._pieces.setdefault(len(self._log.steps) + 1, []).append(event.text)
        return event

    @property
    def pieces(self) -> dict[int, tuple[str, ...]]:
        """For each step number the words of the model in the pieces in which they came.

        A step without words (the model only called tools, or does not stream) is not there. A number beyond the steps of
        the run belongs to a reply that broke off.
        """
        return {number: tuple(words) for number, words in self._pieces.items()}

    @property
    def run(self) -> Run:
        """The run. Before the end it is what there is so far, stopped as ``cancelled``, with a result for every call."""
        return self._run or self._log.copy().stopped("cancelled")


def finish(agent: Agent, log: Log, loop: Loop) -> Run:
    """Drive the loop to its end in ordinary code."""
    try:
        next(drive(agent, log, loop, streaming=False))
    except StopIteration as stop:
        run: Run = stop.value
        return run
    raise AssertionError("a driver that does not stream yields nothing")  # pragma: no cover


def drive(agent: Agent, log: Log, loop: Loop, streaming: bool) -> Generator[TextDelta | Step, None, Run]:
    """Serve the loop in ordinary code, and yield its events if wanted.

    It never starts an event loop in the caller's thread, so it works inside a notebook's.
    """
    answer: Any = None
    try:
        while True:
            asked = loop.send(answer)
            answer = None
            if isinstance(asked, RunTools):
                answer = _run_tools(agent, asked, log)
            elif isinstance(asked, AskModel):
                try:
                    answer = (yield from _stream(agent, asked)) if streaming else _decide(agent, asked)
                except AgentkitError as error:
                    loop.throw(error)
            elif streaming:
                yield asked
    except StopIteration as stop:
        return _ended(stop, log)
    except BaseException as error:
        _carry(error, log)
        raise


async def adrive(agent: Agent, log: Log, loop: Loop) -> Run:
    """Serve the loop in async code."""
    answer: Any = None
    try:
        while True:
            asked = loop.send(answer)
            answer = None
            if isinstance(asked, RunTools):
                answer = await _arun_tools(agent, asked, log)
            elif isinstance(asked, AskModel):
                try:
                    answer = await _adecide(agent, asked)
                except AgentkitError as error:
                    loop.throw(error)
    except StopIteration as stop:
        return _ended(stop, log)
    except BaseException as error:
        _carry(error, log)
        raise


def _ended(stop: StopIteration, log: Log) -> Run:
    """The run that the loop returned. A StopIteration that came from elsewhere is an error like any other."""
    if isinstance(stop.value, Run):
        return stop.value
    error = RuntimeError("Something that the loop uses raised StopIteration.")
    _carry(error, log)
    raise error from stop


def _decide(agent: Agent, asked: AskModel) -> Reply | Pause:
    return as_reply(agent.model.decide(asked.messages, asked.tools))


def _stream(agent: Agent, asked: AskModel) -> Generator[TextDelta, None, Reply | Pause]:
    stream = getattr(agent.model, "stream", None)
    if stream is None:
        return _decide(agent, asked)
    reply: Any = None
    for item in stream(asked.messages, asked.tools):
        if isinstance(item, TextDelta):
            yield item
        else:
            reply = item
    return as_reply(reply)


async def _adecide(agent: Agent, asked: AskModel) -> Reply | Pause:
    decide = getattr(agent.model, "adecide", None)
    if decide is None:
        return await _tasks.in_thread(lambda: _decide(agent, asked))
    return as_reply(await decide(asked.messages, asked.tools))


def _run_tools(agent: Agent, asked: RunTools, log: Log) -> Sequence[Any]:
    run_all = getattr(agent.registry, "call_all", None)
    if run_all is None:  # a registry written by hand needs no more than `call`
        return [agent.registry.call(call) for call in asked.calls]
    results: Sequence[Any] = run_all(asked.calls, run_id=log.id, approved=log.approved, done=log.done)
    return results


async def _arun_tools(agent: Agent, asked: RunTools, log: Log) -> Sequence[Any]:
    run_all = getattr(agent.registry, "acall_all", None)
    if run_all is None:
        return await _tasks.in_thread(lambda: _run_tools(agent, asked, log))
    results: Sequence[Any] = await run_all(asked.calls, run_id=log.id, approved=log.approved, done=log.done)
    return results


def _carry(error: BaseException, log: Log) -> None:
    """An interruption carries the run so far in ``.run``; every call in it has a result."""
    with contextlib.suppress(AttributeError):  # an exception that takes no attributes is raised as it is
        error.run = log.stopped("cancelled")  # type: ignore[attr-defined]
