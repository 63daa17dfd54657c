"""`AnthropicModel` over a real socket: the same agent, with the loopback endpoint in the place of the service."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

for package in ("anthropic", "starlette", "uvicorn"):
    pytest.importorskip(package, reason="needs the extra 'providers': pip install 'agentkit-course[providers]'")

from agentkit import Agent, CallTools, FinalAnswer, Message, ProviderError, Reply, Run, ScriptedModel, ToolCall, tool  # noqa: E402
from agentkit.endpoint import Endpoint  # noqa: E402
from agentkit.models.anthropic import AnthropicModel  # noqa: E402

SCRIPT = [
    CallTools("I look at both.", (ToolCall("look", {"name": "box"}), ToolCall("look", {"name": "bag"}))),
    CallTools("Once more.", (ToolCall("look", {"name": "tin"}),)),
    FinalAnswer("Everything was seen.", "Seven of each."),
]


@tool
def look(name: str) -> str:
    """Look at one thing.

    Args:
        name: what to look at.
    """
    return f"7 {name}"


@pytest.fixture
def server() -> Iterator[Endpoint]:
    with Endpoint(ScriptedModel(SCRIPT)) as found:
        yield found


def model_at(server: Endpoint, **options: Any) -> AnthropicModel:
    return AnthropicModel("offline", base_url=server.anthropic_url, **options)


def by_stream(agent: Agent) -> Run:
    stream = agent.stream("What is there?")
    list(stream)
    return stream.run


RUNS: dict[str, Callable[[Agent], Run]] = {
    "run": lambda agent: agent.run("What is there?"),
    "arun": lambda agent: asyncio.run(agent.arun("What is there?")),
    "stream": by_stream,
}


@pytest.mark.parametrize("think", [None, {"type": "enabled", "budget_tokens": 1024}], ids=["plain", "thinking"])
@pytest.mark.parametrize("how", RUNS.values(), ids=RUNS.keys())
def test_a_tool_loop(server: Endpoint, how: Callable[[Agent], Run], think: Any) -> None:
    run = how(Agent(model_at(server, thinking=think), [look], system="Be brief."))
    assert (run.answer, run.stop_reason, len(run.steps)) == ("Seven of each.", "answered", 3)
    assert [call.id for step in run.steps for call in step.calls] == ["toolu_1", "toolu_2", "toolu_3"]
    assert [result.data for step in run.steps for result in step.results] == ["7 box", "7 bag", "7 tin"]
    assert run.usage.input_tokens > 0 and run.usage.output_tokens > 0
    assert len(server.exchanges) == 3 and {exchange.status for exchange in server.exchanges} == {200}
    said = [turn["content"] for turn in server.exchanges[-1].request["messages"] if turn["role"] == "assistant"]
    if think:
        assert [json.dumps(content) for content in said] == [
            json.dumps(exchange.response["content"]) for exchange in server.exchanges[:2]
        ]
        assert [step.thought for step in run.steps] == [decision.thought for decision in SCRIPT]


def test_a_changed_thinking_block_is_refused_so_ours_are_unchanged(server: Endpoint) -> None:
    model = model_at(server, thinking={"type": "enabled", "budget_tokens": 1024})
    run = Agent(model, [look]).run("What is there?")
    place = next(place for place, message in enumerate(run.messages) if message.role == "assistant")
    first, *rest = run.messages[place].provider["anthropic"]  # type: ignore[index]
    changed = replace(run.messages[place], provider={"anthropic": [{**first, "thinking": "Something else."}, *rest]})
    history = [*run.messages[:place], changed, *run.messages[place + 1 :], Message("user", "Sure?")]
    with pytest.raises(ProviderError) as raised:
        model.decide(history, run.tools)
    assert (raised.value.code, raised.value.status) == ("bad_request", 400)


def test_one_call_at_a_time(server: Endpoint) -> None:
    reply = model_at(server, parallel_tools=False).decide([Message("user", "Look.")], [look.spec])
    assert isinstance(reply.decision, CallTools) and len(reply.decision.calls) == 1


@pytest.mark.parametrize(("times", "answer"), [(1, "Seven of each."), (2, None)])
def test_a_busy_service_is_asked_again(server: Endpoint, times: int, answer: str | None) -> None:
    server.fail(529, times=times, retry_after=0.01)
    run = Agent(model_at(server, max_retries=1), [look]).run("What is there?")
    assert run.answer == answer
    assert [exchange.status for exchange in server.exchanges] == [529] * times + [200] * (3 if answer else 0)


@pytest.mark.parametrize("status", [500, None], ids=["an error event", "a lost connection"])
@pytest.mark.parametrize("chunks", [1, 4])
def test_a_stream_that_breaks_stops_the_run(server: Endpoint, status: int | None, chunks: int) -> None:
    server.fail(status, after_chunks=chunks)
    run = by_stream(Agent(model_at(server), [look]))
    assert run.stop_reason == "model_error" and run.error and [message.role for message in run.messages] == ["user"]
    assert len(server.exchanges) == 1, "words may have been shown already, so nothing is sent again"


@pytest.mark.parametrize("how", ["decide", "stream"])
def test_a_cut_off_call_is_never_run(how: str) -> None:
    wordy = ScriptedModel([CallTools("", (ToolCall("look", {"name": "a box with many words " * 9}),))])
    with Endpoint(wordy) as server:
        model = model_at(server, max_output_tokens=12)
        history = [Message("user", "Look.")]
        reply = model.decide(history, [look.spec]) if how == "decide" else list(model.stream(history, [look.spec]))[-1]
    assert isinstance(reply, Reply) and isinstance(reply.decision, CallTools) and reply.decision.calls[-1].truncated
    assert reply.provider is not None and reply.provider["stop_reason"] == "max_tokens"


def test_a_wrong_key_and_a_wrong_name() -> None:
    with Endpoint(ScriptedModel(SCRIPT), token="test-key-0123456789") as server:
        with pytest.raises(ProviderError) as raised:
            model_at(server, api_key="test-key-9876543210").decide([Message("user", "Look.")])
        assert raised.value.code == "wrong_key" and "9876543210" not in str(raised.value)
        model = AnthropicModel("nobody", base_url=server.anthropic_url, api_key="test-key-0123456789")
        with pytest.raises(ProviderError, match="nobody") as raised:
            model.decide([Message("user", "Look.")])
        assert raised.value.code == "model_not_found"
