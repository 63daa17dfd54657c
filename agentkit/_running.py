"""What happens around the function of a tool: results of every kind are collected, failures become words for the model."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias

from agentkit import _tasks
from agentkit._jsonsafe import MAX_ITEMS, json_safe
from agentkit._redact import mask_text
from agentkit.errors import ToolError
from agentkit.messages import ErrorDetail
from agentkit.tools import Tool

if TYPE_CHECKING:
    from agentkit._door import Passage

Late: TypeAlias = "Callable[[Passage, Any, BaseException | None], None]"
"""Is told the answer of a tool that came after its deadline."""

UNSURE = "It may still take effect: check first."
DOOR_CODES = frozenset(
    "unknown_tool bad_json truncated bad_arguments not_permitted needs_approval denied unknown_outcome rule_failed"
    " not_reserved timeout".split()
)
"""Codes that only the door gives, in our own words. A tool that raises one of them gets ``tool_error`` instead."""
_LOST = ("Timeout", "TimeoutError", "TransportError", "APIConnectionError")


def in_doubt(error: BaseException) -> bool:
    """Whether a call that ended like this may have taken effect: the request may have arrived, and its answer got lost.

    Network libraries have exceptions of their own for that; they are known by their names, so that none is imported. A refused
    connection is no doubt: nothing was sent.
    """
    if isinstance(error, (_tasks.TooLate, TimeoutError)):
        return True
    names = {kind.__name__ for kind in type(error).__mro__}
    if isinstance(error, ConnectionRefusedError) or "ConnectError" in names:
        return False
    return isinstance(error, ConnectionError) or any(name.endswith(_LOST) for name in names)


def run(passage: Passage, late: Late) -> Any:
    """The value of the tool. It runs in this thread, unless a deadline or an async tool asks for another one."""
    seconds = passage.tool.timeout
    if seconds is None and not passage.tool.is_async:
        return finish(passage.tool.function(**passage.keywords))
    work = partial(passage.tool.function, **passage.keywords)
    if passage.tool.is_async:
        return _tasks.run_async(partial(finish_async, work), seconds)
    assert seconds is not None
    return _tasks.within(seconds, lambda: finish(work()), partial(late, passage))


async def arun(passage: Passage, late: Late) -> Any:
    """The same for async code: an async tool runs in the caller's event loop, a blocking one in a thread."""
    work = partial(passage.tool.function, **passage.keywords)
    seconds = passage.tool.timeout
    if not passage.tool.is_async:
        if not passage.tool.blocking and seconds is None:
            return finish(work())
        return await _tasks.in_thread(lambda: run(passage, late), partial(late, passage))
    if seconds is None:
        return await finish_async(work)
    return await _tasks.deadline(finish_async(work), seconds)


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
        code = "tool_error" if code in DOOR_CODES and not isinstance(error, TimeoutError) else code
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
    lost = item.permission != "read" and in_doubt(error)
    hint = UNSURE if lost else "Try other arguments or another tool."
    return ErrorDetail("tool_failed", f"{item.name} failed with {kind.__name__}{words}", hint)


def _safe(value: object, limit: int = 2_000) -> str:
    """Any value as text for the model: encodable, masked, cut; an object whose text cannot be made gives none."""
    try:
        text = str(value)
    except Exception:
        return ""
    return mask_text(json_safe(text[:8_000])).strip()[:limit]
