"""You are the model: you see what a model would see, and decide what it would decide."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import ipywidgets as widgets

from agentkit._text import Shown, one_line
from agentkit.errors import AgentkitError, ContextFullError
from agentkit.loop import Agent
from agentkit.messages import AskUser, CallTools, Decision, FinalAnswer, Message, Run, ToolCall
from agentkit.show import run_html, run_text
from agentkit.widgets._base import RunPanel, button, html, row, show_only_if, wide
from agentkit.widgets._faces import joined, request_face, sentence_html, title
from agentkit.widgets.approval import ApprovalPanel
from agentkit.widgets.form import form

ANSWER, ASK = "Give the final answer", "Ask the user"


class ModelPanel(RunPanel):
    """The panel. ``choice``, ``forms``, ``thought``, ``words`` and ``submit`` take a decision; ``reply`` and
    ``send_reply`` are the user's. ``then``, if given, is called with each new run.
    """

    def __init__(self, agent: Agent, run: Run, then: Callable[[Run], None] | None = None) -> None:
        self.agent, self.current, self.then = agent, run, then
        self.specs = agent.registry.specs()
        self.forms = {spec.name: form(spec.parameters) for spec in self.specs}
        self.request, self.output, self.problem = html(), html(), html()
        self.thought = widgets.Textarea(
            placeholder="Thought: why do you decide this?", tooltip="Thought", layout=wide(height="50px")
        )
        self.words = widgets.Textarea(
            placeholder="The answer or the question", tooltip="Answer or question", layout=wide(height="60px")
        )
        self.choice, pages = self._chooser()
        self.submit = button("Submit", self._submit, "primary")
        self.reply = widgets.Text(placeholder="The user's answer", tooltip="The user's answer")
        self.send_reply = button("Send the user's answer", self._answer, "primary")
        self.user = row(self.reply, self.send_reply)
        self.decide = widgets.VBox([self.thought, self.choice, pages, self.submit])
        self.approval = widgets.VBox()
        self._draw()
        parts = [self.request, self.decide, self.user, self.problem, self.approval, self.output]
        super().__init__("model", parts, self._face_now, lambda: self.current)

    def _chooser(self) -> tuple[Any, Any]:
        """Tools first, then the two ways to stop; each has its page, linked in the browser."""
        names = [f"Call {one_line(spec.name)}" for spec in self.specs] + [ANSWER, ASK]
        pages = [self.forms[spec.name].box for spec in self.specs] + [self.words, self.words]
        stack = widgets.Stack(pages, selected_index=0)
        options = [(name, place) for place, name in enumerate(names)]
        choice = widgets.Dropdown(options=options, value=0, description="Decision")
        widgets.jslink((choice, "index"), (stack, "selected_index"))
        return choice, stack

    def decision(self) -> Decision:
        """What is filled in now, as a decision. Raises `AgentkitError` for what cannot be read."""
        place, thought, words = self.choice.value, self.thought.value, self.words.value
        if place < len(self.specs):
            name = self.specs[place].name
            return CallTools(thought, (ToolCall(name, self.forms[name].values()),))
        if not words.strip():
            raise AgentkitError("Write the answer or the question first.")
        return FinalAnswer(thought, words) if place == len(self.specs) else AskUser(thought, words)

    def _submit(self) -> None:
        self._go_on(lambda: self.agent.resume(self.current, decision=self.decision()))

    def _answer(self) -> None:
        self._go_on(lambda: self.agent.resume(self.current, answer=self.reply.value))

    def _go_on(self, work: Callable[[], Run]) -> None:
        """Take the next step; a mistake is shown as a sentence, and nothing that was typed in is lost."""
        try:
            run = work()
        except AgentkitError as problem:
            self.problem.value = sentence_html(problem)
            return
        self.thought.value = self.words.value = self.reply.value = self.problem.value = ""
        self._arrived(run)

    def _arrived(self, run: Run) -> None:
        self.current = run
        self._draw()
        if self.then is not None:
            self.then(run)

    def _draw(self) -> None:
        """Show what can be done now: decide, answer as the user, approve, or nothing more."""
        run, asked = self.current, asks_user(self.current)
        approving = run.stop_reason == "needs_approval"
        show_only_if(self.decide, run.status == "paused" and not asked and not approving)
        show_only_if(self.user, asked)
        self.approval.children = [ApprovalPanel(self.agent, run, self._arrived)] if approving else []
        self.request.value = self._request_face().html if run.status == "paused" else ""
        self.output.value = run_html(run) if run.steps else ""

    def _request_face(self) -> Shown:
        return joined(title("What the model sees"), request_face(seen_now(self.agent, self.current), self.specs))

    def _face_now(self) -> Shown:
        run = Shown(run_text(self.current), run_html(self.current))
        return joined(self._request_face(), run) if self.current.status == "paused" else run


def asks_user(run: Run) -> bool:
    """Whether the agent waits for an answer of the user (and not for a decision of the model)."""
    last = run.steps[-1] if run.steps else None
    if run.stop_reason != "needs_input" or last is None or not isinstance(last.decision, AskUser):
        return False
    return not any(message.role == "user" for message in run.messages[last.seen :])


def seen_now(agent: Agent, run: Run) -> Sequence[Message]:
    """The messages that the next request would send."""
    try:
        return agent.memory.view(run.messages, agent.registry.specs())
    except ContextFullError:
        return ()


def be_the_model(agent: Agent, goal: str) -> ModelPanel:
    """Play the model of an agent whose model is a `HumanModel`.

    The panel shows the messages and tools of the next request, and nothing else; choose a tool and fill in its form, or
    write the final answer or a question, and submit. ``panel.run`` is the run as it stands.
    """
    return ModelPanel(agent, agent.run(goal))
