"""Checks of notebook 07: deltas, a document of a service, a history that is refused, a sentence with a key, a habit."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from agentkit._wire import anthropic_problems, openai_problems, to_anthropic, to_openai
from agentkit.checks.exercise import CheckFailed, expect
from agentkit.checks.faces import shown
from agentkit.errors import AgentkitError
from agentkit.messages import CallTools, Decision, FinalAnswer, Message, ToolCall, ToolResult
from agentkit.models._chat import read_chat

# --- 07.4 ------------------------------------------------------------------------------------------------------------


def _block(index: int, *pieces: str, name: str = "", text: str = "") -> list[dict[str, Any]]:
    """The events of one content block: a call with pieces of its input, or a text."""
    call = {"type": "tool_use", "id": f"toolu_{index}", "name": name, "input": {}}
    start = call if name else {"type": "text", "text": ""}
    deltas: list[dict[str, Any]] = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
    deltas += [{"type": "text_delta", "text": text}] if text else []
    return [
        {"type": "content_block_start", "index": index, "content_block": start},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def _interleaved(one: list[dict[str, Any]], other: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Two blocks whose pieces come in turns."""
    return [event for pair in zip(one, other, strict=True) for event in pair]


def _call(index: int, name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    return {"id": f"toolu_{index}", "name": name, "input": dict(given)}


_ONE: Final = _block(0, "", '{"que', 'ry": "AS', 'GI"}', name="search")
_OTHER: Final = _block(1, "", '{"id', '": ', '"D07"}', name="read")


def check_assemble(assemble: Any) -> None:
    """Try a function that puts the calls of a streamed message together."""
    cases: tuple[tuple[list[dict[str, Any]], list[Any], str], ...] = (
        (_ONE, [_call(0, "search", {"query": "ASGI"})], "one call, whose input came in three pieces"),
        (
            [{"type": "message_start", "message": {}}, {"type": "ping"}, *_ONE, {"type": "message_stop"}],
            [_call(0, "search", {"query": "ASGI"})],
            "other events (message_start, ping, message_stop) bring nothing of a call",
        ),
        (_block(0, "", name="today"), [_call(0, "today", {})], "a call without input: its only piece is an empty text"),
        (
            [*_block(0, text="I look."), *_block(1, '{"id": 1}', name="read")],
            [_call(1, "read", {"id": 1})],
            "block 0 is a text with a text_delta, to be passed over, so the only call has the index 1",
        ),
        (
            _interleaved(_ONE, _OTHER),
            [_call(0, "search", {"query": "ASGI"}), _call(1, "read", {"id": "D07"})],
            "two calls whose pieces come in turns; the index says to which call a piece belongs",
        ),
    )
    for events, wanted, why in cases:
        try:
            found = assemble(copy.deepcopy(events))
        except json.JSONDecodeError:
            raise CheckFailed(f"{why}: your code parsed a text that is not complete JSON") from None
        expect(found == wanted, f"{why}: the calls are {wanted}, but you return {shown(found, 200)}")


# --- 07.2 ------------------------------------------------------------------------------------------------------------

_TEXT: Final = {"type": "text", "text": "I look."}


def _use(number: int, given: Mapping[str, Any] | None = None) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"toolu_{number}", "name": "search", "input": dict(given or {"query": "ASGI"})}


def _made(number: int, given: Mapping[str, Any] | None = None, truncated: bool = False) -> ToolCall:
    return ToolCall("search", dict(given or {"query": "ASGI"}), f"toolu_{number}", truncated)


