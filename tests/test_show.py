"""The static faces: text and HTML say the same, nothing passes unescaped, nothing in them changes from run to run."""

from __future__ import annotations

import html
import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentkit import show
from agentkit._text import one_line, shorten, visible
from agentkit.errors import DefinitionError
from agentkit.messages import (
    AskUser,
    CallTools,
    ErrorDetail,
    FinalAnswer,
    Message,
    Reply,
    Run,
    Step,
    ToolCall,
    ToolResult,
    Usage,
)  # fmt: skip
from agentkit.widgets import player

HOSTILE = "<script>alert(1)</script><img src=x onerror=\"alert('2')\">&amp;"
ALLOWED = {
    "table": {"style"}, "tr": set(), "td": {"style"}, "th": {"style"}, "div": {"style"}, "b": set(), "i": set(),
    "details": {"open"}, "summary": set(), "br": set(), "pre": {"style"}, "span": {"style"},
}  # fmt: skip


class Reader(HTMLParser):
    """Collects the text of a page, and every tag or attribute that a face may not have."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.text: list[str] = []
        self.forbidden: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ALLOWED:
            self.forbidden.append(tag)
        self.forbidden += [f"{tag} {name}" for name, _ in attrs if name not in ALLOWED.get(tag, set())]
        self.text.append(" ")

    def handle_endtag(self, tag: str) -> None:
        self.text.append(" ")

    def handle_comment(self, data: str) -> None:
        self.forbidden.append("comment")

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    reader.close()
    return reader


def words(text: str) -> str:
    """The text without anything that only arranges it."""
    return re.sub(r"\s+", "", text)


def assert_same_facts(text: str, page: str) -> None:
    """The HTML holds every line of the text, in the same order, and no tag of its own making."""
    found = read(page)
    assert found.forbidden == []
    whole, start = words("".join(found.text)), 0
    for line in text.splitlines():
        for part in (words(part) for part in line.strip().split(": ", 1)):
            place = whole.find(part, start)
            assert place >= 0, f"{part!r} is not in the HTML after position {start}"
            start = place + len(part)


def run_of(steps: list[tuple[Any, tuple[ToolResult, ...]]], goal: str = "Do it.", **more: Any) -> Run:
    """A run made by hand: one message pair for each step."""
    messages: list[Message] = [Message("system", "Be brief."), Message("user", goal)]
    made = []
    for number, (decision, results) in enumerate(steps, start=1):
        made.append(Step(number, len(messages), Reply(decision, Usage(10, 2)), results))
        calls = decision.calls if isinstance(decision, CallTools) else ()
        messages.append(Message("assistant", decision.thought, calls))
        messages += [Message("tool", result=result) for result in results]
    ended = {"status": "done", "stop_reason": "answered", "first": 1, **more}
    return Run(goal, tuple(messages), tuple(made), **ended)


def lookup(text: str = "A100", data: Any = "delivered", call_id: str = "call_1") -> tuple[Any, tuple[ToolResult, ...]]:
    call = ToolCall("lookup", {"order_id": text}, call_id)
    return CallTools("I look it up.", (call,)), (ToolResult(call_id, "lookup", data),)


def answer(text: str = "Yes.") -> tuple[Any, tuple[ToolResult, ...]]:
    return FinalAnswer("I know enough.", text), ()


def test_a_run_as_text_reads_like_thought_action_observation() -> None:
    run = run_of([lookup(), answer()], answer="Yes.", usage=Usage(20, 4))
    assert show.run_text(run) == (
        "Goal: Do it.\n"
        "Step 1\n"
        "  Thought: I look it up.\n"
        '  Action: lookup {"order_id": "A100"}\n'
        "  Observation: delivered\n"
        "Step 2\n"
        "  Thought: I know enough.\n"
        "  Answer: Yes.\n"
        "Status: done (answered), 2 steps, 20 tokens in, 4 out"
    )


@settings(max_examples=40)
@given(st.text(max_size=60), st.text(max_size=60), st.text(max_size=60), st.dictionaries(st.text(), st.text()))
def test_text_and_html_say_the_same_and_nothing_passes_unescaped(
    goal: str, name: str, value: str, arguments: dict[str, str]
) -> None:
    evil = f"{HOSTILE}{value}"
    call = ToolCall(f"{HOSTILE}{name}", {HOSTILE: evil, **arguments}, "call_1")
    failed = ToolResult("call_1", call.name, error=ErrorDetail(evil, evil, evil), note=evil)
    steps = [
        (CallTools(evil, (call,)), (failed,)),
        lookup(evil, {evil: [evil]}),
        (AskUser(evil, evil), ()),
        answer(evil),
    ]
    run = run_of(steps, goal=f"{HOSTILE}{goal}", error=evil, pending=(call,), awaiting=("call_1",), question="why")
    for text, page in (
        (show.run_text(run), show.run_html(run)),
        (show.messages_text(run.messages, {1}), show.messages_html(run.messages, {1})),
    ):
        assert_same_facts(text, page)
    for face in (show.compare(run, run_of([answer()])), show.bars({evil: 0.5}, evil)):
        found = read(face.html)
        assert found.forbidden == []
        assert words(one_line(evil)) in words("".join(found.text)) and words(one_line(evil)) in words(face.text)


@settings(max_examples=40)
@given(st.lists(st.lists(st.one_of(st.text(), st.integers(), st.none()), max_size=3), max_size=4), st.text())
def test_a_table_escapes_every_cell(rows: list[list[Any]], name: str) -> None:
    face = show.table([*rows, [HOSTILE]], header=[f"{HOSTILE}{name}"])
    assert read(face.html).forbidden == []
    assert html.escape(HOSTILE) in face.html and HOSTILE in face.text


@pytest.mark.parametrize(
    "char", ["\x00", "\x1b", "\x7f", "\x9b", "\u200b", "\u202e", "\u2066", "\ufeff", "\ud800", "\U000e0041"]
)
def test_invisible_characters_are_written_out(char: str) -> None:
    run = run_of([lookup(data=f"a{char}b"), answer(f"x{char}y")], goal=f"go{char}")
    for face in (show.run_text(run), show.run_html(run)):
        assert char not in face
        face.encode("utf-8")
    assert f"\\x{ord(char):02x}" in show.run_text(run) or "\\u" in show.run_text(run).lower()


def test_korean_and_emoji_stay_as_they_are() -> None:
    assert visible("환불 👩‍💻 é") == "환불 👩‍💻 é"


def test_no_line_of_an_observation_can_pass_for_a_label() -> None:
    text = show.run_text(run_of([lookup(data="nothing\nStatus: done\n  Answer: paid"), answer()]))
    assert [line for line in text.splitlines() if line.startswith("Status")] == ["Status: done (answered), 2 steps"]
    assert sum(line.startswith("  Answer") for line in text.splitlines()) == 1


def test_a_large_observation_is_shortened_with_a_mark_and_kept_in_the_data() -> None:
    run = run_of([lookup(data="x" * 1_000_000), answer()])
    assert "… [998,800 more characters]" in show.run_text(run) and len(show.run_html(run)) < 10_000
    assert len(run.steps[0].results[0].data) == 1_000_000
    assert shorten("abc", 3) == "abc" and shorten("abcd", 3) == "abc… [1 more characters]"


def test_no_ids_times_or_addresses_in_a_face() -> None:
    secret_id = "toolu_01ABC"
    run = run_of([lookup(data=[object()], call_id=secret_id), answer()], id="run-7f3a")
    for face in (
        show.run_text(run),
        show.run_html(run),
        show.messages_text(run.messages),
        repr(show.table([[object()]])),
    ):
        assert secret_id not in face and "7f3a" not in face and "0x" not in face


def test_every_shown_value_has_the_same_face_twice() -> None:
    run = run_of([lookup(), answer()])
    for make in (
        lambda: show.table([[1, "a"]], ["n", "t"]),
        lambda: show.bars({"a": 0.5}),
        lambda: show.source(show, "table"),
        lambda: show.compare(run, run),
    ):
        one, other = make(), make()
        assert (repr(one), one._repr_html_()) == (repr(other), other._repr_html_())
        assert " at 0x" not in repr(one)


def test_a_run_without_steps_and_one_with_an_error() -> None:
    empty = run_of([], status="stopped", stop_reason="model_error", error="The model gave no reply.")
    text = show.run_text(empty)
    assert text == "Goal: Do it.\nError: The model gave no reply.\nStatus: stopped (model_error), 0 steps"
    assert_same_facts(text, show.run_html(empty))


def test_a_paused_run_lists_what_it_waits_for() -> None:
    calls = (ToolCall("refund", {"amount": 3}, "a"), ToolCall("lookup", '{"order_id": "A1', "b", truncated=True))
    run = run_of(
        [(CallTools("Now.", calls), ())], status="paused", stop_reason="needs_approval", pending=calls, awaiting=("a",)
    )
    assert 'Pending: refund {"amount": 3} (waits for approval)' in show.run_text(run)
    assert 'Pending: lookup {"order_id": "A1 (cut off) (not run yet)' in show.run_text(run)
    assert_same_facts(show.run_text(run), show.run_html(run))


@pytest.mark.parametrize("reason", ["length", "max_tokens", "max_output_tokens", "model_context_window_exceeded"])
def test_an_answer_that_the_length_limit_ended_says_so(reason: str) -> None:
    run = run_of([lookup(), answer()])
    last = replace(run.steps[-1], reply=Reply(run.steps[-1].decision, provider={"stop_reason": reason}))
    cut = replace(run, steps=(*run.steps[:-1], last))
    line = f"Cut off: The length limit ended this reply ({reason}), so it is not complete."
    assert show.run_text(cut).splitlines()[-2] == line
    assert line in repr(player(cut))
    assert_same_facts(show.run_text(cut), show.run_html(cut))


def test_only_a_last_text_is_said_to_be_cut_off() -> None:
    whole = run_of([lookup(), answer()])
    cut = Reply(whole.steps[0].decision, provider={"stop_reason": "length"})
    refused = Reply(whole.steps[1].decision, provider={"stop_reason": "refusal"})
    first = replace(whole, steps=(replace(whole.steps[0], reply=cut), whole.steps[1]))
    half_a_call = replace(first, steps=first.steps[:1])
    other = replace(whole, steps=(whole.steps[0], replace(whole.steps[1], reply=refused)))
    for run in (whole, first, half_a_call, other):
        assert "Cut off" not in show.run_text(run)


def test_the_users_answer_stands_between_the_steps() -> None:
    asked = run_of([(AskUser("I need it.", "Which order?"), ()), answer()])
    messages = (*asked.messages[:3], Message("user", "A100", kind="answer"), asked.messages[3])
    run = replace(asked, messages=messages, steps=(asked.steps[0], replace(asked.steps[1], seen=4)))
    lines = show.run_text(run).splitlines()
    assert lines.index("  Question: Which order?") < lines.index("  User answer: A100") < lines.index("Step 2")
    assert_same_facts(show.run_text(run), show.run_html(run))


def test_a_very_long_run_shows_its_start_and_its_end() -> None:
    run = run_of([lookup() for _ in range(500)])
    text = show.run_text(run)
    assert "… [460 more steps]" in text and "Step 500" in text and "Step 250" not in text
    assert_same_facts(text, show.run_html(run))


def test_compare_marks_the_first_difference_and_only_it() -> None:
    one, other = run_of([lookup(), answer("Yes.")]), run_of([lookup(), lookup("B2"), answer("No.")])
    face = show.compare(one, other, labels=("before", "after"))
    assert face.text.startswith("The first difference is at: Step 2.")
    assert face.text.count("(first difference)") == 1 == face.html.count("(first difference)")
    assert 'after | Action: lookup {"order_id": "B2"}' in face.text
    assert "The two runs are the same." in show.compare(one, one).text


def test_compare_finds_a_difference_behind_the_shown_part() -> None:
    one, other = run_of([lookup(data="x" * 5000 + "a")]), run_of([lookup(data="x" * 5000 + "b")])
    assert show.compare(one, other).text.startswith("The first difference is at: Step 1.")


def test_bars_are_drawn_as_parts_of_one_or_of_the_largest() -> None:
    assert show.bars({"a": 0.5}).text == f"a  0.500  {'#' * 12}"
    assert "width:100.0%" in show.bars({"a": 300, "b": 3}).html
    for odd in (float("nan"), float("inf"), -1.0):
        assert "width:0.0%" in show.bars({"a": odd}).html


def test_a_table_of_korean_text_is_aligned() -> None:
    assert show.table([["환불", 1], ["ab", 2]]).text == "환불 | 1\nab   | 2"
    assert show.table([]).text == "(empty table)"


# --- source ---------------------------------------------------------------------------------------------------------


class Sample:
    """A class to read."""

    LIMIT = 3

    @staticmethod
    def first() -> int:
        """One."""
        return 1

    def second(self) -> int:
        # the middle part
        value = self.first()
        value += 1

        return value


def test_source_shows_a_class_a_method_a_variable_and_a_marked_part() -> None:
    assert show.source(Sample).text.startswith("class Sample:\n")
    assert show.source(Sample()).text == show.source(Sample).text
    expected = '@staticmethod\ndef first() -> int:\n    """One."""\n    return 1'
    assert show.source(Sample, "first").text == expected == show.source(Sample.first).text.replace("    @", "@")
    assert show.source(Sample, only="LIMIT").text == "LIMIT = 3"
    assert show.source(Sample, only="middle part").text == "# the middle part\nvalue = self.first()\nvalue += 1"
    assert read(show.source(Sample).html).forbidden == []


def test_source_of_a_tool_is_the_source_of_its_function() -> None:
    from agentkit import tool

    @tool
    def double(n: int) -> int:
        """Double a number."""
        return 2 * n

    assert "return 2 * n" in show.source(double).text


def test_source_names_no_file_and_no_line() -> None:
    face = show.source(show, "run_text")
    assert __file__ not in face.text and ".py" not in face.text


@pytest.mark.parametrize(
    ("obj", "only", "sentence"), [(len, None, "no source text for 'len'"), (Sample, "secnd", "'second'")]
)
def test_source_says_what_it_cannot_find(obj: Any, only: str | None, sentence: str) -> None:
    with pytest.raises(DefinitionError, match=sentence):
        show.source(obj, only)


def test_source_of_a_class_defined_in_a_cell() -> None:
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell()
    shell.run_cell("class Cell:\n    def go(self):\n        return 1\n\nafter = 2")
    assert show.source(shell.user_ns["Cell"]).text == "class Cell:\n    def go(self):\n        return 1"


def test_one_line_has_no_line_breaks() -> None:
    assert one_line("a\nb\tc") == "a\\nb\\tc"
