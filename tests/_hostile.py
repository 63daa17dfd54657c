"""A value that nothing can be done with."""

from __future__ import annotations

from typing import Any


class Hostile:
    """Raises wherever it is touched."""

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("eq")

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        raise RuntimeError("repr")

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError("attribute")
