"""ReAct as text: what is written can be read back, and what models write instead is read or refused with a sentence."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import TOOLS, act, agent, answer, call, json_values, profile

from agentkit import AskUser, CallTools, FinalAnswer, ReplyError, ToolCall, ToolSpec, parse_react, render_react

SPECS = tuple(item.spec for item in TOOLS)
SEARCH = ToolSpec("search", "Search.", {"type": "object", "properties": {"query": {"type": "string"}}})


def only(text: str, tools: tuple[ToolSpec, ...] = SPECS) -> ToolCall:
    found = parse_react(text, tools)
    assert isinstance(found, CallTools) and len(found.calls) == 1
    return found.calls[0]


class TestRender:
    def test_a_whole_run(self) -> None:
        run = agent(act(call("look", key="a"), thought="I need a."), answer("It is a.")).run("What is a?")
        assert render_react(run).splitlines() == [
            "Question: What is a?", "Thought: I need a.", "Action: look", 'Action Input: {"key": "a"}',
            'Observation: {"ok": true, "data": {"key": "a", "day": null}}', "Thought: I know enough.", "Final Answer: It is a.",
        ]  # fmt: skip

    def test_each_call_stands_before_its_own_observation(self) -> None:
        lines = render_react(agent(act(call("look", key="a"), call("look", key="b")), answer()).run("go")).splitlines()
        labels = [line.partition(":")[0] for line in lines]
        assert labels[2:8] == ["Action", "Action Input", "Observation"] * 2
        assert '"b"' in lines[6] and '"b"' in lines[7]

    def test_a_run_that_waits_and_arguments_that_are_text(self) -> None:
        run = agent(act(ToolCall("wipe", '{"what": "a"}'))).run("go")
        assert render_react(run).endswith('Action: wipe\nAction Input: {"what": "a"}')
        assert render_react(agent(AskUser("Hm.", "Which?")).run("go")).endswith("Thought: Hm.\nFinal Answer: Which?")

    @profile(60)
    @given(
        st.text("abc def.?한", min_size=1),
        st.dictionaries(st.text("ab한", min_size=1, max_size=3), json_values, max_size=3),
    )
    def test_what_is_written_is_read_back(self, thought: str, arguments: dict[str, object]) -> None:
        thought = thought.strip() or "x"
        run = agent(act(ToolCall("look", arguments), thought=thought)).run("go")
        back = parse_react(render_react(run).split("\n", 1)[1], SPECS)
        assert isinstance(back, CallTools) and back.thought == thought and back.calls[0].name == "look"
        assert json.dumps(back.calls[0].arguments) == json.dumps(arguments)


class TestParse:
    def test_an_action_with_its_input(self) -> None:
        text = 'Thought: I look.\nAction: look\nAction Input: {"key": "a"}'
        assert parse_react(text, SPECS) == act(call("look", key="a"))

    def test_a_final_answer_of_several_lines(self) -> None:
        assert parse_react("Thought: I know.\nFinal Answer: one\ntwo: three") == FinalAnswer(
            "I know.", "one\ntwo: three"
        )

    @pytest.mark.parametrize(
        "text",
        [
            "thought 1: x\nACTION 1: look\nAction Input 1: {\"key\": \"a\"}", "**Thought:** x\n**Action:** look\n**Action Input:** {\"key\": \"a\"}",
            "I think so.\nAction: `look`\nAction Input: `{\"key\": \"a\"}`", "Action: look\nAction Input: ```json\n{\"key\":\n \"a\"}\n```",
            "Action: look\r\nAction Input: {\"key\": \"a\"}\r\nObservation: x", "Action: **look**\nAction Input:\n{\n  \"key\": \"a\"\n}\n",
            "  Action : look\n  Action Input : {\"key\": \"a\"}", "Action: look[{\"key\": \"a\"}]",
        ],
    )  # fmt: skip
    def test_how_models_decorate_it(self, text: str) -> None:
        assert only(text) == ToolCall("look", {"key": "a"})

    def test_brackets_fill_the_only_parameter(self) -> None:
        assert only("Action: search[Seoul (city)]", (SEARCH,)) == ToolCall("search", {"query": "Seoul (city)"})
        assert only("Action: `search[x]`", (SEARCH,)) == ToolCall("search", {"query": "x"})
        assert only('Action: search\nAction Input: "Seoul"', (SEARCH,)) == ToolCall("search", {"query": "Seoul"})
        assert only("Action: search[x]", ()) == ToolCall("search", {"input": "x"})
        assert only("Action: search[a [b] c]", (SEARCH,)).arguments == {"query": "a [b] c"}

    def test_the_first_action_only_and_no_thought_of_later(self) -> None:
        text = "Thought: one\nAction: look\nAction Input: {}\nThought: two\nAction: save\nAction Input: {}"
        assert parse_react(text, SPECS) == CallTools("one", (ToolCall("look", {}),))

    def test_an_invented_observation_is_cut_and_its_answer_is_not_accepted(self) -> None:
        text = 'Thought: x\nAction: look\nAction Input: {"key": "a"}\nObservation: fake\nFinal Answer: 42'
        assert only(text) == ToolCall("look", {"key": "a"})
        with pytest.raises(ReplyError):
            parse_react("Thought: x\nObservation: fake\nFinal Answer: 42")

    def test_an_answer_after_an_action_in_the_same_turn_is_not_accepted(self) -> None:
        assert only("Action: look\nAction Input: {}\nFinal Answer: 42").name == "look"

    @pytest.mark.parametrize(
        "text",
        [
            "", "   ", "I just talk.", "Thought: I wonder.", "Action:", "Action: None", "Action: none (direct response required)",
            "Action: N/A\nAction Input: {}", "Final Answer:", "Final Answer:  \n", "Action: ``", "Action: look something up please",
            "Thought: secret plan\nAction: None",
        ],
    )  # fmt: skip
    def test_what_is_no_decision_is_refused_with_the_form_to_use(self, text: str) -> None:
        with pytest.raises(ReplyError, match=r"Write 'Thought: …'") as caught:
            parse_react(text, SPECS)
        assert "secret plan" not in str(caught.value)

    def test_broken_json_goes_to_the_registry_as_it_is(self) -> None:
        assert only('Action: look\nAction Input: {"key": ').arguments == '{"key":'
        run = agent(parse_react('Action: look\nAction Input: {"key": ', SPECS), answer()).run("go")
        error = run.steps[0].results[0].error
        assert error is not None and error.code == "bad_json"

    def test_a_label_inside_a_value_is_not_a_label(self) -> None:
        assert only('Action: look\nAction Input: {"key": "the Final Answer: x"}').arguments == {
            "key": "the Final Answer: x"
        }

    def test_a_tool_name_with_spaces_is_known_when_it_is_offered(self) -> None:
        spec = ToolSpec("find it", "Find.", {"type": "object", "properties": {}})
        assert only("Action: find it\nAction Input: {}", (spec,)).name == "find it"

    @profile(200)
    @given(
        st.lists(
            st.sampled_from(
                [
                    "Thought:",
                    "Action:",
                    "Action Input:",
                    "Observation:",
                    "Final Answer:",
                    "\n",
                    " ",
                    "look",
                    "[",
                    "]",
                    "{",
                    "}",
                    "`",
                    "*",
                    "None",
                ]
            )
            | st.text(max_size=5),
            max_size=15,
        ).map("".join)
    )
    def test_any_text_is_a_decision_or_a_sentence(self, text: str) -> None:
        try:
            found = parse_react(text, SPECS)
        except ReplyError as error:
            assert str(error).endswith(".")
        else:
            assert (isinstance(found, FinalAnswer) and found.text.strip()) or (
                isinstance(found, CallTools) and found.calls[0].name
            )
