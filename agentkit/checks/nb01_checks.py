"""What the checks of notebook 01 try. A history is a list of dicts, as the hand-made loop of that notebook keeps it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from agentkit.checks.contracts import loop_contract
from agentkit.checks.exercise import CheckFailed, expect
from agentkit.checks.faces import shown
from agentkit.messages import CallTools, Reply, Run

Entry = dict[str, Any]

LIMITED = ("acts", "observes", "stops", "answers", "step limit")
"""The points of the loop's contract that a loop with a step limit keeps; the others come later in the course."""


def the_function(answer: Any, name: str, exercise: str) -> Callable[..., Any]:
    """The function that was handed in; its result, handed in instead, gets a sentence."""
    if not callable(answer):
        raise CheckFailed(
            f'hand in the function itself, without brackets: `check("{exercise}", {name})`; this is {shown(answer, 60)}'
        )
    found: Callable[..., Any] = answer
    return found


def _entry(tool: str, result: Any, **arguments: Any) -> Entry:
    return {"tool": tool, "arguments": arguments, "result": result}


def check_tools_called(tools_called: Any) -> None:
    """The names of the tools in a history, in order, each as often as it was called."""
    the_function(tools_called, "tools_called", "01.1")
    look, policy = _entry("lookup_order", {"status": "shipping"}, order_id="A101"), _entry("refund_policy", {})
    goal, answer = {"goal": "Can A101 be refunded?"}, {"answer": "No."}
    cases: tuple[tuple[list[Entry], list[str], str], ...] = (
        ([goal, look, policy, answer], ["lookup_order", "refund_policy"], "two tools were called"),
        ([goal], [], "no tool was called yet"),
        (
            [goal, look, look, answer],
            ["lookup_order", "lookup_order"],
            "a tool that was called twice stands there twice",
        ),
        ([goal, policy, look], ["refund_policy", "lookup_order"], "the names stand in the order of the calls"),
    )
    for history, wanted, why in cases:
        try:
            found = tools_called(list(history))
        except KeyError as error:
            key = shown(error.args[0] if error.args else "")
            raise CheckFailed(
                f"`tools_called` asks an entry for the key {key} that it does not have; only a call has the key 'tool'"
            ) from None
        expect(isinstance(found, list), f"return a list of names, not {shown(found)}")
        expect(found == wanted, f"{why}, so the answer is {wanted}, but you return {shown(found)}")


def check_decide_parcel(decide: Any) -> None:
    """A decision for "where is my order": look first, then answer with the place."""
    the_function(decide, "decide_parcel", "01.2")
    for code, place in (("A101", "Okcheon hub"), ("A114", "Daejeon hub")):
        goal = {"goal": f"Where is my order {code}?"}
        first = decide([goal])
        expect(isinstance(first, dict), f"a decision is a dict, but you return {shown(first)}")
        expect("answer" not in first, "nothing was looked up yet, and you already answer; call the tool first")
        expect(first.get("tool") == "track_shipment", f'the first decision calls "track_shipment", not {shown(first)}')
        wanted = {"order_id": code}
        given = first.get("arguments")
        expect(given == wanted, f"the goal is {goal['goal']!r}, so the arguments are {wanted}, not {shown(given)}")
        data = {"order_id": code, "shipment_status": "in transit", "location": place}
        second = decide([goal, _entry("track_shipment", data, order_id=code)])
        expect(isinstance(second, dict), f"a decision is a dict, but you return {shown(second)}")
        expect("tool" not in second, "the history holds the result, and you call the tool again: read the history")
        text = str(second.get("answer", ""))
        expect(place in text, f"the answer must name the place of the result, {place!r}, but it is {shown(text)}")


def plain_decision(reply: Reply) -> Entry:
    """A reply of agentkit as the dict that the hand-made loop understands: its first call, or its answer."""
    decision = reply.decision
    if isinstance(decision, CallTools):
        return {"tool": decision.calls[0].name, "arguments": decision.calls[0].arguments}
    return {"answer": getattr(decision, "text", None) or getattr(decision, "question", "")}


def check_run_loop(run_loop: Callable[..., Any]) -> None:
    """A loop over dicts that has a limit and says why it ended; and what of a loop's contract it can keep."""

    the_function(run_loop, "run_loop", "01.3")

    def adapted(decide: Any, tools: Any, goal: str, max_steps: int = 20) -> Any:
        return _pair(run_loop(lambda history: plain_decision(decide(history)), tools, goal, max_steps))[0]

    history, reason = _pair(run_loop(lambda history: {"answer": "Yes."}, {}, "Is it open?", 3))
    expect(history[:1] == [{"goal": "Is it open?"}], "the history begins with the goal: `[{'goal': goal}]`")
    expect(reason == "answered", f'there was an answer, so the reason is "answered", not {shown(reason)}')
    for point in loop_contract(adapted).points:
        if point.name in LIMITED and not point.passed:
            raise CheckFailed(f"{point.name}: {point.message}")
    tick = {"tool": "tick", "arguments": {}}
    history, reason = _pair(run_loop(lambda history: tick, {"tick": lambda: "ok"}, "Go.", 3))
    expect(len(history) == 4, f"after 3 steps the history has the goal and 3 results; yours has {len(history)} entries")
    expect(reason == "max_steps", f'the limit ended this run, so the reason is "max_steps", not {shown(reason)}')
    last = run_loop(lambda history: tick if len(history) < 3 else {"answer": "ok"}, {"tick": lambda: "ok"}, "Go.", 3)
    expect(_pair(last)[1] == "answered", 'the answer came with the last question allowed, so the reason is "answered"')


