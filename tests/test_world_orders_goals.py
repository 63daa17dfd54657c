"""The rules and the goals of the world `orders`: each follows from the data, and they agree with each other."""

from __future__ import annotations

import csv
import re
from datetime import date
from typing import Any

import pytest

from agentkit.facts import Conclusion, Fact, Facts, Failure, Language
from agentkit.messages import ToolCall
from agentkit.registry import Registry
from agentkit.worlds import Goal, orders
from agentkit.worlds.orders.goals import NO
from agentkit.worlds.orders.make_data import DATA
from agentkit.worlds.orders.rules import FAILURE_CODES, everything, order_status, parts, policy_alone, refund_possible

POLICY = {"window_days": 30, "counted_from": "delivered_on", "final_sale_categories": ["digital", "food"]}
GOALS = {goal.id: goal for goal in orders.goals}


def order(**changes: Any) -> dict[str, Any]:
    known = {
        "order_id": "B7", "product": "Lamp", "category": "home", "amount": 12_000, "status": "delivered",
        "ordered_on": "2026-03-01", "expected_on": "2026-03-05", "delivered_on": "2026-03-05",
    }  # fmt: skip
    return known | changes


def facts(*data: Any, dates: tuple[str, ...] = ("2026-03-20",), language: Language = "en", **more: Any) -> Facts:
    return Facts(tuple(Fact({}, each) for each in data), dates=dates, language=language, **more)


def said(conclusion: Conclusion | None) -> str:
    assert conclusion is not None
    return conclusion.text


# The rules

CASES = [
    ({}, ("2026-03-20",), "Yes", "15 days before 2026-03-20", "15일", "환불할 수 있습니다"),
    ({}, ("2026-04-04",), "Yes", "30 days before 2026-04-04", "30일이 지났고", "환불할 수 있습니다"),
    ({}, ("2026-04-05",), "No", "31 days before 2026-04-05", "31일이 지났고", "환불할 수 없습니다"),
    ({}, ("2026-03-05", "2026-04-05"), "No", "31 days", "31일", "환불할 수 없습니다"),
    ({}, ("2026-03-05",), "Yes", "0 days", "0일", "환불할 수 있습니다"),
    ({}, ("2026-03-01",), "cannot be counted", "after 2026-03-01", "2026-03-01", "없습니다"),
    ({}, (), "until 2026-04-04", "12,000 KRW", "2026-04-04까지", "환불할 수 있습니다"),
    (
        {"status": "shipping", "delivered_on": None},
        ("2026-03-04",),
        "not be refunded yet",
        "2026-03-05",
        "배송 중",
        "아직",
    ),
    (
        {"status": "processing", "delivered_on": None},
        (),
        "yet",
        "processing",
        "상품 준비 중",
        "아직 환불할 수 없습니다",
    ),
    ({"status": "cancelled", "delivered_on": None}, (), "No", "cancelled", "취소", "환불할 수 없습니다"),
    ({"status": "returned"}, ("2026-03-20",), "No", "returned", "반품", "환불할 수 없습니다"),
    ({"status": "refunded"}, ("2026-03-20",), "No", "refunded", "환불 완료", "환불할 수 없습니다"),
    ({"category": "food"}, ("2026-03-20",), "No", "food are final", "food", "환불할 수 없습니다"),
]


@pytest.mark.parametrize(("changes", "dates", "verdict", "reason", "reason_ko", "verdict_ko"), CASES)
def test_can_it_be_refunded(
    changes: dict[str, Any], dates: tuple[str, ...], verdict: str, reason: str, reason_ko: str, verdict_ko: str
) -> None:
    english = said(refund_possible(facts(order(**changes), POLICY, dates=dates)))
    assert verdict in english and reason in english and "B7" in english
    korean = said(refund_possible(facts(POLICY, order(**changes), dates=dates, language="ko")))
    assert verdict_ko in korean and reason_ko in korean and "B7" in korean


def test_the_verdict_names_its_evidence() -> None:
    conclusion = refund_possible(facts(order(), POLICY))
    assert conclusion is not None
    assert conclusion.evidence == (
        "B7 was delivered on 2026-03-05", "refunds within 30 days", "15 days from 2026-03-05 to 2026-03-20",
    )  # fmt: skip


def test_another_policy_gives_another_verdict() -> None:
    assert said(refund_possible(facts(order(), {"window_days": 7}))).startswith("No")


