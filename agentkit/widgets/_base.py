"""What all panels share: a container that also has a text form and a static HTML form."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import ipywidgets as widgets

from agentkit._text import Shown, escape

WIDE = {"width": "100%", "max_width": "900px"}


class Panel(widgets.VBox):
    """A vertical box whose faces are asked for when they are needed, so that they always say what is true now.

    ``name`` becomes the CSS class ``agentkit-name``, by which a test finds the panel on the page.
    """

    def __init__(self, name: str, children: Sequence[Any], face: Callable[[], Shown]) -> None:
        self._face = face
        super().__init__(list(children), layout=widgets.Layout(**WIDE))
        self.add_class(f"agentkit-{name}")

    def __repr__(self) -> str:
        return self._face().text

    def _repr_html_(self) -> str:
        return self._face().html

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        """The widget for whoever can draw it, and both static forms for everyone else."""
        bundle = dict(super()._repr_mimebundle_(**options) or {})
        face = self._face()
        return {**bundle, "text/plain": face.text, "text/html": face.html}


class RunPanel(Panel):
    """A panel around a run that goes on: ``run`` is the newest state of it."""

    def __init__(self, name: str, children: Sequence[Any], face: Callable[[], Shown], run: Callable[[], Any]) -> None:
        self._run = run
        super().__init__(name, children, face)

    @property
    def run(self) -> Any:
        """The run as it stands now (None before the first one)."""
        return self._run()


def html(inner: str = "") -> Any:
    """A widget for HTML that is already escaped."""
    return widgets.HTML(inner, layout=widgets.Layout(width="auto"))


def button(label: str, on_click: Callable[[], None], style: str = "") -> Any:
    """A button that calls ``on_click`` without arguments. ``style`` is a style of ipywidgets, such as primary."""
    made = widgets.Button(
        description=label, button_style=style, layout=widgets.Layout(width="auto", align_self="flex-start")
    )
    made.on_click(lambda _: on_click())
    return made


def wide(**more: str) -> Any:
    """The layout of a field that takes the whole line."""
    return widgets.Layout(width="auto", **more)


def row(*children: Any) -> Any:
    """Side by side; on a narrow screen one below the other."""
    return widgets.HBox(list(children), layout=widgets.Layout(flex_flow="row wrap", align_items="center"))


def show_only_if(box: Any, yes: bool) -> None:
    """Take a part out of the picture, or put it back."""
    box.layout.display = "flex" if yes else "none"


def folded(summary: str, inner: str, is_open: bool = False) -> str:
    """HTML that opens and closes. ``inner`` is already escaped."""
    return f"<details{' open' if is_open else ''}><summary>{escape(summary)}</summary>{inner}</details>"


def frames(children: Sequence[Any], names: Sequence[str], start: int = 0, *, first: int = 0) -> tuple[Any, list[Any]]:
    """A stack of pictures that are all in the browser already, and the controls that choose one.

    Play, slider and step buttons are linked to the stack in the browser: stepping needs no answer from the kernel, so
    it also works while the kernel is busy. ``first`` is the number of the first picture.

    Returns:
        The stack, and the controls: Play, IntSlider, and buttons with the names (a number field if there are many).
    """
    many = len(children) > 12
    empty = [html("") for _ in range(first if many and children else 0)]  # so that a number is the place in the stack
    low, high = len(empty), len(empty) + max(len(children) - 1, 0)
    shown = low + start if children else None
    stack = widgets.Stack([*empty, *children], selected_index=shown, layout=widgets.Layout(width="100%"))
    slider = widgets.IntSlider(value=low + start, min=low, max=high, description="Step", readout=many or first == 0)
    slider.layout.width = "320px"
    play = widgets.Play(value=low + start, min=low, max=high, interval=1500, show_repeat=False)
    play.layout.width = "90px"
    widgets.jslink((play, "value"), (slider, "value"))
    widgets.jslink((slider, "value"), (stack, "selected_index"))
    if many:
        jump = widgets.BoundedIntText(value=low + start, min=low, max=high, layout=widgets.Layout(width="80px"))
        widgets.jslink((slider, "value"), (jump, "value"))
    else:
        jump = widgets.ToggleButtons(options=list(names), index=shown, style={"button_width": "auto"})
        widgets.jslink((slider, "value"), (jump, "index"))
    return stack, [play, slider, jump]
