"""What the exercises of notebook 03 try on an answer."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

from agentkit.checks.contract_report import ContractReport
from agentkit.checks.contract_surface import read_answer
from agentkit.checks.contracts import registry_contract
from agentkit.checks.exercise import CheckFailed, expect
from agentkit.checks.faces import shown
from agentkit.checks.nb03_elsewhere import run_elsewhere
from agentkit.messages import ToolCall, ToolResult
from agentkit.registry import Registry
from agentkit.tools import Tool, tool


def check_nearest(nearest: Callable[..., Any]) -> None:
    known = ["lookup_order", "parcel_price", "BookCourier"]
    found = nearest("lookup_ordr", known)
    expect(
        not isinstance(found, list),
        f"return the name itself, not a list: for 'lookup_ordr' you return {shown(found)}",
    )
    expect(found == "lookup_order", f"'lookup_ordr' is nearest to 'lookup_order', but you return {shown(found)}")
    found = nearest("xyz", known)
    expect(found is None, f"'xyz' is like none of the names: nothing is near, so return None, not {shown(found)}")
    found = nearest("LOOKUP_ORDER", known)
    expect(
        found == "lookup_order",
        f"upper and lower case do not matter, but for 'LOOKUP_ORDER' you return {shown(found)}",
    )
    found = nearest("bookcourrier", known)
    expect(
        found == "BookCourier",
        f"return the name as it is written in `known`: 'BookCourier', not {shown(found)}",
    )
    expect(nearest("lookup_order", []) is None, "when no tool is known, return None")


def _chat_tool(name: str) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"day": {"type": "string"}}, "required": ["day"]}
    body = {"name": name, "description": f"What {name} does.", "parameters": schema}
    return {"type": "function", "function": body}


def check_anthropic_tool(convert: Callable[..., Any]) -> None:
    for name in ("open_door", "close_door"):
        given = _chat_tool(name)
        before = copy.deepcopy(given)
        found = convert(given)
        if not isinstance(found, dict):
            raise CheckFailed(f"a tool in Anthropic's form is a dict, not {shown(found)}")
        expect(given == before, "the tool that was given must stay as it is: make a new dict")
        expect("type" not in found, "`type` belongs to OpenAI's forms; Anthropic's form does not have it")
        expect("input_schema" in found, "in Anthropic's form the schema stands under the key `input_schema`")
        expect(
            found["input_schema"] == before["function"]["parameters"],
            "under `input_schema` stands the whole schema, not a part of it",
        )
        wanted = {key: before["function"][key] for key in ("name", "description")}
        expect(
            {key: found.get(key) for key in wanted} == wanted,
            f"name and description must be those of the tool, but they are {shown(found)}",
        )
        more = sorted(set(found) - {"name", "description", "input_schema"})
        expect(not more, f"there is one key too many: {', '.join(map(shown, more))}")


def check_safe_call(safe_call: Callable[..., Any]) -> ContractReport:
    def make(tools: Sequence[Tool]) -> Any:
        by_name = {item.name: item for item in tools}

        def call(name: str, arguments: Any) -> Any:
            return safe_call(by_name, name, arguments)

        return SimpleNamespace(call=call)

    report = registry_contract(make)
    if report.passed:
        strange: tuple[Any, ...] = ("three", None, 3, [1, 2], {"item": {"a": {}}}, {1: 2})
        for arguments in strange:
            _refused(make(_parcel_tools()), arguments)
    return report


def _refused(registry: Any, arguments: Any) -> None:
    try:
        answer = read_answer(registry.call("parcel_price", arguments))
    except Exception as error:
        raise CheckFailed(
            f"for the arguments {shown(arguments)}, `safe_call` raised {type(error).__name__}; give a result"
        ) from None
    expect(
        answer is not None and not answer.ok,
        f"the arguments {shown(arguments)} do not fit the tool, so the result must have ok false",
    )


def _parcel_tools() -> list[Tool]:
    def order_amount(order_id: str) -> int:
        """Amount of one order, in KRW."""
        return {"A100": 250_000, "A101": 480_000}[order_id]

    def parcel_price(kilos: int, express: bool = False) -> int:
        """Price of sending one parcel, in KRW."""
        return kilos * (5_000 if express else 3_000)

    def book_courier(day: str) -> str:
        """Book a courier for one day."""
        raise RuntimeError("the courier firm is closed")

    return [tool(order_amount), tool(parcel_price), tool(book_courier)]


def _specs() -> list[dict[str, Any]]:
    schema = {"type": "object", "properties": {"kilos": {"type": "integer"}, "note": {"type": "string"}}}
    return [
        {"name": "parcel_price", "description": "Price of a parcel.", "parameters": schema},
        {"name": "order_amount", "description": "Amount of an order.", "parameters": {"type": "object"}},
    ]


def check_fingerprint(fingerprint: Callable[..., Any]) -> None:
    price, amount = _specs()
    before = fingerprint([price, amount])
    expect(
        not isinstance(before, int),
        "`hash()` gives another number in every Python process; use hashlib, and return a text",
    )
    expect(isinstance(before, str) and before, f"the fingerprint is a text, not {shown(before)}")
    expect(fingerprint(_specs()) == before, "the same tools twice must give the same fingerprint")
    expect(fingerprint([amount, price]) == before, "the order of the tools must not matter")
    backwards = _backwards(price)
    expect(fingerprint([backwards, amount]) == before, "the order of the keys must not matter, also inside the schema")
    swapped = [{**price, "name": "order_amount"}, {**amount, "name": "parcel_price"}]
    changes: dict[str, list[dict[str, Any]]] = {
        "when a name changes": [{**price, "name": "price"}, amount],
        "when a description changes": [{**price, "description": "Price of a letter."}, amount],
        "when a schema changes": [{**price, "parameters": {"type": "object"}}, amount],
        "when a tool is missing": [price],
        "when two tools have swapped their names": swapped,
        "when letters of a name are swapped": [{**price, "name": "parcel_pirce"}, amount],
    }
    for when, specs in changes.items():
        expect(fingerprint(specs) != before, f"{when}, the fingerprint must change")
    expect(isinstance(fingerprint([]), str), "no tools have a fingerprint too")
    _same_elsewhere(fingerprint)


def _same_elsewhere(fingerprint: Callable[..., Any]) -> None:
    many = [{"name": f"tool_{n}", "description": "", "parameters": {"type": "object"}} for n in range(6)]
    there = run_elsewhere(fingerprint, many)
    expect(
        there is None or there.value == fingerprint(many),
        "in another Python process the same tools get another fingerprint; "
        "`hash()` and the order of a set change with every process, a hash of hashlib does not",
    )


def _backwards(value: Any) -> Any:
    """The same JSON value with the keys of every object in the opposite order."""
    if isinstance(value, dict):
        return {key: _backwards(value[key]) for key in reversed(value)}
    return value


_MASKED = (
    ("password=spring-2026", "password=[secret]"),
    ("db?user=ann&token=a1/b2+c3==&page=2", "db?user=ann&token=[secret]&page=2"),
    ("key=one, token=two; password=three four", "key=[secret], token=[secret]; password=[secret] four"),
)
_WITHOUT = ("The token is old. The key: it does not fit. My password, please.", "3 tokens left", "")


def check_masked(masked: Callable[..., Any]) -> None:
    for text, wanted in _MASKED:
        found = masked(text)
        expect(isinstance(found, str), f"the answer is a text, but for {text!r} you return {shown(found)}")
        for place, value in enumerate(("spring-2026", "a1/b2+c3==", "one", "two", "three")):
            if f"={value}" in text:
                which = "the second secret" if place == 3 else "the secret"
                expect(value not in found, f"{which} of {text!r} is still there: {shown(found)}")
        missing = [end for end in ("&page=2", " four") if text.endswith(end) and not found.endswith(end)]
        expect(not missing, f"what stands after the value must stay, but {text!r} becomes {shown(found)}")
        expect(found == wanted, f"{text!r} must become {wanted!r}, but it becomes {shown(found)}")
    for text in _WITHOUT:
        found = masked(text)
        expect(found == text, f"a text with no secret in it must stay as it is, but {text!r} becomes {shown(found)}")


def check_strange(calls: Any) -> None:
    if not isinstance(calls, (list, tuple)) or not all(isinstance(call, ToolCall) for call in calls):
        raise CheckFailed("give a list of calls; each of them must be a `ToolCall`")
    expect(len(calls) >= 8, f"give at least 8 calls; there are {len(calls)}")
    different = {shown((call.name, call.arguments, call.truncated), limit=2_000) for call in calls}
    expect(len(different) >= 8, f"eight of the calls must be different; {len(different)} are")
    registry = Registry(_parcel_tools())
    codes = set()
    for place, call in enumerate(calls, 1):
        try:
            result = registry.call(call)
        except Exception as error:
            raise CheckFailed(
                f"call {place} made the registry raise {type(error).__name__}: a fault, report it"
            ) from None
        expect(
            isinstance(result, ToolResult), f"call {place} got {shown(result)}, which is no result: a fault, report it"
        )
        codes |= {result.error.code} if result.error else set()
    told = f": {', '.join(sorted(codes))}" if codes else ""
    expect(len(codes) >= 4, f"your calls produce {len(codes)} different error codes{told}; find at least 4")
