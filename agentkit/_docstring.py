"""Docstrings of the Google, NumPy and Sphinx kind, split into a description and one text for each parameter."""

from __future__ import annotations

import inspect
import re
import textwrap
from typing import Any

_SPHINX = re.compile(r"^\s*:param\b", re.MULTILINE)
_NUMPY = re.compile(r"^\s*(Other )?Parameters\s*\n\s*-{3,}", re.MULTILINE)
_GOOGLE = re.compile(r"^\s*(Args|Arguments|Parameters|Params)\s*:\s*$", re.MULTILINE)
_ANY_SECTION = re.compile(
    r"^\s*(?:(?:Args|Arguments|Parameters|Params|Returns?|Raises|Yields?|Examples?|Notes?|Attributes)\s*:\s*$"
    r"|(?:Other Parameters|Parameters|Returns|Raises|Yields|Examples|Notes)\s*\n\s*-{3,}|:\w+[^:\n]*:)",
    re.MULTILINE,
)


def read_docstring(text: str | None) -> tuple[str, dict[str, str]]:
    """The description (all text before the first section) and the description of each documented parameter."""
    text = inspect.cleandoc(text or "")
    section = _ANY_SECTION.search(text)
    if section is None:
        return text.strip(), {}
    return text[: section.start()].strip(), _parameters(text)


def _parameters(text: str) -> dict[str, str]:
    if not (_SPHINX.search(text) or _NUMPY.search(text) or _GOOGLE.search(text)):
        return {}
    head, _, rest = text.partition("\n")
    if _GOOGLE.fullmatch(head) and rest and not rest.lstrip("\n").startswith(" "):
        # In a docstring that opens with a section, the indentation of its lines was taken for that of the docstring.
        text = f"{head}\n{textwrap.indent(rest, '    ')}"
    # The parser takes the first lines as the summary, so a docstring that opens with a section needs one in front.
    text = "Summary.\n\n" + text
    from docstring_parser import google, numpydoc
    from docstring_parser import rest as sphinx
    from docstring_parser.common import ParseError

    parse: Any = sphinx.parse if _SPHINX.search(text) else numpydoc.parse if _NUMPY.search(text) else google.parse
    try:
        found = parse(text).params
    except ParseError:
        return {}
    return {
        name.strip().lstrip("*"): parameter.description.strip()
        for parameter in found
        if parameter.description
        for name in parameter.arg_name.split(",")  # NumPy allows "x, y : float"
    }
