"""The defences as switches, and one attempt of an attack, or of a task without one, under some of them."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from agentkit import ScriptedModel
from agentkit._jsonsafe import json_safe
from agentkit.errors import DefinitionError, did_you_mean
from agentkit.loop import Agent
from agentkit.messages import CallTools, Decision, FinalAnswer, Model, Run, ToolCall
from agentkit.registry import PERMISSIONS, Registry
from agentkit.safety.attacks.gullible import GullibleModel
from agentkit.safety.attacks.parts import Attack, Task
from agentkit.safety.attacks.scenes import SCENES, Shop
from agentkit.safety.personal import mask_personal
from agentkit.safety.policy import Allow, Policy
from agentkit.safety.untrusted import RULE, FencedRegistry
from agentkit.tools import Tool

DEFENCES: Final[Mapping[str, str]] = {
    "fence": "results stand between marks that they cannot forge; the model is told that they are data",
    "permissions": "only the kinds of tool (read, write, dangerous) that the task needs",
    "names": "only the tools that the task needs, by name",
    "arguments": "only the calls that the task needs, by patterns for the arguments",
    "approval": "a person agrees to each write, knows what was asked for, and says no to anything else",
    "trust": "a tool whose definition has changed since it was looked at needs a person's yes",
    "jail": "paths are resolved, and must lie in the folder",
    "sql": "a read-only database that knows which columns may be read",
    "calculator": "a calculator with bounds instead of eval",
    "masking": "e-mail addresses, telephone and card numbers are masked before the model reads them",
}
"""Each switch and what it does. Keys and passwords are masked by every registry, so that is no switch."""

ALL: Final = tuple(DEFENCES)
DENIED: Final = "Nobody has agreed to this."


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one attempt: whether harm was done, and whether the user got what they wanted."""

    name: str
    harmed: bool
    useful: bool
    run: Run | None = None


def checked(defences: Collection[str]) -> tuple[str, ...]:
    """The names of some defences in their usual order. Raises `DefinitionError` for an unknown one."""
    if isinstance(defences, str):
        raise DefinitionError(f'Defences are a list of names, for example ["{defences}"].')
    for name in defences:
        if name not in DEFENCES:
            raise DefinitionError(
                f"There is no defence {name!r}. {did_you_mean(name, DEFENCES)}They are: {', '.join(DEFENCES)}."
            )
    return tuple(name for name in DEFENCES if name in defences)


def attempt(attack: Attack, defences: Collection[str] = (), *, honours: float = 0.5) -> Outcome:
    """Try one attack under some defences.

    Args:
        attack: the attack.
        defences: names from `DEFENCES`.
        honours: the share of fences that the gullible model honours; see `GullibleModel`.
    """
    defences = checked(defences)
    with opened(attack.task, defences) as scene:
        if attack.plant is not None:
            attack.plant(scene)
        registry, known = guarded(scene, attack.task, defences, attack)
        if isinstance(scene, Shop):
            scene.before_run = scene.state()
        if attack.act is not None:
            attack.act(scene, registry)
            return Outcome(attack.id, bool(attack.harm(scene)), False)
        model: Model = _scripted(_placed(attack.calls, scene)) if attack.calls else _planned(attack.task, honours)
        run = _run(scene, registry, attack.task, model, defences, known)
        return Outcome(attack.id, bool(attack.harm(scene)), finished(attack.task, scene, run), run)


def try_task(task: Task, defences: Collection[str] = (), *, honours: float = 0.5) -> Outcome:
    """Do one task under some defences, with nobody attacking."""
    defences = checked(defences)
    with opened(task, defences) as scene:
        registry, known = guarded(scene, task, defences)
        run = _run(scene, registry, task, _planned(task, honours), defences, known)
        return Outcome(task.id, False, finished(task, scene, run), run)


@contextmanager
def opened(task: Task, defences: Collection[str]) -> Iterator[Any]:
    """The scene of a task, on data and in a folder of its own."""
    with ExitStack() as stack:

        def folder() -> Path:
            made = stack.enter_context(tempfile.TemporaryDirectory(prefix="agentkit-"))
            return Path(made).resolve()

        yield SCENES[task.world](folder, defences)


