"""What the tests of the core share: tools to call, models that check what they see, and generated values."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from typing import Any, TypeVar

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from agentkit import (
    Agent,
    AskUser,
    CallTools,
    FinalAnswer,
    Limits,
    Message,
    Run,
    ScriptError,
    Tool,
    ToolCall,
    ToolError,
    ToolResult,
    tool,
)
from agentkit._wire import anthropic_problems, openai_problems, to_anthropic, to_openai
from agentkit.messages import ErrorDetail
from agentkit.models.scripted import ScriptedModel

T = TypeVar("T")
ROOT = Path(__file__).resolve().parents[1]


def profile(examples: int) -> settings:
    """The same examples on every machine and in every run, and nothing left behind."""
    quiet = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
    return settings(max_examples=examples, deadline=None, derandomize=True, database=None, suppress_health_check=quiet)


# --- running things that may hang ------------------------------------------------------------------------------------


def bounded(work: Callable[[], T], seconds: float = 20.0) -> T:
    """The value of ``work``, or a failure instead of a test run that hangs."""
    outcome: list[tuple[T | None, BaseException | None]] = []

    def go() -> None:
        try:
            outcome.append((work(), None))
        except BaseException as error:
            outcome.append((None, error))

    thread = threading.Thread(target=go, daemon=True)
    thread.start()
    thread.join(seconds)
    assert outcome, f"no end after {seconds:g} s"
    value, error = outcome[0]
    if error is not None:
        raise error
    return value  # type: ignore[return-value]


def python(code: str, *arguments: str, seconds: float = 60.0, **environment: str) -> str:
    """What a fresh Python prints for this code; fails when it does not exit in time or exits with an error."""
    import os

    where = {"PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]), "PYTHONUTF8": "1"}
    first = os.environ.get("PYTHONPATH", "").split(os.pathsep)[0]
    if first and (Path(first) / "agentkit").is_dir():  # a copy of the package under test comes first
        where["PYTHONPATH"] = os.environ["PYTHONPATH"]
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True, text=True, encoding="utf-8", timeout=seconds, env={**os.environ, **where, **environment},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


# --- tools -----------------------------------------------------------------------------------------------------------


@tool
def look(key: str, day: date | None = None) -> dict[str, Any]:
    """Look something up."""
    return {"key": key, "day": day}


@tool
def broken(text: str = "") -> str:
    """Fails, and its message holds a secret."""
    raise RuntimeError(f"no luck, key=sk-live-abcdefgh12345 {text}")


@tool(permission="write")
def save(name: str, value: int = 0) -> str:
    """Save a value."""
    if value < 0:
        raise ToolError("The value is negative.", code="negative", hint="Use a value of 0 or more.")
    return f"{name}={value}"


@tool(permission="dangerous")
def wipe(what: str) -> str:
    """Wipe something away."""
    return f"{what} is gone"


TOOLS: tuple[Tool, ...] = (look, broken, save, wipe)


def call(name: str, call_id: str = "", /, **arguments: Any) -> ToolCall:
    return ToolCall(name, arguments, call_id)


def act(*calls: ToolCall, thought: str = "I look.") -> CallTools:
    return CallTools(thought, calls)


def answer(text: str = "Done.") -> FinalAnswer:
    return FinalAnswer("I know enough.", text)


def agent(*script: Any, tools: Any = TOOLS, **options: Any) -> Agent:
    """An agent with a scripted model and, unless told otherwise, an id that is always the same."""
    options.setdefault("ids", lambda: "run")
    return Agent(ScriptedModel(script), tools, **options)


class Inspector:
    """A model that asserts of every view that both providers would accept it, and then asks another model."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.views: list[tuple[Message, ...]] = []

    def decide(self, messages: Sequence[Message], tools: Any) -> Any:
        self.views.append(tuple(messages))
        assert problems(messages) == []
        return self.model.decide(messages, tools)


class Counting:
    """A script that is read on whatever it is shown, also under a window that hides how far it is."""

    def __init__(self, decisions: Sequence[Any]) -> None:
        self._left = iter(decisions)

    def decide(self, messages: Sequence[Message], tools: Any) -> Any:
        found = next(self._left, None)
        if found is None:
            raise ScriptError("The script has ended.")
        return found


def problems(messages: Sequence[Message]) -> list[str]:
    """What either provider would refuse in this history."""
    return [*openai_problems(to_openai(messages)), *anthropic_problems(to_anthropic(messages)[1])]


def results_by_call(run: Run) -> dict[str, int]:
    """How many results each call of the history has."""
    counts = {item.id: 0 for message in run.messages for item in message.calls}
    for message in run.messages:
        if message.result is not None:
            counts[message.result.call_id] = counts.get(message.result.call_id, 0) + 1
    return counts


def complete(run: Run) -> None:
    """A run that is over: both providers accept its history, and every call has exactly one result."""
    assert run.status in ("done", "stopped")
    assert run.pending == () and run.awaiting == ()
    assert problems(run.messages) == []
    assert set(results_by_call(run).values()) <= {1}
    for step in run.steps:
        assert [result.call_id for result in step.results] == [item.id for item in step.calls]


