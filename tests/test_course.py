"""The course around the package: building notebooks, the learner's copy, the links, and how JupyterLab is started."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from agentkit.course import build, lab, links
from agentkit.course.copies import RECORD, Update, reset, update
from agentkit.course.layout import Course, find_course, select
from agentkit.course.notebook import read_notebook, read_source, write_text
from agentkit.errors import DefinitionError

TINY = """# %% [markdown]
# # 01 · Tiny
#
# **5 minutes.** 가나다

# %%
import sys

# %% [markdown]
# Look.

# %% tags=["b", "a"]
print("one")
sys.stdout.flush()
print("two")
{1, 2, 3}
"""


@pytest.fixture
def course(tmp_path: Path) -> Course:
    """A checkout with one text source and no built notebook."""
    write_text(tmp_path / "pyproject.toml", "[project]\n")
    write_text(tmp_path / "notebooks" / "src" / "01_tiny.py", TINY)
    return Course(tmp_path)


def put(course: Course, name: str, *cells: str) -> None:
    """A tracked notebook with outputs, written without running it."""
    made = [
        {
            "cell_type": "code",
            "execution_count": 1,
            "id": str(number),
            "metadata": {},
            "outputs": [{"output_type": "stream", "name": "stdout", "text": ["an answer\n"]}],
            "source": [source],
        }
        for number, source in enumerate(cells)
    ]
    data = {"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    write_text(course.notebooks / f"{name}.ipynb", json.dumps(data, indent=1) + "\n")


# --- building ---------------------------------------------------------------------------------------------------------


def test_building_twice_gives_the_same_bytes(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--root", str(course.root)]
    target = course.notebooks / "01_tiny.ipynb"
    assert build.main(arguments) == 0
    first = target.read_bytes()
    target.unlink()
    assert build.main(arguments) == 0
    assert target.read_bytes() == first
    assert first.endswith(b"}\n") and b"\r" not in first and "가나다".encode() in first
    assert build.main([*arguments, "--check", "1"]) == 0
    write_text(target, first.decode().replace("two", "three", 1))
    assert build.main([*arguments, "--check"]) == 1
    assert "cell 4 has other outputs now" in capsys.readouterr().out
    cells = read_notebook(target).cells
    assert [cell.execution_count for cell in cells if cell.cell_type == "code"] == [1, 2]
    assert cells[3].outputs[0].text.startswith("one\n") and len(cells[3].outputs) == 2
    assert cells[3].metadata == {"tags": ["a", "b"]}


def test_check_tells_what_is_not_built_and_what_has_other_cells(course: Course, tmp_path: Path) -> None:
    built = read_source(course.source_files()[0])
    assert build.differences(tmp_path / "none.ipynb", built) == ["it has not been built yet"]
    put(course, "01_tiny", "1")
    assert build.differences(course.notebooks / "01_tiny.ipynb", built) == [
        "its cells are not those of the text source"
    ]


def test_a_failing_cell_is_reported_with_its_notebook_and_the_old_file_stays(
    course: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    put(course, "01_tiny", "1")
    before = (course.notebooks / "01_tiny.ipynb").read_bytes()
    write_text(course.sources / "01_tiny.py", "# %%\n1 / 0\n")
    write_text(course.sources / "02_empty.py", "")
    assert build.main(["--root", str(course.root)]) == 1
    said = capsys.readouterr().err
    assert "01_tiny: cell 1 raised an error" in said and "ZeroDivisionError" in said
    assert "02_empty.py holds no cells" in said
    assert "Not done: 01_tiny, 02_empty." in said
    assert (course.notebooks / "01_tiny.ipynb").read_bytes() == before


def test_a_wanted_notebook_that_is_not_there_is_named(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    assert build.main(["--root", str(course.root), "07"]) == 1
    assert "There is no notebook '07'. The notebooks are: 01_tiny." in capsys.readouterr().err


def test_select_takes_numbers_and_names() -> None:
    files = tuple(Path(name) for name in ("05_the_loop.ipynb", "06_agent.ipynb", "A1_mathematics.ipynb"))
    assert select(files, ()) == files
    assert select(files, ("5",)) == select(files, ("05",)) == select(files, ("05_the_loop",)) == files[:1]
    assert select(files, ("A1", "06")) == (files[2], files[1])
    with pytest.raises(DefinitionError, match=r"Did you mean '05_the_loop'"):
        select(files, ("05_the_lop",))


def test_the_course_is_found_from_any_folder_inside_it(
    course: Course, tmp_path_factory: pytest.TempPathFactory
) -> None:
    assert find_course(course.sources).root == course.root.resolve()
    elsewhere = find_course(tmp_path_factory.mktemp("elsewhere"))
    assert (elsewhere.root / "agentkit" / "course").is_dir()


# --- the working copy -------------------------------------------------------------------------------------------------


def test_the_working_copy_has_no_outputs_and_is_never_overwritten(course: Course) -> None:
    put(course, "00_start_here", "1")
    assert update(course) == Update(added=("00_start_here",))
    mine = course.copies / "00_start_here.ipynb"
    cell = read_notebook(mine).cells[0]
    assert (cell.source, cell.outputs, cell.execution_count) == ("1", [], None)
    mine.write_text("what I wrote", encoding="utf-8")
    put(course, "00_start_here", "2")
    put(course, "01_next", "1")
    assert update(course) == Update(added=("01_next",), kept=("00_start_here",))
    assert mine.read_text(encoding="utf-8") == "what I wrote"


def test_an_untouched_copy_is_renewed_and_a_touched_one_is_quiet_until_there_is_news(course: Course) -> None:
    put(course, "00_start_here", "1")
    put(course, "01_next", "1")
    update(course)
    (course.copies / "01_next.ipynb").write_text("mine", encoding="utf-8")
    assert update(course) == Update()
    put(course, "00_start_here", "2")
    assert update(course) == Update(renewed=("00_start_here",))
    assert read_notebook(course.copies / "00_start_here.ipynb").cells[0].source == "2"


@pytest.mark.parametrize("record", [None, "not JSON", "[]"], ids=["missing", "broken", "of another form"])
def test_without_a_record_nothing_is_renewed(course: Course, record: str | None) -> None:
    put(course, "00_start_here", "1")
    update(course)
    (course.copies / RECORD).unlink()
    if record is not None:
        (course.copies / RECORD).write_text(record, encoding="utf-8")
    put(course, "00_start_here", "2")
    assert update(course) == Update(kept=("00_start_here",))


def test_reset_keeps_the_old_beside_the_new_every_time(course: Course) -> None:
    put(course, "05_the_loop", "1")
    assert reset(course, "05") == (course.copies / "05_the_loop.ipynb", None)
    for number in (1, 2):
        (course.copies / "05_the_loop.ipynb").write_text(f"try {number}", encoding="utf-8")
        fresh, old = reset(course, "5")
        assert old == course.copies / f"05_the_loop.old{number}.ipynb"
        assert old.read_text(encoding="utf-8") == f"try {number}"
        assert read_notebook(fresh).cells[0].outputs == []
    assert (course.copies / "05_the_loop.old1.ipynb").read_text(encoding="utf-8") == "try 1"
    assert update(course) == Update()


def test_reset_of_nothing_says_what_there_is(course: Course) -> None:
    with pytest.raises(DefinitionError, match=r"There is no notebook '05'. The notebooks are: none yet."):
        reset(course, "05")


# --- JupyterLab -------------------------------------------------------------------------------------------------------


def test_the_lab_opens_the_copy_and_fetches_nothing(course: Course) -> None:
    put(course, "00_start_here", "1")
    update(course)
    command = lab.lab_command(course, ["--no-browser"])
    assert command[:3] == [sys.executable, "-m", "jupyterlab"]
    assert command[-2:] == ["--no-browser", "my_notebooks/00_start_here.ipynb"]
    assert f"--ServerApp.root_dir={course.root}" in command


def test_jupyterlab_understands_the_command_line(course: Course) -> None:
    from jupyterlab.labapp import LabApp

    app = LabApp()
    app.parse_command_line([argument for argument in lab.lab_command(course) if argument.startswith("--LabApp.")])
    assert app.news_url is None
    assert app.check_for_updates_class.__name__ == "NeverCheckForUpdate"
    assert app.extension_manager == "readonly"


def test_the_server_takes_the_place_of_the_command_and_its_exit_code_is_ours(tmp_path: Path) -> None:
    inner = "import os, sys; print(os.getpid(), os.getcwd()); sys.exit(7)"
    outer = (
        "import os, sys; from pathlib import Path; from agentkit.course.lab import start; print(os.getpid()); "
        f"sys.exit(start([sys.executable, '-c', {inner!r}], Path({str(tmp_path)!r})))"
    )
    command = [sys.executable, "-c", outer]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.returncode == 7, done.stderr
    ours, server, folder = done.stdout.split(maxsplit=2)
    assert Path(folder.strip()).resolve() == tmp_path.resolve()
    assert (ours == server) == (os.name == "posix")


def test_without_jupyterlab_the_lab_says_what_to_install(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(DefinitionError, match=r'pip install -e "\.\[notebooks\]"'):
        lab.open_lab(course)


# --- the address of the repository ------------------------------------------------------------------------------------


def test_links_are_written_once_and_again(tmp_path: Path, root: Path) -> None:
    for name in ("pyproject.toml", "README.md"):
        write_text(tmp_path / name, (root / name).read_text(encoding="utf-8"))
    links.write_links(tmp_path, "ada/first")
    links.write_links(tmp_path, "ada/agent-course")
    once = {name: (tmp_path / name).read_bytes() for name in ("pyproject.toml", "README.md")}
    links.write_links(tmp_path, "ada/agent-course")
    assert once == {name: (tmp_path / name).read_bytes() for name in once}
    settings, readme = (once[name].decode() for name in once)
    assert 'repository = "ada/agent-course"' in settings and "ada/first" not in settings + readme
    assert 'Repository = "https://github.com/ada/agent-course"' in settings
    assert "mybinder.org/v2/gh/ada/agent-course/main?urlpath=lab%2Ftree%2Fmy_notebooks%2F00_start_here.ipynb" in readme
    assert "branch=main" in readme and links.UNKNOWN not in readme


@pytest.mark.parametrize("address", ["", "ada", "ada/", "https://github.com/ada/x", 'a"/b', "a/b/c"])
def test_a_wrong_address_is_refused(address: str, tmp_path: Path) -> None:
    with pytest.raises(DefinitionError, match="Write the address as owner/name"):
        links.write_links(tmp_path, address)


def test_links_need_their_places(tmp_path: Path, root: Path) -> None:
    write_text(tmp_path / "pyproject.toml", (root / "pyproject.toml").read_text(encoding="utf-8"))
    write_text(tmp_path / "README.md", "nothing\n")
    with pytest.raises(DefinitionError, match=r"README.md has lost the place"):
        links.write_links(tmp_path, "ada/agent-course")
