"""The offline model: what it chooses, where its arguments come from, and what it never does."""

from __future__ import annotations

import asyncio
import json
import random
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import Field

from agentkit import Agent, AskUser, CallTools, FinalAnswer, Message, OfflineModel, Registry, Tool, ToolError, tool
from agentkit.facts import Conclusion, Facts
from agentkit.messages import ErrorDetail, Reply, Run, ToolCall, ToolResult, ToolSpec

# --- a world of its own, with nothing of the sample worlds in it ---------------------------------------------------

LOANS = {
    "BK17": {"loan_id": "BK17", "title": "Dune", "due_on": "2026-05-10", "returned_on": None, "fee": 12_000},
    "BK18": {"loan_id": "BK18", "title": "Emma", "due_on": "2026-06-01", "returned_on": "2026-05-20", "fee": 500},
}
LoanId = Annotated[str, Field(pattern=r"^BK\d{2}$", description="The number of the loan.")]


@tool
def get_loan(loan_id: LoanId) -> dict[str, Any]:
    """Look up one library loan: title, due date, fee."""
    if loan_id not in LOANS:
        raise ToolError(f"There is no loan {loan_id}.", code="not_found")
    return LOANS[loan_id]


@tool
def opening_hours(weekday: Literal["saturday", "sunday", "workday"] = "workday") -> str:
    """Tell when the library is open on a day of the week."""
    return f"10:00 to 18:00 ({weekday})"


@tool(permission="write")
def extend_loan(loan_id: LoanId, weeks: Literal[1, 2, 4]) -> dict[str, Any]:
    """Extend a loan by some weeks."""
    return {"loan_id": loan_id, "weeks": weeks}


@tool(permission="dangerous", approval=True)
def pay_fee(loan_id: LoanId, fee: Annotated[int, Field(gt=0)]) -> dict[str, Any]:
    """Pay the fee of a loan from the deposit."""
    return {"loan_id": loan_id, "paid": fee}


LIBRARY = [get_loan, opening_hours, extend_loan, pay_fee]


def calls_of(run: Run) -> list[tuple[str, dict[str, Any]]]:
    return [(call.name, dict(call.arguments)) for step in run.steps for call in step.calls]  # type: ignore[arg-type]


def ask(goal: str, tools: Sequence[Any] = LIBRARY, **options: Any) -> Run:
    return Agent(OfflineModel(**options), tools).run(goal)


def specs(*tools: Tool) -> list[ToolSpec]:
    return [each.spec for each in tools]


def spec(name: str, description: str, **properties: Any) -> ToolSpec:
    return ToolSpec(name, description, {"type": "object", "properties": properties, "required": list(properties)})


def decide(goal: str, tools: Sequence[ToolSpec], *more: Message) -> Reply:
    return OfflineModel().decide([Message("user", goal), *more], tools)


def chosen(reply: Reply) -> list[str]:
    return [call.name for call in reply.decision.calls] if isinstance(reply.decision, CallTools) else []


# --- one decision ---------------------------------------------------------------------------------------------------


def test_the_same_history_gives_the_same_reply_and_nothing_is_remembered() -> None:
    messages = [Message("user", "What is the due date of BK17?")]
    model = OfflineModel()
    first = model.decide(messages, specs(*LIBRARY))
    model.decide([Message("user", "When is the library open on sunday?")], specs(*LIBRARY))
    assert model.decide(messages, specs(*LIBRARY)) == first
    assert OfflineModel().decide(messages, specs(*LIBRARY)) == first
    assert asyncio.run(model.adecide(messages, specs(*LIBRARY))) == first


def test_a_reply_carries_scores_usage_and_calls_without_ids() -> None:
    reply = decide("What is the due date of BK17?", specs(*LIBRARY))
    assert isinstance(reply.decision, CallTools)
    assert reply.decision.calls == (ToolCall("get_loan", {"loan_id": "BK17"}, ""),)
    assert [score.tool for score in reply.scores] == [each.name for each in LIBRARY]
    assert sum(score.probability for score in reply.scores) == pytest.approx(1.0)
    assert reply.usage is not None and reply.usage.cost == 0.0
    assert reply.usage.input_tokens > 50 and reply.usage.output_tokens > 10


