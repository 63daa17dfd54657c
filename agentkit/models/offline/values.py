"""The values that a text states: codes, dates, numbers, quoted text, SQL, addresses, arithmetic.

Each value keeps where it stands, so that no value is used twice and none is invented.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import Literal, TypeAlias

from agentkit.models.offline.arithmetic import read_operations
from agentkit.models.offline.lazy import Pattern

Kind: TypeAlias = Literal["code", "date", "number", "quoted", "sql", "email", "url", "expression", "operation"]

HOLE = "\ufffc"  # stands where a value was taken out of the text
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_NUMBER = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
_TERM = rf"[-(]*(?:{_NUMBER})[)%]*"
_OPERATOR = r"\*\*|[-+*/×÷^%]|plus|minus|times|multiplied by|divided by|x|더하기|빼기|곱하기|나누기"
_FENCE = Pattern(r"```(?:[a-zA-Z]+\n)?(.*?)```", re.DOTALL)
_QUOTE = Pattern(
    r"\"([^\"\n]{1,2000})\"|“([^”]{1,2000})”|`([^`\n]{1,2000})`|「([^」]{1,2000})」|『([^』]{1,2000})』|‘([^’]{1,2000})’"
    r"|(?<![\w)])'([^'\n]{1,2000}(?:'\w[^'\n]{0,200})*)'(?!\w)"
    r"|(?<![\w)])'([^'\n]{1,2000})'(?=[가-힣])"
)
_SQL = Pattern(
    r"(?<![A-Za-z])(?:select\s+[\w*(][^;\"`]*?\bfrom\s+\w|insert\s+into\s+\w|delete\s+from\s+\w|update\s+\w+\s+set\s"
    r"|drop\s+table\s+\w|alter\s+table\s+\w|pragma\s+\w|with\s+\w+\s+as\s*\()",
    re.IGNORECASE,
)
_SQL_END = Pattern(
    r"'[^']*'|[;\"`“”]|\n(?!\s*(?:from|where|group|order|having|limit|join|left|inner|cross|on|and|or|union|values|set|as|case|when"
    r"|then|else|end|select|with|offset|[(),])(?:\W|$))|[.?!](?=\s|$)|[가-힣]|,?\s(?:and|then)\s+(?:then|tell|show|give|what|how)\b|\s(?:return|give|say)s?(?=\s|$)"
)
_SQL_TAIL = Pattern(
    r"[,\s]+(?:please|(?:on|in|against|at|using|for|to|from)(?:\s+(?:the|our))?\s+[A-Za-z]+"
    r"(?:\s+(?:database|db|environment|server|system|copy|data))?|,?\s*please)[\s.?!:]*$",
    re.IGNORECASE,
)
_SQL_WORDS = ("select", "insert", "delete", "update", "drop", "alter", "pragma", "with")
_MARKS = "\"'“`「『‘"
_DIGIT = Pattern(r"\d")
_EMAIL = Pattern(r"(?<![\w.+-])[\w.+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,4}")
_URL = Pattern(r"https?://[^\s\"'<>]*[^\s\"'<>.,;:!?)]")
_DATE = Pattern(
    rf"(?<![\w-])(\d{{4}})\s?[-/.]\s?(\d{{1,2}})\s?[-/.]\s?(\d{{1,2}})(?![\d-])"
    rf"|(\d{{4}})\s*년\s*(\d{{1,2}})\s*월\s*(\d{{1,2}})\s*일"
    rf"|(?<!\w)(\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?({_MONTH}),?\s+(\d{{4}})"
    rf"|(?<!\w)({_MONTH})\s+(\d{{1,2}})(?:st|nd|rd|th)?,?\s+(\d{{4}})",
    re.IGNORECASE,
)
_CODE = Pattern(r"(?<![A-Za-z0-9_])[A-Za-z]{1,8}[-_]?\d+[A-Za-z0-9]*(?:[-_][A-Za-z0-9]+)*(?![A-Za-z0-9_])")
_EXPRESSION = Pattern(rf"{_TERM}(?:\s*(?:{_OPERATOR})\s*{_TERM})+", re.IGNORECASE)
_WENT_ON = Pattern(rf"(?:\s*(?:{_OPERATOR})\s*{_TERM})+", re.IGNORECASE)
_LED = Pattern(rf"(?:{_TERM}\s*(?:{_OPERATOR})\s*)+(?:the\s+)?$", re.IGNORECASE)
_PLAIN = Pattern(rf"(?<![\w.,-])-?(?:{_NUMBER})(?![A-Za-z_\d])|(?<=[$€£₩#])(?:{_NUMBER})|(?<=[가-힣])(?:{_NUMBER})")
_TEN_THOUSANDS = {"천": 1_000, "만": 10_000, "십만": 100_000, "백만": 1_000_000, "억": 100_000_000}
_SIGNS = {
    "plus": "+", "minus": "-", "times": "*", "multiplied by": "*", "x": "*", "×": "*", "divided by": "/", "÷": "/",
    "더하기": "+", "빼기": "-", "곱하기": "*", "나누기": "/",
}  # fmt: skip
_NUMBER_WORDS = {
    word: number
    for number, word in enumerate("zero one two three four five six seven eight nine ten eleven twelve".split())
}
_NUMBER_WORD = Pattern(r"(?<!\w)(?:" + "|".join(_NUMBER_WORDS) + r")(?!\w)", re.IGNORECASE)

_WORDS = "|".join(_NUMBER_WORDS)
# "two plus three"; with signs between them such words are no arithmetic ("one - two days").
_SPOKEN = Pattern(
    rf"(?<!\w)(?:{_WORDS})(?:\s+(?:plus|minus|times|multiplied by|divided by)\s+(?:{_WORDS}|{_NUMBER}))+(?!\w)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Value:
    """One value: its kind, the value itself (ISO text for a date), and the place it was read from."""

    kind: Kind
    value: str | int | float
    start: int
    end: int


@lru_cache(maxsize=256)
def read_values(text: str) -> tuple[str, tuple[Value, ...]]:
    """The text with holes where values stood (same length), and the values in the order of the text."""
    found: list[Value] = []
    text = _take_quotes(text, found)
    if "@" in text:
        text = _take(text, _EMAIL, "email", found)
    if "://" in text:
        text = _take(text, _URL, "url", found)
    if _DIGIT.search(text):
        text = _take_dates(text, found)
        text = _take(text, _CODE, "code", found)
    _take_arithmetic(text, found)
    if _DIGIT.search(text):
        text = _take_numbers(text, found)
    text = _take_number_words(text, found)
    return text, tuple(sorted(found, key=lambda value: (value.start, -value.end)))


def _hole(text: str, start: int, end: int) -> str:
    return f"{text[:start]}{HOLE * (end - start)}{text[end:]}"


def _take(text: str, pattern: Pattern, kind: Kind, found: list[Value]) -> str:
    for match in pattern.finditer(text):
        found.append(Value(kind, match.group(), match.start(), match.end()))
        text = _hole(text, match.start(), match.end())
    return text


def _take_quotes(text: str, found: list[Value]) -> str:
    for match in _FENCE.finditer(text) if "```" in text else ():
        kind: Kind = "sql" if _SQL.match(match.group(1).strip()) else "quoted"
        found.append(Value(kind, match.group(1).strip(), match.start(), match.end()))
        text = _hole(text, match.start(), match.end())
    written = any(word in text.lower() for word in _SQL_WORDS)
    while written and (sql := _SQL.search(text)):
        end = _sql_end(text, sql)
        found.append(Value("sql", text[sql.start() : end].strip(), sql.start(), end))
        start = sql.start() - 1 if sql.start() and text[sql.start() - 1] in "\"'`“" else sql.start()
        text = _hole(text, start, end + 1 if end < len(text) and text[end] in "\"'`”;" else end)
    for quote in _QUOTE.finditer(text) if any(mark in text for mark in _MARKS) else ():
        inner = next(group for group in quote.groups() if group is not None)
        if inner.strip(f"{HOLE} "):
            found.append(Value("quoted", inner.strip(), quote.start(), quote.end()))
            text = _hole(text, quote.start(), quote.end())
    return text


def _sql_end(text: str, match: re.Match[str]) -> int:
    end = len(text)
    quoted = match.start() > 0 and text[match.start() - 1] == "'"
    for stop in _SQL_END.finditer(text, match.end() - 1):
        if not stop.group().startswith("'"):
            end = stop.start()
            break
    if quoted and (close := text.rfind("'", match.end(), end)) > 0 and text[match.start() : close].count("'") % 2 == 0:
        return close
    while tail := _SQL_TAIL.search(text, match.end(), end):
        end = tail.start()
    return match.start() + len(text[match.start() : end].rstrip(" -,:"))


def _take_dates(text: str, found: list[Value]) -> str:
    for match in _DATE.finditer(text):
        parts = [group for group in match.groups() if group is not None]
        if parts[0].isdigit() and len(parts[0]) == 4:
            year, month, day = (int(part) for part in parts)
        else:
            first, second, last = parts
            name, number = (second, first) if first.isdigit() else (first, second)
            year, month, day = int(last), _MONTHS.index(name[:3].lower()) + 1, int(number)
        try:
            iso = date(year, month, day).isoformat()
        except ValueError:
            continue
        found.append(Value("date", iso, match.start(), match.end()))
        text = _hole(text, match.start(), match.end())
    return text


def _take_arithmetic(text: str, found: list[Value]) -> None:
    """Arithmetic in signs and in words. The text keeps it, because its numbers may be meant one by one."""
    written = [
        Value("expression", _signs(match.group().strip()), match.start(), match.end())
        for match in _EXPRESSION.finditer(text)
    ]
    written += [
        Value("expression", _signs(_NUMBER_WORD.compiled.sub(_digits, match.group())), match.start(), match.end())
        for match in _SPOKEN.finditer(text)
    ]
    for complete, expression, start, end in read_operations(text):
        start, end, expression = _continued(text, start, end, expression) if complete else (start, end, expression)
        inside = [each for each in written if each.start < end and start < each.end]
        if any(each.end - each.start >= end - start for each in inside):
            continue
        written = [each for each in written if each not in inside]
        written.append(Value("expression" if complete else "operation", expression, start, end))
    found += written


def _digits(word: re.Match[str]) -> str:
    return str(_NUMBER_WORDS[word.group().lower()])


def _continued(text: str, start: int, end: int, expression: str) -> tuple[int, int, str]:
    """ "7 squared plus 1" goes on after the words, and "3 + the square root of 16" begins before them."""
    before, after = _LED.search(text[:start]), _WENT_ON.match(text, end)
    if before is None and after is None:
        return start, end, expression
    head = _signs(before.group().replace("the", "")) if before else ""
    tail = _signs(after.group()) if after else ""
    return before.start() if before else start, after.end() if after else end, f"{head}({expression}){tail}".strip()


def _take_numbers(text: str, found: list[Value]) -> str:
    for match in _PLAIN.finditer(text):
        plain = match.group().replace(",", "")
        if len(plain) > 30:
            continue
        value: int | float = float(plain) if "." in plain else int(plain)
        unit = re.match(r"\s?(백만|십만|억|만|천)(?=\s?원|\s|$)", text[match.end() : match.end() + 3])
        if unit:
            value = round(value * _TEN_THOUSANDS[unit.group(1)])
        found.append(Value("number", value, match.start(), match.end() + (unit.end() if unit else 0)))
        text = _hole(text, match.start(), match.end())
    return text


def _take_number_words(text: str, found: list[Value]) -> str:
    for match in _NUMBER_WORD.finditer(text):
        if match.group().lower() != "one":
            found.append(Value("number", _NUMBER_WORDS[match.group().lower()], match.start(), match.end()))
    return text


def _signs(expression: str) -> str:
    """``3 times 4`` as ``3 * 4``; what is arithmetic already stays as it is written."""
    for word, sign in _SIGNS.items():
        expression = re.sub(re.escape(word), sign, expression, flags=re.IGNORECASE)
    return re.sub(r"(?<=\d),(?=\d{3})", "", expression)
