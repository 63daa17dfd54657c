"""Exercises that answer back. The last part tests every exercise that is registered, of whatever notebook."""

from __future__ import annotations

import _thread
import html
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import _example_exercises as example
import pytest
from _hostile import Hostile

import agentkit.checks as checks
from agentkit.checks import (
    Exercise,
    Verdict,
    check,
    hint,
    progress,
    quiz,
    registered,
    shown,
    solution,
)
from agentkit.checks.guard import run_guarded
from agentkit.checks.unattempted import is_unattempted
from agentkit.errors import DefinitionError
from agentkit.tools import tool


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENTKIT_STATE", str(tmp_path))
    monkeypatch.setattr(registered, "_added", {"T1": "_example_exercises"})


def longest(texts: list[str]) -> str:
    return max(texts, key=len, default="")


def _defined(source: str, name: str, **known: Any) -> Any:
    """What a notebook cell with this source defines under a name."""
    namespace: dict[str, Any] = {**known}
    exec(compile(source, "<cell>", "exec"), namespace)
    return namespace[name]


# --- three outcomes --------------------------------------------------------------------------------------------------


def test_a_stub_is_not_attempted_yet() -> None:
    def stub(texts: list[str]) -> str: ...

    verdict = check("T1.1", stub)
    assert verdict.outcome == "not attempted"
    assert repr(verdict).splitlines()[0] == "T1.1 · The longest text · not attempted yet"
    assert 'hint("T1.1")' in repr(verdict)


def test_a_wrong_answer_is_told_one_thing_at_a_time() -> None:
    verdict = check("T1.1", lambda texts: texts[0])
    assert verdict.outcome == "not yet"
    assert verdict.message == 'the longest of "a", "abc" and "ab" is "abc", but you return \'a\''


def test_a_right_answer_is_told_why() -> None:
    verdict = check("T1.1", longest)
    assert verdict.correct
    assert verdict.message == example.LONGEST.why


def test_the_report_of_a_contract_can_be_the_check() -> None:
    source = example.WINDOW.setup + example.WINDOW.solution.replace("messages[:2]", "messages[:0]")
    verdict = check("T1.3", _defined(source, "Window"))
    assert verdict.outcome == "not yet"
    assert verdict.message.startswith("system prompt: ")


def _raises(kind: type[BaseException], *arguments: Any) -> Callable[[Any], Any]:
    def answer(texts: Any) -> Any:
        raise kind(*arguments)

    return answer


def _recurses(texts: Any) -> Any:
    return _recurses(texts)


def _undefined(texts: Any) -> Any:
    return undefined_name  # type: ignore[name-defined]  # noqa: F821


@pytest.mark.parametrize(
    ("answer", "part"),
    [
        (
            _raises(ValueError, "invalid literal for int()"),
            "Your code raised ValueError in line 2 of `answer`: a value has",
        ),
        (_raises(SystemExit), "SystemExit in line 2 of `answer`: it tried to end Python itself"),
        (_raises(KeyError, "city"), "a dictionary was asked for a key that it does not have ('city')"),
        (_raises(GeneratorExit), "Your code raised GeneratorExit"),
        (_raises(DefinitionError, "Give it a name."), "DefinitionError: Give it a name."),
        (_undefined, "a name was used that is not defined ('undefined_name')"),
        (_recurses, "a function called itself without end"),
        (42, "The check cannot use your answer as it is (TypeError: a value has"),
        ("text", "The check cannot use your answer as it is (TypeError: a value has"),
        (lambda: "abc", "The check cannot use your answer as it is (TypeError: a value has"),
        (Hostile, "The check cannot use your answer as it is (TypeError"),
        (lambda texts: Hostile(), "raised RuntimeError"),
    ],
)
def test_whatever_an_answer_does_becomes_a_sentence(answer: Any, part: str) -> None:
    answer = Hostile() if answer is Hostile else answer
    verdict = check("T1.1", answer)
    assert verdict.outcome == "not yet"
    assert part in verdict.message
    assert "invalid literal" not in verdict.message, "text that Python wrote changes with its version"
    assert repr(verdict) == repr(check("T1.1", answer))


def test_an_endless_loop_ends_after_a_number_of_steps() -> None:
    answer = _defined("def longest(texts):\n    while True: pass\n", "longest")
    assert "endless loop" in check("T1.1", answer).message


def test_code_that_waits_is_given_up_and_its_thread_does_not_stay() -> None:
    never = threading.Event()

    def waits() -> None:
        while not never.wait(0.01):
            pass

    before = set(threading.enumerate())
    ended = run_guarded(waits, seconds=0.1)
    assert ended.too_long == "seconds"
    for thread in set(threading.enumerate()) - before:
        thread.join(5)
        assert not thread.is_alive()


def test_code_that_waits_for_ever_spoils_no_later_check() -> None:
    never = threading.Event()
    try:
        assert (
            run_guarded(_defined("def waits(): NEVER.wait()", "waits", NEVER=never), seconds=0.1).too_long == "seconds"
        )
        assert run_guarded(_defined("def quick(): return 5", "quick"), seconds=5).value == 5
    finally:
        never.set()


