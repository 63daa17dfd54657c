"""A decision becomes pieces of text and calls, within the limits of the request: length, stop sequences, choice of tools."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import assert_never

from agentkit._arguments import BadArguments, parse_arguments
from agentkit._jsonsafe import json_safe
from agentkit._wire import arguments_text, custom_input, wire_id
from agentkit.endpoint.values import Asked, Finish, Piece, Refused, Said, SaidCall
from agentkit.memory import estimate_tokens, message_tokens, tool_tokens
from agentkit.messages import AskUser, CallTools, Decision, FinalAnswer, Reply, ToolCall, Usage

BYTES_A_TOKEN = 4
_WORDS = re.compile(r"\S{1,24}\s*|\s+")
_JSON_PIECES = re.compile(r"\w{1,24}|\W{1,8}")


def spoken(decision: Decision) -> tuple[str, str, tuple[ToolCall, ...]]:
    """Thought, text and calls of a decision. A question to the user is text: the services have no form of its own for it."""
    match decision:
        case CallTools(thought, calls):
            return thought, "", calls
        case FinalAnswer(thought, text):
            return thought, text, ()
        case AskUser(thought, question):
            return thought, question, ()
        case _:
            assert_never(decision)


def check_decision(asked: Asked, decision: Decision) -> None:
    """A model that did what the request forbids cannot be made to do otherwise, so that is told as a failure of the server."""
    calls = decision.calls if isinstance(decision, CallTools) else ()
    names = {call.name for call in calls}
    if asked.choice.kind == "none" and calls:
        raise _unable("The model behind this endpoint called a tool, although tool_choice forbids it.")
    if asked.choice.kind == "required" and not calls:
        raise _unable("The model behind this endpoint gave an answer, although tool_choice demands a tool call.")
    if asked.choice.names is not None and names - asked.choice.names:
        raise _unable("The model behind this endpoint called another tool than the one that tool_choice names.")
    if asked.json_text and not calls and not _is_json(spoken(decision)[1]):
        raise _unable("The model behind this endpoint did not answer with JSON, although the request demands it.")


def _unable(message: str) -> Refused:
    return Refused(500, message, retry=False)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


class Speaker:
    """Turns what a model gives into pieces, one after the other, and remembers all of it in `said`.

    Text may come live, by `delta`, before the reply is there. What has been sent stays sent: the reply then adds only what
    continues it.
    """

    def __init__(self, asked: Asked, prefix: str, *, objects: bool = False) -> None:
        self.asked = asked
        self.prefix = prefix  # of the ids of calls
        self.objects = objects  # whether arguments have to be a JSON object
        self.ended: Finish | None = None
        self._stop_sequence: str | None = None
        self._left = None if asked.max_tokens is None else asked.max_tokens * BYTES_A_TOKEN
        self._given = ""  # live text as it came
        self._held = ""  # text that may be the beginning of a stop sequence
        self._thought = ""
        self._text = ""
        self._calls: list[SaidCall] = []
        self._usage: Usage | None = None

    def delta(self, text: str) -> Iterator[Piece]:
        """The pieces of a live text."""
        self._given += text
        yield from self._write(text)

    def reply(self, reply: Reply) -> Iterator[Piece]:
        """The pieces of a reply that have not been sent yet."""
        thought, text, calls = spoken(reply.decision)
        self._usage = reply.usage
        if self.asked.show_thought and not self._given:
            yield from self._think(thought)
        elif calls:
            text = thought
        if text.startswith(self._given):
            for word in _WORDS.findall(text[len(self._given) :]):
                yield from self._write(word)
        yield from self._release()
        for call in calls if self.asked.parallel else calls[:1]:
            yield from self._call(call)

    @property
    def said(self) -> Said:
        """All that was said so far."""
        finish: Finish = self.ended or ("calls" if self._calls else "stop")
        calls = tuple(self._calls)
        return Said(self._thought, self._text, calls, finish, self._stop_sequence, self._used())

    def _think(self, thought: str) -> Iterator[Piece]:
        for word in _WORDS.findall(thought):
            kept = self._cut(word)
            self._thought += kept
            if kept:
                yield Piece("thought", kept)

    def _write(self, text: str) -> Iterator[Piece]:
        if self.ended:
            return
        text, self._held = self._held + text, ""
        found = [(text.find(stop), stop) for stop in self.asked.stop if stop in text]
        if found:
            place, stop = min(found)
            yield from self._emit(text[:place])
            if not self.ended:  # by the length limit, before the stop sequence was reached
                self.ended, self._stop_sequence = "stop_sequence", stop
            return
        kept = len(text) - _beginning_of(self.asked.stop, text)
        self._held = text[kept:]
        yield from self._emit(text[:kept])

    def _release(self) -> Iterator[Piece]:
        held, self._held = self._held, ""
        yield from self._emit(held)

    def _emit(self, text: str) -> Iterator[Piece]:
        kept = self._cut(text)
        self._text += kept
        if kept:
            yield Piece("text", kept)

    def _call(self, call: ToolCall) -> Iterator[Piece]:
        if self.ended or len(self._cut(call.name)) < len(call.name):
            return
        custom = call.name in self.asked.custom
        given = custom_input(call) if custom else arguments_text(call)
        if self.objects and not call.truncated:
            given = arguments_text(ToolCall(call.name, input_object(given)))
        index, opened = len(self._calls), SaidCall(self._call_id(call), call.name, "", custom)
        yield Piece("call", index=index, call=opened)
        kept = ""
        for part in (_WORDS if custom else _JSON_PIECES).findall(given):
            written = self._cut(part)
            kept += written
            if written:
                yield Piece("arguments", written, index)
        whole = kept == given and not call.truncated
        self._calls.append(SaidCall(opened.id, call.name, kept, custom, whole))
        if not whole:
            self.ended = "length"

    def _call_id(self, call: ToolCall) -> str:
        """The model's own id when it is a new and acceptable one, else the next number that is free."""
        used = self.asked.used_ids | {said.id for said in self._calls}
        if call.id and call.id not in used and wire_id(call.id) == call.id:
            return call.id
        number = self.asked.calls_before + len(self._calls) + 1
        while f"{self.prefix}{number}" in used:
            number += 1
        return f"{self.prefix}{number}"

    def _cut(self, text: str) -> str:
        """As much of the text as the length limit leaves room for."""
        if self._left is None:
            return text
        data = text.encode("utf-8", "replace")
        kept = text if len(data) <= self._left else data[: self._left].decode("utf-8", "ignore")
        self._left -= len(data)
        if self._left < 0:
            self._left = 0
            self.ended = "length"
        return kept

    def _used(self) -> Usage:
        """Usage as the model tells it, else an estimate. A reply that was cut has used what was sent of it."""
        asked, given = self.asked, self._usage
        written = sum(estimate_tokens(call.name + call.arguments) for call in self._calls)
        written += estimate_tokens(self._thought + self._text)
        if given is not None:
            return given if self.ended is None else Usage(given.input_tokens, written, given.cached_tokens, given.cost)
        return Usage(input_tokens(asked), written)


def input_tokens(asked: Asked) -> int:
    """About how many tokens a request has."""
    return sum(message_tokens(message) for message in asked.messages) + tool_tokens(asked.tools)


def input_object(text: str) -> dict[str, object]:
    """Arguments as the object that Anthropic's form needs; what is no object is put under a key that says so."""
    try:
        found = json_safe(parse_arguments(ToolCall("", text)))
    except BadArguments:
        return {"not_json": text}
    return found if isinstance(found, dict) else {"not_json": text}


def _beginning_of(stops: tuple[str, ...], text: str) -> int:
    """How many of the last letters of a text may be the beginning of a stop sequence."""
    most = max((len(stop) - 1 for stop in stops), default=0)
    for size in range(min(most, len(text)), 0, -1):
        if any(stop.startswith(text[-size:]) for stop in stops):
            return size
    return 0