def test_the_thought_says_why_and_where_each_argument_came_from() -> None:
    thought = decide("What is the due date of BK17?", specs(*LIBRARY)).decision.thought
    assert "get_loan" in thought and "%" in thought and "loan_id = 'BK17' from the goal" in thought
    korean = decide("BK17 반납 기한이 언제인가요?", specs(*LIBRARY)).decision.thought
    assert "BK17" in korean and re.search("[가-힣]", korean) and "the goal" not in korean


def test_the_temperature_changes_the_probabilities_and_not_the_choice() -> None:
    messages = [Message("user", "What is the due date of BK17?")]
    cold = OfflineModel(temperature=0.02).decide(messages, specs(*LIBRARY))
    warm = OfflineModel(temperature=2.0).decide(messages, specs(*LIBRARY))
    assert cold.decision.calls == warm.decision.calls  # type: ignore[union-attr]
    assert max(s.probability for s in cold.scores) > 0.95 > 0.5 > max(s.probability for s in warm.scores)


# --- the description is a routing signal ----------------------------------------------------------------------------


def test_changing_a_description_changes_the_choice() -> None:
    city = {"type": "string"}
    first = spec("service_a", "Get the weather forecast of a city.", city=city)
    second = spec("service_b", "Get the population of a city.", city=city)
    goal = "What is the weather in Lisbon?"
    assert chosen(decide(goal, [first, second])) == ["service_a"]
    swapped = [replace(first, description=second.description), replace(second, description=first.description)]
    assert chosen(decide(goal, swapped)) == ["service_b"]


def test_alike_descriptions_bring_the_probabilities_together_and_it_says_so() -> None:
    city = {"type": "string"}
    goal = "What is the weather in Lisbon?"
    clear = [spec("a", "Get the weather of a city.", city=city), spec("b", "Get the mayor of a city.", city=city)]
    vague = [spec("a", "Get the weather of a city.", city=city), spec("b", "Get the weather in a city.", city=city)]

    def gap(reply: Reply) -> float:
        first, second = sorted((score.probability for score in reply.scores), reverse=True)
        return first - second

    assert gap(decide(goal, clear)) > 0.5 > 0.05 > gap(decide(goal, vague))
    assert "hesitate" in decide(goal, vague).decision.thought
    assert "hesitate" not in decide(goal, clear).decision.thought


def test_renamed_and_reworded_tools_still_work() -> None:
    renamed = [
        spec("x1", "Show the record of a borrowed book: its title, when it is due, its fee.", number=_pattern("BK")),
        spec("x2", "Opening times of the library."),
    ]
    reply = decide("What is the fee of loan BK17?", renamed)
    assert isinstance(reply.decision, CallTools) and reply.decision.calls == (ToolCall("x1", {"number": "BK17"}),)
    assert chosen(decide("When is the library open?", renamed)) == ["x2"]


def test_a_sentence_that_says_what_a_tool_is_not_for_counts_for_nothing() -> None:
    tools = [spec("one", "Get facts. Do not use it for the weather."), spec("two", "Get the weather.")]
    scores = {score.tool: score.score for score in decide("What is the weather?", tools).scores}
    assert scores["one"] == 0.0 < scores["two"]


def test_misspelt_words_are_understood() -> None:
    assert calls_of(ask("wich fee has lone BK17?")) == [("get_loan", {"loan_id": "BK17"})]
    tools = [spec("one", "Get the weather."), spec("two", "Get the population.")]
    assert chosen(decide("tell me the wether", tools)) == ["one"]


