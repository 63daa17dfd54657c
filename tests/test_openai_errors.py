"""What goes wrong at a service, through the real SDK: each kind has its code and a sentence that says what to do."""

from __future__ import annotations

import asyncio
import pickle
import socket
import sys
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import pytest

pytest.importorskip("openai", reason="the OpenAI SDK is not installed (extra: providers)")

import httpx2
from _fake_service import ELSEWHERE, KEY, FakeService, call, chat, chunk, events, fragment, problem

from agentkit import Agent, Message, ProviderError
from agentkit.models.openai import OpenAIModel

GOAL = [Message("user", "Where is order 7?")]


def model(service: FakeService, **more: Any) -> OpenAIModel:
    more = {"api_key": KEY, "max_retries": 0, **more}
    return OpenAIModel("gpt-5-mini", http_client=service.http, async_http_client=service.async_http, **more)


def failure(made: OpenAIModel, how: str = "decide") -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        if how == "decide":
            made.decide(GOAL, ())
        elif how == "adecide":
            asyncio.run(made.adecide(GOAL, ()))
        else:
            list(made.stream(GOAL, ()))
    hidden(caught.value)
    return caught.value


def hidden(error: BaseException, key: str = KEY) -> None:
    """The key is in no text, no chained exception, no variable that a verbose traceback shows, and no pickle of an error."""
    assert error.__cause__ is None and error.__context__ is None
    shown = traceback.TracebackException.from_exception(error, capture_locals=True)
    ours = [frame for frame in shown.stack if "agentkit" in frame.filename.replace("\\", "/").split("/")]
    texts = [str(error), repr(error), repr(vars(error)), *traceback.format_exception(error)]
    texts += [text for frame in ours for text in (frame.locals or {}).values()]
    assert ours and not any(key in text for text in texts)
    assert key.encode() not in pickle.dumps(error)


def error_body(message: str, kind: str = "invalid_request_error", code: str | None = None) -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


QUOTA = "You exceeded your current quota, please check your plan and billing details."
ANSWERS: dict[str, tuple[Any, int, str, list[str]]] = {
    "wrong key": (
        problem(401, error_body(f"Incorrect API key provided: {KEY}.", code="invalid_api_key")),
        401, "wrong_key", ["OPENAI_API_KEY", "whole, valid key"],
    ),
    "not allowed": (problem(403, error_body("Country not supported", code="unsupported_country")), 403, "not_allowed", ["Country"]),
    "quota": (problem(429, error_body(QUOTA, "insufficient_quota", "insufficient_quota")), 429, "quota", ["no credit left", "billing"]),
    "no credit, as other services say it": (problem(402, error_body("Insufficient credits")), 402, "quota", ["no credit left"]),
    "rate limit": (
        problem(429, error_body("Rate limit reached for requests", "requests", "rate_limit_exceeded"), **{"retry-after": "20"}),
        429, "rate_limit", ["too often", "wait 20 seconds"],
    ),
    "model not found": (
        problem(404, error_body("The model `gpt-9` does not exist", code="model_not_found")), 404, "model_not_found",
        ["'gpt-5-mini'", "AGENTKIT_MODEL=openai:NAME", "does not exist"],
    ),
    "model not found, as Ollama says it": (
        problem(404, {"error": {"message": 'model "m" not found, try pulling it first', "type": "api_error"}}),
        404, "model_not_found", ["try pulling it first"],
    ),
    "no such address": (problem(404, "404 page not found"), 404, "no_server", ["base URL", "/v1"]),
    "method not allowed": (problem(405, {"detail": "Method Not Allowed"}), 405, "no_server", ["base URL"]),
    "bad request": (problem(400, error_body("Invalid schema for function 'f'")), 400, "bad_request", ["Invalid schema for function 'f'"]),
    "bad request, as vLLM says it": (problem(422, {"detail": "Extra inputs are not permitted"}), 422, "bad_request", ["Extra inputs"]),
    "bad request, without a body": (problem(400, ""), 400, "bad_request", ["does not accept the request (status 400)."]),
    "tools by another API": (
        problem(400, error_body("Function tools with reasoning_effort are not supported. To use function tools, use /v1/responses.")),
        400, "bad_request", ["AGENTKIT_MODEL=openai-responses:NAME", "It said: Function tools"],
    ),
    "context too long": (
        problem(400, error_body("This model's maximum context length is 8192 tokens.", code="context_length_exceeded")),
        400, "context_too_long", ["Memory(max_tokens=…)", "8192"],
    ),
    "context too long, as llama.cpp says it": (
        problem(400, {"error": {"code": 400, "message": "the request exceeds the available context size", "type": "exceed_context_size_error"}}),
        400, "context_too_long", ["smaller memory"],
    ),
    "too large": (problem(413, "<html>Request Entity Too Large</html>"), 413, "context_too_long", ["smaller memory"]),
    "server error": (problem(500, error_body("The server had an error", "server_error")), 500, "server_error", ["Try again later", "It said: The server had an error."]),
    "a proxy's page": (problem(502, "<html><h1>Bad Gateway</h1></html>"), 502, "server_error", ["status 502"]),
    "overloaded": (problem(503, error_body("overloaded", "overloaded_error")), 503, "server_error", ["Try again later"]),
}  # fmt: skip


