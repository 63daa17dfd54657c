"""Checks of notebook 06: prices, limits, what the user is told, a log, and an assistant with a tool of its own."""

from __future__ import annotations

import json
import math
from typing import Any

from agentkit.checks.agent_checklist import checklist
from agentkit.checks.checklist_probe import Probe
from agentkit.checks.exercise import CheckFailed, expect
from agentkit.checks.faces import shown
from agentkit.loop import Agent, Limits
from agentkit.messages import AskUser, CallTools, Decision, FinalAnswer, Reply, Run, ToolCall, Usage
from agentkit.models.scripted import ScriptedModel
from agentkit.tools import tool

WORLD_TOOLS = ("search_documents", "read_document", "calculate", "today")


@tool
def look_up(word: str) -> str:
    """Look a word up."""
    return f"{word}: a word"


@tool(permission="dangerous")
def burn(word: str) -> str:
    """Delete a word for ever."""
    return "gone"


def _run(*decisions: Decision | Reply, limits: Limits | None = None) -> Run:
    return Agent(ScriptedModel(decisions), [look_up, burn], limits=limits or Limits()).run("What does it mean?")


def _look(word: str, usage: Usage | None = None) -> Reply:
    return Reply(CallTools("I look.", (ToolCall("look_up", {"word": word}),)), usage)


# --- 06.1 ------------------------------------------------------------------------------------------------------------


def check_price(price: Any) -> None:
    """Try a function that says what a run cost."""
    run = _run(
        _look("loop", Usage(900_000, 50_000)), Reply(FinalAnswer("", "A circle."), Usage(1_100_000, 150_000)),
    )  # fmt: skip
    cases = (
        (1.0, 0.0, 2.0, "the run took 2,000,000 tokens in; at 1 dollar for a million that is 2 dollars"),
        (0.0, 1.0, 0.2, "the run took 200,000 tokens out; at 1 dollar for a million that is 0.20 dollars"),
        (0.5, 2.0, 1.4, "tokens in and tokens out have prices of their own: 1.00 + 0.40 dollars"),
    )
    for dollars_in, dollars_out, wanted, why in cases:
        found = price(run, dollars_in, dollars_out)
        expect(
            isinstance(found, (int, float)) and math.isclose(found, wanted, rel_tol=1e-9),
            f"{why}, but you return {shown(found)}",
        )


# --- 06.2 ------------------------------------------------------------------------------------------------------------


def check_limits(limits: Any) -> None:
    """Try limits on models that never answer: one is quick, one is slow, one is expensive."""
    expect(isinstance(limits, Limits), f"the answer is a `Limits` value, not {shown(limits)}")
    cases = (
        (Probe(), 6, "max_steps", "a model that never answers"),
        (Probe(seconds=7.0), 5, "timeout", "when each request takes 7 seconds, the limit of 30 seconds"),
        (
            Probe(usage=Usage(6_000, 1_000)),
            3,
            "max_tokens",
            "when each request takes 7,000 tokens, the limit of 20,000",
        ),
    )
    for probe, most, reason, what in cases:
        run = Agent(probe, [look_up], limits=limits, clock=probe.clock).run("Go.")
        asked = len(probe.seen)
        expect(
            asked == most and run.stop_reason == reason,
            f"{what} ends the run as {reason} after {most} requests, but yours ended as {run.stop_reason} after {asked}",
        )
    _not_too_early(limits)


def _not_too_early(limits: Limits) -> None:
    """A run of five requests under all three limits is let through: one that costs something, and one that asks again."""
    same = _look("loop", Usage(100, 10, cost=0.02))
    answer = Reply(FinalAnswer("", "A circle."), Usage(100, 10, cost=0.02))
    for replies, what in (
        ([_look(word, same.usage) for word in "abcd"], "each request costs 0.02 dollars"),
        ([same, same, _look("ring", same.usage), _look("arc", same.usage)], "the model asks for the same thing twice"),
    ):
        run = Agent(ScriptedModel([*replies, answer]), [look_up], limits=limits).run("Go.")
        expect(
            run.status == "done",
            f"a short run must reach its answer, but when {what}, yours ended as {run.stop_reason}; set only the three limits",
        )


# --- 06.3 ------------------------------------------------------------------------------------------------------------


