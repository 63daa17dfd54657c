"""Names as providers accept them, and validation errors as sentences in our own words."""

from __future__ import annotations

from typing import Any

import pytest
from _schema_samples import TOOLS, flat
from hypothesis import given
from hypothesis import strategies as st
from strategies import profile

from agentkit import Registry, ToolCall, tool
from agentkit._schema import ArgumentsError
from agentkit._wire import wire_name


class TestNames:
    @profile(100)
    @given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=80))
    def test_any_name_is_mapped_to_one_that_providers_accept_and_back(self, name: str) -> None:
        if not name.strip():
            return
        made = tool(name=name)(flat)
        registry = Registry([made])
        sent = registry.openai()[0]["function"]["name"]
        assert 1 <= len(sent) <= 64 and all(c.isascii() and (c.isalnum() or c in "_-") for c in sent)
        assert sent == registry.anthropic()[0]["name"] == wire_name(name)
        result = registry.call(ToolCall(sent, {"city": "a"}))
        assert result.ok and result.name == name

    def test_good_names_stay_and_different_names_stay_different(self) -> None:
        assert wire_name("get_order-2") == "get_order-2"
        names = ["a.b", "a b", "a/b", "a_b", "도구", "공구", "x" * 65, "x" * 66]
        assert len({wire_name(name) for name in names}) == len(names)


class TestWords:
    @pytest.mark.parametrize(
        ("name", "arguments", "sentence"),
        [
            ("flat", {}, "city is required."),
            ("flat", {"citty": "a"}, "Did you mean 'city'? The parameters are: city, unit, limit."),
            ("flat", {"city": "a", "limit": 0}, "limit must be at least 1, but it is 0."),
            ("flat", {"city": [1]}, "city must be a string, but it is [1]."),
            ("nothing", {"x": 1}, "x is not a parameter. It takes no parameters."),
            ("choice", {"mode": "fast", "unit": "inch", "maybe": None}, "unit must be one of 'm', 'ft', but it is \"inch\"."),
            ("closed", {"part": {"name": "a", "nam": 1}}, "part.nam is not a parameter. Did you mean 'name'?"),
            ("nested", {"part": 5, "parts": []}, "part must be an object with name, count, unit, but it is 5."),
            ("recursive", {"tree": {"value": 1, "children": [{"value": "x"}]}}, "tree.children[0].value must be an integer, but it is \"x\"."),
            ("dated", {"day": "2026-02-30", "numbers": []}, "day must be a date (YYYY-MM-DD), but it is \"2026-02-30\"."),
            ("mixed", {"value": None}, "an integer or a string or a list"),
        ],
    )  # fmt: skip
    def test_sentences(self, name: str, arguments: dict[str, Any], sentence: str) -> None:
        with pytest.raises(ArgumentsError) as caught:
            TOOLS[name].validate(arguments)
        text = str(caught.value)
        assert sentence in text and "pydantic" not in text and "https://" not in text

    def test_many_mistakes_are_five_sentences_and_a_long_value_is_cut(self) -> None:
        with pytest.raises(ArgumentsError) as caught:
            TOOLS["dated"].validate({"day": "x" * 10_000, "numbers": ["a"] * 100})
        assert len(str(caught.value)) < 600 and str(caught.value).count("must be") == 5
