"""The wire of Responses: requests, replies, and streams of events."""

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
    ToolSpec,
    tool,
)
from agentkit._wire import responses_problems, to_responses
from agentkit.models._responses import ResponsesAssembler, read_responses, responses_request

USAGE = {
    "input_tokens": 100, "output_tokens": 20, "total_tokens": 120, "input_tokens_details": {"cached_tokens": 40},
    "output_tokens_details": {"reasoning_tokens": 5},
}  # fmt: skip
SEARCH = ToolSpec("search", "Search.", {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]})


def document(*output: Any, status: str = "completed", **more: Any) -> dict[str, Any]:
    return {
        "id": "resp_1", "object": "response", "model": "gpt-5-mini-2025-08-07", "status": status, "output": list(output),
        "error": None, "incomplete_details": None, "usage": USAGE, **more,
    }  # fmt: skip


def said(text: str, **more: Any) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": content, **more}


def call(name: str, arguments: Any, call_id: str = "call_a", status: str = "completed") -> dict[str, Any]:
    return {
        "type": "function_call",
        "id": "fc_1",
        "call_id": call_id,
        "name": name,
        "arguments": arguments,
        "status": status,
    }


def reasoned(*texts: str) -> dict[str, Any]:
    summary = [{"type": "summary_text", "text": text} for text in texts]
    return {"type": "reasoning", "id": "rs_1", "summary": summary, "encrypted_content": "gAAAA"}


class TestAReply:
    def test_text_is_the_final_answer(self) -> None:
        reply = read_responses(document(said("It is shipped.")))
        assert reply.decision == FinalAnswer("", "It is shipped.") and reply.provider is None

    def test_text_and_reasoning_beside_calls_are_the_thought(self) -> None:
        items = (reasoned("First.", "Then."), said("I look."), call("search", '{"q": "a"}'))
        reply = read_responses(document(*items))
        assert reply.decision == CallTools("First.\n\nThen.\n\nI look.", (ToolCall("search", {"q": "a"}, "call_a"),))
        assert reply.provider == {"responses": list(items)}

    def test_plain_text_and_calls_need_nothing_kept(self) -> None:
        assert read_responses(document(said("I look."), call("search", "{}"))).provider is None
        assert read_responses(document(call("search", "{}"), call("search", "{}", "call_b"))).provider is None

    @pytest.mark.parametrize(
        "items",
        [
            [said("I look.", phase="commentary")],
            [said("One."), said("Two.")],
            [call("search", "{}"), said("I look.")],
            [{"type": "web_search_call", "id": "ws_1", "status": "completed"}, said("Found.")],
        ],
        ids=["phase", "two messages", "text behind a call", "a tool of the service"],
    )
    def test_what_our_values_do_not_say_goes_back_unchanged(self, items: list[Any]) -> None:
        reply = read_responses(document(*items))
        decision = reply.decision
        calls = decision.calls if isinstance(decision, CallTools) else ()
        text = decision.thought if isinstance(decision, CallTools) else decision.text  # type: ignore[union-attr]
        assert to_responses([Message("assistant", text, calls, provider=reply.provider)])[1] == items

    def test_usage_has_the_cached_tokens_and_a_price(self) -> None:
        usage = read_responses(document(said("Yes."))).usage
        assert usage is not None and (usage.input_tokens, usage.output_tokens, usage.cached_tokens) == (100, 20, 40)
        assert usage.cost == pytest.approx((60 * 0.25 + 40 * 0.025 + 20 * 2) / 1e6)
        assert read_responses(document(said("Yes."), usage=None)).usage.cost is None  # type: ignore[union-attr]

    def test_a_refusal_is_a_final_answer(self) -> None:
        refused = said("", content=[{"type": "refusal", "refusal": "I cannot help with that."}])
        reply = read_responses(document(refused))
        assert reply.decision == FinalAnswer("", "I cannot help with that.")
        assert reply.provider == {"responses": [refused]}

    def test_a_withheld_reply_says_so(self) -> None:
        reply = read_responses(document(status="incomplete", incomplete_details={"reason": "content_filter"}))
        assert "content filter" in reply.decision.text and reply.provider == {"stop_reason": "content_filter"}  # type: ignore[union-attr]

    def test_a_custom_call(self) -> None:
        item = {"type": "custom_tool_call", "id": "ctc_1", "call_id": "call_a", "name": "shell", "input": "ls -l"}
        reply = read_responses(document(item))
        assert reply.decision == CallTools("", (ToolCall("shell", {"input": "ls -l"}, "call_a"),))
        again = Message("assistant", "", (ToolCall("shell", {"input": "ls -l"}, "call_9"),), provider=reply.provider)
        assert to_responses([again])[1] == [{**item, "call_id": "call_9"}]

    @pytest.mark.parametrize("arguments", ["", None, "{}"])
    def test_no_arguments_AR_01(self, arguments: Any) -> None:
        assert read_responses(document(call("version", arguments))).decision == CallTools(
            "", (ToolCall("version", {}, "call_a"),)
        )

    def test_a_name_that_was_changed_for_the_wire_is_routed_back_RG_04(self) -> None:
        spec = ToolSpec("calendar.search", "Search.", {"type": "object", "properties": {}})
        sent = responses_request("m", [Message("user", "x")], [spec])["tools"][0]["name"]
        assert sent != spec.name
        decision = read_responses(document(call(sent, "{}")), [spec]).decision
        assert isinstance(decision, CallTools) and decision.calls[0].name == "calendar.search"


