"""The client of the official SDK, for ordinary functions: its coroutines run in the one background event loop.

It has the methods of our own `Client`, so that the bridge and the host take either. The SDK speaks two eras of the protocol:
2026-07-28, its default, which has no handshake (each request tells the revision), and with ``mode="legacy"`` the
revisions up to 2025-11-25, which begin with ``initialize``.
"""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
import weakref
from collections import deque
from collections.abc import Coroutine, Mapping
from concurrent.futures import CancelledError as GivenUp
from typing import Any, Final, Self, TypeVar

from mcp import Client as Inner
from mcp import MCPError, StdioServerParameters, stdio_client

from agentkit._tasks import background_loop
from agentkit.errors import DefinitionError
from agentkit.mcp._jsonschema import load_jsonschema
from agentkit.mcp.asking import Lists
from agentkit.mcp.jsonrpc import CONNECTION_CLOSED, INTERNAL_ERROR, TIMED_OUT, McpError, Notification
from agentkit.mcp.peer import Progress
from agentkit.mcp.recording import Recorder
from agentkit.mcp.remote import Rejected, ToolOutcome, read_outcome
from agentkit.mcp.sdk_loop import Holder, addressed

T = TypeVar("T")
_LISTS: Final = {
    "tools/list": "list_tools",
    "resources/list": "list_resources",
    "resources/templates/list": "list_resource_templates",
    "prompts/list": "list_prompts",
}
_LATE: Final = (-32001, 408)  # how the SDK numbers "no answer in time"


