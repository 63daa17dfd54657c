"""Docstrings of three styles become descriptions; a bad definition is a sentence that names the parameter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import pytest
from pydantic import Field

from agentkit import DefinitionError, Tool, tool
from agentkit._docstring import read_docstring


def schema_of(made: Tool, key: str) -> dict[str, Any]:
    found: dict[str, Any] = made.parameters["properties"][key]
    return found


def scale(x: int, factor: int = 2) -> int:
    """Scale a number."""
    return x * factor


GOOGLE = """Do it.

    More words.

    Args:
        mode (str): One of:
            - fast
            - deep
        limit: How many.

    Returns:
        str: the answer.
    """
NUMPY = """Do it.

    More words.

    Parameters
    ----------
    mode : str
        One of:
        - fast
        - deep
    limit : int, optional
        How many.

    Returns
    -------
    str
    """
SPHINX = """Do it.

    More words.

    :param mode: One of:
        - fast
        - deep
    :param limit: How many.
    :returns: the answer
    """


class TestDocstrings:
    @pytest.mark.parametrize("text", [GOOGLE, NUMPY, SPHINX], ids=["google", "numpy", "sphinx"])
    def test_three_styles(self, text: str) -> None:
        def f(mode: str, limit: int = 3) -> str:
            return mode

        f.__doc__ = text
        made = tool(f)
        assert made.description == "Do it.\n\nMore words."
        words = schema_of(made, "mode")["description"]
        assert words.startswith("One of:") and "- fast" in words and "- deep" in words
        assert schema_of(made, "limit")["description"] == "How many."

    def test_annotated_wins_over_the_docstring(self) -> None:
        @tool
        def f(x: Annotated[int, Field(description="From the hint.")], y: int) -> int:
            """Text.

            Args:
                x: From the docstring.
                y: From the docstring.
            """
            return x

        assert [schema_of(f, key)["description"] for key in "xy"] == ["From the hint.", "From the docstring."]

    def test_parameters_that_share_a_line_in_numpy_style(self) -> None:
        text = "Text.\n\nParameters\n----------\nx, y : float\n    A coordinate.\n"
        assert read_docstring(text)[1] == {"x": "A coordinate.", "y": "A coordinate."}

    @pytest.mark.parametrize("text", ["Text: with a colon.\n\nNote that Args: is a word.", "한국어 설명.", "x" * 5_000])
    def test_a_text_without_sections_stays_whole(self, text: str) -> None:
        assert read_docstring(text) == (text, {})

    def test_a_documented_parameter_that_does_not_exist_changes_nothing(self) -> None:
        @tool
        def f(x: int) -> int:
            """Text.

            Args:
                z: Nobody.
            """
            return x

        assert list(f.parameters["properties"]) == ["x"] and "description" not in schema_of(f, "x")


def undocumented(x: int) -> int:
    return x


def unhinted(x, y: int):  # type: ignore[no-untyped-def]
    """Text."""


def starred(*values: int) -> None:
    """Text."""


def keywords(**values: int) -> None:
    """Text."""


def impossible(good: int, bad: object.__class__, other: Callable[[], int]) -> None:  # type: ignore[name-defined]
    """Text."""


def unresolved(bad: Missing) -> None:  # type: ignore[name-defined]  # noqa: F821
    """Text."""


def odd_default(good: int, bad: Any = object()) -> None:  # noqa: B008
    """Text."""


class NotJson:
    pass


def own_class(good: int, bad: NotJson) -> None:
    """Text."""


class TestBadDefinitions:
    @pytest.mark.parametrize(
        ("function", "words"),
        [
            (undocumented, ["'undocumented'", "docstring"]), (unhinted, ["'x'", "'unhinted'", "x: str"]),
            (starred, ["*values", "'starred'"]), (keywords, ["**values", "'keywords'"]), (own_class, ["'bad'", "'own_class'", "NotJson"]),
            (unresolved, ["'bad'", "'unresolved'", "Missing"]), (odd_default, ["'bad'", "'odd_default'"]), (5, ["int"]),
            (lambda x: x, ["name"]),
        ],
    )  # fmt: skip
    def test_the_sentence_names_what_is_wrong(self, function: Any, words: list[str]) -> None:
        with pytest.raises(DefinitionError) as caught:
            tool(function)
        text = str(caught.value)
        assert all(word in text for word in words) and text.endswith((".", "`."))
        assert "pydantic." not in text and "errors.pydantic" not in text

    def test_a_callable_parameter(self) -> None:
        with pytest.raises(DefinitionError, match=r"'bad'|'other'"):
            tool(impossible)

    @pytest.mark.parametrize(
        "options",
        [{"permission": "admin"}, {"timeout": 0}, {"timeout": -1}, {"timeout": float("nan")}, {"name": " "}, {"description": " "}],
    )  # fmt: skip
    def test_bad_options(self, options: dict[str, Any]) -> None:
        with pytest.raises(DefinitionError):
            tool(**options)(scale)

    def test_a_name_of_another_type(self) -> None:
        with pytest.raises(DefinitionError, match="name"):
            tool(name=5)(scale)  # type: ignore[call-overload]

    def test_a_builtin_without_a_signature_that_can_be_read(self) -> None:
        with pytest.raises(DefinitionError):
            tool(dict)
