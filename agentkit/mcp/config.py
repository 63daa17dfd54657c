"""Configuration files of hosts: ``{"mcpServers": {name: {"command": …} or {"url": …}}}``, the form that desktop hosts use.

``${NAME}`` stands for an environment variable, ``${NAME:-text}`` for one with a default, so that a key need not stand in the
file. Values of variables, headers and addresses are used, and never shown.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from agentkit.errors import DefinitionError, did_you_mean

if TYPE_CHECKING:
    from agentkit.mcp.client import Client
    from agentkit.mcp.transport import Transport

_STDIO: Final = ("command", "args", "env", "cwd")
_HTTP: Final = ("url", "headers")
_BOTH: Final = ("type", "disabled")
START_SECONDS: Final = 60.0  # some commands load a program from the network before it starts
_VARIABLE: Final = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")


@dataclass(frozen=True, slots=True, repr=False)
class ServerConfig:
    """How to reach one server: a program to start (``command``, ``args``, ``env``, ``cwd``), or an address (``url``,
    ``headers``). Made by `server_configs`."""

    name: str
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str | None = None
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)

    def transport(self) -> Transport:
        """The transport to this server; nothing is started yet."""
        if self.url:
            from agentkit.mcp.http import HttpTransport

            return HttpTransport(self.url, headers=dict(self.headers))
        from agentkit.mcp.stdio import StdioTransport

        return StdioTransport(self.command, self.args, env=self.env, cwd=self.cwd)

    def client(self, **options: Any) -> Client:
        """A client for this server, not connected yet; ``options`` are those of `Client`.

        A program gets a minute to start.
        """
        from agentkit.mcp.client import Client

        made: dict[str, Any] = {"server_name": self.name}
        if self.command:
            made["start_timeout"] = START_SECONDS
        return Client(self.transport(), **{**made, **options})

    def __repr__(self) -> str:
        """Without values: arguments, variables, headers and addresses may hold keys."""
        if self.url:
            parts = urlsplit(self.url)
            shown = f"url={parts.scheme}://{parts.hostname or ''}{f':{parts.port}' if parts.port else ''}{parts.path}"
            return f"ServerConfig({self.name!r}, {shown}, headers: {', '.join(self.headers) or 'none'})"
        variables = ", ".join(self.env) or "none"
        return f"ServerConfig({self.name!r}, command={self.command!r}, {len(self.args)} args, variables: {variables})"


def server_configs(
    source: str | os.PathLike[str] | Mapping[str, Any], *, environment: Mapping[str, str] | None = None
) -> list[ServerConfig]:
    """The servers of a configuration, without those that are switched off (``"disabled": true``).

    Args:
        source: the path of a file, or its content as a mapping.
        environment: where ``${NAME}`` is looked up; by default the variables of this process.

    Raises:
        DefinitionError: the file cannot be read, or an entry is wrong; the sentence names it, and no value.
    """
    content, where = (source, "The configuration") if isinstance(source, Mapping) else _read(Path(source))
    servers = content.get("mcpServers")
    if not isinstance(servers, Mapping):
        raise DefinitionError(f'{where} needs an object "mcpServers" that maps a name to each server.')
    variables = os.environ if environment is None else environment
    return [
        _config(str(name), entry, variables)
        for name, entry in servers.items()
        if not (isinstance(entry, Mapping) and entry.get("disabled") is True)
    ]


def _read(path: Path) -> tuple[Mapping[str, Any], str]:
    try:
        content = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise DefinitionError(f"The configuration {path.name} cannot be read ({error.strerror}).") from None
    except UnicodeDecodeError:
        raise DefinitionError(f"The configuration {path.name} is not UTF-8 text.") from None
    except (ValueError, RecursionError) as error:
        at = f" The mistake is in line {error.lineno}." if isinstance(error, json.JSONDecodeError) else ""
        raise DefinitionError(f"The configuration {path.name} is not JSON.{at}") from None
    if not isinstance(content, Mapping):
        raise DefinitionError(f"The configuration {path.name} is not a JSON object.")
    return content, f"The configuration {path.name}"


def _config(name: str, entry: Any, variables: Mapping[str, str]) -> ServerConfig:
    here = f"The server {name!r} of the configuration"
    if not isinstance(entry, Mapping):
        raise DefinitionError(f"{here} is not a JSON object.")
    known = (*_STDIO, *_HTTP, *_BOTH)
    for key in entry:
        if key not in known:
            raise DefinitionError(
                f"{here} has an unknown key {key!r}. {did_you_mean(str(key), known)}The keys are: {', '.join(known)}."
            )
    if ("command" in entry) == ("url" in entry):
        raise DefinitionError(f'{here} needs either a "command" (a program to start) or a "url".')
    _check_kind(entry, here)

    def text(key: str) -> str:
        found = entry.get(key, "")
        if not isinstance(found, str) or not found.strip():
            raise DefinitionError(f"{key!r} of {here[0].lower()}{here[1:]} is not a text.")
        return _filled(found, variables, here)

    def texts(key: str) -> dict[str, str]:
        found = entry.get(key) or {}
        if not isinstance(found, Mapping) or not all(isinstance(item, str) for item in found.values()):
            raise DefinitionError(f"{key!r} of {here[0].lower()}{here[1:]} is not an object of texts.")
        return {str(name): _filled(item, variables, here) for name, item in found.items()}

    if "url" in entry:
        return ServerConfig(name, url=_address(text("url"), here), headers=texts("headers"))
    args = entry.get("args") or []
    if not isinstance(args, list) or not all(isinstance(item, str) for item in args):
        raise DefinitionError(f'"args" of {here[0].lower()}{here[1:]} is not a list of texts.')
    filled = tuple(_filled(item, variables, here) for item in args)
    return ServerConfig(name, text("command"), filled, texts("env"), text("cwd") if entry.get("cwd") else None)


def _check_kind(entry: Mapping[str, Any], here: str) -> None:
    remote, kind = "url" in entry, entry.get("type")
    wrong = [key for key in (_STDIO if remote else _HTTP) if key in entry]
    if wrong:
        raise DefinitionError(f"{here} has {wrong[0]!r}, which does not belong to a {'url' if remote else 'command'}.")
    if kind == "sse":
        raise DefinitionError(f"{here} uses the old HTTP+SSE form, which is not spoken here. Ask for its new address.")
    allowed = ("http", "streamable-http", "streamableHttp") if remote else ("stdio",)
    if kind is not None and kind not in allowed:
        raise DefinitionError(f'"type" of {here[0].lower()}{here[1:]} can only be {" or ".join(allowed)}.')


def _address(url: str, here: str) -> str:
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        good = False
    if not good:
        raise DefinitionError(
            f'"url" of {here[0].lower()}{here[1:]} is not an address that begins with http:// or https://.'
        )
    return url


def _filled(text: str, variables: Mapping[str, str], here: str) -> str:
    """The text with its variables put in."""

    def value(found: re.Match[str]) -> str:
        name, default = found.group(1), found.group(2)
        known = variables.get(name)
        if known is None and default is None:
            raise DefinitionError(f"{here} needs the environment variable {name}, which is not set.")
        return known if known is not None else str(default)

    return _VARIABLE.sub(value, text)
