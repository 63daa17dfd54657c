"""The databases of the world `orders`: private copies in memory, and queries that can only read.

A query that claims to read cannot be trusted by its words: ``WITH x AS (…) DELETE`` begins like a reading one. So
nobody looks at the words here. SQLite itself is asked, for each thing a statement wants to do (its *authorizer*), and
only reading the listed tables is allowed. The query also runs on a throw-away copy, with writing switched off.
"""

from __future__ import annotations

import math
import re
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from agentkit.errors import ToolError

DATA: Final = Path(__file__).parent / "data"

READABLE: Final[Mapping[str, tuple[str, ...]]] = {
    "orders": ("order_id", "customer_id", "product", "category", "amount", "currency", "status", "ordered_on"),
    "shipments": (
        "order_id", "carrier", "tracking_number", "priority", "status", "location", "shipped_on", "expected_on",
        "delivered_on",
    ),
    "refunds": ("refund_id", "order_id", "amount", "refunded_on"),
    "refund_policy": ("category", "refundable", "window_days"),
    "customers": ("customer_id", "joined_on"),
}  # fmt: skip
TABLES: Final = "; ".join(f"{table}({', '.join(names)})" for table, names in READABLE.items())
ROW_LIMIT: Final = 50
# A step is one instruction of SQLite's machine. Counting them, not seconds, gives the same answer on every computer.
STEP_LIMIT: Final = 2_000_000
TEXT_LIMIT: Final = 20_000

_FUNCTIONS: Final = {
    "abs", "avg", "coalesce", "count", "date", "glob", "group_concat", "ifnull", "iif", "instr", "julianday",
    "length", "like", "lower", "max", "min", "nullif", "rank", "replace", "round", "row_number", "strftime", "substr",
    "substring", "sum", "total", "trim", "typeof", "upper",
}  # fmt: skip


def open_copy(name: str) -> sqlite3.Connection:
    """A private copy in memory of ``production`` or ``staging``; the file itself is only ever opened for reading."""
    path = DATA / f"{name}.sqlite"
    source = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)
    try:
        return _copy(source)
    finally:
        source.close()


def _copy(source: sqlite3.Connection) -> sqlite3.Connection:
    # Tools may be called from several threads; the desk holds a lock around each use.
    target = sqlite3.connect(":memory:", check_same_thread=False)
    source.backup(target)
    return target


def read_rows(source: sqlite3.Connection, sql: str) -> dict[str, Any]:
    """Run one reading SQL statement on a copy of ``source``.

    Returns:
        ``columns`` (names), ``rows`` (a list of lists, at most `ROW_LIMIT`), ``row_count`` (how many of them) and
        ``more`` (whether there were more).

    Raises:
        ToolError: the statement is not allowed (``not_allowed``), cannot be understood (``bad_sql``), or needs too much
            work (``too_much_work``).
    """
    connection = _copy(source)
    try:
        lock_down(connection)
        cursor = connection.execute(sql)
        rows = cursor.fetchmany(ROW_LIMIT + 1)
        names = [column[0] for column in cursor.description or ()]
    except (sqlite3.Error, sqlite3.Warning, ValueError) as error:
        raise _explain(error) from None
    finally:
        connection.close()
    if not names:
        raise ToolError("This SQL is empty.", code="bad_sql", hint="Write one SELECT statement.")
    shown = [[_cell(value) for value in row] for row in rows[:ROW_LIMIT]]
    return {"columns": names, "rows": shown, "row_count": len(shown), "more": len(rows) > ROW_LIMIT}


def lock_down(connection: sqlite3.Connection) -> None:
    """Leave a connection nothing but reading, with limits on its work."""
    connection.execute("PRAGMA query_only = ON")
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, TEXT_LIMIT)
    # The handler is called once, after STEP_LIMIT steps; a true answer ends the query.
    connection.set_progress_handler(lambda: 1, STEP_LIMIT)
    connection.set_authorizer(_authorize)


def _authorize(action: int, first: str | None, second: str | None, _database: str | None, _inside: str | None) -> int:
    if action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE):
        return sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_READ and first is not None:
        # The column is empty when none is read, as in count(*); the table may then be the name of a subquery.
        return sqlite3.SQLITE_OK if not second or second in READABLE.get(first.casefold(), ()) else sqlite3.SQLITE_DENY
    if action == sqlite3.SQLITE_FUNCTION and (second or "").casefold() in _FUNCTIONS:
        return sqlite3.SQLITE_OK
    return sqlite3.SQLITE_DENY


def _explain(error: Exception) -> ToolError:
    """SQLite's complaint in our own words: its own change with its version."""
    text, name = str(error), getattr(error, "sqlite_errorname", "")
    if name in ("SQLITE_AUTH", "SQLITE_READONLY") or "prohibited" in text or "not authorized" in text:
        return ToolError(
            "This SQL is not allowed: it may only read, and names and e-mail addresses of customers are private.",
            code="not_allowed",
            hint=f"Readable: {TABLES}.",
        )
    if name == "SQLITE_INTERRUPT":
        return ToolError("This query needs too much work.", code="too_much_work", hint="Make it simpler.")
    if name == "SQLITE_TOOBIG":
        return ToolError("A value in this query is too long.", code="too_much_work", hint="Make it simpler.")
    if "one statement at a time" in text:
        return ToolError("Only one SQL statement can be run.", code="bad_sql", hint="Leave out all but the first.")
    if found := re.match(r"no such (table|column|function): (\S+)", text):
        sentence = f"There is no {found[1]} {found[2]!r}."
    elif found := re.match(r'near "(.*?)": syntax error', text, re.DOTALL):
        sentence = f"This is not valid SQL near {found[1]!r}."
    else:
        sentence = "This SQL cannot be read."
    return ToolError(sentence, code="bad_sql", hint=f"Write one SELECT statement. Readable: {TABLES}.")


def _cell(value: Any) -> Any:
    """A value that JSON can carry: bytes become hexadecimal text, and infinity its name."""
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value
