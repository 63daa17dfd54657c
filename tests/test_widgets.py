"""The moving faces: linked in the browser, driven by clicks, never the only place where something can be read."""

from __future__ import annotations

import datetime
import enum
import html
import re
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Annotated, Any, Literal

import ipywidgets as widgets
import pytest
from _streaming import ANSWER, LOOK, Streaming
from hypothesis import given, settings
from hypothesis import strategies as st
from ipywidgets.widgets.widget import _instances as all_widgets
from pydantic import BaseModel, Field

from agentkit import (
    Agent,
    AskUser,
    CallTools,
    FinalAnswer,
    HumanModel,
    Memory,
    Message,
    Registry,
    Reply,
    Run,
    ScriptedModel,
    Step,
    ToolCall,
    ToolResult,
    ToolScore,
    Usage,
    tool,
)  # fmt: skip
from agentkit.widgets import approval as approval_module
from agentkit.widgets import (
    approval_panel,
    ask_box,
    be_the_model,
    compare_runs,
    memory_window,
    player,
    registry_explorer,
    stations,
    watch,
    wire_inspector,
)  # fmt: skip
from agentkit.widgets.form import MISSING, FormError, form

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>"
paid: list[tuple[str, int]] = []


@tool
def lookup(order_id: str) -> dict[str, str]:
    """Look up an order.

    Args:
        order_id: the code
    """
    return {"order_id": order_id, "status": HOSTILE}


@tool(permission="write", approval=True)
def refund(order_id: str, amount: int) -> str:
    """Pay money back.

    Args:
        order_id: the code
        amount: in KRW
    """
    paid.append((order_id, amount))
    return f"paid {amount}"


@pytest.fixture(autouse=True)
def _no_payments() -> Iterator[None]:
    paid.clear()
    yield
    paid.clear()


def look() -> CallTools:
    return CallTools("I look.", (ToolCall("lookup", {"order_id": "A100"}),))


def pay(*amounts: int) -> CallTools:
    return CallTools("I pay.", tuple(ToolCall("refund", {"order_id": "A100", "amount": n}) for n in amounts))


def scripted(*decisions: Any, memory: Memory | None = None) -> Agent:
    return Agent(
        ScriptedModel(decisions), [lookup, refund], system="Be kind.", memory=memory or Memory(), ids=lambda: "r"
    )


def finished() -> Run:
    scores = (ToolScore("order", "lookup", 2.0, 0.8), ToolScore("order", "refund", 1.0, 0.2))
    return scripted(Reply(look(), Usage(9, 3), scores), look(), FinalAnswer("Enough.", "Yes.")).run("Refund A100?")


def inside(widget: Any, kind: type) -> list[Any]:
    """Every part of a panel that is of one kind."""
    found = [widget] if isinstance(widget, kind) else []
    for child in getattr(widget, "children", ()):
        found += inside(child, kind)
    return found


def exchange(system: str) -> Any:
    message = {"role": "assistant", "content": HOSTILE}
    answer = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    messages = [{"role": "system", "content": system}, {"role": "user", "content": HOSTILE}]
    return SimpleNamespace(service="chat", request={"messages": messages}, response=answer)


def panels() -> dict[str, Callable[[], Any]]:
    run, waiting = finished(), scripted(look(), pay(3)).run("Refund A100?")
    human = Agent(HumanModel(), [lookup, refund], ids=lambda: "r")
    return {
        "player": lambda: player(run),
        "player of a paused run": lambda: player(waiting),
        "compare_runs": lambda: compare_runs(run, waiting),
        "memory_window": lambda: memory_window(run.messages),
        "memory_window by tokens": lambda: memory_window(run.messages, by="tokens", tools=run.tools),
        "registry_explorer": lambda: registry_explorer(Registry([lookup, refund])),
        "empty registry": lambda: registry_explorer(Registry()),
        "be_the_model": lambda: be_the_model(human, "Refund A100?"),
        "approval_panel": lambda: approval_panel(scripted(look(), pay(3)), waiting),
        "watch": lambda: watch(Agent(Streaming([LOOK, ANSWER]), [lookup]).stream("Refund A100?")),
        "wire_inspector": lambda: wire_inspector(exchange(HOSTILE), exchange("fine")),
        "stations": lambda: stations(Registry([lookup, refund]), ToolCall("lookup", {"order_id": "A1"}, "c1")),
        "ask_box": lambda: ask_box(scripted(FinalAnswer("", "Yes."))),
    }


