"""The two larger exercises of notebook 08: a ledger by hand, and a registry that may be shipped."""

from __future__ import annotations

from agentkit.checks.exercise import Exercise, Wrong
from agentkit.checks.nb08_checks import check_once, check_shipped

_ONCE = '''\
def once(ledger, key, call_id, run):
    """Run it once for each wish; a retry gets the first answer."""
    attempts = ledger.setdefault(key, [])
    for attempt in attempts:
        if attempt["outcome"] is None:
            return {"ok": False, "code": "unknown_outcome"}
        if attempt["call_id"] == call_id:
            return attempt["outcome"]
    attempt = {"call_id": call_id, "outcome": None}
    attempts.append(attempt)
    try:
        attempt["outcome"] = {"ok": True, "data": run()}
    except TimeoutError:
        return {"ok": False, "code": "timeout"}
    except Exception:
        attempt["outcome"] = {"ok": False, "code": "tool_failed"}
    return attempt["outcome"]
'''


def _once_with(old: str, new: str, lacks: str) -> Wrong:
    """The solution with one thing changed, and what the learner must be told then."""
    assert old in _ONCE
    return Wrong(_ONCE.replace(old, new), lacks)


ONCE = Exercise(
    id="08.5",
    title="Once",
    prompt="Write `once(ledger, key, call_id, run)`: a retry gets the first answer, a new wish runs, a doubt is told.",
    stub='''\
def once(ledger, key, call_id, run):
    """Run it once for each wish; a retry gets the first answer."""
    ...
''',
    check=check_once,
    hints=(
        "`ledger` is a dict. Keep a list of attempts for each key: `ledger.setdefault(key, [])`.",
        'An attempt is `{"call_id": …, "outcome": None}`. Append it before you call `run()`.',
        "An attempt without an outcome: unknown_outcome. One with this call id: its outcome. Otherwise it is a new wish.",
    ),
    solution=_ONCE,
    why="The attempt is written down before it runs. Only a time-out leaves it open, because then nobody knows.",
    known_wrong=(
        Wrong(
            'def once(ledger, key, call_id, run):\n    return {"ok": True, "data": run()}\n',
            "the same call id is a retry",
        ),
        Wrong(
            "def once(ledger, key, call_id, run):\n    if key not in ledger:\n"
            '        ledger[key] = {"ok": True, "data": run()}\n    return ledger[key]\n',
            "a new wish",
        ),
        _once_with(
            'except TimeoutError:\n        return {"ok": False, "code": "timeout"}',
            'except TimeoutError:\n        attempts.remove(attempt)\n        return {"ok": False, "code": "timeout"}',
            "may have paid twice",
        ),
        _once_with(
            '        attempt["outcome"] = {"ok": False, "code": "tool_failed"}\n    return attempt["outcome"]',
            '        return {"ok": False, "code": "tool_failed"}\n    return attempt["outcome"]',
            "a failure is a known outcome",
        ),
        Wrong(
            "def once(ledger, key, call_id, run):\n    attempts = ledger.setdefault(key, [])\n"
            "    for name, outcome in attempts:\n        if outcome is None:\n"
            '            return {"ok": False, "code": "unknown_outcome"}\n'
            "        if name == call_id:\n            return outcome\n    try:\n"
            '        outcome = {"ok": True, "data": run()}\n    except TimeoutError:\n'
            '        attempts.append((call_id, None))\n        return {"ok": False, "code": "timeout"}\n'
            '    except Exception:\n        outcome = {"ok": False, "code": "tool_failed"}\n'
            "    attempts.append((call_id, outcome))\n    return outcome\n",
            "reserve before you run",
        ),
    ),
)

_SHIPPED = '''\
def open_tickets_only(ticket):
    if ticket != "T1":
        raise ToolError(f"There is no open ticket {ticket}.", code="not_open", hint="Ask for the number.")


@tool(permission="dangerous", timeout=2.0, rule=open_tickets_only)
def close_ticket(ticket: Annotated[str, Field(description="The number of the ticket.", examples=["T1"])]) -> str:
    """Close one ticket for good. Fails with not_open when it is not open."""
    return f"{ticket} is closed"


folder = Path(tempfile.mkdtemp())
my_registry = Registry(
    [close_ticket], ledger=SqliteLedger(folder / "ledger.sqlite"), audit=AuditLog(folder / "audit.jsonl")
)
my_registry.trust()
'''


def _shipped_with(old: str, new: str, lacks: str) -> Wrong:
    assert old in _SHIPPED
    return Wrong(_SHIPPED.replace(old, new), lacks)


SHIPPED = Exercise(
    id="08.6",
    title="Ready to ship",
    prompt="Make a registry with a write or dangerous tool of your own, on which every line of the checklist holds.",
    stub="my_registry = ...\n",
    check=check_shipped,
    hints=(
        "Write the tool first, then run `shipping_checklist(Registry([your_tool]))` and read what is missing.",
        "The ledger and the audit log need a file: `SqliteLedger(folder / 'ledger.sqlite')`, `AuditLog(folder / …)`.",
        "The last line of the list wants `my_registry.trust()`, after the last tool was added.",
    ),
    setup=(
        "import tempfile\nfrom pathlib import Path\nfrom typing import Annotated\nfrom pydantic import Field\n"
        "from agentkit import Registry, ToolError, tool\nfrom agentkit.safety import AuditLog, SqliteLedger\n"
    ),
    solution=_SHIPPED,
    why="Each line was tried on your registry, with functions that do nothing in the place of your tools.",
    known_wrong=(
        _shipped_with(', ledger=SqliteLedger(folder / "ledger.sqlite")', "", "a crash forgets them"),
        _shipped_with("my_registry.trust()\n", "", "call registry.trust()"),
        _shipped_with("timeout=2.0, ", "", "has no deadline"),
        _shipped_with("timeout=2.0, ", "timeout=2.0, approval=False, ", "ran without asking"),
        _shipped_with('permission="dangerous", ', "", "only reading"),
    ),
)
