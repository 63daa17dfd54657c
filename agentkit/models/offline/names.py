"""Free text for a parameter: names ("Seoul") and passages, taken from the wording of a clause."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from agentkit.models.offline.language import is_ending, strip_particles
from agentkit.models.offline.lazy import Pattern
from agentkit.models.offline.lexicon import lexicon, stem
from agentkit.models.offline.needs import Need
from agentkit.models.offline.schema import Parameter, ToolView
from agentkit.models.offline.scoring import profile_of
from agentkit.models.offline.topics import text_end, trimmed
from agentkit.models.offline.values import HOLE

_TOKEN = Pattern(rf"[A-Za-zÀ-ɏ][A-Za-zÀ-ɏ0-9_&'’.-]*[A-Za-zÀ-ɏ0-9_]|[A-Za-zÀ-ɏ]|[가-힣]+|{HOLE}+|[^\s\w]")
_PREPOSITIONS = frozenset("in for of at about on near by with from to into named called is as regarding".split())
_FROM = frozenset("from source origin base start sender out".split())
_TO = frozenset("to into in target destination dest recipient end as".split())
_TOGETHER = Pattern(r"\s*(?:,|&|/|와|과|랑|이랑|하고|및|,?\s*\b(?:and|or)\b|그리고|\s)*\s*(?:the\s+)?")
_INSIDE = Pattern(
    r"(?:.*\b(?:in|of|is|says?)\s+)(?:the\s+(?:word|text|sentence|phrase|string)s?\s+)?(.+)$", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Name:
    """A piece of a clause that may be a name: its text, its place in the goal, the word before and the particle after."""

    text: str
    start: int
    end: int
    before: str
    after: str
    capital: bool
    known: bool
    first: bool


@lru_cache(maxsize=512)
def names_in(need: Need, tool: ToolView) -> tuple[Name, ...]:
    """The pieces of a clause that may be names, in order: capitalised words, and words that nothing else explains."""
    tokens = [(m.group(), m.start(), m.end()) for m in _TOKEN.finditer(need.masked)]
    found: list[Name] = []
    before, joined = "", False
    for place, (token, start, end) in enumerate(tokens):
        after = tokens[place + 1][0] if tokens[place + 1 : place + 2] and tokens[place + 1][1] == end else ""
        name = _name(token, start + need.start, end + need.start, before, after, place == 0, tool)
        if name is not None and place == len(tokens) - 1 and _is_last_verb(name, [each for each, _, _ in tokens]):
            name = None
        if name is None:
            joined = False
            before = before if token.lower() in ("the", "a", "an") else token.lower()
            continue
        if (
            joined
            and found
            and found[-1].capital == name.capital
            and need.masked[found[-1].end - need.start : start].isspace()
        ):
            last = found.pop()
            text = need.masked[last.start - need.start : end]
            name = Name(text, last.start, name.end, last.before, name.after, last.capital, last.known, last.first)
        found.append(name)
        joined, before = True, token.lower()
    return tuple(found)


def _is_last_verb(name: Name, tokens: list[str]) -> bool:
    """In "When do the trams depart?" the last word is the verb, and no name."""
    helped = any(token.lower() in ("do", "does", "did", "can", "will", "should", "must") for token in tokens[:-1])
    return helped and not name.capital and name.before not in _PREPOSITIONS


def _name(token: str, start: int, end: int, before: str, after: str, first: bool, tool: ToolView) -> Name | None:
    lex, lowered = lexicon(), token.lower()
    if re.match(r"[가-힣]", token):
        return _korean_name(token, start, before, first, tool)
    if not token[0].isalpha() or lowered in lex.words["stop"] or lowered in _PREPOSITIONS:
        return None
    root, profile = stem(lowered), profile_of(tool)
    meant = set(lex.concepts.get(root, ()))
    explained = root in profile.stems or any(concept in profile.concepts for concept in meant)
    if root not in profile.stems and meant & _concepts(tool):
        return Name(token, start, end, before, after, token[0].isupper(), False, first)  # "dollars" for a currency
    capital = token[0].isupper() and (not first or not (explained or _verb(lowered)))
    known = explained or root in lex.concepts or _verb(lowered)
    if not capital and (explained or (known and before not in _PREPOSITIONS)):
        return None
    return Name(token, start, end, before, after, capital, known, first)


def _concepts(tool: ToolView) -> set[str]:
    """The concepts of the parameters that take a name: a word of such a concept may be the name itself."""
    return {
        concept
        for each in tool.parameters
        if each.shape == "entity"
        for word in each.words
        for concept in word.concepts
        if concept not in ("name", "code", "title", "text")
    }


def _verb(word: str) -> bool:
    words = lexicon().words
    return word in words["reading"] or word in words["acting"]


def _korean_name(token: str, start: int, before: str, first: bool, tool: ToolView) -> Name | None:
    lex, name = lexicon(), strip_particles(token)
    if before == "몇":
        return None  # "몇 도" asks for a number
    for length in range(len(name), 1, -1):  # "서울기온은": what follows the name may be a word of the lexicon
        rest = name[length:]
        if length < len(name) and not any(rest.startswith(known) for known in lex.korean if len(known) > 1):
            continue
        piece = strip_particles(name[:length])
        if len(piece) >= 2 and piece not in lex.words["stop_ko"] and not is_ending(piece):
            inside = any(known in piece for known in lex.korean if len(known) > 1)
            if not inside:
                return Name(piece, start, start + len(piece), before, token[len(piece) :], False, False, first)
    return None


def best_name(parameter: Parameter, names: Sequence[Name], used: set[tuple[int, int]], lonely: bool) -> Name | None:
    """The name that fits a parameter best, judged by the words around it, or None."""
    ranked = [
        (score, -place, name)
        for place, name in enumerate(names)
        if (name.start, name.end) not in used and (score := _fit(parameter, name, lonely)) >= 0.6
    ]
    return max(ranked, key=lambda item: item[:2])[2] if ranked else None


def _fit(parameter: Parameter, name: Name, lonely: bool) -> float:
    score = (1.0 if name.capital else 0.0) + (0.0 if name.known else 0.6)
    words = set(parameter.name.lower().split("_"))
    if stem(name.before) in parameter.stems:
        return score + 1.5
    from_role, to_role = bool(words & _FROM), bool(words & _TO)
    if (from_role or to_role) and not (from_role and to_role):
        after_to = name.before in ("to", "into", "in", "as") or name.after in ("로", "으로", "까지", "까지의", "에는")
        after_from = name.before == "from" or name.before.startswith(HOLE) or name.after in ("에서", "부터", "을", "를")
        if after_to or after_from:
            return score + (1.5 if after_to == to_role else -1.5)
        return score
    if name.before in ("into", "to") and not lonely and "language" not in words:
        score -= 0.5
    return score + (0.6 if name.before in _PREPOSITIONS or name.before.startswith(HOLE) else 0.0)


def beside(text: str, name: Name, names: Sequence[Name]) -> list[str]:
    """The names that stand in one list with a name: "Busan" for "Seoul" in "Seoul and Busan"."""
    found, last = [], name
    for other in names:
        if other.start > last.end and _TOGETHER.fullmatch(text[last.end : other.start]):
            found.append(other.text)
            last = other
    return found


def explicit(parameter: Parameter, text: str) -> tuple[str, int, int] | None:
    """A value written as ``city: Seoul`` or ``city is Seoul``."""
    label = r"[\s_-]*".join(re.escape(part) for part in parameter.name.split("_") if part)
    stated = r"[\"'“]?(\w[\w .&-]{0,60}?)[\"'”]?"
    match = re.search(
        rf"(?<!\w){label}\s*(?:is|=|:|named|called)\s*{stated}\s*(?=[,.;?!\n]|\band\b|$)",
        text,
        re.IGNORECASE,
    )
    return (match.group(1), match.start(1), match.end(1)) if match and len(parameter.name) > 1 else None


def passage(need: Need, text: str, tool: ToolView, used: set[tuple[int, int]]) -> tuple[str, int, int] | None:
    """The text that a tool is to work on: after a colon (to the end of the goal), after "in", or after the verb."""
    colon = text.find(":", need.start)
    if 0 <= colon < need.start + len(need.masked) and text[colon + 1 :].strip():
        return trimmed(text, colon + 1, len(text), keep=True)
    start, end = need.start, text_end(need, used)
    if re.match(r"\s*(?:how|what|which|count|is|are|do|does|can)\b", need.masked, re.IGNORECASE):
        match = _INSIDE.match(text[start:end].rstrip(" ?.!"))
        return trimmed(text, start + match.start(1), start + match.end(1), articles=True) if match else None
    covered = [word for word in need.words if word.stem in profile_of(tool).stems or _verb(word.text.lower())]
    begin = covered[0].end if covered else start
    return trimmed(text, begin, end, articles=True) if begin < end else None