# --- mood -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "goal",
    [
        "Can the loan BK17 be extended by 2 weeks?",
        "Is it possible to extend BK17 by 2 weeks?",
        "How do I extend BK17?",
        "I would like to know whether BK17 was extended.",
        "Tell me if I can extend BK17 by 2 weeks.",
        "Do not extend BK17 by 2 weeks, just tell me its fee.",
        "Extend BK17 by 2 weeks if it is late.",
        "BK17 연장할 수 있나요?",
        "BK17 연장되는지 알려 주세요.",
    ],
)
def test_a_question_never_leads_to_a_tool_that_acts(goal: str) -> None:
    assert not {"extend_loan", "pay_fee"} & {name for name, _ in calls_of(ask(goal))}


@pytest.mark.parametrize(
    "goal",
    [
        "Please extend BK17 by 2 weeks.",
        "extend loan BK17 by 2 weeks",
        "Could you extend BK17 by 2 weeks?",
        "I want you to extend BK17 by 2 weeks",
        "I'd like to extend BK17 by 2 weeks.",
    ],
)
def test_an_imperative_may_act(goal: str) -> None:
    assert calls_of(ask(goal)) == [("extend_loan", {"loan_id": "BK17", "weeks": 2})]


def test_what_no_tool_can_do_is_not_done_by_another_tool() -> None:
    run = ask("Delete loan BK17.")
    assert calls_of(run) == [] and "None of my tools can do this" in (run.answer or "")


# --- arguments ------------------------------------------------------------------------------------------------------


def test_a_missing_value_is_fetched_by_a_tool_that_gives_it() -> None:
    run = ask("Please pay the fee of BK17.")
    assert calls_of(run) == [("get_loan", {"loan_id": "BK17"}), ("pay_fee", {"loan_id": "BK17", "fee": 12_000})]
    assert run.stop_reason == "needs_approval"
    assert "fee = 12000 from the result of get_loan" in run.steps[-1].thought


def test_a_required_value_that_is_nowhere_is_asked_for_once() -> None:
    run = ask("What is the fee of my loan?")
    assert run.stop_reason == "needs_input" and calls_of(run) == [] and "loan id" in (run.question or "")
    agent = Agent(OfflineModel(), LIBRARY)
    assert calls_of(agent.resume(run, answer="It is bk17."))[-1] == ("get_loan", {"loan_id": "BK17"})
    ended = agent.resume(run, answer="I do not know.")
    assert ended.stop_reason == "answered" and "loan_id" in (ended.answer or "")


def test_a_choice_that_is_not_stated_is_asked_for_with_its_options() -> None:
    run = ask("Extend the loan BK17, please.")
    assert run.stop_reason == "needs_input" and "1, 2, 4" in (run.question or "")


def test_an_optional_value_is_left_out_unless_it_is_stated() -> None:
    assert calls_of(ask("When is the library open?")) == [("opening_hours", {})]
    assert calls_of(ask("When is the library open on Sunday?")) == [("opening_hours", {"weekday": "sunday"})]


def test_independent_calls_go_together_and_no_call_is_made_twice() -> None:
    run = ask("What is the fee of BK17 and when is the library open? And what is the fee of BK17 and BK18?")
    assert len(run.steps[0].calls) == 3
    made = [json.dumps(call) for call in calls_of(run)]
    assert len(made) == len(set(made)) and run.stop_reason == "answered"


def test_what_follows_an_action_waits_for_it() -> None:
    run = ask("Extend BK17 by 2 weeks, then tell me the fee of BK17.")
    assert [[call.name for call in step.calls] for step in run.steps] == [["extend_loan"], ["get_loan"], []]


def test_a_stated_and_an_observed_date_meet_in_a_tool_that_takes_two() -> None:
    day = {"type": "string", "format": "date"}
    tools = [get_loan.spec, spec("gap", "Count the days between two dates.", start=day, end=day)]
    messages = [Message("user", "How many days is loan BK17 late? Today is 2026-05-14.")]
    first = OfflineModel().decide(messages, tools)
    assert chosen(first) == ["get_loan"]
    messages += _answered(first, LOANS["BK17"])
    second = OfflineModel().decide(messages, tools).decision
    assert isinstance(second, CallTools)
    assert second.calls == (ToolCall("gap", {"start": "2026-05-10", "end": "2026-05-14"}),)


