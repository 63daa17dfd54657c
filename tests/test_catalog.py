"""Names and prices of models: what the data file says, against an independent price list where it is installed."""

from __future__ import annotations

import datetime
import re
from pathlib import Path
from typing import Any

import pytest

import agentkit
from agentkit import Usage
from agentkit.models import catalog
from agentkit.models.catalog import FILE, cost, default_model, entry, usage_of

PRICES: dict[str, Any] = dict(catalog.catalog()["prices"])
FREE = ("offline", "scripted", "local")


def test_the_file_says_from_when_it_is_and_where_it_comes_from() -> None:
    data = catalog.catalog()
    assert datetime.date.fromisoformat(data["dated"]) > datetime.date(2026, 1, 1)
    assert "genai-prices" in data["source"] and "million" in data["unit"]


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_each_provider_has_a_default_with_a_price(provider: str) -> None:
    assert default_model(provider) in PRICES


@pytest.mark.parametrize("name", PRICES)
def test_a_price_is_whole_and_plausible(name: str) -> None:
    for row in (PRICES[name], PRICES[name].get("long")):
        if row is not None:
            assert (
                {"input", "cached_input", "output"}
                <= set(row)
                <= {"input", "cached_input", "cache_write", "output", "long", "above"}
            )
            assert row["cached_input"] <= row["input"] <= row["output"] and (row["input"] > 0) == (name not in FREE)


def test_a_cost_by_hand() -> None:
    # 1,000 tokens in, 400 of them from the cache, 200 out: 600 x 0.25 + 400 x 0.025 + 200 x 2, per million.
    assert cost("gpt-5-mini", 1000, 200, 400) == pytest.approx(0.00056)
    # 1,000 in, 100 written into the cache, 300 read from it: 600 x 1 + 300 x 0.1 + 100 x 1.25 + 50 x 5.
    assert cost("claude-haiku-4-5", 1000, 50, 300, 100) == pytest.approx(0.001005)
    # Above 272,000 tokens every token has the higher price: 300,000 x 0.2 + 1,000 x 0.75.
    assert cost("gpt-6-luna", 300_000, 1000) == pytest.approx(0.06075)
    assert cost("gpt-6-luna", 272_000, 0) == pytest.approx(0.0272)


@pytest.mark.parametrize("date", ["-2025-08-07", "-20251001", "@20260101"])
@pytest.mark.parametrize("name", ["gpt-5-mini", "claude-haiku-4-5", "claude-sonnet-5"])
def test_a_name_with_a_date_is_the_model_without_it(name: str, date: str) -> None:
    assert entry("prices", name + date) is PRICES[name]


@pytest.mark.parametrize(
    "name", ["", "gpt-5-mini-high", "gpt-5-mini-2025", "my-gpt-5-mini", "openai/gpt-5-mini", "unknown", "GPT-5-MINI"]
)
def test_a_model_that_is_not_listed_has_no_price(name: str) -> None:
    assert entry("prices", name) is None and cost(name, 1000, 10) is None
    assert usage_of(name, 1000, 10) == Usage(1000, 10, 0, None)


@pytest.mark.parametrize("name", FREE)
def test_models_without_a_service_cost_nothing(name: str) -> None:
    assert cost(name, 1000, 1000) == 0.0


def test_more_cached_than_sent_is_no_negative_price() -> None:
    assert cost("gpt-5-mini", 10, 0, 400) == pytest.approx(400 * 0.025 / 1e6)


def test_an_unknown_cost_makes_the_sum_unknown() -> None:
    assert (usage_of("gpt-5-mini", 10, 10) + catalog.UNKNOWN).cost is None


@pytest.mark.parametrize("name", [name for name in PRICES if name not in FREE])
def test_the_prices_are_those_of_an_independent_list(name: str) -> None:
    prices = pytest.importorskip("genai_prices", reason="genai-prices is not installed (extra: dev)")
    from genai_prices.types import Usage as Theirs

    when = datetime.datetime.fromisoformat(f"{catalog.catalog()['dated']}T12:00:00+00:00")
    provider = "anthropic" if name.startswith("claude") else "openai"
    for total, cached, written, out in (
        (1000, 0, 0, 100),
        (1000, 400, 0, 100),
        (1000, 300, 100, 7),
        (300_000, 9, 0, 9),
    ):
        if written and "cache_write" not in PRICES[name]:
            continue
        theirs = Theirs(input_tokens=total, cache_read_tokens=cached, cache_write_tokens=written, output_tokens=out)
        wanted = prices.calc_price(theirs, name, provider_id=provider, genai_request_timestamp=when).total_price
        assert cost(name, total, out, cached, written) == pytest.approx(float(wanted)), (total, cached, written)


NAME = re.compile(r"\b(?:gpt-\d[\w.\-]*|o[134](?:-mini)?|claude-(?:haiku|sonnet|opus|fable)[\w.\-]*)\b")


def test_no_model_name_of_a_service_stands_anywhere_else() -> None:
    package = Path(agentkit.__file__).parent
    found = {
        f"{path.relative_to(package).as_posix()}: {match}"
        for path in (*package.rglob("*.py"), *package.rglob("*.json"))
        if path != FILE
        for match in NAME.findall(path.read_text(encoding="utf-8"))
    }
    assert found == set()
    assert len(set(NAME.findall(FILE.read_text(encoding="utf-8")))) > 12, "this check finds nothing at all"
