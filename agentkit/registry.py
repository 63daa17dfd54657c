"""The registry: the contract between model and code, and the one door through which tools run.

Whatever a model hands in, the answer is a `ToolResult`, never an exception. The stages stand in `agentkit._door`: look-up,
parse, schema, permission, approval, idempotency, rule, reserve; then the tool runs, and its value becomes a result.
"""

from __future__ import annotations

import contextlib
import copy
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from agentkit import _tasks
from agentkit._approvals import Grant
from agentkit._door import CHECKS, READS, STAGES, Passage, Refusal, Station, admit, shown_name
from agentkit._jsonsafe import fit, json_safe
from agentkit._ledger import AttemptStore, Ledger
from agentkit._permits import Permits, PolicyProtocol
from agentkit._records import AuditProtocol, Records
from agentkit._redact import mask, mask_text
from agentkit._running import arun, in_doubt, run, tool_failure
from agentkit._table import ToolTable
from agentkit._together import Approved, acall_all, call_all
from agentkit.errors import DefinitionError
from agentkit.messages import Approval, ErrorDetail, ToolCall, ToolResult, ToolSpec
from agentkit.tools import Permission, Tool

PERMISSIONS: tuple[Permission, ...] = ("read", "write", "dangerous")


class Registry(ToolTable):
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
        super().__init__()
        self.permits = Permits(frozenset(permissions), policy, clock, approval_seconds, secret)
        self.records = Records(Ledger() if ledger is None else ledger, audit, clock)
        self.late: deque[ToolResult] = deque(maxlen=100)  # answers that came after their deadline, for whoever looks
        self._result_limit = result_limit
        self._asking = policy is not None  # whether any call may need approval
        self._guarded = policy is not None or audit is not None  # whether there is more to ask than about a plain read
        for item in tools:
            self.add(item)
        self.permits.check(self)

    # --- what is in it (the rest is `ToolTable`'s) ---------------------------------------------------------------------

    def add(self, item: Tool | Callable[..., Any]) -> Tool:
        """Register a tool, or make one of a function. The same function again (a cell run twice) replaces itself.

        Raises:
            DefinitionError: another function is already registered under this name, or no tool can be made of it.
        """
        made = super().add(item)
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

    def specs(self) -> tuple[ToolSpec, ...]:
        """The tools as the model sees them. What the policy allows under no circumstances is not shown."""
        return tuple(item.spec for item in self if self.permits.offers(item))

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
            return self._result(passage, run(passage, self._late))
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
            return self._result(passage, await arun(passage, self._late))
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
        return call_all(self, calls, run_id, approved, {} if done is None else done)

    async def acall_all(
        self,
        calls: Sequence[ToolCall],
        *,
        run_id: str = "",
        approved: Approved = (),
        done: dict[str, ToolResult] | None = None,
    ) -> list[ToolResult]:
        """The same for async code."""
        return await acall_all(self, calls, run_id, approved, {} if done is None else done)

    # --- running and answering -----------------------------------------------------------------------------------------

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
