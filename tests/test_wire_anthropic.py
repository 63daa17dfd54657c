"""Anthropic Messages: what is kept on the way here and back, and under which id a call goes back."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from strategies import act, agent, answer, call, histories, profile
from test_wire_openai import spoil

from agentkit import Message, Reply, ToolCall, ToolResult, anthropic_problems, to_anthropic, to_openai
from agentkit._wire import from_anthropic
from agentkit.messages import ErrorDetail

Wire = dict[str, Any]
THINKING = {"type": "thinking", "thinking": "17 * 23 is 391.", "signature": "s1"}
IMAGE = {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}}


def text(words: str, **more: Any) -> Wire:
    return {"type": "text", "text": words, **more}


def use(call_id: str, name: str = "look", **given: Any) -> Wire:
    return {"type": "tool_use", "id": call_id, "name": name, "input": given}


def told(call_id: str, content: Any = "1", **more: Any) -> Wire:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, **more}


def turns(*contents: Any) -> list[Wire]:
    return [{"role": ("user", "assistant")[i % 2], "content": content} for i, content in enumerate(contents)]


GO = [text("go")]
KEPT: dict[str, tuple[Any, list[Wire]]] = {
    "thinking": ("", turns(GO, [THINKING, text("I look."), use("c", key="k")], [told("c")])),
    "hidden thinking": ("", turns(GO, [{"type": "redacted_thinking", "data": "x"}, text("a")], GO)),
    "an image between texts": ("", turns([text("a"), IMAGE, text("b")])),
    "only an image": ("", turns([IMAGE])),
    "a result beside a new text": ("", turns(GO, [use("c"), use("d")], [told("c"), told("d"), text("and?"), text("x")])),
    "an image as a result": ("", turns(GO, [use("c")], [told("c", [text("here:"), IMAGE], is_error=False)])),
    "a failed result": ("", turns(GO, [use("c")], [told("c", "No such order.", is_error=True)])),
    "a result without content": ("", turns(GO, [use("c")], [{"type": "tool_result", "tool_use_id": "c"}])),
    "cache marks": (
        [text("Be short."), text("Be kind.", cache_control={"type": "ephemeral"})],
        turns([text("go", cache_control={"type": "ephemeral"})]),
    ),
    "a system prompt in blocks": ([text("one"), text("two")], turns(GO)),
    "a tool of the service": (
        "",
        turns(GO, [text("I search."), {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"q": "x"}},
                   {"type": "web_search_tool_result", "tool_use_id": "s", "content": []},
                   text("Found", citations=[{"url": "u"}]), text(" it.")], GO),
    ),
    "who called": ("", turns(GO, [{**use("c"), "caller": {"type": "direct"}}], [told("c")])),
    "a text behind a call": ("", turns(GO, [use("c"), text("I looked.")], [told("c")])),
    "a system message inside": (
        "top",
        [*turns(GO, [text("a")], GO), {"role": "system", "content": [text("From now on: French.")]},
         {"role": "assistant", "content": [text("oui")]}, {"role": "user", "content": GO}],
    ),
    "a tool that is added inside": (
        "",
        [*turns(GO), {"role": "system", "content": [{"type": "tool_addition", "tool": {"name": "look"}}]}],
    ),
    "text that is no object as input": ("", turns(GO, [use("c", not_json="{bro")], [told("c")])),
}  # fmt: skip


@pytest.mark.parametrize("name", KEPT)
def test_the_way_back_is_the_same_document(name: str) -> None:
    system, wire = KEPT[name]
    assert anthropic_problems(wire) == []
    ours = from_anthropic(system, wire)
    assert to_anthropic(ours) == (system, wire)
    assert json.dumps(to_anthropic(from_anthropic(*to_anthropic(ours)))) == json.dumps([system, wire])


SAME: dict[str, tuple[tuple[Any, list[Wire]], tuple[Any, list[Wire]]]] = {
    "a text is one block": ((None, [{"role": "user", "content": "go"}]), ("", turns(GO))),
    "one plain system block is a text": (([text("top")], turns(GO)), ("top", turns(GO))),
    "neighbours are one turn": (
        ("", [*turns(GO, [use("c")]), *turns("x", [use("d")])[1:], {"role": "user", "content": [told("c"), told("d")]}]),
        ("", turns(GO, [use("c"), use("d")], [told("c"), told("d")])),
    ),
    "empty texts go": (("", turns(GO, [THINKING, text("\n\n"), use("c")], [told("c")])),
                       ("", turns(GO, [THINKING, use("c")], [told("c")]))),
    "an empty last turn goes": (("", turns(GO, [])), ("", turns(GO))),
    "white space at the very end goes": (("", turns(GO, [text("ok \n")])), ("", turns(GO, [text("ok")]))),
}  # fmt: skip


@pytest.mark.parametrize("name", SAME)
def test_what_means_the_same_is_made_one(name: str) -> None:
    sent, wanted = SAME[name]
    assert to_anthropic(from_anthropic(*sent)) == wanted and anthropic_problems(wanted[1]) == []


def test_what_our_messages_say() -> None:
    wire = KEPT["thinking"][1]
    ours = from_anthropic([text("a"), text("b")], [*wire, *turns("x", [THINKING, text("Done.")])[1:]])
    assert [m.role for m in ours] == ["system", "user", "assistant", "tool", "assistant"]
    assert ours[0].text == "a\n\nb" and ours[2].text == "17 * 23 is 391.\n\nI look." and ours[4].text == "Done."
    assert ours[2].calls == (ToolCall("look", {"key": "k"}, "c"),) and ours[3].result == ToolResult("c", "look", "1")
    failed = from_anthropic("", KEPT["a failed result"][1])[2].result
    assert failed is not None and failed.error == ErrorDetail("tool_error", "No such order.")


# --- what was kept is used only as long as it is true ----------------------------------------------------------------


def test_blocks_go_back_under_the_ids_that_the_loop_gave() -> None:
    blocks = [THINKING, use("c", key="a"), use("c", key="b")]
    calls = (call("look", "c", key="a"), call("look", "c", key="b"))
    reply = Reply(act(*calls), provider={"anthropic": blocks})
    run = agent(reply, reply, answer()).run("go")
    _, sent = to_anthropic(run.messages)
    assert anthropic_problems(sent) == []
    ids = [block["id"] for turn in sent for block in turn["content"] if block["type"] == "tool_use"]
    assert ids == [c.id for m in run.messages for c in m.calls] and len(set(ids)) == 4
    assert [turn["content"][0] for turn in sent if turn["role"] == "assistant"][:2] == [THINKING, THINKING]
    assert [block["id"] for block in blocks[1:]] == ["c", "c"], "the reply itself is not touched"


def test_changed_arguments_results_and_calls_are_sent_as_they_are_now() -> None:
    ours = from_anthropic("", KEPT["thinking"][1])
    edited = replace(ours[1], calls=(call("look", "c", key="other"),))
    assert to_anthropic([ours[0], edited, ours[2]])[1][1]["content"] == [
        THINKING,
        text("I look."),
        use("c", key="other"),
    ]
    fewer = replace(ours[1], calls=())
    assert to_anthropic([ours[0], fewer])[1][1]["content"] == [text("17 * 23 is 391.\n\nI look.")]
    image = from_anthropic("", KEPT["an image as a result"][1])
    other = replace(image[2], result=ToolResult("c", "look", "no image"))
    again = replace(image[2], result=ToolResult("new", "look", "here:\n[image]"))
    assert to_anthropic([again])[1][0]["content"][0] == {
        **KEPT["an image as a result"][1][2]["content"][0],
        "tool_use_id": "new",
    }
    assert to_anthropic([*image[:2], other])[1][2]["content"] == [told("c", '{"ok": true, "data": "no image"}')]


def test_a_system_message_that_no_longer_stands_behind_a_user_is_lifted_out() -> None:
    ours = from_anthropic(*KEPT["a system message inside"])
    system, wire = to_anthropic([ours[0], *ours[4:]])
    assert system == [text("top"), text("From now on: French.")] and [t["role"] for t in wire] == ["assistant", "user"]
    behind = to_anthropic([ours[1], ours[2], ours[4]])
    assert behind == ([text("From now on: French.")], turns(GO, [text("a")]))
    added = from_anthropic(*KEPT["a tool that is added inside"])
    assert to_anthropic(added[1:]) == ([], []), "only text can be lifted out"


def test_what_another_service_needs_back_is_not_sent_here() -> None:
    foreign = Message("assistant", "t", provider={"openai": {"refusal": "t"}, "responses": [{}], "stop_reason": "x"})
    assert to_anthropic([Message("user", "a"), foreign])[1][1] == {"role": "assistant", "content": [text("t")]}


@pytest.mark.parametrize("name", KEPT)
def test_changing_what_was_sent_or_read_does_not_change_the_history(name: str) -> None:
    system, wire = copy.deepcopy(KEPT[name])
    ours = from_anthropic(system, wire)
    for document in (wire, system, *to_anthropic(ours)):
        if isinstance(document, list):
            spoil(document)
    assert to_anthropic(ours) == KEPT[name]


def test_results_stand_first_wherever_they_came() -> None:
    history = [Message("user", "go"), Message("user", "x"), Message("tool", result=ToolResult("c", "look", 1))]
    assert [block["type"] for block in to_anthropic(history)[1][0]["content"]] == ["tool_result", "text", "text"]


# --- our own histories -----------------------------------------------------------------------------------------------


@profile(150)
@given(histories())
def test_our_histories_come_back_as_they_were(history: tuple[Message, ...]) -> None:
    """Apart from empty texts, and texts of the assistant that stand side by side, every message is there again."""
    system, wire = to_anthropic(history)
    back = from_anthropic(system, wire)
    assert to_anthropic(back) == (system, wire)
    assert [m.result for m in back if m.result] == [m.result for m in history if m.result]
    assert [c for m in back for c in m.calls] == [c for m in history for c in m.calls]
    users = [m.text for m in history if m.role == "user"]
    assert [m.text for m in back if m.role == "user"] == users
    assert [m["content"] for m in to_openai(back) if m["role"] == "tool"] == [
        m.result.content for m in history if m.result
    ]