@pytest.mark.parametrize("name", ANSWERS)
def test_an_error_of_the_service_has_a_code_and_says_what_to_do(name: str) -> None:
    answer, status, code, words = ANSWERS[name]
    error = failure(model(FakeService(answer)))
    assert (error.code, error.status) == (code, status)
    assert all(word in str(error) for word in words), str(error)
    assert "{" not in str(error) and "<h" not in str(error) and str(error).endswith((".", "…"))


@pytest.mark.parametrize("how", ["decide", "adecide", "stream"])
@pytest.mark.parametrize("api", ["chat", "responses"])
@pytest.mark.parametrize("name", ["wrong key", "rate limit", "server error"])
def test_every_way_of_asking_gives_the_same_error(name: str, api: Any, how: str) -> None:
    answer, status, code, _ = ANSWERS[name]
    error = failure(model(FakeService(answer), api=api), how)
    assert (error.code, error.status) == (code, status)
    assert str(error) == str(failure(model(FakeService(answer))))


def test_without_a_key_nothing_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    service = FakeService(chat("hello"))
    error = failure(model(service, api_key=None))
    assert error.code == "no_key" and "OPENAI_API_KEY" in str(error) and "AGENTKIT_MODEL=offline" in str(error)
    assert "restart the kernel" not in str(error) and "start your program or Jupyter again" in str(error)
    assert service.requests == []


