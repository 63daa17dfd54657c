"""The forms of the providers, and the validators: each broken history is refused, and each one of ours is accepted."""

from __future__ import annotations

import json
from typing import Any

import pytest
from strategies import call

from agentkit import (
    Message,
    ToolCall,
    ToolResult,
    anthropic_problems,
    openai_problems,
    to_anthropic,
    to_openai,
)
from agentkit.messages import ErrorDetail

Wire = dict[str, Any]


def user(text: Any = "go") -> Wire:
    return {"role": "user", "content": text}


def said(*ids: str, text: Any = None, name: str = "look", arguments: Any = "{}") -> Wire:
    calls = [{"id": i, "type": "function", "function": {"name": name, "arguments": arguments}} for i in ids]
    return {"role": "assistant", "content": text, **({"tool_calls": calls} if calls else {})}


def told(call_id: str) -> Wire:
    return {"role": "tool", "tool_call_id": call_id, "content": "1"}


OPENAI_GOOD: dict[str, list[Wire]] = {
    "plain": [user(), said(text="a")],
    "empty text": [user(""), said(text="")],
    "calls": [user(), said("a", "b"), told("a"), told("b"), said(text="x")],
    "results in another order": [user(), said("a", "b"), told("b"), told("a")],
    "the same id in a later turn": [user(), said("a"), told("a"), said("a"), told("a")],
    "developer and system": [{"role": "developer", "content": "x"}, {"role": "system", "content": "x"}, user()],
    "two users": [user(), user()],
    "parts": [user([{"type": "text", "text": "x"}])],
    "refusal": [user(), {"role": "assistant", "content": None, "refusal": "No."}],
}
OPENAI_BAD: dict[str, tuple[list[Wire], str]] = {
    "empty": ([], "empty"),
    "unanswered at the end": ([user(), said("a")], "ends before"),
    "half answered": ([user(), said("a", "b"), told("a")], "'b'"),
    "unanswered before a user": ([user(), said("a"), user()], "comes before an answer"),
    "unanswered before an assistant": ([user(), said("a"), said(text="x"), told("a")], "comes before an answer"),
    "starts with a result": ([told("a")], "did not make"),
    "a result of nobody": ([user(), said("a"), told("a"), told("z")], "'z'"),
    "answered twice": ([user(), said("a"), told("a"), told("a")], "did not make"),
    "a result without an id": ([user(), said("a"), {"role": "tool", "content": "1"}], "None"),
    "a result after the text": ([user(), said("a"), told("a"), said(text="x"), told("a")], "did not make"),
    "null without calls": ([user(), said()], "no content"),
    "no content": ([{"role": "user"}], "no content"),
    "unknown role": ([{"role": "robot", "content": "x"}], "unknown role"),
    "no id": ([user(), said(""), told("")], "without an id"),
    "one id twice": ([user(), said("a", "a"), told("a")], "twice"),
    "a name with a dot": ([user(), said("a", name="a.b"), told("a")], "'a.b'"),
    "a long name": ([user(), said("a", name="n" * 65), told("a")], "not a name"),
    "no name": ([user(), said("a", name=""), told("a")], "not a name"),
    "arguments that are no text": ([user(), said("a", arguments={}), told("a")], "not text"),
    "a custom call without input": (
        [
            user(),
            {"role": "assistant", "tool_calls": [{"id": "a", "type": "custom", "custom": {"name": "x"}}]},
            told("a"),
        ],
        "not text",
    ),
    "calls of a user": ([{**said("a"), "role": "user"}, told("a")], "in an assistant message"),
    "calls that are no list": ([user(), {"role": "assistant", "content": "x", "tool_calls": "a"}], "not a list"),
    "a call that is no object": ([user(), {"role": "assistant", "tool_calls": ["a"]}], "not an object"),
    "a result without content": ([user(), said("a"), {"role": "tool", "tool_call_id": "a"}], "no content"),
    "an image as a result": ([user(), said("a"), {**told("a"), "content": [{"type": "image_url"}]}], "'image_url'"),
    "a part of the other service": ([user([{"type": "input_text", "text": "x"}])], "'input_text'"),
    "a part that is no object": ([user(["x"])], "type None"),
    "a text part without text": ([user([{"type": "text"}])], "without a text"),
    "no parts": ([user([])], "empty list"),
    "a content that is an object": ([user({"text": "x"})], "neither text nor"),
    "no object": (["x"], "not an object"),
}


