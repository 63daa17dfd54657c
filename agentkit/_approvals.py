"""What a person's "yes" covers: exactly one call, in one run, of one definition of a tool, until a certain time.

An approval that names only a tool, or only a call id, can be used for something else than the person has seen. So an approval
is bound to a digest of everything that was shown. The digest guards against mix-ups. Against somebody who can write the
saved run it guards only when the registry has a secret (HMAC, RFC 2104).
"""

from __future__ import annotations

import fnmatch
import hashlib
import hmac
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from agentkit._jsonsafe import canonical
from agentkit.messages import Approval


def digest_of(run_id: str, agent: str, tool: str, fingerprint: str, arguments: Any, secret: bytes = b"") -> str:
    """32 hex digits for what was approved: who may use it, where, and for which call."""
    shown = canonical([run_id, agent, tool, fingerprint, arguments]).encode("utf-8")
    return hmac.new(secret, shown, hashlib.sha256).hexdigest()[:32]


def holds(approval: Approval, digest: str, now: float) -> bool:
    """Whether an approval is for this very digest and still valid at ``now`` (seconds since 1970)."""
    return hmac.compare_digest(approval.digest, digest) and (approval.until is None or now < approval.until)


@dataclass(frozen=True, slots=True)
class Grant:
    """A standing permission, "always allow this": one tool, for these arguments, in one run or until some time.

    Args:
        tool: the name of the tool.
        arguments: a pattern for every argument that may be given: a text with ``*`` and ``?``, any other value exactly, or a
            function that says yes or no. An argument without a pattern is not covered.
        run_id: the run for which it holds; empty for every run of this registry.
        until: seconds since 1970, or None for no end.
    """

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    run_id: str = ""
    until: float | None = None

    def covers(self, tool: str, arguments: Mapping[str, Any], run_id: str, now: float) -> bool:
        """Whether this call is within the grant."""
        if (
            tool != self.tool
            or (self.run_id and run_id != self.run_id)
            or (self.until is not None and now >= self.until)
        ):
            return False
        return all(name in self.arguments and matches(self.arguments[name], found) for name, found in arguments.items())


def matches(pattern: Any, found: Any) -> bool:
    """Whether a value fits a pattern: a text with ``*`` and ``?`` (case counts), a function, or the value itself."""
    if isinstance(pattern, str):
        return isinstance(found, str) and fnmatch.fnmatchcase(found, pattern)
    if isinstance(pattern, Callable):  # type: ignore[arg-type]
        return pattern(found) is True
    if isinstance(pattern, (set, frozenset)):
        return isinstance(found, (str, int, float)) and found in pattern
    if isinstance(pattern, range):
        return isinstance(found, int) and not isinstance(found, bool) and found in pattern
    return type(pattern) is type(found) and bool(pattern == found)
