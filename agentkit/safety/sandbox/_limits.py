"""The limits of a sandbox, and what came of a program that ran in one."""

from __future__ import annotations

import json
import keyword
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from agentkit._value import value
from agentkit.errors import DefinitionError

Limit: TypeAlias = Literal["", "time", "memory", "output", "file size"]

LONGEST_CODE: Final = 100_000  # characters of a program
MOST_OUTPUT: Final = 20_000  # bytes that a program may print, and about as many characters of its value
LARGEST_FILE: Final = 2**20  # bytes
OPEN_FILES: Final = 32
MIB: Final = 2**20


@value
class SandboxResult:
    """What came of a program.

    Attributes:
        ok: whether it ran to its end.
        value: the value of its last line, when that is an expression, as JSON can carry it; else None.
        output: what it printed, as far as it came.
        error: why it did not run to its end, in one sentence.
        limit: the limit that it met: ``time``, ``memory``, ``output``, ``file size``, or nothing.
        engine: where it ran.

    A program can claim any value and any error of its own. Treat all of it as text from a stranger.
    """

    ok: bool
    value: Any = None
    output: str = ""
    error: str = ""
    limit: Limit = ""
    engine: str = ""


@dataclass(frozen=True, slots=True)
class Job:
    """One program, its inputs and its limits, checked."""

    code: str
    inputs: Mapping[str, Any]
    seconds: float
    memory_mb: int
    engine: str

    def failed(self, error: str = "", limit: Limit = "", output: str = "") -> SandboxResult:
        """The result of a program that did not run to its end."""
        return SandboxResult(False, None, output, error or self.sentence(limit), limit, self.engine)

    def sentence(self, limit: Limit) -> str:
        """What a limit says to whoever wrote the program."""
        match limit:
            case "time":
                return (
                    f"The program was stopped: it ran longer than {self.seconds:g} second{'s' * (self.seconds != 1)}."
                )
            case "memory":
                return f"The program was stopped: it needed more than {self.memory_mb} MiB of memory."
            case "output":
                return f"The program was stopped: it printed or returned more than {MOST_OUTPUT:,} characters."
            case "file size":
                return f"The program was stopped: it wrote a file of more than {LARGEST_FILE // MIB} MiB."
            case _:
                return "The program ended without an answer."


def checked(code: str, inputs: Mapping[str, Any] | None, seconds: float, memory_mb: int, engine: str) -> Job:
    """The job, when what the programmer asked for makes sense.

    Raises:
        DefinitionError: a limit that is none, or inputs that JSON cannot carry.
    """
    if not (isinstance(seconds, (int, float)) and math.isfinite(seconds) and 0 < seconds <= 3600):
        raise DefinitionError(f"seconds must be a number above 0 and at most 3600, not {seconds!r}.")
    if not (isinstance(memory_mb, int) and 1 <= memory_mb <= 65_536):
        raise DefinitionError(f"memory_mb must be a whole number from 1 to 65536, not {memory_mb!r}.")
    given = dict(inputs or {})
    for name in given:
        if not (isinstance(name, str) and name.isidentifier()) or keyword.iskeyword(name):
            raise DefinitionError(f"An input becomes a variable of the program, and {name!r} is no name of a variable.")
    try:
        given = json.loads(json.dumps(given, allow_nan=False))
    except (TypeError, ValueError, RecursionError):
        raise DefinitionError("inputs must be values that JSON has: text, numbers, lists and objects.") from None
    return Job(code, given, float(seconds), memory_mb, engine)


def refusal(code: object) -> str:
    """Why a text is no program that any engine would take; empty when it may be tried."""
    if not isinstance(code, str):
        return f"A program is a text, not a value of type {type(code).__name__}."
    if len(code) > LONGEST_CODE:
        return f"A program has at most {LONGEST_CODE:,} characters; this one has {len(code):,}."
    try:
        code.encode("utf-8")
    except UnicodeEncodeError:
        return "The program holds half a character (a lone surrogate). Write it again."
    return ""
