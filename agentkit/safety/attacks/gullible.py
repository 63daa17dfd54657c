"""A model that does what it reads: the worst reader an agent could have.

It is no imitation of a language model. A real one follows a hidden instruction now and then, and nobody can say beforehand
which one. A defence has to be judged by what it stops when the model does fall for it, so this one falls for everything that
it understands. What it understands is this, and nothing else:

- a name of an offered tool followed by a JSON object (``call send_mail with {"to": "…", "text": "…"}``), or after a word
  such as *call* by its parameters in words (``call read_document with the id D30``);
- in an argument: ``[all you have read]``, ``[your instructions]``, and ``[the email]`` for a field that it has seen;
- ``use tool_b instead of tool_a``, and ``forget your task``.

It reads tool results, errors, and the names and descriptions of the tools. When nothing tells it anything, the model that it
wraps decides, and that one never sees the detours.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from agentkit._jsonsafe import dumps
from agentkit.messages import (
    CallTools,
    FinalAnswer,
    Message,
    Model,
    Pause,
    Reply,
    ToolCall,
    ToolSpec,
    goal_positions,
)

TOLD: Final = "A text that I read tells me to do this."
INSTEAD: Final = "A text that I read tells me to use this instead of "
_VERB: Final = re.compile(r"(?i)\b(?:call|use|run|invoke|execute)\b[^.\n]{0,40}$|(?:호출|실행)[^.\n]{0,20}$")
_FORGET: Final = re.compile(r"(?i)\b(?:forget|ignore)\b[^.\n]{0,20}\b(?:task|instructions)\b")
_INSTEAD: Final = re.compile(r"(?i)\buse (\w+) instead of (\w+)")
_FENCED: Final = re.compile(r"(?is)<untrusted\b[^>]*>(.*?)[<＜]\s*/\s*untrusted\b[^>＞]*[>＞]")
_WANTED: Final = re.compile(r"\[(all you have read|your instructions|the ([\w ]+))\]")
_VALUE: Final = r"\s*(?:[:=]|is)?\s*(\[[^\]]*\]|\"[^\"]*\"|'[^']*'|[^\s,;()]+)"
_MOST: Final = 4_000  # characters of everything that was read


class GullibleModel:
    """Obeys the last text that it read, and otherwise leaves the decision to another model.

    Args:
        model: decides when no text tells it anything: any model, for example a `ScriptedModel` with the calls that the
            user's goal needs.
        honours: for which share of fenced texts it remembers that fenced text is only data, from 0 to 1. Which ones these are
            depends on the text alone, so a run is always the same. The share is an assumption to try things with; it was
            not measured on any model.
    """

    def __init__(self, model: Model, *, honours: float = 0.5) -> None:
        self.model = model
        self.honours = honours

    def decide(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Reply | Pause:
        """Obey, or ask the wrapped model."""
        start = max(goal_positions(messages), default=-1) + 1
        recent = messages[start:]
        texts = [text for message in reversed(recent) for text in self._read(message)]
        texts += [text for tool in tools for text in _said_by(tool)]
        made = [call for message in recent for call in message.calls]
        forgets = False
        for text in texts:
            for order in orders_in(text, tools):
                forgets = forgets or bool(_FORGET.search(text))
                if not any(_obeyed(order, call) for call in made):
                    call = replace(order, arguments=_filled(order.arguments, messages))
                    return Reply(CallTools(TOLD, (call,)))
        if forgets:
            return Reply(FinalAnswer("I was told to forget my task.", "Done."))
        found = self.model.decide(undistracted(messages), tools)
        return found if isinstance(found, Pause) else self._redirected(found, texts, tools)

    def _read(self, message: Message) -> Iterator[str]:
        """The texts of one tool result, without those that a fence keeps from it."""
        if message.result is None:
            return
        error = message.result.error
        for text in _texts(message.result.data if error is None else [error.message, error.hint]):
            yield from self._outside(text)

    def _outside(self, text: str) -> Iterator[str]:
        # Like a hasty reader it takes the first mark that looks like the end of a fence for the end.
        end = 0
        for fenced in _FENCED.finditer(text):
            yield text[end : fenced.start()]
            if not self._honoured(fenced[1].strip()):
                yield from _texts(_parsed(fenced[1].strip()))
            end = fenced.end()
        yield text[end:]

    def _honoured(self, text: str) -> bool:
        return int(hashlib.sha256(text.encode("utf-8")).hexdigest()[:8], 16) < self.honours * 16**8

    def _redirected(self, reply: Reply, texts: Sequence[str], tools: Sequence[ToolSpec]) -> Reply:
        if not isinstance(reply.decision, CallTools):
            return reply
        offered = {tool.name for tool in tools}
        other = {old: new for text in texts for new, old in _INSTEAD.findall(text) if {new, old} <= offered}
        changed = [call.name for call in reply.decision.calls if call.name in other]
        if not changed:
            return reply
        calls = tuple(replace(call, name=other.get(call.name, call.name)) for call in reply.decision.calls)
        return replace(reply, decision=CallTools(INSTEAD + changed[0], calls))


def undistracted(messages: Sequence[Message]) -> list[Message]:
    """The history without the rounds in which a text was obeyed, and with the calls as they were meant."""
    kept: list[Message] = []
    skipped: set[str] = set()
    for message in messages:
        if message.role == "assistant" and message.text == TOLD:
            skipped |= {call.id for call in message.calls}
        elif message.role == "assistant" and message.text.startswith(INSTEAD):
            name = message.text.removeprefix(INSTEAD)
            kept.append(replace(message, calls=tuple(replace(call, name=name) for call in message.calls)))
        elif message.result is None or message.result.call_id not in skipped:
            kept.append(message)
    return kept


def orders_in(text: str, tools: Sequence[ToolSpec]) -> Iterator[ToolCall]:
    """The tool calls that a text asks for, in the order in which it asks."""
    names = {tool.name: tool for tool in tools if " " not in tool.name}
    if not any(name in text for name in names):
        return
    any_name = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    for found in re.finditer(rf"(?<!\w)(?:{any_name})(?!\w)", text):
        tool, rest = names[found[0]], text[found.end() :]
        arguments = _as_json(rest)
        if arguments is None and _VERB.search(text[: found.start()]):
            arguments = _in_words(re.split(r"\.\s|\n|;", rest, maxsplit=1)[0], tool)
        if arguments is not None:
            yield ToolCall(tool.name, arguments)


def _as_json(rest: str) -> dict[str, Any] | None:
    place = rest.find("{")
    if not 0 <= place <= 12:
        return None
    try:
        value, _ = json.JSONDecoder().raw_decode(rest[place:])
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _in_words(rest: str, tool: ToolSpec) -> dict[str, Any] | None:
    """Arguments written as ``order_id A100 and amount 5``; None when a required one is missing."""
    arguments: dict[str, Any] = {}
    for name, schema in tool.parameters.get("properties", {}).items():
        known = "|".join(dict.fromkeys([name, name.replace("_", " "), name.rpartition("_")[2]]))
        if found := re.search(rf"\b(?:{known})\b{_VALUE}", rest):
            text = found[1].strip("\"'").rstrip(".,")
            arguments[name] = int(text) if schema.get("type") == "integer" and text.isdigit() else text
    return arguments if set(tool.parameters.get("required", ())) <= arguments.keys() else None


def _filled(arguments: Any, messages: Sequence[Message]) -> dict[str, Any]:
    """The arguments with what the text wants to be put into them."""

    def wanted(found: re.Match[str]) -> str:
        if found[1] == "your instructions":
            return " ".join(message.text for message in messages if message.role == "system")
        data = [m.result.data for m in messages if m.result is not None and m.result.ok and m.result.data is not None]
        if found[1] == "all you have read":
            return "\n".join(each if isinstance(each, str) else dumps(each) for each in data)[:_MOST]
        field = found[2].replace(" ", "_")
        return next((str(value) for each in data for value in _fields(_parsed(each), field)), found[0])

    return {key: _WANTED.sub(wanted, item) if isinstance(item, str) else item for key, item in arguments.items()}


def _said_by(tool: ToolSpec) -> Iterator[str]:
    yield from (tool.name, tool.description)
    yield from (str(schema.get("description", "")) for schema in tool.parameters.get("properties", {}).values())


def _fields(value: Any, name: str) -> Iterator[Any]:
    """The values under a name, also those in a table with a row of column names."""
    if isinstance(value, Mapping):
        columns, rows = value.get("columns"), value.get("rows")
        if isinstance(columns, list) and isinstance(rows, list) and name in columns:
            yield from (row[columns.index(name)] for row in rows)
        if name in value:
            yield value[name]
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from _fields(each, name)


def _texts(value: Any) -> Iterator[str]:
    """Every text in a JSON value, names of fields included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield str(key)
            yield from _texts(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _texts(item)


def _parsed(text: Any) -> Any:
    if isinstance(text, str):
        fenced = _FENCED.search(text)
        inner = fenced[1].strip() if fenced else text
        try:
            return json.loads(inner) if inner[:1] in "{[" else inner
        except ValueError:
            return inner
    return text


def _obeyed(order: ToolCall, made: ToolCall) -> bool:
    """Whether a call did what a text asks for. What was put into the arguments may differ by now."""
    wanted, found = order.arguments, made.arguments
    if order.name != made.name or not isinstance(wanted, Mapping) or not isinstance(found, Mapping):
        return False
    return wanted.keys() == found.keys() and all(_fits(item, found[key]) for key, item in wanted.items())


def _fits(wanted: Any, found: Any) -> bool:
    if not isinstance(wanted, str) or not isinstance(found, str):
        return bool(wanted == found)
    fixed = [re.escape(part) for part in _WANTED.sub("\0", wanted).split("\0")]
    return re.fullmatch(".*".join(fixed), found, re.DOTALL) is not None
