"""The file format of recorded exchanges: one header line, then one line of JSON for each request and its outcome.

A line holds only what is new since the line before: ``keeps`` says how many leading messages are the same, and tools are
written when they changed. So the file grows with the conversation and not with its square, and a person can read it.
"""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from agentkit._jsonsafe import canonical, dumps, json_safe
from agentkit._redact import MASK, mask, mask_text
from agentkit.errors import ModelError, ProviderError, ReplyError, SavedRunError, ScriptError
from agentkit.messages import Message, Pause, Reply, ToolSpec

SCHEMA = "agentkit.cassette/1"
Outcome: TypeAlias = Reply | Pause | ModelError
Key: TypeAlias = tuple[tuple[str, ...], tuple[str, ...]]

_ERRORS: Mapping[str, type[ModelError]] = {"ReplyError": ReplyError, "ScriptError": ScriptError}
_EXAMPLE_VALUES = ("default", "const", "enum", "examples")


@dataclass(frozen=True, slots=True)
class Request:
    """What a model was asked, as masked JSON. ``key`` holds the same as texts that are equal for equal requests."""

    messages: tuple[Any, ...]
    tools: tuple[Any, ...]
    key: Key


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and what came of it; ``deltas`` are the pieces of text of a streamed reply, else None."""

    request: Request
    outcome: Outcome
    deltas: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Cassette:
    """All that a file holds. ``whole`` is False when its last line was cut off; ``size`` is where the whole lines end."""

    model: str
    recorded: str
    note: str
    exchanges: tuple[Exchange, ...]
    whole: bool
    size: int


# --- writing ---------------------------------------------------------------------------------------------------------


def request_of(messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Request:
    """A request as it is written and compared: plain JSON, secrets masked."""
    return _after(None, 0, [mask(plain(item)) for item in messages], [_masked_tool(plain(item)) for item in tools])


def _after(before: Request | None, keeps: int, messages: Sequence[Any], tools: Sequence[Any] | None) -> Request:
    """The request that keeps so many messages of the one before it, adds some, and (None) keeps the tools."""
    old = before or Request((), (), ((), ()))
    kept, kept_texts = old.messages[:keeps], old.key[0][:keeps]
    if len(kept) != keeps:
        raise ValueError("there are fewer messages to keep")
    texts = (*kept_texts, *map(canonical, messages))
    if tools is None:
        return Request((*kept, *messages), old.tools, (texts, old.key[1]))
    return Request((*kept, *messages), tuple(tools), (texts, tuple(map(canonical, tools))))


def plain(value: Any) -> Any:
    """A value as JSON. Fields of our own values that have their default are left out, so that a line stays readable."""
    if not dataclasses.is_dataclass(value) or isinstance(value, type):
        return [plain(item) for item in value] if isinstance(value, (list, tuple)) else json_safe(value)
    found = {part.name: plain(getattr(value, part.name)) for part in dataclasses.fields(value)}
    usual = _defaults(type(value))
    return {name: item for name, item in found.items() if name not in usual or item != usual[name]}


@functools.cache
def _defaults(kind: Any) -> dict[str, Any]:
    """The default of each field that has one, as JSON."""
    found = {}
    for part in dataclasses.fields(kind):
        if part.default_factory is not dataclasses.MISSING:
            found[part.name] = plain(part.default_factory())
        elif part.default is not dataclasses.MISSING:
            found[part.name] = plain(part.default)
    return found


def _masked_tool(tool: Any) -> Any:
    """A tool with secrets masked. A parameter may well be *called* ``token``; only example values of it can be secret."""
    if isinstance(tool, str):
        return mask_text(tool)
    if isinstance(tool, list):
        return [_masked_tool(item) for item in tool]
    if not isinstance(tool, dict):
        return tool
    found = {key: _masked_tool(item) for key, item in tool.items()}
    for name, schema in (found.get("properties") or {}).items() if isinstance(found.get("properties"), dict) else ():
        if isinstance(schema, dict) and mask({name: "value"}) == {name: MASK}:
            schema.update({key: MASK for key in _EXAMPLE_VALUES if schema.get(key)})
    return found


def header_line(model: str, recorded: str, note: str) -> str:
    return _line({"schema": SCHEMA, "model": mask_text(model), "recorded": recorded, "note": mask_text(note)})


def exchange_line(request: Request, before: Request | None, outcome: Outcome, deltas: Sequence[str] | None) -> str:
    """The line for an exchange, given the request of the line before it."""
    old, new = before.key[0] if before else (), request.key[0]
    keeps = next(
        (n for n, pair in enumerate(zip(old, new, strict=False)) if pair[0] != pair[1]), min(len(old), len(new))
    )
    asked: dict[str, Any] = {"keeps": keeps, "messages": list(request.messages[keeps:])}
    if before is None or before.key[1] != request.key[1]:
        asked["tools"] = list(request.tools)
    return _line({"request": asked, **_outcome_json(outcome, deltas)})


def outcome_text(outcome: Outcome, deltas: Sequence[str] | None) -> str:
    """A text that is equal for equal outcomes."""
    return canonical(_outcome_json(outcome, deltas))


def _outcome_json(outcome: Outcome, deltas: Sequence[str] | None) -> dict[str, Any]:
    found = _reply_json(outcome)
    if deltas is not None:
        whole = "".join(deltas)
        masked = mask_text(whole)  # a secret may be spread over several pieces
        found["deltas"] = list(deltas) if masked == whole else [masked]
    return found


def _reply_json(outcome: Outcome) -> dict[str, Any]:
    if isinstance(outcome, ModelError):
        found: dict[str, Any] = {"type": type(outcome).__name__, "message": mask_text(str(outcome))}
        if isinstance(outcome, ProviderError):
            found |= {"code": outcome.code, "status": outcome.status}
        return {"error": found}
    return {"pause" if isinstance(outcome, Pause) else "reply": mask(plain(outcome))}


def _line(value: Any) -> str:
    return dumps(value) + "\n"


# --- reading ---------------------------------------------------------------------------------------------------------


def read_cassette(path: Path) -> Cassette:
    """Everything that was recorded in a file.

    A last line that was cut off (the recording was interrupted) is left out and told by ``whole``.

    Raises:
        SavedRunError: there is no such file, it is no cassette, or a line before the last one is damaged.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise SavedRunError(f"There is no file {path.name!r} here. Check the name and the folder.") from None
    except OSError:
        raise SavedRunError(
            f"The file {path.name!r} cannot be read. Check that it is a file that you may read."
        ) from None
    lines = data.split(b"\n")
    last = lines.pop()  # what stands after the last line end: nothing, or a line that was cut off
    if _json_of(last) is not None:  # an editor has removed the last line end
        lines, last = [*lines, last], b""
    header = _header(path, lines)
    exchanges: list[Exchange] = []
    for number, line in enumerate(lines[1:], 2):
        if line.strip():
            exchanges.append(_exchange(path, number, line, exchanges[-1].request if exchanges else None))
    whole = not last.strip()
    return Cassette(header["model"], header["recorded"], header["note"], tuple(exchanges), whole, len(data) - len(last))


