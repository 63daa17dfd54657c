"""Reading a reply of Anthropic's Messages API: a JSON document becomes a `Reply`.

Source of the forms: Anthropic's API reference, "Messages".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from agentkit.errors import ReplyError
from agentkit.messages import CallTools, Decision, FinalAnswer, Reply, ToolCall, ToolSpec, Usage
from agentkit.models._reading import Json, counted, cut_short, raise_sent_error, reply_form, route
from agentkit.models.catalog import UNKNOWN, Price, cost, usage_of

ORDINARY = ("end_turn", "stop_sequence", "tool_use")
CUT_OFF = ("max_tokens", "model_context_window_exceeded")
PAUSED = "pause_turn"

_DECLINED = "The model declined to answer this request."
_NOTHING = {
    "model_context_window_exceeded": "The history fills the model's context window, so nothing was said. Give the agent a "
    "smaller memory, for example Memory(max_tokens=…).",
    PAUSED: "The service paused this turn again and again without saying anything. Ask for less in one goal.",
}
_PLAIN_KEYS = {"text": {"type", "text"}, "tool_use": {"type", "id", "name", "input"}}


def read_message(document: Mapping[str, Any], specs: Sequence[ToolSpec] = (), price: Price = cost) -> Reply:
    """A document of the Messages API as a reply.

    Text beside calls, and thinking that is shown, become the thought. Blocks other than plain text and calls (thinking,
    server tools) are kept in ``provider["anthropic"]`` to be sent back unchanged; only blank texts and a last block that
    was cut off before its end are left out of them, since the service would refuse these. ``provider["stop_reason"]`` says
    why a reply ended when that was not in the ordinary way.

    A cut-off reply: its last block may be half of a call, whether or not it looks whole. Such a call is ``truncated`` and
    never runs. Calls beside a refusal are dropped.

    Args:
        document: the parsed JSON of a response, or what `MessageAssembler` made of a stream.
        specs: the tools of the request; names on the wire are turned back into theirs.
        price: what a request costs, see `agentkit.models.catalog.cost`.

    Raises:
        ReplyError: nothing in it can be used, or it is no message.
        ProviderError: it is an error of the service.
    """
    blocks, stop = _blocks(document), document.get("stop_reason")
    usage = _usage(document, price)
    end = {"stop_reason": stop} if stop and stop not in ORDINARY else {}
    text = said(blocks)
    if stop == "refusal":
        return Reply(FinalAnswer("", _refusal(document, text)), usage, (), end)
    thinking = "\n\n".join(b["thinking"] for b in blocks if b.get("type") == "thinking" and b.get("thinking"))
    calls = _calls(blocks, specs, stop in CUT_OFF)
    if not calls and not text.strip():
        _complain(stop)
    decision: Decision = FinalAnswer(thinking, text)
    if calls:
        decision = CallTools("\n\n".join(part for part in (thinking, text) if part.strip()), calls)
    kept = _kept(blocks, stop in CUT_OFF)
    provider = {**({"anthropic": kept} if kept else {}), **end}
    return Reply(decision, usage, (), provider or None)


def _complain(stop: Any) -> None:
    """Say what to do about a reply without content, unless it ended in the ordinary way: then the loop asks again."""
    if stop == "max_tokens":
        raise cut_short()
    if stop in _NOTHING:
        raise ReplyError(_NOTHING[stop])


def said(blocks: Iterable[Mapping[str, Any]]) -> str:
    """The text of content blocks. An empty line stands where something else came between two texts."""
    text, gap = "", False
    for block in blocks:
        piece = block.get("text") or "" if block.get("type") == "text" else ""
        text += ("\n\n" if piece and text and gap else "") + piece
        gap = not piece and (gap or block.get("type") != "text")
    return text


def _blocks(document: Mapping[str, Any]) -> list[Json]:
    if isinstance(document, Mapping) and document.get("type") == "error":
        raise_sent_error(document.get("error"))
    content = document.get("content") if isinstance(document, Mapping) else None
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if not isinstance(content, list):
        raise reply_form("the Messages API", "no content")
    return [block for block in content if isinstance(block, dict)]


def _calls(blocks: Sequence[Mapping[str, Any]], specs: Sequence[ToolSpec], cut_off: bool) -> tuple[ToolCall, ...]:
    calls = []
    for place, block in enumerate(blocks):
        if block.get("type") != "tool_use":
            continue
        arguments = block.get("input")
        arguments = arguments if isinstance(arguments, (dict, str)) else {}
        half = cut_off and (place == len(blocks) - 1 or isinstance(arguments, str))
        calls.append(ToolCall(route(block.get("name"), specs), arguments, str(block.get("id") or ""), half))
    return tuple(calls)


def _refusal(document: Mapping[str, Any], text: str) -> str:
    details = document.get("stop_details")
    why = str(details.get("explanation") or "") if isinstance(details, Mapping) else ""
    return "\n\n".join(part for part in (text, why) if part.strip()) or _DECLINED


def _kept(blocks: list[Json], cut_off: bool) -> list[Json]:
    """The blocks to send back unchanged, or none where text and calls alone say it all."""
    if cut_off and blocks and blocks[-1].get("type") not in ("text", "tool_use"):
        blocks = blocks[:-1]
    full = [block for block in blocks if block.get("type") != "text" or str(block.get("text") or "").strip()]
    kinds = [block.get("type") for block in full]
    if all(map(_plain, full)) and "text" not in kinds[1:]:
        return []
    return [_sendable(block) for block in full]


def _plain(block: Mapping[str, Any]) -> bool:
    """Whether a block holds nothing beyond what our own message says."""
    known = _PLAIN_KEYS.get(str(block.get("type")))
    more = {key for key, found in block.items() if found and found != {"type": "direct"}}
    return known is not None and more <= known


def _sendable(block: Json) -> Json:
    """The block itself; a call whose input is no object gets one, as the API asks for."""
    if block.get("type") != "tool_use" or isinstance(block.get("input"), dict):
        return block
    return {**block, "input": {"not_json": block["input"]} if block.get("input") else {}}


def _usage(document: Mapping[str, Any], price: Price) -> Usage:
    """The service counts input that was read from its cache, and input written to it, apart from the rest."""
    counts = document.get("usage")
    if not isinstance(counts, Mapping):
        return UNKNOWN
    keys = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    fresh, out, read, written = (counted(counts.get(key)) for key in keys)
    return usage_of(str(document.get("model") or ""), fresh + read + written, out, read, written, price=price)
