"""The SDK's client in the background event loop: entered, kept open and left by one and the same task."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Callable
from concurrent.futures import CancelledError as GivenUp
from typing import Any, Final

from mcp import Client as Inner
from mcp.client.streamable_http import streamable_http_client
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from agentkit._tasks import background_loop
from agentkit.mcp.jsonrpc import Notification

CLOSE_SECONDS: Final = 10.0


class Holder:
    """A task that enters the client and stays until it is told to leave: what is entered in one task must end in it."""

    def __init__(self, inner: Inner, changed: Callable[[Notification], None] | None) -> None:
        self._inner, self._changed = inner, changed
        self._ready: Any = None
        self._leave: asyncio.Event | None = None
        self._task: Any = None

    def enter(self, seconds: float) -> None:
        opened = threading.Event()
        failed: list[BaseException] = []

        async def hold() -> None:
            self._leave = asyncio.Event()
            try:
                async with self._inner:
                    listening = await self._listening()
                    opened.set()
                    await self._leave.wait()
                    for task in listening:
                        task.cancel()
                        await asyncio.wait({task})
            except BaseException as error:
                failed.append(error)
            finally:
                opened.set()

        self._task = asyncio.run_coroutine_threadsafe(hold(), background_loop())
        if not opened.wait(seconds):
            self._task.cancel()
            raise TimeoutError
        if failed:
            raise failed[0]

    async def _listening(self) -> list[asyncio.Task[None]]:
        """The task that listens for changes, if that was asked for and the server is of the newest revision."""
        changed = self._changed
        if changed is None or self._inner.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            return []
        ready = asyncio.Event()

        async def listen() -> None:
            try:
                async with self._inner.listen(tools_list_changed=True) as events:
                    ready.set()
                    async for _ in events:
                        changed(Notification("notifications/tools/list_changed"))
            except Exception as error:  # it will not tell; what a person approves is looked at again anyway
                changed(Notification("notifications/message", {"level": "warning", "data": f"not listening: {error}"}))
            finally:
                ready.set()

        task = asyncio.ensure_future(listen())
        await ready.wait()
        return [task]

    def close(self) -> None:
        task, leave, self._task = self._task, self._leave, None
        if task is None:
            return
        if leave is not None:
            background_loop().call_soon_threadsafe(leave.set)
        with contextlib.suppress(Exception, GivenUp):
            task.result(CLOSE_SECONDS)
        task.cancel()


@contextlib.asynccontextmanager
async def addressed(url: str, headers: dict[str, str]) -> AsyncIterator[tuple[Any, Any]]:
    from mcp.shared._httpx_utils import create_mcp_http_client

    async with (
        create_mcp_http_client(headers=headers) as http,
        streamable_http_client(url, http_client=http) as streams,
    ):
        yield streams
