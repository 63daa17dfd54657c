"""The contracts: the package's pieces keep them, hand-made ones too, and for each point some piece fails just there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from _handmade import (
    AddRegistry,
    HandMemory,
    HandRegistry,
    HandTool,
    KeepingMemory,
    dict_loop,
    dict_tool,
    forgetful_when_small,
    hand_loop,
    hand_parser,
    hand_tool,
    history_eater,
)

from agentkit.checks import (
    ContractReport,
    loop_contract,
    memory_contract,
    react_parser_contract,
    registry_contract,
    tool_contract,
)
from agentkit.checks.contracts import Point
from agentkit.loop import Agent
from agentkit.memory import Memory
from agentkit.models.text_react import parse_react
from agentkit.registry import Registry
from agentkit.tools import tool


@pytest.mark.parametrize(
    "report",
    [
        pytest.param(lambda: tool_contract(tool), id="tool"),
        pytest.param(lambda: registry_contract(Registry), id="registry"),
        pytest.param(lambda: memory_contract(Memory), id="memory"),
        pytest.param(lambda: loop_contract(Agent), id="loop"),
        pytest.param(lambda: react_parser_contract(parse_react), id="parser"),
    ],
)
def test_the_packages_own_keep_their_contract(report: Callable[[], ContractReport]) -> None:
    assert report().passed, report()


@pytest.mark.parametrize(
    "report",
    [
        pytest.param(lambda: tool_contract(hand_tool), id="tool"),
        pytest.param(lambda: tool_contract(dict_tool), id="tool as a dict"),
        pytest.param(lambda: registry_contract(HandRegistry), id="registry"),
        pytest.param(lambda: registry_contract(AddRegistry), id="registry with add, JSON results"),
        pytest.param(lambda: memory_contract(HandMemory), id="memory"),
        pytest.param(lambda: memory_contract(KeepingMemory), id="memory with add"),
        pytest.param(lambda: memory_contract(HandMemory, form="openai"), id="memory of dicts"),
        pytest.param(lambda: memory_contract(hand_view), id="view function"),
        pytest.param(lambda: loop_contract(hand_loop), id="loop"),
        pytest.param(lambda: loop_contract(dict_loop), id="loop of dicts"),
        pytest.param(lambda: react_parser_contract(hand_parser), id="parser"),
    ],
)
def test_small_hand_made_ones_keep_it_too(report: Callable[[], ContractReport]) -> None:
    assert report().passed, report()


def hand_view(messages: list[Any], limit: int) -> list[Any]:
    return HandMemory(limit).view(messages)


def _faulty(base: type, fault: str) -> type:
    return type("Faulty", (base,), {"fault": fault})


TOOL_POINTS = [
    "name", "description", "object", "types", "required", "valid call", "default", "wrong type", "missing argument",
]  # fmt: skip
REGISTRY_POINTS = ["look-up", "unknown tool", "missing argument", "wrong type", "tool that raises", "data", "error"]
LOOP_POINTS = [
    "acts", "observes", "one result each", "unknown tool", "failing tool", "stops", "answers", "step limit",
]  # fmt: skip
PARSER_POINTS = [
    "action", "answer", "long answer", "first action", "invented observation", "many lines", "back-ticks",
    "format error", "action None",
]  # fmt: skip
MEMORY_MAKERS: dict[str, Callable[..., Any]] = {
    "unchanged": forgetful_when_small,
    "limit": _faulty(HandMemory, "limit"),
    "system prompt": _faulty(HandMemory, "system prompt"),
    "first goal": _faulty(HandMemory, "first goal"),
    "newest": _faulty(HandMemory, "newest"),
    "together": _faulty(HandMemory, "together"),
    "order": _faulty(HandMemory, "order"),
    "history": history_eater,
}


@pytest.mark.parametrize("point", TOOL_POINTS)
def test_a_broken_tool_fails_its_point(point: str) -> None:
    _fails_only(tool_contract(lambda function: hand_tool(function, point)), point, TOOL_POINTS)


@pytest.mark.parametrize("point", REGISTRY_POINTS)
def test_a_broken_registry_fails_its_point(point: str) -> None:
    _fails_only(registry_contract(_faulty(HandRegistry, point)), point, REGISTRY_POINTS)


@pytest.mark.parametrize("point", MEMORY_MAKERS)
def test_a_broken_memory_fails_its_point(point: str) -> None:
    _fails_only(memory_contract(MEMORY_MAKERS[point]), point, list(MEMORY_MAKERS))


@pytest.mark.parametrize("point", LOOP_POINTS)
def test_a_broken_loop_fails_its_point(point: str) -> None:
    def broken(model: Any, registry: Any, goal: str, max_steps: int) -> Any:
        return hand_loop(model, registry, goal, max_steps, point)

    _fails_only(loop_contract(broken), point, LOOP_POINTS)


@pytest.mark.parametrize("point", PARSER_POINTS)
def test_a_broken_parser_fails_its_point(point: str) -> None:
    _fails_only(react_parser_contract(lambda text: hand_parser(text, point)), point, PARSER_POINTS)


def _fails_only(report: ContractReport, point: str, points: list[str]) -> None:
    assert [found.name for found in report.points] == points
    assert report.failed == (point,), report
    sentence = report.first_failure
    assert sentence.startswith(f"{point}: ")
    assert "Traceback" not in sentence


def test_strict_tools_that_require_every_key_are_accepted() -> None:
    """In the strict form every key is required and null stands for the default."""

    def strict(function: Callable[..., Any]) -> HandTool:
        made = hand_tool(function)
        made.parameters["required"] = list(made.parameters["properties"])
        made.parameters["properties"]["express"] = {"type": ["boolean", "null"]}
        made.parameters["additionalProperties"] = False
        return made

    report = tool_contract(strict)
    assert "required" not in report.failed, report
    assert "types" not in report.failed, report


@pytest.mark.parametrize(
    "report",
    [
        pytest.param(lambda: tool_contract(lambda function: None), id="tool"),
        pytest.param(lambda: tool_contract(None), id="no tool maker"),  # type: ignore[arg-type]
        pytest.param(lambda: registry_contract(lambda tools: None), id="registry"),
        pytest.param(lambda: registry_contract(lambda tools: {}), id="registry without call"),
        pytest.param(lambda: memory_contract(lambda limit: object()), id="memory"),
        pytest.param(lambda: memory_contract(lambda limit: lambda messages: 1 / 0), id="memory that raises"),
        pytest.param(lambda: loop_contract(lambda model, tools, goal: None), id="loop"),
        pytest.param(lambda: react_parser_contract(lambda text: None), id="parser"),
        pytest.param(lambda: react_parser_contract(lambda text: text[1000]), id="parser that raises"),
    ],
)
def test_what_cannot_be_used_at_all_is_a_report_and_not_an_exception(report: Callable[[], ContractReport]) -> None:
    found = report()
    assert not found.passed
    assert all(point.message for point in found.points)
    assert " at 0x" not in repr(found)


def test_an_endless_loop_is_one_point_that_fails() -> None:
    def endless(model: Any, tools: Any, goal: str, max_steps: int) -> None:
        while True:
            pass

    report = loop_contract(endless)
    assert "endless loop" in report.first_failure


def test_both_faces_of_a_report_say_the_same() -> None:
    report = ContractReport("tool", (Point("name", True, "it has a name"), Point("<b>", False, "a <script> & `code`")))
    assert repr(report).splitlines() == [
        "Contract of the tool · 1 of 2 points hold",
        "  holds · name: it has a name",
        "  fails · <b>: a <script> & `code`",
    ]
    html = report._repr_html_()
    assert "<script>" not in html
    assert "&lt;b&gt;: a &lt;script&gt; &amp; <code>code</code>" in html