# --- what holds for every panel -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", list(panels()))
def test_every_panel_leaves_a_widget_a_text_and_a_static_form(name: str) -> None:
    make = panels()[name]
    one, other = make()._repr_mimebundle_(), make()._repr_mimebundle_()
    assert set(one) == {"text/plain", "text/html", "application/vnd.jupyter.widget-view+json"}
    for face in ("text/plain", "text/html"):
        assert one[face] == other[face], "the form must be the same every time"
        assert " at 0x" not in one[face] and "VBox" not in one[face]
        assert one[face].strip()
    assert not re.search(r"<(script|img|svg|style|iframe)", one["text/html"])


@pytest.mark.parametrize("name", list(panels()))
def test_no_panel_uses_output_widgets_or_hides_a_method_of_ipywidgets(name: str) -> None:
    panel = panels()[name]()
    assert inside(panel, widgets.Output) == []
    parents = set(dir(widgets.VBox))
    meant = {"__init__", "__repr__", "_repr_html_", "_repr_mimebundle_"}
    for cls in type(panel).__mro__:
        if cls.__module__.startswith("agentkit."):
            hidden = {key for key, value in vars(cls).items() if key in parents and callable(value)} - meant
            assert hidden == set(), f"{cls.__name__} hides methods of ipywidgets"
    own = {key for key in vars(panel) if hasattr(widgets.VBox, key) and not key.startswith("_")}
    assert own == set(), "an attribute of the panel hides one of ipywidgets"


@pytest.mark.parametrize("name", list(panels()))
def test_every_html_in_every_panel_is_escaped(name: str) -> None:
    for part in inside(panels()[name](), widgets.HTML):
        assert not re.search(r"<(script|img|svg|style|iframe)", part.value)


# --- player -----------------------------------------------------------------------------------------------------------


def linked(panel: Any) -> set[tuple[str, str]]:
    """The (source, target) kinds of all links in the browser between the parts of a panel."""
    parts = set(map(id, inside(panel, widgets.Widget)))
    links = [
        widget
        for widget in list(all_widgets.values())
        if isinstance(widget, widgets.widget_link.Link) and {id(widget.source[0]), id(widget.target[0])} <= parts
    ]
    return {
        (f"{type(x.source[0]).__name__}.{x.source[1]}", f"{type(x.target[0]).__name__}.{x.target[1]}") for x in links
    }


def test_the_player_has_a_frame_for_each_step_linked_in_the_browser() -> None:
    run = finished()
    panel = player(run)
    [stack] = inside(panel, widgets.Stack)
    [play], [slider], [jump] = (
        inside(panel, kind) for kind in (widgets.Play, widgets.IntSlider, widgets.ToggleButtons)
    )
    assert len(stack.children) == 1 + len(run.steps) == 4
    assert (play.min, play.max, slider.min, slider.max) == (0, 3, 0, 3)
    assert list(jump.options) == ["Start", "1", "2", "3"]
    assert linked(panel) == {
        ("Play.value", "IntSlider.value"),
        ("IntSlider.value", "Stack.selected_index"),
        ("IntSlider.value", "ToggleButtons.index"),
    }


def test_a_frame_shows_thought_action_observation_tokens_scores_and_what_the_model_saw() -> None:
    run = finished()
    first, second, last = (frame.value for frame in inside(player(run), widgets.Stack)[0].children[1:])
    for word in (
        "Step 1 of 3",
        "I look.",
        "lookup",
        "Tool choice for: order",
        "0.800",
        "Messages sent",
        "Messages kept",
    ):
        assert word in first, word
    assert "What the model saw: 2 messages, 1 new, 2 kept" in first
    assert "What the model saw: 4 messages, 2 new, 4 kept" in second
    assert "3. assistant (new)" in second and "2. user (goal)</td>" in second
    assert "Yes." in last and "done (answered)" in last
    assert html.escape(HOSTILE) in first


