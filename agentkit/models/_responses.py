"""The wire of OpenAI's Responses: plain functions on plain JSON, without the SDK and without a network.

A streamed reply is first put together into the document that the service would have sent without streaming
(`ResponsesAssembler`), and one function reads documents (`read_responses`). So a reply means the same either way.

Source of the forms: OpenAI's API reference, "Responses" and "Streaming events".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from agentkit._wire import joined, text_of, to_responses, tool_form
from agentkit.messages import CallTools, FinalAnswer, Message, Reply, ToolCall, ToolSpec, Usage
from agentkit.models._reading import Json, arguments_of, counted, cut_short, raise_sent_error, reply_form, route
from agentkit.models._service import interrupted
from agentkit.models.catalog import UNKNOWN, Price, cost, usage_of

_CALLS = ("function_call", "custom_tool_call")
_PLAIN_KEYS = {  # what our own values say; ids and states of the service are not needed again
    "message": {"type", "role", "content", "id", "status"},
    "function_call": {"type", "name", "arguments", "call_id", "id", "status"},
}
_WITHHELD = "The service withheld this reply (its content filter)."


# --- request ---------------------------------------------------------------------------------------------------------


def responses_request(
    model: str,
    messages: Iterable[Message],
    tools: Sequence[ToolSpec] = (),
    *,
    max_output_tokens: int | None = None,
    parallel_tools: bool = True,
    options: Mapping[str, Any] | None = None,
) -> Json:
    """The body of a request: what is sent to ``/v1/responses``. The arguments are those of `chat_request`.

    The whole history is sent each time. Reasoning items go back as they came: by default the service finds their content in
    its own store; with ``options={"store": False}`` it is asked to send the content along, encrypted.
    """
    instructions, items = to_responses(messages)
    body: Json = {"model": model, "input": items}
    if instructions:
        body["instructions"] = instructions
    if tools:
        body["tools"] = [tool_form(spec, "responses") for spec in tools]
        if not parallel_tools:
            body["parallel_tool_calls"] = False
    if max_output_tokens is not None:
        body["max_output_tokens"] = max_output_tokens
    body |= options or {}
    if body.get("store") is False:
        body.setdefault("include", ["reasoning.encrypted_content"])
    return body


# --- reply -----------------------------------------------------------------------------------------------------------


def read_responses(document: Any, specs: Sequence[ToolSpec] = (), price: Price = cost, *, model: str = "") -> Reply:
    """A document of Responses as a reply.

    Text beside calls, and reasoning that is shown, become the thought. Items that our own values cannot express (reasoning,
    calls that the service runs itself) are kept with all others of the reply in ``provider["responses"]``, to be sent back
    unchanged. ``provider["stop_reason"]`` says why a reply is incomplete. A refusal is a final answer.

    The arguments and exceptions are those of `agentkit.models._chat.read_chat`.
    """
    items, stop = _items(document)
    end = {"stop_reason": stop} if stop else {}
    kept = {"responses": items} if _beyond(items) else {}
    usage = _usage(document, price, model)
    texts = [item for item in items if item.get("type") == "message"]
    text = joined(*(text_of(item.get("content"), "") for item in texts))
    reasoning = joined(*(_reasoning(item) for item in items if item.get("type") == "reasoning"))
    calls = tuple(_call(item, specs, bool(stop)) for item in items if item.get("type") in _CALLS)
    if calls:
        return Reply(CallTools(joined(reasoning, text), calls), usage, (), {**kept, **end} or None)
    if not text.strip() and stop:
        if stop != "content_filter":
            raise cut_short()
        text, kept = _WITHHELD, {}
    return Reply(FinalAnswer(reasoning, text), usage, (), {**kept, **end} or None)


def _items(document: Any) -> tuple[list[Json], str]:
    """The output items, and why they are incomplete ("" when they are not)."""
    if isinstance(document, Mapping) and (document.get("error") or document.get("status") == "failed"):
        raise_sent_error(document.get("error") or "no reason given")
    output = document.get("output") if isinstance(document, Mapping) else None
    if not isinstance(output, list):
        raise reply_form("Responses", "no output")
    status = document.get("status") or "completed"
    if status not in ("completed", "incomplete"):
        raise interrupted()
    details = document.get("incomplete_details")
    reason = details.get("reason") if isinstance(details, Mapping) else None
    stop = str(reason or "incomplete") if status == "incomplete" else ""
    return [dict(item) for item in output if isinstance(item, Mapping)], stop


def _call(item: Mapping[str, Any], specs: Sequence[ToolSpec], cut_off: bool) -> ToolCall:
    name, call_id = route(item.get("name"), specs), str(item.get("call_id") or "")
    cut_off = cut_off and item.get("status") != "completed"
    if item.get("type") == "custom_tool_call":
        return ToolCall(name, {"input": str(item.get("input") or "")}, call_id, cut_off)
    arguments, half = arguments_of(item.get("arguments"), cut_off)
    return ToolCall(name, arguments, call_id, half)


def _reasoning(item: Mapping[str, Any]) -> str:
    return text_of(item.get("summary"), "\n\n") or text_of(item.get("content"), "\n\n")


def _beyond(items: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the items say more, or in another order, than a text and then calls."""
    kinds = [str(item.get("type")) for item in items]
    plain = all(set(item) <= _PLAIN_KEYS.get(kind, set()) for kind, item in zip(kinds, items, strict=True))
    refused = any(_refuses(item) for item in items)
    return refused or not plain or "message" in kinds[1:]


