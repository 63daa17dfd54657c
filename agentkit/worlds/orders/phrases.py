"""The sentences in which the rules of the world `orders` speak, in English and in Korean."""

from __future__ import annotations

from typing import Any, Final

from agentkit.facts import Language

_PHRASES: Final[dict[str, tuple[str, str]]] = {
    "yes": (
        "Yes, order {id} can be refunded: it was delivered on {delivered}, {days} days before {today}, and refunds are "
        "possible within {window} days. The amount is {amount} KRW.",
        "주문 {id}: 환불할 수 있습니다. {delivered}에 배송되어 {today}까지 {days}일이 지났고, "
        "환불 기간은 {window}일입니다. 환불 금액은 {amount}원입니다.",
    ),
    "until": (
        "Order {id} can be refunded until {last}: it was delivered on {delivered}, and refunds are possible within "
        "{window} days. The amount is {amount} KRW.",
        "주문 {id}: {last}까지 환불할 수 있습니다. {delivered}에 배송되었고, 환불 기간은 {window}일입니다. "
        "환불 금액은 {amount}원입니다.",
    ),
    "too_old": (
        "No, order {id} cannot be refunded: it was delivered on {delivered}, {days} days before {today}, and refunds "
        "are possible only within {window} days.",
        "주문 {id}: 환불할 수 없습니다. {delivered}에 배송되어 {today}까지 {days}일이 지났고, "
        "환불 기간은 {window}일입니다.",
    ),
    "before_delivery": (
        "Order {id} was delivered on {delivered}, which is after {today}, so the days cannot be counted. Refunds are "
        "possible within {window} days.",
        "주문 {id}: 배송일 {delivered}이 {today}보다 뒤라서 날짜를 계산할 수 없습니다. 환불 기간은 {window}일입니다.",
    ),
    "not_yet": (
        "Order {id} cannot be refunded yet: its status is {status}, and the {window} days begin with the delivery"
        "{expected}. The amount is {amount} KRW.",
        "주문 {id}: 아직 환불할 수 없습니다. 현재 상태는 {status}이고, 환불 기간 {window}일은 배송된 날부터 시작합니다"
        "{expected}. 금액은 {amount}원입니다.",
    ),
    "closed": (
        "No, order {id} cannot be refunded: its status is {status}.",
        "주문 {id}: 환불할 수 없습니다. 현재 상태는 {status}입니다.",
    ),
    "final": (
        "No, order {id} cannot be refunded: sales of the category {category} are final.",
        "주문 {id}: 환불할 수 없습니다. {category} 상품은 환불되지 않는 품목입니다.",
    ),
    "expected": (" (expected on {day})", " (도착 예정일 {day})"),
    "paid": (
        "Done: {amount} KRW of order {id} has been refunded (refund {refund}).",
        "주문 {id}: {amount}원을 환불했습니다 (환불 번호 {refund}).",
    ),
    "priority": (
        "Done: the shipping priority of order {id} is now {new} (it was {old}).",
        "주문 {id}: 배송 우선순위를 {old}에서 {new}(으)로 변경했습니다.",
    ),
    "order": (
        "Order {id} ({product}, {amount} KRW, ordered on {ordered}): its status is {status}{when}.",
        "주문 {id} ({product}, {amount}원, 주문일 {ordered}): 현재 상태는 {status}입니다{when}.",
    ),
    "delivered_on": (", delivered on {day}", " (배송일 {day})"),
    "expected_on": (", expected on {day}", " (도착 예정일 {day})"),
    "parcel": (
        "The parcel of order {id} is {status} (place: {place}, carrier: {carrier}, tracking number: {number}, "
        "priority: {priority}){when}.",
        "주문 {id}의 상품: {status} (위치: {place}, 택배사: {carrier}, 운송장 번호: {number}, "
        "우선순위: {priority}){when}.",
    ),
    "list": ("You have {count} orders: {items}.", "주문이 {count}건 있습니다: {items}."),
    "item": ("{id} ({product}, {amount} KRW, {status})", "{id} ({product}, {amount}원, {status})"),
    "policy": (
        "Refunds are possible within {window} days after delivery. Final sale, not refundable: {final}.",
        "배송 후 {window}일 이내에 환불할 수 있습니다. 환불할 수 없는 품목: {final}.",
    ),
    "none": ("none", "없음"),
    "days": ("From {start} to {end} it is {days} days.", "{start}부터 {end}까지 {days}일입니다."),
    "cell": ("The result in {database} is {name} = {value}.", "{database} 조회 결과: {name} = {value}."),
    "rows": (
        "The query in {database} found {count} rows ({names}): {rows}{more}.",
        "{database} 조회 결과 {count}행 ({names}): {rows}{more}.",
    ),
    "more": ("; there are more", "; 더 있습니다"),
    "not_found": ("There is no order {id}.", "주문 {id}: 찾을 수 없습니다. 그런 주문 번호는 없습니다."),
    "other_customer": (
        "Order {id} belongs to another customer, so I cannot show or change anything about it.",
        "주문 {id}: 다른 고객의 주문이라 조회하거나 변경할 수 없습니다.",
    ),
    "no_shipment": ("Order {id} has no shipment, so it cannot be tracked.", "주문 {id}: 배송 정보가 없습니다."),
    "too_late": (
        "The shipping priority of order {id} cannot be changed any more.",
        "주문 {id}: 배송 우선순위를 더 이상 변경할 수 없습니다.",
    ),
    "not_refundable": ("Order {id} cannot be refunded.", "주문 {id}: 환불할 수 없습니다."),
    "too_much": (
        "The amount is more than what order {id} has left, so nothing was refunded.",
        "주문 {id}: 요청 금액이 환불 가능한 금액보다 커서 환불하지 않았습니다.",
    ),
    "not_allowed": (
        "This query is not allowed: the database may only be read, and customers' names and e-mails are private.",
        "허용되지 않는 조회라서 실행할 수 없습니다. "
        "데이터베이스는 읽기만 가능하고 고객의 이름과 이메일은 비공개입니다.",
    ),
    "bad_sql": ("The database could not run this SQL.", "이 SQL은 실행할 수 없습니다."),
    "too_much_work": ("The database gave this query up: too much work.", "조회가 너무 커서 실행할 수 없습니다."),
    "unavailable": (
        "A service did not answer, so a part of this is not known.",
        "서비스가 응답하지 않아 일부 내용은 확인할 수 없습니다.",
    ),
    "denied": ("This was not approved, so nothing was changed.", "승인되지 않아 아무것도 변경하지 않았습니다."),
}

_STATUS_KO: Final = {
    "processing": "상품 준비 중",
    "shipping": "배송 중",
    "delivered": "배송 완료",
    "cancelled": "취소",
    "returned": "반품",
    "refunded": "환불 완료",
    "preparing": "배송 준비 중",
    "in transit": "배송 중",
}


def say(language: Language, key: str, **values: Any) -> str:
    """One sentence (or part of one) in the language, with its values put in."""
    return _PHRASES[key][1 if language == "ko" else 0].format(**values)


def speaks_of(code: str) -> bool:
    """Whether there is a sentence for this error code."""
    return code in _PHRASES


def status_word(language: Language, status: Any) -> str:
    """A status as it stands in a sentence."""
    return _STATUS_KO.get(str(status), str(status)) if language == "ko" else str(status)


def money(amount: Any) -> str:
    """An amount with thousands separators; anything that is not a number as it is."""
    return f"{amount:,}" if isinstance(amount, int | float) else str(amount)
