"""The sentences of the rules of the world `research`, in English and in Korean."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from agentkit.facts import Language

_PHRASES: Final[Mapping[str, tuple[str, str]]] = {
    "found": ("{passage} (Document {id}, \"{title}\")", "{passage} (문서 {id}, \"{title}\")"),
    "more": ("See also: {titles}.", "함께 볼 문서: {titles}."),
    "nothing": (
        "Not found: a search for \"{query}\" brought no document.",
        "찾을 수 없습니다. \"{query}\" 검색에 맞는 문서가 없습니다.",
    ),
    "text": ("Document {id}, \"{title}\": {text}", "문서 {id}, \"{title}\": {text}"),
    "value": ("{expression} = {value}.", "{expression} = {value}입니다."),
    "not_found": ("Not found: there is no document {id}.", "찾을 수 없습니다. {id} 문서는 없습니다."),
    "division_by_zero": ("{expression} has no value: a number cannot be divided by zero.",
                         "{expression}: 0으로 나눌 수 없습니다."),
    "too_large": ("{expression} is too large for the calculator.", "{expression}: 계산기로 다루기에는 너무 큽니다."),
    "no_value": ("{expression} has no value among the real numbers.", "{expression}: 실수 범위에 값이 없습니다."),
    "not_arithmetic": ("{expression} is no arithmetic that the calculator knows.",
                       "{expression}: 계산기가 이해할 수 없는 식입니다."),
    "unavailable": (
        "A service did not answer, so a part of this is not known.",
        "서비스가 응답하지 않아 일부 내용은 확인할 수 없습니다.",
    ),
}  # fmt: skip


def say(language: Language, key: str, **values: Any) -> str:
    """One sentence (or part of one) in the language, with its values put in."""
    return _PHRASES[key][1 if language == "ko" else 0].format(**values)


def speaks_of(code: str) -> bool:
    """Whether there is a sentence for this error code."""
    return code in _PHRASES


def number(value: Any) -> str:
    """A number with thousands separators when it has five digits or more."""
    return f"{value:,}" if isinstance(value, int | float) and abs(value) >= 10_000 else str(value)
