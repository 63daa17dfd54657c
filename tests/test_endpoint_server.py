"""Who may ask the endpoint, what is refused in which shape, faults on demand, the record, and the command."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from endpoint_kit import ANSWER, KEY, LOOP, NOW, ask, leftovers, serving
from strategies import bounded

from agentkit import DefinitionError, Pause, ScriptedModel
from agentkit.endpoint import Endpoint, Exchange, run_endpoint
from agentkit.endpoint.hosts import host_name, is_loopback
from agentkit.endpoint.run import instructions

HELLO = {"model": "offline", "messages": [{"role": "user", "content": "hello"}]}
BEARER = {"Authorization": f"Bearer {KEY}"}
ANTHROPIC = {**BEARER, "anthropic-version": "2023-06-01"}


@pytest.fixture
def server() -> Iterator[Endpoint]:
    with serving(ANSWER) as running:
        yield running


# --- who may ask -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("headers", "wanted"),
    [({}, 401), ({"Authorization": "Bearer "}, 401), ({"Authorization": "Basic abc"}, 401), (BEARER, 200),
     ({"x-api-key": "any"}, 200), ({"authorization": "bearer none"}, 200)],
)  # fmt: skip
def test_any_key_is_let_in_but_not_none(server: Endpoint, headers: dict[str, str], wanted: int) -> None:
    status, document, _ = ask(f"{server.openai_url}/chat/completions", HELLO, headers)
    assert status == wanted
    if wanted == 401:
        assert document["error"]["code"] == "invalid_api_key" and "Bearer" in document["error"]["message"]


def test_with_a_token_only_that_key_is_let_in_and_no_key_is_repeated() -> None:
    with serving(ANSWER, token="class-token-4711") as endpoint:
        url = f"{endpoint.openai_url}/chat/completions"
        assert ask(url, HELLO, {"Authorization": "Bearer class-token-4711"})[0] == 200
        assert ask(url, HELLO, {"x-api-key": "class-token-4711"})[0] == 200
        for wrong in ("class-token-4712", "class-token-471", KEY, "클래스"):
            encoded = wrong.encode("utf-8").decode("latin-1")
            status, document, _ = ask(url, HELLO, {"x-api-key": encoded})
            assert status == 401 and wrong not in json.dumps(document, ensure_ascii=False)
        assert "4711" not in repr(endpoint) + repr(endpoint.exchanges)


def test_another_address_needs_a_token() -> None:
    with pytest.raises(DefinitionError, match="token is needed"):
        Endpoint(LOOP, host="0.0.0.0")
    with pytest.raises(DefinitionError, match="token is needed"):
        run_endpoint(LOOP, "0.0.0.0", 0, "")
    with Endpoint(LOOP, host="0.0.0.0", token="t0") as endpoint:
        port = endpoint.url.rpartition(":")[2]
        assert (
            ask(f"http://127.0.0.1:{port}/v1/models", None, {"x-api-key": "t0", "Host": "teacher-pc"}, "GET")[0] == 200
        )


def test_a_page_of_another_name_is_not_answered(server: Endpoint) -> None:
    for host, wanted in (
        ("evil.example", 403),
        ("evil.example:80", 403),
        ("localhost:1", 200),
        ("[::1]:80", 200),
        ("127.0.0.1", 200),
    ):
        assert ask(f"{server.openai_url}/models", None, {**BEARER, "Host": host}, "GET")[0] == wanted, host


@pytest.mark.parametrize(
    ("host", "wanted"), [("127.0.0.1", True), ("127.9.9.9", True), ("::1", True), ("localhost", True), ("LOCALHOST", True),
                         ("0.0.0.0", False), ("::", False), ("192.168.0.7", False), ("example.com", False), ("", False)],
)  # fmt: skip
def test_which_addresses_are_loopback(host: str, wanted: bool) -> None:
    assert is_loopback(host) is wanted


def test_the_name_in_a_host_header() -> None:
    assert [host_name(text) for text in ("a:1", "a", "[::1]:5", "[::1]", "")] == ["a", "a", "::1", "::1", ""]


def test_an_ipv6_address_is_written_with_brackets() -> None:
    try:
        with serving(ANSWER, host="::1") as endpoint:
            assert endpoint.url.startswith("http://[::1]:")
            assert ask(f"{endpoint.openai_url}/chat/completions", HELLO)[0] == 200
    except DefinitionError:
        pytest.skip("this machine has no IPv6 loopback address")


# --- refusals in both shapes -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "body", "status", "words"),
    [
        ("/v1/chat/completions", b"{", 400, "not valid JSON"), ("/v1/chat/completions", b"\xff\xfe", 400, "not valid JSON"),
        ("/v1/chat/completions", b'{"model": NaN}', 400, "not valid JSON"), ("/v1/chat/completions", b"[" * 100_000, 400, "not valid JSON"),
        ("/v1/chat/completions", b"[]", 400, "JSON object"), ("/v1/chat/completions", {}, 400, "'model'"),
        ("/v1/chat/completions", {"model": "gpt-x", "messages": HELLO["messages"]}, 404, "gpt-x"),
        ("/v1/messages", {"model": "claude-x", "max_tokens": 9, "messages": HELLO["messages"]}, 404, "model: claude-x"),
        ("/v1/nothing", {}, 404, "does not serve POST /v1/nothing"), ("/v1/audio/speech", {}, 404, "does not serve"),
    ],
)  # fmt: skip
def test_what_cannot_be_answered_is_told_in_the_shape_of_the_service(
    server: Endpoint, path: str, body: Any, status: int, words: str
) -> None:
    got, document, headers = ask(server.url + path, body, ANTHROPIC)
    assert got == status and words in document["error"]["message"]
    anthropic = path == "/v1/messages" or "nothing" in path or "audio" in path
    assert (document.get("type") == "error") is anthropic, "the path decides, and for other paths the version header"
    assert headers["request-id" if anthropic else "x-request-id"].startswith("req_")
    assert server.exchanges[-1].status == status and server.exchanges[-1].response == document


def test_methods_that_a_path_does_not_take(server: Endpoint) -> None:
    assert ask(f"{server.openai_url}/chat/completions", None, BEARER, "GET")[0] == 405
    assert ask(f"{server.openai_url}/models", {}, BEARER)[0] == 405
    assert ask(f"{server.openai_url}/chat/completions", None, BEARER, "OPTIONS")[0] == 405, "no page of the web may ask"


def test_a_request_that_is_too_large_is_refused_and_the_next_one_served() -> None:
    with serving(ANSWER, max_bytes=2_000) as endpoint:
        for service, path in (("openai", "/v1/chat/completions"), ("anthropic", "/v1/messages")):
            body = {**HELLO, "max_tokens": 9, "user": "x" * 9_000}
            status, document, _ = ask(endpoint.url + path, body, ANTHROPIC)
            assert status == 413 and "2,000 bytes" in document["error"]["message"]
            assert document["error"]["type"] == (
                "request_too_large" if service == "anthropic" else "invalid_request_error"
            )
        assert ask(f"{endpoint.openai_url}/chat/completions", HELLO)[0] == 200


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/responses", "/v1/messages"])
@pytest.mark.parametrize("stream", [False, True])
def test_a_model_that_fails_is_a_500_with_our_sentence_and_no_secret(path: str, stream: bool) -> None:
    class Broken:
        def decide(self, messages: Any, tools: Any) -> Any:
            raise ValueError("no luck with key=sk-abcdef0123456789")

    with Endpoint(Broken()) as endpoint:
        body = {**HELLO, "input": "x", "max_tokens": 99, "stream": stream}
        status, document, headers = ask(endpoint.url + path, body, ANTHROPIC)
        assert status == 500 and "raised ValueError" in document["error"]["message"]
        assert "sk-abc" not in json.dumps(document) and headers["x-should-retry"] == "false"


def test_a_script_that_is_used_up_and_a_person_who_must_decide() -> None:
    class Person:
        def decide(self, messages: Any, tools: Any) -> Pause:
            return Pause("What now?")

    with Endpoint(ScriptedModel([])) as endpoint:
        status, document, _ = ask(f"{endpoint.openai_url}/chat/completions", HELLO)
        assert status == 500 and "the script holds 0 decisions" in document["error"]["message"]
    with Endpoint(Person()) as endpoint:
        status, document, _ = ask(f"{endpoint.openai_url}/chat/completions", HELLO)
        assert status == 503 and "waits for a person: What now?" in document["error"]["message"]


@pytest.mark.parametrize("given", [None, "text", StopIteration(), SystemExit()])
def test_a_model_that_gives_something_else_is_a_500(given: Any) -> None:
    class Odd:
        def decide(self, messages: Any, tools: Any) -> Any:
            if isinstance(given, BaseException):
                raise given
            return given

    with Endpoint(Odd()) as endpoint:
        assert ask(f"{endpoint.openai_url}/chat/completions", HELLO)[0] == 500


def test_a_mistake_of_our_own_still_has_the_shape_of_the_service(
    server: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    from agentkit.endpoint import chat

    monkeypatch.setattr(chat, "from_openai", lambda history: 1 / 0)
    status, document, _ = ask(f"{server.openai_url}/chat/completions", HELLO)
    assert status == 500 and "ZeroDivisionError" in document["error"]["message"]


# --- faults ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 429, 500, 503, 529])
def test_a_planned_fault_meets_the_next_requests_and_no_more(server: Endpoint, status: int) -> None:
    server.fail(status, 2, retry_after=1.5)
    urls = [
        f"{server.openai_url}/chat/completions",
        f"{server.url}/v1/messages",
        f"{server.openai_url}/chat/completions",
    ]
    got = [ask(url, {**HELLO, "max_tokens": 99}, ANTHROPIC) for url in urls]
    assert [one[0] for one in got] == [status, status, 200]
    assert "error" in got[0][1] and got[1][1]["type"] == "error"
    assert got[0][2]["retry-after"] == "2" and got[0][2]["retry-after-ms"] == "1500"


def test_the_codes_and_types_that_programs_look_at(server: Endpoint) -> None:
    server.fail(429)
    server.fail(429, code="insufficient_quota")
    url = f"{server.openai_url}/chat/completions"
    assert ask(url, HELLO)[1]["error"]["code"] == "rate_limit_exceeded"
    assert ask(url, HELLO)[1]["error"]["type"] == "insufficient_quota"
    for status, kind in (
        (529, "overloaded_error"),
        (429, "rate_limit_error"),
        (500, "api_error"),
        (402, "billing_error"),
    ):
        server.fail(status)
        assert ask(f"{server.url}/v1/messages", HELLO, ANTHROPIC)[1]["error"]["type"] == kind


def test_a_header_asks_for_a_fault_of_one_request(server: Endpoint) -> None:
    url = f"{server.openai_url}/chat/completions"
    status, _, headers = ask(url, HELLO, {**BEARER, "x-agentkit-fail": "503; retry-after=2"})
    assert status == 503 and headers["retry-after"] == "2"
    assert ask(url, HELLO)[0] == 200
    for wrong in ("fast", "200", "429; wait=2", "429; retry-after=soon", "429; x"):
        status, document, _ = ask(url, HELLO, {**BEARER, "x-agentkit-fail": wrong})
        assert status == 400 and "x-agentkit-fail" in document["error"]["message"], wrong


def test_a_dropped_connection(server: Endpoint) -> None:
    import http.client

    server.fail(None)
    with pytest.raises((OSError, http.client.HTTPException, ValueError)):
        ask(f"{server.openai_url}/chat/completions", HELLO)
    assert ask(f"{server.openai_url}/chat/completions", HELLO)[0] == 200
    assert [exchange.response is None for exchange in server.exchanges] == [True, False]


def test_a_fault_that_is_none(server: Endpoint) -> None:
    with pytest.raises(DefinitionError, match="from 400 to 599"):
        server.fail(200)


# --- the record ------------------------------------------------------------------------------------------------------


def test_the_record_holds_documents_and_no_headers(server: Endpoint) -> None:
    ask(f"{server.openai_url}/chat/completions", HELLO)
    ask(f"{server.openai_url}/models", None, BEARER, "GET")
    ask(f"{server.openai_url}/nothing", {}, BEARER)
    chat, models, nothing = server.exchanges
    assert (chat.service, chat.path, chat.request, chat.status) == ("chat", "/v1/chat/completions", HELLO, 200)
    assert chat.response["created"] == NOW and chat.events == ()
    assert (models.service, models.request) == ("models", None) and nothing.service == "unknown"
    assert KEY not in repr(server.exchanges)
    with pytest.raises(AttributeError):
        chat.status = 500  # type: ignore[misc]


def test_the_record_can_be_left_out_and_is_bounded() -> None:
    from agentkit.endpoint.desk import Desk

    with serving(ANSWER, log=False) as endpoint:
        ask(f"{endpoint.openai_url}/chat/completions", HELLO)
        assert endpoint.exchanges == ()
    desk = Desk(("offline",), lambda: 0.0, True)
    for number in range(1_200):
        desk.record(Exchange("chat", str(number), None, 200, None))
    assert len(desk.log) == 1_000 and desk.log[-1].path == "1199"


def test_every_name_is_taken_when_none_is_given() -> None:
    with serving(ANSWER, models=()) as endpoint:
        assert ask(f"{endpoint.openai_url}/chat/completions", {**HELLO, "model": "anything"})[1]["model"] == "anything"


# --- the command -----------------------------------------------------------------------------------------------------


def test_the_command_says_where_and_how_and_ends() -> None:
    done, said = threading.Event(), []

    def say(text: str) -> None:
        said.append(text)
        done.set()

    bounded(lambda: run_endpoint(LOOP, port=0, say=say, done=done), 10)
    assert "export AGENTKIT_MODEL=openai-compatible" in said[0] and "/v1\n" in said[0] and "API_KEY" not in said[0]
    assert said[-1] == "The endpoint has stopped." and leftovers() == []


def test_control_c_ends_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    class Interrupted(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            raise KeyboardInterrupt

    said: list[str] = []
    run_endpoint(LOOP, port=0, say=said.append, done=Interrupted())
    assert said[-1] == "The endpoint has stopped."


def test_the_command_never_prints_the_token() -> None:
    with Endpoint(LOOP, host="0.0.0.0", token="class-token-4711") as endpoint:
        text = instructions(endpoint, True)
        assert "4711" not in text and "AGENTKIT_API_KEY" in text and "0.0.0.0" not in text
