"""What `AnthropicModel` says when something goes wrong, how often the SDK tries again, and that no key is ever shown."""

from __future__ import annotations

import asyncio
import copy
import json
import logging
import pickle
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from _anthropic_service import (
    KEY,
    LOOK,
    MODEL,
    Service,
    document,
    events,
    failure,
    goal,
    httpx2,
    sse,
    streamed,
    text,
    use,
)

from agentkit import Agent, ProviderError
from agentkit.models.anthropic import AnthropicModel

WAYS: dict[str, Callable[[AnthropicModel], Any]] = {
    "decide": lambda model: model.decide(goal(), [LOOK]),
    "adecide": lambda model: asyncio.run(model.adecide(goal(), [LOOK])),
    "stream": lambda model: streamed(model, goal(), [LOOK]),
}
every_way = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS.keys())
SSE = {"content-type": "text/event-stream"}


def error_of(way: Callable[[AnthropicModel], Any], model: AnthropicModel) -> ProviderError:
    with pytest.raises(ProviderError) as raised:
        way(model)
    shown = "".join(traceback.format_exception(raised.value)) + repr(raised.value.__dict__)
    assert KEY not in shown, "the key is nowhere in the error, its causes and its context"
    assert raised.value.__cause__ is None and raised.value.__context__ is None
    return raised.value


# --- what the service answers ----------------------------------------------------------------------------------------


