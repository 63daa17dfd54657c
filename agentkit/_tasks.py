"""Doing the waiting elsewhere: daemon threads for tools with a deadline, and one event loop for async tools.

Daemon threads, because a tool that sleeps for ever must never keep the process from exiting. A thread of its own for the
event loop, because the caller may already run inside one, as every notebook cell does.
"""

from __future__ import annotations

import contextlib
import contextvars
import threading
from collections.abc import Awaitable, Callable, Iterator, Sequence
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import asyncio

T = TypeVar("T")

MAX_THREADS = 32
GRACE = 0.25  # seconds

_lock = threading.Lock()
_background: tuple[asyncio.AbstractEventLoop, threading.Thread] | None = None


class TooLate(Exception):
    """No answer within the deadline. What was started may still be going on."""


def within(seconds: float, function: Callable[[], T], late: Callable[[T | None, BaseException | None], None]) -> T:
    """The value of a function, waited for at most ``seconds``; raises `TooLate`, and hands a later answer to ``late``."""
    answered = threading.Event()
    deciding = threading.Lock()  # whether an answer is in time or late is decided once
    box: list[tuple[T | None, BaseException | None]] = []
    given_up = False
    context = contextvars.copy_context()

    def work() -> None:
        try:
            outcome: tuple[T | None, BaseException | None] = (context.run(function), None)
        except BaseException as error:  # whatever it is, the one who waits must hear of it
            outcome = (None, error)
        with deciding:
            if not given_up:
                box.append(outcome)
                answered.set()
                return
        late(*outcome)

    threading.Thread(target=work, daemon=True, name="agentkit-tool").start()
    try:
        in_time = answered.wait(seconds)
    except BaseException:  # interrupted: what is still going on will have an answer, and nobody else will hear of it
        with deciding:
            given_up = True
        if box:
            late(*box[0])
        raise
    if not in_time:
        with deciding:
            if not box:
                given_up = True
                raise TooLate
    value, error = box[0]
    if error is not None:
        raise error
    return value  # type: ignore[return-value]


def together(functions: Sequence[Callable[[], T]]) -> Iterator[tuple[int, T]]:
    """Run functions side by side in daemon threads, 32 at most at a time; yields (index, value) as they finish."""
    done: SimpleQueue[tuple[int, T | None, BaseException | None]] = SimpleQueue()
    waiting = iter(enumerate(functions))

    def work(index: int, function: Callable[[], T], context: contextvars.Context) -> None:
        try:
            done.put((index, context.run(function), None))
        except BaseException as error:
            done.put((index, None, error))

    def start_next() -> None:
        for index, function in waiting:
            context = contextvars.copy_context()
            thread = threading.Thread(target=work, args=(index, function, context), daemon=True, name="agentkit-tool")
            thread.start()
            return

    for _ in range(min(MAX_THREADS, len(functions))):
        start_next()
    for _ in functions:
        index, value, error = done.get()
        if error is not None:
            raise error
        start_next()
        yield index, value  # type: ignore[misc]


async def in_thread(
    function: Callable[[], T], late: Callable[[T | None, BaseException | None], None] = lambda *_: None
) -> T:
    """Run a function in a daemon thread and await its value. Giving up on it never keeps the process from exiting.

    ``late`` is handed the answer that comes after the one who waited was cancelled.
    """
    import asyncio

    loop = asyncio.get_running_loop()
    done: asyncio.Future[tuple[T | None, BaseException | None]] = loop.create_future()
    context = contextvars.copy_context()

    def settle(outcome: tuple[T | None, BaseException | None]) -> None:
        if not done.done():
            done.set_result(outcome)
        else:
            late(*outcome)

    def work() -> None:
        try:
            outcome: tuple[T | None, BaseException | None] = (context.run(function), None)
        except BaseException as error:
            outcome = (None, error)
        try:
            loop.call_soon_threadsafe(settle, outcome)
        except RuntimeError:  # the loop has been closed meanwhile
            late(*outcome)

    threading.Thread(target=work, daemon=True, name="agentkit-tool").start()
    return _opened(await done)


def run_async(make: Callable[[], Awaitable[T]], seconds: float | None = None) -> T:
    """Run a coroutine on the background event loop and wait for it here; raises `TooLate` after ``seconds``."""
    import asyncio

    async def bounded() -> tuple[T | None, BaseException | None]:
        # An exit or an interrupt raised inside a task would end the event loop for everybody, so it travels as a value.
        return await _outcome(make() if seconds is None else deadline(make(), seconds))

    loop = background_loop()
    running = None
    with contextlib.suppress(RuntimeError):  # there is none in ordinary code
        running = asyncio.get_running_loop()
    if running is loop:
        # An async tool that calls the registry in its turn: waiting here would block the very loop that is waited for.
        return within(seconds or threading.TIMEOUT_MAX, lambda: _opened(asyncio.run(bounded())), lambda *_: None)
    future = asyncio.run_coroutine_threadsafe(bounded(), loop)
    try:
        # A little more than the deadline: a coroutine that blocks its loop cannot be stopped, but need not be waited for.
        outcome = future.result(None if seconds is None else seconds + GRACE)
    except TimeoutError:
        future.cancel()
        raise TooLate from None
    except BaseException:
        future.cancel()
        raise
    return _opened(outcome)


async def deadline(awaitable: Awaitable[T], seconds: float) -> T:
    """Await with a deadline. A TimeoutError of the awaitable itself stays one; only ours becomes `TooLate`."""
    import asyncio

    task = asyncio.ensure_future(_outcome(awaitable))
    try:
        done, _ = await asyncio.wait({task}, timeout=seconds)
    except asyncio.CancelledError:
        task.cancel()
        raise
    if not done:
        task.cancel()
        raise TooLate
    return _opened(task.result())


async def _outcome(awaitable: Awaitable[T]) -> tuple[T | None, BaseException | None]:
    try:
        return await awaitable, None
    except BaseException as error:
        if is_cancellation(error):
            raise
        return None, error


def is_cancellation(error: BaseException) -> bool:
    """Whether this is the cancellation of the running task, and not a CancelledError that a tool raised by itself."""
    import asyncio

    task = asyncio.current_task() if isinstance(error, asyncio.CancelledError) else None
    return task is not None and task.cancelling() > 0


def _opened(outcome: tuple[T | None, BaseException | None]) -> T:
    value, error = outcome
    if isinstance(error, StopIteration):  # it would mean "finished" to whoever awaits
        raise RuntimeError("it raised StopIteration") from error
    if error is not None:
        raise error
    return value  # type: ignore[return-value]


def background_loop() -> asyncio.AbstractEventLoop:
    """The one event loop that lives in a daemon thread; it is made when it is first needed."""
    import asyncio

    global _background
    with _lock:
        if _background is None or not _background[1].is_alive():
            loop = asyncio.new_event_loop()
            thread = threading.Thread(target=loop.run_forever, daemon=True, name="agentkit-loop")
            thread.start()
            _background = (loop, thread)
        return _background[0]


async def collect(source: Any, limit: int) -> list[Any]:
    """The items of an async generator, ``limit`` at most."""
    items: list[Any] = []
    async for item in source:
        items.append(item)
        if len(items) >= limit:
            break
    return items
