"""Approve, deny or change the calls that a paused run waits for."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import ipywidgets as widgets

from agentkit._text import Shown, escape, hanging, json_text, one_line, rows_html, shown
from agentkit.errors import AgentkitError
from agentkit.loop import Agent
from agentkit.messages import Run, ToolCall
from agentkit.show import call_text, run_html, run_text
from agentkit.widgets._base import RunPanel, button, html, show_only_if, wide
from agentkit.widgets._faces import sentence_html
from agentkit.widgets.form import Form, form

UNDECIDED, APPROVE, DENY, EDIT = "Not decided", "Approve", "Deny", "Approve with these arguments"
CHOICES = (UNDECIDED, APPROVE, DENY, EDIT)
BORDER = "1px solid rgba(128,128,128,0.4)"


class ApprovalPanel(RunPanel):
    """The panel. ``choices``, ``editors`` and ``reasons`` hold the parts of each waiting call by its id.

    The button ``go`` resumes. ``then``, if given, is called with the new run; a panel around this one uses it.
    """

    def __init__(self, agent: Agent, run: Run, then: Callable[[Run], None] | None = None) -> None:
        self.agent = agent
        self.current = run
        self.then = then
        self.choices: dict[str, Any] = {}
        self.editors: dict[str, Any] = {}
        self.reasons: dict[str, Any] = {}
        self.waiting = widgets.VBox()
        self.output = html()
        self.go = button("Go on", self._go_on, "primary")
        self._draw()
        super().__init__("approval", [self.waiting, self.go, self.output], self._face_now, lambda: self.current)

    def _draw(self) -> None:
        """A part for each call that waits now. Nothing is decided in advance."""
        calls = [call for call in self.current.pending if call.id in self.current.awaiting]
        self.choices, self.editors, self.reasons = {}, {}, {}
        head = html(f"<b>{escape(_words(len(calls)))}</b>")
        self.waiting.children = [head, *map(self._call_box, calls)]
        self.go.disabled = not calls

    def _call_box(self, call: ToolCall) -> Any:
        choice = widgets.ToggleButtons(options=CHOICES, value=UNDECIDED, style={"button_width": "auto"})
        editor = widgets.Textarea(value=_arguments(call), tooltip="Arguments as JSON", layout=wide(height="90px"))
        reason = widgets.Text(placeholder="Reason for a refusal (optional)", tooltip="Reason", layout=wide())
        self.choices[call.id], self.editors[call.id], self.reasons[call.id] = choice, editor, reason
        exact = html(rows_html([("Call", call_text(call, None))]))
        return widgets.VBox([exact, choice, editor, reason], layout=wide(border=BORDER, padding="6px", margin="4px 0"))

    def _go_on(self) -> None:
        """Resume with the verdicts, all at once, when every call has one."""
        try:
            verdicts = {call_id: self._verdict(call_id) for call_id in self.choices}
            self.current = self.agent.resume(self.current, approvals=verdicts)
        except AgentkitError as problem:
            self.output.value = sentence_html(problem)
            return
        self._draw()
        self.output.value = run_html(self.current)
        if self.then is not None:
            self.then(self.current)

    def _verdict(self, call_id: str) -> bool | str | Mapping[str, Any]:
        choice = self.choices[call_id].value
        if choice == APPROVE:
            return True
        if choice == DENY:
            return str(self.reasons[call_id].value).strip() or False
        if choice == EDIT:
            return self._edited_values(call_id)
        raise AgentkitError("Decide about every call first: approve it, deny it, or approve it with other arguments.")

    def _edited_values(self, call_id: str) -> Mapping[str, Any]:
        return _edited(self.editors[call_id].value)

    def _face_now(self) -> Shown:
        words = _words(len(self.current.awaiting))
        page = f"<div><b>{escape(words)}</b></div>{run_html(self.current)}"
        return Shown(f"{words}\n{run_text(self.current)}", page)


class ApprovalCard(ApprovalPanel):
    """The panel with a card for each call: the tool and its level, each argument, what a yes covers and when it ends.

    To edit is to fill in a form; ``forms`` holds the form of each waiting call by its id.
    """

    def _draw(self) -> None:
        self.forms: dict[str, Form] = {}
        super()._draw()

    def _call_box(self, call: ToolCall) -> Any:
        choice = widgets.ToggleButtons(options=CHOICES, value=UNDECIDED, style={"button_width": "auto"})
        reason = widgets.Text(placeholder="Reason for a refusal (optional)", tooltip="Reason", layout=wide())
        tool = _tool(self.agent, call)
        made = form(tool.parameters if tool is not None else {})
        made.fill(_written(call))
        self.choices[call.id], self.forms[call.id], self.reasons[call.id] = choice, made, reason

        def show(_: Any = None) -> None:
            show_only_if(made.box, choice.value == EDIT)
            show_only_if(reason, choice.value == DENY)

        choice.observe(show, "value")
        show()
        card = html(rows_html(card_lines(self.agent, call)))
        return widgets.VBox([card, choice, made.box, reason], layout=wide(border=BORDER, padding="6px", margin="4px 0"))

    def _edited_values(self, call_id: str) -> Mapping[str, Any]:
        return self.forms[call_id].values()

    def _face_now(self) -> Shown:
        calls = [call for call in self.current.pending if call.id in self.current.awaiting]
        if not calls:
            return super()._face_now()
        cards = [card_lines(self.agent, call) for call in calls]
        words = f"{_words(len(calls))} Approve, deny, or edit. Without a choice nothing runs."
        text = "\n".join([words, *(hanging(*line, indent="  ") for card in cards for line in card)])
        return Shown(text, f"<div><b>{escape(words)}</b>{''.join(map(rows_html, cards))}</div>")


def card_lines(agent: Agent, call: ToolCall) -> list[tuple[str, str]]:
    """What a person has to know before a yes: labels and texts."""
    tool = _tool(agent, call)
    lines = [("Tool", one_line(call.name))]
    if tool is not None:
        lines += [("Level", tool.permission), ("What it does", shown(tool.description.strip().split("\n\n")[0], 300))]
    arguments = _written(call)
    lines += [(f"Argument {one_line(name, 60)}", json_text(value, None)) for name, value in arguments.items()]
    if not arguments:
        lines.append(("Arguments", call_text(call, None)))
    bound = "this call with exactly these arguments, by this definition of the tool, in this run, of this agent"
    lines.append(("A yes is good for", bound))
    permits = getattr(agent.registry, "permits", None)
    if permits is not None:
        lines.append(("It ends", f"{permits.seconds / 60:g} minutes after the yes"))
    return lines


def approval_card(agent: Agent, run: Run) -> ApprovalCard:
    """The calls that a paused run waits for, each as a card that shows what a yes would cover, with approve, deny and edit.

    Nothing is approved or denied before somebody chooses and presses the button. ``card.run`` is the run after that.
    """
    return ApprovalCard(agent, run)


def approval_panel(agent: Agent, run: Run) -> ApprovalPanel:
    """The calls that a paused run waits for, with their exact arguments, and a choice for each.

    Nothing is approved or denied before somebody chooses and presses the button. ``panel.run`` is the run after that.
    """
    return ApprovalPanel(agent, run)


def _words(waiting: int) -> str:
    if not waiting:
        return "No call waits for approval."
    return f"{'1 call waits' if waiting == 1 else f'{waiting} calls wait'} for approval."


def _tool(agent: Agent, call: ToolCall) -> Any:
    """The tool that a call names; None when the registry has none, or does not tell."""
    find = getattr(agent.registry, "find", None)
    return None if find is None else find(call.name)


def _written(call: ToolCall) -> Mapping[str, Any]:
    """The arguments of a call as a mapping; empty when they cannot be read as one."""
    if not isinstance(call.arguments, str):
        return dict(call.arguments)
    try:
        found = json.loads(call.arguments)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _arguments(call: ToolCall) -> str:
    if isinstance(call.arguments, str):
        return call.arguments
    return json.dumps(dict(call.arguments), ensure_ascii=False, indent=2)


def _edited(text: str) -> Mapping[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise AgentkitError('The changed arguments must be a JSON object, for example {"order_id": "A100"}.')
    return found
