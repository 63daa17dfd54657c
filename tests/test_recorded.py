"""Recording and replaying: what is written is read back, equal requests find their reply, and everything else is told."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import TOOLS, act, answer, bounded, call, histories, profile

from agentkit import (
    Agent,
    AskUser,
    DefinitionError,
    FinalAnswer,
    HumanModel,
    Memory,
    Message,
    ModelError,
    OfflineModel,
    Pause,
    ProviderError,
    Reply,
    ReplyError,
    Run,
    SavedRunError,
    ScriptedModel,
    TextDelta,
    ToolCall,
    ToolScore,
    ToolSpec,
    Usage,
    tool,
)
from agentkit.models import recorded as recorded_module
from agentkit.models._cassette import SCHEMA, outcome_text, read_cassette, request_of
from agentkit.models.recorded import RecordedModel, Recorder, record

DAY = date(2026, 10, 13)
SCRIPT = (
    Reply(act(call("look", key="a"), thought="I look."), Usage(10, 5, 2, 0.001)),
    Reply(act(call("save", name="a", value=2), thought="I save."), Usage(20, 6, 0, None)),
    Reply(FinalAnswer("Done.", "It is a, 한글."), None, (ToolScore("n", "look", 0.5, 1.0),), {"anthropic": [{"type": "thinking"}]}),
)  # fmt: skip
GOAL = "What is a?"


class Streaming:
    """A scripted model that streams its final text in pieces."""

    name = "streaming"

    def __init__(self, *decisions: Any) -> None:
        self.script = ScriptedModel(decisions)

    def decide(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Reply | Pause:
        return self.script.decide(messages, tools)

    def stream(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Iterator[TextDelta | Reply | Pause]:
        reply = self.decide(messages, tools)
        if isinstance(reply, Reply) and isinstance(reply.decision, FinalAnswer):
            for word in reply.decision.text.split(" "):
                yield TextDelta(word + " ")
        yield reply


class Failing:
    """A model that fails a number of times and then answers."""

    def __init__(self, *errors: Exception, say: str = "Here.") -> None:
        self.errors = list(errors)
        self.say = say

    def decide(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Reply:
        if self.errors:
            raise self.errors.pop(0)
        return Reply(FinalAnswer("", self.say))


def recorded_run(path: Path, script: Sequence[Any] = SCRIPT, goal: str = GOAL, **options: Any) -> Run:
    model = record(ScriptedModel(script), path, today=DAY, **options)
    return Agent(model, TOOLS, system="Be brief.", ids=lambda: "id").run(goal)


def replayed(path: Path, goal: str = GOAL, mode: Any = "strict", tools: Any = TOOLS, system: str = "Be brief.") -> Run:
    return Agent(RecordedModel(path, mode), tools, system=system, ids=lambda: "id").run(goal)


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


class TestFile:
    def test_the_first_line_says_what_it_is(self, tmp_path: Path) -> None:
        recorded_run(tmp_path / "c.jsonl", note="For class 3.")
        assert lines(tmp_path / "c.jsonl")[0] == {
            "schema": SCHEMA, "model": "ScriptedModel", "recorded": "2026-10-13", "note": "For class 3.",
        }  # fmt: skip

    def test_a_line_holds_only_what_is_new(self, tmp_path: Path) -> None:
        recorded_run(tmp_path / "c.jsonl")
        first, second, third = lines(tmp_path / "c.jsonl")[1:]
        assert first["request"]["keeps"] == 0 and len(first["request"]["tools"]) == len(TOOLS)
        assert [m["role"] for m in first["request"]["messages"]] == ["system", "user"]
        assert second["request"]["keeps"] == 2 and "tools" not in second["request"]
        assert [m["role"] for m in second["request"]["messages"]] == ["assistant", "tool"]
        assert third["request"]["keeps"] == 4

    def test_a_line_is_readable(self, tmp_path: Path) -> None:
        recorded_run(tmp_path / "c.jsonl")
        text = (tmp_path / "c.jsonl").read_text(encoding="utf-8")
        assert "It is a, 한글." in text and "null" not in text.splitlines()[1].partition('"tools"')[0]
        assert lines(tmp_path / "c.jsonl")[1]["reply"]["decision"]["calls"] == [
            {"name": "look", "arguments": {"key": "a"}}
        ]

    def test_the_size_is_linear_in_the_steps(self, tmp_path: Path) -> None:
        sizes = []
        for steps in (20, 40):
            path = tmp_path / f"{steps}.jsonl"
            recorded_run(path, [*[act(call("look", key=f"{n:03}")) for n in range(steps - 1)], answer()])
            sizes.append(path.stat().st_size)
        assert sizes[1] < 2.1 * sizes[0]

    def test_nothing_is_written_before_the_first_exchange(self, tmp_path: Path) -> None:
        made = record(OfflineModel(), tmp_path / "deep" / "c.jsonl")
        assert not (tmp_path / "deep").exists() and repr(made) == "Recorder(OfflineModel, 'c.jsonl')"

    def test_every_line_is_there_at_once(self, tmp_path: Path) -> None:
        path, seen = tmp_path / "c.jsonl", []

        @tool
        def spy() -> str:
            """Look at the file."""
            seen.append(len(read_cassette(path).exchanges))
            return "x"

        model = record(ScriptedModel([act(call("spy")), act(call("spy")), answer()]), path)
        Agent(model, [spy]).run("go")
        assert seen == [1, 2] and len(read_cassette(path).exchanges) == 3

    def test_the_model_is_named_by_its_name_and_model(self, tmp_path: Path) -> None:
        model = Failing()
        model.name, model.model = "openai", "some-model"  # type: ignore[attr-defined]
        record(model, tmp_path / "c.jsonl").decide([Message("user", "x")], [])
        assert read_cassette(tmp_path / "c.jsonl").model == "openai:some-model"


class TestReplay:
    def test_the_same_run_comes_out(self, tmp_path: Path) -> None:
        before = recorded_run(tmp_path / "c.jsonl")
        after = replayed(tmp_path / "c.jsonl")
        assert after == before and after.stop_reason == "answered" and after.usage.cost is None
        assert after.steps[2].reply == SCRIPT[2]

    def test_it_keeps_no_count(self, tmp_path: Path) -> None:
        recorded_run(tmp_path / "c.jsonl")
        agent = Agent(RecordedModel(tmp_path / "c.jsonl"), TOOLS, system="Be brief.", ids=lambda: "id")
        assert agent.run(GOAL) == agent.run(GOAL) == asyncio.run(agent.arun(GOAL))

    def test_the_offline_model_under_a_window(self, tmp_path: Path) -> None:
        options = {"system": "s", "memory": Memory(max_messages=5), "ids": lambda: "id"}
        goal = "Look at the key a, then at b, then at c."
        before = Agent(record(OfflineModel(), tmp_path / "c.jsonl"), TOOLS, **options).run(goal)
        assert Agent(RecordedModel(tmp_path / "c.jsonl"), TOOLS, **options).run(goal) == before

    def test_all_kinds_of_outcomes(self, tmp_path: Path) -> None:
        path = tmp_path / "c.jsonl"
        question = Agent(record(ScriptedModel([AskUser("Hm.", "Which?")]), path)).run("ask")
        assert Agent(RecordedModel(path)).run("ask").question == question.question == "Which?"
        human = tmp_path / "h.jsonl"
        asked = [Message("user", "x")]
        assert record(HumanModel(), human).decide(asked, []) == RecordedModel(human).decide(asked, [])

    @pytest.mark.parametrize(
        "error",
        [ProviderError("Wait.", code="rate_limit", status=429), ReplyError("No form."), ModelError("Lost."), ProviderError("No.")],
        ids=lambda error: type(error).__name__,
    )  # fmt: skip
    def test_errors_are_raised_again_as_they_were(self, tmp_path: Path, error: ModelError) -> None:
        path, asked = tmp_path / "c.jsonl", [Message("user", "x")]
        with pytest.raises(type(error)):
            record(Failing(error), path).decide(asked, [])
        for _ in range(2):
            with pytest.raises(type(error)) as caught:
                RecordedModel(path).decide(asked, [])
            assert str(caught.value) == str(error) and vars(caught.value) == vars(error)

    def test_a_reply_counts_more_than_the_error_before_it(self, tmp_path: Path) -> None:
        path, asked = tmp_path / "c.jsonl", [Message("user", "x")]
        model = record(Failing(ProviderError("Wait.", code="rate_limit")), path)
        with pytest.raises(ProviderError):
            model.decide(asked, [])
        model.decide(asked, [])
        assert RecordedModel(path).decide(asked, []) == Reply(FinalAnswer("", "Here."))

    def test_an_error_that_is_none_of_the_models_is_not_recorded(self, tmp_path: Path) -> None:
        with pytest.raises(ZeroDivisionError):
            record(Failing(ZeroDivisionError()), tmp_path / "c.jsonl").decide([Message("user", "x")], [])
        assert not (tmp_path / "c.jsonl").exists()

    @profile(60)
    @given(histories(), st.sampled_from([TOOLS[:0], TOOLS[:2], TOOLS]))
    def test_any_history_is_found_again(self, tmp_path_factory: Any, history: Any, tools: Any) -> None:
        path = tmp_path_factory.mktemp("c") / "c.jsonl"
        specs = [item.spec for item in tools]
        record(Failing(), path).decide(history, specs)
        record(Failing(say="2"), path).decide(history[:1], specs)
        assert RecordedModel(path).decide(history, specs) == Reply(FinalAnswer("", "Here."))
        found = read_cassette(path)
        assert found.whole and found.exchanges[0].request == request_of(history, specs)
        assert found.exchanges[1].request == request_of(history[:1], specs)


class TestStream:
    def test_the_pieces_are_replayed(self, tmp_path: Path) -> None:
        path, script = tmp_path / "c.jsonl", (act(call("look", key="a")), FinalAnswer("", "It is an a."))
        before = list(Agent(record(Streaming(*script), path), TOOLS).stream(GOAL))
        after = list(Agent(RecordedModel(path), TOOLS).stream(GOAL))
        assert after == before and [e.text for e in after if isinstance(e, TextDelta)] == ["It ", "is ", "an ", "a. "]
        assert [line.get("deltas") for line in lines(path)[1:]] == [[], ["It ", "is ", "an ", "a. "]]

    def test_a_model_without_a_stream(self, tmp_path: Path) -> None:
        path = tmp_path / "c.jsonl"
        before = list(Agent(record(ScriptedModel([answer()]), path)).stream(GOAL))
        assert list(Agent(RecordedModel(path)).stream(GOAL)) == before and len(before) == 1
        assert "deltas" not in lines(path)[1]

    def test_a_stream_finds_the_exchange_with_pieces(self, tmp_path: Path) -> None:
        path, asked = tmp_path / "c.jsonl", [Message("user", "x")]
        model = record(Streaming(answer("One two.")), path)
        assert [model.decide(asked, []), *model.stream(asked, [])][-1] == model.decide(asked, [])
        assert len(lines(path)) == 3
        assert len(list(RecordedModel(path).stream(asked, []))) == 3

    def test_a_stream_that_nobody_finished_is_not_recorded(self, tmp_path: Path) -> None:
        stream = record(Streaming(answer("One two.")), tmp_path / "c.jsonl").stream([Message("user", "x")], [])
        next(stream)
        stream.close()  # type: ignore[attr-defined]
        assert not (tmp_path / "c.jsonl").exists()

    def test_a_stream_that_broke_is_replayed_as_far_as_it_came(self, tmp_path: Path) -> None:
        class Breaking(Streaming):
            def stream(self, messages: Any, tools: Any) -> Iterator[Any]:
                yield TextDelta("One ")
                raise ProviderError("The stream ended too early.", code="interrupted")

        path, asked = tmp_path / "c.jsonl", [Message("user", "x")]
        for model_of in (lambda: record(Breaking(), path), lambda: RecordedModel(path)):
            model, pieces = model_of(), []
            with pytest.raises(ProviderError, match="too early"):
                for item in model.stream(asked, []):
                    pieces.append(item)
            assert pieces == [TextDelta("One ")]


class TestNotRecorded:
    """What was not recorded is told, with what differs from the nearest exchange."""

    def refused(self, path: Path, **options: Any) -> str:
        run = replayed(path, **options)
        assert run.status == "stopped" and run.stop_reason == "model_error" and run.error
        return run.error

    def test_another_goal(self, tmp_path: Path) -> None:
        recorded_run(tmp_path / "c.jsonl")
        error = self.refused(tmp_path / "c.jsonl", goal="What is b?")
        assert error.startswith(
            "This request was not recorded in 'c.jsonl'. The nearest is exchange 1 of 3: message 2 (user)"
        )
        assert 'differs in its text: now "What is b?", recorded "What is a?".' in error and 'mode="position"' in error

    def test_another_system_prompt(self, tmp_path: Path) -> None:
        recorded_run(tmp_path / "c.jsonl")
        assert "message 1 (system) differs in its text" in self.refused(tmp_path / "c.jsonl", system="Be long.")

    def test_another_observation(self, tmp_path: Path) -> None:
        @tool(name="look", description=TOOLS[0].description)
        def other(key: str, day: date | None = None) -> dict[str, Any]:
            return {"key": key, "day": "changed"}

        other_tools = [replace_tool(item, other) for item in TOOLS]
        recorded_run(tmp_path / "c.jsonl")
        error = self.refused(tmp_path / "c.jsonl", tools=other_tools)
        assert "exchange 2 of 3: message 4 (tool) differs in its result: now" in error and "changed" in error

    @pytest.mark.parametrize(
        ("change", "said"),
        [
            (lambda specs: specs[1:], "the tool 'look' is missing."),
            (lambda specs: [*specs, ToolSpec("new", "New.", {})], "the tool 'new' was not there."),
            (lambda specs: [replace(specs[0], description="Other."), *specs[1:]], "the description of the tool 'look' differs."),
            (lambda specs: [replace(specs[0], parameters={}), *specs[1:]], "the parameters of the tool 'look' differ"),
            (lambda specs: specs[::-1], "the tools stand in another order."),
        ],
        ids=["missing", "new", "description", "parameters", "order"],
    )  # fmt: skip
    def test_other_tools(self, tmp_path: Path, change: Any, said: str) -> None:
        specs, asked = [item.spec for item in TOOLS], [Message("user", "x")]
        record(Failing(), tmp_path / "c.jsonl").decide(asked, specs)
        with pytest.raises(ProviderError) as caught:
            RecordedModel(tmp_path / "c.jsonl").decide(asked, change(specs))
        assert caught.value.code == "not_recorded" and said in str(caught.value)

    def test_a_longer_history_and_a_long_text(self, tmp_path: Path) -> None:
        record(Failing(), tmp_path / "c.jsonl").decide([Message("user", "x" * 500 + "one")], [])
        model = RecordedModel(tmp_path / "c.jsonl")
        with pytest.raises(ProviderError, match=r"has 2 messages, the recorded one has 1\."):
            model.decide([Message("user", "x" * 500 + "one"), Message("user", "y")], [])
        with pytest.raises(ProviderError, match=r'now "x{20}two", recorded "x{20}one"'):
            model.decide([Message("user", "x" * 500 + "two")], [])

    def test_an_empty_cassette(self, tmp_path: Path) -> None:
        (tmp_path / "c.jsonl").write_text(json.dumps({"schema": SCHEMA}) + "\n", encoding="utf-8")
        with pytest.raises(ProviderError, match="no exchange at all"):
            RecordedModel(tmp_path / "c.jsonl").decide([Message("user", "x")], [])


def replace_tool(item: Any, other: Any) -> Any:
    return other if item.name == other.name else item


class TestPosition:
    def test_changed_tools_and_observations_are_replayed_all_the_same(self, tmp_path: Path) -> None:
        recorded_run(tmp_path / "c.jsonl")
        run = replayed(tmp_path / "c.jsonl", goal="Something else?", mode="position", tools=TOOLS[:1], system="")
        assert run.answer == "It is a, 한글." and len(run.steps) == 3
        error = run.steps[1].results[0].error
        assert error is not None and error.code == "unknown_tool"

    def test_several_goals_are_told_apart(self, tmp_path: Path) -> None:
        for goal, text in (("One?", "1"), ("Two?", "2")):
            recorded_run(tmp_path / "c.jsonl", [act(call("look", key=text)), answer(text)], goal=goal)
        assert replayed(tmp_path / "c.jsonl", goal="Two?", mode="position", tools=()).answer == "2"
        assert replayed(tmp_path / "c.jsonl", goal="One?", mode="position", tools=()).answer == "1"
        error = replayed(tmp_path / "c.jsonl", goal="Ono?", mode="position").error or ""
        assert "Did you mean 'One?'" in error and '"One?", "Two?"' in error

    def test_a_run_that_goes_on_longer_than_the_recording(self, tmp_path: Path) -> None:
        recorded_run(tmp_path / "c.jsonl", [act(call("look", key="a")), act(call("look", key="b"))])
        error = replayed(tmp_path / "c.jsonl", mode="position").error or ""
        assert "the script holds 2" in error  # the recorded end of the run is replayed, too
        (tmp_path / "d.jsonl").write_text(
            "".join((tmp_path / "c.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)[:2]), encoding="utf-8"
        )
        error = replayed(tmp_path / "d.jsonl", mode="position").error or ""
        assert "The recording has 1 request for this goal, and this is number 2." in error

    def test_an_unknown_mode(self, tmp_path: Path) -> None:
        recorded_run(tmp_path / "c.jsonl")
        with pytest.raises(DefinitionError, match="strict"):
            RecordedModel(tmp_path / "c.jsonl", "loose")  # type: ignore[arg-type]


class TestGoingOn:
    def test_the_same_cell_twice_writes_nothing_twice(self, tmp_path: Path) -> None:
        recorded_run(tmp_path / "c.jsonl")
        before = (tmp_path / "c.jsonl").read_bytes()
        recorded_run(tmp_path / "c.jsonl")
        assert (tmp_path / "c.jsonl").read_bytes() == before

    def test_new_goals_are_added(self, tmp_path: Path) -> None:
        recorded_run(tmp_path / "c.jsonl")
        recorded_run(tmp_path / "c.jsonl", goal="And b?")
        assert len(lines(tmp_path / "c.jsonl")) == 7
        assert replayed(tmp_path / "c.jsonl").answer and replayed(tmp_path / "c.jsonl", goal="And b?").answer

    def test_another_model_is_refused(self, tmp_path: Path) -> None:
        recorded_run(tmp_path / "c.jsonl")
        with pytest.raises(DefinitionError, match="recorded with the model 'ScriptedModel', not with 'OfflineModel'"):
            record(OfflineModel(), tmp_path / "c.jsonl")

    def test_a_file_of_another_kind_is_not_touched(self, tmp_path: Path) -> None:
        (tmp_path / "c.jsonl").write_text("my notes\n", encoding="utf-8")
        with pytest.raises(SavedRunError, match="is no cassette"):
            record(OfflineModel(), tmp_path / "c.jsonl")
        assert (tmp_path / "c.jsonl").read_text(encoding="utf-8") == "my notes\n"

    def test_many_threads_write_whole_lines(self, tmp_path: Path) -> None:
        model = record(Failing(), tmp_path / "c.jsonl")
        start = threading.Barrier(8)

        def go(number: int) -> None:
            start.wait()
            for turn in range(10):
                model.decide([Message("user", f"{number} {turn}" * 50)], [])

        threads = [threading.Thread(target=go, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        bounded(lambda: [thread.join() for thread in threads])
        found = read_cassette(tmp_path / "c.jsonl")
        assert found.whole and len({exchange.request.key for exchange in found.exchanges}) == 80

    def test_lines_are_made_one_at_a_time(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        model, write = record(Failing(), tmp_path / "c.jsonl"), recorded_module.exchange_line

        def watched(*arguments: Any) -> str:
            assert model._lock.locked()
            return write(*arguments)

        monkeypatch.setattr(recorded_module, "exchange_line", watched)
        model.decide([Message("user", "x")], [])
        assert len(lines(tmp_path / "c.jsonl")) == 2

    def test_async_models_with_and_without_their_own_method(self, tmp_path: Path) -> None:
        class Async(Failing):
            async def adecide(self, messages: Any, tools: Any) -> Reply:
                return self.decide(messages, tools)

        for number, kind in enumerate((Async, Failing)):
            path = tmp_path / f"{number}.jsonl"
            run = asyncio.run(Agent(record(kind(), path)).arun("x"))
            with pytest.raises(ReplyError):
                asyncio.run(record(kind(ReplyError("No.")), path).adecide([Message("user", "y")], []))
            assert run.answer == "Here." and len(lines(path)) == 3


class TestDamage:
    @pytest.mark.parametrize("cut", [1, 5, 40])
    def test_a_half_last_line_is_told_and_left_out(self, tmp_path: Path, cut: int) -> None:
        path = tmp_path / "c.jsonl"
        recorded_run(path)
        data = path.read_bytes()
        path.write_bytes(data[:-cut] if cut > 1 else data[:-2])
        with pytest.warns(UserWarning, match="last line of the cassette 'c.jsonl' is cut off") as told:
            run = replayed(path)
        assert told[0].filename == __file__
        assert len(run.steps) == 2 and "The last line of the file is cut off" in (run.error or "")

    def test_recording_goes_on_after_a_half_line(self, tmp_path: Path) -> None:
        path = tmp_path / "c.jsonl"
        recorded_run(path)
        whole = path.read_bytes()
        path.write_bytes(whole[:-30])
        with pytest.warns(UserWarning, match="is removed"):
            recorded_run(path)
        assert path.read_bytes() == whole

    def test_a_cut_within_a_letter(self, tmp_path: Path) -> None:
        path = tmp_path / "c.jsonl"
        recorded_run(path)
        data = path.read_bytes()
        path.write_bytes(data[: data.index("한글".encode()) + 1])
        with pytest.warns(UserWarning):
            assert len(read_cassette(path).exchanges) == 2 and not RecordedModel(path).cassette.whole

    def test_an_editor_took_the_last_line_end(self, tmp_path: Path) -> None:
        path = tmp_path / "c.jsonl"
        recorded_run(path)
        path.write_bytes(path.read_bytes().rstrip(b"\n"))
        assert replayed(path).status == "done"
        recorded_run(path, goal="And b?")
        assert replayed(path, goal="And b?").status == "done"

    def test_windows_line_ends(self, tmp_path: Path) -> None:
        path = tmp_path / "c.jsonl"
        recorded_run(path)
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
        assert replayed(path).status == "done"

    @pytest.mark.parametrize(
        "damage", ["{", '"x"', "[]", "{}", '{"request": {}}', '{"request": {"keeps": 9, "messages": []}, "reply": {}}',
                   '{"request": {"keeps": 0, "messages": [], "tools": []}, "reply": {"decision": {"thought": 1}}}',
                   '{"request": {"keeps": 0, "messages": [], "tools": []}}', '{"request": {"keeps": "x", "messages": []}}'],
    )  # fmt: skip
    def test_a_damaged_line_is_named(self, tmp_path: Path, damage: str) -> None:
        path = tmp_path / "c.jsonl"
        recorded_run(path)
        head, first, *rest = path.read_text(encoding="utf-8").splitlines()
        path.write_text("\n".join([head, first, damage, *rest]) + "\n", encoding="utf-8")
        with pytest.raises(SavedRunError, match=r"Line 3 of the cassette 'c\.jsonl' is damaged"):
            RecordedModel(path)

    def test_no_file_a_folder_and_a_newer_schema(self, tmp_path: Path) -> None:
        with pytest.raises(SavedRunError, match="There is no file"):
            RecordedModel(tmp_path / "c.jsonl")
        with pytest.raises(SavedRunError, match="cannot be read"):
            RecordedModel(tmp_path)
        (tmp_path / "c.jsonl").write_text('{"schema": "agentkit.cassette/2"}\n', encoding="utf-8")
        with pytest.raises(SavedRunError, match=r"agentkit\.cassette/2, but this version reads agentkit\.cassette/1"):
            RecordedModel(tmp_path / "c.jsonl")


SECRET = "sk-" + "a1b2c3d4" * 4


class TestSecrets:
    def test_op_02_op_04_no_secret_is_written_anywhere(self, tmp_path: Path) -> None:
        path = tmp_path / "c.jsonl"
        spec = ToolSpec(
            f"t {SECRET}", SECRET, {"properties": {"token": {"type": "string", "default": "hunter2hunter2"}}}
        )
        asked = [Message("system", f"key={SECRET}"), Message("user", SECRET)]
        reply = Reply(
            act(ToolCall("look", {"password": "hunter2hunter2", "key": SECRET}), thought=SECRET), provider={"x": SECRET}
        )
        record(ScriptedModel([reply]), path, note=SECRET).decide(asked, [spec])
        failing = record(Failing(ProviderError(f"Wrong key {SECRET}.")), tmp_path / "e.jsonl")
        with pytest.raises(ProviderError):
            failing.decide(asked, [])
        assert SECRET not in (tmp_path / "e.jsonl").read_text(encoding="utf-8")
        text = path.read_text(encoding="utf-8")
        assert (
            SECRET not in text
            and "hunter2" not in text
            and '"token": {"type": "string", "default": "[secret]"}' in text
        )

    def test_a_secret_that_is_spread_over_pieces(self, tmp_path: Path) -> None:
        class Leaking(Streaming):
            def stream(self, messages: Any, tools: Any) -> Iterator[Any]:
                yield from (TextDelta(SECRET[:5]), TextDelta(SECRET[5:]), Reply(FinalAnswer("", SECRET)))

        path, asked = tmp_path / "c.jsonl", [Message("user", "x")]
        list(record(Leaking(), path).stream(asked, []))
        assert SECRET[8:] not in path.read_text(encoding="utf-8")
        assert list(RecordedModel(path).stream(asked, [])) == [
            TextDelta("[secret]"),
            Reply(FinalAnswer("", "[secret]")),
        ]

    def test_a_run_with_secrets_is_replayed_with_the_real_ones_in_the_goal(self, tmp_path: Path) -> None:
        path, goal = tmp_path / "c.jsonl", f"My key is {SECRET}, what is a?"
        script = [act(ToolCall("look", {"key": SECRET}), thought=f"The key is {SECRET}."), answer()]
        recorded_run(path, script, goal=goal)
        assert replayed(path, goal=goal).status == "done"

    @profile(150)
    @given(st.lists(st.sampled_from([SECRET, "key=", "Bearer ", "token: ", '"', "'", " ", "a1", "://u:p@h", "password", ";", "\n", "Authorization: Basic "]), max_size=8).map("".join))  # fmt: skip
    def test_masking_twice_is_masking_once(self, text: str) -> None:
        once = request_of([Message("user", text)], []).messages[0].get("text", "")
        assert request_of([Message("user", once)], []).messages[0].get("text", "") == once


def test_equal_outcomes_have_equal_texts() -> None:
    assert (
        outcome_text(Reply(answer()), None) == outcome_text(Reply(answer()), None) != outcome_text(Reply(answer()), [])
    )
    assert isinstance(record(OfflineModel(), "x.jsonl"), Recorder)
