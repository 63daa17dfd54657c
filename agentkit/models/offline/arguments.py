"""Arguments for a call, filled from what is stated or observed, never invented.

Each parameter's shape (enum, pattern, date, number, name …) says what kind of value is looked for. The places are
searched in this order: the clause itself, the user's answers, what the clause refers to, earlier observations under the
same name, other statements of the goal, earlier goals.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from agentkit.models.offline.arithmetic import OPERAND
from agentkit.models.offline.choices import flag, pick
from agentkit.models.offline.freetext import free_text
from agentkit.models.offline.known import (
    ANSWER,
    GOAL,
    Filling,
    Known,
    accept_scalar,
    far_pools,
    first_fitting,
    hints,
    pools,
)
from agentkit.models.offline.language import words_of
from agentkit.models.offline.needs import Need, operation_of
from agentkit.models.offline.observed import named_value
from agentkit.models.offline.operand import filled, operand
from agentkit.models.offline.quantities import date_of, number, sort_dates
from agentkit.models.offline.schema import Parameter, ToolView
from agentkit.models.offline.values import Value

_ORDER = (
    "enum", "pattern", "email", "url", "sql", "expression", "code", "date", "integer", "number", "boolean", "array",
    "object", "entity", "any", "query", "text",
)  # fmt: skip


def fill(tool: ToolView, need: Need, known: Known) -> Filling:
    """Fill the parameters of a tool for one need; the strictest shapes first, free text last."""
    filling = Filling()
    for parameter in sorted(tool.parameters, key=lambda each: (_ORDER.index(each.shape), not each.required)):
        found = _value(parameter, tool, need, known, filling)
        if found is not None:
            filling.put(parameter.name, *found)
        elif parameter.required:
            _leave_out(parameter, filling)
    sort_dates(tool, filling)
    order = [parameter.name for parameter in tool.parameters]
    filling.arguments = {name: filling.arguments[name] for name in order if name in filling.arguments}
    return filling


def _leave_out(parameter: Parameter, filling: Filling) -> None:
    """A required value that nobody stated: the schema may itself say what to write; otherwise it is missing."""
    if parameter.has_default:
        filling.put(parameter.name, parameter.default, "schema")
    elif parameter.nullable:
        filling.put(parameter.name, None, "schema")
    elif parameter.shape == "enum" and len(parameter.choices) == 1:
        filling.put(parameter.name, parameter.choices[0], "schema")
    else:
        filling.missing.append(parameter)


def _value(parameter: Parameter, tool: ToolView, need: Need, known: Known, filling: Filling) -> tuple[Any, str] | None:
    shape = parameter.shape
    if shape == "enum":
        return _enum(parameter, need, known)
    if shape == "boolean":
        stated = flag(parameter, need)
        return None if stated is None else (stated, GOAL)
    if shape == "object":
        return _object(parameter, tool, need, known)
    if shape == "array":
        return _array(parameter, tool, need, known, filling)
    if shape in ("integer", "number"):
        return number(parameter, need, known, filling)
    if shape == "date":
        return date_of(parameter, tool, need, known, filling)
    if shape in ("entity", "query", "text", "any"):
        return free_text(parameter, tool, need, known, filling)
    return _typed(parameter, need, known, filling)


def _enum(parameter: Parameter, need: Need, known: Known) -> tuple[Any, str] | None:
    places = [(need.text, need.words, GOAL)]
    places += [(answer.text, words_of(answer.text), ANSWER) for answer in reversed(known.answers)]
    if parameter.required:
        places.append((known.reading.text, words_of(known.reading.text), GOAL))
    for text, words, source in places:
        found = pick(parameter.choices, text, words, exact_only=not parameter.required)
        if found is not None:
            return found, source
    if parameter.required:
        return named_value(parameter, known.own, lambda value: value in parameter.choices, hints(need))
    return None


def _typed(parameter: Parameter, need: Need, known: Known, filling: Filling) -> tuple[Any, str] | None:
    """A value of a kind that can be recognised by its form: a code, a pattern, an address, SQL, arithmetic."""
    if parameter.shape == "expression" and (whole := _combined(need)) is not None:
        return whole, GOAL
    accept = _acceptor(parameter)
    places = pools(need, known)[: None if parameter.required else 1]
    near = first_fitting(parameter, places, accept, filling)
    if near is not None or not parameter.required:
        return near
    if parameter.shape == "expression" and (waiting := operation_of(need)) is not None:
        return _with_operand(waiting, need, known)
    if parameter.shape in ("pattern", "code"):
        token = _token(parameter, need, known)
        if token is not None:
            return token
    if parameter.shape not in ("sql", "expression"):
        seen = named_value(parameter, (*known.others, *known.own), lambda v: accept_scalar(parameter, v), hints(need))
        if seen is not None:
            return seen
    return first_fitting(parameter, far_pools(need, known), accept, filling)


def _combined(need: Need) -> str | None:
    """ "20% of 30, plus 5": what is complete, with the operations that follow it in the same clause."""
    whole = [value for value in need.values if value.kind == "expression"]
    after = [value for value in need.values if value.kind == "operation" and whole and value.start >= whole[0].end]
    if len(whole) != 1 or not after:
        return None
    text = str(whole[0].value)
    for value in after:
        text = str(value.value).replace(OPERAND, f"({text})")
    return text


def _with_operand(expression: str, need: Need, known: Known) -> tuple[Any, str] | None:
    """An operation of which one number was observed: "multiply it by 20" after 4096 was found is ``4096 * 20``."""
    words = [word for each in (need, *known.reading.needs) for word in each.words]
    spoken = frozenset(part for word in words for part in (word.stem, *word.concepts))
    found = operand((*reversed(known.own), *known.before), spoken)
    return (filled(expression, found[0]), found[1]) if found is not None else None


def _acceptor(parameter: Parameter) -> Callable[[Value], Any]:
    shape = parameter.shape
    if shape == "pattern":
        return lambda value: _by_pattern(parameter, str(value.value)) if value.kind != "expression" else None
    kinds = {
        "code": ("code", "number", "quoted"), "email": ("email",), "url": ("url",), "sql": ("sql",),
        "expression": ("expression",),
    }[shape]  # fmt: skip
    return lambda value: _as_text(value, parameter) if value.kind in kinds else None


def _as_text(value: Value, parameter: Parameter) -> str | None:
    text = str(value.value)
    if parameter.shape == "code" and value.kind == "code" and any(str(e).isupper() for e in parameter.examples):
        return text.upper()
    return text if parameter.shape != "code" or len(text) <= 60 else None


def _by_pattern(parameter: Parameter, text: str) -> str | None:
    if parameter.pattern is None or len(text) > 200:
        return None
    return next((form for form in (text, text.upper(), text.lower()) if parameter.pattern.search(form)), None)


def _token(parameter: Parameter, need: Need, known: Known) -> tuple[Any, str] | None:
    """A plain word that has the demanded form, such as a currency in capitals."""
    for text, source in [(need.masked, GOAL), *((answer.text, ANSWER) for answer in reversed(known.answers))]:
        for word in re.findall(r"[A-Za-z][\w-]*", text):
            if parameter.shape == "code":
                if source == ANSWER and len(text.split()) == 1:
                    return text.strip(), source
            elif (word.isupper() or source == ANSWER) and (found := _by_pattern(parameter, word)) is not None:
                return found, source
    return None


def _object(parameter: Parameter, tool: ToolView, need: Need, known: Known) -> tuple[Any, str] | None:
    inner = ToolView(tool.name, tool.description, parameter.fields, tool.acts)
    filling = fill(inner, need, known)
    if filling.missing or not any(source != "schema" for source in filling.sources.values()):
        return None
    return filling.arguments, next(iter(filling.sources.values()))


def _array(parameter: Parameter, tool: ToolView, need: Need, known: Known, filling: Filling) -> tuple[Any, str] | None:
    item = parameter.item
    if item is None or item.shape in ("array", "boolean"):
        return None
    one = Parameter(
        parameter.name, item.shape, True, False, None, False, parameter.description, parameter.words, item.choices,
        item.pattern, item.examples, item.low, item.high, item.fields, None, parameter.stems,
    )  # fmt: skip
    if item.shape == "enum":
        found = [choice for choice in item.choices if pick((choice,), need.text, need.words, True) is not None]
        return (found, GOAL) if found else None
    values: list[Any] = []
    source = GOAL
    for _ in range(50):
        got = _value(one, tool, need, known, filling)
        if got is None or got[0] in values or (values and got[1] != source):
            break
        values.append(got[0])
        source = got[1]
        if item.shape == "object":
            break
    return (values, source) if values else None
