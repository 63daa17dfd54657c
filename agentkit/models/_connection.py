"""The way to a service: the key is read, the SDK imported and the client made when the first request goes out.

Retrying is the SDK's own (it honours Retry-After); nothing is added to it here.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import urlsplit

from agentkit._redact import mask_text
from agentkit.models._service import COMPATIBLE_KEY, NO_KEY, Service, explain, load_package, no_key, unusable_key

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Provider:
    """An official SDK and the service that it belongs to."""

    label: str
    package: str
    client: str
    variable: str
    url: str
    headers_variable: str
    account_headers: tuple[str, ...] = ()  # what the SDK adds from the environment to say whose account it is

    def owns(self, url: str) -> bool:
        """Whether an address is this provider's own service, the only place where its key may go."""
        host, home = host_of(url), host_of(self.url)
        return url.startswith("https://") and (host == home or host.endswith(f".{home}"))


def host_of(url: str) -> str:
    """The host of an address, "" when it is no address at all, which the first request will tell."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def is_here(url: str) -> bool:
    """Whether an address is on this machine."""
    host = host_of(url)
    return host in ("localhost", "::1") or host.startswith("127.")


OPENAI = Provider(
    "OpenAI",
    "openai",
    "OpenAI",
    "OPENAI_API_KEY",
    "https://api.openai.com/v1",
    "OPENAI_CUSTOM_HEADERS",
    ("OpenAI-Organization", "OpenAI-Project"),
)
ANTHROPIC = Provider(
    "Anthropic", "anthropic", "Anthropic", "ANTHROPIC_API_KEY", "https://api.anthropic.com", "ANTHROPIC_CUSTOM_HEADERS"
)


class Secret:
    """A text that no repr, no copy of the attributes and no pickle shows. A pickled one comes back empty."""

    __slots__ = ("_text",)

    def __init__(self, text: str = "") -> None:
        self._text = text

    def reveal(self) -> str:
        """The text itself, for the place that sends it. Never keep it in a variable: a verbose traceback shows variables."""
        return self._text

    def sendable(self) -> bool:
        """Whether the text can be sent in a header."""
        return self._text.isascii() and self._text.isprintable() and " " not in self._text

    def __bool__(self) -> bool:
        return bool(self._text)

    def __repr__(self) -> str:
        return "[secret]" if self._text else "[not set]"

    def __reduce__(self) -> tuple[type[Secret], tuple[()]]:
        return Secret, ()

    def __copy__(self) -> Secret:
        return self

    def __deepcopy__(self, memo: Any) -> Secret:
        return self


class Connection:
    """A provider's SDK at one address. Making one costs nothing and needs neither key nor SDK.

    Args:
        provider: `OPENAI` or `ANTHROPIC`.
        base_url: another server that speaks the provider's language; None for the provider's own service.
        api_key: the key; without one it is read from the provider's variable for the own service, else from
            AGENTKIT_API_KEY, so that a real key never reaches another server.
        timeout: seconds to wait for an answer, and for each next piece of a stream.
        max_retries: how often the SDK sends a failed request again.
        http_client, async_http_client: clients of httpx2 to use instead of the SDK's own.
    """

    def __init__(
        self,
        provider: Provider,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout: float | None = 60.0,
        max_retries: int = 2,
        http_client: Any = None,
        async_http_client: Any = None,
    ) -> None:
        self.provider = provider
        # Given to the SDK in any case, so that no other variable can send the key elsewhere.
        self.url = (base_url or provider.url).strip()
        self.own = provider.owns(self.url)
        self.timeout = timeout
        self.max_retries = max_retries
        self._key = Secret(api_key or "")
        self._http = http_client
        self._async_http = async_http_client
        self._client: Any = None
        self._async_clients: dict[Any, tuple[Any, Any]] = {}  # for each event loop its client, and what closes it

    @property
    def shown_url(self) -> str:
        """The address as it may be shown: an address may hold a password."""
        return mask_text(self.url)

    def service(self, model: str = "") -> Service:
        """The service as error sentences speak of it."""
        variable = self.provider.variable if self.own else COMPATIBLE_KEY
        return Service(
            self.provider.label, variable, self.url, model, self.own, self.timeout, self.max_retries + 1
        )  # fmt: skip

    def ask(self, call: Callable[[Any], T], model: str = "") -> T:
        """What ``call(client)`` returns. Raises `ProviderError` for whatever goes wrong at the service."""
        client = self.client()
        try:
            return call(client)
        except Exception as error:
            problem = self.explain(error, model)
        # Outside of the except block, so that the SDK's exception, whose request holds the key, is not its context.
        raise problem

    async def aask(self, call: Callable[[Any], Awaitable[T]], model: str = "") -> T:
        """Like `ask`, for async code."""
        client = await self.async_client()
        try:
            return await call(client)
        except Exception as error:
            problem = self.explain(error, model)
        raise problem

    def events(self, stream: Iterator[T], model: str = "") -> Iterator[T]:
        """The same events; an exception of the SDK on the way becomes a `ProviderError`."""
        started = False
        while True:
            try:
                item = next(stream)
            except StopIteration:
                return
            except Exception as error:
                problem = self.explain(error, model, started=started)
            else:
                started = True
                yield item
                continue
            raise problem

    def explain(self, error: Exception, model: str = "", *, started: bool = False) -> Exception:
        """The exception to raise instead: see `agentkit.models._service.explain`."""
        return explain(error, self.service(model), self._key.reveal(), started=started)

    # --- clients -----------------------------------------------------------------------------------------------------

    def key(self) -> Secret:
        """The key to send. Raises `ProviderError` when the provider's own service has none, or it cannot be sent."""
        service = self.service()
        if not self._key:
            self._key = Secret(os.environ.get(service.variable, "").strip() or ("" if self.own else NO_KEY))
        if not self._key:
            raise no_key(service)
        if not self._key.sendable():
            raise unusable_key(service)
        return self._key

    def client(self) -> Any:
        """The SDK's client for ordinary code."""
        if self._client is None:
            self._client = self._make(self.provider.client, self._http)
        return self._client

    async def async_client(self) -> Any:
        """The SDK's client for async code: one for each event loop, since connections belong to the loop that made them."""
        loop = asyncio.get_running_loop()
        if loop not in self._async_clients:
            client = self._make(f"Async{self.provider.client}", self._async_http)
            keeper = _closing(client) if self._async_http is None else None
            if keeper is not None:
                await anext(keeper)
            ended = [each for each in self._async_clients if each.is_closed()]
            for each in ended:
                del self._async_clients[each]
            self._async_clients[loop] = (client, keeper)
        return self._async_clients[loop][0]

    def _make(self, kind: str, http_client: Any) -> Any:
        key = self.key()
        sdk = load_package(self.provider.package)
        try:
            return self._built(sdk, kind, key, http_client)
        except Exception as error:
            problem = self.explain(error)
        raise problem

    def _built(self, sdk: Any, kind: str, key: Secret, http_client: Any) -> Any:
        return getattr(sdk, kind)(
            api_key=key.reveal(),
            base_url=self.url,
            timeout=self.timeout,
            max_retries=self.max_retries,
            http_client=http_client or self._direct(sdk, kind),
            default_headers={} if self.own else self._foreign_headers(sdk, key),
        )

    def _direct(self, sdk: Any, kind: str) -> Any:
        """For a server on this machine a client that asks no proxy, since a proxy could not reach it; else None."""
        if not is_here(self.url):
            return None
        made = sdk.DefaultAsyncHttpxClient if kind.startswith("Async") else sdk.DefaultHttpxClient
        return made(trust_env=False)

    def _foreign_headers(self, sdk: Any, key: Secret) -> Mapping[str, Any]:
        """Headers that the provider's variable would add, taken back: they may hold a key that is meant for the provider."""
        lines = os.environ.get(self.provider.headers_variable, "").split("\n")
        names = {line.partition(":")[0].strip() for line in lines if ":" in line}
        omitted = {name: sdk.Omit() for name in (*names, *self.provider.account_headers)}
        return {**omitted, "Authorization": f"Bearer {key.reveal()}"} if names else omitted

    async def aclose(self) -> None:
        """Close the connections of the running event loop; those of another one are closed when it ends."""
        client, _ = self._async_clients.pop(asyncio.get_running_loop(), (None, None))
        if client is not None and self._async_http is None:
            await client.close()

    def close(self) -> None:
        """Close the connections of ordinary code. The next request opens new ones."""
        client, self._client = self._client, None
        if client is not None and self._http is None:
            client.close()

    def __getstate__(self) -> dict[str, Any]:
        """Without clients and key: a copy of this connection makes its own and reads the key from the environment again."""
        return {**self.__dict__, "_client": None, "_async_clients": {}, "_http": None, "_async_http": None}

    def __repr__(self) -> str:
        return f"Connection({self.provider.label}, {self.shown_url})"


async def _closing(client: Any) -> AsyncIterator[None]:
    """Closes a client when its event loop ends.

    An event loop closes its async generators before it ends, so this one is begun and then left waiting. Without it the
    connections would be closed later, by the garbage collector, in a loop that they do not belong to.
    """
    try:
        yield
    finally:
        await client.close()
