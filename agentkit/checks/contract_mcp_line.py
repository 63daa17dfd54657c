"""One line to an MCP server in this process, whatever it is: a function on lines, or a `Server` of the package."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Mapping
from queue import Empty, SimpleQueue
from typing import Any, Final

from agentkit.checks.exercise import CheckFailed, expect
from agentkit.checks.faces import shown
from agentkit.checks.words import explain_error

SECONDS: Final = 5.0  # a guard against waiting for ever; in order, an answer is here in a millisecond


class Line:
    """Sends messages and gives back the answers. ``send`` takes a line and returns the answer's line, or None."""

    def __init__(self, send: Callable[[str], str | None]) -> None:
        self._send = send

    def ask(self, method: str, params: Mapping[str, Any] | None = None, id: int | str = 2) -> dict[str, Any]:
        """The answer to a request, as it came. Its id is not looked at."""
        return self.ask_raw(request(method, params, id))[0]

    def ask_raw(self, text: str) -> tuple[dict[str, Any], str]:
        """The answer to a line, and the line in which it came."""
        raw = self._send(text)
        if raw is None:
            told = "Every request must be answered, and so must a line that cannot be read."
            raise CheckFailed(f"{_named(text)} got no answer. {told}")
        try:
            answer = json.loads(raw)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            raise CheckFailed(f"{_named(text)} was answered with {shown(raw)}. A message is a JSON object.")
        return answer, raw

    def tell(self, method: str, params: Mapping[str, Any]) -> str | None:
        """Send a notification. What comes back for it, or None."""
        return self._send(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}))

    def shake_hands(self) -> None:
        """The handshake, without a look at what comes back."""
        for text in (request("initialize", hello()), '{"jsonrpc": "2.0", "method": "notifications/initialized"}'):
            with contextlib.suppress(CheckFailed):
                self._send(text)


def request(method: str, params: Mapping[str, Any] | None = None, id: int | str = 2) -> str:
    """A request as a line. Parameters that are not given are left out, as clients do."""
    body: dict[str, Any] = {"jsonrpc": "2.0", "id": id, "method": method}
    return json.dumps(body if params is None else body | {"params": params})


def hello(revision: str | None = None) -> dict[str, Any]:
    """The parameters of ``initialize``; the revision is the newest one with a handshake by default."""
    from agentkit.mcp.revisions import LATEST

    client = {"name": "contract", "version": "1.0"}
    return {"protocolVersion": revision or LATEST, "capabilities": {}, "clientInfo": client}


def result_of(answer: Mapping[str, Any], what: str) -> dict[str, Any]:
    """The result in an answer to ``what``, a few words. Raises `CheckFailed` when it has none."""
    found = answer.get("result")
    if not isinstance(found, dict):
        raise CheckFailed(
            f"{begun(what)} came back with {_said(answer)}. It must be answered with a `result`, an object."
        )
    return found


def expect_error(answer: Mapping[str, Any], code: int, what: str) -> None:
    """Raise `CheckFailed` unless the answer is an error with this code and a message."""
    error = answer.get("error")
    if not isinstance(error, dict):
        told = f"It must be answered with an `error` of code {code}."
        raise CheckFailed(f"{begun(what)} came back with {_said(answer)}. {told}")
    found, message = error.get("code"), error.get("message")
    expect(found == code, f"{begun(what)} came back with the error code {shown(found)}. The code for it is {code}.")
    said = isinstance(message, str) and message.strip()
    expect(said, f"The error for {what} has the `message` {shown(message)}. Say in a sentence what is wrong.")


def begun(what: str) -> str:
    """The words as the beginning of a sentence."""
    return what[:1].upper() + what[1:]


def _said(answer: Mapping[str, Any]) -> str:
    for name in ("error", "result"):
        if answer.get(name) is not None:
            return f"the {name} {shown(answer[name], 80)}"
    return shown(dict(answer), 80)


def open_line(server: Any) -> Line:
    """A line to what ``make`` has returned. Raises `CheckFailed` when that is no server."""
    from agentkit.mcp.server import Server

    if isinstance(server, Server):
        return Line(_OfServer(server).send)
    if callable(server):
        return Line(_of_function(server))
    raise CheckFailed(f"`make()` must return a function on lines or an `agentkit.mcp.Server`, not {shown(server)}.")


def _of_function(function: Callable[[str], Any]) -> Callable[[str], str | None]:
    def send(text: str) -> str | None:
        try:
            found = function(text)
        except Exception as error:
            raise CheckFailed(f"{_named(text)} was not answered. {explain_error(error)}") from None
        if found is not None and not isinstance(found, str):
            raise CheckFailed(f"{_named(text)} gave {shown(found)}. Return one line of JSON text, or None.")
        return found

    return send


class _OfServer:
    """A session with a server of the package, whose answers come from other threads."""

    def __init__(self, server: Any) -> None:
        from agentkit.mcp.jsonrpc import encode

        self._came: SimpleQueue[str] = SimpleQueue()
        self._session = server.connect(lambda message, about: self._came.put(encode(message)))

    def send(self, text: str) -> str | None:
        """Send a line, and a ping behind it where no answer is due: what is sent in vain comes before that one's answer."""
        self._session.peer.receive(text)
        if not _is_notification(text):
            return self._next()
        mark = "agentkit-contract"
        self._session.peer.receive(json.dumps({"jsonrpc": "2.0", "id": mark, "method": "ping"}))
        came = self._next()
        return None if came is not None and json.loads(came).get("id") == mark else came

    def _next(self) -> str | None:
        """The next answer; notifications of the server are passed over. None when nothing comes."""
        with contextlib.suppress(Empty):
            while "method" in json.loads(text := self._came.get(timeout=SECONDS)):
                pass
            return text
        return None


def _is_notification(text: str) -> bool:
    try:
        body = json.loads(text)
    except ValueError:
        return False
    return isinstance(body, dict) and "method" in body and "id" not in body


def _named(text: str) -> str:
    """What a line is called in a sentence: by its method, or by its beginning."""
    with contextlib.suppress(ValueError):
        found = json.loads(text)
        if isinstance(found, dict) and "method" in found:
            return f"`{found['method']}`"
    return f"The line {shown(text, 60)}"
