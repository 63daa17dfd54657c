"""The brain in the box: a small, open, deterministic decision procedure in the place of a large language model."""

from __future__ import annotations

from collections.abc import Sequence

from agentkit._jsonsafe import dumps, json_safe
from agentkit.facts import Rule
from agentkit.memory import estimate_tokens, message_tokens, tool_tokens
from agentkit.messages import AskUser, CallTools, Decision, FinalAnswer, Message, Reply, ToolCall, ToolScore, ToolSpec, Usage
from agentkit.models.offline import wording
from agentkit.models.offline.situation import Situation, situation_of
from agentkit.models.offline.planning import Plan, plan
from agentkit.models.offline.schema import view_of

TEMPERATURE = 0.12


class OfflineModel:
    """Decides by rules that can be read, from the messages and the tool specifications and nothing else.

    The same history and the same tools always give the same reply. It is honest about what it is: its thoughts say which
    need it saw, how well the tools fit, and where each argument came from.

    Args:
        rules: what a world knows, used for the last step only: from facts to a conclusion.
        temperature: of the softmax that turns scores into probabilities; lower means more decided.
    """

    def __init__(self, rules: Sequence[Rule] = (), temperature: float = TEMPERATURE) -> None:
        self.rules = tuple(rules)
        self.temperature = temperature

    def decide(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Reply:
        """The next decision for this history. Never raises."""
        situation = situation_of(messages)
        views = tuple(view_of(spec) for spec in tools)
        plans = [plan(need, views, situation, self.temperature) for need in situation.reading.needs] if views else []
        decision = self._decision(situation, plans, views)
        return Reply(decision, _usage(messages, tools, decision), _scores(plans))

    async def adecide(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Reply:
        return self.decide(messages, tools)

    def _decision(self, situation: Situation, plans: list[Plan], views: Sequence[object]) -> Decision:
        language = situation.reading.language
        calls = _calls(plans)
        if calls:
            return CallTools(wording.call_thought(plans, language), calls)
        missing = [item for each in plans for item in each.missing]
        if missing and situation.asked < 2:
            return AskUser(wording.ask_thought(missing, language), wording.question(missing, language))
        unserved = [each.need.text for each in plans if not each.served]
        if situation.made:
            return FinalAnswer(*wording.answer(situation, self.rules, unserved))
        return FinalAnswer(*wording.no_tool(situation, views))  # type: ignore[arg-type]

    def __repr__(self) -> str:
        return "OfflineModel()"


def _calls(plans: Sequence[Plan]) -> tuple[ToolCall, ...]:
    """All calls whose arguments are known, each once."""
    found: dict[str, ToolCall] = {}
    for each in plans:
        for planned in each.calls:
            found.setdefault(planned.tool + dumps(json_safe(planned.arguments)), ToolCall(planned.tool, dict(planned.arguments)))
    return tuple(found.values())


def _scores(plans: Sequence[Plan]) -> tuple[ToolScore, ...]:
    """The scores of the first need that still acts, or else of the first need."""
    active = next((each for each in plans if each.calls or each.missing), plans[0] if plans else None)
    return active.scores if active is not None else ()


def _usage(messages: Sequence[Message], tools: Sequence[ToolSpec], decision: Decision) -> Usage:
    """Estimated tokens of what was read and written. It costs nothing."""
    read = sum(map(message_tokens, messages)) + tool_tokens(tools)
    if isinstance(decision, CallTools):
        written = decision.thought + "".join(call.name + dumps(json_safe(call.arguments)) for call in decision.calls)
    else:
        written = decision.thought + (decision.text if isinstance(decision, FinalAnswer) else decision.question)
    return Usage(read, estimate_tokens(written))
