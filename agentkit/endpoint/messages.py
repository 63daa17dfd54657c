"""Anthropic Messages: the request read, the document and the events of the answer, and signed thinking."""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from agentkit._wire import anthropic_problems, from_anthropic
from agentkit.endpoint.fields import (
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
from agentkit.endpoint.schemas import check_strict_anthropic
from agentkit.endpoint.speaking import input_object, input_tokens
from agentkit.endpoint.values import Asked, Choice, Family, Piece, Refused, Said, SaidCall
from agentkit.messages import ToolSpec, Usage

LEAST_THINKING = 1024  # tokens
_UNSERVED = ("container", "mcp_servers", "context_management")
_STOP = {"stop": "end_turn", "stop_sequence": "stop_sequence", "length": "max_tokens", "calls": "tool_use"}
# No secret: the signature shows that thinking must come back unchanged, and it is the same in every run.
_SIGNING_KEY = b"agentkit endpoint"


def read_request(body: Mapping[str, Any], *, to_count: bool = False) -> Asked:
    """A request body as ours. Raises `Refused` with what the service would say about it."""
    refuse_unserved(body, _UNSERVED)
    if body.get("thread"):  # the SDK's tool runner reads this code, and then sends the whole conversation each time
        code = {"error_code": "thread_unsupported_request", "unsupported": ["thread"]}
        raise Refused(400, "thread: this endpoint holds no conversations. Send all messages.", details=code)
    model, limit = text_field(body, "model"), whole_field(body, "max_tokens")
    if limit is None and not to_count:
        raise bad("max_tokens: Field required")
    history, system = objects_field(body, "messages"), _system(body.get("system"))
    no_problems("messages", understood("messages", lambda: anthropic_problems(history)))
    messages = understood("messages", lambda: from_anthropic(system, history))
    range_field(body, "temperature", 1)
    range_field(body, "top_p", 1)
    tools = read_tools(objects_field(body, "tools"))
    choice, parallel = read_choice(object_field(body, "tool_choice"))
    thinks = _thinking(object_field(body, "thinking"), limit, choice)
    understood("messages", lambda: _check_thinking(history, thinks == "enabled"))
    used, count = call_ids(messages)
    return Asked(
        body=body,
        model=model,
        messages=messages,
        tools=tools,
        choice=offered_choice(choice, tools),
        parallel=parallel,
        used_ids=used,
        calls_before=count,
        max_tokens=limit,
        stop=texts_field(body, "stop_sequences", 100),
        stream=flag_field(body, "stream", False),
        json_text=_wants_json(body),
        show_thought=thinks != "disabled",
    )


def _system(found: Any) -> Any:
    plain = found is None or isinstance(found, str)
    if not plain and not (isinstance(found, list) and all(isinstance(block, Mapping) for block in found)):
        raise bad("system: must be a text or a list of text blocks.")
    return found


def read_tools(tools: Sequence[Mapping[str, Any]]) -> tuple[ToolSpec, ...]:
    """The tools of a request. Tools that Anthropic runs on its own servers are not served here."""
    specs = []
    for place, tool in enumerate(tools):
        if tool.get("type") not in (None, "custom"):
            raise bad(f"tools.{place}: this endpoint serves your own tools only, not the type {tool['type']!r}.")
        if not isinstance(tool.get("input_schema"), Mapping):
            raise bad(f"tools.{place}.input_schema: Field required")
        spec = tool_spec(tool, "input_schema", f"tools.{place}")
        if tool.get("strict"):
            check_strict_anthropic(spec.parameters, f"tools.{place}.input_schema")
        specs.append(spec)
    return different_names(specs)


def read_choice(found: Mapping[str, Any]) -> tuple[Choice, bool]:
    """``tool_choice`` and whether several calls in one reply are allowed."""
    kind = found.get("type", "auto")
    parallel = not flag_field(found, "disable_parallel_tool_use", False)
    match kind:
        case "auto" | "none":
            return Choice(kind), parallel
        case "any":
            return Choice("required"), parallel
        case "tool":
            return Choice("required", frozenset([text_field(found, "name")])), parallel
        case _:
            raise bad("tool_choice.type: must be 'auto', 'any', 'tool' or 'none'.")


def _wants_json(body: Mapping[str, Any]) -> bool:
    form = object_field(object_field(body, "output_config"), "format") or object_field(body, "output_format")
    if not form:
        return False
    if form.get("type") != "json_schema" or not isinstance(form.get("schema"), Mapping):
        raise bad("output_config.format: must be {'type': 'json_schema', 'schema': {…}}.")
    return True


def token_count(asked: Asked) -> dict[str, Any]:
    """The answer of the token counting route: an estimate, UTF-8 bytes divided by four."""
    return {"input_tokens": input_tokens(asked)}


def model_document(name: str, created: int) -> dict[str, Any]:
    """A model as Anthropic lists it."""
    moment = datetime.fromtimestamp(created, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {"type": "model", "id": name, "display_name": name, "created_at": moment, "lifecycle": "active"}


# --- thinking --------------------------------------------------------------------------------------------------------


def signature(thinking: str) -> str:
    """The signature of a thinking block."""
    digest = hmac.new(_SIGNING_KEY, thinking.encode("utf-8", "replace"), hashlib.sha256).digest()
    return base64.b64encode(digest).decode("ascii")


def _thinking(found: Mapping[str, Any], limit: int | None, choice: Choice) -> str:
    kind = str(found.get("type", "disabled"))
    if kind not in ("disabled", "enabled", "adaptive", "between_tools"):
        raise bad("thinking.type: must be 'enabled', 'adaptive', 'between_tools' or 'disabled'.")
    if found.get("display") == "omitted":
        raise bad("thinking.display: this endpoint does not serve 'omitted'. Leave it out.")
    if kind == "enabled":
        budget = whole_field(found, "budget_tokens", LEAST_THINKING)
        if budget is None:
            raise bad("thinking.enabled.budget_tokens: Field required")
        if limit is not None and budget >= limit:
            raise bad("`max_tokens` must be greater than `thinking.budget_tokens`.")
    if kind != "disabled" and choice.kind == "required":
        raise bad("Thinking may not be enabled when tool_choice forces tool use.")
    return kind


def _check_thinking(history: Sequence[Mapping[str, Any]], enabled: bool) -> None:
    """Thinking that comes back must be what was sent, and with thinking enabled a turn with calls must begin with it."""
    turns = [(place, _blocks(turn)) for place, turn in enumerate(history) if turn.get("role") == "assistant"]
    for place, blocks in turns:
        for number, block in enumerate(blocks):
            where = f"messages.{place}.content.{number}"
            if block.get("type") == "redacted_thinking":
                raise bad(f"{where}: Invalid `data` in `redacted_thinking` block")
            if block.get("type") != "thinking":
                continue
            if block.get("signature") != signature(str(block.get("thinking", ""))):
                raise bad(f"{where}: Invalid `signature` in `thinking` block")
    if not enabled or not turns:
        return
    place, blocks = turns[-1]
    kinds = [block.get("type") for block in blocks]
    if "tool_use" in kinds and kinds[0] != "thinking" and place == len(history) - 2:
        raise bad(
            f"messages.{place}.content.0.type: Expected `thinking`, but found `{kinds[0]}`. When `thinking` is enabled, the "
            "assistant message before the tool results must start with its thinking block, unchanged."
        )


def _blocks(turn: Mapping[str, Any]) -> list[Any]:
    content = turn.get("content")
    return content if isinstance(content, list) else []


# --- the answer ------------------------------------------------------------------------------------------------------


class MessageWriter:
    """Writes an answer as one message, or as events while it comes."""

    family: Family = "anthropic"
    prefix = "toolu_"
    objects = True  # arguments are an object here, and not text

    def __init__(self, asked: Asked, number: int) -> None:
        self._asked = asked
        self._id = f"msg_{number}"
        self._open: str | None = None  # the kind of the block that is being written
        self._index = -1
        self._thought = ""

    def document(self, said: Said) -> dict[str, Any]:
        """The message."""
        content: list[dict[str, Any]] = []
        if said.thought:
            content.append({"type": "thinking", "thinking": said.thought, "signature": signature(said.thought)})
        if said.text:
            content.append({"type": "text", "text": said.text})
        # What was cut is no object any more; the length stop says that the call is not to be run.
        content += [_tool_use(call, input_object(call.arguments) if call.whole else {}) for call in said.calls]
        stop = {"stop_reason": _STOP[said.finish], "stop_sequence": said.stop_sequence}
        return {**self._message(content, _usage(said.usage)), **stop}

    def start(self) -> list[dict[str, Any]]:
        """The message without content; input tokens are estimated here, and exact in the end."""
        usage = _usage(Usage(input_tokens(self._asked), 1))
        return [{"type": "message_start", "message": self._message([], usage)}, {"type": "ping"}]

    def add(self, piece: Piece) -> list[dict[str, Any]]:
        """The events for one piece."""
        match piece.kind:
            case "thought":
                self._thought += piece.text
                opening = self._opened("thinking", {"type": "thinking", "thinking": "", "signature": ""})
                return [*opening, self._delta({"type": "thinking_delta", "thinking": piece.text})]
            case "text":
                opening = self._opened("text", {"type": "text", "text": ""})
                return [*opening, self._delta({"type": "text_delta", "text": piece.text})]
            case "call":
                assert piece.call is not None
                opening = [*self._close(), *self._opened("tool_use", _tool_use(piece.call, {}))]
                return [*opening, self._delta({"type": "input_json_delta", "partial_json": ""})]
            case "arguments":
                return [self._delta({"type": "input_json_delta", "partial_json": piece.text})]

    def end(self, said: Said) -> list[dict[str, Any]]:
        """The last events: why it stopped, and the usage."""
        delta = {"stop_reason": _STOP[said.finish], "stop_sequence": said.stop_sequence, "stop_details": None}
        used = _usage(said.usage)
        usage = {key: used[key] for key in used if key.endswith("tokens")}
        return [*self._close(), {"type": "message_delta", "delta": delta, "usage": usage}, {"type": "message_stop"}]

    def _message(self, content: list[dict[str, Any]], usage: dict[str, Any]) -> dict[str, Any]:
        return {
            "id": self._id,
            "type": "message",
            "role": "assistant",
            "model": self._asked.model,
            "content": content,
            "stop_reason": None,
            "stop_sequence": None,
            "stop_details": None,
            "usage": usage,
        }

    def _opened(self, kind: str, block: dict[str, Any]) -> list[dict[str, Any]]:
        if self._open == kind:
            return []
        closing = self._close()
        self._open, self._index = kind, self._index + 1
        return [*closing, {"type": "content_block_start", "index": self._index, "content_block": block}]

    def _close(self) -> list[dict[str, Any]]:
        if self._open is None:
            return []
        last = []
        if self._open == "thinking":
            last.append(self._delta({"type": "signature_delta", "signature": signature(self._thought)}))
        self._open = None
        return [*last, {"type": "content_block_stop", "index": self._index}]

    def _delta(self, delta: dict[str, Any]) -> dict[str, Any]:
        return {"type": "content_block_delta", "index": self._index, "delta": delta}


def _tool_use(call: SaidCall, given: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": dict(given)}


def _usage(usage: Usage) -> dict[str, Any]:
    """Usage in Anthropic's words, where cached tokens are counted apart."""
    return {
        "input_tokens": max(usage.input_tokens - usage.cached_tokens, 0),
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": usage.cached_tokens,
        "output_tokens": usage.output_tokens,
        "service_tier": "standard",
    }
