"""A request of the other side, from its arrival to its answer."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from agentkit.mcp.jsonrpc import Notification, Request

if TYPE_CHECKING:
    from agentkit.mcp.peer import Peer


class Context:
    """A request of the other side while it is being answered."""

    def __init__(self, peer: Peer, request: Request) -> None:
        self.peer = peer
        self.request = request
        self.params = request.params
        self._cancelled = threading.Event()

    @property
    def cancelled(self) -> bool:
        """Whether the other side has given up on this request. Long work looks at it now and then, and stops."""
        return self._cancelled.is_set()

    def cancel(self) -> None:
        self._cancelled.set()

    def notify(self, method: str, params: Mapping[str, Any]) -> None:
        """Send a notification that belongs to this request."""
        if not self.cancelled:
            self.peer.send(Notification(method, params), self.request.id)

    def ask(self, method: str, params: Mapping[str, Any], timeout: float | None = None) -> Mapping[str, Any]:
        """Ask the other side back and wait for its answer. Raises `McpError`."""
        return self.peer.request(method, params, timeout=timeout, about=self.request.id)

    def progress(self, done: float, total: float | None = None, message: str = "") -> None:
        """Tell how far this request is. Nothing is sent unless the other side gave a token for it."""
        meta = self.params.get("_meta")
        token = meta.get("progressToken") if isinstance(meta, Mapping) else None
        if isinstance(token, int | str):
            told = {"progressToken": token, "progress": done}
            told |= {} if total is None else {"total": total}
            self.notify("notifications/progress", told | ({"message": message} if message else {}))


Handler: TypeAlias = Callable[[Context], Mapping[str, Any]]
