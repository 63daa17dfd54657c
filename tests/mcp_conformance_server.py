"""What the official conformance suite asks of a server, made with the SDK: its test tools, resources and prompts.

    python tests/mcp_conformance_server.py PORT

The names and texts are those that the suite looks for. It speaks the revisions with a handshake, so sampling, logging and
elicitation are here although the newest revision has given them up.
"""

from __future__ import annotations

import asyncio
import base64
import json
import sys
import warnings
import zlib
from collections.abc import Awaitable, Callable
from typing import Any

import mcp_types as types
from mcp.server import Server
from mcp.server.streamable_http import EventCallback, EventMessage, EventStore
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError

warnings.simplefilter("ignore", MCPDeprecationWarning)

PAUSE = 0.05  # seconds, as the suite asks
Given = dict[str, Any]
Tool = Callable[[Any, Given], Awaitable[list[dict[str, Any]]]]


def _chunk(kind: bytes, data: bytes) -> bytes:
    check = zlib.crc32(kind + data).to_bytes(4, "big")
    return len(data).to_bytes(4, "big") + kind + data + check


# One red pixel, and 8 samples of silence.
_SIZE = (1).to_bytes(4, "big") * 2 + bytes([8, 2, 0, 0, 0])
_PIXEL = zlib.compress(b"\x00\xff\x00\x00")
PNG = base64.b64encode(
    b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", _SIZE) + _chunk(b"IDAT", _PIXEL) + _chunk(b"IEND", b"")
).decode("ascii")
_FORMAT = b"".join(
    n.to_bytes(size, "little") for n, size in ((16, 4), (1, 2), (1, 2), (8000, 4), (8000, 4), (1, 2), (8, 2))
)
_SOUND = b"WAVEfmt " + _FORMAT + b"data" + (8).to_bytes(4, "little") + b"\x80" * 8
WAV = base64.b64encode(b"RIFF" + len(_SOUND).to_bytes(4, "little") + _SOUND).decode("ascii")

IMAGE = {"type": "image", "data": PNG, "mimeType": "image/png"}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def embedded(uri: str, kind: str, words: str) -> dict[str, Any]:
    return {"type": "resource", "resource": {"uri": uri, "mimeType": kind, "text": words}}


# --- tools -----------------------------------------------------------------------------------------------------------------


def always(*blocks: dict[str, Any]) -> Tool:
    async def tool(ctx: Any, given: Given) -> list[dict[str, Any]]:
        return list(blocks)

    return tool


async def logging(ctx: Any, given: Given) -> list[dict[str, Any]]:
    for number, words in enumerate(("Tool execution started", "Tool processing data", "Tool execution completed")):
        await asyncio.sleep(PAUSE if number else 0)
        await ctx.session.send_log_message("info", words, related_request_id=ctx.request_id)
    return [text("Three log messages were sent.")]


async def failing(ctx: Any, given: Given) -> list[dict[str, Any]]:
    raise ValueError("This tool intentionally returns an error for testing")


async def progress(ctx: Any, given: Given) -> list[dict[str, Any]]:
    for done in (0, 50, 100):
        await asyncio.sleep(PAUSE if done else 0)
        await ctx.session.report_progress(done, 100)
    return [text("Done.")]


async def sampling(ctx: Any, given: Given) -> list[dict[str, Any]]:
    asked = types.SamplingMessage(role="user", content=types.TextContent(type="text", text=str(given["prompt"])))
    answer = await ctx.session.create_message([asked], max_tokens=100, related_request_id=ctx.request_id)
    return [text(f"LLM response: {answer.content.text}")]


def asking(message: str, properties: dict[str, Any], required: list[str], words: str) -> Tool:
    async def tool(ctx: Any, given: Given) -> list[dict[str, Any]]:
        form = {"type": "object", "properties": properties, "required": required}
        answer = await ctx.session.elicit_form(given.get("message", message), form, related_request_id=ctx.request_id)
        return [text(f"{words}: action={answer.action}, content={json.dumps(answer.content)}")]

    return tool


async def reconnection(ctx: Any, given: Given) -> list[dict[str, Any]]:
    """The stream is closed while the call goes on; the client comes back for the answer."""
    if ctx.close_sse_stream is not None:
        await ctx.close_sse_stream()
    await asyncio.sleep(PAUSE)
    return [text("The answer came after the stream was closed.")]


