"""What the model is told and what is checked are one thing: the schema, the strict form, and the words of errors."""

from __future__ import annotations

import json
from typing import Any

import pytest
from _schema_samples import EXAMPLES, STRICT, TOOLS, Part
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, FormatChecker
from strategies import json_values, profile

from agentkit import Registry, Tool, tool
from agentkit._schema import ArgumentsError
from agentkit._strict import strict_form

by_name = pytest.mark.parametrize("made", TOOLS.values(), ids=TOOLS)


def accepts(made: Tool, arguments: Any) -> bool:
    try:
        made.validate(arguments)
    except ArgumentsError:
        return False
    return True


def judge(schema: Any) -> Draft202012Validator:
    return Draft202012Validator(schema, format_checker=FormatChecker(["date", "date-time"]))


class TestTheSchemaItself:
    @by_name
    def test_it_is_a_valid_json_schema_and_json(self, made: Tool) -> None:
        Draft202012Validator.check_schema(made.parameters)
        assert json.loads(json.dumps(made.parameters, allow_nan=False)) == made.parameters
        assert made.parameters["type"] == "object" and made.parameters["additionalProperties"] is False

    @by_name
    def test_good_examples_pass_both(self, made: Tool) -> None:
        for example in EXAMPLES[made.name]:
            assert judge(made.parameters).is_valid(example) and accepts(made, example)

    @by_name
    def test_an_unknown_name_fails_both(self, made: Tool) -> None:
        wrong = {**EXAMPLES[made.name][0], "nobody": 1}
        assert not judge(made.parameters).is_valid(wrong) and not accepts(made, wrong)

    @by_name
    def test_what_the_schema_accepts_the_tool_accepts(self, made: Tool) -> None:
        """The other direction is laxer: "5" is taken for an integer, since models write that."""

        @profile(60)
        @given(arguments_for(made))
        def check(arguments: dict[str, Any]) -> None:
            if judge(made.parameters).is_valid(arguments):
                made.validate(arguments)

        check()

    def test_a_text_that_is_a_number_is_taken_for_one(self) -> None:
        assert TOOLS["flat"].validate({"city": "a", "limit": "5"})["limit"] == 5
        assert not accepts(TOOLS["flat"], {"city": 5})


def arguments_for(made: Tool) -> st.SearchStrategy[dict[str, Any]]:
    """Mostly right arguments: an example with some values replaced, left out, or added."""
    likely = st.sampled_from(
        [None, "m", "fast", "x", 1, 0, 51, "5", 1.0, 1.5, True, [], [1], ["a"], {}, {"name": "a"}, {"value": 2}]
    )
    dates = st.dates().map(str) | st.sampled_from(["2026-02-30", "2026-1-1", "today", "2026-10-13T00:00:00Z"])
    value = likely | dates | json_values
    changes = st.dictionaries(st.sampled_from([*made.parameters["properties"], "nobody"]), value, max_size=2)
    parts = st.fixed_dictionaries({"name": st.text(max_size=3)}, optional={"count": value, "unit": value, "z": value})
    if made.name == "nested":
        changes = st.dictionaries(st.sampled_from(["part", "best"]), parts | value, max_size=2)
    dropped = st.sets(st.sampled_from([*made.parameters["properties"], "nobody"]), max_size=1)
    examples = st.sampled_from(EXAMPLES[made.name])
    return st.builds(
        lambda base, new, gone: {key: item for key, item in {**base, **new}.items() if key not in gone},
        examples, changes, dropped,
    )  # fmt: skip


def objects(part: Any) -> list[dict[str, Any]]:
    """Every object schema inside a schema."""
    if isinstance(part, list):
        return [found for item in part for found in objects(item)]
    if not isinstance(part, dict):
        return []
    own = [part] if part.get("type") == "object" else []
    return own + [found for item in part.values() for found in objects(item)]


