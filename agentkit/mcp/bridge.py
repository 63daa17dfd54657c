"""The bridge: tools of other people's servers become tools of a registry, and so go through its one door.

A server is written by somebody else, so nothing it says is believed: not what a tool may do (a person is asked unless you say
otherwise), not its name or schema (checked), not its results (fenced and cut), and not that a definition stays what it was
when you agreed to it (a fingerprint is kept; a changed tool asks again).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final

from agentkit._wire import wire_name
from agentkit.errors import DefinitionError
from agentkit.mcp._given import check_only, check_options, connected, sources
from agentkit.mcp.config import ServerConfig
from agentkit.mcp.jsonrpc import METHOD_NOT_FOUND, McpError
from agentkit.mcp.remote import Rejected, RemoteTool
from agentkit.mcp.remote_schema import BadSchema
from agentkit.mcp.remote_tool import Link, RemoteFunction, check_name, made_tool, owner_word
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
    """Put the tools of an MCP server into a registry; ``links`` then tells what was left out, and why.

    Of one server all tools that can be used are added, or none: then an exception says why.

    Args:
        registry: where they go; see `Registry.add_mcp`.
        server: a client or a server (ours or the SDK's), a `Transport`, a `ServerConfig`, or an ``mcpServers`` file: its path
            or its content.
        prefix: put ``prefix__`` before each name; without it, only a name that is taken gets the server's name in front.
        permission: what you vouch for: ``"read"``, ``"write"``, ``"dangerous"``, or ``"ask"`` (write, and a person approves
            each call). Or a mapping from names, with ``*`` and ``?``, to these; the first that fits counts, or else ``"ask"``.
        only: the server's names of the tools to add.
        timeout: seconds to wait for each call; by default the client's own limit.
        fenced: whether results stand in a fence as somebody else's text. False only for a server of your own.
        limit: characters of one result; longer ones are cut, with a note.
        agreed: the `fingerprints` of last time: a tool that differs or is new asks.
        boundary: makes the random words of fences; injected in tests.

    Raises:
        DefinitionError: the server or an option cannot be used, or two servers have the same name.
        McpError: the server cannot be reached.
    """
    check_options(permission, limit, only)
    given = sources(server)
    options: dict[str, Any] = {"permission": permission, "only": only, "timeout": timeout, "fenced": fenced}
    options |= {"prefix": prefix, "limit": limit, "agreed": agreed, "boundary": boundary}
    made = [_added(registry, name, source, len(given) == 1, options) for name, source in given]
    check_only(only, [name for link, _ in made for name in link.names])
    return [tool for _, tools in made for tool in tools]


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
    return [tool for link in links(registry).values() for tool in _listed(link)]


def agree(registry: Registry, *names: str) -> None:
    """Take the present definitions of these tools (by default all) as looked at and agreed to.

    Raises:
        DefinitionError: there is no tool of that name.
    """
    names = tuple(registry.get(name).name for name in names)
    for link in links(registry).values():
        for tool in [each for each in registry if owner_of(each) == link.owner]:
            if not names or tool.name in names:
                link.agreed[link.key(tool.function.remote.name)] = tool.function.definition_digest  # type: ignore[attr-defined]
                registry.add(made_tool(link, tool.name, tool.function.remote, changed=False))  # type: ignore[attr-defined]


def fingerprints(registry: Registry) -> dict[str, str]:
    """The definitions agreed to so far: ``server/tool`` to fingerprint. Save them for ``agreed`` of the next time."""
    found = links(registry).values()
    every = {name: digest for link in found for name, digest in link.agreed.items()}
    return every | {name: link.agreed[name] for link in found for name in link.agreed if name.startswith(link.key(""))}


def close_mcp(registry: Registry) -> None:
    """Close the connections that `add_mcp` itself has opened. The tools stay, and say that their server is gone."""
    for link in links(registry).values():
        if link.opened:
            link.client.close()


# --- listing -------------------------------------------------------------------------------------------------------------


def _added(
    registry: Registry, name: str, source: Any, alone: bool, options: Mapping[str, Any]
) -> tuple[Link, list[Tool]]:
    """Connect to one server and put its tools into the registry."""
    client, opened = connected(source)
    try:
        owner = owner_word(options["prefix"] or name or str(dict(client.server_info).get("name", "")))
        given = {**options, "agreed": dict(options["agreed"] or {}), "known_only": options["agreed"] is not None}
        link = Link(owner, client, registry, opened=opened, source=source, **given)
        return link, _joined(link, alone)
    except BaseException:
        if opened:
            client.close()
        raise


def _joined(link: Link, alone: bool) -> list[Tool]:
    """The tools of a new link, in its registry. Everything that can fail comes before anything is changed there."""
    registry = link.registry
    with link.lock:
        old = _before(link)
        made = _made(link, _offered(link, alone), first=True)
        if old is not None:
            _take_over(link, old)
        vars(registry).setdefault(_BOOK, {})[link.owner] = link
        return [registry.add(tool) for tool in made]


def _listed(link: Link) -> list[Tool]:
    """Ask a server again, and put into the registry what is new or has changed."""
    with link.lock:
        made = _made(link, link.listed(), first=False)
        return [link.registry.add(tool) for tool in made if _differs(link, link.registry.find(tool.name), tool)]


def _differs(link: Link, before: Tool | None, tool: Tool) -> bool:
    return before is None or (before.fingerprint, link.digest(before)) != (tool.fingerprint, link.digest(tool))


def _offered(link: Link, alone: bool) -> Sequence[RemoteTool]:
    """What a server lists when it is added."""
    try:
        remote = link.listed()
    except McpError as error:
        if error.code != METHOD_NOT_FOUND:
            raise
        has = ", ".join(
            word for word in ("resources", "prompts") if word in getattr(link.client, "server_capabilities", ())
        )
        raise DefinitionError(
            f"The server {link.owner!r} offers no tools. It offers: {has or 'nothing that a registry can hold'}."
        ) from None
    if alone:
        check_only(link.only, [item.name for item in (*remote, *link.client.rejected)])
    return remote


def _made(link: Link, remote: Sequence[RemoteTool], *, first: bool) -> list[Tool]:
    """Tools for these definitions. Nothing is added yet: a name that is taken must not leave half of a server behind."""
    made: dict[str, Tool] = {}  # by the name on the wire
    rejected = list(link.client.rejected)
    for item in remote:
        if link.only is not None and item.name not in link.only:
            continue
        try:
            if len(made) >= MOST_TOOLS:
                raise BadSchema(f"A server may have {MOST_TOOLS} tools here.")
            tool = _tool(link, item, made, first)
        except (BadSchema, DefinitionError) as reason:
            if first and isinstance(reason, DefinitionError):
                raise
            rejected.append(Rejected(item.name, str(reason), dict(item.input_schema)))
        else:
            made[wire_name(tool.name)] = tool
    link.rejected = tuple(rejected)
    link.present = tuple(tool.function.remote.name for tool in made.values())  # type: ignore[attr-defined]
    return list(made.values())


def _tool(link: Link, item: RemoteTool, made: Mapping[str, Tool], first: bool) -> Tool:
    check_name(item.name)
    key, digest = link.key(item.name), link.definition(item)
    known = link.agreed.get(key)
    if known is None and first and not link.known_only:  # you chose the permission for what is there now
        known = digest
    tool = made_tool(link, _name(link, item.name, made), item, changed=known != digest)
    if known is not None:
        link.agreed[key] = known
    return tool


def _name(link: Link, remote: str, made: Mapping[str, Tool]) -> str:
    """The tool's own name if nobody else has it, or else the server's name in front."""
    if link.prefix is None and not _taken(link, remote, remote, made):
        return remote
    name = f"{link.owner}__{remote}"
    if wire_name(name) in made:
        raise BadSchema(
            "Its name looks like that of another tool of this server, in the letters that a model's name may have."
        )
    if _taken(link, name, remote, made):
        raise DefinitionError(f"The name {name!r} is taken. Give this server another one: add_mcp(…, prefix=…).")
    return name


def _taken(link: Link, name: str, remote: str, made: Mapping[str, Tool]) -> bool:
    """Whether another tool has this name, or one that looks the same on the wire."""
    other = link.registry.find(name) or link.registry.find(wire_name(name))
    return wire_name(name) in made or (other is not None and not link.has(other, remote))


def _before(link: Link) -> Link | None:
    """The link whose place this one takes: a server that is added again, or one that is closed. Others keep their name."""
    old = links(link.registry).get(link.owner)
    if old is None:
        return None
    if old.client.revision is not None and not _is_same(old, link):
        raise DefinitionError(
            f"A server named {link.owner!r} is here already. Give one of them another name with prefix=…, or close the other."
        )
    link.place, link.agreed = old.place, old.agreed | link.agreed
    return old


def _is_same(old: Link, link: Link) -> bool:
    """Whether it is known to be the same server, and not only one that calls itself so."""
    same = isinstance(link.source, ServerConfig) and old.source == link.source
    return same or old.source is link.source or old.client is link.client


def _take_over(link: Link, old: Link) -> None:
    if not _is_same(old, link):  # what a person has granted was for the other one
        link.registry.permits.forget([tool.name for tool in link.registry if link.owns(tool)])
    if old.client is link.client:
        link.opened = link.opened or old.opened
    elif old.opened:
        old.client.close()