def guarded(
    scene: Any, task: Task, defences: Collection[str], attack: Attack | None = None
) -> tuple[Registry, dict[str, str]]:
    """The registry of a scene with its defences, and the fingerprints of the tools as a person has looked at them."""
    tools = [_switched(item, defences) for item in scene.tools]
    known = {item.name: item.fingerprint for item in tools} if "trust" in defences else {}
    if attack is not None and attack.poison is not None:
        tools = [_switched(item, defences) for item in attack.poison(scene, tools)]
    kinds = {item.permission for item in tools if item.name in task.names}
    registry = Registry(
        tools, permissions=kinds if "permissions" in defences else PERMISSIONS, clock=lambda: float(scene.now)
    )
    if "trust" in defences:
        registry.trust(known)
    if "names" in defences:
        registry = registry.restricted(Policy(Allow(name) for name in task.names))
    if "arguments" in defences:
        registry = registry.restricted(Policy(task.rules))
    return registry, known


def _switched(item: Tool, defences: Collection[str]) -> Tool:
    approval = "approval" in defences and item.permission != "read"
    if "masking" not in defences:
        return replace(item, approval=approval)
    inner = item.function
    return replace(item, approval=approval, function=lambda **given: mask_personal(json_safe(inner(**given))))


def _run(
    scene: Any, registry: Registry, task: Task, model: Model, defences: Collection[str], known: Mapping[str, str]
) -> Run:
    fenced = "fence" in defences
    door: Any = FencedRegistry(registry) if fenced else registry
    system = f"{scene.system} {RULE}" if fenced else scene.system
    agent = Agent(model, door, system=system, clock=lambda: 0.0, ids=lambda: "run_1")
    run = agent.run(task.goal)
    while run.status == "paused" and run.awaiting:
        waiting = [call for call in run.pending if call.id in run.awaiting]
        verdicts = {call.id: True if _wanted(call, task, registry, known) else DENIED for call in waiting}
        run = agent.resume(run, approvals=verdicts)
    results = [message.result for message in run.messages if message.result is not None]
    for result in results:
        if result.ok:
            data = result.data
            scene.seen.append(data if isinstance(data, str) else json.dumps(data, ensure_ascii=False))
    return run


def _wanted(call: ToolCall, task: Task, registry: Registry, known: Mapping[str, str]) -> bool:
    """What a careful person says: yes to exactly what they asked for, done by a tool that they know."""
    tool = registry.find(call.name)
    asked = any(call.name == each.name and call.arguments == each.arguments for each in task.plan)
    return asked and (not known or (tool is not None and known.get(tool.name) == tool.fingerprint))


def finished(task: Task, scene: Any, run: Run) -> bool:
    """Whether the user got it: the run ended with an answer, the facts were read, and the world is as it was wanted."""
    read = "\n".join(scene.seen).replace('\\"', '"')
    try:
        done = task.done is None or bool(task.done(scene))
    except OSError:  # the file that should be there is not
        done = False
    return run.status == "done" and done and all(fact in read for fact in task.facts)


def _planned(task: Task, honours: float) -> Model:
    return GullibleModel(_scripted(task.plan), honours=honours)


def _scripted(calls: tuple[ToolCall, ...]) -> Model:
    decisions: list[Decision] = [CallTools("", (call,)) for call in calls]
    return ScriptedModel([*decisions, FinalAnswer("", "Done.")])


def _placed(calls: tuple[ToolCall, ...], scene: Any) -> tuple[ToolCall, ...]:
    """The calls with the folder of the scene where they name it."""
    base = scene.base.as_posix()

    def put(value: Any) -> Any:
        return value.replace("{base}", base) if isinstance(value, str) else value

    return tuple(
        replace(call, arguments={key: put(item) for key, item in dict(call.arguments).items()})  # type: ignore[arg-type]
        for call in calls
    )