def test_the_player_shows_what_a_window_left_out() -> None:
    agent = scripted(look(), look(), look(), FinalAnswer("", "Yes."), memory=Memory(max_messages=4))
    last = inside(player(agent.run("Refund A100?")), widgets.Stack)[0].children[-1].value
    assert "What the model saw: 4 messages, 2 new, 8 kept" in last


def test_the_static_form_of_the_player_says_what_its_frames_say() -> None:
    text = repr(player(finished()))
    for word in ("Observation:", "Tool choice for: order", "0.800", "Messages kept", "4 messages, 2 new, 4 kept"):
        assert word in text, word


def test_a_run_without_steps_and_a_very_long_run_can_be_played() -> None:
    empty = Run("Go.", (Message("user", "Go."),), (), "stopped", "model_error", error=HOSTILE)
    [frame] = inside(player(empty), widgets.Stack)[0].children
    assert "stopped (model_error)" in frame.value and html.escape(HOSTILE) in frame.value
    steps = tuple(Step(n, 1, Reply(CallTools(str(n), ()))) for n in range(1, 501))
    long = player(Run("Go.", (Message("user", "Go."),), steps, "stopped", "max_steps"))
    assert len(inside(long, widgets.Stack)[0].children) == 201
    assert len(inside(long, widgets.BoundedIntText)) == 1


def test_a_large_observation_makes_small_frames() -> None:
    call = ToolCall("lookup", {}, "call_1")
    result = ToolResult("call_1", "lookup", "x" * 1_000_000)
    messages = (Message("user", "Go."), Message("assistant", "", (call,)), Message("tool", result=result))
    steps = (Step(1, 1, Reply(CallTools("", (call,))), (result,)), Step(2, 3, Reply(FinalAnswer("", "Yes."))))
    panel = player(Run("Go.", messages, steps, "done", "answered", "Yes."))
    assert sum(len(part.value) for part in inside(panel, widgets.HTML)) < 30_000
    assert "more characters]" in repr(panel)


# --- forms ------------------------------------------------------------------------------------------------------------


class Speed(enum.Enum):
    SLOW = "slow"
    FAST = "fast"


class Address(BaseModel):
    city: str
    floor: int | None = None


def ship(
    order_id: str,
    weight: float,
    boxes: int,
    fast: bool,
    speed: Speed,
    how: Literal["air", "sea"],
    day: datetime.date,
    to: Address,
    lines: list[int],
    note: str | None = None,
    gift: bool = False,
    back: Address | None = None,
) -> str:
    """Ship an order."""
    return "ok"


@given(
    st.text(), st.floats(allow_nan=False, allow_infinity=False), st.integers(), st.booleans(), st.sampled_from(Speed),
    st.sampled_from(["air", "sea"]), st.dates(), st.text(min_size=1), st.lists(st.integers()),
)  # fmt: skip
@settings(max_examples=30)
def test_a_form_gives_arguments_that_the_tool_accepts(
    order_id: str,
    weight: float,
    boxes: int,
    fast: bool,
    speed: Speed,
    how: str,
    day: datetime.date,
    city: str,
    lines: Any,
) -> None:
    made = form(tool(ship).parameters)
    sent = {
        "order_id": order_id, "weight": weight, "boxes": boxes, "fast": fast, "speed": speed.value, "how": how,
        "day": day.isoformat(), "to": {"city": city}, "lines": lines,
    }  # fmt: skip
    made.fill(sent)
    values = made.values()
    assert {key: values[key] for key in sent} == sent
    assert values["gift"] is False and "note" not in values and "back" not in values
    assert Registry([ship]).call(ToolCall("ship", values)).data == "ok"