class TestCutOff:
    def cut(self, *items: Any) -> dict[str, Any]:
        return document(*items, status="incomplete", incomplete_details={"reason": "max_output_tokens"})

    def test_half_a_call_is_never_run_AR_05(self) -> None:
        half = '{"path":"x.py","content":"abc'
        reply = read_responses(self.cut(call("write", half, status="incomplete")))
        assert reply.decision == CallTools("", (ToolCall("write", half, "call_a", truncated=True),))
        assert reply.provider == {"stop_reason": "max_output_tokens"}

    def test_malformed_arguments_of_a_complete_call_are_not_called_truncated_AR_07(self) -> None:
        broken = '{"action": listt_windows"}'
        for made in (self.cut(call("act", broken)), document(call("act", broken))):
            assert read_responses(made).decision == CallTools("", (ToolCall("act", broken, "call_a"),))

    def test_a_text_stays_and_the_stop_reason_says_so(self) -> None:
        reply = read_responses(self.cut(said("The answer is")))
        assert (reply.decision, reply.provider) == (
            FinalAnswer("", "The answer is"),
            {"stop_reason": "max_output_tokens"},
        )

    @pytest.mark.parametrize("items", [[], [reasoned("Let me see.")]])
    def test_nothing_at_all_says_to_raise_the_limit(self, items: list[Any]) -> None:
        with pytest.raises(ReplyError, match="larger max_output_tokens"):
            read_responses(self.cut(*items))


class TestErrors:
    def test_a_failed_response(self) -> None:
        error = {"code": "server_error", "message": "The model had a problem"}
        with pytest.raises(ProviderError, match="The model had a problem") as caught:
            read_responses(document(status="failed", error=error))
        assert caught.value.code == "server_error"

    @pytest.mark.parametrize("status", ["in_progress", "queued", "cancelled"])
    def test_a_response_that_is_not_finished(self, status: str) -> None:
        with pytest.raises(ProviderError) as caught:
            read_responses(document(said("Half"), status=status))
        assert caught.value.code == "interrupted"

    @pytest.mark.parametrize("found", [None, [], "text", {}, {"output": None}, {"output": "x"}, {"choices": []}])
    def test_a_document_of_another_form(self, found: Any) -> None:
        with pytest.raises(ReplyError, match="not in the form of Responses"):
            read_responses(found)


