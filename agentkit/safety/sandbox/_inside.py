"""What runs in the other process: read a job, take on limits, run the program, report how it ended.

The text of this file is handed to a fresh Python, so it imports nothing but the standard library. It protects nobody by itself:
the program shares its process and could change anything here. What protects is the process around it.
"""

from __future__ import annotations

import ast
import contextlib
import json
import os
import sys
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any

NAME = "<program>"
DEEPEST = 40  # levels of a value that is given back
LONGEST_ERROR = 500  # characters
NO_MEMORY = b'{"ok": false, "limit": "memory"}'  # made before it is needed: then there may be no room to make it
FILE_TOO_BIG = 27  # errno EFBIG, the same number on Linux and macOS


class TooLong(Exception):
    """A value is larger than may be given back."""


def type_name(value: Any) -> str:
    return type(value).__name__


def plain(value: Any, room: int, name_of: Callable[[Any], str] = type_name) -> Any:
    """A value as JSON can carry it, of at most about ``room`` characters.

    Tuples and sets become lists, dates and decimals text, anything unknown the name of its type.

    Raises:
        TooLong: it is larger.
    """
    return _Walk(room, name_of).of(value, 0)


class _Walk:
    def __init__(self, room: int, name_of: Callable[[Any], str]) -> None:
        self.room = room
        self.name_of = name_of

    def pay(self, cost: int) -> None:
        self.room -= cost
        if self.room < 0:
            raise TooLong

    def of(self, value: Any, depth: int) -> Any:
        self.pay(1)
        kind = type(value)
        if value is None or kind is bool:
            return value
        if kind is int:
            return value if value.bit_length() <= 1000 else f"an integer of {value.bit_length():,} bits"
        if kind is float:
            return value if value - value == 0 else {"inf": "Infinity", "-inf": "-Infinity"}.get(repr(value), "NaN")
        if kind is str or kind is bytes:
            return self.text(value)
        if depth >= DEEPEST:
            return "… (nested too deeply)"
        if kind in (list, tuple, set, frozenset):
            self.pay(len(value))
            return [self.of(item, depth + 1) for item in value]
        if kind is dict:
            self.pay(len(value))
            return {self.key(key): self.of(item, depth + 1) for key, item in value.items()}
        return self.other(value)

    def text(self, value: str | bytes) -> str:
        self.pay(len(value))
        raw = value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value
        return raw.decode("utf-8", "replace")

    def key(self, key: Any) -> str:
        if type(key) is str:
            return self.text(key)
        safe = self.of(key, DEEPEST)
        return safe if isinstance(safe, str) else json.dumps(safe)

    def other(self, value: Any) -> str:
        if type(value).__module__ in ("datetime", "decimal", "fractions", "uuid", "pathlib"):
            return self.text(str(value))
        return f"a value of type {self.name_of(value)}"


def run(code: str, inputs: Mapping[str, Any], room: int) -> dict[str, Any]:
    """The report of one program: ``ok`` and ``value``, or ``error`` and perhaps the ``limit`` that was met."""
    space: dict[str, Any] = {"__name__": "__main__", **inputs}
    try:
        return {"ok": True, "value": plain(_last_value(code, space), room)}
    except MemoryError:
        space.clear()
        return {"ok": False, "limit": "memory"}
    except TooLong:
        return {"ok": False, "limit": "output"}
    except SystemExit as problem:
        if problem.code is None or problem.code == 0:
            return {"ok": True, "value": None}
        return {"ok": False, "error": f"The program ended itself with {str(problem.code)[:80]!r}."}
    except BaseException as problem:
        too_big = isinstance(problem, OSError) and problem.errno == FILE_TOO_BIG
        return {"ok": False, "limit": "file size"} if too_big else {"ok": False, "error": describe(problem)}


def _last_value(code: str, space: dict[str, Any]) -> Any:
    """Run a program; the value of its last line, when that is an expression, else None."""
    tree = ast.parse(code, NAME)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, NAME, "exec"), space)
    return eval(compile(ast.Expression(last.value), NAME, "eval"), space) if isinstance(last, ast.Expr) else None


def describe(problem: BaseException) -> str:
    """``ValueError in line 3: …``: the kind, the last line of the program itself, and the words."""
    try:
        words = str(problem.msg if isinstance(problem, SyntaxError) else problem)
    except BaseException:
        words = ""
    line = problem.lineno if isinstance(problem, SyntaxError) else _line(problem.__traceback__)
    return sentence(type(problem).__name__, line, words)


def sentence(kind: str, line: int | None, words: str) -> str:
    """The same form for every engine."""
    place = f" in line {line}" if line else ""
    short = words if len(words) <= LONGEST_ERROR else words[:LONGEST_ERROR] + " …"
    return f"{kind}{place}: {short}" if short else f"{kind}{place}"


def _line(trace: TracebackType | None) -> int | None:
    line = None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == NAME:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def limit_resources(job: Mapping[str, Any]) -> None:
    """Ask the system to bound this process; Windows and WebAssembly have nothing like it."""
    try:
        import resource
    except ImportError:
        return
    wanted = {
        "RLIMIT_CPU": int(job["seconds"]) + 1,
        "RLIMIT_AS": _memory_now() + int(job["memory"]),
        "RLIMIT_FSIZE": int(job["file_bytes"]),
        "RLIMIT_NOFILE": int(job["files"]),
        "RLIMIT_CORE": 0,
    }
    for name, most in wanted.items():
        try:
            kind = getattr(resource, name)
            _, hard = resource.getrlimit(kind)
            most = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.setrlimit(kind, (most, most))
        except (AttributeError, OSError, ValueError):
            continue  # macOS, for one, does not bound the address space


def _memory_now() -> int:
    """Bytes of address space that Python itself has taken, so that the limit is what the program may add."""
    try:
        with open("/proc/self/statm", "rb") as file:  # noqa: PTH123 - pathlib would only make the start slower
            return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, AttributeError):
        return 64 * 2**20


def main() -> None:
    """Standard input holds the job, standard error takes the report; the program gets neither."""
    job = json.loads(sys.stdin.buffer.read())
    report = os.dup(2)
    os.dup2(1, 2)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    write, leave = os.write, os._exit
    limit_resources(job)
    write(report, b"\n")  # from here on the time is the program's own
    answer = NO_MEMORY
    try:
        found = run(job["code"], job["inputs"], job["room"])
        with contextlib.suppress(AttributeError, OSError, ValueError):  # the program may have closed or replaced it
            sys.stdout.flush()
        answer = json.dumps(found).encode("ascii")
    except MemoryError:
        pass
    while answer:
        answer = answer[write(report, answer) :]
    leave(0)


if __name__ == "__main__":
    main()
