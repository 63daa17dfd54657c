"""The door, stage by stage: which stage answers, with which code, and what has not happened by then."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import arguments, names, profile

from agentkit import (
    Agent,
    CallTools,
    DefinitionError,
    FinalAnswer,
    Registry,
    ScriptedModel,
    Tool,
    ToolCall,
    ToolError,
    ToolResult,
    tool,
)
from agentkit._approvals import Grant
from agentkit._door import Station
from agentkit.messages import Approval
from agentkit.safety import Deny, Policy

STAGES = ["lookup", "parse", "schema", "permission", "approval", "idempotency", "rule", "reserve", "run", "result"]


class Desk:
    """A till with a rule, and a count of what was really paid."""

    def __init__(self, **options: Any) -> None:
        self.paid: list[int] = []

        def in_stock(amount: int, reason: str = "") -> None:
            if amount > 100:
                raise ToolError("More than 100 cannot be paid back.", code="amount_too_high", hint="Ask a manager.")
            if amount == 13:
                raise RuntimeError("key=sk-abcdefgh12345678")

        @tool(permission="write", rule=in_stock, **options)
        def pay(amount: int, reason: str = "") -> str:
            """Pay money back.

            Args:
                amount: how much.
                reason: why.
            """
            self.paid.append(amount)
            if amount == 7:
                raise ValueError("no money")
            return f"paid {amount}"

        self.pay: Tool = pay


class Audit:
    def __init__(self, broken: str = "") -> None:
        self.events: list[Mapping[str, Any]] = []
        self.broken = broken

    def record(self, event: Mapping[str, Any]) -> None:
        if event["event"] == self.broken:
            raise OSError("disk full")
        self.events.append(event)


class Clock:
    now = 1_000.0

    def __call__(self) -> float:
        return self.now


class Only:
    """A policy that gives the same word for everything."""

    def __init__(self, word: str, why: str = "") -> None:
        self.word, self.why = word, why

    def verdict(self, tool: Tool, arguments: Mapping[str, Any]) -> tuple[str, str]:
        return self.word, self.why


def through(registry: Registry, call: ToolCall, **options: Any) -> tuple[str, list[Station]]:
    trace: list[Station] = []
    result = registry.call(call, trace=trace, **options)
    return (result.error.code if result.error else "ok"), trace


def pay(amount: Any = 5, call_id: str = "c1", **more: Any) -> ToolCall:
    return ToolCall("pay", {"amount": amount, **more}, call_id)


# --- the order of the stages -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "options", "code", "stage"),
    [
        (ToolCall("pray", {}, "c1"), {}, "unknown_tool", "lookup"),
        (ToolCall("pay", '{"amount": ', "c1"), {}, "bad_json", "parse"),
        (ToolCall("pay", '{"amount": 5', "c1", True), {}, "truncated", "parse"),
        (ToolCall("pay", "[5]", "c1"), {}, "bad_arguments", "parse"),
        (pay("much"), {}, "bad_arguments", "schema"),
        (pay(), {"permissions": ["read"]}, "not_permitted", "permission"),
        (pay(), {"policy": Only("deny", "Not today.")}, "not_permitted", "permission"),
        (pay(), {"policy": Only("ask", "A lot of money.")}, "needs_approval", "approval"),
        (pay(500), {}, "amount_too_high", "rule"),
        (pay(13), {}, "rule_failed", "rule"),
        (pay(), {"audit": Audit("reserved")}, "not_reserved", "reserve"),
        (pay(7), {}, "tool_failed", "run"),
        (pay(), {}, "ok", "result"),
    ],
)  # fmt: skip
def test_each_stage_has_its_code_and_its_place(call: ToolCall, options: dict[str, Any], code: str, stage: str) -> None:
    desk = Desk()
    found, trace = through(Registry([desk.pay], **options), call, run_id="r")
    assert found == code
    reached = [station.stage for station in trace]
    assert reached == STAGES[: len(reached)]
    last = trace[-1] if stage != "run" else trace[-2]
    assert last.stage == stage and last.code == ("" if code == "ok" else code)
    assert last.outcome == {"result": "passed", "run": "failed"}.get(stage, "refused")
    assert desk.paid == ([call.arguments["amount"]] if stage in ("run", "result") else [])  # type: ignore[index]


def test_what_a_stage_does_not_reach_has_not_happened() -> None:
    audit, desk = Audit(), Desk()
    registry = Registry([desk.pay], audit=audit)
    registry.call(pay(500), run_id="r")
    assert [event["event"] for event in audit.events] == ["refused"] and desk.paid == []
    registry.call(pay(5), run_id="r")
    assert [event["event"] for event in audit.events] == ["refused", "reserved", "answered"]


def test_the_rules_own_trouble_is_masked() -> None:
    _, trace = through(Registry([Desk().pay]), pay(13))
    assert "sk-" not in repr(trace) and "could not be checked" in trace[-1].note


def test_a_rule_sees_validated_arguments_and_must_be_a_plain_function() -> None:
    seen: list[dict[str, Any]] = []

    @tool(permission="write", rule=lambda **found: seen.append(found))
    def note(count: int, text: str = "x") -> str:
        """Note something."""
        return text

    assert Registry([note]).call(ToolCall("note", {"count": "3"}, "c")).ok
    assert seen == [{"count": 3}] or seen == [{"count": 3, "text": "x"}]

    async def later(amount: int) -> None: ...

    with pytest.raises(Exception, match="rule is a plain function"):
        tool(rule=later)(lambda: None)


def test_the_async_door_has_the_same_stages() -> None:
    for call in (pay(), pay(500), pay("x"), ToolCall("pay", "{", "c"), ToolCall("no", {}, "c"), pay(7)):
        here: list[Station] = []
        there: list[Station] = []
        Registry([Desk().pay]).call(call, run_id="r", trace=here)
        asyncio.run(Registry([Desk().pay]).acall(call, run_id="r", trace=there))
        assert here == there


# --- a second failure of the same arguments --------------------------------------------------------------------------


def test_after_a_schema_failure_the_model_is_told_once_to_try_again() -> None:
    registry = Registry([Desk().pay])
    hints = [registry.call(pay("x", f"c{n}"), run_id="r").error.hint for n in range(3)]  # type: ignore[union-attr]
    assert hints[0] == "Correct the arguments and call again."
    assert hints[1] == hints[2] and "Do not guess" in hints[1]
    assert registry.call(pay("x"), run_id="other").error.hint == hints[0]  # type: ignore[union-attr]
    assert registry.call(pay(5, "c9"), run_id="r").ok  # a right call is never refused for it


# --- idempotency -----------------------------------------------------------------------------------------------------


def test_OP05_a_retry_gets_the_first_result_and_a_second_intended_call_runs() -> None:
    desk = Desk()
    registry = Registry([desk.pay])
    first = registry.call(pay(5, "c1"), run_id="r")
    again, trace = through(registry, pay(5, "c1"), run_id="r")
    assert again == "ok" and trace[-1] == Station("idempotency", "answered", "", "an earlier outcome")
    assert desk.paid == [5] and registry.call(pay(5, "c1"), run_id="r") == first
    assert registry.call(pay(5, "c2"), run_id="r").ok and desk.paid == [5, 5]


@pytest.mark.parametrize("retry", ["c1", "c2"])
def test_OP05_a_write_that_raises_a_time_out_itself_is_never_repeated(retry: str) -> None:
    sent: list[str] = []

    @tool(permission="write")
    def send_mail(to: str) -> str:
        """Send a mail."""
        sent.append(to)
        raise TimeoutError("no answer from the server")

    registry = Registry([send_mail])
    codes = [through(registry, ToolCall("send_mail", {"to": "a"}, each), run_id="r")[0] for each in ("c1", retry)]
    assert codes == ["timeout", "unknown_outcome"] and sent == ["a"]


def test_a_retry_is_answered_even_when_the_rule_would_refuse_it_now() -> None:
    done: list[int] = []

    def once(amount: int) -> None:
        if done:
            raise ToolError("It was paid already.", code="paid_already")

    @tool(permission="write", rule=once)
    def give(amount: int) -> str:
        """Give."""
        done.append(amount)
        return "given"

    registry = Registry([give])
    call = ToolCall("give", {"amount": 1}, "c1")
    assert registry.call(call, run_id="r").data == "given" == registry.call(call, run_id="r").data
    other = registry.call(ToolCall("give", {"amount": 1}, "c2"), run_id="r")
    assert other.error is not None and other.error.code == "paid_already" and done == [1]


def test_when_the_audit_log_cannot_be_written_nothing_runs_and_a_later_try_does() -> None:
    audit, desk = Audit("reserved"), Desk()
    registry = Registry([desk.pay], audit=audit)
    assert through(registry, pay(5, "c1"), run_id="r")[0] == "not_reserved"
    audit.broken = ""
    assert through(registry, pay(5, "c2"), run_id="r")[0] == "ok" and desk.paid == [5]


def test_an_outcome_that_cannot_be_written_down_is_told_in_a_note() -> None:
    result = Registry([Desk().pay], audit=Audit("answered")).call(pay(), run_id="r")
    assert result.ok and result.note == "This outcome could not be written down."


# --- approvals -------------------------------------------------------------------------------------------------------


def asking(**options: Any) -> tuple[Desk, Registry, Clock]:
    desk, clock = Desk(approval=True), Clock()
    return desk, Registry([desk.pay], clock=clock, **options), clock


def test_SF14_an_approval_covers_one_call_and_nothing_else() -> None:
    desk, registry, clock = asking()
    yes = registry.approve(pay(5), run_id="r")
    for call, run_id in [(pay(6), "r"), (pay(5, reason="x"), "r"), (pay(5), "other"), (pay(5), "")]:
        assert through(registry, call, run_id=run_id, approved=yes)[0] == "needs_approval"
    clock.now += 3_600
    assert through(registry, pay(5), run_id="r", approved=yes)[0] == "needs_approval" and desk.paid == []
    clock.now -= 1
    assert through(registry, pay(5), run_id="r", approved=yes)[0] == "ok" and desk.paid == [5]


def test_an_approval_does_not_outlive_the_definition() -> None:
    _, registry, _ = asking()
    yes = registry.approve(pay(5), run_id="r")
    changed = Registry([tool(description="Pay to anybody.")(Desk(approval=True).pay)])
    assert through(changed, pay(5), run_id="r", approved=yes)[0] == "needs_approval"


def test_with_a_secret_an_approval_cannot_be_made_elsewhere() -> None:
    desk, registry, clock = asking(secret=b"one")
    forged = Registry([desk.pay], clock=clock, secret=b"two").approve(pay(5), run_id="r")
    assert through(registry, pay(5), run_id="r", approved=forged)[0] == "needs_approval"
    assert through(registry, pay(5), run_id="r", approved=registry.approve(pay(5), run_id="r"))[0] == "ok"


def test_a_grant_covers_its_pattern_its_run_and_its_time() -> None:
    _, registry, clock = asking()
    registry.grant(Grant("pay", {"amount": range(1, 10)}, run_id="r", until=clock.now + 60))
    codes = [
        through(registry, call, run_id=run)[0] for call, run in [(pay(5), "r"), (pay(50, "c2"), "r"), (pay(5), "s")]
    ]
    assert codes == ["ok", "needs_approval", "needs_approval"]
    assert (
        through(registry, pay(5, "c3", reason="x"), run_id="r")[0] == "needs_approval"
    )  # an argument without a pattern
    clock.now += 61
    assert through(registry, pay(6, "c4"), run_id="r")[0] == "needs_approval"


def test_a_granted_call_does_not_pause_the_run() -> None:
    desk, registry, _ = asking()
    registry.grant(Grant("pay", {"amount": 5}))
    model = ScriptedModel([CallTools("", (pay(5, ""),)), FinalAnswer("", "Done.")])
    assert Agent(model, registry).run("go").status == "done" and desk.paid == [5]
    paused = Agent(ScriptedModel([CallTools("", (pay(6, ""),))]), registry).run("go")
    assert paused.stop_reason == "needs_approval" and desk.paid == [5]


def test_a_changed_definition_asks_again_until_it_is_trusted() -> None:
    desk = Desk()
    registry = Registry([desk.pay])
    registry.trust()
    assert through(registry, pay(5, "c1"))[0] == "ok"
    renamed = Registry([tool(description="Pay money back, and mail the list of customers.")(desk.pay)])
    renamed.trust({desk.pay.name: desk.pay.fingerprint})
    code, trace = through(renamed, pay(5, "c2"))
    assert code == "needs_approval" and "changed since" in trace[-1].note
    renamed.grant(Grant("pay", {"amount": 5}))
    assert through(renamed, pay(5, "c3"))[0] == "needs_approval"  # a grant was for the other definition
    renamed.trust()
    assert through(renamed, pay(5, "c4"))[0] == "ok"


def paused(agent: Agent) -> Any:
    run = agent.run("go")
    assert run.stop_reason == "needs_approval"
    return run


def test_an_approval_in_a_run_is_for_this_agent_and_these_arguments() -> None:
    desk, registry, clock = asking()
    script = [CallTools("", (pay(5, ""), ToolCall("pay", {"amount": 6}, ""))), FinalAnswer("", "Done.")]
    agent = Agent(ScriptedModel(script), registry, name="desk")
    waiting = agent.resume(paused(agent), approvals={"call_1": True})
    assert waiting.awaiting == ("call_2",) and [each.call_id for each in waiting.approved] == ["call_1"]
    other = Agent(ScriptedModel(script), registry, name="other").resume(waiting, approvals={"call_2": False})
    assert other.status == "paused" and other.awaiting == ("call_1",) and desk.paid == []
    clock.now += 4_000
    late = agent.resume(waiting, approvals={"call_2": True})
    assert late.awaiting == ("call_1",) and desk.paid == []
    assert agent.resume(late, approvals={"call_1": True}).status == "done" and desk.paid == [5, 6]


def test_a_yes_and_a_no_are_written_down() -> None:
    audit = Audit()
    desk = Desk(approval=True)
    script = [CallTools("", (pay(5, ""), pay(6, ""))), FinalAnswer("", "Done.")]
    agent = Agent(ScriptedModel(script), Registry([desk.pay], audit=audit))
    agent.resume(paused(agent), approvals={"call_1": True, "call_2": "Too much."})
    assert [(event["event"], event["call_id"]) for event in audit.events] == [
        ("approved", "call_1"), ("denied", "call_2"), ("reserved", "call_1"), ("answered", "call_1"),
    ]  # fmt: skip
    assert audit.events[1]["arguments"] == {"amount": 6} and desk.paid == [5]


def test_edited_arguments_are_what_is_approved() -> None:
    desk, registry, _ = asking()
    agent = Agent(ScriptedModel([CallTools("", (pay(500, ""),)), FinalAnswer("", "Done.")]), registry)
    done = agent.resume(paused(agent), approvals={"call_1": {"amount": 50}})
    assert done.status == "done" and desk.paid == [50]


def test_a_saved_run_whose_call_was_changed_asks_again() -> None:
    desk, registry, _ = asking()
    script = [CallTools("", (pay(5, ""), ToolCall("pay", {"amount": 6}, ""))), FinalAnswer("", "Done.")]
    agent = Agent(ScriptedModel(script), registry)
    text = agent.resume(paused(agent), approvals={"call_1": True}).to_json()
    forged = type(paused(agent)).from_json(text.replace('"amount": 5', '"amount": 99'))
    done = agent.resume(forged, approvals={"call_2": True})
    assert done.awaiting == ("call_1",) and desk.paid == []


# --- restricted ------------------------------------------------------------------------------------------------------


def test_a_restricted_registry_shares_the_ledger_and_keeps_both_policies() -> None:
    desk = Desk()
    registry = Registry([desk.pay], policy=Only("ask"))
    narrow = registry.restricted(Only("allow"))
    assert through(narrow, pay(5), run_id="r")[0] == "needs_approval"  # the stricter word counts
    assert through(narrow.restricted(Only("deny")), pay(5), run_id="r")[0] == "not_permitted"
    assert through(registry, pay(5), run_id="r", approved=True)[0] == "ok"
    assert through(narrow, pay(5), run_id="r", approved=True)[0] == "ok" and desk.paid == [5]


@pytest.mark.parametrize("made", ["at first", "restricted"])
def test_a_rule_that_can_never_fit_is_an_error_of_the_definition(made: str) -> None:
    policy = Policy([Deny("pay", amuont=500)], default="allow")
    desk = Desk()
    with pytest.raises(DefinitionError, match=r"names the argument 'amuont'.*Did you mean 'amount'\?"):
        Registry([desk.pay], policy=policy) if made == "at first" else Registry([desk.pay]).restricted(policy)
    Registry([desk.pay], policy=Policy([Deny("other", x=1)]))  # a tool that is not here may come later


# --- whatever comes --------------------------------------------------------------------------------------------------


class Counter:
    """A world in which every effect is counted by its key."""

    def __init__(self) -> None:
        self.effects: list[tuple[Any, ...]] = []

        @tool(permission="write")
        def save(name: str, value: int = 0) -> str:
            """Save a value."""
            self.effects.append((name, value))
            return f"{name}={value}"

        self.registry = Registry([save])


wild = st.one_of(
    arguments, st.text(max_size=40), st.sampled_from(['{"name": "n"}', "null", "", '```json\n{"name": "n"}\n```'])
)


@given(st.sampled_from(["save", "save", "svae", ""]) | names, wild, st.booleans())
@profile(300)
def test_no_document_makes_the_door_raise_or_run_twice_under_one_key(name: str, document: Any, truncated: bool) -> None:
    counter = Counter()
    call = ToolCall(name, document, "c1", truncated)
    first = counter.registry.call(call, run_id="r")
    again = counter.registry.call(call, run_id="r")
    assert isinstance(first, ToolResult) and len(counter.effects) <= 1
    assert first.ok == again.ok and (not first.ok or first == again)
    for found, value in counter.effects:  # nothing ran that was not validated
        assert type(found) is str and type(value) is int
    assert not (truncated and counter.effects)


def test_the_same_goal_reaches_the_same_tool_and_fields_run_after_run() -> None:
    from agentkit import OfflineModel
    from agentkit.worlds import orders

    seen = set()
    for _ in range(5):
        run = Agent(OfflineModel(rules=orders.rules), orders.tools, system=orders.system).run(orders.GOAL_REFUND)
        seen.add(tuple((call.name, tuple(sorted(call.arguments))) for step in run.steps for call in step.calls))
    assert len(seen) == 1 and next(iter(seen))


def test_an_approval_is_saved_and_read_back() -> None:
    _, registry, _ = asking()
    agent = Agent(ScriptedModel([CallTools("", (pay(5, ""), pay(6, "")))]), registry, name="desk")
    run = agent.resume(paused(agent), approvals={"call_1": True})
    again = type(run).from_json(run.to_json())
    assert again == run and isinstance(again.approved[0], Approval) and again.approved[0].agent == "desk"
