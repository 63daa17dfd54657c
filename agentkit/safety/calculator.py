"""A calculator without ``eval``: the expression is parsed to a tree, and only a few kinds of nodes have a value.

A list of allowed characters would not be enough: ``9**9**9`` has only harmless ones and never ends. So sizes are bounded
before anything is computed.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from agentkit.errors import ToolError

LONGEST: Final = 200  # characters of an expression
DEEPEST: Final = 40  # levels of its tree
LARGEST: Final = 10**30  # of any value on the way
HIGHEST: Final = 200  # of an exponent
DIGITS: Final = 30  # to which a number may be rounded, before or after the point

_BINARY: Final[Mapping[type[ast.operator], Callable[[Any, Any], Any]]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow,
}  # fmt: skip
_FUNCTIONS: Final[Mapping[str, Callable[..., Any]]] = {
    "sqrt": math.sqrt, "abs": abs, "round": round, "min": min, "max": max,
}  # fmt: skip
_SIGNS: Final = {"×": "*", "·": "*", "÷": "/", "−": "-", "^": "**"}
_HINT: Final = "Write numbers, + - * / // % **, brackets, and sqrt, abs, round, min or max."


def calculate(expression: str) -> int | float:
    """The value of an arithmetic expression, with 12 significant digits; a whole number is an int.

    Raises:
        ToolError: ``not_arithmetic``, ``division_by_zero``, ``too_large`` (the value or the expression), or ``no_value``
            (the square root of a negative number).
    """
    if len(expression) > LONGEST:
        raise ToolError(f"An expression has at most {LONGEST} characters.", code="too_large", hint="Split it up.")
    plain = _ungrouped(expression.strip())
    for sign, usual in _SIGNS.items():
        plain = plain.replace(sign, usual)
    try:
        tree = ast.parse(plain, mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise ToolError(f"This is no arithmetic: {expression[:60]!r}.", code="not_arithmetic", hint=_HINT) from None
    try:
        return _rounded(_value(tree.body, 0))
    except ZeroDivisionError:
        raise ToolError("A number cannot be divided by zero.", code="division_by_zero") from None
    except OverflowError:
        raise ToolError("A value on the way is too large.", code="too_large", hint="Use smaller numbers.") from None
    except (ArithmeticError, ValueError, TypeError):
        raise ToolError("This expression has no value among the real numbers.", code="no_value", hint=_HINT) from None


def _ungrouped(text: str) -> str:
    """The expression without the commas of 1,200; those between the arguments of min, max and round stay."""
    parts: list[str] = []
    last, arguments = 0, [False]
    for found in re.finditer(r"(\w*)\s*(\()|(\))|(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d,])", text):
        if found[2]:
            arguments.append(found[1] not in ("", "sqrt", "abs"))
        elif found[3]:
            arguments.pop() if len(arguments) > 1 else None
        elif not any(arguments):
            parts += (text[last : found.start()], found[0].replace(",", ""))
            last = found.end()
    return "".join(parts) + text[last:]


def _value(node: ast.expr, depth: int) -> Any:
    if depth > DEEPEST:
        raise ToolError("This expression has too many brackets.", code="too_large", hint="Split it up.")
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return _bounded(number)
        case ast.UnaryOp(op=ast.UAdd() | ast.USub() as sign, operand=inner):
            value = _value(inner, depth + 1)
            return -value if isinstance(sign, ast.USub) else value
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            first, second = _value(left, depth + 1), _value(right, depth + 1)
            if isinstance(op, ast.Pow):
                _check_power(first, second)
            return _bounded(_BINARY[type(op)](first, second))
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in _FUNCTIONS and args:
            values = [_value(each, depth + 1) for each in args]
            if name == "round" and len(values) > 1 and abs(values[1]) > DIGITS:  # round(7, -10**9) would never end
                raise ToolError("Numbers are rounded to at most 30 digits.", code="too_large", hint="Use fewer digits.")
            return _bounded(_FUNCTIONS[name](*values))
    raise ToolError("Only arithmetic is understood.", code="not_arithmetic", hint=_HINT)


def _check_power(base: Any, exponent: Any) -> None:
    # Computing first and looking afterwards would be too late: the power itself may need more memory than there is.
    if abs(exponent) > HIGHEST or (abs(base) > 1 and exponent * math.log10(abs(base)) > math.log10(LARGEST)):
        raise ToolError("This power is too large.", code="too_large", hint="Use smaller numbers.")


def _bounded(value: Any) -> Any:
    if isinstance(value, complex):
        raise ValueError("not a real number")
    if not abs(value) <= LARGEST:
        raise ToolError("A value on the way is too large.", code="too_large", hint="Use smaller numbers.")
    return value


def _rounded(value: Any) -> int | float:
    if isinstance(value, int):
        return value
    short = float(f"{value:.12g}")
    return int(short) if short.is_integer() and abs(short) < 10**15 else short
