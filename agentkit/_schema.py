"""A function becomes a validator and a JSON Schema; validation errors become sentences in our own words.

One pydantic core schema gives both, so what the model is told and what is checked cannot differ.
"""

from __future__ import annotations

import functools
import inspect
import sys
import types
from collections import ChainMap
from collections.abc import Callable, Mapping
from typing import Any, get_type_hints

from agentkit.errors import DefinitionError

Validate = Callable[[dict[str, Any]], dict[str, Any]]


class ArgumentsError(Exception):
    """The arguments of a call do not fit the schema. The text is one sentence for each thing that is wrong."""


def arguments_of(function: Callable[..., Any], name: str) -> tuple[Validate, dict[str, Any]]:
    """The validator and the JSON Schema of a function's parameters.

    Returns:
        ``validate`` maps a JSON object to keyword arguments (raises `ArgumentsError`), and the JSON Schema of that
        object: ``type: object``, closed, with ``$defs`` for models that are used more than once or in themselves.

    Raises:
        DefinitionError: a parameter has no type hint, or one that JSON cannot carry; the sentence names it.
    """
    parameters = _parameters(function, name)
    try:
        compiled, schema = _compile(parameters)
    except Exception as error:
        raise _blame(parameters, name) from error
    return _validator(compiled, schema), schema


def _parameters(function: Callable[..., Any], name: str) -> list[inspect.Parameter]:
    """The parameters that a model fills: resolved hints, keyword only, without self and without what a partial has set."""
    target, bound = unwrap(function)
    try:
        signature = inspect.signature(function)
    except (NameError, TypeError, ValueError):
        raise DefinitionError(f"The signature of {name!r} cannot be read. Wrap it in a plain function.") from None
    hints = _hints(target, name)
    found = []
    for index, (key, parameter) in enumerate(signature.parameters.items()):
        if key in bound:
            continue
        if index == 0 and _is_self(key, parameter, target):
            _refuse_unbound(target, name)
            continue
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            star = "*" if parameter.kind is parameter.VAR_POSITIONAL else "**"
            raise DefinitionError(
                f"The parameter {star}{key} of {name!r} has no fixed schema. Name each parameter, or take one list or model."
            )
        if parameter.kind is parameter.POSITIONAL_ONLY:
            raise DefinitionError(f"A model passes parameters by name. Remove the `/` after {key!r} in {name!r}.")
        if key not in hints:
            raise DefinitionError(f"Give the parameter {key!r} of {name!r} a type hint, for example `{key}: str`.")
        found.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[key]))
    return found


def unwrap(function: Callable[..., Any]) -> tuple[Callable[..., Any], set[str]]:
    """The plain function behind partials and callable objects, and the parameter names that partials have set."""
    bound: set[str] = set()
    while isinstance(function, functools.partial):
        bound |= set(function.keywords)
        function = function.func
    if not (inspect.isroutine(function) or inspect.isclass(function)):
        function = type(function).__call__
    return function, bound


def _is_self(key: str, parameter: inspect.Parameter, target: Callable[..., Any]) -> bool:
    """A method seen before its class exists: its qualified name has a class in front."""
    owner = getattr(target, "__qualname__", "").rpartition(".")[0]
    return (
        key in ("self", "cls")
        and parameter.annotation is parameter.empty
        and bool(owner)
        and not owner.endswith("<locals>")
    )


def _refuse_unbound(target: Callable[..., Any], name: str) -> None:
    """A method taken from its finished class has no instance to work on; in the class body the class is not there yet."""
    owner: Any = getattr(target, "__globals__", {})
    for part in target.__qualname__.split("."):
        owner = owner.get(part) if isinstance(owner, Mapping) else getattr(owner, part, None)
    if owner is target:
        raise DefinitionError(
            f"{name!r} is a method without an object. Make the tool of an object's method: tool(thing.{name})."
        )


def _hints(target: Callable[..., Any], name: str) -> dict[str, Any]:
    """The parameter hints as types. Names that live in a calling function (a class made in a test) are found there."""
    annotations = {key: hint for key, hint in getattr(target, "__annotations__", {}).items() if key != "return"}
    namespace = getattr(inspect.unwrap(target), "__globals__", {})

    def carrier() -> None: ...

    carrier.__annotations__ = annotations
    try:
        return get_type_hints(carrier, namespace, include_extras=True)
    except Exception:
        pass
    found = {}
    for key, hint in annotations.items():
        carrier.__annotations__ = {key: hint}
        try:
            found.update(get_type_hints(carrier, namespace, _callers_names(), include_extras=True))
        except Exception:
            raise DefinitionError(
                f"The type hint {hint!r} of the parameter {key!r} of {name!r} cannot be resolved. Import or define it first."
            ) from None
    return found