def check_read(read: Any) -> None:
    """Try a function that makes a decision of a document of Anthropic's Messages API."""
    cases: tuple[tuple[list[Any], str, Decision, str], ...] = (
        (
            [{"type": "text", "text": "Port 8000."}],
            "end_turn",
            FinalAnswer("", "Port 8000."),
            "a text alone is the answer",
        ),
        ([_TEXT, _use(1)], "tool_use", CallTools("I look.", (_made(1),)), "the text beside a call is the thought"),
        ([_use(1)], "tool_use", CallTools("", (_made(1),)), "a call may come without any text"),
        ([_TEXT, _use(1), _use(2)], "tool_use", CallTools("I look.", (_made(1), _made(2))), "there are two calls"),
        (
            [{"type": "thinking", "thinking": "Hm.", "signature": "abc"}, _TEXT, _use(1)],
            "tool_use",
            CallTools("I look.", (_made(1),)),
            "a block of another type (here `thinking`) is passed over",
        ),
        (
            [_TEXT, _use(1), _use(2)],
            "max_tokens",
            CallTools("I look.", (_made(1), _made(2, truncated=True))),
            "the stop reason is max_tokens: only the last call was cut off, and it must be marked as truncated",
        ),
    )
    for content, stop, wanted, why in cases:
        found = read({"role": "assistant", "content": copy.deepcopy(content), "stop_reason": stop})
        written = isinstance(found, CallTools) and any(isinstance(call.arguments, str) for call in found.calls)
        expect(not written, "the arguments stay an object, as they came; a `ToolCall` takes them so")
        expect(found == wanted, f"{why}. The decision is {wanted}, but you return {shown(found, 300)}")


# --- 07.3 ------------------------------------------------------------------------------------------------------------


def _asked(*ids: str) -> Message:
    return Message("assistant", "I look.", tuple(ToolCall("search", {"query": name}, name) for name in ids))


def _found(name: str) -> Message:
    return Message("tool", result=ToolResult(name, "search", {"count": 1}))


_GOAL: Final = Message("user", "What is ASGI?")
_NEXT: Final = Message("user", "And WSGI?")
_ANSWER: Final = Message("assistant", "An interface.")
_HISTORIES: Final = (
    ("every call has its result already", [_GOAL, _asked("a"), _found("a"), _ANSWER, _NEXT]),
    ("one of two calls has no result", [_GOAL, _asked("a", "b"), _found("a"), _NEXT]),
    ("the first of two calls has no result", [_GOAL, _asked("a", "b"), _found("b"), _NEXT]),
    ("no call has a result", [_GOAL, _asked("a", "b"), _NEXT]),
    ("the calls without results stand at the end", [_GOAL, _asked("a")]),
    ("two steps have a call without a result", [_GOAL, _asked("a"), _NEXT, _asked("b", "c"), _found("c"), _NEXT]),
)


def check_mended(mended: Any) -> None:
    """Try a function that gives every open call of a history a result."""
    for what, history in _HISTORIES:
        found = mended(list(history))
        listed = isinstance(found, Sequence) and all(isinstance(message, Message) for message in found)
        expect(listed, f"return the list of messages; you return {shown(found)}")
        kept = [message for message in found if message in history]
        expect(kept == history, f"{what}: all messages of the history stay, in their order; some are gone or moved")
        problems = openai_problems(to_openai(found)) + anthropic_problems(to_anthropic(found)[1])
        expect(not problems, f"{what}: a provider still refuses it. {problems[0] if problems else ''}")
        added = [message.result for message in found if message not in history]
        invented = [result for result in added if result is None or result.ok]
        expect(not invented, f"{what}: nobody knows what the tool would have said, so the new result is an error")
        vague = [result for result in added if result and result.error and not result.error.message.strip()]
        expect(not vague, f"{what}: the model reads the error; give it a message")


# --- 07.1 ------------------------------------------------------------------------------------------------------------

_KEY: Final = "zq7K-w2Xv-9LmR-4tBn"  # no words in it, since a mark may hold words
_PIECE: Final = 4  # so many letters in a row of a key are too many


def check_safe(safe: Any) -> None:
    """Try a function that cuts a key out of a sentence."""
    cases = (
        (f"The key {_KEY} is not valid.", _KEY, "the sentence holds the key once"),
        (f"{_KEY}: refused. Sent was 'Bearer {_KEY}'.", _KEY, "the sentence holds the key twice"),
        (f"Refused: {{'key': '{_KEY}'}}", _KEY, "the key stands in quotes, inside other text"),
    )
    for sentence, key, why in cases:
        found = safe(sentence, key)
        expect(isinstance(found, str), f"return the sentence; you return {shown(found)}")
        expect(key not in found, f"{why}, and it is still there: {shown(found)}")
        pieces = (key[place : place + _PIECE] for place in range(len(key) - _PIECE + 1))
        left = next((piece for piece in pieces if piece in found), "")
        expect(not left, f"{why}, and a part of it is still there ({left!r}): {shown(found)}")
        rest = [part for part in sentence.split(key) if part not in found]
        expect(not rest, f"{why}; the rest of the sentence must stay, but this is gone: {shown(rest)}")
        gap = " ".join(sentence.replace(key, "").split()) == " ".join(found.split())
        expect(not gap, f"{why}; put a mark in its place, so that a reader sees that something was cut out")
    for key, why in (("", "there is no key"), ("none", "the dummy key of a local server is an ordinary word")):
        sentence = "There are none left. Add credit."
        found = safe(sentence, key)
        expect(found == sentence, f"{why} ({key!r}), so the sentence stays as it is, but you return {shown(found)}")


