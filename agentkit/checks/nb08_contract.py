"""The contract of a door: which stage answers, and what has not happened by then. For a door by hand, and for the package's."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from agentkit.checks.contract_report import ContractReport, Promise, try_promises
from agentkit.checks.contract_surface import Answer, method_of, read_answer
from agentkit.checks.exercise import CheckFailed, expect
from agentkit.checks.faces import shown
from agentkit.errors import ToolError
from agentkit.messages import ToolCall
from agentkit.tools import Tool, tool

MakeDoor = Callable[[list[Tool]], Any]


def door_contract(make_door: MakeDoor) -> ContractReport:
    """Try a door: ``door_contract(Registry)``, ``door_contract(MyDoor)``.

    Args:
        make_door: takes a list of tools made with ``@tool``. The door has ``call(call, run_id=…, approved=…)``, which returns a
            result (a `ToolResult`, or a dict with ``ok``, ``data`` and ``error``), and ``approve(call, run_id=…)``, whose value
            is what ``approved`` takes.
    """
    return try_promises("door", _PROMISES, make_door)


@dataclass(slots=True)
class _Till:
    """A till that counts what really happened: a write with a rule, a dangerous tool, one that is too slow, one that fails."""

    done: list[str] = field(default_factory=list)

    def tools(self) -> list[Tool]:
        def at_most(amount: int) -> None:
            if amount > 100:
                raise ToolError("More than 100 cannot be paid.", code="too_much")

        def pay(amount: int) -> str:
            """Pay an amount."""
            self.done.append(f"pay {amount}")
            return f"payment {len(self.done)}"

        def refund(amount: int) -> str:
            """Pay an amount back for good."""
            self.done.append(f"refund {amount}")
            return f"refund {len(self.done)}"

        def slow(amount: int) -> str:
            """Pay an amount through a slow bank."""
            self.done.append(f"slow {amount}")
            threading.Event().wait(0.5)
            return "paid at last"

        def broken(amount: int) -> str:
            """Pay an amount through a bank that fails."""
            raise RuntimeError("no connection")

        write = tool(permission="write", rule=at_most)
        late = tool(permission="write", timeout=0.02)
        return [write(pay), tool(permission="dangerous")(refund), late(slow), tool(permission="write")(broken)]


def _opened(make: MakeDoor, till: _Till) -> Any:
    door = make(till.tools())
    if method_of(door, "call") is None:
        raise CheckFailed("the door has no method `call`")
    return door


def _send(door: Any, call: ToolCall, run_id: str = "monday", approved: Any = None) -> Answer:
    more = {} if approved is None else {"approved": approved}
    try:
        value = door.call(call, run_id=run_id, **more)
    except Exception as error:
        raise CheckFailed(f"the call {_named(call)} raised {type(error).__name__}; it must be a result") from None
    answer = read_answer(value)
    if answer is None:
        raise CheckFailed(f"the call {_named(call)} must return a result with `ok`, but it returned {shown(value)}")
    return answer


def _named(call: ToolCall) -> str:
    return f"{call.name} {shown(call.arguments, 40)}"


def _said(answer: Answer) -> str:
    return "ok" if answer.ok else answer.code


_REFUSED: tuple[tuple[ToolCall, str, str], ...] = (
    (ToolCall("lend", "{broken", "c1"), "unknown_tool", "there is no such tool, and the JSON is broken too"),
    (ToolCall("pay", '{"amount": 5', "c1", True), "truncated", "it was cut off"),
    (ToolCall("pay", "{'amount': 5}", "c1"), "bad_json", "it has single quotes"),
    (ToolCall("pay", '{"sum": 5}', "c1"), "bad_arguments", "the argument has a wrong name"),
    (ToolCall("refund", '{"sum": 5}', "c1"), "bad_arguments", "the schema comes before the approval"),
    (ToolCall("refund", '{"amount": 5}', "c1"), "needs_approval", "nobody has approved it"),
    (ToolCall("pay", '{"amount": 500}', "c1"), "too_much", "the business rule refuses it"),
)


def _codes(make: MakeDoor) -> None:
    for call, code, why in _REFUSED:
        said = _said(_send(_opened(make, _Till()), call))
        expect(said == code, f"the call {_named(call)} must give {code!r} ({why}), not {said!r}")


def _nothing(make: MakeDoor) -> None:
    for call, _, why in _REFUSED:
        till = _Till()
        _send(_opened(make, till), call)
        expect(not till.done, f"the tool ran for the call {_named(call)}, although {why}")


def _good(make: MakeDoor) -> None:
    till = _Till()
    answer = _send(_opened(make, till), ToolCall("pay", '{"amount": 5}', "c1"))
    expect(answer.ok and till.done == ["pay 5"], f"a good call must run once and be ok; it gave {_said(answer)!r}")
    expect(answer.data == "payment 1", f"the data must be what the tool returned, not {shown(answer.data)}")


def _approved(make: MakeDoor) -> None:
    till = _Till()
    door, call = _opened(make, till), ToolCall("refund", {"amount": 5}, "c1")
    if method_of(door, "approve") is None:
        raise CheckFailed("the door has no method `approve`")
    yes = door.approve(call, run_id="monday")
    for other, run_id, what in (
        (ToolCall("refund", {"amount": 6}, "c1"), "monday", "other arguments"),
        (call, "tuesday", "another run"),
    ):
        said = _said(_send(door, other, run_id, yes))
        expect(said == "needs_approval" and not till.done, f"an approval was good for {what}; it gave {said!r}")
    expect(_send(door, call, "monday", yes).ok, "the very call that was approved did not run")


def _retry(make: MakeDoor) -> None:
    till = _Till()
    door, call = _opened(make, till), ToolCall("pay", {"amount": 5}, "c1")
    first, again = _send(door, call), _send(door, call)
    expect(len(till.done) == 1, "the same call, sent twice, paid twice")
    expect(first.ok and again.data == first.data, "the retry must get the answer of the first try")


def _wish(make: MakeDoor) -> None:
    till = _Till()
    door = _opened(make, till)
    _send(door, ToolCall("pay", {"amount": 5}, "c1"))
    _send(door, ToolCall("pay", {"amount": 5}, "c2"))
    expect(len(till.done) == 2, "a second call with a new id, after the first was answered, is a new wish and must run")


def _unknown(make: MakeDoor) -> None:
    till = _Till()
    door = _opened(make, till)
    said = _said(_send(door, ToolCall("slow", {"amount": 5}, "c1")))
    expect(said == "timeout", f"a tool that is too slow must give 'timeout', not {said!r}")
    again = _said(_send(door, ToolCall("slow", {"amount": 5}, "c2")))
    expect(len(till.done) == 1, "after a time-out nobody knows whether it was paid, and the retry paid again")
    expect(again == "unknown_outcome", f"the retry after a time-out must give 'unknown_outcome', not {again!r}")


def _failure(make: MakeDoor) -> None:
    answer = _send(_opened(make, _Till()), ToolCall("broken", {"amount": 5}, "c1"))
    expect(_said(answer) == "tool_failed", f"an exception in a tool must give 'tool_failed', not {_said(answer)!r}")
    expect("Traceback" not in answer.message, "the error holds a stack trace; give the model one sentence instead")


_PROMISES: tuple[Promise[MakeDoor], ...] = (
    Promise("good call", "it runs once, and its data come back", _good),
    Promise("codes", "the first stage that refuses gives the code", _codes),
    Promise("nothing ran", "a call that was refused has done nothing", _nothing),
    Promise("approval", "a yes is for exactly these arguments in this run", _approved),
    Promise("retry", "the same call, sent twice, runs once", _retry),
    Promise("second wish", "an equal call with a new id runs, once the first was answered", _wish),
    Promise("unknown outcome", "after a time-out the write is not repeated", _unknown),
    Promise("failure", "an exception in a tool is a result", _failure),
)
