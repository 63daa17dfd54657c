"""A goal is split into needs: the separate things it asks for, each with its mood, its words and its values."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache

from agentkit.facts import Language
from agentkit.models.offline.clauses import clause_spans
from agentkit.models.offline.language import Word, language_of, shortened, words_of
from agentkit.models.offline.lazy import Pattern
from agentkit.models.offline.lexicon import lexicon
from agentkit.models.offline.mood import Mood, mood_of
from agentkit.models.offline.values import HOLE, Value, read_values

_LIMIT = 8  # needs that are followed; a longer list of wishes is cut, and the answer says so
# "Can I return it and get the money back": what is joined to a question about a possibility is a part of the question.
_POSSIBLE = Pattern(
    rf"\bwhether\b|\bpossible\b|\b(?:can|could|may|might|should)\s+(?:i|we|it|they|this|that|my|the|order|{HOLE}+)",
    re.IGNORECASE,
)
_COURTESY = Pattern(
    r"^\W*(?:thank|thanks|bye|goodbye|good\s?bye|cheers|great|perfect|never mind|nice to meet|have a (?:nice|good)|"
    r"good (?:morning|afternoon|evening|day)|that (?:was|is|will be) all|that's all|감사|고마|안녕|수고)",
    re.IGNORECASE,
)
_GENERAL = Pattern(
    r"\W*how (?:long|many (?:days|weeks|months))\s+(?:do|does|is|are|may|can|have|will)\b", re.IGNORECASE
)
_PRONOUN = Pattern(r"\b(?:can|could|is|was|will|may|does|has)\s+(?:it|this|that|they)\b", re.IGNORECASE)
_REFERS = Pattern(r"\b(?:it|its|this|that|them|they|their|i|i'm|my|me|same|one|ones|these|those|here)\b", re.IGNORECASE)
# "that" also joins ("the methods that are safe"), so it counts only where it stands for a thing.
_BACK = Pattern(
    r"\b(?:it|its|them|they|their|these|those)\b|\b(?:does|do|is|was|about|for|of|with|on|to|from|explain)\s+(?:this|that)\b"
    r"|(?<![가-힣])(?:그것|이것|그거|이거|거기)",
    re.IGNORECASE,
)
# "12 times 250, how much is that?" asks once.
_SO_MUCH = Pattern(
    r"\W*(?:and\s+|so\s+)?(?:how much|what)\s+(?:is|does|would|will)\s+(?:that|it|this)(?:\s+(?:make|be|come to|equal))?\W*",
    re.IGNORECASE,
)
_SPECIFIC = Pattern(
    r"\b(?:my|this|that|our)\s+((?:last\s|latest\s|recent\s|new\s|old\s)?[a-z]+)(?!\s+(?:history|list|policy|rules?))",
    re.IGNORECASE,
)
_SPECIFIC_KO = Pattern(
    r"(?<![가-힣])(?:제|내|저의|나의|우리|이|그)\s+([가-힣]+)(?!\s*(?:목록|내역|전체|리스트|모두|전부|정책|규정))"
)


@dataclass(frozen=True, slots=True, eq=False)
class Need:
    """One thing that is asked for. A need is equal only to itself, so that it is a quick key of the caches.

    Attributes:
        text: as written, for thoughts and scores.
        mood: ``ask`` wants to know, ``act`` wants something done, ``fact`` only states something.
        words: the words that carry meaning. values: what its own clause states.
        inherited: values of other clauses that it refers to ("it", "my order").
        specific: it speaks of a particular thing ("my order", "this parcel").
        background: the clause before it, when it speaks of "it" or "them".
    """

    text: str
    mood: Mood
    words: tuple[Word, ...]
    values: tuple[Value, ...]
    inherited: tuple[Value, ...] = ()
    specific: frozenset[str] = frozenset()
    start: int = 0
    masked: str = ""
    background: Need | None = None

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes that this need is about: its own, or else those it refers to."""
        return _codes(self.values) or _codes(self.inherited)


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """A text as the model understands it: its needs, and all its values."""

    language: Language
    needs: tuple[Need, ...]
    values: tuple[Value, ...]
    text: str
    cut: bool = False

    @property
    def dates(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(str(value.value) for value in self.values if value.kind == "date"))

    @property
    def codes(self) -> tuple[str, ...]:
        return _codes(self.values)


def operation_of(need: Need) -> str | None:
    """The arithmetic of a need that waits for a number ("multiply it by 20"), when it states none that is complete."""
    if any(value.kind == "expression" for value in need.values):
        return None
    return next((str(value.value) for value in need.values if value.kind == "operation"), None)


def refers_back(need: Need) -> bool:
    """Whether a clause speaks of a thing that was named before it: "it", "them", "what does that mean"."""
    return bool(_BACK.search(need.masked))


def _codes(values: tuple[Value, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(value.value) for value in values if value.kind == "code"))


