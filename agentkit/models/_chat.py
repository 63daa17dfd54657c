"""The wire of OpenAI's Chat Completions: plain functions on plain JSON, without the SDK and without a network.

A streamed reply is first put together into the document that the service would have sent without streaming
(`ChatAssembler`), and one function reads documents (`read_chat`). So a reply means the same either way.

Many servers speak this language with an accent; what is read generously is told at each place.
Source of the forms: OpenAI's API reference, "Chat Completions" and "Streaming".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from agentkit._wire import joined, text_of, to_openai, tool_form
from agentkit.messages import CallTools, FinalAnswer, Message, Reply, ToolCall, ToolSpec
from agentkit.models._chat_stream import ChatAssembler
from agentkit.models._reading import Json, arguments_of, counted, cut_short, raise_sent_error, reply_form, route
from agentkit.models.catalog import UNKNOWN, Price, cost, entry, usage_of

__all__ = ["ChatAssembler", "chat_request", "read_chat"]

ORDINARY = ("stop", "tool_calls", "function_call", "eos", "eos_token", "end_turn")
_REASONING = ("reasoning_content", "reasoning", "reasoning_details")  # as DeepSeek, vLLM and OpenRouter name it
_WITHHELD = "The service withheld this reply (its content filter)."


# --- request ---------------------------------------------------------------------------------------------------------


def chat_request(
    model: str,
    messages: Iterable[Message],
    tools: Sequence[ToolSpec] = (),
    *,
    max_output_tokens: int | None = None,
    parallel_tools: bool = True,
    own: bool = True,
    options: Mapping[str, Any] | None = None,
) -> Json:
    """The body of a request: what is sent to ``/v1/chat/completions``.

    Args:
        model: the service's name of the model.
        messages: the history.
        tools: what the model may call, in the strict form where there is one.
        max_output_tokens: the length limit of the reply, reasoning included; None leaves it to the service.
        parallel_tools: whether one reply may hold several calls.
        own: whether it goes to OpenAI itself; other servers know the length limit by its older name.
        options: further fields of the request, as they are. They win over the ones above.
    """
    body: Json = {"model": model, "messages": to_openai(messages)}
    if tools:
        body["tools"] = [tool_form(spec, "chat") for spec in tools]
        if not parallel_tools:  # left out otherwise: it is the default, and some models and servers do not know it
            body["parallel_tool_calls"] = False
        if own:  # some models take function tools in this form only with certain settings
            body.update(entry("chat_with_tools", model) or {})
    if max_output_tokens is not None:
        body["max_completion_tokens" if own else "max_tokens"] = max_output_tokens
    return {**body, **(options or {})}


# --- reply -----------------------------------------------------------------------------------------------------------


def read_chat(document: Any, specs: Sequence[ToolSpec] = (), price: Price = cost, *, model: str = "") -> Reply:
    """A document of Chat Completions as a reply.

    Text beside calls, and reasoning that is shown, become the thought. What our own values do not hold is kept in
    ``provider["openai"]`` to be sent back unchanged. ``provider["stop_reason"]`` says why a reply ended when that was not in
    the ordinary way. A refusal is a final answer.

    Read generously: content that is null, empty, missing or a list of parts; arguments that are empty, null or an object;
    calls without an id or beside the finish reason ``stop``; the former ``function_call``; usage that is null or has gaps.

    Args:
        document: the parsed JSON of a response, or what `ChatAssembler` made of a stream.
        specs: the tools of the request; names on the wire are turned back into theirs.
        price: what a request costs, see `agentkit.models.catalog.cost`.
        model: the name to look up when the document has none.

    Raises:
        ReplyError: nothing in it can be used, or it is no such document.
        ProviderError: it is an error of the service.
    """
    choice, message = _choice(document)
    stop = str(choice.get("finish_reason") or "")
    end = {"stop_reason": stop} if stop and stop not in ORDINARY else {}
    usage = _usage(document, price, model)
    refusal = text_of(message.get("refusal"))
    text, reasoning = text_of(message.get("content"), ""), _reasoning(message)
    calls = tuple(_call(call, specs, stop in ("length", "content_filter")) for call in _raw_calls(message))
    if calls:
        thought = joined(reasoning, text)
        provider = {**_form(_kept(message, reasoning)), **end}
        return Reply(CallTools(thought, calls), usage, (), provider or None)
    audio = message.get("audio")
    if isinstance(audio, Mapping) and not text:
        text = str(audio.get("transcript") or "")
        end = {**_form({"content": None, "audio": {"id": audio.get("id")}}), **end}
    if refusal and not text:
        return Reply(FinalAnswer("", refusal), usage, (), {**_form({"content": None, "refusal": refusal}), **end})
    if not text.strip() and stop == "length":
        raise cut_short()
    if not text.strip() and stop == "content_filter":
        text = _WITHHELD
    return Reply(FinalAnswer(reasoning, text), usage, (), end or None)


def _choice(document: Any) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """The first choice and its message."""
    if isinstance(document, Mapping) and document.get("error"):
        raise_sent_error(document["error"])
    choices = document.get("choices") if isinstance(document, Mapping) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, Mapping) else None
    if not isinstance(choice, Mapping) or not isinstance(message, Mapping):
        raise reply_form("Chat Completions", "no choice with a message")
    return choice, message


def _raw_calls(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    calls = message.get("tool_calls")
    if isinstance(calls, list) and calls:
        return [call for call in calls if isinstance(call, Mapping)]
    former = message.get("function_call")
    return [{"function": former}] if isinstance(former, Mapping) else []


def _call(call: Mapping[str, Any], specs: Sequence[ToolSpec], cut_off: bool) -> ToolCall:
    call_id = str(call.get("id") or "")
    custom = call.get("custom")
    if isinstance(
        custom, Mapping
    ):  # the input of a custom tool is any text, so nothing in it tells that it is complete
        return ToolCall(route(custom.get("name"), specs), {"input": str(custom.get("input") or "")}, call_id, cut_off)
    body = call.get("function")
    body = body if isinstance(body, Mapping) else {}
    arguments, half = arguments_of(body.get("arguments"), cut_off)
    return ToolCall(route(body.get("name"), specs), arguments, call_id, half)


def _reasoning(message: Mapping[str, Any]) -> str:
    found = (message.get(key) for key in _REASONING[:2])
    return next((text for text in found if isinstance(text, str) and text.strip()), "")


def _kept(message: Mapping[str, Any], reasoning: str) -> Json:
    """What a message with calls must say again that our own values would not say, or not in the same place."""
    kept = {key: message[key] for key in _REASONING if message.get(key)}
    if reasoning:  # it is part of our thought, and the thought would go back as the content
        kept["content"] = message.get("content") or None
    calls = _raw_calls(message)
    if any("custom" in call or set(call) - {"id", "type", "function", "index"} for call in calls):
        kept["tool_calls"] = [{key: part for key, part in call.items() if key != "index"} for call in calls]
    return kept


def _form(kept: Json) -> Json:
    return {"openai": kept} if kept else {}


def _usage(document: Mapping[str, Any], price: Price, model: str) -> Any:
    counts = document.get("usage")
    if not isinstance(counts, Mapping) or not counts:
        return UNKNOWN
    details = counts.get("prompt_tokens_details")
    details = details if isinstance(details, Mapping) else {}
    cached = details.get("cached_tokens", counts.get("prompt_cache_hit_tokens"))
    return usage_of(
        str(document.get("model") or model), counted(counts.get("prompt_tokens")), counted(counts.get("completion_tokens")),
        counted(cached), counted(details.get("cache_write_tokens")), price=price,
    )  # fmt: skip
