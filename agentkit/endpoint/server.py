"""The life of the endpoint: a socket, a thread with an event loop of its own, and a stop that leaves nothing behind."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from agentkit._serving import Served, WebServer, make_server
from agentkit.endpoint.hosts import is_loopback
from agentkit.endpoint.values import Exchange, Fault
from agentkit.errors import DefinitionError, ProviderError
from agentkit.messages import Model

if TYPE_CHECKING:
    from agentkit.endpoint.desk import Desk

MAX_BYTES = 32_000_000


class Endpoint(Served):
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

    called = "The endpoint"

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

    def _made(self, started: Callable[[], None]) -> WebServer:
        _need_packages()
        from agentkit.endpoint.app import App

        return make_server(App(self._made_desk(), self.model, self._token, self._max_bytes), started)

    def stop(self) -> None:
        """Stop listening, end what is going on, and close every connection. May be called twice.

        A model that is still busy cannot be stopped from outside: its daemon thread ends with its answer, which is dropped.
        """
        super().stop()

    def _made_desk(self) -> Desk:
        from agentkit.endpoint.desk import Desk

        if self._desk is None:
            self._desk = Desk(*self._arguments)
        return self._desk

    # --- addresses ------------------------------------------------------------------------------------------------------

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
