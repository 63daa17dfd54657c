"""What the model is told and what is checked are one thing: the schema, the strict form, and the words of errors."""

from __future__ import annotations

import json
from datetime import date
from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, FormatChecker
from pydantic import BaseModel, Field
from strategies import json_values, profile

from agentkit import Registry, Tool, ToolCall, tool
from agentkit._schema import ArgumentsError
from agentkit._strict import strict_form
from agentkit._wire import wire_name


class Unit(Enum):
    METRE = "m"
    FOOT = "ft"


class Part(BaseModel):
    name: str
    count: int = 1
    unit: Unit | None = None


class Tree(BaseModel):
    value: int
    children: list[Tree] = []


def flat(city: str, unit: str = "C", limit: Annotated[int, Field(ge=1, le=50)] = 10) -> None:
    """Plain values with defaults."""


def choice(
    mode: Literal["fast", "full"], unit: Unit, maybe: Unit | None, other: Literal["x", "y"] | None = None
) -> None:
    """Choices, some of which may be null."""


def nested(part: Part, parts: list[Part], best: Part | None = None) -> None:
    """Models inside."""


class Closed(BaseModel, extra="forbid"):
    name: str


def closed(part: Closed) -> None:
    """A model that takes no other fields."""


def recursive(tree: Tree) -> None:
    """A model in itself."""


def dated(day: date, numbers: list[int], ratio: float = 0.5, flag: bool = False) -> None:
    """Dates and lists."""


def mixed(value: int | str | list[int], texts: list[str] | None = None) -> None:
    """Unions."""


def free(data: dict[str, Any], counts: dict[str, int]) -> None:
    """Objects with free keys."""


def nothing() -> None:
    """No parameters."""


def anything(value: Any) -> None:
    """Any value."""


STRICT = [flat, choice, nested, closed, recursive, dated, mixed, nothing]
TOOLS: dict[str, Tool] = {function.__name__: tool(function) for function in [*STRICT, free, anything]}
by_name = pytest.mark.parametrize("made", TOOLS.values(), ids=TOOLS)

EXAMPLES: dict[str, list[dict[str, Any]]] = {
    "flat": [{"city": "Seoul"}, {"city": "", "unit": "F", "limit": 50}],
    "choice": [{"mode": "fast", "unit": "m", "maybe": None}, {"mode": "full", "unit": "ft", "maybe": "m", "other": "x"}],
    "nested": [{"part": {"name": "a"}, "parts": []}, {"part": {"name": "a", "unit": None}, "parts": [{"name": "b", "count": 2}]}],
    "closed": [{"part": {"name": "a"}}],
    "recursive": [{"tree": {"value": 1, "children": [{"value": 2}]}}],
    "dated": [{"day": "2026-10-13", "numbers": [1, 2]}, {"day": "2026-10-13", "numbers": [], "ratio": 1, "flag": True}],
    "mixed": [{"value": 1}, {"value": "a", "texts": ["b"]}, {"value": [1], "texts": None}],
    "free": [{"data": {"a": [1]}, "counts": {"b": 2}}],
    "nothing": [{}],
    "anything": [{"value": {"a": 1}}],
}  # fmt: skip


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
            assert bool(claude.get("strict")) is made.strict
            wanted = made.strict_parameters if made.strict else made.parameters
            assert chat["parameters"] == responses["parameters"] == claude["input_schema"] == wanted

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
