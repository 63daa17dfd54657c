"""Short ways to write down an expected call of the world `orders`."""

from __future__ import annotations

from typing import Final

from agentkit.worlds import ExpectedCall

POLICY: Final[ExpectedCall] = ("refund_policy", {})
LIST: Final[ExpectedCall] = ("list_my_orders", {})


def look(order_id: str) -> ExpectedCall:
    return "lookup_order", {"order_id": order_id}


def track(order_id: str) -> ExpectedCall:
    return "track_shipment", {"order_id": order_id}


def days(start: str, end: str) -> ExpectedCall:
    return "days_between", {"start": start, "end": end}


def query(sql: str, database: str) -> ExpectedCall:
    return "query_database", {"sql": sql, "database": database}


def speed(order_id: str, priority: str) -> ExpectedCall:
    return "set_shipment_priority", {"order_id": order_id, "priority": priority}


def pay(order_id: str, amount: int) -> ExpectedCall:
    return "refund_order", {"order_id": order_id, "amount": amount}
