"""What happens around the function of a tool: results of every kind are collected, failures become words for the model."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from itertools import islice
from typing import Any

from agentkit import _tasks
from agentkit._jsonsafe import MAX_ITEMS, json_safe
from agentkit._redact import mask_text
from agentkit.errors import ToolError
from agentkit.messages import ErrorDetail
from agentkit.tools import Tool

UNSURE = "It may still take effect: check first."


def finish(value: Any) -> Any:
    """A plain tool may return a generator, or an awaitable after all."""
    if isinstance(value, (str, dict, list, int)):
        return value
    if isinstance(value, Iterator):  # also a generator: what it yields is computed here, under the deadline of the tool
        return list(islice(value, MAX_ITEMS))
    if inspect.isawaitable(value):
        return _tasks.run_async(partial(_wait_for, value))
    return value


async def _wait_for(value: Awaitable[Any]) -> Any:
    return await value


async def finish_async(work: Callable[[], Any]) -> Any:
    value = work()
    if inspect.isasyncgen(value):
        return await _tasks.collect(value, MAX_ITEMS)
    return await value if inspect.isawaitable(value) else value


def tool_failure(item: Tool, error: BaseException) -> ErrorDetail:
    """What the model is told about an exception: the tool's own sentence, or the kind of failure, never a trace."""
    if isinstance(error, ToolError):
        code = error.code if isinstance(error.code, str) and error.code.strip() else "tool_error"
        return ErrorDetail(_safe(code, 80), _safe(error) or f"{item.name} failed.", _safe(error.hint or ""))
    if isinstance(error, (_tasks.TooLate, TimeoutError)):
        limit = f" within {item.timeout:g} s" if isinstance(error, _tasks.TooLate) else ": it gave up waiting itself"
        hint = "Try again later, or go on without it." if item.permission == "read" else UNSURE
        return ErrorDetail("timeout", f"{item.name} did not answer{limit}.", hint)
    kind = type(error)
    own_words = kind in (ValueError, RuntimeError) or kind.__module__.partition(".")[0] not in (
        "builtins",
        "pydantic_core",
    )
    told = _safe(error) if own_words else ""
    words = f": {told}" if told else "."
    return ErrorDetail(
        "tool_failed", f"{item.name} failed with {kind.__name__}{words}", "Try other arguments or another tool."
    )


def _safe(value: object, limit: int = 2_000) -> str:
    """Any value as text for the model: encodable, masked, cut; an object whose text cannot be made gives none."""
    try:
        text = str(value)
    except Exception:
        return ""
    return mask_text(json_safe(text[:8_000])).strip()[:limit]
