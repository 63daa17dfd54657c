"""What to search for: the topic of a question, as the few words that carry it."""

from __future__ import annotations

import re
from typing import Final

from agentkit.models.offline.language import Word, is_ending, split_name, strip_particles, words_of
from agentkit.models.offline.lazy import Pattern
from agentkit.models.offline.lexicon import lexicon
from agentkit.models.offline.needs import Need
from agentkit.models.offline.schema import ToolView
from agentkit.models.offline.scoring import profile_of
from agentkit.models.offline.values import HOLE

Piece = tuple[str, int, int]

_TOPICS: Final = (
    Pattern(r"\b(?:about|regarding|concerning|related to|on the topic of|on)\s+(.+)$", re.IGNORECASE),
    Pattern(r"\b(?:for|of|with)\s+(.+)$", re.IGNORECASE),
)
_KO_TOPIC: Final = Pattern(r"(.+?)(?:에 대해서?|에 대한|에 관한|에 관해서?|관련)(?:\s|된|$)")
_LATER: Final = Pattern(
    r"\s+(?:please|for me|from|since|in|before|after|published|written|with|sorted|within)\s*[,.?!]*$", re.IGNORECASE
)
# What may stand before the verb of a request: "Could you please find …".
_REQUEST: Final = Pattern(
    r"\W*(?:(?:please|kindly|now|then|also|and|but|so|can|could|would|will|you|i|we|want|need|'?d|like|to|let|me|us|help|just)"
    r"(?:\W+|$))*",
    re.IGNORECASE,
)
# General words for what a search gives; they say nothing about the topic when the tool says them too.
_ABOUT_TOOLS: Final = frozenset(("search", "document", "list", "read", "detail"))
_ARITHMETIC: Final = frozenset(("calculate", "add", "subtract", "multiply", "divide"))
_HANGUL: Final = Pattern(r"[가-힣]+")
_COPULA: Final = Pattern(r"(?:인가요|인지|인가|인데|입니까|이에요|이예요|예요|이죠|이란|란)$")
_LONGEST: Final = 150  # characters of a query


def topic(need: Need, text: str, tool: ToolView, used: set[tuple[int, int]], background: Need | None) -> Piece | None:
    """The words after "about" or "on" when all before them is only the request; otherwise the words that say something.

    ``background`` is the clause that the need refers to ("it"); its words come first.
    """
    start, end = need.start, text_end(need, used)
    part = text[start:end]
    cut = _cut(part)
    for match in (_KO_TOPIC.search(part), _TOPICS[0].search(cut), _TOPICS[1].search(cut)):
        if background is not None or match is None:
            continue
        if match.re is not _KO_TOPIC.compiled and not cut[: match.start()].strip():
            continue  # "On which port …": the preposition belongs to the question
        if match.group(1).strip(" .?!") and _only_requests(need, tool, start + match.start()):
            piece = trimmed(text, start + match.start(1), start + match.end(1))
            if piece is not None and words_of(piece[0]):
                return piece
    return _telling(need, tool, used, background)


def _only_requests(need: Need, tool: ToolView, place: int) -> bool:
    """Whether everything before a place only says that something is to be looked up."""
    korean = need.masked[: place - need.start] == ""
    return korean or all(_explained(word, need, tool) for word in need.words if word.start < place)


def _explained(word: Word, need: Need, tool: ToolView) -> bool:
    """Whether a word says what the tool does, and nothing about the topic."""
    profile = profile_of(tool)
    if word.stem in {each.stem for each in words_of(split_name(tool.name).lower())}:
        return True
    hangul = bool(_HANGUL.match(word.text))
    if word.text.lower().replace("’", "'") in lexicon().words["asking"]:
        return True
    if set(word.concepts) & _ABOUT_TOOLS and (word.stem in profile.stems or hangul):
        return True
    if hangul:
        verbs = lexicon().words["reading_ko"]
        last = len(_HANGUL.findall(need.masked[word.end - need.start :])) <= 1
        return last and any(word.text.startswith(verb) or verb.startswith(word.text) for verb in verbs)
    verb = word.text.lower().split()[0] in lexicon().words["reading"] or "search" in word.concepts
    return verb and bool(_REQUEST.fullmatch(need.masked[: word.start - need.start]))


