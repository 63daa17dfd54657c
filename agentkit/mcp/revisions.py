"""The revisions of MCP that are spoken here by hand, newest first, and what differs between them."""

from __future__ import annotations

from typing import Final

LATEST: Final = "2025-11-25"
SUPPORTED: Final = (LATEST, "2025-06-18", "2025-03-26", "2024-11-05")
ASSUMED: Final = "2025-03-26"  # over HTTP, when a client does not say which: the first revision with this transport


def negotiate(asked: str) -> str:
    """What a server answers: the revision that was asked for if it can speak it, else its newest."""
    return asked if asked in SUPPORTED else LATEST


def has_batches(revision: str | None) -> bool:
    """Whether several messages may come in one list: added in 2025-03-26, taken away in 2025-06-18."""
    return revision == "2025-03-26"


def has_structured_results(revision: str | None) -> bool:
    """Whether a tool result may hold a JSON object beside its text. (Revisions are dates: their texts sort by time.)"""
    return revision is not None and revision >= "2025-06-18"