# --- 07.5 ------------------------------------------------------------------------------------------------------------


def document(message: Mapping[str, Any], finish: str = "stop") -> dict[str, Any]:
    """An ordinary document of Chat Completions around a message."""
    usage = {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    return {"id": "chatcmpl-1", "object": "chat.completion", "model": "offline", "choices": [choice], "usage": usage}


_FUNCTION: Final = {"name": "search", "arguments": '{"query": "ASGI"}'}
_ORDINARY: Final = (
    document({"content": "An interface."}),
    document({"content": None, "tool_calls": [{"id": "c1", "type": "function", "function": _FUNCTION}]}, "tool_calls"),
)


_THOUGHT: Final = re.compile(r"\A\s*<think>(?P<thought>.*?)</think>\s*", re.DOTALL)


def _meant(given: Any) -> Decision:
    """The decision of a document, read generously; thoughts that a server leaves in the content are no part of it."""
    decision = read_chat(given).decision
    text = decision.text if isinstance(decision, FinalAnswer) else decision.thought
    plain = _THOUGHT.sub("", text)
    return replace(decision, text=plain) if isinstance(decision, FinalAnswer) else replace(decision, thought=plain)


def _strictly(given: Any) -> Decision:
    """The decision of a document, read by somebody who knows only the form in the reference."""
    message = given["choices"][0]["message"]
    calls = tuple(
        ToolCall(call["function"]["name"], json.loads(call["function"]["arguments"]), call["id"])
        for call in message.get("tool_calls") or ()
    )
    text = message["content"] or ""
    if not isinstance(text, str):
        raise TypeError
    if _THOUGHT.match(text):
        raise ValueError
    int(given["usage"]["prompt_tokens"])
    return CallTools(text, calls) if calls else FinalAnswer("", text)


def _tried(read: Callable[[Any], Decision], given: Any) -> Decision | None:
    try:
        return read(copy.deepcopy(given))
    except (AgentkitError, LookupError, TypeError, ValueError, AttributeError):
        return None


def check_habit(habit: Any) -> None:
    """Try a document with a habit of some server, and the function that makes it ordinary."""
    pair = isinstance(habit, tuple) and len(habit) == 2 and isinstance(habit[0], Mapping) and callable(habit[1])
    expect(pair, f"hand in a pair: a document (a dict), and the function `fix`; you hand in {shown(habit)}")
    given, fix = habit
    meant = _tried(_meant, given)
    says = isinstance(meant, CallTools) or (isinstance(meant, FinalAnswer) and meant.text.strip())
    if meant is None or not says:
        raise CheckFailed("the document must still say something: a text, or a call with its name")
    plain = _tried(_strictly, given)
    expect(plain is None, f"there is no habit in it: a strict reader makes of it {shown(plain)}, without your help")
    for ordinary in _ORDINARY:
        expect(fix(copy.deepcopy(ordinary)) == ordinary, "`fix` must return an ordinary document as it is, unchanged")
    fixed = _tried(_strictly, fix(copy.deepcopy(given)))
    expect(fixed is not None, "after `fix` a strict reader still cannot read the document")
    expect(_alike(fixed, meant), f"after `fix` it says {shown(fixed, 200)}, and the server meant {shown(meant, 200)}")


def _alike(one: Any, other: Any) -> bool:
    """Whether two decisions say the same; ids that a server left out may be made up."""
    if isinstance(one, CallTools) and isinstance(other, CallTools):
        pairs = [[(call.name, call.arguments) for call in decision.calls] for decision in (one, other)]
        return pairs[0] == pairs[1]
    return bool(one == other)
