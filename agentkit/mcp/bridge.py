"""The bridge: tools of other people's servers become tools of a registry, and so go through its one door.

A server is written by somebody else, so nothing it says is believed: not what a tool may do (a person is asked unless you say
otherwise), not its name or schema (checked), not its results (fenced and cut), and not that a definition stays what it was
when you agreed to it (a fingerprint is kept; a changed tool asks again).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, Final

from agentkit._wire import wire_name
from agentkit.errors import DefinitionError
from agentkit.mcp.config import ServerConfig, server_configs
from agentkit.mcp.remote import Rejected, RemoteTool
from agentkit.mcp.remote_schema import BadSchema
from agentkit.mcp.remote_tool import Link, RemoteFunction, made_tool, owner_word
from agentkit.registry import Registry
from agentkit.safety.untrusted import new_boundary
from agentkit.tools import Tool

_BOOK: Final = "_mcp_links"  # lives and dies with the registry
MOST_TOOLS: Final = 200  # of one server; each costs the model a part of its attention


def add_mcp(
    registry: Registry,
    server: Any,
    *,
    prefix: str | None = None,
    permission: str | Mapping[str, str] = "ask",
    only: Collection[str] | None = None,
    timeout: float | None = None,
    fenced: bool = True,
    limit: int = 16_000,
    agreed: Mapping[str, str] | None = None,
    boundary: Callable[[], str] = new_boundary,
) -> list[Tool]:
    """Put the tools of an MCP server into a registry.

    Args:
        registry: where they go; see `Registry.add_mcp`.
        server: a `Client` of ours or of the SDK, a server in this process (ours or the SDK's), a `Transport`, a
            `ServerConfig`, or the path or content of an ``mcpServers`` file (then the tools of all its servers are added).
        prefix: put ``prefix__`` before each name; without it, only a name that is taken gets the server's name in front.
        permission: what you vouch for: ``"read"``, ``"write"``, ``"dangerous"``, or ``"ask"``, the default, which means write
            and a person's approval of each call. Or a mapping from tool names, with ``*`` and ``?``, to these words: the first
            that fits counts, and what fits none is ``"ask"``.
        only: the server's names of the tools to add; the others are left out.
        timeout: seconds to wait for each call; by default the client's own limit.
        fenced: whether results stand in a fence as somebody else's text. False only for a server of your own.
        limit: characters of one result; longer ones are cut, with a note.
        agreed: fingerprints of definitions that were agreed to earlier (see `fingerprints`): a different one asks.
        boundary: makes the random words of fences; injected in tests.

    Returns:
        The added tools. What was left out, and why, is in ``links(registry)[name].rejected``.

    Raises:
        DefinitionError: the server or an option cannot be used, or two servers have the same name.
        McpError: the server cannot be reached.
    """
    _check(permission, limit)
    options: dict[str, Any] = {
        "permission": permission,
        "only": only,
        "timeout": timeout,
        "fenced": fenced,
        "limit": limit,
    }
    added: list[Tool] = []
    for name, source in _sources(server):
        client, opened = _client(source)
        try:
            word = owner_word(prefix or name or str(dict(client.server_info).get("name", "")))
            link = Link(word, client, registry, prefix, opened=opened, source=source, boundary=boundary, **options)
            _replaced(registry, link)
            link.agreed.update(agreed or {})
            added += _listed(registry, link, first=True)
        except BaseException:
            if opened:
                client.close()
            raise
        vars(registry).setdefault(_BOOK, {})[link.owner] = link
    return added


def links(registry: Registry) -> dict[str, Link]:
    """The servers whose tools are in this registry, by name."""
    return dict(vars(registry).get(_BOOK, {}))


def owner_of(tool: Tool) -> str | None:
    """The name of the server that a tool belongs to; None for a local tool."""
    return tool.function.link.owner if isinstance(tool.function, RemoteFunction) else None


def refresh(registry: Registry) -> list[Tool]:
    """Ask every server again for its tools. New and changed ones are added, and ask a person until `agree` is called.

    It happens by itself before a call when the server has said that its list has changed, and before each call that a
    person has approved.
    """
    return [tool for link in links(registry).values() for tool in _listed(registry, link, first=False)]


def agree(registry: Registry, *names: str) -> None:
    """Take the present definitions of these tools (by default all) as looked at and agreed to."""
    for link in links(registry).values():
        for tool in [each for each in registry if owner_of(each) == link.owner]:
            if not names or tool.name in names:
                link.agreed[link.key(tool.function.remote.name)] = tool.function.digest  # type: ignore[attr-defined]
                registry.add(made_tool(link, tool.name, tool.function.remote, changed=False))  # type: ignore[attr-defined]


def fingerprints(registry: Registry) -> dict[str, str]:
    """The definitions agreed to so far: ``server/tool`` to fingerprint. Save them for ``agreed`` of the next time."""
    return {name: digest for link in links(registry).values() for name, digest in link.agreed.items()}


def close_mcp(registry: Registry) -> None:
    """Close the connections that `add_mcp` itself has opened. The tools stay, and say that their server is gone."""
    for link in links(registry).values():
        if link.opened:
            link.client.close()


# --- listing -------------------------------------------------------------------------------------------------------------


def _listed(registry: Registry, link: Link, *, first: bool) -> list[Tool]:
    """The tools of one server, asked now, put into the registry."""
    with link.lock:
        return _put(registry, link, first)


def _put(registry: Registry, link: Link, first: bool) -> list[Tool]:
    link.heard()
    remote = link.client.list_tools()
    rejected = list(link.client.rejected)
    added: list[Tool] = []
    present: set[str] = set()
    for item in remote:
        if link.only is not None and item.name not in link.only:
            continue
        if len(present) >= MOST_TOOLS:
            rejected.append(Rejected(item.name, f"A server may have {MOST_TOOLS} tools here.", dict(item.input_schema)))
            continue
        present.add(item.name)
        try:
            tool = _tool(registry, link, item, first)
        except (BadSchema, DefinitionError) as reason:
            if first and isinstance(reason, DefinitionError):
                raise
            rejected.append(Rejected(item.name, str(reason), dict(item.input_schema)))
            present.discard(item.name)
            continue
        before = registry.find(tool.name)
        if (
            before is None
            or before.fingerprint != tool.fingerprint
            or first
            or link.digest(before) != link.digest(tool)
        ):
            added.append(registry.add(tool))
    link.rejected, link.present = tuple(rejected), frozenset(present)
    return added


def _tool(registry: Registry, link: Link, item: RemoteTool, first: bool) -> Tool:
    name = _name(registry, link, item.name)
    digest = link.definition(item)
    known = link.agreed.get(link.key(item.name))
    if known is None and first:  # you chose the permission for what is there now
        known = link.agreed[link.key(item.name)] = digest
    return made_tool(link, name, item, changed=known != digest)


def _name(registry: Registry, link: Link, remote: str) -> str:
    """The tool's own name if nobody else has it, or else the server's name in front."""
    if link.prefix is not None:
        return _free(registry, link, f"{link.owner}__{remote}", remote)
    plain = registry.find(remote) or registry.find(wire_name(remote))
    if plain is None or link.has(plain, remote):
        return remote
    return _free(registry, link, f"{link.owner}__{remote}", remote)


def _free(registry: Registry, link: Link, name: str, remote: str) -> str:
    other = registry.find(name) or registry.find(wire_name(name))
    if other is not None and not link.has(other, remote):
        raise DefinitionError(f"The name {name!r} is taken. Give this server another one: add_mcp(…, prefix=…).")
    return name


def _replaced(registry: Registry, link: Link) -> None:
    """A server that is added again takes the place of itself; another one may not take its name."""
    old = links(registry).get(link.owner)
    if old is None:
        return
    same = old.client is link.client or old.client.revision is None
    if not same and old.opened and isinstance(link.source, ServerConfig) and old.source == link.source:
        old.client.close()
        same = True
    if not same:
        raise DefinitionError(
            f"A server named {link.owner!r} is here already. Give one of them another name with prefix=…, or close the other."
        )
    link.agreed.update(old.agreed)
    link.takes_over(old)


# --- what can be given ---------------------------------------------------------------------------------------------------


def _sources(server: Any) -> list[tuple[str, Any]]:
    """(name or "", what to connect to) for each server that was given."""
    if isinstance(server, ServerConfig):
        return [(server.name, server)]
    if isinstance(server, str | Mapping) or hasattr(server, "__fspath__"):
        return [(config.name, config) for config in server_configs(server)]
    return [("", server)]


def _client(source: Any) -> tuple[Any, bool]:
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


def _check(permission: str | Mapping[str, str], limit: int) -> None:
    words = permission.values() if isinstance(permission, Mapping) else [permission]
    for word in words:
        if word not in ("ask", "read", "write", "dangerous"):
            raise DefinitionError(f'permission is "ask", "read", "write" or "dangerous", not {word!r}.')
    if limit < 100:
        raise DefinitionError(f"limit is a number of characters, at least 100, not {limit!r}.")
