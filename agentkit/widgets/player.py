"""Play the steps of a run: what the model saw, thought and did, and what came back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agentkit._pieces import Pieces, barred, barred_html, counted
from agentkit._tables import bars
from agentkit._text import Shown, escape, hanging, rows_html, shown
from agentkit.memory import message_tokens, tool_tokens
from agentkit.messages import Message, Run, Step
from agentkit.show import end_lines, messages_html, messages_text, run_html, run_text, step_html
from agentkit.widgets._base import RunPanel, folded, frames, html, row

FRAMES, STATIC = 200, 40
SHORT = 300
WORDS = "The words as they came, with a bar between two pieces"
SEEN = 30
"""A frame draws at most this many of the messages that the model saw: the first two and the newest ones."""


def player(run: Run, pieces: Pieces | None = None) -> RunPanel:
    """A player for the steps of a run: Play, a slider, and a button for each step, to go forward and back.

    All pictures are made at once and linked in the browser, so that stepping needs no answer from the kernel. Of a run
    of more than 200 steps the first 200 are drawn.

    Args:
        run: the run to play.
        pieces: for each step number the words in the pieces in which they came, as ``stream.pieces`` has them.
    """
    return RunPanel("player", player_parts(run, pieces or {}), lambda: _static_face(run, pieces or {}), lambda: run)


def player_parts(run: Run, pieces: Pieces) -> list[Any]:
    """The controls and the pictures of a player."""
    steps = run.steps[:FRAMES]
    sizes = [message_tokens(message) for message in run.messages]
    pictures = [html(_start_html(run, pieces)), *(html(_frame_html(run, step, sizes, pieces)) for step in steps)]
    stack, (play, slider, jump) = frames(pictures, ["Start", *(str(step.number) for step in steps)])
    return [row(play, slider), jump, stack]


def _start_html(run: Run, pieces: Pieces) -> str:
    """The picture before the first step."""
    tools = ", ".join(spec.name for spec in run.tools) or "none"
    lines = [("Goal", shown(run.goal)), ("Tools", shown(tools)), ("Steps", str(len(run.steps)))]
    if not run.steps:
        lines += [*_broken_off(run, pieces), *end_lines(run)]
    if len(run.steps) > FRAMES:
        lines.append(("Note", f"Only the first {FRAMES} steps are drawn here."))
    return f"<div><b>Before the first step</b>{barred_html(rows_html(lines))}</div>"


def _frame_html(run: Run, step: Step, sizes: Sequence[int], pieces: Pieces) -> str:
    last = step is run.steps[-1]
    words = [*_came(step, pieces), *(_broken_off(run, pieces) if last else ())]
    parts = [f"<b>Step {step.number} of {len(run.steps)}</b>", step_html(step, end_lines(run) if last else ())]
    parts += [barred_html(rows_html(words))] if words else []
    parts += [picture.html for picture in _bars(run, step, sizes)]
    sent = run.sent(step.number)
    chosen, marked = _drawn(sent, new_positions(run, step))
    left_out = len(sent) - len(chosen)
    note = f"<div>… [{left_out} messages between are not drawn]</div>" if left_out else ""
    parts.append(folded(_seen_words(run, step), note + messages_html(chosen, marked, SHORT * 2), is_open=True))
    return f"<div>{''.join(parts)}</div>"


def _came(step: Step, pieces: Pieces) -> list[tuple[str, str]]:
    """The words of a step as they came. A step that only called tools, or was not streamed, has none."""
    words = pieces.get(step.number)
    return [(f"Words as they came, {counted(words)}", barred(words))] if words else []


def _broken_off(run: Run, pieces: Pieces) -> list[tuple[str, str]]:
    """The words of a reply that broke off, so that it never became a step."""
    known = {step.number for step in run.steps}
    return [
        (f"Words of a reply that broke off, {counted(words)}", barred(words))
        for number, words in pieces.items()
        if number not in known
    ]


def scores_of(step: Step) -> dict[str, dict[str, float]]:
    """The probability of each tool, for each need that the model saw in the goal."""
    found: dict[str, dict[str, float]] = {}
    for score in step.reply.scores:
        found.setdefault(score.need, {})[score.tool] = score.probability
    return found


def new_positions(run: Run, step: Step) -> set[int]:
    """Which of the messages sent at this step are new since the step before (positions in what was sent)."""
    before = [other for other in run.steps if other.number < step.number]
    known = before[-1].seen if before else run.first
    old = [item for item in (before[-1].view or ()) if isinstance(item, Message)] if before else []
    items: Sequence[int | Message] = range(step.seen) if step.view is None else step.view
    return {
        place
        for place, item in enumerate(items)
        if (item >= known and run.messages[item].role != "system" if isinstance(item, int) else item not in old)
    }


def _drawn(sent: Sequence[Message], new: set[int]) -> tuple[Sequence[Message], set[int]]:
    if len(sent) <= SEEN:
        return sent, new
    places = [0, 1, *range(len(sent) - SEEN + 2, len(sent))]
    return [sent[place] for place in places], {at for at, place in enumerate(places) if place in new}


def _seen_words(run: Run, step: Step) -> str:
    sent, new = len(run.sent(step.number)), len(new_positions(run, step))
    return f"What the model saw: {sent} {'message' if sent == 1 else 'messages'}, {new} new, {step.seen} kept"


def token_counts(run: Run, step: Step, sizes: Sequence[int]) -> dict[str, int]:
    """Estimated tokens at this step: of the tool descriptions, of the messages sent, and of all messages kept.

    ``sizes`` holds the tokens of each message of the run; they are counted once, not once for each step.
    """
    items: Sequence[int | Message] = range(step.seen) if step.view is None else step.view
    return {
        "Tools": tool_tokens(run.tools),
        "Messages sent": sum(sizes[item] if isinstance(item, int) else message_tokens(item) for item in items),
        "Messages kept": sum(sizes[: step.seen]),
    }


def _bars(run: Run, step: Step, sizes: Sequence[int]) -> list[Shown]:
    """The bars of one step: the tool choice for each need, then the tokens."""
    choice = [
        bars(values, f"Tool choice for: {need}" if need else "Tool choice") for need, values in scores_of(step).items()
    ]
    return [*choice, bars(token_counts(run, step, sizes), "Memory, in estimated tokens")]


def _static_face(run: Run, pieces: Pieces) -> Shown:
    """The run, and for each step what the pictures add: its words, tool choice, tokens, and the messages that were new."""
    text, blocks = [run_text(run)], [run_html(run)]
    if pieces:
        lines = [(f"Step {step.number}", words) for step in run.steps[:STATIC] for _, words in _came(step, pieces)]
        lines += _broken_off(run, pieces)
        text += [WORDS, *(hanging(*line, indent="  ") for line in lines)]
        blocks.append(f"<div><b>{WORDS}</b></div>{barred_html(rows_html(lines))}")
    sizes = [message_tokens(message) for message in run.messages]
    for step in run.steps[:STATIC]:
        pictures = _bars(run, step, sizes)
        messages = [run.sent(step.number)[place] for place in sorted(new_positions(run, step))]
        title, words = f"Step {step.number} as the model saw it", _seen_words(run, step)
        text += [title, *(picture.text for picture in pictures), words, messages_text(messages, limit=SHORT)]
        inner = "".join(picture.html for picture in pictures)
        blocks.append(folded(title, f"{inner}<div>{escape(words)}</div>{messages_html(messages, limit=SHORT)}"))
    return Shown("\n".join(text), f"<div>{''.join(blocks)}</div>")
