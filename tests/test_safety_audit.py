"""The audit log: whatever is done to it is found, and whatever happens to the program it stays readable."""

from __future__ import annotations

import itertools
import json
import os
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import json_values, profile, python

from agentkit import Registry, ToolCall, tool
from agentkit.safety import Anchor, AuditDatabase, AuditLog
from agentkit.safety.audit import chained, problems_of

EVENTS: list[dict[str, Any]] = [
    {"event": "reserved", "n": n, "text": "한국어 é", "deep": {"a": [n, None, 1.5]}} for n in range(6)
]
BOTH = pytest.mark.parametrize("kind", [AuditLog, AuditDatabase])


def filled(kind: Any, path: Path, events: list[dict[str, Any]] = EVENTS) -> Any:
    log = kind(path)
    for event in events:
        log.record(event)
    return log


@BOTH
def test_what_is_recorded_is_read_again(kind: Any, tmp_path: Path) -> None:
    log = filled(kind, tmp_path / "log")
    assert [found["event"] for found in log.records()] == EVENTS and log.verify() == []
    assert log.anchor() == Anchor(6, log.records()[-1]["hash"]) and log.verify(log.anchor()) == []
    again = kind(tmp_path / "log")
    assert again.anchor() == log.anchor()
    again.record({"event": "more"})
    assert again.verify(log.anchor()) == [] and len(again.records()) == 7
    assert kind(tmp_path / "new").anchor() == Anchor(0, "0" * 64) and kind(tmp_path / "new").verify() == []
    assert str(tmp_path) not in repr(log)


@given(st.dictionaries(st.text(max_size=8), json_values | st.floats() | st.integers(-(10**400), 10**400), max_size=4))
@profile(100)
def test_any_event_is_recorded(tmp_path_factory: pytest.TempPathFactory, event: dict[str, Any]) -> None:
    folder = tmp_path_factory.mktemp("any")
    for kind in (AuditLog, AuditDatabase):
        log = filled(kind, folder / kind.__name__, [event, {"object": object(), "again": event}])
        assert (
            log.verify() == [] and kind(folder / kind.__name__).verify(log.anchor()) == [] and len(log.records()) == 2
        )


def deepest() -> dict[str, Any]:
    """As deep and as long as a record may be: the last levels are in the hash like the first."""
    value: Any = "leaf"
    for _ in range(38):
        value = [value]
    return {"deep": value, "many": list(range(10_001))}


@pytest.mark.parametrize(("old", "new"), [("leaf", "LEAF"), ("more items", "MORE items"), ("9999", "9998")])
def test_nothing_in_a_record_is_outside_its_hash(old: str, new: str, tmp_path: Path) -> None:
    path = tmp_path / "log"
    filled(AuditLog, path, [deepest()])
    text = path.read_text(encoding="utf-8")
    assert AuditLog(path).verify() == [] and text.count(old) == 1
    path.write_text(text.replace(old, new), encoding="utf-8")
    assert AuditLog(path).verify()


# --- tampering -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, bytes, Anchor]:
    path = tmp_path_factory.mktemp("written") / "log"
    log = filled(AuditLog, path)
    return path, path.read_bytes(), log.anchor()


@given(data=st.data())
@profile(300)
def test_any_single_edit_of_the_file_is_found(written: tuple[Path, bytes, Anchor], data: st.DataObject) -> None:
    path, good, anchor = written
    place = data.draw(st.integers(0, len(good) - 1))
    piece = data.draw(
        st.binary(min_size=1, max_size=3) | st.sampled_from([b" ", b"\n", b"0", b"1", b'"', b"\\u0061", b"\xff"])
    )
    kind = data.draw(st.sampled_from(["change", "delete", "insert"]))
    cut = 0 if kind == "insert" else data.draw(st.integers(1, 3)) if kind == "delete" else len(piece)
    bad = good[:place] + (b"" if kind == "delete" else piece) + good[place + cut :]
    assume(bad != good and bad != good[:-1])  # the very last end of a line says nothing
    path.write_bytes(bad)
    assert AuditLog(path).verify(anchor), (kind, place, piece)


@pytest.mark.parametrize("number", range(6))
def test_lines_removed_swapped_repeated_or_added(written: tuple[Path, bytes, Anchor], number: int) -> None:
    path, good, anchor = written
    lines = good.splitlines(keepends=True)
    forged = json.dumps(chained(number + 1, json.loads(lines[number])["before"], {"event": "forged"})).encode() + b"\n"
    for bad in [
        lines[:number] + lines[number + 1 :],
        lines[:number] + [lines[number]] * 2 + lines[number + 1 :],
        [*lines[:number], forged, *lines[number:]],
        [*lines[:number], forged, *lines[number + 1 :]],
        [*lines[:number], b"\n", *lines[number:]],
        *([[*lines[:number], lines[number + 1], lines[number], *lines[number + 2 :]]] if number < 5 else []),
        lines[:number],
    ]:
        path.write_bytes(b"".join(bad))
        assert AuditLog(path).verify(anchor)
    path.write_bytes(b"".join(lines[:number]))
    assert AuditLog(path).verify() == []  # what the chain alone cannot show, and why there is an anchor


