"""The contract of a tool: what the model sees of it, and what happens when the model calls it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from agentkit.checks.contract_report import ContractReport, Promise, try_promises
from agentkit.checks.contract_surface import Answer, method_of, parameters_of, part, read_answer
from agentkit.checks.exercise import CheckFailed, expect
from agentkit.checks.faces import shown

MakeTool = Callable[[Callable[..., Any]], Any]
_DESCRIPTION = "Price of sending one parcel, in KRW."
_TYPES = {"city": "string", "weight": "integer", "express": "boolean"}


def tool_contract(make_tool: MakeTool) -> ContractReport:
    """Try a way to make tools: ``tool_contract(tool)``, ``tool_contract(MyTool)``.

    Args:
        make_tool: takes a function with type hints and a docstring, and returns a tool. The tool is an object or a
            dict with ``name``, ``description`` and ``parameters`` (a JSON Schema, or a pydantic model), and one way to
            run it: ``call(arguments)`` or ``run(arguments)`` with a dict or with keywords; or ``validate(arguments)``,
            which returns the keywords, beside ``function``; or the tool itself called with keywords. Bad arguments may
            be refused with an exception or with a result whose ``ok`` is false.
    """
    return try_promises("tool", _PROMISES, make_tool)


@dataclass(slots=True)
class _Parcel:
    """A function to make a tool of, which remembers how it was called."""

    calls: list[tuple[Any, ...]] = field(default_factory=list)

    def function(self) -> Callable[..., Any]:
        def parcel_price(city: Any, weight: Any, express: Any = False) -> Any:
            self.calls.append((city, weight, express))
            return {"city": city, "price": 1000 * weight + (5000 if express else 0)}

        # Real types and not their names, because a hand-made tool may look them up without resolving them.
        parcel_price.__annotations__ = {"city": str, "weight": int, "express": bool, "return": dict[str, Any]}
        parcel_price.__doc__ = _DESCRIPTION
        return parcel_price


def _run(tool: Any, arguments: dict[str, Any]) -> Any:
    method = method_of(tool, "call", "run", "invoke")
    validate, function = method_of(tool, "validate"), method_of(tool, "function")
    if method is None and validate is not None and function is not None:
        return function(**validate(arguments))
    method = method or (tool if callable(tool) else function)
    if method is None:
        raise CheckFailed("the tool cannot be run: give it a method `call(arguments)`")
    takes = parameters_of(method)
    return method(arguments) if len(takes.positional) == 1 and not takes.more_keywords else method(**arguments)


def _schema(tool: Any) -> Mapping[str, Any]:
    found = part(tool, "parameters", "input_schema", "inputSchema", "schema")
    if hasattr(found, "model_json_schema"):
        found = found.model_json_schema()
    elif callable(found):
        found = found()
    expect(isinstance(found, Mapping), "`parameters` is not a JSON Schema: it must be a dict")
    return found


def _properties(tool: Any) -> Mapping[str, Any]:
    found = _schema(tool).get("properties")
    return found if isinstance(found, Mapping) else {}


def _made(make: MakeTool) -> Any:
    tool = make(_Parcel().function())
    expect(tool is not None, "making a tool returned None; did you forget `return`?")
    return part(tool, "function") if isinstance(part(tool, "function", default=None), Mapping) else tool


def _name(make: MakeTool) -> None:
    name = part(_made(make), "name")
    expect(name == "parcel_price", f"the tool of `parcel_price` is named {shown(name)}")


def _description(make: MakeTool) -> None:
    text = part(_made(make), "description")
    expect(isinstance(text, str) and _DESCRIPTION in text, f"the docstring is missing from it: it is {shown(text)}")


def _object(make: MakeTool) -> None:
    tool = _made(make)
    kind = _schema(tool).get("type")
    expect(
        kind == "object",
        f'the schema must have "type": "object", because the model sends an object; it has {shown(kind)}',
    )
    names = sorted(_properties(tool))
    expect(names == sorted(_TYPES), f"`properties` must describe {sorted(_TYPES)}, but it describes {names}")


def _types(make: MakeTool) -> None:
    properties = _properties(_made(make))
    for name, kind in _TYPES.items():
        own = properties.get(name, {})
        options = [own, *own.get("anyOf", ())] if isinstance(own, Mapping) else []
        found = [kinds for option in options for kinds in _as_list(option.get("type"))]
        if name in properties:
            expect(kind in found, f'`{name}` must have "type": "{kind}", but it has {shown(own)}')


def _as_list(kinds: Any) -> list[Any]:
    return list(kinds) if isinstance(kinds, (list, tuple)) else [kinds]


def _required(make: MakeTool) -> None:
    schema = _schema(_made(make))
    required = list(schema.get("required", ()))
    for name in ("city", "weight"):
        expect(name in required, f"`{name}` has no default, so it must stand in `required`; there is {required}")
    if "express" in required:  # right in the strict form only, where null stands for the default
        optional = "null" in str(schema.get("properties", {}).get("express"))
        closed = schema.get("additionalProperties") is False
        expect(optional and closed, "`express` has a default, so it must not stand in `required`")


def _valid_call(make: MakeTool) -> None:
    parcel = _Parcel()
    value = _run(make(parcel.function()), {"city": "Busan", "weight": 3, "express": True})
    answer = read_answer(value) or Answer(True, value, None)
    expect(
        parcel.calls == [("Busan", 3, True)],
        f"the function must run once with these arguments; it ran {_times(parcel)}",
    )
    expected = {"city": "Busan", "price": 8000}
    expect(answer.ok and answer.data == expected, f"the call must return what the function returns, not {shown(value)}")


def _default(make: MakeTool) -> None:
    parcel = _Parcel()
    _run(make(parcel.function()), {"city": "Busan", "weight": 3})
    expect(
        parcel.calls == [("Busan", 3, False)], f"without `express` its default must be used; it ran {_times(parcel)}"
    )


def _times(parcel: _Parcel) -> str:
    return f"with {', '.join(map(shown, parcel.calls))}" if parcel.calls else "not at all"


def _refuses(make: MakeTool, arguments: dict[str, Any], what: str) -> None:
    parcel = _Parcel()
    tool = make(parcel.function())
    try:
        answer = read_answer(_run(tool, arguments))
    except CheckFailed:
        raise
    except Exception:
        answer = None  # an exception is a refusal too, as long as the function has not begun
    expect(not parcel.calls, f"{what}, and the function ran all the same; check the arguments first")
    expect(answer is None or not answer.ok, f"{what}, and the result says that all is well")


def _wrong_type(make: MakeTool) -> None:
    _refuses(make, {"city": "Busan", "weight": "heavy"}, 'weight was "heavy"')


def _missing(make: MakeTool) -> None:
    _refuses(make, {"city": "Busan"}, "weight was missing")


_PROMISES: tuple[Promise[MakeTool], ...] = (
    Promise("name", "the tool has the name of its function", _name),
    Promise("description", "the docstring is the description", _description),
    Promise("object", "the parameters are an object with one property for each parameter", _object),
    Promise("types", "each property has the type of its hint", _types),
    Promise("required", "required are the parameters without a default", _required),
    Promise("valid call", "a call with good arguments returns what the function returns", _valid_call),
    Promise("default", "an argument that is left out gets its default", _default),
    Promise("wrong type", "an argument of a wrong type does not reach the function", _wrong_type),
    Promise("missing argument", "a call without a required argument does not reach the function", _missing),
)
