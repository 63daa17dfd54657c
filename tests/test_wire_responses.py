"""OpenAI Responses: what is kept on the way here and back, which items are one message, and under which id a call goes back."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from strategies import act, agent, answer, call, histories, profile
from test_wire_openai import spoil

from agentkit import Message, Reply, ToolCall, ToolResult, anthropic_problems, openai_problems, to_anthropic, to_openai
from agentkit._wire import from_responses, responses_problems, to_responses

Wire = dict[str, Any]
REASONING = {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "I need it."}], "encrypted_content": "x"}  # fmt: skip
IMAGE = {"type": "input_image", "image_url": "https://example.org/a.png"}


def user(content: Any = "go") -> Wire:
    return {"role": "user", "content": content}


def said(words: str, **more: Any) -> Wire:
    part = {"type": "output_text", "text": words, "annotations": []}
    return {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [part], **more}


def asked(call_id: str, arguments: Any = "{}", name: str = "look", **more: Any) -> Wire:
    return {"type": "function_call", "call_id": call_id, "name": name, "arguments": arguments, **more}


def told(call_id: str, output: Any = "1", **more: Any) -> Wire:
    return {"type": "function_call_output", "call_id": call_id, "output": output, **more}


CUSTOM = {"type": "custom_tool_call", "id": "ctc_1", "call_id": "c", "name": "sql", "input": "SELECT 1"}
CUSTOM_OUTPUT = {"type": "custom_tool_call_output", "call_id": "c", "output": "1"}
SEARCH = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "x"}}

KEPT: dict[str, list[Wire]] = {
    "reasoning and calls": [user(), REASONING, asked("a", id="fc_1", status="completed"), asked("b"), told("a"), told("b"), said("x")],
    "reasoning and a text": [user(), REASONING, said("x"), user("more")],
    "a text, then reasoning and calls": [user(), said("I look."), REASONING, asked("a"), told("a")],
    "an image between texts": [user([{"type": "input_text", "text": "a"}, IMAGE, {"type": "input_text", "text": "b"}])],
    "a file": [user([{"type": "input_file", "file_id": "file_1"}])],
    "developers and systems": [{"role": "developer", "content": "d"}, user(), {"role": "system", "content": "s"}],
    "a system item first": [{"role": "system", "content": "s"}, user()],
    "a refusal": [user(), said("", content=[{"type": "refusal", "refusal": "No."}])],
    "a tool of the service": [user(), SEARCH, said("Found.", phase="final_answer"), user()],
    "a custom call": [user(), CUSTOM, CUSTOM_OUTPUT],
    "an image as output": [user(), asked("a"), told("a", [IMAGE])],
    "plain output": [user(), asked("a"), told("a", "391", id="fco_1", status="completed")],
    "arguments as they were written": [user(), asked("a", '{ "q":1}'), told("a"), asked("a", "{bro"), told("a")],
    "what was compacted comes first": [{"type": "compaction", "id": "cmp_1", "encrypted_content": "x"}, user()],
    "a reference": [{"type": "item_reference", "id": "msg_1"}, user()],
}  # fmt: skip


@pytest.mark.parametrize("name", KEPT)
def test_the_way_back_is_the_same_document(name: str) -> None:
    items = KEPT[name]
    assert responses_problems(items) == []
    ours = from_responses("top", items)
    assert to_responses(ours) == ("top", items)
    assert json.dumps(to_responses(from_responses(*to_responses(ours)))) == json.dumps(["top", items])
    assert to_responses(from_responses("", items)) == ("", items), "a system item is not taken for the instructions"
    assert openai_problems(to_openai(ours)) == [] == anthropic_problems(to_anthropic(ours)[1])


SAME: dict[str, tuple[Any, list[Wire]]] = {
    "a text is one message": ("go", [user()]),
    "one plain part is a text": ([user([{"type": "input_text", "text": "go"}])], [user()]),
    "the type of a message goes": ([{"type": "message", **user()}], [user()]),
    "outputs stand behind their calls": (
        [user(), asked("a"), asked("b"), user("wait"), told("b"), told("a"), user("now")],
        [user(), asked("a"), asked("b"), told("b"), told("a"), user("wait"), user("now")],
    ),
    "an id that is used again later": (
        [user(), asked("a"), user("wait"), told("a"), asked("a"), told("a", "2")],
        [user(), asked("a"), told("a"), user("wait"), asked("a"), told("a", "2")],
    ),
    "outputs stand before the next text": (
        [user(), asked("a"), asked("b"), told("a"), said("hm"), told("b")],
        [user(), asked("a"), asked("b"), told("a"), told("b"), said("hm")],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SAME)
def test_what_means_the_same_is_made_one(name: str) -> None:
    sent, wanted = SAME[name]
    assert responses_problems(sent) == [] == responses_problems(wanted)
    ours = from_responses(None, sent)
    assert to_responses(ours) == ("", wanted)
    assert openai_problems(to_openai(ours)) == [] == anthropic_problems(to_anthropic(ours)[1])


GROUPS: dict[str, tuple[list[Wire], list[tuple[str, str, int]]]] = {
    "one reply is one message": ([user(), REASONING, said("x"), asked("a"), told("a")],
                                 [("user", "go", 0), ("assistant", "I need it.\n\nx", 1), ("tool", "", 0)]),
    "two texts are two": ([user(), said("one"), said("two")], [("user", "go", 0), ("assistant", "one", 0), ("assistant", "two", 0)]),
    "calls that wait stay together, also behind a text": (
        [user(), said("x"), asked("a"), said("y"), asked("b"), told("a"), told("b")],
        [("user", "go", 0), ("assistant", "x\n\ny", 2), ("tool", "", 0), ("tool", "", 0)],
    ),
    "calls that wait stay together": ([user(), asked("a"), REASONING, asked("b"), told("a"), told("b")],
                                      [("user", "go", 0), ("assistant", "I need it.", 2), ("tool", "", 0), ("tool", "", 0)]),
    "one call after another": ([user(), asked("a"), told("a"), asked("b"), told("b")],
                               [("user", "go", 0), ("assistant", "", 1), ("tool", "", 0), ("assistant", "", 1), ("tool", "", 0)]),
    "reasoning is no answer": ([user(), REASONING, said("x")], [("user", "go", 0), ("assistant", "x", 0)]),
}  # fmt: skip


@pytest.mark.parametrize("name", GROUPS)
def test_which_items_are_one_message(name: str) -> None:
    items, wanted = GROUPS[name]
    assert [(m.role, m.text, len(m.calls)) for m in from_responses("", items)] == wanted


def test_what_our_messages_say() -> None:
    ours = from_responses("top", [user(), CUSTOM, CUSTOM_OUTPUT, *KEPT["a refusal"]])
    assert ours[0] == Message("system", "top") and ours[2].calls == (ToolCall("sql", {"input": "SELECT 1"}, "c"),)
    assert ours[3].result == ToolResult("c", "sql", "1") and ours[-1].text == "No."


# --- what was kept is used only as long as it is true ----------------------------------------------------------------


def test_items_go_back_under_the_ids_that_the_loop_gave() -> None:
    items = [REASONING, asked("c", '{"key": "a"}'), {**CUSTOM, "call_id": "c"}]
    calls = (call("look", "c", key="a"), ToolCall("save", {"input": "SELECT 1"}, "c"))
    reply = Reply(act(*calls), provider={"responses": items})
    run = agent(reply, reply, answer()).run("go")
    _, sent = to_responses(run.messages)
    assert responses_problems(sent) == [] and sent[1] == REASONING
    kinds = [item.get("type") for item in sent[1:6]]
    assert kinds == [
        "reasoning",
        "function_call",
        "custom_tool_call",
        "function_call_output",
        "custom_tool_call_output",
    ]
    ids = [item["call_id"] for item in sent if item.get("type") in ("function_call", "custom_tool_call")]
    assert ids == [c.id for m in run.messages for c in m.calls] and len(set(ids)) == 4
    assert sent[2]["arguments"] == '{"key": "a"}', "as it was written"


def test_changed_arguments_results_and_calls_are_sent_as_they_are_now() -> None:
    ours = from_responses("", KEPT["reasoning and calls"])
    edited = replace(ours[1], calls=(call("look", "a", key="other"), ours[1].calls[1]))
    sent = to_responses([edited])[1]
    assert sent[0] == REASONING and json.loads(sent[1]["arguments"]) == {"key": "other"} and sent[1]["id"] == "fc_1"
    assert [item.get("type") for item in to_responses([replace(ours[1], calls=())])[1]] == [None]
    image = from_responses("", KEPT["an image as output"])[2]
    other = to_responses([replace(image, result=ToolResult("a", "look", "no image"))])[1]
    assert other == [told("a", '{"ok": true, "data": "no image"}')]
    again = to_responses([replace(image, result=ToolResult("new", "look", "[image]"))])[1]
    assert again == [told("new", [IMAGE])], "an output goes under the present id of its call"


def test_what_another_service_needs_back_is_not_sent_here() -> None:
    foreign = Message("assistant", "t", provider={"openai": {"refusal": "t"}, "anthropic": [{}], "stop_reason": "x"})
    assert to_responses([foreign])[1] == [{"role": "assistant", "content": "t"}]


@pytest.mark.parametrize("name", KEPT)
def test_changing_what_was_sent_or_read_does_not_change_the_history(name: str) -> None:
    items = copy.deepcopy(KEPT[name])
    ours = from_responses("", items)
    spoil(items)
    spoil(to_responses(ours)[1])
    assert to_responses(ours) == ("", KEPT[name])


# --- our own histories -----------------------------------------------------------------------------------------------


@profile(150)
@given(histories())
def test_our_histories_come_back_as_they_were(history: tuple[Message, ...]) -> None:
    """Only a text right before calls joins them, the kind of a user message is not on the wire, and arguments are text."""
    instructions, items = to_responses(history)
    assert responses_problems(items) == []
    back = from_responses(instructions, items)
    assert to_responses(back) == (instructions, items)
    assert [m.result for m in back if m.result] == [m.result for m in history if m.result]
    assert [(c.id, c.name) for m in back for c in m.calls] == [(c.id, c.name) for m in history for c in m.calls]
    texts = [(m.role, m.text) for m in history if m.text]
    assert [(m.role, m.text) for m in back if m.text] == texts


# --- the validator ---------------------------------------------------------------------------------------------------

GOOD: dict[str, Any] = {
    "a text": "go",
    "an output later": [user(), asked("a"), user(), told("a")],
    "the same id in a later turn": [user(), asked("a"), told("a"), asked("a"), told("a")],
    "items that it does not know": [user(), SEARCH],
    "output in parts": [user(), asked("a"), told("a", [{"type": "input_text", "text": "1"}])],
    "a text of the assistant": [user(), {"role": "assistant", "content": "x"}],
}
BAD: dict[str, tuple[list[Any], str]] = {
    "empty": ([], "empty"),
    "no output": ([user(), asked("a")], "No output was found for the call(s) 'a'"),
    "half answered": ([user(), asked("a"), asked("b"), told("a"), user()], "'b'"),
    "an output of nobody": ([user(), told("z")], "'z'"),
    "an output before its call": ([user(), told("a"), asked("a")], "no item before it made"),
    "answered twice": ([user(), asked("a"), told("a"), told("a")], "no item before it made"),
    "an output without an id": ([user(), asked("a"), {"type": "function_call_output", "output": "1"}], "None"),
    "no id": ([user(), asked(""), told("")], "without an id"),
    "one id twice": ([user(), asked("a"), asked("a"), told("a")], "twice"),
    "a name with a dot": ([user(), asked("a", name="a.b"), told("a")], "'a.b'"),
    "arguments that are no text": ([user(), asked("a", {}), told("a")], "not text"),
    "a custom call without input": ([user(), {**CUSTOM, "input": None}, CUSTOM_OUTPUT], "not text"),
    "an output that is an object": ([user(), asked("a"), told("a", {"x": 1})], "output that is neither"),
    "unknown role": ([{"role": "robot", "content": "x"}], "unknown role"),
    "no content": ([{"role": "user"}], "neither text nor"),
    "neither a type nor a role": ([{"content": "x"}], "neither a type nor a role"),
    "a part of the other side": ([user([{"type": "output_text", "text": "x"}])], "'input_text'"),
    "a part of the other service": ([user([{"type": "text", "text": "x"}])], "'input_text'"),
    "a part of a user": ([user(), said("", content=[{"type": "input_text", "text": "x"}])], "'output_text'"),
    "no object": (["x"], "not an object"),
}  # fmt: skip


@pytest.mark.parametrize("name", GOOD)
def test_the_validator_accepts(name: str) -> None:
    assert responses_problems(GOOD[name]) == []


@pytest.mark.parametrize("name", BAD)
def test_the_validator_refuses(name: str) -> None:
    items, words = BAD[name]
    found = responses_problems(items)
    assert any(words in problem for problem in found) and all(problem.endswith(".") for problem in found)