def test_an_observed_date_that_is_empty_is_not_replaced_by_another_one() -> None:
    day = {"type": "string", "format": "date"}
    tools = [get_loan.spec, spec("gap", "Count the days between two dates.", start=day, end=day)]
    messages = [Message("user", "How many days ago was loan BK17 returned? Today is 2026-05-14.")]
    first = OfflineModel().decide(messages, tools)
    for returned, expected in ((None, []), ("2026-05-12", ["gap"])):
        seen = [*messages, *_answered(first, LOANS["BK17"] | {"returned_on": returned})]
        assert chosen(OfflineModel().decide(seen, tools)) == expected


def _pattern(letters: str) -> dict[str, Any]:
    return {"type": "string", "pattern": rf"^{letters}\d{{2}}$"}


def _answered(reply: Reply, *data: Any) -> list[Message]:
    """The assistant's message and its results, as the loop would write them."""
    assert isinstance(reply.decision, CallTools)
    calls = tuple(replace(call, id=f"c{number}") for number, call in enumerate(reply.decision.calls))
    results = [
        ToolResult(call.id, call.name, None, each)
        if isinstance(each, ErrorDetail)
        else ToolResult(call.id, call.name, each)
        for call, each in zip(calls, data, strict=True)
    ]
    return [Message("assistant", "", calls), *(Message("tool", result=result) for result in results)]


# --- a learner's own tools ------------------------------------------------------------------------------------------


@tool
def temperature_in(city: str) -> dict[str, Any]:
    """Get the temperature in a city."""
    return {"city": city, "celsius": 21}


@tool
def convert(amount: float, from_currency: str, to_currency: str) -> float:
    """Convert an amount of money from one currency to another."""
    return amount * 2


@tool
def add(a: float, b: float) -> float:
    """Add two numbers."""
    return a + b


@tool
def word_count(text: str) -> int:
    """Count the words in a text."""
    return len(text.split())


@tool
def calculate(expression: str) -> str:
    """Evaluate an arithmetic expression."""
    return expression


@tool
def search_papers(query: str, year: int | None = None) -> list[str]:
    """Search scientific papers about a topic."""
    return [query]


@tool
def send_email(to: str, subject: str, body: str) -> str:
    """Send an email to somebody."""
    return "sent"


@tool
def translate(text: str, language: str) -> str:
    """Translate a text into another language."""
    return text


@tool
def average(numbers: list[float]) -> float:
    """Compute the average of a list of numbers."""
    return sum(numbers) / len(numbers)


@tool
def set_light(room: str, state: Literal["on", "off"]) -> dict[str, Any]:
    """Turn the light in a room on or off."""
    return {"room": room, "state": state}


@tool
def distance(start: str, destination: str) -> float:
    """Distance in kilometres between two cities."""
    return 325.0


