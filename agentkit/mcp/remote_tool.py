"""One tool of a server as a tool of a registry: what it may do, how it is called, and what comes back."""

from __future__ import annotations

import fnmatch
import hashlib
import re
import threading
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from agentkit._jsonsafe import canonical, dumps, json_safe
from agentkit._running import DOOR_CODES
from agentkit.errors import ToolError
from agentkit.mcp.jsonrpc import CONNECTION_CLOSED, TIMED_OUT, McpError, Notification
from agentkit.mcp.remote import Rejected, RemoteTool, ToolOutcome
from agentkit.mcp.remote_schema import BadSchema, plain_schema, remote_validator
from agentkit.registry import Registry
from agentkit.safety.untrusted import fence, label, neutral
from agentkit.tools import Permission, Tool

DESCRIPTION: Final = 2_000  # characters of a description that the model reads
FAILURE: Final = 1_500  # characters of an error's text
_RESERVED: Final = DOOR_CODES | {"cancelled", "tool_failed", "tool_error"}
_CHANGED: Final = "notifications/tools/list_changed"


class LostAnswer(ToolError, TimeoutError):
    """The call has left and no answer has come: a write may or may not have happened, and the registry must know."""


@dataclass(eq=False)
class Link:
    """One server behind the tools of a registry. Made by `agentkit.mcp.bridge.add_mcp`.

    ``rejected`` holds the definitions that cannot be used, with the reason; ``agreed`` the fingerprints agreed to.
    """

    owner: str
    client: Any
    registry: Registry = field(repr=False)
    prefix: str | None = None
    opened: bool = False  # whether the bridge has to close the client
    source: Any = field(default=None, repr=False)
    permission: str | Mapping[str, str] = "ask"
    only: Collection[str] | None = None
    timeout: float | None = None
    fenced: bool = True
    limit: int = 16_000
    boundary: Callable[[], str] = field(default=lambda: "", repr=False)
    agreed: dict[str, str] = field(default_factory=dict, repr=False)
    rejected: tuple[Rejected, ...] = ()
    present: frozenset[str] = frozenset()
    lock: threading.RLock = field(default_factory=threading.RLock, repr=False)
    _heard: Notification | None = field(default=None, repr=False)
    _before: list[Link] = field(default_factory=list, repr=False)

    def word(self, remote: str) -> str:
        """What the user vouches for: ``ask``, ``read``, ``write`` or ``dangerous``."""
        if isinstance(self.permission, str):
            return self.permission
        return next((word for name, word in self.permission.items() if fnmatch.fnmatchcase(remote, name)), "ask")

    def definition(self, item: RemoteTool) -> str:
        """The fingerprint of a definition as the server gave it: 16 digits that change when anything in it does."""
        parts = [item.name, item.title, item.description, item.input_schema, item.annotations, item.output_schema]
        return hashlib.sha256(canonical(parts).encode("utf-8")).hexdigest()[:16]

    def key(self, remote: str) -> str:
        """Under which a definition of this server is remembered."""
        return f"{self.owner}/{remote}"

    def digest(self, tool: Tool) -> str:
        return tool.function.digest if isinstance(tool.function, RemoteFunction) else ""

    def has(self, tool: Tool, remote: str) -> bool:
        """Whether this is our own tool for the server's tool of that name."""
        function = tool.function
        return isinstance(function, RemoteFunction) and function.remote.name == remote and self._is(function.link)

    def _is(self, other: Link) -> bool:
        return other is self or any(before._is(other) for before in self._before)

    def takes_over(self, old: Link) -> None:
        self._before = [old]
        old._before = []
        old.agreed = {}

    def heard(self) -> bool:
        """Whether the server has said, since this was asked last, that its tools have changed."""
        notes = self.client.notifications.copy()
        last = next((note for note in reversed(notes) if note.method == _CHANGED), None)
        new, self._heard = last is not None and last is not self._heard, last
        return new


