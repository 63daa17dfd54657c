"""What can be given to `agentkit.mcp.bridge.add_mcp`, and how it becomes a connected client."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from agentkit.errors import DefinitionError, did_you_mean
from agentkit.mcp.config import ServerConfig, server_configs


def sources(server: Any) -> list[tuple[str, Any]]:
    """(name or "", what to connect to) for each server that was given."""
    if isinstance(server, ServerConfig):
        return [(server.name, server)]
    if isinstance(server, str) and server.lower().startswith(("http://", "https://")):
        raise DefinitionError(
            "This is an address, and a text stands for the path of a file here. Say how to connect to it: "
            'from agentkit.mcp import HttpTransport, then add_mcp(HttpTransport("http://…")).'
        )
    if isinstance(server, str | Mapping) or hasattr(server, "__fspath__"):
        return [(config.name, config) for config in server_configs(server)]
    return [("", server)]


def connected(source: Any) -> tuple[Any, bool]:
    """A connected client, and whether it was opened here."""
    from agentkit.mcp.client import Client
    from agentkit.mcp.server import Server
    from agentkit.mcp.transport import Transport

    if isinstance(source, ServerConfig):
        return source.client().connect(), True
    if isinstance(source, Server | Transport):
        return Client(source).connect(), True
    kind = type(source).__module__
    if kind.startswith("mcp."):  # the SDK's client or server; imported only then
        from agentkit.mcp.sdk_client import SdkClient

        return SdkClient(source, listen=True).connect(), True
    if not all(hasattr(source, name) for name in ("connect", "call_tool", "list_tools", "server_info")):
        raise DefinitionError(
            f"A value of type {type(source).__name__} is no MCP server. Give a client, a server, a configuration or its path."
        )
    opened = source.revision is None
    return source.connect(), opened


def check_options(permission: str | Mapping[str, str], limit: int, only: Collection[str] | None) -> None:
    words = permission.values() if isinstance(permission, Mapping) else [permission]
    for word in words:
        if word not in ("ask", "read", "write", "dangerous"):
            raise DefinitionError(f'permission is "ask", "read", "write" or "dangerous", not {word!r}.')
    if limit < 100:
        raise DefinitionError(f"limit is a number of characters, at least 100, not {limit!r}.")
    if isinstance(only, str):
        raise DefinitionError(f'only is a list of names, for example only=["{only}"].')


def check_only(only: Collection[str] | None, names: Collection[str]) -> None:
    for name in only or ():
        if name not in names:
            has = ", ".join(names) or "none"
            raise DefinitionError(f"The server has no tool {name!r}. {did_you_mean(name, names)}Its tools are: {has}.")
