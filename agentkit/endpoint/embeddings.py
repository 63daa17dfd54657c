"""Embeddings without a model: hashed pieces of words, the same on every machine."""

from __future__ import annotations

import base64
import math
import struct
import zlib
from collections.abc import Mapping
from typing import Any

from agentkit.endpoint.fields import bad, text_field, whole_field
from agentkit.memory import estimate_tokens

DIMENSIONS = 256
MOST_DIMENSIONS = 4096
MOST_INPUTS = 2048
MOST_LETTERS = 32_000


def answer(body: Mapping[str, Any]) -> dict[str, Any]:
    """The answer to an embeddings request. Raises `Refused` for what the service would refuse."""
    model, texts = text_field(body, "model"), _texts(body.get("input"))
    size = whole_field(body, "dimensions") or DIMENSIONS
    if size > MOST_DIMENSIONS:
        raise bad(f"The field 'dimensions' must be at most {MOST_DIMENSIONS}.", "dimensions")
    form = body.get("encoding_format") or "float"
    if form not in ("float", "base64"):
        raise bad("The field 'encoding_format' must be 'float' or 'base64'.", "encoding_format")
    data = []
    for index, text in enumerate(texts):
        packed = struct.pack(f"<{size}f", *vector(text, size))
        found: Any = (
            list(struct.unpack(f"<{size}f", packed)) if form == "float" else base64.b64encode(packed).decode("ascii")
        )
        data.append({"object": "embedding", "index": index, "embedding": found})
    tokens = sum(map(estimate_tokens, texts))
    return {"object": "list", "data": data, "model": model, "usage": {"prompt_tokens": tokens, "total_tokens": tokens}}


def vector(text: str, size: int) -> list[float]:
    """A vector of length 1 in which texts with common pieces of 1 to 3 letters lie near each other.

    Each piece is hashed to a place and a sign (the hashing trick of Weinberger et al. 2009, "Feature Hashing for Large
    Scale Multitask Learning"), so no table of words is needed.
    """
    found = [0.0] * size
    padded = f" {' '.join(text.casefold().split())} "
    for width in (1, 2, 3):
        for start in range(len(padded) - width + 1):
            code = zlib.crc32(f"{width}{padded[start : start + width]}".encode("utf-8", "replace"))
            found[(code >> 1) % size] += width if code & 1 else -width
    length = math.sqrt(sum(x * x for x in found))
    return [x / length for x in found] if length else [1.0] + [0.0] * (size - 1)


def _texts(found: Any) -> list[str]:
    """One text or a list of them; lists of token numbers are taken as texts of numbers."""
    items = [found] if isinstance(found, str) or _is_tokens(found) else found
    if not isinstance(items, list) or not 1 <= len(items) <= MOST_INPUTS:
        raise bad(f"The field 'input' must be a text, or a list of 1 to {MOST_INPUTS} texts.", "input")
    texts = [" ".join(map(str, item)) if _is_tokens(item) else item for item in items]
    if not all(isinstance(text, str) and text for text in texts):
        raise bad("The field 'input' must hold texts that are not empty.", "input")
    if any(len(text) > MOST_LETTERS for text in texts):
        raise bad(f"A text of the field 'input' is longer than {MOST_LETTERS:,} letters.", "input")
    return texts


def _is_tokens(item: Any) -> bool:
    return isinstance(item, list) and bool(item) and all(type(token) is int for token in item)