OWN: list[tuple[str, list[Tool], list[tuple[str, dict[str, Any]]]]] = [
    ("What is the temperature in Seoul?", [temperature_in, add], [("temperature_in", {"city": "Seoul"})]),
    ("how warm is it in seoul", [temperature_in, add], [("temperature_in", {"city": "seoul"})]),
    ("서울 기온은?", [temperature_in, add], [("temperature_in", {"city": "서울"})]),
    ("서울기온알려줘", [temperature_in, add], [("temperature_in", {"city": "서울"})]),
    ("What is the temperature in Seoul and New York?", [temperature_in],
     [("temperature_in", {"city": "Seoul"}), ("temperature_in", {"city": "New York"})]),
    ("Convert 1,100 USD to KRW", [convert, add],
     [("convert", {"amount": 1100, "from_currency": "USD", "to_currency": "KRW"})]),
    ("100 USD는 KRW로 얼마야?", [convert, add],
     [("convert", {"amount": 100, "from_currency": "USD", "to_currency": "KRW"})]),
    ("Add 3 and 4", [add, word_count], [("add", {"a": 3, "b": 4})]),
    ("What is 2.5 plus 7?", [add, word_count], [("add", {"a": 2.5, "b": 7})]),
    ('How many words are in "the quick brown fox"?', [word_count, add], [("word_count", {"text": "the quick brown fox"})]),
    ("Count the words in: one fish, two fish", [word_count, add], [("word_count", {"text": "one fish, two fish"})]),
    ("What is 12 * (3 + 4)?", [calculate, word_count], [("calculate", {"expression": "12 * (3 + 4)"})]),
    ("what is 12 times 7", [calculate, word_count], [("calculate", {"expression": "12 * 7"})]),
    ("Find papers about lipid nanoparticles", [search_papers, add], [("search_papers", {"query": "lipid nanoparticles"})]),
    ("Find papers about CRISPR from 2023", [search_papers], [("search_papers", {"query": "CRISPR", "year": 2023})]),
    ('Send an email to kim@example.com with subject "Hello" and body "See you"', [send_email, word_count],
     [("send_email", {"to": "kim@example.com", "subject": "Hello", "body": "See you"})]),
    ("Translate 'good morning' into Korean", [translate], [("translate", {"text": "good morning", "language": "Korean"})]),
    ("What is the average of 3, 5 and 10?", [average, word_count], [("average", {"numbers": [3, 5, 10]})]),
    ("Please switch the kitchen light off", [set_light, add], [("set_light", {"room": "kitchen", "state": "off"})]),
    ("거실 불 켜 줘", [set_light, add], [("set_light", {"room": "거실", "state": "on"})]),
    ("How far is it from Seoul to Busan?", [distance, add], [("distance", {"start": "Seoul", "destination": "Busan"})]),
    ("서울에서 부산까지 거리는?", [distance, add], [("distance", {"start": "서울", "destination": "부산"})]),
]  # fmt: skip


@pytest.mark.parametrize(("goal", "tools", "expected"), OWN, ids=[goal for goal, _, _ in OWN])
def test_tools_that_no_world_knows(goal: str, tools: list[Tool], expected: list[tuple[str, dict[str, Any]]]) -> None:
    run = ask(goal, tools)
    assert calls_of(run) == expected and run.stop_reason == "answered"


@pytest.mark.parametrize(("goal", "tools"), [("What is the temperature?", [temperature_in]), ("Add 3", [add])])
def test_tools_that_no_world_knows_ask_back(goal: str, tools: list[Tool]) -> None:
    assert ask(goal, tools).stop_reason == "needs_input"


@pytest.mark.parametrize("goal", ["Tell me a joke", "What is the capital of Peru?", "Write a poem about the sea."])
def test_a_need_that_no_tool_fits_names_the_tools(goal: str) -> None:
    run = ask(goal, [add, word_count])
    assert calls_of(run) == [] and "word count" in (run.answer or "") and run.stop_reason == "answered"


def test_an_answer_to_a_question_fills_one_value_only() -> None:
    agent = Agent(OfflineModel(), [convert])
    run = agent.run("Convert 100 for me, please: which currency amount is it?")
    assert run.stop_reason == "needs_input"
    answered = agent.resume(run, answer="USD")
    assert all(len(set(map(str, arguments.values()))) == len(arguments) for _, arguments in calls_of(answered))


# --- failures -------------------------------------------------------------------------------------------------------


def test_refused_arguments_are_repaired_once() -> None:
    tools = [spec("rate", "Get the exchange rate of a currency.", currency={"type": "string"})]
    wrong = ErrorDetail("bad_arguments", "currency: write it in capital letters")
    messages = [Message("user", "What is the exchange rate of the currency usd?")]
    seen = []
    for _ in range(3):
        reply = OfflineModel().decide(messages, tools)
        if not isinstance(reply.decision, CallTools):
            break
        seen.append(reply.decision.calls[0].arguments)
        messages += _answered(reply, wrong)
    assert seen == [{"currency": "usd"}, {"currency": "USD"}]
    assert isinstance(reply.decision, FinalAnswer) and "capital letters" in reply.decision.text


