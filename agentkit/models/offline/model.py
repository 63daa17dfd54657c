"""The offline model: read the history, split the goal into needs, score the tools, fill the arguments, decide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agentkit.facts import Language, Rule
from agentkit.memory import message_tokens
from agentkit.messages import (
    AskUser,
    CallTools,
    Decision,
    FinalAnswer,
    Message,
    Reply,
    ToolCall,
    ToolScore,
    ToolSpec,
    Usage,
)
from agentkit.models.offline import answer, thoughts
from agentkit.models.offline.history import History, read_history
from agentkit.models.offline.needs import operation_of
from agentkit.models.offline.phrases import say
from agentkit.models.offline.plan import Planner
from agentkit.models.offline.planned import Plan, Planned
from agentkit.models.offline.schema import ToolView, view_of

MOST_RESULTS = 40  # results of one goal after which the model answers with what it has


@dataclass(frozen=True, slots=True)
class OfflineModel:
    """The brain in the box: a small, open, deterministic decision procedure. It is not a language model.

    It sees what any model sees, messages and tool specifications, and nothing else. The same history and tools always
    give the same reply; it keeps nothing between two decisions. Its thoughts say why it decided as it did, and the
    reply carries the score of every tool.

    Args:
        rules: what a world knows; plain functions from `Facts` to a `Conclusion` or None, used for the last step only.
        temperature: of the softmax over the tool scores. Lower means more certain. It changes the probabilities, never
            the choice.
    """

    rules: tuple[Rule, ...] = ()
    temperature: float = 0.1

    def __init__(self, rules: Sequence[Rule] = (), temperature: float = 0.1) -> None:
        object.__setattr__(self, "rules", tuple(rules))
        object.__setattr__(self, "temperature", float(temperature))

    def decide(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Reply:
        """The next decision for this history. Never raises: what cannot be understood is said in the answer."""
        history = read_history(messages)
        views = tuple(view_of(tool) for tool in tools)
        plans = _plans(history, views, self)
        decision, scores = _decide(history, views, plans, self.rules)
        sent = sum(message_tokens(message) for message in messages) + sum(view.tokens for view in views)
        return Reply(decision, Usage(sent, _written(decision), 0, 0.0), scores)

    async def adecide(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Reply:
        """Like `decide`, for async code."""
        return self.decide(messages, tools)

    def __repr__(self) -> str:
        return f"OfflineModel({len(self.rules)} rules, temperature={self.temperature:g})"


def _plans(history: History, views: tuple[ToolView, ...], model: OfflineModel) -> list[Plan]:
    """One plan for each need. Outcomes that no plan asked for (a person changed the arguments) are then given to one."""
    reading = history.reading

    def matter(plan: Plan) -> bool:
        return answer.dates_matter(plan, model.rules, history.dates, reading.language)

    planner = Planner(views, history, model.temperature, [], matter)
    plans = [plan for need in reading.needs for plan in planner.plan(need)]
    taken = {outcome.key for plan in plans for outcome in plan.outcomes}
    left = [outcome for outcome in history.outcomes if outcome.current and outcome.key not in taken]
    if left and any(plan.ready for plan in plans):
        planner = Planner(views, history, model.temperature, left, matter)
        plans = [plan for need in reading.needs for plan in planner.plan(need)]
    return plans


def _decide(
    history: History, views: tuple[ToolView, ...], plans: list[Plan], rules: tuple[Rule, ...]
) -> tuple[Decision, tuple[ToolScore, ...]]:
    """Calls that are ready come first, then a question for what is missing, then the answer."""
    language = history.reading.language
    if not history.goal.strip():
        return FinalAnswer(say(language, "t_no_need"), say(language, "empty_goal")), ()
    calls = _ready(plans) if sum(outcome.current for outcome in history.outcomes) < MOST_RESULTS else []
    if calls:
        lead = next(plan for plan in plans if any(call is calls[0] for call in plan.ready))
        asked = tuple(ToolCall(call.tool.name, call.arguments) for call in calls)
        chosen = any(
            call.why != "followup" for call in calls
        )  # what follows from observations was not chosen by scores
        return CallTools(thoughts.calling(plans, calls, language), asked), lead.scores if chosen else ()
    for plan in plans:
        if (
            plan.missing is not None
            and not _waited(plan, plans)
            and (decision := _ask(history, plan, plans, rules)) is not None
        ):
            return decision, plan.scores
    scores = plans[0].scores if plans and not any(plan.fits for plan in plans) else ()
    return _answer(history, views, plans, rules), scores


def _ready(plans: list[Plan]) -> list[Planned]:
    """The calls to make now. What comes after an action on the same thing waits for its outcome."""
    calls: list[Planned] = []
    acting: set[str] = set()
    for plan in plans:
        if plan.missing is not None or (acting and (not plan.need.codes or acting & set(plan.need.codes))):
            continue
        fresh = [call for call in plan.ready if all(call.key != other.key for other in calls)]
        calls += fresh
        if any(call.tool.acts for call in fresh):
            acting |= set(plan.need.codes) or {""}
    return calls


def _waited(plan: Plan, plans: list[Plan]) -> bool:
    """Whether a need's arithmetic waited for what earlier needs would find: asking the user for it would be no help."""
    return plan is not plans[0] and operation_of(plan.need) is not None


