"""The mood of a clause: does it want to know something, want something done, or only state something?

A question never leads to a tool that acts. So this is the one place where the model is strict: only an imperative
("Refund it", "Could you send …", "환불해 주세요") counts as wanting something done.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal, TypeAlias

from agentkit.models.offline.language import Word
from agentkit.models.offline.lazy import Pattern
from agentkit.models.offline.lexicon import lexicon, stem
from agentkit.models.offline.values import HOLE

Mood: TypeAlias = Literal["ask", "act", "fact"]

_LEAD = Pattern(
    r"^(?:\s|,|:|-|\(|(?:please|kindly|hi|hello|hey|ok|okay|now|then|also|and|so|but|first|next|finally|just|go ahead and|"
    r"go ahead|i'd like you to|i want you to|i need you to|you can|you should|you must|you may)\b)+",
    re.IGNORECASE,
)
# "For order A100 I would like …" begins, for the mood, with "I would like".
_ABOUT = Pattern(rf"^(?:for|about|regarding|concerning|as for)\s+(?:[a-z]+\s+){{0,2}}{HOLE}+\s*,?\s+", re.IGNORECASE)
# "The priority needs to be changed": a wish in the passive voice.
_PASSIVE = Pattern(r"\b(?:needs?|has|have|ought)\s+to\s+be\s+", re.IGNORECASE)
# What is told about a thing is no wish: "the date that it was delivered".
_RELATIVE = Pattern(r"\b(?:that|which|when|where|who|whose|what|how)\b", re.IGNORECASE)
_INDIRECT = r"know|see|check|find|understand|hear|learn|ask|look|have a look"
_YOU = Pattern(
    r"^(?:can|could|would|will)\s+(?:you|u)\s+(?:(?:please|kindly|just|also|mind|help me|be so kind and|be so kind to)\s+)*",
    re.IGNORECASE,
)
_WISH = Pattern(
    r"^(?:i|we)(?:\s+(?:really|just|also))?"
    r"(?:\s+(?:want|need|wish|demand|request|claim|would like|would love)|'d like|'d love)\b\s*(?:to\s+)?",
    re.IGNORECASE,
)
_QUESTION = Pattern(
    r"^(?:what|where|when|who|whose|which|why|how|is|are|was|were|am|do|does|did|has|have|had|can|could|will|would|should|"
    r"may|might|shall|whether|if|what's|where's|who's|how's|any|tell|show|explain)\b",
    re.IGNORECASE,
)
_STATES = Pattern(
    r"\b(?:is|are|was|were|am|i'm|it's|has|have|had|bought|ordered|arrived|received|got|came|said|paid|live|lives|lost|"
    r"think|hope|thought|called|broke|works?|changed|needs?|should|must|did|does|don't|doesn't|didn't|not)\b",
    re.IGNORECASE,
)
_TELLS = Pattern(r"^(?:my|i|we|this|it|they|he|she)\b", re.IGNORECASE)
_NEVER = Pattern(r"^(?:do not|don't|never|no need to|please do not|please don't|without)\b", re.IGNORECASE)
_CONDITION = Pattern(
    r"^(?:if|when|once|in case|provided|unless)\b|\b(?:if|unless|provided|only when|in case)\b", re.IGNORECASE
)
_KO_REQUEST = Pattern(
    r"(주세요|주십시오|주시|주실|주라|줄래|줄 수|달라|다오|줘|부탁|바랍니다|바라|하세요|하십시오|해라|하라|싶|"
    r"원해|원합|신청합|신청해|요청합|요청해|할게|하겠습|하자|합시다|드려요)"
)
_KO_QUESTION = Pattern(
    r"[?？]|나요|까요|인가요|가요|니까|을까|될까|되나|어때|어떤가|얼마|언제|어디|무엇|뭐|몇|어떻게|누구|여부|는지|한지|인지|을지|할지|될지"
)
_KO_FACT = Pattern(r"(?:다|요|음|임|죠|네|데|서|니|어|아|고)[.!\s,]*$")
_KO_NOT = Pattern(r"(?:지\s?마|지\s?말|하지 않|안 해도)")


# "The parcel of an order", "How to send it back": a description that names a thing does not say that something is done.
_THING = Pattern(r"^\W*(?:the|a|an|all|each|what|which|how|when|where|whether)\b", re.IGNORECASE)
_BEFORE_NOUNS = frozenset("a an the of in on at for from by with one each every all its their your my".split())


def mood_of(clause: str, words: tuple[Word, ...]) -> Mood:
    """The mood of one clause (with holes where its values stood)."""
    plain = clause.strip()
    if re.search(r"[가-힣]", plain) and (
        not re.search(r"[A-Za-z]{2,}", plain) or re.search(r"[가-힣][.?!\s]*$", plain)
    ):
        return _korean_mood(plain)
    return _english_mood(plain)


def _english_mood(plain: str) -> Mood:
    plain = _LEAD.sub("", plain) if _LEAD.match(plain) else plain
    plain = _ABOUT.sub("", plain)
    asks = plain.rstrip(" )\"'").endswith(("?", "？"))
    if _NEVER.match(plain):
        return "fact"
    polite, wish = _YOU.match(plain), _WISH.match(plain)
    if polite or wish:
        rest = plain[(polite or wish).end() :]  # type: ignore[union-attr]
        if re.match(rf"(?:{_INDIRECT})\b", rest, re.IGNORECASE) or _reads(rest):
            return "ask"
        if _acts(rest) or (wish and _acts_somewhere(rest)):
            return "ask" if _conditional(rest) else "act"
        return "ask" if asks or not wish else "fact"
    if _QUESTION.match(plain):
        return "ask"
    if _acts(plain) and not asks:
        return "ask" if _conditional(plain) else "act"
    if asks or _reads(plain):
        return "ask"
    if (passive := _PASSIVE.search(plain)) and _acts_somewhere(plain[passive.end() :]):
        return "act"
    if re.search(r",\s*please\s+\w", plain, re.IGNORECASE):
        return _english_mood(re.split(r",\s*please\s+", plain, maxsplit=1, flags=re.IGNORECASE)[1])
    return "fact" if _STATES.search(plain) or _TELLS.match(plain) else "ask"


def _conditional(text: str) -> bool:
    """``Refund it if it is late`` is no order to act now: whether the condition holds is a question."""
    return bool(_CONDITION.search(text))


def _reads(text: str) -> bool:
    """Whether a clause begins with a verb that only reads, or with "give me", "send me", "let me know"."""
    tokens = re.findall(rf"[A-Za-z']+|{HOLE}+", text)[:4]
    if not tokens:
        return False
    first = tokens[0].lower()
    if first in ("give", "send", "get", "bring", "let", "provide", "hand") and len(tokens) > 1:
        back = len(tokens) > 2 and tokens[2].lower() == "back"  # "give me back what I paid" wants something done
        return (
            tokens[1].lower() in ("me", "us", "back") and not back and not _acts_somewhere(" ".join(text.split()[2:]))
        )
    return first in lexicon().words["reading"] and not _is_verb(tokens, 0, "acting")


def _acts(text: str) -> bool:
    tokens = re.findall(rf"[A-Za-z']+|{HOLE}+", text)[:6]
    if not tokens:
        return False
    first = tokens[0].lower()
    if first in ("give", "send", "get", "bring") and len(tokens) > 1 and tokens[1].lower() in ("me", "us"):
        back = len(tokens) > 2 and tokens[2].lower() == "back"
        return back or _acts_somewhere(" ".join(text.split()[2:]))
    return _is_verb(tokens, 0, "acting") or first in lexicon().words["generic"]


def _acts_somewhere(text: str) -> bool:
    """Whether a wish names an action: "a refund for A100", "it sent by express", "my money back"."""
    if re.search(r"\bmoney back\b", text, re.IGNORECASE):
        return True
    relative = _RELATIVE.search(text)
    text = text[: relative.start()] if relative else text
    tokens = re.findall(rf"[A-Za-z']+|{HOLE}+", text)[:24]
    return any(_is_action(tokens, place) for place in range(len(tokens)))


def _is_action(tokens: list[str], place: int) -> bool:
    root = stem(tokens[place].lower())
    if root not in _acting_stems() or (place and tokens[place - 1].lower() == "of"):  # "a list of emails"
        return False
    after = tokens[place + 1].lower() if place + 1 < len(tokens) else ""
    return not (after and stem(after) in _attributes())


def _is_verb(tokens: list[str], place: int, kind: str) -> bool:
    """Whether a word is used as a verb of the list ``kind``: "refund it" is one, "refund policy" is not."""
    words, word = lexicon().words, tokens[place].lower()
    if word not in words[kind]:
        return False
    if word not in words["noun_verbs"]:
        return True
    after = tokens[place + 1].lower() if place + 1 < len(tokens) else ""
    if after.startswith(HOLE) and word in words["labels"]:
        return False  # "Order A100 came today" names an order; nobody wants to order anything
    return after not in ("of", "for", "in", "on", "by", "is", "was") and stem(after) not in _attributes()


@lru_cache(maxsize=1)
def _attributes() -> frozenset[str]:
    return frozenset(stem(word) for word in lexicon().words["attributes"])


@lru_cache(maxsize=1)
def _acting_stems() -> frozenset[str]:
    return frozenset(stem(word) for word in lexicon().words["acting"]) - {
        stem(word) for word in ("order", "purchase", "book", "place")
    }


def _korean_mood(plain: str) -> Mood:
    words = lexicon().words
    if _KO_NOT.search(plain):
        return "fact"
    requests = list(_KO_REQUEST.finditer(plain))
    if requests:
        before = plain[max(0, requests[-1].start() - 9) : requests[-1].start() + 1]
        if requests[-1].group() == "싶" and _KO_QUESTION.search(plain, requests[-1].end()):
            return "ask"  # "반품하고 싶은데 가능할까요?"
        indirect = re.search(r"는지|은지|한지|인지|을지|할지|될지|여부|방법|얼마|언제|어디", plain)
        if indirect or any(verb in before for verb in words["reading_ko"]):
            return "ask"
        acts = any(verb in before for verb in words["acting_ko"]) or re.search(
            r"(?:해|하|시켜|만들어)\s?$", before[:-1]
        )
        if acts and not re.search(r"(?:으면|하면|되면|라면|다면)\s", plain):
            return "act"
        return "ask"
    if _KO_QUESTION.search(plain):
        return "ask"
    bare = plain.rstrip(" .!,")
    if bare.endswith(("해", "줘", "라", "시켜", "바꿔", "보내")) and any(
        verb in bare[-6:] for verb in words["acting_ko"]
    ):
        return "act"
    return "fact" if _KO_FACT.search(plain) and not any(verb in bare[-6:] for verb in words["reading_ko"]) else "ask"


def acts_by_description(name: str, description: str) -> bool:
    """Whether a tool's description (or, when it does not tell, its name) says that the tool changes something."""
    words = lexicon().words
    first = re.split(r"(?<=[.!?:])\s", description.strip(), maxsplit=1)[0]
    if any(marker in description.lower() for marker in lexicon().markers):
        return True
    if re.search(r"[가-힣]", first):
        return _korean_acts(first)
    tokens = re.findall(r"[A-Za-z']+", first)[:12]
    for place, token in enumerate(tokens if not _THING.match(first) else ()):
        if place and tokens[place - 1].lower() in _BEFORE_NOUNS:
            continue
        base = _base(token)
        if base in words["reading"] and _is_verb([base, *tokens[place + 1 :]], 0, "reading"):
            return False
        if _is_verb([base, *tokens[place + 1 :]], 0, "acting"):
            return True
    parts = [part.lower() for part in re.findall(r"[A-Za-z][a-z]*", name)]
    return bool(parts) and _is_verb(parts, 0, "acting") and (len(parts) > 1 or parts[0] not in words["noun_verbs"])


def _base(token: str) -> str:
    """``Changes`` as ``change``, so that both ways of beginning a docstring are understood."""
    lowered, words = token.lower(), lexicon().words
    for candidate in (lowered, lowered.removesuffix("s"), lowered.removesuffix("es")):
        if candidate in words["reading"] or candidate in words["acting"]:
            return candidate
    return lowered


def _korean_acts(sentence: str) -> bool:
    end = sentence.rstrip(" .")[-10:]
    words = lexicon().words
    if any(verb in end for verb in words["reading_ko"]):
        return False
    return any(verb.rstrip("해하받") in end for verb in words["acting_ko"] if len(verb.rstrip("해하받")) > 1)
