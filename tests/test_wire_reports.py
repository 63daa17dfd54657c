"""What has gone wrong between other people's agents and the services: one test for each report that touches the wire.

The name of a test begins with the number of the report; its trigger is the one that was reported.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from strategies import act, agent, answer

from agentkit import (
    Message,
    Registry,
    ToolCall,
    ToolResult,
    anthropic_problems,
    from_openai,
    openai_problems,
    to_anthropic,
    to_openai,
    tool,
)
from agentkit._wire import from_anthropic, responses_problems, to_responses, tool_form, wire_name

GO = Message("user", "go")


def asked(*calls: ToolCall, text: str = "", provider: Any = None) -> Message:
    return Message("assistant", text, calls, provider=provider)


def told(call_id: str = "c") -> Message:
    return Message("tool", result=ToolResult(call_id, "look", 1))


CALL = ToolCall("look", {"key": "k"}, "c")


def test_po_01_content_beside_calls_is_null_and_never_missing_or_empty() -> None:
    message = to_openai([GO, asked(CALL), told()])[1]
    assert "content" in message and message["content"] is None and message["tool_calls"]
    foreign = {"role": "assistant", "content": "", "tool_calls": message["tool_calls"]}
    assert to_openai(from_openai([foreign])) == [message]
    del foreign["content"]
    assert to_openai(from_openai([foreign])) == [message]


def test_po_02_an_empty_text_without_calls_is_not_null() -> None:
    assert to_openai([GO, Message("assistant", "")])[1] == {"role": "assistant", "content": ""}
    assert to_openai(from_openai([{"role": "assistant", "content": None}])) == [{"role": "assistant", "content": ""}]
    assert openai_problems([{"role": "user", "content": "go"}, {"role": "assistant", "content": None}])


def test_po_03_free_keys_keep_their_schema_and_strict_is_off_for_this_tool_only() -> None:
    def f(m: dict[str, int]) -> int:
        """Add."""
        return sum(m.values())

    def g(n: int) -> int:
        """Same."""
        return n

    free, closed = tool(f), tool(g)
    for made in (free, free.spec):
        sent = tool_form(made, "chat")["function"]
        assert sent["strict"] is False and sent["parameters"]["properties"]["m"]["additionalProperties"] == {
            "type": "integer"
        }
        assert tool_form(made, "responses")["strict"] is False and "strict" not in tool_form(made, "anthropic")
    assert tool_form(closed.spec, "chat")["function"]["strict"] is True
    assert Registry([free]).call(ToolCall("f", {"m": {"a": 1, "b": 2}}, "c")).data == 3


def test_pa_01_every_tool_use_needs_its_result() -> None:
    use: list[Any] = [{"type": "tool_use", "id": i, "name": "look", "input": {}} for i in ("t1", "t2")]
    half = [{"type": "tool_result", "tool_use_id": "t1", "content": "1"}, {"type": "text", "text": "x"}]
    wire = [{"role": "user", "content": "go"}, {"role": "assistant", "content": use}, {"role": "user", "content": half}]
    assert any("'t2'" in problem for problem in anthropic_problems(wire))
    run = agent(act(ToolCall("wipe", {"what": "a"}), ToolCall("look", {"key": "k"})), answer()).run("go")
    stopped = agent(act(ToolCall("look", {"key": "k"}), ToolCall("nope", {})), answer()).run("go")
    assert run.status == "paused" and anthropic_problems(to_anthropic(stopped.messages)[1]) == []


@pytest.mark.parametrize("text", ["", " \n"])
def test_pa_03_empty_texts_are_dropped_on_the_way_out(text: str) -> None:
    blocks = [{"type": "text", "text": text}, {"type": "tool_use", "id": "c", "name": "look", "input": {}}]
    for message in (asked(CALL, text=text), asked(CALL, provider={"anthropic": blocks})):
        sent = to_anthropic([GO, message, told()])[1]
        assert [block["type"] for block in sent[1]["content"]] == ["tool_use"] and anthropic_problems(sent) == []


def test_pa_07_a_system_message_in_the_middle_is_lifted_out_and_turns_alternate() -> None:
    system, sent = to_anthropic([GO, Message("system", "Be short."), Message("assistant", "a"), Message("user", "b")])
    assert system == "Be short." and [turn["role"] for turn in sent] == ["user", "assistant", "user"]


def test_pa_08_a_last_assistant_message_has_no_white_space_at_its_end() -> None:
    sent = to_anthropic([GO, Message("assistant", "ok ")])[1]
    assert sent[-1]["content"] == [{"type": "text", "text": "ok"}] and anthropic_problems(sent) == []


def test_pa_09_neighbours_are_merged_after_an_empty_message_went() -> None:
    sent = to_anthropic([GO, Message("assistant", ""), Message("user", "b")])[1]
    assert [turn["role"] for turn in sent] == ["user"] and len(sent[0]["content"]) == 2


def test_st_08_a_piece_of_a_stream_in_a_history_is_told() -> None:
    piece = {"type": "input_json_delta", "partial_json": '{"a'}
    wire = [{"role": "user", "content": "go"}, {"role": "assistant", "content": [piece]}]
    assert any("'input_json_delta'" in problem for problem in anthropic_problems(wire))


@pytest.mark.parametrize("name", ["calendar.search", "Dockerfile problems scanner", "tool/名前", "a" * 65])
def test_rg_04_a_name_that_a_service_refuses_is_mapped_in_the_tools_and_in_the_history(name: str) -> None:
    history = [GO, asked(ToolCall(name, {}, "c")), told()]
    assert openai_problems(to_openai(history)) == [] == anthropic_problems(to_anthropic(history)[1])
    items = to_responses(history)[1]
    assert responses_problems(items) == [] and items[1]["name"] == wire_name(name)


@pytest.mark.parametrize("arguments", ["", None, "null"])
def test_ar_01_no_arguments_in_any_form_are_an_empty_object(arguments: Any) -> None:
    foreign = {"id": "c", "type": "function", "function": {"name": "look", "arguments": arguments}}
    history = from_openai([{"role": "assistant", "tool_calls": [foreign]}])
    assert to_anthropic(history)[1][0]["content"][0]["input"] == {}
    sent = to_openai(history)[0]["tool_calls"][0]["function"]["arguments"]
    assert sent == (arguments or "")


def test_ar_05_a_call_that_was_cut_off_goes_back_as_it_was_written() -> None:
    cut = ToolCall("look", '{"path":"x.py","content":"abc', "c", truncated=True)
    history = [GO, asked(cut), told()]
    assert to_openai(history)[1]["tool_calls"][0]["function"]["arguments"] == cut.arguments
    sent = to_anthropic(history)[1]
    assert sent[1]["content"][0]["input"] == {"not_json": cut.arguments} and anthropic_problems(sent) == []
    assert from_anthropic("", sent)[1].calls[0].arguments == cut.arguments
    assert json.dumps(to_responses(history)[1][1]["arguments"]) == json.dumps(cut.arguments)
