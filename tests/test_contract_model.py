"""The contract of a model behind a service: the package's models keep it, a hand-made one too, and each point can fail."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from agentkit.checks.contract_model import KEY, VARIABLE, model_contract
from agentkit.errors import ProviderError
from agentkit.messages import CallTools, FinalAnswer, Message, Reply, TextDelta, ToolCall, ToolSpec, Usage
from agentkit.models.anthropic import AnthropicModel
from agentkit.models.openai import OpenAIModel

for package in ("openai", "anthropic", "starlette", "uvicorn"):
    pytest.importorskip(package, reason=f"needs the package {package} (extra 'providers')")

POINTS = [
    "goal", "tools", "no tools", "answer", "calls", "history", "usage", "broken arguments", "cut off", "stream", "errors",
]  # fmt: skip


class HandMade:
    """A small adapter, as notebook 07 makes it."""

    def __init__(self, base_url: str) -> None:
        from openai import OpenAI

        self.key = os.environ[VARIABLE]
        self.client = OpenAI(base_url=base_url, api_key=self.key)

    def decide(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Reply:
        from openai import OpenAIError

        from agentkit import to_openai

        forms = [
            {"type": "function", "function": {"name": t.name, "description": t.description, "parameters": t.parameters}}
            for t in tools
        ]
        more: dict[str, Any] = {"tools": forms} if forms else {}
        try:
            answer = self.client.chat.completions.create(model="offline", messages=to_openai(messages), **more)  # type: ignore[arg-type]
        except OpenAIError as error:
            raise ProviderError(str(error).replace(self.key, "[secret]")) from None
        choice, usage = answer.choices[0], Usage(answer.usage.prompt_tokens, answer.usage.completion_tokens)  # type: ignore[union-attr]
        text, half = choice.message.content or "", choice.finish_reason == "length"
        calls = tuple(
            ToolCall(c.function.name, c.function.arguments, c.id, half)  # type: ignore[union-attr]
            for c in choice.message.tool_calls or ()
        )
        return Reply(CallTools(text, calls) if calls else FinalAnswer("", text), usage)


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda server: OpenAIModel("offline", base_url=server.openai_url), id="chat"),
        pytest.param(
            lambda server: OpenAIModel("offline", base_url=server.openai_url, api="responses"), id="responses"
        ),
        pytest.param(lambda server: AnthropicModel("offline", base_url=server.anthropic_url), id="anthropic"),
        pytest.param(lambda server: HandMade(server.openai_url), id="hand-made"),
    ],
)
def test_models_of_services_keep_their_contract(make: Any) -> None:
    report = model_contract(make)
    assert report.passed, report
    assert [point.name for point in report.points] == POINTS


class Faulty(OpenAIModel):
    """A model with one fault."""

    fault = ""

    def _body(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Any:
        if self.fault == "goal":
            messages = [message for message in messages if message.role != "system"]
        if self.fault == "history":
            messages = [replace(message, calls=()) for message in messages]
        if self.fault == "tools":
            tools = [replace(tool, description="A tool.") for tool in tools]
        body = super()._body(messages, tools)
        return {**body, "tools": body.get("tools", [])} if self.fault == "no tools" else body

    def _read(self, document: Any, tools: Sequence[ToolSpec]) -> Reply:
        reply = super()._read(document, tools)
        decision = reply.decision
        if self.fault == "usage":
            return replace(reply, usage=None)
        if self.fault == "answer" and isinstance(decision, FinalAnswer):
            return replace(reply, decision=FinalAnswer(decision.text, "Done."))
        if isinstance(decision, CallTools):
            return replace(reply, decision=self._calls(decision))
        return reply

    def _calls(self, decision: CallTools) -> CallTools:
        if self.fault == "calls":
            return CallTools("", decision.calls)
        calls = decision.calls
        if self.fault == "broken arguments":
            calls = tuple(
                c if c.truncated or not isinstance(c.arguments, str) else replace(c, arguments={}) for c in calls
            )
        if self.fault == "cut off":
            calls = tuple(replace(call, truncated=False) for call in calls)
        return CallTools(decision.thought, calls)

    def decide(self, messages: Sequence[Message], tools: Sequence[ToolSpec] = ()) -> Reply:
        try:
            return super().decide(messages, tools)
        except ProviderError as error:
            raise (RuntimeError(str(error)) if self.fault == "errors" else error) from None

    def stream(self, messages: Sequence[Message], tools: Sequence[ToolSpec] = ()) -> Iterator[TextDelta | Reply]:
        items = list(super().stream(messages, tools))
        yield from items[1:] if self.fault == "stream" else items


@pytest.mark.parametrize("point", POINTS)
def test_a_broken_model_fails_its_point(point: str) -> None:
    def make(server: Any) -> Faulty:
        model = Faulty("offline", base_url=server.openai_url)
        model.fault = point
        return model

    report = model_contract(make)
    assert report.failed == (point,), report


def test_a_key_in_a_sentence_is_found() -> None:
    class Leaky(OpenAIModel):
        def decide(self, messages: Sequence[Message], tools: Sequence[ToolSpec] = ()) -> Reply:
            try:
                return super().decide(messages, tools)
            except ProviderError as error:
                raise ProviderError(f"{error} The key was {KEY}.") from None

    report = model_contract(lambda server: Leaky("offline", base_url=server.openai_url))
    assert report.failed == ("errors",) and "the key stands in the error" in report.first_failure


def test_the_environment_is_left_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "mine")
    report = model_contract(lambda server: None)
    assert report.failed == tuple(point for point in POINTS if point != "stream")  # there is none
    assert os.environ[VARIABLE] == "mine"
