"""The half of MCP that is the same on both sides: who asks waits for an answer, who is asked answers once.

A peer is told each line that arrives (`receive`) and is given a function that sends. It knows nothing of pipes or HTTP.
What takes time runs in a daemon thread of its own, so that a ping is answered and a cancellation is heard meanwhile.
"""

from __future__ import annotations

import contextlib
import contextvars
import threading
from collections import deque
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Any, Final, TypeAlias, assert_never

from agentkit.mcp.context import Context, Handler
from agentkit.mcp.jsonrpc import (
    CONNECTION_CLOSED,
    INTERNAL_ERROR,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    TIMED_OUT,
    ErrorResponse,
    Id,
    McpError,
    Message,
    Notification,
    Problem,
    Request,
    Response,
    as_id,
    encode,
    parse,
    parse_many,
    twin,
)
from agentkit.mcp.recording import Recorder

MAX_RUNNING: Final = 100  # requests that one side may have open at the other
KEPT: Final = 100  # lines that were no messages

Send: TypeAlias = Callable[[Message, Id | None], None]
"""Sends a message. The second argument is the id of the other side's request that it belongs to, or None."""
Progress: TypeAlias = Callable[[float, float | None, str], None]
"""Is told how much is done, of how much (None when unknown), and a remark.

It is called in the thread that reads, so it must not wait: nobody would read the answer to a request meanwhile."""


@dataclass(eq=False, slots=True)
class Waiting:
    """A request of ours that has no answer yet."""

    method: str
    progress: Progress | None
    answer: SimpleQueue[Mapping[str, Any] | McpError] = field(default_factory=SimpleQueue)


