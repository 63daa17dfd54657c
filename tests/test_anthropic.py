"""`AnthropicModel` through the real SDK: in ordinary code, in async code, streamed, and with an agent."""

from __future__ import annotations

import asyncio
import functools
import gzip
import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from _anthropic_service import (
    DOTTED,
    KEY,
    LOOK,
    MODEL,
    Json,
    Service,
    document,
    goal,
    httpx2,
    sse,
    streamed,
    text,
    thinking,
    use,
)
from _needs import require

from agentkit import (
    Agent,
    CallTools,
    FinalAnswer,
    Message,
    Reply,
    ReplyError,
    Run,
    Step,
    TextDelta,
    ToolCall,
    ToolSpec,
    Usage,
    anthropic_problems,
    openai_problems,
    to_openai,
    tool,
)
from agentkit.models import catalog
from agentkit.models.anthropic import PAUSES, AnthropicModel

Way = Callable[[AnthropicModel, Sequence[Message], Sequence[ToolSpec]], Reply]
SEARCH = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "boxes"}}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}

WAYS: dict[str, Way] = {
    "decide": lambda model, messages, tools: model.decide(messages, tools),
    "adecide": lambda model, messages, tools: asyncio.run(model.adecide(messages, tools)),
    "stream": lambda model, messages, tools: streamed(model, messages, tools)[1],
}
every_way = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS.keys())


# --- one reply, three ways -------------------------------------------------------------------------------------------


REPLIES: dict[str, Json] = {
    "a text": document(text("Seven."), usage={"cache_read_input_tokens": 90, "cache_creation_input_tokens": 7}),
    "a call": document(text("I look."), use("toolu_1", name="box"), stop="tool_use"),
    "parallel calls": document(use("toolu_1", name="a"), use("toolu_2", name="b"), use("toolu_3"), stop="tool_use"),
    "thinking": document(thinking("Look first."), text("I look."), use("toolu_1", name="box"), stop="tool_use"),
    "hidden thinking": document({"type": "redacted_thinking", "data": "eA=="}, text("Seven.")),
    "a search": document(text("I search."), SEARCH, FOUND, text("Seven.")),
    "a stop sequence": document(text("Seven"), stop="stop_sequence", stop_sequence="."),
    "cut off": document(text("Seven or"), stop="max_tokens"),
    "a full window": document(text("Seven or"), stop="model_context_window_exceeded"),
    "a call cut off": document({**use("toolu_1"), "input": '{"name": "bo'}, stop="max_tokens"),
    "a refusal": document(stop="refusal", stop_details={"type": "refusal", "explanation": "It could do harm."}),
    "nothing": document(),
}


@pytest.mark.parametrize("found", REPLIES.values(), ids=REPLIES.keys())
def test_the_three_ways_give_the_same_reply(found: Json) -> None:
    replies = [way(Service(found).model(), goal(), [LOOK]) for way in WAYS.values()]
    assert replies[0] == replies[1] == replies[2]
    assert replies[0].usage is not None and replies[0].usage.cost is not None


def test_the_pieces_of_a_stream_are_the_text() -> None:
    pieces, reply = streamed(Service(document(text("Seven things."))).model(), goal(), [LOOK])
    assert pieces == ["Seve", "n th", "ings", "."] and reply.decision == FinalAnswer("", "Seven things.")


@every_way
def test_what_is_sent_is_what_request_shows(way: Way) -> None:
    service = Service(document(text("Seven.")))
    model = service.model(
        thinking={"type": "adaptive"}, parallel_tools=False, options={"temperature": 0, "unknown_field": [1]}
    )
    way(model, goal(), [LOOK, DOTTED])
    [body] = service.bodies
    assert body.pop("stream", None) in (None, True)
    assert body == model.request(goal(), [LOOK, DOTTED])
    assert (body["temperature"], body["unknown_field"], body["model"]) == (0, [1], MODEL)


