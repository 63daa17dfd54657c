"""Exercise 02.5 of notebook 02: a calculator with functions."""

from __future__ import annotations

from agentkit.checks.exercise import Exercise, Wrong
from agentkit.checks.nb02_checks import check_calculator

_CALCULATOR = '''\
def value_with_functions(node):
    """The value of a tree of numbers, operations, and the functions abs, min and max."""
    match node:
        case ast.Constant(value=number) if type(number) in (int, float):
            return number
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return -value_with_functions(inner)
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in OPERATIONS:
            return OPERATIONS[type(sign)](value_with_functions(left), value_with_functions(right))
    ...
    raise ToolError("Only numbers and + - * / ** ( ) abs min max.", code="not_arithmetic")
'''


def _with_case(case: str) -> str:
    return _CALCULATOR.replace("    ...\n", case)


_CASE = """\
        case ast.Call(func=ast.Name(id="abs"), args=[one], keywords=[]):
            return abs(value_with_functions(one))
        case ast.Call(func=ast.Name(id="min" | "max" as name), args=[_, _, *_] as arguments, keywords=[]):
            return {"min": min, "max": max}[name](*map(value_with_functions, arguments))
"""

_EVAL_NAME = """\
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
            return eval(name)(*[value_with_functions(each) for each in arguments])
"""

_ANY_NAME = """\
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
            return {"abs": abs, "min": min, "max": max}[name](*map(value_with_functions, arguments))
"""

CALCULATOR = Exercise(
    id="02.5",
    title="A calculator with functions",
    prompt="Extend `value_of` by abs, min and max; everything else must still be refused.",
    stub=_CALCULATOR,
    check=check_calculator,
    hints=(
        'Add a case for `ast.Call(func=ast.Name(id="abs"), args=[one], keywords=[])`: it fits a call with one argument.',
        'For min and max, `id="min" | "max" as name` fits both names, and `args=[_, _, *_] as arguments` two or more.',
        "The arguments are trees too: each needs `value_with_functions` before the function gets it. "
        'Keep your own dict `{"min": min, "max": max}`; never look a name up anywhere else.',
    ),
    solution=_with_case(_CASE),
    why="The list of what is allowed grew by three names, and everything else is still refused.",
    setup="""\
import ast
import operator

from agentkit import ToolError


def power(base, exponent):
    if abs(base) > 1_000_000 or abs(exponent) > 50:
        raise ToolError("This power is too large.", code="too_large")
    return base**exponent


OPERATIONS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv, ast.Pow: power}
""",
    known_wrong=(
        Wrong("def value_with_functions(node):\n    return eval(ast.unparse(node))\n", "must be refused"),
        Wrong(
            _with_case("        case ast.Call():\n            return eval(ast.unparse(node))\n"),
            "`len` is not on the list",
        ),
        Wrong(
            _with_case(_CASE.replace("*map(value_with_functions, arguments)", "*[each.value for each in arguments]")),
            "AttributeError",
        ),
        Wrong(_with_case(_EVAL_NAME), "round(2) must be refused (`round` is not on the list), but it gives 2"),
        Wrong(_with_case(_ANY_NAME), "with ToolError (`len` is not on the list), but your function raises KeyError"),
        Wrong(
            _with_case(_ANY_NAME.replace("id=name", 'id="abs" | "min" | "max" as name')),
            "abs takes one number, min and max take two or more",
        ),
        Wrong(_with_case(_CASE.replace(", keywords=[]", "")), "a keyword is more than arithmetic"),
    ),
)
