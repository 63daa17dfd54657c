"""The models that need no service: a script, a person, and the one line that chooses a model."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from strategies import TOOLS, act, agent, answer, call

from agentkit import (
    Agent,
    AskUser,
    DefinitionError,
    HumanModel,
    Message,
    OfflineModel,
    Pause,
    Reply,
    ScriptedModel,
    ScriptError,
    Usage,
    get_model,
)

SPECS = tuple(item.spec for item in TOOLS)
GOAL = Message("user", "go")


class TestScripted:
    def test_it_counts_in_the_history_and_not_in_itself(self) -> None:
        model = ScriptedModel([act(call("look", key="a")), answer("one")])
        made = Agent(model, TOOLS)
        assert [made.run("go").answer for _ in range(3)] == ["one"] * 3
        assert made.run("more", history=made.run("go").messages).answer == "one"

    def test_an_unexpected_call_is_said(self) -> None:
        run = agent(act(call("look", key="a"))).run("go")
        assert run.stop_reason == "model_error" and run.error is not None
        assert run.error.startswith("Unexpected call: the script holds 1 decisions, and this is request 2.")
        with pytest.raises(ScriptError, match="request 1"):
            ScriptedModel([]).decide([GOAL], SPECS)

    def test_decisions_that_were_not_used_are_said(self) -> None:
        model = ScriptedModel([answer(), answer(), answer()])
        run = Agent(model).run("go")
        with pytest.raises(ScriptError, match="used 1 of 3 and stopped as answered"):
            model.check_finished(run)
        ScriptedModel([answer()]).check_finished(run)

    def test_a_tool_that_was_not_offered(self) -> None:
        script = [act(call("lok", key="a")), answer()]
        assert Agent(ScriptedModel(script), TOOLS).run("go").status == "done"
        strict = Agent(ScriptedModel(script, known_tools_only=True), TOOLS).run("go")
        assert strict.error == "Decision 1 calls 'lok', which is not among the offered tools."

    def test_replies_keep_usage_and_pauses_do_not_move_the_script(self) -> None:
        made = agent(AskUser("", "Which?"), Reply(answer("two"), Usage(5, 6)))
        run = made.resume(made.run("go"), answer="x")
        assert run.answer == "two" and run.usage.total_tokens == 11

    def test_after_an_empty_reply_it_goes_on_with_the_next(self) -> None:
        assert agent(answer(""), answer("two")).run("go").answer == "two"

    def test_async_is_the_same(self) -> None:
        model = ScriptedModel([answer("one")])
        assert asyncio.run(model.adecide([GOAL], SPECS)) == model.decide([GOAL], SPECS) == Reply(answer("one"))
        assert repr(model) == "ScriptedModel(1 decisions)"


class TestHuman:
    def test_it_pauses_and_names_the_tools(self) -> None:
        paused = HumanModel().decide([GOAL], SPECS)
        assert isinstance(paused, Pause) and "look, broken, save, wipe" in paused.prompt
        assert asyncio.run(HumanModel().adecide([GOAL], SPECS)) == paused
        none = HumanModel().decide([GOAL], ())
        assert isinstance(none, Pause) and "none" in none.prompt

    def test_a_run_waits_for_the_person(self) -> None:
        run = Agent(HumanModel(), TOOLS).run("go")
        assert (run.status, run.stop_reason, run.messages) == ("paused", "needs_input", (GOAL,))
        assert run.question is not None and "You are the model" in run.question and run.pending == ()


class TestGetModel:
    @pytest.fixture(autouse=True)
    def no_variable(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("AGENTKIT_MODEL", raising=False)

    def test_the_default_is_in_the_box(self) -> None:
        assert isinstance(get_model(), OfflineModel)

    @pytest.mark.parametrize("key", ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "AGENTKIT_KEY"])
    def test_a_key_alone_changes_nothing(self, key: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv(key, "sk-test")
        assert isinstance(get_model(), OfflineModel)

    @pytest.mark.parametrize(("value", "kind"), [("human", HumanModel), ("offline", OfflineModel), (" ", OfflineModel)])
    def test_the_variable_changes_it(self, value: str, kind: type, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("AGENTKIT_MODEL", value)
        assert isinstance(get_model(), kind)

    def test_a_name_in_the_code_wins(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("AGENTKIT_MODEL", "human")
        assert isinstance(get_model("offline"), OfflineModel)

    @pytest.mark.parametrize("source", ["get_model()", "AGENTKIT_MODEL"])
    def test_an_unknown_name_is_said_with_where_it_came_from(
        self, source: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("AGENTKIT_MODEL", "humann")
        with pytest.raises(DefinitionError) as caught:
            get_model("humann" if source == "get_model()" else None)
        text = str(caught.value)
        assert source in text and "Did you mean 'human'?" in text and "offline, human" in text

    def test_rules_reach_the_offline_model_and_no_other_minds_them(self) -> None:
        def rule(facts: Any) -> None:
            return None

        model: Any = get_model(rules=[rule])
        assert rule in tuple(model.rules)
        assert isinstance(get_model("human", rules=[rule]), HumanModel)
