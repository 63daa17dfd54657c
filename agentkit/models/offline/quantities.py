"""Numbers and dates for parameters: which of those that are stated or observed belongs to which parameter."""

from __future__ import annotations

import re
from typing import Any

from agentkit.models.offline.known import (
    GOAL,
    Filling,
    Known,
    accept_scalar,
    far_pools,
    first_fitting,
    hints,
    in_range,
    pools,
)
from agentkit.models.offline.language import words_of
from agentkit.models.offline.needs import Need
from agentkit.models.offline.observed import dated, named_value
from agentkit.models.offline.schema import Parameter, ToolView
from agentkit.models.offline.values import Value

_UNITS = frozenset("day week month year hour minute percent date deadline temperature distance weight length".split())


def number(parameter: Parameter, need: Need, known: Known, filling: Filling) -> tuple[Any, str] | None:
    def accept(value: Value) -> Any:
        if value.kind != "number" or isinstance(value.value, str) or not in_range(parameter, value.value):
            return None
        if parameter.shape == "integer":
            return int(value.value) if float(value.value).is_integer() else None
        return value.value

    ranked: list[tuple[float, int, Any, str, Value]] = []
    for values, source in pools(need, known):
        for value in values:
            if (value.start, value.end) in filling.used or (number := accept(value)) is None:
                continue
            near = _nearness(parameter, value, need, known.reading.text if source == GOAL else "")
            if near >= (0.0 if parameter.required else 1.0):
                ranked.append((near, -len(ranked), number, source, value))
        if ranked:
            break
    if ranked:
        _, _, number, source, value = max(ranked, key=lambda item: item[:2])
        filling.used.add((value.start, value.end))
        filling.spare[parameter.name] = [item[2] for item in ranked if item[4] is not value]
        return number, source
    if not parameter.required:
        return None
    return named_value(parameter, (*known.others, *known.own), lambda v: accept_scalar(parameter, v), hints(need))


def _nearness(parameter: Parameter, value: Value, need: Need, text: str) -> float:
    """Do the words beside a number name the parameter? ``5 results`` does for a limit, ``30 days`` does not for money."""
    if not text:
        return 0.0
    before, after = words_of(text[max(0, value.start - 24) : value.start]), words_of(text[value.end : value.end + 24])
    terms = parameter.stems | {concept for word in parameter.words for concept in word.concepts}
    told = terms | {part for word in words_of(parameter.description) for part in (word.stem, *word.concepts)}
    beside = (*before[-1:], *after[:1])
    spoken = {part for word in beside for part in (word.stem, *word.concepts)}
    if spoken & terms:
        return 2.0
    limit = terms & {"limit", "top", "max", "maximum", "result", "count", "n", "k"}
    if limit and re.search(r"\b(?:top|first|last|up to|at most)\s*$", text[: value.start], re.IGNORECASE):
        return 2.0
    year = isinstance(value.value, int) and 1800 <= value.value <= 2200 and not text[value.start : value.end].count(",")
    if "year" in terms:
        return 1.5 if year else -1.0
    unit = {concept for word in after[:1] for concept in word.concepts} & _UNITS
    if unit and not unit & told and text[value.end : value.end + 8].strip()[:1].isalpha():
        return -1.0
    return 1.0 if spoken & told else 0.0


def date_of(parameter: Parameter, tool: ToolView, need: Need, known: Known, filling: Filling) -> tuple[Any, str] | None:
    def accept(value: Value) -> Any:
        return value.value if value.kind == "date" else None

    own = first_fitting(parameter, pools(need, known)[:2], accept, filling)
    if own is not None or not parameter.required:
        return own
    several = sum(each.shape == "date" and each.required for each in tool.parameters) > 1
    loose = [value for value in known.reading.values if value.kind == "date"]
    wanted = frozenset(part for word in need.words for part in (word.stem, *word.concepts))
    if several or not loose:
        seen = dated(known.own or known.others, wanted) if not filling.observed else None
        if seen is not None:
            return seen[0], seen[2]
    return first_fitting(parameter, [(tuple(loose), GOAL), *far_pools(need, known)[1:]], accept, filling)


def sort_dates(tool: ToolView, filling: Filling) -> None:
    """Two dates of which one was observed and one stated: the earlier one is the start."""
    dates = [each.name for each in tool.parameters if each.shape == "date" and each.name in filling.arguments]
    if len(dates) == 2 and filling.observed:
        first, second = dates
        if str(filling.arguments[first]) > str(filling.arguments[second]):
            for table in (filling.arguments, filling.sources):
                table[first], table[second] = table[second], table[first]
