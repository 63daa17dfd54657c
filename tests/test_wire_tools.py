"""A tool in the form of each provider, from the tool itself or from its specification; and what the front of the forms loads."""

from __future__ import annotations

from typing import Any

import pytest
from strategies import TOOLS, python

from agentkit import Tool, ToolSpec
from agentkit import _wire as wire
from agentkit._wire import tool_form


class TestToolForm:
    @pytest.mark.parametrize("form", ["chat", "responses", "anthropic"])
    @pytest.mark.parametrize("made", TOOLS, ids=lambda made: made.name)
    def test_a_tool_and_its_specification_have_the_same_form(self, made: Tool, form: Any) -> None:
        assert tool_form(made.spec, form) == tool_form(made, form)

    def test_strict_only_where_there_is_a_strict_form(self) -> None:
        free = ToolSpec("free", "Free.", {"type": "object", "properties": {"m": {"type": "object"}}})
        bounded = {"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}, "required": ["n"]}
        assert (
            tool_form(free, "chat")["function"]["strict"] is False and tool_form(free, "responses")["strict"] is False
        )
        assert "strict" not in tool_form(free, "anthropic")
        assert tool_form(ToolSpec("b", "B.", bounded), "chat")["function"]["strict"] is True
        assert tool_form(ToolSpec("b", "B.", bounded), "anthropic") == {
            "name": "b",
            "description": "B.",
            "input_schema": bounded,
        }

    def test_a_specification_does_not_know_what_a_tool_may_do(self) -> None:
        assert "annotations" in tool_form(TOOLS[0], "mcp") and "annotations" not in tool_form(TOOLS[0].spec, "mcp")


def test_the_forms_are_loaded_when_they_are_asked_for() -> None:
    code = "import sys, agentkit._wire as w; a = sorted(m for m in sys.modules if '_wire_' in m); w.to_openai([]); print(a, len(w.__all__))"
    assert python(code).split()[0] == "[]"
    for name in wire.__all__:
        assert getattr(wire, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'to_nobody'"):
        _ = wire.to_nobody
