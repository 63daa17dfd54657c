"""The registry: the contract between model and code, and the one door through which tools run.

Whatever a model hands in, the answer is a `ToolResult`, never an exception. The stages stand in `agentkit._door`: look-up,
parse, schema, permission, approval, idempotency, rule, reserve; then the tool runs, and its value becomes a result.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import hashlib
import inspect
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from agentkit import _tasks
from agentkit._approvals import Grant
from agentkit._door import CHECKS, READS, STAGES, Passage, Refusal, Station, admit, shown_name
from agentkit._jsonsafe import canonical, fit, json_safe
from agentkit._ledger import AttemptStore, Ledger
from agentkit._permits import Permits, PolicyProtocol
from agentkit._records import AuditProtocol, Records
from agentkit._redact import mask, mask_text
from agentkit._running import finish, finish_async, in_doubt, tool_failure
from agentkit._wire import tool_form, wire_name
from agentkit.errors import DefinitionError, did_you_mean
from agentkit.messages import Approval, ErrorDetail, ToolCall, ToolResult, ToolSpec
from agentkit.tools import Permission, Tool, tool

PERMISSIONS: tuple[Permission, ...] = ("read", "write", "dangerous")
Approved: TypeAlias = Collection[str] | Mapping[str, Approval | bool]
"""Which calls of a step a person has approved: their ids, or an `Approval` for each id."""


class Registry:
    """Tools by name, and the only way to run them.

    Args:
        tools: tools, or functions to make tools of.
        permissions: which kinds of tool may run here; any other call is answered with ``not_permitted``.
        result_limit: characters of JSON text that one result may have; longer ones are shortened, with a note.
        policy: what this task may do with which arguments; see `agentkit.safety.Policy`.
        ledger: where attempts at writes are kept; in memory unless told otherwise.
        audit: where attempts, outcomes and refusals are written down, or None.
        clock: seconds since 1970; injected in tests.
        approval_seconds: how long an approval is valid.
        secret: a key that makes approvals unforgeable also for somebody who can write a saved run.
    """

    def __init__(
        self,
        tools: Iterable[Tool | Callable[..., Any]] = (),
        *,
        permissions: Collection[Permission] = PERMISSIONS,
        result_limit: int = 20_000,
        policy: PolicyProtocol | None = None,
        ledger: AttemptStore | None = None,
        audit: AuditProtocol | None = None,
        clock: Callable[[], float] = time.time,
        approval_seconds: float = 3600.0,
        secret: bytes = b"",
    ) -> None:
        if isinstance(permissions, str):
            raise DefinitionError(f'permissions is a list of kinds, for example permissions=["{permissions}"].')
        self._tools: dict[str, Tool] = {}
        self._wire_names: dict[str, str] = {}
        self.permits = Permits(frozenset(permissions), policy, clock, approval_seconds, secret)
        self.records = Records(Ledger() if ledger is None else ledger, audit, clock)
        self.late: deque[ToolResult] = deque(maxlen=100)  # answers that came after their deadline, for whoever looks
        self._result_limit = result_limit
        self._asking = policy is not None  # whether any call may need approval
        self._guarded = policy is not None or audit is not None  # whether there is more to ask than about a plain read
        for item in tools:
            self.add(item)
        self.permits.check(self)

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
        self._asking = self._asking or made.approval
        self._guarded = self._guarded or made.approval or made.permission != "read" or made.rule is not None
        return made

    def add_mcp(self, server: Any, **options: Any) -> list[Tool]:
        """Add the tools of an MCP server: a client, a server, or the path of an ``mcpServers`` file.

        Nothing that the server says is believed: by default a person approves each call, and results stand in a fence. For
        the options and what is raised see `agentkit.mcp.bridge.add_mcp`.
        """
        from agentkit.mcp.bridge import add_mcp

        return add_mcp(self, server, **options)

    def get(self, name: str) -> Tool:
        """The tool of this name. Raises `DefinitionError` when there is none; `call` reports that as a result instead."""
        found = self.find(name)
        if found is None:
            raise DefinitionError(f"There is no tool {name!r}. {did_you_mean(name, self._tools)}{self.listed()}")
        return found

    def find(self, name: object) -> Tool | None:
        """The tool of this name, also as it is written on the wire; None when there is none."""
        if not isinstance(name, str):
            return None
        return self._tools.get(name) or self._tools.get(self._wire_names.get(name, ""))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._tools)

    def listed(self) -> str:
        """The names in a sentence, for whoever asked for a tool that is not there."""
        return f"The tools are: {', '.join(self._tools)}." if self._tools else "No tools are registered."

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

    def __contains__(self, name: object) -> bool:
        return self.find(name) is not None

    def __repr__(self) -> str:
        return f"Registry({', '.join(self._tools)})"

    def specs(self) -> tuple[ToolSpec, ...]:
        """The tools as the model sees them. What the policy allows under no circumstances is not shown."""
        return tuple(item.spec for item in self if self.permits.offers(item))

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
        parts = sorted(item.fingerprint for item in self)
        return hashlib.sha256(canonical(parts).encode("utf-8")).hexdigest()[:16]

    # --- what may run ------------------------------------------------------------------------------------------------

    def restricted(self, policy: PolicyProtocol) -> Registry:
        """The same tools, ledger and audit log under a narrower policy: what the task needs and no more."""
        twin = copy.copy(self)
        twin._tools, twin._wire_names = dict(self._tools), dict(self._wire_names)
        twin.permits = self.permits.narrowed(policy)
        twin.permits.check(twin)
        twin._asking = twin._guarded = True
        return twin

    def trust(self, fingerprints: Mapping[str, str] | None = None) -> None:
        """Remember these definitions (by default the present ones) as looked at and agreed to.

        From then on a tool whose definition differs, or that is new, runs only after a person has approved the call.
        """
        present = {item.name: item.fingerprint for item in self}
        self.permits.trusted = present if fingerprints is None else dict(fingerprints)
        self._asking = self._guarded = True

    def grant(self, grant: Grant) -> None:
        """Add a standing permission for calls that would otherwise wait for a person."""
        self.permits.grants.append(grant)

    def needs_approval(self, call: ToolCall) -> bool:
        """Whether this call would run if only a person approved it."""
        if not self._asking:
            return False
        try:
            admit(self, Passage(call), CHECKS)
        except Refusal as refusal:
            return refusal.detail.code == "needs_approval"
        return False

    def approve(self, call: ToolCall, *, run_id: str = "", agent: str = "", by: str = "") -> Approval:
        """A person's yes to this call as it stands: its tool, definition and arguments, in this run, for a limited time."""
        passage = Passage(call, run_id, True)
        try:
            admit(self, passage, CHECKS)
        except Refusal:  # it will be refused at the door with the reason; there is nothing to approve
            return Approval(call.id, agent=agent, by=by)
        self.records.written("approved", passage, by=by)
        return self.permits.approval(passage, agent, by)

    def deny(self, call: ToolCall, *, run_id: str = "", by: str = "") -> None:
        """A person's no to this call. It is written into the audit log; the call never comes to the door."""
        passage = Passage(call, run_id)
        with contextlib.suppress(Refusal):  # the stages fill in what the record tells
            admit(self, passage, CHECKS)
        self.records.written("denied", passage, by=by)

    def covers(self, call: ToolCall, approval: Approval | None = None, *, run_id: str = "") -> bool:
        """Whether this approval, or a standing grant, is good for this call as it stands now."""
        try:
            admit(self, Passage(call, run_id, approval or False), CHECKS)
        except Refusal as refusal:
            return refusal.detail.code != "needs_approval"
        return True

    # --- the door ----------------------------------------------------------------------------------------------------

    def call(
        self,
        call: ToolCall,
        *,
        run_id: str = "",
        approved: bool | Approval = False,
        trace: list[Station] | None = None,
    ) -> ToolResult:
        """Run one call and return its result. Never raises for what the model or the tool did wrong.

        ``run_id`` ties writes of one run together, so that a retry meets its first try; without it nothing is remembered.
        ``approved`` is an `Approval`, or True when the caller answers for it. ``trace`` receives a `Station` for each stage.
        """
        passage = Passage(call, run_id, approved, trace)
        try:
            stored = admit(self, passage, STAGES if self._guarded or trace is not None else READS)
        except Refusal as refusal:
            return self._refused(passage, refusal.detail)
        if stored is not None:
            return stored
        try:
            return self._result(passage, self._run(passage))
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # whatever a tool raises, also an exit, is an observation
            return self._failed(passage, error)

    async def acall(
        self,
        call: ToolCall,
        *,
        run_id: str = "",
        approved: bool | Approval = False,
        trace: list[Station] | None = None,
    ) -> ToolResult:
        """The same for async code: an async tool runs in the caller's event loop, a blocking one in a thread."""
        passage = Passage(call, run_id, approved, trace)
        try:
            stored = admit(self, passage, STAGES if self._guarded or trace is not None else READS)
        except Refusal as refusal:
            return self._refused(passage, refusal.detail)
        if stored is not None:
            return stored
        try:
            return self._result(passage, await self._arun(passage))
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            if _tasks.is_cancellation(error):
                raise
            return self._failed(passage, error)

    def call_all(
        self,
        calls: Sequence[ToolCall],
        *,
        run_id: str = "",
        approved: Approved = (),
        done: dict[str, ToolResult] | None = None,
    ) -> list[ToolResult]:
        """Run the calls of one step. Neighbouring reads run side by side, everything else in order.

        ``approved`` holds the ids that a person approved, or an `Approval` for each. ``done`` is filled as results arrive, so
        that after an interruption the finished ones are known. The results come back in order.
        """
        done = {} if done is None else done
        if len(calls) == 1:
            done[calls[0].id] = only = self.call(calls[0], run_id=run_id, approved=_yes(approved, calls[0].id))
            return [only]
        results: list[ToolResult] = []
        for group in self._groups(calls):
            work = [
                functools.partial(self.call, call, run_id=run_id, approved=_yes(approved, call.id)) for call in group
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
        self,
        calls: Sequence[ToolCall],
        *,
        run_id: str = "",
        approved: Approved = (),
        done: dict[str, ToolResult] | None = None,
    ) -> list[ToolResult]:
        """The same for async code."""
        import asyncio  # only where it is used: half of what importing this package would cost

        done = {} if done is None else done
        results: list[ToolResult] = []

        places = asyncio.Semaphore(_tasks.MAX_THREADS)

        async def one(call: ToolCall) -> ToolResult:
            async with places:
                result = done[call.id] = await self.acall(call, run_id=run_id, approved=_yes(approved, call.id))
                return result

        for group in self._groups(calls):
            results.extend(await asyncio.gather(*map(one, group)))
        return results

    # --- running and answering -----------------------------------------------------------------------------------------

    def _run(self, passage: Passage) -> Any:
        """Run in this thread, unless a deadline or an async tool asks for another one."""
        seconds = passage.tool.timeout
        if seconds is None and not passage.tool.is_async:
            return finish(passage.tool.function(**passage.keywords))
        work = functools.partial(passage.tool.function, **passage.keywords)
        if passage.tool.is_async:
            return _tasks.run_async(functools.partial(finish_async, work), seconds)
        assert seconds is not None
        return _tasks.within(seconds, lambda: finish(work()), functools.partial(self._late, passage))

    async def _arun(self, passage: Passage) -> Any:
        work = functools.partial(passage.tool.function, **passage.keywords)
        seconds = passage.tool.timeout
        if not passage.tool.is_async:
            if not passage.tool.blocking and seconds is None:
                return finish(work())
            return await _tasks.in_thread(lambda: self._run(passage), functools.partial(self._late, passage))
        if seconds is None:
            return await finish_async(work)
        return await _tasks.deadline(finish_async(work), seconds)

    def _result(self, passage: Passage, value: Any, late: bool = False) -> ToolResult:
        limit = self._result_limit
        if type(value) is str and len(value) <= limit:
            data, note = mask_text(value if value.isascii() else json_safe(value)), ""
        else:
            data, note = fit(mask(json_safe(value[: limit * 4] if isinstance(value, str) else value)), limit)
        result = ToolResult(passage.call.id, passage.tool.name, data, None, note)
        passage.mark("run", "passed")
        passage.mark("result", "passed")
        return self.records.settle(passage, result, late=late)

    def _failed(self, passage: Passage, error: BaseException, late: bool = False) -> ToolResult:
        detail = tool_failure(passage.tool, error)
        result = ToolResult(passage.call.id, passage.tool.name, error=detail)
        passage.mark("run", "failed", detail.code, detail.message)
        passage.mark("result", "passed")
        # Nobody knows what a write has done whose answer got lost, whoever gave up waiting: the registry or the tool itself.
        known = not in_doubt(error)
        return self.records.settle(passage, result, late=late, known=known)

    def _late(self, passage: Passage, value: Any, error: BaseException | None) -> None:
        passage.trace = None  # whoever asked for it has long read it
        result = self._result(passage, value, True) if error is None else self._failed(passage, error, True)
        self.late.append(result)

    def _refused(self, passage: Passage, detail: ErrorDetail) -> ToolResult:
        call = passage.call
        self.records.written("refused", passage, code=detail.code)
        return ToolResult(call.id if isinstance(call.id, str) else "", shown_name(call), error=detail)

    def _groups(self, calls: Sequence[ToolCall]) -> list[list[ToolCall]]:
        """Neighbouring reads together, every other call alone."""
        groups: list[list[ToolCall]] = []
        reading = False
        for call in calls:
            found = self.find(call.name)
            read = found is None or found.permission == "read"
            if read and reading:
                groups[-1].append(call)
            else:
                groups.append([call])
            reading = read
        return groups


def _yes(approved: Approved, call_id: str) -> bool | Approval:
    return approved.get(call_id, False) if isinstance(approved, Mapping) else call_id in approved


def _origin(item: Tool) -> tuple[str, str]:
    function = inspect.unwrap(getattr(item, "function", item))
    return getattr(function, "__module__", "") or "", getattr(function, "__qualname__", "") or type(
        function
    ).__qualname__
