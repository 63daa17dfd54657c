"""The one door, stage by stage: what happens to a call between the model's mouth and the function of a tool.

Each stage is a function of the registry and the passage (one call on its way). It lets the call pass (None), has nothing to
do (`SKIPPED`), answers the call at once (a `ToolResult`), or raises `Refusal` with a code of its own. A stage that is not
reached can have done nothing: that is what the order is for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from agentkit._arguments import BadArguments, parse_arguments
from agentkit._jsonsafe import canonical, json_safe
from agentkit._ledger import Attempt, Key, answer_of
from agentkit._redact import mask_text
from agentkit._schema import ArgumentsError
from agentkit._value import value
from agentkit.errors import ToolError, did_you_mean
from agentkit.messages import Approval, ErrorDetail, ToolCall, ToolResult

if TYPE_CHECKING:
    from agentkit.registry import Registry
    from agentkit.tools import Tool

Outcome: TypeAlias = Literal["passed", "skipped", "answered", "refused", "failed"]
SKIPPED: Final = "skipped"


@value
class Station:
    """One stage of the door as a call went through it: ``passed``, ``skipped`` (nothing to do), ``answered``, ``refused``
    or ``failed``; with the error code, and a note for the reader."""

    stage: str
    outcome: Outcome
    code: str = ""
    note: str = ""


class Refusal(Exception):
    """A stage says no. Raised and caught inside the door only."""

    def __init__(self, code: str, message: str, hint: str = "") -> None:
        self.detail = ErrorDetail(code, message, hint)


@dataclass(slots=True)
class Passage:
    """One call on its way. Each stage fills in what it has found out."""

    call: ToolCall
    run_id: str = ""
    approved: bool | Approval = False
    trace: list[Station] | None = None
    tool: Tool = field(init=False)
    arguments: dict[str, Any] = field(init=False)
    keywords: dict[str, Any] = field(init=False)
    verdict: str = field(init=False, default="allow")
    why: str = field(init=False, default="")
    attempt: Attempt | None = field(init=False, default=None)

    def mark(self, stage: str, outcome: Outcome, code: str = "", note: str = "") -> None:
        if self.trace is not None:
            self.trace.append(Station(stage, outcome, code, note))


Stage: TypeAlias = "Callable[[Registry, Passage], ToolResult | str | None]"


def lookup(registry: Registry, passage: Passage) -> None:
    """Is there a tool of this name? ``unknown_tool``."""
    found = registry.find(passage.call.name)
    if found is None:
        name = shown_name(passage.call)
        raise Refusal(
            "unknown_tool", f"There is no tool {name!r}. {did_you_mean(name, registry.names)}{registry.listed()}"
        )
    passage.tool = found


def parse(registry: Registry, passage: Passage) -> None:
    """Are the arguments a JSON object? ``bad_json``, ``truncated``, or ``bad_arguments`` for another kind of JSON."""
    try:
        passage.arguments = parse_arguments(passage.call)
    except BadArguments as problem:
        raise Refusal(problem.code, mask_text(str(problem)), problem.hint) from None


def schema(registry: Registry, passage: Passage) -> None:
    """Do they fit the schema of the tool? ``bad_arguments``."""
    try:
        passage.keywords = passage.tool.validate(passage.arguments)
    except ArgumentsError as problem:
        hint = registry.records.schema_failed(passage.run_id, passage.tool.name)
        raise Refusal("bad_arguments", mask_text(str(problem)), hint) from None
    except Exception:
        message = "The arguments could not be checked."
        raise Refusal("bad_arguments", message, 'Send one JSON object: {"name": value, …}.') from None


def permission(registry: Registry, passage: Passage) -> None:
    """May this kind of tool, with these arguments, run here at all? ``not_permitted``."""
    tool = passage.tool
    if tool.permission not in registry.permits.permissions:
        allowed = ", ".join(sorted(registry.permits.permissions)) or "none"
        raise Refusal(
            "not_permitted",
            f"{tool.name} is a {tool.permission} tool. Allowed here: {allowed}.",
            "Do without it, or tell the user what you would need.",
        )
    if registry.permits.policy is None:
        return
    passage.verdict, passage.why = registry.permits.verdict(tool, _as_judged(passage))
    if passage.verdict not in ("allow", "ask"):
        why = f" {passage.why}" if passage.why else ""
        message = f"{tool.name} may not run with these arguments in this task.{why}"
        raise Refusal("not_permitted", message, "Do without it, or tell the user what you would need.")


def approval(registry: Registry, passage: Passage) -> str | None:
    """Must a person agree, and has one agreed to exactly this? ``needs_approval``."""
    why = registry.permits.asks(passage)
    if why is None:
        return SKIPPED
    if passage.approved is not True and not registry.permits.granted(passage):
        raise Refusal("needs_approval", f"{passage.tool.name} runs only after a person has approved this call.{why}")
    return None


def idempotency(registry: Registry, passage: Passage) -> ToolResult | str | None:
    """Is this a call that was made before? Then its first outcome is the answer, or ``unknown_outcome``.

    ``not_reserved`` when the ledger cannot be read.
    """
    if not passage.run_id or (passage.tool.permission == "read" and not passage.tool.approval):
        return SKIPPED
    try:
        found = registry.records.ledger.find(key_of(passage), passage.call.id)
    except OSError:
        message = "It could not be looked up whether this call was made before, so it was not run."
        raise Refusal("not_reserved", message, "Tell the user that the records cannot be read.") from None
    return None if found is None else _repeated(found, passage)


def rule(registry: Registry, passage: Passage) -> str | None:
    """Does the business allow it? The code of the rule's own ``ToolError``, or ``rule_failed``."""
    check = passage.tool.rule
    if check is None:
        return SKIPPED
    try:
        check(**passage.keywords)
    except ToolError as error:
        raise Refusal(error.code or "rule_failed", mask_text(json_safe(str(error))), mask_text(error.hint)) from None
    except Exception:
        message = f"The rule of {passage.tool.name} could not be checked, so nothing was done."
        raise Refusal("rule_failed", message, "Go on without it, and tell the user.") from None
    return None


