"""The door as a line of stations that light up, one call at a time, with the document as it stands at each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import ipywidgets as widgets

from agentkit._door import shown_name
from agentkit._jsonsafe import dumps, json_safe
from agentkit._stations import ASKED, Journey, frame_html, journey_html, journey_text, travel
from agentkit._text import Shown, escape, one_line
from agentkit._together import Approved
from agentkit.messages import ToolCall
from agentkit.registry import Registry
from agentkit.widgets._base import Panel, button, frames, html, row, wide

NAMES = ("written", *ASKED)


class Stations(Panel):
    """The panel. ``journeys`` holds the calls that went through so far, with their traces and results.

    The fields ``tool``, ``arguments``, ``call_id`` and ``yes`` and the button ``go`` send one more call.
    """

    def __init__(self, registry: Registry, calls: tuple[ToolCall, ...], run_id: str, approved: Approved) -> None:
        self.registry = registry
        self.run_id = run_id
        self.journeys: list[Journey] = []
        for call in calls:
            yes = approved.get(call.id, False) if isinstance(approved, Mapping) else call.id in approved
            self.journeys.append(travel(registry, call, run_id=run_id, approved=yes))
        self.pages = widgets.VBox()
        self._draw()
        super().__init__("stations", [self.pages, *self._editor(calls)], self._face_now)

    def _draw(self) -> None:
        """One page for each call; the newest is shown. All pictures are in the browser before anybody looks."""
        if not self.journeys:
            self.pages.children = []
            return
        last = len(self.journeys) - 1
        names = [(_label(number, journey), number - 1) for number, journey in enumerate(self.journeys, 1)]
        choose = widgets.Dropdown(options=names, value=last, description="Call", layout=wide())
        stack = widgets.Stack([_page(journey) for journey in self.journeys], selected_index=last)
        widgets.jslink((choose, "index"), (stack, "selected_index"))
        self.pages.children = [choose, stack]

    def _editor(self, calls: tuple[ToolCall, ...]) -> list[Any]:
        """Fields for one more call, filled with the last one."""
        names = [one_line(name) for name in self.registry.names]
        last = calls[-1] if calls else ToolCall(names[0] if names else "")
        self.tool = widgets.Combobox(value=one_line(last.name), options=names, description="Tool")
        self.call_id = widgets.Text(value=last.id or "call_1", description="Call id")
        self.arguments = widgets.Textarea(
            value=_arguments(last), tooltip="Arguments as text", layout=wide(height="70px")
        )
        self.yes = widgets.Checkbox(value=False, description="A person approves this call", indent=False)
        self.go = button("Send through the door", self._pass, "primary")
        return [html("<b>Send another call</b>"), row(self.tool, self.call_id), self.arguments, self.yes, self.go]

    def _pass(self) -> None:
        call = ToolCall(self.tool.value, self.arguments.value, self.call_id.value)
        yes = self.registry.approve(call, run_id=self.run_id) if self.yes.value else False
        self.journeys.append(travel(self.registry, call, run_id=self.run_id, approved=yes))
        self._draw()

    def _face_now(self) -> Shown:
        labels = [_label(number, journey) for number, journey in enumerate(self.journeys, 1)]
        pairs = list(zip(labels, self.journeys, strict=True))
        text = "\n".join(f"{label}\n{journey_text(journey)}" for label, journey in pairs)
        page = "".join(f"<div><b>{escape(label)}</b>{journey_html(journey)}</div>" for label, journey in pairs)
        return Shown(text or "(no calls yet)", page or "<div>(no calls yet)</div>")


def stations(registry: Registry, *calls: ToolCall, run_id: str = "run-1", approved: Approved = ()) -> Stations:
    """The stations of the door, for each of these calls. Play the stations, or move the slider.

    Each call goes through the door once, in this order, when the panel is made. Below them is a form for more calls.

    Args:
        registry: the registry whose door it is.
        calls: what a model wrote.
        run_id: the run that the calls belong to, so that a repeated call meets its first try.
        approved: the ids of the calls that a person has approved, or an `Approval` for each.
    """
    return Stations(registry, calls, run_id, approved)


def _page(journey: Journey) -> Any:
    """One call: a picture for each station that it reached, and the controls that choose one."""
    names = NAMES[: len(journey.trace) + 1]
    pictures = [html(frame_html(journey, reached)) for reached in range(len(names))]
    stack, (play, slider, jump) = frames(pictures, names, start=len(names) - 1)
    slider.description = "Station"
    return widgets.VBox([row(play, slider), jump, stack])


def _label(number: int, journey: Journey) -> str:
    """The call and its id, how it ended, and at which station that was decided."""
    ended = "ok" if journey.result.error is None else journey.result.error.code
    decided = next((station for station in journey.trace if station.outcome not in ("passed", "skipped")), None)
    where = f" ({decided.outcome} at {decided.stage})" if decided else ""
    return one_line(f"{number}. {shown_name(journey.call)}, {journey.call.id or 'no id'} → {ended}{where}")


def _arguments(call: ToolCall) -> str:
    return call.arguments if isinstance(call.arguments, str) else dumps(json_safe(call.arguments))
