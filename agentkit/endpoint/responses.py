"""OpenAI Responses: the request read, the response and the events of the answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentkit._wire import from_responses, responses_problems
from agentkit.endpoint.chat import read_choice, read_tools, wants_json
from agentkit.endpoint.fields import (
    bad,
    call_ids,
    flag_field,
    no_problems,
    object_field,
    objects_field,
    offered_choice,
    range_field,
    refuse_unserved,
    text_field,
    understood,
    whole_field,
)
from agentkit.endpoint.values import Asked, Family, Piece, Said, SaidCall
from agentkit.messages import Usage

LEAST_TOKENS = 16
_UNSERVED = ("background", "conversation", "prompt", "top_logprobs", "max_tool_calls", "stop")


def read_request(body: Mapping[str, Any], stored: Mapping[str, tuple[Any, ...]]) -> Asked:
    """A request body as ours; ``stored`` holds what earlier responses said. Raises `Refused` as the service would."""
    refuse_unserved(body, _UNSERVED)
    model, items = text_field(body, "model"), _items(body, stored)
    instructions = body.get("instructions")
    if instructions is not None and not isinstance(instructions, str):
        raise bad("The field 'instructions' must be a text.", "instructions")
    no_problems("input", understood("input", lambda: responses_problems(items)))
    messages = understood("input", lambda: from_responses(instructions, items))
    range_field(body, "temperature", 2)
    range_field(body, "top_p", 1)
    tools, custom = read_tools(objects_field(body, "tools"), nested=False)
    used, count = call_ids(messages)
    reasoning = object_field(body, "reasoning")
    return Asked(
        body=body,
        model=model,
        messages=messages,
        tools=tools,
        custom=custom,
        choice=offered_choice(read_choice(body.get("tool_choice"), nested=False), tools),
        parallel=flag_field(body, "parallel_tool_calls", True),
        used_ids=used,
        calls_before=count,
        max_tokens=whole_field(body, "max_output_tokens", LEAST_TOKENS),
        stream=flag_field(body, "stream", False),
        json_text=wants_json(object_field(object_field(body, "text"), "format"), "text.format", nested=False),
        show_thought=bool(reasoning.get("summary") or reasoning.get("generate_summary")),
        items=tuple(items),
    )


def _items(body: Mapping[str, Any], stored: Mapping[str, tuple[Any, ...]]) -> list[Any]:
    given = body.get("input")
    items = [{"type": "message", "role": "user", "content": given}] if isinstance(given, str) else given
    if not isinstance(items, list) or not all(isinstance(item, Mapping) for item in items):
        raise bad("The field 'input' must be a text or a list of items.", "input")
    if any(item.get("type") == "item_reference" for item in items):
        raise bad(
            "This endpoint keeps whole responses, not single items. Send the item, or previous_response_id.", "input"
        )
    before = body.get("previous_response_id")
    if before is None:
        return items
    if not isinstance(before, str) or before not in stored:
        raise bad(
            f"Previous response with id {before!r} not found.", "previous_response_id", "previous_response_not_found"
        )
    return [*stored[before], *items]


class ResponsesWriter:
    """Writes an answer as one response, or as numbered events while it comes."""

    family: Family = "openai"
    prefix = "call_"
    objects = False

    def __init__(self, asked: Asked, number: int, created: int) -> None:
        self._asked = asked
        self._number = number
        self._created = created
        self._events = 0
        self._done: list[dict[str, Any]] = []  # items that are complete
        self._open: dict[str, Any] | None = None  # the item that is being written

    def document(self, said: Said) -> dict[str, Any]:
        """The response."""
        output = [_reasoning(f"rs_{self._number}", said.thought)] if said.thought else []
        if said.text or not said.calls:
            output.append(_message(f"msg_{self._number}", said.text))
        output += [_call(f"fc_{self._number}_{place + 1}", call) for place, call in enumerate(said.calls)]
        cut = said.finish == "length"
        if cut:
            output[-1]["status"] = "incomplete"
        return {
            **self._response("incomplete" if cut else "completed", output),
            "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
            "usage": _usage(said.usage),
        }

    def start(self) -> list[dict[str, Any]]:
        """The response without output, twice, as the service sends it."""
        empty = self._response("in_progress", [])
        return [self._event(f"response.{word}", response=empty) for word in ("created", "in_progress")]

    def add(self, piece: Piece) -> list[dict[str, Any]]:
        """The events for one piece."""
        match piece.kind:
            case "thought":
                opening = self._opened(_reasoning(f"rs_{self._number}", ""))
                self._item["summary"][0]["text"] += piece.text
                return [*opening, self._part("reasoning_summary_text.delta", "summary_index", delta=piece.text)]
            case "text":
                opening = self._opened(_message(f"msg_{self._number}", ""))
                self._item["content"][0]["text"] += piece.text
                return [*opening, self._part("output_text.delta", "content_index", delta=piece.text, logprobs=[])]
            case "call":
                assert piece.call is not None
                return self._opened(_call(f"fc_{self._number}_{piece.index + 1}", piece.call))
            case "arguments":
                key, word = _INPUTS[self._item["type"]]
                self._item[key] += piece.text
                return [self._part(f"{word}.delta", None, delta=piece.text)]

    def end(self, said: Said) -> list[dict[str, Any]]:
        """The last events: the open item closed, and the whole response."""
        silent = not said.text and not said.calls
        opening = self._opened(_message(f"msg_{self._number}", "")) if silent else []
        document = self.document(said)
        status = document["status"]
        closing = self._close(status)
        return [*opening, *closing, self._event(f"response.{status}", response=document)]

    # --- items ----------------------------------------------------------------------------------------------------------

    @property
    def _item(self) -> dict[str, Any]:
        assert self._open is not None
        return self._open

    def _opened(self, item: dict[str, Any]) -> list[dict[str, Any]]:
        if self._open is not None and self._open["id"] == item["id"]:
            return []
        closing = self._close("completed")
        self._open = item
        bare: dict[str, Any] = {"reasoning": {"summary": []}, "message": {"content": [], "status": "in_progress"}}
        shown = {**item, **bare.get(item["type"], {"status": "in_progress"})}
        place = len(self._done)
        events = [*closing, self._event("response.output_item.added", output_index=place, item=shown)]
        if item["type"] == "message":
            part = dict(item["content"][0])
            events.append(self._part("content_part.added", "content_index", part=part))
        if item["type"] == "reasoning":
            events.append(self._part("reasoning_summary_part.added", "summary_index", part=dict(item["summary"][0])))
        return events

    def _close(self, status: str) -> list[dict[str, Any]]:
        item = self._open
        if item is None:
            return []
        events = []
        if item["type"] == "message":
            part = item["content"][0]
            events.append(self._part("output_text.done", "content_index", text=part["text"], logprobs=[]))
            events.append(self._part("content_part.done", "content_index", part=part))
        elif item["type"] == "reasoning":
            part = item["summary"][0]
            events.append(self._part("reasoning_summary_text.done", "summary_index", text=part["text"]))
            events.append(self._part("reasoning_summary_part.done", "summary_index", part=part))
        else:
            key, word = _INPUTS[item["type"]]
            events.append(self._part(f"{word}.done", None, **{key: item[key]}))
        if status == "incomplete":
            item["status"] = "incomplete"
        place = len(self._done)
        events.append(self._event("response.output_item.done", output_index=place, item=item))
        self._done.append(item)
        self._open = None
        return events

    # --- events ---------------------------------------------------------------------------------------------------------

    def _part(self, word: str, index: str | None, **more: Any) -> dict[str, Any]:
        place = {"item_id": self._item["id"], "output_index": len(self._done), **({index: 0} if index else {})}
        return self._event(f"response.{word}", **place, **more)

    def _event(self, kind: str, **more: Any) -> dict[str, Any]:
        number, self._events = self._events, self._events + 1
        return {"type": kind, "sequence_number": number, **more}

    def _response(self, status: str, output: list[dict[str, Any]]) -> dict[str, Any]:
        body, reasoning = self._asked.body, object_field(self._asked.body, "reasoning")
        return {
            "id": f"resp_{self._number}",
            "object": "response",
            "created_at": self._created,
            "status": status,
            "background": False,
            "error": None,
            "incomplete_details": None,
            "instructions": body.get("instructions"),
            "max_output_tokens": self._asked.max_tokens,
            "model": self._asked.model,
            "output": output,
            "parallel_tool_calls": self._asked.parallel,
            "previous_response_id": body.get("previous_response_id"),
            "reasoning": {"effort": reasoning.get("effort"), "summary": reasoning.get("summary")},
            "store": flag_field(body, "store", True),
            "temperature": _given(body, "temperature", 1.0),
            "text": {"format": object_field(object_field(body, "text"), "format") or {"type": "text"}},
            "tool_choice": _given(body, "tool_choice", "auto"),
            "tools": _given(body, "tools", []),
            "top_p": _given(body, "top_p", 1.0),
            "truncation": _given(body, "truncation", "disabled"),
            "usage": None,
            "user": None,
            "metadata": object_field(body, "metadata"),
        }


_INPUTS = {
    "function_call": ("arguments", "function_call_arguments"),
    "custom_tool_call": ("input", "custom_tool_call_input"),
}


def _given(body: Mapping[str, Any], key: str, default: Any) -> Any:
    found = body.get(key)
    return default if found is None else found


def _message(item_id: str, text: str) -> dict[str, Any]:
    part = {"type": "output_text", "annotations": [], "logprobs": [], "text": text}
    return {"id": item_id, "type": "message", "status": "completed", "content": [part], "role": "assistant"}


def _reasoning(item_id: str, text: str) -> dict[str, Any]:
    return {"id": item_id, "type": "reasoning", "summary": [{"type": "summary_text", "text": text}]}


def _call(item_id: str, call: SaidCall) -> dict[str, Any]:
    head = {"id": item_id, "status": "completed", "call_id": call.id, "name": call.name}
    if call.custom:
        return {**head, "type": "custom_tool_call", "input": call.arguments}
    return {**head, "type": "function_call", "arguments": call.arguments}


def _usage(usage: Usage) -> dict[str, Any]:
    return {
        "input_tokens": usage.input_tokens,
        "input_tokens_details": {"cached_tokens": usage.cached_tokens, "cache_write_tokens": 0},
        "output_tokens": usage.output_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": usage.total_tokens,
    }
