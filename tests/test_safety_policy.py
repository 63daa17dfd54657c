"""Policies, grants and approvals: a rule is about what the tool receives, the strictest word counts, doubt means no."""

from __future__ import annotations

import datetime
import itertools
import random
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from enum import Enum
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import json_values, profile

from agentkit import Agent, CallTools, DefinitionError, FinalAnswer, Registry, Run, ScriptedModel, Tool, ToolCall, tool
from agentkit import cli as command_line
from agentkit._approvals import Grant, matches
from agentkit.messages import Approval
from agentkit.safety import Allow, Ask, Deny, Policy, Rule


class Kind(Enum):
    GIFT = "gift"


class Till:
    def __init__(self) -> None:
        self.done: list[Any] = []

        @tool(permission="write")
        def pay(amount: float, to: str = "ann", day: datetime.date | None = None, kind: Kind | None = None) -> str:
            """Pay."""
            self.done.append((amount, to))
            return "paid"

        @tool(permission="dangerous")
        def wipe(path: str) -> str:
            """Wipe."""
            self.done.append(path)
            return "gone"

        @tool
        def look() -> str:
            """Look."""
            return "seen"

        self.tools: list[Tool] = [pay, wipe, look]
        self.pay, self.wipe, self.look = self.tools


def code(registry: Registry, name: str, arguments: Any, **options: Any) -> str:
    result = registry.call(ToolCall(name, arguments, options.pop("call_id", "c1")), **options)
    return "ok" if result.error is None else result.error.code


# --- patterns --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "fits", "fits_not"),
    [
        ("notes/*", ["notes/a", "notes/", "notes/a/b"], ["Notes/a", "x/notes/a", "note", 5, None, ["notes/a"]]),
        ("a?c", ["abc"], ["ac", "abbc"]),
        ("report[1].txt", ["report[1].txt"], ["report1.txt", "reportx.txt"]),
        ("[!a]", ["[!a]"], ["b"]),
        (5, [5, 5.0], ["5", 6, True, None]),
        (True, [True], [1, "True", False]),
        (1, [1], [True]),
        (None, [None], ["", 0, False]),
        ({1, 2}, [1, 2.0], [True, "1", 3, [1]]),
        ({"a", None}, ["a", None], ["b", "", "*"]),
        (range(100, 1000), [100, 999, 500.0], [99, 1000, "500", 500.5, True, None]),
        (re.compile("x").fullmatch, [], ["x"]),  # a match is no "yes"
        (lambda value: value in ("x", 1), ["x"], ["y"]),
        ([1, "a"], [[1, "a"]], [[1], (1, "a"), [True, "b"]]),
        ({"a": 1}, [{"a": 1}], [{"a": 2}, {}]),
    ],
)
def test_patterns(pattern: Any, fits: list[Any], fits_not: list[Any]) -> None:
    assert [matches(pattern, value) for value in fits] == [True] * len(fits)
    assert [matches(pattern, value) for value in fits_not] == [False] * len(fits_not)


def raises(value: Any) -> bool:
    return value > 5  # type: ignore[no-any-return]


def test_a_condition_that_cannot_judge_opens_no_door() -> None:
    till = Till()
    for rules, word in [
        ([Allow("pay", to=raises)], "deny"),
        ([Allow("pay"), Deny("pay", to=raises)], "deny"),
        ([Allow("pay"), Ask("pay", to=raises)], "ask"),
        ([Allow("pay"), Deny("pay", to=raises, amount=7)], "allow"),
    ]:
        assert Policy(rules).verdict(till.pay, {"amount": 1, "to": "x"})[0] == word
    assert not Grant("pay", {"to": raises}).covers("pay", {"to": "x"}, "", 0)


@given(st.permutations([Allow("pay"), Allow("pay", to="a*"), Ask("pay", to="ab"), Deny("*", amount=3), Deny("pay", to={"abc"}), Allow("*")]),
       st.integers(0, 4), st.sampled_from(["a", "ab", "abc", "x"]))  # fmt: skip