def check(result: ToolResult) -> ToolResult:
    """A result that can be sent and stored: JSON text, UTF-8, an error with a code and a sentence or else data."""
    assert isinstance(result, ToolResult)
    text = json.dumps([result.name, result.data, result.note], ensure_ascii=False, allow_nan=False)
    text.encode("utf-8")
    body = json.loads(result.content)
    result.content.encode("utf-8")
    assert body["ok"] is result.ok
    if result.error is not None:
        assert result.data is None
        assert isinstance(result.error.code, str) and result.error.code.replace("_", "").isalnum()
        assert isinstance(result.error.message, str) and result.error.message.strip()
        assert "Traceback" not in result.content and "pydantic" not in result.content
    return result


def failing(make: Callable[[], BaseException], kind: str) -> Tool:
    def plain() -> None:
        """Fails."""
        raise make()

    async def later() -> None:
        """Fails."""
        raise make()

    return {
        "plain": tool(name="t")(plain),
        "deadline": tool(name="t", timeout=30)(plain),
        "async": tool(name="t")(later),
        "async deadline": tool(name="t", timeout=30)(later),
    }[kind]


WIPE_TWO = act(call("wipe", what="a"), call("look", key="k"), call("wipe", what="b"))


def waiting() -> tuple[Agent, Run]:
    """Paused before three calls, of which two need an approval."""
    made = agent(WIPE_TWO, answer())
    return made, made.run("go")


def data(run: Run, step: int = 1) -> list[Any]:
    return [r.data if r.ok else r.error.code for r in run.step(step).results]  # type: ignore[union-attr]


# --- generated values ------------------------------------------------------------------------------------------------

texts = st.text(max_size=12)
keys = st.text(max_size=8)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(keys, json_values, max_size=3)

names = st.sampled_from(["look", "look", "save", "broken", "wipe", "lokk", "multi_tool_use.parallel", "도구", ""])
arguments = st.one_of(
    st.sampled_from([{"key": "a"}, {"key": "b", "day": "2026-10-13"}, {"name": "n", "value": 1}, {"what": "it"}, {}]),
    st.sampled_from(
        ['{"key": "a"}', '{"key": ', "", "null", "[1]", '"{\\"key\\": \\"a\\"}"', '{"value": -1, "name": "n"}']
    ),
    objects,
)
ids = st.sampled_from(["", "", "", "a", "b", "call_1", "call_2", "call_3"])
calls = st.builds(ToolCall, names, arguments, ids, st.sampled_from([False, False, False, True]))
decisions = st.one_of(
    st.builds(CallTools, texts, st.lists(calls, max_size=4).map(tuple)),
    st.builds(CallTools, texts, st.lists(calls, min_size=1, max_size=3).map(tuple)),
    st.builds(FinalAnswer, texts, texts),
    st.builds(AskUser, texts, texts),
)
scripts = st.lists(decisions, max_size=8)
limits = st.builds(
    Limits,
    max_steps=st.sampled_from([None, 1, 3, 20]),
    timeout=st.sampled_from([None, 2.5]),
    max_tokens=st.sampled_from([None, 50]),
    same_rounds=st.sampled_from([1, 2, 3]),
)


@st.composite
def histories(draw: st.DrawFn, max_turns: int = 6) -> tuple[Message, ...]:
    """A whole conversation, as runs leave it: goals, texts, notes, answers, and calls with their results."""
    made: list[Message] = [Message("system", draw(texts))] if draw(st.booleans()) else []
    made.append(Message("user", "goal " + draw(texts)))
    number = 0
    for _ in range(draw(st.integers(0, max_turns))):
        kind = draw(st.sampled_from(["goal", "answer", "note", "text", "calls", "calls", "calls"]))
        if kind in ("goal", "answer", "note"):
            made.append(Message("user", f"{kind} " + draw(texts), kind=kind))  # type: ignore[arg-type]
        elif kind == "text":
            made.append(Message("assistant", "text " + draw(texts)))
        else:
            wanted = tuple(call("look", f"call_{number + i}", key="k") for i in range(draw(st.integers(1, 3))))
            number += len(wanted)
            made.append(Message("assistant", draw(texts), wanted))
            made.extend(Message("tool", result=draw(result_of(item))) for item in wanted)
    return tuple(made)


observed = st.sampled_from(
    [None, 1, "x", "한국어 " * 30, {"a": [1, {"b": None}]}, ["y"] * 40, "🔥", {"text": "z" * 200}]
)


def result_of(item: ToolCall) -> st.SearchStrategy[ToolResult]:
    good = st.builds(ToolResult, st.just(item.id), st.just(item.name), observed)
    bad = st.just(ToolResult(item.id, item.name, error=ErrorDetail("tool_failed", "No.")))
    return st.one_of(good, good, bad)
