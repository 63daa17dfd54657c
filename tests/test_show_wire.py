"""The wire laid open: the request and the response of two services side by side."""

from __future__ import annotations

import copy
import json
import re
from types import SimpleNamespace
from typing import Any

import ipywidgets as widgets
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_show import HOSTILE, assert_same_facts, read

from agentkit import show
from agentkit._concepts import compared, found_in, written
from agentkit._wire_face import focused
from agentkit.widgets import wire_inspector

Json = dict[str, Any]


# --- two services side by side --------------------------------------------------------------------------------------------

SCHEMA = {
    "type": "object",
    "properties": {"order_id": {"type": "string"}},
    "required": ["order_id"],
    "additionalProperties": False,
}
OTHER = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
SYSTEM, GOAL, RESULT = "Be brief.", "A100 환불되나요?", '{"ok": true, "data": "delivered"}'


def chat(response: Json, *more: Json) -> SimpleNamespace:
    functions = [("now", OTHER), ("lookup", SCHEMA)]
    tools = [
        {
            "type": "function",
            "function": {"name": name, "description": f"{name}.", "parameters": schema, "strict": True},
        }
        for name, schema in functions
    ]
    messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": GOAL}, *more]
    return SimpleNamespace(service="chat", request={"messages": messages, "tools": tools}, response=response)


def anthropic(response: Json, *more: Json) -> SimpleNamespace:
    tools = [
        {"name": name, "description": f"{name}.", "input_schema": schema, "strict": True}
        for name, schema in [("now", OTHER), ("lookup", SCHEMA)]
    ]
    messages = [{"role": "user", "content": [{"type": "text", "text": GOAL}]}, *more]
    request = {"max_tokens": 4096, "system": SYSTEM, "messages": messages, "tools": tools}
    return SimpleNamespace(service="anthropic", request=request, response=response)


