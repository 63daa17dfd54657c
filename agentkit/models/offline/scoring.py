"""How well does a tool fit a need? Words, concepts and misspelt words are compared, and a softmax makes probabilities.

A tool is its name, its description, and the names and descriptions of its parameters: exactly the text that any model
sees. So a changed description changes the score. A word that stands in the text of every tool tells little and counts
little (inverse document frequency, Spärck Jones 1972).
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import lru_cache

from agentkit.messages import ToolScore
from agentkit.models.offline.language import Word, corrected, split_name, words_of
from agentkit.models.offline.lazy import Pattern
from agentkit.models.offline.lexicon import bigrams, lexicon, similarity
from agentkit.models.offline.needs import Need
from agentkit.models.offline.schema import Parameter, ToolView
from agentkit.models.offline.values import Value

NAME, FIRST, LATER, PARAMETER, CHOICE, DETAIL = 1.0, 0.9, 0.65, 0.6, 0.8, 0.4
CONCEPT, MISSPELT = 0.85, 0.8
VALUE = 0.8
WAITING = 1.6  # "multiply the size of a page by 20" is about multiplying, though most of its words tell what
OPEN = 0.5  # how well a tool that searches for any topic covers a word of a question that it does not have itself
UNKNOWN = 0.3  # a word that no tool knows makes a need vaguer, but not as much as a known word makes it clear
_DETAIL = Pattern(
    r":\s|,\s(?:each with|with|including|such as|for example|e\.g\.)\s", re.IGNORECASE
)  # what follows is detail
_LABELS = frozenset(("id", "cod", "number", "no", "key", "nam", "ref"))
_ARITHMETIC = ("calculate", "add", "subtract", "multiply", "divide", "percent", "square", "root", "power")
_NOT_FOR = Pattern(
    r"\b(?:do not|don't|not for|never|instead of|rather than|cannot|except)\b|말고|아니라|쓰지 마", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Profile:
    """The words of one tool: for each stem and each concept, the weight of the best place where it stands."""

    stems: dict[str, float]
    concepts: dict[str, float]


@dataclass(frozen=True, slots=True)
class Match:
    """How one tool fits one need.

    ``covered`` tells for each word of the need, and then for each kind of value that it states, how well the tool covers
    it (0 to 1). ``weights`` tells how much each of them counts. The score is the weighted share that is covered.
    """

    tool: ToolView
    score: float
    covered: tuple[float, ...]
    weights: tuple[float, ...]

    def gain(self, done: list[float]) -> tuple[float, float]:
        """What this tool adds where ``done`` covers little: its weighted share, and its best single word."""
        new = [(w, c) for w, c, d in zip(self.weights, self.covered, done, strict=True) if d < 0.35 and c]
        total = sum(self.weights)
        return (sum(w * c for w, c in new) / total if total else 0.0), max((c for _, c in new), default=0.0)


@lru_cache(maxsize=512)
def profile_of(tool: ToolView) -> Profile:
    """The words of a tool. A word counts most in the name, then at the beginning of the description.

    A tool that takes an expression can do all arithmetic, whether its text lists the kinds or not.
    """
    stems: dict[str, float] = {}
    concepts: dict[str, float] = {}

    def add(text: str, weight: float) -> None:
        for word in words_of(text):
            if word.stem == "return":
                continue  # "Returns the number of days" is not about sending something back
            stems[word.stem] = max(weight, stems.get(word.stem, 0.0))
            for part in word.stem.split("_") if "_" in word.stem else ():
                stems[part] = max(weight * 0.8, stems.get(part, 0.0))
            for concept in word.concepts:
                concepts[concept] = max(weight, concepts.get(concept, 0.0))

    add(split_name(tool.name).lower(), NAME)
    for place, sentence in enumerate(re.split(r"(?<=[.!?])\s+", tool.description)[:12]):
        if not _NOT_FOR.search(sentence):
            head, *details_of = _DETAIL.split(sentence, maxsplit=1)
            add(head, FIRST if place == 0 else LATER)
            add(" ".join(details_of), LATER)
    for parameter in tool.parameters:
        add(split_name(parameter.name).lower(), PARAMETER)
        add(parameter.description, DETAIL)
        for choice in parameter.choices:
            add(split_name(str(choice)), CHOICE)
    if tool.calculates:
        concepts |= {concept: max(FIRST, concepts.get(concept, 0.0)) for concept in _ARITHMETIC}
    return Profile(stems, concepts)


@lru_cache(maxsize=512)
def matches(need: Need, tools: tuple[ToolView, ...]) -> tuple[Match, ...]:
    """How each tool fits the need, in the order of the tools. Scores lie between 0 and about 1."""
    profiles = [profile_of(tool) for tool in tools]
    table = [[_coverage(word, profile) for word in need.words] for profile in profiles]
    # For a question only the tools that read are candidates, so only their words tell what is common.
    fair = [row for tool, row in zip(tools, table, strict=True) if need.mood == "act" or not tool.acts] or table
    rarity = [_rarity([row[place] for row in fair]) for place in range(len(need.words))]
    weights = [
        _importance(word, need) * (rarity[place] if rarity[place] else UNKNOWN) for place, word in enumerate(need.words)
    ]
    stated = [each for each in _kinds(need) if each.kind != "operation" or any(tool.calculates for tool in tools)]
    weights += [WAITING if value.kind == "operation" else VALUE for value in stated]
    total = sum(weights)
    found = []
    for tool, row in zip(tools, table, strict=True):
        if tool.takes_topics and need.mood == "ask":
            row = [max(cover, OPEN) for cover in row]
        covered = (*row, *(_value_fit(value, tool) for value in stated))
        gained = sum(weight * cover for weight, cover in zip(weights, covered, strict=True))
        found.append(Match(tool, gained / total if total else 0.0, covered, tuple(weights)))
    return tuple(found)


def _rarity(column: list[float]) -> float:
    """0 when no tool has the word, 1 when only one has it, less when many do."""
    highest = max(column, default=0.0)
    spread = sum(column) / highest if highest else 0.0
    count = len(column)
    return math.log(1 + count / spread) / math.log(1 + count) if spread else 0.0


def _importance(word: Word, need: Need) -> float:
    """In "make it express" the word that says what is wanted is "express", not "make"."""
    if need.mood == "act" and word.text.lower() in lexicon().words["generic"]:
        return 0.25
    if word.stem in ("how_many", "how_long"):
        return 0.4  # what is counted says more: "how many orders", "how many days"
    if any(value.kind == "expression" and value.start <= word.start < value.end for value in need.values):
        return 0.25  # "two plus two" counts as a value
    # In "the word 'hello'" the noun only introduces the text.
    return 0.25 if any(value.kind == "quoted" and 0 < value.start - word.end <= 2 for value in need.values) else 1.0


def _coverage(word: Word, profile: Profile) -> float:
    exact = profile.stems.get(word.stem, 0.0)
    shared = max((profile.concepts.get(concept, 0.0) for concept in word.concepts), default=0.0) * CONCEPT
    best = max(exact, shared)
    if best or word.known or len(word.stem) < 4:
        return best
    guessed = max((profile.concepts.get(concept, 0.0) for concept in corrected(word)), default=0.0) * MISSPELT
    return max(guessed, _misspelt(word, profile))


def _misspelt(word: Word, profile: Profile) -> float:
    pairs, best = bigrams(word.stem), 0.0
    for other, weight in profile.stems.items():
        if abs(len(other) - len(word.stem)) <= 2 and len(other) > 3 and weight > best:
            alike = similarity(pairs, bigrams(other))
            best = max(best, alike * weight * MISSPELT) if alike >= 0.68 else best
    return best


def _kinds(need: Need) -> list[Value]:
    """One value of each kind that the need states or refers to; dates only when it states them itself."""
    kinds: dict[str, Value] = {}
    for value in need.values:
        if value.kind == "quoted" or value.kind not in kinds:
            kinds.setdefault(value.kind, value)
    if "expression" in kinds or "operation" in kinds:
        kinds.pop("number", None)
    if "code" not in kinds and need.codes:
        kinds["code"] = next(value for value in need.inherited if value.kind == "code")
    return list(kinds.values())


def _value_fit(value: Value, tool: ToolView) -> float:
    return max((fit(value, each) * _headed(value, each, tool) for each in tool.parameters), default=0.0)


def _headed(value: Value, parameter: Parameter, tool: ToolView) -> float:
    """A code leads first to the tool that is about the coded thing: ``order_id`` to the one that begins with "order"."""
    things = parameter.stems - _LABELS
    if value.kind != "code" or not things:
        return 1.0
    if things & {word.stem for word in words_of(split_name(tool.name).lower())}:
        return 1.0
    heads = [word.stem for word in words_of(tool.description[:300]) if word.stem not in ("look", "find", "get")]
    place = next((number for number, head in enumerate(heads) if head in things), 8)
    return 0.95 - 0.02 * min(place, 8)


def fit(value: Value, parameter: Parameter) -> float:
    """How well a stated value fits a parameter, between 0 and 1."""
    shape, text = parameter.shape, str(value.value)
    if shape == "array" and parameter.item is not None:
        return fit(value, parameter.item)
    if shape == "object":
        return max((fit(value, field) for field in parameter.fields), default=0.0)
    if shape == "pattern" and parameter.pattern is not None:
        return 1.0 if any(parameter.pattern.search(form) for form in (text, text.upper(), text.lower())) else 0.0
    good = {
        "code": ("code",), "date": ("date",), "number": ("integer", "number"), "email": ("email",), "url": ("url",),
        "sql": ("sql",), "expression": ("expression",), "operation": ("expression",), "quoted": ("text", "query", "entity"),
    }[value.kind]  # fmt: skip
    if shape in good:
        return 1.0 if parameter.required else 0.6
    if value.kind == "operation":
        return 0.0
    if value.kind == "expression" and shape in ("integer", "number"):
        return 0.7
    if value.kind == "code" and shape in ("entity", "query", "any"):
        return 0.5
    return 0.3 if shape in ("text", "query", "any") and value.kind != "number" else 0.0


def softmax(scores: list[float], temperature: float) -> list[float]:
    """Scores to probabilities that add up to 1. A lower temperature makes the best score win more clearly."""
    if not scores:
        return []
    heat, top = max(temperature, 1e-6), max(scores)
    powers = [math.exp(max((score - top) / heat, -700.0)) for score in scores]
    total = sum(powers)
    return [power / total for power in powers]


def tool_scores(need: Need, names: list[str], scores: list[float], temperature: float) -> tuple[ToolScore, ...]:
    """The scores as they travel with the reply."""
    chances = softmax(scores, temperature)
    return tuple(
        ToolScore(need.text[:200], name, round(score, 4), chance)
        for name, score, chance in zip(names, scores, chances, strict=True)
    )
