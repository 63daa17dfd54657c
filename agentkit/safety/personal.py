"""Masking of personal data: what identifies a person does not belong into a log that many may read.

Forms, not meaning: an e-mail address, a telephone number, a card number (checked with the algorithm of Luhn, US patent
2,950,048) and a Korean resident registration number are recognised by how they are written. A name is not.
"""

from __future__ import annotations

import re
from typing import Any

_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}")
_RESIDENT = re.compile(r"(?<!\d)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])-[1-8]\d{6}(?!\d)")
_CARD = re.compile(r"(?<![\d-])\d(?:[ -]?\d){12,18}(?![\d-])")
_PHONE = re.compile(
    r"(?<![\w.+-])(?:\+\d{1,3}[ .-]?(?:\(0\)[ .-]?)?\d{1,4}|\(?0\d{1,3}\)?)(?:[ .-]\d{3,4}){2}(?![\w-])"
)


def mask_personal(value: Any) -> Any:
    """A JSON value in which personal data are replaced by ``[e-mail]``, ``[phone]``, ``[card]`` or ``[resident number]``."""
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, dict):
        return {_text(key): mask_personal(item) for key, item in value.items()}
    if isinstance(value, list):
        return [mask_personal(item) for item in value]
    return value


def _text(text: str) -> str:
    if not any(sign in text for sign in "@0123456789"):
        return text
    text = _EMAIL.sub("[e-mail]", text)
    text = _RESIDENT.sub("[resident number]", text)
    text = _CARD.sub(lambda found: "[card]" if passes_luhn(found[0]) else found[0], text)
    return _PHONE.sub("[phone]", text)


def passes_luhn(number: str) -> bool:
    """Whether the last digit of a card number is the one that its other digits ask for."""
    digits = [int(sign) for sign in number if sign.isdigit()][::-1]
    doubled = [digit * 2 - 9 if digit > 4 else digit * 2 for digit in digits[1::2]]
    return (sum(digits[::2]) + sum(doubled)) % 10 == 0
