"""The command line, in this process with a script as the model, and as a process of its own in hostile encodings."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from _streaming import Streaming

from agentkit import cli
from agentkit.course.copies import update
from agentkit.course.layout import Course
from agentkit.course.notebook import write_text
from agentkit.messages import AskUser, CallTools, Decision, FinalAnswer, Run, ToolCall
from agentkit.models.scripted import ScriptedModel

GOAL = "Can my order A100 be refunded? Today is 2026-10-13."
KOREAN = "A100 주문 환불되나요? 오늘은 2026-10-13입니다."
REFUND = ToolCall("refund_order", {"order_id": "A100", "amount": 250000})

Script = Callable[..., None]
Typist = Callable[..., None]


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Script:
    """``script(decision, …)`` lets these decisions be taken instead of the offline model's."""

    def use(*decisions: Decision) -> None:
        model = ScriptedModel(decisions)
        monkeypatch.setattr("agentkit.models.base.get_model", lambda name=None, rules=(): model)

    return use


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def typist(monkeypatch: pytest.MonkeyPatch) -> Typist:
    """``typist("y", …)`` puts a person at the terminal who types these lines; ``typist(None)`` takes the person away."""

    def use(*lines: str | None) -> None:
        typed = [line for line in lines if line is not None]
        kind = io.StringIO if None in lines else Terminal
        monkeypatch.setattr(sys, "stdin", kind("".join(f"{line}\n" for line in typed)))

    return use


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Course]:
    """An empty checkout with one tracked notebook, as the current folder."""
    write_text(tmp_path / "pyproject.toml", "[project]\n")
    cells = [{"cell_type": "code", "execution_count": 1, "id": "a", "metadata": {}, "outputs": [], "source": ["1"]}]
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    write_text(tmp_path / "notebooks" / "00_start_here.ipynb", json.dumps(notebook))
    monkeypatch.chdir(tmp_path)
    yield Course(tmp_path)


# --- ask, with a script -----------------------------------------------------------------------------------------------


def test_ask_prints_thought_action_observation_and_answer(script: Script, capsys: pytest.CaptureFixture[str]) -> None:
    look = CallTools("I look it up.", (ToolCall("lookup_order", {"order_id": "A100"}),))
    script(look, FinalAnswer("I know.", "Yes, it can."))
    assert cli.main(["ask", GOAL]) == 0
    said = capsys.readouterr().out
    places = [
        said.index(part) for part in ("I look it up.", "lookup_order", "Observation", "250", "Yes, it can.", "done")
    ]
    assert places == sorted(places)
    assert said.count("Step 1") == 1 and said.count("Step 2") == 1


