"""Streamed replies of Chat Completions: chunk after chunk, put together into one document.

Source of the forms: OpenAI's API reference, "Streaming" of Chat Completions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentkit._jsonsafe import dumps, json_safe
from agentkit._wire import text_of
from agentkit.models._reading import Json, arguments_of, raise_sent_error
from agentkit.models._service import interrupted

_PAYLOAD = {"function": "arguments", "custom": "input"}


class ChatAssembler:
    """Puts the chunks of a streamed reply together into the document that would have come without streaming.

    Fragments of calls are joined by their ``index``: those of two calls may come in turns, and only the first one carries the
    id and the name. A name that is sent again is not appended. Some servers leave the index out, or give every call the
    same one: there a new id with a name begins a new call.
    """

    def __init__(self) -> None:
        self._document: Json = {}
        self._message: Json = {"role": "assistant", "content": None}
        self._calls = _Calls()
        self._finish: Any = None

    def add(self, chunk: Mapping[str, Any]) -> str:
        """Take in one chunk; returns the new text for the reader, "" when it brings none.

        Raises:
            ProviderError: the chunk is an error of the service.
        """
        if chunk.get("error"):
            raise_sent_error(chunk["error"])
        for key, found in chunk.items():
            if key != "choices" and found is not None:  # the usage comes in the last chunk, which has no choices
                self._document[key] = found
        choices = chunk.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else {}
        if choice.get("index"):  # only the first of several choices is read
            return ""
        self._finish = choice.get("finish_reason") or self._finish
        delta = choice.get("delta") or choice.get("message")
        return self._add_delta(delta) if isinstance(delta, Mapping) else ""

    def document(self) -> Json:
        """The whole document. Raises `ProviderError` (``interrupted``) when the stream ended before the reply did."""
        if not self._finish:
            raise interrupted()
        return self.snapshot()

    def snapshot(self) -> Json:
        """What there is so far, in the form of the document; it does not change with later chunks."""
        calls = self._calls.written()
        message = {**self._message, "tool_calls": calls} if calls else dict(self._message)
        choice = {"index": 0, "message": message, "finish_reason": self._finish}
        return {**self._document, "object": "chat.completion", "choices": [choice]}

    def _add_delta(self, delta: Mapping[str, Any]) -> str:
        spoken = ""
        for key, found in delta.items():
            if found is None or key == "role":
                continue
            if key == "tool_calls":
                for fragment in found if isinstance(found, list) else ():
                    self._calls.add(fragment)
            elif key == "function_call":  # the former name of a single call
                self._calls.add({"index": 0, "function": found})
            elif key in ("content", "refusal"):
                piece = text_of(found, "")
                spoken += piece
                self._message[key] = (self._message.get(key) or "") + piece
            else:
                self._message[key] = _merged(self._message.get(key), found)
        return spoken


class _Calls:
    """The calls of one reply while their fragments arrive: (index, call) in the order in which they began."""

    def __init__(self) -> None:
        self.begun: list[tuple[Any, Json]] = []

    def add(self, fragment: Any) -> None:
        if not isinstance(fragment, Mapping):
            return
        kind = "custom" if isinstance(fragment.get("custom"), Mapping) else "function"
        body = fragment.get(kind)
        body = body if isinstance(body, Mapping) else {}
        name = str(body.get("name") or "")
        call = self._continued(fragment, kind, name)
        if call is None:
            call = {"id": "", "type": kind, kind: {"name": "", _PAYLOAD[kind]: ""}}
            self.begun.append((fragment.get("index"), call))
        call["id"] = call["id"] or fragment.get("id") or ""
        more = {"index", "id", "type", kind}
        call.update({key: found for key, found in fragment.items() if key not in more and found is not None})
        inner = call.setdefault(kind, {"name": "", _PAYLOAD[kind]: ""})
        inner["name"] = inner["name"] or name
        piece = body.get(_PAYLOAD[kind])
        if piece is not None:  # some servers send the arguments as an object, in one piece
            inner[_PAYLOAD[kind]] += piece if isinstance(piece, str) else dumps(json_safe(piece))

    def _continued(self, fragment: Mapping[str, Any], kind: str, name: str) -> Json | None:
        """The call that a fragment goes on with; None where it begins a new one."""
        index, call_id = fragment.get("index"), fragment.get("id")
        if index is None:
            return self._without_index(call_id, kind, name)
        same = [call for place, call in self.begun if place == index]
        another = same and call_id and name and same[-1]["id"] not in ("", call_id)
        return same[-1] if same and not another else None

    def _without_index(self, call_id: Any, kind: str, name: str) -> Json | None:
        known = [call for _, call in self.begun if call_id and call["id"] == call_id]
        if known or not self.begun or (call_id and name):
            return known[-1] if known else None
        last = self.begun[-1][1]
        body = last.get(kind) or {}
        return last if not name or (body.get("name") == name and _is_open(body.get(_PAYLOAD[kind]))) else None

    def written(self) -> list[Json]:
        return [{**call, **{kind: dict(call[kind]) for kind in _PAYLOAD if kind in call}} for _, call in self.begun]


def _is_open(written: Any) -> bool:
    """Whether the arguments written so far are not yet complete."""
    return not written or isinstance(arguments_of(written, True)[0], str)


def _merged(old: Any, new: Any) -> Any:
    """Text is appended, lists are extended, objects are merged; anything else replaces what was there."""
    if isinstance(old, str) and isinstance(new, str):
        return old + new
    if isinstance(old, list) and isinstance(new, list):
        return [*old, *new]
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        return {**old, **{key: _merged(old.get(key), item) for key, item in new.items()}}
    return new
