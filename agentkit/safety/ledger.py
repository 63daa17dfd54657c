"""Attempts at writes in a SQLite file, so that they outlive the process.

A program can die between "I am about to pay" and "it was paid". The next one finds the attempt reserved and without an
outcome. What happened is then not known, and the registry says so instead of paying again.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from agentkit._jsonsafe import dumps, json_safe
from agentkit._ledger import Attempt, Key
from agentkit.messages import ErrorDetail, ToolResult

_SCHEMA = """
CREATE TABLE IF NOT EXISTS attempts (
  number INTEGER PRIMARY KEY,
  run_id TEXT NOT NULL, tool TEXT NOT NULL, arguments TEXT NOT NULL, call_id TEXT NOT NULL,
  outcome TEXT, late INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX IF NOT EXISTS attempts_by_key ON attempts (run_id, tool, arguments);
"""


class SqliteLedger:
    """Attempts in a file. Several processes may use it at once; each reservation is one transaction on disk.

    Args:
        path: the file; it is made when it is not there.
        seconds: how long to wait for another process that is writing.

    Raises:
        OSError: the file cannot be opened, read or written. The registry then runs nothing that it could not remember.
    """

    def __init__(self, path: str | os.PathLike[str], *, seconds: float = 5.0) -> None:
        self.path = Path(path)
        self._seconds = seconds
        self._lock = threading.Lock()
        with _as_os_error():
            self._connection = sqlite3.connect(
                self.path, timeout=seconds, isolation_level=None, check_same_thread=False
            )
            try:
                self._connection.execute("PRAGMA synchronous = FULL")
                self._connection.executescript(_SCHEMA)
            except sqlite3.Error:
                self._connection.close()
                raise

    def find(self, key: Key, call_id: str) -> Attempt | None:
        """The earlier attempt that this call repeats, or None."""
        with self._transaction() as cursor:
            return _repeated(cursor, key, call_id)

    def reserve(self, key: Key, call_id: str) -> tuple[Attempt, bool]:
        """The attempt for this call, and whether it is new and has to run."""
        with self._transaction() as cursor:
            found = _repeated(cursor, key, call_id)
            if found is not None:
                return found, False
            cursor.execute(
                "INSERT INTO attempts (run_id, tool, arguments, call_id) VALUES (?, ?, ?, ?)",
                tuple(map(_storable, (*key, call_id))),
            )
            return Attempt(call_id, number=cursor.lastrowid or 0), True

    def settle(self, attempt: Attempt, result: ToolResult, *, late: bool = False) -> None:
        """Store the outcome of an attempt. Raises OSError also when the attempt is no longer in the file."""
        with self._transaction() as cursor:
            cursor.execute(
                "UPDATE attempts SET outcome = ?, late = ? WHERE number = ?", (_written(result), late, attempt.number)
            )
            if cursor.rowcount != 1:
                raise OSError("The ledger no longer holds this attempt. Do not change its file by hand.")
        attempt.outcome, attempt.late = result, late

    def in_doubt(self) -> list[dict[str, str]]:
        """The attempts without an outcome: what a person should look into after a crash."""
        with self._transaction() as cursor:
            rows = cursor.execute(
                "SELECT run_id, tool, arguments, call_id FROM attempts WHERE outcome IS NULL ORDER BY number"
            )
            return [dict(zip(("run_id", "tool", "arguments", "call_id"), row, strict=True)) for row in rows]

    def close(self) -> None:
        """Close the file. Nothing is lost without it."""
        with self._lock:
            self._connection.close()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Cursor]:
        with self._lock, _as_os_error():
            cursor = self._connection.cursor()
            cursor.execute("BEGIN IMMEDIATE")
            try:
                yield cursor
                cursor.execute("COMMIT")
            except BaseException:  # also a COMMIT can fail, while another process reads
                if self._connection.in_transaction:
                    cursor.execute("ROLLBACK")
                raise


def _repeated(cursor: sqlite3.Cursor, key: Key, call_id: str) -> Attempt | None:
    row = cursor.execute(
        "SELECT number, call_id, outcome, late FROM attempts WHERE run_id = ? AND tool = ? AND arguments = ?"
        " AND (call_id = ? OR outcome IS NULL OR late) ORDER BY number LIMIT 1",
        tuple(map(_storable, (*key, call_id))),
    ).fetchone()
    if row is None:
        return None
    number, first_id, outcome, late = row
    if late:  # from now on its outcome is known, so the next equal call is a new one
        cursor.execute("UPDATE attempts SET late = 0 WHERE number = ?", (number,))
    return Attempt(first_id, _read(outcome) if outcome else None, False, number)


def _storable(text: str) -> str:
    """The text as SQLite can hold it: half of a surrogate pair, which a model may write, is spelled out."""
    return str(text).encode("utf-8", "backslashreplace").decode("utf-8")


def _written(result: ToolResult) -> str:
    error = result.error
    detail = None if error is None else {"code": error.code, "message": error.message, "hint": error.hint}
    body = {"call_id": result.call_id, "name": result.name, "data": result.data, "error": detail, "note": result.note}
    try:
        text = dumps(
            body
        )  # a result is JSON already, and a second json_safe would cut the deepest level of a large one
        text.encode("utf-8")
    except (TypeError, ValueError, RecursionError):
        return dumps(json_safe(body))
    return text


def _read(text: str) -> ToolResult | None:
    """A stored outcome; None when somebody has damaged it, for then it is not known."""
    try:
        body: dict[str, Any] = json.loads(text)
        error = None if body["error"] is None else ErrorDetail(**body["error"])
        return ToolResult(body["call_id"], body["name"], body["data"], error, body["note"])
    except (ValueError, TypeError, KeyError, RecursionError):
        return None


@contextmanager
def _as_os_error() -> Iterator[None]:
    """SQLite's complaints as OSError, which is what the registry expects of a place to write."""
    try:
        yield
    except sqlite3.Error as error:
        raise OSError(f"The ledger cannot be used: {error}. Check the disk, or give another file.") from error
