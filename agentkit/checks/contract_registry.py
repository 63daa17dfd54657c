"""The contract of a registry: whatever the model asks for, the answer is a result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from agentkit.checks.contract_report import ContractReport, Promise, try_promises
from agentkit.checks.contract_surface import Answer, method_of, parameters_of, read_answer
from agentkit.checks.exercise import CheckFailed, expect
from agentkit.checks.faces import shown
from agentkit.messages import ToolCall
from agentkit.tools import Tool, tool

MakeRegistry = Callable[..., Any]


def registry_contract(make_registry: MakeRegistry) -> ContractReport:
    """Try a registry: ``registry_contract(Registry)``, ``registry_contract(MyRegistry)``.

    Args:
        make_registry: takes a list of tools made with ``@tool`` and returns a registry; or takes nothing, and the
            registry has ``add(tool)`` or ``register(tool)``. The registry has ``call(name, arguments)`` or
            ``call(tool_call)``, which returns a result: ``{"ok": True, "data": …}`` or ``{"ok": False, "error":
            {"code": …, "message": …}}``, as a dict, as JSON text, or as an object with these attributes.
    """
    return try_promises("registry", _PROMISES, make_registry)


@dataclass(slots=True)
class _Shelf:
    """Three tools, which remember how they were called."""

    calls: list[tuple[Any, ...]] = field(default_factory=list)

    def tools(self) -> list[Tool]:
        def stock(item: str, shop: int) -> dict[str, Any]:
            """Pieces of an item in one shop."""
            self.calls.append((item, shop))
            return {"item": item, "pieces": 10 + shop}

        def colour(item: str) -> str:
            """Colour of an item."""
            return f"{item}: blue"

        def broken(item: str) -> str:
            """A tool that always fails."""
            raise RuntimeError("the warehouse is closed")

        return [tool(stock), tool(colour), tool(broken)]


def _make(make: MakeRegistry, tools: list[Tool]) -> Any:
    takes = parameters_of(make)
    if takes.positional:
        registry = make(tools)
    elif takes.more_positional:
        registry = make(*tools)
    else:
        registry = make()
        add = method_of(registry, "add", "register")
        if add is None:
            raise CheckFailed("the registry cannot be filled: let it take a list of tools, or give it `add(tool)`")
        for item in tools:
            add(item)
    expect(registry is not None, "making a registry returned None; did you forget `return`?")
    return registry


def _call(make: MakeRegistry, shelf: _Shelf, name: str, arguments: dict[str, Any], when: str) -> Answer:
    registry = _make(make, shelf.tools())
    call = method_of(registry, "call", "run", "execute")
    if call is None:
        raise CheckFailed("the registry has no method `call`")
    takes = parameters_of(call)
    try:
        if len(takes.positional) >= 2:
            value = call(name, arguments)
        elif takes.more_keywords:
            value = call(name, **arguments)
        else:
            value = call(ToolCall(name, arguments, "call_1"))
    except Exception as error:
        raise CheckFailed(
            f"{when}: `call` raised {type(error).__name__}; it must return a result with ok false"
        ) from None
    answer = read_answer(value)
    if answer is None:
        raise CheckFailed(f"{when}: `call` must return a result with `ok`, but it returned {shown(value)}")
    return answer


def _good(make: MakeRegistry) -> Answer:
    return _call(make, _Shelf(), "stock", {"item": "lamp", "shop": 2}, "a good call")


def _lookup(make: MakeRegistry) -> None:
    answer = _good(make)
    expect(answer.ok, "a good call of the tool `stock` came back with ok false")
    answer = _call(make, _Shelf(), "colour", {"item": "lamp"}, "a good call")
    right = answer.ok and answer.data in ("lamp: blue", None)
    expect(right, f"the tool `colour` was called, but the answer is not its own: {shown(answer.data)}")


def _unknown(make: MakeRegistry) -> None:
    answer = _call(make, _Shelf(), "telephone", {"item": "lamp"}, "a tool that does not exist")
    expect(not answer.ok, "a tool that does not exist was called, and the result has ok true")
    told = answer.message
    expect(
        not told or "telephone" in told,
        "the error must name the tool that does not exist, so that the model sees its mistake",
    )


def _bad(make: MakeRegistry, arguments: dict[str, Any], what: str) -> None:
    shelf = _Shelf()
    answer = _call(make, shelf, "stock", arguments, what)
    expect(not shelf.calls, f"{what}: the tool ran all the same; check the arguments against its parameters first")
    expect(not answer.ok, f"{what}: the result has ok true")


def _missing(make: MakeRegistry) -> None:
    _bad(make, {"item": "lamp"}, "a required argument is missing")


def _wrong_type(make: MakeRegistry) -> None:
    _bad(make, {"item": "lamp", "shop": "the big one"}, "an argument has a wrong type")


def _raises(make: MakeRegistry) -> None:
    answer = _call(make, _Shelf(), "broken", {"item": "lamp"}, "a tool that raises")
    expect(not answer.ok, "the tool raised, and the result has ok true")
    expect("Traceback" not in answer.message, "the error holds a stack trace; give the model one sentence instead")


def _data(make: MakeRegistry) -> None:
    answer = _good(make)
    if answer.ok:
        expect(
            answer.data == {"item": "lamp", "pieces": 12},
            f"`data` must be what the tool returned, not {shown(answer.data)}",
        )
        expect(answer.error is None, "a result with ok true must not have an error")


def _error(make: MakeRegistry) -> None:
    try:
        answer = _call(make, _Shelf(), "telephone", {}, "a tool that does not exist")
    except CheckFailed:
        return  # the point "unknown tool" tells that
    if not answer.ok:
        expect(answer.error, "a result with ok false must have an error")
        expect(answer.data is None, "a result with ok false must not have data")
        for name in ("code", "message"):
            text = getattr(answer, name)
            expect(text, f"the error has no `{name}`: a program reads the code, the model reads the message")


_PROMISES: tuple[Promise[MakeRegistry], ...] = (
    Promise("look-up", "each name runs its own tool", _lookup),
    Promise("unknown tool", "a tool that does not exist is a result that names it", _unknown),
    Promise("missing argument", "a call without a required argument is a result, and the tool does not run", _missing),
    Promise("wrong type", "an argument of a wrong type is a result, and the tool does not run", _wrong_type),
    Promise("tool that raises", "an exception in a tool is a result", _raises),
    Promise("data", "a good result has ok true and the tool's data", _data),
    Promise("error", "a bad result has ok false and an error with code and message", _error),
)
