"""The world `orders`: its tools, when all is well and when it is not."""

from __future__ import annotations

import csv
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import date

import pytest

from agentkit.errors import DefinitionError, ToolError
from agentkit.messages import ToolCall
from agentkit.registry import Registry
from agentkit.tools import tool
from agentkit.worlds import orders
from agentkit.worlds.orders.database import DATA


def rows(table: str) -> list[dict[str, str]]:
    with (DATA / f"{table}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def desk() -> orders.Desk:
    return orders.open_desk()


def test_tools_are_fresh_each_time_they_are_asked_for() -> None:
    one, two = Registry(orders.tools), Registry(orders.tools)
    change = ToolCall("set_shipment_priority", {"order_id": "A101", "priority": "express"}, "call_1")
    assert one.call(change).data["previous_priority"] == "standard"
    assert two.call(change).data["previous_priority"] == "standard"


def test_the_world_has_exactly_these_tools() -> None:
    assert [(each.name, each.permission, each.approval) for each in orders.make_tools()] == [
        ("lookup_order", "read", False),
        ("list_my_orders", "read", False),
        ("track_shipment", "read", False),
        ("refund_policy", "read", False),
        ("days_between", "read", False),
        ("query_database", "read", False),
        ("set_shipment_priority", "write", False),
        ("refund_order", "dangerous", True),
    ]


def test_every_tool_and_parameter_is_described_and_strict(desk: orders.Desk) -> None:
    for each in desk.tools:
        assert len(each.description) > 30
        assert all(schema.get("description") for schema in each.parameters["properties"].values()), each.name
        assert "self" not in each.parameters["properties"]
        assert each.strict, each.strict_reason


def test_a_tool_of_a_desk_can_be_made_again_and_drops_self(desk: orders.Desk) -> None:
    again = tool(desk.lookup_order)
    assert list(again.parameters["properties"]) == ["order_id"]
    assert again("A100")["amount"] == 250_000


def test_a_desk_finds_its_tool_by_name(desk: orders.Desk) -> None:
    assert desk.tool("refund_policy").name == "refund_policy"
    with pytest.raises(DefinitionError, match="Did you mean 'lookup_order'"):
        desk.tool("lookup_orders")


def test_an_unknown_customer_cannot_sign_in() -> None:
    with pytest.raises(DefinitionError, match="no customer 'C99'"):
        orders.open_desk("C99")


def test_lookup_order(desk: orders.Desk) -> None:
    assert desk.lookup_order("A100") == {
        "order_id": "A100",
        "product": "Wireless headphones",
        "category": "electronics",
        "amount": 250_000,
        "currency": "KRW",
        "status": "delivered",
        "ordered_on": "2026-09-28",
        "expected_on": "2026-10-01",
        "delivered_on": "2026-10-01",
        "refunded_amount": 0,
    }


@pytest.mark.parametrize("name", ["lookup_order", "track_shipment", "set_shipment_priority", "refund_order"])
@pytest.mark.parametrize(("order_id", "code"), [("A999", "not_found"), ("A107", "other_customer")])
def test_orders_that_are_not_there_for_this_customer(desk: orders.Desk, name: str, order_id: str, code: str) -> None:
    more = {"set_shipment_priority": {"priority": "express"}, "refund_order": {"amount": 1}}.get(name, {})
    with pytest.raises(ToolError, match=rf"{order_id} .*\.$|{order_id}\.$") as caught:
        desk.tool(name)(order_id=order_id, **more)
    assert caught.value.code == code
    assert "54" not in str(caught.value) and "Table" not in str(caught.value)


def test_the_owner_may_see_the_order_that_others_may_not() -> None:
    assert orders.open_desk("C02").lookup_order("A107")["amount"] == 54_000


def test_list_my_orders_holds_all_of_mine_and_nothing_else(desk: orders.Desk) -> None:
    listed = desk.list_my_orders()
    mine = [row["order_id"] for row in rows("orders") if row["customer_id"] == "C01"]
    assert [order["order_id"] for order in listed["orders"]] == mine
    assert listed["count"] == len(mine)


def test_track_shipment(desk: orders.Desk) -> None:
    parcel = desk.track_shipment("A101")
    assert (parcel["shipment_status"], parcel["location"], parcel["delivered_on"]) == (
        "in transit", "Okcheon hub", None,
    )  # fmt: skip
    with pytest.raises(ToolError, match="A104 is cancelled; it has no shipment") as caught:
        desk.track_shipment("A104")
    assert caught.value.code == "no_shipment"


def test_refund_policy(desk: orders.Desk) -> None:
    policy = desk.refund_policy()
    assert policy["window_days"] == 30
    assert policy["final_sale_categories"] == ["digital", "food"]
    windows = {row["window_days"] for row in rows("refund_policy") if row["refundable"] == "1"}
    assert windows == {"30"}, "the tool speaks of one window for all refundable categories"


@pytest.mark.parametrize(
    ("start", "end", "days"), [("2026-10-01", "2026-10-13", 12), ("2026-10-13", "2026-10-01", -12)]
)
def test_days_between(desk: orders.Desk, start: str, end: str, days: int) -> None:
    result = Registry(desk.tools).call(ToolCall("days_between", {"start": start, "end": end}, "call_1"))
    assert result.data == {"start": start, "end": end, "days": days}


def test_bad_arguments_are_told_by_the_registry(desk: orders.Desk) -> None:
    registry = Registry(desk.tools)
    for name, arguments in [
        ("lookup_order", {"order_id": "order 100"}),
        ("days_between", {"start": "yesterday", "end": "2026-10-13"}),
        ("query_database", {"sql": "SELECT 1", "database": "backup"}),
        ("set_shipment_priority", {"order_id": "A101", "priority": "fast"}),
    ]:
        result = registry.call(ToolCall(name, arguments, "call_1"))
        assert result.error is not None and result.error.code == "bad_arguments", name


def test_a_changed_priority_is_seen_by_the_other_tools(desk: orders.Desk) -> None:
    changed = desk.set_shipment_priority("A101", "express")
    assert changed == {"order_id": "A101", "previous_priority": "standard", "priority": "express"}
    assert desk.track_shipment("A101")["priority"] == "express"
    sql = "SELECT priority FROM shipments WHERE order_id = 'A101'"
    assert desk.query_database(sql, "production")["rows"] == [["express"]]


def test_the_priority_of_a_delivered_order_stays(desk: orders.Desk) -> None:
    with pytest.raises(ToolError, match="A100 is delivered") as caught:
        desk.set_shipment_priority("A100", "express")
    assert caught.value.code == "too_late"
    assert desk.track_shipment("A100")["priority"] == "standard"


def test_a_refund_in_two_parts(desk: orders.Desk) -> None:
    first = desk.refund_order("A100", 50_000)
    assert (first["refund_id"], first["left_amount"], first["refunded_on"]) == ("R002", 200_000, "2026-10-13")
    assert desk.lookup_order("A100")["status"] == "delivered"
    with pytest.raises(ToolError, match="At most 200000 KRW") as caught:
        desk.refund_order("A100", 200_001)
    assert caught.value.code == "too_much"
    assert desk.refund_order("A100", 200_000)["left_amount"] == 0
    assert desk.lookup_order("A100")["status"] == "refunded"
    with pytest.raises(ToolError, match="it is refunded"):
        desk.refund_order("A100", 1)


def test_refunds_at_the_same_time_pay_only_once() -> None:
    together = threading.Barrier(8)
    desk = orders.open_desk(before=lambda _: together.wait(timeout=10) and None)

    def pay(_: int) -> bool:
        try:
            return bool(desk.refund_order("A100", 250_000))
        except ToolError:
            return False

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(pay, range(8))) == 1


