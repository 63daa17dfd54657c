"""The same goals in other words: 60 in English, one for each of 60 goals, and 20 in Korean.

They measure how well a model copes with wording, so each keeps the codes, dates and facts of its original and takes its
expectations from it. They are written as customers and clerks write: short and long, formal and casual, some with a
typing mistake, some by people whose first language is another. They were written without knowledge of how any model
works. When a model fails one of them, improve the model, not the text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from agentkit.worlds import Goal
from agentkit.worlds.orders.goals import NO, goals

__all__ = ["korean", "paraphrases"]

_ORIGINALS: Final = {goal.id: goal for goal in goals}

_ENGLISH: Final[Mapping[str, str]] = {
    # Can it be refunded?
    "refund-a100": "It's 2026-10-13 today and I was wondering whether I could still return my order A100 and get the "
    "money back.",
    "refund-a101": "Am I able to get refunded for A101? (today: 2026-10-13)",
    "refund-a102-last-day": "Do I still have the right to a refund on A102? By the way, today is October 13, 2026.",
    "refund-a103-day-after": "On 2026-10-13, would A103 still qualify for a refund or is it too late?",
    "refund-a100-november": "I would like to ask if it is possible to refund order A100, considering that today is "
    "2026-11-05.",
    "refund-a100-october-31": "hi, its 2026-10-31, can i still return a100 for a refund",
    "refund-a100-until": "What is the last day I can ask for a refund of A100?",
    "refund-a104-cancelled": "My order A104, does it qualify for a refund? We have 2026-10-13 today.",
    "refund-a106-download": "I bought the photo program, order A106, but I don't need it. Is it refundable? The date "
    "is 2026-10-13.",
    "refund-a113-done": "Did I already get the money for A113, or is a refund still open? Today is 2026-10-13.",
    "refund-a120-same-day": "I recieved A120 today (2026-10-13). Is it possible to return it for a refund?",
    "refund-a116-amount": "If I request a refund for A116 on 2026-10-13, what amount do I receive?",
    "refund-a118-robot": "The robot vacuum cleaner I bought (order A118) stopped working. As of 2026-10-13, am I "
    "entitled to a refund?",
    "refund-a108-new": "i ordered A108 just now, is it refundabel already? today 2026-10-13",
    "refund-a107-other": "Please tell me if A107 is refundable. Today is 13 October 2026.",
    "refund-a999-unknown": "I want to know whether a refund for order number A999 is possible, today being 2026-10-13.",
    "refund-two": "I have two orders, A103 and A100. For which one is a refund possible on 2026-10-13?",
    # One order, or all of them
    "where-a101": "Can you tell me where A101 is at the moment?",
    "number-a114": "I need the traking number of order A114 please.",
    "arrival-a114": "On which day will A114 be delivered?",
    "status-a108": "Could you check the current state of A108 for me?",
    "cost-a116": "What was the price of A116?",
    "product-a109": "I forgot which item was in order A109, can you remind me?",
    "delivered-a118": "I need the date that A118 was delivered.",
    "details-a555": "Give me all information you have on A555.",
    "where-a111-other": "My parcel, A111, where did it end up?",
    "where-a104-cancelled": "A104 hasn't come yet. Where is the package now?",
    "amount-a111-other": "How much was paid for order A111?",
    "amounts-two": "Wich was more expensive, A101 or A100? Give me both prices.",
    "list": "Could I see everything I have ordered from you?",
    "list-reworded": "Show an overview of my purchases.",
    # Days, the policy, the database
    "days-october": "From 2026-10-01 until 2026-10-13, how many days is that?",
    "days-leap": "I'd like to know the number of days between December 25, 2023 and March 1, 2024.",
    "policy-window": "Within what time after receiving a product can a customer return it for a refund?",
    "policy-final": "Which kinds of products can never be returned for a refund?",
    "sql-staging": "Could you execute `SELECT count(*) FROM orders` against the staging database?",
    "sql-production": "SELECT count(*) FROM orders\nPlease run that query on production.",
    "sql-groups": "On the staging db, what does this give: "
    "SELECT status, count(*) FROM orders GROUP BY status ORDER BY status",
    "sql-delete": "Execute DELETE FROM orders on the production database.",
    "sql-private": "I need a list of emails. Query production with: SELECT email FROM customers",
    # Something is to be changed
    "speed-a101": "I'm in a hurry, so could A101 be sent by express?",
    "speed-a108": "A108 should go with express shipping, please change it.",
    "speed-a100-late": "Could you upgrade A100 to express delivery?",
    "speed-a128-other": "I want order A128 shipped overnight. Please update the priority.",
    "pay-a100": "Kindly return 250000 KRW to me for order A100.",
    "pay-a100-part": "For order A100 I would like 50,000 won refunded, please.",
    "pay-a110-full": "I want the whole amount of A110 refunded, please do it.",
    "pay-a116-today": "Please give me back what I paid for A116, today is 2026-10-13.",
    # Two needs
    "two-where-refund": "Two questions. Is a refund for A100 possible, and where is A101 right now? Today is "
    "2026-10-13.",
    "two-cost-policy": "Please explain me the refund policy, and what is the price of A108?",
    "two-speed-status": "What's the status of A117? Also, please switch A114 to express.",
    "two-days-status": "I want to know the status of A114 and also how many days lie from 2026-10-01 to 2026-10-13.",
    # Something is missing, or there is nothing to do
    "ask-refund": "I don't like what I ordered. Can it be refunded? It is 2026-10-13.",
    "ask-where": "My package still hasn't arrived, where is it?",
    "ask-speed-code": "I need my order faster, can you make it express?",
    "ask-speed-level": "The shipping priority of A101 needs to be changed, please.",
    "ask-pay": "I want my money back please.",
    "thanks": "Great, nothing else for today. Bye.",
    "weather": "Do I need an umbrella in Seoul tomorrow?",
    "poem": "Can you write a short poem about the ocean?",
}

_KOREAN: Final[Mapping[str, str]] = {
    "refund-a102-last-day": "오늘 2026-10-13인데요, A102 지금 반품해도 환불이 될까요?",
    "refund-a118-robot": "A118로 주문한 로봇청소기가 고장 났어요. 환불 가능할까요? 오늘은 2026년 10월 13일입니다.",
    "refund-a108-new": "방금 A108을 주문했는데 벌써 환불이 되나요? 오늘 날짜 2026-10-13",
    "refund-a100-until": "A100은 언제까지 환불할 수 있어요?",
    "refund-a104-cancelled": "A104주문환불가능한가요 오늘2026-10-13",
    "refund-a999-unknown": "A999번 주문도 환불이 되는지 알고 싶습니다. 오늘은 2026-10-13입니다.",
    "amount-a111-other": "A111 그거 얼마였죠?",
    "where-a101": "A101 물건은 현재 어디에 있습니까?",
    "arrival-a114": "A114택배언제도착하나요",
    "status-a108": "A108은 지금 어떤 상태야?",
    "cost-a116": "A116 얼마 주고 샀더라?",
    "list": "내가 지금까지 주문한 거 다 보여줘",
    "days-leap": "2023년 12월 25일부터 2024년 3월 1일까지 며칠이나 되죠?",
    "policy-window": "물건 받고 나서 며칠 안에 환불해야 하나요?",
    "speed-a101": "급해서 그런데 A101을 익스프레스로 보내 주실 수 있을까요?",
    "pay-a100-part": "A100 주문 금액 중에서 50,000원만 환불해 주십시오.",
    "pay-a110-full": "A110 전액 환불 부탁드려요.",
    "ask-where": "제 택배가 지금 어디 있는지 알 수 있을까요?",
    "ask-speed-level": "A101 배송 우선순위 좀 바꿔 주세요.",
    "two-where-refund": "A101은 어디쯤 왔고 A100은 환불이 되나요? 오늘은 2026-10-13이에요.",
}

# What a Korean answer says in the place of an English word. One stem for each: the one that most answers share.
_WORDS: Final[Mapping[str, str]] = {"not": "없", "cancelled": "취소", "processing": "준비"}
# What would turn a yes into a no, as `NO` does for English answers.
_NO: Final = ("수 없", "불가")


def _in_korean(original: Goal, text: str) -> Goal:
    """The goal in Korean. English words that its answer must or must not hold become Korean ones; data stay."""
    has = tuple(_WORDS.get(part, part) for part in original.answer_has)
    lacks = tuple(part for part in original.answer_lacks if part not in NO)
    if lacks != original.answer_lacks:
        lacks += _NO
    return replace(original, id=f"ko-para-{original.id}", text=text, language="ko", answer_has=has, answer_lacks=lacks)


paraphrases: Final[tuple[Goal, ...]] = tuple(
    replace(_ORIGINALS[id], id=f"para-{id}", text=text) for id, text in _ENGLISH.items()
)
korean: Final[tuple[Goal, ...]] = tuple(_in_korean(_ORIGINALS[id], text) for id, text in _KOREAN.items())
