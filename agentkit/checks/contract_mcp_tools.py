"""The part of an MCP server's contract that is about its tools. Each function tries one promise on a line to the server."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, cast

from agentkit.checks.contract_mcp_line import Line, begun, expect_error, result_of
from agentkit.checks.contract_stand_in import sample
from agentkit.checks.exercise import CheckFailed, expect
from agentkit.checks.faces import shown
from agentkit.tools import Tool

Call: TypeAlias = tuple[str, Mapping[str, Any]]

_PAGES: Final = 100


def list_well(line: Line) -> None:
    """Each tool has a name, a description and a schema of type object."""
    tools = list(_tools(line))
    expect(tools, "`tools/list` is empty. The contract needs a server with at least one tool.")
    for tool in tools:
        expect(isinstance(tool, dict), f"A tool in `tools/list` is {shown(tool)}. It must be an object.")
        for key in ("name", "description"):
            text = tool.get(key)
            told = isinstance(text, str) and text.strip()
            expect(told, f"A tool has the `{key}` {shown(text)}. It must be a text, for the model chooses by it.")
        schema = tool.get("inputSchema")
        good = isinstance(schema, dict) and schema.get("type") == "object"
        wanted = 'It must be a JSON Schema with "type": "object".'
        expect(good, f"The `inputSchema` of `{tool['name']}` is {shown(schema, 60)}. {wanted}")
    names = [tool["name"] for tool in tools]
    expect(len(set(names)) == len(names), f"Each tool needs a name of its own; these are {shown(names)}.")


def call_well(line: Line) -> None:
    """A call has content, whether the tool succeeds or fails."""
    tool = _usable(line)[0]
    what = f"a call of `{tool.name}`"
    result = result_of(_call(line, tool.name, tool.arguments()), what)
    _content(result, what)
    failed = result.get("isError", False)
    expect(isinstance(failed, bool), f"The result of {what} has the `isError` {shown(failed)}. It is true or false.")


def not_there(line: Line) -> None:
    """An unknown tool is an error of the protocol."""
    expect_error(_call(line, "no_such_tool", {}), -32602, "a call of an unknown tool")


def fail_well(line: Line, failing: Call | None) -> None:
    """A tool that fails is a result, since the model has to read why."""
    calls = [failing] if failing is not None else [(tool.name, {}) for tool in _usable(line) if tool.required]
    if not calls:
        told = "Give one tool a required parameter: the contract calls it without, to see the failure."
        raise CheckFailed(f"{told} (`mcp_server_contract` also takes a call that fails: failing=(name, arguments).)")
    results = [_failure(line, name, arguments) for name, arguments in calls]
    told = "Calls that cannot be carried out came back as if all were well."
    expect(any(results), f"{told} When a tool fails, its result has `isError` true.")


def _failure(line: Line, name: str, arguments: Mapping[str, Any]) -> bool:
    """Whether this call comes back as a failure. Raises `CheckFailed` when it comes back in a wrong form."""
    given = shown(dict(arguments), 60) if arguments else "no arguments"
    what = f"a call of `{name}` with {given}"
    answer = _call(line, name, arguments)
    told = f"{begun(what)} came back as an `error` of the protocol, which the model does not get to read."
    expect("error" not in answer, f"{told} Return a result with `isError` true.")
    result = result_of(answer, what)
    content = _content(result, what)
    if result.get("isError") is not True:
        return False
    expect(content, f"{begun(what)} failed without a word. Say in its `content` what is wrong.")
    trace = "Traceback (most" in json.dumps(content)
    expect(not trace, f"{begun(what)} came back with a stack trace. Give the model one sentence instead.")
    return True


def _call(line: Line, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    return line.ask("tools/call", {"name": name, "arguments": arguments})


def _content(result: Mapping[str, Any], what: str) -> list[dict[str, Any]]:
    content = result.get("content")
    blocks: list[Any] = content if isinstance(content, list) else [None]
    good = all(isinstance(block, dict) and isinstance(block.get("type"), str) for block in blocks)
    wanted = 'It must be a list of blocks such as {"type": "text", "text": "…"}.'
    expect(good, f"The result of {what} has the `content` {shown(content)}. {wanted}")
    texts = [block.get("text") for block in blocks if block["type"] == "text"]
    told = all(isinstance(text, str) for text in texts)
    expect(told, f"The result of {what} has the `content` {shown(content)}. The `text` of a block must be a text.")
    return blocks


# --- the tools that a server lists ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Listed:
    """A tool of the list that can be called. ``parameters`` and ``validate`` are what `sample` wants to see."""

    name: str
    parameters: Mapping[str, Any]
    reads: bool

    @property
    def required(self) -> bool:
        return bool(self.parameters.get("required"))

    def arguments(self) -> dict[str, Any]:
        return sample(cast(Tool, self)) or {}

    def validate(self, arguments: Any) -> Any:
        return arguments


def _tools(line: Line) -> Iterator[Any]:
    """The definitions as they came, page by page."""
    params: dict[str, Any] | None = None
    for _ in range(_PAGES):
        result = result_of(line.ask("tools/list", params), "`tools/list`")
        found = result.get("tools")
        if not isinstance(found, list):
            raise CheckFailed(f"`tools/list` came back with {shown(result)}. Its result has a list named `tools`.")
        yield from found
        if result.get("nextCursor") is None:
            return
        params = {"cursor": result["nextCursor"]}
    raise CheckFailed(f"`tools/list` gave a `nextCursor` {_PAGES} times. The last page has none.")


def _usable(line: Line) -> list[_Listed]:
    """The tools that can be called: those that only read first, then those without required arguments."""
    found: list[_Listed] = []
    for tool in _tools(line):
        if isinstance(tool, dict) and isinstance(tool.get("name"), str):
            schema, notes = tool.get("inputSchema"), tool.get("annotations")
            reads = isinstance(notes, dict) and notes.get("readOnlyHint") is True
            found.append(_Listed(tool["name"], schema if isinstance(schema, dict) else {}, reads))
    expect(found, "`tools/list` has no tool that can be called.")
    return sorted(found, key=lambda tool: (not tool.reads, tool.required))
