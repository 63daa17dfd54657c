"""One client of a server: the handshake, and an answer to each method of the protocol."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from agentkit._jsonsafe import dumps
from agentkit.errors import ToolError
from agentkit.mcp.calling import LEVELS, Call, enter, leave, shown_arguments
from agentkit.mcp.context import Context, Handler
from agentkit.mcp.jsonrpc import INVALID_PARAMS, INVALID_REQUEST, RESOURCE_NOT_FOUND, McpError
from agentkit.mcp.offers import contents, named, page
from agentkit.mcp.peer import Peer, Send
from agentkit.mcp.recording import Recorder
from agentkit.mcp.revisions import has_batches, has_structured_results, negotiate
from agentkit.messages import ToolCall, ToolResult

if TYPE_CHECKING:
    from agentkit.mcp.server import Server

# Lists of resources are not among them: they call a function of the server's author, which may take its time.
_QUICK: Final = ("initialize", "ping", "logging/setLevel", "tools/list", "prompts/list")


class Session:
    """A server's side of one connection. ``capabilities`` are those that the client told in its handshake."""

    def __init__(self, server: Server, send: Send, recorder: Recorder | None = None) -> None:
        self.server = server
        self.revision: str | None = None  # None until the handshake
        self.capabilities: Mapping[str, Any] = {}
        self.client: Mapping[str, Any] = {}
        self.log_level = "info"
        self.peer = Peer(
            send,
            {method: self._guarded(method, handler) for method, handler in self._handlers().items()},
            quick=_QUICK,
            name=server.name,
            other="client",
            complain=True,
            recorder=recorder,
        )

    def tell_changed(self, what: str) -> None:
        """Send a ``list_changed`` notification, once the handshake is over."""
        if self.revision is not None:
            with contextlib.suppress(McpError):  # this client may have gone; the others must still hear of it
                self.peer.notify(f"notifications/{what}/list_changed")

    def _handlers(self) -> dict[str, Handler]:
        server = self.server
        found: dict[str, Handler] = {
            "initialize": self._initialize,
            "ping": lambda context: {},
            "logging/setLevel": self._set_level,
        }
        able = server.capabilities()
        if "tools" in able:
            found |= {"tools/list": self._list("tools", lambda: server.tools()), "tools/call": self._call}
        if "resources" in able:
            found["resources/list"] = self._list("resources", lambda: [item.form() for item in server.resources])
            found["resources/templates/list"] = self._list(
                "resourceTemplates", lambda: [item.form() for item in server.templates]
            )
            found["resources/read"] = self._read
        if "prompts" in able:
            found["prompts/list"] = self._list("prompts", lambda: [item.form() for item in server.prompts])
            found["prompts/get"] = self._prompt
        return found

    def _guarded(self, method: str, handler: Handler) -> Handler:
        """Nothing but a ping before the handshake; and while a handler works, it is the current call."""

        def guarded(context: Context) -> Mapping[str, Any]:
            if self.revision is None and method not in ("initialize", "ping"):
                raise McpError("Send initialize first.", code=INVALID_REQUEST)
            token = enter(Call(self, context))
            try:
                return handler(context)
            finally:
                leave(token)

        return guarded

    # --- the handshake ------------------------------------------------------------------------------------------------

    def _initialize(self, context: Context) -> Mapping[str, Any]:
        asked = context.params.get("protocolVersion")
        able, client = context.params.get("capabilities"), context.params.get("clientInfo")
        if self.revision is not None:
            raise McpError("This connection is initialized already.", code=INVALID_REQUEST)
        if not isinstance(asked, str) or not isinstance(able, Mapping) or not isinstance(client, Mapping):
            told = "initialize needs protocolVersion (a text), capabilities and clientInfo (objects)."
            raise McpError(told, code=INVALID_PARAMS)
        self.revision, self.capabilities, self.client = negotiate(asked), able, client
        self.peer.batches = has_batches(self.revision)
        server = self.server
        answer = {
            "protocolVersion": self.revision,
            "capabilities": server.capabilities(),
            "serverInfo": {"name": server.name, "version": server.version},
        }
        return answer | ({"instructions": server.instructions} if server.instructions else {})

    def _set_level(self, context: Context) -> Mapping[str, Any]:
        level = context.params.get("level")
        if level not in LEVELS:
            raise McpError(f"The level is one of {', '.join(LEVELS)}.", code=INVALID_PARAMS)
        self.log_level = level
        return {}

    # --- lists ----------------------------------------------------------------------------------------------------------

    def _list(self, key: str, items: Any) -> Handler:
        def listed(context: Context) -> Mapping[str, Any]:
            found: Sequence[dict[str, Any]] = items()
            part, cursor = page(found, context.params.get("cursor"), self.server.page_size)
            return {key: list(part)} | ({} if cursor is None else {"nextCursor": cursor})

        return listed

    # --- tools ----------------------------------------------------------------------------------------------------------

    def _call(self, context: Context) -> Mapping[str, Any]:
        name, arguments = context.params.get("name"), context.params.get("arguments", {})
        registry = self.server.registry
        assert registry is not None  # without one there is no such method
        if not isinstance(name, str) or registry.find(name) is None:
            raise McpError(f"There is no tool {str(name)[:80]!r}. {self._usable()}", code=INVALID_PARAMS)
        if not isinstance(arguments, Mapping):
            raise McpError("The arguments of a tool are a JSON object.", code=INVALID_PARAMS)
        arguments = dict(arguments)
        call = ToolCall(name, arguments, str(context.request.id))
        result = registry.call(call)
        if result.error is not None and result.error.code == "needs_approval":
            result = self._asked_person(Call(self, context), call, shown_arguments(arguments), result)
        self.server.look_again()
        return tool_result(result, self.revision)

    def _usable(self) -> str:
        """The tools that a client can use, in a sentence; the names of others are nobody's business."""
        names = [form["name"] for form in self.server.tools()]
        return f"The tools are: {', '.join(names)}." if names else "There are no tools."

    def _asked_person(self, asking: Call, call: ToolCall, shown: str | None, refused: ToolResult) -> ToolResult:
        """Ask the person in front of the client, if the client can; the answer counts for exactly these arguments."""
        registry = self.server.registry
        if registry is None or not asking.can("elicitation"):
            return refused
        if shown is None:
            return _unasked(refused)
        question = f"{self.server.name} asks for approval: run {call.name} with {shown}?"
        try:
            answer = asking.elicit(question, {"approve": {"type": "boolean", "description": "Whether it may run."}})
        except ToolError:  # nobody answered, and no answer is no
            return refused
        if not answer or answer.get("approve") is not True:
            return refused
        return registry.call(call, approved=registry.approve(call, by="client"))

    # --- resources and prompts ------------------------------------------------------------------------------------------

    def _read(self, context: Context) -> Mapping[str, Any]:
        uri = context.params.get("uri")
        if not isinstance(uri, str):
            raise McpError("resources/read needs a uri, a text.", code=INVALID_PARAMS)
        try:
            for item in self.server.resources:
                if item.uri == uri:
                    return contents(uri, item.mime_type, item.read())
            for template in self.server.templates:
                parts = template.match(uri)
                if parts is not None:
                    return contents(uri, template.mime_type, template.read(**parts))
        except ToolError as error:
            raise McpError(str(error), code=RESOURCE_NOT_FOUND, data={"uri": uri}) from None
        raise McpError(f"There is no resource {uri[:200]!r}.", code=RESOURCE_NOT_FOUND, data={"uri": uri})

    def _prompt(self, context: Context) -> Mapping[str, Any]:
        prompt = named(self.server.prompts, context.params.get("name"), "prompt")
        given = context.params.get("arguments", {})
        if not isinstance(given, Mapping):
            raise McpError("The arguments of a prompt are a JSON object of texts.", code=INVALID_PARAMS)
        try:
            return {"description": prompt.description, "messages": prompt.messages(given)}
        except ToolError as error:
            raise McpError(str(error), code=INVALID_PARAMS) from None


def _unasked(refused: ToolResult) -> ToolResult:
    if refused.error is None:
        return refused
    told = "Nobody was asked, because these arguments are too long to be shown to a person. Send less at a time."
    return replace(refused, error=replace(refused.error, hint=f"{refused.error.hint} {told}".strip()))


def tool_result(result: ToolResult, revision: str | None) -> dict[str, Any]:
    """A `ToolResult` in MCP's form. A failure is a result, not an error of the protocol: the model has to read it."""
    structured: Any = None
    if result.error is not None:
        texts = [f"{result.error.message} {result.error.hint}".strip()]
        structured = {"error": {"code": result.error.code, "message": result.error.message, "hint": result.error.hint}}
    else:
        texts = [result.data if isinstance(result.data, str) else dumps(result.data)]
        structured = result.data if isinstance(result.data, Mapping) else None
    texts += [result.note] if result.note else []
    form: dict[str, Any] = {"content": [{"type": "text", "text": text} for text in texts]}
    if structured is not None and has_structured_results(revision):
        form["structuredContent"] = structured
    return form | {"isError": result.error is not None}