def texts(**described: str) -> dict[str, Any]:
    return {name: {"type": "string", "description": words} for name, words in described.items()}


DEFAULTS: dict[str, Any] = {
    "name": {"type": "string", "default": "John Doe"},
    "age": {"type": "integer", "default": 30},
    "score": {"type": "number", "default": 95.5},
    "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
    "verified": {"type": "boolean", "default": True},
}


def titled(*pairs: tuple[str, str]) -> list[dict[str, str]]:
    return [{"const": value, "title": title} for value, title in pairs]


FIRST = titled(("value1", "First Option"), ("value2", "Second Option"), ("value3", "Third Option"))
PLAIN = ["option1", "option2", "option3"]
ENUMS: dict[str, Any] = {
    "untitledSingle": {"type": "string", "enum": PLAIN},
    "titledSingle": {"type": "string", "oneOf": FIRST},
    "legacyEnum": {
        "type": "string", "enum": ["opt1", "opt2", "opt3"], "enumNames": ["Option One", "Option Two", "Option Three"],
    },
    "untitledMulti": {"type": "array", "items": {"type": "string", "enum": PLAIN}},
    "titledMulti": {"type": "array", "items": {"anyOf": FIRST}},
}  # fmt: skip
COMPLETED = "Elicitation completed"
PERSON = texts(username="User's response", email="User's email address")

TOOLS: dict[str, tuple[dict[str, Any], Tool]] = {
    "test_simple_text": ({}, always(text("This is a simple text response for testing."))),
    "test_image_content": ({}, always(IMAGE)),
    "test_audio_content": ({}, always({"type": "audio", "data": WAV, "mimeType": "audio/wav"})),
    "test_embedded_resource": (
        {}, always(embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")),
    ),
    "test_multiple_content_types": (
        {},
        always(
            text("Multiple content types test:"), IMAGE,
            embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
        ),
    ),
    "test_tool_with_logging": ({}, logging),
    "test_error_handling": ({}, failing),
    "test_tool_with_progress": ({}, progress),
    "test_sampling": (texts(prompt="The prompt to send to the LLM"), sampling),
    "test_elicitation": (
        texts(message="The message to show the user"), asking("", PERSON, ["username", "email"], "User response"),
    ),
    "test_elicitation_sep1034_defaults": ({}, asking("Look at the defaults.", DEFAULTS, [], COMPLETED)),
    "test_elicitation_sep1330_enums": ({}, asking("Choose.", ENUMS, [], COMPLETED)),
    "test_reconnection": ({}, reconnection),
}  # fmt: skip

ADDRESS = {"type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}
SCHEMA_2020 = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {"address": ADDRESS},
    "properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"}},
    "additionalProperties": False,
}


async def list_tools(ctx: Any, params: Any) -> types.ListToolsResult:
    listed = [
        {
            "name": name,
            "description": f"A tool of the conformance suite: {name}.",
            "inputSchema": {"type": "object", "properties": properties, "required": list(properties)},
        }
        for name, (properties, _) in TOOLS.items()
    ]
    described = "Tool with JSON Schema 2020-12 features"
    listed.append({"name": "json_schema_2020_12_tool", "description": described, "inputSchema": SCHEMA_2020})
    return types.ListToolsResult.model_validate({"tools": listed})


