"""The calls of one step: neighbouring reads side by side, everything else in order."""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from agentkit import _tasks
from agentkit.messages import Approval, ToolCall, ToolResult

if TYPE_CHECKING:
    from agentkit.registry import Registry

Approved: TypeAlias = Collection[str] | Mapping[str, Approval | bool]
"""Which calls of a step a person has approved: their ids, or an `Approval` for each id."""


def call_all(
    registry: Registry, calls: Sequence[ToolCall], run_id: str, approved: Approved, done: dict[str, ToolResult]
) -> list[ToolResult]:
    """See `Registry.call_all`."""
    if len(calls) == 1:
        done[calls[0].id] = only = registry.call(calls[0], run_id=run_id, approved=_yes(approved, calls[0].id))
        return [only]
    results: list[ToolResult] = []
    for group in groups(registry, calls):
        work = [
            functools.partial(registry.call, call, run_id=run_id, approved=_yes(approved, call.id)) for call in group
        ]
        if len(work) == 1:
            results.append(work[0]())
            done[group[0].id] = results[-1]
            continue
        finished: dict[int, ToolResult] = {}
        for index, result in _tasks.together(work):
            finished[index] = done[group[index].id] = result
        results.extend(finished[index] for index in range(len(group)))
    return results


async def acall_all(
    registry: Registry, calls: Sequence[ToolCall], run_id: str, approved: Approved, done: dict[str, ToolResult]
) -> list[ToolResult]:
    """See `Registry.acall_all`."""
    import asyncio  # only where it is used: half of what importing this package would cost

    results: list[ToolResult] = []
    places = asyncio.Semaphore(_tasks.MAX_THREADS)

    async def one(call: ToolCall) -> ToolResult:
        async with places:
            result = done[call.id] = await registry.acall(call, run_id=run_id, approved=_yes(approved, call.id))
            return result

    for group in groups(registry, calls):
        results.extend(await asyncio.gather(*map(one, group)))
    return results


def groups(registry: Registry, calls: Sequence[ToolCall]) -> list[list[ToolCall]]:
    """Neighbouring reads together, every other call alone."""
    made: list[list[ToolCall]] = []
    reading = False
    for call in calls:
        found = registry.find(call.name)
        read = found is None or found.permission == "read"
        if read and reading:
            made[-1].append(call)
        else:
            made.append([call])
        reading = read
    return made


def _yes(approved: Approved, call_id: str) -> bool | Approval:
    if not approved:  # the usual case; to ask what kind of collection it is takes longer than the rest of this function
        return False
    return approved.get(call_id, False) if isinstance(approved, Mapping) else call_id in approved
