"""Chat Completions: what is kept on the way here and back, and under which id a call goes back."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from strategies import act, agent, answer, call, histories, profile

from agentkit import (
    DefinitionError,
    Message,
    Reply,
    ToolCall,
    ToolResult,
    anthropic_problems,
    from_openai,
    openai_problems,
    to_anthropic,
    to_openai,
)
from agentkit._wire import from_anthropic, from_responses

Wire = dict[str, Any]
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}


def user(content: Any = "go") -> Wire:
    return {"role": "user", "content": content}


def said(*ids: str, text: Any = None, arguments: Any = "{}") -> Wire:
    calls = [{"id": i, "type": "function", "function": {"name": "look", "arguments": arguments}} for i in ids]
    return {"role": "assistant", "content": text, **({"tool_calls": calls} if calls else {})}


def custom(call_id: str, text: str = "SELECT 1") -> Wire:
    calls = [{"id": call_id, "type": "custom", "custom": {"name": "sql", "input": text}}]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def told(call_id: str, content: Any = "1") -> Wire:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


KEPT: dict[str, list[Wire]] = {
    "a developer": [{"role": "developer", "content": "Be short."}, user()],
    "an image between texts": [user([{"type": "text", "text": "a"}, IMAGE, {"type": "text", "text": "b"}])],
    "only audio": [user([{"type": "input_audio", "input_audio": {"data": "AAAA", "format": "mp3"}}])],
    "a file": [user([{"type": "file", "file": {"file_data": "data:application/pdf;base64,AAAA", "filename": "a.pdf"}}])],
    "a cache mark": [user([{"type": "text", "text": "a", "prompt_cache_breakpoint": True}])],
    "names": [{"role": "user", "content": "a", "name": "Ana"}],
    "a refusal": [user(), {"role": "assistant", "content": None, "refusal": "I will not."}, user()],
    "a refusal as a part": [user(), {"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]}],
    "earlier audio": [user(), {"role": "assistant", "content": None, "audio": {"id": "audio_1"}}],
    "a custom call": [user(), custom("c"), told("c")],
    "a signature beside a call": [
        user(),
        {**said("c"), "tool_calls": [{**said("c")["tool_calls"][0], "extra_content": {"signature": "s"}}]},
        told("c"),
    ],
    "reasoning": [user(), {**said("c"), "reasoning_content": "hm"}, told("c")],
    "plain tool output": [user(), said("c"), told("c", "391")],
    "our own tool output": [user(), said("c"), told("c", '{"ok": true, "data": 391}')],
    "output like ours, but with more in it": [user(), said("c"), told("c", '{"ok": true, "data": 391, "took": 3}')],
    "output in parts": [user(), said("c"), told("c", [{"type": "text", "text": "3"}, {"type": "text", "text": "91"}])],
    "text beside calls": [user(), said("c", "d", text="hm"), told("c"), told("d")],
    "arguments as they were written": [user(), said("c", arguments='{ "q":1}'), told("c"), said("c", arguments="{bro"), told("c")],
}  # fmt: skip


@pytest.mark.parametrize("name", KEPT)
def test_the_way_back_is_the_same_document(name: str) -> None:
    wire = KEPT[name]
    assert openai_problems(wire) == []
    ours = from_openai(wire)
    assert to_openai(ours) == wire
    assert json.dumps(to_openai(ours)) == json.dumps(to_openai(from_openai(to_openai(ours))))


SAME: dict[str, tuple[Wire, Wire]] = {
    "a missing content beside calls": ({"role": "assistant", "tool_calls": said("c")["tool_calls"]}, said("c")),
    "an empty content beside calls": (said("c", text=""), said("c")),
    "one plain part": (user([{"type": "text", "text": "a"}]), user("a")),
    "keys that are null": ({**said(text="a"), "refusal": None, "audio": None, "tool_calls": None}, said(text="a")),
    "an empty list of calls": ({**said(text="a"), "tool_calls": []}, said(text="a")),
}


@pytest.mark.parametrize("name", SAME)
def test_what_means_the_same_is_made_one(name: str) -> None:
    sent, wanted = SAME[name]
    assert to_openai(from_openai([sent])) == [wanted] and from_openai([sent])[0].provider is None


def test_roles_ids_and_texts() -> None:
    wire = [{"role": "developer", "content": "s"}, user([{"type": "text", "text": "a"}, IMAGE, {"type": "text", "text": "b"}]),
            said("c1", "c2", text="hm", arguments='{"q": 1}'), told("c1"), told("c2"), said(text="done")]  # fmt: skip
    ours = from_openai(wire)
    assert [m.role for m in ours] == ["system", "user", "assistant", "tool", "tool", "assistant"]
    assert ours[1].text == "a\n[image]\nb" and ours[2].calls[1] == ToolCall("look", '{"q": 1}', "c2")
    assert ours[3].result == ToolResult("c1", "look", "1")
    assert openai_problems(to_openai(ours)) == [] == anthropic_problems(to_anthropic(ours)[1])


def test_a_custom_call_has_its_text_as_input_and_a_refusal_is_the_text() -> None:
    ours = from_openai([user(), custom("c"), told("c"), {"role": "assistant", "content": None, "refusal": "No."}])
    assert ours[1].calls == (ToolCall("sql", {"input": "SELECT 1"}, "c"),)
    assert ours[2].result == ToolResult("c", "sql", "1") and ours[3].text == "No."


# --- what was kept is used only as long as it is true ----------------------------------------------------------------


def test_a_custom_call_that_the_loop_numbered_anew_goes_back_under_its_new_id() -> None:
    kept = custom("c")["tool_calls"]
    reply = Reply(act(ToolCall("save", {"input": "x"}, "c"), thought=""), provider={"openai": {"tool_calls": kept}})
    run = agent(reply, reply, answer()).run("go")
    ids = [item["id"] for message in to_openai(run.messages) for item in message.get("tool_calls", ())]
    assert len(ids) == len(set(ids)) == 2 and ids[0] == "c"
    kinds = [item["type"] for message in to_openai(run.messages) for item in message.get("tool_calls", ())]
    assert kinds == ["custom", "custom"] and openai_problems(to_openai(run.messages)) == []


def test_changed_input_and_changed_calls_are_sent_as_they_are_now() -> None:
    message = from_openai([user(), custom("c")])[1]
    edited = replace(message, calls=(ToolCall("sql", {"input": "SELECT 2"}, "c"),))
    assert to_openai([edited])[0]["tool_calls"][0]["custom"] == {"name": "sql", "input": "SELECT 2"}
    more = replace(message, calls=(*message.calls, call("look", "d")))
    assert [item["type"] for item in to_openai([more])[0]["tool_calls"]] == ["function", "function"]


def test_a_changed_result_is_sent_as_it_is_now() -> None:
    message = from_openai([user(), said("c"), told("c", "391")])[2]
    edited = replace(message, result=ToolResult("c", "look", "17"))
    assert to_openai([message])[0]["content"] == "391"
    assert json.loads(to_openai([edited])[0]["content"]) == {"ok": True, "data": "17"}


def test_what_another_service_needs_back_is_not_sent_here() -> None:
    foreign = Message(
        "assistant", "t", provider={"anthropic": [{"type": "thinking"}], "responses": [], "stop_reason": "x"}
    )
    assert to_openai([foreign]) == [{"role": "assistant", "content": "t"}]


def test_changing_what_was_sent_or_read_does_not_change_the_history() -> None:
    for name in ("a custom call", "an image between texts", "a signature beside a call", "output in parts"):
        wire = copy.deepcopy(KEPT[name])
        ours = from_openai(wire)
        for document in (wire, to_openai(ours)):
            spoil(document)
        assert to_openai(ours) == KEPT[name]


def spoil(value: Any) -> None:
    """Change every object and list in a document."""
    for part in list(value.values()) if isinstance(value, dict) else list(value):
        if isinstance(part, (dict, list)):
            spoil(part)
    if isinstance(value, dict):
        value.clear()
    else:
        value.append("spoilt")


# --- our own histories -----------------------------------------------------------------------------------------------


@profile(150)
@given(histories())
def test_our_histories_come_back_as_they_were(history: tuple[Message, ...]) -> None:
    """Only the kind of a user message is not on the wire, and arguments come back as text."""
    back = from_openai(to_openai(history))
    assert [(m.role, m.text, m.result) for m in back] == [(m.role, m.text, m.result) for m in history]
    assert [(c.id, c.name) for m in back for c in m.calls] == [(c.id, c.name) for m in history for c in m.calls]
    assert all(message.provider is None for message in back)
    assert to_openai(back) == to_openai(history)


def test_a_run_continues_from_a_foreign_history() -> None:
    history = from_openai([user("one"), said("c1"), told("c1"), said(text="done")])
    run = agent(act(call("look", key="a")), answer()).run("two", history=history)
    assert run.status == "done" and [c.id for m in run.messages for c in m.calls] == ["c1", "call_2"]
    assert to_openai(run.messages)[2]["content"] == "1"


@pytest.mark.parametrize("read", [from_openai, lambda m: from_anthropic("", m), lambda m: from_responses("", m)])
@pytest.mark.parametrize("history", [[{"role": "robot", "content": "x"}], ["x"], {"role": "user"}, [None], [["role"]]])
def test_what_is_no_history_is_refused_with_a_sentence(read: Any, history: Any) -> None:
    with pytest.raises(DefinitionError, match=r"history.*\.$"):
        read(history)
