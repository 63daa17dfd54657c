"""What a registry writes down: attempts and their outcomes (ledger), and events for a later reader (audit log)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

from agentkit._jsonsafe import json_safe
from agentkit._ledger import AttemptStore
from agentkit._redact import mask
from agentkit.messages import ToolResult

if TYPE_CHECKING:
    from agentkit._door import Passage

AGAIN = "Correct the arguments and call again."
ENOUGH = "These arguments were wrong again. Do not guess: use another tool, ask the user, or answer with what you know."
MAX_COUNTED = 1_000


class AuditProtocol(Protocol):
    """Where the registry writes down what it let through and what not."""

    def record(self, event: Mapping[str, Any]) -> None:
        """Append one event. Raises OSError when it cannot be written."""
        ...


@dataclass(slots=True)
class Records:
    """The ledger, the audit log, and how often arguments were wrong in a run."""

    ledger: AttemptStore
    audit: AuditProtocol | None
    clock: Callable[[], float]
    failures: dict[tuple[str, str], int] = field(default_factory=dict)

    def record(self, event: str, passage: Passage, **more: str) -> None:
        """Write one event. Raises OSError when it cannot be written."""
        if self.audit is None:
            return
        call, found = passage.call, getattr(passage, "tool", None)
        name = found.name if found else json_safe(call.name)
        about = {"permission": found.permission, "fingerprint": found.fingerprint} if found else {}
        arguments = json_safe(getattr(passage, "arguments", call.arguments))
        head = {"event": event, "time": self.clock(), "run_id": passage.run_id, "call_id": json_safe(call.id)}
        self.audit.record(mask({**head, "tool": name, **about, "arguments": arguments, **more}))

    def written(self, event: str, passage: Passage, **more: str) -> bool:
        """Whether the event could be written."""
        try:
            self.record(event, passage, **more)
        except OSError:
            return False
        return True

    def settle(self, passage: Passage, result: ToolResult, *, late: bool = False, known: bool = True) -> ToolResult:
        """Store the outcome; a result that could not be stored says so in its note. ``known`` is False after a time-out."""
        stored = True
        if passage.attempt is not None and known:
            try:
                self.ledger.settle(passage.attempt, result, late=late)
            except OSError:
                stored = False
        if self.audit is not None:
            stored = self.written("answered", passage, code=result.error.code if result.error else "") and stored
        if stored:
            return result
        return replace(result, note=f"{result.note} This outcome could not be written down.".strip())

    def schema_failed(self, run_id: str, name: str) -> str:
        """The hint after arguments that do not fit: once "correct them", then "stop", so that no run goes in circles."""
        if not run_id:
            return AGAIN
        if len(self.failures) >= MAX_COUNTED:
            self.failures.clear()
        self.failures[run_id, name] = failures = self.failures.get((run_id, name), 0) + 1
        return AGAIN if failures == 1 else ENOUGH