def test_ask_prints_each_step_before_the_next_is_decided(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    seen: list[str] = []

    class Watching(ScriptedModel):
        def decide(self, messages, tools):  # type: ignore[no-untyped-def]
            seen.append(capsys.readouterr().out)
            return super().decide(messages, tools)

    model = Watching([CallTools("first", (ToolCall("refund_policy", {}),)), FinalAnswer("second", "end")])
    monkeypatch.setattr("agentkit.models.base.get_model", lambda name=None, rules=(): model)
    cli.main(["ask", "x"])
    assert "Step 1" in seen[1] and "Observation" in seen[1]


def test_ask_prints_the_words_of_a_streaming_model_as_they_come(
    monkeypatch: pytest.MonkeyPatch, typist: Typist, capsys: pytest.CaptureFixture[str]
) -> None:
    seen: list[str] = []

    class Watching(Streaming):
        def stream(self, messages, tools):  # type: ignore[no-untyped-def]
            for item in super().stream(messages, tools):
                seen.append(capsys.readouterr().out)
                yield item

    model = Watching([CallTools("Pay it back.", (REFUND,)), FinalAnswer("", "Paid it back.")])
    monkeypatch.setattr("agentkit.models.base.get_model", lambda name=None, rules=(): model)
    typist("y")
    assert cli.main(["ask", "Refund A100"]) == 0
    seen.append(capsys.readouterr().out)
    assert seen[:5] == ["", "Step 1\n  Words: Pay ", "it ", "back.", ""], "each word before the next one is asked for"
    assert seen[5].startswith("\nThe agent wants to run: refund_order")
    assert "  Thought: (the words above)\n  Action: refund_order" in seen[5]
    assert seen[6:8] == ["Step 2\n  Words: Paid ", "it "], "also after the run was resumed"
    assert "".join(seen).count("Paid it back.") == 1


def test_endpoint_serves_the_chosen_model(monkeypatch: pytest.MonkeyPatch) -> None:
    served: list[tuple[str, object, object, object]] = []

    def run_endpoint(model: object, host: object, port: object, token: object) -> None:
        served.append((type(model).__name__, host, port, token))

    endpoint = pytest.importorskip("agentkit.endpoint", reason="the endpoint needs starlette and uvicorn")
    monkeypatch.setattr(endpoint, "run_endpoint", run_endpoint)
    monkeypatch.delenv(cli.TOKEN, raising=False)
    assert cli.main(["endpoint"]) == 0
    assert cli.main(["endpoint", "--model", "offline", "--host", "0.0.0.0", "--port", "0", "--token", "t"]) == 0
    monkeypatch.setenv(cli.TOKEN, "from the environment")
    assert cli.main(["endpoint", "--port", "9000"]) == 0
    assert served == [
        ("OfflineModel", "127.0.0.1", 8400, None),
        ("OfflineModel", "0.0.0.0", 0, "t"),
        ("OfflineModel", "127.0.0.1", 9000, "from the environment"),
    ]


def test_a_refund_is_run_only_after_a_person_says_yes(
    script: Script, typist: Typist, capsys: pytest.CaptureFixture[str]
) -> None:
    script(CallTools("Pay it back.", (REFUND,)), FinalAnswer("Done.", "Paid back."))
    typist("y")
    assert cli.main(["ask", "Refund A100"]) == 0
    said = capsys.readouterr().out
    assert "The agent wants to run: refund_order" in said
    assert '"code": "denied"' not in said and "refused" not in said
    assert said.count("Step 1") == 1 and "Paid back." in said


@pytest.mark.parametrize("typed", ["", "n", "maybe", "yess", None], ids=["enter", "n", "maybe", "yess", "no terminal"])
def test_anything_but_yes_denies(
    typed: str | None, script: Script, typist: Typist, capsys: pytest.CaptureFixture[str]
) -> None:
    script(CallTools("Pay it back.", (REFUND,)), FinalAnswer("No.", "Not paid."))
    typist(typed)
    assert cli.main(["ask", "Refund A100"]) == 0
    said = capsys.readouterr().out
    assert "A person refused this call." in said and "Not paid." in said
    assert ("Denied: there is no terminal" in said) == (typed is None)


def test_a_question_is_asked_on_a_terminal(script: Script, typist: Typist, capsys: pytest.CaptureFixture[str]) -> None:
    script(AskUser("No code.", "Which order?"), FinalAnswer("Now I know.", "A100 it is."))
    typist("A100")
    assert cli.main(["ask", "Can it be refunded?"]) == 0
    said = capsys.readouterr().out
    assert said.count("Step 1") == said.count("Step 2") == 1
    assert "> " in said and "A100 it is." in said


@pytest.mark.parametrize("typed", [None, ""], ids=["no terminal", "nothing typed"])
def test_an_unanswered_question_is_printed_and_the_exit_code_says_so(
    typed: str | None, script: Script, typist: Typist, capsys: pytest.CaptureFixture[str]
) -> None:
    script(AskUser("No code.", "Which order?"))
    typist(typed)
    assert cli.main(["ask", "Can it be refunded?"]) == 3
    said = capsys.readouterr().out
    assert "Which order?" in said and "needs_input" in said


def test_json_is_the_whole_run_and_asks_nothing(
    script: Script, typist: Typist, capsys: pytest.CaptureFixture[str]
) -> None:
    script(CallTools("Pay it back.", (REFUND,)))
    typist("y")
    assert cli.main(["ask", "Refund A100", "--json"]) == 3
    run = Run.from_json(capsys.readouterr().out)
    assert (run.status, run.stop_reason, run.goal) == ("paused", "needs_approval", "Refund A100")


def test_a_model_that_is_a_person_is_sent_to_the_notebook(
    monkeypatch: pytest.MonkeyPatch, typist: Typist, capsys: pytest.CaptureFixture[str]
) -> None:
    typist("hello")
    assert cli.main(["ask", GOAL, "--model", "human"]) == 3
    assert "open notebook 05" in capsys.readouterr().out


def test_what_is_wrong_becomes_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["ask", "hello", "--model", "ofline"]) == 1
    assert "Did you mean 'offline'?" in capsys.readouterr().err
    assert cli.main(["ask", "   "]) == 1
    assert "The goal is empty." in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["ask"],
        ["ask", "x", "--speed"],
        ["dance"],
        ["update", "05"],
        ["endpoint", "--port", "70000"],
        ["endpoint", "--port", "x"],
    ],
)
def test_a_wrong_command_is_refused_with_the_usage(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        cli.main(arguments)
    assert stopped.value.code == 2
    assert "usage: agentkit" in capsys.readouterr().err


def test_an_interruption_ends_quietly(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted(name: str | None = None, rules: object = ()) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("agentkit.models.base.get_model", interrupted)
    assert cli.main(["ask", "x"]) == 130
    assert capsys.readouterr().err == "Interrupted.\n"


# --- the learner's copy -----------------------------------------------------------------------------------------------


def test_update_reset_and_progress(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["update"]) == 0
    assert "New in my_notebooks: 00_start_here." in capsys.readouterr().out
    assert cli.main(["update"]) == 0
    assert "Your notebooks are up to date." in capsys.readouterr().out
    assert cli.main(["reset", "0"]) == 0
    assert "Your old one is beside it: 00_start_here.old1.ipynb." in capsys.readouterr().out
    assert cli.main(["reset", "07"]) == 1
    assert "There is no notebook '07'." in capsys.readouterr().err
    assert cli.main(["progress"]) == 0
    assert "Progress" in capsys.readouterr().out


def test_update_says_what_it_left_alone(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    update(course)
    (course.copies / "00_start_here.ipynb").write_text("mine", encoding="utf-8")
    tracked = course.notebooks / "00_start_here.ipynb"
    tracked.write_text(tracked.read_text(encoding="utf-8").replace('["1"]', '["2"]'), encoding="utf-8")
    assert cli.main(["update"]) == 0
    assert "`agentkit reset 00_start_here` takes it and keeps yours." in capsys.readouterr().out


def test_progress_is_read_beside_the_learners_notebooks(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    from agentkit.checks.registered import exercises_of

    first = exercises_of("00")[0].id
    state = {"version": 1, "exercises": [first], "quizzes": []}
    write_text(course.copies / ".agentkit-progress.json", json.dumps(state))
    assert cli.main(["progress"]) == 0
    assert f"00: 1 of {len(exercises_of('00'))} exercises" in capsys.readouterr().out


def test_lab_makes_the_copy_and_hands_its_arguments_on(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[list[str], Path]] = []

    def start(command: list[str], folder: Path) -> int:
        seen.append((command, folder))
        return 0

    monkeypatch.setattr("agentkit.course.lab.start", start)
    assert cli.main(["lab", "--no-browser", "--port=9999"]) == 0
    command, folder = seen[0]
    assert command[-3:] == ["--no-browser", "--port=9999", "my_notebooks/00_start_here.ipynb"]
    assert folder == course.root.resolve()
    assert (course.copies / "00_start_here.ipynb").is_file()


# --- as a process, in every encoding ----------------------------------------------------------------------------------

ENCODINGS = {
    "as it is": ([], {}),
    "a Korean Windows": ([], {"PYTHONIOENCODING": "cp949"}),
    "no UTF-8 at all": (["-X", "utf8=0"], {"LC_ALL": "C", "LANG": "C"}),
}


def started(arguments: list[str], flags: list[str], more: dict[str, str]) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, *flags, "-m", "agentkit", *arguments]
    environment = {**os.environ, **more}
    return subprocess.run(command, capture_output=True, env=environment, stdin=subprocess.DEVNULL, check=False)


@pytest.mark.parametrize(("flags", "more"), ENCODINGS.values(), ids=ENCODINGS.keys())
@pytest.mark.parametrize("goal", [GOAL, KOREAN], ids=["English", "Korean"])
def test_a_real_question_is_answered_in_every_encoding(goal: str, flags: list[str], more: dict[str, str]) -> None:
    done = started(["ask", goal], flags, more)
    said = done.stdout.decode("utf-8")
    assert done.returncode == 0, said + done.stderr.decode("utf-8")
    assert done.stderr == b""
    for part in ("Thought", "Action", "Observation", "Answer", "A100", "2026-10-01"):
        assert part in said
    if goal is KOREAN:
        assert any("가" <= char <= "힣" for char in said.partition("Answer")[2])


@pytest.mark.parametrize(("flags", "more"), ENCODINGS.values(), ids=ENCODINGS.keys())
def test_the_json_of_a_run_is_readable_in_every_encoding(flags: list[str], more: dict[str, str]) -> None:
    done = started(["ask", KOREAN, "--json"], flags, more)
    run = Run.from_json(done.stdout.decode("utf-8"))
    assert run.goal == KOREAN and run.status == "done"


def test_a_closed_pipe_is_no_stack_trace() -> None:
    command = [sys.executable, "-m", "agentkit", "ask", GOAL]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        said = process.stderr.read()
    assert b"Traceback" not in said


def test_half_a_character_is_shown_not_raised() -> None:
    assert cli._readable("가".encode().decode("ascii", "surrogateescape")) == "가"
    assert cli._readable("\ud83d") == "?"
    assert cli._readable("plain 가") == "plain 가"
