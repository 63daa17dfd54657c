"""The checklist of notebook 06: what an agent must have before somebody else uses it, each line tried on the agent."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from agentkit._wire import anthropic_problems, openai_problems, to_anthropic, to_openai
from agentkit.checks.checklist_probe import (
    GOAL,
    MOST_REQUESTS,
    Probe,
    answered,
    call,
    probe_tools,
    registry_of,
    run_probe,
    text_of,
    with_probe,
)  # fmt: skip
from agentkit.checks.contract_report import ContractReport, Promise, try_promises
from agentkit.checks.contract_surface import method_of, parameters_of, part
from agentkit.checks.exercise import CheckFailed, expect
from agentkit.checks.faces import Line, shown, without_addresses
from agentkit.errors import ScriptError
from agentkit.memory import message_tokens
from agentkit.messages import Decision, Message, Pause, ToolSpec, Usage
from agentkit.registry import Registry

HOUR = 3600.0
FORTUNE = Usage(10_000_000, 0, cost=100.0)
EXCHANGES = 150


@dataclass(frozen=True, slots=True, repr=False)
class Checklist(ContractReport):
    """All lines of the checklist, tried on one agent. ``passed``, ``failed`` and ``points`` are those of a contract."""

    def _lines(self) -> Iterable[Line]:
        held = sum(point.passed for point in self.points)
        yield Line(f"Checklist of the {self.contract} · {held} of {len(self.points)} lines hold", "head")
        for point in self.points:
            said = "yes    " if point.passed else "missing"
            yield Line(f"{said} · {point.name}: {without_addresses(point.message)}", "item")


def checklist(agent: Any) -> Checklist:
    """Try every line of the checklist on an agent.

    The agent is not changed, and none of its tools is run as long as its registry refuses wrong arguments: each line works
    on a copy in which a probe has taken the place of the model, and where a tool must run, of the tools too. One line,
    ``usage``, sends one short request to the agent's own model.

    Args:
        agent: an `agentkit.Agent`, or an object of your own with ``model``, ``registry`` (or ``tools``) and
            ``run(goal, history=…)``, which returns something with ``messages``, or the messages.
    """
    report = try_promises("agent", LINES, agent)
    return Checklist(report.contract, report.points)


def _system_prompt(agent: Any) -> None:
    probe = Probe(answered())
    run_probe(agent, probe)
    expect(probe.seen, "the model was not asked at all")
    first = probe.seen[0][0]
    expect(
        first.role == "system" and first.text.strip(),
        "nothing tells the model what it is there for and what to do when it does not know; give the agent a `system`",
    )


def _descriptions(agent: Any) -> None:
    tools: Sequence[ToolSpec] = registry_of(agent).specs()
    expect(tools, "the agent has no tools")
    owner: dict[str, str] = {}
    for spec in tools:
        words = " ".join(spec.description.split()).casefold()
        expect(len(words) >= 10, f"the description of {spec.name} says too little for a model to choose by")
        expect(
            words not in owner,
            f"{owner.get(words)} and {spec.name} have the same description, so a model cannot choose between them",
        )
        owner[words] = spec.name
        for name, schema in spec.parameters.get("properties", {}).items():
            expect(
                schema.get("description"),
                f"the parameter `{name}` of {spec.name} has no description; add it to the docstring, under `Args:`",
            )


def _result(agent: Any) -> None:
    probe = Probe(answered(call("find_room", floor="north")))
    run_probe(agent, probe, probe_tools())
    expect(len(probe.seen) > 1, "after a tool ran, the model was not asked again")
    expect("room-on-north" in text_of(probe.seen[1]), "the model does not see the result of the call it made")


def _told(agent: Any, decision: Decision, what: str, words: str, tools: Registry | None = None) -> None:
    """After the decision the model is asked again, and what is new in its input holds the words."""
    probe = Probe(answered(decision))
    try:
        run_probe(agent, probe, tools)
    except Exception as error:
        raise CheckFailed(f"{what}, and the run ended with {type(error).__name__}; tell the model instead") from None
    expect(len(probe.seen) > 1, f"{what}, and the run ended; tell the model, so that it can do something else")
    new = [message for message in probe.seen[1] if message not in probe.seen[0] and message.role != "assistant"]
    expect(words in text_of(new), f"{what}, and the model is not told about {shown(words)}")


def _unknown_tool(agent: Any) -> None:
    _told(agent, call("find_elevator"), "the model called a tool that does not exist", "find_elevator")


def _bad_argument(agent: Any) -> None:
    own = [spec for spec in registry_of(agent).specs() if spec.parameters.get("required")]
    name = own[0].name if own else "find_room"
    tools = None if own else probe_tools()
    _told(agent, call(name, colour="red"), f"the model called {name} with an unknown argument", "colour", tools)


def _failing_tool(agent: Any) -> None:
    decision = call("broken_door", floor="north")
    _told(agent, decision, "a tool raised an exception", "broken_door", probe_tools())


def _step_limit(agent: Any) -> None:
    probe = Probe()
    _until_limit(agent, probe)
    expect(
        len(probe.seen) <= MOST_REQUESTS,
        f"a model that never answers was asked more than {MOST_REQUESTS} times; set `Limits(max_steps=…)`",
    )


def _time_limit(agent: Any) -> None:
    if not hasattr(agent, "clock"):
        raise CheckFailed("the agent has no `clock`, so nobody can test how it keeps time")
    probe = Probe(seconds=HOUR)
    _until_limit(agent, probe)
    expect(
        len(probe.seen) == 1,
        "the first request took an hour, and the model was asked again; set `Limits(timeout=…)`, in seconds",
    )


def _spending_limit(agent: Any) -> None:
    probe = Probe(usage=FORTUNE)
    _until_limit(agent, probe)
    expect(
        len(probe.seen) == 1,
        "the first request took ten million tokens, and the model was asked again; set `Limits(max_tokens=…)`",
    )


def _until_limit(agent: Any, probe: Probe) -> None:
    with suppress(ScriptError):  # the probe has had enough; how often it was asked tells the rest
        run_probe(agent, probe, probe_tools())
    expect(probe.seen, "the model was not asked at all")


def _memory(agent: Any) -> None:
    history = []
    for number in range(EXCHANGES):
        history.append(Message("user", f"Question {number}?"))
        history.append(Message("assistant", f"Answer {number}: " + "a long text " * 300))
    probe = Probe(answered())
    run = method_of(agent, "run")
    if run is None or "history" not in parameters_of(run).names:
        raise CheckFailed("`run` takes no `history`, so a conversation cannot go on")
    run_probe(agent, probe, history=history)
    expect(probe.seen, "in a long conversation the model was not asked at all; let the memory send a part of it")
    sent = probe.seen[0]
    tokens = sum(map(message_tokens, sent))
    expect(
        len(sent) < len(history),
        f"a conversation of about {tokens:,} tokens was sent whole; set `memory=Memory(max_tokens=…)`",
    )
    expect(sent[-1].text == GOAL, "in a long conversation the newest goal is not sent")
    _accepted(sent, "what is sent of a long conversation")


def _approval(agent: Any) -> None:
    registry = registry_of(agent)
    for item in registry if hasattr(registry, "__iter__") else ():
        if getattr(item, "permission", "read") == "dangerous":
            expect(
                getattr(item, "approval", False),
                f"{item.name} is dangerous and runs without asking; leave out `approval=False`",
            )


def _history(agent: Any) -> None:
    rooms = [call("find_room", floor=str(number)) for number in range(MOST_REQUESTS)]
    outcome = run_probe(agent, Probe((call("broken_door", floor="north"), *rooms)), probe_tools())
    messages = part(outcome, "messages", default=outcome)
    if not isinstance(messages, Sequence) or not all(isinstance(message, Message) for message in messages):
        raise CheckFailed("`run` returns neither a run nor the messages, so a conversation cannot go on")
    expect(messages, "`run` returns no messages, so a conversation cannot go on")
    _accepted(messages, "the history after a failed call and a limit")


def _accepted(messages: Sequence[Message], what: str) -> None:
    problems = openai_problems(to_openai(messages)) or anthropic_problems(to_anthropic(messages)[1])
    expect(not problems, f"{what} would be refused: {problems[0] if problems else ''}")


def _two_users(agent: Any) -> None:
    probe = Probe(answered())
    twin = with_probe(agent, probe)
    twin.run("The first user asks about the red door.")
    before = len(probe.seen)
    twin.run("The second user asks about the blue door.")
    expect(len(probe.seen) > before, "a second run does not ask the model")
    expect(
        "red door" not in text_of(probe.seen[before]),
        "a second run sees the goal of the first one, and they may be two people; keep no history in the agent",
    )


def _usage(agent: Any) -> None:
    messages = [Message("system", "Answer in one word."), Message("user", "Hello.")]
    reply = part(agent, "model").decide(messages, ())
    if isinstance(reply, Pause):
        raise CheckFailed("the model is a person, who reports no tokens")
    usage = getattr(reply, "usage", None)
    expect(
        usage is not None and usage.total_tokens > 0,
        "the model does not report its tokens, so you will not know what a request costs",
    )


LINES: tuple[Promise[Any], ...] = (
    Promise("system prompt", "the first message that the model sees is a system prompt", _system_prompt),
    Promise("descriptions", "every tool and parameter is described, and no two tools are alike", _descriptions),
    Promise("result", "the result of a call is in what the model sees next", _result),
    Promise("unknown tool", "a tool that does not exist is reported to the model", _unknown_tool),
    Promise("bad argument", "a wrong argument is reported to the model by its name", _bad_argument),
    Promise("failing tool", "a tool that raises is reported to the model", _failing_tool),
    Promise("step limit", f"a model that never answers is stopped within {MOST_REQUESTS} requests", _step_limit),
    Promise("time limit", "after a request that took an hour, no other request is made", _time_limit),
    Promise("spending limit", "after a request of ten million tokens, no other request is made", _spending_limit),
    Promise("memory", "a long conversation is sent in part, with its newest goal", _memory),
    Promise("approval", "every dangerous tool waits for a person", _approval),
    Promise("history", "after a failure and a limit, providers accept the history", _history),
    Promise("two users", "a run does not see the goal of another run", _two_users),
    Promise("usage", "the model reports the tokens of a request", _usage),
)