def _callers_names() -> Mapping[str, Any]:
    spaces: list[Mapping[str, Any]] = []
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None and len(spaces) < 30:
        spaces.append(frame.f_locals)
        frame = frame.f_back
    return ChainMap(*map(dict, spaces))


def _compile(parameters: list[inspect.Parameter]) -> tuple[Any, dict[str, Any]]:
    # This is the one function of pydantic that makes a schema from a signature (its module is named experimental: the
    # bounds in pyproject.toml and tests/test_schema.py hold it). A stub carries the prepared signature.
    from pydantic.experimental.arguments_schema import generate_arguments_schema
    from pydantic_core import SchemaValidator

    def stub() -> None: ...

    stub.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    stub.__annotations__ = {p.name: p.annotation for p in parameters}
    core: Any = _closed(generate_arguments_schema(stub, "arguments"))
    schema = _json_schema_class()().generate(core)
    schema.setdefault("type", "object")
    schema.setdefault("properties", {})
    return SchemaValidator(core), schema


def _closed(part: Any) -> Any:
    """A copy of a core schema in which models refuse keys that they do not have, unless the model itself says otherwise.

    A misspelt key must be told to the model; pydantic alone would drop it and use the default.
    """
    if isinstance(part, list):
        return [_closed(item) for item in part]
    if not isinstance(part, dict):
        return part
    copy = {key: _closed(value) if isinstance(value, (dict, list)) else value for key, value in part.items()}
    kind = part.get("type")
    if kind in ("model", "dataclass"):
        copy["config"] = {"extra_fields_behavior": "forbid", **(copy.get("config") or {})}
    elif kind in ("date", "datetime"):
        return {"type": "function-before", "function": {"type": "no-info", "function": _no_number}, "schema": copy}
    elif kind == "typed-dict":
        copy.setdefault("extra_behavior", "forbid")
    return copy


def _no_number(value: Any) -> Any:
    """Refuse a number where a date is wanted: pydantic would take it for the seconds since 1970."""
    if isinstance(value, (int, float)) or (isinstance(value, str) and value.strip().isdigit()):
        raise ValueError("a date is written as YYYY-MM-DD, not as a number")
    return value


@functools.cache
def _json_schema_class() -> Any:
    from pydantic.json_schema import GenerateJsonSchema

    class ParametersSchema(GenerateJsonSchema):
        """Titles repeat the parameter's name, so they are left out. Every default must be one that JSON can carry."""

        def field_title_should_be_set(self, schema: Any) -> bool:
            return False

        def emit_warning(self, kind: Any, detail: str) -> None:
            raise ValueError(detail)

    return ParametersSchema


def _blame(parameters: list[inspect.Parameter], name: str) -> DefinitionError:
    """Find the one parameter that no schema can be made for."""
    for parameter in parameters:
        try:
            _compile([parameter])
        except Exception:
            hint = inspect.formatannotation(parameter.annotation)
            return DefinitionError(
                f"The parameter {parameter.name!r} of {name!r} has a type or default that JSON cannot carry ({hint}). "
                "Use str, int, float, bool, date, an Enum or Literal, a list or dict of these, or a pydantic model."
            )
    return DefinitionError(
        f"The parameters of {name!r} cannot be described together. Give two of your models other names."
    )


def _validator(compiled: Any, schema: dict[str, Any]) -> Validate:
    from pydantic_core import ArgsKwargs, ValidationError

    from agentkit._explain import explain, real_place

    check = compiled.validate_python

    def validate(arguments: dict[str, Any]) -> dict[str, Any]:
        try:
            keywords: dict[str, Any] = check(ArgsKwargs((), arguments))[1]
            return keywords
        except ValidationError as error:
            problems = error.errors(include_url=False)
        places = [real_place(problem, arguments) for problem in problems if problem["input"] is None]
        lean = _without_nulls(arguments, places)
        if lean != arguments:  # in the strict form null stands for "use the default"
            try:
                keywords = check(ArgsKwargs((), lean))[1]
                return keywords
            except ValidationError:
                pass
        raise ArgumentsError(explain(problems, schema, arguments))

    return validate


def _without_nulls(value: Any, places: list[tuple[Any, ...]]) -> Any:
    """A copy of a JSON value without the nulls that stand at the given places."""
    if isinstance(value, Mapping):
        inner = {key: [place[1:] for place in places if place and place[0] == key] for key in value}
        return {
            key: _without_nulls(item, inner[key]) for key, item in value.items() if item is not None or not inner[key]
        }
    if isinstance(value, list):
        return [_without_nulls(item, [p[1:] for p in places if p and p[0] == i]) for i, item in enumerate(value)]
    return value