async def call_tool(ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
    if params.name not in TOOLS:
        raise MCPError(types.INVALID_PARAMS, f"There is no tool {params.name[:80]!r}.")
    try:
        blocks, failed = await TOOLS[params.name][1](ctx, params.arguments or {}), False
    except Exception as error:
        blocks, failed = [text(str(error))], True
    return types.CallToolResult.model_validate({"content": blocks, "isError": failed})


# --- resources ---------------------------------------------------------------------------------------------------------------

RESOURCES = {
    "test://static-text": {"mimeType": "text/plain", "text": "This is the content of the static text resource."},
    "test://static-binary": {"mimeType": "image/png", "blob": PNG},
    "test://watched-resource": {"mimeType": "text/plain", "text": "This resource may be watched."},
}


async def list_resources(ctx: Any, params: Any) -> types.ListResourcesResult:
    listed = [
        {"uri": uri, "name": uri.removeprefix("test://"), "description": "For tests.", "mimeType": found["mimeType"]}
        for uri, found in RESOURCES.items()
    ]
    return types.ListResourcesResult.model_validate({"resources": listed})


async def list_templates(ctx: Any, params: Any) -> types.ListResourceTemplatesResult:
    template = {"uriTemplate": "test://template/{id}/data", "name": "data", "mimeType": "application/json"}
    return types.ListResourceTemplatesResult.model_validate({"resourceTemplates": [template]})


async def read_resource(ctx: Any, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
    uri = str(params.uri)
    found = RESOURCES.get(uri)
    if found is None and uri.startswith("test://template/") and uri.endswith("/data"):
        number = uri.removeprefix("test://template/").removesuffix("/data")
        data = {"id": number, "templateTest": True, "data": f"Data for ID: {number}"}
        found = {"mimeType": "application/json", "text": json.dumps(data)}
    if found is None:
        raise MCPError(-32002, f"There is no resource {uri[:80]!r}.")
    return types.ReadResourceResult.model_validate({"contents": [{"uri": uri, **found}]})


async def nothing_more(ctx: Any, params: Any) -> types.EmptyResult:
    return types.EmptyResult()


# --- prompts -----------------------------------------------------------------------------------------------------------------

PROMPTS: dict[str, list[str]] = {
    "test_simple_prompt": [],
    "test_prompt_with_arguments": ["arg1", "arg2"],
    "test_prompt_with_embedded_resource": ["resourceUri"],
    "test_prompt_with_image": [],
}


async def list_prompts(ctx: Any, params: Any) -> types.ListPromptsResult:
    listed = [
        {
            "name": name,
            "description": "A prompt of the conformance suite.",
            "arguments": [{"name": each, "description": "For the test.", "required": True} for each in names],
        }
        for name, names in PROMPTS.items()
    ]
    return types.ListPromptsResult.model_validate({"prompts": listed})


async def get_prompt(ctx: Any, params: types.GetPromptRequestParams) -> types.GetPromptResult:
    given = params.arguments or {}
    if params.name not in PROMPTS or any(name not in given for name in PROMPTS[params.name]):
        raise MCPError(types.INVALID_PARAMS, "There is no such prompt, or an argument is missing.")
    made = {
        "test_simple_prompt": lambda: [text("This is a simple prompt for testing.")],
        "test_prompt_with_arguments": lambda: [
            text(f"Prompt with arguments: arg1='{given['arg1']}', arg2='{given['arg2']}'")
        ],
        "test_prompt_with_embedded_resource": lambda: [
            embedded(given["resourceUri"], "text/plain", "Embedded resource content for testing."),
            text("Please process the embedded resource above."),
        ],
        "test_prompt_with_image": lambda: [IMAGE, text("Please analyze the image above.")],
    }[params.name]()
    return types.GetPromptResult.model_validate({"messages": [{"role": "user", "content": block} for block in made]})


async def complete(ctx: Any, params: types.CompleteRequestParams) -> types.CompleteResult:
    return types.CompleteResult.model_validate({"completion": {"values": [], "total": 0, "hasMore": False}})


class Events(EventStore):
    """Keeps what was sent, so that a client that comes back gets what it has missed."""

    def __init__(self) -> None:
        self.kept: list[tuple[str, Any]] = []

    async def store_event(self, stream_id: str, message: Any) -> str:
        self.kept.append((stream_id, message))
        return str(len(self.kept) - 1)

    async def replay_events_after(self, last_event_id: str, send_callback: EventCallback) -> str | None:
        last = int(last_event_id)
        if not 0 <= last < len(self.kept):
            return None
        stream = self.kept[last][0]
        for number in range(last + 1, len(self.kept)):
            other, message = self.kept[number]
            if other == stream and message is not None:
                await send_callback(EventMessage(message, str(number)))
        return stream


def conformance_server() -> Server[Any]:
    return Server(
        "conformance",
        version="1.0",
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
        on_subscribe_resource=nothing_more,
        on_unsubscribe_resource=nothing_more,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
        on_completion=complete,
        on_set_logging_level=nothing_more,
    )


def main() -> None:
    import uvicorn

    app = conformance_server().streamable_http_app(host="127.0.0.1", event_store=Events(), retry_interval=100)
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="error")


if __name__ == "__main__":
    main()