ANSWERS: dict[str, tuple[int, str, str, str, str, int]] = {
    # status, type and message of the service; our code, words of our sentence, requests that are sent
    "400": (400, "invalid_request_error", "max_tokens: Field required", "bad_request", "max_tokens: Field required", 1),
    "400 too long": (400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum", "context_too_long", "smaller memory", 1),
    "400 no credit": (400, "invalid_request_error", "Your credit balance is too low to access the API.", "quota", "credit", 1),
    "401": (401, "authentication_error", "invalid x-api-key", "wrong_key", "ANTHROPIC_API_KEY", 1),
    "402": (402, "billing_error", "Your account has no credit.", "quota", "credit", 1),
    "403": (403, "permission_error", "Your key may not use this.", "not_allowed", "may not use this", 1),
    "404": (404, "not_found_error", f"model: {MODEL}", "model_not_found", MODEL, 1),
    "413": (413, "request_too_large", "Request exceeds the maximum size", "context_too_long", "smaller memory", 1),
    "429": (429, "rate_limit_error", "Number of requests has exceeded your rate limit.", "rate_limit", "tried 3 times", 3),
    "500": (500, "api_error", "Internal server error", "server_error", "Try again later", 3),
    "529": (529, "overloaded_error", "Overloaded", "server_error", "Try again later", 3),
}  # fmt: skip


@every_way
@pytest.mark.parametrize(("status", "kind", "said", "code", "words", "sent"), ANSWERS.values(), ids=ANSWERS.keys())
def test_an_error_of_the_service(way: Any, status: int, kind: str, said: str, code: str, words: str, sent: int) -> None:
    service = Service(failure(status, kind, said))
    error = error_of(way, service.model())
    assert (error.code, error.status, len(service.requests)) == (code, status, sent)
    assert words in str(error) and str(error)[0].isupper()


@every_way
@pytest.mark.parametrize("status", [408, 409, 429, 500, 503, 529])
def test_what_passes_is_tried_again_until_it_works(way: Any, status: int) -> None:
    service = Service(
        failure(status, "api_error", "Later."), failure(status, "api_error", "Later."), document(text("Seven."))
    )
    way(service.model())
    assert len(service.requests) == 3


@every_way
@pytest.mark.parametrize("retries", [0, 1])
def test_the_number_of_tries_can_be_chosen(way: Any, retries: int) -> None:
    service = Service(failure(529, "overloaded_error", "Overloaded"))
    error_of(way, service.model(max_retries=retries))
    assert len(service.requests) == 1 + retries


def test_the_wait_that_the_service_asks_for_is_told() -> None:
    service = Service(failure(429, "rate_limit_error", "Slow down.", **{"retry-after": "17"}))
    assert "17 seconds" in str(error_of(WAYS["decide"], service.model(max_retries=0)))


def test_an_error_ends_a_run_with_its_sentence() -> None:
    run = Agent(Service(failure(401, "authentication_error", "invalid x-api-key")).model(), []).run("Hello?")
    assert (run.status, run.stop_reason) == ("stopped", "model_error")
    assert run.error is not None and "ANTHROPIC_API_KEY" in run.error and KEY not in run.to_json()


# --- no answer -------------------------------------------------------------------------------------------------------


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """The SDK waits half a second before it tries a lost connection again; here it does not wait."""
    monkeypatch.setattr("anthropic._base_client.INITIAL_RETRY_DELAY", 0.0)


def lost(error: type[Exception]) -> Callable[[Any], Any]:
    def answer(request: Any) -> Any:
        raise error("no way", request=request)  # type: ignore[call-arg]

    return answer


@every_way
@pytest.mark.parametrize(
    ("raised", "code", "words"),
    [("ConnectError", "no_server", "cannot be reached"), ("ReadTimeout", "timeout", "60 seconds"), ("ConnectTimeout", "timeout", "60 seconds")],
)  # fmt: skip
def test_no_answer(way: Any, raised: str, code: str, words: str, quick: None) -> None:
    service = Service(lost(getattr(httpx2, raised)))
    error = error_of(way, service.model())
    assert (error.code, error.status, len(service.requests)) == (code, None, 3)
    assert words in str(error) and "AGENTKIT_MODEL=offline" in str(error)


def test_another_server_is_named_by_its_address(quick: None) -> None:
    service = Service(lost(httpx2.ConnectError))
    error = error_of(WAYS["decide"], service.model(base_url="http://localhost:9/x"))
    assert "http://localhost:9/x" in str(error) and "that it runs" in str(error)


@every_way
@pytest.mark.parametrize("body", [b"<html>Welcome</html>", b"", b"\xff\xfe"], ids=["a page", "nothing", "no text"])
def test_an_answer_that_is_no_model_server(way: Any, body: bytes) -> None:
    service = Service(lambda request: httpx2.Response(200, content=body, headers={"content-type": "text/html"}))
    assert error_of(way, service.model()).code in ("provider_error", "interrupted")


# --- a stream that breaks --------------------------------------------------------------------------------------------


def parts(until: str) -> bytes:
    """The stream of a reply with a text and a call, up to the last event of this kind (not included)."""
    found = list(events(document(text("I look."), use("toolu_1", name="box"), stop="tool_use")))
    place = max(index for index, event in enumerate(found) if event["type"] == until)
    return sse(found[:place])


class Breaking(httpx2.SyncByteStream):  # type: ignore[misc,name-defined]
    def __init__(self, content: bytes, error: type[Exception] | None) -> None:
        self.content, self.error = content, error

    def __iter__(self) -> Iterator[bytes]:
        yield self.content
        if self.error is not None:
            raise self.error("peer closed connection")


@pytest.mark.parametrize("broken", [None, "RemoteProtocolError", "ReadError", "ReadTimeout"])
@pytest.mark.parametrize(
    "until", ["message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta"]
)
def test_a_stream_that_breaks_is_never_half_a_decision(until: str, broken: str | None) -> None:
    body = Breaking(parts(until), getattr(httpx2, broken) if broken else None)
    service = Service(lambda request: httpx2.Response(200, stream=body, headers=SSE))
    error = error_of(WAYS["stream"], service.model())
    expected = (
        {"interrupted"} if until != "message_start" or broken is None else {"interrupted", "no_server", "timeout"}
    )
    assert error.code in expected and len(service.requests) == 1


def test_the_words_that_came_before_the_break_are_seen() -> None:
    service = Service(
        lambda request: httpx2.Response(200, stream=Breaking(parts("message_delta"), httpx2.ReadError), headers=SSE)
    )
    seen = []
    with pytest.raises(ProviderError, match="broke in the middle"):
        for piece in service.model().stream(goal(), [LOOK]):
            seen.append(piece.text)  # type: ignore[union-attr]
    assert "".join(seen) == "I look."


def test_a_broken_stream_stops_the_run_and_leaves_a_sound_history() -> None:
    service = Service(
        lambda request: httpx2.Response(200, stream=Breaking(parts("message_delta"), httpx2.ReadError), headers=SSE)
    )
    stream = Agent(service.model(), []).stream("What is there?")
    list(stream)
    assert stream.run.stop_reason == "model_error" and [message.role for message in stream.run.messages] == ["user"]


@pytest.mark.parametrize(
    ("kind", "code"),
    [("overloaded_error", "server_error"), ("api_error", "server_error"), ("rate_limit_error", "rate_limit")],
)
def test_an_error_event_in_the_middle(kind: str, code: str) -> None:
    event = {"type": "error", "error": {"type": kind, "message": "Overloaded"}}
    raw = parts("message_delta") + sse([event])
    service = Service(lambda request: httpx2.Response(200, content=raw, headers=SSE))
    assert error_of(WAYS["stream"], service.model()).code == code


# --- keys ------------------------------------------------------------------------------------------------------------


@every_way
def test_no_key_is_told_before_anything_is_sent(way: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    service = Service(document(text("Seven.")))
    error = error_of(way, service.model(api_key=None))
    assert error.code == "no_key" and "ANTHROPIC_API_KEY" in str(error) and not service.requests


@every_way
@pytest.mark.parametrize("bad", ["test-key 0123456789", "test-key-0123\n456789", "test-key-é123456789"])
def test_a_key_that_cannot_be_sent_is_not_shown(way: Any, bad: str) -> None:
    with pytest.raises(ProviderError, match="Copy it again") as raised:
        way(Service(document(text("Seven."))).model(api_key=bad))
    assert raised.value.code == "wrong_key" and bad[-6:] not in "".join(traceback.format_exception(raised.value))


@every_way
def test_the_key_of_the_environment_goes_to_the_service(way: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    service = Service(document(text("Seven.")))
    way(service.model(api_key=None))
    [request] = service.requests
    assert request.url.host == "api.anthropic.com" and KEY in request.headers["authorization"] + request.headers.get(
        "x-api-key", ""
    )


@every_way
@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:8000", "https://api.anthropic.com.example.org", "http://api.anthropic.com"]
)
def test_a_real_key_never_goes_to_another_server(way: Any, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY"):
        monkeypatch.setenv(name, KEY)
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", f"x-extra: {KEY}")
    monkeypatch.delenv("AGENTKIT_API_KEY", raising=False)
    service = Service(document(text("Seven.")))
    way(service.model(base_url=url, api_key=None))
    [request] = service.requests
    assert KEY not in str(request.headers.raw) + str(request.url) and request.headers["authorization"] == "Bearer none"


def test_another_server_gets_its_own_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENTKIT_API_KEY", "other-key-0123456789")
    service = Service(document(text("Seven.")))
    service.model(base_url="http://127.0.0.1:8000", api_key=None).decide(goal())
    assert service.requests[0].headers["authorization"] == "Bearer other-key-0123456789"


def test_no_variable_sends_the_key_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:8000")
    service = Service(document(text("Seven.")))
    service.model().decide(goal())
    assert service.requests[0].url.host == "api.anthropic.com"


def test_the_key_is_nowhere_to_be_seen(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    model = Service(document(text("Seven."))).model()
    model.decide(goal())
    shown = [
        repr(model),
        repr(vars(model)),
        repr(model.connection),
        repr(vars(model.connection)),
        json.dumps(model.request(goal())),
    ]
    assert KEY not in " ".join(shown) + caplog.text


def test_a_copy_and_a_pickle_hold_no_key() -> None:
    model = AnthropicModel(MODEL, api_key=KEY)
    assert KEY.encode() not in pickle.dumps(model)
    assert copy.deepcopy(model).model == MODEL


@every_way
def test_a_key_that_the_service_repeats_is_masked(way: Any) -> None:
    error = error_of(way, Service(failure(400, "invalid_request_error", f"bad key {KEY} in the request")).model())
    assert "bad key" in str(error) and KEY not in str(error)


def test_a_missing_package_is_told_with_the_line_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "anthropic", None)
    error = error_of(WAYS["decide"], AnthropicModel(MODEL, api_key=KEY))
    assert error.code == "missing_package" and 'pip install "agentkit-course[providers]"' in str(error)
