"""What the exercises of notebook 04 try on an answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from agentkit._wire import anthropic_problems, openai_problems, to_anthropic, to_openai
from agentkit.checks.contract_report import ContractReport
from agentkit.checks.contracts import memory_contract
from agentkit.checks.exercise import CheckFailed, expect
from agentkit.checks.faces import shown
from agentkit.loop import Agent, Limits
from agentkit.memory import Memory, message_tokens, pinned, units
from agentkit.messages import ErrorDetail, Message, Run, ToolCall, ToolResult
from agentkit.models.offline import OfflineModel
from agentkit.worlds import orders

History = list[Message]

_TOKENS = (
    ("", 0, "an empty text has no tokens"),
    ("order", 2, "5 bytes are more than one token, so round up"),
    ("abcd", 1, "4 bytes are exactly one token"),
    ("a", 1, "1 byte is a part of a token, so round up"),
    ("환불되나요", 4, "each Korean syllable has 3 bytes in UTF-8, so these 5 have 15"),
    ("📦📦📦", 3, "each of these emoji has 4 bytes in UTF-8"),
)


def check_tokens(tokens: Callable[..., Any]) -> None:
    for text, wanted, why in _TOKENS:
        found = tokens(text)
        expect(
            not isinstance(found, float),
            f"a number of tokens is a whole number; for {text!r} you return {shown(found)}",
        )
        expect(found == wanted, f"for {text!r} the answer is {wanted}, but you return {shown(found)}: {why}")


def said(role: Any, text: str) -> Message:
    return Message(role, text)


def asked(*ids: str) -> Message:
    """The assistant asks for one look-up for each id."""
    return Message("assistant", "I look it up.", tuple(ToolCall("look_up", {"order": each}, each) for each in ids))


def observed(call_id: str) -> Message:
    return Message("tool", result=ToolResult(call_id, "look_up", {"state": f"state of {call_id}"}))


def _conversation() -> History:
    return [
        said("system", "You work at a help desk."),
        said("user", "Where are my orders?"),
        asked("c1", "c2"),
        observed("c1"),
        observed("c2"),
        asked("c3"),
        observed("c3"),
        said("assistant", "Both are on their way."),
        said("user", "My address has changed."),
        said("assistant", "I have noted it."),
        said("user", "And the third order?"),
        asked("c4"),
        observed("c4"),
    ]


def check_groups(groups: Callable[..., Any]) -> None:
    talk = _conversation()
    for messages in (talk[:2], talk[5:7], talk[:5], talk, []):
        found = groups(list(messages))
        if not isinstance(found, (list, tuple)) or not all(isinstance(group, (list, tuple)) for group in found):
            raise CheckFailed(f"give a list of lists of messages, not {shown(found)}")
        flat = [message for group in found for message in group]
        expect(
            all(isinstance(message, Message) for message in flat),
            f"the groups hold the messages themselves, not their positions or parts; yours are {shown(found)}",
        )
        same = len(flat) == len(messages) and all(message in flat for message in messages)
        expect(
            not same or flat == list(messages),
            "your groups hold the right messages in another order: give the oldest first",
        )
        expect(
            flat == list(messages),
            f"all {len(messages)} messages must be in the groups, each once and in their order; yours hold {len(flat)}",
        )
        for group in found:
            _one_unit(group)
        for group in found:
            calls = {call.id for message in group for call in message.calls}
            results = {message.result.call_id for message in group if message.result}
            expect(calls <= results, f"the result of call {min(calls - results, default='')} is not in its group")


def _one_unit(group: Sequence[Message]) -> None:
    expect(len(group) > 0, "one of the groups is empty; an empty history has no groups at all")
    expect(group[0].role != "tool", "a group begins with a result: it belongs to the group of its call")
    more = [message.role for message in group[1:] if message.role != "tool"]
    expect(
        not more,
        f"a group holds more than one unit: after its first message there is one of the role {more[0] if more else ''}",
    )


@dataclass(frozen=True, slots=True)
class _Broken:
    """A history to repair: what is wrong with it, its messages, and the calls whose results are missing."""

    fault: str
    messages: History
    missing: tuple[str, ...] = ()


def _broken() -> tuple[_Broken, ...]:
    talk, goal, later = _conversation(), said("user", "Where are they?"), said("user", "Are you still there?")
    return (
        _Broken("nothing is wrong", talk),
        _Broken("the window cut a result from its call", talk[4:]),
        _Broken("the window cut two results from their call", talk[3:]),
        _Broken("the last call has no result", talk[:-1], ("c4",)),
        _Broken("one of two calls has no result", [goal, asked("c1", "c2"), observed("c1"), later], ("c2",)),
        _Broken("neither of two calls has a result", [goal, asked("c1", "c2"), later], ("c1", "c2")),
        _Broken("a result is there twice", [goal, asked("c1"), observed("c1"), observed("c1"), later]),
    )


def check_repaired(repaired: Callable[..., Any]) -> None:
    for case in _broken():
        given = list(case.messages)
        found = repaired(given)
        when = f"when {case.fault}"
        if not isinstance(found, (list, tuple)) or not all(isinstance(message, Message) for message in found):
            raise CheckFailed(f"give a list of messages, not {shown(found)}")
        expect(given == case.messages, f"{when}, the history that was given must stay as it is: make a new list")
        kept = [message for message in case.messages if message.role != "tool"]
        expect(
            [message for message in found if message.role != "tool"] == kept,
            f"{when}, a message that is no result has gone or has changed: what was said and asked for must stay",
        )
        problems = provider_problems(found)
        expect(not problems, f"{when}, a provider still refuses your history: {problems[0] if problems else ''}")
        if case.fault == "nothing is wrong":
            expect(list(found) == case.messages, f"{when}, the history must stay as it is")
        _true_results(case, found, when)


def _true_results(case: _Broken, found: Sequence[Message], when: str) -> None:
    given = {message.result.call_id: message.result for message in case.messages if message.result}
    for message in found:
        result = message.result
        if result is None:
            continue
        if result.call_id in case.missing:
            expect(
                not result.ok, f"{when}, the result that you add must be an error: nobody has seen data of this call"
            )
        else:
            expect(
                result == given.get(result.call_id), f"{when}, the real result of {result.call_id} must stay as it is"
            )


def provider_problems(messages: Sequence[Message]) -> list[str]:
    """What OpenAI or Anthropic would refuse."""
    return openai_problems(to_openai(messages)) + anthropic_problems(to_anthropic(messages)[1])


def check_keep(keep: Callable[..., Any]) -> ContractReport:
    def view(messages: Any, limit: int) -> Any:
        return keep(messages, limit, [])

    report = memory_contract(view)
    if report.passed:
        for pins in ([8], [2], [4], [6, 9], list(range(13))):
            _check_pins(keep, pins)
    return report


def _check_pins(keep: Callable[..., Any], pins: list[int]) -> None:
    talk = _conversation()
    must = set(pinned(talk)).union(*(unit for unit in units(talk) if set(unit) & set(pins)))
    newest = set(next(units(talk)))
    for limit in range(len(must | newest), len(talk) + 2):
        found, words = keep(talk, limit, pins), f"with pins={pins} and a limit of {limit}"
        if not isinstance(found, (list, tuple)):
            raise CheckFailed(f"give a list of messages, not {shown(found)}")
        missing = [place for place in pins if talk[place] not in found]
        expect(not missing, f"{words}, the pinned message {missing[0] if missing else ''} is not sent")
        expect(len(found) <= limit, f"{words}, {len(found)} messages are sent: the pinned ones count too")
        problems = provider_problems(found)
        expect(not problems, f"{words}, a provider refuses what is sent: {problems[0] if problems else ''}")
        rest = iter(talk)
        expect(
            all(any(message == own for own in rest) for message in found),
            f"{words}, the messages are not in the order of the history",
        )
        expect(all(talk[place] in found for place in newest), f"{words}, the newest messages are not sent")
    found = keep(talk, len(talk), pins)
    expect(list(found) == talk, f"with pins={pins}, everything fits into a limit of {len(talk)}, but not all is sent")


QUESTIONS = (
    orders.GOAL_REFUND,
    "Where is my order A101?",
    "Please list all my orders.",
    "What did order A103 cost?",
)


def check_policy(policy: Any) -> None:
    memory = policy() if isinstance(policy, type) else policy
    expect(not isinstance(memory, Memory), "this is the memory of the package; write a class of your own")
    expect(hasattr(memory, "view"), "your memory needs a method `view(self, messages, tools)`")
    history: tuple[Message, ...] = ()
    saved = 0
    for number, question in enumerate(QUESTIONS, 1):
        desk = Agent(
            OfflineModel(rules=orders.rules),
            orders.make_tools(),
            system=orders.system,
            memory=memory,
            limits=Limits(max_steps=8),
        )
        run = desk.run(question, history=history)
        for step in run.steps:
            saved += _check_sent(run, step.number, number)
        expect(
            run.stop_reason == "answered",
            f"question {number} ended with `{run.stop_reason}` and not with an answer: {_why(run)}",
        )
        history = run.messages
    expect(saved > 0, "your memory sends everything, in every request; leave something out, or make it shorter")


def _check_sent(run: Run, number: int, question: int) -> int:
    """How many estimated tokens a step did not send; complains about a view that a model could not work with."""
    before = run.messages[: run.step(number).seen]
    view, where = run.sent(number), f"at step {number} of question {question}"
    expect(len(view) > 0, f"{where}, nothing is sent")
    problems = provider_problems(view)
    expect(not problems, f"{where}, a provider refuses what is sent: {problems[0] if problems else ''}")
    expect(
        any(message.role == "user" and message.text == run.goal for message in view),
        f"{where}, the question that is to be answered is not sent",
    )
    return sum(map(message_tokens, before)) - sum(map(message_tokens, view))


def _why(run: Run) -> str:
    if run.error:
        return run.error
    return "does the model see what its last calls have found?"


def lost(call: ToolCall) -> Message:
    """A result for a call that has none: an error, since nobody knows what would have come."""
    error = ErrorDetail("cancelled", "This call has no result. Call the tool again if you need it.")
    return Message("tool", result=ToolResult(call.id, call.name, error=error))