class RemoteFunction:
    """The function of a remote tool: it sends the arguments and reads the answer."""

    def __init__(self, link: Link, name: str, remote: RemoteTool, asks: bool, reads: bool) -> None:
        self.link, self.name, self.remote = link, name, remote
        self.asks, self.reads = asks, reads
        self.digest = link.definition(remote)
        # By these two the registry knows which tools are the same one: the server, and its own name for the tool.
        self.__module__ = f"mcp:{link.owner}"
        self.__qualname__ = remote.name

    def __call__(self, /, **arguments: Any) -> Any:
        self._look_again()
        link = self.link
        if link.client.revision is None:
            raise ToolError(f"The server {link.owner} is not connected, so nothing was sent.", code="server_gone")
        try:
            outcome = link.client.call_tool(self.remote.name, json_safe(arguments), timeout=link.timeout)
        except McpError as error:
            raise self._failure(error) from None
        if outcome.is_error:
            raise self._told(outcome)
        return self._value(outcome)

    def _look_again(self) -> None:
        """Make sure that what is called is still what was agreed to."""
        from agentkit.mcp.bridge import _listed

        link = self.link
        try:
            with link.lock:  # whoever comes second must see what the first one has found
                if link.client.revision is not None and (link.heard() or self.asks):
                    _listed(link.registry, link, first=False)
        except McpError as error:
            told = f"The server {link.owner} could not be asked for its tools, so nothing was sent: "
            raise ToolError(told + self._fenced(str(error)), code="server_gone") from None
        now = link.registry.find(self.name)
        if self.remote.name not in link.present:
            raise ToolError(f"The server {link.owner} does not offer this tool any more.", code="tool_gone")
        if now is None or link.digest(now) != self.digest:
            raise ToolError(
                f"The server {link.owner} has changed the definition of this tool since it was agreed to. Nothing was sent.",
                code="definition_changed",
                hint="Call it again if it is still needed: a person will then be asked.",
            )

    def _failure(self, error: McpError) -> ToolError:
        owner = self.link.owner
        if error.code in (CONNECTION_CLOSED, TIMED_OUT):
            code = "timeout" if error.code == TIMED_OUT else "server_gone"
            hint = "Try again later, or go on without it." if self.reads else "It may still take effect: check first."
            return LostAnswer(f"No answer from the server {owner}: {self._fenced(str(error))}", code=code, hint=hint)
        return ToolError(f"The server {owner} refused the call: {self._fenced(str(error))}", code="remote_error")

    def _told(self, outcome: ToolOutcome) -> ToolError:
        """What the server says about a failure. Its code is kept unless it is one of the door's own words."""
        found = (outcome.data or {}).get("error")
        code = found.get("code") if isinstance(found, Mapping) else None
        usable = isinstance(code, str) and re.fullmatch(r"[a-z][a-z0-9_]{1,39}", code) and code not in _RESERVED
        return ToolError(self._fenced(outcome.text) or "It failed.", code=str(code) if usable else "remote_error")

    def _value(self, outcome: ToolOutcome) -> Any:
        if not self.link.fenced:
            return outcome.text if outcome.data is None else dict(outcome.data)
        text = outcome.text if outcome.data is None else dumps(json_safe(dict(outcome.data)))
        room = max(100, min(self.link.limit, self.link.registry._result_limit - 300))
        return fence(cut(text, room), f"{self.link.owner}/{self.name}", boundary=self.link.boundary)

    def _fenced(self, text: str) -> str:
        if not text.strip():
            return ""
        if not self.link.fenced:
            return cut(text, FAILURE)
        return fence(cut(text, FAILURE), f"{self.link.owner}/{self.name}", boundary=self.link.boundary)


def made_tool(link: Link, name: str, item: RemoteTool, *, changed: bool) -> Tool:
    """A `Tool` for a remote definition. Raises `BadSchema` when the definition cannot be used."""
    if label(item.name, 128) != item.name:
        raise BadSchema("Its name is too long, or holds letters that a name of a tool does not have.")
    word = link.word(item.name)
    permission: Permission = "write" if word == "ask" else word  # type: ignore[assignment]
    if word == "ask" and item.annotations.get("destructiveHint") is True:
        permission = "dangerous"  # a server is believed only when it warns
    asks = word in ("ask", "dangerous") or changed
    text = cut(neutral(item.description).strip(), DESCRIPTION)
    function = RemoteFunction(link, name, item, asks, permission == "read")
    return Tool(
        name,
        text or f"A tool of the server {link.owner}, which gives no description of it.",
        plain_schema(item.input_schema, lambda words: cut(neutral(words), DESCRIPTION)),
        function,
        remote_validator(item.input_schema),
        permission,
        asks,
    )


def owner_word(name: str) -> str:
    """The name of a server as it stands before the name of a tool: letters, digits and ``_``, 32 at most."""
    return re.sub(r"[^A-Za-z0-9-]+", "_", label(name)).strip("_")[:32] or "server"


def cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit]}\n[Cut: {limit:,} of {len(text):,} characters are shown.]"
