"""Who may do what: the permissions of a registry, the policy of a task, and what a person has agreed to."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

from agentkit._approvals import Grant, digest_of, holds
from agentkit._jsonsafe import json_safe
from agentkit.messages import Approval

if TYPE_CHECKING:
    from agentkit._door import Passage
    from agentkit.tools import Tool


class PolicyProtocol(Protocol):
    """What one task may do, beyond the permissions of the registry. It may also have ``offers(tool) -> bool``."""

    def verdict(self, tool: Tool, arguments: Mapping[str, Any]) -> tuple[str, str]:
        """``"allow"``, ``"ask"`` (a person has to agree) or ``"deny"``, and the reason."""
        ...


@dataclass(slots=True)
class Permits:
    """What the stages *permission* and *approval* ask.

    ``trusted`` holds the fingerprint of each tool that somebody has looked at; None means that nobody keeps such a list.
    """

    permissions: frozenset[str]
    policy: PolicyProtocol | None
    clock: Callable[[], float]
    seconds: float
    secret: bytes
    grants: list[Grant] = field(default_factory=list)
    trusted: dict[str, str] | None = None

    def narrowed(self, policy: PolicyProtocol) -> Permits:
        """These permits under one more policy. What is granted later to one of the two does not count for the other."""
        both = policy if self.policy is None else _Both((self.policy, policy))
        return replace(self, policy=both, grants=list(self.grants))

    def check(self, tools: Iterable[Tool]) -> None:
        """Let the policy look at the tools: a rule that can never fit is an error of whoever wrote it."""
        _check(self.policy, tools)

    def offers(self, tool: Tool) -> bool:
        """Whether the model is told about this tool: not when the policy allows it under no circumstances."""
        return _offers(self.policy, tool)

    def verdict(self, tool: Tool, arguments: Mapping[str, Any]) -> tuple[str, str]:
        if self.policy is None:
            return "allow", ""
        try:
            word, why = self.policy.verdict(tool, arguments)
        except Exception:  # a policy that cannot judge has not allowed anything
            return "deny", "The policy could not be checked."
        return word, why

    def changed(self, tool: Tool) -> bool:
        """Whether this is another definition than the one that was agreed to.

        The tool of a remote server knows it by itself: its function has ``definition_changed``.
        """
        if getattr(getattr(tool, "function", None), "definition_changed", False) is True:
            return True
        return self.trusted is not None and self.trusted.get(tool.name) != tool.fingerprint

    def asks(self, passage: Passage) -> str | None:
        """None when nobody has to be asked about this call; else the reason for the reader, which may be an empty text."""
        if self.changed(passage.tool):
            return " Its definition is new or has changed since it was agreed to."
        if passage.verdict == "ask":
            return f" {passage.why}".rstrip()
        return "" if passage.tool.approval else None

    def granted(self, passage: Passage) -> bool:
        """Whether an approval or a standing grant covers exactly this call now."""
        approval, now = passage.approved, self.clock()
        if isinstance(approval, Approval) and holds(
            approval, self.digest(passage, approval.agent, approval.until), now
        ):
            return True
        if self.changed(passage.tool):
            return False  # what was granted was the other definition
        judged = json_safe(dict(passage.keywords))  # with defaults: what is left out must not pass by a pattern either
        call = (passage.tool.name, judged, passage.run_id, now, passage.arguments.keys())
        return any(grant.covers(*call) for grant in self.grants)

    def forget(self, names: Collection[str]) -> None:
        """Take back the standing grants for these tools: somebody else stands behind their names now."""
        self.grants[:] = [grant for grant in self.grants if grant.tool not in names]

    def approval(self, passage: Passage, agent: str, by: str) -> Approval:
        """A yes to this call as it stands."""
        until = self.clock() + self.seconds
        return Approval(passage.call.id, self.digest(passage, agent, until), until, agent, by)

    def digest(self, passage: Passage, agent: str, until: float | None) -> str:
        tool, call = passage.tool, passage.call
        definition = tool.fingerprint
        whole = getattr(
            getattr(tool, "function", None), "definition_digest", ""
        )  # of a remote tool, with what the model is not shown
        if isinstance(whole, str):
            definition += whole
        shown = (passage.run_id, agent, call.id, tool.name, definition, passage.arguments, until)
        return digest_of(shown, self.secret)


@dataclass(frozen=True, slots=True)
class _Both:
    """Several policies at once: the strictest word counts."""

    policies: Collection[PolicyProtocol]

    def verdict(self, tool: Tool, arguments: Mapping[str, Any]) -> tuple[str, str]:
        found = [(word, why) for word, why in (policy.verdict(tool, arguments) for policy in self.policies)]
        return max(found, key=lambda each: {"allow": 0, "ask": 1}.get(each[0], 2))

    def check(self, tools: Iterable[Tool]) -> None:
        found = list(tools)
        for policy in self.policies:
            _check(policy, found)

    def offers(self, tool: Tool) -> bool:
        return all(_offers(policy, tool) for policy in self.policies)


def _offers(policy: Any, tool: Tool) -> bool:
    offers = getattr(policy, "offers", None)
    return offers is None or bool(offers(tool))


def _check(policy: Any, tools: Iterable[Tool]) -> None:
    check = getattr(policy, "check", None)
    if check is not None:
        check(tools)
