"""The audit log: what was let through and what not, in an order that cannot be changed unseen.

Each record holds the hash of the one before, so that a change, a removal, an insertion or another order breaks the chain at
that place (Haber and Stornetta 1991, "How to Time-Stamp a Digital Document"). A chain alone does not show that its end was cut
off. For that keep the `Anchor` of the last record somewhere else.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from agentkit._jsonsafe import dumps, json_safe
from agentkit._redact import mask
from agentkit.safety.personal import mask_personal

START = "0" * 64
"""What stands in the place of "the one before" in the first record."""


@dataclass(frozen=True, slots=True)
class Anchor:
    """Where a log stood: how many records, and the hash of the last one. Keep it where the log is not."""

    records: int
    hash: str


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong with a log: the number of the record (the first is 1), and a sentence."""

    record: int
    message: str


class Audit(Protocol):
    """What both logs can do."""

    def record(self, event: Mapping[str, Any]) -> None: ...
    def records(self) -> list[dict[str, Any]]: ...
    def anchor(self) -> Anchor: ...
    def verify(self, anchor: Anchor | None = None) -> list[Problem]: ...


def chained(number: int, before: str, event: Mapping[str, Any]) -> dict[str, Any]:
    """An event as the record that follows the one with the hash ``before``; secrets and personal data are masked."""
    safe = mask_personal(mask(json_safe(dict(event))))
    body = {"number": number, "before": before, "event": safe}
    return {**body, "hash": hash_of(body)}


def hash_of(body: Mapping[str, Any]) -> str:
    """SHA-256 over the canonical JSON of a record without its own hash; an empty text for what is no JSON.

    Nothing is made safe or shortened first: what is not in the hash could be changed unseen.
    """
    plain = {key: value for key, value in body.items() if key != "hash"}
    try:
        text = json.dumps(plain, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):
        return ""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def problems_of(records: Iterable[Mapping[str, Any]], anchor: Anchor | None = None) -> list[Problem]:
    """The first break of the chain, and an end that is missing according to the anchor; empty when all is well."""
    before, count = START, 0
    for count, found in enumerate(records, 1):
        if found.get("hash") != hash_of(found):
            return [Problem(count, f"Record {count} was changed after it was written.")]
        if found.get("before") != before or found.get("number") != count:
            return [
                Problem(
                    count, f"Record {count} does not follow the one before it: something was removed, added or moved."
                )
            ]
        before = str(found["hash"])
        if anchor is not None and count == anchor.records and before != anchor.hash:
            return [Problem(count, f"Record {count} is not the one that the anchor names: the log was written anew.")]
    if anchor is not None and count < anchor.records:
        return [Problem(count + 1, f"The log ends after record {count}, but the anchor names record {anchor.records}.")]
    return []


