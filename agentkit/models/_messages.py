"""The wire of Anthropic's Messages API: plain functions on plain JSON, without the SDK and without a network.

A streamed reply is first put together into the document that the service would have sent without streaming
(`MessageAssembler`), and one function reads documents (`read_message`). So a reply means the same either way.

Source of the forms: Anthropic's API reference, "Messages" and "Streaming Messages".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from agentkit._wire import to_anthropic, tool_form
from agentkit.errors import DefinitionError
from agentkit.messages import Message, ToolSpec
from agentkit.models._messages_read import PAUSED, read_message, said
from agentkit.models._reading import Json, arguments_of, raise_sent_error, reply_form
from agentkit.models._service import interrupted

__all__ = ["PAUSED", "Json", "MessageAssembler", "continued", "message_request", "read_message", "resumed", "said"]


# --- request ---------------------------------------------------------------------------------------------------------


def message_request(
    model: str,
    messages: Iterable[Message],
    tools: Sequence[ToolSpec] = (),
    *,
    max_output_tokens: int = 4096,
    thinking: Mapping[str, Any] | None = None,
    parallel_tools: bool = True,
    options: Mapping[str, Any] | None = None,
) -> Json:
    """The body of a request: what is sent to ``/v1/messages``.

    Args:
        model: the service's name of the model.
        messages: the history. It must end with something to answer: a goal, an answer, a note or tool results.
        tools: what the model may call, in the strict form where there is one.
        max_output_tokens: the length limit of the reply, thinking included. The API has no default for it.
        thinking: for example ``{"type": "adaptive"}`` or ``{"type": "enabled", "budget_tokens": 2048}``.
        parallel_tools: whether one reply may hold several calls.
        options: further fields of the request, as they are.

    Raises:
        DefinitionError: the history is empty or ends with the model's own words.
    """
    system, turns = to_anthropic(messages)
    if not turns or turns[-1]["role"] == "assistant":
        found = "ends with the model's own words" if turns else "is empty"
        raise DefinitionError(f"The history {found}, so there is nothing to answer. Let it end with a goal.")
    body: Json = {"model": model, "max_tokens": max_output_tokens, "messages": turns}
    if system:
        body["system"] = system
    if tools:
        body["tools"] = [tool_form(spec, "anthropic") for spec in tools]
        if not parallel_tools:
            body["tool_choice"] = {"type": "auto", "disable_parallel_tool_use": True}
    if thinking is not None:
        body["thinking"] = dict(thinking)
    return {**body, **(options or {})}


def resumed(body: Json, document: Json) -> Json:
    """The request that lets a paused turn go on: the same one, with what was said so far at its end, unchanged."""
    said = {"role": "assistant", "content": document["content"]}
    container = document.get("container")
    more = {"container": container["id"]} if isinstance(container, Mapping) and "container" not in body else {}
    return {**body, **more, "messages": [*body["messages"], said]}


def continued(first: Json, second: Json) -> Json:
    """One document out of a paused turn and what came when it went on: the content in order, the usage added up."""
    usage = _added(first.get("usage") or {}, second.get("usage") or {})
    return {**first, **second, "content": [*first["content"], *(second.get("content") or [])], "usage": usage}


def _added(first: Mapping[str, Any], second: Mapping[str, Any]) -> Json:
    total: Json = {**first, **second}
    for key in first.keys() & second.keys():
        one, other = first[key], second[key]
        if type(one) is int and type(other) is int:
            total[key] = one + other
        elif isinstance(one, Mapping) and isinstance(other, Mapping):
            total[key] = _added(one, other)
        elif other is None:
            total[key] = one
    return total


# --- streaming -------------------------------------------------------------------------------------------------------


class MessageAssembler:
    """Puts the events of a streamed reply together into the document that would have come without streaming.

    The fragments of a call's arguments are joined for each block and parsed once, at the end of the block. Text that is not
    a JSON object stays text, so that nothing is guessed.

    Args:
        after: content blocks that came before this stream (a turn that was paused), for the gap between texts.
    """

    def __init__(self, after: Iterable[Mapping[str, Any]] = ()) -> None:
        self._message: Json = {}
        self._content: dict[int, Json] = {}
        self._fragments: dict[int, list[str]] = {}
        earlier = list(after)
        self._spoken = bool(said(earlier))
        self._gap = self._spoken and earlier[-1].get("type") != "text"

    def add(self, event: Mapping[str, Any]) -> str:
        """Take in one event; returns the new text for the reader, "" when it brings none.

        Raises:
            ReplyError: the events are not those of the Messages API.
            ProviderError: the event is an error of the service.
        """
        kind = event.get("type")
        if kind == "error":
            raise_sent_error(event.get("error"))
        if kind == "message_start":
            self._message = {**event["message"], "usage": dict(event["message"].get("usage") or {})}
        elif kind == "content_block_start":
            return self._start(event["index"], dict(event["content_block"]))
        elif kind == "content_block_delta":
            return self._delta(event["index"], event["delta"])
        elif kind == "content_block_stop":
            self._stop(event["index"])
        elif kind == "message_delta":
            self._end(event)
        return ""  # ping, message_stop, and kinds of a later version

    def document(self) -> Json:
        """The whole document. Raises `ProviderError` (``interrupted``) when the stream ended before the reply did."""
        if not self._message.get("stop_reason"):
            raise interrupted()
        return self.snapshot()

    def snapshot(self) -> Json:
        """What there is so far, in the form of the document; the arguments of an open call are a piece of text."""
        for index in list(self._fragments):  # blocks without an end of their own
            if self._message.get("stop_reason"):
                self._stop(index)
        content = []
        for index in sorted(self._content):
            block = dict(self._content[index])
            if self._fragments.get(index):
                block["input"] = "".join(self._fragments[index])
            content.append(block)
        return {**self._message, "content": content, "usage": dict(self._message.get("usage") or {})}

    def _start(self, index: int, block: Json) -> str:
        self._content[index] = block
        if block.get("type") != "text":
            self._gap = self._spoken
            return ""
        return self._speak(block.get("text") or "")

    def _delta(self, index: int, delta: Mapping[str, Any]) -> str:
        block = self._content.get(index)
        if block is None:
            raise reply_form("the Messages API", f"no start of block {index}")
        kind = delta.get("type")
        if kind == "input_json_delta":
            self._fragments.setdefault(index, []).append(delta.get("partial_json") or "")
        elif kind == "text_delta":
            block["text"] = (block.get("text") or "") + delta["text"]
            return self._speak(delta["text"])
        elif kind == "thinking_delta":
            block["thinking"] = (block.get("thinking") or "") + delta["thinking"]
        elif kind == "citations_delta":
            block["citations"] = [*(block.get("citations") or []), delta["citation"]]
        else:  # a signature comes whole; so do the fields of kinds of a later version
            block.update({key: found for key, found in delta.items() if key != "type"})
        return ""

    def _speak(self, piece: str) -> str:
        if not piece:
            return ""
        before = "\n\n" if self._gap else ""
        self._spoken, self._gap = True, False
        return before + piece

    def _stop(self, index: int) -> None:
        text = "".join(self._fragments.pop(index, ()))
        if text.strip():
            self._content[index]["input"] = arguments_of(text, False)[0]

    def _end(self, event: Mapping[str, Any]) -> None:
        more = {key: found for key, found in event.items() if key not in ("type", "delta", "usage")}
        for key, found in {**(event.get("delta") or {}), **more}.items():
            if found is not None or key not in self._message:
                self._message[key] = found
        counts = event.get("usage") or {}  # totals so far, not additions
        usage = self._message.setdefault("usage", {})
        usage.update({key: count for key, count in counts.items() if count is not None or key not in usage})
