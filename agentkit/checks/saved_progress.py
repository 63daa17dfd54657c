"""The learner's progress: which exercises and quizzes were answered rightly, in one small file that git ignores.

The file is a convenience. When it cannot be read or written, the exercises work all the same and nothing is said.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FILE_NAME = ".agentkit-progress.json"
_VERSION = 1


@dataclass(frozen=True, slots=True)
class State:
    """Ids of the exercises, and of the quizzes, that were answered rightly at least once."""

    exercises: frozenset[str] = frozenset()
    quizzes: frozenset[str] = frozenset()


def state_file(folder: str | os.PathLike[str] | None = None) -> Path:
    """The file: in the folder given, else in the one that AGENTKIT_STATE names, else in the current one."""
    return Path(folder or os.environ.get("AGENTKIT_STATE") or ".") / FILE_NAME


def load(path: Path) -> State:
    """What the file says; an empty state when it is missing, unreadable or not what it should be."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return State()
    if not isinstance(data, dict):
        return State()
    return State(_ids(data.get("exercises")), _ids(data.get("quizzes")))


def note(path: Path, *, exercise: str = "", quiz: str = "") -> bool:
    """Add an id to the file. Writes a whole new file or nothing; returns whether it is now in the file."""
    old = load(path)
    new = State(old.exercises | ({exercise} - {""}), old.quizzes | ({quiz} - {""}))
    if new == old:
        return path.is_file()
    try:
        _keep_broken(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        _write_whole(path, _as_json(new))
    except OSError:
        return False
    return True


def _ids(value: Any) -> frozenset[str]:
    return frozenset(item for item in value if isinstance(item, str)) if isinstance(value, list) else frozenset()


def _as_json(state: State) -> str:
    data = {"version": _VERSION, "exercises": sorted(state.exercises), "quizzes": sorted(state.quizzes)}
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"


def _keep_broken(path: Path) -> None:
    """Put a file that cannot be read beside the new one, so that nothing is lost."""
    if path.is_file() and path.stat().st_size and load(path) == State():
        path.replace(path.with_suffix(".broken.json"))


def _write_whole(path: Path, text: str) -> None:
    from agentkit._saved import write_whole

    write_whole(path, text)
