"""OpenAI Chat Completions: the request read, the document and the chunks of the answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentkit._wire import from_openai, openai_problems
from agentkit.endpoint.fields import (
    TEXT_INPUT,
    bad,
    call_ids,
    different_names,
    flag_field,
    no_problems,
    object_field,
    objects_field,
    offered_choice,
    range_field,
    refuse_unserved,
    text_field,
    texts_field,
    tool_spec,
    understood,
    whole_field,
)
from agentkit.endpoint.schemas import check_strict_openai
from agentkit.endpoint.values import Asked, Choice, Family, Piece, Said, SaidCall
from agentkit.messages import ToolSpec, Usage

_UNSERVED = ("functions", "function_call", "logprobs", "audio", "web_search_options", "prediction")
_FINISH = {"stop": "stop", "stop_sequence": "stop", "length": "length", "calls": "tool_calls"}


def read_request(body: Mapping[str, Any]) -> Asked:
    """A request body as ours. Raises `Refused` with what the service would say about it."""
    refuse_unserved(body, _UNSERVED)
    model, history = text_field(body, "model"), objects_field(body, "messages")
    no_problems("messages", understood("messages", lambda: openai_problems(history)))
    messages = understood("messages", lambda: from_openai(history))
    if (whole_field(body, "n") or 1) > 1:
        raise bad("This endpoint gives one choice for each request. Leave 'n' out or set it to 1.", "n")
    stream = flag_field(body, "stream", False)
    if object_field(body, "stream_options") and not stream:
        raise bad("The field 'stream_options' is only allowed when 'stream' is true.", "stream_options")
    range_field(body, "temperature", 2)
    range_field(body, "top_p", 1)
    _need_tools(body)
    limits = [whole_field(body, key) for key in ("max_tokens", "max_completion_tokens")]
    tools, custom = read_tools(objects_field(body, "tools"), nested=True)
    used, count = call_ids(messages)
    return Asked(
        body=body,
        model=model,
        messages=messages,
        tools=tools,
        custom=custom,
        choice=offered_choice(read_choice(body.get("tool_choice"), nested=True), tools),
        parallel=flag_field(body, "parallel_tool_calls", True),
        used_ids=used,
        calls_before=count,
        max_tokens=min((limit for limit in limits if limit), default=None),
        stop=texts_field(body, "stop", 4),
        stream=stream,
        json_text=wants_json(object_field(body, "response_format"), "response_format", nested=True),
    )


def _need_tools(body: Mapping[str, Any]) -> None:
    if body.get("tools") == []:
        raise bad("The field 'tools' is an empty list. Leave it out when there are no tools.", "tools", "empty_array")
    for key in ("tool_choice", "parallel_tool_calls"):
        if body.get(key) is not None and not body.get("tools"):
            raise bad(f"The field '{key}' is only allowed when 'tools' are given.", key)


def read_tools(tools: list[Mapping[str, Any]], *, nested: bool) -> tuple[tuple[ToolSpec, ...], frozenset[str]]:
    """The tools of a request, and the names of those that take plain text. Chat nests a tool's fields, Responses does not."""
    specs, custom = [], set()
    for place, tool in enumerate(tools):
        kind, param = tool.get("type"), f"tools[{place}]"
        if kind not in ("function", "custom"):
            raise bad(f"This endpoint serves tools of the types 'function' and 'custom', not {kind!r}.", param)
        inner = object_field(tool, str(kind)) if nested else tool
        if kind == "custom":
            spec = tool_spec({**inner, "parameters": TEXT_INPUT}, "parameters", param)
            custom.add(spec.name)
        else:
            spec = tool_spec(inner, "parameters", param)
            if inner.get("strict"):
                check_strict_openai(spec.parameters, f"the function {spec.name!r}", f"{param}.parameters")
        specs.append(spec)
    return different_names(specs), frozenset(custom)


def read_choice(found: Any, *, nested: bool) -> Choice:
    """``tool_choice`` in all its forms."""
    if found is None:
        return Choice()
    if found in ("auto", "none", "required"):
        return Choice(found)
    if isinstance(found, Mapping) and found.get("type") == "allowed_tools":
        allowed = object_field(found, "allowed_tools") if nested else found
        names = [_chosen_name(tool, nested) for tool in objects_field(allowed, "tools")]
        kind: Any = "required" if allowed.get("mode") == "required" else "auto"
        return Choice(kind, frozenset(names))
    if isinstance(found, Mapping) and found.get("type") in ("function", "custom"):
        return Choice("required", frozenset([_chosen_name(found, nested)]))
    raise bad("The field 'tool_choice' must be 'auto', 'none', 'required', or name a tool.", "tool_choice")