def test_an_empty_form_chooses_nothing_for_the_learner() -> None:
    values = form(tool(ship).parameters).values()
    assert values == {"order_id": "", "gift": False, "to": {"city": ""}}
    assert Registry([ship]).call(ToolCall("ship", values)).error is not None


def test_a_strict_schema_gets_null_for_what_is_left_empty() -> None:
    made = form(tool(ship).strict_parameters or {})
    assert made.values()["note"] is None


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("boxes", "two", "boxes: write a whole number"),
        ("weight", "x", "weight: write a number"),
        ("lines", "[1", "lines: this is not JSON"),
    ],
)
def test_a_form_says_what_it_cannot_read(name: str, text: str, sentence: str) -> None:
    made = form(tool(ship).parameters)
    entry = inside(made.fields[name].box, (widgets.Text, widgets.Textarea))[0]  # type: ignore[arg-type]
    entry.value = text
    with pytest.raises(FormError, match=re.escape(sentence)):
        made.values()


def test_a_form_escapes_names_descriptions_and_choices_of_a_foreign_schema() -> None:
    part = {"type": "string", "description": HOSTILE, "enum": [HOSTILE], "examples": [HOSTILE]}
    made = form({"type": "object", "properties": {HOSTILE: part, "c": {"const": HOSTILE}, "any": {}}})
    assert all("<script" not in label.value for label in inside(made.box, widgets.HTML))
    assert made.values() == {"c": HOSTILE}


def test_a_recursive_schema_makes_a_finite_form() -> None:
    node = {"type": "object", "properties": {"child": {"$ref": "#/$defs/Node"}, "name": {"type": "string"}}}
    made = form({"type": "object", "properties": {"root": {"$ref": "#/$defs/Node"}}, "$defs": {"Node": node}})
    assert len(inside(made.box, widgets.Textarea)) == 1
    assert made.fields["root"].read() is MISSING


def test_a_parameter_with_a_description_shows_it() -> None:
    @tool
    def wait(seconds: Annotated[int, Field(description="how long, in seconds", examples=[5])]) -> int:
        """Wait."""
        return seconds

    box = form(wait.parameters).box
    assert "how long, in seconds" in inside(box, widgets.HTML)[0].value
    assert inside(box, widgets.Text)[0].placeholder == "for example 5"


# --- registry explorer --------------------------------------------------------------------------------------------------


def test_the_explorer_calls_through_the_registry_and_shows_the_result() -> None:
    panel = registry_explorer(Registry([lookup, refund]))
    panel.forms["lookup"].fill({"order_id": "A7"})
    panel.buttons["lookup"].click()
    shown = panel.outputs["lookup"].value
    assert (
        html.escape('lookup {"order_id": "A7"}') in shown and html.escape(HOSTILE) in shown and "<script" not in shown
    )


def test_the_explorer_shows_errors_as_results_and_as_sentences() -> None:
    panel = registry_explorer(Registry([lookup, refund]))
    panel.buttons["refund"].click()
    assert "bad_arguments" in panel.outputs["refund"].value and paid == []
    inside(panel.forms["refund"].fields["amount"].box, widgets.Text)[0].value = "much"
    panel.buttons["refund"].click()
    assert "write a whole number" in panel.outputs["refund"].value and paid == []


def test_a_person_at_the_explorer_approves_by_calling() -> None:
    panel = registry_explorer(Registry([lookup, refund]))
    panel.forms["refund"].fill({"order_id": "A1", "amount": 5})
    assert "You are the person who approves" in "".join(part.value for part in inside(panel, widgets.HTML))
    panel.buttons["refund"].click()
    assert paid == [("A1", 5)]


def test_the_explorer_respects_what_a_registry_forbids() -> None:
    panel = registry_explorer(Registry([lookup, refund], permissions=("read",)))
    panel.forms["refund"].fill({"order_id": "A1", "amount": 5})
    panel.buttons["refund"].click()
    assert "not_permitted" in panel.outputs["refund"].value and paid == []


# --- memory window ------------------------------------------------------------------------------------------------------


