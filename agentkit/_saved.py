"""A run as JSON text with a schema version, validated when it is read; files are written whole or not at all."""

from __future__ import annotations

import functools
import json
import os
from pathlib import Path
from typing import Any

from agentkit.errors import SavedRunError
from agentkit.messages import Run

SCHEMA = "agentkit.run/1"


@functools.cache
def _adapter() -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(Run)


def run_to_json(run: Run) -> str:
    """The JSON text of a run, one line, with its schema version."""
    body = _adapter().dump_python(run, mode="json")
    return json.dumps({"schema": SCHEMA, "run": body}, ensure_ascii=False)


def run_from_json(text: str) -> Run:
    """The run of a JSON text. Raises `SavedRunError` with a sentence that says what is wrong."""
    from pydantic import ValidationError

    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        raise SavedRunError("This is not a saved run: the text is not complete JSON. Load another copy.") from None
    found = document.get("schema") if isinstance(document, dict) else None
    if not isinstance(found, str) or not found.startswith("agentkit.run/"):
        raise SavedRunError('This JSON is not a saved run: it has no "schema" that begins with "agentkit.run/".')
    if found != SCHEMA:
        raise SavedRunError(
            f"This run was saved as {found}, but this version reads {SCHEMA}. Update agentkit to read it."
        )
    try:
        run: Run = _adapter().validate_python(document.get("run"))
    except ValidationError as error:
        place = ".".join(str(part) for part in error.errors(include_url=False)[0]["loc"])
        raise SavedRunError(f"This saved run is damaged at {place or 'its start'}. Load another copy.") from None
    return run


def write_whole(path: Path, text: str) -> Path:
    """Write a text file so that a reader, or a crash, sees the old file or the new one and nothing between."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return path


def read_whole(path: Path) -> str:
    """The text of a file; raises `SavedRunError` when there is none or it is not text."""
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise SavedRunError(f"There is no file {path.name!r} here. Check the name and the folder.") from None
    except (OSError, UnicodeDecodeError):
        raise SavedRunError(f"The file {path.name!r} cannot be read as text, so it is not a saved run.") from None
