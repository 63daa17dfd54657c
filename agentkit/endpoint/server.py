"""The life of the endpoint: a socket, a thread with an event loop of its own, and a stop that leaves nothing behind."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

from agentkit.endpoint.hosts import is_loopback
from agentkit.endpoint.values import Exchange, Fault
from agentkit.errors import DefinitionError, ProviderError
from agentkit.messages import Model

if TYPE_CHECKING:
    from agentkit.endpoint.desk import Desk

START_SECONDS = 20.0
STOP_SECONDS = 10.0
MAX_BYTES = 32_000_000


class Endpoint:
    """A loopback server that speaks OpenAI's and Anthropic's wire format in front of any model.

    Use it in a ``with`` block, or call `start` and `stop`. It runs in a thread of its own, so it works in a notebook too.

    Args:
        model: anything with ``decide(messages, tools)``; its ``stream`` is used for streams when it has one.
        host: the address to listen on. Anything but the loopback address needs a ``token``.
        port: 0 takes a free one.
        token: the only key that is let in; without one any key is, but none at all is not.
        models: the names under which the model can be asked for; an empty tuple takes every name.
        clock: seconds since 1970, for the ``created`` fields; give a constant where documents are compared.
        log: whether `exchanges` keeps what was asked and answered (the latest 1,000).
        max_bytes: the largest request body; a larger one is refused with 413.

    Raises:
        DefinitionError: another address without a token, or an address that cannot be listened on.
        ProviderError: the web server's packages are not installed (code ``missing_package``).
    """

    def __init__(
        self,
        model: Model,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        token: str | None = None,
        models: Sequence[str] = ("offline",),
        clock: Callable[[], float] = time.time,
        log: bool = True,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        if not token and not is_loopback(host):
            raise DefinitionError(
                f"The address {host!r} can be reached from other machines, so a token is needed: give token='…', or "
                "leave host at 127.0.0.1."
            )
        self.model = model
        self.host = host
        self.port = port
        self._token = token or None
        self._max_bytes = max_bytes
        self._arguments = (tuple(models), clock, log)
        self._desk: Desk | None = None
        self._server: Any = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._address: tuple[str, int] | None = None

    # --- life -----------------------------------------------------------------------------------------------------------

    def start(self) -> Endpoint:
        """Listen and return at once when requests are answered; nothing happens when it runs already."""
        if self._thread is not None:
            return self
        _need_packages()
        from agentkit._serving import end, make_server, serve
        from agentkit.endpoint.app import App

        sock = self._listen()
        started = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._server = make_server(App(self._made_desk(), self.model, self._token, self._max_bytes), started.set)
        self._thread = threading.Thread(
            target=serve, args=(self._loop, self._server, sock), daemon=True, name="agentkit-endpoint"
        )
        self._thread.start()
        # A cell that is run again forgets the endpoint that it started before; that one then ends by itself.
        self._forgotten = weakref.finalize(self, end, self._loop, self._server)
        self._forgotten.atexit = False
        if not started.wait(START_SECONDS):
            self.stop()
            raise DefinitionError(f"The endpoint did not start within {START_SECONDS:g} seconds.")
        return self

    def stop(self) -> None:
        """Stop listening, end what is going on, and close every connection. May be called twice.

        A model that is still busy cannot be stopped from outside: its daemon thread ends with its answer, which is dropped.
        """
        thread, loop, self._thread, self._address = self._thread, self._loop, None, None
        if thread is None or loop is None:
            return
        from agentkit._serving import end

        end(loop, self._server)
        thread.join(STOP_SECONDS)

    def __enter__(self) -> Endpoint:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _listen(self) -> socket.socket:
        from agentkit._serving import listening

        try:
            sock = listening(self.host, self.port)
        except (OSError, OverflowError, TypeError) as error:
            raise DefinitionError(
                f"The endpoint cannot listen on {self.host}, port {self.port}: {error}. Is the port in use? "
                "Another port, or 0 for a free one, may help."
            ) from None
        self._address = (self.host, sock.getsockname()[1])
        return sock

    def _made_desk(self) -> Desk:
        from agentkit.endpoint.desk import Desk

        if self._desk is None:
            self._desk = Desk(*self._arguments)
        return self._desk

    # --- addresses ------------------------------------------------------------------------------------------------------

    @property
    def running(self) -> bool:
        return self._thread is not None

    @property
    def url(self) -> str:
        """The address, such as ``http://127.0.0.1:51234``."""
        if self._address is None:
            raise DefinitionError("The endpoint is not running. Use it in a `with` block, or call start() first.")
        host, port = self._address
        return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

    @property
    def openai_url(self) -> str:
        """The ``base_url`` for OpenAI's SDK and for everything that calls itself compatible with it."""
        return f"{self.url}/v1"

    @property
    def anthropic_url(self) -> str:
        """The ``base_url`` for Anthropic's SDK, which adds ``/v1`` itself."""
        return self.url

    # --- what it saw, and faults ----------------------------------------------------------------------------------------

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        """All requests so far with their answers, in the order of the answers; refused ones among them."""
        return tuple(self._made_desk().log)

    def fail(
        self,
        status: int | None,
        times: int = 1,
        *,
        retry_after: float | None = None,
        after_chunks: int | None = None,
        code: str | None = None,
    ) -> None:
        """Let the next requests fail, to see what a client makes of it.

        Args:
            status: the HTTP status to answer with; None drops the connection.
            times: how many requests fail.
            retry_after: seconds that the answer asks the client to wait.
            after_chunks: let a stream send this many events first, and then break it: by an error event, or, with
                status None, by dropping the connection. A stream with fewer events ends as usual.
            code: OpenAI's short code, such as ``insufficient_quota``.
        """
        if status is not None and not 400 <= status <= 599:
            raise DefinitionError(f"The status of a fault must be from 400 to 599 or None, not {status!r}.")
        self._made_desk().plan(Fault(status, retry_after, after_chunks, code), times)

    def __repr__(self) -> str:
        place = self.url if self.running else "not running"
        return f"Endpoint({self.model!r}, {place})"


def _need_packages() -> None:
    import importlib.util

    missing = [name for name in ("starlette", "uvicorn") if importlib.util.find_spec(name) is None]
    if missing:
        raise ProviderError(
            f"The endpoint needs the package(s) {' and '.join(missing)}. "
            'Install them with: pip install "agentkit-course[providers]"',
            code="missing_package",
        )
