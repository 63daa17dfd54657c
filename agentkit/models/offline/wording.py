"""What the model says: its thoughts, its questions and its answers, in English or Korean.

The wording is plain and honest: a thought tells the need, the tool that fits best with its probability, and where each
argument came from. It never pretends to be that of a large language model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agentkit._jsonsafe import dumps, json_safe
from agentkit.facts import Language, Rule
from agentkit.models.offline.situation import Made, Situation
from agentkit.models.offline.language import split_name
from agentkit.models.offline.planning import Plan, Planned
from agentkit.models.offline.schema import Parameter, ToolView

HESITATES = 0.15  # two probabilities that are nearer than this are called alike
_LONG = 400


def call_thought(plans: Sequence[Plan], language: Language) -> str:
    """Why these calls: the need, the fit, the sources of the arguments."""
    return " ".join(_need_thought(plan, language) for plan in plans if plan.calls)


def _need_thought(plan: Plan, language: Language) -> str:
    ranked = sorted(plan.scores, key=lambda score: -score.probability)
    first = plan.calls[0]
    chance = next((score.probability for score in ranked if score.tool == first.tool), 0.0)
    need = plan.need.text.strip(" .?!")[:160]
    parts = []
    if language == "ko":
        parts.append(f"'{need}'에는 {first.tool}이(가) 가장 잘 맞습니다(확률 {chance:.2f}).")
    else:
        parts.append(f"For '{need}' {first.tool} fits best (probability {chance:.2f}).")
    rival = next((score for score in ranked if score.tool != first.tool), None)
    if not first.reason and rival and 0 <= chance - rival.probability < HESITATES:
        near = f"{rival.tool} ({rival.probability:.2f})"
        parts.append(f"{near}도 비슷하게 맞아 망설입니다." if language == "ko" else f"I hesitate: {near} fits nearly as well.")
    for call in plan.calls[1:]:
        if call.tool != first.tool and call.reason:
            parts.append(f"'{call.reason}' 때문에 {call.tool}도 부릅니다." if language == "ko" else f"For '{call.reason}' I also call {call.tool}.")
    parts.append(_sources(plan.calls, language))
    return " ".join(part for part in parts if part)


def _sources(calls: Sequence[Planned], language: Language) -> str:
    origin = {
        "goal": ("the goal", "질문"), "answer": ("your answer", "답변"), "earlier": ("an earlier question", "앞선 질문"),
        "schema": ("the schema", "스키마"),
    }  # fmt: skip
    told: dict[str, None] = {}
    for call in calls:
        for name, source in call.sources.items():
            english, korean = origin.get(source, (f"the result of {source}", f"{source}의 결과"))
            told[f"{name}은(는) {korean}에서" if language == "ko" else f"{name} comes from {english}"] = None
    if not told:
        return ""
    text = ", ".join(told)
    return f"{text} 가져옵니다." if language == "ko" else f"{text[0].upper()}{text[1:]}."


def question(missing: Sequence[tuple[str, Parameter]], language: Language) -> str:
    """Ask for what is missing, by its plain name and its description."""
    wanted = []
    for _, parameter in missing:
        name = split_name(parameter.name)
        told = parameter.description.rstrip(". ")
        choices = ", ".join(map(str, parameter.choices))
        more = f" ({told})" if told else f" ({choices})" if choices else ""
        wanted.append(f"{name}{more}")
    listed = ", ".join(dict.fromkeys(wanted))
    if language == "ko":
        return f"답하려면 다음이 필요합니다: {listed}. 알려 주시겠어요?"
    return f"To answer I need to know: {listed}. Can you tell me?"


def ask_thought(missing: Sequence[tuple[str, Parameter]], language: Language) -> str:
    tool, parameter = missing[0]
    if language == "ko":
        return f"{tool}을(를) 부르려면 {parameter.name}이(가) 필요한데 어디에도 없습니다. 지어내지 않고 묻습니다."
    return f"{tool} needs {parameter.name}, and it is stated nowhere. I ask instead of inventing it."


def answer(situation: Situation, rules: Sequence[Rule], unserved: Sequence[str]) -> tuple[str, str]:
    """(thought, answer): what a rule concludes, or what was observed."""
    language = situation.reading.language
    facts = situation.facts()
    for rule in rules:
        conclusion = rule(facts)
        if conclusion is not None and (facts.results or facts.failures):
            because = " ".join(conclusion.evidence)
            thought = f"관찰한 것에서 결론을 냅니다. {because}" if language == "ko" else f"I conclude from what I observed. {because}"
            return thought.strip(), _with_unserved(conclusion.text, unserved, language)
    sentences = [observed_sentence(made, language) for made in situation.made]
    thought = "관찰한 것을 그대로 전합니다." if language == "ko" else "No rule draws a conclusion, so I report what I observed."
    return thought, _with_unserved("\n".join(dict.fromkeys(sentences)), unserved, language)


def _with_unserved(text: str, unserved: Sequence[str], language: Language) -> str:
    for need in unserved:
        need = need.strip(" .?!")[:160]
        more = f"'{need}'에 맞는 도구가 없습니다." if language == "ko" else f"I have no tool for '{need}'."
        text = f"{text}\n{more}"
    return text


def observed_sentence(made: Made, language: Language) -> str:
    """One result as a sentence: the tool, its arguments, and what came back."""
    inside = ", ".join(f"{split_name(key)} {plain(value)}" for key, value in made.arguments.items())
    head = f"{made.call.name} ({inside})" if inside else made.call.name
    if made.result.error is not None:
        told = made.result.error.message
        return f"{head}: 실패했습니다. {told}" if language == "ko" else f"{head} did not work: {told}"
    return f"{head}: {plain(made.result.data)}"


def plain(value: Any) -> str:
    """A value as words: fields as "name value", lists with commas."""
    text = _plain(value, 0)
    return text if len(text) <= _LONG else f"{text[:_LONG]} …"


def _plain(value: Any, depth: int) -> str:
    if isinstance(value, Mapping) and depth < 3:
        shown = [f"{split_name(str(key))} {_plain(item, depth + 1)}" for key, item in value.items() if item is not None]
        return ", ".join(shown) or "nothing"
    if isinstance(value, list) and depth < 3:
        return "; ".join(_plain(item, depth + 1) for item in value) or "nothing"
    return value if isinstance(value, str) else dumps(json_safe(value))


def no_tool(situation: Situation, tools: Sequence[ToolView]) -> tuple[str, str]:
    """(thought, answer) when no tool serves any need: say so, and what there is."""
    names = ", ".join(tool.name for tool in tools)
    if situation.reading.language == "ko":
        thought = "어떤 도구도 이 질문에 맞지 않습니다." if names else "도구가 없습니다."
        return thought, f"제 도구로는 답할 수 없습니다. 제 도구: {names}." if names else "도구가 없어서 찾아볼 수 없습니다. 그래서 알 수 없습니다."
    thought = "No tool fits this closely enough." if names else "I have no tools."
    if names:
        return thought, f"I cannot answer that with my tools. They are: {names}."
    return thought, "I cannot know that: I have no tools to look it up with."
