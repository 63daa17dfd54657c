"""Free text for parameters: quoted text, names, topics, passages, and the user's answers."""

from __future__ import annotations

import re
from typing import Any

from agentkit.models.offline import names as naming
from agentkit.models.offline.known import ANSWER, GOAL, Filling, Known, accept_scalar, far_pools, first_fitting, hints
from agentkit.models.offline.language import words_of
from agentkit.models.offline.needs import Need, Reading, refers_back
from agentkit.models.offline.observed import named_value
from agentkit.models.offline.schema import Parameter, ToolView
from agentkit.models.offline.topics import topic
from agentkit.models.offline.values import Value


def free_text(
    parameter: Parameter, tool: ToolView, need: Need, known: Known, filling: Filling
) -> tuple[Any, str] | None:
    """Free text: quoted text, ``city: Seoul``, a name, a topic, or the passage that the tool is to work on."""
    text = known.reading.text
    quoted = _quoted(parameter, tool, need, text, filling)
    if quoted is not None:
        return quoted, GOAL
    labelled = naming.explicit(parameter, need.text if not parameter.required else text)
    if labelled is not None and (not parameter.required or parameter.shape != "text"):
        filling.used.add(labelled[1:])
        return labelled[0], GOAL
    found = _from_wording(parameter, tool, need, known, filling)
    if found is not None:
        return found, GOAL
    if not parameter.required:
        return None
    for answer in reversed(known.answers):
        if answer.text.strip() and answer.text not in filling.answers:
            filling.answers.add(answer.text)
            return _answered(answer), ANSWER
    seen = named_value(parameter, (*known.others, *known.own), lambda v: accept_scalar(parameter, v), hints(need))
    return seen if seen is not None else _first_loose(parameter, need, known, filling)


def _answered(answer: Reading) -> str:
    """The answer to a question, without "It is …" and the full stop."""
    plain = re.sub(r"^(?:it is|it's|its|the|my \w+ is|in|for|i mean)\s+", "", answer.text.strip(), flags=re.IGNORECASE)
    return re.sub(r"(?:입니다|이에요|예요|이요|요)?[.!?\s]*$", "", plain) or answer.text.strip()


def _first_loose(parameter: Parameter, need: Need, known: Known, filling: Filling) -> tuple[Any, str] | None:
    if parameter.shape not in ("entity", "any"):
        return None
    kinds = ("quoted", "code")
    return first_fitting(
        parameter, far_pools(need, known), lambda v: str(v.value) if v.kind in kinds else None, filling
    )


def _quoted(parameter: Parameter, tool: ToolView, need: Need, text: str, filling: Filling) -> str | None:
    """A quoted text (or an e-mail address for a recipient). The word before it may name the parameter that it is for."""
    ranked = []
    others = [each for each in tool.parameters if each.name != parameter.name]
    longer = any(
        each.required and each.shape in ("text", "query") and each.name not in filling.arguments for each in others
    )
    for place, value in enumerate(need.values):
        if (value.start, value.end) in filling.used or not _may_quote(value, parameter):
            continue
        before = {word.stem for word in words_of(text[max(0, value.start - 20) : value.start])[-1:]}
        named = bool(before & parameter.stems) or value.kind == "email"
        if not named and (any(before & each.stems for each in others) or (parameter.shape == "entity" and longer)):
            continue
        if parameter.required or named:
            ranked.append((named, -place, value))
    if not ranked:
        return None
    value = max(ranked, key=lambda item: item[:2])[2]
    filling.used.add((value.start, value.end))
    return str(value.value)


def _may_quote(value: Value, parameter: Parameter) -> bool:
    if value.kind in ("email", "url", "sql"):
        people = {"to", "recipient", "address", "mail", "from", "receiver"}
        return parameter.shape == "any" or (
            value.kind == "email" and bool(people & set(parameter.name.lower().split("_")))
        )
    return value.kind == "quoted"


def _from_wording(parameter: Parameter, tool: ToolView, need: Need, known: Known, filling: Filling) -> Any:
    text = known.reading.text
    if parameter.shape == "any":
        plain = next((v for v in need.values if (v.start, v.end) not in filling.used and v.kind != "expression"), None)
        if plain is not None:
            filling.used.add((plain.start, plain.end))
            return plain.value
    if not parameter.required and parameter.shape != "entity":
        return None
    if parameter.shape in ("entity", "any"):
        return _entity(parameter, tool, need, text, filling)
    if parameter.shape == "query":
        piece = topic(need, text, tool, filling.used, _background(need, known))
    else:
        piece = naming.passage(need, text, tool, filling.used)
    if piece is None and parameter.shape == "query":
        return _entity(parameter, tool, need, text, filling)
    return piece[0] if piece else None


def _background(need: Need, known: Known) -> Need | None:
    """What "it" stands for: the clause before, or the last need of the goal before."""
    if need.background is not None or not refers_back(need):
        return need.background
    before = known.earlier[-1].needs if known.earlier and need is known.reading.needs[0] else ()
    return before[-1] if before else None


def _entity(parameter: Parameter, tool: ToolView, need: Need, text: str, filling: Filling) -> Any:
    lonely = sum(each.shape == "entity" and each.required for each in tool.parameters) < 2
    names = list(naming.names_in(need, tool))
    if not parameter.required:
        names = [name for name in names if _belongs(name, parameter)]
    best = naming.best_name(parameter, names, filling.used, lonely)
    if best is not None:
        filling.used.add((best.start, best.end))
        rest = [each for each in names if each is not best and (each.start, each.end) not in filling.used]
        filling.spare[parameter.name] = naming.beside(text, best, rest)
        return best.text
    code = next((v for v in need.values if v.kind == "code" and (v.start, v.end) not in filling.used), None)
    if code is not None and parameter.required:
        filling.used.add((code.start, code.end))
        return str(code.value)
    return None


def _belongs(name: naming.Name, parameter: Parameter) -> bool:
    return any(word.stem in parameter.stems for word in words_of(name.before)) or name.before in parameter.name.split(
        "_"
    )
