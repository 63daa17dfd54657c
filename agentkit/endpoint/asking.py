"""Asking the model from the server's event loop: in a daemon thread, so that a slow model holds up nobody else."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading
from collections.abc import AsyncGenerator, Callable, Iterator
from typing import Any, TypeAlias

from agentkit._redact import mask_text
from agentkit._replies import as_reply
from agentkit.endpoint.speaking import check_decision
from agentkit.endpoint.values import Asked, Refused
from agentkit.errors import ModelError
from agentkit.messages import Model, Pause, Reply, TextDelta

Item: TypeAlias = TextDelta | Reply
_Box: TypeAlias = tuple[Any, BaseException | None]


def comes_live(model: Model, asked: Asked) -> bool:
    """Whether words can go out while the model writes.

    Not where the whole reply has to be looked at first: a thought that goes before the text, a reply that must be JSON, a
    choice of tools that the model might not keep to.
    """
    whole_first = asked.show_thought or asked.json_text or asked.choice.kind != "auto" or asked.choice.names is not None
    return asked.stream and not whole_first and hasattr(model, "stream")


async def replies(model: Model, asked: Asked) -> AsyncGenerator[Item]:
    """What the model gives: text deltas when it comes live, and the reply, always. Raises `Refused` when there is none."""
    live = comes_live(model, asked)
    source = in_daemon(lambda: _streamed(model, asked) if live else iter([model.decide(asked.messages, asked.offered)]))
    async with contextlib.aclosing(source):
        try:
            async for found in source:
                if isinstance(found, TextDelta):
                    yield found
                    continue
                reply = as_reply(found)
                if isinstance(reply, Pause):
                    raise Refused(
                        503, f"The model behind this endpoint waits for a person: {reply.prompt}", retry=False
                    )
                check_decision(asked, reply.decision)
                yield reply
                return
        except Refused:
            raise
        except ModelError as error:
            raise Refused(500, f"The model behind this endpoint failed: {mask_text(str(error))}", retry=False) from None
        except Exception as error:
            told = f"{type(error).__name__}: {mask_text(str(error))}"
            raise Refused(500, f"The model behind this endpoint raised {told}", retry=False) from None
    raise Refused(500, "The model behind this endpoint ended its stream without a reply.", retry=False)


def _streamed(model: Any, asked: Asked) -> Iterator[Any]:
    return iter(model.stream(asked.messages, asked.offered))


async def in_daemon(start: Callable[[], Iterator[Any]]) -> AsyncGenerator[Any]:
    """The items of an iterator that runs in a daemon thread. Closing this generator closes the iterator at its next item."""
    loop = asyncio.get_running_loop()
    box: asyncio.Queue[_Box] = asyncio.Queue()
    gone = threading.Event()
    context = contextvars.copy_context()

    def put(item: Any, error: BaseException | None = None) -> None:
        with contextlib.suppress(RuntimeError):  # the loop may have been closed meanwhile
            loop.call_soon_threadsafe(box.put_nowait, (item, error))

    def work() -> None:
        try:
            items = start()
            for item in items:
                if gone.is_set():
                    break
                put(item)
            if gone.is_set() and hasattr(items, "close"):
                items.close()
        except BaseException as error:  # whatever it is, the one who waits must hear of it
            put(None, error)
        else:
            put(None, StopAsyncIteration())

    threading.Thread(target=context.run, args=(work,), daemon=True, name="agentkit-endpoint-model").start()
    try:
        while True:
            item, error = await box.get()
            if isinstance(error, StopAsyncIteration):
                return
            if isinstance(error, (StopIteration, KeyboardInterrupt, SystemExit)):
                raise RuntimeError(f"it raised {type(error).__name__}")
            if error is not None:
                raise error
            yield item
    finally:
        gone.set()
