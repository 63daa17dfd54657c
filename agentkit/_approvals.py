"""What a person's "yes" covers: exactly one call, in one run, of one definition of a tool, until a certain time.

An approval that names only a tool, or only a call id, can be used for something else than the person has seen. So an approval
is bound to a digest of everything that was shown. The digest guards against mix-ups. Against somebody who can write the
saved run it guards only when the registry has a secret (HMAC, RFC 2104).
"""

from __future__ import annotations

import fnmatch
import hashlib
import hmac
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agentkit._jsonsafe import canonical
from agentkit.messages import Approval


def digest_of(shown: Sequence[Any], secret: bytes = b"") -> str:
    """32 hex digits for what was approved: in which run, by which agent, which call of which definition, until when."""
    text = canonical(shown).encode("utf-8")
    return hmac.new(secret, text, hashlib.sha256).hexdigest()[:32]


def holds(approval: Approval, digest: str, now: float) -> bool:
    """Whether an approval is for this very digest and still valid at ``now`` (seconds since 1970)."""
    given = str(approval.digest).encode("utf-8", "replace")  # a saved run may hold any text
    return hmac.compare_digest(given, digest.encode("ascii")) and (approval.until is None or now < approval.until)


@dataclass(frozen=True, slots=True)
class Grant:
    """A standing permission, "always allow this": one tool, for these arguments, in one run or until some time.

    Args:
        tool: the name of the tool.
        arguments: a pattern for every argument that may be given: a text with ``*`` and ``?``, a set or range of values, a
            function that says yes or no, or any other value exactly. An argument without a pattern is not covered.
        run_id: the run for which it holds; empty for every run of this registry.
        until: seconds since 1970, or None for no end.
    """

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    run_id: str = ""
    until: float | None = None

    def covers(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        run_id: str,
        now: float,
        given: Collection[str] | None = None,
    ) -> bool:
        """Whether this call is within the grant. ``arguments`` are complete, with defaults; ``given`` those it names itself."""
        if (
            tool != self.tool
            or (self.run_id and run_id != self.run_id)
            or (self.until is not None and now >= self.until)
        ):
            return False
        try:
            return all(
                matches(self.arguments[name], found)
                if name in self.arguments
                else given is not None and name not in given
                for name, found in arguments.items()
            )
        except Exception:  # a function that cannot judge this value has not said yes
            return False


def matches(pattern: Any, found: Any) -> bool:
    """Whether a value fits a pattern.

    A text with ``*`` (any text, also with ``/`` in it) and ``?`` (case counts), a set or a range of values, a function that
    says yes or no, or the value itself. Numbers are compared by value, so 5 fits 5.0; true and false are not numbers. Raises
    what the function raises.
    """
    if isinstance(pattern, str):
        # A bracket stands for itself: a file may be called report[1].txt.
        return isinstance(found, str) and fnmatch.fnmatchcase(found, pattern.replace("[", "[[]"))
    if isinstance(pattern, (set, frozenset)):
        return any(_same(each, found) for each in pattern)
    if isinstance(pattern, range):
        return _is_number(found) and found in pattern
    if callable(pattern):
        return pattern(found) is True
    return _same(pattern, found)


def _same(one: Any, other: Any) -> bool:
    if _is_number(one) and _is_number(other):
        return bool(one == other)
    return type(one) is type(other) and bool(one == other)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
