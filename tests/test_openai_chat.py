"""The wire of Chat Completions: requests, replies as OpenAI and many other servers write them, and streams."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentkit import (
    Agent,
    CallTools,
    FinalAnswer,
    Message,
    ModelError,
    ProviderError,
    Registry,
    ReplyError,
    ScriptedModel,
    ToolCall,
    ToolResult,
    ToolSpec,
    openai_problems,
    to_openai,
    tool,
)
from agentkit.models._chat import ChatAssembler, chat_request, read_chat

pytest.importorskip("httpx2", reason="the SDKs are not installed (extra: providers)")

import contextlib

from _fake_service import call, chat, chunk, fragment

SEARCH = ToolSpec(
    "search_circular", "Search.", {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}
)


def calls_of(document: dict[str, Any], *specs: ToolSpec) -> tuple[ToolCall, ...]:
    decision = read_chat(document, specs).decision
    assert isinstance(decision, CallTools)
    return decision.calls


def assembled(chunks: list[Any]) -> tuple[dict[str, Any], str]:
    assembler = ChatAssembler()
    words = "".join(assembler.add(item) for item in chunks)
    return assembler.document(), words


class TestAReply:
    def test_text_is_the_final_answer(self) -> None:
        reply = read_chat(chat("It is shipped."))
        assert reply.decision == FinalAnswer("", "It is shipped.") and reply.provider is None

    def test_text_beside_calls_is_the_thought(self) -> None:
        reply = read_chat(chat("I look.", [call("search_circular", '{"q": "a"}')]))
        assert reply.decision == CallTools("I look.", (ToolCall("search_circular", {"q": "a"}, "call_a"),))
        assert reply.provider is None

    def test_usage_has_the_cached_tokens_and_a_price(self) -> None:
        usage = read_chat(chat("Yes."), price=lambda *counts: float(sum(counts[1:]))).usage
        assert usage is not None and (usage.input_tokens, usage.output_tokens, usage.cached_tokens) == (100, 20, 40)
        assert usage.cost == 160.0

    def test_the_price_is_looked_up_by_the_models_name(self) -> None:
        assert read_chat(chat("Yes.")).usage.cost == pytest.approx((60 * 0.25 + 40 * 0.025 + 20 * 2) / 1e6)  # type: ignore[union-attr]
        nameless = chat("Yes.", model=None)
        assert read_chat(nameless).usage.cost is None  # type: ignore[union-attr]
        assert read_chat(nameless, model="gpt-5-mini").usage.cost is not None  # type: ignore[union-attr]

    @pytest.mark.parametrize("usage", [None, {}, "none"])
    def test_without_usage_the_cost_is_unknown_and_not_zero_EV_03(self, usage: Any) -> None:
        found = read_chat(chat("Yes.", usage=usage)).usage
        assert found is not None and found.cost is None and found.total_tokens == 0

    def test_usage_with_gaps(self) -> None:
        usage = read_chat(
            chat("Yes.", usage={"prompt_tokens": 7, "completion_tokens": None, "prompt_tokens_details": None})
        ).usage
        assert usage is not None and (usage.input_tokens, usage.output_tokens, usage.cached_tokens) == (7, 0, 0)
        usage = read_chat(
            chat("Yes.", usage={"prompt_tokens": 7, "completion_tokens": 1, "prompt_cache_hit_tokens": 5})
        ).usage
        assert usage is not None and usage.cached_tokens == 5

    def test_a_refusal_is_a_final_answer_and_goes_back_as_one(self) -> None:
        reply = read_chat(chat(None, message={"refusal": "I cannot help with that."}))
        assert reply.decision == FinalAnswer("", "I cannot help with that.")
        sent = to_openai(
            [Message("user", "x"), Message("assistant", "I cannot help with that.", provider=reply.provider)]
        )
        assert sent[1] == {"role": "assistant", "content": None, "refusal": "I cannot help with that."}
        assert openai_problems(sent) == []

    def test_a_withheld_reply_says_so(self) -> None:
        reply = read_chat(chat("", finish="content_filter"))
        assert "content filter" in reply.decision.text and reply.provider == {"stop_reason": "content_filter"}  # type: ignore[union-attr]
        assert read_chat(chat("Half", finish="content_filter")).decision == FinalAnswer("", "Half")

    def test_spoken_replies_are_read_by_their_transcript(self) -> None:
        reply = read_chat(chat(None, message={"audio": {"id": "audio_1", "transcript": "Good day.", "data": "UklG"}}))
        assert reply.decision == FinalAnswer("", "Good day.")
        assert reply.provider == {"openai": {"content": None, "audio": {"id": "audio_1"}}}


class TestServerHabits:
    """What servers that speak this language do differently (Ollama, vLLM, LM Studio, llama.cpp, OpenRouter, gateways)."""

    @pytest.mark.parametrize("content", [None, "", [], ...], ids=["null", "empty", "no parts", "missing"])
    def test_no_text_beside_calls(self, content: Any) -> None:
        document = chat(content, [call("search_circular", "{}")])
        if content is ...:
            del document["choices"][0]["message"]["content"]
        assert read_chat(document).decision == CallTools("", (ToolCall("search_circular", {}, "call_a"),))

    def test_text_as_a_list_of_parts(self) -> None:
        parts = [{"type": "text", "text": "It is "}, {"type": "text", "text": "shipped."}]
        assert read_chat(chat(parts)).decision == FinalAnswer("", "It is shipped.")

    @pytest.mark.parametrize(
        "arguments", ["", "  ", None, "{}", {}], ids=["empty", "blank", "null", "object text", "object"]
    )
    def test_no_arguments_AR_01(self, arguments: Any) -> None:
        assert calls_of(chat(None, [call("version", arguments)])) == (ToolCall("version", {}, "call_a"),)

    def test_arguments_as_an_object(self) -> None:
        assert calls_of(chat(None, [call("f", {"x": [1]})]))[0].arguments == {"x": [1]}

    def test_arguments_that_were_encoded_twice_reach_the_tool_AR_02(self) -> None:
        @tool
        def look(order_id: str) -> str:
            """Look an order up."""
            return order_id

        twice = json.dumps(json.dumps({"order_id": "27422"}))
        assert Registry([look]).call(calls_of(chat(None, [call("look", twice)]))[0]).data == "27422"

    @pytest.mark.parametrize("call_id", [None, ""])
    def test_calls_without_an_id_are_numbered_by_the_loop(self, call_id: Any) -> None:
        found = calls_of(chat(None, [call("f", "{}", call_id), call("g", "{}", call_id)]))
        assert [c.id for c in found] == ["", ""]
        bare = chat(None, [{"function": {"name": "f", "arguments": "{}"}}])
        assert calls_of(bare) == (ToolCall("f", {}),)

    def test_calls_beside_the_finish_reason_stop_or_none(self) -> None:
        assert len(calls_of(chat("", [call("f", "{}")], finish="stop"))) == 1
        document = chat("", [call("f", "{}")])
        document["choices"][0]["finish_reason"] = None
        assert len(calls_of(document)) == 1

    def test_the_former_function_call(self) -> None:
        document = chat(None, message={"function_call": {"name": "f", "arguments": '{"x": 1}'}}, finish="function_call")
        assert calls_of(document) == (ToolCall("f", {"x": 1}),)

    @pytest.mark.parametrize("key", ["reasoning_content", "reasoning"])
    def test_reasoning_is_the_thought_and_goes_back_in_its_own_place(self, key: str) -> None:
        reply = read_chat(chat("I look.", [call("f", "{}")], message={key: "The user wants …"}))
        decision = reply.decision
        assert isinstance(decision, CallTools) and decision.thought == "The user wants …\n\nI look."
        sent = to_openai([Message("assistant", decision.thought, decision.calls, provider=reply.provider)])[0]
        assert (sent["content"], sent[key]) == ("I look.", "The user wants …")
        assert read_chat(chat("Done.", message={key: "Easy."})).decision == FinalAnswer("Easy.", "Done.")

    @pytest.mark.parametrize("calls", [[None], ["f"], [{}], [{"function": None}], [{"function": "f"}], {"a": 1}, "x"])
    def test_calls_that_are_none_never_crash(self, calls: Any) -> None:
        document = chat("text")
        document["choices"][0]["message"]["tool_calls"] = calls
        decision = read_chat(document).decision
        assert isinstance(decision, FinalAnswer) or [c.name for c in decision.calls] == [""]  # type: ignore[union-attr]

    @pytest.mark.parametrize(
        "document", [None, [], "text", {}, {"choices": []}, {"choices": None}, {"choices": [{}]}, {"choices": ["x"]}]
    )
    def test_a_document_without_a_message_is_told(self, document: Any) -> None:
        with pytest.raises(ReplyError, match="not in the form of Chat Completions"):
            read_chat(document)

    @pytest.mark.parametrize("error", [{"message": "down", "code": 502}, "down"])
    def test_an_error_with_status_200(self, error: Any) -> None:
        with pytest.raises(ProviderError, match="It said: down"):
            read_chat({"error": error})


class TestCutOff:
    def test_half_a_call_is_never_repaired_and_never_run_AR_05(self) -> None:
        ran: list[Any] = []

        @tool
        def write(path: str, content: str = "") -> str:
            """Write a file."""
            ran.append(path)
            return "written"

        half = '{"path":"x.py","content":"abc'
        reply = read_chat(chat(None, [call("write", half)], finish="length"))
        assert reply.decision == CallTools("", (ToolCall("write", half, "call_a", truncated=True),))
        assert reply.provider == {"stop_reason": "length"}
        result = Registry([write]).call(reply.decision.calls[0])  # type: ignore[union-attr]
        assert (result.error.code, ran) == ("truncated", [])  # type: ignore[union-attr]

    @pytest.mark.parametrize("half", ["", None, "{", '{"a": 1', '"{'])
    def test_any_incomplete_arguments_beside_a_length_stop_are_a_half(self, half: Any) -> None:
        assert calls_of(chat(None, [call("f", half)], finish="length"))[0].truncated

    def test_a_call_that_is_complete_runs_even_so(self) -> None:
        found = calls_of(chat(None, [call("f", '{"a": 1}', "c1"), call("g", '{"b"', "c2")], finish="length"))
        assert [c.truncated for c in found] == [False, True]

    def test_malformed_arguments_without_a_length_stop_are_not_called_truncated_AR_07(self) -> None:
        @tool
        def act(action: str) -> str:
            """Act."""
            return action

        found = calls_of(chat(None, [call("act", '{"action": listt_windows"}')], finish="tool_calls"))[0]
        assert found.arguments == '{"action": listt_windows"}' and not found.truncated
        error = Registry([act]).call(found).error
        assert error is not None and error.code == "bad_json" and "not valid JSON" in error.message

    @pytest.mark.parametrize("text", ['{"x": NaN}', "[" * 5000, "[1]", "7", '{"x": 1'])
    def test_arguments_that_are_no_object_stay_text(self, text: str) -> None:
        assert calls_of(chat(None, [call("f", text)]))[0].arguments == text

    def test_a_text_stays_and_the_stop_reason_says_so(self) -> None:
        reply = read_chat(chat("The answer is", finish="length"))
        assert (reply.decision, reply.provider) == (FinalAnswer("", "The answer is"), {"stop_reason": "length"})

    @pytest.mark.parametrize("message", [{}, {"reasoning_content": "I think and think"}])
    def test_nothing_at_all_says_to_raise_the_limit(self, message: Any) -> None:
        with pytest.raises(ReplyError, match="larger max_output_tokens"):
            read_chat(chat("", finish="length", message=message))


class TestNames:
    def test_a_name_that_was_changed_for_the_wire_is_routed_back_RG_04(self) -> None:
        spec = ToolSpec("calendar.search 일정", "Search.", {"type": "object", "properties": {}})
        sent = chat_request("m", [Message("user", "x")], [spec])["tools"][0]["function"]["name"]
        assert sent != spec.name and sent.isascii()
        assert calls_of(chat(None, [call(sent, "{}")]), spec)[0].name == spec.name

    def test_an_unknown_name_stays_as_it_is_RG_01(self) -> None:
        arguments = {"tool_uses": [{"recipient_name": "functions.read", "parameters": {"path": "a"}}]}
        found = calls_of(chat(None, [call("multi_tool_use.parallel", json.dumps(arguments))]), SEARCH)
        assert found[0].name == "multi_tool_use.parallel"
        error = Registry([]).call(found[0]).error
        assert error is not None and error.code == "unknown_tool"

    @pytest.mark.parametrize("name", [None, 5, ""])
    def test_a_name_that_is_none(self, name: Any) -> None:
        assert calls_of(chat(None, [call(name, "{}")]))[0].name == ""


class TestCustomTools:
    DOCUMENT = chat(None, [{"id": "call_a", "type": "custom", "custom": {"name": "shell", "input": "ls -l"}}])

    def test_the_input_is_the_argument_named_input(self) -> None:
        assert calls_of(self.DOCUMENT) == (ToolCall("shell", {"input": "ls -l"}, "call_a"),)

    def test_it_goes_back_as_a_custom_call_under_its_present_id(self) -> None:
        reply = read_chat(self.DOCUMENT)
        sent = to_openai(
            [Message("assistant", "", (ToolCall("shell", {"input": "ls -l"}, "call_9"),), provider=reply.provider)]
        )
        assert sent[0]["tool_calls"] == [
            {"id": "call_9", "type": "custom", "custom": {"name": "shell", "input": "ls -l"}}
        ]

    def test_a_cut_off_input_is_a_half(self) -> None:
        document = json.loads(json.dumps(self.DOCUMENT))
        document["choices"][0]["finish_reason"] = "length"
        assert calls_of(document)[0].truncated


class TestARequest:
    GOAL = (Message("system", "Be brief."), Message("user", "Where?"))

    def test_the_whole_body(self) -> None:
        body = chat_request("gpt-5-mini", self.GOAL, [SEARCH], max_output_tokens=50, options={"user": "u1"})
        assert body["messages"] == [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Where?"}]
        assert set(body) == {"model", "messages", "tools", "max_completion_tokens", "user"}
        function = body["tools"][0]["function"]
        assert function["strict"] is True and function["parameters"]["additionalProperties"] is False
        json.dumps(body)

    def test_other_servers_know_the_limit_by_its_older_name(self) -> None:
        body = chat_request("m", self.GOAL, max_output_tokens=50, own=False)
        assert body["max_tokens"] == 50 and "max_completion_tokens" not in body

    def test_one_call_at_a_time_is_asked_for_only_with_tools(self) -> None:
        assert chat_request("m", self.GOAL, [SEARCH], parallel_tools=False)["parallel_tool_calls"] is False
        assert "parallel_tool_calls" not in chat_request("m", self.GOAL, parallel_tools=False)

    def test_options_win(self) -> None:
        assert chat_request("m", self.GOAL, [SEARCH], options={"tools": []})["tools"] == []

    def test_models_that_want_a_setting_with_tools_get_it_from_the_catalog(self) -> None:
        assert chat_request("gpt-6-luna", self.GOAL, [SEARCH])["reasoning_effort"] == "none"
        assert (
            chat_request("gpt-6-luna", self.GOAL, [SEARCH], options={"reasoning_effort": "low"})["reasoning_effort"]
            == "low"
        )
        for body in (chat_request("gpt-6-luna", self.GOAL), chat_request("gpt-6-luna", self.GOAL, [SEARCH], own=False)):
            assert "reasoning_effort" not in body

    def test_a_schema_with_free_keys_is_sent_without_strict_PO_03_SC_04(self) -> None:
        @tool
        def count(m: dict[str, int]) -> int:
            """Count."""
            return sum(m.values())

        function = chat_request("m", self.GOAL, [count.spec])["tools"][0]["function"]
        assert function["strict"] is False
        assert function["parameters"]["properties"]["m"]["additionalProperties"] == {"type": "integer"}

    def test_strict_is_claimed_only_for_closed_schemas_SC_01(self) -> None:
        @tool
        def weather(city: str, unit: str = "C") -> str:
            """Weather."""
            return city + unit

        function = chat_request("m", self.GOAL, [weather.spec])["tools"][0]["function"]
        assert function["strict"] is True and function["parameters"]["required"] == ["city", "unit"]

    @pytest.mark.parametrize("text", ["", "I look."])
    def test_content_is_null_only_beside_calls_PO_01_PO_02(self, text: str) -> None:
        asked = Message("assistant", text, (ToolCall("f", {}, "c1"),))
        answered = Message("tool", result=ToolResult("c1", "f", 1))
        sent = chat_request("m", [*self.GOAL, asked, answered, Message("assistant", "")])["messages"]
        assert sent[2]["content"] == (text or None) and "content" in sent[2]
        assert sent[4]["content"] == ""


class TestStreams:
    def test_deltas_of_two_parallel_calls_are_joined_by_their_index_ST_01(self) -> None:
        document, words = assembled([
            chunk({"role": "assistant", "content": None}),
            chunk(fragment(0, "", "f", "a")), chunk(fragment(1, "", "g", "b")),
            chunk(fragment(0, '{"x"')), chunk(fragment(1, '{"y"')), chunk(fragment(0, ": 1}")), chunk(fragment(1, ": 2}")),
            chunk({}, "tool_calls"),
        ])  # fmt: skip
        assert calls_of(document) == (ToolCall("f", {"x": 1}, "a"), ToolCall("g", {"y": 2}, "b")) and words == ""

    def test_a_name_that_is_sent_again_is_not_appended_ST_04(self) -> None:
        name = "search_circular"
        again = [chunk(fragment(0, part, name, "a")) for part in ("", '{"q": ', '"x"}')]
        assert calls_of(assembled([*again, chunk({}, "tool_calls")])[0]) == (ToolCall(name, {"q": "x"}, "a"),)
        without_id = [chunk(fragment(0, part, name)) for part in ("", '{"q": ', '"x"}')]
        assert calls_of(assembled([*without_id, chunk({}, "tool_calls")])[0]) == (ToolCall(name, {"q": "x"}),)
        no_index = [chunk(fragment(None, part, name)) for part in ("", '{"q": ', '"x"}')]
        assert calls_of(assembled([*no_index, chunk({}, "tool_calls")])[0]) == (ToolCall(name, {"q": "x"}),)

    def test_two_fragments_in_one_chunk(self) -> None:
        both = {"tool_calls": [*fragment(0, "{}", "f", "a")["tool_calls"], *fragment(1, "{}", "g", "b")["tool_calls"]]}
        assert [c.name for c in calls_of(assembled([chunk(both, "tool_calls")])[0])] == ["f", "g"]

    @pytest.mark.parametrize("index", [0, None], ids=["the same index", "no index"])
    def test_servers_that_do_not_count(self, index: int | None) -> None:
        whole = [chunk(fragment(index, '{"x": 1}', "f", "a")), chunk(fragment(index, '{"x": 2}', "f", "b"))]
        found = calls_of(assembled([*whole, chunk({}, "stop")])[0])
        assert found == (ToolCall("f", {"x": 1}, "a"), ToolCall("f", {"x": 2}, "b"))

    def test_no_index_and_no_id(self) -> None:
        parts = [
            fragment(None, '{"x"', "f"),
            fragment(None, ": 1}"),
            fragment(None, '{"y": 2}', "g"),
            fragment(None, '{"y": 3}', "g"),
        ]
        found = calls_of(assembled([*map(chunk, parts), chunk({}, "stop")])[0])
        assert [(c.name, c.arguments) for c in found] == [("f", {"x": 1}), ("g", {"y": 2}), ("g", {"y": 3})]

    def test_a_new_id_without_a_name_goes_on_with_the_call(self) -> None:
        parts = [fragment(0, '{"x"', "f", "a"), fragment(0, ": 1}", None, "b")]
        assert calls_of(assembled([*map(chunk, parts), chunk({}, "stop")])[0]) == (ToolCall("f", {"x": 1}, "a"),)

    def test_arguments_in_one_piece_as_an_object(self) -> None:
        assert calls_of(assembled([chunk(fragment(0, {"x": 1}, "f", "a")), chunk({}, "stop")])[0])[0].arguments == {
            "x": 1
        }

    def test_the_usage_comes_in_a_chunk_without_choices(self) -> None:
        usage = {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}
        document, words = assembled([chunk({"content": "Hi"}, usage=None), chunk({}, "stop"), chunk(usage=usage)])
        assert (words, document["usage"]) == ("Hi", usage)

    def test_without_usage_the_cost_is_unknown_EV_03(self) -> None:
        document, _ = assembled([chunk({"content": "Hi"}, "stop", usage=None)])
        assert read_chat(document).usage.cost is None  # type: ignore[union-attr]

    def test_reasoning_is_kept_apart_from_the_words(self) -> None:
        document, words = assembled([
            chunk({"reasoning_content": "Let me "}), chunk({"reasoning_content": "see."}), chunk({"content": "Yes."}), chunk({}, "stop"),
        ])  # fmt: skip
        assert words == "Yes." and read_chat(document).decision == FinalAnswer("Let me see.", "Yes.")

    def test_a_refusal_comes_in_words_too(self) -> None:
        document, words = assembled([chunk({"refusal": "I "}), chunk({"refusal": "cannot."}), chunk({}, "stop")])
        assert words == "I cannot." and read_chat(document).decision == FinalAnswer("", "I cannot.")

    def test_custom_and_former_calls(self) -> None:
        custom = [{"index": 0, "id": "a", "type": "custom", "custom": {"name": "shell", "input": "ls"}}]
        more = [{"index": 0, "custom": {"input": " -l"}}]
        document, _ = assembled([chunk({"tool_calls": custom}), chunk({"tool_calls": more}), chunk({}, "tool_calls")])
        assert calls_of(document) == (ToolCall("shell", {"input": "ls -l"}, "a"),)
        former = [
            chunk({"function_call": {"name": "f", "arguments": ""}}),
            chunk({"function_call": {"arguments": "{}"}}),
        ]
        assert calls_of(assembled([*former, chunk({}, "function_call")])[0]) == (ToolCall("f", {}),)

    def test_other_choices_and_odd_chunks_are_left_out(self) -> None:
        other = {**chunk(), "choices": [{"index": 1, "delta": {"content": "other"}, "finish_reason": "stop"}]}
        odd = [chunk(), {}, {"choices": None}, {**chunk(), "choices": [{"index": 0, "delta": None}]}]
        document, words = assembled(
            [*odd, other, chunk({"content": "Yes.", "tool_calls": None}), chunk({"tool_calls": [None]}, "stop")]
        )
        assert words == "Yes." and read_chat(document).decision == FinalAnswer("", "Yes.")

    @pytest.mark.parametrize("items", [[], [chunk({"content": "The "})], [chunk(fragment(0, '{"a": 1}', "f", "a"))]])
    def test_a_stream_without_an_end_is_no_reply(self, items: list[Any]) -> None:
        with pytest.raises(ProviderError) as caught:
            assembled(items)
        assert caught.value.code == "interrupted"

    def test_an_error_in_the_stream(self) -> None:
        with pytest.raises(ProviderError, match="It said: too busy") as caught:
            ChatAssembler().add({"error": {"message": "too busy", "type": "overloaded_error"}})
        assert caught.value.code == "server_error"

    def test_a_snapshot_stays_as_it_is(self) -> None:
        assembler = ChatAssembler()
        assembler.add(chunk(fragment(0, '{"x"', "f", "a")))
        before = assembler.snapshot()
        kept = json.dumps(before)
        assembler.add(chunk(fragment(0, ": 1}")))
        assert json.dumps(before) == kept != json.dumps(assembler.snapshot())


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
objects = st.dictionaries(st.text("abc_", min_size=1, max_size=4), st.integers() | texts | st.none(), max_size=3)
whole_calls = st.lists(st.tuples(st.sampled_from(["f", "g_2", "search_circular"]), objects), max_size=4)


@given(content=texts, calls=whole_calls, reasoning=texts, sizes=st.lists(st.integers(1, 7), min_size=1, max_size=9))
def test_a_stream_in_any_pieces_is_read_as_the_document_is(
    content: str, calls: Any, reasoning: str, sizes: list[int]
) -> None:
    """Whatever the service cuts a reply into, and in whatever order the calls take turns, it means the same."""
    made = [call(name, json.dumps(arguments), f"id_{place}") for place, (name, arguments) in enumerate(calls)]
    document = chat(content or None, made or None, message={"reasoning_content": reasoning} if reasoning else {})
    chunks = [chunk({"role": "assistant"})]
    chunks += [chunk({"reasoning_content": piece}) for piece in pieces(reasoning, sizes)]
    chunks += [chunk({"content": piece}) for piece in pieces(content, sizes)]
    streams = [
        [fragment(place, "", one["function"]["name"], one["id"]), *(fragment(place, piece) for piece in pieces(one["function"]["arguments"], sizes))]
        for place, one in enumerate(made)
    ]  # fmt: skip
    while any(streams):
        for stream in streams:
            chunks += [chunk(stream.pop(0))] if stream else []
    chunks += [chunk({}, "tool_calls" if made else "stop"), chunk(usage=document["usage"])]
    found, words = assembled(chunks)
    assert words == content
    assert read_chat(found) == read_chat(document)


def pieces(text: str, sizes: list[int]) -> list[str]:
    found, place = [], 0
    while text:
        size = sizes[place % len(sizes)]
        found.append(text[:size])
        text, place = text[size:], place + 1
    return found


json_values = st.recursive(st.none() | st.booleans() | st.integers() | texts, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3), max_leaves=8)  # fmt: skip
strange = st.fixed_dictionaries(
    {}, optional=dict.fromkeys(("role", "content", "tool_calls", "refusal", "audio", "function_call", "reasoning", "usage"), json_values)
)  # fmt: skip


@given(
    message=strange,
    finish=st.sampled_from(["stop", "length", "content_filter", None, 3]),
    usage=json_values,
    delta=strange,
)
def test_strange_replies_never_crash(message: Any, finish: Any, usage: Any, delta: Any) -> None:
    """Any JSON in the place of a message gives a decision or one of our own errors."""
    for document in ({"choices": [{"message": message, "finish_reason": finish}], "usage": usage}, message):
        with contextlib.suppress(ModelError):
            read_chat(document)
    assembler = ChatAssembler()
    try:
        assembler.add({"choices": [{"delta": delta, "finish_reason": finish}]})
        assembler.add({"choices": [{"delta": message}]})
        read_chat(assembler.snapshot())
    except ModelError:
        pass


def test_a_run_of_replies_that_were_read_has_a_history_that_is_accepted() -> None:
    @tool
    def look(order_id: str) -> str:
        """Look an order up."""
        return "shipped"

    same = [call("look", '{"order_id": "7"}', "call_a"), call("look", '{"order_id": "8"}', "call_a")]
    replies = [read_chat(chat("I look.", same, message={"reasoning_content": "Hm."})), read_chat(chat("Shipped."))]
    run = Agent(ScriptedModel(replies), [look]).run("Where?")
    sent = to_openai(run.messages)
    assert openai_problems(sent) == [] and sent[1]["reasoning_content"] == "Hm."
    assert [c["id"] for c in sent[1]["tool_calls"]] == ["call_a", "call_2"]
