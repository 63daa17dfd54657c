"""Watch a run while it happens: the words of the model as they come, and at the end the player of the whole run."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from agentkit._drivers import Stream
from agentkit._text import Shown, escape, rows_html, shown
from agentkit.messages import Run, Step, TextDelta
from agentkit.show import end_lines, step_html
from agentkit.widgets._base import Panel, RunPanel, folded, html
from agentkit.widgets.player import player

REFRESH = 0.05
BURST = 10
"""Pictures in quick succession: ten at once, then one each 0.05 s, since a notebook server drops messages beyond about 1000 a
second. A word that comes alone is drawn at once, however soon after the last one: nothing may come after it for a while."""
NEWEST = 1500
SENTENCE = "While the agent works, its words appear here as they come."
CURSOR = "▌"


class Live:
    """The picture of a run that goes on. ``panel`` is what is shown: the finished steps, and the words of the next one."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.clock = clock
        self.finished = html()
        self.now = html()
        self.words = ""
        self.number = 1
        self.left, self.asked = float(BURST), clock()
        self.panel = Panel(
            "watch", [self.finished, self.now], lambda: Shown(SENTENCE, f"<div>{escape(SENTENCE)}</div>")
        )
        self._draw()

    def take(self, event: TextDelta | Step) -> None:
        """Draw one event. Words that come faster than a screen can show them are drawn together."""
        if isinstance(event, Step):
            step = folded(f"Step {event.number}", step_html(event), is_open=True)
            self.finished.value += step
            self.words, self.number = "", event.number + 1
        else:
            self.words += event.text
        now = self.clock()
        self.left, self.asked = min(BURST, self.left + (now - self.asked) / REFRESH), now
        if isinstance(event, Step) or self.left >= 1:
            self.left -= 1
            self._draw()

    def _draw(self) -> None:
        left_out = max(len(self.words) - NEWEST, 0)
        text = f"{'… ' if left_out else ''}{shown(self.words[left_out:], None)}{CURSOR}"
        self.now.value = rows_html([(f"Step {self.number}", text)])

    def end(self, run: Run | None) -> None:
        """Leave one line: the player below shows the rest."""
        self.finished.value = rows_html(end_lines(run)[-1:]) if run is not None else ""
        self.now.value = ""


def watch(stream: Stream, *, clock: Callable[[], float] = time.monotonic) -> RunPanel:
    """Run a stream to its end in this cell, and show the words of the model as they come.

    Args:
        stream: what ``agent.stream(goal)`` or ``agent.resume_stream(run, …)`` gave.
        clock: seconds from any start; injected in tests.

    Returns:
        The player of the run; ``.run`` is the run. As the last line of a cell it stands below the live words. Its frames and
        its static form also show the pieces in which the words came.

    Raises:
        Whatever the run raises. The words so far stay in ``stream.pieces`` and the run so far in ``stream.run``.
    """
    live = Live(clock)
    _display(live.panel)
    try:
        for event in stream:
            live.take(event)
    except BaseException:
        live.end(stream.run)
        raise
    live.end(stream.run)
    return player(stream.run, stream.pieces)


def _display(panel: Any) -> None:
    """Show the panel now, in a notebook; elsewhere there is nothing to draw on."""
    from IPython.core.getipython import get_ipython
    from IPython.display import display

    if getattr(get_ipython(), "kernel", None) is not None:
        display(panel)
