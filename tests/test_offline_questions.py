"""The offline model with open questions: what it searches for, arithmetic in words, and "it".

The tools here are invented and have nothing to do with the sample worlds, so that only general abilities are measured.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from agentkit.loop import Agent
from agentkit.messages import ToolCall
from agentkit.models.offline import OfflineModel
from agentkit.models.offline.values import read_values
from agentkit.tools import tool

NOTES = {
    "ferry": ("N1", "The ferry to Oryu island takes 45 minutes."),
    "bakery": ("N2", "The bakery sells 120 loaves on a weekday and 200 on a Sunday."),
}


@tool
def find_notes(question: str) -> dict[str, Any]:
    """Look through the notebook of a village; each note comes with its note id."""
    hits = [(key, text) for word, (key, text) in NOTES.items() if word in question.casefold()]
    rows = [{"note_id": key, "note": text, "score": 1.0 - n / 10} for n, (key, text) in enumerate(hits)]
    return {"count": len(rows), "notes": rows}


@tool
def show_note(note_id: str) -> str:
    """Show the whole text of one note by its id."""
    return next((text for key, text in NOTES.values() if key == note_id), "no such note")


@tool
def work_out(formula: str) -> dict[str, Any]:
    """Work out a formula."""
    return {"result": f"value of {formula}"}


@tool
def temperature(city: str) -> int:
    """The temperature in a city now."""
    return 20


def given(call: ToolCall) -> dict[str, Any]:
    assert isinstance(call.arguments, Mapping)
    return dict(call.arguments)


def calls(goal: str, tools: list[Any] | None = None) -> list[tuple[str, dict[str, Any]]]:
    run = Agent(OfflineModel(), tools or [find_notes, work_out]).run(goal)
    return [(call.name, given(call)) for step in run.steps for call in step.calls]


QUERIES = [
    ("How long does the ferry take?", "How long ferry take"),
    ("What do you know about the bakery?", "bakery"),
    ("Could you please look up the ferry's timetable?", "ferry timetable"),
    ("On which day does the bakery open?", "day bakery open"),
    ("There is a ferry to the island. How long does it take?", "ferry island How long take"),
    ("When the ferry is late, who tells the bakery?", "ferry late tells bakery"),
]


@pytest.mark.parametrize(("goal", "query"), QUERIES)
def test_a_query_holds_the_words_that_tell_the_topic(goal: str, query: str) -> None:
    assert calls(goal) == [("find_notes", {"question": query})]


def test_a_tool_that_fits_wins_over_an_open_search() -> None:
    assert calls("What is the temperature in Busan?", [find_notes, temperature]) == [("temperature", {"city": "Busan"})]
    assert calls("What is the ferry like?", [find_notes, temperature])[0][0] == "find_notes"


@pytest.mark.parametrize("goal", ["Hello!", "Thank you.", "Delete the bakery.", "Write me a song."])
def test_nothing_is_searched_for_where_nothing_is_asked(goal: str) -> None:
    assert calls(goal) == []


ARITHMETIC = [
    ("What is 15% of 80?", "15 / 100 * 80"),
    ("What is 15 percent of 1,200?", "15 / 100 * 1200"),
    ("80의 15%는?", "15 / 100 * 80"),
    ("the square root of 81", "sqrt(81)"),
    ("81의 제곱근은?", "sqrt(81)"),
    ("7 squared plus 1", "(7 ** 2) + 1"),
    ("2 to the power of 10", "2 ** 10"),
    ("half of 90", "90 / 2"),
    ("divide 90 by 4", "90 / 4"),
    ("subtract 5 from 9", "9 - 5"),
    ("sqrt(16) + 2", "sqrt(16) + 2"),
    ("two plus three", "2 + 3"),
]


@pytest.mark.parametrize(("text", "expression"), ARITHMETIC)
def test_arithmetic_in_words(text: str, expression: str) -> None:
    assert [value.value for value in read_values(text)[1] if value.kind == "expression"] == [expression]


@pytest.mark.parametrize(
    "text",
    [
        "It was 20 percent cheaper.",
        "Order 5 times a day",
        "multiply your luck",
        "3번 배송",
        "a plus for us",
        "half of it",
    ],
)
def test_what_is_no_complete_arithmetic(text: str) -> None:
    assert [value for value in read_values(text)[1] if value.kind == "expression"] == []


@pytest.mark.parametrize(
    ("goal", "formula"),
    [
        ("What is 20% of 30, plus 5?", "(20 / 100 * 30) + 5"),
        ("30의 20%에 5를 더하면?", "(20 / 100 * 30) + 5"),
        ("What is two plus two?", "2 + 2"),
        ("12 times 250, how much is that?", "12 * 250"),
    ],
)
def test_no_part_of_a_calculation_is_lost(goal: str, formula: str) -> None:
    assert calls(goal) == [("work_out", {"formula": formula})]


WAITING = [
    ("How long does the ferry take? Multiply that by 2.", "45 * 2"),
    ("Look up how long the ferry takes and divide 900 by that number.", "900 / 45"),
    ("How long does the ferry take, and what is 10% of that?", "10 / 100 * 45"),
    ("What is 3 times the number of minutes that the ferry takes?", "3 * 45"),
]


@pytest.mark.parametrize(("goal", "formula"), WAITING)
def test_an_operation_waits_for_an_observed_number(goal: str, formula: str) -> None:
    made = calls(goal)
    assert [name for name, _ in made] == ["find_notes", "work_out"]
    assert made[1] == ("work_out", {"formula": formula})


UNCLEAR = [
    "How high is the church? Multiply that by 2.",
    "How many loaves does the bakery sell on a Sunday? Add 10 to that.",  # 120 or 200: the words do not decide it
]


@pytest.mark.parametrize("goal", UNCLEAR)
def test_no_number_is_guessed(goal: str) -> None:
    run = Agent(OfflineModel(), [find_notes, work_out]).run(goal)
    assert [call.name for step in run.steps for call in step.calls] == ["find_notes"]
    assert run.stop_reason == "answered" and "could not calculate" in (run.answer or "")


def test_the_first_row_of_a_ranked_list_is_the_one() -> None:
    made = calls("Show me the whole text of the note about the ferry and the bakery.", [find_notes, show_note])
    assert made[0][0] == "find_notes" and made[1] == ("show_note", {"note_id": "N1"})


def test_it_stands_for_what_the_goal_before_asked() -> None:
    agent = Agent(OfflineModel(), [find_notes, work_out])
    first = agent.run("Tell me about the ferry.")
    second = agent.run("How long does it take?", history=first.messages)
    made = [call for step in second.steps for call in step.calls]
    assert [given(call) for call in made] == [{"question": "ferry How long take"}]
