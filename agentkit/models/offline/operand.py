"""The number that an operation waits for, looked for in what was observed: "multiply it by 20"."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from agentkit.models.offline.arithmetic import OPERAND
from agentkit.models.offline.language import words_of
from agentkit.models.offline.lazy import Pattern
from agentkit.models.offline.observed import Field, Observation, key_concepts, key_stems, ranked


def operand(observations: tuple[Observation, ...], spoken: frozenset[str]) -> tuple[str, str] | None:
    """The one number that observations hold and the words speak of, and the tool that it came from; newest first.

    ``spoken`` are stems and concepts of the goal. Of several numbers the one is taken whose surroundings hold every spoken
    word that the surroundings of the others hold, and more. When there is none such, there is no number: guessing would
    give a wrong result that looks right.
    """
    for observation in observations:
        told: dict[str, frozenset[str]] = {}
        for number, near in _numbers(observation, spoken):
            told[number] = told.get(number, frozenset()) | near
        clear = [one for one in told if all(told[one] > told[other] for other in told if other != one)]
        if clear:
            return clear[0], observation.tool
    return None


_NUMBER: Final = Pattern(r"(?<![\w.@^/-])\d[\d,]*(?:\.\d+)?(?![\w-]*[A-Za-z_])(?!-\d)")
_UNCOUNTED: Final = frozenset("count score rank limit page index position total_count".split())


def _numbers(observation: Observation, spoken: frozenset[str]) -> Iterator[tuple[str, frozenset[str]]]:
    """The numbers of an observation (of a list: of its first row), each with the spoken words beside it."""
    given = {str(value) for value in observation.arguments.values()}
    search = ranked(observation.fields)  # how many rows a search brought is never meant
    for each in observation.fields:
        if each.row > 0 or str(each.value) in given or isinstance(each.value, bool):
            continue
        if isinstance(each.value, int | float):
            near = (key_stems(each.key) | key_concepts(each.key)) & spoken
            if each.key.lower() not in _UNCOUNTED or (near and not search):
                yield f"{each.value}", near
        elif isinstance(each.value, str) and not _label(each):
            yield from _in_text(each.value, spoken)


def _label(each: Field) -> bool:
    return each.key.lower() in ("id", "title", "name", "query", "url", "date") or each.key.lower().endswith(
        ("_id", "_code", "_on", "_at")
    )


def _in_text(text: str, spoken: frozenset[str]) -> Iterator[tuple[str, frozenset[str]]]:
    for match in _NUMBER.finditer(text):
        before = words_of(text[max(0, match.start() - 40) : match.start()])[-2:]
        after = words_of(text[match.end() : match.end() + 40])[:2]
        near = frozenset(part for word in (*before, *after) for part in (word.stem, *word.concepts))
        yield match.group().replace(",", "").rstrip("."), near & spoken


def filled(expression: str, number: Any) -> str:
    """The expression with its missing number; a negative one in brackets."""
    text = f"{number}"
    return expression.replace(OPERAND, f"({text})" if text.startswith("-") else text)