def test_a_rule_says_nothing_when_its_facts_are_missing() -> None:
    assert all(rule(facts()) is None for rule in (*parts, everything))
    assert refund_possible(facts(order())) is None, "no policy"
    assert refund_possible(facts(POLICY)) is None, "no order"
    assert refund_possible(facts(order(delivered_on=None), POLICY)) is None, "delivered, but nobody knows when"
    assert refund_possible(facts(order(delivered_on="last week"), POLICY)) is None
    assert order_status(facts(order(), POLICY)) is None, "the verdict speaks then"
    assert policy_alone(facts(order(), POLICY)) is None


@pytest.mark.parametrize("data", [None, 7, "text", [], {}, {"orders": 3, "count": 1}, {"order_id": None, "amount": 3}])
def test_strange_data_give_no_conclusion(data: Any) -> None:
    assert everything(facts(data)) is None


@pytest.mark.parametrize("language", ["en", "ko"])
@pytest.mark.parametrize(
    ("data", "words"),
    [
        (order(), ("B7", "12,000", "2026-03-05")),
        ({"refund_id": "R9", "order_id": "B7", "refunded_amount": 5000}, ("B7", "5,000", "R9")),
        ({"order_id": "B7", "previous_priority": "standard", "priority": "express"}, ("B7", "standard", "express")),
        ({"order_id": "B7", "shipment_status": "in transit", "location": "Okcheon", "expected_on": "2026-03-05"},
         ("B7", "Okcheon", "2026-03-05")),
        ({"count": 1, "orders": [order()]}, ("1", "B7", "12,000")),
        (POLICY, ("30", "digital", "food")),
        ({"start": "2026-01-01", "end": "2026-01-05", "days": 4}, ("2026-01-01", "2026-01-05", "4")),
        ({"database": "staging", "columns": ["count(*)"], "rows": [[42]]}, ("staging", "42")),
        ({"database": "staging", "columns": ["a", "b"], "rows": [[1, "x"], [2, "y"]], "more": True},
         ("2", "1, x; 2, y")),
        ({"database": "staging", "columns": ["a"], "rows": []}, ("0",)),
    ],
)  # fmt: skip
def test_each_kind_of_data_is_told(data: Any, words: tuple[str, ...], language: Language) -> None:
    text = said(everything(facts(data, language=language)))
    assert [word for word in words if word not in text] == []
    assert bool(re.search("[가-힣]", text)) == (language == "ko")


@pytest.mark.parametrize("code", FAILURE_CODES)
def test_each_failure_is_told(code: str) -> None:
    failure = Failure({"order_id": "B7"}, code, "The tool says B7 is wrong.")
    english = said(everything(Facts(failures=(failure,))))
    assert english == "The tool says B7 is wrong." or code == "denied"
    korean = said(everything(Facts(failures=(failure, failure), language="ko")))
    assert re.search("[가-힣]", korean)
    assert "없" in korean or code in ("too_much", "denied")
    sentences = korean.split(". ")
    assert len(sentences) == len(set(sentences)), "the same failure is told once"


def test_a_failure_that_was_overcome_is_not_told() -> None:
    down = Failure({"order_id": "B7"}, "unavailable", "The service does not answer.")
    found = Fact({"order_id": "B7"}, order())
    assert "does not answer" in said(everything(Facts(failures=(down,))))
    assert "does not answer" not in said(everything(Facts((found,), (down,))))
    assert everything(Facts(failures=(Failure({}, "bad_arguments", "wrong"),))) is None


def test_two_needs_are_both_answered() -> None:
    parcel = {"order_id": "C1", "shipment_status": "in transit", "location": "Okcheon"}
    text = said(everything(facts(parcel, order(), POLICY)))
    assert "Yes, order B7" in text and "Okcheon" in text


# The goals


def rows(table: str) -> dict[str, dict[str, str]]:
    with (DATA / f"{table}.csv").open(encoding="utf-8", newline="") as file:
        return {next(iter(row.values())): row for row in csv.DictReader(file)}


def perfect_facts(goal: Goal) -> Facts:
    """What an agent knows that makes exactly the expected calls (or tries the first optional one)."""
    registry = Registry(orders.make_tools())
    results, failures = [], []
    for name, arguments in goal.calls or goal.optional_calls[:1]:
        result = registry.call(ToolCall(name, arguments, "call_1"))
        if result.error:
            failures.append(Failure(arguments, result.error.code, result.error.message))
        else:
            results.append(Fact(arguments, result.data))
    codes = tuple(re.findall(r"\bA\d{3}", goal.text))
    dates = tuple(re.findall(r"\d{4}-\d{2}-\d{2}", goal.text))
    return Facts(tuple(results), tuple(failures), codes, dates, goal.language)