def test_a_repair_takes_the_value_that_the_error_offers_and_the_goal_means() -> None:
    tools = [spec("heat", "Get the temperature in a unit.", unit={"type": "string"})]
    messages = [Message("user", "Get the temperature, unit: C please, I mean celsius")]
    reply = OfflineModel().decide(messages, tools)
    messages += _answered(reply, ErrorDetail("bad_arguments", "unit must be 'celsius' or 'kelvin'"))
    again = OfflineModel().decide(messages, tools).decision
    assert isinstance(again, CallTools) and again.calls[0].arguments == {"unit": "celsius"}


def test_after_a_failure_another_fitting_tool_is_tried_and_then_it_says_what_it_does_not_know() -> None:
    city = {"type": "string"}
    tools = [
        spec("first", "Get the weather of a city.", city=city),
        spec("second", "Weather forecast of a city.", city=city),
        spec("third", "Get the mayor of a city.", city=city),
    ]
    down = ErrorDetail("unavailable", "The weather service does not answer.")
    messages = [Message("user", "What is the weather in Lisbon?")]
    for expected in ("first", "second"):
        reply = OfflineModel().decide(messages, tools)
        assert chosen(reply) == [expected]
        messages += _answered(reply, down)
    last = OfflineModel().decide(messages, tools).decision
    assert isinstance(last, FinalAnswer) and "does not answer" in last.text


def test_not_found_is_an_answer_and_not_a_reason_to_try_other_tools() -> None:
    @tool
    def loan_fee(loan_id: LoanId) -> int:
        """Tell the fee of one library loan."""
        raise AssertionError("nobody asked for this")

    run = ask("What is the title and the fee of the loan BK99?", [get_loan, loan_fee])
    first = calls_of(run)[0][0]
    assert [name for name, _ in calls_of(run)] == [first] == ["get_loan"]
    run = ask("What is the fee of BK99?")
    assert calls_of(run) == [("get_loan", {"loan_id": "BK99"})] and "There is no loan BK99" in (run.answer or "")


def test_refusals_are_told() -> None:
    read_only = Agent(OfflineModel(), Registry(LIBRARY, permissions=("read",)))
    assert "not permitted" in (read_only.run("Extend BK17 by 2 weeks.").answer or "")
    agent = Agent(OfflineModel(), LIBRARY)
    run = agent.run("Pay the fee of BK17.")
    denied = agent.resume(run, approvals={run.awaiting[0]: False})
    assert "not approved" in (denied.answer or "") and calls_of(denied) == calls_of(run)


def test_arguments_that_a_person_changed_are_not_called_again() -> None:
    agent = Agent(OfflineModel(), LIBRARY)
    run = agent.run("Pay the fee of BK17.")
    changed = agent.resume(run, approvals={run.awaiting[0]: {"loan_id": "BK17", "fee": 100}})
    assert [name for name, _ in calls_of(changed)] == ["get_loan", "pay_fee"] and changed.stop_reason == "answered"


# --- answers --------------------------------------------------------------------------------------------------------


def test_a_rule_concludes_and_never_sees_the_wording() -> None:
    def late(facts: Facts) -> Conclusion | None:
        loan = next((fact.data for fact in facts.results if "due_on" in fact.data), None)
        if loan is None or not facts.dates:
            return None
        return Conclusion(f"{loan['loan_id']} is late: {loan['due_on'] < facts.dates[0]}", (f"due {loan['due_on']}",))

    run = ask("Today is 2026-05-14. What is the state of loan BK17, and when is the library open?", rules=[late])
    assert "BK17 is late: True" in (run.answer or "") and "18:00" in (run.answer or "")
    assert "due 2026-05-10" in run.steps[-1].thought


def test_a_rule_that_raises_does_not_end_the_run() -> None:
    def broken(facts: Facts) -> Conclusion | None:
        raise ValueError("wrong")

    run = ask("What is the fee of BK17?", rules=[broken])
    assert "12,000" in (run.answer or "") and "broken" in run.steps[-1].thought


