"""Everything a learner looks at that moves. Nothing in the core imports this package.

Each function returns an ipywidgets container. In a cell it leaves three forms of itself: the widget for a live
notebook, HTML for GitHub and for a closed notebook, and text for a screen reader and for comparison. They say the same.
"""

from __future__ import annotations

from agentkit.widgets.approval import approval_card, approval_panel
from agentkit.widgets.ask import ask_box
from agentkit.widgets.audit_view import audit_view
from agentkit.widgets.be_the_model import be_the_model
from agentkit.widgets.comparison import compare_runs
from agentkit.widgets.explorer import registry_explorer
from agentkit.widgets.player import player
from agentkit.widgets.sequence import sequence_diagram
from agentkit.widgets.stations import stations
from agentkit.widgets.watch import watch
from agentkit.widgets.window import memory_window
from agentkit.widgets.wire import wire_inspector

__all__ = [
    "approval_card",
    "approval_panel",
    "ask_box",
    "audit_view",
    "be_the_model",
    "compare_runs",
    "memory_window",
    "player",
    "registry_explorer",
    "sequence_diagram",
    "stations",
    "watch",
    "wire_inspector",
]