def _telling(need: Need, tool: ToolView, used: set[tuple[int, int]], background: Need | None) -> Piece | None:
    """The words that say something about the topic, in their order, as one query."""
    own = _pieces(need, tool, used)
    told = _pieces(background, tool, used) if background is not None else []
    if not any(len(piece) > 1 for _, _, piece in (*told, *own)):
        return None
    query = " ".join(dict.fromkeys(piece for _, _, piece in (*told, *own)))
    query = query[:_LONGEST].rsplit(" ", 1)[0] if len(query) > _LONGEST else query
    return query, need.start, need.start + len(need.masked)


def _pieces(need: Need, tool: ToolView, used: set[tuple[int, int]]) -> list[tuple[int, int, str]]:
    """The telling words and the written numbers of one clause."""
    waiting = [value for value in need.values if value.kind == "operation"]
    found = [
        (value.start, value.end, str(value.value))
        for value in need.values
        if value.kind in ("number", "code", "quoted")
        and not any(each.start <= value.start < each.end for each in waiting)
        and not any(first <= value.start < last for first, last in used)
        and (value.kind != "number" or re.search(r"\d", need.text[value.start - need.start : value.end - need.start + 1]))
    ]  # fmt: skip
    for word in need.words:
        gone = any(first < word.end and word.start < last for first, last in used)
        counted = bool(waiting) and bool(set(word.concepts) & _ARITHMETIC)
        taken = any(first <= word.start < last for first, last, _ in found)
        if gone or counted or taken or HOLE in word.text or _explained(word, need, tool):
            continue
        piece = _korean(word, need) if _HANGUL.match(word.text) else _english(word)
        if piece is not None:
            found.append(piece)
    return sorted(found)


def _english(word: Word) -> tuple[int, int, str]:
    """The word as written, without "which" and the like ("which day") and without the ending of a possessor."""
    parts = [part for part in word.text.split() if part.lower() not in lexicon().words["asking"]]
    return word.start, word.end, re.sub(r"['’]s$", "", " ".join(parts) or word.text)


def _korean(word: Word, need: Need) -> tuple[int, int, str] | None:
    """The whole Korean token that a word stands in, without particles; of a verb form only its known stem."""
    for match in _HANGUL.finditer(need.masked):
        first, last = match.start() + need.start, match.end() + need.start
        if first <= word.start < last:
            token = _COPULA.sub("", match.group())
            whole = strip_particles(token)
            if len(whole) > 1 and not is_ending(token):
                count = "몇 " if need.masked[: match.start()].endswith("몇 ") else ""
                return first, last, f"{count}{whole}"
            if not word.known and (word.text == whole or len(whole) < 2):
                return None  # "좋아요", "뭐예요"
    return word.start, word.end, word.text


def text_end(need: Need, used: set[tuple[int, int]]) -> int:
    """Where free text stops: before the preposition of a piece that another parameter has already taken."""
    end = need.start + len(need.masked)
    for start, _ in used:
        if need.start < start < end:
            before = need.masked[: start - need.start].rstrip()
            lead = re.search(r"\b(?:in|into|to|from|since|for|as|with|by)$", before, re.IGNORECASE)
            if before.strip():
                end = need.start + (lead.start() if lead else len(before))
    return end


def _cut(part: str) -> str:
    while match := _LATER.search(part):
        part = part[: match.start()]
    return part


def trimmed(text: str, start: int, end: int, keep: bool = False, articles: bool = False) -> Piece | None:
    lead = re.match(
        r"[\s:,]*" if keep or articles else r"[\s:,]*(?:(?:the|a|an|some|any|me)\s+)?", text[start:end], re.IGNORECASE
    )
    start += lead.end() if lead else 0
    piece = text[start:end].rstrip(" \n\t" if keep else " \n\t?.!,;")
    piece = re.sub(r"\s+please$", "", piece, flags=re.IGNORECASE).strip("\"'“”‘’`")
    return (piece, start, start + len(piece)) if piece and HOLE not in piece else None
