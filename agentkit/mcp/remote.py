"""What a client gets from a server, read with care: a server is written by somebody else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Any

from agentkit._value import value
from agentkit.mcp.jsonrpc import McpError


@value
class RemoteTool:
    """A tool as its server describes it. Nothing of this can be trusted, ``annotations`` least of all.

    ``input_schema`` is the JSON Schema of the arguments, ``output_schema`` that of ``ToolOutcome.data`` if the server gave one.
    ``body`` is the whole definition as it came, with what is not read here.
    """

    name: str
    description: str
    input_schema: Mapping[str, Any]
    annotations: Mapping[str, Any]
    output_schema: Mapping[str, Any] | None = None
    title: str = ""
    body: Mapping[str, Any] = field(default_factory=dict, compare=False)


@value
class Rejected:
    """A definition that cannot be used: the name if there is one, the reason, and the definition as it came."""

    name: str
    reason: str
    definition: Any


@value
class ToolOutcome:
    """What a tool answered: its ``text``, ``data`` (a JSON object, or None), and ``content``, the blocks as they came.

    ``is_error`` says that the tool failed; the text then tells why.
    """

    text: str
    data: Mapping[str, Any] | None = None
    is_error: bool = False
    content: tuple[Mapping[str, Any], ...] = ()

    @property
    def ok(self) -> bool:
        return not self.is_error


def read_tool(body: Any) -> RemoteTool | Rejected:
    """A tool of a ``tools/list`` answer, or why it cannot be used."""
    if not isinstance(body, Mapping):
        return Rejected("", "The definition is not a JSON object.", body)
    name, schema, description = body.get("name"), body.get("inputSchema"), body.get("description", "")
    shown = name if isinstance(name, str) else ""
    if not shown.strip():
        return Rejected(shown, "It has no name.", body)
    if not isinstance(schema, Mapping) or schema.get("type") != "object":
        return Rejected(shown, "Its inputSchema is not a JSON Schema of type object.", body)
    if not isinstance(description, str):
        return Rejected(shown, "Its description is not a text.", body)
    notes, output, title = body.get("annotations"), body.get("outputSchema"), body.get("title")
    return RemoteTool(
        shown,
        description,
        schema,
        notes if isinstance(notes, Mapping) else {},
        output if isinstance(output, Mapping) else None,
        title if isinstance(title, str) else "",
        body,
    )


def read_tools(bodies: Iterable[Any]) -> tuple[tuple[RemoteTool, ...], tuple[Rejected, ...]]:
    """The tools of a list, and what of it cannot be used. Of two with the same name, the first counts."""
    tools: dict[str, RemoteTool] = {}
    rejected: list[Rejected] = []
    for body in bodies:
        found = read_tool(body)
        if isinstance(found, Rejected):
            rejected.append(found)
        elif found.name in tools:
            rejected.append(Rejected(found.name, "Another tool of this server has the same name.", body))
        else:
            tools[found.name] = found
    return tuple(tools.values()), tuple(rejected)


def read_outcome(result: Mapping[str, Any]) -> ToolOutcome:
    """The answer to ``tools/call``. Raises `McpError` when it is none."""
    content, data = result.get("content", []), result.get("structuredContent")
    if not isinstance(content, list) or not all(isinstance(block, Mapping) for block in content):
        raise McpError("The server's answer to tools/call has no list of content blocks.")
    text = "\n".join(_block_text(block) for block in content)
    failed = result.get("isError", False)
    return ToolOutcome(text, data if isinstance(data, Mapping) else None, failed is not False, tuple(content))


def read_page(method: str, key: str, result: Mapping[str, Any]) -> tuple[list[Any], str | None]:
    """The items of one page and the cursor of the next. Raises `McpError` when the answer is no page."""
    items, cursor = result.get(key), result.get("nextCursor")
    if not isinstance(items, list) or not isinstance(cursor, str | None):
        raise McpError(f"The server's answer to {method} has no list named {key!r}, or a cursor that is no text.")
    return items, cursor


def _block_text(block: Mapping[str, Any]) -> str:
    """The text of a content block; of anything else what kind of thing it is."""
    kind = block.get("type")
    if kind == "text":
        return str(block.get("text", ""))
    if kind == "resource" and isinstance(block.get("resource"), Mapping):
        inner = block["resource"]
        return str(inner["text"]) if "text" in inner else f"[resource {inner.get('uri', '')}]"
    if kind == "resource_link":
        return f"[resource {block.get('uri', '')}]"
    return f"[{kind or 'block'} {block.get('mimeType', '')}]".replace(" ]", "]")
