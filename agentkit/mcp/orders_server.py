"""A server for the help desk of the sample shop.

python -m agentkit.mcp.orders_server
python -m agentkit.mcp.orders_server --customer C02
"""

from __future__ import annotations

import argparse
import contextlib
import json
from collections.abc import Sequence

from agentkit.errors import DefinitionError
from agentkit.mcp.offers import Prompt, Resource
from agentkit.mcp.server import Server
from agentkit.mcp.stdio import serve_stdio
from agentkit.registry import Registry
from agentkit.worlds import orders


def orders_server(customer: str = orders.CUSTOMER) -> Server:
    """A server on a fresh copy of the shop's data. Raises `DefinitionError` when there is no such customer."""
    desk = orders.open_desk(customer)
    policy = Resource(
        "orders://refund-policy",
        "refund policy",
        lambda: json.dumps(desk.refund_policy(), ensure_ascii=False),
        "How many days after delivery a refund is possible, and which sales are final.",
        "application/json",
    )
    prompt = Prompt(
        "can_it_be_refunded",
        lambda order_id: f"Can my order {order_id} be refunded? Today is {desk.today.isoformat()}.",
        "Ask whether an order can be refunded.",
        {"order_id": "The code of the order, such as A100."},
    )
    return Server(
        "orders", registry=Registry(desk.tools), resources=[policy], prompts=[prompt], instructions=orders.system
    )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m agentkit.mcp.orders_server", description="Serve the shop over stdio."
    )
    parser.add_argument("--customer", default=orders.CUSTOMER, help="who is signed in")
    given = parser.parse_args(arguments)
    try:
        server = orders_server(given.customer)
    except DefinitionError as error:
        parser.error(str(error))
    with contextlib.suppress(KeyboardInterrupt):
        serve_stdio(server)


if __name__ == "__main__":
    main()
