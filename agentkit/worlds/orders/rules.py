"""What follows from the facts of the world `orders`.

Each rule is a plain function from `Facts` to one `Conclusion`, or to None when what it needs is not known. A rule knows
*shapes* of data, such as "has a delivered_on", never the name of a tool or the words of the goal. So it goes on working
when tools are renamed and questions reworded.

The offline model takes the first conclusion it gets. `rules` therefore holds one rule, `everything`, which asks all
others in the order of `parts` and puts together what they say: a goal may have two needs, and both want an answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import date, timedelta
from typing import Any, Final

from agentkit.facts import Conclusion, Facts, Failure, Language, Rule
from agentkit.worlds.orders.phrases import money, say, speaks_of, status_word

FAILURE_CODES: Final = (
    "not_found", "other_customer", "no_shipment", "too_late", "not_refundable", "too_much", "not_allowed", "bad_sql",
    "too_much_work", "unavailable", "denied",
)  # fmt: skip


def refund_paid(facts: Facts) -> Conclusion | None:
    """Money was paid back: a result with a refund_id."""
    return _joined(
        Conclusion(
            say(facts.language, "paid", id=d["order_id"], amount=money(d["refunded_amount"]), refund=d["refund_id"]),
            (f"refund {d['refund_id']}",),
        )
        for d in _having(facts, "refund_id", "order_id", "refunded_amount")
    )


def priority_changed(facts: Facts) -> Conclusion | None:
    """A shipment's priority was changed: a result with the previous one."""
    return _joined(
        Conclusion(
            say(facts.language, "priority", id=d["order_id"], old=d["previous_priority"], new=d["priority"]),
            (f"priority {d['priority']}",),
        )
        for d in _having(facts, "previous_priority", "priority", "order_id")
    )


def refund_possible(facts: Facts) -> Conclusion | None:
    """Can it be refunded? Needs an order and the policy; the latest date stated in the goal is today."""
    policy = next(_having(facts, "window_days"), None)
    if policy is None:
        return None
    days = [day for text in facts.dates if (day := _day(text))]
    today = max(days) if days else None
    verdicts = (_verdict(order, policy, today, facts.language) for order in _untouched_orders(facts))
    return _joined(verdict for verdict in verdicts if verdict)


def order_status(facts: Facts) -> Conclusion | None:
    """What an order is and where it stands, when no policy was looked up (then `refund_possible` speaks)."""
    if next(_having(facts, "window_days"), None):
        return None
    return _joined(_status(order, facts.language) for order in _untouched_orders(facts))


def parcel(facts: Facts) -> Conclusion | None:
    """Where a parcel is."""
    return _joined(
        Conclusion(
            say(
                facts.language,
                "parcel",
                id=d["order_id"],
                status=status_word(facts.language, d["shipment_status"]),
                place=d.get("location") or "-",
                carrier=d.get("carrier") or "-",
                number=d.get("tracking_number") or "-",
                priority=d.get("priority") or "-",
                when=_when(d, facts.language),
            ),
            (f"{d['order_id']} is {d['shipment_status']}",),
        )
        for d in _having(facts, "shipment_status", "order_id")
    )


def my_orders(facts: Facts) -> Conclusion | None:
    """The list of the customer's orders."""
    found = next(_having(facts, "orders", "count"), None)
    if found is None or not isinstance(found["orders"], list):
        return None
    items = [
        say(
            facts.language,
            "item",
            id=order["order_id"],
            product=order.get("product", "-"),
            amount=money(order["amount"]),
            status=status_word(facts.language, order["status"]),
        )
        for order in found["orders"]
        if _has(order, "order_id", "amount", "status")
    ]
    return Conclusion(
        say(facts.language, "list", count=found["count"], items="; ".join(items)), (f"{len(items)} orders",)
    )


def policy_alone(facts: Facts) -> Conclusion | None:
    """The refund policy itself, when no order was asked for."""
    if next(_orders(facts), None) or facts.failures:
        return None
    policy = next(_having(facts, "window_days"), None)
    if policy is None:
        return None
    final = ", ".join(policy.get("final_sale_categories") or ()) or say(facts.language, "none")
    text = say(facts.language, "policy", window=policy["window_days"], final=final)
    return Conclusion(text, (f"window of {policy['window_days']} days",))


def days_counted(facts: Facts) -> Conclusion | None:
    """Days between two dates, unless they were only counted on the way to a verdict about a refund."""
    if refund_possible(facts):
        return None
    return _joined(
        Conclusion(say(facts.language, "days", start=d["start"], end=d["end"], days=d["days"]), (f"{d['days']} days",))
        for d in _having(facts, "start", "end", "days")
    )


def rows_found(facts: Facts) -> Conclusion | None:
    """What a query found."""
    return _joined(_rows(d, facts.language) for d in _having(facts, "columns", "rows", "database"))


def refused(facts: Facts) -> Conclusion | None:
    """What could not be done, and why."""
    return _joined(_failure(failure, facts) for failure in facts.failures if _matters(failure, facts))


parts: Final[tuple[Rule, ...]] = (
    refund_paid, priority_changed, refund_possible, order_status, parcel, my_orders, policy_alone, days_counted,
    rows_found, refused,
)  # fmt: skip