def test_a_keyboard_interrupt_passes() -> None:
    with pytest.raises(KeyboardInterrupt):
        check("T1.1", _raises(KeyboardInterrupt))


def test_the_stop_button_ends_a_check_that_waits() -> None:
    # A program that was started in the background ignores the signal of the stop button; this test must not.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    never = threading.Event()

    def waits(texts: Any) -> None:
        _thread.interrupt_main()
        never.wait()

    try:
        with pytest.raises(KeyboardInterrupt):
            check("T1.1", waits)
    finally:
        signal.signal(signal.SIGINT, before)
        never.set()


def test_what_an_answer_prints_is_printed_by_the_cell(capsys: pytest.CaptureFixture[str]) -> None:
    def chatty(texts: list[str]) -> str:
        print("I got", texts)
        return longest(texts)

    assert check("T1.1", chatty).correct
    assert capsys.readouterr().out.splitlines()[0] == "I got ['a', 'abc', 'ab']"


def test_messages_hold_no_memory_address_and_no_order_of_a_set() -> None:
    assert "0x" not in check("T1.1", lambda texts: object()).message
    assert shown({"b", "a", "c"}) == "{'a', 'b', 'c'}"
    assert shown(Hostile()) == "a value of type Hostile"
    assert len(shown("x" * 1000)) < 130


# --- what counts as not attempted ------------------------------------------------------------------------------------


def _stubs() -> Iterator[Any]:
    def ellipsis(a: int) -> None: ...

    def with_pass(a: int, *b: int, **c: int) -> None:
        """A docstring."""
        pass

    def only_docstring() -> None:
        """A docstring."""

    def returns_ellipsis() -> Any:
        return ...

    def not_implemented() -> Any:
        raise NotImplementedError

    async def async_stub() -> None: ...

    class Empty:
        """A docstring."""

    class Methods:
        def view(self, messages: Any) -> Any: ...

        @property
        def size(self) -> int: ...  # type: ignore[empty-body]

    @tool
    def a_tool(city: str) -> str:  # type: ignore[empty-body]
        """Weather of a city."""
        ...

    yield from (None, ..., (..., None), [...], {"type": ...})
    yield from (
        ellipsis,
        with_pass,
        only_docstring,
        returns_ellipsis,
        not_implemented,
        async_stub,
        Empty,
        Methods,
        a_tool,
    )


@pytest.mark.parametrize("answer", list(_stubs()), ids=lambda value: getattr(value, "__name__", None) or str(value))
def test_stubs_of_all_kinds_are_unattempted(answer: Any) -> None:
    assert is_unattempted(answer)


@pytest.mark.parametrize(
    "answer",
    [0, False, "", [], {}, (1, ...), longest, lambda a: a, lambda a: 0, print, Exercise, checks, Hostile, {"a": 1}],
)
def test_other_values_are_attempted(answer: Any) -> None:
    assert not is_unattempted(answer)


def test_what_cannot_be_inspected_is_attempted() -> None:
    assert not is_unattempted(Hostile())


def test_a_stub_with_code_in_it_is_recognised_by_its_code() -> None:
    window = _defined("# another place\n\n" + example.WINDOW.stub.replace("...", "pass"), "Window")
    assert check("T1.3", window).outcome == "not attempted"
    window = _defined(example.WINDOW.stub.replace("...", "return tail"), "Window")
    assert check("T1.3", window).outcome == "not yet"
    assert check("T1.2", {"type": ..., "properties": {"city": {"type": "string"}}, "required": ...}).outcome == (
        "not attempted"
    )
    assert check("T1.2", {"type": "object", "required": ...}).outcome == "not yet"


# --- faces -----------------------------------------------------------------------------------------------------------


def _faces() -> Iterator[Any]:
    yield Verdict("T1.1", "<b>", "not yet", "a <script>alert(1)</script> & `code`")
    yield from (hint("T1.1"), solution("T1.1"), quiz("T1"), quiz("T1", "<i>"), quiz("T9"), progress(), check("T1.9"))


def _words(text: str) -> str:
    return re.sub(r"\s+", " ", text.replace("`", "")).strip()


def test_both_faces_say_the_same_and_are_escaped() -> None:
    for value in _faces():
        face = value._repr_html_()
        assert not re.search(r"<(script|b|i|style|svg)\b", face)
        assert _words(html.unescape(re.sub(r"<[^>]*>", lambda tag: "" if "code" in tag.group() else " ", face))) == (
            _words(repr(value))
        )


def test_only_the_module_that_is_needed_is_imported() -> None:
    code = (
        "import sys, agentkit.checks as c; c.register('T1', '_example_exercises'); c.hint('T1.1');"
        "print([n for n in sys.modules if n.startswith('agentkit.checks.nb') or 'widgets' in n])"
    )
    folder = Path(__file__).parent
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(folder.parent), str(folder)))}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, encoding="utf-8", env=environment, timeout=60, check=False
    )
    assert done.stdout.strip() == "[]", done.stderr
