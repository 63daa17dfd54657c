"""The error documents and headers of both services."""

from __future__ import annotations

import math
from typing import Any

from agentkit.endpoint.values import Family, Refused

_OPENAI_TYPES = {429: "requests", 500: "server_error", 502: "server_error", 503: "server_error", 529: "server_error"}
_OPENAI_CODES = {401: "invalid_api_key", 429: "rate_limit_exceeded"}
_ANTHROPIC_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}


def error_document(family: Family, refused: Refused, request_id: str) -> dict[str, Any]:
    """The document that the service sends with this error."""
    if family == "anthropic":
        kind = anthropic_type(refused.status)
        error: dict[str, Any] = {"type": kind, "message": refused.message}
        if refused.details is not None:
            error["details"] = dict(refused.details)
        return {"type": "error", "error": error, "request_id": request_id}
    return {"error": openai_error(refused)}


def openai_error(refused: Refused) -> dict[str, Any]:
    """The inner error object, which is also what a broken stream sends."""
    code = refused.code or _OPENAI_CODES.get(refused.status)
    kind = "insufficient_quota" if code == "insufficient_quota" else None
    default = "invalid_request_error" if refused.status < 500 else "server_error"
    return {
        "message": refused.message,
        "type": kind or _OPENAI_TYPES.get(refused.status, default),
        "param": refused.param,
        "code": code,
    }


def anthropic_type(status: int) -> str:
    """Anthropic's word for a status."""
    return _ANTHROPIC_TYPES.get(status, "invalid_request_error" if status < 500 else "api_error")


def error_headers(refused: Refused) -> dict[str, str]:
    """What an SDK's retry layer reads: whether to try again, and when."""
    headers = {}
    if refused.retry is not None:
        headers["x-should-retry"] = str(refused.retry).lower()
    if refused.retry_after is not None:
        headers["retry-after"] = str(math.ceil(refused.retry_after))
        headers["retry-after-ms"] = f"{refused.retry_after * 1000:g}"
    return headers