def _pair(outcome: Any) -> tuple[list[Entry], Any]:
    if not (isinstance(outcome, tuple) and len(outcome) == 2):
        raise CheckFailed(f"whatever ends the loop, return two things, `history, reason`; you return {shown(outcome)}")
    history, reason = outcome
    if not isinstance(history, list) or not all(isinstance(entry, dict) for entry in history):
        raise CheckFailed(f"the first thing to return is the history, a list of dicts, not {shown(history)}")
    return history, reason


def check_act(act: Any) -> None:
    """Run the tool of a decision; a tool that does not exist becomes a sentence for the model."""
    the_function(act, "act", "01.4")
    ran: list[str] = []

    def stock(item: str) -> int:
        ran.append(item)
        return 12

    def recount() -> int:
        raise KeyError("recount")

    tools = {"stock": stock, "price": lambda item: 100, "recount": recount}
    found = act(tools, {"tool": "stock", "arguments": {"item": "cable"}})
    expect(found == 12, f"the tool `stock` returns 12, but `act` returns {shown(found)}")
    expect(ran == ["cable"], f'the tool must run once, with the item "cable"; it ran {len(ran)} times')
    told = act(tools, {"tool": "stok", "arguments": {"item": "lamp"}})
    expect(ran == ["cable"], "there is no tool `stok`; do not run another one in its place, tell the model")
    if not isinstance(told, Mapping) or not isinstance(told.get("error"), str):
        raise CheckFailed(f'for an unknown tool return {{"error": "a sentence"}}, not {shown(told)}')
    expect("stok" in told["error"], "the sentence must name the tool that was asked for, `stok`")
    missing = [name for name in tools if not re.search(rf"\b{name}\b", told["error"])]
    expect(not missing, f"the sentence must name the tools that exist; `{'`, `'.join(missing)}` is missing")
    _reports_unknown_only(act, tools, told["error"])


def _reports_unknown_only(act: Any, tools: Mapping[str, Any], unknown: str) -> None:
    """A KeyError that a tool raises itself is not an unknown tool. What else becomes of it is left open."""
    try:
        told = act(tools, {"tool": "recount", "arguments": {}})
    except KeyError:
        return
    sentence = str(told.get("error")) if isinstance(told, Mapping) else ""
    same = re.sub(r"\bstok\b", "recount", unknown) == sentence
    expect(
        not same,
        "the tool `recount` exists and raises a KeyError of its own, and you tell the model that there is no such tool; "
        "look whether the name is in `tools` before you call anything",
    )


def check_own_tool(answer: Any) -> None:
    """A run in which a tool of the learner's own was called, and whose answer rests on what it returned."""
    from agentkit.worlds import orders

    if not isinstance(answer, Run):
        raise CheckFailed(f"hand in a run, which is what `Agent(…).run(…)` returns, not {shown(answer, 60)}")
    shop = {tool.name for tool in orders.make_tools()}
    own = [spec.name for spec in answer.tools if spec.name not in shop]
    expect(own, "all tools of this run come from the order desk; give the agent a function of your own")
    results = [result for step in answer.steps for result in step.results if result.name in own]
    asked = f" It asks: {answer.question}" if answer.question else ""
    expect(results, f"your tool was not called. Do the words of your goal fit its docstring?{asked}")
    good = [result.data for result in results if result.ok]
    if not good:
        message = results[0].error.message if results[0].error else ""
        raise CheckFailed(f"your tool was called, but it failed: {message}")
    expect(answer.stop_reason == "answered", f"the run ended as `{answer.stop_reason}`, without an answer.{asked}")
    text = _bare(answer.answer or "")
    rests = any(_bare(str(value)) in text for data in good for value in _values(data))
    expect(rests, "nothing that your tool returned stands in the answer; let it return what the goal asks for")


def _values(data: Any) -> Iterable[Any]:
    """Every text and number inside some data."""
    if isinstance(data, Mapping):
        return [each for value in data.values() for each in _values(value)]
    if isinstance(data, Sequence) and not isinstance(data, str):
        return [each for value in data for each in _values(value)]
    return [] if data is None or isinstance(data, bool) or data == "" else [data]


def _bare(text: str) -> str:
    return re.sub(r"(?<=\d),(?=\d{3})", "", text.casefold())
