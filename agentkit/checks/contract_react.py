"""The contract of a ReAct parser: text becomes one action, or an answer, or a complaint that the model can act on."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from agentkit.checks.contract_report import ContractReport, Promise, try_promises
from agentkit.checks.contract_surface import part
from agentkit.checks.exercise import CheckFailed, expect
from agentkit.checks.faces import shown
from agentkit.errors import AgentkitError
from agentkit.messages import AskUser, CallTools, FinalAnswer, Reply

Parse = Callable[[str], Any]
_ACTION = 'Thought: I look it up.\nAction: look_up\nAction Input: {"order": "A100"}\n'


def react_parser_contract(parse: Parse) -> ContractReport:
    """Try a parser of Thought / Action / Action Input / Observation / Final Answer.

    Args:
        parse: takes the model's text and returns a decision (`CallTools` or `FinalAnswer`, in a `Reply` or not); or a
            dict or object with ``action`` and ``action_input`` (or ``name`` and ``arguments``), or ``answer`` (or
            ``final_answer``), or ``error``; or a tuple ``("action", name, arguments)``, ``("answer", text)`` or
            ``("error", message)``, or ``(name, arguments)``. A format error may also be raised, as a ValueError or as
            `agentkit.errors.ReplyError`.
    """
    return try_promises("ReAct parser", _PROMISES, parse)


@dataclass(frozen=True, slots=True)
class _Read:
    """What a parser made of a text, in one shape."""

    kind: Literal["action", "answer", "error"]
    name: str = ""
    arguments: Any = None
    text: str = ""
    actions: int = 1


def _read(parse: Parse, text: str) -> _Read:
    try:
        found = parse(text)
    except AgentkitError as problem:
        return _Read("error", text=str(problem))
    except ValueError as problem:
        if type(problem) is not ValueError:
            raise
        return _Read("error", text=str(problem))
    found = found.decision if isinstance(found, Reply) else found
    match found:
        case CallTools(calls=calls) if calls:
            return _Read("action", calls[0].name, _as_object(calls[0].arguments), actions=len(calls))
        case FinalAnswer(text=answer):
            return _Read("answer", text=answer)
        case AskUser(question=question):
            return _Read("error", text=question)
        case ("action", name, *rest):
            return _Read("action", str(name), _as_object(rest[0] if rest else {}))
        case ("answer" | "error" as kind, said, *_):
            return _Read(kind, text=str(said))
        case (str(name), dict(arguments)):
            return _Read("action", name, arguments)
    return _read_parts(found)


def _read_parts(found: Any) -> _Read:
    error = part(found, "error", default=None)
    if error:
        return _Read("error", text=str(error))
    name = part(found, "action", "name", "tool", default=None)
    if name:
        arguments = part(found, "action_input", "arguments", "input", default={})
        return _Read("action", str(name), _as_object(arguments))
    answer = part(found, "answer", "final_answer", "text", default=None)
    if answer:
        return _Read("answer", text=str(answer))
    raise CheckFailed(f"the parser returned {shown(found)}, which is no action, no answer and no error")


def _as_object(arguments: Any) -> Any:
    if not isinstance(arguments, str):
        return arguments
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments


def _expect_action(read: _Read, arguments: dict[str, Any], what: str) -> None:
    expect(read.kind == "action", f"{what}, but it was read as an {read.kind}: {shown(read.text)}")
    expect(read.name == "look_up", f"{what}: the action must be look_up, not {shown(read.name)}")
    expect(read.arguments == arguments, f"{what}: the input must be {arguments}, not {shown(read.arguments)}")


def _one_action(parse: Parse) -> None:
    _expect_action(_read(parse, _ACTION), {"order": "A100"}, "the text holds one action")


def _answer(parse: Parse) -> None:
    read = _read(parse, "Thought: I know it now.\nFinal Answer: It can be refunded.")
    expect(
        read.kind == "answer", f"the text holds a final answer, but it was read as an {read.kind}: {shown(read.text)}"
    )
    right = read.text.strip() == "It can be refunded."
    expect(right, f"the answer is what stands after `Final Answer:`, without the thought; it is {shown(read.text)}")


def _long_answer(parse: Parse) -> None:
    read = _read(parse, "Thought: I know both.\nFinal Answer: A100: yes.\nA101: no.")
    if read.kind == "answer":
        expect("A101: no." in read.text, f"an answer may have several lines, but only {shown(read.text)} was read")


def _first_only(parse: Parse) -> None:
    text = _ACTION + 'Thought: And the next.\nAction: refund\nAction Input: {"order": "A100"}\n'
    read = _read(parse, text)
    expect(read.actions == 1, f"the text holds two actions; take the first only, not {read.actions}")
    _expect_action(read, {"order": "A100"}, "the text holds two actions, and the first counts")


def _invented(parse: Parse) -> None:
    text = _ACTION + 'Observation: {"state": "delivered"}\nThought: I know.\nFinal Answer: It was delivered.'
    read = _read(parse, text)
    invented = "the model wrote its own observation and answer, which are invented; cut the text at `Observation:`"
    expect(read.kind == "action", f"{invented}, but it was read as an {read.kind}: {shown(read.text)}")
    clean = read.name == "look_up" and read.arguments == {"order": "A100"}
    expect(clean, f"{invented}; the action was read as {shown(read.name)} with {shown(read.arguments)}")


def _many_lines(parse: Parse) -> None:
    text = 'Thought: I look it up.\nAction: look_up\nAction Input: {\n  "order": "A100",\n  "full": true\n}\n'
    _expect_action(_read(parse, text), {"order": "A100", "full": True}, "the input stands on several lines")


def _ticks(parse: Parse) -> None:
    read = _read(parse, 'Thought: I look it up.\nAction: `look_up`\nAction Input: {"order": "A100"}\n')
    if read.kind == "error":
        return  # a complaint is good too: the model writes it again
    expect("`" not in read.name, f"the back-ticks are not part of the name, but it was read as {shown(read.name)}")
    _expect_action(read, {"order": "A100"}, "the action stands in back-ticks")


def _format_error(parse: Parse, text: str, what: str) -> None:
    try:
        read = _read(parse, text)
    except CheckFailed as problem:
        raise CheckFailed(f"{what}, and it must be reported: {problem}") from None
    except Exception as error:
        raise CheckFailed(f"{what}, and the parser failed with {type(error).__name__}; report a format error") from None
    said = read.name if read.kind == "action" else read.text
    expect(read.kind == "error", f"{what}, and it must be reported, but it was read as an {read.kind}: {shown(said)}")
    expect(read.text.strip(), f"{what}; the error must say so, because the model reads it and tries again")


def _nothing(parse: Parse) -> None:
    for text in ("I think the order has arrived.", "Thought: I am not sure what to do.", ""):
        _format_error(parse, text, "a text has no action and no answer")


def _none(parse: Parse) -> None:
    _format_error(parse, "Thought: I can answer directly.\nAction: None\nAction Input: {}\n", "the action is None")


_PROMISES: tuple[Promise[Parse], ...] = (
    Promise("action", "an action has its name and its input", _one_action),
    Promise("answer", "a final answer is read without the thought", _answer),
    Promise("long answer", "a final answer may have several lines", _long_answer),
    Promise("first action", "of several actions only the first is taken", _first_only),
    Promise("invented observation", "what the model invents after its action is cut off", _invented),
    Promise("many lines", "the input may stand on several lines", _many_lines),
    Promise("back-ticks", "back-ticks around a name do not belong to it", _ticks),
    Promise("format error", "a text without action and answer is reported", _nothing),
    Promise("action None", "`Action: None` is no action, and it is reported", _none),
)