def reserve(registry: Registry, passage: Passage) -> ToolResult | str | None:
    """Write down that this call is about to run, before it runs. ``not_reserved`` when that cannot be written."""
    tracked = passage.run_id and not (passage.tool.permission == "read" and not passage.tool.approval)
    audited = registry.records.audit is not None and passage.tool.permission != "read"
    if not tracked and not audited:
        return SKIPPED
    try:
        if tracked:
            passage.attempt, new = registry.records.ledger.reserve(key_of(passage), passage.call.id)
            if not new:
                return _repeated(passage.attempt, passage)
        if audited:
            registry.records.record("reserved", passage)
    except OSError:
        message = "The call could not be written down before it runs, so it was not run."
        refusal = Refusal("not_reserved", message, "Tell the user that the records cannot be written.")
        if passage.attempt is not None:  # it is known that nothing has happened
            registry.records.settle(passage, ToolResult(passage.call.id, passage.tool.name, error=refusal.detail))
        raise refusal from None
    return None


STAGES: tuple[Stage, ...] = (lookup, parse, schema, permission, approval, idempotency, rule, reserve)
CHECKS: tuple[Stage, ...] = STAGES[:5]
"""The stages that change nothing: what can be asked beforehand."""
READS: tuple[Stage, ...] = STAGES[:4]
"""What is left to ask in a registry of plain reads: nobody is asked there, and nothing has to be remembered."""


def admit(registry: Registry, passage: Passage, stages: tuple[Stage, ...] = STAGES) -> ToolResult | None:
    """Lead a call through the stages. None: it may run. A result: it is answered already. Raises `Refusal`."""
    for stage in stages:
        try:
            found = stage(registry, passage)
        except Refusal as refusal:
            passage.mark(stage.__name__, "refused", refusal.detail.code, refusal.detail.message)
            raise
        if isinstance(found, ToolResult):
            passage.mark(stage.__name__, "answered", found.error.code if found.error else "", "an earlier outcome")
            return found
        if passage.trace is not None:
            passage.mark(stage.__name__, "skipped" if found == SKIPPED else "passed")
    return None


def key_of(passage: Passage) -> Key:
    """What makes two calls the same: the run, the tool, and the validated arguments.

    Where JSON cannot tell the validated arguments apart, what the model wrote is the key.
    """
    same: Mapping[str, Any] = passage.keywords
    if json_safe(passage.keywords) != passage.keywords:
        same = passage.arguments
    return passage.run_id, passage.tool.name, canonical(same)


def _as_judged(passage: Passage) -> dict[str, Any]:
    """What the tool will really receive, as JSON, with its defaults: "500" for a number must not pass a rule about 500."""
    given: dict[str, Any] = json_safe(dict(passage.keywords))
    return given


def _repeated(attempt: Attempt, passage: Passage) -> ToolResult:
    stored = answer_of(attempt, passage.call.id)
    if stored is not None:
        return stored
    raise Refusal(
        "unknown_outcome",
        f"An earlier, equal call of {passage.tool.name} has not answered, so it is not known whether it took effect.",
        "Do not repeat it. Look up the current state, or tell the user.",
    )


def shown_name(call: ToolCall) -> str:
    """The name that the model wrote, fit for a message; anything but a text is shown by its type."""
    return mask_text(json_safe(call.name))[:80] if isinstance(call.name, str) else f"a {type(call.name).__name__}"
