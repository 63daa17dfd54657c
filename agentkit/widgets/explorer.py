"""Look at the tools of a registry, and call any of them by hand through a form made from its schema."""

from __future__ import annotations

from typing import Any

import ipywidgets as widgets

from agentkit._text import Shown, escape, one_line, rows_html, shown
from agentkit.errors import AgentkitError
from agentkit.messages import ToolCall
from agentkit.registry import Registry
from agentkit.show import call_text
from agentkit.tools import Tool
from agentkit.widgets._base import Panel, button, folded, html
from agentkit.widgets._faces import joined, result_html, schema_text, sentence_html, specs_face
from agentkit.widgets.form import form


class RegistryExplorer(Panel):
    """The panel. ``forms``, ``buttons`` and ``outputs`` hold the parts of each tool by its name."""

    def __init__(self, registry: Registry) -> None:
        self.registry = registry
        self.forms: dict[str, Any] = {}
        self.buttons: dict[str, Any] = {}
        self.outputs: dict[str, Any] = {}
        tools = list(registry)
        pages = [self._page(tool) for tool in tools]
        names = [(one_line(tool.name), place) for place, tool in enumerate(tools)]
        super().__init__("explorer", _chooser(names, pages), lambda: _static_face(registry))

    def _page(self, tool: Tool) -> Any:
        made = self.forms[tool.name] = form(tool.parameters)
        output = self.outputs[tool.name] = html()
        call = self.buttons[tool.name] = button("Call", lambda: self._call(tool.name), "primary")
        parts = [html(_about_html(tool)), made.box]
        if tool.approval:
            parts.append(html(sentence_html("You are the person who approves: pressing Call approves this one call.")))
        return widgets.VBox([*parts, call, output])

    def _call(self, name: str) -> None:
        """The call goes through the registry's one door, like every call of a model."""
        output = self.outputs[name]
        try:
            call = ToolCall(name, self.forms[name].values(), "call_1")
        except AgentkitError as problem:
            output.value = sentence_html(problem)
            return
        approved = getattr(self.registry.get(name), "approval", False)
        result = self.registry.call(call, approved=True) if approved else self.registry.call(call)
        output.value = f"<div>{rows_html([('Call', call_text(call))])}{result_html(result)}</div>"


def registry_explorer(registry: Registry) -> RegistryExplorer:
    """The tools of a registry: choose one, read its schema, fill in the form, press Call and see the result."""
    return RegistryExplorer(registry)


def _chooser(names: list[tuple[str, int]], pages: list[Any]) -> list[Any]:
    if not pages:
        return [html(sentence_html("This registry has no tools."))]
    choose = widgets.Dropdown(options=names, value=0, description="Tool")
    stack = widgets.Stack(pages, selected_index=0)
    widgets.jslink((choose, "index"), (stack, "selected_index"))
    return [choose, stack]


def _about(tool: Tool) -> list[tuple[str, str]]:
    approval = "a person must approve each call" if tool.approval else "not needed"
    lines = [("Tool", one_line(tool.name)), ("Description", shown(tool.description))]
    return [*lines, ("Permission", tool.permission), ("Approval", approval)]


def _about_html(tool: Tool) -> str:
    schema = escape(schema_text(tool.spec)).replace("<br>", "\n")
    return rows_html(_about(tool)) + folded("JSON Schema of the parameters", f"<pre>{schema}</pre>")


def _static_face(registry: Registry) -> Shown:
    tools = list(registry)
    lines = [(one_line(tool.name), f"{tool.permission}{', approval' if tool.approval else ''}") for tool in tools]
    head = Shown("\n".join(f"{name}: {kind}" for name, kind in lines), rows_html(lines))
    return joined(head, specs_face(registry.specs())) if tools else specs_face(())
