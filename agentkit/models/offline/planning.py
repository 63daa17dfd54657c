"""Which tools serve a need, with which arguments, and what is still missing.

A need is served by the tool that fits it best, and by further tools for the words that the best one leaves uncovered: a
question about refunding an order needs the order's record and the refund policy. This is the greedy way to cover a set.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from agentkit._jsonsafe import canonical
from agentkit.messages import ToolScore
from agentkit.models.offline.arguments import EARLIER, GOAL, Filling, fill
from agentkit.models.offline.situation import Situation
from agentkit.models.offline.needs import Need
from agentkit.models.offline.schema import Parameter, ToolView
from agentkit.models.offline.scoring import Match, matches, tool_scores

ENOUGH = 0.24  # a lower score says that no tool serves the need
COVERED = 0.5  # a word counts as served from here on
CLEARLY = 0.8  # a further tool joins only for a word that stands in its name or its first sentence
UNFILLABLE = 0.3  # what a tool loses when its required arguments are nowhere
_TECHNICAL = ("timeout", "tool_failed", "cancelled", "unavailable", "unknown_tool")


@dataclass(frozen=True, slots=True)
class Planned:
    """One call to make: the tool, its arguments, where each came from, and the words for which the tool was chosen."""

    tool: str
    arguments: Mapping[str, Any]
    sources: Mapping[str, str]
    reason: str


@dataclass(slots=True)
class Plan:
    """What one need asks for now."""

    need: Need
    scores: tuple[ToolScore, ...]
    calls: list[Planned] = field(default_factory=list)
    missing: list[tuple[str, Parameter]] = field(default_factory=list)
    served: bool = True

    @property
    def probability(self) -> float:
        return max((score.probability for score in self.scores), default=0.0)


def plan(need: Need, tools: tuple[ToolView, ...], situation: Situation, temperature: float) -> Plan:
    """The next calls for one need; calls that were made already are left out."""
    found = matches(need, tools)
    allowed = [need.mood == "act" or not match.tool.acts for match in found]
    made = Plan(need, tool_scores(need, found, temperature, allowed))
    known = situation.known(need)
    usable = [match for match, may in zip(found, allowed, strict=True) if may]
    filled = {match.tool.name: fill(match.tool, need, known) for match in usable}
    chosen = _choose(need, usable, filled, situation)
    made.served = bool(chosen)
    for match, reason in chosen:
        _schedule(made, match.tool, filled[match.tool.name], reason, situation)
    if made.missing:
        _gather(made, usable, filled, situation)
    if not made.calls and not made.missing and chosen and need.mood == "ask":
        _measure(made, usable, filled, situation)
    return made


def _choose(
    need: Need, usable: list[Match], filled: Mapping[str, Filling], situation: Situation
) -> list[tuple[Match, str]]:
    """The best tool, then one for each word or value that is not served yet."""
    ranked = sorted(usable, key=lambda match: -_worth(match, need, filled[match.tool.name]))
    ranked = [match for match in ranked if not _broken(match.tool, situation)] or ranked
    if not ranked or _worth(ranked[0], need, filled[ranked[0].tool.name]) < ENOUGH:
        return []
    best = ranked[0]
    chosen = [(best, "")]
    for place, word in enumerate(need.words):
        if any(match.covered[place] >= COVERED for match, _ in chosen):
            continue
        helpers = [m for m in ranked if m.covered[place] >= CLEARLY and _can_run(m, need, filled[m.tool.name])]
        if helpers and not best.tool.acts:
            chosen.append((max(helpers, key=lambda m: m.covered[place]), word.text))
    for place in range(len(best.values)):
        if any(match.values[place] >= COVERED for match, _ in chosen) or best.tool.acts:
            continue
        helpers = [m for m in ranked if m.values[place] >= COVERED and not filled[m.tool.name].missing]
        if helpers:
            chosen.append((helpers[0], "the value that is stated"))
    return chosen


def _worth(match: Match, need: Need, filling: Filling) -> float:
    """The score, less when required arguments are nowhere and the need does not speak of a particular thing."""
    return match.score if _can_run(match, need, filling) else match.score - UNFILLABLE


def _can_run(match: Match, need: Need, filling: Filling) -> bool:
    if not filling.missing:
        return True
    about = any(
        need.specific & {word.stem, *word.concepts} and cover >= COVERED
        for word, cover in zip(need.words, match.covered, strict=True)
    )
    return match.tool.acts or about


def _broken(tool: ToolView, situation: Situation) -> bool:
    """Whether the tool has failed for a technical reason, so that another one should be tried."""
    return any(
        made.call.name == tool.name and made.result.error is not None and made.result.error.code in _TECHNICAL
        for made in situation.made
    )


def _schedule(made: Plan, tool: ToolView, filling: Filling, reason: str, situation: Situation) -> None:
    """Add the calls of one tool: one for each further value of the same kind ("orders A100 and A101")."""
    if filling.missing:
        made.missing.extend((tool.name, parameter) for parameter in filling.missing)
        return
    for arguments in _variants(made.need, filling):
        if not situation.has_made(tool.name, arguments) and not _gave_up(tool.name, arguments, situation):
            made.calls.append(Planned(tool.name, arguments, dict(filling.sources), reason))


def _variants(need: Need, filling: Filling) -> list[dict[str, Any]]:
    variants = [filling.arguments]
    for name, others in filling.spare.items():
        if name in filling.arguments and filling.sources.get(name) == GOAL and len(need.codes) > 1:
            variants += [{**filling.arguments, name: other} for other in others if other in need.codes]
    return variants


def _gave_up(name: str, arguments: Mapping[str, Any], situation: Situation) -> bool:
    """A schema error is repaired once, and only with other arguments; anything else is not repeated."""
    refused = [m for m in situation.made if m.call.name == name and m.result.error and m.result.error.code == "bad_arguments"]
    return len(refused) > 1 or any(canonical(m.arguments) == canonical(arguments) for m in refused)


def _gather(made: Plan, usable: list[Match], filled: Mapping[str, Filling], situation: Situation) -> None:
    """Before asking the user: can a tool that only reads tell the missing value?"""
    readers = [
        match
        for match in sorted(usable, key=lambda match: -match.score)
        if not match.tool.acts and not filled[match.tool.name].missing and max(match.values, default=0.0) >= COVERED
    ]
    for match in readers[:1]:
        arguments = filled[match.tool.name].arguments
        if not situation.has_made(match.tool.name, arguments):
            name = made.missing[0][1].name
            made.calls.append(Planned(match.tool.name, arguments, dict(filled[match.tool.name].sources), name))
            made.missing.clear()


def _measure(made: Plan, usable: list[Match], filled: Mapping[str, Filling], situation: Situation) -> None:
    """A date in the goal and a date in an observation: a tool that takes two dates can tell what lies between them."""
    for match in usable:
        filling = filled[match.tool.name]
        dates = [each.name for each in match.tool.required if each.shape == "date"]
        if len(dates) < 2 or len(dates) < len(match.tool.required) or filling.missing:
            continue
        stated = [filling.sources[name] in (GOAL, EARLIER) for name in dates]
        new = not any(m.call.name == match.tool.name for m in situation.made)
        if any(stated) and not all(stated) and new:
            made.calls.append(Planned(match.tool.name, filling.arguments, dict(filling.sources), "the two dates"))