def everything(facts: Facts) -> Conclusion | None:
    """What all `parts` have to say, in their order."""
    return _joined(conclusion for rule in parts if (conclusion := rule(facts)))


rules: Final[tuple[Rule, ...]] = (everything,)


def _verdict(
    order: Mapping[str, Any], policy: Mapping[str, Any], today: date | None, language: Language
) -> Conclusion | None:
    """The refund rules of the shop, in the order in which they decide."""
    window, status, code = policy["window_days"], order["status"], order["order_id"]
    delivered = _day(order.get("delivered_on"))
    values = {
        "id": code, "window": window, "status": status_word(language, status), "category": order.get("category"),
        "amount": money(order["amount"]), "delivered": delivered, "today": today,
    }  # fmt: skip
    if status in ("cancelled", "returned", "refunded"):
        return Conclusion(say(language, "closed", **values), (f"{code} is {status}",))
    if order.get("category") in (policy.get("final_sale_categories") or ()):
        return Conclusion(say(language, "final", **values), (f"{order.get('category')} is a final sale",))
    if status in ("processing", "shipping"):
        expected = say(language, "expected", day=order["expected_on"]) if order.get("expected_on") else ""
        return Conclusion(say(language, "not_yet", **values, expected=expected), (f"{code} is {status}",))
    if delivered is None or not isinstance(window, int):
        return None
    evidence: tuple[str, ...] = (f"{code} was delivered on {delivered}", f"refunds within {window} days")
    if today is None:
        return Conclusion(say(language, "until", **values, last=delivered + timedelta(days=window)), evidence)
    days = (today - delivered).days
    evidence += (f"{days} days from {delivered} to {today}",)
    key = "before_delivery" if days < 0 else "yes" if days <= window else "too_old"
    return Conclusion(say(language, key, **values, days=days), evidence)


def _status(order: Mapping[str, Any], language: Language) -> Conclusion:
    text = say(
        language,
        "order",
        id=order["order_id"],
        product=order.get("product", "-"),
        amount=money(order["amount"]),
        ordered=order.get("ordered_on", "-"),
        status=status_word(language, order["status"]),
        when=_when(order, language),
    )
    return Conclusion(text, (f"{order['order_id']} is {order['status']}",))


def _when(data: Mapping[str, Any], language: Language) -> str:
    if data.get("delivered_on"):
        return say(language, "delivered_on", day=data["delivered_on"])
    return say(language, "expected_on", day=data["expected_on"]) if data.get("expected_on") else ""


def _rows(data: Mapping[str, Any], language: Language) -> Conclusion:
    rows, names = data["rows"], data["columns"]
    evidence = (f"{len(rows)} rows",)
    if len(rows) == 1 and len(names) == 1:
        return Conclusion(say(language, "cell", database=data["database"], name=names[0], value=rows[0][0]), evidence)
    shown = "; ".join(", ".join(str(value) for value in row) for row in rows) or "-"
    more = say(language, "more") if data.get("more") else ""
    names = ", ".join(names)
    text = say(language, "rows", database=data["database"], count=len(rows), names=names, rows=shown, more=more)
    return Conclusion(text, evidence)


def _matters(failure: Failure, facts: Facts) -> bool:
    if failure.code not in FAILURE_CODES or not speaks_of(failure.code):
        return False
    # A service that was down and then answered the same question is no longer news.
    repaired = any(fact.arguments == failure.arguments for fact in facts.results)
    return not (failure.code in ("unavailable", "bad_sql") and repaired)


def _failure(failure: Failure, facts: Facts) -> Conclusion:
    code = failure.arguments.get("order_id") or next((v for v in failure.arguments.values() if v in facts.codes), "-")
    own = facts.language == "en" and failure.message and failure.code != "denied"
    return Conclusion(failure.message if own else say(facts.language, failure.code, id=code), (failure.code,))


def _having(facts: Facts, *keys: str) -> Iterator[Mapping[str, Any]]:
    return (fact.data for fact in facts.results if _has(fact.data, *keys))


def _has(data: Any, *keys: str) -> bool:
    return isinstance(data, Mapping) and all(data.get(key) is not None for key in keys)


def _orders(facts: Facts) -> Iterator[Mapping[str, Any]]:
    """Each order once, as it was last seen."""
    last = {order["order_id"]: order for order in _having(facts, "order_id", "status", "amount")}
    return iter(last.values())


def _untouched_orders(facts: Facts) -> Iterator[Mapping[str, Any]]:
    """The orders that nothing was done to; what was done is told by its own rule."""
    done = {d["order_id"] for d in (*_having(facts, "order_id", "refund_id"), *_having(facts, "previous_priority"))}
    return (order for order in _orders(facts) if order["order_id"] not in done)


def _day(text: Any) -> date | None:
    try:
        return date.fromisoformat(text)
    except (TypeError, ValueError):
        return None


def _joined(conclusions: Iterable[Conclusion]) -> Conclusion | None:
    """Several conclusions as one; the same sentence is said once."""
    found = list(conclusions)
    if not found:
        return None
    sentences = dict.fromkeys(conclusion.text for conclusion in found)
    evidence = dict.fromkeys(each for conclusion in found for each in conclusion.evidence)
    return Conclusion(" ".join(sentences), tuple(evidence))