@every_way
def test_headers_and_query_can_be_given_beside_the_body(way: Way) -> None:
    service = Service(document(text("Seven.")))
    way(service.model(options={"extra_headers": {"anthropic-beta": "x"}, "extra_query": {"beta": "true"}}), goal(), [])
    assert service.requests[0].headers["anthropic-beta"] == "x" and service.requests[0].url.query == b"beta=true"
    assert not {"extra_headers", "extra_query"} & service.bodies[0].keys()


def test_cached_input_is_counted_and_paid() -> None:
    usage = {
        "input_tokens": 100,
        "cache_read_input_tokens": 2000,
        "cache_creation_input_tokens": 300,
        "output_tokens": 40,
    }
    found = Service(document(text("Seven."), usage=usage)).model().decide(goal())
    assert found.usage == Usage(2400, 40, 2000, catalog.cost(MODEL, 2400, 40, 2000, 300))


def test_without_a_name_the_catalog_chooses() -> None:
    assert AnthropicModel(api_key=KEY).model == catalog.default_model("anthropic")


# --- turns that the service pauses -----------------------------------------------------------------------------------


@every_way
def test_a_paused_turn_goes_on(way: Way) -> None:
    first = document(thinking("Search."), text("I search."), SEARCH, stop="pause_turn")
    service = Service(first, document(FOUND, SEARCH, stop="pause_turn"), document(FOUND, text("Seven.")))
    reply = way(service.model(), goal(), [LOOK])
    assert reply.decision == FinalAnswer("Search.", "I search.\n\nSeven.")
    assert reply.usage == Usage(30, 15, 0, catalog.cost(MODEL, 30, 15))
    said = [thinking("Search."), text("I search."), SEARCH]
    assert [body["messages"][1:] for body in service.bodies] == [
        [], [{"role": "assistant", "content": said}], [{"role": "assistant", "content": [*said, FOUND, SEARCH]}],
    ]  # fmt: skip
    assert reply.provider == {"anthropic": [*said, FOUND, SEARCH, FOUND, text("Seven.")]}


def test_the_pieces_of_a_paused_turn_are_the_text() -> None:
    service = Service(document(text("I search."), SEARCH, stop="pause_turn"), document(FOUND, text("Seven.")))
    pieces, reply = streamed(service.model(), goal())
    assert reply.decision == FinalAnswer("", "".join(pieces)) == FinalAnswer("", "I search.\n\nSeven.")


@every_way
def test_pauses_have_an_end(way: Way) -> None:
    service = Service(document(text("Still."), SEARCH, stop="pause_turn"))
    reply = way(service.model(), goal(), [])
    assert len(service.requests) == 1 + PAUSES
    assert reply.provider is not None and reply.provider["stop_reason"] == "pause_turn"
    with pytest.raises(ReplyError, match="paused"):
        way(Service(document(stop="pause_turn")).model(), goal(), [])


# --- with an agent ---------------------------------------------------------------------------------------------------


@tool
def look(name: str) -> str:
    """Look at one thing.

    Args:
        name: what to look at.
    """
    if name == "nothing":
        raise ValueError(name)
    return f"7 {name}"


def run_of(agent: Agent, how: str, goal: str = "What is there?") -> Run:
    if how == "arun":
        return asyncio.run(agent.arun(goal))
    if how == "stream":
        stream = agent.stream(goal)
        assert all(isinstance(event, (TextDelta, Step)) for event in stream)
        return stream.run
    return agent.run(goal)


every_run = pytest.mark.parametrize("how", ["run", "arun", "stream"])
SIGNED = thinking("Look\u2028 at é first.", "EqQBCkYIBxgCKkD+/a==")


@every_run
def test_thinking_is_sent_back_byte_for_byte_in_a_tool_loop(how: str) -> None:
    first = [SIGNED, {"type": "redacted_thinking", "data": "ZW5j+/=="}, text("I look."), use("toolu_1", name="box")]
    second = [thinking("Again.", "b3RoZXI="), use("toolu_2", name="bag")]
    service = Service(document(*first, stop="tool_use"), document(*second, stop="tool_use"), document(text("Seven.")))
    run = run_of(Agent(service.model(thinking={"type": "adaptive"}), [look], system="Be brief."), how)
    assert (run.answer, run.stop_reason) == ("Seven.", "answered")
    last = service.bodies[-1]["messages"]
    assert [json.dumps(turn["content"]) for turn in last if turn["role"] == "assistant"] == [
        json.dumps(first),
        json.dumps(second),
    ]
    assert [step.results[0].data for step in run.steps[:2]] == ["7 box", "7 bag"]
    assert run.steps[0].thought == "Look\u2028 at é first.\n\nI look."
    for body in service.bodies:
        assert anthropic_problems(body["messages"]) == [] and body["thinking"] == {"type": "adaptive"}


