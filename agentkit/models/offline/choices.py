"""Which of the values that a schema allows does the wording mean? Also for yes-or-no parameters."""

from __future__ import annotations

import re
from typing import Any

from agentkit.models.offline.language import Word, split_name, word_for
from agentkit.models.offline.lazy import Pattern
from agentkit.models.offline.lexicon import bigrams, similarity
from agentkit.models.offline.needs import Need
from agentkit.models.offline.schema import Parameter

_NOT = Pattern(r"\b(?:not|no|without|don't|never|exclude|excluding|off)\b|말고|없이|제외|빼고", re.IGNORECASE)
_TARGET = Pattern(r"(?:\b(?:to|into|as|on|by|with|in|using|be|make it)\s+(?:the\s+)?|->\s*|→\s*)$", re.IGNORECASE)


def pick(choices: tuple[Any, ...], text: str, words: tuple[Word, ...], exact_only: bool = False) -> Any:
    """The one choice that the text means, or None when it means none, or more than one equally well.

    A choice is meant when it is written out, when a word has the same concept ("faster", "급행" for ``express``), or
    when a word is nearly spelt like it.
    """
    ranked = [(_likeness(choice, text, words, exact_only), choice) for choice in choices]
    best = max((score for score, _ in ranked), default=0.0)
    if best < 0.5:
        return None
    found = [choice for score, choice in ranked if score == best]
    return found[0] if len(found) == 1 else None


def _likeness(choice: Any, text: str, words: tuple[Word, ...], exact_only: bool) -> float:
    plain = split_name(str(choice)).strip()
    if not plain or isinstance(choice, bool):
        return 0.0
    form = r"[\s_-]*".join(re.escape(part) for part in plain.split())
    for match in re.finditer(rf"(?<![A-Za-z0-9]){form}(?![A-Za-z0-9])", text, re.IGNORECASE):
        aimed = _TARGET.search(text[: match.start()]) or re.match(r"\s*(?:\(?으\)?)?로(?![가-힣])", text[match.end() :])
        left = re.search(r"\bfrom\s+$", text[: match.start()], re.IGNORECASE)
        return 1.0 if left else 1.5 if aimed else 1.2
    mine = word_for(plain)
    if not mine:
        return 0.0
    scores = [max((_word_likeness(own, other, exact_only) for other in words), default=0.0) for own in mine]
    return min(scores) if scores else 0.0


def _word_likeness(own: Word, other: Word, exact_only: bool) -> float:
    if own.stem == other.stem:
        return 1.0
    shared = set(own.concepts) & set(other.concepts)
    if shared and not exact_only:
        return 0.8
    if shared and len(own.concepts) == 1:
        return 0.7
    if len(other.stem) > 3 and not other.known:
        alike = similarity(bigrams(own.stem), bigrams(other.stem))
        return alike * 0.9 if alike >= 0.65 else 0.0
    return 0.0


def flag(parameter: Parameter, need: Need) -> bool | None:
    """True or False when the need speaks of a yes-or-no parameter ("with tax", "without tax"), else None."""
    generic = {"includ", "is", "us", "with", "enabl", "show", "has"}
    stems = parameter.stems - generic
    for word in need.words:
        if word.stem in stems or {
            concept for each in parameter.words for concept in each.concepts if each.stem in stems
        } & set(word.concepts):
            before = need.masked[max(0, word.start - need.start - 20) : max(0, word.start - need.start)]
            after = need.masked[word.end - need.start : word.end - need.start + 6]
            return not (_NOT.search(before) or _NOT.search(after))
    return None
