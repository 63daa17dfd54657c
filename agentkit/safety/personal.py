"""Masking of personal data: what identifies a person does not belong into a log that many may read.

Forms, not meaning: an e-mail address, a telephone number, a card number (checked with the algorithm of Luhn, US patent
2,950,048) and a Korean resident registration number are recognised by how they are written. A name is not.
"""

from __future__ import annotations

import re
from typing import Any

_EMAIL = re.compile(r"(?<![\w.+%'’-])[\w.+%'’-]++@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}")
_RESIDENT = re.compile(r"(?<!\d)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])[ ‐-―-]?[1-8]\d{6}(?!\d)")
_DIGITS = re.compile(r"(?<![\d-])\d(?:[ .\u00a0‐-―-]?\d){12,59}")
_SHAPES = (
    r"\+\d(?:[ .()/\u00a0‐-―-]{0,2}\d){7,14}",  # with the code of a country: +82 10-1234-5678, +821012345678
    r"\(?0\d{1,3}\)?(?:(?:[ ./\u00a0‐-―-]|(?<=\)))\d{3,4}){2}",  # 02-123-4567, (010) 1234 5678
    r"01[016-9]\d{7,8}",  # a Korean mobile telephone without signs between
    r"(?:\([2-9]\d{2}\) ?|[2-9]\d{2}[ .-])\d{3}[ .-]\d{4}",  # (555) 123-4567
)
# A Korean particle follows a number without a space, so only Latin letters and digits make it part of a longer word.
_PHONE = re.compile(rf"(?<![A-Za-z0-9_.+-])(?:{'|'.join(_SHAPES)})(?![A-Za-z0-9_-])")
_LONGEST_CARD = 19  # digits
_FIRST_OF_CARD = "23456"  # the first digit says the branch of the issuer (ISO/IEC 7812); a time in milliseconds has a 1


def mask_personal(value: Any) -> Any:
    """A JSON value in which personal data are replaced by ``[e-mail]``, ``[phone]``, ``[card]`` or ``[resident number]``."""
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, dict):
        return {_text(key) if isinstance(key, str) else key: mask_personal(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [mask_personal(item) for item in value]
    if isinstance(value, int) and 10**12 <= value < 10**19 and _is_card(str(value)):
        return "[card]"
    return value


def _text(text: str) -> str:
    if not any(sign.isdecimal() or sign == "@" for sign in text):
        return text
    text = _EMAIL.sub("[e-mail]", text)
    text = _RESIDENT.sub("[resident number]", text)
    text = _DIGITS.sub(lambda found: _without_cards(found[0]), text)
    return _PHONE.sub("[phone]", text)


def _without_cards(text: str) -> str:
    """A row of digit groups in which every card number is masked, also with other numbers before or after it."""
    groups = list(re.finditer(r"\d+", text))
    for first, start in enumerate(groups):
        if not _begins_card(start[0]):
            continue
        for last in reversed(range(first, min(first + _LONGEST_CARD, len(groups)))):
            if _is_card("".join(group[0] for group in groups[first : last + 1])):
                rest = text[groups[last].end() :]
                return f"{text[: start.start()]}[card]{_DIGITS.sub(lambda m: _without_cards(m[0]), rest)}"
    return text


def _begins_card(digits: str) -> bool:
    return str(int(digits[0])) in _FIRST_OF_CARD  # through a number, since other scripts have digits of their own


def _is_card(digits: str) -> bool:
    return 13 <= len(digits) <= _LONGEST_CARD and _begins_card(digits) and passes_luhn(digits)


def passes_luhn(number: str) -> bool:
    """Whether the last digit of a card number is the one that its other digits ask for."""
    digits = [int(sign) for sign in number if sign.isdecimal()][::-1]
    doubled = [digit * 2 - 9 if digit > 4 else digit * 2 for digit in digits[1::2]]
    return (sum(digits[::2]) + sum(doubled)) % 10 == 0
