"""Record what any model answers, and replay it without the model: a class replays what a teacher recorded once.

The idea is that of a cassette for HTTP traffic (VCR), one level higher: what is recorded are requests and replies of the
`Model` protocol, not of one provider, so a recording can be read, and it outlives the wire format.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator, Sequence
from datetime import date
from os import PathLike
from pathlib import Path
from typing import Any, Literal

from agentkit import _tasks
from agentkit._jsonsafe import short
from agentkit._replies import as_reply
from agentkit.errors import DefinitionError, ModelError, ProviderError, did_you_mean
from agentkit.messages import Message, Pause, Reply, TextDelta, ToolSpec
from agentkit.models._cassette import (
    Cassette,
    Exchange,
    Outcome,
    Request,
    exchange_line,
    header_line,
    outcome_text,
    read_cassette,
    request_of,
)
from agentkit.models._difference import count_of, difference, nearest, position


def record(model: Any, path: str | PathLike[str], *, note: str = "", today: date | None = None) -> Recorder:
    """The same model, with every exchange written to a file (see `Recorder`).

    Args:
        model: any model.
        path: the cassette, a file of JSON lines. When it exists, new exchanges are added to it, and one that stands
            there already is not written again.
        note: a line for whoever opens the file.
        today: the date of the recording; by default the date of this computer.

    Raises:
        DefinitionError: the cassette was recorded with another model.
        SavedRunError: the file exists and is no cassette.
    """
    return Recorder(model, path, note=note, today=today)


class Recorder:
    """A model that asks another one and writes down each exchange, secrets masked, at once.

    A crash loses at most the line that is being written. What the model raises is recorded too, if it is a `ModelError`;
    of a stream that nobody read to its end nothing is written. See `record` for the arguments.
    """

    def __init__(self, model: Any, path: str | PathLike[str], *, note: str = "", today: date | None = None) -> None:
        self._model = model
        self.path = Path(path)
        self._lock = threading.Lock()
        self._last: Request | None = None
        self._size = 0  # bytes of the file when this recorder last wrote or read it
        self._written: set[tuple[Any, str]] = set()
        self._header = header_line(name_of(model), (today or date.today()).isoformat(), note)
        if self.path.exists() and self.path.stat().st_size:
            self._go_on(read_cassette(self.path))

    def decide(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Reply | Pause:
        try:
            reply = as_reply(self._model.decide(messages, tools))
        except ModelError as error:
            self._write(messages, tools, error)
            raise
        self._write(messages, tools, reply)
        return reply

    async def adecide(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Reply | Pause:
        ask = getattr(self._model, "adecide", None)
        if ask is None:
            return await _tasks.in_thread(lambda: self.decide(messages, tools))
        try:
            reply = as_reply(await ask(messages, tools))
        except ModelError as error:
            self._write(messages, tools, error)
            raise
        self._write(messages, tools, reply)
        return reply

    def stream(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Iterator[TextDelta | Reply | Pause]:
        """The stream of the model, piece by piece; of a model without one, the reply alone."""
        ask = getattr(self._model, "stream", None)
        if ask is None:
            yield self.decide(messages, tools)
            return
        pieces: list[str] = []
        try:
            reply: Any = None
            for item in ask(messages, tools):
                if isinstance(item, TextDelta):
                    pieces.append(item.text)
                    yield item
                else:
                    reply = item
            reply = as_reply(reply)
        except ModelError as error:
            self._write(messages, tools, error, pieces)
            raise
        self._write(messages, tools, reply, pieces)
        yield reply

    def __repr__(self) -> str:
        return f"Recorder({name_of(self._model)}, {self.path.name!r})"

    def _go_on(self, cassette: Cassette) -> None:
        name = name_of(self._model)
        if cassette.model != name:
            raise DefinitionError(
                f"The cassette {self.path.name!r} was recorded with the model {cassette.model!r}, not with {name!r}. "
                "Record to another file."
            )
        if not cassette.whole:
            _tell_half_line(self.path, "It is removed before new lines are added.", level=5)
            with self.path.open("r+b") as file:
                file.truncate(cassette.size)
        elif not self.path.read_bytes().endswith(b"\n"):
            with self.path.open("ab") as file:
                file.write(b"\n")
        for exchange in cassette.exchanges:
            self._written.add((exchange.request.key, outcome_text(exchange.outcome, exchange.deltas)))
            self._last = exchange.request
        self._size = self.path.stat().st_size

    def _write(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        outcome: Outcome,
        deltas: Sequence[str] | None = None,
    ) -> None:
        request = request_of(messages, tools)
        known = (request.key, outcome_text(outcome, deltas))
        with self._lock:
            if known in self._written:
                return
            size = self.path.stat().st_size if self.path.exists() else 0
            # When somebody else has written since, the line before is not ours: then the whole request is written.
            text = exchange_line(request, self._last if size == self._size else None, outcome, deltas)
            if not size:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                text = self._header + text
            # Opened for each line: nothing is left to close, and what was written is with the system at once.
            with self.path.open("a", encoding="utf-8", newline="\n") as file:
                file.write(text)
            self._written.add(known)
            self._last, self._size = request, self.path.stat().st_size


class RecordedModel:
    """Replays a cassette. It keeps no count: the same request always finds the same reply.

    Args:
        path: a file that `record` wrote.
        mode: ``"strict"`` finds the exchange whose request is equal to this one (secrets masked in both).
            ``"position"`` goes by the goal and by how many replies have followed it, and does not look at the rest, so
            that changed tools or observations are replayed all the same. A cassette with one goal serves any goal.

    Where the same request was recorded more than once, the first reply counts; errors only when there is no reply.

    Raises:
        SavedRunError: the file is missing, damaged, or no cassette.
        ProviderError: from `decide`, with the code ``not_recorded``, when there is no such exchange; it says what differs
            from the nearest one. What the recorded model raised is raised again.
    """

    def __init__(self, path: str | PathLike[str], mode: Literal["strict", "position"] = "strict") -> None:
        if mode not in ("strict", "position"):
            raise DefinitionError(f'The mode must be "strict" or "position", not {mode!r}.')
        self.path = Path(path)
        self.mode = mode
        self.cassette = read_cassette(self.path)
        if not self.cassette.whole:
            _tell_half_line(self.path, "The exchanges before it are replayed.", level=3)
        self._by_key: dict[Any, list[Exchange]] = {}
        for exchange in self.cassette.exchanges:
            self._by_key.setdefault(exchange.request.key, []).append(exchange)

    def decide(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Reply | Pause:
        return _replayed(self._find(request_of(messages, tools), streaming=False))

    async def adecide(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Reply | Pause:
        return self.decide(messages, tools)

    def stream(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Iterator[TextDelta | Reply | Pause]:
        """The pieces of text as they were recorded, then the reply. What was recorded without streaming has no pieces."""
        exchange = self._find(request_of(messages, tools), streaming=True)
        for text in exchange.deltas or ():
            yield TextDelta(text)
        yield _replayed(exchange)

    def __repr__(self) -> str:
        found = self.cassette
        return (
            f"RecordedModel({self.path.name!r}: {len(found.exchanges)} exchanges of {found.model} on {found.recorded}, "
            f"{self.mode})"
        )

    def _find(self, request: Request, streaming: bool) -> Exchange:
        exchanges = self.cassette.exchanges
        if not exchanges:
            raise self._not_recorded("The cassette holds no exchange at all.")
        if self.mode == "strict":
            found = self._by_key.get(request.key, [])
            if not found:
                raise self._not_recorded(difference(request, exchanges))
        else:
            found = self._placed(request)
        return _preferred(found, streaming)

    def _placed(self, request: Request) -> list[Exchange]:
        """The exchanges at the same place after the same goal; of several, those most like this request."""
        goal, place = position(request)
        places = [(exchange, *position(exchange.request)) for exchange in self.cassette.exchanges]
        goals = list(dict.fromkeys(other for _, other, _ in places))
        if len(goals) == 1:
            goal = goals[0]
        if goal not in goals:
            raise self._not_recorded(
                f"The goal {short(goal)} is not among those recorded. {did_you_mean(goal, goals)}They are: "
                f"{', '.join(short(other) for other in goals[:5])}{', …' if len(goals) > 5 else ''}."
            )
        found = [exchange for exchange, other, at in places if other == goal and at == place]
        if not found:
            count = max(at for _, other, at in places if other == goal) + 1
            raise self._not_recorded(
                f"The recording has {count_of(count, 'request')} for this goal, and this is number {place + 1}."
            )
        best = nearest(request, found)
        return [exchange for exchange in found if exchange.request.key == best.request.key]

    def _not_recorded(self, why: str) -> ProviderError:
        cut = (
            ""
            if self.cassette.whole
            else " The last line of the file is cut off, so a part of the recording is missing."
        )
        advice = " Ask what was recorded, or record again."
        if self.mode == "strict":
            advice = ' Ask what was recorded, record again, or replay with mode="position".'
        return ProviderError(
            f"This request was not recorded in {self.path.name!r}. {why}{cut}{advice}", code="not_recorded"
        )


def name_of(model: Any) -> str:
    """What to call a model in a cassette: its own ``name`` and ``model`` where it has them, else its class."""
    found = [part for part in (getattr(model, "name", None), getattr(model, "model", None)) if isinstance(part, str)]
    return ":".join(part for part in found if part) or type(model).__name__


def _tell_half_line(path: Path, then: str, level: int) -> None:
    text = f"The last line of the cassette {path.name!r} is cut off: the recording was interrupted while it was written. {then}"
    warnings.warn(text, stacklevel=level)


def _preferred(found: Sequence[Exchange], streaming: bool) -> Exchange:
    """Of exchanges with one request the first that has a reply; for a stream, rather one with its pieces."""
    return min(found, key=lambda e: (isinstance(e.outcome, ModelError), streaming and e.deltas is None))


def _replayed(exchange: Exchange) -> Reply | Pause:
    if isinstance(exchange.outcome, ModelError):
        raise type(exchange.outcome)(*exchange.outcome.args, **_more(exchange.outcome))
    return exchange.outcome


def _more(error: ModelError) -> dict[str, Any]:
    return {"code": error.code, "status": error.status} if isinstance(error, ProviderError) else {}
