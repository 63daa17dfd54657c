"""The official OpenAI SDK at the endpoint: what is refused, faults on demand, retries counted, streams that break."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from endpoint_kit import (
    ANSWER,
    CHAT_TOOLS,
    LOOP,
    NOW,
    USER,
    Hanging,
    ask,
    chat,
    openai_client,
    respond,
    serving,
)

from agentkit.endpoint import Endpoint

openai = pytest.importorskip("openai", reason="needs openai: pip install 'agentkit-course[providers]'")


@pytest.fixture(scope="module")
def server() -> Iterator[Endpoint]:
    with Endpoint(LOOP, clock=lambda: NOW) as running:
        yield running


# --- refusals --------------------------------------------------------------------------------------------------------

CALL = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": "{}"}}
OPEN = {
    "type": "function",
    "function": {"name": "f", "strict": True, "parameters": {"type": "object", "properties": {}}},
}
LOOSE = {
    "type": "function",
    "function": {"name": "f", "strict": True, "parameters": {"type": "object", "additionalProperties": False, "properties": {"city": {"type": "string"}, "unit": {"type": "string"}}, "required": ["city"]}},
}  # fmt: skip


@pytest.mark.parametrize(
    ("request_part", "words"),
    [
        ({"messages": []}, "history is empty"), ({"messages": "hi"}, "'messages' must be a list"), ({"messages": [3]}, "'messages'"),
        ({"messages": [*USER, {"role": "assistant", "content": None, "tool_calls": [CALL]}]}, "'c1'"),
        ({"messages": [*USER, {"role": "tool", "tool_call_id": "c9", "content": "x"}]}, "'c9'"),
        ({"messages": [{"role": "robot", "content": "x"}]}, "robot"), ({"messages": [{"role": "assistant", "content": None}]}, "Message 0"),
        ({"model": ""}, "'model'"), ({"n": 2}, "one choice"), ({"max_tokens": 0}, "'max_tokens'"), ({"temperature": 3}, "'temperature'"),
        ({"stop": ["a", "b", "c", "d", "e"]}, "'stop'"), ({"stream": "yes"}, "'stream'"), ({"stream_options": {"include_usage": True}}, "'stream_options'"),
        ({"tool_choice": "auto"}, "only allowed when 'tools'"), ({"parallel_tool_calls": False}, "only allowed when 'tools'"), ({"tools": []}, "empty list"),
        ({"tools": CHAT_TOOLS, "tool_choice": {"type": "function", "function": {"name": "sub"}}}, "'sub'"), ({"tools": CHAT_TOOLS, "tool_choice": "maybe"}, "'tool_choice'"),
        ({"tools": [{"type": "web_search"}]}, "web_search"), ({"tools": [{"type": "function", "function": {"name": "no name"}}]}, "'no name'"),
        ({"tools": CHAT_TOOLS + CHAT_TOOLS}, "Two tools"), ({"tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "array"}}}]}, "type 'object'"),
        ({"logprobs": True}, "'logprobs'"), ({"functions": [{}]}, "'functions'"), ({"response_format": {"type": "xml"}}, "'response_format'"),
        ({"response_format": {"type": "json_schema", "json_schema": {}}}, "'name'"),
    ],
)  # fmt: skip
def test_what_the_service_would_refuse_is_a_400(server: Endpoint, request_part: dict[str, Any], words: str) -> None:
    status, document, _ = ask(
        f"{server.openai_url}/chat/completions", {"model": "offline", "messages": USER, **request_part}
    )
    assert status == 400 and words in document["error"]["message"]
    assert document["error"]["type"] == "invalid_request_error" and set(document["error"]) == {
        "message",
        "type",
        "param",
        "code",
    }


@pytest.mark.parametrize(
    ("tool", "words"), [(OPEN, "additionalProperties"), (LOOSE, "Missing: 'unit'")], ids=["SC-01-open", "SC-01-missing"]
)
def test_a_schema_that_is_not_strict_but_says_so(server: Endpoint, tool: dict[str, Any], words: str) -> None:
    with pytest.raises(openai.BadRequestError, match=words) as caught:
        chat(server, tools=[tool])
    assert caught.value.code == "invalid_function_parameters"
    with pytest.raises(openai.BadRequestError, match=words):
        respond(server, tools=[{"type": "function", **tool["function"]}])
    relaxed = {"type": "function", "function": {**tool["function"], "strict": False}}
    assert chat(server, tools=[relaxed]).choices


def test_arguments_as_an_empty_text_are_no_mistake_AR_01(server: Endpoint) -> None:
    empty = {"id": "c1", "type": "function", "function": {"name": "today", "arguments": ""}}
    history = [
        *USER,
        {"role": "assistant", "content": None, "tool_calls": [empty]},
        {"role": "tool", "tool_call_id": "c1", "content": "x"},
    ]
    assert chat(server, messages=history).choices[0].message.tool_calls[0].function.name == "today"


# --- errors and retries ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "error"),
    [(400, "BadRequestError"), (401, "AuthenticationError"), (403, "PermissionDeniedError"), (404, "NotFoundError"), (409, "ConflictError"),
     (422, "UnprocessableEntityError"), (429, "RateLimitError"), (500, "InternalServerError"), (503, "InternalServerError")],
)  # fmt: skip
def test_faults_become_the_errors_of_the_sdk(server: Endpoint, status: int, error: str) -> None:
    server.fail(status)
    with pytest.raises(getattr(openai, error)) as caught:
        chat(server)
    assert caught.value.status_code == status and "asked for by a test" in str(caught.value)


def test_retries_are_counted_by_what_the_endpoint_saw() -> None:
    with serving(ANSWER) as endpoint, openai_client(endpoint, max_retries=2) as sdk:
        endpoint.fail(429, 2, retry_after=0.01)
        assert sdk.chat.completions.create(model="offline", messages=USER).choices[0].message.content == ANSWER.text
        assert [exchange.status for exchange in endpoint.exchanges] == [429, 429, 200]
        endpoint.fail(500, 3, retry_after=0.01)
        with pytest.raises(openai.InternalServerError):
            sdk.responses.create(model="offline", input="x")
        assert [exchange.status for exchange in endpoint.exchanges[3:]] == [500, 500, 500]
        with pytest.raises(openai.BadRequestError):
            sdk.chat.completions.create(model="offline", messages=[])
        assert len(endpoint.exchanges) == 7, "what cannot help is not tried again"
        header = {"x-agentkit-fail": "529; retry-after=0.01"}
        with pytest.raises(openai.InternalServerError):
            sdk.chat.completions.create(model="offline", messages=USER, extra_headers=header)
        assert len(endpoint.exchanges) == 10


def test_a_failure_of_the_model_is_not_tried_again() -> None:
    with serving() as endpoint, openai_client(endpoint, max_retries=2) as sdk:
        with pytest.raises(openai.InternalServerError, match="script holds 0"):
            sdk.chat.completions.create(model="offline", messages=USER)
        assert len(endpoint.exchanges) == 1


def test_a_model_that_hangs_is_a_time_out_for_the_openai_client() -> None:
    model = Hanging()
    with Endpoint(model) as endpoint:
        with openai_client(endpoint, timeout=0.3, max_retries=1) as sdk, pytest.raises(openai.APITimeoutError):
            sdk.chat.completions.create(model="offline", messages=USER)
        endpoint.stop()
        assert [exchange.status for exchange in endpoint.exchanges] == [499, 499]
    model.gate.set()


@pytest.mark.parametrize("status", [None, 500])
@pytest.mark.parametrize("after", [0, 1, 3])
def test_a_stream_that_breaks_in_the_middle(status: int | None, after: int) -> None:
    with serving(ANSWER) as endpoint:
        endpoint.fail(status, after_chunks=after)
        seen = []
        with openai_client(endpoint) as sdk, pytest.raises(openai.APIError):
            for chunk in sdk.chat.completions.create(model="offline", messages=USER, stream=True):
                seen.append(chunk)
        assert len(seen) == after and endpoint.exchanges[0].response is None
        assert len(endpoint.exchanges[0].events) == after + (status is not None)
        assert chat(endpoint, stream=True), "the next one is whole"


def test_a_stream_that_is_shorter_than_the_break_ends_as_usual() -> None:
    with serving(ANSWER) as endpoint:
        endpoint.fail(500, after_chunks=1000)
        assert chat(endpoint, stream=True)[-1].choices[0].finish_reason == "stop"


def test_a_dropped_connection_is_a_connection_error() -> None:
    with serving(ANSWER) as endpoint:
        endpoint.fail(None)
        with pytest.raises(openai.APIConnectionError):
            chat(endpoint)
        assert chat(endpoint).choices


def test_a_client_without_a_key_and_an_unknown_model(server: Endpoint) -> None:
    with pytest.raises(openai.NotFoundError) as caught:
        chat(server, model="gpt-unknown")
    assert caught.value.code == "model_not_found"
    assert openai.OpenAI(base_url=server.openai_url, api_key="none").models.retrieve("offline").id == "offline"
