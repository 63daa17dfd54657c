"""What a learner's function gives in another Python process, where texts have other hashes and sets another order."""

from __future__ import annotations

import dis
import marshal
import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType, FunctionType, ModuleType
from typing import Any

_SECONDS = 5.0

# Runs in the other process. It gets no source, only the compiled function, so it does not matter where that came from.
_THERE = """
import contextlib, importlib, marshal, pickle, sys
from types import FunctionType
main, functions, modules, values, given = marshal.loads(sys.stdin.buffer.read())
names = {"__builtins__": __builtins__, "__name__": "exercise"}
names.update({name: importlib.import_module(module) for name, module in modules.items()})
names.update({name: pickle.loads(value) for name, value in values.items()})
for name, (code, defaults) in functions.items():
    names[name] = FunctionType(code, names, name, *pickle.loads(defaults)[:1])
    names[name].__kwdefaults__ = pickle.loads(defaults)[1]
with contextlib.redirect_stdout(None):
    answer = names[main](*pickle.loads(given))
sys.stdout.buffer.write(b"answer:" + marshal.dumps(answer))
"""


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """What the function gave in the other process."""

    value: Any


class _CannotTravel(Exception):
    """The function needs something that cannot be taken to another process."""


def run_elsewhere(function: Any, *given: Any) -> Elsewhere | None:
    """Call a plain function in a new Python process whose texts have other hashes.

    Returns None when that cannot be done: the function is not a plain one, needs what cannot be copied, gives another
    value than plain data, or no process can be started here. Never raises.
    """
    try:
        packed = _packed(function, given)
        ended = subprocess.run(
            [sys.executable, "-s", "-c", _THERE],
            input=packed,
            capture_output=True,
            timeout=_SECONDS,
            env={**os.environ, "PYTHONHASHSEED": _other_seed(), "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),  # no console window on Windows
        )
        _, mark, answer = ended.stdout.partition(b"answer:")
        return Elsewhere(marshal.loads(answer)) if mark and ended.returncode == 0 else None
    except Exception:
        return None


def _other_seed() -> str:
    return "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"


def _packed(function: Any, given: tuple[Any, ...]) -> bytes:
    functions: dict[str, tuple[CodeType, bytes]] = {}
    modules: dict[str, str] = {}
    values: dict[str, bytes] = {}
    waiting = [("the answer", function)]
    while waiting:
        name, value = waiting.pop()
        if name in functions or name in modules or name in values:
            continue
        if isinstance(value, ModuleType):
            modules[name] = value.__name__
        elif not isinstance(value, FunctionType) or (value.__module__ in sys.modules and value.__module__ not in _OWN):
            values[name] = pickle.dumps(value)
        elif value.__closure__:
            raise _CannotTravel
        else:
            functions[name] = (value.__code__, pickle.dumps((value.__defaults__, value.__kwdefaults__)))
            waiting += [
                (used, value.__globals__[used]) for used in _globals_of(value.__code__) if used in value.__globals__
            ]
    return marshal.dumps(("the answer", functions, modules, values, pickle.dumps(given)))


_OWN = ("__main__", "exercise")
"""Where a learner's functions live: in a notebook, or in the source of an answer."""


def _globals_of(code: CodeType) -> Iterator[str]:
    """The global names that a function uses, in it and in the functions inside it."""
    for step in dis.get_instructions(code):
        if step.opname == "LOAD_GLOBAL":
            yield step.argval
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _globals_of(constant)
