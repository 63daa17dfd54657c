"""The exercises and the quiz of notebook 02, tools."""

from __future__ import annotations

from agentkit.checks.exercise import Exercise, Wrong
from agentkit.checks.nb02_calculator import CALCULATOR
from agentkit.checks.nb02_checks import (
    check_description,
    check_own_tool,
    check_pickup,
    check_price,
    check_strict,
)
from agentkit.checks.nb02_quiz import QUIZ

__all__ = ["EXERCISES", "QUIZ"]

DESCRIPTION = Exercise(
    id="02.1",
    title="A description that wins",
    prompt="Write the description of a tool that reads the table `feedback`, which holds stars and comments.",
    stub="description = ...\n",
    check=check_description,
    hints=(
        "Say in the first sentence what comes back, in the words that a person would use in the question.",
        "Different people say reviews, opinions, what buyers say, how happy customers are. Name several of them.",
    ),
    solution='description = "Reviews of a product: what buyers say, opinions and ratings, how happy customers are with it."\n',
    why="The first sentence says what comes back, in the words of the questions, and nothing that belongs to another tool.",
    known_wrong=(
        Wrong(
            'description = "Gets data about a product."\n',
            "it must be more than 0.5. Which words do such questions use",
        ),
        Wrong(
            'description = "Reads the table feedback, which holds stars and comments."\n',
            "it must be more than 0.5. Which words do such questions use",
        ),
        Wrong(
            'description = "Calls the endpoint /v2/feedback of the CRM backend."\n', "Which words do such questions use"
        ),
        Wrong(
            'description = "Reviews, what buyers and customers say, happy, price, pieces left, stock, days to return, '
            'product, lamp, desk, how many, money, what is, show."\n',
            "now goes to your tool",
        ),
        Wrong('description = ["reviews", "opinions"]\n', "a description is a text"),
    ),
)

_PICKUP = '''\
@tool
def book_pickup(
    order_id: Annotated[str, Field(pattern=r"^A\\d{3}$", description="The code of the order.", examples=["A100"])],
    slot: Literal["morning", "afternoon", "evening"],
) -> str:
    """Book the pickup of an order for a part of the day."""
    return f"pickup of {order_id} in the {slot}"
'''

PICKUP = Exercise(
    id="02.2",
    title="An enum and a pattern",
    prompt="Write the tool `book_pickup(order_id, slot)` whose schema has a pattern and an enum.",
    stub="def book_pickup(order_id, slot):\n    ...\n",
    check=check_pickup,
    hints=(
        'A closed set of words is `Literal["morning", …]`. It becomes an enum.',
        'A pattern is a regular expression: `Annotated[str, Field(pattern=r"^A\\d{3}$")]`. `^` is the beginning, `$` the end.',
        "Put `@tool` above, give the function a docstring, and return a text with both values.",
    ),
    solution=_PICKUP,
    why="What the schema says need not be explained in words, is checked before the function runs, and can be forced.",
    setup="from typing import Annotated, Literal\n\nfrom pydantic import Field\n\nfrom agentkit import tool\n",
    known_wrong=(
        Wrong(_PICKUP.replace("@tool\n", ""), "put `@tool` above"),
        Wrong(_PICKUP.replace("$", ""), "where the text ends"),
        Wrong(_PICKUP.replace("^", ""), "where the text begins"),
        Wrong(_PICKUP.replace('Literal["morning", "afternoon", "evening"]', "str"), "has no enum"),
        Wrong(_PICKUP.replace('pattern=r"^A\\d{3}$", ', ""), "has no pattern"),
    ),
)

_STRICT = """\
strict_schema = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "days": {"anyOf": [{"type": "integer"}, {"type": "null"}], "description": "null means the default, 3."},
        "place": {
            "type": "object",
            "properties": {
                "street": {"type": "string"},
                "floor": {"anyOf": [{"type": "integer"}, {"type": "null"}], "description": "null means: not given."},
            },
            "required": ["street", "floor"],
            "additionalProperties": False,
        },
    },
    "required": ["city", "days", "place"],
    "additionalProperties": False,
}
"""

