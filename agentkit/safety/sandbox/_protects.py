"""What each engine protects from and what not. Each cell is a claim, and the tests attack each one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

HEADER: Final = ("danger", "monty", "subprocess", "bwrap")


class Claim(NamedTuple):
    """Whether an engine protects from a danger, and in a few words how or why not."""

    holds: bool
    words: str

    def __str__(self) -> str:
        return f"{'yes' if self.holds else 'no'}: {self.words}"


def _yes(words: str) -> Claim:
    return Claim(True, words)


def _no(words: str) -> Claim:
    return Claim(False, words)


_NO_PROCESSES: Final = _yes("it starts no processes")
_NO_FILES: Final = _yes("it opens no files")
_NO_VARIABLES: Final = _yes("it has none")
_AS_YOU: Final = _no("it has your rights")
_EACH: Final = _no("the limit is for each one")
_UNLIMITED: Final = _no("any number may run")
_CUT: Final = _yes("cut while it is read")
_OUTSIDE: Final = _yes("stopped from outside")
_ANOTHER: Final = _yes("it runs in another process")
_REFUSED: Final = _yes("refused")
_KERNEL_ENDS: Final = _yes("the kernel ends it")
_UNSEEN: Final = _yes("it cannot see them")

CLAIMS: Final[Mapping[str, tuple[Claim, Claim, Claim]]] = {
    "an endless loop": (_yes("its own clock"), _OUTSIDE, _OUTSIDE),
    "a process that takes too much memory": (_yes("it counts"), _yes("a limit (on Linux)"), _yes("a limit of the system")),
    "several processes that take too much together": (_NO_PROCESSES, _EACH, _EACH),
    "endless output": (_CUT, _CUT, _CUT),
    "an enormous value as the result": (_REFUSED, _REFUSED, _REFUSED),
    "a crash of the interpreter": (_ANOTHER, _ANOTHER, _ANOTHER),
    "one enormous file": (_NO_FILES, _yes("a limit of the system (not Windows)"), _yes("a limit of the system")),
    "very many files": (_NO_FILES, _EACH, _yes("a small folder in memory")),
    "many processes at once": (_NO_PROCESSES, _UNLIMITED, _UNLIMITED),
    "reading your files": (_NO_FILES, _AS_YOU, _yes("it sees the system and Python only")),
    "writing outside its folder": (_NO_FILES, _AS_YOU, _yes("all else is read-only")),
    "reading its environment variables": (_NO_VARIABLES, _yes("there are none"), _yes("there are none")),
    "reading the variables of the process that started it": (_NO_FILES, _no("Linux shows them under /proc"), _UNSEEN),
    "using the network": (_yes("it has none"), _AS_YOU, _yes("nobody else is in it")),
    "ending your other processes": (_yes("it has no signals"), _AS_YOU, _UNSEEN),
    "a child that goes on after the end": (_NO_PROCESSES, _yes("ended with its group (not Windows)"), _KERNEL_ENDS),
    "a child that leaves its group and goes on": (_NO_PROCESSES, _no("nobody knows it any more"), _KERNEL_ENDS),
    "lifting its own limits": (_yes("no way to them"), _no("root mostly can"), _yes("it has no right to")),
    "a fault in the engine or in the kernel": (_no("it then has your rights"), _no("nothing behind it"), _no("the walls open")),
}  # fmt: skip

CANNOT_BE_TESTED: Final = frozenset({"a fault in the engine or in the kernel"})


def protects() -> list[tuple[str, str, str, str]]:
    """Rows for `agentkit.show.table` with the header `HEADER`: a danger, and for each engine whether it protects from it."""
    return [(danger, str(first), str(second), str(third)) for danger, (first, second, third) in CLAIMS.items()]
