"""Libraries of others, built on the official SDKs, complete a tool loop through the endpoint."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import pytest
from endpoint_kit import ANSWER, KEY, LOOP, serving

from agentkit import Agent, CallTools, FinalAnswer, OfflineModel, Registry, ToolCall
from agentkit.endpoint import Endpoint
from agentkit.worlds import orders

pydantic_ai = pytest.importorskip("pydantic_ai", reason="needs pydantic-ai: pip install 'pydantic-ai-slim[openai]'")
openai = pytest.importorskip("openai", reason="needs openai: pip install 'agentkit-course[providers]'")

T = TypeVar("T")


def run(endpoint: Endpoint, api: str, work: Callable[[Any], Awaitable[T]]) -> T:
    """The value of ``work(model)`` with a model of pydantic-ai whose client is closed afterwards."""
    from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider

    async def with_client() -> T:
        async with openai.AsyncOpenAI(base_url=endpoint.openai_url, api_key=KEY, max_retries=0) as sdk:
            kind = OpenAIChatModel if api == "chat" else OpenAIResponsesModel
            return await work(kind("offline", provider=OpenAIProvider(openai_client=sdk)))

    return asyncio.run(with_client())


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def today() -> str:
    """The date of today."""
    return "2026-03-01"


@pytest.mark.parametrize("api", ["chat", "responses"])
def test_pydantic_ai_completes_a_tool_loop(api: str) -> None:
    with Endpoint(LOOP) as endpoint:
        agent = pydantic_ai.Agent(tools=[add, today], instructions="Be brief.")
        result = run(endpoint, api, lambda model: agent.run("1 + 2, 3 + 4, and the date?", model=model))
        assert result.output == ANSWER.text
        asked = [exchange.request for exchange in endpoint.exchanges]
        assert [exchange.status for exchange in endpoint.exchanges] == [200, 200, 200]
        results = [
            part.content
            for message in result.all_messages()
            for part in message.parts
            if part.part_kind == "tool-return"
        ]
        assert results == [3, 7, "2026-03-01"] and len(asked) == 3


@pytest.mark.parametrize("api", ["chat", "responses"])
def test_pydantic_ai_streams_the_answer(api: str) -> None:
    async def work(model: Any) -> list[str]:
        agent = pydantic_ai.Agent(model, tools=[add, today])
        async with agent.run_stream("1 + 2, 3 + 4, and the date?") as stream:
            return [text async for text in stream.stream_text(debounce_by=None)]

    # Without a text beside the calls, since pydantic-ai takes the first text of a stream for the answer.
    silent = (CallTools("", (ToolCall("add", {"a": 1, "b": 2}), ToolCall("today"))), ANSWER)
    with serving(*silent) as endpoint:
        texts = run(endpoint, api, work)
        assert texts[-1] == ANSWER.text and len(texts) > 3
        assert [bool(exchange.events) for exchange in endpoint.exchanges] == [True, True]


def test_pydantic_ai_gets_a_reply_in_a_given_form() -> None:
    from pydantic import BaseModel

    class Sum(BaseModel):
        total: int

    with serving(CallTools("", (ToolCall("final_result", {"total": 3}),))) as endpoint:
        by_tool = pydantic_ai.Agent(output_type=Sum)
        assert run(endpoint, "chat", lambda model: by_tool.run("1 + 2?", model=model)).output == Sum(total=3)
    with serving(FinalAnswer("", '{"total": 3}')) as endpoint:
        by_schema = pydantic_ai.Agent(output_type=pydantic_ai.NativeOutput(Sum))
        assert run(endpoint, "chat", lambda model: by_schema.run("1 + 2?", model=model)).output == Sum(total=3)


def test_the_offline_model_serves_the_orders_desk_to_pydantic_ai() -> None:
    """The same goal, the same tools, the same calls: once in our own loop, once in theirs through the wire."""
    goal, registry = "Can my order A100 be refunded? Today is 2026-10-13.", Registry(orders.tools)
    ours = Agent(OfflineModel(), registry, system=orders.system).run(goal)
    theirs = [
        pydantic_ai.Tool.from_schema(door(registry, tool.name), tool.name, tool.description, dict(tool.parameters))
        for tool in registry
    ]
    with Endpoint(OfflineModel()) as endpoint:
        agent = pydantic_ai.Agent(tools=theirs, system_prompt=orders.system)
        result = run(endpoint, "chat", lambda model: agent.run(goal, model=model))
    calls = [part for message in result.all_messages() for part in message.parts if part.part_kind == "tool-call"]
    wanted = [(call.name, call.arguments) for step in ours.steps for call in step.calls]
    assert len(wanted) >= 3 and [(part.tool_name, part.args_as_dict()) for part in calls] == wanted
    assert result.output == ours.answer


def door(registry: Registry, name: str) -> Callable[..., str]:
    """One tool of a registry as a function that gives its observation."""
    return lambda **arguments: registry.call(ToolCall(name, arguments, "call_1")).content