@profile(150)
def test_deny_wins_over_ask_wins_over_allow_in_any_order(rules: list[Rule], amount: int, to: str) -> None:
    expected = "deny" if amount == 3 or to == "abc" else "ask" if to == "ab" else "allow"
    assert Policy(rules).verdict(Till().pay, {"amount": amount, "to": to})[0] == expected


patterns = st.one_of(
    st.text("ab*?", max_size=3),
    st.integers(0, 3),
    st.sets(st.integers(0, 3)),
    st.just(range(2)),
    st.none(),
    st.just(raises),
)
rules_of = st.builds(Rule, st.sampled_from(["allow", "ask", "deny"]), st.sampled_from(["pay", "*", "look"]),
                     st.dictionaries(st.sampled_from(["amount", "to"]), patterns, max_size=2))  # fmt: skip


@given(
    st.lists(rules_of, max_size=5),
    rules_of,
    st.fixed_dictionaries({}, optional={"amount": json_values, "to": json_values}),
)
@profile(200)
def test_one_more_rule_that_does_not_allow_never_loosens(
    rules: list[Rule], more: Rule, arguments: dict[str, Any]
) -> None:
    strict = {"allow": 0, "ask": 1, "deny": 2}
    pay = Till().pay
    before = Policy(rules, default="deny").verdict(pay, arguments)[0]
    order = [*rules, more]
    random.Random(0).shuffle(order)
    after = Policy(order, default="deny").verdict(pay, arguments)[0]
    fitting = [rule.word for rule in order if rule.fits("pay", arguments)]
    assert after == max(fitting, key=strict.__getitem__, default="deny")
    if more.word == "deny":
        assert strict[after] >= strict[before]


def test_what_no_rule_names_is_denied_and_the_reason_says_what_is_allowed() -> None:
    till = Till()
    policy = Policy([Allow("pay", amount=range(1, 10), to={"ann"}), Ask("wipe", why="Look at the path.", path="tmp/*")])
    assert policy.verdict(till.look, {}) == ("deny", "This task does not need it.")
    word, why = policy.verdict(till.pay, {"amount": 50, "to": "ann"})
    assert word == "deny" and "1 to 9" in why and '"ann"' in why
    assert policy.verdict(till.pay, {"amount": 5})[0] == "deny"  # an argument that is left out does not fit
    assert policy.verdict(till.wipe, {"path": "tmp/x"}) == ("ask", "Look at the path.")
    assert Policy([], default="allow").verdict(till.pay, {}) == ("allow", "")
    assert [policy.offers(item) for item in till.tools] == [True, True, False]
    for bad in (lambda: Policy([], default="no"), lambda: Policy(["pay"])):  # type: ignore[list-item, arg-type]
        with pytest.raises(DefinitionError):
            bad()
    assert Allow("x", tool="y").arguments == {"tool": "y"}


# --- in the registry -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments", [{"amount": 500}, {"amount": "500"}, {"amount": 500.0}, '{"amount": "5e2"}', {"amount": " 500 "}]
)
@pytest.mark.parametrize("pattern", [500, range(100, 1000), {500}, lambda value: value > 100])
def test_SF14_a_rule_is_about_what_the_tool_receives(arguments: Any, pattern: Any) -> None:
    till = Till()
    registry = Registry(till.tools, policy=Policy([Allow("pay"), Deny("pay", amount=pattern)]))
    assert code(registry, "pay", arguments) in ("not_permitted", "bad_arguments") and till.done == []
    assert code(registry, "pay", {"amount": 5}) == "ok"


