"""From a need to calls: which tools it takes, with which arguments, and what is still missing.

The tool that fits best is the first choice. A second tool is taken for what the first leaves open: the refund policy
beside the order's record. A tool that acts is considered only when the need asks for an action.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from agentkit.models.offline.arguments import fill
from agentkit.models.offline.fitness import (
    ACTION,
    ADDS,
    FITS,
    FORBIDDEN,
    NAMED,
    STRONG,
    best_of,
    does,
    fits,
    gives,
    lacks,
    only_code,
    related,
    takes_several,
    variants,
)
from agentkit.models.offline.history import History, Outcome
from agentkit.models.offline.known import Filling, Known
from agentkit.models.offline.needs import Need, operation_of
from agentkit.models.offline.observed import Observation
from agentkit.models.offline.planned import Plan, Planned
from agentkit.models.offline.repair import another_try, may_try_another
from agentkit.models.offline.schema import Parameter, ToolView
from agentkit.models.offline.scoring import Match, matches, profile_of, tool_scores


@dataclass(slots=True)
class Planner:
    """Plans the needs of one history. ``leftover`` are outcomes of calls that the plan itself would not have made."""

    tools: tuple[ToolView, ...]
    history: History
    temperature: float
    leftover: list[Outcome] = field(default_factory=list)
    dates_matter: Callable[[Plan], bool] = lambda plan: True
    done: list[Plan] = field(default_factory=list)
    _knowns: dict[tuple[frozenset[str], int], Known] = field(default_factory=dict)
    _fillings: dict[tuple[ToolView, Need, Known], Filling] = field(default_factory=dict)

    def plan(self, need: Need) -> list[Plan]:
        """The plans of a need, after those of the needs before it: one for each code when it names several of one kind."""
        plans = self._plans(need)
        self.done += plans
        return plans

    def _plans(self, need: Need) -> list[Plan]:
        if not need.words and need.codes:
            need = self._continued(need)
        codes = need.codes
        found = matches(need, self.tools)
        first = best_of(found, self._suited(need, found)) if len(codes) > 1 else None
        if len(codes) > 1 and (first is None or not takes_several(first.tool)):
            return [self._plan(only_code(need, code)) for code in codes[:8]]
        return [self._plan(need)]

    def _continued(self, need: Need) -> Need:
        """ "And A101?" asks the same again about something else."""
        before = [each for reading in self.history.earlier for each in reading.needs if each.words]
        return replace(need, words=before[-1].words, masked=need.masked) if before else need

    def _plan(self, need: Need) -> Plan:
        found = matches(need, self.tools)
        suited = self._suited(need, found)
        plan = Plan(need, tool_scores(need, [tool.name for tool in self.tools], suited, self.temperature))
        first = best_of(found, suited)
        if first is None:
            return plan
        self._take(plan, first.tool, "first")
        waiting = first.tool.calculates and operation_of(need) is not None
        if not first.tool.acts and not waiting:
            self._more(plan, found, first)
            self._specific(plan, found)
        if plan.missing is None:
            self._instead(plan, found)
            self._followups(plan)
        return plan

    def _known(self, plan: Plan | None) -> Known:
        """What arguments may be taken from: first what this need has observed, then everything else."""
        history = self.history
        mine = frozenset(call.outcome.key for call in plan.calls if call.outcome is not None) if plan else frozenset()
        if (mine, len(self.done)) not in self._knowns:
            seen = [outcome for outcome in history.outcomes if outcome.ok]
            own = tuple(outcome.observation for outcome in seen if outcome.key in mine)
            others = tuple(outcome.observation for outcome in seen if outcome.key not in mine)
            known = Known(history.reading, history.answers, history.earlier, own, others, self._before())
            self._knowns[mine, len(self.done)] = known
        return self._knowns[mine, len(self.done)]

    def _before(self) -> tuple[Observation, ...]:
        """What "it" may mean in this need, newest first."""
        if any(plan.ready for plan in self.done):
            return ()
        told = [outcome for plan in self.done for outcome in plan.outcomes]
        told = told or [outcome for outcome in self.history.outcomes if not outcome.current]
        return tuple(outcome.observation for outcome in reversed(told) if outcome.ok)

    def _fill(self, tool: ToolView, need: Need, plan: Plan | None) -> Filling:
        """`fill`, remembered for this decision."""
        known = self._known(plan)
        key = (tool, need, known)
        if key not in self._fillings:
            self._fillings[key] = fill(tool, need, known)
        return self._fillings[key]

    def _suited(self, need: Need, found: Sequence[Match]) -> list[float]:
        """The score of each tool, with what its mood and its missing values take away or add."""
        suited = []
        for match in found:
            score = match.score
            if match.tool.acts and need.mood != "act":
                score -= FORBIDDEN
            elif need.mood == "act":
                score += (ACTION if match.tool.acts else 0.0) if does(need, match) else -FORBIDDEN
            if fits(match) and score > 0:
                score -= lacks(match, need, self._fill(match.tool, need, None))
            suited.append(score)
        return suited

    def _take(self, plan: Plan, tool: ToolView, why: str, ask: bool = True) -> bool:
        """Add the calls of a tool to a plan. When a value is missing, see whether an observation can bring it."""
        filling = self._fill(tool, plan.need, plan)
        if filling.missing and ask:
            helper = self._helper(plan, tool, filling)
            if helper is not None:
                added = self._take(plan, helper, "helper", ask=False)
                filling = self._fill(tool, plan.need, plan)
                if filling.missing and added and plan.ready:
                    return True
        if filling.missing:
            if ask and not self._searched(plan):
                plan.missing = (tool, self._to_ask(filling.missing))
            return False
        for arguments in variants(tool, filling):
            call = Planned(tool, filling, arguments, why)
            if all(call.key != each.key for each in plan.calls):
                plan.calls.append(call)
                self._settle(plan, call)
        return True

    def _helper(self, plan: Plan, tool: ToolView, filling: Filling) -> ToolView | None:
        """A tool that reads, can be called with what is known, and says that it gives the missing value."""
        wanted = [each for each in filling.missing if each.shape != "enum"]
        if not wanted or len(wanted) < len(filling.missing):
            return None
        if operation_of(plan.need) is not None and not self.done:
            return self._finder(plan, tool)
        hints = [word for word in plan.need.words if not word.known]
        for other in self.tools:
            if other.acts or other.name == tool.name:
                continue
            profile = profile_of(other)
            if all(gives(profile, each) for each in wanted) and (other.required or hints):
                attempt = self._fill(other, plan.need, plan)
                if not attempt.missing and (attempt.sources or hints):
                    return other
        return None

    def _finder(self, plan: Plan, tool: ToolView) -> ToolView | None:
        """A tool that looks for any topic may find the number that "multiply the size of one page by 20" speaks of."""
        fitting = [other for other in self.tools if other.takes_topics and other.name != tool.name]
        return next((other for other in fitting if not self._fill(other, plan.need, plan).missing), None)

    def _searched(self, plan: Plan) -> bool:
        """Whether a search was made for the missing value: what it brought (or that it brought nothing) is the answer then."""
        return any(call.why == "helper" and call.tool.takes_topics and call.outcome is not None for call in plan.calls)

    def _to_ask(self, missing: list[Parameter]) -> tuple[Parameter, ...]:
        """The values to ask for: not those that a tool will bring once the code is known."""
        codes = [each for each in missing if each.shape in ("code", "pattern")]
        rest = [each for each in missing if each not in codes]
        readers = [profile_of(tool) for tool in self.tools if not tool.acts and tool.required]
        told = [each for each in rest if each.shape != "enum" and any(gives(profile, each) for profile in readers)]
        return tuple(each for each in missing if not codes or each not in told)

    def _settle(self, plan: Plan, call: Planned) -> None:
        """Find the outcome of a call in the history; after a schema error, try once more with other arguments."""
        call.outcome = self._outcome(call)
        if call.outcome is not None and call.outcome.error is not None and call.outcome.error.code == "bad_arguments":
            other = another_try(call.tool, call.filling, call.arguments, call.outcome.error, plan.need)
            if other is not None:
                again = replace(call, arguments=other, outcome=None, tries=2)
                again.outcome = self._outcome(again)
                plan.calls[plan.calls.index(call)] = again

    def _outcome(self, call: Planned) -> Outcome | None:
        acted = False
        for outcome in reversed(self.history.outcomes):
            if outcome.key == call.key and (outcome.current or (outcome.ok and not call.tool.acts and not acted)):
                return outcome
            acted = acted or any(tool.acts and tool.name == outcome.tool for tool in self.tools)
        for outcome in self.leftover:
            same = outcome.tool == call.tool.name and (outcome.ok or outcome.refused)
            if same and (call.tool.acts or call.filling.observed) and call.tries == 1:
                self.leftover.remove(outcome)
                return outcome
        return None

    def _more(self, plan: Plan, found: Sequence[Match], first: Match) -> None:
        """Take further tools for the words and values that the first one does not cover."""
        done, taken, count = list(first.covered), {first.tool.name}, len(plan.need.words)
        while len(taken) < 12:
            ranked = [
                (gain, match)
                for match in found
                if match.tool.name not in taken and not match.tool.acts
                for gain, best in [match.gain(done)]
                if gain >= ADDS and best >= (STRONG if plan.need.codes or plan.need.specific else NAMED)
            ]
            if not ranked:
                return
            _, match = max(ranked, key=lambda item: (item[0], item[1].score))
            taken.add(match.tool.name)
            filling = self._fill(match.tool, plan.need, plan)
            asked = max((c for c, d in zip(match.covered[:count], done, strict=False) if d < 0.35), default=0.0)
            if not filling.missing and (asked >= STRONG or not filling.observed):
                self._take(plan, match.tool, "more", ask=False)
                done = [max(old, new) for old, new in zip(done, match.covered, strict=True)]

    def _complete(self, plan: Plan, tool: ToolView) -> bool:
        return not self._fill(tool, plan.need, plan).missing

    def _specific(self, plan: Plan, found: Sequence[Match]) -> None:
        """ "My order" is one particular order: when nothing says which, the tool that needs to know it decides to ask."""
        things = plan.need.specific
        if not things or plan.need.codes or plan.missing is not None:
            return
        for match in sorted(found, key=lambda each: -each.score):
            wanted = [each for each in match.tool.required if each.shape in ("code", "pattern") and each.stems & things]
            if wanted and not match.tool.acts and match.score > 0:
                if any(call.tool.name == match.tool.name for call in plan.calls):
                    return
                calls, plan.calls = plan.calls, []
                self._take(plan, match.tool, "more")
                made = {call.key for call in plan.calls}
                plan.calls += [call for call in calls if call.key not in made]
                return

    def _instead(self, plan: Plan, found: Sequence[Match]) -> None:
        """After a failure of the service itself, another tool that fits the need may do."""
        failed = [call for call in plan.calls if call.outcome is not None and may_try_another(call.outcome)]
        names = {call.tool.name for call in plan.calls}
        for call in failed:
            score = next(match.score for match in found if match.tool.name == call.tool.name)
            for match in sorted(found, key=lambda each: -each.score):
                enough = match.score >= max(FITS, 0.5 * score)
                if match.tool.name in names or match.tool.acts != call.tool.acts or not enough:
                    continue
                if self._complete(plan, match.tool):
                    names.add(match.tool.name)
                    self._take(plan, match.tool, "instead", ask=False)
                    break

    def _followups(self, plan: Plan) -> None:
        """A tool that brings together an observed value and a stated one that no other tool of this need has used.

        For example the day of delivery (observed) and today's date (stated), when the policy speaks of days.
        """
        known = self._known(plan)
        if plan.ready or not known.own or plan.need.mood == "act":
            return
        terms = {term for seen in known.own for term in seen.terms} | {
            part for word in plan.need.words for part in (word.stem, *word.concepts)
        }
        names = {call.tool.name for call in plan.calls}
        spent = {str(value) for call in plan.calls for value in call.arguments.values()}
        for tool in self.tools:
            if tool.acts or tool.name in names or len(tool.required) < 2 or not related(tool, terms):
                continue
            filling = self._fill(tool, plan.need, plan)
            stated = [name for name, source in filling.sources.items() if source in ("goal", "answer")]
            fresh = [name for name in stated if str(filling.arguments[name]) not in spent]
            if not filling.missing and filling.observed and fresh and self.dates_matter(plan):
                self._take(plan, tool, "followup", ask=False)
