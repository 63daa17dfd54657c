"""The contract of a loop: what the model sees after it has acted, and when the loop stops."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from agentkit.checks.contract_report import ContractReport, Promise, try_promises
from agentkit.checks.contract_surface import parameters_of, part
from agentkit.checks.exercise import CheckFailed, expect
from agentkit.checks.faces import shown
from agentkit.errors import ScriptError
from agentkit.messages import CallTools, Decision, FinalAnswer, Message, Reply, ToolCall
from agentkit.registry import Registry
from agentkit.tools import Tool, tool

RunAgent = Callable[..., Any]
_TOO_OFTEN = 60
_ANSWER = "The two rooms are free on Monday."


def loop_contract(run_agent: RunAgent) -> ContractReport:
    """Try a loop: ``loop_contract(Agent)``, ``loop_contract(run_agent)``.

    Args:
        run_agent: a function ``run_agent(model, tools, goal, max_steps=…)``, or a class like `agentkit.Agent`: made
            from model and tools, with ``run(goal)``, and with ``limits`` or ``max_steps``. The parameters of a function
            may stand in any order when they are named model (or decide), tools (or registry) and goal (or question).
            The model has ``decide(messages, tools)``, which returns a `Reply`. The tools are a `Registry`, in which
            ``tools[name]`` is the function. The loop returns a run, a list of messages, a dict or object with
            ``answer``, or the text of the answer.
    """
    return try_promises("loop", _PROMISES, run_agent)


class _Tools(Registry):
    """A registry from which a simple loop can also take the function by its name."""

    def __getitem__(self, name: str) -> Callable[..., Any]:
        for item in self:
            if item.name == name:
                return item.function
        raise KeyError(name)


@dataclass(slots=True)
class _Rooms:
    """Two tools that remember how they were called."""

    calls: list[str] = field(default_factory=list)

    def tools(self) -> list[Tool]:
        def find_room(floor: str) -> str:
            """Free room on a floor."""
            self.calls.append(floor)
            return f"room-on-{floor}"

        def broken_door(floor: str) -> str:
            """A tool that always fails."""
            raise RuntimeError("the door is locked")

        return [tool(find_room), tool(broken_door)]


@dataclass(slots=True)
class _Watched:
    """A model with a script, which remembers what it was shown. After its last decision it repeats that one."""

    script: Sequence[Decision]
    seen: list[tuple[Any, ...]] = field(default_factory=list)

    def decide(self, messages: Sequence[Any], tools: Sequence[Any] = ()) -> Reply:
        if len(self.seen) >= _TOO_OFTEN:
            raise ScriptError(f"The model was asked more than {_TOO_OFTEN} times.")
        self.seen.append(tuple(messages))
        return Reply(self.script[min(len(self.seen), len(self.script)) - 1])

    def text(self, request: int) -> str:
        """All that the model was shown in one request (the first is 1), as one text; empty when there was none."""
        return "\n".join(map(_text_of, self.seen[request - 1])) if len(self.seen) >= request else ""


class _Endless:
    """A model that never answers and never repeats itself."""

    def __init__(self) -> None:
        self.asked = 0

    def decide(self, messages: Sequence[Any], tools: Sequence[Any] = ()) -> Reply:
        self.asked += 1
        if self.asked > _TOO_OFTEN:
            raise ScriptError(f"The model was asked more than {_TOO_OFTEN} times.")
        return Reply(_call(f"call_{self.asked}", str(self.asked)))


def _call(call_id: str, floor: str, name: str = "find_room") -> CallTools:
    return CallTools("I need a room.", (ToolCall(name, {"floor": floor}, call_id),))


def _text_of(message: Any) -> str:
    if isinstance(message, Message):
        return message.text if message.result is None else message.result.content
    content = part(message, "content", default=None) if isinstance(message, Mapping) else None
    return str(content if content is not None else message)


def _start(run_agent: RunAgent, model: Any, rooms: _Rooms, max_steps: int = 20) -> Any:
    takes = parameters_of(run_agent)
    options: dict[str, Any] = {}
    if "max_steps" in takes.names or takes.more_keywords:
        options["max_steps"] = max_steps
    elif "limits" in takes.names:
        from agentkit.loop import Limits

        options["limits"] = Limits(max_steps=max_steps)
    tools, goal = _Tools(rooms.tools()), "Which rooms are free on Monday?"
    if isinstance(run_agent, type):
        return run_agent(model, tools, **options).run(goal)
    known = {"model": model, "decide": model.decide, "tools": tools, "registry": tools, "goal": goal, "question": goal}
    named = {name: known[name] for name in takes.positional[:3] if name in known}
    return run_agent(**named, **options) if len(named) == 3 else run_agent(model, tools, goal, **options)


def _run(run_agent: RunAgent, *script: Decision) -> tuple[Any, _Watched, _Rooms]:
    model, rooms = _Watched((*script, FinalAnswer("Done.", _ANSWER))), _Rooms()
    return _start(run_agent, model, rooms), model, rooms


def _acts(run_agent: RunAgent) -> None:
    _, _, rooms = _run(run_agent, _call("call_1", "north"))
    times = f"it ran for {', '.join(rooms.calls)}" if rooms.calls else "it did not run"
    expect(rooms.calls == ["north"], f'the model called find_room once, with floor "north", but {times}')


def _observes(run_agent: RunAgent) -> None:
    _, model, _ = _run(run_agent, _call("call_1", "north"))
    expect(len(model.seen) > 1, "after the tool ran, the model was not asked again")
    expect("room-on-north" in model.text(2), "the result of the tool is not in the messages that the model sees next")


def _one_result_each(run_agent: RunAgent) -> None:
    calls = tuple(ToolCall("find_room", {"floor": floor}, f"call_{n}") for n, floor in enumerate(("north", "south"), 1))
    _, model, _ = _run(run_agent, CallTools("Two at once.", calls))
    if len(model.seen) < 2 or not any(f"room-on-{floor}" in model.text(2) for floor in ("north", "south")):
        return  # the point "observes" tells that
    for floor in ("north", "south"):
        count = model.text(2).count(f"room-on-{floor}")
        expect(
            count == 1,
            f"the model made two calls at once; it must see one result for each, but saw {count} for {floor}",
        )
    ids = [m.result.call_id for m in model.seen[1] if isinstance(m, Message) and m.result is not None]
    expect(
        ids in ([], ["call_1", "call_2"]), f"the results must carry the ids of their calls, but they carry {shown(ids)}"
    )


def _reported(run_agent: RunAgent, name: str, what: str) -> None:
    model, rooms = _Watched((_call("call_1", "north", name), FinalAnswer("Done.", _ANSWER))), _Rooms()
    try:
        _start(run_agent, model, rooms)
    except Exception as error:
        raise CheckFailed(f"{what}, and the loop ended with {type(error).__name__}; tell the model instead") from None
    expect(len(model.seen) > 1, f"{what}, and the loop gave up; tell the model, so that it can do something else")
    longer = len(model.seen[1]) >= len(model.seen[0]) + 2 or len(model.text(2)) > len(model.text(1)) + 30
    expect(longer, f"{what}, and the model is not told: it needs an observation for each of its calls")


def _unknown(run_agent: RunAgent) -> None:
    _reported(run_agent, "find_elevator", "the model called a tool that does not exist")


def _failing(run_agent: RunAgent) -> None:
    _reported(run_agent, "broken_door", "a tool raised an exception")


def _stops(run_agent: RunAgent) -> None:
    _, model, _ = _run(run_agent)
    expect(len(model.seen) == 1, f"the first decision was the answer, but the model was asked {len(model.seen)} times")


def _answers(run_agent: RunAgent) -> None:
    outcome, _, _ = _run(run_agent)
    answer = part(outcome, "answer", default=outcome)
    if isinstance(answer, Sequence) and not isinstance(answer, str):
        answer = "\n".join(map(_text_of, answer))
    expect(_ANSWER in str(answer), f"the answer of the model is not in what the loop returns: {shown(answer)}")


def _step_limit(run_agent: RunAgent) -> None:
    model = _Endless()
    with suppress(ScriptError):
        _start(run_agent, model, _Rooms(), max_steps=4)
    if model.asked > _TOO_OFTEN:
        raise CheckFailed("the model never answers, and the loop does not stop: count the steps")
    expect(model.asked > 0, "the model was not asked at all")
    expect(model.asked <= 4, f"the limit is 4 steps, but the model was asked {model.asked} times")


_PROMISES: tuple[Promise[RunAgent], ...] = (
    Promise("acts", "a tool runs once for a call, with the arguments of the model", _acts),
    Promise("observes", "the result enters the history that the model sees next", _observes),
    Promise("one result each", "two calls at once get one result each", _one_result_each),
    Promise("unknown tool", "a tool that does not exist is reported to the model", _unknown),
    Promise("failing tool", "a tool that raises is reported to the model", _failing),
    Promise("stops", "after the answer the model is not asked again", _stops),
    Promise("answers", "the loop returns the answer", _answers),
    Promise("step limit", "a model that never answers is stopped at the limit", _step_limit),
)