def test_a_rule_sees_defaults_and_json_values() -> None:
    till = Till()
    registry = Registry(
        till.tools,
        policy=Policy([Allow("pay"), Deny("pay", to="ann"), Deny("pay", kind="gift"), Deny("pay", day="2026-10-13")]),
    )
    assert code(registry, "pay", {"amount": 5}) == "not_permitted"  # to="ann" by default
    assert code(registry, "pay", {"amount": 5, "to": "bob", "kind": "gift"}) == "not_permitted"
    assert code(registry, "pay", {"amount": 5, "to": "bob", "day": "2026-10-13"}) == "not_permitted"
    assert code(registry, "pay", {"amount": 5, "to": "bob"}) == "ok" and till.done == [(5, "bob")]


class Broken:
    def __init__(self, answer: Callable[[], Any]) -> None:
        self.answer = answer

    def verdict(self, tool: Tool, arguments: Mapping[str, Any]) -> Any:
        return self.answer()


@pytest.mark.parametrize(
    "answer",
    [lambda: 1 / 0, lambda: None, lambda: "allow", lambda: ("yes", ""), lambda: ("allow",), lambda: (None, None)],
)
def test_a_policy_that_does_not_answer_has_allowed_nothing(answer: Any) -> None:
    till = Till()
    registry = Registry(till.tools, policy=Broken(answer))
    for found in (
        registry,
        registry.restricted(Policy([Allow("*")])),
        Registry(till.tools, policy=Policy([Allow("*")])).restricted(Broken(answer)),
    ):
        assert code(found, "pay", {"amount": 1}, approved=True) == "not_permitted"
        assert not found.needs_approval(ToolCall("pay", {"amount": 1}, "c"))
    assert till.done == []


def test_restricted_only_narrows() -> None:
    till = Till()
    words = ["allow", "ask", "deny"]
    for one, two in itertools.product(words, words):
        narrow = Registry(till.tools, policy=Policy([], default=one)).restricted(Policy([], default=two))  # type: ignore[arg-type]
        expected = {"deny": "not_permitted", "ask": "needs_approval", "allow": "ok"}[max(one, two, key=words.index)]
        assert code(narrow, "pay", {"amount": 1}) == expected
    registry = Registry(till.tools)
    narrow = registry.restricted(Policy([Allow("*")]))
    narrow.grant(Grant("wipe", {"path": "*"}))
    assert code(narrow, "wipe", {"path": "x"}) == "ok" and code(registry, "wipe", {"path": "x"}) == "needs_approval"


def test_SF14_always_allow_is_for_these_arguments_this_run_and_this_time() -> None:
    till, now = Till(), [100.0]
    registry = Registry(till.tools, clock=lambda: now[0])
    registry.grant(Grant("wipe", {"path": "tmp/*.txt"}, run_id="r", until=200))
    assert code(registry, "wipe", {"path": "tmp/a.txt"}, run_id="r") == "ok"
    for path, run in [("/etc/passwd", "r"), ("tmp/a.md", "r"), ("tmp/a.txt", "s"), ("tmp/a.txt", "")]:
        assert code(registry, "wipe", {"path": path}, run_id=run, call_id=path) == "needs_approval"
    now[0] = 200.0
    assert code(registry, "wipe", {"path": "tmp/b.txt"}, run_id="r", call_id="c9") == "needs_approval"
    assert till.done == ["tmp/a.txt"]


def test_SF14_an_approval_is_for_one_call_and_cannot_be_made_to_last() -> None:
    till, now = Till(), [100.0]
    registry = Registry(till.tools, clock=lambda: now[0], approval_seconds=60, secret=b"k")
    call = ToolCall("wipe", {"path": "x"}, "c1")
    yes = registry.approve(call, run_id="r", agent="a", by="kim")
    assert yes.until == 160 and yes.by == "kim"
    forged = [
        replace(yes, until=None), replace(yes, until=10.0**9), replace(yes, agent="b"), replace(yes, digest=""), replace(yes, digest="é"),
        Approval("c1"), Approval("c1", "0" * 32, None), replace(yes, until=float("nan")),
    ]  # fmt: skip
    for each in forged:
        assert code(registry, "wipe", {"path": "x"}, run_id="r", approved=each) == "needs_approval"
    # The same yes does not let a second, equal call run.
    assert code(registry, "wipe", {"path": "x"}, run_id="r", approved=yes, call_id="c2") == "needs_approval"
    now[0] = 161.0
    assert code(registry, "wipe", {"path": "x"}, run_id="r", approved=yes) == "needs_approval"
    now[0] = 159.0
    assert code(registry, "wipe", {"path": "x"}, run_id="r", approved=yes) == "ok" and till.done == ["x"]


