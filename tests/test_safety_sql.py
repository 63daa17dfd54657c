"""SQL that only reads: whatever it says, the file stays as it is and nothing hidden is told."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import profile

from agentkit import DefinitionError, ToolError
from agentkit.safety import ReadOnlyDatabase

SETUP = """
CREATE TABLE orders (id INTEGER PRIMARY KEY, item TEXT, amount REAL);
INSERT INTO orders VALUES (1, 'pen', 2.5), (2, 'book', 12.0), (3, 'lamp', NULL);
CREATE TABLE secret (word TEXT);
INSERT INTO secret VALUES ('hunter2'), ('hunter3');
CREATE VIEW seen AS SELECT word FROM secret;
CREATE TABLE big (n INTEGER, "limit" TEXT);
WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT 500) INSERT INTO big SELECT n, 'x' FROM c;
"""


def created(folder: Path) -> Path:
    path = folder / "shop ?#%.sqlite"
    connection = sqlite3.connect(path)
    connection.executescript(SETUP)
    connection.close()
    return path


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return created(tmp_path_factory.mktemp("sql"))


def code(database: ReadOnlyDatabase, sql: Any, parameters: Any = ()) -> str:
    with pytest.raises(ToolError) as caught:
        database.query(sql, parameters)
    assert str(caught.value).endswith(".") and caught.value.hint
    return caught.value.code


def test_a_question_is_answered(path: Path) -> None:
    found = ReadOnlyDatabase(path).query("SELECT item, amount FROM orders WHERE id <= ? ORDER BY id DESC", [2])
    assert found == {"columns": ["item", "amount"], "rows": [["book", 12.0], ["pen", 2.5]], "more": False}
    named = ReadOnlyDatabase(path).query("SELECT upper(item) AS i FROM orders WHERE id = :id -- it", {"id": 3})
    assert named == {"columns": ["i"], "rows": [["LAMP"]], "more": False}
    assert ReadOnlyDatabase(path).query("PRAGMA table_info(secret)")["rows"][0][1] == "word"


WRITES = [
    ("SF04", "WITH x AS (SELECT 1) DELETE FROM orders -- limit"),
    ("SF04", "WITH x AS (SELECT 1) INSERT INTO secret SELECT 'y' FROM x RETURNING word"),
    ("SF04", "/* SELECT */ UPDATE orders SET amount = 0"),
    ("SF04", "REPLACE INTO orders VALUES (1, 'x', 0)"),
    ("SF04", "DROP TABLE orders"), ("SF04", "CREATE TEMP TABLE t (a)"), ("SF04", "CREATE VIEW w AS SELECT 1"),
    ("SF04", "ALTER TABLE orders RENAME TO gone"), ("SF04", "EXPLAIN DELETE FROM orders"),
    ("SF04", "ATTACH 'other.sqlite' AS other"), ("SF04", "VACUUM"), ("SF04", "VACUUM INTO 'copy.sqlite'"),
    ("SF04", "BEGIN"), ("SF04", "COMMIT"), ("SF04", "SAVEPOINT s"), ("SF04", "ANALYZE"), ("SF04", "DETACH main"),
    ("SF06", "PRAGMA journal_mode=DELETE"), ("SF06", "PRAGMA writable_schema=1"), ("SF06", "PRAGMA query_only=OFF"),
    ("SF06", "PRAGMA user_version=7"), ("SF06", "pragma main.journal_mode = wal"), ("SF06", "PRAGMA temp_store_directory='/'"),
    ("SF06", "SELECT * FROM pragma_journal_mode"), ("SF06", "PRAGMA database_list"), ("SF06", "PRAGMA wal_checkpoint(TRUNCATE)"),
    ("functions", "SELECT load_extension('evil')"), ("functions", "SELECT writefile('x', 'y')"),
    ("functions", "SELECT readfile('/etc/passwd')"), ("functions", "SELECT randomblob(1000000000)"),
    ("functions", "SELECT zeroblob(1000000000)"), ("functions", "SELECT printf('%.*c', 999999999, 'x')"),
    ("functions", "SELECT * FROM pragma_database_list"), ("functions", "SELECT fts3_tokenizer('x')"),
]  # fmt: skip


@pytest.mark.parametrize(("row", "sql"), WRITES, ids=[f"{row}-{sql[:24]}" for row, sql in WRITES])
def test_SF04_SF06_nothing_is_changed(
    path: Path, row: str, sql: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    before = path.read_bytes()
    assert code(ReadOnlyDatabase(path), sql) in ("not_read_only", "bad_sql")
    assert path.read_bytes() == before and not list(tmp_path.iterdir())
    assert [found.name for found in path.parent.iterdir()] == [path.name]


def test_SF04_the_connection_alone_refuses_too(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each wall stands by itself: without the authorizer the connection is still one for reading."""
    monkeypatch.setattr(ReadOnlyDatabase, "_authorize", lambda *_: sqlite3.SQLITE_OK)
    assert code(ReadOnlyDatabase(path), "DELETE FROM orders") == "not_read_only"
    assert code(ReadOnlyDatabase(path), "WITH x AS (SELECT 1) UPDATE orders SET amount = 1") == "not_read_only"


