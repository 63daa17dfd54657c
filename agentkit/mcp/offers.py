"""What a server offers beside tools: resources (data to read) and prompts (texts to start from), and lists in pages."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar
from urllib.parse import unquote

from agentkit._value import value
from agentkit.mcp.jsonrpc import INVALID_PARAMS, McpError

T = TypeVar("T")


@value
class Resource:
    """Data that a client may read by its address. ``read()`` returns text or bytes."""

    uri: str
    name: str
    read: Callable[[], str | bytes]
    description: str = ""
    mime_type: str = "text/plain"

    def form(self) -> dict[str, Any]:
        told = {"uri": self.uri, "name": self.name, "mimeType": self.mime_type}
        return told | ({"description": self.description} if self.description else {})


@value
class Template:
    """Many resources under one pattern: ``{name}`` stands for one part of the address, ``{+name}`` for several.

    ``read`` is called with these parts as keyword arguments and returns text or bytes.
    """

    pattern: str
    name: str
    read: Callable[..., str | bytes]
    description: str = ""
    mime_type: str = "text/plain"

    def form(self) -> dict[str, Any]:
        told = {"uriTemplate": self.pattern, "name": self.name, "mimeType": self.mime_type}
        return told | ({"description": self.description} if self.description else {})

    def match(self, uri: str) -> dict[str, str] | None:
        """The parts of an address that fits the pattern, decoded; None when it does not fit."""
        pieces = re.split(r"\{(\+?\w+)\}", self.pattern)
        for place, piece in enumerate(pieces):
            if place % 2 == 0:
                pieces[place] = re.escape(piece)
            else:
                pieces[place] = f"(?P<{piece.lstrip('+')}>{'.+' if piece.startswith('+') else '[^/]+'})"
        found = re.fullmatch("".join(pieces), uri)
        return None if found is None else {name: unquote(part) for name, part in found.groupdict().items()}


@value
class Prompt:
    """A text that a user may start from. ``make`` gets the arguments (texts) by name and returns the text of a user
    message, or a list of messages in MCP's form. ``arguments`` maps each name to its description."""

    name: str
    make: Callable[..., str | list[dict[str, Any]]]
    description: str = ""
    arguments: Mapping[str, str] | None = None
    optional: tuple[str, ...] = ()

    def form(self) -> dict[str, Any]:
        told: dict[str, Any] = {"name": self.name, "description": self.description}
        told["arguments"] = [
            {"name": name, "description": text, "required": name not in self.optional}
            for name, text in (self.arguments or {}).items()
        ]
        return told

    def messages(self, given: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The messages for these arguments. Raises `McpError` when one is missing, unknown or no text."""
        known = self.arguments or {}
        missing = [name for name in known if name not in given and name not in self.optional]
        wrong = [str(name) for name, text in given.items() if name not in known or not isinstance(text, str)]
        if missing or wrong:
            told = f"The prompt {self.name!r} takes texts named {', '.join(known) or 'nothing'}."
            raise McpError(f"{told} Missing: {missing}; not accepted: {wrong}.", code=INVALID_PARAMS)
        made = self.make(**given)
        return [{"role": "user", "content": {"type": "text", "text": made}}] if isinstance(made, str) else made


def contents(uri: str, mime_type: str, data: str | bytes) -> dict[str, Any]:
    """The answer to ``resources/read``: text as it is, bytes in base64."""
    body = {"text": data} if isinstance(data, str) else {"blob": base64.b64encode(data).decode("ascii")}
    return {"contents": [{"uri": uri, "mimeType": mime_type, **body}]}


def page(items: Sequence[T], cursor: object, size: int) -> tuple[Sequence[T], str | None]:
    """One page and the cursor of the next one, or None. Raises `McpError` for a cursor that we did not give."""
    start = 0
    if cursor is not None:
        if not isinstance(cursor, str) or not re.fullmatch(r"from-[0-9]{1,9}", cursor):
            raise McpError(f"The cursor {str(cursor)[:80]!r} is not one of ours.", code=INVALID_PARAMS)
        start = int(cursor.removeprefix("from-"))
        if not 0 < start < len(items):
            raise McpError("The list has changed. Ask again without a cursor.", code=INVALID_PARAMS)
    end = start + size
    return items[start:end], f"from-{end}" if end < len(items) else None


def named(items: Iterable[T], name: object, what: str) -> T:
    """The item of this name. Raises `McpError` when there is none."""
    listed = list(items)
    for item in listed:
        if getattr(item, "name", None) == name:
            return item
    known = ", ".join(str(getattr(item, "name", "")) for item in listed)
    raise McpError(f"There is no {what} {str(name)[:80]!r}. There is: {known or 'none'}.", code=INVALID_PARAMS)
