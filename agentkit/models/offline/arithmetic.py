"""Arithmetic in words: "15% of 2400", "the square root of 144", and operations that wait for a number: "multiply it by 20".

The offline model does not calculate. It only writes down what a calculator is to compute.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from agentkit.models.offline.lazy import Pattern

OPERAND: Final = "{}"  # stands in an expression for the number that is not stated
_N = r"(-?\d[\d,]*(?:\.\d+)?)"
_IT = r"[^\d.?!;\n]{1,80}?"
_BACK = r"(?:it|that|this|them|those|the (?:result|number|answer|value|sum))(?: number| value| result)?"

# What is complete. A longer form stands before a shorter one that it contains.
_WHOLE: Final = tuple(
    (Pattern(form, re.IGNORECASE), told)
    for form, told in (
        (r"(?<![\w.])(?:sqrt|abs|round|min|max)\([^()\n]{1,80}\)(?:\s*[-+*/]\s*-?\d[\d,.]*\d|\s*[-+*/]\s*\d)*", ""),
        (rf"(?<![\w.]){_N}\s*(?:%|percent|per cent)\s+of\s+{_N}(?![\w%])", "{0} / 100 * {1}"),
        (rf"(?<![\w.]){_N}의\s*{_N}\s*(?:%|퍼센트|프로)", "{1} / 100 * {0}"),
        (rf"\bsquare root of\s+{_N}", "sqrt({0})"),
        (rf"(?<![\w.]){_N}의\s*(?:양의\s*)?제곱근", "sqrt({0})"),
        (rf"(?<![\w.]){_N}\s+squared\b|\bsquare of\s+{_N}", "{0} ** 2"),
        (rf"(?<![\w.]){_N}의\s*제곱(?!근)", "{0} ** 2"),
        (rf"(?<![\w.]){_N}\s+to the power of\s+{_N}", "{0} ** {1}"),
        (rf"\bhalf of\s+{_N}(?![\w%])|(?<![\w.]){_N}의\s*절반", "{0} / 2"),
        (rf"\b(?:twice|double)\s+{_N}(?![\w%])", "2 * {0}"),
        (rf"\bmultiply\s+{_N}\s+(?:by|with)\s+{_N}", "{0} * {1}"),
        (rf"\bdivide\s+{_N}\s+by\s+{_N}", "{0} / {1}"),
        (rf"\badd\s+{_N}\s+(?:to|and)\s+{_N}", "{1} + {0}"),
        (rf"\bsubtract\s+{_N}\s+from\s+{_N}", "{1} - {0}"),
    )
)
# What waits for a number.
_OPEN: Final = tuple(
    (Pattern(form, re.IGNORECASE), told)
    for form, told in (
        (rf"\bmultiply\s+{_IT}\s+(?:by|with)\s+{_N}", "{} * {0}"),
        (rf"\bmultiply\s+{_N}\s+(?:by|with)\s+{_BACK}", "{0} * {}"),
        (rf"\bdivide\s+{_IT}\s+by\s+{_N}", "{} / {0}"),
        (rf"\bdivide\s+{_N}\s+by\s+{_IT}(?=[.?!;,\n]|$)", "{0} / {}"),
        (rf"\badd\s+{_N}\s+to\s+{_IT}(?=[.?!;,\n]|$)", "{} + {0}"),
        (rf"\bsubtract\s+{_N}\s+from\s+{_IT}(?=[.?!;,\n]|$)", "{} - {0}"),
        (rf"\bsubtract\s+{_IT}\s+from\s+{_N}", "{0} - {}"),
        (rf"(?<![\w.]){_N}\s*(?:%|percent|per cent)\s+of\s+{_BACK}\b", "{0} / 100 * {}"),
        (rf"(?<![\w.]){_N}\s+(?:times|multiplied by)\s+{_BACK}\b", "{0} * {}"),
        (rf"(?<![\w.]){_N}\s+(?:times|multiplied by)\s+(?:the|what)\s{_IT}(?=[.?!;,\n]|$)", "{0} * {}"),
        (rf"(?<![\w.]){_N}\s*(?:%|percent|per cent)\s+of\s+(?:the|what)\s{_IT}(?=[.?!;,\n]|$)", "{0} / 100 * {}"),
        (rf"(?<![\w.]){_N}\s+divided by\s+{_BACK}\b", "{0} / {}"),
        (rf"\badd\s+{_N}(?=\s*(?:[.?!;,\n]|$))", "{} + {0}"),
        (rf"\bsubtract\s+{_N}(?=\s*(?:[.?!;,\n]|$))", "{} - {0}"),
        (rf"\bmultiply\s+by\s+{_N}", "{} * {0}"),
        (rf"\bdivide\s+by\s+{_N}", "{} / {0}"),
        (rf"\b(?:times|multiplied by)\s+{_N}", "{} * {0}"),
        (rf"\bdivided by\s+{_N}", "{} / {0}"),
        (rf"\bplus\s+{_N}", "{} + {0}"),
        (rf"\bminus\s+{_N}", "{} - {0}"),
        (rf"\b(?:twice|double)\s+{_BACK}\b|\bdouble\s+(?:it|that)\b", "{} * 2"),
        (rf"\b(?:half of|halve)\s+{_BACK}\b", "{} / 2"),
        (rf"\bsquare root of\s+{_BACK}\b", "sqrt({})"),
        (
            rf"{_N}[을를]\s*(?:그|이|그것|그 수|이 수|그 값|그 숫자|결과)[^\d.?!\n]{{0,8}}?(?:으로|로)\s*나[누눈눠]",
            "{0} / {}",
        ),
        (rf"{_N}\s*(?:으로|로)\s*나[누눈눠]", "{} / {0}"),
        (rf"{_N}\s*[을를]?\s*곱[하한해]", "{} * {0}"),
        (rf"{_N}\s*[을를]?\s*더[하한해]", "{} + {0}"),
        (rf"{_N}\s*[을를]?\s*(?:빼|뺀)", "{} - {0}"),
        (rf"{_N}\s*배(?![가-힣]*송)", "{} * {0}"),
        (rf"(?:그|이|그것|결과)[^\d.?!\n]{{0,8}}?의\s*{_N}\s*(?:%|퍼센트|프로)", "{0} / 100 * {}"),
    )
)
# Words without which no text holds arithmetic in words; looking for them first is quick.
_SIGNS: Final = Pattern(
    r"%|percent|per cent|square|root|power|half|halve|twice|double|multipl|divide|add\b|subtract|times|plus|minus|sqrt|abs"
    r"|round|min\(|max\(|나[누눈눠]|곱|더[하한해]|빼|뺀|배|제곱|절반|퍼센트|프로",
    re.IGNORECASE,
)


def read_operations(text: str) -> Iterator[tuple[bool, str, int, int]]:
    """The arithmetic that a text states in words: (complete, expression, start, end); none overlaps another.

    Where a number is missing, `OPERAND` stands in the expression.
    """
    if not _SIGNS.search(text):
        return
    taken: list[tuple[int, int]] = []
    for complete, forms in ((True, _WHOLE), (False, _OPEN)):
        for pattern, told in forms:
            for match in pattern.finditer(text):
                start, end = match.span()
                if any(start < last and first < end for first, last in taken):
                    continue
                numbers = [group.replace(",", "") for group in match.groups() if group]
                expression = told if told else match.group()
                for place, number in enumerate(numbers):
                    expression = expression.replace(f"{{{place}}}", number)
                taken.append((start, end))
                yield complete, expression, start, end
