"""``agentkit mcp serve``: any registry as an MCP server, so that a desktop host or somebody else's agent can use it."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agentkit.errors import DefinitionError
from agentkit.mcp.jail_server import jail_server
from agentkit.mcp.orders_server import orders_server
from agentkit.mcp.server import Server
from agentkit.mcp.stdio import serve_stdio
from agentkit.registry import Registry

DONE = 0
TOKEN = "AGENTKIT_MCP_TOKEN"
WORLDS = ("orders", "research")


def add_arguments(serve: argparse.ArgumentParser) -> None:
    """The options of ``agentkit mcp serve``, for the command line."""
    what = serve.add_mutually_exclusive_group()
    what.add_argument("--world", choices=WORLDS, help="the tools of a sample world (default: orders)")
    what.add_argument("--folder", metavar="DIR", help="the files of one folder")
    what.add_argument("--registry", metavar="MODULE:NAME", help="a Registry of your own, for example my_tools:registry")
    serve.add_argument("--write", action="store_true", help="with --folder: also allow writing")
    serve.add_argument("--http", action="store_true", help="Streamable HTTP in place of standard input and output")
    serve.add_argument("--host", default="127.0.0.1", help="with --http: the address (default: this machine only)")
    serve.add_argument(
        "--port", type=int, default=8500, help="with --http: the port (default: 8500; 0 takes a free one)"
    )
    serve.add_argument("--token", help=f"with --http: the token that a client must send (or the variable {TOKEN})")
    serve.set_defaults(run=run_mcp)


def run_mcp(
    options: argparse.Namespace, *, say: Callable[[str], None] | None = None, done: threading.Event | None = None
) -> int:
    """Serve what the options name, until the client goes or Ctrl-C (over HTTP also until ``done`` is set).

    Nothing but messages is written to standard output; what a person has to know goes to standard error.

    Raises:
        DefinitionError: there is no such folder, registry or port, or options that do not go together.
    """
    server = served(options)
    say = _to_stderr if say is None else say
    if options.http:
        _over_http(server, options, say, done or threading.Event())
        return DONE
    if options.token:
        raise DefinitionError("A token belongs to --http: over standard input and output there is one client only.")
    if sys.stdin is not None and sys.stdin.isatty():
        say(instructions(options))
    with contextlib.suppress(KeyboardInterrupt):
        serve_stdio(server)
    return DONE


def served(options: argparse.Namespace) -> Server:
    """The server for these options."""
    if options.write and options.folder is None:
        raise DefinitionError("--write belongs to --folder.")
    if options.folder is not None:
        return jail_server(options.folder, write=options.write)
    if options.registry is not None:
        return Server("agentkit", registry=_own_registry(options.registry))
    if options.world == "research":
        from agentkit.worlds import research

        return Server("research", registry=Registry(research.tools), instructions=research.system)
    return orders_server()


def instructions(options: argparse.Namespace) -> str:
    """How to use this server in a host that reads ``mcpServers`` files."""
    arguments = ["-m", "agentkit", "mcp", "serve"]
    for name in ("world", "folder", "registry"):
        given = getattr(options, name)
        if given is not None:
            arguments += [f"--{name}", str(Path(given).resolve()) if name == "folder" else given]
    arguments += ["--write"] if options.write else []
    entry = {"mcpServers": {"agentkit": {"command": sys.executable, "args": arguments}}}
    return (
        "This program waits for a host on its standard input. Stop it with Ctrl-C. A host starts it itself, with these "
        f"lines in its configuration:\n{json.dumps(entry, indent=2, ensure_ascii=False)}"
    )


def _over_http(server: Server, options: argparse.Namespace, say: Callable[[str], None], done: threading.Event) -> None:
    from agentkit.mcp.bearer import READ, WRITE, Bearer
    from agentkit.mcp.http import HttpServer

    token = options.token or os.environ.get(TOKEN, "").strip()
    bearer = Bearer({token: [READ, WRITE]}) if token else None
    with HttpServer(server, host=options.host, port=options.port, bearer=bearer) as web:
        say(f"{server.name} is served at {web.url}. Stop it with Ctrl-C." + (" A token is needed." if token else ""))
        try:
            while not done.wait(0.5):  # short waits, since Windows does not interrupt a long one
                pass
        except KeyboardInterrupt:
            pass
    say("The server has stopped.")


def _own_registry(named: str) -> Registry:
    module, colon, name = named.partition(":")
    if not colon or not module or not name:
        raise DefinitionError(f"--registry is written MODULE:NAME, for example my_tools:registry, not {named!r}.")
    if os.getcwd() not in sys.path:  # noqa: PTH109 (a text, as sys.path holds them)
        sys.path.insert(0, os.getcwd())  # noqa: PTH109
    try:
        found: Any = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise DefinitionError(f"There is no {named!r}: {error}.") from None
    if not isinstance(found, Registry):
        raise DefinitionError(f"{named!r} is a value of type {type(found).__name__}, not a Registry.")
    return found


def _to_stderr(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
