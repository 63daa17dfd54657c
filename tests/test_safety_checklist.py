"""The safety checklist: a good agent has every line, and for each line there is one that misses it and no other line."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from test_contract_checklist import AnyYes

from agentkit import Agent, Limits, Registry, ScriptedModel, Tool, ToolCall, tool
from agentkit.checks.safety_checklist import AGENT_LINES, LINES, safety_checklist
from agentkit.messages import Approval, FinalAnswer
from agentkit.safety import (
    Allow,
    Ask,
    AuditLog,
    FencedRegistry,
    Grant,
    PathJail,
    Policy,
    ReadOnlyDatabase,
    calculate,
)
from agentkit.safety.untrusted import RULE

ran: list[str] = []


class House:
    """Tools that do what they should, on a folder of their own."""

    def __init__(self, folder: Path) -> None:
        (folder / "house").mkdir()
        (folder / "house" / "a.md").write_text("hello", encoding="utf-8")
        place = folder / "house.sqlite"
        with sqlite3.connect(place) as made:
            made.executescript("CREATE TABLE lamps (name); INSERT INTO lamps VALUES ('desk')")
        made.close()
        jail, database = PathJail(folder / "house"), ReadOnlyDatabase(place)

        @tool
        def read_file(path: str) -> str:
            """Read one file of the house."""
            return jail.read(path)

        @tool
        def ask_database(sql: str) -> dict[str, Any]:
            """Ask the database of the house."""
            return database.query(sql)

        @tool
        def compute(expression: str) -> int | float:
            """Compute an expression."""
            return calculate(expression)

        @tool(permission="write")
        def write_mail(to: str, text: str) -> str:
            """Send a mail."""
            ran.append("write_mail")
            return "sent"

        @tool(permission="dangerous")
        def open_gate(minutes: int) -> str:
            """Open the gate of the house."""
            ran.append("open_gate")
            return "open"

        self.folder = folder
        self.tools: dict[str, Tool] = {
            each.name: each for each in (read_file, ask_database, compute, write_mail, open_gate)
        }


POLICY = (
    Allow("read_file"), Allow("ask_database"), Allow("compute"), Allow("write_mail", to="kim@house.example"),
    Ask("write_mail"), Ask("open_gate"),
)  # fmt: skip


def registry(house: House, *, trust: bool = True, kind: type[Registry] = Registry, **options: Any) -> Registry:
    given: dict[str, Any] = {
        "policy": Policy(options.pop("rules", POLICY)),
        "audit": AuditLog(house.folder / "audit.jsonl"),
        **options,
    }
    made = kind(house.tools.values(), **given)
    if trust:
        made.trust()
    return made


def agent(door: Any, *, system: str = RULE, kind: type[Agent] = Agent) -> Agent:
    return kind(ScriptedModel([FinalAnswer("", "Hello.")]), door, system=system, limits=Limits(max_steps=10))


def good(house: House) -> Agent:
    return agent(FencedRegistry(registry(house)))


def test_a_good_agent_has_every_line_and_so_has_its_registry(tmp_path: Path) -> None:
    house = House(tmp_path)
    ran.clear()
    whole = safety_checklist(good(house))
    assert whole.failed == () and len(whole.points) == len(LINES) + len(AGENT_LINES) == 16
    alone = safety_checklist(FencedRegistry(registry(house)))
    assert alone.failed == () and len(alone.points) == len(LINES)
    assert ran == [], "no tool that writes has run"
    assert not (tmp_path / "audit.jsonl").exists(), "nothing was written into the real audit log"


def with_tool(house: House, name: str, **changes: Any) -> House:
    house.tools[name] = replace(house.tools[name], **changes)
    return house


class NoBinding(AnyYes):
    """It takes any yes, also one for other arguments or another run."""


class OtherRun(Registry):
    """In another run it takes any yes."""

    def call(self, call: ToolCall, *, run_id: str = "", approved: Any = False, trace: Any = None) -> Any:
        yes = run_id == "another run" or approved
        return super().call(call, run_id=run_id, approved=yes, trace=trace)


class LooseArguments(Registry):
    """A yes to a call is good for every call of this id in this run."""

    def call(self, call: ToolCall, *, run_id: str = "", approved: Any = False, trace: Any = None) -> Any:
        yes = isinstance(approved, Approval) and run_id == "checklist"
        return super().call(call, run_id=run_id, approved=yes or approved, trace=trace)


class Impatient(Agent):
    """It says yes by itself when nobody answers."""

    def run(self, goal: Any = None, **options: Any) -> Any:
        run = super().run(goal, **options)
        while run.status == "paused" and run.awaiting:
            run = self.resume(run, approvals=dict.fromkeys(run.awaiting, True))
        return run


class Silent:
    def record(self, event: Any) -> None: ...


def granted(house: House, grant: Grant) -> Agent:
    made = registry(house)
    made.grant(grant)
    return agent(FencedRegistry(made))


def tampered(house: House) -> Agent:
    log = AuditLog(house.folder / "audit.jsonl")
    log.record({"event": "answered"})
    text = log.path.read_text(encoding="utf-8")
    log.path.write_text(text.replace("answered", "refused"), encoding="utf-8")
    return good(house)


def naive_file(house: House) -> Agent:
    root = house.folder / "house"
    return good(with_tool(house, "read_file", function=lambda path: (root / path).read_text(encoding="utf-8")))


def naive_sql(house: House) -> Agent:
    def ask(sql: str) -> Any:
        made = sqlite3.connect(house.folder / "house.sqlite")
        try:
            return [list(row) for row in made.execute(sql).fetchall()]
        finally:
            made.close()

    return good(with_tool(house, "ask_database", function=ask))


def fenced(made: Registry) -> Agent:
    return agent(FencedRegistry(made))


MISSING: dict[str, tuple[Callable[[House], Any], str]] = {
    "levels": (lambda h: good(with_tool(h, "write_mail", permission="read")), "begins with 'send'"),
    "approval": (
        lambda h: fenced(
            registry(
                with_tool(h, "open_gate", approval=False), rules=(*POLICY[:-1], Allow("open_gate", minutes=range(1, 5)))
            )
        ),
        "leave out `approval=False`",
    ),
    "exact arguments": (lambda h: fenced(registry(h, kind=LooseArguments)), "other arguments than those"),
    "one run": (lambda h: fenced(registry(h, kind=OtherRun)), "good for another run"),
    "expiry": (lambda h: fenced(registry(h, approval_seconds=1e6)), "valid for more than a day"),
    "least privilege": (
        lambda h: fenced(registry(h, rules=(*POLICY[:3], Allow("write_mail"), Ask("open_gate")))),
        "the policy allows write_mail by name",
    ),
    "standing grants": (
        lambda h: granted(h, Grant("write_mail", {"to": "*", "text": "*"}, "monday")), "write_mail is allowed for good"
    ),
    "audit log": (lambda h: fenced(registry(h, audit=None)), "AuditLog(path)"),
    "chain": (tampered, "Record 1 was changed"),
    "fence": (lambda h: agent(registry(h)), "without a fence"),
    "catalogue": (lambda h: fenced(registry(h, trust=False)), "registry.trust()"),
    "paths": (naive_file, "let a PathJail resolve `path`"),
    "sql": (naive_sql, "use a ReadOnlyDatabase"),
    "expressions": (
        lambda h: good(with_tool(h, "compute", function=lambda expression: str(eval(expression))[:50])),
        "use agentkit.safety.calculate",
    ),
    "nobody answers": (lambda h: agent(FencedRegistry(registry(h)), kind=Impatient), "nobody answered, and write_mail ran"),
    "told": (lambda h: agent(FencedRegistry(registry(h)), system="You look after a house."), "untrusted.RULE"),
}  # fmt: skip
ALSO = {"audit log": {"chain"}}
"""Without a log there is no chain either."""


def test_every_line_has_an_agent_that_misses_it() -> None:
    assert list(MISSING) == [line.name for line in (*LINES, *AGENT_LINES)]


@pytest.mark.parametrize(("made", "words"), MISSING.values(), ids=MISSING.keys())
def test_each_line_is_missed_alone(
    made: Callable[[House], Any], words: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    name = request.node.callspec.id
    report = safety_checklist(made(House(tmp_path)))
    assert set(report.failed) == {name} | ALSO.get(name, set())
    message = next(point.message for point in report.points if point.name == name)
    assert words in message


def test_SF_14_a_yes_by_tool_name_is_seen(tmp_path: Path) -> None:
    report = safety_checklist(fenced(registry(House(tmp_path), kind=NoBinding)))
    assert {"exact arguments", "one run"} <= set(report.failed)


def test_a_grant_for_good_and_a_wide_pattern_for_a_number_are_seen(tmp_path: Path) -> None:
    report = safety_checklist(granted(House(tmp_path), Grant("write_mail", {"to": "kim@house.example", "text": "*"})))
    assert report.failed == ("standing grants",), "no run and no end"


def test_a_grant_with_patterns_in_one_run_is_all_right(tmp_path: Path) -> None:
    grant = Grant("write_mail", {"to": "kim@house.example", "text": "*"}, "monday")
    assert safety_checklist(granted(House(tmp_path), grant)).failed == ()


def test_a_registry_without_any_policy_is_told_to_have_one(tmp_path: Path) -> None:
    report = safety_checklist(FencedRegistry(registry(House(tmp_path), policy=None)))
    assert report.failed == ("least privilege",)
    assert "give Registry(policy=" in report.first_failure


@pytest.mark.parametrize(
    "nonsense", [None, 3, "agent", [], Registry([])], ids=["none", "number", "text", "list", "empty"]
)
def test_what_is_no_agent_is_told_in_sentences(nonsense: Any) -> None:
    report = safety_checklist(nonsense)
    assert not report.passed and "Traceback" not in str(report)
    assert all(point.message for point in report.points)