def test_a_log_that_was_written_anew_is_told_from_the_first_by_its_anchor(tmp_path: Path) -> None:
    old = filled(AuditLog, tmp_path / "a").anchor()
    new = filled(AuditLog, tmp_path / "b", [{"event": "other"}] * 9)
    assert new.verify() == [] and [problem.record for problem in new.verify(old)] == [6]


@pytest.mark.parametrize(
    ("edit", "record"),
    [
        (lambda found: found[2]["event"].update(n=99), 3),
        (lambda found: found.pop(1), 2),
        (lambda found: found.insert(3, dict(found[2])), 4),
        (lambda found: found.__setitem__(slice(0, 2), [found[1], found[0]]), 1),
        (lambda found: found[4].update(hash="0" * 64), 5),
        (lambda found: found[4].update(hash=None), 5),
        (lambda found: found[0].update(number=True), 1),
        (lambda found: found[5].update(extra=1), 6),
    ],
)
def test_the_first_broken_record_is_named(edit: Any, record: int) -> None:
    found: list[dict[str, Any]] = []
    before = "0" * 64
    for number, event in enumerate(EVENTS, 1):
        found.append(chained(number, before, dict(event)))
        before = found[-1]["hash"]
    assert problems_of(found) == []
    assert [each.record for each in problems_of([chained(2, "0" * 64, {})])] == [1]  # well made, with a wrong number
    edit(found)
    assert [problem.record for problem in problems_of(found)] == [record]


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE audit SET event = replace(event, '1.5', '2.5') WHERE number = 3", "UPDATE audit SET hash = 'x' WHERE number = 2",
        "DELETE FROM audit WHERE number = 4", "DELETE FROM audit WHERE number = 6", "UPDATE audit SET number = 70 WHERE number = 6",
        "UPDATE audit SET number = 0 WHERE number = 1", "UPDATE audit SET event = ' ' || event WHERE number = 2",
        "UPDATE audit SET event = x'ff00' WHERE number = 2", "UPDATE audit SET event = '[[[' WHERE number = 2", "UPDATE audit SET hash = x'00'",
        "INSERT INTO audit SELECT 7, before, event, hash FROM audit WHERE number = 3", "UPDATE audit SET event = 5 WHERE number = 5",
        "UPDATE audit SET before = 'x' WHERE number = 1", "DELETE FROM audit", "REPLACE INTO audit SELECT 3, before, '{}', hash FROM audit WHERE number = 3",
    ],
)  # fmt: skip
def test_a_tampered_table_is_found(sql: str, tmp_path: Path) -> None:
    log = filled(AuditDatabase, tmp_path / "log")
    anchor = log.anchor()
    other = sqlite3.connect(tmp_path / "log")
    if not sql.startswith(("INSERT", "REPLACE")):
        with pytest.raises(sqlite3.IntegrityError, match="only grows"):
            other.execute(sql)
        other.rollback()
    other.execute("DROP TRIGGER audit_keeps")
    other.execute("DROP TRIGGER audit_stays")
    other.execute(sql)
    other.commit()
    other.close()
    assert log.verify(anchor) and AuditDatabase(tmp_path / "log").verify(anchor)
    if "x'ff00'" not in sql and "hash = x" not in sql:
        log.record({"event": "after"})  # writing goes on, the break stays visible
        assert log.verify(anchor)


# --- faults ----------------------------------------------------------------------------------------------------------


@BOTH
def test_many_threads_write_one_chain(kind: Any, tmp_path: Path) -> None:
    log = kind(tmp_path / "log")

    def write(who: int) -> None:
        for n in range(15):
            log.record({"event": "x", "who": who, "n": n})

    threads = [threading.Thread(target=write, args=(who,)) for who in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    found = log.records()
    assert len(found) == 90 and log.verify() == [] and log.anchor().records == 90
    for who in range(6):
        assert [each["event"]["n"] for each in found if each["event"]["who"] == who] == list(range(15))


@BOTH
def test_a_second_log_on_the_same_file_goes_on_with_the_chain(kind: Any, tmp_path: Path) -> None:
    one, two = kind(tmp_path / "log"), kind(tmp_path / "log")  # a cell that was run twice
    for log in (one, two, two, one, two):
        log.record({"event": "x"})
    assert one.verify() == [] and len(two.records()) == 5


def test_a_log_that_became_shorter_is_not_begun_anew(tmp_path: Path) -> None:
    path = tmp_path / "log"
    log = filled(AuditLog, path)
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:2]))
    log.record({"event": "after"})
    assert log.verify()
    path.unlink()
    log.record({"event": "after"})
    assert log.verify()


