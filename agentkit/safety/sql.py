"""SQL that can only read, whatever it says.

A statement cannot be judged by its words: ``WITH x AS (SELECT 1) DELETE FROM t`` begins like a question. So SQLite itself is
asked, for each thing that a statement wants to do (its *authorizer*), on a connection that was opened for reading.
"""

from __future__ import annotations

import os
import re
import sqlite3
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, Final

from agentkit._jsonsafe import json_safe
from agentkit.errors import DefinitionError, ToolError

# Functions that compute, and none that can make a value of any size from a small number.
FUNCTIONS: Final = frozenset(
    "abs avg char coalesce count date datetime dense_rank first_value glob group_concat hex ifnull iif instr json_array_length"
    " json_extract json_type json_valid julianday lag last_value lead length like lower ltrim max min nth_value ntile"
    " nullif quote rank replace round row_number rtrim sign strftime string_agg substr substring sum time total trim typeof"
    " unicode unixepoch upper".split()
)
PRAGMAS: Final = frozenset({"table_info", "table_list", "table_xinfo", "index_list", "index_info", "foreign_key_list"})
STEPS: Final = 1_000  # instructions of SQLite's machine between two looks at the clock


class ReadOnlyDatabase:
    """A SQLite file that can be asked, never changed.

    Each query gets a connection of its own, opened with ``mode=ro`` and ``query_only``, an authorizer that lets through nothing
    but reading, and limits: one statement, rows, the size of a value and of the whole answer, and time. With ``tables`` nothing
    is told about any other table, not even how many rows it has.

    Args:
        path: the database file.
        tables: for each table that may be read its columns, or None for all of its columns; None means every table.
        max_rows: rows that are returned; more are told by ``more``.
        seconds: how long one query may take.
        max_text: bytes that a value may have, and that the SQL may have; an answer ends at ten times as many characters.
        clock: seconds from any start; injected in tests.

    Raises:
        DefinitionError: there is no such file.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        tables: Mapping[str, Collection[str] | None] | None = None,
        max_rows: int = 100,
        seconds: float = 1.0,
        max_text: int = 20_000,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.path = Path(path)
        if not self.path.is_file():
            raise DefinitionError(f"There is no database file {self.path.name!r}. Check the path.")
        self._tables = None if tables is None else {name.casefold(): columns for name, columns in tables.items()}
        self._max_rows, self._seconds, self._max_text, self._clock = max_rows, seconds, max_text, clock

    def query(self, sql: str, parameters: Sequence[Any] | Mapping[str, Any] = ()) -> dict[str, Any]:
        """Run one reading statement.

        Returns:
            ``columns`` (names), ``rows`` (lists of values that JSON can carry) and ``more`` (whether there were more rows).

        Raises:
            ToolError: ``not_read_only``, ``bad_sql``, ``too_slow``, ``too_large``, or ``unavailable`` (a locked or damaged
                file).
        """
        started = self._clock()
        uri = f"{self.path.resolve().as_uri()}?mode=ro"
        try:
            with closing(sqlite3.connect(uri, uri=True, timeout=self._seconds)) as connection:
                connection.execute("PRAGMA query_only = ON")
                connection.enable_load_extension(False) if hasattr(connection, "enable_load_extension") else None
                connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, max(self._max_text, 1_000))
                connection.set_progress_handler(lambda: int(self._clock() - started > self._seconds), STEPS)
                connection.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, max(self._max_text, 1_000))
                connection.text_factory = _text
                real = {row[0].casefold() for row in connection.execute("SELECT name FROM sqlite_master")}
                connection.set_authorizer(partial(self._authorize, real))
                cursor = connection.execute(sql, parameters)
                rows, more = self._fetched(cursor)
                names = [column[0] for column in cursor.description or ()]
        except (sqlite3.Error, sqlite3.Warning, ValueError, TypeError, OverflowError) as error:
            raise _explained(error, self._seconds) from None
        if not names:
            raise ToolError("This SQL asks for nothing.", code="bad_sql", hint="Write one SELECT statement.")
        return {"columns": names, "rows": rows, "more": more}

    def _fetched(self, cursor: sqlite3.Cursor) -> tuple[list[list[Any]], bool]:
        """The first rows, and whether there are more. Never by an edit of the SQL: a comment could hide it."""
        rows: list[list[Any]] = []
        left = 10 * self._max_text
        for row in cursor:
            if len(rows) >= self._max_rows or left <= 0:
                return rows, True
            rows.append([_cell(value) for value in row])
            left -= sum(len(value) for value in rows[-1] if isinstance(value, str))
        return rows, False

    def _authorize(
        self,
        real: Collection[str],
        action: int,
        first: str | None,
        second: str | None,
        _base: str | None,
        _by: str | None,
    ) -> int:
        if action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE):
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_READ:
            return self._may_read(first or "", second or "", real)
        if action == sqlite3.SQLITE_FUNCTION:
            return sqlite3.SQLITE_OK if (second or "").casefold() in FUNCTIONS else sqlite3.SQLITE_DENY
        if action == sqlite3.SQLITE_PRAGMA and (first or "").casefold() in PRAGMAS and self._may_list(second or ""):
            return sqlite3.SQLITE_OK
        return sqlite3.SQLITE_DENY

    def _may_list(self, table: str) -> bool:
        """Whether the names of all columns of a table (an empty text: of all tables) may be told."""
        return self._tables is None or (table.casefold() in self._tables and self._tables[table.casefold()] is None)

    def _may_read(self, table: str, column: str, real: Collection[str]) -> int:
        folded = table.casefold()
        if self._tables is None:
            return sqlite3.SQLITE_OK
        if folded not in self._tables:
            # count(*) reads no column. Then the table may be a subquery, whose own tables are asked about elsewhere.
            hidden = column or folded in real or folded.startswith(("sqlite_", "pragma_"))
            return sqlite3.SQLITE_DENY if hidden else sqlite3.SQLITE_OK
        if not column:
            return sqlite3.SQLITE_OK
        columns = self._tables[folded]
        allowed = columns is None or column.casefold() in {name.casefold() for name in columns}
        return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY

    def __repr__(self) -> str:
        return f"ReadOnlyDatabase({self.path.name!r})"


def _explained(error: Exception, seconds: float) -> ToolError:
    """SQLite's complaint in our own words: its own change with its version."""
    text, name = str(error), getattr(error, "sqlite_errorname", "")
    if name in ("SQLITE_AUTH", "SQLITE_READONLY") or re.match(r"not authorized|access to .* is prohibited", text):
        return ToolError(
            "This SQL may only read, and only what it is allowed to.", code="not_read_only", hint="Write one SELECT."
        )
    if name == "SQLITE_INTERRUPT":
        return ToolError(f"The query took longer than {seconds:g} s.", code="too_slow", hint="Make it simpler.")
    if name.startswith(("SQLITE_BUSY", "SQLITE_NOTADB", "SQLITE_CORRUPT", "SQLITE_CANTOPEN", "SQLITE_IOERR")):
        return ToolError("The database cannot be read just now.", code="unavailable", hint="Tell the user.")
    if name == "SQLITE_TOOBIG" or "too large" in text:
        return ToolError("A value in this query is too long.", code="too_large", hint="Make it simpler.")
    if "one statement at a time" in text:
        return ToolError("Only one SQL statement can be run.", code="bad_sql", hint="Leave out all but the first.")
    if found := re.match(r"no such (table|column|function): (\S+)", text):
        return ToolError(
            f"There is no {found[1]} {found[2][:60]!r}.", code="bad_sql", hint="Look at the list of tables."
        )
    if found := re.match(r'near "(.*?)": syntax error', text, re.DOTALL):
        return ToolError(
            f"This is not valid SQL near {found[1][:60]!r}.", code="bad_sql", hint="Write one SELECT statement."
        )
    return ToolError("This SQL cannot be run.", code="bad_sql", hint="Write one SELECT statement.")


def _cell(value: Any) -> Any:
    return value.hex() if isinstance(value, bytes) else json_safe(value)


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")
