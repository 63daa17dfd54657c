"""Our hand-written client, as the conformance suite starts it: the server's address is the last argument."""

from __future__ import annotations

import os
import sys

from agentkit.mcp import Client, HttpTransport


def main() -> None:
    scenario = os.environ.get("MCP_CONFORMANCE_SCENARIO", "initialize")
    with Client(HttpTransport(sys.argv[-1]), name="conformance-client") as client:
        tools = client.list_tools()
        if scenario == "tools_call":
            name = next(tool.name for tool in tools if {"a", "b"} <= set(tool.input_schema.get("properties", {})))
            print(client.call_tool(name, {"a": 5, "b": 3}).text)


if __name__ == "__main__":
    main()
