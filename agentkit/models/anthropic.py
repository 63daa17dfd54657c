"""Claude behind an agent: Anthropic's Messages API through its official SDK.

What is sent and what comes back is plain JSON, made and read in `agentkit.models._messages`. This module only carries it.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import Any

from agentkit.messages import Message, Reply, TextDelta, ToolSpec
from agentkit.models import catalog
from agentkit.models._connection import ANTHROPIC, Connection
from agentkit.models._messages import (
    PAUSED,
    Json,
    MessageAssembler,
    continued,
    message_request,
    read_message,
    resumed,
)  # fmt: skip

PAUSES = 5  # how often a paused turn is sent back before its reply is taken as it is
_NAMED = ("model", "max_tokens", "messages")
_FOR_SDK = ("extra_headers", "extra_query")


class AnthropicModel:
    """A model of Anthropic, or of another server that speaks the Messages API.

    The SDK is imported and the key is read when the first request goes out. The key comes from ``api_key`` or from the
    environment variable ANTHROPIC_API_KEY, which is read for Anthropic's own service only; another server gets
    AGENTKIT_API_KEY, or no real key at all. Failed requests are sent again by the SDK (``max_retries`` times).

    Thinking blocks and all others that are not plain text or calls travel in ``Message.provider`` and are sent back
    unchanged, as the service asks for. A turn that the service pauses is sent back up to 5 times, and its usage is added up.

    Args:
        model: the service's name of the model; None for the one in the catalog.
        base_url: another server, without ``/v1`` at the end.
        api_key: the key, where it is not in the environment.
        timeout: seconds to wait for an answer, and for each next piece of a stream.
        max_retries: how often the SDK sends a failed request again.
        max_output_tokens: the length limit of each reply, thinking included.
        thinking: for example ``{"type": "adaptive"}`` or ``{"type": "enabled", "budget_tokens": 2048}``.
        parallel_tools: whether one reply may hold several calls.
        options: further fields of each request, for example ``{"cache_control": {"type": "ephemeral"}}`` for the service's
            cache; also ``extra_headers`` and ``extra_query``, which the SDK sends beside the body.
        http_client, async_http_client: clients of httpx2 to use instead of the SDK's own.
    """

    def __init__(
        self,
        model: str | None = None,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout: float | None = 60.0,
        max_retries: int = 2,
        max_output_tokens: int = 4096,
        thinking: Mapping[str, Any] | None = None,
        parallel_tools: bool = True,
        options: Mapping[str, Any] | None = None,
        http_client: Any = None,
        async_http_client: Any = None,
    ) -> None:
        self.model = model or catalog.default_model("anthropic")
        self.max_output_tokens = max_output_tokens
        self.thinking = thinking
        self.parallel_tools = parallel_tools
        self.options = dict(options or {})
        self.connection = Connection(
            ANTHROPIC, base_url=base_url, api_key=api_key, timeout=timeout, max_retries=max_retries,
            http_client=http_client, async_http_client=async_http_client,
        )  # fmt: skip

    def request(self, messages: Sequence[Message], tools: Sequence[ToolSpec] = ()) -> Json:
        """The body that `decide` sends. Raises `DefinitionError` for a history that leaves nothing to answer."""
        return message_request(
            self.model, messages, tools, max_output_tokens=self.max_output_tokens, thinking=self.thinking,
            parallel_tools=self.parallel_tools,
            options={key: found for key, found in self.options.items() if key not in _FOR_SDK},
        )  # fmt: skip

    def decide(self, messages: Sequence[Message], tools: Sequence[ToolSpec] = ()) -> Reply:
        """The next decision. Raises `ProviderError`, `ReplyError`, or `DefinitionError` as `request` does."""
        exchange = _exchange(self.request(messages, tools), tools)
        body = next(exchange)
        while True:
            try:
                body = exchange.send(self._document(body))
            except StopIteration as done:
                return _reply(done)

    async def adecide(self, messages: Sequence[Message], tools: Sequence[ToolSpec] = ()) -> Reply:
        """Like `decide`, for async code."""
        exchange = _exchange(self.request(messages, tools), tools)
        body = next(exchange)
        while True:
            try:
                body = exchange.send(await self._adocument(body))
            except StopIteration as done:
                return _reply(done)

    def stream(self, messages: Sequence[Message], tools: Sequence[ToolSpec] = ()) -> Iterator[TextDelta | Reply]:
        """The text as it comes, piece by piece, and at the end the same reply that `decide` would give."""
        exchange = _exchange(self.request(messages, tools), tools)
        body = next(exchange)
        said: list[Json] = []
        while True:
            assembler = MessageAssembler(said)
            yield from self._pieces(body, assembler)
            document = assembler.document()
            said += document["content"]
            try:
                body = exchange.send(document)
            except StopIteration as done:
                yield _reply(done)
                return

    def _document(self, body: Json) -> Json:
        document: Json = self.connection.ask(lambda client: self._create(client, body).json(), self.model)
        return document

    async def _adocument(self, body: Json) -> Json:
        async def send(client: Any) -> Any:
            return await (await self._create(client, body)).json()

        document: Json = await self.connection.aask(send, self.model)
        return document

    def _pieces(self, body: Json, assembler: MessageAssembler) -> Iterator[TextDelta]:
        def begin(client: Any) -> Any:
            from anthropic import Stream

            return self._create(client, body, stream=True).parse(to=Stream[object])

        with self.connection.ask(begin, self.model) as events:
            for event in self.connection.events(iter(events), self.model):
                if piece := assembler.add(event):
                    yield TextDelta(piece)

    def _create(self, client: Any, body: Json, **more: Any) -> Any:
        """Send a body. The raw response is asked for, because what is replayed must be the JSON that came."""
        named = {key: body[key] for key in _NAMED}
        # By ``extra_body`` any field can be sent, also those that this release of the SDK has no parameter for.
        rest = {key: found for key, found in body.items() if key not in _NAMED}
        beside = {key: self.options[key] for key in _FOR_SDK if key in self.options}
        return client.messages.with_raw_response.create(**named, extra_body=rest, **beside, **more)

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        await self.connection.aclose()

    def close(self) -> None:
        """Close the connections. The next request opens new ones."""
        self.connection.close()

    def __repr__(self) -> str:
        return f"AnthropicModel({self.model!r})"


def _exchange(body: Json, tools: Sequence[ToolSpec]) -> Generator[Json, Json, Reply]:
    """One decision: yields each body to send, is sent the document that came, and returns the reply.

    More than one body is needed only when the service pauses a long turn of its own tools.
    """
    document = yield body
    for _ in range(PAUSES):
        if not isinstance(document, dict) or document.get("stop_reason") != PAUSED:
            break
        document = continued(document, (yield resumed(body, document)))
    return read_message(document, tools)


def _reply(done: StopIteration) -> Reply:
    reply: Reply = done.value
    return reply
