"""The rules of the course that can be read off a notebook. Each rule yields one sentence for each place that breaks it.

A rule is a function ``rule(page)``. `problems` applies all of them. Rules about code and outputs are in `rules_code`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from agentkit.course.notebook import WIDGET_VIEW, Notebook, cells_of, normalise, read_source, to_text

WORDS_IN_PROSE = 120
MINUTES = 45
KILOBYTES = 400
SECTIONS = (
    "By the end you can",
    "See it fail",
    "Build it by hand",
    "The same piece in agentkit",
    "What goes wrong",
    "Exercises",
    "Recap",
)

LACKING = {"00": frozenset({"Build it by hand", "The same piece in agentkit", "What goes wrong"})}
"""Sections a notebook may lack. 00 only shows where things are: nothing is built in it yet."""

PREDICTIONS = {"00": 1}
EXERCISES = {"00": (1, 6)}
"""Exceptions to "at least 2 predictions" and "3 to 6 exercises", by the number of the notebook."""


@dataclass(frozen=True, slots=True)
class Page:
    """A notebook under judgement: its number (``"03"``), its name (``"03_the_registry"``), and its cells."""

    name: str
    notebook: Notebook

    @property
    def number(self) -> str:
        return self.name.partition("_")[0]

    def prose(self) -> Iterator[tuple[int, str]]:
        """Cell number (from 1) and text of each prose cell."""
        return self._cells("markdown")

    def code(self) -> Iterator[tuple[int, str]]:
        """Cell number (from 1) and source of each code cell."""
        return self._cells("code")

    def _cells(self, kind: str) -> Iterator[tuple[int, str]]:
        for index, cell in enumerate(self.notebook.cells):
            if cell.cell_type == kind:
                yield index + 1, cell.source


Rule: TypeAlias = Callable[[Page], Iterator[str]]


def problems(notebook: Notebook, name: str) -> list[str]:
    """Every rule that this built notebook breaks, as sentences."""
    from agentkit.course import rules_code

    page = Page(name, notebook)
    return [sentence for rule in (*PROSE_RULES, *rules_code.CODE_RULES) for sentence in rule(page)]


def file_problems(path: Path, source: Path) -> list[str]:
    """What is wrong with a stored file as a file: its size, its form, and whether it is that of its text source."""
    import nbformat

    text = path.read_bytes().decode("utf-8")
    notebook = nbformat.reads(text, as_version=4)
    found = []
    if len(text.encode()) >= KILOBYTES * 1000:
        found.append(f"the file has {len(text.encode()) // 1000} kB; the limit is {KILOBYTES}")
    if "widgets" in notebook.metadata:
        found.append("widget state is stored in the file")
    if any(set(cell.metadata) - {"tags"} for cell in notebook.cells):
        found.append("a cell has metadata other than tags")
    if to_text(normalise(nbformat.reads(text, as_version=4))) != text:
        found.append("the file is not in its normal form; build it again")
    if not source.is_file():
        found.append(f"there is no text source {source.name}")
    elif cells_of(read_source(source)) != cells_of(notebook):
        found.append("its cells are not those of the text source; build it again")
    return found


def widget_problems(notebook: Notebook) -> list[str]:
    """Widgets without a static face. Only to be seen before `normalise`, which drops the widget views."""
    found = []
    for index, cell in enumerate(notebook.cells):
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            if WIDGET_VIEW in data and not {"text/html", "text/plain"} <= data.keys():
                found.append(f"cell {index + 1}: a widget without a text form and a static HTML form")
    return found


def plain(text: str) -> str:
    """Prose without code blocks, code spans, link targets and HTML tags."""
    text = re.sub(r"```.*?```", " ", text, flags=re.DOTALL)
    text = re.sub(r"`[^`\n]*`", " code ", text)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    return re.sub(r"<[^>]+>", " ", text)


def section(page: Page, title: str) -> str | None:
    """The text of a section, from its title to the next heading of the same or a higher kind; None without one."""
    text = "\n".join(source for _, source in page.prose())
    start = re.search(rf"^(?:#+ |\*\*){re.escape(title)}", text, flags=re.MULTILINE | re.IGNORECASE)
    if start is None:
        return None
    rest = text[start.end() :]
    stop = re.search(r"^#{1,2} ", rest, flags=re.MULTILINE)
    return rest[: stop.start()] if stop else rest


def title(page: Page) -> Iterator[str]:
    """The first cell: ``# 03 · Title``, the minutes, what it builds on."""
    first = page.notebook.cells[0]
    if first.cell_type != "markdown" or not re.match(rf"# {page.number} · \S", first.source):
        yield f"the first cell must begin with `# {page.number} · Title`"
        return
    minutes = re.search(r"\b(\d+) minutes", first.source)
    if minutes is None:
        yield "the first cell must say the time as `NN minutes`"
    elif int(minutes.group(1)) > MINUTES:
        yield f"{minutes.group(1)} minutes is over {MINUTES}"


