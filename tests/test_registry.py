"""A registry as a collection: provider forms, fingerprint, adding and finding tools, and nothing secret in a result."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import TOOLS, check, failing, look, profile, save, texts

from agentkit import DefinitionError, Registry, Tool, ToolCall, ToolError, tool


def fresh(**options: Any) -> Registry:
    return Registry(TOOLS, **options)


class TestForms:
    def test_openai_chat(self) -> None:
        form = fresh().openai()
        assert [item["type"] for item in form] == ["function"] * 4
        one = form[0]["function"]
        assert one["name"] == "look" and one["description"] == "Look something up." and one["strict"] is True
        assert one["parameters"] == look.strict_parameters

    def test_openai_responses_is_flat(self) -> None:
        one = fresh().openai("responses")[0]
        assert one["type"] == "function" and one["name"] == "look" and "function" not in one
        assert one["parameters"] == look.strict_parameters

    def test_anthropic(self) -> None:
        one = fresh().anthropic()[0]
        assert set(one) >= {"name", "description", "input_schema"}
        assert one["input_schema"]["type"] == "object" and "type" not in one

    def test_mcp(self) -> None:
        form = {item["name"]: item for item in fresh().mcp()}
        assert form["look"]["inputSchema"] == look.parameters
        assert form["look"]["annotations"]["readOnlyHint"] is True
        assert form["wipe"]["annotations"]["destructiveHint"] is True
        assert form["save"]["annotations"]["readOnlyHint"] is False

    def test_all_forms_are_json(self) -> None:
        registry = fresh()
        for form in (registry.openai(), registry.openai("responses"), registry.anthropic(), registry.mcp()):
            assert json.loads(json.dumps(form, allow_nan=False)) == form

    def test_a_form_that_does_not_exist(self) -> None:
        with pytest.raises((DefinitionError, ValueError)):
            fresh().openai("assistants")  # type: ignore[arg-type]


def variant(name: str = "t", text: str = "Text.", wide: bool = False, **options: Any) -> Tool:
    def narrow(x: int) -> int:
        return x

    def broad(x: str) -> str:
        return x

    return tool(name=name, description=text, **options)(broad if wide else narrow)


class TestFingerprint:
    def test_it_does_not_depend_on_the_order_or_the_object(self) -> None:
        assert Registry(TOOLS).fingerprint() == Registry(reversed(TOOLS)).fingerprint()
        assert Registry([variant()]).fingerprint() == Registry([variant()]).fingerprint()

    @pytest.mark.parametrize(
        "other",
        [
            variant(name="u"), variant(text="Other."), variant(wide=True), variant(permission="write"),
            variant(approval=True),
        ],
    )  # fmt: skip
    def test_it_changes_with_name_description_schema_and_permission(self, other: Tool) -> None:
        assert Registry([variant()]).fingerprint() != Registry([other]).fingerprint()

    def test_a_call_does_not_change_it(self) -> None:
        registry = fresh()
        before = registry.fingerprint()
        registry.call(ToolCall("save", {"name": "n"}), run_id="r")
        assert registry.fingerprint() == before

    def test_text_cannot_move_from_one_field_to_the_next(self) -> None:
        assert Registry([variant("ab", "c")]).fingerprint() != Registry([variant("a", "bc")]).fingerprint()


class TestAdding:
    def test_the_same_function_twice_is_one_tool(self) -> None:
        registry = Registry([look, look])
        registry.add(look)
        assert [item.name for item in registry] == ["look"] and len(registry) == 1

    def test_a_cell_run_twice_makes_the_newer_function_the_tool(self) -> None:
        registry = Registry()
        for value in (1, 2):
            space: dict[str, Any] = {"value": value, "__name__": "__main__"}
            exec("def cell():\n    'Text.'\n    return value", space)
            registry.add(space["cell"])
        assert registry.call(ToolCall("cell")).data == 2

    def test_another_function_of_that_name_is_refused(self) -> None:
        registry = fresh()

        @tool(name="look")
        def other(key: str) -> str:
            """Other."""
            return key

        with pytest.raises(DefinitionError, match="'look'"):
            registry.add(other)
        assert registry.get("look") is look

    def test_two_names_that_a_provider_could_not_tell_apart(self) -> None:
        registry = Registry([variant("a.b"), variant("a/b"), variant("a b"), variant("도구"), variant("공구")])
        names = [item["function"]["name"] for item in registry.openai()]
        assert len(set(names)) == 5
        for tool_, name in zip(registry, names, strict=True):
            assert registry.call(ToolCall(name, {"x": 3})).name == tool_.name
            assert registry.get(name) is tool_ and name in registry

    def test_a_missing_tool_is_an_error_with_a_suggestion_for_the_programmer(self) -> None:
        with pytest.raises(DefinitionError, match="Did you mean 'look'"):
            fresh().get("lok")
        assert "lok" not in fresh() and None not in fresh()

    def test_something_that_is_no_function(self) -> None:
        with pytest.raises(DefinitionError):
            Registry([5])  # type: ignore[list-item]


class TestSecrets:
    SECRET = "sk-live-abcdefgh12345"

    @profile(40)
    @given(texts, st.sampled_from(["plain", "list", "dict", "deep", "key"]))
    def test_a_secret_in_a_result_is_masked_wherever_it_is(self, words: str, place: str) -> None:
        text = f"{words} {self.SECRET} {words}"
        values = {"plain": text, "list": [text], "dict": {"a": text}, "deep": [{"a": [{"b": text}]}], "key": {text: 1}}

        @tool
        def give() -> Any:
            """Give."""
            return values[place]

        assert self.SECRET not in check(Registry([give]).call(ToolCall("give"))).content

    @pytest.mark.parametrize("field", ["password", "api_key", "Authorization", "db_password", "client-secret", "token"])
    def test_a_field_with_the_name_of_a_secret(self, field: str) -> None:
        @tool
        def give() -> Any:
            """Give."""
            return {"user": {field: "x7"}, "input_tokens": 12}

        content = Registry([give]).call(ToolCall("give")).content
        assert "x7" not in content and "12" in content

    @pytest.mark.parametrize(
        "make",
        [
            lambda text: ToolError(text), lambda text: ToolError("x", hint=text), lambda text: RuntimeError(text),
            lambda text: KeyError(text), lambda text: OSError(text), lambda text: ExceptionGroup(text, [ValueError(text)]),
        ],
    )  # fmt: skip
    def test_a_secret_in_an_error_is_masked(self, make: Callable[[str], BaseException]) -> None:
        result = Registry(
            [failing(lambda: make(f"401 for https://u:pw123@x/y?key=AIzaSyA1234567890 {self.SECRET}"), "plain")]
        ).call(ToolCall("t"))
        for secret in (self.SECRET, "AIzaSyA1234567890", "pw123"):
            assert secret not in result.content

    def test_a_secret_in_wrong_arguments_or_a_name_is_not_repeated(self) -> None:
        registry = fresh()
        for made in (
            ToolCall(self.SECRET),
            ToolCall("save", {"name": "n", "value": self.SECRET}),
            ToolCall("save", '{"name": "' + self.SECRET),
        ):
            assert self.SECRET not in check(registry.call(made)).content

    @pytest.mark.parametrize(
        "text",
        [
            "The film follows the same basic plot line.", "Morse code encodes the 26 basic Latin letters.", "the bearer of this letter",
            "The key idea is simple.", "A token of thanks.", "Passwords should be long.", "risk-averse people", "https://example.org/a:b@c",
        ],
    )  # fmt: skip
    def test_ordinary_words_are_not_secrets(self, text: str) -> None:
        @tool
        def give() -> str:
            """Give."""
            return text

        assert Registry([give]).call(ToolCall("give")).data == text

    @pytest.mark.parametrize(
        "text",
        ["Authorization: Bearer abcd", "authorization=Basic dXNlcjpwYXNz", "Bearer s3cr3tvalue", "'Authorization': 'Basic YWJjZDplZmdo'"],
    )  # fmt: skip
    def test_what_follows_basic_and_bearer_in_a_header_is_masked(self, text: str) -> None:
        @tool
        def give() -> str:
            """Give."""
            return text

        data = Registry([give]).call(ToolCall("give")).data
        assert "[secret]" in data and text.split()[-1].strip("'") not in data

    def test_a_secret_at_the_cut_of_a_long_text_is_masked(self) -> None:
        @tool
        def give() -> Any:
            """Give."""
            return "x" * 95 + " " + self.SECRET + " y" * 200

        for limit in range(80, 130):
            content = Registry([give], result_limit=limit).call(ToolCall("give")).content
            assert "abcd" not in content


def test_the_answer_of_save_is_its_own() -> None:
    """The sample tool that the other files rely on."""
    assert fresh().call(ToolCall("save", {"name": "n", "value": 2})).data == "n=2"
    assert fresh().get("save") is save
