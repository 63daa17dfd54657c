"""A slider over the memory window: what is sent, what is dropped, and what belongs together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from agentkit._text import MARK, TABLE, Shown, cell, escape, hanging
from agentkit.errors import ContextFullError
from agentkit.memory import Memory, message_tokens, pinned, units
from agentkit.messages import Message, ToolSpec
from agentkit.show import message_lines, role_text
from agentkit.widgets._base import Panel, frames, html, row

SHORT = 160
MOST = 60
Sent = tuple[set[int], str]


def memory_window(
    messages: Sequence[Message],
    limits: Iterable[int] | None = None,
    *,
    by: Literal["messages", "tokens"] = "messages",
    tools: Sequence[ToolSpec] = (),
) -> Panel:
    """A slider over the size of the window, with what each size sends and drops.

    Args:
        messages: the history that is kept.
        limits: the sizes to show; by default every number of messages from 1 up (60 at most), or tenths of the tokens.
        by: what the window counts.
        tools: what the model also gets; their descriptions take a part of the budget when tokens are counted.
    """
    sizes = sorted(set(_default_limits(messages, by) if limits is None else limits))[:MOST]
    sent = [(size, _sent(messages, size, by, tools)) for size in sizes]
    pictures = [html(_frame_html(messages, f"{size} {by}", found)) for size, found in sent]
    stack, (play, slider, jump) = frames(pictures, [str(size) for size in sizes], start=max(len(sizes) - 1, 0))
    slider.description = "Window"
    slider.readout = False
    chooser = [jump] if len(sizes) <= 12 else []
    return Panel("window", [row(play, slider), *chooser, stack], lambda: _static_face(messages, by, sent))


def _default_limits(messages: Sequence[Message], by: str) -> list[int]:
    if by == "messages":
        return list(range(1, len(messages) + 1))
    total = sum(map(message_tokens, messages))
    return [max(total * part // 10, 1) for part in range(1, 11)]


def _sent(messages: Sequence[Message], size: int, by: str, tools: Sequence[ToolSpec]) -> Sent:
    """The positions that a window of this size sends, or the sentence that says why it cannot."""
    memory = Memory(max_messages=size) if by == "messages" else Memory(max_tokens=size)
    try:
        view = memory.view(messages, tools)
    except ContextFullError as problem:
        return set(), str(problem)
    kept = {id(message) for message in view}  # by identity: two equal messages at two places are two messages
    return {place for place, message in enumerate(messages) if id(message) in kept}, ""


def _unit_numbers(messages: Sequence[Message]) -> list[int]:
    """For each message the number of its unit, from 1 for the oldest."""
    numbers = [0] * len(messages)
    for number, unit in enumerate(reversed(list(units(messages))), start=1):
        for place in unit:
            numbers[place] = number
    return numbers


def _state(place: int, found: Sent, held: Sequence[int]) -> str:
    if place not in found[0]:
        return "dropped"
    return "sent (pinned)" if place in held else "sent"


def _summary(messages: Sequence[Message], size: str, found: Sent) -> str:
    sent, problem = found
    if problem:
        return f"A window of {size} cannot be sent. {problem}"
    tokens = sum(message_tokens(messages[place]) for place in sent)
    left = len(messages) - len(sent)
    return f"A window of {size}: {len(sent)} sent (about {tokens:,} tokens), {left} dropped."


def _frame_html(messages: Sequence[Message], size: str, found: Sent) -> str:
    held, numbers = pinned(messages), _unit_numbers(messages)
    head = "".join(cell(text, tag="th") for text in ("Unit", "State", "Role", "Tokens", "Message"))
    rows = []
    for place, message in enumerate(messages):
        state = _state(place, found, held)
        faded = "opacity:0.55" if state == "dropped" else MARK
        texts = [str(numbers[place]), state, role_text(message), str(message_tokens(message))]
        inner = [*map(escape, texts), escape("\n".join(message_lines(message, SHORT)))]
        rows.append(f"<tr>{cell(inner[0], faded)}{''.join(map(cell, inner[1:]))}</tr>")
    table = f'<table style="{TABLE}"><tr>{head}</tr>{"".join(rows)}</table>'
    return f"<div><b>{escape(_summary(messages, size, found))}</b>{table}</div>"


def _static_face(messages: Sequence[Message], by: str, sent: list[tuple[int, Sent]]) -> Shown:
    """The messages once, then for each size which of them are sent."""
    held, numbers = pinned(messages), _unit_numbers(messages)
    text, rows = ["Kept messages (a unit is sent whole or not at all)"], []
    for place, message in enumerate(messages):
        label = f"{place + 1}. unit {numbers[place]}, {role_text(message)}" + (", pinned" if place in held else "")
        lines = "\n".join(message_lines(message, SHORT))
        text.append(hanging(label, lines))
        rows.append(f"<tr>{cell(escape(label))}{cell(escape(lines))}</tr>")
    body = f'<table style="{TABLE}">{"".join(rows)}</table>' if rows else ""
    sentences = [_summary(messages, f"{size} {by}", found) + _dropped(messages, found) for size, found in sent]
    listed = "".join(f"<div>{escape(sentence)}</div>" for sentence in sentences)
    return Shown("\n".join([*text, *sentences]), f"<div><div>{escape(text[0])}</div>{body}{listed}</div>")


def _dropped(messages: Sequence[Message], found: Sent) -> str:
    left = [str(place + 1) for place in range(len(messages)) if place not in found[0]]
    return f" Dropped: {', '.join(left)}." if left and not found[1] else ""