def _chosen_name(tool: Mapping[str, Any], nested: bool) -> str:
    inner = object_field(tool, str(tool.get("type"))) if nested else tool
    return text_field(inner, "name")


def wants_json(form: Mapping[str, Any], param: str, *, nested: bool) -> bool:
    """Whether the final text has to be JSON."""
    kind = form.get("type", "text")
    if kind not in ("text", "json_object", "json_schema"):
        raise bad(f"The type of '{param}' must be 'text', 'json_object' or 'json_schema'.", param)
    inner = object_field(form, "json_schema") if nested else form
    if kind == "json_schema":
        text_field(inner, "name")
        if inner.get("strict"):
            check_strict_openai(inner.get("schema"), f"'{param}'", param)
    return bool(kind != "text")


class ChatWriter:
    """Writes an answer as one document, or as chunks while it comes."""

    family: Family = "openai"
    prefix = "call_"
    objects = False

    def __init__(self, asked: Asked, number: int, created: int) -> None:
        self._head = {"id": f"chatcmpl-{number}", "created": created, "model": asked.model}
        self._usage = bool(object_field(asked.body, "stream_options").get("include_usage"))
        self._opened = False
        self._custom = False  # whether the call that is being written takes plain text

    def document(self, said: Said) -> dict[str, Any]:
        """The chat completion."""
        message: dict[str, Any] = {"role": "assistant", "content": said.text, "refusal": None, "annotations": []}
        if said.calls:
            message["content"] = said.text or None
            message["tool_calls"] = [_call(call) for call in said.calls]
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _FINISH[said.finish]}
        return {
            "id": self._head["id"],
            "object": "chat.completion",
            "created": self._head["created"],
            "model": self._head["model"],
            "choices": [choice],
            "usage": chat_usage(said.usage),
            "service_tier": "default",
            "system_fingerprint": None,
        }

    def start(self) -> list[dict[str, Any]]:
        """Nothing: the first chunk depends on what comes first."""
        return []

    def add(self, piece: Piece) -> list[dict[str, Any]]:
        """The chunks for one piece. A thought has no place in this form."""
        if piece.kind == "thought":
            return []
        opening = [] if self._opened else self._open(None if piece.kind == "call" else "")
        if piece.kind == "text":
            return [*opening, self._chunk({"content": piece.text})]
        if piece.call is not None:
            self._custom = piece.call.custom
            return [*opening, self._chunk({"tool_calls": [{"index": piece.index, **_call(piece.call)}]})]
        part = {"custom": {"input": piece.text}} if self._custom else {"function": {"arguments": piece.text}}
        return [self._chunk({"tool_calls": [{"index": piece.index, **part}]})]

    def end(self, said: Said) -> list[dict[str, Any]]:
        """The last chunks: why it stopped, and the usage when that was asked for."""
        opening = [] if self._opened else self._open("")
        last = [*opening, self._chunk({}, _FINISH[said.finish])]
        return [*last, {**self._chunk({}), "choices": [], "usage": chat_usage(said.usage)}] if self._usage else last

    def _open(self, content: str | None) -> list[dict[str, Any]]:
        self._opened = True
        return [self._chunk({"role": "assistant", "content": content, "refusal": None})]

    def _chunk(self, delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        return {
            "id": self._head["id"],
            "object": "chat.completion.chunk",
            "created": self._head["created"],
            "model": self._head["model"],
            "service_tier": "default",
            "system_fingerprint": None,
            "choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}],
            **({"usage": None} if self._usage else {}),
        }


def _call(call: SaidCall) -> dict[str, Any]:
    if call.custom:
        return {"id": call.id, "type": "custom", "custom": {"name": call.name, "input": call.arguments}}
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}


def chat_usage(usage: Usage) -> dict[str, Any]:
    """Usage in the words of Chat Completions; cached tokens are counted among the prompt's."""
    return {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.total_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cached_tokens, "audio_tokens": 0},
        "completion_tokens_details": {
            "reasoning_tokens": 0,
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    }