def sections(page: Page) -> Iterator[str]:
    """Every section of the shape is there, and in order."""
    places = []
    text = "\n".join(source for _, source in page.prose())
    for name in SECTIONS:
        found = re.search(rf"^(?:#+ |\*\*){re.escape(name)}", text, flags=re.MULTILINE | re.IGNORECASE)
        if found is not None:
            places.append(found.start())
        elif name not in LACKING.get(page.number, frozenset()):
            yield f"there is no section `{name}`"
    if places != sorted(places):
        yield f"the sections are not in this order: {', '.join(SECTIONS)}"


def goals(page: Page) -> Iterator[str]:
    """Three or four goals, and a recap with as many points."""
    counts = {}
    for name in ("By the end you can", "Recap"):
        counts[name] = len(re.findall(r"^\s*[-*] ", section(page, name) or "", flags=re.MULTILINE))
    if counts["By the end you can"] not in (3, 4):
        yield f"`By the end you can` has {counts['By the end you can']} points; it needs 3 or 4"
    if counts["Recap"] < counts["By the end you can"]:
        yield "the recap has fewer points than `By the end you can`"


def predictions(page: Page) -> Iterator[str]:
    """The learner is asked to predict at two places or more."""
    count = sum(len(re.findall(r"before you run", text, flags=re.IGNORECASE)) for _, text in page.prose())
    wanted = PREDICTIONS.get(page.number, 2)
    if count < wanted:
        yield f"`Before you run` stands at {count} places; it needs {wanted}"


def short_prose(page: Page) -> Iterator[str]:
    for number, text in page.prose():
        words = len(re.findall(r"\w[\w'’.-]*", plain(text)))
        if words >= WORDS_IN_PROSE:
            yield f"cell {number} has {words} words of prose; a prose cell has fewer than {WORDS_IN_PROSE}"


def prose_between_code(page: Page) -> Iterator[str]:
    cells = page.notebook.cells
    for index in range(1, len(cells)):
        if cells[index - 1].cell_type == cells[index].cell_type == "code":
            yield f"cell {index + 1} is code right after code; say in between what comes next"


def calm_prose(page: Page) -> Iterator[str]:
    for number, text in page.prose():
        if re.search(r"!(?![\[=])", plain(text)):
            yield f"cell {number} has an exclamation mark"


def figures_described(page: Page) -> Iterator[str]:
    """A picture needs words beside it for those who cannot see it."""
    cells = page.notebook.cells
    for index, cell in enumerate(cells):
        if not any(kind.startswith("image/") for out in cell.get("outputs", []) for kind in out.get("data", {})):
            continue
        beside = [cells[place] for place in (index - 1, index + 1) if 0 <= place < len(cells)]
        text = " ".join(near.source for near in beside if near.cell_type == "markdown")
        if not re.search(r"\b(figure|plot|chart|picture|diagram|bars|curves?|dots)\b", text, flags=re.IGNORECASE):
            yield f"cell {index + 1} draws a figure, and no cell beside it says in words what the figure shows"


PROSE_RULES: tuple[Rule, ...] = (
    title, sections, goals, predictions, short_prose, prose_between_code, calm_prose, figures_described,
)  # fmt: skip
