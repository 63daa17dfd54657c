"""Searching the documents of the world `research` by words.

Each word of a query counts by how rare it is (inverse document frequency, Spärck Jones 1972) and by where a document has
it: title, topics or text. A document is found when it covers enough of the query; otherwise the honest result is empty.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from agentkit.worlds.research.words import Term, alike, names_of, number_asked, shares_of, terms_of

DATA: Final = Path(__file__).parent / "data"

TITLE, TOPIC, TEXT = 2.0, 1.6, 1.0
ENOUGH = 0.55  # the share of a query's weight that a document must cover
NEAR = 0.55  # a document is shown beside the best one when its score is at least this share of it
# The weight of a word that no document has, as a share of the highest weight. The endings of Korean verbs are often among
# the pairs of syllables that no document has, so these count less.
UNKNOWN, UNKNOWN_KO = 1.0, 0.45
SECOND = 0.15  # the share that a second sentence must add to be shown beside the first one
NUMBER = 1.3  # what a sentence with a number gains when a number is asked for
SAME_LANGUAGE = 1.3


@dataclass(frozen=True, slots=True)
class Document:
    """One document. ``hidden_instruction`` is the sentence that is an attack, or None; no tool tells it apart."""

    document_id: str
    title: str
    language: str
    topics: tuple[str, ...]
    sentences: tuple[str, ...]
    hidden_instruction: str | None = None

    @property
    def text(self) -> str:
        return " ".join(self.sentences)


@dataclass(frozen=True, slots=True)
class Hit:
    """A document that was found: its score, and the sentence or two of it that fit the query best."""

    document: Document
    score: float
    passage: str


@lru_cache(maxsize=1)
def documents() -> tuple[Document, ...]:
    """All documents, in the order of their ids."""
    raw = json.loads((DATA / "documents.json").read_text(encoding="utf-8"))
    return tuple(
        Document(**{**each, "topics": tuple(each["topics"]), "sentences": tuple(each["sentences"])}) for each in raw
    )


def injected_documents() -> tuple[Document, ...]:
    """The documents that carry a hidden instruction, for lessons and tests about prompt injection."""
    return tuple(each for each in documents() if each.hidden_instruction is not None)


class Index:
    """The words of some documents, ready to be searched."""

    def __init__(self, collection: Iterable[Document]) -> None:
        self.documents = tuple(collection)
        self._fields = [_fields(each) for each in self.documents]
        self._sentences = [[frozenset(terms_of(line)) for line in each.sentences] for each in self.documents]
        counts: dict[Term, int] = {}
        for fields in self._fields:
            for term in fields:
                counts[term] = counts.get(term, 0) + 1
        self._weights = {term: math.log(1 + len(self.documents) / count) for term, count in counts.items()}

    def search(self, query: str, limit: int = 3) -> list[Hit]:
        """The best documents for a query, best first; none when no document covers enough of it."""
        wanted = self._wanted(query)
        total = sum(wanted.values())
        if not total:
            return []
        korean = bool(re.search("[가-힣]", query))
        named = [term for term in names_of(query) if term in self._weights]
        hits = []
        for place, fields in enumerate(self._fields):
            covered = sum(weight for term, weight in wanted.items() if term in fields)
            if covered < ENOUGH * total or 2 * sum(term in fields for term in named) < len(named):
                continue
            passage, best = self._passage(place, wanted, number_asked(query))
            score = sum(weight * fields[term] for term, weight in wanted.items() if term in fields) + best
            document = self.documents[place]
            score *= SAME_LANGUAGE if (document.language == "ko") == korean else 1.0
            hits.append(Hit(document, round(score / total, 2), passage))
        hits.sort(key=lambda hit: (-hit.score, hit.document.document_id))
        return [hit for hit in hits[:limit] if hit.score >= NEAR * hits[0].score]

    def _wanted(self, query: str) -> dict[Term, float]:
        """The terms of a query with their weights; a misspelt word is taken for the word that it most resembles."""
        highest = max(self._weights.values(), default=0.0)
        wanted: dict[Term, float] = {}
        for term, share in shares_of(query).items():
            known = term if term in self._weights else alike(term, self._weights)
            wanted[known or term] = share * (self._weights[known] if known else _unknown(term) * highest)
        return wanted

    def _passage(self, place: int, wanted: dict[Term, float], numbers: bool) -> tuple[str, float]:
        """The sentence that covers most, and a second one when it adds something."""
        lines, sentences = self.documents[place].sentences, self._sentences[place]

        def worth(number: int, terms: dict[Term, float]) -> float:
            covered = sum(weight for term, weight in terms.items() if term in sentences[number])
            return covered * (NUMBER if numbers and re.search(r"\d", lines[number]) else 1.0)

        first = max(range(len(lines)), key=lambda number: worth(number, wanted))
        title = set(terms_of(self.documents[place].title))
        if set(wanted) <= title and first == 0 and len(lines) > 1:
            return " ".join(lines[:2]), worth(
                0, wanted
            )  # the document is asked for by its name: what it is, and one more
        left = {term: weight for term, weight in wanted.items() if term not in sentences[first]}
        second = max(range(len(lines)), key=lambda number: worth(number, left))
        chosen = sorted({first, second}) if worth(second, left) >= SECOND * sum(wanted.values()) else [first]
        return " ".join(lines[number] for number in chosen), worth(first, wanted)


def _unknown(term: Term) -> float:
    return UNKNOWN if term.isascii() else UNKNOWN_KO


@lru_cache(maxsize=1)
def index() -> Index:
    """The index of all documents, made once."""
    return Index(documents())


def _fields(document: Document) -> dict[Term, float]:
    found: dict[Term, float] = {}
    topics = " , ".join(document.topics)
    for text, weight in ((document.title, TITLE), (topics, TOPIC), (document.text, TEXT)):
        for term in terms_of(text):
            found[term] = max(weight, found.get(term, 0.0))
    return found
