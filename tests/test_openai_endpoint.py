"""OpenAIModel over a real socket: the official SDK on one side, the loopback endpoint on the other."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("openai", reason="the OpenAI SDK is not installed (extra: providers)")
pytest.importorskip("uvicorn", reason="the web server is not installed (extra: providers)")

from agentkit import Agent, CallTools, FinalAnswer, Message, ScriptedModel, TextDelta, ToolCall, tool
from agentkit.endpoint import Endpoint
from agentkit.models.openai import OpenAIModel

KEY = "test-key-0123456789"
ASKED: list[str] = []


@tool
def lookup(order_id: str) -> dict[str, str]:
    """Look an order up."""
    ASKED.append(order_id)
    return {"order_id": order_id, "status": "shipped"}


CALLS = (ToolCall("lookup", {"order_id": "A 1"}), ToolCall("lookup", {"order_id": "나 2"}))
SCRIPT = ScriptedModel([CallTools("I look both up.", CALLS), FinalAnswer("", "둘 다 shipped.")])


@pytest.fixture(scope="module")
def server() -> Iterator[Endpoint]:
    with Endpoint(SCRIPT, token=KEY, clock=lambda: 1.0) as found:
        yield found


def agent(server: Endpoint, api: Any = "chat", **more: Any) -> Agent:
    more = {"api_key": KEY, "max_retries": 0, **more}
    return Agent(OpenAIModel("offline", api=api, base_url=server.openai_url, **more), [lookup], system="Be brief.")


@pytest.mark.parametrize("api", ["chat", "responses"])
class TestAToolLoop:
    def test_run_arun_and_stream_are_the_same_run(self, server: Endpoint, api: Any) -> None:
        ASKED.clear()
        run = agent(server, api).run("Where are they?")
        assert (run.answer, run.status) == ("둘 다 shipped.", "done") and ASKED == ["A 1", "나 2"]
        assert run.usage.cost == 0.0 and run.usage.input_tokens > 0
        arun = asyncio.run(agent(server, api).arun("Where are they?"))
        stream = agent(server, api).stream("Where are they?")
        words = "".join(item.text for item in stream if isinstance(item, TextDelta))
        assert words == "I look both up.둘 다 shipped."
        assert run.messages == arun.messages == stream.run.messages and run.usage == stream.run.usage

    def test_the_thought_and_the_calls_travel(self, server: Endpoint, api: Any) -> None:
        run = agent(server, api).run("Where are they?")
        decision = run.step(1).decision
        assert isinstance(decision, CallTools) and decision.thought == "I look both up."
        assert [(c.name, c.arguments) for c in decision.calls] == [(c.name, c.arguments) for c in CALLS]

    def test_each_event_loop_has_a_client_that_is_closed_with_it(self, server: Endpoint, api: Any) -> None:
        made = agent(server, api)
        clients: list[Any] = []

        async def asked() -> str | None:
            found = (await made.arun("Where are they?")).answer
            clients.append(await made.model.connection.async_client())  # type: ignore[attr-defined]
            return found

        assert [asyncio.run(asked()) for _ in range(3)] == ["둘 다 shipped."] * 3
        assert len({id(client) for client in clients}) == 3 and all(client.is_closed() for client in clients)

    @pytest.mark.parametrize(("status", "words"), [(None, "nothing of it was used"), (500, "has a problem of its own")])
    def test_a_stream_that_breaks_in_the_middle_runs_nothing(
        self, server: Endpoint, api: Any, status: int | None, words: str
    ) -> None:
        ASKED.clear()
        server.fail(status, after_chunks=3)
        stream = agent(server, api).stream("Where are they?")
        list(stream)
        assert (stream.run.stop_reason, ASKED) == ("model_error", []) and words in str(stream.run.error)

    def test_errors_that_pass_are_tried_again(self, server: Endpoint, api: Any) -> None:
        before = len(server.exchanges)
        server.fail(429, times=1, retry_after=0.001)
        assert agent(server, api, max_retries=2).run("Where are they?").status == "done"
        assert [exchange.status for exchange in server.exchanges[before:]] == [429, 200, 200]

    @pytest.mark.parametrize(
        ("status", "words"), [(429, "too often"), (500, "problem of its own"), (503, "problem of its own")]
    )
    def test_errors_that_stay_are_told(self, server: Endpoint, api: Any, status: int, words: str) -> None:
        before = len(server.exchanges)
        server.fail(status, times=3, retry_after=0.001)
        run = agent(server, api, max_retries=2).run("Where are they?")
        assert run.stop_reason == "model_error" and words in str(run.error) and "tried 3 times" in str(run.error)
        assert [exchange.status for exchange in server.exchanges[before:]] == [status] * 3

    def test_a_wrong_key_and_a_wrong_name(self, server: Endpoint, api: Any) -> None:
        run = agent(server, api, api_key="test-key-wrong").run("Where?")
        assert "AGENTKIT_API_KEY" in str(run.error) and "test-key-wrong" not in run.to_json()
        made = OpenAIModel("no-such-model", api=api, base_url=server.openai_url, api_key=KEY)
        assert "has no model 'no-such-model'" in str(Agent(made).run("Where?").error)


def test_the_name_of_the_model_is_asked_for(server: Endpoint) -> None:
    made = OpenAIModel(base_url=server.openai_url, api_key=KEY)
    assert Agent(made, [lookup]).run("Where?").status == "done" and made.model == "offline"


@pytest.mark.parametrize("how", ["run", "arun"])
def test_a_proxy_is_not_asked_for_a_server_on_this_machine(
    server: Endpoint, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    made = agent(server)
    run = made.run("Where?") if how == "run" else asyncio.run(made.arun("Where?"))
    assert run.status == "done", run.error


def test_an_address_without_v1_says_so(server: Endpoint) -> None:
    made = OpenAIModel("offline", base_url=server.url, api_key=KEY, max_retries=0)
    assert "usually ends in /v1" in str(Agent(made).run("Where?").error)


def test_the_adapter_adds_little_to_the_sdk(server: Endpoint) -> None:
    """At most 2 ms of this thread's own time for each call above the bare SDK (median of many, on one connection)."""
    made = agent(server).model
    messages, tools = [Message("user", "Where are they?")], [lookup.spec]
    body = made.request(messages, tools)  # type: ignore[attr-defined]
    client = made.connection.client()  # type: ignore[attr-defined]

    def bare() -> None:
        client.chat.completions.create(**body)

    def ours() -> None:
        made.decide(messages, tools)

    times: dict[Any, list[float]] = {bare: [], ours: []}
    for _ in range(30):
        for call, found in times.items():
            start = time.thread_time()
            call()
            found.append(time.thread_time() - start)
    assert statistics.median(times[ours]) - statistics.median(times[bare]) < 0.002