def test_an_approval_of_what_may_not_run_is_worth_nothing() -> None:
    till = Till()
    yes = Registry(till.tools, permissions=["read"]).approve(ToolCall("wipe", {"path": "x"}, "c1"))
    assert code(Registry(till.tools), "wipe", {"path": "x"}, approved=yes) == "needs_approval"


def test_trust_in_nothing_is_not_the_same_as_no_list() -> None:
    till = Till()
    registry = Registry(till.tools)
    registry.trust({})
    assert code(registry, "look", {}) == code(registry, "pay", {"amount": 1}) == "needs_approval"
    empty = Registry()
    empty.trust()
    empty.add(till.look)
    assert code(empty, "look", {}) == "needs_approval"
    empty.trust()
    assert code(empty, "look", {}) == "ok"


# --- nobody there, another name ----------------------------------------------------------------------------------------


def asking(till: Till, **options: Any) -> Agent:
    script = [CallTools("", (ToolCall("wipe", {"path": "x"}, ""),)), FinalAnswer("", "Done.")]
    return Agent(ScriptedModel(script), Registry(till.tools), **options)


def test_SF15_without_an_answer_nothing_runs(tmp_path: Path) -> None:
    till = Till()
    agent = asking(till)
    run = agent.run("go")
    assert run.stop_reason == "needs_approval" and till.done == []
    assert agent.resume(run, approvals={}).awaiting == run.awaiting and agent.resume(run).awaiting == run.awaiting
    for verdict in (False, "", "yes", "true"):  # a text is a reason to refuse
        assert agent.resume(run, approvals={"call_1": verdict}).status == "done"
    for nonsense in (1, None, [True]):
        with pytest.raises(DefinitionError):
            agent.resume(run, approvals={"call_1": nonsense})  # type: ignore[dict-item]
    saved = run.save(tmp_path / "run.json")
    assert agent.resume(Run.load(saved)).status == "paused" and till.done == []


@pytest.mark.parametrize("typed", [None, "", "n", "yess", "\n", "1", "true"])
def test_SF15_the_command_line_denies_by_default(
    typed: str | None, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setattr(command_line, "_typed", lambda prompt: typed)
    assert command_line._approved(ToolCall("wipe", {"path": "x"}, "c")) is False
    assert ("no terminal" in capsys.readouterr().out) is (typed is None)


def test_SF15_a_pipe_is_no_person(monkeypatch: pytest.MonkeyPatch) -> None:
    import io

    for stdin in (io.StringIO("y\n"), None):
        monkeypatch.setattr("sys.stdin", stdin)
        assert command_line._approved(ToolCall("wipe", {"path": "x"}, "c")) is False


def test_SF18_another_name_keeps_what_a_tool_needs() -> None:
    till = Till()
    renamed = tool(name="tidy up")(till.wipe)
    again = tool(description="Tidy.")(renamed)
    registry = Registry([again])
    for name in ("tidy up", "tidy_up"):
        assert code(registry, name, {"path": "x"}) in ("needs_approval", "unknown_tool")
    assert code(registry, "tidy up", {"path": "x"}) == "needs_approval"
    assert (
        code(Registry([again], permissions=["read", "write"]), "tidy up", {"path": "x"}, approved=True)
        == "not_permitted"
    )
    narrow = Registry([again], policy=Policy([Deny("tidy up"), Allow("*")]))
    for name in ("tidy up", "tidy_up", "wipe"):
        assert code(narrow, name, {"path": "x"}, approved=True) in ("not_permitted", "unknown_tool")
    assert till.done == []
