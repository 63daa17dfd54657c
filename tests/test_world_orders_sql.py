"""Queries of the world `orders`: whatever the SQL says, it can only read."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from agentkit.errors import ToolError
from agentkit.worlds import orders
from agentkit.worlds.orders import make_data
from agentkit.worlds.orders.database import READABLE, ROW_LIMIT, lock_down, open_copy


@pytest.fixture
def desk() -> orders.Desk:
    return orders.open_desk()


TRICKS = [
    "DELETE FROM orders",
    "delete /* SELECT */ from orders",
    "-- SELECT 1\nDELETE FROM orders",
    "/* read */ UPDATE orders SET amount = 0",
    "WITH x AS (SELECT order_id FROM orders) DELETE FROM orders WHERE order_id IN (SELECT order_id FROM x)",
    "WITH x AS (SELECT 1) UPDATE orders SET amount = 0",
    "WITH x AS (SELECT 1) INSERT INTO refunds VALUES ('R9', 'A100', 1, '2026-10-13')",
    "INSERT INTO refunds SELECT 'R9', 'A100', 1, '2026-10-13' RETURNING *",
    "REPLACE INTO refunds VALUES ('R001', 'A100', 1, '2026-10-13')",
    "DROP TABLE orders",
    "CREATE TEMP TABLE x AS SELECT * FROM orders",
    "CREATE TRIGGER t AFTER INSERT ON refunds BEGIN DELETE FROM orders; END",
    "ALTER TABLE orders RENAME TO gone",
    "PRAGMA query_only = OFF",
    "PRAGMA writable_schema = ON",
    "SELECT * FROM pragma_table_info('orders')",
    "ATTACH DATABASE 'stolen.sqlite' AS other",
    "VACUUM INTO 'stolen.sqlite'",
    "EXPLAIN DELETE FROM orders",
    "SELECT 1; DELETE FROM orders",
    "SELECT 1;; DROP TABLE orders --",
    "BEGIN",
    "SELECT load_extension('evil')",
    "SELECT writefile('stolen.txt', 'x')",
    "SELECT email FROM customers",
    "SELECT * FROM customers",
    "SELECT (SELECT name FROM customers LIMIT 1)",
    "SELECT sql FROM sqlite_master",
]


@pytest.mark.parametrize("sql", TRICKS)
@pytest.mark.parametrize("database", ["production", "staging"])
def test_a_query_can_only_read(
    desk: orders.Desk, sql: str, database: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    connections = {"production": desk._production, "staging": desk._staging}
    before = list(connections[database].iterdump())
    with pytest.raises(ToolError) as caught:
        desk.query_database(sql, database)
    assert caught.value.code in ("not_allowed", "bad_sql")
    assert str(caught.value).endswith(".") and "sqlite3" not in str(caught.value)
    assert list(connections[database].iterdump()) == before
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT count(*) FROM orders", [[42]]),
        ("select status from orders where order_id = 'A101' -- a comment", [["shipping"]]),
        ("WITH own AS (SELECT * FROM orders WHERE customer_id = 'C01') SELECT count(*) FROM own", [[18]]),
        ("SELECT o.order_id FROM orders o JOIN refunds r USING (order_id)", [["A113"]]),
        ("SELECT joined_on FROM customers WHERE customer_id = 'C01'", [["2024-03-11"]]),
        ("SELECT order_id FROM orders WHERE order_id = 'none'", []),
        ("SELECT x'ff00', 9e999", [["ff00", "inf"]]),
        ("VALUES (1)", [[1]]),
    ],
)
def test_queries_that_read(desk: orders.Desk, sql: str, expected: list[list[Any]]) -> None:
    assert desk.query_database(sql, "production")["rows"] == expected


@pytest.mark.parametrize(
    ("sql", "code", "words"),
    [
        ("", "bad_sql", "empty"),
        ("-- nothing", "bad_sql", "empty"),
        ("SELEC 1", "bad_sql", "SELEC"),
        ("SELECT nope FROM orders", "bad_sql", "no column 'nope'"),
        ("SELECT * FROM nope", "bad_sql", "no table 'nope'"),
        ("SELECT \x00", "bad_sql", "cannot be read"),
        ("SELECT '\ud800'", "bad_sql", "cannot be read"),
        ("SELECT group_concat(a.product || b.product) FROM orders a, orders b", "too_much_work", "too long"),
        (
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n",
            "too_much_work",
            "needs",
        ),
    ],
)
def test_queries_that_cannot_be_answered(desk: orders.Desk, sql: str, code: str, words: str) -> None:
    with pytest.raises(ToolError, match=words) as caught:
        desk.query_database(sql, "production")
    assert caught.value.code == code


def test_a_long_result_is_cut_and_says_so(desk: orders.Desk) -> None:
    found = desk.query_database("SELECT a.order_id FROM orders a, orders b", "production")
    assert (found["row_count"], len(found["rows"]), found["more"]) == (ROW_LIMIT, ROW_LIMIT, True)
    assert not desk.query_database("SELECT order_id FROM orders", "production")["more"]


def test_the_readable_columns_exist() -> None:
    for table, names in READABLE.items():
        private = {"name", "email"} if table == "customers" else set()
        assert set(names) == set(make_data.columns(table)) - private


def test_writing_is_off_even_if_the_authorizer_let_it_through() -> None:
    connection = open_copy("production")
    lock_down(connection)
    connection.set_authorizer(None)
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        connection.execute("DELETE FROM orders")
    connection.close()
