"""A goal is split into needs: the separate things it asks for, each with its mood, its words and its values."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache

from agentkit.facts import Language
from agentkit.models.offline.language import Word, language_of, shortened, words_of
from agentkit.models.offline.lazy import Pattern
from agentkit.models.offline.lexicon import lexicon
from agentkit.models.offline.mood import Mood, mood_of
from agentkit.models.offline.values import HOLE, Value, read_values

_LIMIT = 8  # needs that are followed; a longer list of wishes is cut, and the answer says so
_SENTENCE = Pattern(r"[.?!…。？！]+[\"'”’)]*(?=\s|$|[가-힣])|\n+|;")
_OPENERS = frozenset("what where when who which why how whether if".split())
_HELPERS = frozenset("can could will would is are was were do does did has have should may".split())
_SUBJECTS = frozenset("i you it they we he she the my our this that there a an its their order not".split())
_REQUESTS = frozenset(
    "please tell show give find look check explain list calculate compute convert translate count".split()
)
_DETERMINERS = frozenset("a an the it them my this that all".split())
_FILLERS = frozenset("then also finally please just".split())
_JOIN = Pattern(r"(?:,?\s+|,)(and|then|but|also|so|or|plus)\s+|,\s*", re.IGNORECASE)
_PAIR = Pattern(r"\s+and\s+|,\s+|(?<=[가-힣])(?:이랑|랑|와|과|하고)\s+", re.IGNORECASE)
_AFTER = Pattern(rf"[A-Za-z']+|{HOLE}+")
_KOREAN_SPLIT = Pattern(
    rf"(?<=[있없되이주하었았했됐왔갔샀났봤줬지시내꾸려보가])(?<!{HOLE}하)고,?\s+(?!싶|있|계|나서|나면|해요)"
    r"|(?<=[는은인한된]데)(?<!싶은데),?\s+|(?:^|\s)(?:그리고|그러고|또한|그다음|그 다음에?|그런 다음|그럼)\s+"
    r"|(?<=[는은할될인]지)(?:,|와|랑|하고)?\s+(?=\S.*지)"
)
# "On the staging copy, …" only says where; it belongs to the clause that follows.
_SETTING = Pattern(r"\W*(?:on|in|at|with|under|during|as of)\s+(?:[\w'-]+\s*){1,5}", re.IGNORECASE)
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
    """

    text: str
    mood: Mood
    words: tuple[Word, ...]
    values: tuple[Value, ...]
    inherited: tuple[Value, ...] = ()
    specific: frozenset[str] = frozenset()
    start: int = 0
    masked: str = ""

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


def _codes(values: tuple[Value, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(value.value) for value in values if value.kind == "code"))


@lru_cache(maxsize=256)
def read(text: str) -> Reading:
    """Split a goal into needs. The same text always gives the same reading."""
    text = shortened(text)
    masked, values = read_values(text)
    language = language_of(masked)
    spans = [part for span in _spans(masked) for part in _shared(masked, span, values)]
    clauses = [_clause(text, masked, start, end, values) for start, end in spans]
    clauses = [clause for clause in clauses if clause.words or clause.values]
    clauses = _settled(_asked_together(clauses, masked))
    needs = [need for need in _linked(clauses) if need.mood != "fact"]
    needs = [need for need in needs if need.words or need.values] or needs
    return Reading(language, tuple(needs[:_LIMIT]), values, text, len(needs) > _LIMIT)


def _spans(masked: str) -> list[tuple[int, int]]:
    """Where each clause begins and ends: first sentences, then clauses joined by "and", "then", "그리고" and so on."""
    spans, start = [], 0
    for match in [*_SENTENCE.finditer(masked), None]:
        end = match.end() if match else len(masked)
        place = start
        for cut in sorted(_cuts(masked, start, end)):
            if _SETTING.fullmatch(masked[place : cut[0]]):
                continue
            if masked[place : cut[0]].strip():
                spans.append((place, cut[0]))
            place = cut[1]
        if masked[place:end].strip():
            spans.append((place, end))
        start = end
    return spans[:64]


def _cuts(masked: str, start: int, end: int) -> list[tuple[int, int]]:
    """Where a clause may begin: after "and", "then", "but" or a comma, when what follows looks like a clause."""
    cuts = []
    for match in _JOIN.finditer(masked, start, end):
        tokens = [
            (each.group(), each.start()) for each in _AFTER.finditer(masked, match.end(), min(end, match.end() + 60))
        ]
        while tokens and tokens[0][0].lower() in _FILLERS:
            tokens.pop(0)
        if tokens and _begins([token for token, _ in tokens[:3]], bool(match.group(1))):
            cuts.append((match.start(), tokens[0][1]))
    return cuts + [match.span() for match in _KOREAN_SPLIT.finditer(masked, start, end)]


def _shared(masked: str, span: tuple[int, int], values: tuple[Value, ...]) -> list[tuple[int, int]]:
    """Cut "the place of A101 and the state of A108" in two: each part has a code and words of its own."""
    start, end = span
    codes = [value for value in values if value.kind == "code" and start <= value.start < end]
    for joint in _PAIR.finditer(masked, start, end) if len(codes) > 1 else ():
        left, right = masked[start : joint.start()], masked[joint.end() : end]
        told = any(code.start < joint.start() for code in codes) and any(code.start >= joint.end() for code in codes)
        if told and _tells(left) and _tells(right):
            return [(start, joint.start()), *_shared(masked, (joint.end(), end), values)]
    return [span]


def _tells(part: str) -> bool:
    """Whether a part says what is wanted, and not only of which orders or for comparison."""
    known = [word for word in words_of(part) if word.known and not {"compare", "between"} & set(word.concepts)]
    return any("order" not in word.concepts for word in known)


def _begins(tokens: list[str], joined: bool) -> bool:
    """Whether words begin a clause: a question word, "can it", "tell me", a verb; "order" only in "and order the …"."""
    words, first = lexicon().words, tokens[0].lower()
    second = tokens[1] if len(tokens) > 1 else ""
    if first in _OPENERS or first in _REQUESTS or first in ("i", "i'd", "i'm", "you", "let's"):
        return True
    if first in _HELPERS:
        return second[:1].isupper() or second.startswith(HOLE) or second.lower() in _SUBJECTS
    if first in words["noun_verbs"]:
        thing = second.lower() in _DETERMINERS or second.startswith(HOLE)
        return joined and (thing or (second.lower() == "order" and tokens[-1].startswith(HOLE)))
    return bool(second) and (first in words["reading"] or first in words["acting"])


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
        linked.append(clause)
    return linked


def _about_it(clause: Need, told: Need) -> Need:
    """ "I do not like what I ordered. Can it be refunded?": what "it" stands for was told just before."""
    if not _PRONOUN.search(clause.masked):
        return clause
    words = tuple(word for word in told.words if word.known)
    things = {part for word in words for part in (word.stem, *word.concepts)}
    return replace(clause, words=clause.words + words, specific=clause.specific | things)
