"""The sample worlds: invented data, tools that work on them, goals with their expected calls, and rules.

A world is a package with `tools`, `rules`, `system` and `goals`. This module holds what the worlds share: the
`Goal`, and the `Toolbox`, a class whose methods are tools.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from agentkit.errors import DefinitionError, did_you_mean
from agentkit.facts import Language
from agentkit.messages import StopReason

if TYPE_CHECKING:
    from agentkit.tools import Tool

ExpectedCall: TypeAlias = tuple[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Goal:
    """One thing a user may ask, and what a good agent does about it.

    Attributes:
        id: short and unique in its world.
        text: what the user writes.
        calls: the tool calls that must be made, as (tool name, arguments); their order is free.
        answer_has: strings that must all stand in the answer (see `missing`).
        stop_reason: how the run must end. A run that pauses has no answer.
        language: the language of the text and of the answer.
        note: why the expected values are what they are.
        optional_calls: calls that may be made as well. Any other call is wrong.
        answer_lacks: strings of which none may stand in the answer.
    """

    id: str
    text: str
    calls: tuple[ExpectedCall, ...] = ()
    answer_has: tuple[str, ...] = ()
    stop_reason: StopReason = "answered"
    language: Language = "en"
    note: str = ""
    optional_calls: tuple[ExpectedCall, ...] = ()
    answer_lacks: tuple[str, ...] = ()

    def missing(self, answer: str | None) -> tuple[str, ...]:
        """What of `answer_has` the answer lacks. Upper and lower case are the same, and so are 250,000 and 250000."""
        plain = _plain(answer or "")
        return tuple(part for part in self.answer_has if _plain(part) not in plain)

    def unwanted(self, answer: str | None) -> tuple[str, ...]:
        """What of `answer_lacks` stands in the answer."""
        plain = _plain(answer or "")
        return tuple(part for part in self.answer_lacks if _plain(part) in plain)

    def calls_differ(self, made: Iterable[tuple[str, Mapping[str, Any]]]) -> str:
        """An empty string when the calls made are the expected ones, else a sentence that names the difference."""
        done = [(name, dict(arguments)) for name, arguments in made]
        lacking = [call for call in self.calls if call not in done]
        extra = [call for call in done if call not in self.calls and call not in self.optional_calls]
        parts = [f"not called: {_written(lacking)}"] if lacking else []
        parts += [f"called without need: {_written(extra)}"] if extra else []
        return "; ".join(parts)


class Toolbox:
    """A base class for objects whose methods, decorated with ``@tool``, are tools that share the object's state."""

    @property
    def tools(self) -> list[Tool]:
        """All tools, in the order in which the class defines them."""
        from agentkit.tools import Tool

        return [getattr(self, name) for name, value in vars(type(self)).items() if isinstance(value, Tool)]

    def tool(self, name: str) -> Tool:
        """One tool by its name. Raises `DefinitionError` when there is none of that name."""
        tools = {each.name: each for each in self.tools}
        if name not in tools:
            raise DefinitionError(f"No tool {name!r}. {did_you_mean(name, tools)}The tools are {', '.join(tools)}.")
        return tools[name]


def _plain(text: str) -> str:
    return re.sub(r"(?<=\d),(?=\d{3})", "", text.casefold())


def _written(calls: Iterable[ExpectedCall]) -> str:
    return ", ".join(f"{name}({', '.join(f'{k}={v!r}' for k, v in arguments.items())})" for name, arguments in calls)
