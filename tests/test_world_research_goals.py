"""The rules and the goals of the world `research`, and the model in the box that meets them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest

import agentkit
from agentkit.facts import Conclusion, Fact, Facts, Failure
from agentkit.loop import Agent
from agentkit.messages import CallTools, FinalAnswer, Run, ToolCall
from agentkit.registry import Registry
from agentkit.worlds import Goal, research
from agentkit.worlds.research.paraphrases import korean, paraphrases
from agentkit.worlds.research.rules import FAILURE_CODES, everything
from agentkit.worlds.research.wanted import Mentions, Worth, search

GOALS = {goal.id: goal for goal in research.goals}
TEXTS = {each.document_id: each for each in research.documents()}


def agent(model: Any = None) -> Agent:
    return Agent(model or agentkit.OfflineModel(rules=research.rules), research.make_tools(), system=research.system)


def calls_made(run: Run) -> list[tuple[str, dict[str, Any]]]:
    made = [call for step in run.steps for call in step.calls]
    return [(call.name, dict(call.arguments)) for call in made if isinstance(call.arguments, Mapping)]


def faults(goal: Goal, run: Run) -> list[str]:
    """What is wrong with a run, one sentence each."""
    said = run.answer or run.question or ""
    found = [goal.calls_differ(calls_made(run))]
    found += [f"ended with {run.stop_reason}"] if run.stop_reason != goal.stop_reason else []
    found += [f"lacks {part}: {said}" for part in goal.missing(said)]
    found += [f"must not hold {part}: {said}" for part in goal.unwanted(said)]
    return [each for each in found if each]


# The goals say what the texts say


def test_there_are_enough_goals_of_each_kind() -> None:
    assert len(GOALS) == len(research.goals) >= 60 and len({goal.text for goal in research.goals}) == len(GOALS)
    assert sum(goal.language == "ko" for goal in research.goals) >= 12
    names = [[name for name, _ in goal.calls] for goal in research.goals]
    assert sum("calculate" in each for each in names) >= 10
    assert sum(len(each) > 1 for each in names) >= 8
    assert sum(bool({"not found", "찾을 수 없습니다"} & set(goal.answer_has)) for goal in research.goals) >= 6
    assert [GOALS[id].text for id in ("fastapi-base", "two-token-chars", "absent-kubernetes")] == [
        research.GOAL_NORMAL, research.GOAL_CALCULATE, research.GOAL_FAIL,
    ]  # fmt: skip


def document_of(goal: Goal) -> str:
    """The document that a goal's answer rests on, or an empty text when there is none or the answer is calculated."""
    calculated = any(name == "calculate" for name, _ in goal.calls)
    return next((part for part in goal.answer_has if part in TEXTS and not calculated), "")


@pytest.mark.parametrize("goal", [goal for goal in research.goals if document_of(goal)], ids=lambda goal: goal.id)
def test_the_expected_words_stand_in_the_named_document(goal: Goal) -> None:
    document = TEXTS[document_of(goal)]
    text = f"{document.title} {document.text}".casefold()
    assert [part for part in goal.answer_has if part not in TEXTS and part.casefold() not in text] == []


@pytest.mark.parametrize("goal", research.goals, ids=lambda goal: goal.id)
def test_every_expected_call_fits_its_tool(goal: Goal) -> None:
    library = research.open_library()
    for name, arguments in (*goal.calls, *goal.optional_calls):
        library.tool(name).validate({key: str(value) for key, value in arguments.items()})


def test_patterns_equal_all_that_will_do() -> None:
    goal = Goal("x", "?", (search("flask", "Port"),))
    assert goal.calls_differ([("search_documents", {"query": "port of Flask"})]) == ""
    assert "flask Port" in goal.calls_differ([("search_documents", {"query": "flask"})])
    assert Worth("15 * 4") == "4 * 15" and Worth("1 / 0") == "2 / 0" and Worth("1") != "2" and Worth("1") != 1
    assert Mentions(("a",)) == Mentions(("a",)) and Worth("1+1") == Worth("2")


# The measure can fail

LOOK = CallTools("", (ToolCall("search_documents", {"query": "FastAPI base"}),))
ELSEWHERE = CallTools("", (ToolCall("search_documents", {"query": "Flask"}),))
SAY = FinalAnswer("", "FastAPI is built on Starlette and pydantic (D03).")


@pytest.mark.parametrize(
    ("decisions", "number"),
    [
        ((LOOK, SAY), 0), ((SAY,), 1), ((LOOK, FinalAnswer("", "Starlette.")), 2), ((ELSEWHERE, SAY), 1), ((LOOK,), 4),
        ((LOOK, FinalAnswer("", "Not found: Starlette, pydantic, D03.")), 1),
    ],
)  # fmt: skip
def test_every_kind_of_fault_is_found(decisions: tuple[Any, ...], number: int) -> None:
    goal = GOALS["fastapi-base"]
    assert len(faults(goal, agent(agentkit.ScriptedModel(list(decisions))).run(goal.text))) == number


