"""One tool of a server as a tool of a registry: what it may do, how it is called, and what comes back."""

from __future__ import annotations

import fnmatch
import hashlib
import json
import re
import threading
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from agentkit._jsonsafe import dumps, json_safe
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
_NAME: Final = re.compile(r"[A-Za-z0-9_./-]{1,128}")


class LostAnswer(ToolError, TimeoutError):
    """The call has left and no answer has come: a write may or may not have happened, and the registry must know."""


@dataclass(eq=False)
class Link:
    """One server behind the tools of a registry. Made by `agentkit.mcp.bridge.add_mcp`, whose options it keeps.

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
    known_only: bool = False  # whether a definition that is not in `agreed` asks, also at the beginning
    rejected: tuple[Rejected, ...] = ()
    present: tuple[str, ...] = ()
    lock: threading.RLock = field(default_factory=threading.RLock, repr=False)
    # Links that follow one another under one name have the same `place`, and a later one may replace the tools of an earlier
    # one. For example: the server "files" is closed and added again. `read_file` in the registry still belongs to the first
    # link. For the second it is no stranger's tool, since `first.place is second.place`, so it becomes the second one's.
    place: object = field(default_factory=object, repr=False)
    _last: Notification | None = field(default=None, repr=False)
    _stale: bool = field(default=False, repr=False)

    def word(self, remote: str) -> str:
        """What the user vouches for: ``ask``, ``read``, ``write`` or ``dangerous``."""
        if isinstance(self.permission, str):
            return self.permission
        return next((word for name, word in self.permission.items() if fnmatch.fnmatchcase(remote, name)), "ask")

    def definition(self, item: RemoteTool) -> str:
        """The fingerprint of a definition as it came: 32 hex digits that change when anything in it does (SHA-256).

        Raises `BadSchema` when it cannot be written as JSON.
        """
        read = [item.name, item.title, item.description, item.input_schema, item.annotations, item.output_schema]
        try:
            text = json.dumps([read, item.body], sort_keys=True, separators=(",", ":"))
        except (TypeError, ValueError, RecursionError):
            raise BadSchema("Its definition is nested too deeply, or is not JSON.") from None
        return hashlib.sha256(text.encode("ascii")).hexdigest()[:32]

    def key(self, remote: str) -> str:
        """Under which a definition of this server is remembered."""
        return f"{self.owner}/{remote}"

    def digest(self, tool: Tool) -> str:
        return tool.function.definition_digest if isinstance(tool.function, RemoteFunction) else ""

    def owns(self, tool: Tool) -> bool:
        """Whether a tool belongs to this server, or to one that had its name before."""
        return isinstance(tool.function, RemoteFunction) and tool.function.link.place is self.place

    def has(self, tool: Tool, remote: str) -> bool:
        """Whether this is our own tool for the server's tool of that name."""
        return self.owns(tool) and tool.function.remote.name == remote  # type: ignore[attr-defined]

    @property
    def names(self) -> list[str]:
        """The server's names of its tools, as they were listed last."""
        return [*self.present, *(each.name for each in self.rejected)]

    def listed(self) -> tuple[RemoteTool, ...]:
        """What the server lists now. What it has said about changes until now is then known."""
        self.heard()
        tools: tuple[RemoteTool, ...] = self.client.list_tools()
        self._stale = False
        return tools

    def heard(self) -> bool:
        """Whether the server has said, since it was asked for its tools, that they have changed.

        A client keeps only its last notifications. When the one that was seen last is no longer among them, some were lost,
        and one of those may have said it.
        """
        notes = self.client.notifications.copy()
        seen, self._last = self._last, notes[-1] if notes else None
        for note in reversed(notes):
            if note is seen:
                return self._stale
            if note.method == _CHANGED:
                break
        else:
            if seen is None and len(notes) != notes.maxlen:
                return self._stale
        self._stale = True
        return True


class RemoteFunction:
    """The function of a remote tool: it sends the arguments and reads the answer.

    ``definition_changed`` and ``definition_digest`` are also read at the door of the registry: a standing grant is not for a
    definition that nobody has agreed to, and an approval is for one definition.
    """

    def __init__(self, link: Link, name: str, remote: RemoteTool, asks: bool, reads: bool, changed: bool) -> None:
        self.link, self.name, self.remote = link, name, remote
        self.asks, self.reads = asks, reads
        self.definition_changed, self.definition_digest = changed, link.definition(remote)
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
                    _listed(link)
        except McpError as error:
            told = f"The server {link.owner} could not be asked for its tools, so nothing was sent: "
            raise ToolError(told + self._fenced(str(error)), code="server_gone") from None
        now = link.registry.find(self.name)
        if self.remote.name not in link.present:
            raise ToolError(f"The server {link.owner} does not offer this tool any more.", code="tool_gone")
        if now is None or link.digest(now) != self.definition_digest:
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
    word = link.word(item.name)
    permission: Permission = "write" if word == "ask" else word  # type: ignore[assignment]
    if word == "ask" and item.annotations.get("destructiveHint") is True:
        permission = "dangerous"  # a server is believed only when it warns
    asks = word in ("ask", "dangerous") or changed
    text = cut(neutral(item.description).strip(), DESCRIPTION)
    validate = remote_validator(item.input_schema)  # first: it refuses what is too large to look at
    return Tool(
        name,
        text or f"A tool of the server {link.owner}, which gives no description of it.",
        plain_schema(item.input_schema, lambda words: cut(neutral(words), DESCRIPTION)),
        RemoteFunction(link, name, item, asks, permission == "read", changed),
        validate,
        permission,
        asks,
    )


def check_name(name: str) -> None:
    """Names of tools are what the specification says. Others could be sentences, or look like the name of another tool."""
    if not _NAME.fullmatch(name):
        raise BadSchema("Its name is too long, or holds letters that a name of a tool does not have.")


def owner_word(name: str) -> str:
    """The name of a server as it stands before the name of a tool: letters, digits and ``_``, 32 at most."""
    return re.sub(r"[^A-Za-z0-9-]+", "_", label(name)).strip("_")[:32] or "server"


def cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit]}\n[Cut: {limit:,} of {len(text):,} characters are shown.]"
