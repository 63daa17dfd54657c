"""A notebook as a value: read from its text source, brought into one normal form, written as bytes.

The normal form makes two builds of one source equal byte for byte: cell ids follow from the content, execution leaves
no metadata, pieces of one stream are joined, and no widget state or random widget id is kept.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any, TypeAlias

from agentkit.errors import DefinitionError

Notebook: TypeAlias = Any
"""An ``nbformat.NotebookNode``: a dict with attribute access, for which nbformat has no types."""

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
LANGUAGE = {"file_extension": ".py", "mimetype": "text/x-python", "name": "python", "pygments_lexer": "ipython3"}


def read_source(path: Path) -> Notebook:
    """The notebook that a text source (jupytext ``py:percent``) describes, normalised, without outputs.

    Raises:
        DefinitionError: the file holds no cells.
    """
    import jupytext

    notebook = jupytext.reads(path.read_text(encoding="utf-8"), fmt="py:percent")
    notebook.cells = [cell for cell in notebook.cells if cell.cell_type in ("code", "markdown") and cell.source.strip()]
    if not notebook.cells:
        raise DefinitionError(f"{path.name} holds no cells. A cell begins with a line `# %%` or `# %% [markdown]`.")
    return normalise(notebook)


def read_notebook(path: Path) -> Notebook:
    """A stored notebook, as it is."""
    import nbformat

    return nbformat.reads(path.read_text(encoding="utf-8"), as_version=4)


def normalise(notebook: Notebook) -> Notebook:
    """Bring a notebook into its normal form, in place, and return it."""
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    notebook.metadata = _node({"kernelspec": dict(KERNEL), "language_info": dict(LANGUAGE)})
    seen: dict[str, int] = {}
    count = 0
    for cell in notebook.cells:
        cell.id = _cell_id(cell, seen)
        tags = sorted(cell.metadata.get("tags", []))
        cell.metadata = _node({"tags": tags} if tags else {})
        if cell.cell_type != "code":
            continue
        cell.outputs = _normal_outputs(cell.get("outputs", []))
        if cell.get("execution_count") is not None:
            count += 1
            cell.execution_count = count
            for output in cell.outputs:
                if output.output_type == "execute_result":
                    output.execution_count = count
    return notebook


def without_outputs(notebook: Notebook) -> Notebook:
    """A copy of the notebook as a learner gets it: no outputs and no counts."""
    import copy

    notebook = copy.deepcopy(notebook)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    return normalise(notebook)


def to_text(notebook: Notebook) -> str:
    """The notebook as JSON text, indented by 1, with a newline at the end."""
    import nbformat

    return nbformat.writes(notebook, version=4).rstrip("\n") + "\n"


def write_text(path: Path, text: str) -> None:
    """Write a file whole or not at all, with ``\\n`` line ends on every system."""
    path.parent.mkdir(parents=True, exist_ok=True)
    half = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        half.write_text(text, encoding="utf-8", newline="\n")
        half.replace(path)
    finally:
        half.unlink(missing_ok=True)


def cells_of(notebook: Notebook) -> list[tuple[str, str, tuple[str, ...]]]:
    """What a person wrote: kind, source and tags of each cell."""
    return [(cell.cell_type, cell.source, tuple(cell.metadata.get("tags", []))) for cell in notebook.cells]


def _cell_id(cell: Notebook, seen: dict[str, int]) -> str:
    digest = hashlib.sha256(f"{cell.cell_type}\n{cell.source}".encode()).hexdigest()[:8]
    seen[digest] = seen.get(digest, 0) + 1
    return digest if seen[digest] == 1 else f"{digest}-{seen[digest]}"


def _normal_outputs(outputs: list[Notebook]) -> list[Notebook]:
    """Join neighbouring pieces of one stream, and drop what is random: widget views and empty bundles."""
    kept: list[Notebook] = []
    for output in outputs:
        if output.output_type == "stream":
            if kept and kept[-1].output_type == "stream" and kept[-1].name == output.name:
                kept[-1].text += output.text
                continue
        elif "data" in output:
            output.data.pop(WIDGET_VIEW, None)
            if not output.data:
                continue
        kept.append(output)
    return kept


def _node(value: dict[str, Any]) -> Notebook:
    import nbformat

    return nbformat.from_dict(value)
