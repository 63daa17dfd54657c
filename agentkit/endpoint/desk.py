"""What the endpoint keeps between two requests: counters, the record, the planned faults, and stored responses."""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from agentkit.endpoint import chat, embeddings, messages, responses
from agentkit.endpoint.answering import Writer
from agentkit.endpoint.values import Asked, Exchange, Family, Fault, Refused

MOST_EXCHANGES = 1000
MOST_RESPONSES = 256

Answer: TypeAlias = Mapping[str, Any] | tuple[Asked, Writer]


@dataclass(frozen=True, slots=True)
class Route:
    """What is served under one path: the service, whose form it has (None: the request's headers tell), and how."""

    service: str
    family: Family | None
    handle: Callable[[Any, Family], Answer]


class Desk:
    """Everything that outlives a request. Counters and stores are used by the server's event loop only."""

    def __init__(self, names: tuple[str, ...], clock: Callable[[], float], keep_log: bool) -> None:
        self.names = names
        self.clock = clock
        self.log: deque[Exchange] = deque(maxlen=MOST_EXCHANGES if keep_log else 0)
        self._faults: deque[Fault] = deque()
        self._lock = threading.Lock()  # faults are planned in one thread and met in another
        self._counts: Counter[str] = Counter()
        self._stored: OrderedDict[str, tuple[Any, ...]] = OrderedDict()
        self._posts = {
            "/v1/chat/completions": Route("chat", "openai", self._chat),
            "/v1/responses": Route("responses", "openai", self._responses),
            "/v1/embeddings": Route("embeddings", "openai", self._embeddings),
            "/v1/messages": Route("anthropic", "anthropic", self._messages),
            "/v1/messages/count_tokens": Route("anthropic", "anthropic", self._count_tokens),
        }

    def route(self, method: str, path: str) -> Route | Refused:
        """The route of a path, or the refusal to send."""
        gets = path == "/v1/models" or path.startswith("/v1/models/")
        if method == "GET" and gets:
            return Route("models", None, lambda _body, family: self._models(path, family))
        if method == "POST" and path in self._posts:
            return self._posts[path]
        if gets or path in self._posts:
            return Refused(405, f"{path} does not take the method {method}.")
        return Refused(404, f"This endpoint does not serve {method} {path}.")

    def count(self, kind: str) -> int:
        """The next number of this kind, from 1."""
        self._counts[kind] += 1
        return self._counts[kind]

    def request_id(self) -> str:
        return f"req_{self.count('request')}"

    def plan(self, fault: Fault, times: int) -> None:
        """The next ``times`` requests meet this fault."""
        with self._lock:
            self._faults.extend([fault] * times)

    def next_fault(self) -> Fault | None:
        with self._lock:
            return self._faults.popleft() if self._faults else None

    def record(self, exchange: Exchange) -> None:
        self.log.append(exchange)

    def keep(self, asked: Asked, document: Mapping[str, Any]) -> None:
        """Store a response, so that a later request may go on from it; the oldest gives way."""
        if document.get("object") == "response" and document.get("store"):
            self._stored[str(document["id"])] = (*asked.items, *document["output"])
            while len(self._stored) > MOST_RESPONSES:
                self._stored.popitem(last=False)

    # --- handlers -------------------------------------------------------------------------------------------------------

    def _chat(self, body: Any, _family: Family) -> Answer:
        asked = chat.read_request(body)
        self._check_model(asked.model, "openai")
        return asked, chat.ChatWriter(asked, self.count("chatcmpl"), int(self.clock()))

    def _responses(self, body: Any, _family: Family) -> Answer:
        asked = responses.read_request(body, self._stored)
        self._check_model(asked.model, "openai")
        return asked, responses.ResponsesWriter(asked, self.count("resp"), int(self.clock()))

    def _messages(self, body: Any, _family: Family) -> Answer:
        asked = messages.read_request(body)
        self._check_model(asked.model, "anthropic")
        return asked, messages.MessageWriter(asked, self.count("msg"))

    def _count_tokens(self, body: Any, _family: Family) -> Answer:
        asked = messages.read_request(body, to_count=True)
        self._check_model(asked.model, "anthropic")
        return messages.token_count(asked)

    def _embeddings(self, body: Any, _family: Family) -> Answer:
        self._check_model(str(body.get("model")), "openai")
        return embeddings.answer(body)

    def _models(self, path: str, family: Family) -> Answer:
        created = int(self.clock())
        make = messages.model_document if family == "anthropic" else openai_model
        if path == "/v1/models":
            found = [make(name, created) for name in self.names]
            if family == "openai":
                return {"object": "list", "data": found}
            ends = (
                {"first_id": self.names[0], "last_id": self.names[-1]} if found else {"first_id": None, "last_id": None}
            )
            return {"data": found, "has_more": False, **ends}
        name = path.removeprefix("/v1/models/")
        self._check_model(name, family)
        return make(name, created)

    def _check_model(self, name: str, family: Family) -> None:
        if self.names and name not in self.names:
            if family == "anthropic":
                raise Refused(404, f"model: {name}")
            raise Refused(
                404,
                f"The model '{name}' does not exist here. There is: {', '.join(self.names)}.",
                code="model_not_found",
                param="model",
            )


def openai_model(name: str, created: int) -> dict[str, Any]:
    """A model as OpenAI lists it."""
    return {"id": name, "object": "model", "created": created, "owned_by": "agentkit"}