@pytest.mark.parametrize("key", [f"{KEY} x", f"{KEY}\nx", f"열쇠-{KEY}"], ids=["space", "line break", "Korean"])
def test_a_key_that_cannot_be_sent_is_told_without_being_shown(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    error = failure(model(FakeService(chat("hello")), api_key=None))
    assert error.code == "wrong_key" and "Copy it again" in str(error)
    hidden(error, key)


def test_a_line_end_around_the_key_of_the_environment_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", f" {KEY}\r\n")
    service = FakeService(chat("hello"))
    model(service, api_key=None).decide(GOAL, ())
    assert service.requests[0].headers["authorization"] == f"Bearer {KEY}"


@pytest.fixture
def silent_server() -> Iterator[str]:
    """A server on the loopback that takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}/v1"


def closed_port() -> str:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    return f"http://127.0.0.1:{port}/v1"


@pytest.mark.parametrize("how", ["decide", "adecide", "stream"])
def test_no_server_at_the_address(how: str) -> None:
    url = closed_port()
    error = failure(OpenAIModel("m", base_url=url, max_retries=0), how)
    assert error.code == "no_server" and error.status is None
    assert f"The server at {url} cannot be reached" in str(error) and "it runs" in str(error)


def test_no_network_to_the_providers_own_service() -> None:
    error = failure(model(FakeService(httpx2.ConnectError("Name or service not known"))))
    assert error.code == "no_server" and "OpenAI cannot be reached. Check the network connection" in str(error)


@pytest.mark.parametrize("url", ["127.0.0.1:8000/v1", "http://[::1", "http://127.0.0.1:port/v1"])
def test_an_address_that_is_none(url: str) -> None:
    error = failure(OpenAIModel("m", base_url=url, max_retries=0))
    assert error.code == "no_server"


@pytest.mark.parametrize("how", ["decide", "adecide", "stream"])
def test_a_server_that_does_not_answer_in_time(how: str, silent_server: str) -> None:
    error = failure(OpenAIModel("m", base_url=silent_server, timeout=0.05, max_retries=0), how)
    assert error.code == "timeout" and "did not answer within 0.05 seconds" in str(error)


def test_retries_are_the_sdks_own_and_are_counted() -> None:
    soon = {"retry-after-ms": "1"}
    service = FakeService(problem(500, error_body("broken"), **soon))
    error = failure(model(service, max_retries=2))
    assert len(service.requests) == 3 and "It was tried 3 times." in str(error)
    service = FakeService(problem(429, error_body("slow down"), **soon), chat("hello"))
    assert model(service, max_retries=2).decide(GOAL, ()).decision.text == "hello"  # type: ignore[union-attr]
    assert len(service.requests) == 2


def test_a_wrong_key_is_not_tried_again() -> None:
    service = FakeService(ANSWERS["wrong key"][0])
    failure(model(service, max_retries=2))
    assert len(service.requests) == 1


@pytest.mark.parametrize("body", ["<html>Welcome</html>", "[]", '"text"', "null", "{}"])
def test_an_answer_that_is_no_reply_says_to_check_the_address(body: str) -> None:
    from agentkit import ModelError

    service = FakeService(lambda: httpx2.Response(200, text=body))
    with pytest.raises(ModelError, match="base URL"):
        model(service).decide(GOAL, ())


def test_an_error_in_the_place_of_a_reply() -> None:
    service = FakeService({"error": {"message": "Provider is down", "code": 502}, "choices": None})
    error = failure(model(service))
    assert "Provider is down" in str(error) and error.code == "provider_error"


CALL = [
    chunk({"role": "assistant"}),
    chunk(fragment(0, "", "refund", "call_a")),
    chunk(fragment(0, '{"order_id": "7"}')),
]
TEXT = [chunk({"role": "assistant", "content": "The order "})]
BREAKS: dict[str, Callable[[list[Any]], Any]] = {
    "the connection breaks": lambda items: events(items, broken=httpx2.ReadError("reset by peer")),
    "it takes too long": lambda items: events(items, broken=httpx2.ReadTimeout("")),
    "the server closes too early": lambda items: events(items, broken=httpx2.RemoteProtocolError("incomplete chunked read")),
    "it ends without a finish reason": lambda items: events(items),
    "it ends without a word": lambda items: events(items, done=False),
    "the service says so": lambda items: events([*items, {"error": {"message": "interrupted", "type": "stream_error"}}]),
}  # fmt: skip


@pytest.mark.parametrize("items", [TEXT, CALL], ids=["text", "call"])
@pytest.mark.parametrize("how", BREAKS)
def test_a_stream_that_breaks_in_the_middle_gives_no_half_decision(how: str, items: list[Any]) -> None:
    seen: list[Any] = []
    with pytest.raises(ProviderError) as caught:
        for item in model(FakeService(BREAKS[how](items))).stream(GOAL, ()):
            seen.append(item)
    assert caught.value.code == "interrupted" and "nothing of it was used" in str(caught.value)
    assert [getattr(item, "text", None) for item in seen] == (["The order "] if items is TEXT else [])
    hidden(caught.value)


def test_a_server_error_in_the_middle_of_a_stream_keeps_its_kind() -> None:
    items = [*TEXT, {"error": {"message": "The server had an error", "type": "server_error"}}]
    assert failure(model(FakeService(events(items))), "stream").code == "server_error"


def test_a_broken_stream_stops_the_run_and_no_tool_runs() -> None:
    ran: list[str] = []

    def refund(order_id: str) -> str:
        """Give the money back."""
        ran.append(order_id)
        return "done"

    agent = Agent(model(FakeService(BREAKS["the connection breaks"](CALL))), [refund])
    stream = agent.stream("Refund order 7.")
    list(stream)
    assert (stream.run.stop_reason, ran) == ("model_error", []) and "nothing of it was used" in str(stream.run.error)


def test_a_line_of_a_stream_that_is_not_json() -> None:
    raw = lambda: httpx2.Response(200, headers={"content-type": "text/event-stream"}, text="data: {broken\n\n")  # noqa: E731
    assert failure(model(FakeService(raw)), "stream").code == "provider_error"


class TestTheKeyIsNeverShown:
    @pytest.mark.parametrize("name", ANSWERS)
    def test_when_the_service_repeats_it(self, name: str) -> None:
        _, status, _, _ = ANSWERS[name]
        body = error_body(f"Header 'Authorization: Bearer {KEY}' and key {KEY} are wrong for the model")
        failure(model(FakeService(problem(status, body))))

    @pytest.mark.parametrize("before", [270, 285, 300])
    def test_where_a_long_message_is_cut(self, before: int) -> None:
        words = "word " * (before // 5)
        error = failure(model(FakeService(problem(400, error_body(f"{words}{KEY} and more")))))
        assert KEY[:12] not in str(error) and "word word" in str(error)
        error = failure(model(FakeService({"error": {"message": f"{words}{KEY} and more"}})))
        assert KEY[:12] not in str(error) and "word word" in str(error)

    def test_in_the_model_and_its_parts(self) -> None:
        made = model(FakeService(chat("hello")))
        made.decide(GOAL, ())
        made.connection.client()
        shown = [repr(made), str(made), repr(vars(made)), repr(made.connection), repr(vars(made.connection))]
        assert not any(KEY in text for text in shown)
        assert repr(made) == "OpenAIModel('gpt-5-mini')"

    def test_in_a_pickle_or_copy_of_the_model(self, monkeypatch: pytest.MonkeyPatch) -> None:
        import copy

        made = model(FakeService(chat("hello")))
        made.decide(GOAL, ())
        assert KEY.encode() not in pickle.dumps(made)
        again = pickle.loads(pickle.dumps(made))
        monkeypatch.setenv("OPENAI_API_KEY", "test-key-another")
        assert again.connection.key().reveal() == "test-key-another"
        assert copy.deepcopy(made).connection.key().reveal() == KEY

    def test_in_a_run_and_its_json(self) -> None:
        body = error_body(f"The key {KEY} is wrong")
        run = Agent(model(FakeService(problem(400, body)))).run("Where is order 7?")
        assert run.stop_reason == "model_error" and "[secret]" in str(run.error)
        assert not any(KEY in text for text in (run.to_json(), str(run), repr(run), run._repr_html_()))

    def test_in_a_pickled_error(self) -> None:
        error = failure(model(FakeService(ANSWERS["rate limit"][0])))
        again = pickle.loads(pickle.dumps(error))
        assert (str(again), again.code, again.status) == (str(error), "rate_limit", 429)

    def test_in_an_address_with_a_password(self) -> None:
        made = OpenAIModel("m", base_url="http://ann:s3cret-word@127.0.0.1:9/v1", max_retries=0)
        made.connection._http = FakeService(httpx2.ConnectError("no")).http
        error = failure(made)
        assert "s3cret-word" not in str(error) + repr(made) and "127.0.0.1:9" in str(error)

    def test_this_check_can_fail(self) -> None:
        with pytest.raises(ProviderError) as caught:
            try:
                raise ValueError(f"the SDK names {KEY}")
            except ValueError:
                raise ProviderError("A sentence.")  # noqa: B904
        with pytest.raises(AssertionError):
            hidden(caught.value)


def test_a_missing_package_names_the_line_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    error = failure(OpenAIModel("m", base_url=ELSEWHERE))
    assert error.code == "missing_package" and 'pip install "agentkit-course[providers]"' in str(error)


def test_a_mistake_of_the_programmer_is_not_blamed_on_the_service() -> None:
    service = FakeService(chat(None, [call("f", "{}")]))
    with pytest.raises(TypeError):
        OpenAIModel("m", api_key=KEY, http_client=service.http, options={"extra_headers": 5}).decide(GOAL, ())
