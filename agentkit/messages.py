"""What travels between the model, the loop and the tools: frozen values that do nothing by themselves.

A **message** is one entry of the history. The model reads the history and takes one **decision**: call tools, give the
final answer, or ask the user. A **tool call** is answered by exactly one **tool result**. One round of thought, action
and observation is a **step**; all steps of one goal are a **run**.

The words are those of ReAct (Yao et al. 2022, "ReAct: Synergizing Reasoning and Acting in Language Models").
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias

from agentkit._value import value
from agentkit.errors import DefinitionError

Role: TypeAlias = Literal["system", "user", "assistant", "tool"]
Kind: TypeAlias = Literal["goal", "answer", "note"]
Status: TypeAlias = Literal["done", "paused", "stopped"]
StopReason: TypeAlias = Literal[
    "answered", "needs_approval", "needs_input", "forked", "max_steps", "timeout", "max_tokens", "max_cost",
    "context_full", "stuck", "cancelled", "model_error",
]  # fmt: skip


@value
class Usage:
    """What a reply cost: tokens in (cached ones among them) and out, and US dollars (None when the price is unknown)."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cost: float | None = 0.0

    @property
    def total_tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    def __add__(self, other: Usage) -> Usage:
        cost = None if self.cost is None or other.cost is None else self.cost + other.cost
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_tokens + other.cached_tokens,
            cost,
        )


@value
class ToolCall:
    """One request of the model to run one tool.

    ``arguments`` is a JSON object as a dict, or the text as the model wrote it when nobody has parsed it yet. ``id`` may
    be left empty: the loop numbers calls by their place in the history. ``truncated`` says that the model was cut off
    while it wrote the arguments; such a call is never run.
    """

    name: str
    arguments: Mapping[str, Any] | str = field(default_factory=dict)
    id: str = ""
    truncated: bool = False


@value
class ErrorDetail:
    """Why a tool call failed: a stable ``code`` for programs, a ``message`` and a ``hint`` for the model."""

    code: str
    message: str
    hint: str = ""


@value
class ToolResult:
    """The answer to one tool call, the observation: JSON-safe ``data``, or an ``error``, never both.

    ``note`` is a remark of the registry or the loop for the model, for example that the data were shortened.
    """

    call_id: str
    name: str
    data: Any = None
    error: ErrorDetail | None = None
    note: str = ""

    @property
    def ok(self) -> bool:
        return self.error is None

    @property
    def content(self) -> str:
        """The observation as the model reads it: ``{"ok": true, "data": …}`` or ``{"ok": false, "error": {…}}``."""
        from agentkit._jsonsafe import dumps

        if self.error is None:
            body: dict[str, Any] = {"ok": True, "data": self.data}
        else:
            error = {"code": self.error.code, "message": self.error.message, "hint": self.error.hint}
            body = {"ok": False, "error": {key: text for key, text in error.items() if text}}
        if self.note:
            body["note"] = self.note
        return dumps(body)


@value
class Message:
    """One entry of the history.

    ``kind`` tells what a user message is: a ``goal``, the ``answer`` to a question of the agent, or a ``note`` of the
    loop. ``calls`` belongs to an assistant message, ``result`` to a tool message. ``provider`` holds whatever the
    service behind the model needs back unchanged (for example signed thinking blocks).
    """

    role: Role
    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    result: ToolResult | None = None
    kind: Kind = "goal"
    provider: Mapping[str, Any] | None = None


@value
class CallTools:
    """The decision to act: run these tool calls."""

    thought: str
    calls: tuple[ToolCall, ...]


@value
class FinalAnswer:
    """The decision to stop: this is the answer."""

    thought: str
    text: str


@value
class AskUser:
    """The decision to ask the user back, because something needed is known to nobody else."""

    thought: str
    question: str


Decision: TypeAlias = CallTools | FinalAnswer | AskUser


@value
class ToolScore:
    """How well one tool fitted a need, and the probability that follows from it (over all tools they add up to 1)."""

    need: str
    tool: str
    score: float
    probability: float


@value
class Reply:
    """What a model gives back: a decision, its usage (None when unknown), and what only it can know about it."""

    decision: Decision
    usage: Usage | None = None
    scores: tuple[ToolScore, ...] = ()
    provider: Mapping[str, Any] | None = None


@value
class Pause:
    """A model's answer "not now": the run pauses until somebody resumes it with a decision."""

    prompt: str = "Waiting for a decision."


@value
class TextDelta:
    """A piece of text that a streaming model has just written."""

    text: str


