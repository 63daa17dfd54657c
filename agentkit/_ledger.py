"""What was attempted and what came of it, so that a retry meets its first try and two intended calls both run.

The key of an attempt is the run, the tool, the canonical arguments, and an ordinal. The ordinal advances only after a
known outcome: after a time-out nobody knows whether the write took effect, so the same call again is a retry.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeAlias

from agentkit.messages import ToolResult

Key: TypeAlias = tuple[str, str, str]
"""Run id, tool name, canonical JSON of the validated arguments."""


@dataclass(slots=True)
class Attempt:
    """One try: the call that made it, its outcome (None while unknown), and whether the outcome came after the deadline."""

    call_id: str
    outcome: ToolResult | None = None
    late: bool = False
    number: int = 0  # the row of a stored one


class AttemptStore(Protocol):
    """Where attempts are kept: in memory (`Ledger`), or in a file, so that they outlive the process."""

    def find(self, key: Key, call_id: str) -> Attempt | None:
        """The earlier attempt that this call repeats, or None when it is a new one."""
        ...

    def reserve(self, key: Key, call_id: str) -> tuple[Attempt, bool]:
        """The attempt for this call, and whether it is new and has to run. Raises OSError when it cannot be stored."""
        ...

    def settle(self, attempt: Attempt, result: ToolResult, *, late: bool = False) -> None:
        """Store the outcome. Raises OSError when it cannot be stored."""
        ...


@dataclass(slots=True)
class Ledger:
    """Attempts in memory. It forgets nothing while the registry lives."""

    _attempts: dict[Key, list[Attempt]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def find(self, key: Key, call_id: str) -> Attempt | None:
        with self._lock:
            return repeated(self._attempts.get(key, ()), call_id)

    def reserve(self, key: Key, call_id: str) -> tuple[Attempt, bool]:
        with self._lock:
            attempts = self._attempts.setdefault(key, [])
            found = repeated(attempts, call_id)
            if found is not None:
                return found, False
            attempts.append(Attempt(call_id))
            return attempts[-1], True

    def settle(self, attempt: Attempt, result: ToolResult, *, late: bool = False) -> None:
        with self._lock:
            attempt.outcome, attempt.late = result, late


def repeated(attempts: list[Attempt] | tuple[Attempt, ...], call_id: str) -> Attempt | None:
    """The attempt that a call repeats: the same call, or one whose outcome nobody has seen yet."""
    for attempt in attempts:
        if attempt.call_id == call_id or attempt.outcome is None or attempt.late:
            attempt.late = False  # from now on its outcome is known, so the next equal call is a new one
            return attempt
    return None


def answer_of(attempt: Attempt, call_id: str) -> ToolResult | None:
    """The stored outcome as the answer to this call, or None when it is not known yet."""
    return None if attempt.outcome is None else replace(attempt.outcome, call_id=call_id)
