"""Runs a learner's code so that nothing it does can stop the notebook.

The code runs in a daemon thread. An endless loop is ended after a number of steps (instructions of the learner's own
code, counted with `sys.settrace`), so the outcome does not depend on how fast the machine is. Code that waits instead
of looping is given up after some seconds. A KeyboardInterrupt passes through.
"""

from __future__ import annotations

import ctypes
import io
import sys
import sysconfig
import threading
import time
from collections.abc import Callable
from contextlib import redirect_stdout, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import FrameType
from typing import Any, Literal

STEPS = 2_000_000
SECONDS = 10.0
_SLICE = 0.05
_PRINTED_CHARS = 2_000
_PACKAGE = (str(Path(__file__).parent.parent), str(Path(__file__).resolve().parent.parent))
course_files: set[str] = set()  # modules with exercises that stand outside this package
_LIBRARIES = tuple(path for key in ("stdlib", "platstdlib", "purelib", "platlib") if (path := sysconfig.get_path(key)))


class _Spent(BaseException):
    """The code has used up its steps or its seconds. Not an Exception, so that `except Exception` does not catch it."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a guarded call ended: a value, an exception, or too long (in steps or seconds). ``printed`` is its output."""

    value: Any = None
    error: BaseException | None = None
    too_long: Literal["", "steps", "seconds"] = ""
    printed: str = ""


def is_learners(filename: str) -> bool:
    """True for code that belongs neither to the course nor to Python and its libraries."""
    return filename not in course_files and not _is_library(filename)


@lru_cache(maxsize=2_000)
def _is_library(filename: str) -> bool:
    return filename.startswith((*_PACKAGE, "<frozen", *_LIBRARIES))


def run_guarded(function: Callable[[], Any], *, steps: int = STEPS, seconds: float = SECONDS) -> Ended:
    """Call the function in a daemon thread and say how it ended. Raises nothing but KeyboardInterrupt."""
    box: list[Ended] = []
    finished = threading.Event()
    output = io.StringIO()

    def work() -> None:
        sys.settrace(_step_counter(steps))
        try:
            box.append(Ended(value=function()))
        except _Spent:
            box.append(Ended(too_long="steps"))
        except BaseException as error:
            box.append(Ended(error=error))
        finally:
            sys.settrace(None)
            finished.set()

    # What a thread prints lands in another cell, or nowhere: it is collected here and printed by the caller's thread.
    with redirect_stdout(output):
        worker = threading.Thread(target=work, name="agentkit-check", daemon=True)
        worker.start()
        in_time = _in_time(worker, finished, seconds)
    ended = box[0] if in_time and box else Ended(too_long="seconds")
    if isinstance(ended.error, KeyboardInterrupt):
        raise ended.error
    printed = output.getvalue()
    return Ended(ended.value, ended.error, ended.too_long, printed[:_PRINTED_CHARS])


def _in_time(worker: threading.Thread, finished: threading.Event, seconds: float) -> bool:
    """Wait in short slices, because on Windows a long wait cannot be interrupted; at the end of the time, stop the thread."""
    deadline = time.monotonic() + seconds
    try:
        while not finished.wait(_SLICE):
            if time.monotonic() > deadline:
                _stop(worker)
                return False
        return True
    except BaseException:
        _stop(worker)
        raise


def _stop(worker: threading.Thread) -> None:
    """Ask the interpreter to end the thread at its next line, so that a lost loop does not keep a core busy."""
    _end(worker)
    if sys.version_info >= (3, 12):
        return
    # A thread that waits for ever never takes the request, and while one is open, Python 3.11 cannot trace a call: every later
    # check would wait too long. The mark is taken back as soon as any thread takes a request of its own.
    worker.join(_SLICE)
    if worker.is_alive():
        spinning = _spinning()
        _end(spinning)
        spinning.join(1.0)


def _end(thread: threading.Thread) -> None:
    if thread.ident is not None:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(_Spent))


def _spinning() -> threading.Thread:
    """A thread that does nothing until it is ended."""
    ready = threading.Event()

    def spin() -> None:
        with suppress(_Spent):
            ready.set()
            while True:
                pass

    thread = threading.Thread(target=spin, name="agentkit-check", daemon=True)
    thread.start()
    ready.wait()
    return thread


def _step_counter(limit: int) -> Callable[[FrameType, str, Any], Any]:
    left = limit

    def on_step(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal left
        left -= 1
        if left < 0:
            raise _Spent
        return on_step

    def on_call(frame: FrameType, event: str, argument: Any) -> Any:
        if not is_learners(frame.f_code.co_filename):
            return None
        frame.f_trace_opcodes = True  # `while True: pass` on one line is a single line event on Python 3.11
        return on_step(frame, event, argument)

    return on_call