CHAT_CALL = {
    "role": "assistant",
    "content": "I look.",
    "tool_calls": [
        {"id": "call_1", "type": "function", "function": {"name": "lookup", "arguments": '{"order_id": "A100"}'}}
    ],
}
ANTHROPIC_CALL = [
    {"type": "text", "text": "I look."},
    {"type": "tool_use", "id": "toolu_1", "name": "lookup", "input": {"order_id": "A100"}},
]
CHAT_TURN = (
    chat(
        {
            "choices": [{"index": 0, "message": CHAT_CALL, "finish_reason": "tool_calls"}],
            "usage": {"prompt_tokens": 12, "completion_tokens": 4},
        }
    ),
    chat(
        {
            "choices": [{"index": 0, "message": {"role": "assistant", "content": "Yes."}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 30, "completion_tokens": 2},
        },
        CHAT_CALL,
        {"role": "tool", "tool_call_id": "call_1", "content": RESULT},
    ),
)
ANTHROPIC_TURN = (
    anthropic(
        {
            "role": "assistant",
            "content": ANTHROPIC_CALL,
            "stop_reason": "tool_use",
            "usage": {"input_tokens": 12, "output_tokens": 4},
        }
    ),
    anthropic(
        {
            "role": "assistant",
            "content": [{"type": "text", "text": "Yes."}],
            "stop_reason": "end_turn",
            "usage": {"input_tokens": 30, "output_tokens": 2},
        },
        {"role": "assistant", "content": ANTHROPIC_CALL},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": RESULT}]},
    ),
)
RESPONSES = SimpleNamespace(
    service="responses",
    request={
        "instructions": SYSTEM,
        "input": [{"role": "user", "content": [{"type": "input_text", "text": GOAL}]}],
        "tools": [{"type": "function", "name": "lookup", "parameters": SCHEMA, "strict": True}],
    },
    response={
        "status": "completed",
        "output": [
            {"type": "function_call", "call_id": "call_1", "name": "lookup", "arguments": '{"order_id": "A100"}'}
        ],
        "usage": {"input_tokens": 12, "output_tokens": 4},
    },
)
PLACES = {
    "System text": ("request messages[0].content", "request system"),
    "Goal": ("request messages[1].content", "request messages[0].content[0].text"),
    "Tool name": ("request tools[1].function.name", "request tools[1].name"),
    "Tool description": ("request tools[1].function.description", "request tools[1].description"),
    "Tool schema": ("request tools[1].function.parameters", "request tools[1].input_schema"),
    "Strict schema": ("request tools[1].function.strict", "request tools[1].strict"),
    "Length limit": (None, "request max_tokens"),
    "Thought": ("response choices[0].message.content", "response content[0].text"),
    "Call id": ("response choices[0].message.tool_calls[0].id", "response content[1].id"),
    "Call name": ("response choices[0].message.tool_calls[0].function.name", "response content[1].name"),
    "Arguments": ("response choices[0].message.tool_calls[0].function.arguments", "response content[1].input"),
    "Stop reason of the call": ("response choices[0].finish_reason", "response stop_reason"),
    "Role of the result": ("request messages[3].role", "request messages[2].role"),
    "Id in the result": ("request messages[3].tool_call_id", "request messages[2].content[0].tool_use_id"),
    "Tool result": ("request messages[3].content", "request messages[2].content[0].content"),
    "Answer": ("response choices[0].message.content", "response content[0].text"),
    "Stop reason of the answer": ("response choices[0].finish_reason", "response stop_reason"),
    "Tokens in": ("response usage.prompt_tokens", "response usage.input_tokens"),
    "Tokens out": ("response usage.completion_tokens", "response usage.output_tokens"),
}


def test_every_concept_of_a_turn_is_found_at_its_place() -> None:
    rows = compared(CHAT_TURN, ANTHROPIC_TURN)
    found = {
        row.concept: tuple(side and f"{side.side} {written(side.path)}" for side in (row.left, row.right))
        for row in rows
    }
    assert found == PLACES


def test_the_differences_are_those_of_the_documents() -> None:
    differences = {row.concept: row.differences for row in compared(CHAT_TURN, ANTHROPIC_TURN)}
    assert differences["Arguments"] == ("place", "form"), "a JSON text that means the same as the object"
    assert differences["Call id"] == differences["Stop reason of the call"] == ("place", "value")
    assert differences["System text"] == differences["Tool schema"] == differences["Tool result"] == ("place",)
    assert differences["Length limit"] == ("only here",)
    changed = copy.deepcopy(ANTHROPIC_TURN)
    changed[0].response["content"][1]["input"]["order_id"] = "A101"
    changed[0].request["system"] = "Be long."
    later = {row.concept: row.differences for row in compared(CHAT_TURN, changed)}
    assert later["Arguments"] == ("place", "form", "value") and later["System text"] == ("place", "value")


def test_equal_exchanges_have_no_difference() -> None:
    assert {row.differences for row in compared(CHAT_TURN, CHAT_TURN)} == {()}
    text = show.wire(CHAT_TURN, CHAT_TURN).text
    assert (
        "18 concepts, 18 the same" in text
        and "OpenAI Chat Completions (left)" in text
        and "other" not in text.split("request 1")[0]
    )


def test_one_exchange_in_the_middle_of_a_turn_shows_the_call_that_its_request_holds() -> None:
    found = found_in([ANTHROPIC_TURN[1]])
    assert written(found["Arguments"].path) == "messages[1].content[1].input" and found["Arguments"].side == "request"
    assert written(found["Thought"].path) == "messages[1].content[0].text"
    assert found_in([CHAT_TURN[1]])["Thought"].side == "request" and "Stop reason of the call" not in found


def test_the_goal_is_the_latest_one_of_a_conversation() -> None:
    earlier = [{"role": "assistant", "content": "Hello."}, {"role": "user", "content": "And A101?"}]
    items = {"input": [{"role": "user", "content": GOAL}, *earlier]}
    for exchange in (
        chat({}, *earlier),
        anthropic({}, *earlier),
        SimpleNamespace(service="responses", request=items, response={}),
    ):
        assert found_in([exchange])["Goal"].value == "And A101?"


def test_responses_beside_messages() -> None:
    found = found_in([RESPONSES])
    assert {name: written(place.path) for name, place in found.items()} == {
        "System text": "instructions", "Goal": "input[0].content[0].text", "Tool name": "tools[0].name",
        "Tool schema": "tools[0].parameters", "Strict schema": "tools[0].strict", "Call id": "output[0].call_id",
        "Call name": "output[0].name", "Arguments": "output[0].arguments", "Stop reason of the call": "status",
        "Tokens in": "usage.input_tokens", "Tokens out": "usage.output_tokens",
    }  # fmt: skip
    assert "OpenAI Responses and Anthropic Messages" in show.wire(RESPONSES, ANTHROPIC_TURN[0]).text


def test_a_service_that_is_not_named_is_known_by_its_documents() -> None:
    for exchange in (*CHAT_TURN, *ANTHROPIC_TURN, RESPONSES):
        unnamed = SimpleNamespace(service="", request=exchange.request, response=exchange.response)
        assert found_in([unnamed]) == found_in([exchange])


def test_an_error_of_a_service_is_laid_open_too() -> None:
    one, other = (
        chat({"error": {"type": "invalid_request_error", "message": "No."}}),
        anthropic({"type": "error", "error": {"type": "invalid_request_error", "message": "No."}}),
    )
    rows = {row.concept: row for row in compared([one], [other])}
    assert rows["Error kind"].differences == () == rows["Error message"].differences


@pytest.mark.parametrize(
    "odd",
    [
        None,
        [],
        "text",
        {"messages": 3, "tools": {}},
        {"messages": [None, {"role": "user"}]},
        {"choices": []},
        {"content": "x"},
    ],
)
@pytest.mark.parametrize("service", ["chat", "responses", "anthropic", "other"])
def test_documents_of_any_shape_can_be_shown(service: str, odd: Any) -> None:
    exchange = SimpleNamespace(service=service, request=odd, response=odd)
    face = show.wire(exchange, ANTHROPIC_TURN[0])
    assert_same_facts(face.text, face.html)
    assert wire_inspector(exchange, exchange)._repr_mimebundle_()


def test_both_forms_say_the_same_and_hold_the_whole_json() -> None:
    face = show.wire(CHAT_TURN, ANTHROPIC_TURN)
    assert_same_facts(face.text, face.html)
    assert (
        "Arguments: other place, other form" in face.text
        and "19 concepts, 18 in another place, 1 in another form" in face.text
    )
    assert face.html.count("<details>") == 8 and "A100 환불되나요?" in face.html
    whole = face.text.partition("OpenAI Chat Completions, request 1: ")[2].partition("\n")[0]
    assert json.loads(whole) == CHAT_TURN[0].request


@settings(max_examples=15)
@given(st.text(max_size=40))
def test_nothing_of_a_document_passes_unescaped(text: str) -> None:
    evil = HOSTILE + text
    one, other = copy.deepcopy(CHAT_TURN[0]), copy.deepcopy(ANTHROPIC_TURN[0])
    one.request["messages"][0]["content"] = other.request["system"] = evil
    one.response[evil] = {evil: evil}
    other.response["content"][1]["input"] = {evil: evil}
    face = show.wire(one, other)
    pages = [face.html]
    pages += [part.value for part in inside(wire_inspector(one, other), widgets.HTML)]
    for page in pages:
        assert read(page).forbidden == []
        page.encode("utf-8")


def test_a_large_document_is_shortened_by_whole_lines() -> None:
    large = copy.deepcopy(CHAT_TURN[0])
    large.request["messages"] += [{"role": "user", "content": f"line {number}"} for number in range(5000)]
    face = show.wire(large, ANTHROPIC_TURN[0])
    assert '"content": "line 50"' in face.text
    assert "more lines]" in face.text and len(face.html) < 60_000


# --- the inspector ------------------------------------------------------------------------------------------------------


def inside(widget: Any, kind: type) -> list[Any]:
    found = [widget] if isinstance(widget, kind) else []
    for child in getattr(widget, "children", ()):
        found += inside(child, kind)
    return found


def test_the_inspector_has_a_picture_for_each_concept_and_the_static_form_of_show_wire() -> None:
    panel = wire_inspector(CHAT_TURN, ANTHROPIC_TURN)
    [choose], [stack] = inside(panel, widgets.ToggleButtons), inside(panel, widgets.Stack)
    assert list(choose.options) == ["All", *PLACES] and len(stack.children) == len(choose.options)
    assert repr(panel) == show.wire(CHAT_TURN, ANTHROPIC_TURN).text
    picture = stack.children[list(choose.options).index("Arguments")].value
    bold = re.findall(r"font-weight:bold[^>]*>([^<]*)<", picture)
    assert [line.strip() for line in bold] == [
        "&quot;arguments&quot;: &quot;{\\&quot;order_id\\&quot;: \\&quot;A100\\&quot;}&quot;",
        "&quot;input&quot;: {",
        "&quot;order_id&quot;: &quot;A100&quot;",
        "}",
    ]


def test_a_focused_document_is_the_document_with_short_parts() -> None:
    lines = focused({"a": [1, {"b": {"c": 2}, "long": list(range(100))}], "d": "x"}, ("a", 1, "b"))
    assert lines == [
        ("{", False), ('  "a": [', False), ("    1,", False), ("    {", False),
        ('      "b": {', True), ('        "c": 2', True), ("      },", True), ('      "long": [… 100 items]', False),
        ("    }", False), ("  ],", False), ('  "d": "x"', False), ("}", False),
    ]  # fmt: skip
    small = {"a": {"b": 1}, "c": [1, 2]}
    assert json.loads("".join(text for text, _ in focused(small, ("a", "b")))) == small
