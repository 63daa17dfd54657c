"""A function becomes a tool: every kind of hint, of function and of docstring, and a sentence for every bad definition."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from agentkit import DefinitionError, Registry, Tool, ToolCall, tool
from agentkit._schema import ArgumentsError


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Item(BaseModel):
    name: str
    count: int = 1


class Node(BaseModel):
    value: int
    children: list[Node] = []


@dataclass
class Point:
    x: int
    y: int = 0


def schema_of(made: Tool, key: str) -> dict[str, Any]:
    found: dict[str, Any] = made.parameters["properties"][key]
    return found


class TestHints:
    def test_plain_types_defaults_and_required(self) -> None:
        @tool
        def f(a: str, b: int, c: float = 1.5, d: bool = True, e: str | None = None) -> str:
            """Text."""
            return a

        assert f.parameters["type"] == "object" and f.parameters["additionalProperties"] is False
        assert f.parameters["required"] == ["a", "b"]
        assert schema_of(f, "c") == {"type": "number", "default": 1.5}
        assert schema_of(f, "d") == {"type": "boolean", "default": True}
        assert schema_of(f, "e")["anyOf"] == [{"type": "string"}, {"type": "null"}]
        assert f.validate({"a": "x", "b": 2}) == {"a": "x", "b": 2, "c": 1.5, "d": True, "e": None}

    def test_annotated_field_gives_description_and_bounds(self) -> None:
        @tool
        def f(
            n: Annotated[int, Field(description="How many.", ge=1, le=9)], code: Annotated[str, Field(pattern="^A")]
        ) -> int:
            """Text."""
            return n

        assert schema_of(f, "n") == {"type": "integer", "description": "How many.", "minimum": 1, "maximum": 9}
        assert schema_of(f, "code")["pattern"] == "^A"
        with pytest.raises(ArgumentsError, match="n must be at most 9, but it is 10"):
            f.validate({"n": 10, "code": "A"})

    def test_literal_enum_and_dates(self) -> None:
        @tool
        def f(mode: Literal["fast", "full"], colour: Colour, day: date, at: datetime | None = None) -> str:
            """Text."""
            return mode

        assert schema_of(f, "mode")["enum"] == ["fast", "full"]
        assert schema_of(f, "day") == {"type": "string", "format": "date"}
        given = f.validate({"mode": "fast", "colour": "red", "day": "2026-10-13", "at": "2026-10-13T08:00:00Z"})
        assert given["colour"] is Colour.RED and given["day"] == date(2026, 10, 13)
        assert isinstance(given["at"], datetime) and given["at"].utcoffset() is not None
        with pytest.raises(ArgumentsError, match="mode must be one of 'fast', 'full', but it is \"slow\""):
            f.validate({"mode": "slow", "colour": "red", "day": "2026-10-13"})

    def test_models_lists_dicts_and_dataclasses_arrive_as_instances(self) -> None:
        @tool
        def f(one: Item, many: list[Item], named: dict[str, Item], point: Point, maybe: Item | None = None) -> str:
            """Text."""
            return one.name

        item = {"name": "a"}
        given = f.validate({"one": item, "many": [item], "named": {"k": item}, "point": {"x": 1}, "maybe": item})
        assert given["one"] == given["many"][0] == given["named"]["k"] == given["maybe"] == Item(name="a")
        assert given["point"] == Point(1)
        with pytest.raises(ArgumentsError, match=r"many\[1\]\.name is required"):
            f.validate({"one": item, "many": [item, {}], "named": {}, "point": {"x": 1}})

    def test_a_recursive_model(self) -> None:
        @tool
        def f(tree: Node) -> int:
            """Text."""
            return len(tree.children)

        assert "$defs" in f.parameters and json.dumps(f.parameters)
        given = f.validate({"tree": {"value": 1, "children": [{"value": 2, "children": [{"value": 3}]}]}})
        assert given["tree"].children[0].children[0].value == 3

    def test_a_local_class_under_the_future_import(self) -> None:
        class Local(BaseModel):
            x: int

        @tool
        def f(one: Local, many: Annotated[list[Local], Field(description="Many.")]) -> int:
            """Text."""
            return one.x

        assert schema_of(f, "many")["description"] == "Many."
        assert isinstance(f.validate({"one": {"x": 1}, "many": [{"x": 2}]})["many"][0], Local)


class Shop:
    """Callable, and with methods."""

    def __init__(self, name: str) -> None:
        self.name = name

    def plain(self, x: int) -> str:
        """A bound method."""
        return f"{self.name}{x}"

    @tool
    def decorated(self, x: int) -> str:
        """A method that is a tool."""
        return f"{self.name}{x}"

    async def later(self, x: int) -> str:
        """An async method."""
        return f"{self.name}{x}"

    @classmethod
    def of_class(cls, x: int) -> str:
        """A class method."""
        return f"{cls.__name__}{x}"

    @staticmethod
    def free(x: int) -> str:
        """A static method."""
        return f"free{x}"

    def __call__(self, x: int) -> str:
        """Call the shop."""
        return f"{self.name}{x}"


def scale(x: int, factor: int = 2, unit: str = "m") -> str:
    """Scale a number."""
    return f"{x * factor}{unit}"


async def later(x: int) -> str:
    """Later."""
    return f"later{x}"


def wrapped(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def inner(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return inner


KINDS: list[tuple[Any, str, str]] = [
    (scale, "scale", "6m"), (later, "later", "later3"), (Shop("s").plain, "plain", "s3"), (Shop("s").decorated, "decorated", "s3"),
    (Shop("s").later, "later", "s3"), (Shop.of_class, "of_class", "Shop3"), (Shop.free, "free", "free3"), (Shop("s"), "Shop", "s3"),
    (functools.partial(scale, unit="cm"), "scale", "6cm"), (functools.partial(functools.partial(scale, unit="cm"), factor=3), "scale", "9cm"),
    (functools.partial(later), "later", "later3"), (wrapped(scale), "scale", "6m"), (functools.partial(Shop("s").plain), "plain", "s3"),
]  # fmt: skip


class TestFunctions:
    @pytest.mark.parametrize(("function", "name", "wanted"), KINDS, ids=lambda item: getattr(item, "__name__", None))
    def test_every_kind_of_function(self, function: Any, name: str, wanted: str) -> None:
        made = tool(function)
        assert made.name == name and made.description
        assert "self" not in made.parameters["properties"] and "cls" not in made.parameters["properties"]
        assert Registry([made]).call(ToolCall(name, {"x": 3})).data == wanted

    def test_what_a_partial_has_set_is_not_offered(self) -> None:
        made = tool(functools.partial(scale, factor=5))
        assert list(made.parameters["properties"]) == ["x", "unit"]

    def test_a_positional_partial(self) -> None:
        made = tool(functools.partial(scale, 7))
        assert list(made.parameters["properties"]) == ["factor", "unit"]
        assert Registry([made]).call(ToolCall("scale", {"factor": 3})).data == "21m"

    def test_a_positional_only_parameter_is_passed_or_refused(self) -> None:
        def f(x: int, /, y: int = 1) -> int:
            """Text."""
            return x + y

        try:
            made = tool(f)
        except DefinitionError as error:
            assert "'x'" in str(error)
        else:
            assert Registry([made]).call(ToolCall("f", {"x": 3})).data == 4

    def test_calling_the_tool_calls_the_function(self) -> None:
        assert tool(scale)(3) == "6m" and Shop("s").decorated(4) == "s4"

    def test_a_tool_of_a_tool_and_of_the_class_attribute(self) -> None:
        again = tool(name="other", permission="write")(tool(scale))
        assert (again.name, again.permission, again.function) == ("other", "write", scale)
        assert list(Shop.decorated.parameters["properties"]) == ["x"]

    def test_options(self) -> None:
        made = tool(name="n", description="D.", permission="dangerous", timeout=2)(scale)
        assert (made.name, made.description, made.permission, made.approval, made.timeout) == (
            "n",
            "D.",
            "dangerous",
            True,
            2,
        )
        assert tool(permission="dangerous", approval=False)(scale).approval is False
        assert repr(made) == "Tool(n(x, factor, unit), dangerous, approval)"