def test_SF04_the_file_alone_is_open_for_reading_only(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Forgetful(sqlite3.Connection):
        def execute(self, sql: str, *more: Any) -> sqlite3.Cursor:
            return super().execute("SELECT 1" if "query_only" in sql else sql, *more)

    real = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *given, **more: real(*given, factory=Forgetful, **more))
    monkeypatch.setattr(ReadOnlyDatabase, "_authorize", lambda *_: sqlite3.SQLITE_OK)
    assert code(ReadOnlyDatabase(path), "DELETE FROM orders") == "not_read_only"


@pytest.mark.parametrize(
    "sql", ["SELECT * FROM big -- limit", 'SELECT "limit", n FROM big', "SELECT n FROM big LIMIT 400"]
)
def test_SF07_rows_are_counted_when_they_come_and_not_by_the_text(path: Path, sql: str) -> None:
    found = ReadOnlyDatabase(path, max_rows=5).query(sql)
    assert len(found["rows"]) == 5 and found["more"] is True


def test_exactly_as_many_rows_as_allowed_are_not_more(path: Path) -> None:
    assert ReadOnlyDatabase(path, max_rows=3).query("SELECT id FROM orders")["more"] is False
    assert ReadOnlyDatabase(path, max_rows=2).query("SELECT id FROM orders")["more"] is True


ENDLESS = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT {} FROM c"


def test_a_query_without_end_is_stopped(path: Path) -> None:
    ticks = iter(range(1_000))
    database = ReadOnlyDatabase(path, seconds=3, clock=lambda: next(ticks))
    assert code(database, ENDLESS.format("count(*)")) == "too_slow" and next(ticks) == 5
    assert len(ReadOnlyDatabase(path).query(ENDLESS.format("n"))["rows"]) == 100


def test_an_answer_has_a_largest_size(path: Path) -> None:
    database = ReadOnlyDatabase(path, max_text=1_000)
    wide = ", ".join(["w"] * 20)
    sql = ENDLESS.format(wide).replace(
        "SELECT 1 UNION ALL SELECT n + 1 FROM c", "SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT 90"
    )
    long = "x" * 900
    found = database.query(sql.replace("w", "?1"), [long])
    assert found["more"] is True and len(json.dumps(found)) < 10 * 1_000 + 20 * 1_000
    assert code(database, "SELECT replace(?1, 'x', ?1)", [long]) == "too_large"
    assert code(database, "SELECT " + "1 + " * 400 + "1") in ("too_large", "bad_sql")


FEW = {"orders": ["id", "item"], "big": None}
HIDDEN = [
    "SELECT word FROM secret", "SELECT * FROM seen", "SELECT count(*) FROM secret", "SELECT 1 FROM secret", "SELECT count(*) FROM seen",
    "SELECT amount FROM orders", "SELECT * FROM orders", "SELECT id FROM orders ORDER BY amount", "SELECT id FROM orders WHERE amount > 1",
    "SELECT id FROM orders GROUP BY amount", "SELECT sum(amount) OVER () FROM orders", "SELECT id FROM orders WHERE EXISTS (SELECT 1 FROM secret)",
    "WITH orders AS (SELECT word AS id FROM secret) SELECT id FROM orders", "SELECT name FROM sqlite_master",
    "SELECT count(*) FROM sqlite_schema", "SELECT sql FROM sqlite_temp_master", "PRAGMA table_info(secret)", "PRAGMA table_info(orders)",
    "PRAGMA table_list", "PRAGMA index_list(secret)", "SELECT * FROM pragma_table_info('secret')", "SELECT count(*) FROM SECRET",
    'SELECT "word" FROM main."secret"', "SELECT (SELECT word FROM secret) FROM orders", "SELECT id FROM orders NATURAL JOIN secret",
    "SELECT id FROM orders UNION SELECT word FROM secret", "VALUES ((SELECT word FROM secret))",
]  # fmt: skip


