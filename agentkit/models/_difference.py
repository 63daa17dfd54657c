"""Where a request stands in its conversation, which recorded one is most like it, and what differs between the two."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agentkit._jsonsafe import short
from agentkit.models._cassette import Exchange, Request


def position(request: Request) -> tuple[str, int]:
    """The latest goal of a request, and how many replies (and notes of the loop) have followed it."""
    goal, count = "", 0
    for message in request.messages:
        role, kind = message.get("role"), message.get("kind", "goal")
        if role == "user" and kind == "goal":
            goal, count = str(message.get("text", "")), 0
        elif role == "assistant" or (role == "user" and kind == "note"):
            count += 1
    return goal, count


def nearest(request: Request, exchanges: Sequence[Exchange]) -> Exchange:
    """The exchange that has the most in common with a request: messages in the same places, then messages anywhere."""
    texts, tools = request.key
    members = set(texts)

    def likeness(exchange: Exchange) -> tuple[int, int, int, bool]:
        other = exchange.request.key[0]
        return (
            _common(texts, other),
            len(members & set(other)),
            -abs(len(texts) - len(other)),
            exchange.request.key[1] == tools,
        )

    return max(exchanges, key=likeness)


def _common(a: Sequence[str], b: Sequence[str]) -> int:
    """How many leading texts are equal."""
    return next((n for n, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def difference(request: Request, exchanges: Sequence[Exchange]) -> str:
    """One sentence on what differs from the nearest exchange."""
    near = nearest(request, exchanges)
    start = f"The nearest is exchange {exchanges.index(near) + 1} of {len(exchanges)}: "
    recorded = near.request
    same = _common(request.key[0], recorded.key[0])
    if same < min(len(request.messages), len(recorded.messages)):
        return start + _message_difference(same + 1, request.messages[same], recorded.messages[same])
    if len(request.messages) != len(recorded.messages):
        now = count_of(len(request.messages), "message")
        return f"{start}this request has {now}, the recorded one has {len(recorded.messages)}."
    return start + _tool_difference(request.tools, recorded.tools)


def _message_difference(number: int, now: Any, then: Any) -> str:
    if now.get("role") != then.get("role"):
        return f"message {number} is one of the role {now.get('role')!r} and was {then.get('role')!r}."
    where = f"message {number} ({now.get('role')})"
    for name in sorted(now.keys() | then.keys()):
        if now.get(name) != then.get(name):
            a, b = _from_difference(now.get(name), then.get(name))
            return f"{where} differs in its {name}: now {a}, recorded {b}."
    return f"{where} differs."  # pragma: no cover - equal values have equal texts


def _from_difference(now: Any, then: Any) -> tuple[str, str]:
    """Two values in a sentence; of long texts the part from a little before the first difference."""
    a, b = (value if isinstance(value, str) else short(value, 100_000) for value in (now, then))
    at = _common(a, b)
    start = max(0, at - 20)
    return short(a[start:], 60), short(b[start:], 60)


def _tool_difference(now: Sequence[Any], then: Sequence[Any]) -> str:
    a, b = ({str(tool.get("name")): tool for tool in tools} for tools in (now, then))
    parts = [f"the tool {name!r} was not there" for name in a.keys() - b.keys()]
    parts += [f"the tool {name!r} is missing" for name in b.keys() - a.keys()]
    for name in a.keys() & b.keys():
        parts += [f"the {part} of the tool {name!r} differs" for part in a[name] if a[name][part] != b[name].get(part)]
    return (", ".join(sorted(parts)) or "the tools stand in another order") + "."


def count_of(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
