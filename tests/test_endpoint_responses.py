"""The official OpenAI SDK cannot tell the endpoint from the service: responses, embeddings, models."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

import pytest
from endpoint_kit import (
    ANSWER,
    CHAT_TOOLS,
    LOOP,
    NOW,
    RESPONSES_TOOLS,
    TWO_CALLS,
    USER,
    add,
    ask,
    chat,
    openai_client,
    respond,
    serving,
)

from agentkit import CallTools, FinalAnswer, OfflineModel, ToolSpec
from agentkit.endpoint import Endpoint

openai = pytest.importorskip("openai", reason="needs openai: pip install 'agentkit-course[providers]'")


@pytest.fixture(scope="module")
def server() -> Iterator[Endpoint]:
    with Endpoint(LOOP, clock=lambda: NOW) as running:
        yield running


# --- responses -------------------------------------------------------------------------------------------------------


def test_a_tool_loop_over_items(server: Endpoint) -> None:
    items: list[Any] = list(USER)
    for _ in range(3):
        reply = respond(server, input=items, tools=RESPONSES_TOOLS, instructions="Be brief.")
        items += reply.output
        for call in [item for item in reply.output if item.type == "function_call"]:
            found = add(**json.loads(call.arguments)) if call.name == "add" else "2026-03-01"
            items.append({"type": "function_call_output", "call_id": call.call_id, "output": str(found)})
    assert reply.output_text == ANSWER.text and reply.status == "completed"
    assert [item.call_id for item in items if getattr(item, "type", "") == "function_call"] == [
        "call_1",
        "call_2",
        "call_3",
    ]


def test_a_tool_loop_that_goes_on_from_the_response_before(server: Endpoint) -> None:
    reply = respond(server, tools=RESPONSES_TOOLS)
    for _ in range(2):
        outputs = [
            {"type": "function_call_output", "call_id": item.call_id, "output": "3"}
            for item in reply.output
            if item.type == "function_call"
        ]
        reply = respond(server, input=outputs, previous_response_id=reply.id, tools=RESPONSES_TOOLS)
    assert reply.output_text == ANSWER.text and reply.previous_response_id
    with pytest.raises(openai.BadRequestError) as caught:
        respond(server, previous_response_id="resp_0")
    assert caught.value.code == "previous_response_not_found"
    unkept = respond(server, store=False)
    with pytest.raises(openai.BadRequestError, match="not found"):
        respond(server, previous_response_id=unkept.id)


def test_the_response_has_every_field_of_the_service(server: Endpoint) -> None:
    reply = respond(server, tools=RESPONSES_TOOLS, metadata={"a": "b"}, max_output_tokens=900)
    checked = type(reply).model_validate(reply.to_dict())
    assert (checked.object, checked.created_at, checked.max_output_tokens) == ("response", NOW, 900)
    assert [item.type for item in checked.output] == ["message", "function_call", "function_call"]
    assert checked.usage.total_tokens == checked.usage.input_tokens + checked.usage.output_tokens


def test_a_stream_of_events_adds_up_to_the_response(server: Endpoint) -> None:
    whole = respond(server, tools=RESPONSES_TOOLS)
    events = respond(server, tools=RESPONSES_TOOLS, stream=True)
    for event in events:
        type(event).model_validate(event.to_dict())
    assert [event.sequence_number for event in events] == list(range(len(events)))
    kinds = [event.type for event in events]
    assert kinds[:2] == ["response.created", "response.in_progress"] and kinds[-1] == "response.completed"
    assert kinds.count("response.output_item.added") == kinds.count("response.output_item.done") == 3
    done = [event.item.to_dict() for event in events if event.type == "response.output_item.done"]
    assert done == [item.to_dict() for item in events[-1].response.output]
    assert _without_ids(done) == _without_ids([item.to_dict() for item in whole.output])
    with (
        openai_client(server) as sdk,
        sdk.responses.stream(model="offline", input=USER, tools=RESPONSES_TOOLS) as helper,
    ):
        text = "".join(event.delta for event in helper if event.type == "response.output_text.delta")
        final = helper.get_final_response()
    assert text == final.output_text == TWO_CALLS.thought
    assert [item.parsed_arguments for item in final.output[1:]] == [{"a": 1, "b": 2}, {"a": 3, "b": 4}]


def _without_ids(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{key: value for key, value in item.items() if key != "id"} for item in items]


@pytest.mark.parametrize("stream", [False, True])
def test_the_thought_is_a_reasoning_summary_when_that_is_asked_for(stream: bool) -> None:
    with serving(ANSWER) as endpoint:
        found = respond(endpoint, reasoning={"summary": "auto"}, stream=stream)
        if stream:
            parts = [event.delta for event in found if event.type == "response.reasoning_summary_text.delta"]
            assert "".join(parts) == ANSWER.thought
            found = found[-1].response
        assert [item.type for item in found.output] == ["reasoning", "message"]
        assert found.output[0].summary[0].text == ANSWER.thought
        again = [*USER, *(item.to_dict() for item in found.output), *USER]
        assert respond(endpoint, input=again).output_text == ANSWER.text


@pytest.mark.parametrize("stream", [False, True])
def test_a_response_that_is_cut_is_incomplete(stream: bool) -> None:
    with serving(FinalAnswer("", "word " * 100)) as endpoint:
        found = respond(endpoint, max_output_tokens=16, stream=stream)
        if stream:
            last = found[-1]
            assert last.type == "response.incomplete"
            found = last.response
        assert (found.status, found.incomplete_details.reason) == ("incomplete", "max_output_tokens")
        assert found.output[0].status == "incomplete" and len(found.output_text) == 64


@pytest.mark.parametrize(
    ("request_part", "words"),
    [
        ({"input": []}, "history is empty"), ({"input": 3}, "'input'"), ({"max_output_tokens": 4}, "at least 16"), ({"background": True}, "'background'"),
        ({"conversation": "c"}, "'conversation'"), ({"input": [{"type": "function_call_output", "call_id": "c9", "output": "x"}]}, "c9"),
        ({"input": [{"type": "item_reference", "id": "msg_1"}]}, "previous_response_id"), ({"tools": [{"type": "web_search"}]}, "web_search"),
        ({"instructions": 3}, "'instructions'"), ({"tools": RESPONSES_TOOLS, "tool_choice": {"type": "function", "name": "sub"}}, "'sub'"),
    ],
)  # fmt: skip
def test_what_responses_would_refuse(server: Endpoint, request_part: dict[str, Any], words: str) -> None:
    status, document, _ = ask(f"{server.openai_url}/responses", {"model": "offline", "input": USER, **request_part})
    assert status == 400 and words in document["error"]["message"]


def test_a_responses_stream_that_breaks() -> None:
    with serving(ANSWER) as endpoint:
        endpoint.fail(503, after_chunks=4)
        events = respond(endpoint, stream=True)
        assert [event.sequence_number for event in events] == [0, 1, 2, 3, 4] and events[-1].type == "error"
        endpoint.fail(None, after_chunks=4)
        with pytest.raises(openai.APIConnectionError):
            respond(endpoint, stream=True)


# --- embeddings and models -------------------------------------------------------------------------------------------


def test_embeddings_in_both_encodings_are_the_same_and_mean_something(server: Endpoint) -> None:
    with openai_client(server) as sdk:
        texts = [
            "The order was shipped.",
            "the orders were shipped",
            "Python web framework",
            "주문이 배송되었습니다",
            "주문 배송",
        ]
        packed = sdk.embeddings.create(model="offline", input=texts)  # the SDK asks for base64
        plain = sdk.embeddings.create(model="offline", input=texts, encoding_format="float")
        short = sdk.embeddings.create(model="offline", input="hello", dimensions=8)
    assert [one.embedding for one in packed.data] == [one.embedding for one in plain.data]
    assert [one.index for one in plain.data] == [0, 1, 2, 3, 4] and packed.usage.total_tokens > 0
    assert len(plain.data[0].embedding) == 256 and len(short.data[0].embedding) == 8
    vectors = [one.embedding for one in plain.data]
    assert all(math.isclose(_dot(vector, vector), 1, rel_tol=1e-5) for vector in vectors)
    assert _dot(vectors[0], vectors[1]) > _dot(vectors[0], vectors[2])
    assert _dot(vectors[3], vectors[4]) > _dot(vectors[3], vectors[2])


def _dot(left: list[float], right: list[float]) -> float:
    return sum(a * b for a, b in zip(left, right, strict=True))


@pytest.mark.parametrize(
    "body", [{"input": ""}, {"input": []}, {"input": [""]}, {"input": [1, "a"]}, {}, {"input": "x", "dimensions": 0}, {"input": "x", "dimensions": 9999},
             {"input": "x", "encoding_format": "int8"}, {"input": "x" * 40_000}],
)  # fmt: skip
def test_embeddings_that_are_refused(server: Endpoint, body: dict[str, Any]) -> None:
    assert ask(f"{server.openai_url}/embeddings", {"model": "offline", **body})[0] == 400


def test_tokens_as_numbers_are_an_input_too(server: Endpoint) -> None:
    assert len(ask(f"{server.openai_url}/embeddings", {"model": "offline", "input": [[1, 2], [3]]})[1]["data"]) == 2
    assert len(ask(f"{server.openai_url}/embeddings", {"model": "offline", "input": [1, 2]})[1]["data"]) == 1


def test_models(server: Endpoint) -> None:
    with openai_client(server) as sdk:
        assert [model.id for model in sdk.models.list()] == ["offline"]
        with pytest.raises(openai.NotFoundError):
            sdk.models.retrieve("gpt-unknown")


def test_the_offline_model_behind_the_wire_decides_as_it_does_without_it() -> None:
    from agentkit._wire import from_openai

    model = OfflineModel()
    specs = tuple(
        ToolSpec(t["function"]["name"], t["function"]["description"], t["function"]["parameters"]) for t in CHAT_TOOLS
    )
    history = [{"role": "user", "content": "What is the date of today?"}]
    direct = model.decide(from_openai(history), specs).decision
    assert isinstance(direct, CallTools)
    with Endpoint(model) as endpoint:
        message = chat(endpoint, messages=history, tools=CHAT_TOOLS).choices[0].message
        assert [call.function.name for call in message.tool_calls] == [call.name for call in direct.calls]
        assert message.content == direct.thought