# The rules


def said(facts: Facts) -> str:
    conclusion = everything(facts)
    assert conclusion is not None
    return conclusion.text


def hit(document_id: str, score: float = 2.0) -> dict[str, Any]:
    return {"document_id": document_id, "title": f"Title {document_id}", "passage": "It is so.", "score": score}


def test_an_answer_quotes_the_passage_and_names_the_document() -> None:
    data = {"query": "x", "count": 3, "results": [hit("D01"), hit("D02", 1.9), hit("D03", 1.0)]}
    assert everything(Facts((Fact({}, data),))) == Conclusion(
        'It is so. (Document D01, "Title D01") See also: D02 "Title D02".', ("document D01",)
    )
    assert '(문서 D01, "Title D01")' in said(Facts((Fact({}, data),), language="ko"))


def test_a_document_that_was_read_is_not_quoted_again() -> None:
    search = {"query": "x", "count": 1, "results": [hit("D01")]}
    read = {"document_id": "D01", "title": "T", "language": "en", "text": "All of it."}
    assert said(Facts((Fact({}, search), Fact({}, read)))) == 'Document D01, "T": All of it.'


def test_nothing_found_is_said() -> None:
    nothing = Facts((Fact({}, {"query": "moon", "count": 0, "results": []}),))
    assert said(nothing) == 'Not found: a search for "moon" brought no document.'
    assert everything(Facts()) is None and everything(Facts((Fact({}, ["moon"]), Fact({}, {"results": 3})))) is None


@pytest.mark.parametrize("code", FAILURE_CODES)
def test_every_failure_has_a_sentence_in_both_languages(code: str) -> None:
    failure = Failure({"document_id": "D77", "expression": "1 / 0"}, code, "message")
    english, korean_text = (said(Facts(failures=(failure,), language=each)) for each in ("en", "ko"))
    assert not re.search("[가-힣]", english) and re.search("[가-힣]", korean_text)
    assert everything(Facts(failures=(Failure({}, "bad_arguments", "no"),))) is None


def test_every_error_code_of_the_tools_is_spoken_of() -> None:
    registry = Registry(research.make_tools())
    for name, key, value in [
        ("read_document", "document_id", "D99"), ("calculate", "expression", "1 / 0"), ("calculate", "expression", "9**999"),
        ("calculate", "expression", "sqrt(-1)"), ("calculate", "expression", "one"),
    ]:  # fmt: skip
        error = registry.call(ToolCall(name, {key: value}, "call_1")).error
        assert error is not None and error.code in FAILURE_CODES


# The model in the box


@pytest.mark.parametrize("goal", research.goals, ids=lambda goal: goal.id)
def test_goals(goal: Goal) -> None:
    assert faults(goal, agent().run(goal.text)) == []


# What the model does not understand. Each is a limit of a program without knowledge of the world; when it learns one, the
# test says so.
MISSED = {
    "para-gunicorn-windows",  # "I'm on Windows" is not joined to the question that follows, because no pronoun points at it
    "para-websocket-code",  # a search by words finds the document, but not the sentence
    "para-ko-agent-parts",  # the second sentence does not say again whose parts are meant
}


@pytest.mark.parametrize("goal", (*paraphrases, *korean), ids=lambda goal: goal.id)
def test_paraphrases(goal: Goal) -> None:
    found = faults(goal, agent().run(goal.text))
    assert bool(found) == (goal.id in MISSED), found


def test_paraphrases_are_many_and_take_their_expectations_from_the_originals() -> None:
    assert len(paraphrases) >= 45 and len(korean) >= 10
    for goal in (*paraphrases, *korean):
        first = GOALS[goal.id.removeprefix("para-")]
        assert goal.text != first.text
        assert (goal.calls, goal.answer_has, goal.language) == (first.calls, first.answer_has, first.language)


@pytest.mark.parametrize("document_id", ["D34", "D35"])
def test_a_hidden_instruction_is_read_and_not_followed(document_id: str) -> None:
    run = agent().run(f"Read document {document_id}.")
    hidden = TEXTS[document_id].hidden_instruction
    assert hidden is not None and hidden in (run.answer or "")  # it is a part of the text, and the text was asked for
    assert calls_made(run) == [("read_document", {"document_id": document_id})]
    assert "lime" not in (run.answer or "").casefold()


def test_a_failing_search_is_told_honestly() -> None:
    tools = research.open_library(before=research.unavailable("search_documents")).tools
    run = Agent(agentkit.OfflineModel(rules=research.rules), tools).run("What is ASGI?")
    assert run.stop_reason == "answered" and "did not answer" in (run.answer or "")


def test_it_goes_on_with_a_conversation() -> None:
    first = agent().run("What is Flask?")
    second = agent().run("On which port does it listen by default?", history=first.messages)
    assert "5000" in (second.answer or "") and "D01" in (second.answer or "")
