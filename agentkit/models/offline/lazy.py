"""A regular expression that is compiled when it is first used.

Compiling all the patterns of this package takes longer than reading its code, and one goal needs only a part of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any


class Pattern:
    """The few methods of `re.Pattern` that are used here. ``text`` may be a function, for a pattern made of word lists."""

    __slots__ = ("_compiled", "_flags", "_text")

    def __init__(self, text: str | Callable[[], str], flags: int = 0) -> None:
        self._text, self._flags = text, flags
        self._compiled: re.Pattern[str] | None = None

    @property
    def compiled(self) -> re.Pattern[str]:
        if self._compiled is None:
            self._compiled = re.compile(self._text if isinstance(self._text, str) else self._text(), self._flags)
        return self._compiled

    def match(self, text: str, *where: int) -> re.Match[str] | None:
        return self.compiled.match(text, *where)

    def fullmatch(self, text: str) -> re.Match[str] | None:
        return self.compiled.fullmatch(text)

    def search(self, text: str, *where: int) -> re.Match[str] | None:
        return self.compiled.search(text, *where)

    def finditer(self, text: str, *where: int) -> Iterator[re.Match[str]]:
        return self.compiled.finditer(text, *where)

    def findall(self, text: str) -> list[Any]:
        return self.compiled.findall(text)

    def split(self, text: str, maxsplit: int = 0) -> list[Any]:
        return self.compiled.split(text, maxsplit)

    def sub(self, replacement: str, text: str) -> str:
        return self.compiled.sub(replacement, text)
