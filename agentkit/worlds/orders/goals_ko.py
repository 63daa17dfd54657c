"""The goals of the world `orders` that are asked in Korean."""

from __future__ import annotations

from typing import Final

from agentkit.messages import StopReason
from agentkit.worlds import ExpectedCall, Goal
from agentkit.worlds.orders.wanted import LIST, POLICY, days, look, pay, speed, track

GOAL_REFUND_KO: Final = "A100 주문 환불되나요? 오늘은 2026-10-13입니다."


def _ko(
    id: str,
    text: str,
    calls: tuple[ExpectedCall, ...] = (),
    has: tuple[str, ...] = (),
    *optional: ExpectedCall,
    lacks: tuple[str, ...] = (),
    stop: StopReason = "answered",
) -> Goal:
    return Goal(id, text, calls, has, stop, "ko", optional_calls=optional, answer_lacks=lacks)


# "없" stands in every Korean sentence that says that something cannot be done or does not exist.
KOREAN: Final = (
    _ko("ko-refund-a100", GOAL_REFUND_KO, (look("A100"), POLICY), ("A100", "12"),
        days("2026-10-01", "2026-10-13"), lacks=("없",)),
    _ko("ko-refund-a101", "A101 환불받을 수 있나요? 오늘은 2026-10-13입니다.", (look("A101"), POLICY), ("A101", "없"),
        track("A101")),
    _ko("ko-refund-a103", "오늘이 2026-10-13인데 A103 주문 아직 환불 가능한가요?", (look("A103"), POLICY),
        ("A103", "31", "없"), days("2026-09-12", "2026-10-13")),
    _ko("ko-refund-a107-other", "A107 주문 환불 가능해요? 오늘은 2026-10-13이에요.", (look("A107"),), ("A107", "없"),
        POLICY, lacks=("54,000",)),
    _ko("ko-where-a101", "A101 택배 지금 어디쯤 왔나요?", (track("A101"),), ("A101", "Okcheon"), look("A101")),
    _ko("ko-cost-a108", "A108 주문 금액이 얼마인가요?", (look("A108"),), ("1,290,000",)),
    _ko("ko-status-a999", "A999 주문 상태 알려 주세요.", (look("A999"),), ("A999", "없"), track("A999")),
    _ko("ko-list", "제 주문 목록을 보여 주세요.", (LIST,), ("A100", "A108", "A120")),
    _ko("ko-policy", "환불 규정이 어떻게 되나요?", (POLICY,), ("30",)),
    _ko("ko-days", "2026-10-01부터 2026-10-13까지 며칠인가요?", (days("2026-10-01", "2026-10-13"),), ("12",)),
    _ko("ko-speed-a117", "A117 배송 우선순위를 express로 바꿔 주세요.", (speed("A117", "express"),),
        ("A117", "express"), look("A117"), track("A117")),
    _ko("ko-pay-a100", "A100 주문 250000원 환불해 주세요.", (pay("A100", 250_000),), (), look("A100"), POLICY,
        stop="needs_approval"),
    _ko("ko-ask-refund", "제 주문 환불되나요? 오늘은 2026-10-13입니다.", (), (), LIST, POLICY, stop="needs_input"),
    _ko("ko-hello", "안녕하세요"),
)  # fmt: skip