def test_without_rules_it_tells_what_was_observed_and_what_was_asked_first() -> None:
    answer = ask("What is the fee of BK17?").answer or ""
    assert answer.index("fee 12,000") < answer.index("Dune") and "2026-05-10" in answer


def test_korean_goals_get_korean_answers() -> None:
    for goal in ("BK17 연체료 금액 알려줘", "안녕하세요", "대출 BK99 상태 알려 주세요"):
        assert re.search("[가-힣]", ask(goal).answer or ""), goal
    question = ask("BK17 연장해 주세요", [extend_loan]).question or ""
    assert re.search("[가-힣]", question)


@pytest.mark.parametrize("goal", ["Hello", "Thank you, that was all.", "감사합니다"])
def test_a_goal_that_asks_for_nothing_calls_nothing(goal: str) -> None:
    run = ask(goal)
    assert calls_of(run) == [] and run.stop_reason == "answered" and "get loan" in (run.answer or "")


def test_a_conversation_goes_on_from_what_was_said() -> None:
    agent = Agent(OfflineModel(), LIBRARY)
    first = agent.run("What is the fee of BK17?")
    second = agent.run("And BK18?", history=first.messages)
    assert calls_of(second) == [("get_loan", {"loan_id": "BK18"})] and "500" in (second.answer or "")
    third = agent.run("What was the fee of BK17 again?", history=second.messages)
    assert calls_of(third) == [] and "12,000" in (third.answer or "")


# --- what never happens ---------------------------------------------------------------------------------------------

WORDS = st.sampled_from(
    "what is the fee of for BK17 BK18 a100 2026-10-13 3 4.5 1,000 'blue sky' Seoul Busan in to from please add convert "
    'USD and then refund send it weather 서울 기온은 알려줘 500원 환불해 주세요 ? . , : ( " express count words'.split()
)
GOALS = st.lists(WORDS, max_size=14).map(" ".join)
ALL = [*LIBRARY, temperature_in, convert, add, word_count, calculate, search_papers, send_email, translate, distance]


def _stated(value: Any, place: str) -> bool:
    """Whether a value stands in a text; numbers and spaced arithmetic count in any way of writing them."""
    if isinstance(value, list):
        return all(_stated(each, place) for each in value)
    if isinstance(value, int | float):
        return f"{value:g}" in place or f"{value:g}" in place.replace(",", "")
    plain = re.sub(r"\s+", "", str(value)).casefold()
    return plain in re.sub(r"\s+", "", place).casefold() or all(
        part in place.replace(",", "") for part in re.findall(r"[\w.]+", str(value))
    )


@settings(max_examples=150)
@given(GOALS, st.lists(st.sampled_from(ALL), min_size=1, max_size=5, unique_by=lambda each: each.name))
def test_no_argument_is_ever_invented(goal: str, tools: list[Tool]) -> None:
    decision = decide(goal, specs(*tools)).decision
    calls = decision.calls if isinstance(decision, CallTools) else ()
    for call in calls:
        schema = next(each for each in tools if each.name == call.name).parameters
        for name, value in dict(call.arguments).items():  # type: ignore[arg-type]
            allowed = schema["properties"][name].get("enum", [])
            assert value in allowed or _stated(value, goal), (goal, call)


