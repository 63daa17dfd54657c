"""Text to words: the language of a goal, English stems, Korean stems without their particles, and concepts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from agentkit.facts import Language
from agentkit.models.offline.lazy import Pattern
from agentkit.models.offline.lexicon import lexicon, nearest, stem

LIMIT = 8_000  # characters of a goal that are analysed; a longer one keeps its beginning and its end
_HANGUL = Pattern(r"[가-힣]")
_LATIN = Pattern(r"[A-Za-z]")
_TOKEN = Pattern(r"[A-Za-z][A-Za-z0-9]*(?:['’-][A-Za-z]+)*|[가-힣]+")
_CAMEL = Pattern(r"(?<=[a-z0-9])(?=[A-Z])")


@dataclass(frozen=True, slots=True)
class Word:
    """One word that carries meaning: as written, its stem, its concepts, and where it stands in the text.

    ``known`` is False for a word that the lexicon does not have: it may be a name.
    """

    text: str
    stem: str
    concepts: tuple[str, ...]
    start: int
    end: int
    known: bool = True


def language_of(text: str) -> Language:
    """``ko`` when a good part of the letters is Hangul, else ``en``. Codes and SQL in a Korean goal are no English."""
    hangul, latin = len(_HANGUL.findall(text)), len(_LATIN.findall(text))
    return "ko" if hangul and hangul * 4 >= latin else "en"


def shortened(text: str) -> str:
    """The text, or its beginning and end when it is too long to analyse."""
    return text if len(text) <= LIMIT else f"{text[: LIMIT * 3 // 4]}\n{text[-LIMIT // 4 :]}"


def split_name(name: str) -> str:
    """``lookupOrder``, ``lookup_order`` and ``lookup-order`` as separate words."""
    return _CAMEL.sub(" ", re.sub(r"[_\-.]+", " ", name))


@lru_cache(maxsize=1024)
def words_of(text: str) -> tuple[Word, ...]:
    """The words of a text that carry meaning, in order. Stop words are left out, phrases count as one word."""
    lex, found = lexicon(), []
    tokens = [(m.group(), m.start(), m.end()) for m in _TOKEN.finditer(text)]
    skip, given_back = 0, set[int]()
    for place, (token, start, end) in enumerate(tokens):
        if skip:
            skip -= 1
            continue
        if token == "몇" and place + 1 < len(tokens) and (counter := _counter(tokens[place + 1][0])):
            skip, last = 1, tokens[place + 1][2]
            found.append(Word(text[start:last], counter, lex.korean[counter], start, last))
            continue
        if _HANGUL.match(token):
            found.extend(_korean_words(token, start))
            continue
        if token.lower() == "back" and place in given_back:
            continue
        phrase, length = _phrase(tokens[place : place + 3])
        if not phrase and (end_of := _given_back(tokens, place)):
            given_back.add(end_of)
            key = f"{stem(token.lower())}_back"
            found.append(Word(token, key, lex.concepts[key], start, end))
        elif phrase:
            skip = length - 1
            last = tokens[place + skip][2]
            found.append(Word(text[start:last], phrase, lex.concepts[phrase], start, last))
        elif (lowered := token.lower().replace("’", "'").removesuffix("'s")) not in lex.words["stop"]:
            found.append(_english_word(token, lowered, start, end))
    return tuple(found)


def _given_back(tokens: list[tuple[str, int, int]], place: int) -> int:
    """Where "back" stands in "send it back" and "pay 50,000 won of order A100 back", or 0."""
    if f"{stem(tokens[place][0].lower())}_back" not in lexicon().concepts:
        return 0
    following = range(place + 2, min(place + 8, len(tokens)))
    return next((number for number in following if tokens[number][0].lower() == "back"), 0)


def _counter(following: str) -> str:
    """``몇 시``, ``몇 개``, ``몇 도`` with a space are the same as without one."""
    return next((f"몇{following[:n]}" for n in (2, 1) if f"몇{following[:n]}" in lexicon().korean), "")


def word_for(text: str) -> tuple[Word, ...]:
    """The words of a short label such as a choice of an enum, also when it is a stop word like ``on``."""
    return words_of(text) or tuple(
        _english_word(part, part.lower(), 0, len(part)) for part in text.split() if part.isascii()
    )


def _phrase(tokens: list[tuple[str, int, int]]) -> tuple[str, int]:
    concepts = lexicon().concepts
    for length in (3, 2):
        if len(tokens) >= length:
            key = "_".join(stem(token.lower()) for token, _, _ in tokens[:length])
            if key in concepts:
                return key, length
    return "", 0


def _english_word(token: str, lowered: str, start: int, end: int) -> Word:
    lex, root = lexicon(), stem(lowered)
    concepts = lex.concepts.get(root)
    if concepts is None and "-" in lowered:
        concepts = lex.concepts.get("_".join(stem(part) for part in lowered.split("-")))
    return Word(token, root, concepts or (), start, end, concepts is not None)


def corrected(word: Word) -> tuple[str, ...]:
    """The concepts of the nearest word of the lexicon, for a word that is probably misspelt (else none)."""
    if word.known or len(word.text) < 4 or not word.text.isascii() or word.text[0].isupper():
        return ()
    concepts = lexicon().concepts
    near = concepts.get(nearest(word.stem), ())
    if near:
        return near
    # A wrong ending ("refundabel"): a known stem of some length at the beginning tells enough.
    return next(
        (concepts[word.stem[:end]] for end in range(len(word.stem) - 1, 4, -1) if word.stem[:end] in concepts), ()
    )


def _korean_words(token: str, start: int) -> list[Word]:
    """Cut a Korean token into stems of the lexicon, longest first; what is left over may be a name.

    Korean is often written without spaces, so a token is searched for stems at every position.
    """
    lex = lexicon()
    whole = strip_particles(token)
    if token in lex.words["stop_ko"] or whole in lex.words["stop_ko"]:
        return []
    if whole in lex.korean:
        return [Word(whole, whole, lex.korean[whole], start, start + len(token))]
    found, place, rest = [], 0, 0
    while place < len(token):
        for length in range(min(lex.longest, len(token) - place), 1, -1):
            piece = token[place : place + length]
            if piece in lex.korean:
                found.extend(_korean_name(token[rest:place], start + rest))
                found.append(Word(piece, piece, lex.korean[piece], start + place, start + place + length))
                place = rest = place + length
                break
        else:
            place += 1
    return found if found else _korean_name(token, start)


def _korean_name(piece: str, start: int) -> list[Word]:
    name = strip_particles(piece)
    if is_ending(name):  # "바이트인가요", "모호하면": what stands before the ending may tell the topic
        name = strip_particles(_ROOT_END.sub("", piece))
    if len(name) < 2 or name in lexicon().words["stop_ko"] or is_ending(name):
        return []
    return [Word(name, name, (), start, start + len(name), known=False)]


_VERB_END = Pattern(
    r"(?:나요|까요|인가요|가요|니까|습니다|입니다|이에요|예요|해요|돼요|되요|세요|주세요|십시오|어요|아요|네요|군요|지요|죠|줘|줄래|"
    r"해라|하라|한다|된다|이다|하고|되고|있고|하면|되면|하는|되는|인지|는지|할지|을지|려고|니다|드려|할래|을까|ㄹ까|싶어|주라|있어|없어|였어|했어|됐어|왔어|갔어|했지|됐지|인가|일까|할까|된거|한거|왔나|갔나|됐나|했나)$"
)


_ROOT_END = Pattern(
    r"(?:인가요|인지요?|입니까|입니다|이에요|예요|하면|하나요|한가요|할까요|합니까|합니다|해요|하는지|한지|할지|하려면|하려고|됩니까|되나요|되는지|되면)$"
)


def is_ending(token: str) -> bool:
    """Whether a Korean token looks like a verb form rather than a name."""
    return bool(_VERB_END.search(token))


@lru_cache(maxsize=4096)
def strip_particles(token: str) -> str:
    """A Korean noun without the particles at its end: ``서울의`` and ``서울에서는`` become ``서울``."""
    particles = lexicon().words["particles"]
    for _ in range(2):
        for length in (4, 3, 2, 1):
            if len(token) - length >= 2 and token[-length:] in particles:
                token = token[:-length]
                break
        else:
            break
    return token