@every_run
def test_parallel_calls_get_their_results_in_one_message(how: str) -> None:
    calls = [
        use("toolu_1", name="box"),
        use("toolu_2", name="nothing"),
        use("toolu_3", "unknown"),
        use("toolu_4", name="bag"),
    ]
    service = Service(document(*calls, stop="tool_use"), document(text("Done.")))
    run = run_of(Agent(service.model(), [look]), how)
    turn = service.bodies[-1]["messages"][-1]
    assert turn["role"] == "user"
    assert [(block["type"], block["tool_use_id"], block.get("is_error", False)) for block in turn["content"]] == [
        ("tool_result", "toolu_1", False), ("tool_result", "toolu_2", True),
        ("tool_result", "toolu_3", True), ("tool_result", "toolu_4", False),
    ]  # fmt: skip
    assert openai_problems(to_openai(run.messages)) == []


def test_a_call_id_that_comes_twice_is_numbered_in_the_kept_blocks_too() -> None:
    again = [SIGNED, use("toolu_1", name="box")]
    service = Service(document(*again, stop="tool_use"), document(*again, stop="tool_use"), document(text("Seven.")))
    run = Agent(service.model(), [look]).run("What is there?")
    assert run.answer == "Seven."
    turns = service.bodies[-1]["messages"]
    uses = [block["id"] for turn in turns for block in turn["content"] if block["type"] == "tool_use"]
    results = [block["tool_use_id"] for turn in turns for block in turn["content"] if block["type"] == "tool_result"]
    assert uses == results == ["toolu_1", "call_2"] and anthropic_problems(turns) == []
    assert [block for turn in turns for block in turn["content"] if block["type"] == "thinking"] == [SIGNED, SIGNED]


def test_a_truncated_call_is_told_and_sent_again() -> None:
    half = {**use("toolu_1"), "input": {"name": "b"}}
    service = Service(
        document(SIGNED, half, stop="max_tokens"),
        document(use("toolu_2", name="box"), stop="tool_use"),
        document(text("Seven.")),
    )
    run = Agent(service.model(), [look]).run("What is there?")
    error = run.steps[0].results[0].error
    assert error is not None and error.code == "truncated" and run.answer == "Seven."
    assert all(anthropic_problems(body["messages"]) == [] for body in service.bodies)


def test_an_empty_reply_is_asked_for_again() -> None:
    service = Service(document(), document(text("Seven.")))
    run = Agent(service.model(), [look]).run("What is there?")
    assert run.answer == "Seven." and [turn["role"] for turn in service.bodies[-1]["messages"]] == ["user"]


def test_a_run_is_saved_and_goes_on_with_the_same_blocks() -> None:
    service = Service(
        document(SIGNED, use("toolu_1", name="box"), stop="tool_use"),
        document(SIGNED, text("Seven.")),
        document(text("Yes.")),
    )
    run = Agent(service.model(), [look]).run("What is there?")
    saved = Run.from_json(run.to_json())
    Agent(service.model(), [look]).run("Sure?", history=saved.messages)
    turns = service.bodies[-1]["messages"]
    assert [turn["content"] for turn in turns if turn["role"] == "assistant"] == [
        [SIGNED, use("toolu_1", name="box")],
        [SIGNED, text("Seven.")],
    ]


def test_a_refusal_ends_the_run() -> None:
    service = Service(document(stop="refusal", stop_details={"type": "refusal", "explanation": "It could do harm."}))
    run = Agent(service.model(), [look]).run("Do harm.")
    assert (run.status, run.answer) == ("done", "It could do harm.")


