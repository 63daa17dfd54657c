"""The sequence diagram that moves: one message after the other, each with its JSON."""

from __future__ import annotations

from collections.abc import Iterable

from agentkit._text import Shown, escape
from agentkit.mcp.recording import Recorded
from agentkit.mcp.sequence import Sequence, picture_html, pretty_html, sequence
from agentkit.widgets._base import Panel, frames, html, row

AROUND = 6  # messages that a picture shows before and after the chosen one
MOST = 300  # pictures


def sequence_diagram(recorded: Sequence | Iterable[Recorded]) -> Panel:
    """Step through recorded messages of MCP. All pictures are in the browser; stepping needs no answer from the kernel.

    Args:
        recorded: a `Recorder`, recorded messages, or what `agentkit.mcp.sequence.sequence` made of them. The first 300
            are shown; the static form has them all.
    """
    found = recorded if isinstance(recorded, Sequence) else sequence(recorded)
    count = min(len(found), MOST)
    pictures = [html(_picture(found, index)) for index in range(count)]
    for picture in pictures:
        picture.layout.width = "100%"
    stack, controls = frames(pictures, [str(index + 1) for index in range(count)], first=1)
    return Panel("sequence", [row(*controls), stack], lambda: Shown(repr(found), found._repr_html_()))


def _picture(found: Sequence, index: int) -> str:
    first = max(0, index - AROUND)
    picture = picture_html(found.lines(first, index + AROUND + 1), marked=index - first)
    arrow = found.arrows[index]
    answers = "" if arrow.answers is None else f", answers message {arrow.answers}"
    told = escape(
        f"Message {arrow.number} of {len(found)}: {arrow.kind} from {arrow.sender} to {arrow.receiver}{answers}"
    )
    return f"{picture}<div>{told}</div>{pretty_html(arrow)}"
