"""The calculator: arithmetic and nothing else, and nothing that does not end."""

from __future__ import annotations

import ast
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import bounded, profile

from agentkit import ToolError
from agentkit.safety import calculate
from agentkit.safety.calculator import LARGEST


def code(expression: str) -> str:
    with pytest.raises(ToolError) as caught:
        bounded(lambda: calculate(expression), 5.0)
    assert caught.value.code
    return caught.value.code


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("12 * (3 + 4)", 84), ("2 ** 10", 1024), ("7 // 2", 3), ("-7 % 3", 2), ("1 / 4", 0.25), ("10 ** -2", 0.01), ("2^3", 8),
        ("6 × 7", 42), ("8 ÷ 2 − 1", 3), ("sqrt(1764)", 42), ("abs(-3)", 3), ("round(2.567, 1)", 2.6), ("round(1250, -2)", 1200),
        ("min(4, 2, 3)", 2), ("0.1 + 0.2", 0.3), ("+-+5", -5), ("1e3", 1000), ("2 ** 0.5", 1.41421356237),
        # Commas: of a number, or between arguments.
        ("1,200 + 1", 1201), ("1,234,567.5", 1234567.5), ("max(1,200)", 200), ("max(1,2000,5)", 2000), ("min(1,1000, 7)", 1),
        ("sqrt(1,764)", 42), ("(1,200) * 2", 2400), ("1,200 + max(3,400) + 1,000", 2600),
    ],
)  # fmt: skip
def test_values(expression: str, value: float) -> None:
    found = calculate(expression)
    assert found == value and type(found) is type(value)


@pytest.mark.parametrize("expression", ["1,2345", "1,23", "1,2,3", "12,34,567", "1.5,000", "max(1, (1,200) + 0)"])
def test_a_comma_that_groups_no_thousands_is_refused(expression: str) -> None:
    assert code(expression) in ("not_arithmetic", "no_value")


@pytest.mark.parametrize(
    "expression",
    [
        "().__class__.__bases__[0].__subclasses__()", "__import__('os').system('id')", "(1).real", "[1][0]", "{}", "lambda: 1",
        "eval('1')", "sqrt.__self__", "x", "'a' * 9", "f'{1}'", "1 if 1 else 2", "1 < 2", "1 and 2", "~1", "1 << 9", "1 | 2",
        "not 1", "sqrt(x=4)", "sqrt(*[4])", "max()", "True", "None", "1j", "...", "(1, 2)", "y := 1", "1; 2", "1\n2", "", "#",
        "await 1", "open('x')", "print(1)", "b'1'", "2(3)", "1 @ 2", "\x00", "\ud800", "sqrt", "pow(2, 9)", "١+١", "２＋２",
    ],
)  # fmt: skip
def test_SF08_whatever_is_no_arithmetic_is_refused(expression: str) -> None:
    assert code(expression) == "not_arithmetic"


@pytest.mark.parametrize(
    "expression",
    [
        "9**9**9", "9^9^9", "10**31", "2**1000", "(10**30)*(10**30)", "1e31", "1e400", "(-9)**199", "1.5**201", "2**-201",
        "(10**-30)**-200", "10**30 + 1", "round(7, -1000000000)", "round(7, 10**9)", "round(7.5, -10**20)", "9" * 201,
        "-" * 150 + "1", "1" + "+1" * 60, "max(10**30, 9**99)", "0**(10**20)", "1**(9**9)",
    ],
)  # fmt: skip
def test_SF09_nothing_large_is_computed(expression: str) -> None:
    assert code(expression) in ("too_large", "not_arithmetic")


def test_what_has_no_value_is_told() -> None:
    assert [code(text) for text in ("1/0", "1 % 0", "0 ** -1", "5 // 0")] == ["division_by_zero"] * 4
    assert [code(text) for text in ("sqrt(-1)", "(-8) ** 0.5", "min(3)", "sqrt(1, 2)", "round(1.5, 2.5)")] == [
        "no_value"
    ] * 5


def test_the_error_names_only_a_part_of_a_long_text() -> None:
    with pytest.raises(ToolError) as caught:
        calculate("import " + "a" * 150)
    assert len(str(caught.value)) < 100 and caught.value.hint


ATOMS = st.one_of(st.integers(0, 10**12).map(str), st.floats(0, 1e9, allow_nan=False).map(repr))
EXPRESSIONS = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*", "/", "//", "%", "**"]), inner).map(
            lambda t: f"({t[0]}{t[1]}{t[2]})"
        ),
        st.tuples(st.sampled_from(["sqrt", "abs", "round"]), inner).map(lambda t: f"{t[0]}({t[1]})"),
        st.tuples(st.sampled_from(["min", "max", "round"]), inner, inner).map(lambda t: f"{t[0]}({t[1]}, {t[2]})"),
        inner.map(lambda t: f"-{t}"),
    ),
    max_leaves=6,
)


@given(EXPRESSIONS)
@profile(300)
def test_it_agrees_with_python_or_says_why_not(expression: str) -> None:
    try:
        found = calculate(expression)
    except ToolError as error:
        assert error.code in ("too_large", "division_by_zero", "no_value")
        return
    assert type(found) in (int, float) and math.isfinite(found) and abs(found) <= LARGEST
    expected = eval(
        expression, {"__builtins__": {}, "sqrt": math.sqrt, "abs": abs, "round": round, "min": min, "max": max}
    )
    assert found == expected or math.isclose(found, expected, rel_tol=1e-11)


ALPHABET = "0123456789+-*/%().,e^ sqrtabsroundminmax_[]'\"\n×÷한"


@given(st.text(ALPHABET, max_size=40) | st.text(max_size=40))
@profile(400)
def test_no_text_does_anything_but_give_a_number_or_a_tool_error(text: str) -> None:
    try:
        found = calculate(text)
    except ToolError as error:
        assert error.code in ("too_large", "not_arithmetic", "division_by_zero", "no_value")
        return
    assert type(found) in (int, float) and abs(found) <= LARGEST
    assert isinstance(ast.parse(repr(found), mode="eval").body, (ast.Constant, ast.UnaryOp))