def test_a_request_holds_the_whole_history() -> None:
    asked = Message("assistant", "I look.", (ToolCall("search", {"q": "a"}, "c1"),))
    body = responses_request(
        "gpt-5-mini", [Message("system", "Be brief."), Message("user", "Where?"), asked], [SEARCH], max_output_tokens=9,
        parallel_tools=False, options={"store": False},
    )  # fmt: skip
    assert (body["instructions"], body["max_output_tokens"], body["store"], body["parallel_tool_calls"]) == (
        "Be brief.",
        9,
        False,
        False,
    )
    assert [item.get("type", item.get("role")) for item in body["input"]] == ["user", "assistant", "function_call"]
    assert (body["tools"][0]["name"], body["tools"][0]["strict"]) == ("search", True)


# --- streams ---------------------------------------------------------------------------------------------------------


def events_of(final: dict[str, Any], sizes: list[int], *, empty: bool = False) -> list[dict[str, Any]]:
    """The events with which the service would have sent this document; ``empty`` leaves the items out of the last one."""
    start = {**final, "status": "in_progress", "output": [], "usage": None}
    found: list[dict[str, Any]] = [
        {"type": "response.created", "response": start},
        {"type": "response.in_progress", "response": start},
    ]
    for index, item in enumerate(final["output"]):
        head = {"output_index": index, "item_id": item.get("id")}
        bare = {
            "message": {"content": []},
            "reasoning": {"summary": []},
            "function_call": {"arguments": ""},
            "custom_tool_call": {"input": ""},
        }
        found.append(
            {
                "type": "response.output_item.added",
                "output_index": index,
                "item": {**item, **bare.get(item["type"], {})},
            }
        )
        for place, part in enumerate(item.get("content") or ()):
            field = "refusal" if part["type"] == "refusal" else "text"
            kind = "refusal" if field == "refusal" else "output_text"
            found.append(
                {"type": "response.content_part.added", **head, "content_index": place, "part": {**part, field: ""}}
            )
            found += [
                {"type": f"response.{kind}.delta", **head, "content_index": place, "delta": p}
                for p in pieces(part[field], sizes)
            ]
            found.append({"type": "response.content_part.done", **head, "content_index": place, "part": part})
        for place, part in enumerate(item.get("summary") or ()):
            found.append(
                {
                    "type": "response.reasoning_summary_part.added",
                    **head,
                    "summary_index": place,
                    "part": {**part, "text": ""},
                }
            )
            found += [
                {"type": "response.reasoning_summary_text.delta", **head, "summary_index": place, "delta": p}
                for p in pieces(part["text"], sizes)
            ]
        for kind, field in (("function_call_arguments", "arguments"), ("custom_tool_call_input", "input")):
            found += [
                {"type": f"response.{kind}.delta", **head, "delta": p} for p in pieces(item.get(field, ""), sizes)
            ]
        if not empty:
            found.append({"type": "response.output_item.done", "output_index": index, "item": item})
    last = {"completed": "response.completed", "incomplete": "response.incomplete", "failed": "response.failed"}
    found.append({"type": last[final["status"]], "response": {**final, "output": []} if empty else final})
    return found


def pieces(text: str, sizes: list[int]) -> list[str]:
    found, place = [], 0
    while text:
        size = sizes[place % len(sizes)]
        found.append(text[:size])
        text, place = text[size:], place + 1
    return found


def assembled(items: list[dict[str, Any]]) -> tuple[dict[str, Any], str]:
    assembler = ResponsesAssembler()
    words = "".join(assembler.add(item) for item in items)
    return assembler.document(), words


texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30)
items_of = st.lists(
    st.one_of(
        texts.map(said),
        st.lists(texts, max_size=2).map(lambda found: reasoned(*found)),
        st.tuples(
            st.sampled_from(["f", "g"]), st.dictionaries(st.text("ab", min_size=1, max_size=2), texts, max_size=2)
        ).map(lambda found: call(found[0], json.dumps(found[1]))),
        texts.map(lambda text: said("", content=[{"type": "refusal", "refusal": text}])),
        texts.map(lambda text: {"type": "custom_tool_call", "call_id": "c", "name": "shell", "input": text}),
    ),
    max_size=4,
)


