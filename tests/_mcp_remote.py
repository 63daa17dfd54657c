"""A server that misbehaves to order, seen from its client: what the tests of the bridge put in place of a connection."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any

from agentkit.mcp.jsonrpc import McpError, Notification
from agentkit.mcp.remote import Rejected, RemoteTool, ToolOutcome

OBJECT: dict[str, Any] = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}


def remote(name: str = "read_file", description: str = "Read a file.", schema: Any = None, **notes: Any) -> RemoteTool:
    return RemoteTool(name, description, OBJECT if schema is None else schema, notes)


class RemoteClient:
    """A connection whose definitions and answers the test sets. ``calls`` and ``lists`` say what was sent."""

    def __init__(self, name: str = "files", *tools: RemoteTool) -> None:
        self.server_info = {"name": name}
        self.tools = list(tools) or [remote()]
        self.rejected: tuple[Rejected, ...] = ()
        self.notifications: deque[Notification] = deque(maxlen=10)
        self.revision: str | None = None
        self.answer: ToolOutcome | McpError = ToolOutcome("text of the file")
        self.calls: list[tuple[str, dict[str, Any], float | None]] = []
        self.lists = 0

    def connect(self) -> RemoteClient:
        self.revision = "2025-11-25"
        return self

    def close(self) -> None:
        self.revision = None

    def list_tools(self) -> tuple[RemoteTool, ...]:
        self.lists += 1
        return tuple(self.tools)

    def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        progress: Any = None,
        timeout: float | None = None,
    ) -> ToolOutcome:
        self.calls.append((name, dict(arguments or {}), timeout))
        if isinstance(self.answer, McpError):
            raise self.answer
        return self.answer

    def changes(self, *tools: RemoteTool) -> None:
        """The server changes its tools and says so."""
        self.tools = list(tools)
        self.notifications.append(Notification("notifications/tools/list_changed"))