def _json_of(line: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _header(path: Path, lines: Sequence[bytes]) -> dict[str, str]:
    found = (_json_of(lines[0]) if lines else None) or {}
    schema = found.get("schema")
    if not isinstance(schema, str) or not schema.startswith("agentkit.cassette/"):
        raise SavedRunError(
            f'The file {path.name!r} is no cassette: its first line has no "schema" that begins with "agentkit.cassette/".'
        )
    if schema != SCHEMA:
        raise SavedRunError(
            f"The file {path.name!r} was recorded as {schema}, but this version reads {SCHEMA}. Update agentkit to read it."
        )
    return {name: str(found.get(name) or "") for name in ("model", "recorded", "note")}


def _exchange(path: Path, number: int, line: bytes, before: Request | None) -> Exchange:
    from pydantic import ValidationError

    found = _json_of(line)
    try:
        if found is None:
            raise ValueError
        asked, deltas = found["request"], found.get("deltas")
        request = _after(before, asked["keeps"], asked["messages"], asked.get("tools"))
        return Exchange(request, _outcome(found), None if deltas is None else tuple(map(str, deltas)))
    except (KeyError, TypeError, ValueError, ValidationError):
        raise SavedRunError(
            f"Line {number} of the cassette {path.name!r} is damaged. Load another copy, or delete this line and all after it."
        ) from None


@functools.cache
def _reader(kind: type) -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


def _outcome(found: Mapping[str, Any]) -> Outcome:
    if "error" not in found:
        outcome: Outcome = (
            _reader(Pause).validate_python(found["pause"])
            if "pause" in found
            else _reader(Reply).validate_python(found["reply"])
        )
        return outcome
    error = found["error"]
    message, kind = str(error["message"]), error["type"]
    if kind == "ProviderError":
        return ProviderError(message, code=str(error["code"]), status=error["status"])
    return _ERRORS.get(kind, ModelError)(message)