def _ask(history: History, plan: Plan, plans: list[Plan], rules: tuple[Rule, ...]) -> Decision | None:
    """Ask for what is missing; when the same was asked before and the answer did not help, say so instead."""
    language = history.reading.language
    assert plan.missing is not None
    tool, missing = plan.missing
    asked = answer.question(tool, missing, language)
    thought = " ".join([thoughts.need_of(plan, language), *_lacking(plan, language)])
    if asked in history.asked:
        return None
    return AskUser(thought, asked)


def _lacking(plan: Plan, language: Language) -> list[str]:
    names = plan.missing[1] if plan.missing else ()
    return [say(language, "t_missing", name=parameter.name) for parameter in names]


def _answer(history: History, views: tuple[ToolView, ...], plans: list[Plan], rules: tuple[Rule, ...]) -> FinalAnswer:
    """The last step: the answers to all needs, joined."""
    reading, language = history.reading, history.reading.language
    if not plans:
        text = f"{say(language, 'no_need')} {answer.abilities(views, language)}"
        return FinalAnswer(say(language, "t_no_need"), text)
    if not views:
        return FinalAnswer(say(language, "t_no_tools"), say(language, "no_tools"))
    texts: list[str] = []
    why: list[str] = []
    for plan in plans:
        if plan.missing is not None and _waited(plan, plans):
            texts.append(say(language, "no_number", need=plan.need.text[:200]))
            why += _lacking(plan, language)
        elif plan.missing is not None:
            names = ", ".join(parameter.name for parameter in plan.missing[1])
            texts.append(say(language, "still_missing", what=names))
            why += _lacking(plan, language)
        elif not plan.calls:
            texts.append(say(language, "no_fit", need=plan.need.text[:200]))
            why.append(thoughts.no_fit(plan, language))
        else:
            text, evidence = answer.concluded(plan, rules, history.dates, reading.codes, language)
            texts.append(text)
            failed = any(not outcome.ok for outcome in plan.outcomes)
            why.append(say(language, "t_failed" if failed else "t_done"))
            why.append(
                say(language, "t_evidence", evidence="; ".join(evidence)) if evidence else say(language, "t_listed")
            )
    if any(not plan.fits for plan in plans):
        texts.append(answer.abilities(views, language))
    if reading.cut:
        texts.append(say(language, "cut", count=len(reading.needs)))
    return FinalAnswer(" ".join(dict.fromkeys(why)), " ".join(dict.fromkeys(texts)))


def _written(decision: Decision) -> int:
    match decision:
        case CallTools(thought=thought, calls=calls):
            return message_tokens(Message("assistant", thought, calls))
        case FinalAnswer(thought=thought, text=text) | AskUser(thought=thought, question=text):
            return message_tokens(Message("assistant", f"{thought} {text}"))
