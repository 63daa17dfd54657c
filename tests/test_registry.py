"""The one door: whatever is handed in, a result comes out, in the order of the calls and with nothing secret in it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import TOOLS, bounded, json_values, look, profile, python, save, texts

from agentkit import DefinitionError, Registry, Tool, ToolCall, ToolError, ToolResult, tool


def fresh(**options: Any) -> Registry:
    return Registry(TOOLS, **options)


def check(result: ToolResult) -> ToolResult:
    """A result that can be sent and stored: JSON text, UTF-8, an error with a code and a sentence or else data."""
    assert isinstance(result, ToolResult)
    text = json.dumps([result.name, result.data, result.note], ensure_ascii=False, allow_nan=False)
    text.encode("utf-8")
    body = json.loads(result.content)
    result.content.encode("utf-8")
    assert body["ok"] is result.ok
    if result.error is not None:
        assert result.data is None
        assert isinstance(result.error.code, str) and result.error.code.replace("_", "").isalnum()
        assert isinstance(result.error.message, str) and result.error.message.strip()
        assert "Traceback" not in result.content and "pydantic" not in result.content
    return result


class Evil:
    """An object that refuses everything but to be shown in a test report."""

    def _no(self, *_: Any) -> Any:
        raise RuntimeError("refused")

    __str__ = __eq__ = __len__ = __iter__ = __getitem__ = __bool__ = __hash__ = _no  # type: ignore[assignment]


class Mute(Evil):
    __repr__ = Evil._no


strange = st.one_of(
    json_values,
    st.binary(max_size=5),
    st.floats(),
    st.complex_numbers(),
    st.text(st.characters(), max_size=10),
    st.builds(Evil),
    st.sampled_from([object(), Evil, len, 10**400, b"\xff", "[" * 5000, "\ud83d"]),
    st.sampled_from([{1: 2}, {Evil: 1}, {"key": "\ud83d"}]).map(dict),
    st.dictionaries(st.one_of(st.text(), st.integers(), st.none()), json_values, max_size=3),
)


class TestStrangestArguments:
    @profile(150)
    @given(st.one_of(st.sampled_from([t.name for t in TOOLS]), st.text(st.characters())), strange)
    def test_any_arguments_under_any_name(self, name: str, arguments: Any) -> None:
        result = check(fresh().call(ToolCall(name, arguments, "c1")))
        assert result.call_id == "c1"

    @profile(60)
    @given(st.text(max_size=60))
    def test_any_text_as_arguments(self, text: str) -> None:
        check(fresh().call(ToolCall("look", text, "c1")))

    @profile(60)
    @given(
        st.sampled_from([t.name for t in TOOLS]),
        st.dictionaries(st.sampled_from(["key", "day", "name", "value", "text", "what", "x"]), strange),
    )
    def test_the_right_names_with_any_values(self, name: str, arguments: dict[str, Any]) -> None:
        check(fresh().call(ToolCall(name, arguments, "c1"), approved=True))

    @pytest.mark.parametrize(
        "make", [lambda: None, lambda: 5, lambda: b"look", lambda: ["look"], Evil, Mute, lambda: "x" * 100_000]
    )
    def test_a_name_that_is_no_name(self, make: Callable[[], Any]) -> None:
        result = check(fresh().call(ToolCall(make(), {}, "c1")))
        assert result.error is not None and result.error.code == "unknown_tool"
        assert len(result.content) < 1_000

    def test_two_megabytes_are_looked_at_in_linear_time(self) -> None:
        """In a process of its own, because a search in a text cannot be interrupted."""
        assert python(MEGABYTES, seconds=20).split() == ["True"] * 5


MEGABYTES = """
from agentkit import Registry, ToolCall, ToolError, tool

@tool
def echo(text: str = "", kind: str = "text") -> object:
    "Echo."
    made = "key " + "x" * 2_000_000
    if kind == "error":
        raise ToolError(made)
    return made if kind == "text" else {"rows": [made]}

registry = Registry([echo])
for arguments in ({"text": "key " + "x" * 2_000_000}, {"key" + "x" * 2_000_000: 1}, {"kind": "error"}, {"kind": "rows"}, "key" + "x" * 2_000_000):
    print(len(registry.call(ToolCall("echo", arguments)).content) < 25_000)
