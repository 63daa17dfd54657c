"""A folder that tools cannot leave.

A check of the text of a path is not enough. ``share-secret`` begins with ``share``; ``a/../../b`` begins inside and
ends outside; a link lies inside and leads outside. So a path is first resolved to the place it means, and then that
place is compared, part by part.
"""

from __future__ import annotations

import os
import re
import secrets
from contextlib import suppress
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Final

from agentkit.errors import DefinitionError, ToolError

LONGEST: Final = 1_000  # characters of a path
_RESERVED: Final = re.compile(r"(?i)^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$) *(\..*)?$")
_HINT: Final = "Give a path inside the folder, for example notes/plan.md."


class PathJail:
    """Paths inside one folder, and no others.

    What is refused does not depend on the system, so that a course on Linux and one on Windows behave the same: absolute paths,
    drives, ``..`` that leads out, links that lead out, names that Windows keeps for devices, names that end in a dot or a
    space, ``:`` (a second stream of a file), control characters. ``%2e%2e`` is an ordinary name: nothing is decoded here.

    Between the check and the use another program may put a link in the place of a folder. Against that `open` looks again
    after opening. Against a program that runs at the same time with the same rights only the system itself can help. A hard
    link inside the folder to a file outside cannot be told from a file.

    Args:
        root: the folder; it must exist.

    Raises:
        DefinitionError: there is no such folder.
    """

    def __init__(self, root: str | os.PathLike[str]) -> None:
        self.root = Path(root).resolve()
        if not self.root.is_dir():
            raise DefinitionError(f"A jail needs a folder, and {self.root.name!r} is none. Make it first.")

    def resolve(self, name: str, *, must_exist: bool = False) -> Path:
        """The real place of a path that is written relative to the folder.

        Args:
            name: the path as the model wrote it, with ``/`` (or ``\\``) between its parts.
            must_exist: whether it is an error when nothing is there.

        Raises:
            ToolError: ``bad_path`` (the name is not accepted), ``outside`` (it leads out of the folder) or ``not_found``.
        """
        parts = self._parts(name)
        place = self.root.joinpath(*parts)
        try:
            real = place.resolve()
        except (OSError, RuntimeError, ValueError):  # links in a circle, a part that is too long
            raise ToolError(f"The path {_shown(name)} cannot be followed.", code="bad_path", hint=_HINT) from None
        if not real.is_relative_to(self.root):
            raise ToolError(f"The path {_shown(name)} leads out of the folder.", code="outside", hint=_HINT)
        if must_exist and not os.path.lexists(real):
            raise ToolError(f"There is no file {_shown(name)} in the folder.", code="not_found", hint="List the files.")
        return real

    def read(self, name: str, limit: int = 100_000) -> str:
        """The text of a file, at most ``limit`` characters. Raises `ToolError`: as `resolve`, or ``not_text``."""
        real = self.resolve(name, must_exist=True)
        if not os.path.isfile(real):  # noqa: PTH113 (the method raises for a name that is too long)
            raise ToolError(f"{_shown(name)} is not a file.", code="not_text", hint="List the files.")
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        with os.fdopen(self._opened(real, flags, name), "rb") as file:
            raw = file.read(limit * 4)
        try:
            return raw.decode("utf-8")[:limit]
        except UnicodeDecodeError as error:
            if error.start >= len(raw) - 4 and len(raw) == limit * 4:  # a letter cut by the limit
                return raw[: error.start].decode("utf-8")[:limit]
            raise ToolError(f"{_shown(name)} is not text.", code="not_text", hint="Choose a text file.") from None

    def write(self, name: str, text: str) -> Path:
        """Write a text file, whole or not at all; missing folders are made. Raises `ToolError` as `resolve` does."""
        real = self.resolve(name)
        if real == self.root or os.path.isdir(real):  # noqa: PTH112 (the method raises for a name that is too long)
            raise ToolError(f"{_shown(name)} is a folder.", code="bad_path", hint=_HINT)
        try:
            real.parent.mkdir(parents=True, exist_ok=True)
            again = self.resolve(name)  # the folders may be other ones than before they were made
            _replace(again, text.encode("utf-8", "replace"))
        except (OSError, ValueError):
            raise ToolError(f"{_shown(name)} cannot be written.", code="bad_path", hint=_HINT) from None
        return again

    def names(self) -> list[str]:
        """The files that can be read here as relative paths with ``/``, sorted; links that lead out are left out."""
        found = []
        for path in sorted(self.root.rglob("*")):
            name = path.relative_to(self.root).as_posix()
            with suppress(ToolError):
                if os.path.isfile(self.resolve(name)):  # noqa: PTH113 (as above)
                    found.append(name)
        return found

    def _parts(self, name: str) -> tuple[str, ...]:
        if not isinstance(name, str) or not name.strip() or len(name) > LONGEST:
            raise ToolError("A path is a text of 1 to 1,000 characters.", code="bad_path", hint=_HINT)
        if PurePosixPath(name).is_absolute() or PureWindowsPath(name).drive or PureWindowsPath(name).root:
            raise ToolError(f"The path {_shown(name)} is absolute.", code="outside", hint=_HINT)
        parts = tuple(part for part in re.split(r"[/\\]", name) if part not in ("", "."))
        for part in parts:
            if part != ".." and (
                _RESERVED.match(part) or part[-1] in ". " or re.search(r'[\x00-\x1f\x7f:*?"<>|]', part)
            ):
                raise ToolError(f"The name {_shown(part)} is not accepted.", code="bad_path", hint=_HINT)
        return parts

    def _opened(self, real: Path, flags: int, name: str) -> int:
        """An open file of which it is sure that it lies inside, even if something was moved since the check."""
        try:
            handle = os.open(real, flags)
        except (OSError, ValueError):
            raise ToolError(
                f"The file {_shown(name)} cannot be opened.", code="not_found", hint="List the files."
            ) from None
        with suppress(OSError, ToolError):
            if self.resolve(name) == real and os.path.samestat(os.fstat(handle), real.lstat()):
                return handle
        os.close(handle)
        raise ToolError(f"The file {_shown(name)} was moved while it was opened.", code="outside", hint=_HINT)

    def __repr__(self) -> str:
        return f"PathJail({self.root.name!r})"


def _replace(path: Path, data: bytes) -> None:
    """Write a new file beside the path, under a name that nobody knows, and put it in the place of the old one.

    The new file is made, never opened: a link that somebody has put there is not followed.
    """
    part = path.with_name(f".{secrets.token_hex(8)}.part")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        with os.fdopen(os.open(part, flags, 0o666), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _shown(name: str) -> str:
    text = name if len(name) <= 80 else name[:80] + "…"
    return repr(re.sub(r"[\x00-\x1f\x7f]", "?", text))
