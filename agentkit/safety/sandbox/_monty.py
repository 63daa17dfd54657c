"""The engine monty: a small Python of its own, written in Rust, that has no way to reach files, processes or the network.

What it does not know cannot be used against us: there is no ``open`` that opens, no module that reaches the system. Limits of
time and memory are counted by the interpreter itself. It runs in a worker process, so that even a crash stays there.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from agentkit.errors import DefinitionError
from agentkit.safety.sandbox._inside import TooLong, plain, sentence, type_name
from agentkit.safety.sandbox._limits import MIB, MOST_OUTPUT, Job, Limit, SandboxResult

if TYPE_CHECKING:
    import pydantic_monty

INSTALL = "pip install 'agentkit-course[sandbox]'"
MISSING = f"The package pydantic-monty is not installed. Install it with: {INSTALL}"
BROKEN = f"The package pydantic-monty cannot start its program here. Install it again with: {INSTALL}"
GRACE = 1.0  # seconds that a worker may need to say that it has met a limit; then it is killed


def why_not() -> str:
    """Why this engine cannot be used here; empty when it can."""
    try:
        return "" if _starts(_library()) else BROKEN
    except DefinitionError as problem:
        return str(problem)


@functools.cache
def _starts(monty: Any) -> bool:
    try:
        with monty.Monty(max_processes=1):
            return True
    except (OSError, RuntimeError, monty.MontyError):
        return False


def _library() -> Any:
    try:
        import pydantic_monty
    except ImportError:
        raise DefinitionError(MISSING) from None
    return pydantic_monty


class _Full(Exception):
    """Raised towards the interpreter when enough has been printed."""


class _Output:
    """What a program prints, up to the limit."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.room = MOST_OUTPUT
        self.full = False

    def __call__(self, stream: str, text: str) -> None:
        raw = text.encode("utf-8", "replace")
        self.parts.append(raw[: self.room].decode("utf-8", "ignore"))
        self.room = max(self.room - len(raw), 0)
        if not self.room:
            self.full = True
            raise _Full


def run(job: Job) -> SandboxResult:
    """One program in a fresh interpreter."""
    monty = _library()
    output = _Output()
    try:
        result = _fed(monty, job, output)
    except monty.MontyError as problem:
        limit, error = _reason(monty, problem, output)
        return job.failed(error, limit, "".join(output.parts))
    except RuntimeError:  # no more processes
        raise OSError("the worker of monty could not be started") from None
    if output.full:
        return job.failed("", "output", "".join(output.parts))
    try:
        answer = plain(result, MOST_OUTPUT, _name_of)
    except TooLong:
        return job.failed("", "output", "".join(output.parts))
    return SandboxResult(True, answer, "".join(output.parts), engine=job.engine)


def _fed(monty: Any, job: Job, output: _Output) -> Any:
    limits: pydantic_monty.ResourceLimits = {
        "max_feed_duration_secs": job.seconds,
        "max_total_sleep_secs": job.seconds,  # sleeping is not counted as running
        "max_memory": job.memory_mb * MIB,
        "max_recursion_depth": 500,
    }
    pool = monty.Monty(max_processes=1, request_timeout=job.seconds + GRACE, feed_duration_limit_grace=GRACE)
    with pool, pool.checkout(limits=limits) as session:
        return session.feed_run(job.code, inputs=dict(job.inputs), print_callback=output)


def _reason(monty: Any, problem: Any, output: _Output) -> tuple[Limit, str]:
    """The limit that was met, or a sentence in our own words."""
    if output.full:
        return "output", ""
    if isinstance(problem, monty.MontyCrashedError):
        return ("time", "") if problem.timed_out or "timeout" in str(problem) else ("", "The interpreter crashed.")
    if not isinstance(problem, (monty.MontyRuntimeError, monty.MontySyntaxError)):
        return "", sentence(type(problem.exception()).__name__, None, str(problem))
    kind, _, words = problem.display("type-msg").partition(": ")
    if kind == "TimeoutError" and words.startswith(("feed time limit", "turn time limit", "sleep limit")):
        return "time", ""
    if kind == "MemoryError":
        return "memory", ""
    frames = problem.traceback()
    return "", sentence(kind, frames[-1].line if frames else None, words)


def _name_of(value: Any) -> str:
    """What stays in the interpreter is known to us by a stand-in, which has the name of the thing or of its kind."""
    return str(getattr(value, "kind", None) or getattr(value, "name", None) or type_name(value))
