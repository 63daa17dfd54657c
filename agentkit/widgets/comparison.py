"""Two runs side by side, one step at a time."""

from __future__ import annotations

from agentkit._compare import faces, rows_as_html
from agentkit.messages import Run
from agentkit.show import compared
from agentkit.widgets._base import Panel, frames, html, row

MOST = 200


def compare_runs(a: Run, b: Run, labels: tuple[str, str] = ("A", "B")) -> Panel:
    """Step through two runs together. It starts at the first difference; the static form shows all steps at once."""
    rows = compared(a, b)
    first = next((place for place, line in enumerate(rows) if line[0]), 0)
    drawn = rows[:MOST]
    pictures = [html(rows_as_html([line], labels)) for line in drawn]
    stack, (play, slider, jump) = frames(pictures, [line[1] for line in drawn], start=min(first, len(drawn) - 1))
    return Panel("comparison", [row(play, slider), jump, stack], lambda: faces(rows, labels))