ODD = st.recursive(
    st.sampled_from(
        [{}, {"type": "string"}, {"type": ["string", "null"]}, {"anyOf": [{"type": "integer"}, {"type": "null"}]},
         {"$ref": "#/$defs/A"}, {"$ref": "#/properties/a"}, {"allOf": [{"type": "string"}, {"pattern": "^A"}]},
         {"enum": [None, 1, "x", [1]]}, {"const": "only"}, {"type": "string", "pattern": "(("}, {"type": 7},
         {"type": "string", "examples": "no list"}, {"minimum": "x", "type": "number"}, True, None, [], "text"]
    ),
    lambda inner: st.one_of(
        st.builds(lambda each: {"type": "array", "items": each}, inner),
        st.builds(lambda each: {"type": "object", "properties": {"a": each}, "required": ["a"]}, inner),
        st.builds(lambda each: {"anyOf": [each, {"type": "null"}]}, inner),
    ),
    max_leaves=4,
)  # fmt: skip
PARAMETERS = st.one_of(
    st.sampled_from([{}, {"type": "object"}, {"properties": []}, {"properties": {"a": 1}, "required": "a"}]),
    st.builds(
        lambda properties, required: {
            "type": "object", "properties": properties, "required": required,
            "$defs": {"A": {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}}},
        },
        st.dictionaries(st.sampled_from(["a", "city", "order_id", "날짜", "date", "sql", ""]), ODD, max_size=4),
        st.lists(st.sampled_from(["a", "city", "order_id", "sql", "none"]), max_size=3),
    ),
)  # fmt: skip
DATA = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.just("2026-01-01"),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "city", "due_on", "order"]), inner)
    ),
    max_leaves=6,
)


SPECS = st.builds(ToolSpec, st.sampled_from(["get_a", "날씨", "", "x" * 70]), st.text(max_size=30), PARAMETERS)
FAILED = st.builds(ErrorDetail, st.sampled_from(["bad_arguments", "timeout", "denied"]), st.text(max_size=30))


@settings(max_examples=150)
@given(
    st.one_of(GOALS, st.text(max_size=60)),
    st.lists(SPECS, max_size=4),
    st.lists(st.one_of(DATA, FAILED), max_size=4),
)
def test_odd_schemas_goals_and_results_never_raise(goal: str, tools: list[ToolSpec], data: list[Any]) -> None:
    messages = [Message("user", goal)]
    for place in range(5):
        reply = OfflineModel().decide(messages, tools)
        assert isinstance(reply.decision, CallTools | FinalAnswer | AskUser)
        if not isinstance(reply.decision, CallTools):
            return
        results = [data[(place + n) % len(data)] if data else None for n in range(len(reply.decision.calls))]
        messages += _answered(reply, *results)


@pytest.mark.parametrize(
    "piece", ["What is the fee of BK17? ", "a", "1,2 'x ((", "select * from a ", "서울", "\ud800", "\ufffc"]
)
def test_a_goal_of_one_megabyte_is_read_in_part(piece: str) -> None:
    goal = piece * (1_000_000 // len(piece.encode("utf-8", "surrogatepass")))
    began = time.process_time()
    reply = decide(goal, specs(*LIBRARY))
    assert isinstance(reply.decision, CallTools | FinalAnswer | AskUser)
    assert time.process_time() - began < 10  # a guard against a pattern that backtracks for ever, not a measurement


def test_no_tools_and_no_goal() -> None:
    assert isinstance(OfflineModel().decide([], []).decision, FinalAnswer)
    assert isinstance(decide("   ", specs(*LIBRARY)).decision, FinalAnswer)
    assert "no tools" in decide("What is the fee of BK17?", []).decision.text  # type: ignore[union-attr]


def test_the_order_of_the_tools_does_not_matter_when_one_is_clearly_best() -> None:
    shuffled = list(ALL)
    random.Random(7).shuffle(shuffled)
    goal = "What is the temperature in Seoul?"
    assert chosen(decide(goal, specs(*ALL))) == chosen(decide(goal, specs(*shuffled))) == ["temperature_in"]


def test_results_that_are_texts_and_lists_are_told() -> None:
    @tool
    def news() -> Any:
        """Get the news."""
        return [{"title": "Rain"}, {"title": "Sun"}]

    assert "Rain" in (ask("What is in the news?", [news]).answer or "")
    empty: Mapping[str, Any] = {}
    reply = decide("What is in the news?", specs(news))
    ended = OfflineModel().decide([Message("user", "What is in the news?"), *_answered(reply, empty)], specs(news))
    assert "nothing was found" in ended.decision.text  # type: ignore[union-attr]
