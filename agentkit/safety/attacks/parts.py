"""What an attack, a task and their results are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from agentkit.messages import ToolCall
from agentkit.safety.policy import Rule
from agentkit.tools import Tool

World: TypeAlias = Literal["orders", "research", "files"]
Kind: TypeAlias = Literal[
    "document", "data field", "file name", "tool definition", "forged boundary", "exfiltration", "multi-step",
    "approval", "path", "sql", "expression",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Task:
    """Something that a user wants, and how one sees in the world that it was done.

    Attributes:
        id: short and unique.
        world: where it is to be done.
        goal: what the user writes.
        plan: the calls that do it.
        rules: the calls that it may need, as a policy with argument patterns: least privilege, written for this task.
        facts: texts that must have been read.
        done: looks at the scene for what must have been written, sent or paid.
    """

    id: str
    world: World
    goal: str
    plan: tuple[ToolCall, ...]
    rules: tuple[Rule, ...]
    facts: tuple[str, ...] = ()
    done: Callable[[Any], bool] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the tools in the plan."""
        return tuple(dict.fromkeys(call.name for call in self.plan))

    def __repr__(self) -> str:
        return f"Task({self.id}, {self.world}, {self.goal!r})"


@dataclass(frozen=True, slots=True)
class Attack:
    """One way to turn an agent against its user.

    Attributes:
        id: short and unique.
        kind: where it comes in.
        task: what the user wants meanwhile.
        about: what is attempted, in one sentence.
        harm: looks at the scene after the run (what was sent, paid, written, read, asked for), never at an answer.
        plant: puts the hostile text into the scene before the run.
        poison: changes the tools, as a hostile server would.
        calls: made as they stand, by a model or user that means harm; no gullibility is needed. ``{base}`` in a text is the
            folder of the scene.
        act: does something at the registry itself, for example with an approval.
        links: whether the system must be able to make symbolic links.
    """

    id: str
    kind: Kind
    task: Task
    about: str
    harm: Callable[[Any], bool]
    plant: Callable[[Any], None] | None = None
    poison: Callable[[Any, list[Tool]], list[Tool]] | None = None
    calls: tuple[ToolCall, ...] = ()
    act: Callable[[Any, Any], None] | None = None
    links: bool = False

    @property
    def world(self) -> World:
        return self.task.world

    @property
    def needs_gullible(self) -> bool:
        """Whether it works only on a model that does what it reads."""
        return not self.calls and self.act is None

    def __repr__(self) -> str:
        return f"Attack({self.id}, {self.kind}, {self.about!r})"