class AuditLog:
    """An audit log as a JSON Lines file: one record a line, each on the disk before `record` returns.

    One process writes at a time (for several there is `AuditDatabase`). A line that a crash left unfinished is kept, told by
    `verify`, and writing goes on after it.

    Args:
        path: the file; it is made when it is not there.

    Raises:
        OSError: the file cannot be read or written.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._lock = threading.Lock()
        self._size = 0
        self._last = self._end()

    def record(self, event: Mapping[str, Any]) -> None:
        """Append one event. Raises OSError when it cannot be written; then the log is as it was."""
        with self._lock, self.path.open("a+b", buffering=0) as file:
            size = file.seek(0, os.SEEK_END)
            if size > self._size:  # another log on the same file; in one that became shorter the chain has to break
                self._last = self._end()
            made = chained(self._last.records + 1, self._last.hash, event)
            lead = b"" if size == 0 or _ends_line(file, size) else b"\n"  # a crash left half a line: start a new one
            try:
                self._size = size + _write_all(file, lead + _line(made) + b"\n")
                os.fsync(file.fileno())
            except OSError:
                self._size = size
                file.truncate(size)
                raise
            self._last = Anchor(made["number"], made["hash"])

    def records(self) -> list[dict[str, Any]]:
        """All complete records, the oldest first."""
        return [found for found in map(_parsed, self._lines()) if found is not None]

    def anchor(self) -> Anchor:
        """Where the log stands now."""
        return self._last

    def verify(self, anchor: Anchor | None = None) -> list[Problem]:
        """What is wrong with the log; an empty list when nothing is."""
        lines = self._lines()
        found = [_parsed(line) for line in lines]
        torn = [
            Problem(place, f"Line {place} is not a complete record: the program stopped while it was written.")
            for place, record in enumerate(found, 1)
            if record is None
        ]
        edited = [
            Problem(place, f"Line {place} is not written as the log writes it: somebody has edited it.")
            for place, (line, record) in enumerate(zip(lines, found, strict=True), 1)
            if record is not None and _line(record) != line
        ]
        return torn + (problems_of([record for record in found if record is not None], anchor) or edited)

    def _lines(self) -> list[bytes]:
        """The lines, without what is after the last end of a line when that is nothing."""
        try:
            lines = self.path.read_bytes().split(b"\n")
        except FileNotFoundError:
            return []
        return lines if lines[-1] else lines[:-1]

    def _end(self) -> Anchor:
        self._size = self.path.stat().st_size if self.path.exists() else 0
        return _anchor_of(self.records())

    def __repr__(self) -> str:
        return f"AuditLog({self._last.records} records)"


class AuditDatabase:
    """An audit log as a SQLite table that refuses changes; several processes may write to it.

    The refusal is a trigger, which keeps an honest program from a mistake. Somebody who can write the file can drop it; the
    chain shows it.

    Args:
        path: the file; it is made when it is not there.
        seconds: how long to wait for another process that is writing.

    Raises:
        OSError: the file cannot be opened, read or written.
    """

    def __init__(self, path: str | os.PathLike[str], *, seconds: float = 5.0) -> None:
        self.path = Path(path)
        self._lock = threading.Lock()
        with _as_os_error():
            self._connection = sqlite3.connect(
                self.path, timeout=seconds, isolation_level=None, check_same_thread=False
            )
            try:
                self._connection.execute("PRAGMA synchronous = FULL")
                self._connection.executescript(_TABLE)
            except sqlite3.Error:
                self._connection.close()
                raise

    def record(self, event: Mapping[str, Any]) -> None:
        """Append one event in one transaction. Raises OSError when it cannot be written."""
        with self._lock, _as_os_error():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                row = self._connection.execute("SELECT number, hash FROM audit ORDER BY number DESC LIMIT 1").fetchone()
                number, before = row or (0, START)
                made = chained(number + 1, before, event)
                values = (made["number"], made["before"], dumps(made["event"]), made["hash"])
                self._connection.execute("INSERT INTO audit VALUES (?, ?, ?, ?)", values)
                self._connection.execute("COMMIT")
            except BaseException:  # also a COMMIT can fail, while another process reads
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def records(self) -> list[dict[str, Any]]:
        """All records, the oldest first."""
        with self._lock, _as_os_error():
            rows = self._connection.execute("SELECT number, before, event, hash FROM audit ORDER BY number").fetchall()
        return [{"number": row[0], "before": row[1], "event": _event(row[2]), "hash": row[3]} for row in rows]

    def anchor(self) -> Anchor:
        """Where the log stands now."""
        return _anchor_of(self.records())

    def verify(self, anchor: Anchor | None = None) -> list[Problem]:
        """What is wrong with the log; an empty list when nothing is."""
        return problems_of(self.records(), anchor)

    def close(self) -> None:
        """Close the file. Nothing is lost without it."""
        with self._lock:
            self._connection.close()

    def __repr__(self) -> str:
        return f"AuditDatabase({self.path.name})"


_TABLE = """
CREATE TABLE IF NOT EXISTS audit (number INTEGER PRIMARY KEY, before TEXT NOT NULL, event TEXT NOT NULL, hash TEXT NOT NULL);
CREATE TRIGGER IF NOT EXISTS audit_keeps BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'the audit log only grows'); END;
CREATE TRIGGER IF NOT EXISTS audit_stays BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'the audit log only grows'); END;
"""


def _event(text: Any) -> Any:
    try:
        event = json.loads(text)
        return event if dumps(event) == text else text
    except (ValueError, TypeError, RecursionError):  # somebody has written into it; the chain will tell
        return text


def _anchor_of(records: Sequence[Mapping[str, Any]]) -> Anchor:
    if not records:
        return Anchor(0, START)
    number = records[-1]["number"]
    return Anchor(number if type(number) is int else len(records), str(records[-1]["hash"]))


def _line(record: Mapping[str, Any]) -> bytes:
    return dumps(record).encode("utf-8", "surrogatepass")


def _write_all(file: Any, data: bytes) -> int:
    """Write to an unbuffered file. A full disk takes a part and refuses the rest; a buffer would keep that part for later."""
    left = memoryview(data)
    while left:
        left = left[file.write(left) :]
    return len(data)


def _ends_line(file: Any, size: int) -> bool:
    file.seek(size - 1)
    return bool(file.read(1) == b"\n")


def _parsed(line: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and {"number", "before", "event", "hash"} <= set(found) else None


@contextmanager
def _as_os_error() -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise OSError(f"The audit log cannot be used: {error}. Check the disk, or give another file.") from error
