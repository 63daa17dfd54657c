"""Masking of secrets before anything leaves the registry: by the name of a field, and by the form of a text."""

from __future__ import annotations

import re
from typing import Any

MASK = "[secret]"

_FIELD = re.compile(
    r"(?i)^(.*[_\-.])?(password|passwd|passphrase|pwd|secret|token|api[_-]?key|apikey|authorization|cookie|credential"
    r"|private[_-]?key|access[_-]?key|secret[_-]?key|client[_-]?secret)s?$"
)
_PAGE = re.compile(r"(?i)(page|continuation|sync|cursor)[_-]?tokens?$")
# A text without any of these words holds no secret that the forms below know. They are looked for in the lower-case text,
# since a search that ignores case is many times slower.
_WORDS = (
    "sk-", "bearer", "basic ", "key", "token", "secret", "passw", "pwd", "authoriz", "akia", "asia", "aiza", "ghp_", "gho_",
    "ghu_", "ghs_", "ghr_", "github_pat_", "xox", "hf_", "eyj", "://", "-----begin",
)  # fmt: skip
_ANY_WORD = re.compile("|".join(_WORDS))
_LONG = 200  # characters from which looking for one word after the other is quicker than one search for all
_FORMS = [
    re.compile(r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----.*?(?:-----END [A-Z ]{0,30}PRIVATE KEY-----|\Z)", re.DOTALL),
    re.compile(r"\bsk-[A-Za-z0-9_\-]{6,}"),
    re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{12,}\b"),
    re.compile(r"\bAIza[A-Za-z0-9_\-]{10,}"),
    re.compile(r"\b(?:gh[pousr]_|github_pat_|xox[a-z]-|hf_)[A-Za-z0-9_\-]{8,}"),
    re.compile(r"\beyJ[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]{4,}\.[A-Za-z0-9_\-]*"),
]
# After these words stands a secret. "Bearer" and "basic" are also ordinary words, so alone they need a token with a digit.
_AFTER_WORD = [
    re.compile(r"(?i)(\bauthorization[\"']?\s*[=:]\s*[\"']?(?:bearer|basic)\s+)[^\s\"',;}]{1,2000}"),
    re.compile(r"(?i)(\bbearer\s+)(?=[^\s\d]{0,200}\d)[A-Za-z0-9._~+/=\-]{6,}"),
    re.compile(r"(?i)(\bbasic\s+)(?=[^\s\d]{0,200}\d)[A-Za-z0-9+/]{12,}={0,2}"),
    re.compile(
        r"(?i)((?:password|passwd|pwd|secret|api[_-]?key|access[_-]?key|access[_-]?token|authorization)[\"']?\s*[=:]\s*[\"']?)"
        r"(?!\s|\[secret\]|bearer|basic)(?:(?<=\")[^\"\n]{3,2000}|(?<=')[^'\n]{3,2000}|[^\s\"'&;}]{3,2000})"
    ),
    re.compile(r"(?i)(token[\"']?\s*[=:]\s*(?P<quote>[\"']))(?!\[secret\])[^\"'\n]{3,2000}(?=(?P=quote))"),
    # "key" and "token" are also words of programs (``key=len``): what follows must look like a secret, with a digit or long.
    re.compile(
        r"(?i)((?:(?<![a-z])key|token)[\"']?\s*[=:]\s*[\"']?)(?!\[secret\])"
        r"(?:(?=[^\s\"'&;},)]{0,200}\d)[A-Za-z0-9._~+/=\-]{3,2000}|[A-Za-z0-9._~+/=\-]{16,2000})"
    ),
    re.compile(r"((?<![a-z0-9+.\-])[a-z][a-z0-9+.\-]{0,20}://[^\s:/@]{0,200}:)[^\s/]{1,500}(?=@)"),
]


def mask_text(text: str) -> str:
    """The text with keys, tokens and passwords replaced by ``[secret]``."""
    folded = text.lower()
    if not (_ANY_WORD.search(folded) if len(folded) < _LONG else any(word in folded for word in _WORDS)):
        return text
    for form in _FORMS:
        text = form.sub(MASK, text)
    for form in _AFTER_WORD:
        text = form.sub(lambda m: m.group(1) + MASK, text)
    return text


def mask(value: Any) -> Any:
    """A JSON value with secrets masked: the value of every field with a secret's name, and every text by its form."""
    if isinstance(value, str):
        return mask_text(value)
    if isinstance(value, dict):
        return {mask_text(key): MASK if item and _hides(key, item) else mask(item) for key, item in value.items()}
    if isinstance(value, list):
        return [mask(item) for item in value]
    return value


def _hides(key: str, item: Any) -> bool:
    """Whether a field has a secret's name. A number under a name such as ``tokens`` is a count and stays."""
    key = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", key[:200])  # accessToken as access_Token
    if _PAGE.search(key):  # it says where a list goes on, and the model has to hand it back
        return False
    return bool(_FIELD.match(key)) and not (isinstance(item, (int, float)) and "token" in key.lower())
