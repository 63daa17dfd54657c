"""What the parts of the endpoint hand to each other: frozen values, and the one exception that becomes an error document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from agentkit.messages import Message, ToolSpec, Usage

Family: TypeAlias = Literal["openai", "anthropic"]
Finish: TypeAlias = Literal["stop", "length", "calls", "stop_sequence"]


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request that the endpoint saw, and what it answered. Headers are not kept, since they hold keys.

    Args:
        service: ``chat``, ``responses``, ``anthropic``, ``embeddings``, ``models``, or ``unknown`` (a path that is not served).
        path: of the request, such as ``/v1/chat/completions``.
        request: the JSON document that was sent; None when there was none, or none that can be read.
        status: the HTTP status; 499 when the client went away, or the endpoint was stopped, before the answer was ready.
        response: the JSON document of the answer, for a stream the one it adds up to; None when the stream did not end well.
        events: the server-sent events of a stream, parsed, in order.
    """

    service: str
    path: str
    request: Any
    status: int
    response: Any
    events: tuple[dict[str, Any], ...] = ()


class Refused(Exception):
    """A request is answered with an error document.

    Args:
        status: the HTTP status.
        message: a sentence for the one who sent the request.
        code: OpenAI's short code, when there is one.
        param: which field of the request is meant.
        retry: whether an SDK should try again; None leaves that to the SDK.
        retry_after: how long it should wait before that, in seconds.
        details: what Anthropic adds for programs.
    """

    def __init__(
        self,
        status: int,
        message: str,
        *,
        code: str | None = None,
        param: str | None = None,
        retry: bool | None = None,
        retry_after: float | None = None,
        details: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.code = code
        self.param = param
        self.retry = retry
        self.retry_after = retry_after
        self.details = details


@dataclass(frozen=True, slots=True)
class Fault:
    """An error on demand: a status, or, without one, a connection that is dropped; at once or after some events of a stream."""

    status: int | None
    retry_after: float | None = None
    after_chunks: int | None = None
    code: str | None = None


@dataclass(frozen=True, slots=True)
class Choice:
    """What the request says about tools: ``auto``, ``none`` or ``required``, and, when only some may be called, their names."""

    kind: Literal["auto", "none", "required"] = "auto"
    names: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """A request of any service in our own values.

    Args:
        body: the request as it came.
        model: the model's name in the request.
        tools: all tools of the request; `offered` are those that the model is shown.
        custom: names of the tools that take plain text in place of JSON.
        used_ids: ids of the calls that the history holds already.
        calls_before: how many calls the history holds; new ones are numbered from there.
        max_tokens: how long the reply may be, in tokens estimated as UTF-8 bytes / 4.
        json_text: whether a final text has to be JSON.
        show_thought: whether the thought is sent apart from the text.
        items: the input items that a later Responses request may refer to.
    """

    body: Mapping[str, Any]
    model: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    custom: frozenset[str] = frozenset()
    choice: Choice = Choice()
    parallel: bool = True
    used_ids: frozenset[str] = frozenset()
    calls_before: int = 0
    max_tokens: int | None = None
    stop: tuple[str, ...] = ()
    stream: bool = False
    json_text: bool = False
    show_thought: bool = False
    items: tuple[Any, ...] = ()

    @property
    def offered(self) -> tuple[ToolSpec, ...]:
        if self.choice.kind == "none":
            return ()
        names = self.choice.names
        return self.tools if names is None else tuple(tool for tool in self.tools if tool.name in names)


@dataclass(frozen=True, slots=True)
class SaidCall:
    """One tool call as it goes out: ``arguments`` is JSON text (plain text for a custom tool); ``whole`` unless it was cut."""

    id: str
    name: str
    arguments: str
    custom: bool = False
    whole: bool = True


@dataclass(frozen=True, slots=True)
class Said:
    """All that the model said, as the services tell it, and why it stopped."""

    thought: str = ""
    text: str = ""
    calls: tuple[SaidCall, ...] = ()
    finish: Finish = "stop"
    stop_sequence: str | None = None
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a reply in the order in which it is written. A ``call`` opens a call whose ``arguments`` follow."""

    kind: Literal["thought", "text", "call", "arguments"]
    text: str = ""
    index: int = 0
    call: SaidCall | None = None
