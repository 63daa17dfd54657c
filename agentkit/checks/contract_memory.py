"""The contract of a memory: what is sent may be less than what is kept, but never something a provider refuses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from agentkit.checks.contract_report import ContractReport, Promise, try_promises
from agentkit.checks.contract_surface import method_of, parameters_of, part
from agentkit.checks.exercise import CheckFailed, expect
from agentkit.checks.faces import shown
from agentkit.messages import Message, ToolCall, ToolResult

Form: TypeAlias = Literal["message", "openai"]
_SMALLEST = 5  # the system prompt, both goals, and the newest call with its result


def memory_contract(make_memory: Callable[..., Any], form: Form = "message") -> ContractReport:
    """Try a memory with a limit in messages: ``memory_contract(Memory)``, ``memory_contract(MyMemory)``.

    Args:
        make_memory: takes the limit (as ``max_messages`` when it has a parameter of that name) and returns one with
            ``view(messages)``, or with ``add(message)`` and ``view()``. A plain function ``view(messages, limit)``
            will also do. All messages that are sent count, the system prompt too.
        form: what the messages are: ``"message"`` for `agentkit.messages.Message`, ``"openai"`` for dicts in the form
            of OpenAI's Chat Completions.
    """
    return try_promises("memory", _PROMISES, _Subject(make_memory, _history(form)))


@dataclass(frozen=True, slots=True)
class _Subject:
    make: Callable[..., Any]
    history: tuple[Any, ...]

    @property
    def limits(self) -> range:
        """Every limit for which all that must be sent fits, up to one message more than there are."""
        return range(_SMALLEST, len(self.history) + 2)

    def view(self, limit: int) -> list[Any]:
        return _view(self.make, list(self.history), limit)


def _view(make: Callable[..., Any], messages: list[Any], limit: int) -> list[Any]:
    takes = parameters_of(make)
    if takes.positional[:1] and takes.positional[0] in ("messages", "history"):
        found = make(messages, limit)
    else:
        memory = make(max_messages=limit) if "max_messages" in takes.names else make(limit)
        look = method_of(memory, "view", "window", "messages") or (memory if callable(memory) else None)
        if look is None:
            raise CheckFailed("the memory has no method `view(messages)`")
        if parameters_of(look).positional:
            found = look(messages)
        else:
            _fill(memory, messages)
            found = look()
    expect(isinstance(found, Sequence), f"the view must be a list of messages, not {shown(found)}")
    return list(found)


def _fill(memory: Any, messages: list[Any]) -> None:
    add = method_of(memory, "add", "append", "remember")
    if add is None:
        raise CheckFailed("the memory cannot be filled: give it `add(message)`, or let `view` take the messages")
    for message in messages:
        add(message)


def _history(form: Form) -> tuple[Any, ...]:
    """Two goals with calls; one step has two calls at once, whose results must stay together."""
    messages = (
        Message("system", "You are the help desk of a shop."),
        Message("user", "Where are my orders A100 and A101?"),
        _calls("c1", "c2"),
        _result("c1"),
        _result("c2"),
        Message("assistant", "A100 has arrived, A101 is on its way."),
        Message("user", "And A102 and A103?"),
        _calls("c3"),
        _result("c3"),
        _calls("c4"),
        _result("c4"),
    )
    return messages if form == "message" else tuple(map(_as_openai, messages))


def _calls(*ids: str) -> Message:
    return Message(
        "assistant", "I look it up.", tuple(ToolCall("look_up", {"order": f"order-{name}"}, name) for name in ids)
    )


def _result(call_id: str) -> Message:
    return Message("tool", result=ToolResult(call_id, "look_up", {"state": f"state-{call_id}"}))


def _as_openai(message: Message) -> dict[str, Any]:
    if message.result is not None:
        return {"role": "tool", "tool_call_id": message.result.call_id, "content": message.result.content}
    own: dict[str, Any] = {"role": message.role, "content": message.text}
    if message.calls:
        own["tool_calls"] = [
            {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": '{"order": "A100"}'}}
            for c in message.calls
        ]
    return own


def _call_ids(message: Any) -> list[str]:
    return [str(part(call, "id")) for call in part(message, "calls", "tool_calls", default=None) or ()]


def _answers(message: Any) -> str:
    """The id of the call that this message answers; empty for a message that is no result."""
    result = part(message, "result", default=None)
    return str(part(message if result is None else result, "call_id", "tool_call_id", default=""))


def _unchanged(subject: _Subject) -> None:
    for more in (0, 5):
        view = subject.view(len(subject.history) + more)
        expect(
            view == list(subject.history),
            "all messages fit under the limit, but the view is not the same as the history",
        )


def _limit(subject: _Subject) -> None:
    for limit in subject.limits:
        size = len(subject.view(limit))
        expect(size <= limit, f"the limit is {limit} messages, but {size} are sent")


def _system(subject: _Subject) -> None:
    for limit in subject.limits:
        view = subject.view(limit)
        expect(view[:1] == [subject.history[0]], f"with a limit of {limit} the system prompt is not sent first")


def _goal(subject: _Subject) -> None:
    for limit in subject.limits:
        expect(subject.history[1] in subject.view(limit), f"with a limit of {limit} the first goal is not sent")


def _newest(subject: _Subject) -> None:
    for limit in subject.limits:
        expect(subject.history[-1] in subject.view(limit), f"with a limit of {limit} the newest message is not sent")
    room = subject.view(7)
    expect(subject.history[8] in room, "with a limit of 7 there is room for the last two calls, but only one is sent")


def _together(subject: _Subject) -> None:
    for limit in subject.limits:
        asked: set[str] = set()
        for message in subject.view(limit):
            answered = _answers(message)
            if answered:
                expect(
                    answered in asked, f"with a limit of {limit} the result of call {answered} is sent without its call"
                )
                asked.discard(answered)
                continue
            expect(not asked, f"with a limit of {limit} call {min(asked, default='')} is sent without its result")
            asked.update(_call_ids(message))
        expect(not asked, f"with a limit of {limit} call {min(asked, default='')} is sent without its result")


def _order(subject: _Subject) -> None:
    for limit in subject.limits:
        rest = iter(subject.history)
        kept = all(any(message == own for own in rest) for message in subject.view(limit))
        expect(kept, f"with a limit of {limit} the messages are not the ones of the history in their order")


def _history_kept(subject: _Subject) -> None:
    messages = list(subject.history)
    _view(subject.make, messages, _SMALLEST)
    expect(messages == list(subject.history), "the history itself was changed; a view must leave it as it is")


_PROMISES: tuple[Promise[_Subject], ...] = (
    Promise("unchanged", "what fits is sent as it is", _unchanged),
    Promise("limit", "never more messages than the limit are sent", _limit),
    Promise("system prompt", "the system prompt is always sent, first", _system),
    Promise("first goal", "the first goal is always sent", _goal),
    Promise("newest", "the newest messages are sent, as many as fit", _newest),
    Promise("together", "a call and its results are sent together or not at all", _together),
    Promise("order", "only messages of the history are sent, in their order", _order),
    Promise("history", "the history itself is left as it is", _history_kept),
)