@value
class ToolSpec:
    """A tool as the model sees it: name, description, and the JSON Schema of its parameters."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@value
class Approval:
    """A person's yes to one call. ``digest`` stands for all that was shown (run, agent, tool and its definition, arguments);
    the registry makes and checks it. ``until`` is in seconds since 1970, None for no end. ``by`` says who approved."""

    call_id: str
    digest: str = ""
    until: float | None = None
    agent: str = ""
    by: str = ""


class Model(Protocol):
    """Anything that can take the next decision.

    Two more methods may exist and are used when they do: ``async adecide(messages, tools)``, and
    ``stream(messages, tools)``, which yields `TextDelta` values and ends with a `Reply`.
    """

    def decide(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Reply | Pause:
        """Return the next decision for this history. Raises `ModelError` when there is none to be had."""
        ...


@value
class Step:
    """One round: what the model saw, what it decided, what came back.

    ``seen`` is the length of the history when the model was asked. ``view`` lists what of it was sent: positions in the
    history, or a message that stands for several; None means that everything was sent.
    """

    number: int
    seen: int
    reply: Reply
    results: tuple[ToolResult, ...] = ()
    view: tuple[int | Message, ...] | None = None

    @property
    def decision(self) -> Decision:
        return self.reply.decision

    @property
    def thought(self) -> str:
        return self.reply.decision.thought

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        decision = self.reply.decision
        return decision.calls if isinstance(decision, CallTools) else ()


@value
class Run:
    """Everything about one goal: the whole history, the steps, and how it ended.

    ``status`` is ``done``, ``paused`` or ``stopped`` and ``stop_reason`` says why. A paused run lists in ``pending`` the
    calls that have no result yet, and in ``awaiting`` the ids of those that a person must approve; ``approved`` and
    ``decided`` hold the verdicts given so far. ``question`` is what the agent asks. ``first`` is the position in
    ``messages`` of this run's goal: what stands before it came from earlier runs.
    """

    goal: str
    messages: tuple[Message, ...]
    steps: tuple[Step, ...]
    status: Status
    stop_reason: StopReason
    answer: str | None = None
    pending: tuple[ToolCall, ...] = ()
    awaiting: tuple[str, ...] = ()
    approved: tuple[Approval, ...] = ()
    decided: tuple[ToolResult, ...] = ()
    question: str | None = None
    error: str | None = None
    usage: Usage = field(default_factory=Usage)
    tools: tuple[ToolSpec, ...] = ()
    first: int = 0
    id: str = ""

    def sent(self, number: int) -> tuple[Message, ...]:
        """The messages that the model saw at step ``number`` (the first is 1)."""
        step = self.step(number)
        if step.view is None:
            return self.messages[: step.seen]
        return tuple(self.messages[item] if isinstance(item, int) else item for item in step.view)

    def step(self, number: int) -> Step:
        """Step ``number`` (the first is 1). Raises `DefinitionError` when the run has no such step."""
        for step in self.steps:
            if step.number == number:
                return step
        raise DefinitionError(f"This run has steps 1 to {len(self.steps)}; there is no step {number!r}.")

    def fork(
        self,
        step: int,
        *,
        observations: Mapping[str, Any] | None = None,
        arguments: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> Run:
        """A paused run that branches off at ``step``: resume it and see it go another way.

        Args:
            step: the number of the step to change.
            observations: for each call id the data that the tool *should* have returned.
            arguments: for each call id the arguments that the model *should* have written; these calls run again.
                With neither, the model is asked again at this step.

        Raises:
            DefinitionError: the step or a call id does not exist.
        """
        from agentkit._fork import fork

        return fork(self, step, observations or {}, arguments or {})

    def to_json(self) -> str:
        """The run as JSON text, with a schema version."""
        from agentkit._saved import run_to_json

        return run_to_json(self)

    @classmethod
    def from_json(cls, text: str) -> Run:
        """Read a run back, validating it. Raises `SavedRunError` with the reason when that is not possible."""
        from agentkit._saved import run_from_json

        return run_from_json(text)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the run to a file. The file is either the old one or the whole new one, never a half."""
        from agentkit._saved import write_whole

        return write_whole(Path(path), self.to_json())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Run:
        """Read a run from a file that `save` wrote. Raises `SavedRunError` when it cannot be read."""
        from agentkit._saved import read_whole

        return cls.from_json(read_whole(Path(path)))

    def player(self) -> Any:
        """The moving face: a widget that plays the steps (needs ipywidgets)."""
        from agentkit.widgets.player import player

        return player(self)

    def __repr__(self) -> str:
        return f"Run({self.status}, {self.stop_reason}, {len(self.steps)} steps, answer={self.answer!r})"

    def __str__(self) -> str:
        from agentkit.show import run_text

        return run_text(self)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))

    def _repr_html_(self) -> str:
        from agentkit.show import run_html

        return run_html(self)


def unanswered(messages: Sequence[Message]) -> tuple[ToolCall, ...]:
    """The calls at the end of a history that have no result yet, in the order in which they were asked for."""
    answered: set[str] = set()
    for message in reversed(messages):
        if message.role == "tool":
            if message.result is not None:
                answered.add(message.result.call_id)
            continue
        return tuple(call for call in message.calls if call.id not in answered)
    return ()


def goal_positions(messages: Iterable[Message]) -> Iterator[int]:
    """Where in a history the user's goals stand (notes of the loop and answers to questions are not goals)."""
    return (i for i, message in enumerate(messages) if message.role == "user" and message.kind == "goal")


def with_arguments(call: ToolCall, arguments: Mapping[str, Any]) -> ToolCall:
    """The same call with other arguments."""
    from agentkit._jsonsafe import json_safe

    return replace(call, arguments=json_safe(dict(arguments)), truncated=False)
