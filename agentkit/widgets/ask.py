"""A playground: type a goal, pick tools, and see what the agent does."""

from __future__ import annotations

from typing import Any

import ipywidgets as widgets

from agentkit._text import Shown, escape, one_line, rows_html, shown
from agentkit.errors import AgentkitError
from agentkit.loop import Agent
from agentkit.messages import Run
from agentkit.registry import Registry
from agentkit.show import run_html, run_text
from agentkit.widgets._base import RunPanel, button, html, row, show_only_if, wide
from agentkit.widgets._faces import sentence_html
from agentkit.widgets.approval import ApprovalPanel
from agentkit.widgets.be_the_model import ModelPanel, asks_user


class AskBox(RunPanel):
    """The panel. ``goal``, ``boxes`` (by tool name), ``start``, ``reply`` and ``send_reply`` are the parts to use."""

    def __init__(self, agent: Agent, goal: str = "") -> None:
        self.agent = agent
        self.used = agent
        self.current: Run | None = None
        self.goal = widgets.Textarea(value=goal, placeholder="Type a goal or a question", tooltip="Goal", layout=wide())
        self.boxes = {
            tool.name: widgets.Checkbox(
                value=True, description=one_line(tool.name), indent=False, layout=wide(margin="0 16px 0 0")
            )
            for tool in agent.registry
        }
        self.start = button("Run", self._start, "primary")
        self.reply = widgets.Text(
            placeholder="Your answer", tooltip="Your answer", layout=widgets.Layout(width="320px")
        )
        self.send_reply = button("Send answer", self._answer, "primary")
        self.user = row(self.reply, self.send_reply)
        self.inside = widgets.VBox()
        self.output = html()
        model = html(rows_html([("Model", model_name(self.agent))]))
        parts = [model, self.goal, row(*self.boxes.values()), self.start, self.output, self.user, self.inside]
        super().__init__("ask", parts, self._face_now, lambda: self.current)
        show_only_if(self.user, False)

    def _chosen(self) -> Agent:
        """The same agent with the tools that are ticked."""
        agent = self.agent
        if all(box.value for box in self.boxes.values()):
            return agent
        tools = [tool for tool in agent.registry if self.boxes[tool.name].value]
        return Agent(
            agent.model, Registry(tools), system=agent.system, limits=agent.limits, memory=agent.memory,
            clock=agent.clock, ids=agent.ids,
        )  # fmt: skip

    def _start(self) -> None:
        self.used = self._chosen()
        self._go_on(lambda: self.used.run(self.goal.value))

    def _answer(self) -> None:
        run = self.current
        if run is not None:
            self._go_on(lambda: self.used.resume(run, answer=self.reply.value))
            self.reply.value = ""

    def _go_on(self, work: Any) -> None:
        try:
            self._ended(work())
        except AgentkitError as problem:
            self.output.value = sentence_html(problem)

    def _ended(self, run: Run) -> None:
        self.current = run
        answer = f"<div><b>Answer:</b> {escape(shown(run.answer))}</div>" if run.answer is not None else ""
        self.output.value = run_html(run) + answer
        show_only_if(self.user, asks_user(run))
        if run.stop_reason == "needs_approval":
            self.inside.children = [ApprovalPanel(self.used, run, self._ended)]
        elif run.stop_reason == "needs_input" and not asks_user(run):  # the model is a person
            self.inside.children = [ModelPanel(self.used, run, self._ended)]
        else:
            self.inside.children = []

    def _face_now(self) -> Shown:
        tools = ", ".join(one_line(name) for name, box in self.boxes.items() if box.value) or "none"
        lines = [("Model", model_name(self.agent)), ("Goal", shown(self.goal.value) or "(empty)"), ("Tools", tools)]
        text, page = "\n".join(f"{label}: {words}" for label, words in lines), rows_html(lines)
        if self.current is None:
            return Shown(text, page)
        return Shown(f"{text}\n{run_text(self.current)}", page + run_html(self.current))


def model_name(agent: Agent) -> str:
    """What to call the agent's model: its own name, or its class."""
    return one_line(getattr(agent.model, "name", "") or type(agent.model).__name__)


def ask_box(agent: Agent, goal: str = "") -> AskBox:
    """A playground for an agent: a goal, its tools to pick from, a Run button, and the run with its answer.

    A question of the agent and a call that needs approval are handled in place. ``box.run`` is the latest run.
    """
    return AskBox(agent, goal)
