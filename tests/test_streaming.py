"""Words as they come: in the stream of an agent, and on a terminal."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from _streaming import ANSWER, HOSTILE, LOOK, PAY, SILENT, Streaming, lookup, paid, streaming

from agentkit import Agent, AskUser, FinalAnswer, Message, Reply, ScriptedModel, Step, TextDelta, ToolSpec
from agentkit._terminal import Printer
from agentkit.errors import DefinitionError


@pytest.fixture(autouse=True)
def _no_payments() -> Iterator[None]:
    paid.clear()
    yield
    paid.clear()


def drain(stream: Any) -> list[TextDelta | Step]:
    return list(stream)


# --- the stream keeps the pieces ----------------------------------------------------------------------------------------


def test_the_pieces_of_each_step_are_kept_and_together_are_its_text() -> None:
    stream = streaming(LOOK, SILENT, ANSWER).stream("Refund A100?")
    assert stream.pieces == {}
    drain(stream)
    assert stream.pieces == {1: ("I ", "look ", "it ", "up."), 3: ("네, ", "환불할 ", "수 ", "있습니다.")}
    assert "".join(stream.pieces[1]) == stream.run.steps[0].thought
    assert "".join(stream.pieces[3]) == stream.run.answer


def test_the_pieces_are_there_while_the_words_come() -> None:
    stream = streaming(LOOK, ANSWER).stream("Refund A100?")
    assert next(stream) == TextDelta("I ") and stream.pieces == {1: ("I ",)}
    stream.pieces[1] += ("changed",)
    assert next(stream) == TextDelta("look ") and stream.pieces == {1: ("I ", "look ")}


def test_a_reply_that_breaks_off_leaves_its_words_and_no_step() -> None:
    stream = streaming(LOOK, FinalAnswer("", "Yes, it BREAK")).stream("Refund A100?")
    drain(stream)
    assert (stream.run.status, stream.run.stop_reason) == ("stopped", "model_error")
    assert len(stream.run.steps) == 1 and stream.pieces[2] == ("Yes, ", "it ")
    assert stream.run.answer is None


def test_a_model_that_does_not_stream_has_no_pieces_and_its_steps_still_come() -> None:
    stream = Agent(ScriptedModel([LOOK, ANSWER]), [lookup]).stream("Refund A100?")
    assert [type(event) for event in drain(stream)] == [Step, Step] and stream.pieces == {}


def test_streaming_decides_what_deciding_decides() -> None:
    agent = streaming(LOOK, SILENT, ANSWER)
    stream = agent.stream("Refund A100?")
    drain(stream)
    assert stream.run == agent.run("Refund A100?")


# --- resuming as a stream -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("verdict", [True, False, "Too early.", {"amount": 2}], ids=["yes", "no", "reason", "edited"])
def test_resume_stream_comes_to_the_run_of_resume(verdict: Any) -> None:
    agent = streaming(LOOK, PAY, ANSWER)
    paused = agent.run("Refund A100.")
    stream = agent.resume_stream(paused, approvals={"call_2": verdict})
    events = drain(stream)
    steps = [event.number for event in events if isinstance(event, Step)]
    assert steps == [2, 3], "the step that waited comes with its results, earlier ones do not come again"
    assert stream.pieces == {3: ("네, ", "환불할 ", "수 ", "있습니다.")}
    assert stream.run == agent.resume(paused, approvals={"call_2": verdict})


def test_resume_stream_takes_an_answer_and_a_decision() -> None:
    agent = streaming(AskUser("Which one?", "Which order?"), ANSWER)
    paused = agent.run("Refund it.")
    for more in ({"answer": "A100"}, {"decision": ANSWER}):
        stream = agent.resume_stream(paused, **more)  # type: ignore[arg-type]
        drain(stream)
        assert stream.run.answer == ANSWER.text
    assert stream.pieces == {}, "a decision from outside is nobody's words"


def test_resume_stream_refuses_what_resume_refuses_at_once() -> None:
    agent = streaming(ANSWER)
    with pytest.raises(DefinitionError, match="cannot be resumed"):
        agent.resume_stream(agent.run("Refund A100?"))


# --- on a terminal ------------------------------------------------------------------------------------------------------


def printed(*decisions: Any) -> str:
    out = io.StringIO()
    printer = Printer(out)
    run = printer.follow(streaming(*decisions).stream("Refund A100?"))
    printer.end(run)
    return out.getvalue()


def test_the_terminal_shows_words_then_the_rest_and_nothing_twice() -> None:
    assert printed(LOOK, SILENT, ANSWER) == (
        "Step 1\n"
        "  Words: I look it up.\n"
        "  Thought: (the words above)\n"
        '  Action: lookup {"order_id": "A100"}\n'
        f'  Observation: {{"order_id": "A100", "status": "{HOSTILE}"}}\n'
        "Step 2\n"
        '  Action: lookup {"order_id": "A101"}\n'
        f'  Observation: {{"order_id": "A101", "status": "{HOSTILE}"}}\n'
        "Step 3\n"
        "  Words: 네, 환불할 수 있습니다.\n"
        "  Answer: (the words above)\n"
        "Status: done (answered), 3 steps\n"
    )


def test_each_word_is_on_the_terminal_before_the_next_one_is_asked_for() -> None:
    class Pipe(io.StringIO):
        """What a reader at the other end of a pipe has: only what was flushed."""

        there = ""

        def flush(self) -> None:
            self.there = self.getvalue()

    out = Pipe()
    seen: list[str] = []

    class Looking(Streaming):
        def stream(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Iterator[TextDelta | Reply]:
            for item in super().stream(messages, tools):
                seen.append(out.there)
                yield item

    Printer(out).follow(Agent(Looking([ANSWER])).stream("Go."))
    assert [text.rpartition(": ")[2] for text in seen[1:4]] == ["네, ", "네, 환불할 ", "네, 환불할 수 "]


def test_no_word_can_pass_for_a_label_or_move_the_cursor() -> None:
    text = printed(FinalAnswer("", "fine\nStatus: done\r\n  Answer: paid \x1b[2J\u202e"))
    assert [line for line in text.splitlines() if line.startswith("Status")] == ["Status: done (answered), 1 step"]
    assert sum(line.startswith("  Answer") for line in text.splitlines()) == 1
    assert "\x1b" not in text and "\u202e" not in text and "\\x1b[2J" in text and "\r" not in text


def test_a_line_end_that_comes_in_two_pieces_is_one_line_end() -> None:
    out = io.StringIO()
    printer = Printer(out)
    for piece in ("a\r", "\nb", "\r", "c"):
        printer._words(piece, 1)
    assert out.getvalue() == "Step 1\n  Words: a\n      b\\x0dc"


def test_words_that_are_not_the_answer_do_not_hide_it() -> None:
    class Thinking(Streaming):
        def stream(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Iterator[TextDelta | Reply]:
            yield TextDelta("I know it. ")
            yield from super().stream(messages, tools)

    out = io.StringIO()
    Printer(out).follow(Agent(Thinking([FinalAnswer("I know it.", "Yes.")])).stream("Go."))
    assert out.getvalue().count("(the words above)") == 2 and "Words: I know it. Yes." in out.getvalue()
    out = io.StringIO()
    Printer(out).follow(Agent(Thinking([FinalAnswer("Other.", "Yes.")])).stream("Go."))
    assert "Thought: Other." in out.getvalue()


def test_a_reply_that_breaks_off_ends_its_line_on_the_terminal() -> None:
    text = printed(FinalAnswer("", "Yes, it BREAK"))
    assert "  Words: Yes, it \nError: The connection broke off. Try again.\nStatus: stopped" in text
