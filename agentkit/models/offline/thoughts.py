"""Why a decision was taken, in words. A thought never pretends to be more than this procedure."""

from __future__ import annotations

from agentkit.facts import Language
from agentkit.messages import ToolScore
from agentkit.models.offline.phrases import say
from agentkit.models.offline.planned import Plan, Planned

CLOSE = 0.15  # two probabilities that are nearer than this are a hesitation


def need_of(plan: Plan, language: Language) -> str:
    """The need, its mood, and the tools that fit best."""
    sentences = [say(language, "t_need", need=_short(plan.need.text), mood=say(language, f"t_{plan.need.mood}"))]
    ranked = sorted(plan.scores, key=lambda score: -score.probability)
    if ranked:
        following = ranked[1] if len(ranked) > 1 else None
        after = say(language, "t_next", tool=following.tool, chance=_percent(following)) if following else ""
        sentences.append(say(language, "t_best", tool=ranked[0].tool, chance=_percent(ranked[0]), next=after))
        if following and ranked[0].probability - following.probability < CLOSE:
            sentences.append(say(language, "t_hesitate", first=ranked[0].tool, second=following.tool))
    return " ".join(sentences)


def _percent(score: ToolScore) -> int:
    return round(score.probability * 100)


def _short(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= 120 else f"{plain[:119]}…"


def calling(plans: list[Plan], calls: list[Planned], language: Language) -> str:
    """Why these calls are made, and where each argument comes from."""
    sentences: list[str] = []
    for plan in plans:
        mine = [call for call in plan.ready if any(call is each for each in calls)]
        if not mine:
            continue
        if any(call.why != "followup" for call in mine):
            sentences.append(need_of(plan, language))
        for call in mine:
            if call.tries > 1:
                sentences.append(say(language, "t_repair", tool=call.tool.name))
            elif call.why != "first":
                sentences.append(say(language, f"t_{call.why}", tool=call.tool.name))
            sentences += [_argument(call, name, language) for name in call.arguments]
    return " ".join(dict.fromkeys(sentences))


def _argument(call: Planned, name: str, language: Language) -> str:
    source = call.filling.sources.get(name, "goal")
    known = source in ("goal", "answer", "earlier", "schema")
    where = say(language, f"t_{source}") if known else say(language, "t_observed", tool=source)
    return say(language, "t_argument", name=name, value=_short(repr(call.arguments[name])), source=where) + "."


def no_fit(plan: Plan, language: Language) -> str:
    """Why no tool is used for a need."""
    best = max(plan.scores, key=lambda score: score.score, default=None)
    return say(
        language,
        "t_no_fit",
        need=_short(plan.need.text),
        tool=best.tool if best else "-",
        score=f"{best.score:.2f}" if best else "-",
    )
