"""The judgements that a plan rests on: how much fits, what a missing value costs, and whether a tool can do a thing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from agentkit.models.offline.known import Filling
from agentkit.models.offline.language import Word, split_name, words_of
from agentkit.models.offline.lexicon import lexicon, stem
from agentkit.models.offline.needs import Need, operation_of
from agentkit.models.offline.schema import Parameter, ToolView
from agentkit.models.offline.scoring import Match, Profile, profile_of

FITS = 0.3  # the least score with which a tool is taken for a need,
PARTLY, SURE = 0.18, 0.9  # or less, when it covers one word or value of the need as well as SURE
ADDS = 0.15  # the least share of a need that a second tool must add,
# and how well it must cover the best word of that share: the tool is about it and does not just mention it. A question
# about nothing in particular ("Which kinds can be returned?") needs a tool that has the word in its name.
STRONG, NAMED = 0.7, 0.95
# What is taken from a tool that acts when nothing is to be done, and from one that can not do what is to be done.
FORBIDDEN = 1.0
ACTION = 0.3  # what a tool that acts gains when something is to be done
MISSING = 0.1  # what a tool loses when a required value is stated nowhere,
WRITTEN = 0.4  # when that is a thing that people write out themselves (SQL, a formula),
OTHER = 0.2  # and when the need states other things instead


def fits(match: Match) -> bool:
    """Whether a tool is taken for a need at all: it covers enough of it, or one part of it very well."""
    return match.score >= FITS or (match.score >= PARTLY and max(match.covered, default=0.0) >= SURE)


def best_of(found: Sequence[Match], suited: list[float]) -> Match | None:
    """The tool that suits a need best (the first of equal ones), or None when none fits."""
    fitting = [(score, match) for match, score in zip(found, suited, strict=True) if score > 0 and fits(match)]
    return max(fitting, key=lambda pair: pair[0])[1] if fitting else None


def gives(profile: Profile, parameter: Parameter) -> bool:
    """Whether a tool's text names everything that a parameter's name says."""
    return all(
        word.stem in profile.stems or any(concept in profile.concepts for concept in word.concepts)
        for word in parameter.words
    )


def lacks(match: Match, need: Need, filling: Filling) -> float:
    """What a tool loses because required values are missing."""
    if not filling.missing or (match.tool.calculates and operation_of(need) is not None):
        return 0.0  # "multiply it by 20" waits for an observation
    loss = WRITTEN if any(each.shape in ("sql", "expression") for each in filling.missing) else MISSING
    stated = match.covered[len(need.words) :]
    return loss + (OTHER if stated and not any(stated) else 0.0)


def related(tool: ToolView, terms: frozenset[str] | set[str]) -> bool:
    """Whether a tool's own words (not those that only name the type of its parameters) are among the terms."""
    profile = profile_of(tool)
    typed = {each.shape for each in tool.parameters} | {"date", "dat", "number", "text", "nam", "start", "end"}
    strong = {stem for stem, weight in profile.stems.items() if weight >= 0.9} - typed
    return bool(strong & terms)


def does(need: Need, match: Match) -> bool:
    """Whether a tool covers the verb of an imperative: nothing but a tool that cancels can serve "Cancel it"."""
    words = lexicon().words
    for word, cover in zip(need.words, match.covered, strict=False):
        lowered = word.text.lower()
        if lowered in words["acting"] and lowered not in words["generic"]:
            return cover >= 0.4 and not _only_about(match.tool, word)
        if lowered in words["generic"] or not word.text.isascii():
            break
    told = zip(need.words, match.covered, strict=False)
    return any(cover >= 0.4 and not _only_about(match.tool, word) for word, cover in told)


def _only_about(tool: ToolView, word: Word) -> bool:
    """Whether a tool that reads has the word only before a noun such as "policy": it tells about refunds, it makes none."""
    if tool.acts:
        return False
    name = words_of(split_name(tool.name).lower())
    attributes = {stem(each) for each in lexicon().words["attributes"]}
    alike = [n for n, each in enumerate(name) if each.stem == word.stem or set(each.concepts) & set(word.concepts)]
    return bool(alike) and all(n + 1 < len(name) and name[n + 1].stem in attributes for n in alike)


def takes_several(tool: ToolView) -> bool:
    coded = [each for each in tool.parameters if each.shape in ("code", "pattern")]
    lists = [
        each
        for each in tool.parameters
        if each.shape == "array" and each.item and each.item.shape in ("code", "pattern", "entity")
    ]
    return len(coded) > 1 or bool(lists)


@lru_cache(maxsize=256)
def only_code(need: Need, code: str) -> Need:
    """The same need for one of its codes."""

    def keep(values: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(value for value in values if value.kind != "code" or value.value == code)

    return replace(need, values=keep(need.values), inherited=keep(need.inherited))


def variants(tool: ToolView, filling: Filling) -> list[dict[str, Any]]:
    """One call for each name when a tool takes one name and the need states several ("Seoul and Busan")."""
    names = [each.name for each in tool.required if each.shape == "entity" and filling.spare.get(each.name)]
    if len(names) != 1 or len(tool.required) > 1:
        return [filling.arguments]
    values = dict.fromkeys([filling.arguments[names[0]], *filling.spare[names[0]]])
    return [{**filling.arguments, names[0]: value} for value in list(values)[:8]]
