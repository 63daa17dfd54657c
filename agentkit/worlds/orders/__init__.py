"""The world `orders`: an online shop's help desk with one customer signed in. All data are invented.

`tools` is a list of tools on a fresh copy of the data each time it is asked for. `open_desk` gives the desk itself,
for another customer, another date, or with slow and failing tools.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from agentkit.worlds import Goal
from agentkit.worlds.orders.desk import CUSTOMER, TODAY, Desk, Hook, make_tools, open_desk, unavailable
from agentkit.worlds.orders.goals import GOAL_REFUND, GOAL_REFUND_KO, goals
from agentkit.worlds.orders.rules import rules

if TYPE_CHECKING:
    from agentkit.tools import Tool

    tools: list[Tool]

__all__ = [
    "CUSTOMER",
    "GOAL_REFUND",
    "GOAL_REFUND_KO",
    "TODAY",
    "Desk",
    "Goal",
    "Hook",
    "goals",
    "make_tools",
    "open_desk",
    "rules",
    "system",
    "tools",
    "unavailable",
]

system: Final = (
    "You work at the help desk of an online shop. One customer is signed in, and you may only handle their own orders. "
    "Look facts up with the tools; never guess an order code, an amount or a date. If something you need is not known, "
    "ask for it. Never pay money back unless the customer asks for it. Answer briefly, in the customer's language, and "
    "name the facts your answer rests on."
)


def __getattr__(name: str) -> Any:
    # A list made at import would carry one cell's writes into the next, so each request opens a fresh desk.
    if name == "tools":
        return make_tools()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
