"""What the tests of the notebooks share: tiny notebooks, strict comparison, and solutions put in place of stubs."""

from __future__ import annotations

import ast
import copy
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from agentkit.course.execute import TIMEOUT, LiveKernel, live_kernel
from agentkit.course.notebook import normalise

MEMORY_LIMIT = 500_000_000
"""Bytes that the kernel of one notebook may need at its peak."""


def tiny(*cells: str) -> Any:
    """A normalised notebook: a text that begins with ``md:`` is prose, any other is code."""
    made = [new_markdown_cell(text[3:]) if text.startswith("md:") else new_code_cell(text) for text in cells]
    return normalise(new_notebook(cells=made))


class Recorder:
    """A pytest plugin that counts the cells that passed and keeps the text of those that did not."""

    def __init__(self) -> None:
        self.passed = 0
        self.failed: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed.append(f"{report.nodeid}\n{report.longreprtext}")
        elif report.when == "call" and report.passed:
            self.passed += 1

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.failed.append(report.longreprtext)


def strict(notebook: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Recorder:
    """Compare a notebook's stored outputs with those of a new run, strictly, on a copy in a clean folder.

    nbval runs inside this process: loading the notebook libraries again for each notebook takes longer than most
    notebooks.
    """
    work = folder / "strict"
    work.mkdir()
    target = shutil.copy(notebook, work)
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    recorder = Recorder()
    with monkeypatch.context() as patch:
        patch.setenv("IPYTHONDIR", str(folder / "ipython"))
        patch.setenv("PYTEST_CURRENT_TEST", "strict comparison")  # the inner run removes it, the outer one needs it
        arguments = ["--nbval", "--nbval-current-env", f"--nbval-cell-timeout={TIMEOUT}", "-q", "--capture=no"]
        plugins = ["-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:faulthandler"]
        place = ["-c", str(folder / "pytest.ini"), "--rootdir", str(folder)]
        code = pytest.main([*arguments, *plugins, *place, str(target)], plugins=[recorder])
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED) and not recorder.failed:
        recorder.failed.append(f"nbval ended with {code!r}")
    return recorder


def twice(notebook: Any, name: str, after: Callable[[LiveKernel], None] = lambda kernel: None) -> list[str]:
    """Run a notebook twice in one kernel; sentences about cells whose outputs differ. ``after`` sees the kernel."""
    first, second = copy.deepcopy(notebook), copy.deepcopy(notebook)
    with live_kernel(first, name) as kernel:
        kernel.run_all(first)
        kernel.run_all(second)
        after(kernel)
    pairs = zip(normalise(first).cells, normalise(second).cells, strict=True)
    return [
        f"{name}: cell {index + 1} gives another output the second time"
        for index, (before, again) in enumerate(pairs)
        if _said(before) != _said(again)
    ]


def _said(cell: Any) -> list[tuple[Any, ...]]:
    return [(out.output_type, out.get("name"), out.get("text"), out.get("data")) for out in cell.get("outputs", [])]


def with_solutions(notebook: Any, find: Callable[[str], Any]) -> tuple[Any, list[str]]:
    """A copy with every stub replaced by its solution and every check made to fail loudly; and the exercises in it.

    Args:
        notebook: the notebook.
        find: gives the exercise of an id, with its ``stub`` and ``solution``.

    Raises:
        AssertionError: a cell does not hold the stub that its exercise knows.
    """
    from agentkit.course.rules_code import exercise_ids

    solved, done = copy.deepcopy(notebook), []
    for cell in solved.cells:
        for exercise_id in exercise_ids(cell.source) if cell.cell_type == "code" else ():
            exercise = find(exercise_id)
            stub = exercise.stub.strip("\n")
            assert stub in cell.source, f"the cell of exercise {exercise_id} does not hold its stub:\n{stub}"
            cell.source = cell.source.replace(stub, exercise.solution.strip("\n"))
            done.append(exercise_id)
        cell.source = _insisting(cell.source) if cell.cell_type == "code" else cell.source
    return solved, done


def _insisting(source: str) -> str:
    """The same cell, but a check that is not passed raises an AssertionError with what the check said."""
    lines = source.splitlines()
    for node in reversed(ast.parse(source).body):
        call = node.value if isinstance(node, ast.Expr) else None
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "check":
            text = ast.unparse(call)
            assert node.end_lineno is not None
            lines[node.lineno - 1 : node.end_lineno] = [f"_said = {text}", "assert _said.correct, str(_said)"]
    return "\n".join(lines)


def stored(path: Path, notebook: Any) -> Path:
    """Write a notebook to a file as it is."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(nbformat.writes(notebook), encoding="utf-8")
    return path


def names(paths: Sequence[Path]) -> list[Any]:
    """Parameters for one test per notebook."""
    return [pytest.param(path, id=path.stem) for path in paths]
