"""Writing down what the SDK's client sends and receives: its streams, with a recorder beside them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from agentkit.mcp.jsonrpc import parse
from agentkit.mcp.recording import Recorder


@asynccontextmanager
async def recorded(transport: Any, recorder: Recorder, name: str, other: str) -> AsyncIterator[tuple[Any, Any]]:
    """A transport of the SDK that also tells a recorder each message. ``name`` and ``other`` are the two sides."""
    async with transport as (read, write):
        yield _Reading(read, recorder, name, other), _Writing(write, recorder, name, other)


class _Stream:
    """Everything but the messages is the stream's own."""

    def __init__(self, stream: Any, recorder: Recorder, name: str, other: str) -> None:
        self._stream, self._recorder, self._name, self._other = stream, recorder, name, other

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    async def __aenter__(self) -> Any:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> Any:
        return await self._stream.__aexit__(*error)

    def _write_down(self, sender: str, receiver: str, item: Any) -> None:
        message = getattr(item, "message", None)  # an item may also be an exception of the transport
        if message is not None:
            text = message.model_dump_json(by_alias=True, exclude_unset=True)
            self._recorder(sender, receiver, parse(text), text)


class _Reading(_Stream):
    async def receive(self) -> Any:
        item = await self._stream.receive()
        self._write_down(self._other, self._name, item)
        return item

    def __aiter__(self) -> _Reading:
        return self

    async def __anext__(self) -> Any:
        item = await self._stream.__anext__()
        self._write_down(self._other, self._name, item)
        return item


class _Writing(_Stream):
    async def send(self, item: Any) -> None:
        self._write_down(self._name, self._other, item)
        await self._stream.send(item)
