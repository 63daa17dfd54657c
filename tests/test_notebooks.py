"""Every notebook: strictly the same outputs, safe to run twice, solvable, small. And each of these checks can fail."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from _notebooks import MEMORY_LIMIT, names, stored, strict, tiny, twice, with_solutions

from agentkit.checks.registered import exercises_of, find
from agentkit.course.execute import LiveKernel, NotebookError, execute, live_kernel, offline_environment
from agentkit.course.layout import OFFLINE
from agentkit.course.notebook import normalise, read_notebook

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = names(sorted((ROOT / "notebooks").glob("*.ipynb")))


@pytest.mark.parametrize("path", NOTEBOOKS)
def test_stored_outputs_are_those_of_a_new_run(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = strict(path, tmp_path, monkeypatch)
    assert not result.failed, "\n".join(result.failed)
    assert result.passed == sum(cell.cell_type == "code" for cell in read_notebook(path).cells)


@pytest.mark.parametrize("path", NOTEBOOKS)
def test_solved_it_runs_twice_with_the_same_outputs_in_little_memory(path: Path) -> None:
    """With the solutions every check passes, the first time and again in the same kernel."""
    solved, done = with_solutions(read_notebook(path), find)
    number = path.stem.partition("_")[0]
    assert sorted(done) == sorted(exercise.id for exercise in exercises_of(number))
    peaks: list[int] = []
    assert twice(solved, path.stem, lambda kernel: peaks.append(kernel.peak_memory())) == []
    assert peaks[0] < MEMORY_LIMIT, f"{path.stem} needs {peaks[0] // 1_000_000} MB"


# The checks above are trusted only because each was seen to fail.


def test_strict_comparison_sees_another_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notebook = normalise(execute(tiny("print('one')", "2"), "tiny"))
    same = strict(stored(tmp_path / "same.ipynb", notebook), tmp_path / "", monkeypatch)
    assert (same.passed, same.failed) == (2, [])
    notebook.cells[1].outputs[0].data["text/plain"] = "3"
    (tmp_path / "again").mkdir()
    other = strict(stored(tmp_path / "other.ipynb", notebook), tmp_path / "again", monkeypatch)
    assert other.passed == 1 and len(other.failed) == 1


def test_running_twice_sees_a_cell_that_accumulates() -> None:
    notebook = tiny("seen = globals().get('seen', 0) + 1", "seen", "'the same'")
    assert twice(notebook, "tiny") == ["tiny: cell 2 gives another output the second time"]


def test_the_memory_of_the_kernel_is_measured_not_ours() -> None:
    peaks: list[int] = []

    def measure(kernel: LiveKernel) -> None:
        peaks.append(kernel.peak_memory())
        kernel.run_all(tiny("block = bytearray(b'x') * 120_000_000"))
        peaks.append(kernel.peak_memory())

    assert twice(tiny("1"), "tiny", measure) == []
    assert 20_000_000 < peaks[0] < 200_000_000
    assert peaks[1] - peaks[0] > 100_000_000


@dataclass(frozen=True)
class SmallExercise:
    stub: str
    solution: str


CHECKED = """from types import SimpleNamespace
def check(name, answer):
    return SimpleNamespace(correct=answer == 4, text='say 4')"""


def test_solutions_replace_stubs_and_a_failed_check_is_seen() -> None:
    notebook = tiny(CHECKED, "x = 3\nanswer = ...\n\n\ncheck('01.1', answer)")
    right, done = with_solutions(notebook, lambda name: SmallExercise("answer = ...\n", "answer = x + 1\n"))
    assert done == ["01.1"]
    execute(right, "right")
    wrong, _ = with_solutions(notebook, lambda name: SmallExercise("answer = ...", "answer = x"))
    with pytest.raises(NotebookError, match=r"wrong: cell 2 raised an error[\s\S]*say 4"):
        execute(wrong, "wrong")
    with pytest.raises(AssertionError, match="does not hold its stub"):
        with_solutions(notebook, lambda name: SmallExercise("answer = None", "answer = 4"))


def test_a_kernel_has_no_network_no_key_and_a_folder_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "of the user")
    monkeypatch.setenv("AGENTKIT_MODEL", "human")
    notebook = tiny(
        "import os, pathlib, socket\nsorted(name for name in os.environ if 'OPENAI' in name or name == 'AGENTKIT_MODEL')",
        "list(pathlib.Path.cwd().iterdir())",
        "try:\n    socket.create_connection(('192.0.2.1', 80), timeout=1)\nexcept OSError as error:\n    print(error)",
        "try:\n    socket.getaddrinfo('model.invalid', 443)\nexcept OSError as error:\n    print(error)",
        "with socket.create_server(('127.0.0.1', 0)) as server:\n"
        "    socket.create_connection(server.getsockname()).close()\n    print('loopback')",
    )
    execute(notebook, "tiny")
    said = [cell.outputs[0].get("text") or cell.outputs[0].data["text/plain"] for cell in notebook.cells]
    assert said[:2] == ["[]", "[]"]
    assert "This run is offline" in said[2] and "This run is offline" in said[3]
    assert said[4] == "loopback\n"


def test_the_offline_environment_keeps_the_rest() -> None:
    made = offline_environment({"PATH": "here", "ANTHROPIC_API_KEY": "k", "GEMINI_API_KEY": "k", "PYTHONPATH": "mine"})
    assert made["PATH"] == "here"
    assert not any("KEY" in name for name in made)
    assert made["PYTHONPATH"].split(":" if ":" in made["PYTHONPATH"] else ";")[0].endswith(OFFLINE.name)
    assert offline_environment(made)["PYTHONPATH"] == made["PYTHONPATH"]


@pytest.mark.parametrize(
    ("cell", "sentence"),
    [
        ("1 / 0", r"broken: cell 2 raised an error[\s\S]*ZeroDivisionError"),
        ("import time\ntime.sleep(60)", r"broken: cell 2 gave no answer within 1 s"),
        ("import os\nos._exit(9)", r"broken: the kernel died in cell 2"),
    ],
    ids=["error", "timeout", "dead kernel"],
)
def test_every_way_to_break_names_the_notebook(cell: str, sentence: str) -> None:
    """NB-03: an error, a time-out and a dead kernel are all reported with the notebook and the cell."""
    notebook = tiny("'fine'", cell)
    with pytest.raises(NotebookError, match=sentence), live_kernel(notebook, "broken", timeout=1) as kernel:
        kernel.run_all(notebook)
