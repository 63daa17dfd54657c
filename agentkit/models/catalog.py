"""Names and prices of models: one dated data file beside this one, and nowhere else.

Prices change; ``catalog.json`` says from when they are and where they come from. A model that is not listed has no price, and
then the cost of a run is unknown, never zero.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from agentkit.messages import Usage

FILE = Path(__file__).with_name("catalog.json")
Price: TypeAlias = Callable[..., float | None]

_DATE = re.compile(r"(.+?)[-@](?:\d{4}-\d{2}-\d{2}|\d{8})")


@functools.cache
def catalog() -> Mapping[str, Any]:
    """The whole data file."""
    found: Mapping[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def default_model(provider: str) -> str:
    """The model that is taken when nobody names one; ``provider`` is ``"openai"`` or ``"anthropic"``."""
    return str(catalog()["defaults"][provider])


def entry(table: str, model: str) -> Mapping[str, Any] | None:
    """What a table of the catalog says about a model. A name matches exactly, or with the date of its release behind it."""
    rows: Mapping[str, Mapping[str, Any]] = catalog()[table]
    if model in rows:
        return rows[model]
    dated = _DATE.fullmatch(model)
    return rows.get(dated.group(1)) if dated else None


def cost(
    model: str, input_tokens: int, output_tokens: int, cached_tokens: int = 0, written_tokens: int = 0
) -> float | None:
    """What a request costs in US dollars, or None when the price of this model is not known.

    Args:
        model: the name as the service gives it.
        input_tokens: all tokens of the request, the cached and the written ones among them.
        output_tokens: all tokens of the reply, those of its reasoning among them.
        cached_tokens: those that were read from the provider's cache.
        written_tokens: those that were written into it.
    """
    prices = entry("prices", model)
    if prices is None:
        return None
    if "long" in prices and input_tokens > prices["long"]["above"]:
        prices = prices["long"]
    fresh = max(input_tokens - cached_tokens - written_tokens, 0)
    parts = (
        fresh * prices["input"],
        cached_tokens * prices.get("cached_input", prices["input"]),
        written_tokens * prices.get("cache_write", prices["input"]),
        output_tokens * prices["output"],
    )
    return float(sum(parts)) / 1_000_000


def usage_of(
    model: str,
    input_tokens: int,
    output_tokens: int,
    cached_tokens: int = 0,
    written_tokens: int = 0,
    *,
    price: Price = cost,
) -> Usage:
    """The usage of one reply with its cost. The arguments are those of `cost`."""
    dollars = price(model, input_tokens, output_tokens, cached_tokens, written_tokens)
    return Usage(input_tokens, output_tokens, cached_tokens, dollars)


UNKNOWN = Usage(cost=None)  # a reply without usage: its cost is unknown, which is not the same as free
