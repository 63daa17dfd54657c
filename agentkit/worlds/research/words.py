"""Words for searching: stems of English words, pairs of neighbouring syllables of Korean ones."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Final, TypeAlias

Term: TypeAlias = str

_TOKEN: Final = re.compile(r"[a-z][a-z0-9]*(?:[@^][a-z])?|\d+|[가-힣]+")
_LISTS: Final = json.loads((Path(__file__).parent / "data" / "words.json").read_text(encoding="utf-8"))
_STOP: Final = frozenset(_LISTS["stop"].split())
_STOP_KO: Final = frozenset(_LISTS["stop_ko"].split())
_PARTICLES: Final = tuple(_LISTS["particles"].split())
# For each word of a group of one meaning the first word of the group; a reader seldom uses just the word of the text.
_SAME: Final[Mapping[str, str]] = {word: group.split()[0] for group in _LISTS["same_meaning"] for word in group.split()}
_NUMBERS: Final = re.compile(r"\bhow (?:many|much|long|large|big)\b|\bnumber\b|\bdefault\b|몇|얼마|개수", re.IGNORECASE)


def terms_of(text: str) -> list[Term]:
    """The terms of a text, each once. Words that say nothing about a topic are left out."""
    found: list[Term] = []
    for token in _TOKEN.findall(text.lower()):
        if re.match("[가-힣]", token):
            found += _korean(token)
        elif token not in _STOP:
            found.append(_stem(_SAME.get(token, token)))
    return list(dict.fromkeys(found))


def shares_of(query: str) -> dict[Term, float]:
    """The terms of a query, each with its share of a word: a Korean word is shared out among its pairs of syllables."""
    shares: dict[Term, float] = {}
    for token in _TOKEN.findall(query.lower()):
        terms = terms_of(token)
        for term in terms:
            shares[term] = max(shares.get(term, 0.0), 1 / len(terms))
    return shares


def names_of(query: str) -> list[Term]:
    """The terms of a query that are written like names, with a capital letter. A document about something else is no answer."""
    return [term for token in re.findall(r"\b\w*[A-Z][\w@^-]*", query) for term in terms_of(token)]


def number_asked(query: str) -> bool:
    """Whether a query asks for a number."""
    return bool(_NUMBERS.search(query))


def alike(term: Term, known: Iterable[Term]) -> Term | None:
    """The known English word that a misspelt one most resembles, or None."""
    if len(term) < 5 or not term.isascii() or not term.isalpha():
        return None
    letters = sorted(term)
    mine, best, found = _pairs(term), 0.72, None
    for other in known:
        if other.isascii() and abs(len(other) - len(term)) <= 2 and len(other) > 3:
            theirs = _pairs(other)
            swapped = len(other) == len(term) and sorted(other) == letters
            value = 1.0 if swapped else 2 * len(mine & theirs) / (len(mine) + len(theirs))
            if value > best:
                best, found = value, other
    return found


@lru_cache(maxsize=8192)
def _pairs(word: str) -> frozenset[str]:
    padded = f"^{word}$"
    return frozenset(padded[i : i + 2] for i in range(len(padded) - 1))


@lru_cache(maxsize=8192)
def _stem(word: str) -> str:
    for ending in (
        "ization",
        "ations",
        "ation",
        "ions",
        "ings",
        "ies",
        "ing",
        "ion",
        "ers",
        "ed",
        "es",
        "er",
        "ly",
        "s",
    ):
        if word.endswith(ending) and len(word) - len(ending) >= 4 and not word.endswith(("ss", "us", "is")):
            word = word[: -len(ending)]
            break
    if len(word) > 4 and word[-1] == word[-2] and word[-1] not in "lsz":
        word = word[:-1]
    return word[:-1] if len(word) > 4 and word[-1] in "ey" else word


def _korean(token: str) -> list[Term]:
    """A Korean word as pairs of neighbouring syllables: endings and missing spaces then matter little."""
    if token in _STOP_KO:
        return []
    for particle in _PARTICLES:
        if token.endswith(particle) and len(token) - len(particle) >= 2:
            token = token[: -len(particle)]
            break
    if token in _STOP_KO:
        return []
    return [token[i : i + 2] for i in range(len(token) - 1)] if len(token) > 1 else []
