"""Least privilege: which tools one task may use, with which arguments.

A list of tool names alone is not enough. A mail tool that is needed for one recipient can be turned on any other, so the
arguments are part of the rule. What no rule names is denied.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from agentkit._approvals import matches
from agentkit._jsonsafe import short
from agentkit.errors import DefinitionError, did_you_mean

if TYPE_CHECKING:
    from agentkit.tools import Tool

Word: TypeAlias = Literal["allow", "ask", "deny"]


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of a policy. Made by `Allow`, `Ask` and `Deny`.

    Attributes:
        word: what happens to a call that fits.
        tool: the name of the tool, or ``"*"`` for every tool.
        arguments: a pattern for each argument that the rule looks at: a text with ``*`` and ``?``, a set or range of
            values, a function that says yes or no, or any other value exactly. The values are those of the validated call,
            with the defaults of the tool, as JSON. An argument that is left out does not fit its pattern; an argument without
            a pattern may be anything. A ``*`` also stands for ``/`` and ``..``: to hold paths in a folder use a `PathJail`.
        why: the reason, for the model and for the person who is asked.
    """

    word: Word
    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    why: str = ""

    def fits(self, tool: str, arguments: Mapping[str, Any]) -> bool:
        """Whether this rule is about this call."""
        if self.tool not in ("*", tool):
            return False
        for name, pattern in self.arguments.items():
            try:
                if name not in arguments or not matches(pattern, arguments[name]):
                    return False
            except Exception:  # a function that cannot judge this value: that must not open a door
                if self.word == "allow":
                    return False
        return True


def Allow(tool: str, /, *, why: str = "", **arguments: Any) -> Rule:
    """A rule that lets a call run."""
    return Rule("allow", tool, arguments, why)


def Ask(tool: str, /, *, why: str = "", **arguments: Any) -> Rule:
    """A rule by which a person has to agree first."""
    return Rule("ask", tool, arguments, why)


def Deny(tool: str, /, *, why: str = "", **arguments: Any) -> Rule:
    """A rule by which a call never runs, whatever another rule says."""
    return Rule("deny", tool, arguments, why)


class Policy:
    """What one task may do.

    A rule that denies wins over one that asks, and that over one that allows, wherever they stand. A call that no rule fits
    gets the default.

    Args:
        rules: the rules, made by `Allow`, `Ask` and `Deny`.
        default: what happens to every other call.

    Raises:
        DefinitionError: a rule is not a `Rule`, or the default is not one of the three words.
    """

    def __init__(self, rules: Iterable[Rule], *, default: Word = "deny") -> None:
        self.rules = tuple(rules)
        self.default = default
        if default not in ("allow", "ask", "deny"):
            raise DefinitionError(f'default is "allow", "ask" or "deny", not {default!r}.')
        for rule in self.rules:
            if not isinstance(rule, Rule):
                raise DefinitionError(
                    f"A policy is made of Allow(…), Ask(…) and Deny(…), not of {short(str(rule), 40)}."
                )

    def verdict(self, tool: Tool, arguments: Mapping[str, Any]) -> tuple[Word, str]:
        """What happens to a call of this tool with these arguments, and why."""
        fitting = {rule.word: rule for rule in reversed(self.rules) if rule.fits(tool.name, arguments)}
        words: tuple[Word, ...] = ("deny", "ask", "allow")
        for word in words:
            if word in fitting:
                return word, fitting[word].why
        return self.default, "" if self.default != "deny" else self._allowed(tool.name)

    def check(self, tools: Iterable[Tool]) -> None:
        """Raise `DefinitionError` when a rule names an argument that its tool does not have: it would never fit a call."""
        known = {tool.name: list(tool.parameters.get("properties", {})) for tool in tools}
        for rule in self.rules:
            for name in rule.arguments:
                if rule.tool in known and name not in known[rule.tool]:
                    raise DefinitionError(
                        f"A rule about {rule.tool} names the argument {name!r}, which it does not have. "
                        f"{did_you_mean(name, known[rule.tool])}Its arguments: {', '.join(known[rule.tool]) or 'none'}."
                    )

    def offers(self, tool: Tool) -> bool:
        """Whether the model should know about this tool at all."""
        return self.default != "deny" or any(
            rule.word != "deny" and rule.tool in ("*", tool.name) for rule in self.rules
        )

    def _allowed(self, name: str) -> str:
        patterns = [rule.arguments for rule in self.rules if rule.tool in ("*", name) and rule.word != "deny"]
        if not patterns:
            return "This task does not need it."
        shown = "; ".join(
            ", ".join(f"{key} = {_words(pattern)}" for key, pattern in each.items()) or "anything" for each in patterns
        )
        return f"Allowed: {shown}."

    def __repr__(self) -> str:
        return f"Policy({len(self.rules)} rules, otherwise {self.default})"


def _words(pattern: Any) -> str:
    if callable(pattern):
        return getattr(pattern, "__name__", "a condition").replace("_", " ").strip("<>")
    if isinstance(pattern, (set, frozenset)):
        return " or ".join(sorted(short(item) for item in pattern))
    if isinstance(pattern, range):
        return f"{pattern.start} to {pattern[-1]}" if len(pattern) else "nothing"
    return short(pattern)