def _refuses(item: Mapping[str, Any]) -> bool:
    content = item.get("content")
    return isinstance(content, list) and any(isinstance(p, Mapping) and p.get("type") == "refusal" for p in content)


def _usage(document: Mapping[str, Any], price: Price, model: str) -> Usage:
    counts = document.get("usage")
    if not isinstance(counts, Mapping) or not counts:
        return UNKNOWN
    details = counts.get("input_tokens_details")
    details = details if isinstance(details, Mapping) else {}
    return usage_of(
        str(document.get("model") or model), counted(counts.get("input_tokens")), counted(counts.get("output_tokens")),
        counted(details.get("cached_tokens")), counted(details.get("cache_write_tokens")), price=price,
    )  # fmt: skip


# --- streaming -------------------------------------------------------------------------------------------------------

_TEXTS = {  # the event that brings a piece of text: where it belongs, and the field it is appended to
    "response.output_text.delta": ("content", "text"),
    "response.refusal.delta": ("content", "refusal"),
    "response.reasoning_text.delta": ("content", "text"),
    "response.reasoning_summary_text.delta": ("summary", "text"),
}
_FIELDS = {
    "response.function_call_arguments.delta": "arguments",
    "response.custom_tool_call_input.delta": "input",
}
_PARTS = {
    "response.content_part.added": ("content", "content_index"),
    "response.reasoning_summary_part.added": ("summary", "summary_index"),
}
_LAST = ("response.completed", "response.incomplete", "response.failed")


class ResponsesAssembler:
    """Puts the events of a streamed reply together into the document that would have come without streaming.

    The last event holds the whole document, and its items count. What was put together from the pieces stands in where that
    event has no items, and tells what there is before it comes.
    """

    def __init__(self) -> None:
        self._document: Json = {}
        self._items: dict[int, Json] = {}
        self._ended = False
        self._spoke = ""

    def add(self, event: Mapping[str, Any]) -> str:
        """Take in one event; returns the new text for the reader, "" when it brings none.

        Raises:
            ProviderError: the event is an error of the service.
        """
        kind = str(event.get("type") or "")
        if kind == "error":
            raise_sent_error(event.get("error") or {key: event.get(key) for key in ("code", "message")})
        if isinstance(event.get("response"), Mapping):
            self._document = dict(event["response"])
            self._ended = self._ended or kind in _LAST
        elif kind in ("response.output_item.added", "response.output_item.done"):
            self._items[event["output_index"]] = dict(event["item"])
        elif kind in _PARTS:
            where, index = _PARTS[kind]
            _part(self._item(event), where, event.get(index) or 0).update(event["part"])
        elif kind in _FIELDS:
            item = self._item(event)
            item[_FIELDS[kind]] = (item.get(_FIELDS[kind]) or "") + event["delta"]
        elif kind in _TEXTS:
            return self._add_text(kind, event)
        return ""

    def document(self) -> Json:
        """The whole document. Raises `ProviderError` (``interrupted``) when the stream ended before the reply did."""
        if not self._ended:
            raise interrupted()
        return self.snapshot()

    def snapshot(self) -> Json:
        """What there is so far, in the form of the document."""
        output = self._document.get("output") or [self._items[index] for index in sorted(self._items)]
        return {**self._document, "output": [_copy(item) for item in output]}

    def _item(self, event: Mapping[str, Any]) -> Json:
        return self._items.setdefault(event.get("output_index") or 0, {})

    def _add_text(self, kind: str, event: Mapping[str, Any]) -> str:
        where, field = _TEXTS[kind]
        part = _part(self._item(event), where, event.get("content_index", event.get("summary_index")) or 0)
        part[field] = (part.get(field) or "") + event["delta"]
        if "reasoning" in kind:
            return ""
        place = f"{event.get('output_index')}"
        gap = "\n\n" if self._spoke not in ("", place) else ""  # the texts of several messages are paragraphs
        self._spoke = place
        return gap + str(event["delta"])


def _part(item: Json, where: str, index: int) -> Json:
    """The part of an item at an index, which is made when it is not there yet. The list is a new one, not the event's."""
    parts = [dict(part) for part in item.get(where) or ()]
    parts += [{} for _ in range(index + 1 - len(parts))]
    item[where] = parts
    return parts[index]


def _copy(item: Mapping[str, Any]) -> Json:
    return {key: [*found] if isinstance(found, list) else found for key, found in item.items()}
