"""The ledger in a file: the same answers as the one in memory, and nothing forgotten when a process dies."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import ROOT, json_values, profile, python

from agentkit import Registry, ToolCall, ToolResult, tool
from agentkit._jsonsafe import json_safe
from agentkit._ledger import Ledger
from agentkit.messages import ErrorDetail
from agentkit.safety import SqliteLedger

KEY = ("run", "pay", '{"amount":5}')


def code(registry: Registry, call_id: str, run_id: str = "r", **arguments: Any) -> str:
    result = registry.call(ToolCall("pay", {"amount": 5, **arguments}, call_id), run_id=run_id)
    return str(result.data) if result.error is None else result.error.code


# --- like the one in memory --------------------------------------------------------------------------------------------

results = st.one_of(
    st.builds(ToolResult, st.just("c0"), st.just("pay"), json_values, st.none(), st.text(max_size=5)),
    st.builds(
        ToolResult,
        st.just("c0"),
        st.just("pay"),
        st.none(),
        st.builds(ErrorDetail, st.just("no"), st.text(max_size=5), st.text(max_size=5)),
    ),
)
keys = st.tuples(st.sampled_from(["r", "s"]), st.sampled_from(["pay", "save"]), st.sampled_from(["{}", '{"a":1}']))
ids = st.sampled_from(["", "c1", "c2", "c3", "\ud800", "한'\""])
operations = st.lists(
    st.one_of(
        st.tuples(st.just("find"), keys, ids),
        st.tuples(st.just("reserve"), keys, ids),
        st.tuples(st.just("settle"), st.integers(0, 5), results, st.booleans()),
        st.tuples(st.just("reopen")),
    ),
    max_size=14,
)


def shown(attempt: Any) -> Any:
    return None if attempt is None else (attempt.outcome, attempt.late)


@given(operations)
@profile(120)
def test_it_behaves_like_the_ledger_in_memory(tmp_path_factory: pytest.TempPathFactory, steps: list[Any]) -> None:
    path = tmp_path_factory.mktemp("ledger") / "ledger.sqlite"
    stored, memory = SqliteLedger(path), Ledger()
    made: list[tuple[Any, Any]] = []
    for kind, *values in steps:
        if kind == "find":
            assert shown(stored.find(*values)) == shown(memory.find(*values))
        elif kind == "reserve":
            (one, new), (two, new_too) = stored.reserve(*values), memory.reserve(*values)
            assert new == new_too and shown(one) == shown(two)
            if new:
                made.append((one, two))
        elif kind == "settle" and made:
            number, result, late = values
            one, two = made[number % len(made)]
            stored.settle(one, result, late=late)
            memory.settle(two, result, late=late)
        elif kind == "reopen":
            stored.close()
            stored = SqliteLedger(path)
    stored.close()


@given(json_values | st.recursive(st.just(1), lambda inner: st.lists(inner, min_size=1, max_size=1), max_leaves=60))
@profile(60)
def test_a_stored_result_comes_back_as_it_was(tmp_path_factory: pytest.TempPathFactory, value: Any) -> None:
    ledger = SqliteLedger(tmp_path_factory.mktemp("ledger") / "l")
    result = ToolResult("c1", "pay", json_safe(value))
    attempt, new = ledger.reserve(KEY, "c1")
    ledger.settle(attempt, result)
    found = ledger.find(KEY, "c1")
    assert new and found is not None and found.outcome == result
    ledger.close()


def test_the_deepest_result_is_not_cut_when_it_is_stored(tmp_path: Path) -> None:
    value: Any = "leaf"
    for _ in range(39):
        value = [value]
    ledger = SqliteLedger(tmp_path / "l")
    for number, data in enumerate([json_safe(value), [*range(10_000), "… and 1 more items"]]):
        attempt, _ = ledger.reserve(("r", "t", str(number)), "c")
        ledger.settle(attempt, ToolResult("c", "t", data))
        assert ledger.find(("r", "t", str(number)), "c").outcome.data == data  # type: ignore[union-attr]


def test_a_late_outcome_is_told_once_and_then_an_equal_call_is_a_new_one(tmp_path: Path) -> None:
    for ledger in (SqliteLedger(tmp_path / "l"), Ledger()):
        attempt, _ = ledger.reserve(KEY, "c1")
        ledger.settle(attempt, ToolResult("c1", "pay", "paid late"), late=True)
        found, new = ledger.reserve(KEY, "c2")
        assert not new and found.outcome is not None and found.outcome.data == "paid late"
        assert ledger.find(KEY, "c3") is None and ledger.reserve(KEY, "c3")[1]


# --- behind the door -----------------------------------------------------------------------------------------------


class Till:
    def __init__(self, ledger: Any) -> None:
        self.paid: list[int] = []

        @tool(permission="write")
        def pay(amount: int) -> str:
            """Pay."""
            self.paid.append(amount)
            return f"paid {len(self.paid)}"

        self.registry = Registry([pay], ledger=ledger)


def test_OP05_a_retry_in_another_process_gets_the_first_result(tmp_path: Path) -> None:
    first = Till(SqliteLedger(tmp_path / "l"))
    assert code(first.registry, "c1") == "paid 1"
    second = Till(SqliteLedger(tmp_path / "l"))
    assert code(second.registry, "c1") == "paid 1" and second.paid == []
    assert code(second.registry, "c2") == "paid 1" and second.paid == [5]
    assert code(second.registry, "c1", "another run") == "paid 2"


@pytest.mark.parametrize("call_id", ["\ud800", "", "한", "a\x00b", "'; DROP TABLE attempts; --", "x" * 10_000])
def test_any_id_of_a_call_can_be_stored(call_id: str, tmp_path: Path) -> None:
    till = Till(SqliteLedger(tmp_path / "l"))
    assert code(till.registry, call_id) == code(till.registry, call_id) == "paid 1" and till.paid == [5]


def test_when_the_ledger_cannot_be_used_nothing_runs_and_nothing_is_raised(tmp_path: Path) -> None:
    ledger = SqliteLedger(tmp_path / "l", seconds=0.01)
    till = Till(ledger)
    assert code(till.registry, "c1") == "paid 1"
    other = sqlite3.connect(tmp_path / "l", isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    assert code(till.registry, "c2") == "not_reserved" and code(till.registry, "c1") == "not_reserved"
    other.execute("COMMIT")
    other.execute("BEGIN")
    other.execute("SELECT * FROM attempts").fetchone()  # a reader lets nobody finish a write
    assert code(till.registry, "c2") == "not_reserved" and till.paid == [5]
    other.close()
    assert code(till.registry, "c2") == "paid 2" and till.paid == [5, 5]
    ledger.close()
    assert code(till.registry, "c3") == "not_reserved" and till.paid == [5, 5]


def test_an_outcome_that_cannot_be_stored_is_told_and_then_unknown(tmp_path: Path) -> None:
    path = tmp_path / "l"
    other: list[sqlite3.Connection] = []

    @tool(permission="write")
    def pay(amount: int) -> str:
        """Pay."""
        other.append(sqlite3.connect(path, isolation_level=None))
        other[-1].execute("BEGIN IMMEDIATE")
        return "paid"

    registry = Registry([pay], ledger=SqliteLedger(path, seconds=0.01))
    result = registry.call(ToolCall("pay", {"amount": 1}, "c1"), run_id="r")
    assert result.data == "paid" and result.note == "This outcome could not be written down."
    other[0].close()
    again = [registry.call(ToolCall("pay", {"amount": 1}, call_id), run_id="r").error for call_id in ("c1", "c2")]
    assert [error.code for error in again if error] == ["unknown_outcome"] * 2 and len(other) == 1


@pytest.mark.parametrize("damage", ["'not json'", "'{}'", "'[1]'", "x'00ff'", "5"])
def test_a_damaged_outcome_is_not_known(damage: str, tmp_path: Path) -> None:
    till = Till(SqliteLedger(tmp_path / "l"))
    code(till.registry, "c1")
    other = sqlite3.connect(tmp_path / "l")
    other.execute(f"UPDATE attempts SET outcome = {damage}")
    other.commit()
    other.close()
    assert code(till.registry, "c1") == "unknown_outcome" and till.paid == [5]


def test_an_attempt_that_somebody_removed_cannot_be_settled(tmp_path: Path) -> None:
    ledger = SqliteLedger(tmp_path / "l")
    attempt, _ = ledger.reserve(KEY, "c1")
    other = sqlite3.connect(tmp_path / "l")
    other.execute("DELETE FROM attempts")
    other.commit()
    other.close()
    with pytest.raises(OSError, match="no longer holds"):
        ledger.settle(attempt, ToolResult("c1", "pay", 1))
    assert attempt.outcome is None


def test_a_file_that_is_no_ledger(tmp_path: Path) -> None:
    (tmp_path / "text").write_bytes(b"no database " * 100)
    for path in (tmp_path / "text", tmp_path / "no folder" / "l", tmp_path):
        with pytest.raises(OSError, match="Check the disk"):
            SqliteLedger(path)


# --- processes -------------------------------------------------------------------------------------------------------

WORKER = """
import os, signal, sys
from pathlib import Path
from agentkit import Registry, ToolCall, tool
from agentkit.safety import AuditDatabase, AuditLog, SqliteLedger
folder, when, call_id = Path(sys.argv[1]), sys.argv[2], sys.argv[3]

