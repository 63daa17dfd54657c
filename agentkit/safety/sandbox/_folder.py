"""A temporary folder that can be removed whatever a program has put into it."""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

MOST_FOLDERS: Final = 100_000


@contextlib.contextmanager
def own_folder() -> Iterator[Path]:
    """A new folder that nobody else may enter, removed at the end."""
    folder = Path(tempfile.mkdtemp(prefix="sandbox-"))
    try:
        yield folder
    finally:
        remove(folder)


def remove(folder: Path) -> None:
    """Remove a folder with all that is in it. What cannot be removed is left, never an error."""
    with contextlib.suppress(OSError):
        if sys.platform == "win32":
            shutil.rmtree(folder, ignore_errors=True)
            return
        top = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            _empty(top)
        finally:
            os.close(top)
            folder.rmdir()


def _empty(top: int) -> None:
    """Take folders out of folders until all lie side by side.

    A recursive removal would fail on a thousand folders in one another. Names are looked up relative to open folders and links
    are never followed, so a process that still lives cannot lead the removal to another place.
    """
    if sys.platform == "win32":
        return
    numbers = itertools.count()
    for _ in range(MOST_FOLDERS):
        names = os.listdir(top)
        if not names:
            return
        for name in names:
            try:
                os.unlink(name, dir_fd=top)
            except OSError:  # a folder: Linux and macOS name this fault differently
                _lift(name, top, numbers)


def _lift(name: str, top: int, numbers: Iterator[int]) -> None:
    """Remove one folder; the folders in it move up to the top."""
    if sys.platform == "win32":
        return
    os.chmod(name, 0o700, dir_fd=top)  # a program may have closed its own folder
    inner = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=top)
    try:
        for part in os.listdir(inner):  # noqa: PTH208 - an open folder cannot be exchanged for another
            try:
                os.unlink(part, dir_fd=inner)
            except OSError:
                os.rename(part, f"lifted-{next(numbers)}-{os.getpid()}", src_dir_fd=inner, dst_dir_fd=top)
    finally:
        os.close(inner)
    os.rmdir(name, dir_fd=top)
