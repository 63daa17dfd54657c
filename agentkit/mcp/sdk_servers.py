"""The two servers once more, with the official SDK. Compare with `jail_server` and `orders_server`.

    python -m agentkit.mcp.sdk_servers jail FOLDER [--write] [--http] [--port 8000]
    python -m agentkit.mcp.sdk_servers orders

The SDK makes the schema of each function and speaks the protocol. What a tool may do is still decided by our registry:
each function that the SDK calls goes through its door. When the door wants a person's approval, the SDK asks the client
(elicitation): in the newest revision as an answer that wants input, in the older ones as a question of the server's own.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import inspect
import json
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Annotated, Any

from mcp.server import MCPServer
from mcp.server.mcpserver import AcceptedElicitation, Context, Elicit, ElicitationResult, Resolve
from mcp.server.mcpserver.exceptions import ResourceNotFoundError
from mcp.server.mcpserver.exceptions import ToolError as SdkToolError
from mcp_types import ToolAnnotations
from pydantic import BaseModel, Field

from agentkit.errors import DefinitionError, ToolError
from agentkit.mcp._jsonschema import load_jsonschema
from agentkit.mcp.calling import shown_arguments
from agentkit.mcp.jail_server import jail_tools
from agentkit.messages import ToolCall
from agentkit.registry import Registry
from agentkit.safety import PathJail
from agentkit.tools import Tool
from agentkit.worlds import orders


def sdk_server(
    name: str,
    registry: Registry,
    *,
    instructions: str = "",
    tokens: Mapping[str, Collection[str]] | None = None,
    scopes: Collection[str] = (),
) -> MCPServer[Any]:
    """Any registry as a server of the SDK, without the tools that can never run: those of a kind that the registry does not
    permit, or that its policy allows under no circumstances.

    The SDK lists what it can call, and nothing else. So a call of such a tool is one of an unknown tool here, while a
    server by hand (`Server.tools`), which does not list it either, sends the call to the registry's door and tells why not.

    Over HTTP, ``tokens`` (each with its scopes) say who may ask, and ``scopes`` what a token needs.
    """
    load_jsonschema()  # the SDK imports it with the first call, and then the slow way
    server: MCPServer[Any] = MCPServer(
        name, version="1.0", instructions=instructions or None, log_level="WARNING", **_auth(tokens, scopes)
    )
    offered = {spec.name for spec in registry.specs()}
    for tool in registry:
        if tool.name in offered and tool.permission in registry.permits.permissions:
            notes = ToolAnnotations(
                read_only_hint=tool.permission == "read", destructive_hint=tool.permission == "dangerous"
            )
            server.add_tool(through_door(registry, tool), tool.name, description=tool.description, annotations=notes)
    return server


def _auth(tokens: Mapping[str, Collection[str]] | None, scopes: Collection[str]) -> dict[str, Any]:
    if tokens is None:
        return {}
    from agentkit.mcp.sdk_http import Tokens, auth_settings

    return {"token_verifier": Tokens(tokens), "auth": auth_settings(scopes)}


def through_door(registry: Registry, tool: Tool) -> Callable[..., Any]:
    """A function with the signature of the tool's own, which calls it through the registry.

    The SDK passes on the words of its own ``ToolError`` only; of any other exception a client hears nothing but a name.

    Raises:
        DefinitionError: the tool has no parameters of its own, because it belongs to another server.
    """
    function: Callable[..., Any] = tool.function
    # The hints are resolved here, where the names in them are known; what comes back is JSON of any shape.
    signature = inspect.signature(function, eval_str=True)
    if any(part.kind is part.VAR_KEYWORD for part in signature.parameters.values()):  # a tool of another server
        raise DefinitionError(
            f"The SDK makes a schema of a function's parameters, and {tool.name!r} has only a schema. "
            "Serve it by hand, with agentkit.mcp.Server."
        )
    hidden = "_".join(["approval", *signature.parameters])  # longer than each parameter's name, so it is none of them

    @functools.wraps(function)
    def called(**arguments: Any) -> Any:
        said = arguments.pop(hidden)
        call = ToolCall(tool.name, arguments, "sdk")
        yes = isinstance(said, AcceptedElicitation) and isinstance(said.data, Yes) and said.data.approve
        result = registry.call(call, approved=registry.approve(call, by="client") if yes else False)
        if result.error is not None:
            raise SdkToolError(f"{result.error.message} {result.error.hint}".strip())
        return result.data

    asking = Annotated[ElicitationResult[Yes], Resolve(_asking(registry, tool, signature))]
    person = inspect.Parameter(hidden, inspect.Parameter.KEYWORD_ONLY, annotation=asking)
    _sign(called, [*signature.parameters.values(), person], _returned(signature))
    return called


class Yes(BaseModel):
    """What a person is asked before a tool runs that needs approval."""

    approve: bool = Field(description="Whether it may run.", strict=True)


def _asking(registry: Registry, tool: Tool, signature: inspect.Signature) -> Callable[..., Any]:
    """A function that the SDK calls before the tool, with the same arguments: the question for the person, or None."""
    context = "_".join(["context", *signature.parameters])

    def asked(**arguments: Any) -> Any:
        able = getattr(arguments.pop(context).client_capabilities, "elicitation", None)
        forms = able is not None and (able.form is not None or able.url is None)
        # A client that cannot show a form gets the door's refusal, which says what is missing.
        if not forms or not registry.needs_approval(ToolCall(tool.name, arguments, "sdk")):
            return None
        shown = shown_arguments(arguments)  # what a person cannot be shown is refused at the door, like a no
        return None if shown is None else Elicit(f"Approval is needed: run {tool.name} with {shown}?", Yes)

    told = inspect.Parameter(context, inspect.Parameter.KEYWORD_ONLY, annotation=Context)
    _sign(asked, [*signature.parameters.values(), told], Any)
    return asked


def _sign(function: Any, parameters: Sequence[inspect.Parameter], returned: Any) -> None:
    """Give a function the signature that the SDK is to see."""
    function.__signature__ = inspect.Signature(parameters, return_annotation=returned)
    function.__annotations__ = {part.name: part.annotation for part in parameters}


def _returned(signature: inspect.Signature) -> Any:
    """A text stays a text; everything else that our tools return is an object."""
    return str if signature.return_annotation is str else dict[str, Any]


def sdk_jail_server(folder: str | os.PathLike[str], *, write: bool = False) -> MCPServer[Any]:
    """A server for a folder. Raises `DefinitionError` when there is no such folder."""
    jail = PathJail(folder)
    registry = Registry(jail_tools(jail), permissions=["read", "write"] if write else ["read"])
    server = sdk_server("jail", registry, instructions="Files of one folder. Paths are relative to it.")

    @server.resource("jail:///{+path}", name="file", description="Any file of the folder.", mime_type="text/plain")
    def file(path: str) -> str:
        try:
            return jail.read(path)
        except ToolError as error:
            raise ResourceNotFoundError(str(error)) from None

    @server.prompt(description="Sum up one file.")
    def summarise_file(path: str) -> str:
        return f"Read the file {path} with the tool read_file, and sum it up in three sentences."

    return server


def sdk_orders_server(customer: str = orders.CUSTOMER, **access: Any) -> MCPServer[Any]:
    """A server on a fresh copy of the shop's data. Raises `DefinitionError` when there is no such customer.

    ``access``: ``tokens`` and ``scopes``, see `sdk_server`.
    """
    desk = orders.open_desk(customer)
    server = sdk_server("orders", Registry(desk.tools), instructions=orders.system, **access)

    @server.resource("orders://refund-policy", name="refund policy", mime_type="application/json")
    def refund_policy() -> str:
        return json.dumps(desk.refund_policy(), ensure_ascii=False)

    @server.prompt(description="Ask whether an order can be refunded.")
    def can_it_be_refunded(order_id: str) -> str:
        return f"Can my order {order_id} be refunded? Today is {desk.today.isoformat()}."

    return server


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m agentkit.mcp.sdk_servers", description="Serve with the SDK.")
    parser.add_argument("what", choices=["jail", "orders"])
    parser.add_argument("folder", nargs="?", help="for jail: the folder")
    parser.add_argument("--write", action="store_true", help="for jail: allow writing")
    parser.add_argument("--http", action="store_true", help="Streamable HTTP instead of stdio")
    parser.add_argument("--port", type=int, default=8000)
    given = parser.parse_args(arguments)
    if given.what == "jail" and given.folder is None:
        parser.error("jail needs a folder")
    server = sdk_jail_server(given.folder, write=given.write) if given.what == "jail" else sdk_orders_server()
    with contextlib.suppress(KeyboardInterrupt):
        if given.http:
            server.run("streamable-http", host="127.0.0.1", port=given.port)
        else:
            server.run("stdio")


if __name__ == "__main__":
    main()
