"""The contract of a model behind a service: what is sent, what is made of the answer, and what happens when it fails.

Each promise is tried on a loopback endpoint with a scripted brain behind it, so that the real SDK and the real wire are used.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, TypeAlias

from agentkit.checks.contract_report import ContractReport, Promise, try_promises
from agentkit.checks.exercise import CheckFailed, expect
from agentkit.checks.faces import shown
from agentkit.errors import ModelError, ProviderError
from agentkit.messages import (
    CallTools,
    FinalAnswer,
    Message,
    Reply,
    TextDelta,
    ToolCall,
    ToolResult,
    ToolSpec,
    Usage,
)

Make: TypeAlias = Callable[[Any], Any]

KEY: Final = "test-key-0123456789"
VARIABLE: Final = "AGENTKIT_API_KEY"
_CITY: Final = {
    "type": "object",
    "properties": {"city": {"type": "string", "description": "Name of a city."}},
    "required": ["city"],
}
_TOOLS: Final = (
    ToolSpec("weather", "Weather in one city.", _CITY),
    ToolSpec("time_in", "Local time in one city.", _CITY),
)
_START: Final = (Message("system", "Answer briefly."), Message("user", "Weather and time in Seoul?"))
_TWO: Final = CallTools(
    "I need both.", (ToolCall("weather", {"city": "Seoul"}), ToolCall("time_in", {"city": "Seoul"}))
)
_ANSWER: Final = "It is sunny in Seoul, and three in the afternoon."


def model_contract(make: Make) -> ContractReport:
    """Try a model that talks to a service.

    For example ``model_contract(lambda server: OpenAIModel("offline", base_url=server.openai_url))``.

    Args:
        make: takes a running `agentkit.endpoint.Endpoint` and returns the model, made for one of its addresses
            (``openai_url`` or ``anthropic_url``) and for the model name ``offline``. The model has
            ``decide(messages, tools)``, which returns a `Reply` or a bare decision, and may have ``stream``. It reads its
            key from the environment variable AGENTKIT_API_KEY.
    """
    for name in ("openai", "anthropic"):  # slow to import, so not within the time of a probe
        with suppress(ImportError):
            importlib.import_module(name)
    before = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = KEY
    try:
        with _Bench(make) as bench:
            return try_promises("model", _PROMISES, bench)
    finally:
        os.environ.pop(VARIABLE)
        if before is not None:
            os.environ[VARIABLE] = before


class _Brain:
    """What decides behind the endpoint: replies in order, or an error. It remembers what arrived."""

    def __init__(self) -> None:
        self.script: tuple[Reply | ModelError, ...] = ()
        self.seen: list[tuple[tuple[Message, ...], tuple[ToolSpec, ...]]] = []

    def decide(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Reply:
        self.seen.append((tuple(messages), tuple(tools)))
        place = sum(message.role == "assistant" for message in messages)
        found = self.script[min(place, len(self.script) - 1)]
        if isinstance(found, ModelError):
            raise found
        return found


class _Bench:
    """An endpoint with a scripted brain behind it, and the model under test in front of it."""

    def __init__(self, make: Make) -> None:
        from agentkit.endpoint import Endpoint

        self.make = make
        self.brain = _Brain()
        self.server = Endpoint(self.brain, clock=lambda: 0.0)
        self._model: Any = None

    def __enter__(self) -> _Bench:
        self.server.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.server.stop()

    def model(self, *script: Reply | ModelError) -> Any:
        """The model, with this script behind the endpoint. It is made once, within a guarded probe."""
        self.brain.script = script
        self.brain.seen.clear()
        if self._model is None:
            self._model = self.make(self.server)
        return self._model

    def decide(self, *script: Reply, messages: Sequence[Message] = _START, tools: Sequence[ToolSpec] = _TOOLS) -> Reply:
        """A reply of the model. A request that the service refused is told in the words of the service."""
        model, before = self.model(*script), len(self.server.exchanges)
        try:
            found = model.decide(messages, tools)
        except Exception:
            refused = [exchange for exchange in self.server.exchanges[before:] if exchange.status >= 400]
            if not refused:
                raise
            detail = refused[-1].response["error"]["message"]
            raise CheckFailed(f"the service refused the request ({refused[-1].status}): {detail}") from None
        return _reply(found)


def _reply(found: Any) -> Reply:
    if isinstance(found, Reply):
        return found
    expect(
        isinstance(found, CallTools | FinalAnswer), f"decide returned {shown(found)}, which is no Reply and no decision"
    )
    return Reply(found)


def _calls(reply: Reply) -> tuple[ToolCall, ...]:
    expect(
        isinstance(reply.decision, CallTools),
        f"the service sent tool calls, but the decision is {shown(reply.decision)}",
    )
    return reply.decision.calls if isinstance(reply.decision, CallTools) else ()


def _goal(bench: _Bench) -> None:
    bench.decide(Reply(FinalAnswer("", _ANSWER)))
    said = [(message.role, message.text) for message in bench.brain.seen[-1][0]]
    wanted = [(message.role, message.text) for message in _START]
    expect(said == wanted, f"the system text and the goal must arrive as they are, but {shown(said)} arrived")


def _tools(bench: _Bench) -> None:
    bench.decide(Reply(FinalAnswer("", _ANSWER)))
    arrived = {spec.name: spec for spec in bench.brain.seen[-1][1]}
    for spec in _TOOLS:
        if spec.name not in arrived:
            raise CheckFailed(f"the tool {spec.name} did not arrive")
        found = arrived[spec.name]
        expect(found.description == spec.description, f"the description of {spec.name} did not arrive")
        names = list(found.parameters.get("properties", {}))
        expect(names == ["city"], f"the parameters of {spec.name} must arrive, but {shown(names)} arrived")


def _no_tools(bench: _Bench) -> None:
    bench.decide(Reply(FinalAnswer("", _ANSWER)), tools=())


def _answer(bench: _Bench) -> None:
    decision = bench.decide(Reply(FinalAnswer("", _ANSWER))).decision
    right = isinstance(decision, FinalAnswer) and decision.text == _ANSWER
    expect(right, f"a text without calls is the final answer, but the decision is {shown(decision)}")


def _both_calls(bench: _Bench) -> None:
    reply = bench.decide(Reply(_TWO))
    calls = _calls(reply)
    names = [call.name for call in calls]
    expect(
        names == ["weather", "time_in"], f"the service sent two calls, weather and time_in, but you have {shown(names)}"
    )
    ids = [call.id for call in calls]
    expect(
        all(ids) and len(set(ids)) == 2,
        f"every call keeps the id that the service gave it, but the ids are {shown(ids)}",
    )
    for call in calls:
        right = isinstance(call.arguments, str) or dict(call.arguments) == {"city": "Seoul"}
        expect(right, f'the arguments of {call.name} are {{"city": "Seoul"}}, but you have {shown(call.arguments)}')
    expect(reply.decision.thought == "I need both.", "the text beside calls is the thought, and it was lost")


def _history(bench: _Bench) -> None:
    script = (Reply(_TWO), Reply(FinalAnswer("", _ANSWER)))
    calls = _calls(bench.decide(*script))
    results = [Message("tool", result=ToolResult(call.id, call.name, {"n": n})) for n, call in enumerate(calls)]
    bench.decide(*script, messages=[*_START, Message("assistant", "I need both.", calls), *results])
    arrived = bench.brain.seen[-1][0]
    made = [call.name for message in arrived for call in message.calls]
    expect(made == ["weather", "time_in"], f"the calls must be sent back with their results, but {shown(made)} arrived")
    data = [message.result.data for message in arrived if message.result is not None]
    expect(data == [{"n": 0}, {"n": 1}], f"each call has its result in the next request, but {shown(data)} arrived")


def _usage(bench: _Bench) -> None:
    usage = bench.decide(Reply(FinalAnswer("", _ANSWER), Usage(120, 30))).usage
    if usage is None:
        raise CheckFailed("the service reports the tokens of the request, and the reply has no usage")
    found = f"{usage.input_tokens} and {usage.output_tokens}"
    expect(found == "120 and 30", f"the service reports 120 tokens in and 30 out, but you have {found}")


def _broken(bench: _Bench) -> None:
    broken = CallTools("", (ToolCall("weather", '{"city": Seoul}'),))
    call = _calls(bench.decide(Reply(broken)))[0]
    kept = isinstance(call.arguments, str | Mapping) and call.arguments not in ({}, "", {"city": "Seoul"})
    expect(
        kept,
        f"arguments that are no JSON stay as they came, for the registry to tell, but you have {shown(call.arguments)}",
    )


def _cut_off(bench: _Bench) -> None:
    half = CallTools("", (ToolCall("weather", '{"city": "Seo', truncated=True),))
    try:
        reply = bench.decide(Reply(half))
    except ModelError:
        return  # to refuse the whole reply is safe too
    calls = reply.decision.calls if isinstance(reply.decision, CallTools) else ()
    whole = [call.name for call in calls if not call.truncated]
    expect(not whole, "the reply was cut off in the middle of a call, and the half call must be marked as truncated")


def _stream(bench: _Bench) -> None:
    if not hasattr(bench.model(), "stream"):
        return
    for decision in (_TWO, FinalAnswer("", _ANSWER)):
        script = Reply(decision, Usage(120, 30))
        whole = bench.decide(script)
        items = list(bench.model(script).stream(_START, _TOOLS))
        words = "".join(item.text for item in items if isinstance(item, TextDelta))
        last = items[-1] if items else None
        if not isinstance(last, Reply):
            raise CheckFailed(f"the last thing of a stream is the Reply, but it is {shown(last)}")
        same = (last.decision, last.usage) == (whole.decision, whole.usage)
        expect(same, f"the reply of the stream must be the one of decide, but it is {shown(last.decision)}")
        text = decision.thought if isinstance(decision, CallTools) else decision.text
        expect(words == text, f"the pieces of text together are {shown(text)}, but they are {shown(words)}")


def _errors(bench: _Bench) -> None:
    said = _sentence(bench.model(ModelError(f"Your text {KEY} cannot be read.")), "the service answered with 500")
    expect(KEY not in said, "the service repeated the key in its message, and the key stands in the error")
    for status in (401, 429):
        with _Bench(bench.make) as other:  # faults that a client did not use up must not reach the next probe
            other.server.fail(status, times=20, retry_after=0.001)
            _sentence(other.model(Reply(FinalAnswer("", _ANSWER))), f"the service answered with {status}")


def _sentence(model: Any, what: str) -> str:
    try:
        found = model.decide(_START, _TOOLS)
    except ProviderError as error:
        return str(error)
    except Exception as error:
        kind = type(error).__name__
        raise CheckFailed(f"{what}, and {kind} was raised; raise a ProviderError, which ends a run well") from None
    raise CheckFailed(f"{what}, and decide returned {shown(found)} all the same")


_PROMISES: tuple[Promise[_Bench], ...] = (
    Promise("goal", "the system text and the goal arrive", _goal),
    Promise("tools", "the tools arrive with description and parameters", _tools),
    Promise("no tools", "a request without tools is accepted", _no_tools),
    Promise("answer", "a text without calls is the final answer", _answer),
    Promise(
        "calls", "every call arrives with its id and arguments, and the text beside them as the thought", _both_calls
    ),
    Promise("history", "calls and their results are sent back in a form that the service accepts", _history),
    Promise("usage", "the tokens are those that the service reports", _usage),
    Promise("broken arguments", "arguments that are no JSON are handed on, not raised and not repaired", _broken),
    Promise("cut off", "a call that was cut off is never taken for a whole one", _cut_off),
    Promise("stream", "a streamed reply is the same as a whole one (where there is a stream)", _stream),
    Promise("errors", "an error of the service is a ProviderError, and the key is not in it", _errors),
)
