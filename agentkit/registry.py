"""The registry: the contract between model and code, and the one door through which tools run.

Whatever a model hands in, the answer is a `ToolResult`, never an exception. The stages are
parse → schema → permission → approval → idempotency look-up → run with time-out → result.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from agentkit import _tasks
from agentkit._arguments import BadArguments, parse_arguments
from agentkit._jsonsafe import canonical, fit, json_safe
from agentkit._ledger import Attempt, Ledger
from agentkit._redact import mask, mask_text
from agentkit._running import finish, finish_async, tool_failure
from agentkit._schema import ArgumentsError
from agentkit._wire import tool_form, wire_name
from agentkit.errors import DefinitionError, did_you_mean
from agentkit.messages import ErrorDetail, ToolCall, ToolResult, ToolSpec
from agentkit.tools import Permission, Tool, tool

PERMISSIONS: tuple[Permission, ...] = ("read", "write", "dangerous")


class _Refusal(Exception):
    """A stage says no. Raised and caught inside this module only."""

    def __init__(self, code: str, message: str, hint: str = "") -> None:
        self.detail = ErrorDetail(code, message, hint)


@dataclass(slots=True)
class _Ready:
    """A call that has passed every check: what is left is to run it."""

    call: ToolCall
    tool: Tool
    keywords: dict[str, Any]
    arguments: dict[str, Any]
    attempt: Attempt | None = None


class Registry:
    """Tools by name, and the only way to run them.

    Args:
        tools: tools, or functions to make tools of.
        permissions: which kinds of tool may run here; any other call is answered with ``not_permitted``.
        result_limit: characters of JSON text that one result may have; longer ones are shortened, with a note.
    """

    def __init__(
        self,
        tools: Iterable[Tool | Callable[..., Any]] = (),
        *,
        permissions: Collection[Permission] = PERMISSIONS,
        result_limit: int = 20_000,
    ) -> None:
        if isinstance(permissions, str):
            raise DefinitionError(f'permissions is a list of kinds, for example permissions=["{permissions}"].')
        self._tools: dict[str, Tool] = {}
        self._wire_names: dict[str, str] = {}
        self._permissions = frozenset(permissions)
        self._result_limit = result_limit
        self._ledger = Ledger()
        self._asking = False  # whether any tool needs approval
        self.late: deque[ToolResult] = deque(maxlen=100)  # answers that came after their deadline, for whoever looks
        for item in tools:
            self.add(item)

    # --- what is in it -----------------------------------------------------------------------------------------------

    def add(self, item: Tool | Callable[..., Any]) -> Tool:
        """Register a tool, or make one of a function. The same function again (a cell run twice) replaces itself.

        Raises:
            DefinitionError: another function is already registered under this name, or no tool can be made of it.
        """
        made: Tool = item if hasattr(item, "validate") else tool(item)  # type: ignore[assignment]
        other = self._tools.get(made.name) or self._tools.get(self._wire_names.get(wire_name(made.name), ""))
        if other is not None and _origin(other) != _origin(made):
            raise DefinitionError(
                f"A different tool named {other.name!r} is already registered. Give one of them another name: tool(name=…)."
            )
        self._tools[made.name] = made
        self._wire_names[wire_name(made.name)] = made.name
        self._asking = any(item.approval for item in self)
        return made

    def get(self, name: str) -> Tool:
        """The tool of this name. Raises `DefinitionError` when there is none; `call` reports that as a result instead."""
        found = self._find(name)
        if found is None:
            raise DefinitionError(f"There is no tool {name!r}. {did_you_mean(name, self._tools)}{self._names()}")
        return found

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

    def __contains__(self, name: object) -> bool:
        return self._find(name) is not None

    def __repr__(self) -> str:
        return f"Registry({', '.join(self._tools)})"

    def specs(self) -> tuple[ToolSpec, ...]:
        """The tools as the model sees them."""
        return tuple(item.spec for item in self._tools.values())

    def openai(self, form: Literal["chat", "responses"] = "chat") -> list[dict[str, Any]]:
        """The tools in the form of OpenAI's Chat Completions or Responses API."""
        if form not in ("chat", "responses"):
            raise DefinitionError(f'The form is "chat" or "responses", not {form!r}.')
        return [tool_form(item, form) for item in self]

    def anthropic(self) -> list[dict[str, Any]]:
        """The tools in the form of Anthropic's Messages API."""
        return [tool_form(item, "anthropic") for item in self]

    def mcp(self) -> list[dict[str, Any]]:
        """The tools in the form of an answer to MCP's ``tools/list``."""
        return [tool_form(item, "mcp") for item in self]

    def fingerprint(self) -> str:
        """A short text that changes when a name, a description, a schema or a permission does (SHA-256, 16 digits)."""
        parts = sorted([t.name, t.description, canonical(t.parameters), t.permission, str(t.approval)] for t in self)
        return hashlib.sha256(canonical(parts).encode("utf-8")).hexdigest()[:16]

    # --- the door ----------------------------------------------------------------------------------------------------

    def needs_approval(self, call: ToolCall) -> bool:
        """Whether this call would run if only a person approved it."""
        if not self._asking:
            return False
        try:
            self._check(call, approved=False)
        except _Refusal as refusal:
            return refusal.detail.code == "needs_approval"
        return False

    def call(self, call: ToolCall, *, run_id: str = "", approved: bool = False) -> ToolResult:
        """Run one call and return its result. Never raises for what the model or the tool did wrong.

        ``run_id`` ties writes of one run together, so that a retry meets its first try; without it nothing is remembered.
        """
        try:
            ready = self._admit(call, run_id, approved)
        except _Refusal as refusal:
            return _refused(call, refusal.detail)
        if isinstance(ready, ToolResult):
            return ready
        try:
            return self._result(ready, self._run(ready))
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # whatever a tool raises, also an exit, is an observation
            return self._failed(ready, error)

    async def acall(self, call: ToolCall, *, run_id: str = "", approved: bool = False) -> ToolResult:
        """The same for async code: an async tool runs in the caller's event loop, a blocking one in a thread."""
        try:
            ready = self._admit(call, run_id, approved)
        except _Refusal as refusal:
            return _refused(call, refusal.detail)
        if isinstance(ready, ToolResult):
            return ready
        try:
            return self._result(ready, await self._arun(ready))
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            if _tasks.is_cancellation(error):
                raise
            return self._failed(ready, error)

    def call_all(
        self,
        calls: Sequence[ToolCall],
        *,
        run_id: str = "",
        approved: Collection[str] = (),
        done: dict[str, ToolResult] | None = None,
    ) -> list[ToolResult]:
        """Run the calls of one step. Neighbouring reads run side by side, everything else in order.

        ``approved`` holds the ids that a person approved. ``done`` is filled as results arrive, so that after an
        interruption the finished ones are known. The results come back in the order of the calls.
        """
        done = {} if done is None else done
        if len(calls) == 1:
            done[calls[0].id] = only = self.call(calls[0], run_id=run_id, approved=calls[0].id in approved)
            return [only]
        results: list[ToolResult] = []
        for group in self._groups(calls):
            work = [functools.partial(self.call, call, run_id=run_id, approved=call.id in approved) for call in group]
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
        self,
        calls: Sequence[ToolCall],
        *,
        run_id: str = "",
        approved: Collection[str] = (),
        done: dict[str, ToolResult] | None = None,
    ) -> list[ToolResult]:
        """The same for async code."""
        import asyncio  # only where it is used: half of what importing this package would cost

        done = {} if done is None else done
        results: list[ToolResult] = []

        places = asyncio.Semaphore(_tasks.MAX_THREADS)

        async def one(call: ToolCall) -> ToolResult:
            async with places:
                result = done[call.id] = await self.acall(call, run_id=run_id, approved=call.id in approved)
                return result

        for group in self._groups(calls):
            results.extend(await asyncio.gather(*map(one, group)))
        return results

    # --- the stages --------------------------------------------------------------------------------------------------

    def _admit(self, call: ToolCall, run_id: str, approved: bool) -> _Ready | ToolResult:
        """Every stage before running; a call that was made before is answered from the ledger."""
        ready = self._check(call, approved)
        if not run_id or (ready.tool.permission == "read" and not ready.tool.approval):
            return ready
        # The validated arguments are the key where JSON can tell them apart, or else what the model wrote.
        same = ready.keywords if json_safe(ready.keywords) == ready.keywords else ready.arguments
        key = (run_id, ready.tool.name, canonical(same))
        ready.attempt, new = self._ledger.begin(key, call.id)
        if new:
            return ready
        stored = Ledger.answer(ready.attempt, call.id)
        if stored is None:
            raise _Refusal(
                "timeout",
                f"An earlier, equal call of {ready.tool.name} has not answered yet, so it is not known whether it took effect.",
                "Do not repeat it. Look up the current state, or tell the user.",
            )
        return stored

    def _check(self, call: ToolCall, approved: bool) -> _Ready:
        found = self._find(call.name)
        if found is None:
            name = _name(call)
            raise _Refusal(
                "unknown_tool", f"There is no tool {name!r}. {did_you_mean(name, self._tools)}{self._names()}"
            )
        arguments, keywords = self._validate(found, call)
        if found.permission not in self._permissions:
            raise _Refusal(
                "not_permitted",
                f"{found.name} is a {found.permission} tool. Allowed here: {', '.join(sorted(self._permissions))}.",
                "Do without it, or tell the user what you would need.",
            )
        if found.approval and not approved:
            raise _Refusal("needs_approval", f"{found.name} runs only after a person has approved this call.")
        return _Ready(call, found, keywords, arguments)

    def _validate(self, found: Tool, call: ToolCall) -> tuple[dict[str, Any], dict[str, Any]]:
        try:
            arguments = parse_arguments(call)
        except BadArguments as problem:
            raise _Refusal(problem.code, mask_text(str(problem)), problem.hint) from None
        try:
            return arguments, found.validate(arguments)
        except ArgumentsError as problem:
            raise _Refusal("bad_arguments", mask_text(str(problem)), "Correct the arguments and call again.") from None
        except Exception:
            raise _Refusal(
                "bad_arguments", "The arguments could not be checked.", 'Send one JSON object: {"name": value, …}.'
            ) from None

    def _run(self, ready: _Ready) -> Any:
        """Run in this thread, unless a deadline or an async tool asks for another one."""
        seconds = ready.tool.timeout
        if seconds is None and not ready.tool.is_async:
            return finish(ready.tool.function(**ready.keywords))
        work = functools.partial(ready.tool.function, **ready.keywords)
        if ready.tool.is_async:
            return _tasks.run_async(functools.partial(finish_async, work), seconds)
        assert seconds is not None
        return _tasks.within(seconds, lambda: finish(work()), functools.partial(self._late, ready))

    async def _arun(self, ready: _Ready) -> Any:
        work = functools.partial(ready.tool.function, **ready.keywords)
        seconds = ready.tool.timeout
        if not ready.tool.is_async:
            if not ready.tool.blocking and seconds is None:
                return finish(work())
            return await _tasks.in_thread(lambda: self._run(ready))
        if seconds is None:
            return await finish_async(work)
        return await _tasks.deadline(finish_async(work), seconds)

    # --- the results -------------------------------------------------------------------------------------------------

    def _result(self, ready: _Ready, value: Any) -> ToolResult:
        limit = self._result_limit
        if type(value) is str and len(value) <= limit:
            data, note = mask_text(value if value.isascii() else json_safe(value)), ""
        else:
            data, note = fit(mask(json_safe(value[: limit * 4] if isinstance(value, str) else value)), limit)
        result = ToolResult(ready.call.id, ready.tool.name, data, None, note)
        if ready.attempt is not None:
            self._ledger.settle(ready.attempt, result)
        return result

    def _failed(self, ready: _Ready, error: BaseException) -> ToolResult:
        detail = tool_failure(ready.tool, error)
        result = ToolResult(ready.call.id, ready.tool.name, error=detail)
        if ready.attempt is not None and not isinstance(error, _tasks.TooLate):
            self._ledger.settle(ready.attempt, result)
        return result

    def _late(self, ready: _Ready, value: Any, error: BaseException | None) -> None:
        result = self._result(ready, value) if error is None else self._failed(ready, error)
        if ready.attempt is not None:
            self._ledger.settle(ready.attempt, result, late=True)
        self.late.append(result)

    # --- small helpers -----------------------------------------------------------------------------------------------

    def _find(self, name: object) -> Tool | None:
        if not isinstance(name, str):
            return None
        return self._tools.get(name) or self._tools.get(self._wire_names.get(name, ""))

    def _names(self) -> str:
        return f"The tools are: {', '.join(self._tools)}." if self._tools else "No tools are registered."

    def _groups(self, calls: Sequence[ToolCall]) -> list[list[ToolCall]]:
        """Neighbouring reads together, every other call alone."""
        groups: list[list[ToolCall]] = []
        reading = False
        for call in calls:
            found = self._find(call.name)
            read = found is None or found.permission == "read"
            if read and reading:
                groups[-1].append(call)
            else:
                groups.append([call])
            reading = read
        return groups


def _refused(call: ToolCall, detail: ErrorDetail) -> ToolResult:
    return ToolResult(call.id if isinstance(call.id, str) else "", _name(call), error=detail)


def _name(call: ToolCall) -> str:
    """The name that the model wrote, fit for a message; anything but a text is shown by its type."""
    return mask_text(json_safe(call.name))[:80] if isinstance(call.name, str) else f"a {type(call.name).__name__}"


def _origin(item: Tool) -> tuple[str, str]:
    function = inspect.unwrap(getattr(item, "function", item))
    return getattr(function, "__module__", "") or "", getattr(function, "__qualname__", "") or type(
        function
    ).__qualname__
