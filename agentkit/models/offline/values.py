"""The values that a text states: codes, dates, numbers, quoted text, SQL, addresses, arithmetic.

Each value keeps where it stands, so that no value is used twice and none is invented.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["code", "date", "number", "quoted", "sql", "email", "url", "expression"]

HOLE = "\ufffc"  # stands where a value was taken out of the text
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_NUMBER = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
_TERM = rf"[-(]*(?:{_NUMBER})[)%]*"
_OPERATOR = r"\*\*|[-+*/×÷^%]|plus|minus|times|multiplied by|divided by|x|더하기|빼기|곱하기|나누기"
_FENCE = re.compile(r"```(?:[a-zA-Z]+\n)?(.*?)```", re.DOTALL)
_QUOTE = re.compile(
    r"\"([^\"\n]{1,2000})\"|“([^”]{1,2000})”|`([^`\n]{1,2000})`|「([^」]{1,2000})」|『([^』]{1,2000})』|‘([^’]{1,2000})’"
    r"|(?<![\w)])'([^'\n]{1,2000}(?:'\w[^'\n]{0,200})*)'(?!\w)"
    r"|(?<![\w)])'([^'\n]{1,2000})'(?=[가-힣])"
)
_SQL = re.compile(
    r"(?<![A-Za-z])(?:select\s+[\w*(][^;\"`]*?\bfrom\s+\w|insert\s+into\s+\w|delete\s+from\s+\w|update\s+\w+\s+set\s"
    r"|drop\s+table\s+\w|alter\s+table\s+\w|pragma\s+\w|with\s+\w+\s+as\s*\()",
    re.IGNORECASE,
)
_SQL_END = re.compile(
    r"'[^']*'|[;\"`“”]|\n\s*\n|[.?!](?=\s|$)|[가-힣]|,?\s(?:and|then)\s+(?:then|tell|show|give|what|how)\b|\s(?:return|give|say)s?(?=\s|$)"
)
_SQL_TAIL = re.compile(
    r"[,\s]+(?:please|(?:on|in|against|at|using|for|to|from)(?:\s+(?:the|our))?\s+[A-Za-z]+"
    r"(?:\s+(?:database|db|environment|server|system|copy|data))?|,?\s*please)[\s.?!:]*$",
    re.IGNORECASE,
)
_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,4}")
_URL = re.compile(r"https?://[^\s\"'<>]*[^\s\"'<>.,;:!?)]")
_DATE = re.compile(
    rf"(?<![\w-])(\d{{4}})\s?[-/.]\s?(\d{{1,2}})\s?[-/.]\s?(\d{{1,2}})(?![\d-])"
    rf"|(\d{{4}})\s*년\s*(\d{{1,2}})\s*월\s*(\d{{1,2}})\s*일"
    rf"|(?<!\w)(\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?({_MONTH}),?\s+(\d{{4}})"
    rf"|(?<!\w)({_MONTH})\s+(\d{{1,2}})(?:st|nd|rd|th)?,?\s+(\d{{4}})",
    re.IGNORECASE,
)
_CODE = re.compile(r"(?<![A-Za-z0-9_])[A-Za-z]{1,8}[-_]?\d+[A-Za-z0-9]*(?:[-_][A-Za-z0-9]+)*(?![A-Za-z0-9_])")
_EXPRESSION = re.compile(rf"{_TERM}(?:\s*(?:{_OPERATOR})\s*{_TERM})+", re.IGNORECASE)
_PLAIN = re.compile(rf"(?<![\w.,-])-?(?:{_NUMBER})(?![A-Za-z_\d])|(?<=[$€£₩#])(?:{_NUMBER})|(?<=[가-힣])(?:{_NUMBER})")
_TEN_THOUSANDS = {"천": 1_000, "만": 10_000, "십만": 100_000, "백만": 1_000_000, "억": 100_000_000}
_SIGNS = {
    "plus": "+", "minus": "-", "times": "*", "multiplied by": "*", "x": "*", "×": "*", "divided by": "/", "÷": "/",
    "더하기": "+", "빼기": "-", "곱하기": "*", "나누기": "/",
}  # fmt: skip
_NUMBER_WORDS = {
    word: number
    for number, word in enumerate("zero one two three four five six seven eight nine ten eleven twelve".split())
}
_NUMBER_WORD = re.compile(r"(?<!\w)(?:" + "|".join(_NUMBER_WORDS) + r")(?!\w)", re.IGNORECASE)


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
    for kind, pattern in (("email", _EMAIL), ("url", _URL)):
        text = _take(text, pattern, kind, found)  # type: ignore[arg-type]
    text = _take_dates(text, found)
    text = _take(text, _CODE, "code", found)
    for match in _EXPRESSION.finditer(text):
        found.append(Value("expression", _signs(match.group().strip()), match.start(), match.end()))
    text = _take_numbers(text, found)
    return text, tuple(sorted(found, key=lambda value: (value.start, -value.end)))


def _hole(text: str, start: int, end: int) -> str:
    return f"{text[:start]}{HOLE * (end - start)}{text[end:]}"


def _take(text: str, pattern: re.Pattern[str], kind: Kind, found: list[Value]) -> str:
    for match in pattern.finditer(text):
        found.append(Value(kind, match.group(), match.start(), match.end()))
        text = _hole(text, match.start(), match.end())
    return text


def _take_quotes(text: str, found: list[Value]) -> str:
    for match in _FENCE.finditer(text):
        kind: Kind = "sql" if _SQL.match(match.group(1).strip()) else "quoted"
        found.append(Value(kind, match.group(1).strip(), match.start(), match.end()))
        text = _hole(text, match.start(), match.end())
    while sql := _SQL.search(text):
        end = _sql_end(text, sql)
        found.append(Value("sql", text[sql.start() : end].strip(), sql.start(), end))
        start = sql.start() - 1 if sql.start() and text[sql.start() - 1] in "\"'`“" else sql.start()
        text = _hole(text, start, end + 1 if end < len(text) and text[end] in "\"'`”;" else end)
    for quote in _QUOTE.finditer(text):
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
    return end


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
    for match in _NUMBER_WORD.finditer(text):
        if match.group().lower() != "one":
            found.append(Value("number", _NUMBER_WORDS[match.group().lower()], match.start(), match.end()))
    return text


def _signs(expression: str) -> str:
    """``3 times 4`` as ``3 * 4``; what is arithmetic already stays as it is written."""
    for word, sign in _SIGNS.items():
        expression = re.sub(re.escape(word), sign, expression, flags=re.IGNORECASE)
    return re.sub(r"(?<=\d),(?=\d{3})", "", expression)