STRICT = Exercise(
    id="02.3",
    title="The strict form",
    prompt="Give the schema `loose` its strict form.",
    stub="strict_schema = ...\n",
    check=check_strict,
    hints=(
        "Three changes: close every object, require every key, let the optional one accept null.",
        "There are two objects: the whole one, and `place` inside it. Each of them has one optional key.",
        '`days` becomes `{"anyOf": [{"type": "integer"}, {"type": "null"}], "description": "null means the default, 3."}`.',
    ),
    solution=_STRICT,
    why="Every object is closed, every key is always there, and null keeps the freedom that the default gave.",
    setup="""\
loose = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "days": {"type": "integer", "default": 3},
        "place": {
            "type": "object",
            "properties": {"street": {"type": "string"}, "floor": {"type": "integer"}},
            "required": ["street"],
        },
    },
    "required": ["city", "place"],
}
""",
    known_wrong=(
        Wrong(
            'strict_schema = {**loose, "additionalProperties": False}\n', "every key must be required; missing: days"
        ),
        Wrong(_STRICT.replace('            "additionalProperties": False,\n', ""), "the object `place` is not closed"),
        Wrong(
            _STRICT.replace('{"anyOf": [{"type": "integer"}, {"type": "null"}]', '{"type": "integer"'),
            "must accept null",
        ),
        Wrong(_STRICT.replace('["street", "floor"]', '["street"]'), "in the object `place` every key must be required"),
        Wrong(_STRICT.replace("null means the default, 3.", "foo"), "the default of `days` stands nowhere"),
        Wrong(_STRICT.replace("null means: not given.", "null means the default, None."), "`floor` has no default"),
        Wrong(
            _STRICT.replace('"city": {"type": "string"}', '"city": {"type": ["string", "null"]}'),
            "it must not accept null",
        ),
        Wrong(_STRICT.replace('"description": "null means the default, 3."', '"default": 3'), "no place for `default`"),
    ),
)

_PRICE = '''\
def product_price(code: str) -> int:
    """Price of one product, in KRW. Fails with not_found when there is no product of this code."""
'''
_RAISE = 'raise ToolError(f"There is no product {code!r}.", code="not_found")'

PRICE = Exercise(
    id="02.4",
    title="Not found",
    prompt="Write the tool `product_price(code)`, which raises `ToolError` with the code not_found.",
    stub=_PRICE + "    ...\n",
    check=check_price,
    hints=(
        "`if code not in PRICES:` asks whether the code is there, whatever its price is.",
        '`raise ToolError(f"There is no product {code!r}.", code="not_found")`',
    ),
    solution=_PRICE + f"    if code not in PRICES:\n        {_RAISE}\n    return PRICES[code]\n",
    why="The model reads a sentence that names the code, a program reads not_found, and a free product stays free.",
    setup='from agentkit import ToolError\n\nPRICES = {"L100": 39_000, "D200": 120_000, "G001": 0}\n',
    known_wrong=(
        Wrong(_PRICE + "    return PRICES.get(code)\n", "takes that for an answer"),
        Wrong(_PRICE + "    return PRICES[code]\n", "raises KeyError"),
        Wrong(_PRICE + f"    if not PRICES.get(code):\n        {_RAISE}\n    return PRICES[code]\n", "costs 0"),
        Wrong(
            _PRICE
            + "    if code not in PRICES:\n        raise ToolError(f'no product {code}')\n    return PRICES[code]\n",
            'give ToolError `code="not_found"`',
        ),
        Wrong(
            _PRICE
            + '    if code not in PRICES:\n        raise ToolError("Not found.", code="not_found")\n    return PRICES[code]\n',
            "must name what was looked for",
        ),
    ),
)

_OWN = '''\
@tool
def recipe_ingredients(dish: str) -> list:
    """Ingredients of one dish."""
    return {"bibimbap": ["rice", "vegetables", "egg"]}.get(dish, [])


my_tool = recipe_ingredients
my_question = 'Which ingredients are in the dish "bibimbap"?'
'''

OWN = Exercise(
    id="02.6",
    title="Your own tool",
    prompt="Make a tool of your own and write a question that only it can answer.",
    stub="my_tool = ...\nmy_question = ...\n",
    check=check_own_tool,
    hints=(
        "Begin with the question. Which words are in it that no tool of the shop has? Put them into the docstring.",
        "Write arguments out in the question, a text in quotation marks, so that the model need not guess.",
    ),
    solution=_OWN,
    why="The words of your description led the question to your tool, past eight others, and the schema did the rest.",
    setup="from agentkit import tool\n",
    answer="(my_tool, my_question)",
    known_wrong=(
        Wrong(
            _OWN.replace("Ingredients of one dish.", "Gets data.")
            .replace("recipe_ingredients", "run")
            .replace("dish", "item", 1)
            .replace("(dish,", "(item,"),
            "share what they are about",
        ),
        Wrong(
            _OWN.replace('Which ingredients are in the dish "bibimbap"?', "Where is my order A101?"),
            "your question goes to",
        ),
        Wrong(_OWN.replace("@tool\n", ""), "is not a tool"),
        Wrong(
            _OWN.replace('Which ingredients are in the dish "bibimbap"?', "Which ingredients do I need?"),
            "state in the question",
        ),
    ),
)

EXERCISES = (DESCRIPTION, PICKUP, STRICT, PRICE, CALCULATOR, OWN)
