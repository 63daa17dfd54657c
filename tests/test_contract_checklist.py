"""The shipping checklist: a good registry has every line, and for each line there is a registry that misses it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from pydantic import Field

from agentkit import Registry, Tool, ToolCall, ToolError, ToolResult, tool
from agentkit.checks.contract_checklist import LINES, shipping_checklist
from agentkit.checks.contract_stand_in import sample
from agentkit.messages import Approval
from agentkit.safety import AuditLog, SqliteLedger
from agentkit.worlds import orders

Text = Annotated[str, Field(description="A word.", examples=["lamp"])]
Count = Annotated[int, Field(description="How many.", gt=0)]
ran: list[str] = []


def few(item: str, count: int) -> None:
    if count > 10:
        raise ToolError("At most 10.", code="too_many")


@tool(timeout=2.0)
def stock(item: Text) -> int:
    """Pieces of one item in the warehouse."""
    ran.append("stock")
    return 3


@tool(permission="write", timeout=2.0)
def rename(item: Text, colour: Annotated[Literal["red", "blue"], Field(description="The new colour.")]) -> str:
    """Change the colour in the name of an item."""
    ran.append("rename")
    return "renamed"


@tool(permission="dangerous", timeout=2.0, rule=few)
def scrap(item: Text, count: Count) -> str:
    """Remove pieces of an item for good."""
    ran.append("scrap")
    return "gone"


GOOD = (stock, rename, scrap)


class Audit:
    def record(self, event: Mapping[str, Any]) -> None:
        ran.append("audit")  # the checklist writes nothing into the real audit log


def made(folder: Path, *tools: Tool, kind: type[Registry] = Registry, trust: bool = True, **options: Any) -> Registry:
    given: dict[str, Any] = {"ledger": SqliteLedger(folder / "ledger.sqlite"), "audit": Audit(), **options}
    registry = kind(tools or GOOD, **given)
    if trust:
        registry.trust()
    return registry


def changed(item: Tool, **changes: Any) -> tuple[Tool, ...]:
    """The good tools, with one of them changed."""
    return tuple(replace(each, **changes) if each is item else each for each in GOOD)


class Without(Registry):
    """A registry whose door forgets something. The classes below each forget one thing."""

    def call(self, call: ToolCall, *, run_id: str = "", approved: Any = False, trace: Any = None) -> ToolResult:
        return super().call(self.seen(call), **self.told(run_id, approved), trace=trace)

    def seen(self, call: ToolCall) -> ToolCall:
        return call

    def told(self, run_id: str, approved: bool | Approval) -> dict[str, Any]:
        return {"run_id": run_id, "approved": approved}


class NoRun(Without):
    def told(self, run_id: str, approved: bool | Approval) -> dict[str, Any]:
        return {"run_id": "", "approved": approved}


class AnyYes(Without):
    def told(self, run_id: str, approved: bool | Approval) -> dict[str, Any]:
        return {"run_id": run_id, "approved": bool(approved)}


class Repairs(Without):
    def seen(self, call: ToolCall) -> ToolCall:
        return replace(call, truncated=False)


class Guesses(Without):
    def seen(self, call: ToolCall) -> ToolCall:
        return replace(call, arguments={}) if isinstance(call.arguments, str) else call


class Anyway(Without):
    """It runs what could not be written down."""

    def call(self, call: ToolCall, *, run_id: str = "", approved: Any = False, trace: Any = None) -> ToolResult:
        result = super().call(call, run_id=run_id, approved=approved)
        if result.error is not None and result.error.code == "not_reserved":
            item = self.get(call.name)
            return ToolResult(call.id, call.name, item.function(**item.validate(call.arguments)))  # type: ignore[arg-type]
        return result


class Unmasked(Registry):
    def _result(self, passage: Any, value: Any, late: bool = False) -> ToolResult:
        return ToolResult(passage.call.id, passage.tool.name, value)


class Outspoken(Registry):
    def _failed(self, passage: Any, error: BaseException, late: bool = False) -> ToolResult:
        return ToolResult(passage.call.id, passage.tool.name, {"failed": str(error)})


class Raises(Registry):
    def call(self, call: ToolCall, **options: Any) -> ToolResult:
        raise KeyError(call.name)


def undescribed(item: Tool) -> dict[str, Any]:
    parts = {
        name: {k: v for k, v in part.items() if k != "description"}
        for name, part in item.parameters["properties"].items()
    }
    return {**item.parameters, "properties": parts}


def no_example(item: Tool) -> dict[str, Any]:
    parts = {**item.parameters["properties"], "item": {"type": "integer", "description": "Says too little."}}
    return {**item.parameters, "properties": parts}


def accepts_all(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {"item": str(arguments.get("item", "lamp"))}


MISSING: dict[str, list[Callable[[Path], Any]]] = {
    "descriptions": [
        lambda folder: made(folder, *changed(stock, description="Stock.")),
        lambda folder: made(folder, *changed(stock, description=rename.description)),
        lambda folder: made(folder, *changed(stock, parameters=undescribed(stock))),
    ],
    "examples": [lambda folder: made(folder, *changed(stock, parameters=no_example(stock)))],
    "closed schema": [lambda folder: made(folder, *changed(stock, validate=accepts_all))],
    "not JSON": [lambda folder: made(folder, kind=Guesses)],
    "truncated": [lambda folder: made(folder, kind=Repairs)],
    "bounded retry": [lambda folder: made(folder, kind=NoRun)],
    "deadline": [
        lambda folder: made(folder, *changed(stock, timeout=None)),
        lambda folder: made(folder, *changed(rename, timeout=None, blocking=False)),
    ],
    "kinds": [lambda folder: made(folder, *changed(rename, permission="read"))],
    "approval": [lambda folder: made(folder, *changed(scrap, approval=False))],
    "bound approval": [
        lambda folder: made(folder, kind=AnyYes),
        lambda folder: made(folder, approval_seconds=1_000_000.0),
    ],
    "once": [lambda folder: made(folder, kind=NoRun)],
    "ledger": [lambda folder: made(folder, ledger=None)],
    "business rule": [lambda folder: made(folder, *changed(scrap, rule=None))],
    "audit log": [lambda folder: made(folder, audit=None)],
    "audit first": [lambda folder: made(folder, kind=Anyway)],
    "secrets": [lambda folder: made(folder, kind=Unmasked), lambda folder: made(folder, kind=Outspoken)],
    "size": [lambda folder: made(folder, result_limit=10_000_000)],
    "catalogue": [
        lambda folder: made(folder, trust=False),
        lambda folder: trusted_before(folder),
    ],
}  # fmt: skip


def trusted_before(folder: Path) -> Registry:
    """Trusted when `stock` had another description."""
    registry = made(folder, trust=False)
    registry.trust({**{item.name: item.fingerprint for item in GOOD}, "stock": "0" * 16})
    return registry


def test_a_good_registry_has_every_line_and_nothing_of_it_runs(tmp_path: Path) -> None:
    ran.clear()
    registry = made(tmp_path)
    report = shipping_checklist(registry)
    assert report.passed, report
    assert len(report.points) == len(LINES) == len(MISSING) == 18
    assert ran == [] and registry.records.ledger.in_doubt() == []  # type: ignore[attr-defined]
    assert registry.call(ToolCall("stock", {"item": "lamp"})).data == 3 and ran == ["stock", "audit"]


@pytest.mark.parametrize(
    ("line", "number"), [(line, n) for line, all_of in MISSING.items() for n in range(len(all_of))]
)
def test_each_line_says_what_is_missing(line: str, number: int, tmp_path: Path) -> None:
    ran.clear()
    report = shipping_checklist(MISSING[line][number](tmp_path))
    assert line in report.failed and ran == []
    point = next(point for point in report.points if point.name == line)
    assert point.message != next(promise.text for promise in LINES if promise.name == line)
    assert len(point.message) > 30 and "cannot use your answer" not in point.message
    others = set(report.failed) - {line}
    allowed = {"once", "bounded retry", "closed schema", "bound approval", "approval", "examples", "kinds", "size"}
    assert others <= allowed, report


def test_the_report_is_stable_and_names_the_tool(tmp_path: Path) -> None:
    report = shipping_checklist(made(tmp_path, *changed(scrap, rule=None, approval=False)))
    text = repr(report)
    assert "16 of 18 lines hold" in text and "missing · business rule: scrap is dangerous" in text
    assert repr(shipping_checklist(made(tmp_path, *changed(scrap, rule=None, approval=False)))) == text


@pytest.mark.parametrize("thing", [3, None, {}, "registry", Registry(), object()])
def test_what_is_no_registry_is_told_in_every_line(thing: Any) -> None:
    report = shipping_checklist(thing)
    assert len(report.failed) == len(LINES)
    assert all("the checklist needs" in point.message or "no tools" in point.message for point in report.points)


def test_a_door_that_raises_is_told(tmp_path: Path) -> None:
    report = shipping_checklist(made(tmp_path, kind=Raises))
    assert "raised KeyError; the door must answer" in repr(report)


def test_the_help_desk_as_it_comes_is_not_ready_to_ship(tmp_path: Path) -> None:
    report = shipping_checklist(Registry(orders.make_tools()))
    assert report.failed == ("deadline", "ledger", "business rule", "audit log", "catalogue")
    assert all(sample(item) is not None for item in orders.make_tools())


def test_a_real_audit_log_and_ledger_pass_and_stay_as_they_were(tmp_path: Path) -> None:
    log = AuditLog(tmp_path / "audit.jsonl")
    registry = made(tmp_path, audit=log)
    assert shipping_checklist(registry).passed and log.records() == []
