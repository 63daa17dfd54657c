"""What the exercises of notebook 02 try on an answer."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agentkit.checks.exercise import CheckFailed, expect
from agentkit.checks.faces import shown
from agentkit.errors import ToolError
from agentkit.messages import AskUser, CallTools, Message, Reply
from agentkit.registry import Registry
from agentkit.tools import Tool, tool

_NEIGHBOURS = {
    "product_price": "Price of one product, in KRW.",
    "shop_stock": "Pieces of one product that are left in the shops.",
    "return_days": "Number of days within which a product can be returned.",
}
_FOR_REVIEWS = (
    "What do buyers say about the lamp L100?",
    "Show me the reviews of the desk D200.",
    "Are customers happy with the product G001?",
)
_FOR_OTHERS = {
    "What is the price of the lamp L100?": "product_price",
    "How many pieces of the desk D200 are left?": "shop_stock",
    "Within how many days can the lamp L100 be returned?": "return_days",
}


def _reply(question: str, tools: Sequence[Tool]) -> Reply:
    from agentkit.models.offline import OfflineModel

    reply = OfflineModel().decide((Message("user", question),), Registry(tools).specs())
    assert isinstance(reply, Reply)
    return reply


def _chances(question: str, tools: Sequence[Tool]) -> dict[str, float]:
    return {score.tool: score.probability for score in _reply(question, tools).scores}


def _described(name: str, description: str) -> Tool:
    def function(code: str) -> str:
        return ""

    return tool(name=name, description=description)(function)


def check_description(description: Any) -> None:
    if not isinstance(description, str):
        raise CheckFailed(f"a description is a text, not {shown(description)}")
    expect(description.strip(), "the description is empty; say what the tool gives back, in one or two sentences")
    expect(
        len(description) <= 300, "the description is too long; every request carries it. One or two sentences will do"
    )
    tools = [_described(name, text) for name, text in _NEIGHBOURS.items()]
    tools.append(_described("lookup", description))
    for question in _FOR_REVIEWS:
        chance = _chances(question, tools)["lookup"]
        expect(
            chance > 0.5,
            f'"{question}" finds the tool with probability {chance:.2f}; it must be more than 0.5. '
            "Which words do such questions use?",
        )
    for question, right in _FOR_OTHERS.items():
        chances = _chances(question, tools)
        expect(
            chances["lookup"] < chances[right],
            f'"{question}" now goes to your tool, but it belongs to `{right}`; say only what your tool is for',
        )


def check_pickup(made: Any) -> None:
    if not isinstance(made, Tool):
        raise CheckFailed("`book_pickup` is not a tool yet; put `@tool` above the function")
    expect(made.name == "book_pickup", f"the tool is named {shown(made.name)}; keep the name `book_pickup`")
    properties: Mapping[str, Any] = made.parameters.get("properties", {})
    expect(
        sorted(properties) == ["order_id", "slot"],
        f"the parameters must be order_id and slot, not {sorted(properties)}",
    )
    expect("pattern" in properties["order_id"], "`order_id` has no pattern: use `Annotated[str, Field(pattern=…)]`")
    expect("enum" in properties["slot"], "`slot` has no enum: use `Literal[…]` with the three words")
    for order_id in ("A100", "A999"):
        for slot in ("morning", "afternoon", "evening"):
            expect(_fits(made, order_id, slot), f"{order_id!r} and {slot!r} are right, and the schema refuses them")
    wrong = {
        "B100": "it begins with another letter",
        "A10": "it has two digits",
        "A1000": "it has four digits; a pattern must say where the text ends",
        "XA100": "something stands in front; a pattern must say where the text begins",
    }
    for order_id, why in wrong.items():
        expect(not _fits(made, order_id, "morning"), f"the schema accepts the order_id {order_id!r}, but {why}")
    expect(not _fits(made, "A100", "night"), "the schema accepts the slot 'night', which does not exist")
    text = made(order_id="A100", slot="evening")
    named = isinstance(text, str) and "A100" in text and "evening" in text
    expect(named, f"the tool must return a text that names the order and the slot, not {shown(text)}")


def _fits(made: Tool, order_id: str, slot: str) -> bool:
    try:
        made.validate({"order_id": order_id, "slot": slot})
    except Exception:
        return False
    return True


def check_strict(schema: Any) -> None:
    if not isinstance(schema, dict):
        raise CheckFailed(f"a JSON Schema is a dict, not {shown(schema)}")
    names = {"city", "days", "place"}
    _closed(schema, names, "the whole object")
    place = schema["properties"]["place"]
    expect(
        isinstance(place, dict) and place.get("type") == "object", "`place` is still an object, with street and floor"
    )
    _closed(place, {"street", "floor"}, "the object `place`")
    parts = {**schema["properties"], **place["properties"]}
    for name in ("city", "place", "street"):
        expect("null" not in _types(parts[name]), f"`{name}` was required before, so it must not accept null")
    for name in ("days", "floor"):
        expect("integer" in _types(parts[name]), f"`{name}` must still accept an integer")
        expect(
            "null" in _types(parts[name]),
            f"a call could leave `{name}` out; it is required now, so it must accept null",
        )
        expect("default" not in parts[name], "the strict form has no place for `default`; say it in the description")
    words = str(parts["days"].get("description", ""))
    expect(
        re.search(r"\b(3|three)\b", words, re.IGNORECASE),
        f"the default of `days` stands nowhere: its description must say that null means 3, and it is {shown(words)}",
    )
    words = str(parts["floor"].get("description", ""))
    expect(
        not re.search(r"default\W+(is\W+)?(none|null)\b", words, re.IGNORECASE),
        f"`floor` has no default, and its description speaks of one: {shown(words)}",
    )


def _closed(schema: Mapping[str, Any], names: set[str], what: str) -> None:
    properties = schema.get("properties")
    found = sorted(properties) if isinstance(properties, dict) else properties
    expect(found == sorted(names), f"{what} must keep its properties {sorted(names)}; it has {shown(found)}")
    expect(schema.get("additionalProperties") is False, f'{what} is not closed: "additionalProperties" must be False')
    required = schema.get("required") or []
    missing = sorted(names - set(required))
    expect(not missing, f"in {what} every key must be required; missing: {', '.join(missing)}")


def _types(part: Any) -> set[str]:
    """The types that a schema accepts, written as one type, a list of types, or anyOf."""
    if not isinstance(part, dict):
        return set()
    kind = part.get("type", [])
    found = set(kind) if isinstance(kind, list) else {kind}
    return found.union(*(_types(option) for option in part.get("anyOf", ())))


def _the_function(answer: Any, name: str, exercise: str) -> None:
    if not callable(answer):
        raise CheckFailed(
            f'hand in the function itself, without brackets: `check("{exercise}", {name})`; this is {shown(answer, 60)}'
        )


def check_price(product_price: Callable[..., Any]) -> None:
    _the_function(product_price, "product_price", "02.4")
    for code, price in {"L100": 39_000, "D200": 120_000}.items():
        found = product_price(code)
        expect(found == price, f"the price of {code} is {price}, but you return {shown(found)}")
    try:
        found = product_price("G001")
    except ToolError:
        raise CheckFailed("G001 is in the list and costs 0; it is found, so return 0") from None
    expect(found == 0 and found is not None, f"G001 costs 0, but you return {shown(found)}")
    for code in ("X999", ""):
        _not_found(product_price, code)


def _not_found(product_price: Callable[..., Any], code: str) -> None:
    try:
        found = product_price(code)
    except ToolError as error:
        expect(
            error.code == "not_found",
            f'the error for {code!r} has the code {error.code!r}: give ToolError `code="not_found"`',
        )
        expect(code in str(error), f"the sentence must name what was looked for; for {code!r} it says: {error}")
        return
    except Exception as error:
        raise CheckFailed(
            f"for {code!r} the function raises {type(error).__name__}, which tells the model nothing; raise ToolError"
        ) from None
    raise CheckFailed(
        f"there is no product {code!r}, but you return {shown(found)}; the model takes that for an answer"
    )


_COMPUTED = {
    "2 * (3 + 4)": 14,
    "-3 + 1": -2,
    "abs(-3)": 3,
    "max(3, 4) * 2": 8,
    "1 + min(5, abs(-2), 9)": 3,
    "max(1 + 1, -7)": 2,
    "-max(2, 3)": -3,
}
_COUNT = "abs takes one number, min and max take two or more"
# No expression here does harm when an answer uses `eval` after all: the power is short, and nothing is opened.
_REFUSED = {
    "len((1, 2))": "`len` is not on the list",
    "sum((1, 2))": "`sum` is not on the list",
    "round(2)": "`round` is not on the list",
    "chr(65)": "`chr` is not on the list",
    "pow(2, 3)": "`pow` is not on the list",
    "max": "a function that is not called is no number",
    "abs.__name__": "an attribute leads out of arithmetic",
    "max(3, 4).real": "an attribute leads out of arithmetic",
    "min((1, 2))": "a tuple is no number",
    "max(2, 3, key=abs)": "a keyword is more than arithmetic",
    "abs()": _COUNT,
    "abs(1, 2)": _COUNT,
    "max()": _COUNT,
    "min(3)": _COUNT,
    "2 ** 200": "the bound on powers must hold",
    "abs(2 ** 200)": "the bound on powers must hold inside a call too",
    "'3'": "a text is no number",
}


def check_calculator(value_of: Callable[..., Any]) -> None:
    _the_function(value_of, "value_with_functions", "02.5")
    for text, wanted in _COMPUTED.items():
        try:
            found = value_of(ast.parse(text, mode="eval").body)
        except ToolError as error:
            raise CheckFailed(f"{text} is {wanted}, but it is refused: {error}") from None
        except Exception as error:
            raise CheckFailed(f"{text} is {wanted}, but your function raises {type(error).__name__}") from None
        expect(found == wanted, f"{text} is {wanted}, but you return {shown(found)}")
    for text, why in _REFUSED.items():
        try:
            found = value_of(ast.parse(text, mode="eval").body)
        except ToolError:
            continue
        except Exception as error:
            raise CheckFailed(
                f"{text} must be refused with ToolError ({why}), but your function raises {type(error).__name__}"
            ) from None
        raise CheckFailed(f"{text} must be refused ({why}), but it gives {shown(found)}")


_SHARE = "let the description and the question share what they are about"


def check_own_tool(answer: Any) -> None:
    made, question = answer
    if not isinstance(made, Tool):
        raise CheckFailed("`my_tool` is not a tool; put `@tool` above your function, and give the function itself")
    expect(isinstance(question, str) and question.strip(), "`my_question` is a text: what a user would ask")
    from agentkit.worlds import orders

    others = orders.make_tools()
    expect(made.name not in {item.name for item in others}, f"the shop has a tool named {made.name!r} already")
    reply = _reply(question, [*others, made])
    chances = {score.tool: score.probability for score in reply.scores}
    best = max(chances, key=lambda name: chances[name], default="none")
    expect(
        best == made.name,
        f"your question goes to `{best}`, not to `{made.name}`; {_SHARE}",
    )
    expect(
        chances[best] > 0.5,
        f"your tool is chosen with probability {chances[best]:.2f}; it must be more than 0.5. Make the description specific",
    )
    blank = tool(name="tool_x", description="Gets data.")(made.function)
    without = {score.tool: score.score for score in _reply(question, [*others, blank]).scores}["tool_x"]
    score = next(score.score for score in reply.scores if score.tool == made.name)
    expect(
        score >= without + 0.1,
        f"with the name `tool_x` and the description `Gets data.` your tool would be found just as well; {_SHARE}",
    )
    if isinstance(reply.decision, AskUser):
        raise CheckFailed(
            f"the model asks back ({reply.decision.question}); state in the question what your tool needs"
        )
    if not isinstance(reply.decision, CallTools) or reply.decision.calls[0].name != made.name:
        raise CheckFailed(f"the model does not call `{made.name}` first; it says: {shown(reply.decision.thought)}")
    result = Registry([made]).call(reply.decision.calls[0], approved=True)
    expect(result.ok, f"the call came back with an error: {result.error.message if result.error else ''}")