def uses(*ids: str, name: str = "look", given: Any = None, before: Any = ()) -> Wire:
    blocks = [{"type": "tool_use", "id": i, "name": name, "input": {} if given is None else given} for i in ids]
    return {"role": "assistant", "content": [*before, *blocks]}


def results(*ids: str, after: Any = (), before: Any = ()) -> Wire:
    blocks = [{"type": "tool_result", "tool_use_id": i, "content": "1"} for i in ids]
    return {"role": "user", "content": [*before, *blocks, *after]}


TEXT = {"type": "text", "text": "x"}
BLANK = {"type": "text", "text": " \n"}
ANTHROPIC_GOOD: dict[str, list[Wire]] = {
    "plain": [user(), {"role": "assistant", "content": "a"}],
    "calls": [
        user(),
        uses("a", "b", before=[TEXT]),
        results("b", "a", after=[TEXT]),
        {"role": "assistant", "content": [TEXT]},
    ],
    "two users": [user(), user()],
    "an empty last assistant": [user(), {"role": "assistant", "content": []}],
    "two assistants that ask": [user(), uses("a"), uses("b"), results("a", "b")],
    "two users that answer": [user(), uses("a", "b"), results("a"), results("b")],
    "a system message behind a user": [
        user(),
        {"role": "system", "content": "x"},
        {"role": "assistant", "content": "a"},
    ],
}
ANTHROPIC_BAD: dict[str, tuple[list[Wire], str]] = {
    "empty": ([], "empty"),
    "unanswered at the end": ([user(), uses("a")], "ends before"),
    "half answered": ([user(), uses("a", "b"), results("a", after=[TEXT])], "'b'"),
    "answered by text": ([user(), uses("a"), user()], "0 tool_result"),
    "answered twice": ([user(), uses("a"), results("a", "a")], "2 tool_result"),
    "answered too late": ([user(), uses("a"), user(), results("a")], "before a tool_result for 'a'"),
    "a result of nobody": ([user(), uses("a"), results("a", "z")], "'z'"),
    "starts with a result": ([results("a")], "did not ask for"),
    "text before a result": ([user(), uses("a"), results("a", before=[TEXT])], "before a tool_result"),
    "an empty text block": (
        [user(), {"role": "assistant", "content": [{"type": "text", "text": ""}]}, user()],
        "empty text",
    ),
    "a blank text block": ([user(), uses("a", before=[BLANK]), results("a")], "empty text"),
    "an empty user text": ([user("")], "empty text"),
    "no content": ([user(), {"role": "assistant", "content": []}, user()], "no content"),
    "a system message": ([{"role": "system", "content": "x"}, user()], "'system'"),
    "a tool message": ([user(), {"role": "tool", "content": "x"}], "'tool'"),
    "one id twice": ([user(), uses("a", "a"), results("a")], "twice"),
    "an id with a colon": ([user(), uses("look:0"), results("look:0")], "'look:0'"),
    "a name with a dot": ([user(), uses("a", name="a.b"), results("a")], "'a.b'"),
    "a tool_use of a user": ([{**uses("a"), "role": "user"}, results("a")], "only the assistant"),
    "a system message behind the assistant": (
        [user(), {"role": "assistant", "content": "a"}, {"role": "system", "content": "x"}],
        "'system'",
    ),
    "a block without a type": ([user([{"text": "x"}])], "with a type"),
    "a text that is no text": ([user([{"type": "text", "text": ["x"]}])], "empty text"),
    "a block that is no object": ([user(["x"])], "with a type"),
    "a content that is an object": ([user({"text": "x"})], "neither text nor"),
    "null": ([user(None)], "no content"),
    "no object": (["x"], "not an object"),
    "an input that is text": ([user(), uses("a", given="{}"), results("a")], "not an object"),
    "white space at the end": ([user(), {"role": "assistant", "content": "ok "}], "white space"),
    "a line break at the end": (
        [user(), {"role": "assistant", "content": [{"type": "text", "text": "ok\n"}]}],
        "white space",
    ),
}