"""


VALUES: list[Any] = [
    Mute(), b"\xff\x00", b"text", float("nan"), float("inf"), 10**400, "x" * 2_000_000, ["y" * 100] * 50_000, {"a": {"b": [1]}},
    {1, "b", None}, (x for x in range(3)), iter([1, 2]), Evil(), object(), {Evil: 1}, Evil, range(3), 3 + 4j, "\ud83d",
    {"\ud83d": "\udc00"}, {f"k{i}": "v" * 30 for i in range(5_000)}, {float("nan"): float("nan")}, memoryview(b"abc"),
]  # fmt: skip


class TestStrangestResults:
    @pytest.mark.parametrize("place", range(len(VALUES)), ids=lambda place: type(VALUES[place]).__name__)
    def test_whatever_a_tool_returns(self, place: int) -> None:
        value = VALUES[place]

        @tool
        def give() -> Any:
            """Give."""
            return value

        registry = Registry([give])
        result = check(registry.call(ToolCall("give", {}, "c1")))
        assert result.ok
        assert len(result.content) < 21_000

    def test_a_list_that_holds_itself(self) -> None:
        @tool
        def give() -> Any:
            """Give."""
            loop: list[Any] = [1]
            loop.append(loop)
            return loop

        assert check(Registry([give]).call(ToolCall("give"))).ok

    @profile(80)
    @given(json_values, st.integers(60, 400))
    def test_a_shortened_result_says_so_and_keeps_to_the_limit(self, value: Any, limit: int) -> None:
        @tool
        def give() -> Any:
            """Give."""
            return [value] * 50

        result = check(Registry([give], result_limit=limit).call(ToolCall("give")))
        whole = Registry([give]).call(ToolCall("give")).data
        assert bool(result.note) == (result.data != whole)
        assert len(json.dumps(result.data, ensure_ascii=False)) <= 2 * limit

    def test_an_endless_generator_is_cut(self) -> None:
        @tool
        def give() -> Any:
            """Give."""
            while True:
                yield 1

        assert check(bounded(lambda: Registry([give]).call(ToolCall("give")))).ok


class Weird(BaseException):
    pass


class BadText(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


ERRORS: list[Callable[[], BaseException]] = [
    lambda: ValueError("x"), lambda: KeyError("x"), lambda: SystemExit(3), lambda: GeneratorExit(),
    lambda: Weird("x"), lambda: asyncio.CancelledError(), lambda: StopIteration(3), lambda: BadText(),
    lambda: RecursionError(), lambda: MemoryError(), lambda: ToolError(123),  # type: ignore[arg-type]
    lambda: ToolError("x", code=None), lambda: ToolError("x", hint=None), lambda: ToolError("x", code=b"\xff"),  # type: ignore[arg-type]
    lambda: ToolError("\ud83d"), lambda: ToolError(""), lambda: RuntimeError("y" * 1_000_000),
]  # fmt: skip


def failing(make: Callable[[], BaseException], kind: str) -> Tool:
    def plain() -> None:
        """Fails."""
        raise make()

    async def later() -> None:
        """Fails."""
        raise make()

    return {
        "plain": tool(name="t")(plain),
        "deadline": tool(name="t", timeout=30)(plain),
        "async": tool(name="t")(later),
        "async deadline": tool(name="t", timeout=30)(later),
    }[kind]


@pytest.fixture
def own_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """A background loop for this test alone, so that one failure does not make the others fail."""
    monkeypatch.setattr("agentkit._tasks._loop", None)


@pytest.mark.usefixtures("own_loop")
@pytest.mark.parametrize("kind", ["plain", "deadline", "async", "async deadline"])
@pytest.mark.parametrize(
    "make", ERRORS, ids=lambda make: repr(make())[:30] if type(make()) is not BadText else "BadText"
)
class TestStrangestErrors:
    def test_call_returns_a_result_and_the_next_tools_still_run(
        self, make: Callable[[], BaseException], kind: str
    ) -> None:
        @tool
        async def fine() -> int:
            """Fine."""
            return 1

        registry = Registry([failing(make, kind), fine, look])
        result = check(bounded(lambda: registry.call(ToolCall("t", {}, "c1")), 3))
        assert not result.ok and len(result.content) < 10_000
        assert bounded(lambda: registry.call(ToolCall("look", {"key": "a"})), 3).ok
        assert bounded(lambda: registry.call(ToolCall("fine")), 3).data == 1

    def test_acall_returns_a_result(self, make: Callable[[], BaseException], kind: str) -> None:
        if isinstance(make(), asyncio.CancelledError):
            return  # in async code this is how a caller cancels, so it has to go on
        registry = Registry([failing(make, kind)])
        result = check(bounded(lambda: asyncio.run(registry.acall(ToolCall("t", {}, "c1"))), 3))
        assert not result.ok


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
