"""The acceptance of the JSON contract: three failures in one run, and a write whose process is killed in the middle."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from agentkit import (
    Agent,
    CallTools,
    FinalAnswer,
    OfflineModel,
    Registry,
    Run,
    ScriptedModel,
    ToolCall,
    anthropic_problems,
    openai_problems,
    to_anthropic,
    to_openai,
    tool,
)
from agentkit._door import Station
from agentkit.safety import AuditLog, SqliteLedger
from agentkit.worlds import orders

RIGHT = {"order_id": "A101", "priority": "express"}


def busy_desk(folder: Path) -> tuple[orders.Desk, Registry, AuditLog]:
    """A desk whose courier does not answer, where refunds are not permitted, and where everything is written down."""
    never = threading.Event()

    def before(name: str) -> None:
        if name == "track_shipment":
            never.wait(0.3)

    desk = orders.open_desk(before=before)
    log = AuditLog(folder / "audit.jsonl")
    tools = [tool(timeout=0.03)(desk.track_shipment), desk.set_shipment_priority, desk.refund_order]
    ledger = SqliteLedger(folder / "ledger.sqlite")
    return desk, Registry(tools, permissions=["read", "write"], ledger=ledger, audit=log), log


SCRIPT = (
    CallTools(
        "Three at once.",
        (
            ToolCall("track_shipment", {"order_id": "A101"}),
            ToolCall("set_shipment_priority", {"order_id": "A101", "priority": "fast"}),
            ToolCall("refund_order", {"order_id": "A100", "amount": 250_000}),
        ),
    ),
    CallTools("I correct one.", (ToolCall("set_shipment_priority", RIGHT),)),
    FinalAnswer("", "A101 is express now."),
)


def codes(run: Run) -> list[list[str]]:
    return [[result.error.code if result.error else "ok" for result in step.results] for step in run.steps]


def test_a_time_out_a_schema_failure_and_a_denial_in_one_run(tmp_path: Path) -> None:
    desk, registry, log = busy_desk(tmp_path)
    run = Agent(ScriptedModel(SCRIPT), registry, ids=lambda: "r").run("Make A101 faster, and refund A100.")
    assert run.status == "done" and run.answer == "A101 is express now."
    assert codes(run) == [["timeout", "bad_arguments", "not_permitted"], ["ok"], []]
    hints = [result.error.hint for result in run.steps[0].results if result.error]
    assert all(hints) and hints[1] == "Correct the arguments and call again."
    rows = desk.query_database("SELECT priority FROM shipments WHERE order_id = 'A101'", "production")
    assert rows["rows"] == [["express"]] and desk.lookup_order("A100")["refunded_amount"] == 0
    assert openai_problems(to_openai(run.messages)) == [] == anthropic_problems(to_anthropic(run.messages)[1])
    assert Run.from_json(run.to_json()) == run
    events = [(found["event"]["event"], found["event"].get("code", "")) for found in log.records()]
    assert ("refused", "bad_arguments") in events and ("refused", "not_permitted") in events
    assert events.index(("reserved", "")) < len(events) - 1 and log.verify() == []


def test_the_same_three_failures_through_the_async_door(tmp_path: Path) -> None:
    import asyncio

    _, registry, _ = busy_desk(tmp_path)
    run = asyncio.run(Agent(ScriptedModel(SCRIPT), registry, ids=lambda: "r").arun("Make A101 faster."))
    assert codes(run) == [["timeout", "bad_arguments", "not_permitted"], ["ok"], []]


def test_the_offline_model_ends_well_when_the_courier_is_slow_and_writing_is_not_permitted(tmp_path: Path) -> None:
    desk, _, _ = busy_desk(tmp_path)
    tools = [tool(timeout=0.03)(item) if item.name == "track_shipment" else item for item in desk.tools]
    agent = Agent(OfflineModel(rules=orders.rules), Registry(tools, permissions=["read"]), system=orders.system)
    run = agent.run("Where is my order A101? Please set its shipping priority to express.")
    found = {code for step in codes(run) for code in step}
    assert run.status in ("done", "paused") and {"timeout", "not_permitted"} & found
    assert openai_problems(to_openai(run.messages)) == []


# --- killed between "reserved" and "stored" --------------------------------------------------------------------------

PROCESS = """
import os, sys
from pathlib import Path
from agentkit import Registry, ToolCall, tool
from agentkit.safety import SqliteLedger

folder, die = Path(sys.argv[1]), sys.argv[2] == "die"

@tool(permission="write")
def pay(amount: int) -> str:
    "Pay an amount."
    with (folder / "paid.txt").open("a", encoding="utf-8") as book:
        book.write(f"{amount}\\n")
    if die:
        os._exit(9)  # no clean-up of any kind, as when the process is killed
    return "paid"

ledger = SqliteLedger(folder / "ledger.sqlite")
result = Registry([pay], ledger=ledger).call(ToolCall("pay", {"amount": 900}, sys.argv[3]), run_id="monday")
print(result.error.code if result.error else result.data)
"""


def process(folder: Path, how: str, call_id: str) -> tuple[int, str]:
    command = [sys.executable, "-c", PROCESS, str(folder), how, call_id]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=60, cwd=Path(__file__).parents[1])
    return done.returncode, done.stdout.strip()


@pytest.mark.parametrize("call_id", ["call_1", "call_2"])
def test_OP05_a_killed_write_is_never_silently_repeated(tmp_path: Path, call_id: str) -> None:
    assert process(tmp_path, "die", "call_1")[0] == 9
    paid = tmp_path / "paid.txt"
    assert paid.read_text(encoding="utf-8") == "900\n"
    assert process(tmp_path, "live", call_id) == (0, "unknown_outcome")
    assert paid.read_text(encoding="utf-8") == "900\n"
    ledger = SqliteLedger(tmp_path / "ledger.sqlite")
    doubt = ledger.in_doubt()
    ledger.close()
    assert [(row["tool"], json.loads(row["arguments"])) for row in doubt] == [("pay", {"amount": 900})]


def test_a_write_that_was_finished_answers_the_next_process(tmp_path: Path) -> None:
    assert process(tmp_path, "live", "call_1") == (0, "paid") == process(tmp_path, "live", "call_1")
    assert (tmp_path / "paid.txt").read_text(encoding="utf-8") == "900\n"
    assert process(tmp_path, "live", "call_2") == (0, "paid")
    assert (tmp_path / "paid.txt").read_text(encoding="utf-8") == "900\n900\n"


# --- arguments that were cut off or are no JSON ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "truncated", "code"),
    [
        ('{"order_id": "A100", "amount": 25', True, "truncated"),  # AR-05
        ('{"order_id": "A100", "amount": 25}', True, "truncated"),  # AR-05: it looks whole by chance
        ('{"order_id": "A100", amount": 25}', False, "bad_json"),  # AR-07
    ],
    ids=["AR05-cut", "AR05-cut-and-whole", "AR07-not-cut"],
)
def test_what_was_cut_off_never_runs_and_what_is_no_json_is_not_called_cut(
    text: str, truncated: bool, code: str
) -> None:
    desk = orders.open_desk()
    trace: list[Station] = []
    result = Registry(desk.tools).call(ToolCall("refund_order", text, "c", truncated), approved=True, trace=trace)
    assert result.error is not None and result.error.code == code == trace[-1].code
    assert trace[-1].stage == "parse" and desk.lookup_order("A100")["refunded_amount"] == 0
