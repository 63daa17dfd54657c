"""Where the clauses of a text begin and end: sentences, and what "and", "then", "그리고" or a comma joins."""

from __future__ import annotations

import re

from agentkit.models.offline.language import words_of
from agentkit.models.offline.lazy import Pattern
from agentkit.models.offline.lexicon import lexicon
from agentkit.models.offline.values import HOLE, Value

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
    rf"(?<=[있없되이주하었았했됐왔갔샀났봤줬지시내꾸려보가찾])(?<!{HOLE}하)고,?\s+(?!싶|있|계|나서|나면|해요)"
    r"|(?<=[는은인한된]데)(?<!싶은데),?\s+|(?:^|\s)(?:그리고|그러고|또한|그다음|그 다음에?|그런 다음|그럼)\s+"
    r"|(?<=[는은할될인]지)(?:,|와|랑|하고)?\s+(?=\S.*지)"
)
# "On the staging copy, …" only says where; it belongs to the clause that follows.
_SETTING = Pattern(r"\W*(?:on|in|at|with|under|during|as of)\s+(?:[\w'-]+\s*){1,5}", re.IGNORECASE)
# "If the token is wrong, what comes back?" is one question.
_CONDITION = Pattern(
    r"\W*(?:if|when|whenever|while|once|because|since|as)\s+(?!(?:do|does|did|is|are|was|were|will|can|could|should|has|have)\b)"
    rf"[^{HOLE}]*",
    re.IGNORECASE,
)
_ASKED = Pattern(r"\s*,\s*(?:what|which|who|where|how|why)\b", re.IGNORECASE)


def clause_spans(masked: str, values: tuple[Value, ...]) -> list[tuple[int, int]]:
    """The (start, end) of each clause of a text in which holes stand for the values."""
    return [part for span in _spans(masked) for part in _shared(masked, span, values)]


def _spans(masked: str) -> list[tuple[int, int]]:
    """Where each clause begins and ends: first sentences, then clauses joined by "and", "then", "그리고" and so on."""
    spans, start = [], 0
    for match in [*_SENTENCE.finditer(masked), None]:
        end = match.end() if match else len(masked)
        place = start
        for cut in sorted(_cuts(masked, start, end)):
            lead = masked[place : cut[0]]
            if _SETTING.fullmatch(lead) or (_CONDITION.fullmatch(lead) and _ASKED.match(masked, cut[0])):
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
