"""Build the course: ``python -m agentkit.course.build [NN ...] [--check]``.

Each ``notebooks/src/NN_name.py`` (jupytext ``py:percent``) becomes ``notebooks/NN_name.ipynb``: executed offline,
normalised, with its outputs. Building twice gives the same bytes. The rules of the course that can be read off a
notebook are applied at once, so that a writer sees them here and not first in the tests.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from agentkit.course.execute import TIMEOUT, execute
from agentkit.course.layout import Course, find_course, select
from agentkit.course.notebook import Notebook, cells_of, normalise, read_notebook, read_source, to_text, write_text
from agentkit.course.rules import problems, widget_problems
from agentkit.errors import AgentkitError


def build(source: Path, timeout: float = TIMEOUT) -> tuple[Notebook, list[str]]:
    """Build one notebook from its text source.

    Returns:
        The executed, normalised notebook, and a list of sentences about rules it does not keep.

    Raises:
        NotebookError: a cell failed or timed out, or the kernel died.
        DefinitionError: the source holds no cells.
    """
    notebook = execute(read_source(source), source.stem, timeout)
    found = widget_problems(notebook)
    normalise(notebook)
    return notebook, found + problems(notebook, source.stem)


def differences(stored: Path, built: Notebook) -> list[str]:
    """What a stored notebook has that a fresh build has not, as sentences. Pictures are compared by presence only."""
    if not stored.is_file():
        return ["it has not been built yet"]
    old = read_notebook(stored)
    if cells_of(old) != cells_of(built):
        return ["its cells are not those of the text source"]
    pairs = zip(old.cells, built.cells, strict=True)
    return [
        f"cell {index + 1} has other outputs now"
        for index, (before, now) in enumerate(pairs)
        if _comparable(before) != _comparable(now)
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line. Returns 0 when every wanted notebook was built (or is up to date), else 1."""
    options = _parser().parse_args(arguments)
    try:
        course = Course(options.root.resolve()) if options.root else find_course()
        sources = select(course.source_files(), tuple(options.notebooks))
    except AgentkitError as error:
        print(error, file=sys.stderr)
        return 1
    failed = [source.stem for source in sources if not _build_one(course, source, options.check, options.timeout)]
    if failed:
        print(f"Not done: {', '.join(failed)}.", file=sys.stderr)
    return 1 if failed else 0


def _build_one(course: Course, source: Path, check: bool, timeout: float) -> bool:
    target = course.notebooks / f"{source.stem}.ipynb"
    started = time.perf_counter()
    try:
        notebook, found = build(source, timeout)
    except AgentkitError as error:
        print(f"{error}\n", file=sys.stderr)
        return False
    except Exception as error:  # a damaged environment: name the notebook here too, whatever it is
        print(f"{source.stem}: could not be run. {type(error).__name__}: {error}", file=sys.stderr)
        return False
    changed = differences(target, notebook) if check else []
    if not check:
        write_text(target, to_text(notebook))
    seconds = time.perf_counter() - started
    print(f"{source.stem}: {'checked' if check else 'built'} in {seconds:.1f} s, {len(found)} rules not kept")
    for sentence in found + changed:
        print(f"  - {sentence}")
    return not changed


def _comparable(cell: Notebook) -> list[object]:
    """The outputs of a cell with each picture replaced by its kind."""
    result: list[object] = []
    for output in cell.get("outputs", []):
        data = {
            kind: "picture" if kind.startswith("image/") else value for kind, value in output.get("data", {}).items()
        }
        result.append((output.output_type, output.get("name"), output.get("text"), data))
    return result


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m agentkit.course.build", description="Build the course notebooks.")
    parser.add_argument("notebooks", nargs="*", metavar="NN", help="numbers or names; all when none is given")
    parser.add_argument(
        "--check", action="store_true", help="write nothing; fail when a stored notebook is out of date"
    )
    parser.add_argument("--root", type=Path, help="the checkout (found from the current folder by default)")
    parser.add_argument("--timeout", type=float, default=TIMEOUT, help=f"seconds for one cell (default {TIMEOUT})")
    return parser


if __name__ == "__main__":
    sys.exit(main())
