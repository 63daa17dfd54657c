"""Whatever is handed in, and whatever a tool returns or raises: a result comes out, never an exception."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import TOOLS, bounded, check, failing, json_values, look, profile, python

from agentkit import Registry, ToolCall, ToolError, tool


def fresh(**options: Any) -> Registry:
    return Registry(TOOLS, **options)


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


@pytest.fixture
def own_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """A background loop for this test alone, so that one failure does not make the others fail."""
    monkeypatch.setattr("agentkit._tasks._background", None)


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