def test_the_window_shows_what_is_sent_dropped_and_kept_together() -> None:
    run = finished()
    panel = memory_window(run.messages, limits=[4, 7])
    small, large = (frame.value for frame in inside(panel, widgets.Stack)[0].children)
    assert "A window of 4 messages: 3 sent" in small and small.count(">dropped<") == 4
    assert "0 dropped" in large and ">dropped<" not in large
    rows = re.findall(r"<tr><td[^>]*>(\d+)</td><td[^>]*>([^<]*)</td>", small)
    assert [unit for unit, _ in rows] == ["1", "2", "3", "3", "4", "4", "5"]
    by_unit: dict[str, set[str]] = {}
    for unit, state in rows:
        by_unit.setdefault(unit, set()).add(state)
    assert all(len(states) == 1 for states in by_unit.values())
    assert "A window of 4 messages: 3 sent" in repr(panel) and "Dropped: 3, 4, 5, 6." in repr(panel)


def test_a_window_that_cannot_be_sent_says_why() -> None:
    panel = memory_window(finished().messages, limits=[1])
    assert "cannot be sent" in repr(panel) and "cannot be sent" in inside(panel, widgets.Stack)[0].children[0].value


def test_a_window_over_nothing() -> None:
    panel = memory_window(())
    assert inside(panel, widgets.Stack)[0].children == () and repr(panel)


# --- approval -----------------------------------------------------------------------------------------------------------


def test_the_approval_panel_decides_nothing_by_itself() -> None:
    agent = scripted(pay(3), FinalAnswer("", "Paid."))
    run = agent.run("Refund A100?")
    panel = approval_panel(agent, run)
    assert [choice.value for choice in panel.choices.values()] == ["Not decided"]
    panel.go.click()
    assert panel.run is run and paid == [] and "Decide about every call first" in panel.output.value


def test_the_approval_panel_approves_what_was_clicked() -> None:
    agent = scripted(pay(3), FinalAnswer("", "Paid."))
    panel = approval_panel(agent, agent.run("Refund A100?"))
    assert html.escape('refund {"order_id": "A100", "amount": 3}') in inside(panel, widgets.HTML)[1].value
    panel.choices["call_1"].value = approval_module.APPROVE
    panel.go.click()
    assert panel.run.answer == "Paid." and paid == [("A100", 3)]
    assert panel.go.disabled and panel.choices == {} and "No call waits" in repr(panel)
    panel.go.click()
    assert paid == [("A100", 3)]


def test_the_approval_panel_denies_with_a_reason_and_edits() -> None:
    agent = scripted(pay(3, 4), FinalAnswer("", "Done."))
    panel = approval_panel(agent, agent.run("Refund A100?"))
    panel.choices["call_1"].value, panel.reasons["call_1"].value = approval_module.DENY, "Too early."
    panel.go.click()
    assert paid == [] and "Decide about every call" in panel.output.value
    panel.choices["call_2"].value = approval_module.EDIT
    panel.editors["call_2"].value = "[]"
    panel.go.click()
    assert paid == [] and "must be a JSON object" in panel.output.value
    panel.editors["call_2"].value = '{"order_id": "B2", "amount": 9}'
    panel.go.click()
    assert paid == [("B2", 9)] and panel.run.status == "done"
    denied = panel.run.steps[0].results[0]
    assert denied.error is not None and denied.error.code == "denied" and "Too early." in denied.error.message


# --- be the model -------------------------------------------------------------------------------------------------------


def human(*tools: Any) -> Agent:
    return Agent(HumanModel(), tools or [lookup, refund], system="Be kind.", ids=lambda: "r")


def choose(panel: Any, label: str) -> None:
    panel.choice.value = next(value for name, value in panel.choice.options if name == label)


