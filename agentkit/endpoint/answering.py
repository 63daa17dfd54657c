"""From a request to the events or the document of its answer, for whatever service it is."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any, Protocol

from agentkit.endpoint.asking import Item
from agentkit.endpoint.speaking import Speaker
from agentkit.endpoint.values import Asked, Family, Piece, Said
from agentkit.messages import TextDelta


class Writer(Protocol):
    """Writes one answer in the form of one service, as a document or as the events of a stream."""

    @property
    def family(self) -> Family: ...
    @property
    def prefix(self) -> str: ...
    @property
    def objects(self) -> bool: ...
    def document(self, said: Said) -> dict[str, Any]: ...
    def start(self) -> list[dict[str, Any]]: ...
    def add(self, piece: Piece) -> list[dict[str, Any]]: ...
    def end(self, said: Said) -> list[dict[str, Any]]: ...


async def whole(asked: Asked, writer: Writer, items: AsyncIterator[Item]) -> dict[str, Any]:
    """The document of an answer that is sent at once."""
    speaker = Speaker(asked, writer.prefix, objects=writer.objects)
    async for item in items:
        for _ in speaker.delta(item.text) if isinstance(item, TextDelta) else speaker.reply(item):
            pass
    return writer.document(speaker.said)


async def streamed(
    asked: Asked, writer: Writer, first: Item, items: AsyncIterator[Item]
) -> AsyncGenerator[tuple[list[dict[str, Any]], dict[str, Any] | None]]:
    """Events in batches, each as soon as it is there; with the last batch comes the document that they add up to."""
    speaker = Speaker(asked, writer.prefix, objects=writer.objects)
    batch, item = writer.start(), first
    while True:
        pieces = speaker.delta(item.text) if isinstance(item, TextDelta) else speaker.reply(item)
        batch += [event for piece in pieces for event in writer.add(piece)]
        if not isinstance(item, TextDelta) or speaker.ended:
            break
        if batch:
            yield batch, None
            batch = []
        item = await anext(items)
    said = speaker.said
    yield batch + writer.end(said), writer.document(said)
