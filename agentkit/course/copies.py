"""The learner's working copy: ``my_notebooks/``, ignored by git, without outputs, never overwritten.

Stored outputs give the answers away, and edits to tracked files break the next ``git pull``. So a learner works on
copies. A small record beside them (``.copied.json``) says which content was copied, so that a copy that nobody has
touched can be renewed, and one that somebody has worked in is left alone.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from agentkit.course.layout import Course, select
from agentkit.course.notebook import write_text
from agentkit.errors import DefinitionError

RECORD = ".copied.json"


@dataclass(frozen=True, slots=True)
class Update:
    """What `update` did, as names of notebooks.

    ``added`` are new copies, ``renewed`` were untouched and have the new version now, ``kept`` hold the learner's work
    although the course has a newer version.
    """

    added: tuple[str, ...] = ()
    renewed: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()


def update(course: Course) -> Update:
    """Bring what is new in the course into the working copy. Nothing that a learner has changed is touched."""
    record = _read_record(course)
    added, renewed, kept = [], [], []
    for tracked in course.notebook_files():
        name, copy = tracked.stem, course.copies / tracked.name
        text = _copy_text(tracked)
        if not copy.exists():
            added.append(name)
        elif record.get(name) == _digest(text):
            continue  # the learner already started from this version
        elif record.get(name) == _digest(copy.read_bytes().decode("utf-8", "replace")):
            renewed.append(name)
        else:
            kept.append(name)
            continue
        write_text(copy, text)
        record[name] = _digest(text)
    if added or renewed:
        _write_record(course, record)
    return Update(tuple(added), tuple(renewed), tuple(kept))


def reset(course: Course, name: str) -> tuple[Path, Path | None]:
    """Give the learner a fresh copy of one notebook and keep the old one beside it.

    Args:
        course: the checkout.
        name: a number or a name, ``"05"`` or ``"05_the_loop"``.

    Returns:
        The fresh copy, and where the old one is now (None when there was none).

    Raises:
        DefinitionError: there is no such notebook.
    """
    (tracked,) = _exactly_one(course, name)
    copy = course.copies / tracked.name
    old = None
    if copy.exists():
        old = _free_name(copy)
        copy.rename(old)
    text = _copy_text(tracked)
    write_text(copy, text)
    _write_record(course, _read_record(course) | {tracked.stem: _digest(text)})
    return copy, old


def _exactly_one(course: Course, name: str) -> tuple[Path, ...]:
    found = select(course.notebook_files(), (name,))
    if len(found) != 1:
        names = ", ".join(path.stem for path in found)
        raise DefinitionError(f"{name!r} fits several notebooks: {names}. Write the whole name.")
    return found


def _free_name(copy: Path) -> Path:
    """``05_the_loop.old1.ipynb``, or the next number that is free."""
    number = 1
    while (old := copy.with_name(f"{copy.stem}.old{number}{copy.suffix}")).exists():
        number += 1
    return old


def _copy_text(tracked: Path) -> str:
    """The notebook without outputs and counts. Written by hand, so that a plain install needs no notebook library."""
    data = json.loads(tracked.read_text(encoding="utf-8"))
    for cell in data["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"], cell["execution_count"] = [], None
    return json.dumps(data, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def _digest(text: str) -> str:
    return hashlib.sha256(text.replace("\r\n", "\n").encode()).hexdigest()


def _read_record(course: Course) -> dict[str, str]:
    """Which content each copy began with. A missing or broken record means: nothing is known, so nothing is renewed."""
    try:
        data = json.loads((course.copies / RECORD).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {str(name): str(digest) for name, digest in data.items()} if isinstance(data, dict) else {}


def _write_record(course: Course, record: dict[str, str]) -> None:
    write_text(course.copies / RECORD, json.dumps(record, indent=1, sort_keys=True) + "\n")