class SdkClient(Lists):
    """A connection to one server through the SDK. Use it in a ``with`` block.

    Args:
        server: a server of the SDK in this process, an address, ``StdioServerParameters``, a transport of the SDK, or one
            of its clients that has not been entered.
        mode: ``"auto"`` (the newest revision, or the handshake where the server knows no other) or ``"legacy"``.
        timeout: seconds to wait for each answer.
        name, server_name: what the two sides are called in a recording.
        recorder: writes down every message. A server in this process needs ``mode="legacy"`` for that: in the other mode
            the SDK calls it directly, and nothing travels.
        headers: for an address, headers of every request.
        listen: whether to ask a server of the newest revision to tell when its tools change (`notifications` then holds
            it). A server of an older revision tells it unasked.
        options: further options of the SDK's client, such as ``elicitation_callback``.
    """

    def __init__(
        self,
        server: Any,
        *,
        mode: str = "auto",
        timeout: float = 10.0,
        name: str = "client",
        server_name: str = "server",
        recorder: Recorder | None = None,
        headers: Mapping[str, str] | None = None,
        listen: bool = False,
        **options: Any,
    ) -> None:
        self.timeout = timeout
        self.notifications: deque[Notification] = deque(maxlen=1_000)
        self.rejected: tuple[Rejected, ...] = ()
        self.revision: str | None = None
        self.server_info: Mapping[str, Any] = {}
        self.server_capabilities: Mapping[str, Any] = {}
        self.instructions = ""
        self._server, self._headers, self._options = server, headers or {}, {"mode": mode, **options}
        self._names, self._recorder = (name, server_name), recorder
        self._listen = listen
        self._errors: Any = None
        self._inner: Inner | None = None
        self._holder: Holder | None = None
        self._lost = False  # whether a request heard that the connection is gone

    # --- life -----------------------------------------------------------------------------------------------------------

    def connect(self) -> Self:
        """Open the connection, or a new one once an answer told that it is gone. Raises `McpError`; nothing stays open then."""
        if self._holder is not None and not self._lost:
            return self
        self.close()
        load_jsonschema()  # the SDK imports it with the first answer of a tool, and then the slow way
        self._inner = inner = self._made()
        holder = Holder(inner, self.notifications.append if self._listen else None)
        try:
            holder.enter(self.timeout + 5.0)
        except BaseException as error:
            holder.close()
            raise self._sentence(error, "connect") from None
        self._holder = holder
        self._forgotten = weakref.finalize(self, holder.close)
        self.revision = inner.protocol_version
        self.server_info = {} if inner.server_info is None else _body(inner.server_info)
        self.server_capabilities = _body(inner.server_capabilities)
        self.instructions = inner.instructions or ""
        return self

    def close(self) -> None:
        """End the connection; a server that was started for it is stopped. May be called twice."""
        holder, self._holder, self.revision, self._lost = self._holder, None, None, False
        if holder is not None:
            self._forgotten.detach()
            holder.close()

    @property
    def stderr(self) -> str:
        """The end of what a server in a child process wrote to its standard error."""
        if self._errors is None or self._errors.closed:
            return ""
        self._errors.flush()
        self._errors.seek(0)
        return str(self._errors.read())[-64_000:]

    # --- what can be asked ------------------------------------------------------------------------------------------------

    def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        progress: Progress | None = None,
        timeout: float | None = None,
    ) -> ToolOutcome:
        """Run a tool. A tool that fails is an outcome with ``is_error``; what the protocol refuses is an `McpError`."""
        seconds = self.timeout if timeout is None else timeout
        told = None if progress is None else _async(progress)
        work = self._client().call_tool(name, dict(arguments or {}), seconds, told)
        return read_outcome(_body(self._wait(work, "tools/call", seconds)))

    def read_resource(self, uri: str) -> tuple[Mapping[str, Any], ...]:
        """The contents behind an address, each with ``text``, or ``blob`` in base64."""
        return tuple(_body(self._wait(self._client().read_resource(uri), "resources/read"))["contents"])

    def get_prompt(self, name: str, arguments: Mapping[str, str] | None = None) -> tuple[Mapping[str, Any], ...]:
        """The messages of a prompt, each with ``role`` and ``content``."""
        work = self._client().get_prompt(name, dict(arguments or {}))
        return tuple(_body(self._wait(work, "prompts/get"))["messages"])

    def _page(self, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        # A definition may have changed since it was kept, so the SDK's cache is passed by.
        ask = getattr(self._client(), _LISTS[method])
        return _body(self._wait(ask(cursor=params.get("cursor"), cache_mode="refresh"), method))

    # --- the SDK ----------------------------------------------------------------------------------------------------------

    def _client(self) -> Inner:
        if self._holder is None or self._inner is None:
            raise McpError("This client is not connected. Use it in a `with` block.", code=CONNECTION_CLOSED)
        return self._inner

    def _wait(self, work: Coroutine[Any, Any, T], method: str, seconds: float | None = None) -> T:
        """The value of a coroutine of the SDK, in a thread that may itself be inside another event loop."""
        limit = self.timeout if seconds is None else seconds
        if _inside():
            work.close()
            told = "An async tool cannot use this client: it would wait for itself. Make it a plain function."
            raise DefinitionError(told)
        future = asyncio.run_coroutine_threadsafe(work, background_loop())
        try:
            return future.result(limit + 1.0)
        except BaseException as error:
            future.cancel()
            if isinstance(error, KeyboardInterrupt):
                raise
            raise self._sentence(error, method, limit) from None

    def _sentence(self, error: BaseException, method: str, seconds: float | None = None) -> BaseException:
        """An exception of the SDK as ours."""
        while isinstance(error, BaseExceptionGroup) and error.exceptions:
            error = error.exceptions[0]
        if not isinstance(error, Exception) or isinstance(error, McpError | DefinitionError):
            return error
        code = error.code if isinstance(error, MCPError) else INTERNAL_ERROR
        self._lost = self._lost or code == CONNECTION_CLOSED
        if isinstance(error, TimeoutError | GivenUp) or code in _LATE:
            told = "in time" if seconds is None else f"within {seconds:g} seconds"
            return McpError(f"The server did not answer {method} {told}.", code=TIMED_OUT)
        words = str(error).strip() or type(error).__name__
        last = self.stderr.strip()[-1_000:]
        said = f" Its last words: {last}" if last and code in (CONNECTION_CLOSED, INTERNAL_ERROR) else ""
        return McpError(f"{method} failed: {words[:1_000].rstrip('.')}.{said}", code=code)

    def _made(self) -> Inner:
        """The SDK's client, not entered yet."""
        if isinstance(self._server, Inner):
            inner = self._server
            with contextlib.suppress(RuntimeError):
                inner.session  # noqa: B018 (it raises until the client is entered)
                told = "This client of the SDK is open in another event loop. Give one that is not entered."
                raise DefinitionError(told)
            inner.message_handler = self._hearing(inner.message_handler)
            return inner
        options = {**self._options, "message_handler": self._hearing(self._options.get("message_handler"))}
        return Inner(self._transport(), read_timeout_seconds=self.timeout, **options)

    def _transport(self) -> Any:
        server = self._server
        if isinstance(server, StdioServerParameters):
            # The SDK hands sys.stderr to the child, and the one of a notebook kernel is no file.
            self._errors = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115
            server = stdio_client(server, errlog=self._errors)
        elif isinstance(server, str) and (self._headers or self._recorder is not None):
            server = addressed(server, dict(self._headers))
        if self._recorder is None:
            return server
        if not hasattr(server, "__aenter__"):
            if self._options.get("mode") != "legacy":
                raise DefinitionError('Nothing travels to a server in this process: give mode="legacy" to record it.')
            from mcp.client._memory import InMemoryTransport

            server = InMemoryTransport(getattr(server, "_lowlevel_server", server))
        from agentkit.mcp.sdk_wire import recorded

        return recorded(server, self._recorder, *self._names)

    def _hearing(self, other: Any) -> Any:
        kept = self.notifications

        async def hear(message: Any) -> None:
            if not isinstance(message, Exception):
                body = _body(message)
                kept.append(Notification(body["method"], body.get("params") or {}))
            if other is not None:
                await other(message)

        return hear

    def __repr__(self) -> str:
        state = f"revision {self.revision}" if self.revision else "not connected"
        return f"SdkClient({type(self._server).__name__}, {state})"


def _inside() -> bool:
    """Whether this is the thread of the background loop, which must not wait for itself."""
    try:
        return asyncio.get_running_loop() is background_loop()
    except RuntimeError:
        return False


def _async(tell: Progress) -> Any:
    async def told(done: float, total: float | None, message: str | None) -> None:
        tell(done, total, message or "")

    return told


def _body(model: Any) -> dict[str, Any]:
    found: dict[str, Any] = model.model_dump(mode="json", by_alias=True, exclude_none=True)
    return found