def test_there_are_enough_goals_and_each_is_its_own() -> None:
    assert len(GOALS) == len(orders.goals) >= 60
    assert len({goal.text for goal in orders.goals}) == len(orders.goals)
    assert GOALS["refund-a100"].text == orders.GOAL_REFUND
    assert GOALS["ko-refund-a100"].text == orders.GOAL_REFUND_KO
    assert sum(goal.language == "ko" for goal in orders.goals) >= 10


@pytest.mark.parametrize("goal", orders.goals, ids=lambda goal: goal.id)
def test_every_expected_call_fits_its_tool_and_invents_nothing(goal: Goal) -> None:
    desk = orders.open_desk()
    for name, arguments in (*goal.calls, *goal.optional_calls):
        desk.tool(name).validate(arguments)
        code = arguments.get("order_id")
        assert code is None or code in goal.text
    if goal.stop_reason in ("needs_input", "needs_approval"):
        assert not goal.answer_has, "a paused run has no answer"
    asked = [name for name, _ in (*goal.calls, *goal.optional_calls)]
    assert ("refund_order" in asked) == (goal.stop_reason == "needs_approval")


@pytest.mark.parametrize(
    "goal", [goal for goal in orders.goals if goal.stop_reason == "answered" and (goal.calls or goal.optional_calls)],
    ids=lambda goal: goal.id,
)  # fmt: skip
def test_the_rules_answer_every_goal_from_the_expected_calls(goal: Goal) -> None:
    text = said(everything(perfect_facts(goal)))
    assert goal.missing(text) == (), text
    assert goal.unwanted(text) == (), text


REFUND_QUESTIONS = [
    goal for goal in orders.goals
    if ("refund_policy", {}) in goal.calls and "lookup_order" in [name for name, _ in goal.calls]
    and re.search("refund|money|환불", goal.text) and goal.id != "two-cost-policy"
]  # fmt: skip


@pytest.mark.parametrize("goal", REFUND_QUESTIONS, ids=lambda goal: goal.id)
def test_expected_verdicts_follow_from_the_csv_files(goal: Goal) -> None:
    found, shipments, policy = rows("orders"), rows("shipments"), rows("refund_policy")
    no = "없" if goal.language == "ko" else "not"
    dates = re.findall(r"\d{4}-\d{2}-\d{2}", goal.text)
    possible = []
    for code in [arguments["order_id"] for name, arguments in goal.calls if name == "lookup_order"]:
        assert found[code]["customer_id"] == orders.CUSTOMER
        rule, delivered = policy[found[code]["category"]], shipments[code]["delivered_on"]
        if found[code]["status"] != "delivered" or rule["refundable"] == "0":
            possible.append(False)
        elif not dates:
            last = date.fromisoformat(delivered).toordinal() + int(rule["window_days"])
            assert date.fromordinal(last).isoformat() in goal.answer_has
        else:
            days = (date.fromisoformat(max(dates)) - date.fromisoformat(delivered)).days
            possible.append(days <= int(rule["window_days"]))
            numbers = {part for part in goal.answer_has if re.fullmatch(r"\d{2,3}", part)}
            assert not numbers or str(days) in numbers
            counted = ("days_between", {"start": delivered, "end": max(dates)})
            assert counted in goal.optional_calls
    assert (no in goal.answer_has) == (False in possible)
    if False not in possible and dates:
        assert goal.answer_lacks == (("없",) if goal.language == "ko" else NO) or goal.id == "two-where-refund"


def test_refund_requests_ask_for_the_amount_of_the_order_or_a_stated_one() -> None:
    for goal in orders.goals:
        for name, arguments in goal.calls:
            if name == "refund_order":
                amount = arguments["amount"]
                stated = str(amount) in goal.text.replace(",", "")
                assert stated or int(rows("orders")[arguments["order_id"]]["amount"]) == amount
                assert ("lookup_order", {"order_id": arguments["order_id"]}) in (
                    goal.optional_calls if stated else goal.calls
                )


def test_a_goal_compares_calls_in_any_order() -> None:
    goal = Goal("x", "?", (("a", {"n": 1}), ("b", {})), optional_calls=(("c", {}),))
    assert goal.calls_differ([("b", {}), ("a", {"n": 1})]) == ""
    assert goal.calls_differ([("c", {}), ("b", {}), ("a", {"n": 1})]) == ""
    assert goal.calls_differ([("b", {}), ("a", {"n": 2})]) == "not called: a(n=1); called without need: a(n=2)"


def test_a_goal_compares_answers_without_case_and_thousands_separators() -> None:
    goal = Goal("x", "?", answer_has=("250,000", "Not"), answer_lacks=("A107",))
    assert goal.missing("not 250000") == ()
    assert goal.missing("250,00") == ("250,000", "Not")
    assert goal.missing(None) == ("250,000", "Not")
    assert goal.unwanted("a107") == ("A107",)