class Peer:
    """One side of a connection.

    Args:
        send: how a message leaves.
        handlers: for each method that this side answers, a function from the context to the result. It may raise `McpError`.
        quick: methods whose handlers are answered in the thread that reads, in order.
        name, other: what the two sides are called in a recording.
        notified: is told each notification; it must not wait. What it raises is kept in `raised`, and reading goes on.
        timeout: seconds that a request waits for its answer.
        complain: whether a line that is no message is answered with an error.
        recorder: writes down every message.
    """

    def __init__(
        self,
        send: Send,
        handlers: Mapping[str, Handler],
        *,
        quick: Collection[str] = (),
        name: str = "client",
        other: str = "server",
        notified: Callable[[Notification], None] | None = None,
        timeout: float = 10.0,
        complain: bool = False,
        recorder: Recorder | None = None,
    ) -> None:
        self.name, self.other, self.timeout, self.batches = name, other, timeout, False
        self.noise: deque[Problem] = deque(maxlen=KEPT)
        self.raised: deque[Exception] = deque(maxlen=KEPT)
        self._out, self._handlers, self._quick = send, handlers, frozenset(quick)
        self._notified, self._complain, self._recorder = notified, complain, recorder
        self._lock, self._idle = threading.Lock(), threading.Condition()
        self._last_id = 0
        self._waiting: dict[Id | None, Waiting] = {}
        self._running: dict[Id | None, Context] = {}
        self._closed: str | None = None

    # --- asking -------------------------------------------------------------------------------------------------------

    def send(self, message: Message, about: Id | None = None) -> None:
        if self._closed is not None:
            raise McpError(self._closed, code=CONNECTION_CLOSED)
        # Written down before it leaves: the answer may be here, in another thread, before `_out` returns.
        if self._recorder is not None:
            self._recorder(self.name, self.other, message, encode(message))
        self._out(message, about)

    def notify(self, method: str, params: Mapping[str, Any] | None = None) -> None:
        self.send(Notification(method, params or {}))

    def request(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = None,
        progress: Progress | None = None,
        about: Id | None = None,
    ) -> Mapping[str, Any]:
        """Send a request and wait for its result. Raises `McpError`: refused, no answer in time, connection closed."""
        number, waiting = self._expect(method, progress)
        params = dict(params or {})
        if progress is not None:
            params["_meta"] = {**params.get("_meta", {}), "progressToken": number}
        seconds = self.timeout if timeout is None else timeout
        try:
            self.send(Request(number, method, params), about)
            answer = waiting.answer.get(timeout=seconds)
        except Empty:
            self._tell_cancelled(number, method, f"no answer within {seconds:g} seconds")
            raise McpError(self._no_answer(method, seconds), code=TIMED_OUT) from None
        except KeyboardInterrupt:
            self._tell_cancelled(number, method, "interrupted")
            raise
        finally:
            with self._lock:
                self._waiting.pop(number, None)  # an answer that comes from now on is dropped
        if isinstance(answer, McpError):
            raise answer
        return answer

    def cancel_all(self, reason: str) -> None:
        """Give up on every request that waits for an answer."""
        with self._lock:
            given_up = list(self._waiting.items())
        for number, waiting in given_up:
            self._tell_cancelled(number, waiting.method, reason)
            self.failed(number, McpError(f"{waiting.method} was cancelled: {reason}.", code=TIMED_OUT))

    def _expect(self, method: str, progress: Progress | None) -> tuple[int, Waiting]:
        with self._lock:
            if self._closed is not None:
                raise McpError(self._closed, code=CONNECTION_CLOSED)
            self._last_id += 1
            waiting = self._waiting[self._last_id] = Waiting(method, progress)
            return self._last_id, waiting

    def _tell_cancelled(self, number: Id | None, method: str, reason: str) -> None:
        if method == "initialize":  # the specification forbids to cancel it
            return
        with contextlib.suppress(McpError):  # the connection may be gone, and with it the request
            self.notify("notifications/cancelled", {"requestId": number, "reason": reason})

    def _no_answer(self, method: str, seconds: float) -> str:
        told = f"The {self.other} did not answer {method} within {seconds:g} seconds."
        if self.noise:
            told += f" It sent {len(self.noise)} line(s) that answer nothing, the last one: {self.noise[-1].text!r}."
        return told

    # --- being told -----------------------------------------------------------------------------------------------------

    def receive(self, text: str) -> None:
        """Take one line that has arrived. Never raises for what it holds, nor for what `notified` does with it."""
        for message in parse_many(text) if self.batches else [parse(text)]:
            if self._recorder is not None:
                self._recorder(self.other, self.name, message, text)
            match message:
                case Request():
                    self._asked(message)
                case Notification():
                    self._told(message)
                case Response(id, result):
                    self._answered(id, result)
                case ErrorResponse(None, code, sentence):  # the other side could not read a message of ours
                    self.noise.append(Problem(code, "an error without an id", None, sentence[:200]))
                case ErrorResponse(id, code, sentence, data):
                    self._answered(id, McpError(sentence, code=code, data=data))
                case Problem():
                    self._puzzled(message)
                case _:
                    assert_never(message)

    def failed(self, id: Id | None, error: McpError) -> None:
        """A request of ours will get no answer, for this reason."""
        with self._lock:
            waiting = self._waiting.get(id)
        if waiting is not None:
            waiting.answer.put(error)

    def closed(self, reason: str) -> None:
        """The connection is gone: everything that waits hears of it at once. May be called twice."""
        with self._lock:
            self._closed = self._closed or reason
            waiting, running = list(self._waiting.values()), list(self._running.values())
        for item in waiting:
            item.answer.put(McpError(f"{item.method} got no answer. {self._closed}", code=CONNECTION_CLOSED))
        for context in running:
            context.cancel()

    def finish(self, seconds: float) -> None:
        """Wait until everything that the other side asked is answered, but not longer than this."""
        with self._idle:
            self._idle.wait_for(lambda: not self._running, seconds)

    def _answered(self, id: Id | None, answer: Mapping[str, Any] | McpError) -> None:
        with self._lock:
            waiting = self._waiting.get(id)
            other = twin(id)
            changed = waiting is None and other in self._waiting
        if waiting is not None:
            waiting.answer.put(answer)
        elif changed:
            told = f"The {self.other} answered the request {other!r} with the id {id!r}. An id must keep its type."
            self.failed(other, McpError(told, code=INVALID_REQUEST))

    def _puzzled(self, problem: Problem) -> None:
        self.noise.append(problem)
        if problem.answer:  # never answered in its turn: two sides would complain about each other for ever
            told = f"The {self.other}'s answer cannot be read. {problem.reason}"
            self.failed(problem.id, McpError(told, code=problem.code))
        elif self._complain:
            self._reply(ErrorResponse(problem.id, problem.code, problem.reason))

    def _told(self, message: Notification) -> None:
        params = message.params
        if message.method == "notifications/cancelled":
            context = self._running.get(as_id(params.get("requestId")))
            if context is not None and context.request.method != "initialize":
                context.cancel()
        elif message.method == "notifications/progress":
            self._progressed(params)
        if self._notified is not None:
            try:
                self._notified(message)
            except Exception as error:  # a mistake in the caller's function must not end the reading
                self.raised.append(error)

    def _progressed(self, params: Mapping[str, Any]) -> None:
        waiting = self._waiting.get(as_id(params.get("progressToken")))
        done, total, text = params.get("progress"), params.get("total"), params.get("message")
        if waiting is None or waiting.progress is None or not isinstance(done, int | float):
            return
        known = total if isinstance(total, int | float) else None
        try:
            waiting.progress(done, known, text if isinstance(text, str) else "")
        except Exception as error:  # a mistake in the caller's function must not end the reading
            waiting.answer.put(McpError(f"The function for progress failed: {type(error).__name__}: {error}"))

    # --- answering --------------------------------------------------------------------------------------------------------

    def _asked(self, request: Request) -> None:
        handler = self._handlers.get(request.method)
        context = Context(self, request)
        if handler is None:
            told = f"There is no method {request.method[:80]!r} here."
            return self._reply(ErrorResponse(request.id, METHOD_NOT_FOUND, told))
        if len(self._running) >= MAX_RUNNING or self._running.setdefault(request.id, context) is not context:
            told = f"The id {request.id!r} is in use, or {MAX_RUNNING} requests are open already."
            return self._reply(ErrorResponse(request.id, INVALID_REQUEST, told))
        if request.method in self._quick:
            return self._answer(context, handler)
        run, work = contextvars.copy_context().run, (self._answer, context, handler)
        threading.Thread(target=run, args=work, daemon=True, name="agentkit-mcp").start()

    def _answer(self, context: Context, handler: Handler) -> None:
        id = context.request.id
        answer: Response | ErrorResponse
        try:
            answer = Response(id, handler(context))
        except McpError as error:
            answer = ErrorResponse(id, error.code, str(error), error.data)
        except Exception as error:
            answer = ErrorResponse(id, INTERNAL_ERROR, f"The {self.name} failed inside ({type(error).__name__}).")
        try:
            if not context.cancelled:
                self._reply(answer)
        finally:
            with self._idle:
                self._running.pop(id, None)
                self._idle.notify_all()

    def _reply(self, answer: Response | ErrorResponse) -> None:
        try:
            self.send(answer, answer.id)
        except McpError as error:  # it cannot be sent: the connection is gone, or the result is not JSON
            if isinstance(answer, Response) and self._closed is None:
                self._reply(ErrorResponse(answer.id, INTERNAL_ERROR, str(error)))
