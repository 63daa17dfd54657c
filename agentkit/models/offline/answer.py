"""The last step in words: conclusions of rules, or a readable list of what was observed; and questions to the user."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentkit.facts import Fact, Facts, Failure, Language, Rule
from agentkit.models.offline.history import Outcome
from agentkit.models.offline.language import split_name, words_of
from agentkit.models.offline.lexicon import lexicon, stem
from agentkit.models.offline.needs import Need
from agentkit.models.offline.phrases import say
from agentkit.models.offline.planned import Plan
from agentkit.models.offline.schema import Parameter, ToolView

MOST = 12  # values of one observation that are told


def concluded(
    plan: Plan, rules: tuple[Rule, ...], dates: tuple[str, ...], codes: tuple[str, ...], language: Language
) -> tuple[str, tuple[str, ...]]:
    """The answer to one need and its evidence: the first conclusion of a rule, else what was observed."""
    outcomes = plan.outcomes
    facts = _facts(outcomes, plan.need.codes or codes, dates, language)
    refused = [outcome for outcome in outcomes if outcome.refused]
    for rule in rules if outcomes else ():
        try:
            found = rule(facts)
        except Exception as error:
            return observed(plan, language), (
                say(language, "rule_failed", rule=_name(rule), error=type(error).__name__),
            )
        if found is not None:
            told = [failed(outcome, language) for outcome in refused if _code(outcome) not in found.evidence]
            return " ".join([found.text, *told]), found.evidence
    return observed(plan, language), ()


def _facts(outcomes: list[Outcome], codes: tuple[str, ...], dates: tuple[str, ...], language: Language) -> Facts:
    results = tuple(Fact(outcome.arguments, outcome.data) for outcome in outcomes if outcome.ok)
    failures = tuple(
        Failure(outcome.arguments, outcome.error.code, outcome.error.message)
        for outcome in outcomes
        if outcome.error is not None
    )
    return Facts(results, failures, codes, dates, language)


def dates_matter(plan: Plan, rules: tuple[Rule, ...], dates: tuple[str, ...], language: Language) -> bool:
    """Whether the rules conclude something else with the stated dates than without them.

    An order that was cancelled can not be refunded whatever the day; then no days need to be counted.
    """
    if not rules or not dates:
        return True
    said = [concluded(plan, rules, some, (), language)[0] for some in (dates, ())]
    return said[0] != said[1]


def _name(rule: Rule) -> str:
    return str(getattr(rule, "__name__", type(rule).__name__))


def _code(outcome: Outcome) -> str:
    return outcome.error.code if outcome.error is not None else ""


def observed(plan: Plan, language: Language) -> str:
    """What the calls of a need brought, one sentence each; a failure only when no other call made up for it."""
    sentences = [_sentence(outcome, plan.need, language) for outcome in plan.outcomes if outcome.ok]
    sentences += [failed(outcome, language) for outcome in plan.outcomes if not outcome.ok]
    return " ".join(dict.fromkeys(sentences)) if sentences else say(language, "unknown", need=plan.need.text)


def failed(outcome: Outcome, language: Language) -> str:
    """What went wrong with a call, in the tool's words where it has some."""
    error = outcome.error
    if error is None:
        return ""
    what = _called(outcome.tool, outcome.arguments)
    key = error.code if outcome.refused else "failed"
    return say(language, key, what=what, message=error.message.strip() or error.code)


def _called(tool: str, arguments: Mapping[str, Any]) -> str:
    """``lookup order (A100)``: a call as a person would name it."""
    values = ", ".join(_shown(value) for value in arguments.values() if value is not None)
    return f"{split_name(tool).lower()} ({values})" if values else split_name(tool).lower()


def _sentence(outcome: Outcome, need: Need, language: Language) -> str:
    what = _called(outcome.tool, outcome.arguments)
    data = outcome.data
    if data is None or data == [] or data == {} or data == "":
        return say(language, "empty", what=what)
    if isinstance(data, Mapping):
        return f"{what}: {_object(data, outcome.arguments, need, language)}."
    if isinstance(data, list):
        return f"{what}: {_list(data, need, language)}."
    text = _shown(data)
    return f"{what}: {text}" if text.endswith((".", "!", "?")) else f"{what}: {text}."


def _object(data: Mapping[str, Any], arguments: Mapping[str, Any], need: Need, language: Language) -> str:
    """``status delivered, delivered on 2026-10-01``; what the need names comes first, what was given is not repeated."""
    wanted = {part for word in need.words for part in (word.stem, *word.concepts)}
    rows = [(str(key), value) for key, value in data.items() if value not in (None, "", [], {})]
    rows = [row for row in rows if not (row[0] in arguments and arguments[row[0]] == row[1])] or rows
    rows.sort(
        key=lambda row: not wanted & {p for word in words_of(split_name(row[0])) for p in (word.stem, *word.concepts)}
    )
    parts = []
    for key, value in rows[:MOST]:
        if isinstance(value, Mapping):
            inner = _object(value, {}, need, language)
            parts.append(f"{_label(key, language)} ({inner})")
        else:
            text = _list(value, need, language) if isinstance(value, list) else _shown(value)
            parts.append(f"{_label(key, language)} {text}")
    if len(rows) > MOST:
        parts.append(say(language, "more", count=len(rows) - MOST))
    return ", ".join(parts)


def _list(data: list[Any], need: Need, language: Language) -> str:
    shown = [
        f"({_object(item, {}, need, language)})" if isinstance(item, Mapping) else _shown(item) for item in data[:8]
    ]
    if len(data) > 8:
        shown.append(say(language, "more", count=len(data) - 8))
    return ", ".join(shown)


def _label(key: str, language: Language) -> str:
    """A field name in words; in Korean when every word of it is in the dictionary."""
    words = split_name(key).lower()
    labels = lexicon().labels
    roots = [stem(word) for word in words.split()]
    if language == "ko" and roots and all(root in labels for root in roots):
        return " ".join(labels[root] for root in roots)
    return words


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) and abs(value) >= 10_000:
        return f"{value:,}"
    text = str(value)
    return text if len(text) <= 600 else f"{text[:600]}…"


def question(tool: ToolView, missing: tuple[Parameter, ...], language: Language) -> str:
    """A plain question that names what is missing, with its description and its choices."""
    asked = [_asked(parameter, language) for parameter in missing[:3]]
    joined = (" and " if language == "en" else ", ").join(asked)
    return say(language, "ask", what=joined)


def _asked(parameter: Parameter, language: Language) -> str:
    name = _label(parameter.name, language)
    if parameter.choices:
        options = ", ".join(str(choice) for choice in parameter.choices[:12])
        return say(language, "option", name=name, options=options)
    told = parameter.description.strip().rstrip(".")
    return f"{name} ({told})" if told and len(told) <= 120 else name


def abilities(tools: tuple[ToolView, ...], language: Language) -> str:
    """What can be done, by the names of the tools."""
    if not tools:
        return say(language, "no_tools")
    return say(language, "abilities", tools=", ".join(split_name(tool.name).lower() for tool in tools[:12]))
