"""A server by hand: what it offers, and to whom. The protocol of one connection is in `session`."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from agentkit.errors import DefinitionError
from agentkit.mcp.offers import Prompt, Resource, Template
from agentkit.mcp.peer import Send
from agentkit.mcp.recording import Recorder
from agentkit.mcp.session import Session
from agentkit.registry import Registry
from agentkit.tools import Tool

Offers: TypeAlias = Iterable[Resource | Template] | Callable[[], Iterable[Resource | Template]]


class Server:
    """Tools of a registry, resources and prompts, for any number of clients.

    It does nothing by itself. ``serve_stdio(server)`` or ``HttpServer(server)`` let clients in.

    Args:
        name, version: what the server calls itself.
        registry: whose tools are offered; every call goes through its door.
        resources: resources and templates, or a function that returns them, asked each time.
        prompts: prompts.
        instructions: how to use this server, for the model.
        page_size: how many items one page of a list holds.
        recorder: writes down every message of every client.

    Raises:
        DefinitionError: the name is empty, or the page size is not positive.
    """

    def __init__(
        self,
        name: str,
        *,
        version: str = "1.0",
        registry: Registry | None = None,
        resources: Offers = (),
        prompts: Iterable[Prompt] = (),
        instructions: str = "",
        page_size: int = 100,
        recorder: Recorder | None = None,
    ) -> None:
        if not name or page_size < 1:
            raise DefinitionError("A server needs a name, and pages of at least one item.")
        self.name, self.version, self.instructions = name, version, instructions
        self.registry = registry
        self.page_size = page_size
        self.prompts = list(prompts)
        self._resources = resources if callable(resources) else list(resources)
        self._recorder = recorder
        self._sessions: weakref.WeakSet[Session] = weakref.WeakSet()
        self._lock = threading.Lock()
        self._listed = self._definitions()

    @property
    def resources(self) -> list[Resource]:
        return [item for item in self._offers() if isinstance(item, Resource)]

    @property
    def templates(self) -> list[Template]:
        return [item for item in self._offers() if isinstance(item, Template)]

    def tools(self) -> list[dict[str, Any]]:
        """The tools in MCP's form, without those that can never run here.

        A tool of a kind that the registry does not permit, or that its policy allows under no circumstances, is not listed:
        a model would only try it in vain. (So do other servers in a read-only mode, and `sdk_server`.) The list is no
        defence. Who calls such a tool by its name gets the answer of the registry's door, a failed result that says why;
        from `sdk_server` it is an unknown tool.
        """
        if self.registry is None:
            return []
        offered = {spec.name for spec in self.registry.specs()}
        permitted = {tool.name for tool in self.registry if tool.permission in self.registry.permits.permissions}
        return [form for form in self.registry.mcp() if form["name"] in offered & permitted]

    def capabilities(self) -> dict[str, Any]:
        """What the server tells in the handshake that it can do."""
        able: dict[str, Any] = {"logging": {}}
        if self.registry is not None:
            able["tools"] = {"listChanged": True}
        if self._resources:
            able["resources"] = {"listChanged": True}
        if self.prompts:
            able["prompts"] = {"listChanged": True}
        return able

    def add(self, tool: Tool | Callable[..., Any]) -> Tool:
        """Register one tool more, and tell every client that the list has changed."""
        if self.registry is None:
            raise DefinitionError("This server was made without a registry, so it cannot have tools.")
        added = self.registry.add(tool)
        self.look_again()
        return added

    def changed(self, what: str) -> None:
        """Tell every client that the list of ``"tools"``, ``"resources"`` or ``"prompts"`` has changed."""
        for session in list(self._sessions):
            session.tell_changed(what)

    def look_again(self) -> None:
        """Tell every client if the registry is not what it was. Called after each tool call, too."""
        with self._lock:
            before, self._listed = self._listed, self._definitions()
        if before != self._listed:
            self.changed("tools")

    def connect(self, send: Send) -> Session:
        """A session with one client, to which ``send`` carries messages. Feed it with ``session.peer.receive(line)``."""
        session = Session(self, send, self._recorder)
        self._sessions.add(session)
        return session

    def _definitions(self) -> tuple[str, ...]:
        return () if self.registry is None else tuple(tool.fingerprint for tool in self.registry)

    def _offers(self) -> list[Resource | Template]:
        return list(self._resources() if callable(self._resources) else self._resources)

    def __repr__(self) -> str:
        tools = 0 if self.registry is None else len(self.registry)
        return f"Server({self.name!r}, {tools} tools, {len(self.prompts)} prompts)"
