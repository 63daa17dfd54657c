"""A model of OpenAI behind an agent, or of any server that speaks its language, through the official SDK.

What is sent and what comes back is plain JSON, made and read in `agentkit.models._chat` and `agentkit.models._responses`. This
module only carries it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from agentkit.errors import DefinitionError, ProviderError
from agentkit.messages import Message, Reply, TextDelta, ToolSpec
from agentkit.models import catalog
from agentkit.models._chat import ChatAssembler, chat_request, read_chat
from agentkit.models._connection import OPENAI, Connection
from agentkit.models._reading import Json
from agentkit.models._responses import ResponsesAssembler, read_responses, responses_request
from agentkit.models._service import Service

Api: TypeAlias = Literal["chat", "responses"]

_NAMED = {"chat": ("model", "messages"), "responses": ("model", "input")}
_FOR_SDK = ("extra_headers", "extra_query")


class OpenAIModel:
    """A model of OpenAI, or of another server that speaks the same language (Ollama, llama.cpp, LM Studio, vLLM, …).

    The SDK is imported and the key is read when the first request goes out. The key comes from ``api_key`` or from the
    environment variable OPENAI_API_KEY, which is read for OpenAI's own service only; another server gets AGENTKIT_API_KEY,
    or no real key at all. Failed requests are sent again by the SDK (``max_retries`` times).

    Args:
        model: the service's name of the model; None for the one in the catalog, or the only one that another server has.
        api: ``"chat"`` for Chat Completions, which every compatible server speaks, or ``"responses"``.
        base_url: another server, usually with ``/v1`` at the end.
        api_key: the key, where it is not in the environment.
        timeout: seconds to wait for an answer, and for each next piece of a stream.
        max_retries: how often the SDK sends a failed request again.
        max_output_tokens: the length limit of each reply, reasoning included; None leaves it to the service.
        parallel_tools: whether one reply may hold several calls.
        options: further fields of each request; also ``extra_headers`` and ``extra_query``, which the SDK sends beside it.
        http_client, async_http_client: clients of httpx2 to use instead of the SDK's own.
        name: what the model is called in its repr.
    """

    def __init__(
        self,
        model: str | None = None,
        *,
        api: Api = "chat",
        base_url: str | None = None,
        api_key: str | None = None,
        timeout: float | None = 60.0,
        max_retries: int = 2,
        max_output_tokens: int | None = None,
        parallel_tools: bool = True,
        options: Mapping[str, Any] | None = None,
        http_client: Any = None,
        async_http_client: Any = None,
        name: str = "openai",
    ) -> None:
        if api not in _NAMED:
            raise DefinitionError(f"api is 'chat' or 'responses', not {api!r}.")
        self.connection = Connection(
            OPENAI, base_url=base_url, api_key=api_key, timeout=timeout, max_retries=max_retries,
            http_client=http_client, async_http_client=async_http_client,
        )  # fmt: skip
        self.model = model or (catalog.default_model("openai") if self.connection.own else "")
        self.api: Api = api
        self.max_output_tokens = max_output_tokens
        self.parallel_tools = parallel_tools
        self.options = dict(options or {})
        self.name = name

    def request(self, messages: Sequence[Message], tools: Sequence[ToolSpec] = ()) -> Json:
        """The body that `decide` sends. Raises `ProviderError` when another server must be asked for its model first."""
        self._settle()
        return self._body(messages, tools)

    def decide(self, messages: Sequence[Message], tools: Sequence[ToolSpec] = ()) -> Reply:
        """The next decision. Raises `ProviderError` or `ReplyError`."""
        body = self.request(messages, tools)
        return self.connection.ask(
            lambda client: self._read(self._create(client, body).http_response.json(), tools), self.model
        )

    async def adecide(self, messages: Sequence[Message], tools: Sequence[ToolSpec] = ()) -> Reply:
        """Like `decide`, for async code."""

        async def listed(client: Any) -> Any:
            return (await client.models.with_raw_response.list()).http_response.json()

        async def answered(client: Any) -> Reply:
            return self._read((await self._create(client, body)).http_response.json(), tools)

        if not self.model:
            self.model = only_model(await self.connection.aask(listed), self.connection.service())
        body = self._body(messages, tools)
        return await self.connection.aask(answered, self.model)

    def stream(self, messages: Sequence[Message], tools: Sequence[ToolSpec] = ()) -> Iterator[TextDelta | Reply]:
        """The text as it comes, piece by piece, and at the end the same reply that `decide` would give."""
        body = self.request(messages, tools)
        assembler = ChatAssembler() if self.api == "chat" else ResponsesAssembler()

        def begin(client: Any) -> Any:
            from openai import Stream

            return self._create(client, body, stream=True).parse(to=Stream[object])

        if self.api == "chat":
            body = {"stream_options": {"include_usage": True}, **body}
        with self.connection.ask(begin, self.model) as events:
            for piece in self.connection.events(map(assembler.add, events), self.model):
                if piece:
                    yield TextDelta(piece)
        yield self.connection.ask(lambda _: self._read(assembler.document(), tools), self.model)

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        await self.connection.aclose()

    def close(self) -> None:
        """Close the connections. The next request opens new ones."""
        self.connection.close()

    def _settle(self) -> None:
        """Ask another server for its model where nobody named one."""
        if not self.model:
            document = self.connection.ask(lambda client: client.models.with_raw_response.list().http_response.json())
            self.model = only_model(document, self.connection.service())

    def _body(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Json:
        common: Json = {
            "max_output_tokens": self.max_output_tokens,
            "parallel_tools": self.parallel_tools,
            "options": {key: found for key, found in self.options.items() if key not in _FOR_SDK},
        }
        if self.api == "responses":
            return responses_request(self.model, messages, tools, **common)
        return chat_request(self.model, messages, tools, own=self.connection.own, **common)

    def _create(self, client: Any, body: Json, **more: Any) -> Any:
        """Send a body. The raw response is asked for, because what is replayed must be the JSON that came."""
        named = {key: body[key] for key in _NAMED[self.api]}
        # By ``extra_body`` any field can be sent, also those that this release of the SDK has no parameter for.
        rest = {key: found for key, found in body.items() if key not in named}
        beside = {key: self.options[key] for key in _FOR_SDK if key in self.options}
        resource = client.chat.completions if self.api == "chat" else client.responses
        return resource.with_raw_response.create(**named, extra_body=rest, **beside, **more)

    def _read(self, document: Any, tools: Sequence[ToolSpec]) -> Reply:
        read = read_chat if self.api == "chat" else read_responses
        return read(document, tools, model=self.model)

    def __repr__(self) -> str:
        shown = [repr(self.model)] if self.model else []
        shown += [f"api={self.api!r}"] if self.api != "chat" else []
        shown += [] if self.connection.own else [f"base_url={self.connection.shown_url!r}"]
        shown += [f"name={self.name!r}"] if self.name != "openai" else []
        return f"OpenAIModel({', '.join(shown)})"


def only_model(document: Any, service: Service) -> str:
    """The only model of a server, from its answer to ``/v1/models``.

    Raises:
        ProviderError: it has none, or several; the sentence lists them.
    """
    entries = document.get("data") if isinstance(document, Mapping) else document
    rows = entries if isinstance(entries, list) else []
    names = [str(row["id"]) for row in rows if isinstance(row, Mapping) and row.get("id")]
    if len(names) == 1:
        return names[0]
    server = service.name[:1].upper() + service.name[1:]
    if not names:
        raise ProviderError(f"{server} has no model. Load or download one there first.", code="model_not_found")
    listed = ", ".join(names[:12]) + (", …" if names[12:] else "")
    raise ProviderError(
        f"{server} has several models: {listed}. Name one of them, for example "
        f"AGENTKIT_MODEL=openai-compatible:{names[0]}.",
        code="model_not_found",
    )
