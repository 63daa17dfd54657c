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
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from agentkit._jsonsafe import canonical, dumps, json_safe
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
    """SHA-256 over the canonical JSON of a record without its own hash."""
    plain = {key: value for key, value in body.items() if key != "hash"}
    return hashlib.sha256(canonical(plain).encode("utf-8")).hexdigest()


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

    One process writes at a time. A line that a crash left unfinished is kept, told by `verify`, and writing goes on after it.

    Args:
        path: the file; it is made when it is not there.

    Raises:
        OSError: the file cannot be read or written.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._lock = threading.Lock()
        self._last = self._end()

    def record(self, event: Mapping[str, Any]) -> None:
        """Append one event. Raises OSError when it cannot be written; then the log is as it was."""
        with self._lock:
            made = chained(self._last.records + 1, self._last.hash, event)
            with self.path.open("a+b") as file:
                size = file.seek(0, os.SEEK_END)
                lead = (
                    b"" if size == 0 or _ends_line(file, size) else b"\n"
                )  # a crash left half a line: start a new one
                try:
                    file.write(lead + dumps(made).encode("utf-8") + b"\n")
                    file.flush()
                    os.fsync(file.fileno())
                except OSError:
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
        torn = [
            Problem(place, f"Line {place} is not a complete record: the program stopped while it was written.")
            for place, line in enumerate(lines, 1)
            if _parsed(line) is None
        ]
        return torn + problems_of(self.records(), anchor)

    def _lines(self) -> list[str]:
        try:
            text = self.path.read_bytes().decode("utf-8", "replace")
        except FileNotFoundError:
            return []
        return [line for line in text.split("\n") if line]

    def _end(self) -> Anchor:
        found = self.records()
        return Anchor(found[-1]["number"], found[-1]["hash"]) if found else Anchor(0, START)

    def __repr__(self) -> str:
        return f"AuditLog({self._last.records} records)"


class AuditDatabase:
    """An audit log as a SQLite table that refuses changes; several processes may write to it.

    The refusal is a trigger, which keeps an honest program from a mistake. Somebody who can write the file can drop it; the
    chain shows it.

    Args:
        path: the file; it is made when it is not there.

    Raises:
        OSError: the file cannot be opened, read or written.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._lock = threading.Lock()
        with _as_os_error():
            self._connection = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False)
            self._connection.execute("PRAGMA synchronous = FULL")
            self._connection.executescript(_TABLE)

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
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")

    def records(self) -> list[dict[str, Any]]:
        """All records, the oldest first."""
        with self._lock, _as_os_error():
            rows = self._connection.execute("SELECT number, before, event, hash FROM audit ORDER BY number").fetchall()
        return [{"number": row[0], "before": row[1], "event": _event(row[2]), "hash": row[3]} for row in rows]

    def anchor(self) -> Anchor:
        """Where the log stands now."""
        found = self.records()
        return Anchor(found[-1]["number"], found[-1]["hash"]) if found else Anchor(0, START)

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


def _event(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:  # somebody has written into it; the chain will tell
        return text


def _ends_line(file: Any, size: int) -> bool:
    file.seek(size - 1)
    return bool(file.read(1) == b"\n")


def _parsed(line: str) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and {"number", "before", "event", "hash"} <= set(found) else None


@contextmanager
def _as_os_error() -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise OSError(f"The audit log cannot be used: {error}. Check the disk, or give another file.") from error
