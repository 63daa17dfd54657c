"""A server for one folder that nobody gets out of: list, read and search files, and write them where that is allowed.

python -m agentkit.mcp.jail_server FOLDER            read only
python -m agentkit.mcp.jail_server FOLDER --write    also write
"""

from __future__ import annotations

import argparse
import contextlib
import os
from collections.abc import Sequence
from typing import Annotated, Any, Final
from urllib.parse import quote

from pydantic import Field

from agentkit.errors import DefinitionError
from agentkit.mcp.offers import Prompt, Resource, Template
from agentkit.mcp.server import Server
from agentkit.mcp.stdio import serve_stdio
from agentkit.registry import Registry
from agentkit.safety import PathJail
from agentkit.tools import Tool, tool

MOST: Final = 50  # matches that one search returns
SEARCHED: Final = 5_000_000  # characters of a file that a search looks at
PathText = Annotated[
    str, Field(description="A path inside the folder, with / between its parts.", examples=["notes/plan.md"])
]


def jail_tools(jail: PathJail) -> list[Tool]:
    """The four tools of a folder. Everything that is wrong with a path is told by the jail, in words for the model."""

    @tool
    def list_files() -> dict[str, Any]:
        """List all files in the folder, as paths relative to it."""
        return {"files": jail.names()}

    @tool
    def read_file(path: PathText) -> str:
        """Read one text file of the folder."""
        return jail.read(path)

    @tool
    def search_files(
        words: Annotated[str, Field(description="The words to look for.", min_length=1)],
    ) -> dict[str, Any]:
        """Search the text files of the folder for words; upper and lower case are the same."""
        return _search(jail, words)

    @tool(permission="write")
    def write_file(
        path: PathText, text: Annotated[str, Field(description="The whole text of the file.")]
    ) -> dict[str, Any]:
        """Write one text file in the folder, in place of the one that has this path, if any."""
        jail.write(path, text)
        return {"path": path, "characters": len(text)}

    return [list_files, read_file, search_files, write_file]


def jail_server(folder: str | os.PathLike[str], *, write: bool = False) -> Server:
    """A server for a folder. Raises `DefinitionError` when there is no such folder."""
    jail = PathJail(folder)
    registry = Registry(jail_tools(jail), permissions=["read", "write"] if write else ["read"])

    def files() -> list[Resource | Template]:
        found: list[Resource | Template] = [
            Resource(f"jail:///{quote(name, errors='surrogatepass')}", name, lambda name=name: jail.read(name))  # type: ignore[misc]
            for name in jail.names()
        ]
        return [
            *found,
            Template("jail:///{+path}", "file", lambda path: jail.read(path), "Any file of the folder."),
        ]

    def summarise(path: str) -> str:
        return f"Read the file {path} with the tool read_file, and sum it up in three sentences."

    prompt = Prompt("summarise_file", summarise, "Sum up one file.", {"path": "The file's path inside the folder."})
    return Server(
        "jail",
        registry=registry,
        resources=files,
        prompts=[prompt],
        instructions="Files of one folder. Paths are relative to it; nothing outside can be reached.",
    )


def _search(jail: PathJail, words: str) -> dict[str, Any]:
    matches: list[dict[str, Any]] = []
    cut: list[str] = []
    count, words = 0, words.casefold()
    for name in jail.names():
        with contextlib.suppress(Exception):  # a file that is no text, or that has just gone, is not searched
            text = jail.read(name, SEARCHED + 1)
            cut += [name] if len(text) > SEARCHED else []
            for number, line in enumerate(text[:SEARCHED].splitlines(), 1):
                if words in line.casefold():
                    count += 1
                    if count <= MOST:
                        matches.append({"path": name, "line": number, "text": line.strip()[:200]})
    told = {"only_searched": {"files": cut, "characters": SEARCHED}} if cut else {}
    return {"matches": matches, "count": count, **told}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m agentkit.mcp.jail_server", description="Serve one folder over stdio."
    )
    parser.add_argument("folder")
    parser.add_argument("--write", action="store_true", help="allow writing")
    given = parser.parse_args(arguments)
    try:
        server = jail_server(given.folder, write=given.write)
    except DefinitionError as error:
        parser.error(str(error))
    with contextlib.suppress(KeyboardInterrupt):
        serve_stdio(server)


if __name__ == "__main__":
    main()
