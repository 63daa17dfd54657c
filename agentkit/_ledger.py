"""What was attempted and what came of it, so that a retry meets its first try and two intended calls both run.

The key of an attempt is the run, the tool, the canonical arguments, and an ordinal. The ordinal advances only after a
known outcome: after a time-out nobody knows whether the write took effect, so the same call again is a retry.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace

from agentkit.messages import ToolResult

Key = tuple[str, str, str]


@dataclass(slots=True)
class Attempt:
    call_id: str
    outcome: ToolResult | None = None
    late: bool = False


@dataclass(slots=True)
class Ledger:
    """Attempts at writes by key. It forgets nothing while the registry lives."""

    _attempts: dict[Key, list[Attempt]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self, key: Key, call_id: str) -> tuple[Attempt, bool]:
        """The attempt that this call belongs to, and whether it is new and has to run."""
        with self._lock:
            attempts = self._attempts.setdefault(key, [])
            for attempt in attempts:
                if attempt.call_id == call_id or attempt.outcome is None or attempt.late:
                    attempt.late = False  # from now on its outcome is known, so the next equal call is a new one
                    return attempt, False
            attempts.append(Attempt(call_id))
            return attempts[-1], True

    def settle(self, attempt: Attempt, result: ToolResult, *, late: bool = False) -> None:
        with self._lock:
            attempt.outcome, attempt.late = result, late

    @staticmethod
    def answer(attempt: Attempt, call_id: str) -> ToolResult | None:
        """The stored outcome as the answer to this call, or None when it is not known yet."""
        return None if attempt.outcome is None else replace(attempt.outcome, call_id=call_id)
