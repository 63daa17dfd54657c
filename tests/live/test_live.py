"""A few calls to the real services: ``make test-live``. Each needs a key and costs a fraction of a cent.

Without a key a test is skipped, and its reason says what it would do. What is asserted is the form of what comes back, never the
words: a model may say the same thing in another way tomorrow.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest

from agentkit import (
    Agent,
    Limits,
    ProviderError,
    TextDelta,
    anthropic_problems,
    get_model,
    openai_problems,
    to_anthropic,
    to_openai,
    tool,
)
from agentkit.models.anthropic import AnthropicModel
from agentkit.models.openai import OpenAIModel

SERVICES: dict[str, tuple[str, Callable[..., Any]]] = {
    "openai": ("OPENAI_API_KEY", OpenAIModel),
    "openai-responses": ("OPENAI_API_KEY", lambda **more: OpenAIModel(api="responses", **more)),
    "anthropic": ("ANTHROPIC_API_KEY", AnthropicModel),
}
GOAL = "What is the status of the order A100? Use the tool, then answer in one short sentence."


@tool
def order_status(order_id: str) -> dict[str, str]:
    """The status of one order.

    Args:
        order_id: the code of the order, for example A100.
    """
    return {"order_id": order_id, "status": "delivered"}


@pytest.fixture(params=SERVICES)
def service(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    variable, _ = SERVICES[name]
    if not os.environ.get(variable):
        pytest.skip(f"would ask the service {name} (about 500 tokens): set {variable} to let it")
    return name


def test_an_agent_answers_with_a_tool(service: str) -> None:
    run = Agent(get_model(service), [order_status], limits=Limits(max_steps=4)).run(GOAL)
    assert run.status == "done", run.error
    assert run.steps[0].results[0].ok and run.steps[0].calls[0].arguments == {"order_id": "A100"}
    assert run.usage.input_tokens > 0 and run.usage.output_tokens > 0 and (run.usage.cost or 0.0) > 0
    assert openai_problems(to_openai(run.messages)) == [] and anthropic_problems(to_anthropic(run.messages)[1]) == []


def test_the_text_of_an_answer_comes_in_pieces(service: str) -> None:
    stream = Agent(get_model(service)).stream("Say the numbers from one to ten in words.")
    pieces = [event.text for event in stream if isinstance(event, TextDelta)]
    assert len(pieces) > 1 and "".join(pieces).strip() == (stream.run.answer or "").strip()


def test_a_conversation_goes_on(service: str) -> None:
    agent = Agent(get_model(service), [order_status], limits=Limits(max_steps=4))
    first = agent.run(GOAL)
    second = agent.run("Which order did I ask about? Answer with its code only.", history=first.messages)
    assert second.status == "done" and "A100" in (second.answer or "")


def test_a_wrong_key_is_a_sentence(service: str) -> None:
    wrong = "sk-wrong-0123456789abcdef"
    _, make = SERVICES[service]
    with pytest.raises(ProviderError) as caught:
        make(api_key=wrong, max_retries=0).decide(Agent(get_model("offline")).run("hello").messages[:1], ())
    assert caught.value.code == "wrong_key" and wrong not in str(caught.value)
