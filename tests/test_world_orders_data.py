"""The data of the world `orders`: the same on every build, and consistent."""

from __future__ import annotations

import csv
import sqlite3
from pathlib import Path

from agentkit.worlds import orders
from agentkit.worlds.orders import make_data
from agentkit.worlds.orders.database import open_copy

DATA = make_data.DATA
FILES = [*(f"{table}.csv" for table in make_data.SCHEMA), "production.sqlite", "staging.sqlite"]


def rows(table: str) -> list[dict[str, str]]:
    with (DATA / f"{table}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def content(path: Path) -> list[str]:
    connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)
    try:
        return list(connection.iterdump())
    finally:
        connection.close()


def test_every_build_gives_the_same_bytes(tmp_path: Path) -> None:
    make_data.build(tmp_path / "one")
    make_data.build(tmp_path / "two")
    assert sorted(path.name for path in (tmp_path / "one").iterdir()) == sorted(FILES)
    for name in FILES:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes(), name


def test_the_files_in_the_package_are_what_the_script_makes(tmp_path: Path) -> None:
    make_data.build(tmp_path)
    for name in FILES:
        if name.endswith(".csv"):
            # Compared as text: a checkout may have changed the line ends.
            assert (tmp_path / name).read_text(encoding="utf-8") == (DATA / name).read_text(encoding="utf-8"), name
        else:
            # Compared by content: another version of SQLite may lay out its pages in another way.
            assert content(tmp_path / name) == content(DATA / name), name


def test_the_database_holds_what_the_csv_files_hold() -> None:
    production = open_copy("production")
    for table in make_data.SCHEMA:
        found = production.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall()
        assert [["" if value is None else str(value) for value in row] for row in found] == [
            list(row.values()) for row in rows(table)
        ]
    production.close()


def test_the_rows_agree_with_each_other() -> None:
    customers = {row["customer_id"] for row in rows("customers")}
    categories = {row["category"] for row in rows("refund_policy")}
    shipments = {row["order_id"]: row for row in rows("shipments")}
    found = rows("orders")
    assert len(found) == len({row["order_id"] for row in found}) == 42
    for order in found:
        assert order["customer_id"] in customers and order["category"] in categories and order["currency"] == "KRW"
        shipment = shipments.get(order["order_id"])
        assert (shipment is None) == (order["status"] == "cancelled")
        if shipment:
            arrived = order["status"] in ("delivered", "returned", "refunded")
            assert bool(shipment["delivered_on"]) == arrived == (shipment["status"] == "delivered")
            steps = [order["ordered_on"], shipment["shipped_on"], shipment["delivered_on"] or shipment["expected_on"]]
            known = [day for day in steps if day]
            assert known == sorted(known), order["order_id"]
            assert shipment["delivered_on"] <= orders.TODAY.isoformat()


def test_the_promised_cases_exist() -> None:
    found = {row["order_id"]: row for row in rows("orders")}
    shipments = {row["order_id"]: row for row in rows("shipments")}
    assert (found["A100"]["amount"], shipments["A100"]["delivered_on"]) == ("250000", "2026-10-01")
    assert (found["A101"]["amount"], found["A101"]["status"]) == ("480000", "shipping")
    mine = [row for row in found.values() if row["customer_id"] == orders.CUSTOMER]
    assert {row["status"] for row in mine} >= {
        "processing", "shipping", "delivered", "cancelled", "returned", "refunded",
    }  # fmt: skip
    assert len(mine) < len(found)
    assert any("가" <= letter <= "힣" for row in mine for letter in row["product"])
