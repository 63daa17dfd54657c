"""Make the data of the world `orders`: five CSV files, and two SQLite databases filled from them.

Run ``python -m agentkit.worlds.orders.make_data`` after a change here. Every build gives the same files. All people,
products, carriers and orders are invented.

``production`` holds everything. ``staging`` is a smaller copy for trying out queries: only the orders that were placed
before 2026-08-15.
"""

from __future__ import annotations

import csv
import sqlite3
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import TypeAlias

from agentkit.worlds.orders.database import DATA

Row: TypeAlias = tuple[str | int | None, ...]
Tables: TypeAlias = dict[str, list[Row]]

STAGING_BEFORE = "2026-08-15"

SCHEMA = {
    "customers": "customer_id TEXT PRIMARY KEY, name TEXT, email TEXT, joined_on TEXT",
    "orders": "order_id TEXT PRIMARY KEY, customer_id TEXT REFERENCES customers, product TEXT, category TEXT, "
    "amount INTEGER, currency TEXT, status TEXT, ordered_on TEXT",
    "shipments": "order_id TEXT PRIMARY KEY REFERENCES orders, carrier TEXT, tracking_number TEXT, priority TEXT, "
    "status TEXT, location TEXT, shipped_on TEXT, expected_on TEXT, delivered_on TEXT",
    "refunds": "refund_id TEXT PRIMARY KEY, order_id TEXT REFERENCES orders, amount INTEGER, refunded_on TEXT",
    "refund_policy": "category TEXT PRIMARY KEY, refundable INTEGER, window_days INTEGER",
}

CUSTOMERS: list[Row] = [
    ("C01", "김민지", "minji.kim@example.com", "2024-03-11"),
    ("C02", "이준호", "junho.lee@example.com", "2023-11-02"),
    ("C03", "Sara Lindqvist", "sara.lindqvist@example.com", "2025-01-20"),
    ("C04", "박서연", "seoyeon.park@example.com", "2022-07-05"),
    ("C05", "Daniel Okafor", "daniel.okafor@example.com", "2025-06-30"),
    ("C06", "최유진", "yujin.choi@example.com", "2026-02-14"),
]

# Sales of these two categories are final: a download cannot be given back, and food does not keep.
POLICY: list[Row] = [
    ("beauty", 1, 30),
    ("books", 1, 30),
    ("clothing", 1, 30),
    ("digital", 0, 0),
    ("electronics", 1, 30),
    ("food", 0, 0),
    ("home", 1, 30),
]

REFUNDS: list[Row] = [("R001", "A113", 58_000, "2026-09-29")]

# The orders of C01, the signed-in customer, chosen for their cases seen from 2026-10-13: order, product, category,
# amount, status, ordered on, and the day of delivery (or the expected one while it is on the way).
OWN: list[tuple[str, str, str, int, str, str, str]] = [
    ("A100", "Wireless headphones", "electronics", 250_000, "delivered", "2026-09-28", "2026-10-01"),
    ("A101", "27-inch monitor", "electronics", 480_000, "shipping", "2026-10-09", "2026-10-15"),
    ("A102", "겨울 코트", "clothing", 89_000, "delivered", "2026-09-10", "2026-09-13"),
    ("A103", "전기 주전자", "home", 64_000, "delivered", "2026-09-09", "2026-09-12"),
    ("A104", "Desk lamp", "home", 128_000, "cancelled", "2026-09-20", ""),
    ("A105", "Running shoes", "clothing", 73_000, "returned", "2026-09-02", "2026-09-05"),
    ("A106", "Photo editor licence", "digital", 39_000, "delivered", "2026-10-05", "2026-10-05"),
    ("A108", "15인치 노트북", "electronics", 1_290_000, "processing", "2026-10-12", "2026-10-17"),
    ("A109", "Cookbook set", "books", 45_000, "delivered", "2026-08-17", "2026-08-20"),
    ("A110", "선크림 세트", "beauty", 32_000, "delivered", "2026-10-09", "2026-10-12"),
    ("A112", "제주 감귤 5kg", "food", 27_000, "delivered", "2026-10-08", "2026-10-10"),
    ("A113", "Cushion covers", "home", 58_000, "refunded", "2026-09-22", "2026-09-25"),
    ("A114", "Rain jacket", "clothing", 156_000, "shipping", "2026-10-07", "2026-10-14"),
    ("A116", "기계식 키보드", "electronics", 210_000, "delivered", "2026-09-26", "2026-09-30"),
    ("A117", "Bookshelf", "home", 98_000, "processing", "2026-10-11", "2026-10-18"),
    ("A118", "로봇 청소기", "electronics", 350_000, "delivered", "2026-06-29", "2026-07-02"),
    ("A119", "USB-C dock", "electronics", 142_000, "cancelled", "2026-07-21", ""),
    ("A120", "Korean grammar", "books", 19_000, "delivered", "2026-10-10", "2026-10-13"),
]

