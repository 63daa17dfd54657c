"""Running programs that nobody has read: what comes back, and that the caller survives each of them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from agentkit import DefinitionError, Registry, ToolCall, show
from agentkit.safety.sandbox import (
    HEADER,
    SandboxResult,
    _monty,
    _process,
    engines,
    protects,
    python_tool,
    run_python,
)
from agentkit.safety.sandbox._limits import LONGEST_CODE, MOST_OUTPUT

POSIX = os.name == "posix"


@pytest.fixture(params=HEADER[1:])
def run(request: pytest.FixtureRequest) -> Callable[..., SandboxResult]:
    """`run_python` with each engine that is here."""
    status = {row.engine: row for row in engines()}[request.param]
    if not status.available:
        pytest.skip(status.note)
    return lambda code, **more: run_python(code, engine=request.param, **{"seconds": 20.0, **more})


def process(code: str, **more: Any) -> SandboxResult:
    return run_python(code, engine="subprocess", **{"seconds": 20.0, **more})


# What comes back, the same from every engine


@pytest.mark.parametrize(
    ("code", "value"),
    [
        ("1 + 1", 2), ("x = 1", None), ("", None), ("# nothing", None), ("x = 2\nx * 3", 6), ("print('a')", None), ("'한글'", "한글"),
        ("[1, (2, 3), {'a': {4}}, None, True, 1.5]", [1, [2, 3], {"a": [4]}, None, True, 1.5]), ("{1: 'a', None: 'b'}", {"1": "a", "null": "b"}),
        ("float('nan')", "NaN"), ("[1e999, -1e999]", ["Infinity", "-Infinity"]), ("10**500", "an integer of 1,661 bits"), ("b'ab'", "ab"),
        ("from datetime import date\ndate(2026, 1, 2)", "2026-01-02"), ("def f(n):\n    return n if n < 2 else f(n - 1) + f(n - 2)\nf(12)", 144),
        ("class A:\n    pass\n[A()]", ["a value of type A"]), ("import json\njson.loads('[1]')", [1]),
    ],
)  # fmt: skip
def test_the_value_of_the_last_line(run: Callable[..., SandboxResult], code: str, value: Any) -> None:
    result = run(code)
    assert (result.ok, result.error, result.limit) == (True, "", "")
    assert result.value == value and type(result.value) is type(value)


def test_what_was_printed_is_kept_also_when_the_program_fails(run: Callable[..., SandboxResult]) -> None:
    assert run("print('one')\nprint('둘')\n3").output == "one\n둘\n"
    failed = run("print('before')\n\n1 / 0")
    assert (failed.ok, failed.value, failed.output, failed.limit) == (False, None, "before\n", "")
    assert failed.error == "ZeroDivisionError in line 3: division by zero"
    both = run("import sys\nprint('out')\nprint('err', file=sys.stderr)")
    assert both.output == "out\nerr\n"


def test_inputs_are_variables_and_copies(run: Callable[..., SandboxResult]) -> None:
    given_list = [1, 2]
    result = run("rows.append(3)\n[rows, name, {'n': n}]", inputs={"rows": given_list, "name": "김", "n": None})
    assert result.value == [[1, 2, 3], "김", {"n": None}] and given_list == [1, 2]


def test_two_programs_know_nothing_of_each_other(run: Callable[..., SandboxResult]) -> None:
    assert run("left = 1").ok
    assert run("left").error == "NameError in line 1: name 'left' is not defined"


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("1 +", "SyntaxError in line 1"), ("x\0y", "SyntaxError"), ("def f():\n    return f()\nf()", "RecursionError in line 2"),
        ("raise ValueError('x' * 100_000)", "ValueError in line 1: xxx"), ("import numpy", "ModuleNotFoundError in line 1"),
        ("(" * 5_000 + ")" * 5_000, "SyntaxError"), ("assert False, 'no'", "AssertionError in line 1: no"), ("undefined", "NameError"),
    ],
    ids=range(8),
)  # fmt: skip
def test_a_program_that_fails_says_why_in_one_short_sentence(
    run: Callable[..., SandboxResult], code: str, words: str
) -> None:
    result = run(code)
    assert not result.ok and result.value is None and not result.limit
    accepted = (
        (words, "MemoryError") if code.startswith("((") else (words,)
    )  # how deep is too deep differs between versions
    assert result.error.startswith(accepted) and len(result.error) < 600 and "Traceback" not in result.error


@pytest.mark.parametrize(
    "code",
    [
        "x = []\nfor i in range(100_000):\n    x = [x]\nx", "x = []\nx.append(x)\nx", "x = ['y']\nfor i in range(40):\n    x = [x, x]\nx",
        "['한' * 50_000] * 1_000", "list(range(1_000_000))", "{str(n): n for n in range(100_000)}", "print('x' * 1_000_000)",
    ],
    ids=["deep", "cycle", "laughs", "shared", "long", "keys", "one line"],
)  # fmt: skip
def test_a_monstrous_result_becomes_a_small_one(run: Callable[..., SandboxResult], code: str) -> None:
    result = run(code, memory_mb=256)
    assert result.limit == "output" or "nested too deeply" in str(result.value) or result.value == ["[...]"]
    assert len(show.table([[result.value]]).text) < 10 * MOST_OUTPUT and len(result.output) <= MOST_OUTPUT


def test_a_limit_is_named_and_told_in_one_sentence(run: Callable[..., SandboxResult]) -> None:
    slow = run("print('begun')\nwhile True:\n    pass", seconds=0.5)
    assert (slow.limit, slow.output, slow.error) == (
        "time",
        "begun\n",
        "The program was stopped: it ran longer than 0.5 seconds.",
    )
    asleep = run("import time\nprint('begun')\ntime.sleep(25)", seconds=1)
    assert (asleep.limit, asleep.output, asleep.error) == (
        "time",
        "begun\n",
        "The program was stopped: it ran longer than 1 second.",
    )
    large = run("x = 'a' * 2_000_000_000", memory_mb=32)
    assert (large.limit, large.error) == ("memory", "The program was stopped: it needed more than 32 MiB of memory.")


@pytest.mark.parametrize("limit", ["time", "memory"])
def test_a_program_cannot_catch_its_way_past_a_limit(run: Callable[..., SandboxResult], limit: str) -> None:
    body = "pass" if limit == "time" else "kept.append('x' * 1_000_000)"
    code = f"kept = []\nwhile True:\n    try:\n        while True:\n            {body}\n    except BaseException:\n        pass"
    assert run(code, seconds=1.0).limit in ("time", "memory")


@pytest.mark.parametrize(
    "code", ["a = '\ud800'", "x" * (LONGEST_CODE + 1), None, 7, ["1"]], ids=["half", "long", "none", "int", "list"]
)
def test_what_is_no_program_is_not_tried(run: Callable[..., SandboxResult], code: Any) -> None:
    result = run(code)
    assert not result.ok and result.error.endswith((".", "again.")) and "rogram" in result.error


# What a programmer asks for wrongly


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"engine": "mony"}, "Did you mean 'monty'"), ({"engine": ""}, "There are: monty, subprocess, bwrap"), ({"seconds": 0}, "seconds must"),
        ({"seconds": float("nan")}, "seconds must"), ({"seconds": "2"}, "seconds must"), ({"memory_mb": 0}, "memory_mb must"),
        ({"memory_mb": 1.5}, "memory_mb must"), ({"inputs": {"a b": 1}}, "'a b' is no name"), ({"inputs": {"if": 1}}, "'if' is no name"),
        ({"inputs": {"x": object()}}, "values that JSON has"), ({"inputs": {"x": float("inf")}}, "values that JSON has"),
    ],
)  # fmt: skip
def test_a_senseless_request_is_a_definition_error(more: dict[str, Any], words: str) -> None:
    with pytest.raises(DefinitionError, match=words):
        run_python("1", **more)


def test_a_missing_package_is_told_with_the_line_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pydantic_monty", None)
    for ask in (lambda: run_python("1"), python_tool):
        with pytest.raises(DefinitionError, match=r"pip install 'agentkit-course\[sandbox\]'"):
            ask()
    assert [row.available for row in engines() if row.engine == "monty"] == [False]


def test_a_package_without_its_program_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("pydantic_monty")
    monkeypatch.setenv("MONTY_BIN", str(tmp_path / "nothing"))
    _monty._starts.cache_clear()
    try:
        with pytest.raises(DefinitionError, match="cannot start its program"):
            run_python("1")
    finally:
        _monty._starts.cache_clear()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="bwrap is a Linux program")
def test_a_bwrap_that_is_missing_or_not_allowed_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "not installed" in engines()[2].note and not engines()[2].available
    (tmp_path / "bwrap").symlink_to("/bin/false")
    assert "does not let it" in engines()[2].note and not engines()[2].available
    with pytest.raises(DefinitionError, match="does not let it"):
        run_python("1", engine="bwrap")


def test_a_system_without_room_for_a_process_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: Any, **__: Any) -> None:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(_process.subprocess, "Popen", refused)
    result = process("1")
    assert not result.ok and result.error == "The system could not start the sandbox. Try again later."


def test_a_worker_that_dies_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pydantic_monty")

    def kill(*_: Any) -> None:
        for worker in psutil.Process().children(recursive=True):
            if "monty" in worker.name():
                worker.kill()

    monkeypatch.setattr(_monty._Output, "__call__", kill)
    result = run_python("while True:\n    print('x')", seconds=20)
    assert (result.ok, result.error, result.limit) == (False, "The interpreter crashed.", "")
    monkeypatch.undo()
    assert run_python("1 + 1").value == 2


# The tool


def call(registry: Registry, code: str, **more: Any) -> Any:
    return registry.call(ToolCall("run_python", {"code": code}), **more)


def test_the_tool_with_monty_only_reads() -> None:
    pytest.importorskip("pydantic_monty")
    made = python_tool(seconds=0.5)
    assert (made.name, made.permission, made.approval, made.blocking) == ("run_python", "read", False, True)
    assert list(made.parameters["properties"]) == ["code"] and "0.5 seconds and 64 MiB" in made.description
    registry = Registry([made], permissions=("read",))
    assert call(registry, "print('a')\n6 * 7").data == {"value": 42, "output": "a\n"}
    failed = call(registry, "print('a')\n1 / 0").error
    assert (failed.code, failed.message) == ("program_failed", "ZeroDivisionError in line 2: division by zero")
    assert failed.hint == "It had printed: a\n" or failed.hint.startswith("It had printed: a")
    assert call(registry, "while True:\n    pass").error.code == "time_limit"
    assert call(registry, "x = 'a' * 10**9").error.code == "memory_limit"


@pytest.mark.parametrize("engine", ["subprocess", "bwrap"])
def test_the_tool_with_a_real_python_asks_first(engine: str) -> None:
    if not {row.engine: row.available for row in engines()}[engine]:
        pytest.skip(f"{engine} is not here")
    made = python_tool(engine, seconds=20)
    assert (made.permission, made.approval) == ("dangerous", True)
    registry = Registry([made])
    assert call(registry, "1 + 1").error.code == "needs_approval"
    assert call(registry, "1 + 1", approved=True).data["value"] == 2
    assert call(Registry([made], permissions=("read", "write")), "1").error.code == "not_permitted"
    too_big = call(registry, "open('a', 'wb').write(b'x' * 5_000_000)", approved=True)
    assert not POSIX or too_big.error.code == "file_size_limit"


def test_a_tool_that_cannot_work_is_not_made() -> None:
    with pytest.raises(DefinitionError, match="no sandbox engine 'docker'"):
        python_tool("docker")
    with pytest.raises(DefinitionError, match="seconds must"):
        python_tool(seconds=-1)


def test_both_tables_can_be_shown() -> None:
    assert "danger" in show.table(protects(), HEADER).text
    assert "monty" in show.table(engines(), ("engine", "available", "note")).text
