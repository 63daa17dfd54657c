"""The tools of the world `orders`: the help desk of an online shop, with one customer signed in.

Each `Desk` works on its own copy of the data in memory. So a notebook cell can be run twice, and two tests never see
each other's writes.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from datetime import date
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import Field

from agentkit.errors import DefinitionError, ToolError
from agentkit.tools import Tool, tool
from agentkit.worlds import Toolbox
from agentkit.worlds.orders.database import TABLES, open_copy, read_rows

CUSTOMER: Final = "C01"
TODAY: Final = date(2026, 10, 13)

OrderId: TypeAlias = Annotated[
    str, Field(description="The code of the order, a letter and three digits.", pattern=r"^A\d{3}$", examples=["A100"])
]
Hook: TypeAlias = Callable[[str], None]

_ORDER: Final = (
    "SELECT o.order_id, o.product, o.category, o.amount, o.currency, o.status, o.ordered_on, s.expected_on, "
    "s.delivered_on, coalesce((SELECT sum(r.amount) FROM refunds r WHERE r.order_id = o.order_id), 0) "
    "AS refunded_amount, o.customer_id FROM orders o LEFT JOIN shipments s USING (order_id) WHERE o.order_id = ?"
)
_SHIPMENT: Final = (
    "SELECT order_id, status AS shipment_status, carrier, tracking_number, location, priority, shipped_on, "
    "expected_on, delivered_on FROM shipments WHERE order_id = ?"
)
_LIST: Final = (
    "SELECT order_id, product, amount, currency, status, ordered_on FROM orders WHERE customer_id = ? ORDER BY order_id"
)


class Desk(Toolbox):
    """One conversation at the help desk. The methods that are decorated with ``@tool`` are its tools.

    Args:
        customer: the id of the customer who is signed in; orders of anybody else are refused.
        today: the date on which this desk works (it never looks at the clock).
        before: called with the tool's name before each tool does anything. It may wait (a slow service) or raise (a
            failing one), so that a test or a lesson can show both.

    Raises:
        DefinitionError: there is no such customer.
    """

    def __init__(self, customer: str = CUSTOMER, *, today: date = TODAY, before: Hook | None = None) -> None:
        self.customer = customer
        self.today = today
        self._before = before
        self._lock = threading.RLock()
        self._production = open_copy("production")
        self._staging = open_copy("staging")
        for connection in (self._production, self._staging):
            weakref.finalize(self, connection.close)
        known = [row["customer_id"] for row in self._rows("SELECT customer_id FROM customers")]
        if customer not in known:
            raise DefinitionError(f"There is no customer {customer!r}. The customers are {', '.join(known)}.")

    @tool
    def lookup_order(self, order_id: OrderId) -> dict[str, Any]:
        """Look up one order by its code: product, category, amount, status, and the dates of order and delivery."""
        self._begin("lookup_order")
        return self._order(order_id)

    @tool
    def list_my_orders(self) -> dict[str, Any]:
        """List all orders of the signed-in customer, each with its code, product, amount, status and order date."""
        self._begin("list_my_orders")
        orders = self._rows(_LIST, self.customer)
        return {"customer_id": self.customer, "count": len(orders), "orders": orders}

    @tool
    def track_shipment(self, order_id: OrderId) -> dict[str, Any]:
        """Find out where the parcel of an order is now: location, carrier, tracking number, expected arrival."""
        self._begin("track_shipment")
        order = self._order(order_id)
        found = self._rows(_SHIPMENT, order_id)
        if not found:
            raise ToolError(f"Order {order_id} is {order['status']}; it has no shipment.", code="no_shipment")
        return found[0]

    @tool
    def refund_policy(self) -> dict[str, Any]:
        """Get the refund policy: how many days after delivery a refund is possible, and which sales are final."""
        self._begin("refund_policy")
        return self._policy()

    @tool
    def days_between(
        self,
        start: Annotated[date, Field(description="The first date.", examples=["2026-10-01"])],
        end: Annotated[date, Field(description="The second date.", examples=["2026-10-13"])],
    ) -> dict[str, Any]:
        """Count the days between two calendar dates; the number is negative when the end is before the start."""
        self._begin("days_between")
        return {"start": start.isoformat(), "end": end.isoformat(), "days": (end - start).days}

    @tool(
        description="Run one read-only SQL query (SQLite) on the shop's production or staging database. "
        f"Tables: {TABLES}."
    )
    def query_database(
        self,
        sql: Annotated[str, Field(description="One SELECT statement.", examples=["SELECT count(*) FROM orders"])],
        database: Annotated[Literal["production", "staging"], Field(description="Which database to ask.")],
    ) -> dict[str, Any]:
        self._begin("query_database")
        with self._lock:
            return {"database": database, **read_rows(getattr(self, f"_{database}"), sql)}

    @tool(permission="write")
    def set_shipment_priority(
        self,
        order_id: OrderId,
        priority: Annotated[
            Literal["standard", "express", "overnight"], Field(description="How fast the parcel is to travel.")
        ],
    ) -> dict[str, Any]:
        """Change the shipping priority of an order that has not arrived yet."""
        self._begin("set_shipment_priority")
        order = self._order(order_id)
        if order["status"] not in ("processing", "shipping"):
            raise ToolError(
                f"Order {order_id} is {order['status']}, so its priority cannot be changed.",
                code="too_late",
                hint="Only orders that are processing or shipping can be changed.",
            )
        with self._lock, self._production:
            before = self._rows(_SHIPMENT, order_id)[0]["priority"]
            self._production.execute("UPDATE shipments SET priority = ? WHERE order_id = ?", (priority, order_id))
        return {"order_id": order_id, "previous_priority": before, "priority": priority}

    @tool(permission="dangerous", approval=True)
    def refund_order(
        self,
        order_id: OrderId,
        amount: Annotated[int, Field(description="How much to pay back, in KRW.", gt=0, examples=[250000])],
    ) -> dict[str, Any]:
        """Pay money back for a delivered order. It cannot be taken back, so a person has to approve it first."""
        self._begin("refund_order")
        # One lock around check and write: two calls at the same time must not both find the money still there.
        with self._lock:
            order = self._order(order_id)
            self._check_refund(order, amount)
            left = order["amount"] - order["refunded_amount"] - amount
            number = self._rows("SELECT count(*) + 1 AS next FROM refunds")[0]["next"]
            refund_id, day = f"R{number:03}", self.today.isoformat()
            with self._production:
                self._production.execute("INSERT INTO refunds VALUES (?, ?, ?, ?)", (refund_id, order_id, amount, day))
                if left == 0:
                    self._production.execute("UPDATE orders SET status = 'refunded' WHERE order_id = ?", (order_id,))
        return {
            "refund_id": refund_id, "order_id": order_id, "refunded_amount": amount, "currency": order["currency"],
            "left_amount": left, "refunded_on": day,
        }  # fmt: skip

    def _begin(self, name: str) -> None:
        if self._before is not None:
            self._before(name)

    def _rows(self, sql: str, *values: Any) -> list[dict[str, Any]]:
        with self._lock:
            cursor = self._production.execute(sql, values)
            names = [column[0] for column in cursor.description]
            return [dict(zip(names, row, strict=True)) for row in cursor]

    def _order(self, order_id: str) -> dict[str, Any]:
        found = self._rows(_ORDER, order_id)
        if not found:
            raise ToolError(
                f"There is no order {order_id}.", code="not_found", hint="Check the code with the customer."
            )
        order = found[0]
        if order.pop("customer_id") != self.customer:
            raise ToolError(
                f"Order {order_id} belongs to another customer, so nothing about it can be shown or changed.",
                code="other_customer",
                hint="Tell the customer that only their own orders can be handled.",
            )
        return order

    def _policy(self) -> dict[str, Any]:
        rules = self._rows("SELECT * FROM refund_policy ORDER BY category")
        return {
            "window_days": max(rule["window_days"] for rule in rules),
            "counted_from": "delivered_on",
            "final_sale_categories": [rule["category"] for rule in rules if not rule["refundable"]],
        }

    def _check_refund(self, order: dict[str, Any], amount: int) -> None:
        policy, left = self._policy(), order["amount"] - order["refunded_amount"]
        reason = ""
        if order["status"] != "delivered":
            reason = f"it is {order['status']}"
        elif order["category"] in policy["final_sale_categories"]:
            reason = f"a sale of the category {order['category']} is final"
        elif (self.today - date.fromisoformat(order["delivered_on"])).days > policy["window_days"]:
            reason = f"it was delivered on {order['delivered_on']}, more than {policy['window_days']} days ago"
        if reason:
            raise ToolError(f"Order {order['order_id']} cannot be refunded: {reason}.", code="not_refundable")
        if amount > left:
            raise ToolError(
                f"At most {left} KRW can be refunded for order {order['order_id']}; {amount} is too much.",
                code="too_much",
                hint=f"Ask for {left} KRW or less.",
            )


def open_desk(customer: str = CUSTOMER, *, today: date = TODAY, before: Hook | None = None) -> Desk:
    """A fresh desk on its own copy of the data. See `Desk` for the arguments."""
    return Desk(customer, today=today, before=before)


def make_tools(customer: str = CUSTOMER) -> list[Tool]:
    """The tools of a fresh desk."""
    return open_desk(customer).tools


def unavailable(*names: str) -> Hook:
    """A hook for `open_desk`: the named tools fail, as when the service behind them is down."""

    def hook(name: str) -> None:
        if name in names:
            raise ToolError(
                f"The service behind {name} does not answer.", code="unavailable", hint="Go on without it, and say so."
            )

    return hook
