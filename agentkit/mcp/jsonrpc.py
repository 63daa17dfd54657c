"""JSON-RPC 2.0 as MCP uses it: four kinds of message, each one line of JSON text.

    Request       has an id and a method; it must be answered
    Notification  has a method and no id; it is never answered
    Response      has the id of a request and its result
    ErrorResponse has the id of a request and an error: a number for programs, a sentence for people

The id comes back as it was sent, with its type: the number 1 and the text "1" are two different ids.
Source: https://www.jsonrpc.org/specification and the MCP specification, base protocol.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import field
from typing import Any, Final, NoReturn, TypeAlias

from agentkit._value import value
from agentkit.errors import AgentkitError

PARSE_ERROR: Final = -32700  # the text is not JSON
INVALID_REQUEST: Final = -32600  # it is JSON, but no message, or it comes at the wrong time
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
RESOURCE_NOT_FOUND: Final = -32002  # MCP's own
CONNECTION_CLOSED: Final = -32000  # these two never travel: this side says so to itself
TIMED_OUT: Final = -32001

Id: TypeAlias = int | str


class McpError(AgentkitError):
    """A request failed; the message says why.

    Args:
        message: one sentence or two for a person.
        code: the JSON-RPC error code.
        data: what else the other side told, or None.
    """

    def __init__(self, message: str, *, code: int = INTERNAL_ERROR, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.data = data


@value
class Request:
    id: Id
    method: str
    params: Mapping[str, Any] = field(default_factory=dict)


@value
class Notification:
    method: str
    params: Mapping[str, Any] = field(default_factory=dict)


@value
class Response:
    id: Id
    result: Mapping[str, Any]


@value
class ErrorResponse:
    """``id`` is None when the message that is answered had none that could be read."""

    id: Id | None
    code: int
    message: str
    data: Any = None


Message: TypeAlias = Request | Notification | Response | ErrorResponse


@value
class Problem:
    """A text that is no message: the error code, the reason, the id if one could be read, and the text's beginning.

    ``answer`` says that it was meant as the answer to a request.
    """

    code: int
    reason: str
    id: Id | None = None
    text: str = ""
    answer: bool = False


def as_id(found: object) -> Id | None:
    """The value if it can be an id, else None. (True is an int for Python, and no id.)"""
    return found if isinstance(found, int | str) and not isinstance(found, bool) else None


def twin(id: Id | None) -> Id | None:
    """The id of the other type that looks the same: "1" for 1, and 1 for "1"; None when there is none."""
    if isinstance(id, int):
        return str(id)
    return int(id) if id is not None and id.isascii() and id.isdigit() and len(id) < 16 else None


def encode(message: Message) -> str:
    """The message as JSON text without a line break. Raises `McpError` when a value in it does not exist in JSON."""
    body: dict[str, Any] = {"jsonrpc": "2.0"}
    match message:
        case Request(id, method, params):
            body |= {"id": id, "method": method}
        case Notification(method, params):
            body |= {"method": method}
        case Response(id, result):
            return _text(body | {"id": id, "result": result})
        case ErrorResponse(id, code, sentence, data):
            error = {"code": code, "message": sentence} | ({} if data is None else {"data": data})
            return _text(body | {"id": id, "error": error})
    return _text(body | ({"params": params} if params else {}))


def parse(text: str) -> Message | Problem:
    """The message that a line holds, or what is wrong with it. Never raises."""
    found = _load(text)
    return found if isinstance(found, Problem) else _message(found, text)


def parse_many(text: str) -> list[Message | Problem]:
    """The same where a line may also hold a batch, a list of messages, as in revision 2025-03-26."""
    found = _load(text)
    if isinstance(found, Problem):
        return [found]
    if not isinstance(found, list):
        return [_message(found, text)]
    return [_message(item, text) for item in found] or [_problem("The batch is empty.", text)]


def _load(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_refuse)
    except RecursionError:
        return _problem("The JSON is nested too deeply.", text, PARSE_ERROR)
    except ValueError as error:
        at = f" (at character {error.pos})" if isinstance(error, json.JSONDecodeError) else ""
        return _problem(f"This line is not JSON{at}.", text, PARSE_ERROR)


def _message(body: Any, text: str) -> Message | Problem:
    if isinstance(body, list):
        return _problem("Batches are not part of this revision of MCP: send one message at a time.", text)
    if not isinstance(body, dict):
        return _problem("A message is a JSON object.", text)
    id = as_id(body.get("id"))
    if body.get("jsonrpc") != "2.0":
        return _problem('A message says "jsonrpc": "2.0".', text, id=id)
    if "id" in body and id is None and "error" not in body:
        return _problem("An id is a text or a whole number.", text)
    if "method" in body:
        return _call(body, id, text)
    return _answer(body, id, text)


def _call(body: dict[str, Any], id: Id | None, text: str) -> Message | Problem:
    method, params = body["method"], body.get("params", {})
    if not isinstance(method, str):
        return _problem("The method is a text.", text, id=id)
    if "result" in body or "error" in body:
        return _problem("A message has a method, a result or an error, and only one of them.", text, id=id)
    if not isinstance(params, dict):
        return _problem("params is a JSON object.", text, INVALID_PARAMS, id)
    return Notification(method, params) if id is None else Request(id, method, params)


def _answer(body: dict[str, Any], id: Id | None, text: str) -> Message | Problem:
    if ("result" in body) == ("error" in body):
        return _problem("A message has a method, a result or an error, and only one of them.", text, id=id, answer=True)
    if "result" in body:
        if id is None or not isinstance(body["result"], dict):
            return _problem(
                "A response has the id of its request and a JSON object as result.", text, id=id, answer=True
            )
        return Response(id, body["result"])
    error = body["error"]
    code, sentence = (error.get("code"), error.get("message")) if isinstance(error, dict) else (None, None)
    if not isinstance(code, int) or isinstance(code, bool) or not isinstance(sentence, str):
        return _problem("An error has a whole number as code and a text as message.", text, id=id, answer=True)
    return ErrorResponse(id, code, sentence, error.get("data"))


def _problem(
    reason: str, text: str, code: int = INVALID_REQUEST, id: Id | None = None, answer: bool = False
) -> Problem:
    return Problem(code, reason, id, text[:200], answer)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def _text(body: dict[str, Any]) -> str:
    try:
        text = json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        if text.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in text):
            return text
        return json.dumps(body, allow_nan=False, separators=(",", ":"))  # half a letter cannot be UTF-8, only an escape
    except (TypeError, ValueError, RecursionError) as error:
        raise McpError(f"The message holds a value that JSON does not have ({type(error).__name__}).") from None