def die():
    os.kill(os.getpid(), signal.SIGKILL)

@tool(permission="write")
def pay(amount: int) -> str:
    "Pay."
    if when == "before":
        die()
    with (folder / "effects").open("a") as file:
        file.write("paid ")
    if when == "after":
        die()
    return "paid"

class Dying(SqliteLedger):
    def settle(self, attempt, result, *, late=False):
        if when == "stored":
            super().settle(attempt, result, late=late)
        if when in ("stored", "settle"):
            die()
        super().settle(attempt, result, late=late)

registry = Registry([pay], ledger=Dying(folder / "ledger"), audit=AuditLog(folder / "audit"))
result = registry.call(ToolCall("pay", {"amount": 5}, call_id), run_id="r")
print(result.error.code if result.error else result.data)
"""


@pytest.mark.skipif(os.name == "nt", reason="SIGKILL is of Unix")
@pytest.mark.parametrize("when", ["before", "after", "settle", "stored"])
@pytest.mark.parametrize("call_id", ["c1", "c2"], ids=["same id", "new id"])
def test_OP05_killed_between_reserved_and_stored(when: str, call_id: str, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    killed = subprocess.run(
        [sys.executable, "-c", WORKER, str(tmp_path), when, "c1"], env=environment, capture_output=True, timeout=60
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    effects = tmp_path / "effects"
    before = effects.read_text(encoding="utf-8") if effects.exists() else ""
    assert before == ("" if when == "before" else "paid ")
    answer = python(WORKER, str(tmp_path), "never", call_id).strip()
    if when != "stored":  # not known, said so, and not repeated
        assert (
            answer == "unknown_outcome" and (effects.read_text(encoding="utf-8") if effects.exists() else "") == before
        )
        assert [each["call_id"] for each in SqliteLedger(tmp_path / "ledger").in_doubt()] == ["c1"]
    else:
        assert answer == "paid" and SqliteLedger(tmp_path / "ledger").in_doubt() == []
        assert effects.read_text(encoding="utf-8") == ("paid " if call_id == "c1" else "paid paid ")
    events = [
        json.loads(line)["event"]["event"] for line in (tmp_path / "audit").read_text(encoding="utf-8").splitlines()
    ]
    assert events[0] == "reserved" and ("answered" in events) == (when == "stored" and call_id == "c2")


TWO = """
import json, sys, time
from pathlib import Path
from agentkit import Registry, ToolCall, tool
from agentkit.safety import AuditDatabase, SqliteLedger
folder, who = Path(sys.argv[1]), sys.argv[2]

