"""Safety: what keeps an agent, and whoever writes the text that it reads, from doing harm.

Each module is one defence that can be used alone. All of them work at or behind the registry, the one door through which
tools run, so that no planner, sub-agent or server walks around them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agentkit._approvals import Grant
    from agentkit.safety.audit import Anchor, AuditDatabase, AuditLog, Problem
    from agentkit.safety.calculator import calculate
    from agentkit.safety.ledger import SqliteLedger
    from agentkit.safety.paths import PathJail
    from agentkit.safety.personal import mask_personal
    from agentkit.safety.policy import Allow, Ask, Deny, Policy, Rule
    from agentkit.safety.sandbox import SandboxResult, engines, protects, python_tool, run_python
    from agentkit.safety.sql import ReadOnlyDatabase
    from agentkit.safety.untrusted import FencedRegistry, fence, label, neutral

# A name is imported when it is first used: a world that needs the calculator does not pay for SQLite.
_LAZY = {
    "Allow": "policy",
    "Anchor": "audit",
    "Ask": "policy",
    "AuditDatabase": "audit",
    "AuditLog": "audit",
    "Deny": "policy",
    "FencedRegistry": "untrusted",
    "PathJail": "paths",
    "Policy": "policy",
    "Problem": "audit",
    "ReadOnlyDatabase": "sql",
    "Rule": "policy",
    "SandboxResult": "sandbox",
    "SqliteLedger": "ledger",
    "calculate": "calculator",
    "engines": "sandbox",
    "fence": "untrusted",
    "label": "untrusted",
    "mask_personal": "personal",
    "neutral": "untrusted",
    "protects": "sandbox",
    "python_tool": "sandbox",
    "run_python": "sandbox",
}

__all__ = [
    "Allow",
    "Anchor",
    "Ask",
    "AuditDatabase",
    "AuditLog",
    "Deny",
    "FencedRegistry",
    "Grant",
    "PathJail",
    "Policy",
    "Problem",
    "ReadOnlyDatabase",
    "Rule",
    "SandboxResult",
    "SqliteLedger",
    "calculate",
    "engines",
    "fence",
    "label",
    "mask_personal",
    "neutral",
    "protects",
    "python_tool",
    "run_python",
]


def __getattr__(name: str) -> Any:
    if name == "Grant":
        from agentkit._approvals import Grant

        return Grant
    if name in _LAZY:
        return getattr(import_module(f"agentkit.safety.{_LAZY[name]}"), name)
    raise AttributeError(f"module 'agentkit.safety' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