@pytest.mark.parametrize("sql", HIDDEN)
def test_what_is_not_on_the_list_is_not_told(path: Path, sql: str) -> None:
    assert code(ReadOnlyDatabase(path, tables=FEW), sql) in ("not_read_only", "bad_sql")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT id, item FROM orders", "SELECT o.item FROM Orders o JOIN big ON big.n = o.id", "SELECT count(*) FROM orders",
        "SELECT count(*) FROM (SELECT id FROM orders)", "WITH x AS (SELECT id FROM orders) SELECT count(*) FROM x",
        "SELECT * FROM big", "PRAGMA table_info(big)", "SELECT 1",
    ],
)  # fmt: skip
def test_what_is_on_the_list_is(path: Path, sql: str) -> None:
    assert ReadOnlyDatabase(path, tables=FEW).query(sql)["rows"]


def test_every_value_can_be_carried_by_json(path: Path) -> None:
    database = ReadOnlyDatabase(path)
    found = database.query("SELECT 9e999, -9e999, x'00ff', cast(x'ff41' AS TEXT), NULL, 7, 'é'")
    assert found["rows"] == [["Infinity", "-Infinity", "00ff", "�A", None, 7, "é"]]
    json.dumps(found, allow_nan=False).encode("utf-8")


@pytest.mark.parametrize(
    ("sql", "parameters", "expected", "word"),
    [
        ("SELECT colour FROM orders", (), "bad_sql", "no column 'colour'"),
        ("SELECT prohibited FROM orders", (), "bad_sql", "no column 'prohibited'"),
        ("SELECT 1 FROM nowhere", (), "bad_sql", "no table 'nowhere'"),
        ("SELEC 1", (), "bad_sql", "near 'SELEC'"),
        ("SELECT 1; SELECT 2", (), "bad_sql", "Only one"),
        ("", (), "bad_sql", "asks for nothing"),
        (" ; -- x", (), "bad_sql", ""),
        ("SELECT ?", (), "bad_sql", ""),
        ("SELECT ?", (2**70,), "too_large", ""),
        ("SELECT ?", (object(),), "bad_sql", ""),
        ("SELECT :a", {"b": 1}, "bad_sql", ""),
        ("SELECT '\ud800'", (), "bad_sql", ""),
        ("SELECT 1\x00", (), "bad_sql", ""),
        (5, (), "bad_sql", ""),
        ("SELECT 1 FROM " + "n" * 500, (), "bad_sql", "no table"),
    ],
)
def test_what_is_wrong_is_told_in_our_words(path: Path, sql: Any, parameters: Any, expected: str, word: str) -> None:
    with pytest.raises(ToolError) as caught:
        ReadOnlyDatabase(path).query(sql, parameters)
    assert caught.value.code == expected and word in str(caught.value) and len(str(caught.value)) < 200


def test_a_locked_damaged_or_missing_file(tmp_path: Path) -> None:
    path = created(tmp_path)
    other = sqlite3.connect(path)
    other.execute("BEGIN EXCLUSIVE")
    assert code(ReadOnlyDatabase(path, seconds=0.01), "SELECT * FROM orders") == "unavailable"
    other.close()
    path.write_bytes(b"not a database at all" * 100)
    assert code(ReadOnlyDatabase(path), "SELECT 1 FROM orders") == "unavailable"
    with pytest.raises(DefinitionError, match="Check the path"):
        ReadOnlyDatabase(tmp_path / "none.sqlite")
    assert str(tmp_path) not in repr(ReadOnlyDatabase(path))


WORDS = st.sampled_from(
    "SELECT DELETE FROM WITH x AS ( ) orders secret word amount * , ; -- /* */ UPDATE SET = 1 'a' INSERT INTO VALUES PRAGMA journal_mode"
    " DROP TABLE UNION ALL WHERE count ATTACH RETURNING limit CREATE TRIGGER BEGIN END seen".split()
)


@given(st.lists(WORDS, max_size=14).map(" ".join) | st.text(max_size=40))
@profile(300)
def test_no_sql_changes_the_file_or_tells_a_secret(path: Path, sql: str) -> None:
    before = path.read_bytes()
    try:
        found = json.dumps(ReadOnlyDatabase(path, tables=FEW, seconds=5).query(sql), allow_nan=False)
    except ToolError as error:
        found = str(error)
    assert "hunter" not in found and path.read_bytes() == before