class TestValidators:
    @pytest.mark.parametrize("name", OPENAI_GOOD)
    def test_openai_accepts(self, name: str) -> None:
        assert openai_problems(OPENAI_GOOD[name]) == []

    @pytest.mark.parametrize("name", OPENAI_BAD)
    def test_openai_refuses(self, name: str) -> None:
        history, words = OPENAI_BAD[name]
        found = openai_problems(history)
        assert any(words in problem for problem in found) and all(problem.endswith(".") for problem in found)

    @pytest.mark.parametrize("name", ANTHROPIC_GOOD)
    def test_anthropic_accepts(self, name: str) -> None:
        assert anthropic_problems(ANTHROPIC_GOOD[name]) == []

    @pytest.mark.parametrize("name", ANTHROPIC_BAD)
    def test_anthropic_refuses(self, name: str) -> None:
        history, words = ANTHROPIC_BAD[name]
        found = anthropic_problems(history)
        assert any(words in problem for problem in found) and all(problem.endswith(".") for problem in found)


def result(call_id: str = "c", data: Any = 1, failed: bool = False) -> Message:
    error = ErrorDetail("tool_failed", "No.") if failed else None
    return Message("tool", result=ToolResult(call_id, "look", None if failed else data, error))


class TestToOpenai:
    def test_content_is_null_only_beside_calls(self) -> None:
        made = to_openai([Message("assistant", "", (call("look", "c"),)), result(), Message("assistant", "")])
        assert [message["content"] for message in made][::2] == [None, ""]
        assert to_openai([Message("assistant", "hm", (call("look", "c"),))])[0]["content"] == "hm"

    def test_names_are_mapped_and_arguments_are_text(self) -> None:
        made = to_openai(
            [Message("assistant", "", (ToolCall("cal.search", {"q": "한"}, "c"), ToolCall("x", "{broken", "d")))]
        )
        first, second = [item["function"] for item in made[0]["tool_calls"]]
        assert first["name"].startswith("cal_search_") and json.loads(first["arguments"]) == {"q": "한"}
        assert second == {"name": "x", "arguments": "{broken"}

    def test_a_result_says_whether_it_worked(self) -> None:
        good, bad = to_openai([result(data={"a": 1}), result(failed=True)])
        assert json.loads(good["content"]) == {"ok": True, "data": {"a": 1}}
        assert json.loads(bad["content"]) == {"ok": False, "error": {"code": "tool_failed", "message": "No."}}
        assert good["tool_call_id"] == "c"


class TestToAnthropic:
    def test_system_text_is_lifted_out_wherever_it_stands(self) -> None:
        system, turns = to_anthropic(
            [Message("user", "a"), Message("system", "one"), Message("assistant", "b"), Message("system", "two")]
        )
        assert system == "one\n\ntwo" and [turn["role"] for turn in turns] == ["user", "assistant"]

    def test_neighbours_become_one_and_empty_texts_go(self) -> None:
        _, turns = to_anthropic(
            [Message("user", "a"), Message("assistant", " "), Message("user", "b"), Message("assistant", "ok \n")]
        )
        assert [len(turn["content"]) for turn in turns] == [2, 1] and turns[-1]["content"][0]["text"] == "ok"
        assert anthropic_problems(turns) == []

    def test_results_of_one_turn_stand_together_and_first(self) -> None:
        calls = (call("look", "a"), call("look", "b"))
        _, turns = to_anthropic(
            [
                Message("user", "go"),
                Message("assistant", "", calls),
                result("a"),
                result("b", failed=True),
                Message("user", "x"),
            ]
        )
        kinds = [block["type"] for block in turns[2]["content"]]
        assert kinds == ["tool_result", "tool_result", "text"] and anthropic_problems(turns) == []
        assert [block.get("is_error", False) for block in turns[2]["content"][:2]] == [False, True]

    @pytest.mark.parametrize("arguments", ["{broken", "[1]", "", '{"a": 1}', "null"])
    def test_an_input_is_always_an_object(self, arguments: str) -> None:
        _, turns = to_anthropic(
            [Message("user", "go"), Message("assistant", "", (ToolCall("look", arguments, "c"),)), result()]
        )
        assert anthropic_problems(turns) == []
        wanted = {'{"a": 1}': {"a": 1}, "": {}, "null": {}}.get(arguments, {"not_json": arguments})
        assert turns[1]["content"][0]["input"] == wanted

    def test_what_the_provider_needs_back_goes_back_unchanged(self) -> None:
        blocks = [
            {"type": "thinking", "thinking": "…", "signature": "s"},
            {"type": "tool_use", "id": "c", "name": "look", "input": {}},
        ]
        _, turns = to_anthropic(
            [
                Message("user", "go"),
                Message("assistant", "t", (call("look", "c"),), provider={"anthropic": blocks}),
                result(),
            ]
        )
        assert turns[1]["content"] == blocks and turns[1]["content"] is not blocks