def test_names_of_tools_go_there_and_come_back() -> None:
    @tool(name="shop.lookup")
    def lookup() -> int:
        """Look up."""
        return 7

    service = Service(lambda request: answer_with(request), document(text("Seven.")))

    def answer_with(request: Any) -> Any:
        [offered] = json.loads(request.content)["tools"]
        return httpx2.Response(200, json=document(use("toolu_1", offered["name"]), stop="tool_use"))

    run = Agent(service.model(), [lookup]).run("What is there?")
    assert run.steps[0].calls == (ToolCall("shop.lookup", {}, "toolu_1"),) and run.steps[0].results[0].data == 7


# --- clients ---------------------------------------------------------------------------------------------------------


def test_one_model_serves_several_event_loops() -> None:
    service = Service(document(text("Seven.")))
    model = service.model()
    for _ in range(2):
        assert asyncio.run(model.adecide(goal())).decision == FinalAnswer("", "Seven.")


def test_leaving_a_stream_early_closes_it() -> None:
    closed: list[bool] = []

    class Body(httpx2.SyncByteStream):  # type: ignore[name-defined,misc]
        def __iter__(self) -> Any:
            yield sse(list(_events())[:6])
            raise AssertionError("read further than was asked for")

        def close(self) -> None:
            closed.append(True)

    def _events() -> Any:
        from _anthropic_service import events

        return events(document(text("Seven things and more.")))

    service = Service(
        lambda request: httpx2.Response(200, stream=Body(), headers={"content-type": "text/event-stream"})
    )
    stream = service.model().stream(goal())
    assert next(iter(stream)) == TextDelta("Seve")
    stream.close()  # type: ignore[attr-defined]
    assert closed


def test_making_a_model_imports_no_sdk() -> None:
    code = "import sys; from agentkit.models.anthropic import AnthropicModel; AnthropicModel(); print(sorted({'anthropic', 'httpx2', 'openai'} & set(sys.modules)))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True, timeout=60)
    assert found.stdout.strip() == "[]"


# --- what others recorded --------------------------------------------------------------------------------------------


@functools.cache
def exchanges() -> list[Json]:
    with gzip.open(require("peerdata") / "provider_exchanges.json.gz", "rt", encoding="utf-8") as file:
        return [exchange for exchange in json.load(file) if exchange["provider"] == "anthropic"]


@pytest.mark.peerdata
def test_recorded_streams_come_out_as_the_sdk_puts_them_together() -> None:
    from agentkit.models._messages import MessageAssembler

    count = 0
    for exchange in exchanges():
        if not exchange["sse"]:
            continue
        count += 1
        raw = exchange["sse"].encode("utf-8")
        service = Service(
            lambda request, raw=raw: httpx2.Response(200, content=raw, headers={"content-type": "text/event-stream"})
        )
        with service.model().connection.client().beta.messages.stream(model=MODEL, max_tokens=9, messages=[]) as stream:
            theirs = stream.get_final_message()
        assembler = MessageAssembler()
        for line in exchange["sse"].splitlines():
            if line.startswith("data:"):
                assembler.add(json.loads(line.removeprefix("data:")))
        ours = assembler.document()
        for mine, its in zip(ours["content"], theirs.content, strict=True):
            keys = ("type", "text", "thinking", "signature", "input", "data", "id", "name", "tool_use_id", "content")
            told = its.to_dict(mode="json", warnings=False)
            assert [mine.get(key) for key in keys] == [told.get(key) for key in keys]
        assert (ours["stop_reason"], ours["model"], ours["id"]) == (theirs.stop_reason, theirs.model, theirs.id)
        for key in ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"):
            assert ours["usage"][key] == getattr(theirs.usage, key)
    assert count == 16


@pytest.mark.peerdata
def test_recorded_replies_are_read_the_same_way_through_the_sdk() -> None:
    for exchange in exchanges()[::10]:
        if exchange["status"] != 200 or exchange["sse"]:
            continue
        reply = Service(exchange["response"]).model().decide(goal())
        assert isinstance(reply.decision, (FinalAnswer, CallTools)) and reply.usage is not None