@pytest.mark.parametrize(
    ("order_id", "reason"),
    [
        ("A101", "it is shipping"),
        ("A104", "it is cancelled"),
        ("A105", "it is returned"),
        ("A106", "digital is final"),
        ("A103", "more than 30 days ago"),
    ],
)
def test_a_refund_that_the_policy_forbids(desk: orders.Desk, order_id: str, reason: str) -> None:
    with pytest.raises(ToolError, match=reason) as caught:
        desk.refund_order(order_id, 1000)
    assert caught.value.code == "not_refundable"
    assert desk.query_database("SELECT count(*) FROM refunds", "production")["rows"] == [[1]]


def test_the_refund_window_is_counted_from_the_date_of_the_desk() -> None:
    assert orders.open_desk(today=date(2026, 10, 31)).refund_order("A100", 1000)["refunded_on"] == "2026-10-31"
    with pytest.raises(ToolError, match="more than 30 days"):
        orders.open_desk(today=date(2026, 11, 1)).refund_order("A100", 1000)


def test_two_desks_never_see_each_others_writes(desk: orders.Desk) -> None:
    desk.refund_order("A100", 250_000)
    desk.set_shipment_priority("A101", "overnight")
    other = orders.open_desk()
    assert other.lookup_order("A100")["status"] == "delivered"
    assert other.track_shipment("A101")["priority"] == "standard"


def test_a_hook_makes_tools_fail_or_wait() -> None:
    seen: list[str] = []
    orders.open_desk(before=seen.append).lookup_order("A100")
    assert seen == ["lookup_order"]
    broken = orders.open_desk(before=orders.unavailable("track_shipment"))
    assert broken.lookup_order("A101")["status"] == "shipping"
    with pytest.raises(ToolError, match="does not answer") as caught:
        broken.track_shipment("A101")
    assert caught.value.code == "unavailable"
