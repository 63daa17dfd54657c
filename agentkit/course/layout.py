"""Where the parts of a checkout of the course lie."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from agentkit.errors import DefinitionError, did_you_mean

OFFLINE = Path(__file__).parent / "offline"
"""The folder that refuses the network when it stands first on PYTHONPATH."""


@dataclass(frozen=True, slots=True)
class Course:
    """The folders of one checkout: ``root`` holds ``notebooks/`` and, for the learner, ``my_notebooks/``."""

    root: Path

    @property
    def notebooks(self) -> Path:
        return self.root / "notebooks"

    @property
    def sources(self) -> Path:
        return self.root / "notebooks" / "src"

    @property
    def copies(self) -> Path:
        return self.root / "my_notebooks"

    def notebook_files(self) -> tuple[Path, ...]:
        """The tracked notebooks with their outputs, in order."""
        return tuple(sorted(self.notebooks.glob("*.ipynb")))

    def source_files(self) -> tuple[Path, ...]:
        """The text sources, in order."""
        return tuple(sorted(self.sources.glob("*.py")))


def find_course(start: Path | None = None) -> Course:
    """The course around ``start`` (the current folder when None), else the one this package was installed from.

    Raises:
        DefinitionError: there is no course in either place.
    """
    start = (start or Path.cwd()).resolve()
    package_root = Path(__file__).resolve().parents[2]
    for folder in (start, *start.parents, package_root):
        if (folder / "notebooks").is_dir() and (folder / "pyproject.toml").is_file():
            return Course(folder)
    raise DefinitionError(
        "There is no course here: no folder above this one holds `notebooks` and `pyproject.toml`. "
        "Change to the folder that you got with git clone and try again."
    )


def select(files: tuple[Path, ...], wanted: tuple[str, ...]) -> tuple[Path, ...]:
    """The files whose name begins with a wanted number or name (``5``, ``05`` and ``05_the_loop`` mean the same).

    All files when nothing is wanted. Raises `DefinitionError` when a wanted one does not exist.
    """
    if not wanted:
        return files
    chosen: list[Path] = []
    for name in wanted:
        stem = Path(name).stem
        number = stem.zfill(2) if re.fullmatch(r"\d+", stem) else stem
        found = [file for file in files if file.stem == stem or file.stem.partition("_")[0] == number]
        if not found:
            known = [file.stem for file in files]
            listing = ", ".join(known) or "none yet"
            raise DefinitionError(
                f"There is no notebook {name!r}. {did_you_mean(stem, known)}The notebooks are: {listing}."
            )
        chosen.extend(file for file in found if file not in chosen)
    return tuple(chosen)
