"""A streaming agent for tests: its script, its tools, and what it paid."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from agentkit import (
    Agent,
    CallTools,
    FinalAnswer,
    Message,
    ProviderError,
    Reply,
    ScriptedModel,
    TextDelta,
    ToolCall,
    ToolSpec,
    tool,
)  # fmt: skip

HOSTILE = "<script>alert(1)</script>"
paid: list[int] = []


class Streaming(ScriptedModel):
    """Streams the text of each scripted decision in pieces that end after a space; a decision may break it off."""

    def stream(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Iterator[TextDelta | Reply]:
        reply = self.decide(messages, tools)
        assert isinstance(reply, Reply)
        decision = reply.decision
        text = decision.text if isinstance(decision, FinalAnswer) else decision.thought
        for piece in re.findall(r"\S+\s*", text):
            if piece == "BREAK":
                raise ProviderError("The connection broke off. Try again.")
            yield TextDelta(piece)
        yield TextDelta("")
        yield reply


@tool
def lookup(order_id: str) -> dict[str, str]:
    """Look up an order.

    Args:
        order_id: the code
    """
    return {"order_id": order_id, "status": HOSTILE}


@tool(permission="write", approval=True)
def refund(amount: int) -> str:
    """Pay money back.

    Args:
        amount: in KRW
    """
    paid.append(amount)
    return f"paid {amount}"


LOOK = CallTools("I look it up.", (ToolCall("lookup", {"order_id": "A100"}),))
SILENT = CallTools("", (ToolCall("lookup", {"order_id": "A101"}),))
PAY = CallTools("I pay it back.", (ToolCall("refund", {"amount": 3}),))
ANSWER = FinalAnswer("", "네, 환불할 수 있습니다.")


def streaming(*decisions: Any) -> Agent:
    return Agent(Streaming(decisions), [lookup, refund], ids=lambda: "r")
