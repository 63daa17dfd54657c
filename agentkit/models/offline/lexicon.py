"""The dictionary of the offline model: a small general Korean–English lexicon and word lists, read from a data file.

A *concept* groups English words and Korean stems of one meaning (``amount``: price, cost, 가격, 얼마 …). Because goals and
tool descriptions are both mapped to concepts, a Korean goal can meet an English description.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

_ENDINGS = ("ies", "ing", "ed", "es", "s")


@dataclass(frozen=True, slots=True)
class Lexicon:
    """The data file in the form in which it is looked up.

    Attributes:
        concepts: for each English stem (``_`` joins two words) the concepts that it belongs to.
        korean: the same for each Korean stem.
        long: the English stems of words of five letters or more, with which misspelt words are compared.
        labels: for each English word that names a concept, its first Korean word.
        words: the word lists by name, such as ``stop``, ``acting`` or ``particles``.
        longest: the length of the longest Korean stem.
    """

    concepts: dict[str, tuple[str, ...]]
    korean: dict[str, tuple[str, ...]]
    long: tuple[str, ...]
    labels: dict[str, str]
    words: dict[str, frozenset[str]]
    markers: tuple[str, ...]
    longest: int


@lru_cache(maxsize=1)
def lexicon() -> Lexicon:
    """The lexicon, read once."""
    raw = json.loads(Path(__file__).with_name("lexicon.json").read_text(encoding="utf-8"))
    concepts: dict[str, tuple[str, ...]] = {}
    korean: dict[str, tuple[str, ...]] = {}
    labels: dict[str, str] = {}
    long: list[str] = []
    for name, (english, hangul) in raw["concepts"].items():
        for word in english.split():
            key = "_".join(stem(part) for part in word.split("_"))
            concepts[key] = (*concepts.get(key, ()), name)
            if len(word) >= 5 and "_" not in word:
                long.append(key)
        for word in hangul.split():
            key = word.replace("_", "")
            korean[key] = (*korean.get(key, ()), name)
        if hangul:
            labels[stem(name)] = hangul.split()[0].replace("_", " ")
    words = {name: frozenset(text.split()) for name, text in raw["words"].items() if name != "markers"}
    return Lexicon(
        concepts,
        korean,
        tuple(dict.fromkeys(long)),
        labels,
        words,
        tuple(raw["words"]["markers"]),
        max(map(len, korean)),
    )


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """A light stem: ``orders``, ``ordered`` and ``ordering`` become ``order``. Lower case in, lower case out."""
    word = word.removesuffix("'s").removesuffix("’s")
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    for ending in _ENDINGS[1:]:
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith(("ss", "us", "is")):
            word = word[: -len(ending)]
            if ending in ("ing", "ed") and len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz":
                word = word[:-1]
            break
    if len(word) > 5 and word.endswith("able"):
        word = word[:-4]
    return word[:-1] if len(word) > 3 and word.endswith("e") else word


@lru_cache(maxsize=8192)
def bigrams(word: str) -> frozenset[str]:
    """The pairs of neighbouring letters of a word, with its ends marked."""
    padded = f"^{word}$"
    return frozenset(padded[i : i + 2] for i in range(len(padded) - 1))


def similarity(left: frozenset[str], right: frozenset[str]) -> float:
    """Dice's coefficient of two sets of letter pairs: 0 when nothing is shared, 1 when they are equal."""
    return 2 * len(left & right) / (len(left) + len(right)) if left and right else 0.0


@lru_cache(maxsize=4096)
def nearest(word: str) -> str:
    """The word of the lexicon that a misspelt word most likely is, or an empty string."""
    pairs = bigrams(word)
    best, found = 0.0, ""
    for candidate in lexicon().long:
        if abs(len(candidate) - len(word)) <= 2 and (value := similarity(pairs, bigrams(candidate))) > best:
            best, found = value, candidate
    return found if best >= 0.74 else ""
