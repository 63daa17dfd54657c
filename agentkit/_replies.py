"""What a model gives back is checked before it enters the history, so that a history can always be saved and sent.

A reply that is nearly right is made right (text that cannot be encoded, values that JSON does not have); one that is not is
a `ReplyError`, which ends the run with a sentence instead of an exception.
"""

from __future__ import annotations

from typing import Any

from agentkit._jsonsafe import dumps, json_safe
from agentkit.errors import ReplyError
from agentkit.messages import AskUser, CallTools, Decision, FinalAnswer, Pause, Reply, ToolCall

_PLAIN = (int, bool, type(None))


def as_reply(found: Any) -> Reply | Pause:
    """The reply of a model; it may also give a bare decision. Raises `ReplyError` when it gave something else."""
    if type(found) is Reply and _is_sound(found.decision):
        return found
    if isinstance(found, Pause):
        return found
    reply = found if isinstance(found, Reply) else Reply(found)
    return Reply(_decision(reply.decision), reply.usage, reply.scores, reply.provider)


def given_reply(decision: Any) -> Reply:
    """A decision from outside (a person in the place of the model) as a reply."""
    return Reply(_decision(decision))


def _is_sound(decision: Any) -> bool:
    """Whether calls can be taken as they are. Most can, so this comes before any mending."""
    if type(decision) is not CallTools or type(decision.calls) is not tuple:
        return False
    texts = [decision.thought]
    for call in decision.calls:
        if type(call) is not ToolCall or type(call.arguments) is not dict:
            return False
        texts += (call.name, call.id, *call.arguments)
        for value in call.arguments.values():
            if type(value) is str:
                texts.append(value)
            elif type(value) not in _PLAIN:
                return False
    try:
        return "".join(texts).isascii()
    except TypeError:  # one of them is no text
        return False


def _decision(decision: Any) -> Decision:
    if isinstance(decision, CallTools):
        calls: Any = decision.calls
        if not isinstance(calls, (tuple, list)):
            found = type(calls).__name__
            raise ReplyError(f"The calls of CallTools must be a tuple of ToolCall values, not a {found}.")
        return CallTools(_text(decision.thought, "thought"), tuple(map(_mended, calls)))
    if isinstance(decision, FinalAnswer):
        return FinalAnswer(_text(decision.thought, "thought"), _text(decision.text, "text of the final answer"))
    if isinstance(decision, AskUser):
        return AskUser(_text(decision.thought, "thought"), _text(decision.question, "question"))
    found = type(decision).__name__
    raise ReplyError(
        f"decide() must return CallTools, FinalAnswer, AskUser or a Reply, but it gave a value of type {found}."
    )


def _mended(call: Any) -> ToolCall:
    if not isinstance(call, ToolCall):
        raise ReplyError(f"The calls of CallTools must be ToolCall values, not a {type(call).__name__}.")
    if not isinstance(call.name, str) or not isinstance(call.id, str):
        raise ReplyError("The name and the id of a tool call must be texts.")
    arguments = json_safe(call.arguments)
    if not isinstance(arguments, (dict, str)):
        arguments = {} if arguments is None else dumps(arguments)
    return ToolCall(_text(call.name, "name"), arguments, _text(call.id, "id"), bool(call.truncated))


def _text(value: Any, what: str) -> str:
    """A text as it is, None as an empty one; text that cannot be encoded with the bad letters replaced."""
    if type(value) is str:
        return value if value.isascii() else _encodable(value)
    if value is None and what == "thought":
        return ""
    if isinstance(value, str):
        return _encodable(str(value))
    raise ReplyError(f"The {what} must be a text, but it is a value of type {type(value).__name__}.")


def _encodable(text: str) -> str:
    safe = json_safe(text)
    return text if safe == text else str(safe)
