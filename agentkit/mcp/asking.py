"""What the client by hand and the SDK's have in common: a life in a ``with`` block, and lists that come in pages."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import Any, Final, Self

from agentkit.mcp.jsonrpc import McpError
from agentkit.mcp.remote import Rejected, RemoteTool, read_page, read_tools

MAX_PAGES: Final = 100


class Connection:
    """Something that is connected in a ``with`` block, or between `connect` and `close`."""

    def connect(self) -> Self:
        """Open the connection. Raises `McpError`; nothing is left open then."""
        raise NotImplementedError

    def close(self) -> None:
        """End the connection. May be called twice."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self.connect()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Lists(Connection):
    """A client that can list what a server offers. ``rejected`` holds what the last `list_tools` could not use, and why."""

    rejected: tuple[Rejected, ...] = ()

    def _page(self, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """The answer to one request for a list."""
        raise NotImplementedError

    def list_tools(self) -> tuple[RemoteTool, ...]:
        """All tools of the server, page by page. What cannot be used is in `rejected`, with the reason."""
        tools, self.rejected = read_tools(self._all_pages("tools/list", "tools"))
        return tools

    def list_resources(self) -> tuple[Mapping[str, Any], ...]:
        """All resources, each with ``uri`` and ``name``."""
        return tuple(self._all_pages("resources/list", "resources"))

    def list_resource_templates(self) -> tuple[Mapping[str, Any], ...]:
        """All patterns of resources, each with ``uriTemplate`` and ``name``."""
        return tuple(self._all_pages("resources/templates/list", "resourceTemplates"))

    def list_prompts(self) -> tuple[Mapping[str, Any], ...]:
        """All prompts, each with ``name`` and ``arguments``."""
        return tuple(self._all_pages("prompts/list", "prompts"))

    def _all_pages(self, method: str, key: str) -> list[Any]:
        items: list[Any] = []
        cursor: str | None = None
        seen: set[str] = set()
        for _ in range(MAX_PAGES):
            page, cursor = read_page(method, key, self._page(method, {} if cursor is None else {"cursor": cursor}))
            items += page
            if cursor is None:
                return items
            if cursor in seen:
                raise McpError(f"The server's list for {method} never ends: the cursor {cursor[:80]!r} came twice.")
            seen.add(cursor)
        raise McpError(f"The server's list for {method} has more than {MAX_PAGES} pages.")
