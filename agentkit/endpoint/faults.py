"""Errors on demand: what the next request meets instead of an answer."""

from __future__ import annotations

from typing import Any

from agentkit.endpoint.values import Fault, Refused

FAIL_HEADER = "x-agentkit-fail"
_SENTENCES = {
    400: "The request cannot be understood. This error was asked for by a test.",
    401: "The key is not valid. This error was asked for by a test.",
    403: "The key is not allowed to do this. This error was asked for by a test.",
    404: "There is no such model. This error was asked for by a test.",
    413: "The request is too large. This error was asked for by a test.",
    429: "Too many requests: wait a moment and try again. This error was asked for by a test.",
    503: "The service is not available for the moment. This error was asked for by a test.",
    529: "The service is overloaded. This error was asked for by a test.",
}


def refused_by(fault: Fault) -> Refused:
    """The error that a fault asks for."""
    status = fault.status or 500
    message = _SENTENCES.get(status, "The service failed. This error was asked for by a test.")
    return Refused(status, message, code=fault.code, retry_after=fault.retry_after)


def fault_of(text: str) -> Fault:
    """The fault that a header names: ``429``, ``503; retry-after=1``, ``529; after-chunks=3`` or ``drop``."""
    head, *more = (part.strip() for part in text.split(";"))
    known = {"retry-after": None, "after-chunks": None, "code": None}
    try:
        status = None if head == "drop" else int(head)
        if status is not None and not 400 <= status <= 599:
            raise ValueError
        given: dict[str, Any] = {**known, **dict(part.split("=", 1) for part in more)}
        if set(given) != set(known):
            raise ValueError
        wait, chunks = given["retry-after"], given["after-chunks"]
        return Fault(
            status, None if wait is None else float(wait), None if chunks is None else int(chunks), given["code"]
        )
    except ValueError:
        raise Refused(
            400,
            f"The header {FAIL_HEADER} must be a status from 400 to 599 or 'drop', and may go on with "
            "'; retry-after=SECONDS', '; after-chunks=NUMBER' or '; code=WORD'.",
        ) from None
