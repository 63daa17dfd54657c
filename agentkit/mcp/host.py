"""The host: one program with several clients, each for exactly one server, and all their tools in one registry.

A client knows nothing of the other servers; only the host sees them all. That is why the host decides what may run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from agentkit.errors import DefinitionError
from agentkit.mcp.asking import Connection
from agentkit.mcp.bridge import add_mcp, links
from agentkit.mcp.client import Client
from agentkit.mcp.config import ServerConfig, server_configs
from agentkit.mcp.integrations import Integrations
from agentkit.mcp.recording import Recorder
from agentkit.mcp.sequence import Sequence, sequence
from agentkit.mcp.server import Server
from agentkit.mcp.transport import Transport
from agentkit.registry import Registry


class Host(Connection):
    """Several servers behind one registry. Use it in a ``with`` block, which connects to all of them.

    Args:
        servers: for each name a `Server`, a `Transport`, a `ServerConfig` or a client (which records only what its own
            recorder is told); or the path or content of an ``mcpServers`` file.
        registry: where the tools go; a new one by default.
        permission: what you vouch for, as for `add_mcp`: one word for all servers, or a mapping from a server's name to a word
            or to a mapping of its tools.
        recorder: writes down every message; a new one by default.
        timeout: seconds that a client waits for each answer.
        options: further options of `add_mcp`, such as ``fenced`` and ``boundary``.

    Raises:
        DefinitionError: a server cannot be used. `McpError` when one cannot be reached; then none stays open.
    """

    def __init__(
        self,
        servers: Any,
        *,
        registry: Registry | None = None,
        permission: str | Mapping[str, Any] = "ask",
        recorder: Recorder | None = None,
        timeout: float = 10.0,
        **options: Any,
    ) -> None:
        self.registry = Registry() if registry is None else registry
        self.recorder = Recorder() if recorder is None else recorder
        self._permission, self._timeout, self._options = permission, timeout, options
        self.clients = {name: self._client(name, source) for name, source in _named(servers).items()}
        self._named = {name: _Named(client, name) for name, client in self.clients.items()}
        unknown = [] if isinstance(permission, str) else [name for name in permission if name not in self.clients]
        if unknown:
            raise DefinitionError(
                f"There is no server {unknown[0]!r} here. The servers are: {', '.join(self.clients)}."
            )

    def connect(self) -> Self:
        """Connect to every server and add its tools. Nothing stays open when one of them fails."""
        try:
            for name, client in self.clients.items():
                client.connect()
                word = self._permission if isinstance(self._permission, str) else self._permission.get(name, "ask")
                add_mcp(self.registry, self._named[name], permission=word, **self._options)
        except BaseException:
            self.close()
            raise
        return self

    def close(self) -> None:
        """Close every connection, the last one first. May be called twice."""
        for client in reversed(self.clients.values()):
            client.close()

    @property
    def sequence(self) -> Sequence:
        """All messages so far as a sequence diagram."""
        return sequence(self.recorder)

    def _client(self, name: str, source: Any) -> Any:
        made: dict[str, Any] = {"name": "host", "timeout": self._timeout, "recorder": self.recorder}
        if isinstance(source, ServerConfig):
            return source.client(**made, server_name=name)
        if isinstance(source, Server | Transport):
            return Client(source, server_name=name, **made)
        if not all(hasattr(source, each) for each in ("connect", "close", "list_tools", "call_tool")):
            told = "Give a server, a transport, a configuration or a client."
            raise DefinitionError(f"The server {name!r} cannot be a value of type {type(source).__name__}. {told}")
        return source

    def __repr__(self) -> str:
        states = (
            f"{name}: {getattr(client, 'revision', None) or 'not connected'}" for name, client in self.clients.items()
        )
        return f"Host({', '.join(states)})"


class _Named:
    """A client whose server is called what the host calls it, whatever it says about itself."""

    def __init__(self, client: Any, name: str) -> None:
        self._client = client
        self.server_info = {"name": name}

    def connect(self) -> _Named:
        self._client.connect()
        return self

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)


def integrations(agents: Mapping[str, Registry | Host]) -> Integrations:
    """Which agent uses which server, read from their registries.

    Args:
        agents: for each agent its registry, or its host.
    """
    tables: dict[str, Registry] = {
        name: found.registry if isinstance(found, Host) else found for name, found in agents.items()
    }
    return Integrations({name: tuple(links(registry)) for name, registry in tables.items()})


def _named(servers: Any) -> dict[str, Any]:
    if isinstance(servers, Mapping) and "mcpServers" not in servers:
        return dict(servers)
    return {config.name: config for config in server_configs(servers)}
