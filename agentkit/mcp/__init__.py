"""MCP, the Model Context Protocol: a server and a client by hand, and the bridge to everybody else's.

Read the modules in this order: `jsonrpc` (what a message is), `peer` (asking and answering), `session` and `server`,
`client`, `stdio`, and then `http`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agentkit.mcp.bridge import add_mcp
    from agentkit.mcp.calling import current_call
    from agentkit.mcp.client import Client
    from agentkit.mcp.config import server_configs
    from agentkit.mcp.host import Host
    from agentkit.mcp.http import Bearer, HttpServer, HttpTransport
    from agentkit.mcp.jsonrpc import McpError
    from agentkit.mcp.offers import Prompt, Resource, Template
    from agentkit.mcp.recording import Recorded, Recorder
    from agentkit.mcp.remote import RemoteTool, ToolOutcome
    from agentkit.mcp.sdk_client import SdkClient
    from agentkit.mcp.server import Server
    from agentkit.mcp.stdio import StdioTransport, serve_stdio
    from agentkit.mcp.transport import MemoryTransport, Transport

# A name is imported when it is first used: stdio needs no web server.
_LAZY = {
    "Bearer": "http",
    "Client": "client",
    "Host": "host",
    "HttpServer": "http",
    "HttpTransport": "http",
    "McpError": "jsonrpc",
    "MemoryTransport": "transport",
    "Prompt": "offers",
    "Recorded": "recording",
    "Recorder": "recording",
    "RemoteTool": "remote",
    "Resource": "offers",
    "SdkClient": "sdk_client",
    "Server": "server",
    "StdioTransport": "stdio",
    "Template": "offers",
    "ToolOutcome": "remote",
    "Transport": "transport",
    "add_mcp": "bridge",
    "current_call": "calling",
    "serve_stdio": "stdio",
    "server_configs": "config",
}

__all__ = [
    "Bearer",
    "Client",
    "Host",
    "HttpServer",
    "HttpTransport",
    "McpError",
    "MemoryTransport",
    "Prompt",
    "Recorded",
    "Recorder",
    "RemoteTool",
    "Resource",
    "SdkClient",
    "Server",
    "StdioTransport",
    "Template",
    "ToolOutcome",
    "Transport",
    "add_mcp",
    "current_call",
    "serve_stdio",
    "server_configs",
]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(f"agentkit.mcp.{_LAZY[name]}"), name)
    raise AttributeError(f"module 'agentkit.mcp' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