@pytest.mark.parametrize("cut", [1, 2, 30, 100])
def test_a_crash_in_the_middle_of_a_line(cut: int, tmp_path: Path) -> None:
    path = tmp_path / "log"
    anchor = filled(AuditLog, path).anchor()
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:5]) + lines[5][:-cut])
    log = AuditLog(path)
    complete = 6 if cut == 1 else 5
    assert len(log.records()) == complete
    assert [problem.record for problem in log.verify()] == ([] if cut == 1 else [6])
    log.record({"event": "after the crash"})
    log.record({"event": "and on"})
    assert len(log.records()) == complete + 2
    if cut == 1:
        assert log.verify(anchor) == []
        return
    problems = AuditLog(path).verify()
    assert [problem.record for problem in problems] == [6] and "stopped while it was written" in problems[0].message
    assert lines[5][:-cut] + b"\n" in path.read_bytes()  # what the crash left is kept
    assert log.verify(anchor)[1:]  # and a record that an anchor names is missing


def test_bytes_cut_inside_a_letter(tmp_path: Path) -> None:
    path = tmp_path / "log"
    filled(AuditLog, path)
    data = path.read_bytes()
    path.write_bytes(data[: data.rindex("한".encode()) + 1])
    log = AuditLog(path)
    assert len(log.verify()) == 1
    log.record({"event": "x"})
    assert len(log.records()) == 6


@pytest.mark.parametrize(
    "last",
    [
        b"[" * 100_000,
        b'{"number":1,"before":"","event":{},"hash":5}',
        b'{"number":"x","before":0,"event":0,"hash":0}',
        b"\x00" * 50,
        b"1" * 5000,
    ],
)
def test_a_strange_last_line_stops_nobody(last: bytes, tmp_path: Path) -> None:
    path = tmp_path / "log"
    filled(AuditLog, path)
    with path.open("ab") as file:
        file.write(last + b"\n")
    log = AuditLog(path)
    log.record({"event": "x"})
    assert log.verify() and log.records()[-1]["event"] == {"event": "x"}


@pytest.mark.parametrize("function", ["fsync", "write"])
def test_a_full_disk_leaves_the_log_as_it_was(function: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "log"
    log = filled(AuditLog, path)
    before, anchor = path.read_bytes(), log.anchor()

    def full(*_: Any) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(*((os, "fsync", full) if function == "fsync" else ("agentkit.safety.audit._write_all", full)))
    with pytest.raises(OSError, match="No space"):
        log.record({"event": "lost"})
    monkeypatch.undo()
    assert path.read_bytes() == before and log.anchor() == anchor
    log.record({"event": "later"})
    assert log.verify(anchor) == [] and len(log.records()) == 7


LIMITED = """
import resource, signal, sys
from agentkit.safety import AuditLog
log = AuditLog(sys.argv[1])
log.record({"event": "first"})
size = len(open(sys.argv[1], "rb").read())
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (size + 40, resource.RLIM_INFINITY))
try:
    log.record({"event": "second"})
    print("written")
except OSError:
    print("refused", len(open(sys.argv[1], "rb").read()) == size)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
log.record({"event": "third"})
print(log.verify(), len(log.records()))
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows has no limit on the size of a file")
def test_a_disk_that_takes_half_a_line(tmp_path: Path) -> None:
    assert python(LIMITED, str(tmp_path / "log")).split("\n")[:2] == ["refused True", "[] 2"]


@BOTH
def test_a_place_that_cannot_be_written_is_an_os_error(kind: Any, tmp_path: Path) -> None:
    with pytest.raises(OSError):
        log = kind(tmp_path / "no folder" / "log")
        log.record({"event": "x"})
    (tmp_path / "text").write_bytes(b"this is no database, and no log either" * 40)
    if kind is AuditDatabase:
        with pytest.raises(OSError, match="Check the disk"):
            kind(tmp_path / "text")


def test_a_commit_that_fails_does_not_stop_the_next(tmp_path: Path) -> None:
    log = AuditDatabase(tmp_path / "log", seconds=0.01)
    log.record({"event": "one"})
    reader = sqlite3.connect(tmp_path / "log", isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM audit").fetchone()
    with pytest.raises(OSError, match="locked"):
        log.record({"event": "two"})
    reader.execute("COMMIT")
    reader.close()
    log.record({"event": "three"})
    assert log.verify() == [] and len(log.records()) == 2


def test_the_registry_runs_nothing_that_the_log_did_not_take(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []

    @tool(permission="write")
    def save(text: str) -> str:
        """Save."""
        done.append(text)
        return "saved"

    log = AuditLog(tmp_path / "log")
    registry = Registry([save], audit=log)
    broken: Iterator[bool] = itertools.chain([True, True, False], itertools.repeat(False))
    real = os.fsync
    monkeypatch.setattr(
        os, "fsync", lambda handle: (_ for _ in ()).throw(OSError(28, "full")) if next(broken) else real(handle)
    )
    codes = [
        getattr(registry.call(ToolCall("save", {"text": "x"}, f"c{n}"), run_id="r").error, "code", "ok")
        for n in range(2)
    ]
    assert codes == ["not_reserved", "ok"] and done == ["x"] and log.verify() == []
    assert [found["event"]["event"] for found in log.records()][-2:] == ["reserved", "answered"]
