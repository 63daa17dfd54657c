"""What a tool can do while it runs: tell its progress, write to the client's log, and ask the client back.

A tool gets at it with `current_call()`, so that its parameters stay those that the model fills.
"""

from __future__ import annotations

import contextvars
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from agentkit._jsonsafe import dumps, json_safe
from agentkit._text import visible
from agentkit.errors import DefinitionError, ToolError
from agentkit.mcp.context import Context
from agentkit.mcp.jsonrpc import McpError

if TYPE_CHECKING:
    from agentkit.mcp.session import Session

LEVELS: Final = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")  # those of RFC 5424
ASK_SECONDS: Final = 300.0  # a person may have to answer
QUESTION: Final = 4_000  # characters of arguments that a person can be expected to read
LONG_TEXT: Final = 1_000  # characters of one text that are shown where all of it would be too long

_current: contextvars.ContextVar[Call | None] = contextvars.ContextVar("agentkit_mcp_call", default=None)


class Call:
    """One request that a server is answering, as a tool sees it."""

    def __init__(self, session: Session, context: Context) -> None:
        self.session = session
        self.context = context

    @property
    def cancelled(self) -> bool:
        """Whether the client has given up on this call."""
        return self.context.cancelled

    def progress(self, done: float, total: float | None = None, message: str = "") -> None:
        """Tell how far the work is; nothing is sent unless the client asked for it."""
        self.context.progress(done, total, message)

    def log(self, level: str, data: Any, logger: str = "") -> None:
        """Send a log message, if the client wants this level. Raises `DefinitionError` for an unknown level."""
        if level not in LEVELS:
            raise DefinitionError(f"The level of a log message is one of {', '.join(LEVELS)}, not {level!r}.")
        if LEVELS.index(level) >= LEVELS.index(self.session.log_level):
            told = {"level": level, "data": data} | ({"logger": logger} if logger else {})
            self.context.notify("notifications/message", told)

    def sample(self, text: str, *, system: str = "", max_tokens: int = 500) -> str:
        """Ask the client's model for a text. The client decides whether it does so. Raises `ToolError` when it does not.

        Sampling, roots and logging are deprecated since revision 2026-07-28; what they were for is still worth knowing.
        """
        params: dict[str, Any] = {
            "messages": [{"role": "user", "content": {"type": "text", "text": text}}],
            "maxTokens": max_tokens,
        } | ({"systemPrompt": system} if system else {})
        content = self._ask("sampling", "sampling/createMessage", params).get("content")
        blocks = content if isinstance(content, list) else [content]
        return "".join(str(block["text"]) for block in blocks if isinstance(block, Mapping) and "text" in block)

    def roots(self) -> list[dict[str, Any]]:
        """The folders that the client says this server may work in, each with ``uri`` and perhaps ``name``."""
        return list(self._ask("roots", "roots/list", {}).get("roots", []))

    def elicit(self, message: str, properties: Mapping[str, Any]) -> dict[str, Any] | None:
        """Ask the person in front of the client to fill a small form; None when they decline.

        ``properties`` maps each field to a flat JSON Schema. All fields are required.
        """
        form = {"type": "object", "properties": dict(properties), "required": list(properties)}
        answer = self._ask("elicitation", "elicitation/create", {"message": message, "requestedSchema": form})
        return dict(answer.get("content") or {}) if answer.get("action") == "accept" else None

    def can(self, capability: str) -> bool:
        """Whether the client said in its handshake that it answers such a question.

        For ``elicitation`` that means a form: a client that can only open addresses must not be sent one.
        """
        found = self.session.capabilities.get(capability)
        if capability == "elicitation" and isinstance(found, Mapping):
            return found.get("form") is not None or found.get("url") is None
        return found is not None

    def _ask(self, capability: str, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        if not self.can(capability):
            raise ToolError(f"This client does not offer {capability}, so it cannot be asked.", code="client_cannot")
        try:
            return self.context.ask(method, params, ASK_SECONDS)
        except McpError as error:  # the call goes through the registry, which passes on the words of a ToolError only
            raise ToolError(f"The client did not answer {method}: {error}", code="client_failed") from None


def shown_arguments(arguments: Mapping[str, Any]) -> str | None:
    """The arguments of a call as a person is to read them before agreeing; None when they are too long to be shown.

    Every name and every short value is there. Where all of it would be too long, texts are shortened, each by itself: the
    beginning and the end are shown, and how much is left out.
    """
    safe = json_safe(arguments)
    for form in (safe, _shortened(safe)):
        text = visible(dumps(form))
        if len(text) <= QUESTION:
            return text
    return None


def _shortened(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _shortened(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_shortened(item) for item in value]
    if not isinstance(value, str) or len(value) <= LONG_TEXT:
        return value
    end = LONG_TEXT // 4
    left_out = f" … [{len(value) - LONG_TEXT:,} characters are not shown] … "
    return f"{value[: LONG_TEXT - end]}{left_out}{value[-end:]}"


def current_call() -> Call:
    """The call that is being answered here. Raises `DefinitionError` outside a tool that a server runs."""
    call = _current.get()
    if call is None:
        raise DefinitionError("current_call() works inside a tool, a resource or a prompt that an MCP server runs.")
    return call


def enter(call: Call) -> contextvars.Token[Call | None]:
    """Make this the current call of the present thread. The token undoes it: ``leave(token)``."""
    return _current.set(call)


def leave(token: contextvars.Token[Call | None]) -> None:
    _current.reset(token)
