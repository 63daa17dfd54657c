"""Words as they come in the panel that watches a run, and in the player that it leaves."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from typing import Any

import ipywidgets as widgets
import pytest
from _streaming import ANSWER, HOSTILE, LOOK, PAY, SILENT, Streaming, paid, streaming

from agentkit import Agent, FinalAnswer, Message, Reply, TextDelta, ToolSpec, show
from agentkit.widgets import player, watch

WATCH = importlib.import_module("agentkit.widgets.watch")  # the package has a function of the same name


@pytest.fixture(autouse=True)
def _no_payments() -> Iterator[None]:
    paid.clear()
    yield
    paid.clear()


# --- in the player ------------------------------------------------------------------------------------------------------


def inside(widget: Any, kind: type) -> list[Any]:
    found = [widget] if isinstance(widget, kind) else []
    for child in getattr(widget, "children", ()):
        found += inside(child, kind)
    return found


def test_the_player_shows_the_words_as_they_came_in_both_forms() -> None:
    stream = streaming(LOOK, SILENT, ANSWER).stream("Refund A100?")
    panel = watch(stream)
    assert panel.run is stream.run and panel.run.answer == ANSWER.text
    frames = [frame.value for frame in inside(panel, widgets.Stack)[0].children]
    bar = '<span style="opacity:0.45">│</span>'
    assert "Words as they came, 4 pieces" in frames[1] and f"I {bar}look {bar}it {bar}up." in frames[1]
    assert "Words as they came" not in frames[2] and f"네, {bar}환불할 {bar}수 {bar}있습니다." in frames[3]
    text = repr(panel)
    assert "  Step 1: I │look │it │up." in text and "  Step 3: 네, │환불할 │수 │있습니다." in text
    assert f"I {bar}look {bar}it {bar}up." in panel._repr_html_()


def test_a_player_without_pieces_is_the_player_as_it_was() -> None:
    run = streaming(LOOK, ANSWER).run("Refund A100?")
    assert "as they came" not in repr(player(run)) and "│" not in player(run)._repr_html_()
    assert repr(player(run)) == repr(run.player())


def test_the_words_of_a_reply_that_broke_off_stand_at_the_end() -> None:
    for decisions, frame in (((LOOK, FinalAnswer("", "Yes, it BREAK")), 1), ((FinalAnswer("", "Yes, it BREAK"),), 0)):
        panel = watch(streaming(*decisions).stream("Refund A100?"))
        for face in (inside(panel, widgets.Stack)[0].children[frame].value, repr(panel)):
            assert "Words of a reply that broke off, 2 pieces" in face
        assert "Yes, │it" in repr(panel)


def test_hostile_words_are_escaped_everywhere() -> None:
    stream = streaming(FinalAnswer("", f"{HOSTILE} \x1b[2J and│bar")).stream("Go.")
    panel = watch(stream)
    pages = [part.value for part in inside(panel, widgets.HTML)] + [panel._repr_html_(), show.pieces(stream).html]
    assert all("<script" not in page and "\x1b" not in page for page in pages)


# --- while it happens ---------------------------------------------------------------------------------------------------


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def live_frames(monkeypatch: pytest.MonkeyPatch, stream: Any, step: float) -> list[str]:
    """What the watching panel shows after each event, with ``step`` seconds between two events."""
    shown: list[Any] = []
    clock = Clock()
    frames: list[str] = []

    class Ticking:
        def __iter__(self) -> Iterator[Any]:
            for event in stream:
                clock.now += step
                yield event
                frames.append("".join(part.value for part in inside(shown[0], widgets.HTML)))

        def __getattr__(self, name: str) -> Any:
            return getattr(stream, name)

    monkeypatch.setattr(WATCH, "_display", shown.append)
    watch(Ticking(), clock=clock)  # type: ignore[arg-type]
    frames.append("".join(part.value for part in inside(shown[0], widgets.HTML)))
    return frames


def test_the_words_are_drawn_as_they_come_and_steps_when_they_are_finished(monkeypatch: pytest.MonkeyPatch) -> None:
    frames = live_frames(monkeypatch, streaming(LOOK, ANSWER).stream("Refund A100?"), step=1.0)
    assert "I ▌" in frames[0] and "I look ▌" in frames[1] and "I look it up.▌" in frames[3]
    assert all("Observation" not in frame for frame in frames[:5])
    step_finished = next(frame for frame in frames if "Observation" in frame)
    assert "<b>Step 2</b>" in step_finished and "I look it up.▌" not in step_finished
    assert "done (answered)" in frames[-1] and "▌" not in frames[-1]


def test_words_that_come_too_fast_for_a_screen_are_drawn_together(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "".join(f"word{number} " for number in range(3000))
    frames = live_frames(monkeypatch, streaming(FinalAnswer("", text)).stream("Go."), step=0.001)
    assert 40 < len(set(frames)) < 80, "3 seconds of words, 20 pictures a second"
    assert max(map(len, frames)) < 3000, "a picture holds the newest words only"


def test_an_interruption_leaves_the_words_and_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[Any] = []
    monkeypatch.setattr(WATCH, "_display", shown.append)

    class Stopped(Streaming):
        def stream(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Iterator[TextDelta | Reply]:
            yield TextDelta("I ")
            raise KeyboardInterrupt

    stream = Agent(Stopped([ANSWER])).stream("Go.")
    with pytest.raises(KeyboardInterrupt) as caught:
        watch(stream)
    assert caught.value.run.stop_reason == "cancelled"  # type: ignore[attr-defined]
    assert stream.pieces == {1: ("I ",)}
    assert "cancelled" in "".join(part.value for part in inside(shown[0], widgets.HTML))


def test_watching_a_stream_that_waits_for_a_person_shows_what_it_waits_for() -> None:
    agent = streaming(PAY, ANSWER)
    first = watch(agent.stream("Refund A100."))
    assert first.run.status == "paused" and paid == [] and "waits for approval" in repr(first)
    second = watch(agent.resume_stream(first.run, approvals={"call_1": True}))
    assert second.run.answer == ANSWER.text and paid == [3]


def test_the_static_face_of_the_live_part_is_one_sentence_that_stays_true() -> None:
    from agentkit.widgets.watch import SENTENCE, Live

    bundle = Live(Clock()).panel._repr_mimebundle_()
    assert bundle["text/plain"] == SENTENCE and SENTENCE in bundle["text/html"]


def test_outside_a_notebook_nothing_is_drawn_and_nothing_fails(capsys: pytest.CaptureFixture[str]) -> None:
    watch(streaming(ANSWER).stream("Go."))
    assert capsys.readouterr().out == ""


def test_a_word_soon_after_another_is_seen_although_nothing_comes_after_it() -> None:
    from agentkit.widgets.watch import Live

    live = Live(lambda: 0.0)  # no time passes
    for word in ("The ", "order ", "was "):
        live.take(TextDelta(word))
        assert word.strip() in live.now.value
