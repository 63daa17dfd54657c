"""Choosing an engine, and asking which are here."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Any, Final, NamedTuple

from agentkit.errors import DefinitionError, did_you_mean
from agentkit.safety.sandbox import _bwrap, _monty, _process
from agentkit.safety.sandbox._limits import SandboxResult, checked, refusal

_ENGINES: Final[Mapping[str, ModuleType]] = {"monty": _monty, "subprocess": _process, "bwrap": _bwrap}


class Availability(NamedTuple):
    """Whether an engine can be used on this computer, and what to know about it here."""

    engine: str
    available: bool
    note: str


def engines() -> list[Availability]:
    """Each engine, whether it can be used here, and why not. The rows can be given to `agentkit.show.table`."""
    rows = []
    for name, engine in _ENGINES.items():
        reason = engine.why_not()
        note = reason or (_process.WINDOWS if name == "subprocess" and not _process.POSIX else "")
        rows.append(Availability(name, not reason, note))
    return rows


def run_python(
    code: str,
    *,
    engine: str = "monty",
    seconds: float = 2.0,
    memory_mb: int = 64,
    inputs: Mapping[str, Any] | None = None,
) -> SandboxResult:
    """Run a program that nobody has read, and say how it ended. Whatever the program does, this returns.

    Args:
        code: the program; the value of its last line, when that is an expression, is given back.
        engine: ``monty``, ``subprocess`` or ``bwrap``.
        seconds: how long it may run.
        memory_mb: MiB that it may take. Where a real Python runs, what Python itself takes is not counted.
        inputs: values that become its variables; JSON values only.

    Raises:
        DefinitionError: there is no such engine here, or a limit or an input makes no sense.
    """
    job = checked(code, inputs, seconds, memory_mb, engine)
    ready(engine)
    error = refusal(code)
    if error:
        return job.failed(error)
    try:
        found: SandboxResult = _ENGINES[engine].run(job)
    except OSError:  # no more processes, no room for a temporary folder
        return job.failed("The system could not start the sandbox. Try again later.")
    return found


def ready(engine: str) -> None:
    """Raise a `DefinitionError` that says what to do when an engine cannot be used here."""
    if engine not in _ENGINES:
        raise DefinitionError(
            f"There is no sandbox engine {str(engine)!r}. {did_you_mean(engine, _ENGINES)}There are: {', '.join(_ENGINES)}."
        )
    reason = _ENGINES[engine].why_not()
    if reason:
        raise DefinitionError(f"The sandbox engine {engine!r} cannot be used here. {reason}")