def check_say(say: Any) -> None:
    """Try a function that says to the user how a run ended."""
    burning = CallTools("", (ToolCall("burn", {"word": "loop"}),))
    cases = (
        (_run(FinalAnswer("I know.", "A circle.")), "A circle."),
        (_run(AskUser("Which one?", "Which word do you mean?")), "Which word do you mean?"),
        (_run(burning), None),
        (_run(_look("a"), _look("b"), limits=Limits(max_steps=1)), None),
        (_run(_look("a")), None),
    )
    for run, wanted in cases:
        said = say(run)
        what = f"a run that is {run.status} ({run.stop_reason})"
        expect(
            isinstance(said, str) and said.strip(), f"for {what} you return {shown(said)}; the user needs a sentence"
        )
        if wanted is not None:
            expect(said == wanted, f"for {what} say exactly {shown(wanted)}; you return {shown(said)}")
            continue
        named = run.stop_reason.replace("_", " ") in said.lower().replace("_", " ")
        expect(named, f"for {what} the sentence must name the stop reason; you return {shown(said)}")
        expect(
            len(said.split()) >= 3, f"for {what} write a sentence of three words or more around it, not {shown(said)}"
        )


# --- 06.5 ------------------------------------------------------------------------------------------------------------


def _written(*rows: tuple[int, int, float, list[str]]) -> str:
    return "".join(
        json.dumps({"step": n, "tokens_in": i, "tokens_out": o, "seconds": s, "tools": ["look_up"], "errors": e}) + "\n"
        for n, (i, o, s, e) in enumerate(rows, 1)
    )


def check_totals(totals: Any) -> None:
    """Try a function that adds up a request log."""
    both = ["bad_arguments", "unknown_tool"]
    cases: tuple[tuple[str, tuple[int, int, float, list[str]], str], ...] = (
        (_written((100, 10, 0.5, [])), (1, 110, 0.5, []), "a log of one request"),
        (
            _written((100, 10, 0.5, ["timeout"]), (200, 20, 1.5, []), (300, 5, 0.25, both)),
            (3, 635, 2.25, ["timeout", *both]),
            "a log of three requests",
        ),
        ("", (0, 0, 0.0, []), "an empty log"),
        (_written((1, 1, 0.5, [])) + "\n\n" + _written((2, 2, 0.5, [])), (2, 6, 1.0, []), "a log with empty lines"),
    )
    for text, (requests, tokens, seconds, errors), what in cases:
        try:
            found = totals(text)
        except json.JSONDecodeError:
            raise CheckFailed(
                f"for {what} your code parsed a text that is not JSON; parse each line by itself, and pass over empty ones"
            ) from None
        if not isinstance(found, dict):
            raise CheckFailed(f"return a dictionary, not {shown(found)}")
        expected: dict[str, Any] = {"requests": requests, "tokens": tokens, "seconds": seconds, "errors": errors}
        for key, wanted in expected.items():
            expect(key in found, f"the dictionary has no key {key!r}")
            given = list(found[key]) if isinstance(found[key], tuple) else found[key]
            expect(given == wanted, f"for {what} the {key} are {wanted}, but you return {shown(found[key])}")


# --- 06.6 ------------------------------------------------------------------------------------------------------------


def check_mine(mine: Any) -> None:
    """Try an assistant with a tool of its own, and a goal that needs this tool."""
    if not (isinstance(mine, (tuple, list)) and len(mine) == 2 and isinstance(mine[1], str)):
        raise CheckFailed("hand in a pair: your agent, and a goal that needs your tool")
    agent, goal = mine
    expect(isinstance(agent, Agent), f"the first part is an agent, not {shown(agent)}")
    names = [spec.name for spec in agent.registry.specs()]
    own = [name for name in names if name not in WORLD_TOOLS]
    expect(own, f"the tools are {', '.join(names) or 'none'}; none of them is your own")
    expect("search_documents" in names, "keep the tools of the assistant beside your own")
    listed = checklist(agent)
    expect(listed.passed, f"the checklist misses a line. {listed.first_failure}")
    run = agent.run(goal)
    called = [call.name for step in run.steps for call in step.calls]
    expect(
        any(name in own for name in called),
        f"for this goal the agent called {', '.join(called) or 'no tool'}, not yours; "
        "ask with the words of its description, or write a clearer description, and name the values that it needs",
    )
    results = [result for step in run.steps for result in step.results if result.name in own]
    good = any(result.ok for result in results)
    problem = next((result.error.message for result in results if result.error), "it gave no result")
    expect(good, f"your tool was called, but every time it failed: {problem}")
    expect(run.status == "done", f"the run did not end with an answer, but as {run.stop_reason}")