def test_you_see_what_a_model_sees_and_your_decision_goes_on() -> None:
    panel = be_the_model(human(), "Where is A100?")
    seen = panel.request.value
    assert "Be kind." in seen and "Where is A100?" in seen and "Look up an order." in seen
    panel.forms["lookup"].fill({"order_id": "A100"})
    panel.thought.value = "I look."
    panel.submit.click()
    assert panel.run.steps[0].thought == "I look." and panel.run.steps[0].results[0].ok
    assert html.escape(HOSTILE) in panel.request.value, "the new observation is part of what the model sees"
    choose(panel, "Give the final answer")
    panel.submit.click()
    assert panel.run.status == "paused" and "Write the answer" in panel.problem.value
    panel.words.value = "It is here."
    panel.submit.click()
    assert panel.run.answer == "It is here." and panel.decide.layout.display == "none" and panel.problem.value == ""


def test_a_wrong_argument_comes_back_as_an_observation() -> None:
    panel = be_the_model(human(), "Where is A100?")
    choose(panel, "Call refund")
    panel.submit.click()
    error = panel.run.steps[0].results[0].error
    assert error is not None and error.code == "bad_arguments"


def test_you_ask_the_user_and_get_an_answer() -> None:
    panel = be_the_model(human(), "Where is it?")
    choose(panel, "Ask the user")
    panel.words.value = "Which order?"
    panel.submit.click()
    assert panel.user.layout.display == "flex" and panel.decide.layout.display == "none"
    panel.reply.value = "A100"
    panel.send_reply.click()
    assert panel.run.messages[-1].text == "A100" and panel.decide.layout.display == "flex"


def test_a_call_of_yours_that_needs_approval_is_approved_in_place() -> None:
    panel = be_the_model(human(), "Refund A100.")
    choose(panel, "Call refund")
    panel.forms["refund"].fill({"order_id": "A100", "amount": 3})
    panel.submit.click()
    [inner] = panel.approval.children
    assert paid == [] and panel.run.stop_reason == "needs_approval"
    inner.choices["call_1"].value = approval_module.APPROVE
    inner.go.click()
    assert paid == [("A100", 3)] and panel.run.stop_reason == "needs_input" and panel.approval.children == ()


# --- comparison and playground --------------------------------------------------------------------------------------------


def test_compare_runs_starts_at_the_first_difference() -> None:
    run = finished()
    other = scripted(look(), pay(3)).run("Refund A100?")
    panel = compare_runs(run, other)
    [stack] = inside(panel, widgets.Stack)
    assert stack.selected_index == 2 and "(first difference)" in stack.children[2].value
    assert "The first difference is at: Step 2." in repr(panel)


def test_the_playground_runs_with_the_ticked_tools_only() -> None:
    box = ask_box(scripted(look(), FinalAnswer("", "Yes.")), "Refund A100?")
    assert box.run is None
    box.start.click()
    assert box.run.answer == "Yes." and "<b>Answer:</b> Yes." in box.output.value and "Answer: Yes." in repr(box)
    box.boxes["lookup"].value = False
    box.start.click()
    error = box.run.steps[0].results[0].error
    assert error is not None and error.code == "unknown_tool"


def test_the_playground_says_what_is_wrong_with_an_empty_goal() -> None:
    box = ask_box(scripted(look()))
    box.start.click()
    assert box.run is None and "The goal is empty" in box.output.value


def test_the_playground_passes_on_questions_and_approvals() -> None:
    agent = scripted(AskUser("", "Which order?"), pay(3), FinalAnswer("", "Paid."))
    box = ask_box(agent, "Refund it.")
    box.start.click()
    assert box.user.layout.display == "flex" and "Which order?" in box.output.value
    box.reply.value = "A100"
    box.send_reply.click()
    [inner] = box.inside.children
    inner.choices["call_1"].value = approval_module.APPROVE
    inner.go.click()
    assert paid == [("A100", 3)] and box.run.answer == "Paid." and box.inside.children == ()


def test_the_playground_lets_you_be_the_model() -> None:
    box = ask_box(human(), "Where is A100?")
    box.start.click()
    [inner] = box.inside.children
    choose(inner, "Give the final answer")
    inner.words.value = "Here."
    inner.submit.click()
    assert box.run.answer == "Here." and box.inside.children == ()