class TestStrict:
    @pytest.mark.parametrize("name", [function.__name__ for function in STRICT])
    def test_every_object_is_closed_and_lists_every_key(self, name: str) -> None:
        made = TOOLS[name]
        strict = made.strict_parameters
        assert made.strict and made.strict_reason == "" and strict is not None
        Draft202012Validator.check_schema(strict)
        for part in objects(strict):
            assert part["additionalProperties"] is False
            assert sorted(part["required"]) == sorted(part["properties"])
        assert '"default"' not in json.dumps(strict)

    @pytest.mark.parametrize(("name", "words"), [("free", "data"), ("anything", "value")])
    def test_no_strict_form_has_a_reason_that_names_the_place(self, name: str, words: str) -> None:
        made = TOOLS[name]
        assert not made.strict and made.strict_parameters is None
        assert words in made.strict_reason and made.strict_reason.endswith(".")

    def test_strict_is_claimed_only_where_the_strict_schema_is_sent(self) -> None:
        for made in TOOLS.values():
            registry = Registry([made])
            chat, responses, claude = (
                registry.openai()[0]["function"],
                registry.openai("responses")[0],
                registry.anthropic()[0],
            )
            assert chat["strict"] is responses["strict"] is made.strict
            wanted = made.strict_parameters if made.strict else made.parameters
            assert chat["parameters"] == responses["parameters"] == wanted
            # Anthropic's strict form takes no limits of numbers and lengths.
            bounded = any(
                word in json.dumps(wanted) for word in ('"minimum"', '"exclusiveMinimum"', '"maximum"', '"minLength"')
            )
            assert bool(claude.get("strict")) is (made.strict and not bounded)
            assert claude["input_schema"] == (wanted if claude.get("strict") else made.parameters)

    @pytest.mark.parametrize("name", [function.__name__ for function in STRICT])
    def test_what_the_strict_form_accepts_the_tool_accepts(self, name: str) -> None:
        made = TOOLS[name]

        @profile(40)
        @given(filled(made.strict_parameters or {}, made.strict_parameters or {}))
        def check(arguments: dict[str, Any]) -> None:
            assert judge(made.strict_parameters).is_valid(arguments)
            made.validate(arguments)

        check()

    def test_null_means_the_default_also_deep_inside(self) -> None:
        assert TOOLS["flat"].validate({"city": "a", "unit": None, "limit": None}) == {
            "city": "a",
            "unit": "C",
            "limit": 10,
        }
        part = {"name": "a", "count": None, "unit": None}
        got = TOOLS["nested"].validate({"part": part, "parts": [part, {"name": "b", "count": 3}], "best": part})
        assert got["part"] == got["parts"][0] == got["best"] == Part(name="a") and got["parts"][1].count == 3
        deep = {"value": 1, "children": [{"value": 2, "children": None}]}
        assert TOOLS["recursive"].validate({"tree": deep})["tree"].children[0].children == []

    def test_null_for_something_required_is_still_wrong(self) -> None:
        with pytest.raises(ArgumentsError, match="city must be a string, but it is null"):
            TOOLS["flat"].validate({"city": None, "unit": None})

    def test_null_that_is_a_value_stays_null(self) -> None:
        @tool
        def f(x: int | None = 5) -> None:
            """Text."""

        assert f.validate({"x": None}) == {"x": None}

    @pytest.mark.parametrize(
        "schema",
        [
            {"type": "object", "properties": {"x": {"type": "array", "prefixItems": [{"type": "string"}]}}},
            {"type": "object", "properties": {"x": {"allOf": [{"type": "string"}, {"minLength": 1}]}}},
            {"type": "object", "properties": {"x": {"type": "array"}}}, {"type": "object", "properties": {"x": True}},
            {"type": "object", "properties": {"x": {"type": "object"}}}, {"type": "object", "additionalProperties": {"type": "string"}},
        ],
    )  # fmt: skip
    def test_foreign_schemas_that_cannot_be_strict(self, schema: dict[str, Any]) -> None:
        strict, reason = strict_form(schema)
        assert strict is None and reason


def filled(part: dict[str, Any], root: dict[str, Any], depth: int = 0) -> st.SearchStrategy[Any]:
    """Values that a strict schema accepts (jsonschema checks that in the test)."""
    if "$ref" in part:
        return filled(root["$defs"][part["$ref"].rpartition("/")[2]], root, depth + 1)
    if "anyOf" in part:
        return st.one_of([filled(option, root, depth) for option in part["anyOf"]])
    if "enum" in part:
        return st.sampled_from(part["enum"])
    kind = part["type"]
    if kind == "object":
        return st.fixed_dictionaries({key: filled(item, root, depth) for key, item in part["properties"].items()})
    if kind == "array":
        return st.lists(st.deferred(lambda: filled(part["items"], root, depth)), max_size=0 if depth > 2 else 2)
    integers = st.integers(part.get("minimum", -(10**9)), part.get("maximum", 10**9))
    plain = {
        "string": st.text(max_size=4), "integer": integers, "number": st.floats(-1e6, 1e6), "boolean": st.booleans(), "null": st.none(),
    }  # fmt: skip
    return st.dates().map(str) if part.get("format") == "date" else plain[kind]
