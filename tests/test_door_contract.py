"""The contract of a door: the package's door keeps it, and each promise is seen to fail on a door that breaks it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from agentkit import Registry, ToolCall, ToolResult
from agentkit.checks.nb08_contract import door_contract


class Door(Registry):
    """The package's door with a way to go wrong. The classes below each go one of them."""

    def call(self, call: ToolCall, *, run_id: str = "", approved: Any = False, trace: Any = None) -> ToolResult:
        return super().call(self.seen(call), run_id=self.run(run_id), approved=self.yes(approved))

    def seen(self, call: ToolCall) -> ToolCall:
        return call

    def run(self, run_id: str) -> str:
        return run_id

    def yes(self, approved: Any) -> Any:
        return approved


class Repairs(Door):
    def seen(self, call: ToolCall) -> ToolCall:
        cut = isinstance(call.arguments, str) and call.truncated
        return replace(call, arguments=f"{call.arguments}}}", truncated=False) if cut else call


class Forgets(Door):
    def run(self, run_id: str) -> str:
        return ""


class AnyYes(Door):
    def yes(self, approved: Any) -> Any:
        return bool(approved)


class Trusting(Door):
    def yes(self, approved: Any) -> Any:
        return True


class SameId(Door):
    def seen(self, call: ToolCall) -> ToolCall:
        return replace(call, id="c1")


class NewWord(Door):
    """Its errors have other codes than the contract says."""

    def call(self, call: ToolCall, **options: Any) -> ToolResult:
        result = super().call(call, **options)
        return result if result.error is None else replace(result, error=replace(result.error, code="error"))


class Raises(Door):
    def _failed(self, passage: Any, error: BaseException, late: bool = False) -> ToolResult:
        raise error


class Silent(Door):
    def call(self, call: ToolCall, **options: Any) -> Any:
        super().call(call, **options)


def test_the_door_of_the_package_keeps_every_promise() -> None:
    assert door_contract(Registry).passed and door_contract(Door).passed


@pytest.mark.parametrize(
    ("door", "failed", "says"),
    [
        (Repairs, {"codes", "nothing ran"}, "it was cut off"),
        (Forgets, {"approval", "retry", "unknown outcome"}, "paid twice"),
        (AnyYes, {"approval"}, "other arguments"),
        (Trusting, {"codes", "nothing ran", "approval"}, "nobody has approved it"),
        (SameId, {"second wish"}, "a new wish and must run"),
        (NewWord, {"codes", "approval", "unknown outcome", "failure"}, "unknown_tool"),
        (Raises, {"failure", "unknown outcome"}, "must be a result"),
        (Silent, {"good call", "codes", "nothing ran", "approval", "retry", "second wish", "unknown outcome", "failure"},
         "must return a result"),
        (lambda tools: object(), None, "no method `call`"),
    ],
)  # fmt: skip
def test_a_door_that_breaks_a_promise_is_told_which(door: Any, failed: set[str] | None, says: str) -> None:
    report = door_contract(door)
    everything = {point.name for point in report.points}
    wrong = set(report.failed)
    assert wrong == (everything if failed is None else failed), report
    assert says in repr(report)