@tool(permission="write")
def pay(amount: int) -> str:
    "Pay."
    with (folder / "effects").open("a") as file:
        file.write(f"{amount}\\n")
    return "paid"

registry = Registry([pay], ledger=SqliteLedger(folder / "ledger", seconds=30), audit=AuditDatabase(folder / "audit", seconds=30))
(folder / who).touch()
while not all((folder / name).exists() for name in ("one", "two")):
    time.sleep(0.005)
codes = []
for amount in range(25):
    result = registry.call(ToolCall("pay", {"amount": amount}, f"same {amount}"), run_id="r")
    codes.append(result.error.code if result.error else result.data)
print(json.dumps(codes))
"""


def test_two_processes_share_a_ledger_and_an_audit_log(tmp_path: Path) -> None:
    from agentkit.safety import AuditDatabase

    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    both = [
        subprocess.Popen([sys.executable, "-c", TWO, str(tmp_path), who], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8")
        for who in ("one", "two")
    ]  # fmt: skip
    try:
        done = [each.communicate(timeout=90) for each in both]
    finally:
        for each in both:
            each.kill()
    assert [each.returncode for each in both] == [0, 0], done
    codes = [json.loads(out) for out, _ in done]
    assert set(codes[0]) | set(codes[1]) <= {"paid", "unknown_outcome"}  # the other one may be just at it
    effects = (tmp_path / "effects").read_text(encoding="utf-8").split()
    assert sorted(effects, key=int) == [str(amount) for amount in range(25)]  # each once
    log = AuditDatabase(tmp_path / "audit")
    assert log.verify() == [] and sum(found["event"]["event"] == "reserved" for found in log.records()) == 25
    assert SqliteLedger(tmp_path / "ledger").in_doubt() == []
