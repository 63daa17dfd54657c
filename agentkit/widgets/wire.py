"""The wire inspector: one request and response of each of two services, one concept after the other."""

from __future__ import annotations

from typing import Any

import ipywidgets as widgets

from agentkit._concepts import compared
from agentkit._wire_face import concepts_face, documents_face, focus_face, side_labels, turn, wire
from agentkit.widgets._base import Panel, html

ALL = "All"


def wire_inspector(left: Any, right: Any) -> Panel:
    """Choose a concept (system text, tool schema, call id, …) and see where it stands in the JSON of each service.

    Args:
        left, right: as for `agentkit.show.wire`, which is also the static form of this panel.

    The pictures are linked in the browser; choosing needs no answer from the kernel.
    """
    sides = turn(left), turn(right)
    rows, labels = compared(*sides), side_labels(*sides)
    pictures = [html(concepts_face(rows, labels).html), *(html(focus_face(row, sides, labels)) for row in rows)]
    for picture in pictures:
        picture.layout.width = "100%"
    names = [ALL, *(row.concept for row in rows)]
    choose = widgets.ToggleButtons(options=names, index=0, style={"button_width": "auto"}, tooltip="Concept")
    stack = widgets.Stack(pictures, selected_index=0, layout=widgets.Layout(width="100%"))
    widgets.jslink((choose, "index"), (stack, "selected_index"))
    return Panel("wire", [choose, stack, html(documents_face(*sides).html)], lambda: wire(left, right))