OTHER_PRODUCTS = [
    ("Table tennis set", "home", 54_000),
    ("운동화", "clothing", 119_000),
    ("Noise meter", "electronics", 87_000),
    ("핸드크림", "beauty", 15_000),
    ("Night sky atlas", "books", 36_000),
    ("한우 선물세트", "food", 180_000),
    ("Piano lessons download", "digital", 66_000),
]
OTHER_STATUSES = ["delivered", "delivered", "cancelled", "delivered", "returned", "delivered"]
CARRIERS = ["한빛택배", "Narae Parcel"]
PLACES = ["Daejeon hub", "Incheon hub", "Okcheon hub"]


def _others() -> Iterator[tuple[str, str, str, str, int, str, str, str]]:
    """The orders of everybody else: they take the free numbers up to A141 and repeat a few patterns."""
    taken = {order[0] for order in OWN}
    free = [f"A{number}" for number in range(100, 142) if f"A{number}" not in taken]
    for i, order_id in enumerate(free):
        product, category, amount = OTHER_PRODUCTS[i % len(OTHER_PRODUCTS)]
        ordered = date(2026, 6, 8) + timedelta(days=i * 37 % 125)
        late = ordered >= date(2026, 10, 6)
        status = "shipping" if late else OTHER_STATUSES[i % len(OTHER_STATUSES)]
        arrival = "" if status == "cancelled" else (ordered + timedelta(days=3 + i % 4)).isoformat()
        yield f"C0{2 + i % 5}", order_id, product, category, amount, status, ordered.isoformat(), arrival


def _shipment(number: int, order_id: str, status: str, ordered_on: str, arrival: str) -> Row:
    carrier, tracking = CARRIERS[number % 2], f"T58{number:03}"
    shipped_on = (date.fromisoformat(ordered_on) + timedelta(days=1)).isoformat()
    if status == "processing":
        return (order_id, carrier, None, "standard", "preparing", "warehouse", None, arrival, None)
    if status == "shipping":
        place = PLACES[number % 3]
        return (order_id, carrier, tracking, "standard", "in transit", place, shipped_on, arrival, None)
    shipped_on = min(shipped_on, arrival)
    return (order_id, carrier, tracking, "standard", "delivered", "front door", shipped_on, arrival, arrival)


def make_tables() -> Tables:
    """All rows of ``production``, by table."""
    rows = [("C01", *order) for order in OWN] + list(_others())
    orders: list[Row] = []
    shipments: list[Row] = []
    for customer, order_id, product, category, amount, status, ordered_on, arrival in sorted(rows, key=lambda r: r[1]):
        orders.append((order_id, customer, product, category, amount, "KRW", status, ordered_on))
        if status != "cancelled":
            shipments.append(_shipment(int(order_id[1:]), order_id, status, ordered_on, arrival))
    return {
        "customers": CUSTOMERS,
        "orders": orders,
        "shipments": shipments,
        "refunds": REFUNDS,
        "refund_policy": POLICY,
    }


def staging_tables(tables: Mapping[str, Sequence[Row]]) -> Tables:
    """The rows of ``staging``: old orders and what belongs to them; customers and policy whole."""
    orders = [row for row in tables["orders"] if str(row[7]) < STAGING_BEFORE]
    kept = {row[0] for row in orders}
    return {
        "customers": list(tables["customers"]),
        "orders": orders,
        "shipments": [row for row in tables["shipments"] if row[0] in kept],
        "refunds": [row for row in tables["refunds"] if row[1] in kept],
        "refund_policy": list(tables["refund_policy"]),
    }


def columns(table: str) -> list[str]:
    """The column names of a table, in order."""
    return [part.split()[0] for part in SCHEMA[table].split(", ")]


def write_csv(path: Path, table: str, rows: Sequence[Row]) -> None:
    """Write one table as CSV: UTF-8, a header line, an empty field for "none"."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns(table))
        writer.writerows(rows)


def write_database(path: Path, tables: Mapping[str, Sequence[Row]]) -> None:
    """Write one SQLite file. The same rows give the same bytes."""
    path.unlink(missing_ok=True)
    connection = sqlite3.connect(path)
    try:
        connection.execute("PRAGMA page_size = 4096")
        for table, definition in SCHEMA.items():
            connection.execute(f"CREATE TABLE {table} ({definition}) WITHOUT ROWID")
            marks = ", ".join("?" * len(columns(table)))
            connection.executemany(f"INSERT INTO {table} VALUES ({marks})", tables[table])
        connection.commit()
        connection.execute("VACUUM")
    finally:
        connection.close()
    raw = bytearray(path.read_bytes())
    # These four bytes name the SQLite version that wrote the file; nothing reads them, and they would differ.
    raw[96:100] = bytes(4)
    path.write_bytes(raw)


def build(folder: Path = DATA) -> None:
    """Write all files into the folder, which is made when it does not exist."""
    folder.mkdir(parents=True, exist_ok=True)
    tables = make_tables()
    for table, rows in tables.items():
        write_csv(folder / f"{table}.csv", table, rows)
    write_database(folder / "production.sqlite", tables)
    write_database(folder / "staging.sqlite", staging_tables(tables))


if __name__ == "__main__":
    build(Path(sys.argv[1]) if len(sys.argv) > 1 else DATA)