@lru_cache(maxsize=256)
def read(text: str) -> Reading:
    """Split a goal into needs. The same text always gives the same reading."""
    text = shortened(text)
    masked, values = read_values(text)
    language = language_of(masked)
    clauses = [_clause(text, masked, start, end, values) for start, end in clause_spans(masked, values)]
    clauses = [clause for clause in clauses if clause.words or clause.values]
    clauses = [clause for n, clause in enumerate(clauses) if not (n and _repeats(clause, clauses[n - 1]))]
    clauses = _settled(_asked_together(clauses, masked))
    needs = [need for need in _linked(clauses) if need.mood != "fact"]
    needs = [need for need in needs if need.words or need.values] or needs
    return Reading(language, tuple(needs[:_LIMIT]), values, text, len(needs) > _LIMIT)


def _clause(text: str, masked: str, start: int, end: int, values: tuple[Value, ...]) -> Need:
    own = tuple(value for value in values if start <= value.start < end)
    part = masked[start:end]
    words = tuple(
        replace(word, start=word.start + start, end=word.end + start) for word in words_of(part) if word.text.strip()
    )
    things = frozenset() if _GENERAL.match(part) else _things(part)
    if not own and "?" not in part and _COURTESY.match(part):
        words = ()
    mood = mood_of(part, words)
    if own and all(value.kind == "date" for value in own) and all("date" in word.concepts for word in words):
        mood = "ask" if "?" in part else "fact"  # "Today's date: 2026-10-13"
    return Need(text[start:end].strip(" ,\n"), mood, words, own, specific=things, start=start, masked=part)


def _repeats(clause: Need, before: Need) -> bool:
    """Whether a clause only asks for the result of the arithmetic before it."""
    return any(value.kind == "expression" for value in before.values) and bool(_SO_MUCH.fullmatch(clause.masked))


def _asked_together(clauses: list[Need], masked: str) -> list[Need]:
    """Give a clause that only continues a question about a possibility the mood of that question."""
    found: list[Need] = []
    for clause in clauses:
        if found and clause.mood == "act" and found[-1].mood != "act" and _POSSIBLE.search(found[-1].masked):
            gap = masked[found[-1].start + len(found[-1].masked) : clause.start]
            if re.search(r"\b(?:and|or)\b", gap) and "please" not in clause.masked.lower():
                clause = replace(clause, mood="ask")
        found.append(clause)
    return found


def _things(part: str) -> frozenset[str]:
    """Stems and concepts of the single things that a clause speaks of: "my order", not "my orders"."""
    found: set[str] = set()
    for thing in [*_SPECIFIC.findall(part), *_SPECIFIC_KO.findall(part)]:
        if re.search(r"(?<!s)s$|들[은이을의]?$", thing):
            continue
        for word in words_of(thing):
            found.update((word.stem, *word.concepts))
    return frozenset(found)


def _settled(clauses: list[Need]) -> list[Need]:
    """When nothing is asked for, a statement with content is the need itself ("My parcel never came.")."""
    if any(clause.mood in ("ask", "act") for clause in clauses):
        return clauses
    return [replace(clause, mood="ask") if clause.words and clause.mood == "fact" else clause for clause in clauses]


def _linked(clauses: list[Need]) -> list[Need]:
    """Give a clause without a code of its own the codes of the clause or the statement that it refers to."""
    linked: list[Need] = []
    for clause in clauses:
        if not _codes(clause.values):
            general = any(word.stem in lexicon().words["general_notes"] for word in clause.words)
            korean = not re.search(r"[A-Za-z]{2}", clause.masked)
            refers = bool(_REFERS.search(clause.masked)) or (korean and not general)
            before = next((each for each in reversed(linked) if each.codes), None)
            told = [each for each in clauses if each.mood == "fact" and _codes(each.values)]
            orders = clause.mood == "act" and before is not None and before.mood == "act"
            if before is not None and (refers or orders):
                clause = replace(clause, inherited=before.values if _codes(before.values) else before.inherited)
            elif told and not (general and not refers):
                clause = replace(clause, inherited=tuple(value for each in told for value in each.values))
        elif not clause.words and clause.mood != "fact" and linked:
            about = next((each for each in reversed(linked) if each.words), None)
            clause = replace(clause, words=about.words) if about else clause
        if (
            linked
            and linked[-1].values
            and not linked[-1].words
            and not clause.values
            and _REFERS.search(clause.masked)
        ):
            bare = linked.pop()  # "SELECT … Please run that": a value, and then what is wanted of it
            clause = replace(clause, values=bare.values)
        if linked and linked[-1].mood == "fact" and clause.mood == "ask" and not any(each.codes for each in clauses):
            clause = _about_it(clause, linked[-1])
        if linked and refers_back(clause):
            clause = replace(clause, background=linked[-1])
        linked.append(clause)
    return linked


def _about_it(clause: Need, told: Need) -> Need:
    """ "I do not like what I ordered. Can it be refunded?": what "it" stands for was told just before."""
    if not _PRONOUN.search(clause.masked):
        return clause
    words = tuple(word for word in told.words if word.known)
    things = {part for word in words for part in (word.stem, *word.concepts)}
    return replace(clause, words=clause.words + words, specific=clause.specific | things)
