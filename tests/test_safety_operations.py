"""Retries: what cannot become right is not tried again, and only one layer tries."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("openai", reason="the OpenAI SDK is not installed (extra: providers)")

from _fake_service import KEY, FakeService, chat, problem

from agentkit import Agent, Message, ProviderError
from agentkit.models.openai import OpenAIModel

GOAL = [Message("user", "Where is order 7?")]
SOON = {"retry-after-ms": "1"}


def model(service: FakeService, **more: Any) -> OpenAIModel:
    return OpenAIModel("m", api_key=KEY, http_client=service.http, async_http_client=service.async_http, **more)


def refusal(status: int) -> Any:
    return problem(
        status, {"error": {"message": "No.", "type": "invalid_request_error", "param": None, "code": None}}, **SOON
    )


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422])
def test_OP01_a_wrong_request_is_sent_once(status: int) -> None:
    service = FakeService(refusal(status))
    with pytest.raises(ProviderError):
        model(service, max_retries=2).decide(GOAL, ())
    assert len(service.requests) == 1


@pytest.mark.parametrize("status", [408, 409, 429, 500, 503])
def test_OP01_what_may_pass_is_tried_again(status: int) -> None:
    service = FakeService(refusal(status), chat("hello"))
    assert model(service, max_retries=2).decide(GOAL, ()).decision.text == "hello"  # type: ignore[union-attr]
    assert len(service.requests) == 2


@pytest.mark.parametrize("retries", [0, 1, 2])
def test_OP08_the_agent_adds_no_tries_to_those_of_the_sdk(retries: int) -> None:
    service = FakeService(refusal(500))
    run = Agent(model(service, max_retries=retries)).run("go")
    assert run.stop_reason == "model_error" and len(service.requests) == 1 + retries
