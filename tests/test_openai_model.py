"""OpenAIModel through the real SDK: what is sent, what comes back, keys and addresses, and an agent on top of it."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from typing import Any

import pytest

pytest.importorskip("openai", reason="the OpenAI SDK is not installed (extra: providers)")

import httpx2
from _fake_service import ELSEWHERE, KEY, OWN, FakeService, call, chat, chunk, events, fragment
from test_openai_responses import call as item_call
from test_openai_responses import document, events_of, reasoned, said

from agentkit import (
    Agent,
    DefinitionError,
    FinalAnswer,
    Message,
    ProviderError,
    Reply,
    TextDelta,
    openai_problems,
    tool,
)
from agentkit._wire import responses_problems
from agentkit.models.openai import OpenAIModel

GOAL = [Message("system", "Be brief."), Message("user", "Where is order 7?")]


@tool
def lookup(order_id: str) -> dict[str, str]:
    """Look an order up.

    Args:
        order_id: The number of the order.
    """
    return {"order_id": order_id, "status": "shipped"}


def model(service: FakeService, name: str | None = "gpt-5-mini", **more: Any) -> OpenAIModel:
    more = {"api_key": KEY, "max_retries": 0, **more}
    return OpenAIModel(name, http_client=service.http, async_http_client=service.async_http, **more)


CHAT = [
    chat("I look.", [call("lookup", '{"order_id": "7"}', "a"), call("lookup", '{"order_id": "8"}', "b")]),
    chat("Shipped."),
]
RESPONSES = [
    document(
        reasoned("Hm."),
        said("I look."),
        item_call("lookup", '{"order_id": "7"}', "a"),
        item_call("lookup", '{"order_id": "8"}', "b"),
    ),
    document(said("Shipped.")),
]
STREAMED_CHAT = [
    events([
        chunk({"role": "assistant", "content": "I "}), chunk({"content": "look."}), chunk(fragment(0, "", "lookup", "a")),
        chunk(fragment(1, "", "lookup", "b")), chunk(fragment(0, '{"order_id": "7"}')), chunk(fragment(1, '{"order_id": "8"}')),
        chunk({}, "tool_calls"), chunk(usage=CHAT[0]["usage"]),
    ]),
    events([chunk({"content": "Ship"}), chunk({"content": "ped."}), chunk({}, "stop"), chunk(usage=CHAT[1]["usage"])]),
]  # fmt: skip
STREAMED_RESPONSES = [events(events_of(found, [3]), done=False) for found in RESPONSES]
EACH = {
    "chat": (CHAT, STREAMED_CHAT, openai_problems),
    "responses": (RESPONSES, STREAMED_RESPONSES, responses_problems),
}


@pytest.mark.parametrize("api", EACH)
class TestAnAgentOnTopOfIt:
    def test_run_arun_and_stream_are_the_same_run(self, api: Any) -> None:
        whole, streamed, _ = EACH[api]
        run = Agent(model(FakeService(*whole), api=api), [lookup], system="Be brief.").run("Where are 7 and 8?")
        arun = asyncio.run(
            Agent(model(FakeService(*whole), api=api), [lookup], system="Be brief.").arun("Where are 7 and 8?")
        )
        stream = Agent(model(FakeService(*streamed), api=api), [lookup], system="Be brief.").stream(
            "Where are 7 and 8?"
        )
        words = "".join(item.text for item in stream if isinstance(item, TextDelta))
        assert run.answer == "Shipped." and words == "I look.Shipped."
        assert run.messages == arun.messages == stream.run.messages
        assert run.usage == stream.run.usage and run.usage.cost is not None and run.usage.cached_tokens == 80

    def test_what_goes_out_is_what_request_shows_and_the_service_accepts(self, api: Any) -> None:
        whole, _, problems = EACH[api]
        service = FakeService(*whole)
        made = model(service, api=api, max_output_tokens=99, options={"seed": 7})
        run = Agent(made, [lookup], system="Be brief.").run("Where are 7 and 8?")
        assert service.bodies == [made.request(run.sent(1), run.tools), made.request(run.sent(2), run.tools)]
        assert (
            service.bodies[1]["seed"] == 7
            and problems(service.bodies[1]["input" if api == "responses" else "messages"]) == []
        )
        path = {"chat": "/v1/chat/completions", "responses": "/v1/responses"}[api]
        assert {request.url.path for request in service.requests} == {path}

    def test_several_event_loops_one_after_the_other(self, api: Any) -> None:
        agent = Agent(model(FakeService(*EACH[api][0]), api=api), [lookup])
        for _ in range(3):
            assert asyncio.run(agent.arun("Where are 7 and 8?")).status == "done"

    def test_a_stream_that_nobody_reads_to_its_end_is_closed(self, api: Any) -> None:
        service = FakeService(*EACH[api][1])
        pieces = model(service, api=api).stream(GOAL, [lookup.spec])
        assert isinstance(next(pieces), TextDelta)
        assert not service.responses[0].is_closed
        pieces.close()  # type: ignore[attr-defined]
        assert service.responses[0].is_closed and list(pieces) == []


def test_a_stream_asks_for_usage_and_options_can_refuse_it() -> None:
    service = FakeService(*STREAMED_CHAT[1:])
    found = list(model(service).stream(GOAL, ()))
    assert service.bodies[0]["stream_options"] == {"include_usage": True} and service.bodies[0]["stream"] is True
    assert isinstance(found[-1], Reply) and found[-1].decision == FinalAnswer("", "Shipped.")
    list(model(service, options={"stream_options": None}).stream(GOAL, ()))
    assert service.bodies[1]["stream_options"] is None


def test_options_may_hold_fields_that_the_sdk_does_not_know_and_headers() -> None:
    service = FakeService(chat("Yes."))
    model(service, options={"top_k": 5, "temperature": 0, "extra_headers": {"x-group": "blue"}}).decide(GOAL, ())
    assert (service.bodies[0]["top_k"], service.bodies[0]["temperature"]) == (5, 0)
    assert service.requests[0].headers["x-group"] == "blue" and "extra_headers" not in service.bodies[0]


def test_without_tools_nothing_is_said_about_tools() -> None:
    service = FakeService(chat("Yes."))
    model(service, parallel_tools=False).decide(GOAL)
    assert set(service.bodies[0]) == {"model", "messages"}


class TestKeysAndAddresses:
    """A real key goes to its own service and nowhere else."""

    @pytest.fixture(autouse=True)
    def keys(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.delenv("AGENTKIT_API_KEY", raising=False)

    def sent(self, **more: Any) -> httpx2.Request:
        service = FakeService(chat("Yes."))
        OpenAIModel("m", http_client=service.http, max_retries=0, **more).decide(GOAL, ())
        return service.requests[0]

    @pytest.mark.parametrize("url", [None, OWN, "https://eu.api.openai.com/v1"])
    def test_the_own_service_gets_the_key_of_the_environment(self, url: str | None) -> None:
        assert self.sent(base_url=url).headers["authorization"] == f"Bearer {KEY}"

    @pytest.mark.parametrize(
        "url",
        [
            ELSEWHERE,
            "http://api.openai.com/v1",
            "https://api.openai.com.example.org/v1",
            "https://notapi.openai.com/v1",
        ],
    )
    def test_another_server_never_does(self, url: str) -> None:
        assert self.sent(base_url=url).headers["authorization"] == "Bearer none"

    def test_an_address_that_only_looks_like_the_own_service(self) -> None:
        assert not any(
            KEY in value for value in self.sent(base_url="https://api.openai.com@example.org/v1").headers.values()
        )

    def test_another_server_gets_a_key_of_its_own(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("AGENTKIT_API_KEY", "test-key-other")
        assert self.sent(base_url=ELSEWHERE).headers["authorization"] == "Bearer test-key-other"
        assert self.sent().headers["authorization"] == f"Bearer {KEY}"

    def test_no_other_variable_sends_the_key_elsewhere(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OPENAI_BASE_URL", ELSEWHERE)
        assert self.sent().url.host == "api.openai.com"

    def test_headers_that_are_meant_for_the_provider_stay_there(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", f"Authorization: Bearer {KEY}\nX-Gateway-Key: {KEY}")
        assert KEY in self.sent().headers["x-gateway-key"]
        request = self.sent(base_url=ELSEWHERE)
        assert not any(KEY in value for value in request.headers.values())
        assert request.headers["authorization"] == "Bearer none"

    def test_a_key_that_is_set_later_is_found(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("OPENAI_API_KEY")
        service = FakeService(chat("Yes."))
        made = OpenAIModel("m", http_client=service.http)
        with pytest.raises(ProviderError):
            made.decide(GOAL, ())
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        assert made.decide(GOAL, ()).decision == FinalAnswer("", "Yes.")


class TestTheModelsName:
    def test_the_default_stands_in_the_catalog(self) -> None:
        from agentkit.models.catalog import default_model

        assert OpenAIModel().model == default_model("openai")

    @pytest.mark.parametrize("how", ["decide", "adecide", "stream", "request"])
    def test_the_only_model_of_another_server_is_taken(self, how: str) -> None:
        service = FakeService({"object": "list", "data": [{"id": "smol", "object": "model"}]}, chat("Yes."))
        if how == "stream":
            service.answers[1] = STREAMED_CHAT[1]
        made = model(service, None, base_url=ELSEWHERE)
        if how == "adecide":
            asyncio.run(made.adecide(GOAL, ()))
        else:
            found: Any = getattr(made, how)(GOAL, ())
            _ = list(found) if how == "stream" else found
        assert made.model == "smol" and service.requests[0].url.path == "/v1/models"
        assert all(body["model"] == "smol" for body in map(json.loads, (r.content for r in service.requests[1:])))

    def test_of_several_one_must_be_named(self) -> None:
        service = FakeService({"data": [{"id": f"model-{n}"} for n in range(20)]})
        with pytest.raises(ProviderError, match=r"has several models: model-0, .*model-11, …\.") as caught:
            model(service, None, base_url=ELSEWHERE).decide(GOAL, ())
        assert caught.value.code == "model_not_found" and "AGENTKIT_MODEL=openai-compatible:model-0" in str(
            caught.value
        )

    @pytest.mark.parametrize("listed", [{"data": []}, {}, [], "text", {"data": [{}]}, {"data": None}])
    def test_a_server_without_a_model(self, listed: Any) -> None:
        with pytest.raises(ProviderError, match="has no model"):
            model(FakeService(listed), None, base_url=ELSEWHERE).decide(GOAL, ())

    def test_the_repr_shows_what_matters(self) -> None:
        assert repr(OpenAIModel("m", api="responses")) == "OpenAIModel('m', api='responses')"
        assert repr(OpenAIModel(base_url=ELSEWHERE)) == f"OpenAIModel(base_url='{ELSEWHERE}')"

    def test_an_api_that_does_not_exist(self) -> None:
        with pytest.raises(DefinitionError, match="'chat' or 'responses'"):
            OpenAIModel(api="completions")  # type: ignore[arg-type]


def test_close_lets_go_and_the_next_request_opens_again() -> None:
    service = FakeService(chat("Yes."))
    made = model(service)
    first = made.connection.client()
    made.close()
    assert made.connection.client() is not first and made.decide(GOAL, ()).decision == FinalAnswer("", "Yes.")


def test_the_sdk_is_imported_with_the_first_request_and_no_sooner() -> None:
    code = """
import sys
import agentkit
from agentkit.models.openai import OpenAIModel
made = OpenAIModel("m", base_url="http://127.0.0.1:9/v1", max_retries=0)
repr(made)
print("openai" in sys.modules, "httpx2" in sys.modules)
run = agentkit.Agent(made).run("x")
print("openai" in sys.modules, run.stop_reason)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, encoding="utf-8", timeout=60)
    assert done.stdout.split() == ["False", "False", "True", "model_error"], done.stderr
