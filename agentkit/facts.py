"""What an agent has found out, and rules that draw one conclusion from it.

A world may give the offline model *rules*. A rule is a plain function ``rule(facts) -> Conclusion | None``. It sees what
the tools returned and the codes and dates stated in the goal. It never sees the wording of the goal or the name of a
tool, so it cannot cheat: reword the question or rename a tool, and the rule still works.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

Language: TypeAlias = Literal["en", "ko"]


@dataclass(frozen=True, slots=True)
class Fact:
    """One successful tool result: the arguments of the call and the data that came back."""

    arguments: Mapping[str, Any]
    data: Any


@dataclass(frozen=True, slots=True)
class Failure:
    """One failed tool call: its arguments, the stable error code, and the message."""

    arguments: Mapping[str, Any]
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Facts:
    """All that is known so far. ``dates`` are ISO dates (YYYY-MM-DD), ``language`` is the language to answer in."""

    results: tuple[Fact, ...] = ()
    failures: tuple[Failure, ...] = ()
    codes: tuple[str, ...] = ()
    dates: tuple[str, ...] = ()
    language: Language = "en"


@dataclass(frozen=True, slots=True)
class Conclusion:
    """What follows from the facts: a sentence for the user, and the facts it rests on, each as a short sentence."""

    text: str
    evidence: tuple[str, ...] = ()


Rule: TypeAlias = Callable[[Facts], Conclusion | None]