@given(items=items_of, sizes=st.lists(st.integers(1, 7), min_size=1, max_size=9), empty=st.booleans())
def test_a_stream_in_any_pieces_is_read_as_the_document_is(items: Any, sizes: list[int], empty: bool) -> None:
    final = document(*items)
    found, words = assembled(events_of(final, sizes, empty=empty))
    assert found["output"] == final["output"] and read_responses(found) == read_responses(final)
    decision = read_responses(final).decision
    if isinstance(decision, FinalAnswer):
        assert words == decision.text


class TestStreams:
    def test_before_the_end_there_is_no_document(self) -> None:
        found = events_of(document(said("The order is shipped."), call("search", '{"q": "a"}')), [4])
        assembler = ResponsesAssembler()
        for event in found[:-1]:
            assembler.add(event)
        with pytest.raises(ProviderError) as caught:
            assembler.document()
        assert caught.value.code == "interrupted"
        assert [item["type"] for item in assembler.snapshot()["output"]] == ["message", "function_call"]

    def test_a_snapshot_stays_as_it_is(self) -> None:
        found = events_of(document(said("The order is shipped.")), [4])
        assembler = ResponsesAssembler()
        kept = []
        for event in found:
            assembler.add(event)
            kept.append((assembler.snapshot(), json.dumps(assembler.snapshot())))
        assert all(json.dumps(before) == text for before, text in kept) and len({text for _, text in kept}) > 4

    def test_the_words_of_reasoning_are_not_the_reply(self) -> None:
        assert assembled(events_of(document(reasoned("Let me see."), said("Yes.")), [3]))[1] == "Yes."

    def test_an_incomplete_and_a_failed_stream(self) -> None:
        cut = document(said("Half"), status="incomplete", incomplete_details={"reason": "max_output_tokens"})
        assert read_responses(assembled(events_of(cut, [2]))[0]).provider == {"stop_reason": "max_output_tokens"}
        failed = document(status="failed", error={"code": "server_error", "message": "down"})
        with pytest.raises(ProviderError, match="down"):
            read_responses(assembled(events_of(failed, [2]))[0])

    @pytest.mark.parametrize(
        "event",
        [
            {"type": "error", "code": "rate_limit_exceeded", "message": "slow down"},
            {"type": "error", "error": {"message": "slow down"}},
        ],
    )
    def test_an_error_in_the_stream(self, event: Any) -> None:
        with pytest.raises(ProviderError, match="slow down"):
            ResponsesAssembler().add(event)

    def test_events_of_a_later_version_are_left_out(self) -> None:
        found = events_of(document(said("Yes.")), [2])
        new = [{"type": "response.something.new", "output_index": 0, "delta": "x"}, {"type": "keepalive"}, {}]
        assert assembled([*new, *found[:3], *new, *found[3:]]) == assembled(found)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
strange = st.fixed_dictionaries(
    {"type": st.sampled_from(["message", "function_call", "custom_tool_call", "reasoning", "other", None])},
    optional=dict.fromkeys(
        ("content", "name", "arguments", "call_id", "summary", "input", "status", "role"), json_values
    ),
)


@given(
    items=st.lists(strange | json_values, max_size=3),
    status=st.sampled_from(["completed", "incomplete", None, 3]),
    more=json_values,
)
def test_strange_replies_never_crash(items: Any, status: Any, more: Any) -> None:
    """Any JSON in the place of the items gives a decision or one of our own errors."""
    for found in ({"output": items, "status": status, "usage": more, "incomplete_details": more, "error": None}, more):
        try:
            read_responses(found)
        except ModelError:
            continue


def test_a_run_of_replies_that_were_read_has_a_history_that_is_accepted() -> None:
    @tool
    def look(order_id: str) -> str:
        """Look an order up."""
        return "shipped"

    same = [call("look", '{"order_id": "7"}', "call_a"), call("look", '{"order_id": "8"}', "call_a")]
    replies = [read_responses(document(reasoned("Hm."), *same)), read_responses(document(said("Shipped.")))]
    run = Agent(ScriptedModel(replies), Registry([look])).run("Where?")
    _, items = to_responses(run.messages)
    assert responses_problems(items) == [] and items[1] == reasoned("Hm.")
    assert [item["call_id"] for item in items if item.get("type") == "function_call"] == ["call_a", "call_2"]
