"""The rules of the course, held for every notebook, and each rule seen to fail on a notebook that breaks it."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest
from _notebooks import names, tiny
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

from agentkit.course.notebook import WIDGET_VIEW, normalise, read_notebook, to_text
from agentkit.course.rules import LACKING, SECTIONS, file_problems, problems, widget_problems

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = names(sorted((ROOT / "notebooks").glob("*.ipynb")))

GOOD = (
    "md:# 03 · The registry\n\nA promise. **25 minutes.** Builds on 02.\n\n**By the end you can**\n\n- a;\n- b;\n- c.",
    "from pathlib import Path",
    "md:## See it fail\n\n**Before you run this:** what will it be?",
    "Path('missing.txt').exists()",
    "md:## Build it by hand\n\nOne idea. **Before you run the next cell:** what now? `!=` and ![alt](x.png).",
    "def call(name):\n    return {'ok': True}\n\n\ncall('x')",
    "md:## The same piece in agentkit\n\nLook.\n\n## What goes wrong\n\nThe symptom.",
    "Path('note.txt').write_text('hi', encoding='utf-8')",
    "md:## Exercises",
    "# 03.1\nanswer = ...\n\n\ncheck('03.1', answer)",
    "md:The next one.",
    "check('03.2', None)",
    "md:The last one is open.",
    "check('03.3', None)",
    "md:Three questions.",
    "quiz('03')",
    "md:## Recap\n\n- a: *See it fail*.\n- b: *Build it by hand*.\n- c: there.\n\n**Next:** 04.",
)


def good() -> Any:
    """A notebook that keeps every rule. It need not run: the rules only read."""
    notebook = tiny(*GOOD)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.execution_count = 1
    return normalise(notebook)


def cell_with(text: str) -> Callable[[Any], None]:
    """A change that puts a text into the first cell of its kind that may hold anything."""
    kind, place = ("markdown", 4) if text.startswith("md:") else ("code", 5)

    def change(notebook: Any) -> None:
        assert notebook.cells[place].cell_type == kind
        notebook.cells[place].source += "\n" + text.removeprefix("md:")

    return change


def with_output(*outputs: Any) -> Callable[[Any], None]:
    def change(notebook: Any) -> None:
        notebook.cells[5].outputs = list(outputs)

    return change


def printed(text: str, name: str = "stdout") -> Any:
    return new_output("stream", name=name, text=text)


def replaced(old: str, new: str) -> Callable[[Any], None]:
    """A change that replaces a text, which must be there, in all cells."""

    def change(notebook: Any) -> None:
        assert any(old in cell.source for cell in notebook.cells)
        for cell in notebook.cells:
            cell.source = cell.source.replace(old, new)

    return change


def insert_code(notebook: Any) -> None:
    cell = new_code_cell("1", execution_count=1)
    notebook.cells.insert(6, cell)


def drop_count(notebook: Any) -> None:
    notebook.cells[3].execution_count = None


def swap_sections(notebook: Any) -> None:
    notebook.cells[2], notebook.cells[4] = notebook.cells[4], notebook.cells[2]


PICTURE = new_output("display_data", data={"image/png": "AAAA", "text/plain": "<Figure size 640x480 with 1 Axes>"})

BAD = {
    "title": (replaced("# 03 · The", "# The"), "the first cell must begin with `# 03 · Title`"),
    "no time": (replaced("25 minutes", "a while"), "must say the time as `NN minutes`"),
    "too long": (replaced("25 minutes", "60 minutes"), "60 minutes is over 45"),
    "order": (swap_sections, "the sections are not in this order"),
    "two goals": (replaced("- c.", "c."), "`By the end you can` has 2 points"),
    "short recap": (replaced("- c: there.", ""), "the recap has fewer points"),
    "one prediction": (replaced("Before you run this", "Run this"), "`Before you run` stands at 1 places"),
    "long prose": (cell_with("md:" + "word " * 120), "words of prose; a prose cell has fewer than 120"),
    "no prose": (insert_code, "cell 7 is code right after code"),
    "exclamation": (cell_with("md:Great!"), "cell 5 has an exclamation mark"),
    "bare figure": (with_output(PICTURE), "cell 6 draws a figure, and no cell beside it says in words"),
    "no count": (drop_count, "cell 4 has no execution count"),
    "long code": (cell_with("x = 1\n" * 25), "lines of code; the limit is 25"),
    "magic": (cell_with("%matplotlib inline"), "cell 6 is not plain Python"),
    "shell": (cell_with("!ls"), "cell 6 is not plain Python"),
    "late import": (cell_with("def f():\n    import json"), "cell 6 imports"),
    "install": (cell_with("md:Run pip install agentkit first."), "cell 5 installs a package"),
    "key": (cell_with("key = 'sk-proj-1234567890abcdefgh'"), "cell 6 holds a key"),
    "key argument": (cell_with("Client(api_key='x')"), "cell 6 holds a key"),
    "model name": (cell_with("model = 'gpt-4o'"), "cell 6 holds the name of a model"),
    "model in prose": (cell_with("md:Try claude-sonnet here."), "cell 5 holds the name of a model"),
    "service": (cell_with("url = 'https://api.somewhere.com/v1'"), "cell 6 holds the address of a service"),
    "open": (cell_with("open('a.txt')"), "cell 6 opens a text file or stream without encoding: `open('a.txt')`"),
    "read_text": (cell_with("Path('a').read_text()"), "cell 6 opens a text file or stream without encoding"),
    "subprocess": (
        cell_with("subprocess.run(['a'], text=True)"),
        "cell 6 opens a text file or stream without encoding",
    ),
    "few exercises": (replaced("check('03.3', None)", "3"), "there are 2 exercises; there should be 3 to 6"),
    "foreign exercise": (cell_with("check('04.2', 1)"), "checks exercise '04.2' of another notebook"),
    "no quiz": (replaced("quiz('03')", "0"), "there is no quiz('03')"),
    "stderr": (with_output(printed("careful", "stderr")), "cell 6 writes to the error stream"),
    "error": (
        with_output(new_output("error", ename="E", evalue="v", traceback=[])),
        "cell 6 ends with an error",
    ),
    "address": (with_output(printed("<object at 0x7f3a2b10>")), "cell 6 has a memory address in its output"),
    "own path": (with_output(printed("saved to /home/ada/x")), "cell 6 has a path of one machine in its output"),
    "windows path": (with_output(printed(r"C:\Users\ada")), "cell 6 has a path of one machine in its output"),
    "uuid": (with_output(printed("id 9b2f6e4c-0f6e-4d7e-9a51-0f9a3c1b2d3e")), "cell 6 has a random id in its output"),
    "trace": (with_output(printed("Traceback (most recent call last):")), "cell 6 has a stack trace in its output"),
    "pydantic": (
        with_output(printed("1 validation error for call")),
        "cell 6 has text written by Python or pydantic themselves",
    ),
}


@pytest.mark.parametrize("path", NOTEBOOKS)
def test_every_notebook_keeps_the_rules(path: Path) -> None:
    assert problems(read_notebook(path), path.stem) == []


@pytest.mark.parametrize("path", NOTEBOOKS)
def test_every_file_is_in_its_normal_form_and_equal_to_its_source(path: Path) -> None:
    assert file_problems(path, path.parent / "src" / f"{path.stem}.py") == []


def test_every_source_has_its_notebook() -> None:
    sources = {path.stem for path in (ROOT / "notebooks" / "src").glob("*.py")}
    assert sources == {path.stem for path in (ROOT / "notebooks").glob("*.ipynb")}


def test_the_good_notebook_keeps_every_rule() -> None:
    assert problems(good(), "03_the_registry") == []


@pytest.mark.parametrize(("change", "sentence"), BAD.values(), ids=BAD.keys())
def test_each_rule_refuses_what_breaks_it_and_nothing_else(change: Callable[[Any], None], sentence: str) -> None:
    notebook = good()
    change(notebook)
    found = problems(notebook, "03_the_registry")
    assert len(found) == 1, found
    assert sentence in found[0]


@pytest.mark.parametrize("name", SECTIONS)
def test_every_section_is_asked_for(name: str) -> None:
    notebook = good()
    for cell in notebook.cells:
        cell.source = cell.source.replace(f"## {name}", "## Other").replace(f"**{name}**", "**Other**")
    assert f"there is no section `{name}`" in problems(notebook, "03_the_registry")


def test_the_first_notebook_may_lack_three_sections_and_no_other_may() -> None:
    assert {number: sorted(lacking) for number, lacking in LACKING.items()} == {
        "00": ["Build it by hand", "The same piece in agentkit", "What goes wrong"]
    }
    notebook = good()
    for cell in notebook.cells:
        cell.source = cell.source.replace("03", "00").replace("## Build it", "## Make it")
        cell.source = cell.source.replace("## The same", "## A").replace("## What goes", "## What")
    assert problems(notebook, "00_start_here") == []
    assert len(problems(notebook, "03_the_registry")) > 3


def test_binary_files_and_loopback_addresses_are_allowed() -> None:
    notebook = good()
    cell_with("open('a', 'rb')\nPath('a').open('wb')\nurl = 'http://127.0.0.1:8000'\nPath('a').read_bytes()")(notebook)
    assert problems(notebook, "03_the_registry") == []


def test_a_figure_that_is_told_in_words_is_allowed() -> None:
    notebook = good()
    with_output(PICTURE)(notebook)
    notebook.cells[6].source = "The figure shows one bar for each tool.\n\n" + notebook.cells[6].source
    assert problems(notebook, "03_the_registry") == []


def test_a_widget_needs_both_static_forms() -> None:
    notebook = good()
    view = {WIDGET_VIEW: {"model_id": "1"}, "text/plain": "Player"}
    notebook.cells[5].outputs = [new_output("display_data", data=dict(view))]
    assert widget_problems(notebook) == ["cell 6: a widget without a text form and a static HTML form"]
    notebook.cells[5].outputs = [new_output("display_data", data=view | {"text/html": "<p>Player</p>"})]
    assert widget_problems(notebook) == []
    assert WIDGET_VIEW not in normalise(notebook).cells[5].outputs[0].data


SOURCE = "# %% [markdown]\n# # 03 · One\n\n# %%\n1 + 1\n"


def written(folder: Path, change: Callable[[Any], None] = lambda notebook: None, end: str = "") -> list[str]:
    """What `file_problems` says about a file that was changed after it was built."""
    notebook = tiny("md:# 03 · One", "1 + 1")
    change(notebook)
    source, path = folder / "03_one.py", folder / "03_one.ipynb"
    source.write_text(SOURCE, encoding="utf-8")
    path.write_text(to_text(notebook) + end, encoding="utf-8")
    return file_problems(path, source)


def test_a_file_in_its_normal_form_passes(tmp_path: Path) -> None:
    assert written(tmp_path) == []


FILE_CHANGES: dict[str, tuple[Callable[[Any], None], str]] = {
    "size": (lambda nb: nb.cells.append(new_markdown_cell("x" * 400_000)), "the limit is 400"),
    "widget state": (lambda nb: nb.metadata.update(widgets={"state": {}}), "widget state is stored"),
    "metadata": (lambda nb: nb.cells[0].metadata.update(scrolled=True), "metadata other than tags"),
    "random id": (lambda nb: nb.cells[0].update(id="random"), "not in its normal form"),
    "other source": (lambda nb: nb.cells[1].update(source="1 + 2"), "not those of the text source"),
}


@pytest.mark.parametrize(("change", "sentence"), FILE_CHANGES.values(), ids=FILE_CHANGES.keys())
def test_a_file_that_was_changed_is_seen(change: Callable[[Any], None], sentence: str, tmp_path: Path) -> None:
    assert any(sentence in found for found in written(tmp_path, change))


def test_a_missing_source_and_a_missing_last_newline_are_seen(tmp_path: Path) -> None:
    assert written(tmp_path, end="\n") == ["the file is not in its normal form; build it again"]
    alone = tmp_path / "alone.ipynb"
    alone.write_text(to_text(tiny("1")), encoding="utf-8")
    assert file_problems(alone, tmp_path / "alone.py") == ["there is no text source alone.py"]


def test_normalising_twice_changes_nothing_and_equal_cells_get_different_ids() -> None:
    notebook = tiny("md:same", "1", "md:same", "2")
    once = to_text(normalise(copy.deepcopy(notebook)))
    assert to_text(normalise(nbformat.reads(once, as_version=4))) == once
    assert len({cell.id for cell in notebook.cells}) == 4
