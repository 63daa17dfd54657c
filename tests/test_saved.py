"""A saved run comes back equal, or a sentence says why not; and a file is the old one or the whole new one."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import act, agent, answer, call, json_values, profile

from agentkit import Reply, Run, SavedRunError, ToolScore, Usage


def sample() -> Run:
    scores = (ToolScore("need", "look", 0.5, 1.0),)
    first = Reply(
        act(call("look", key="한국어 🔥")), Usage(3, 4, 1, None), scores, {"anthropic": [{"type": "thinking"}]}
    )
    return agent(first, act(call("broken"), call("nope")), answer("끝.")).run("무엇?")


def refused(text: str) -> str:
    with pytest.raises(SavedRunError) as caught:
        Run.from_json(text)
    sentence = str(caught.value)
    assert (
        sentence.endswith(".")
        and "Traceback" not in sentence
        and "pydantic" not in sentence
        and "https" not in sentence
    )
    return sentence


class TestThereAndBack:
    def test_every_field_comes_back(self) -> None:
        run = sample()
        text = run.to_json()
        again = Run.from_json(text)
        assert again == run and again.to_json() == text and type(again.steps) is tuple
        assert again.steps[0].reply == run.steps[0].reply and again.usage.cost is None
        assert json.loads(text)["schema"] == "agentkit.run/1" and "한국어" in text

    @pytest.mark.parametrize("make", ["paused", "approval", "stopped"])
    def test_runs_that_are_not_done(self, make: str) -> None:
        scripts = {"paused": [], "approval": [act(call("wipe", what="x"))], "stopped": [answer(""), answer("")]}
        run = agent(*scripts[make]).run("go")
        assert run.status != "done" and Run.from_json(run.to_json()) == run

    @profile(60)
    @given(json_values, st.text(max_size=20))
    def test_any_data(self, value: Any, text: str) -> None:
        run = agent(act(call("look", key=text)), answer(text or "x")).run("go")
        branch = run.fork(1, observations={"call_1": value})
        assert Run.from_json(branch.to_json()) == branch

    def test_a_name_with_letters_of_any_kind_in_a_new_folder(self, tmp_path: Path) -> None:
        path = sample().save(tmp_path / "새 폴더" / "실행 1.json")
        assert Run.load(path) == sample() == Run.load(str(path))
        assert [p.name for p in path.parent.iterdir()] == ["실행 1.json"]


class TestDamaged:
    @pytest.mark.parametrize("part", [0.0, 0.1, 0.5, 0.99])
    def test_half_written(self, part: float) -> None:
        text = sample().to_json()
        assert "not complete JSON" in refused(text[: int(len(text) * part)])

    @pytest.mark.parametrize(
        "text", ["{}", "[]", "null", "5", '"text"', '{"run": {}}', '{"schema": 1}', '{"schema": "other/1"}']
    )
    def test_other_json(self, text: str) -> None:
        assert "not a saved run" in refused(text)

    @pytest.mark.parametrize("version", ["agentkit.run/0", "agentkit.run/2", "agentkit.run/", "agentkit.run/1.5"])
    def test_another_version(self, version: str) -> None:
        document = {**json.loads(sample().to_json()), "schema": version}
        sentence = refused(json.dumps(document))
        assert version in sentence and "agentkit.run/1" in sentence

    @pytest.mark.parametrize(
        ("place", "value"),
        [
            (["run"], None), (["run"], []), (["run", "status"], "finished"), (["run", "messages"], "none"), (["run", "messages", 0, "role"], "robot"),
            (["run", "steps", 0, "reply", "decision"], {"nothing": 1}), (["run", "steps", 0, "number"], "one"), (["run", "goal"], None),
            (["run", "messages", 1, "calls", 0, "arguments"], 5), (["run", "usage", "input_tokens"], "many"),
        ],
    )  # fmt: skip
    def test_a_wrong_value_is_located(self, place: list[Any], value: Any) -> None:
        document = json.loads(sample().to_json())
        inner = document
        for key in place[:-1]:
            inner = inner[key]
        inner[place[-1]] = value
        sentence = refused(json.dumps(document))
        assert "damaged at" in sentence and all(str(key) in sentence for key in place[1:3])

    def test_a_field_that_is_missing(self) -> None:
        document = json.loads(sample().to_json())
        del document["run"]["messages"]
        assert "messages" in refused(json.dumps(document))

    def test_fields_that_a_later_version_added_are_left_out(self) -> None:
        document = json.loads(sample().to_json())
        document["comment"] = document["run"]["mood"] = document["run"]["messages"][0]["colour"] = "blue"
        document["run"]["steps"][0]["reply"]["decision"]["weight"] = 1
        assert Run.from_json(json.dumps(document)) == sample()

    @profile(60)
    @given(st.integers(0, 10_000), st.sampled_from(["", "x", '"', "{", "]", "null", "0", "\x00", "한"]))
    def test_any_change_of_the_text_is_a_run_or_a_sentence(self, place: int, piece: str) -> None:
        text = sample().to_json()
        place %= len(text)
        try:
            Run.from_json(text[:place] + piece + text[place + 1 :])
        except SavedRunError as error:
            assert str(error).endswith(".")

    @pytest.mark.parametrize(
        "text", ["[" * 100_000, '{"schema": "agentkit.run/1", "run": ' + '{"a":' * 50_000, "9" * 10_000]
    )
    def test_deep_and_large(self, text: str) -> None:
        refused(text)


class TestFiles:
    def test_no_file_a_folder_and_no_text(self, tmp_path: Path) -> None:
        (tmp_path / "bytes.json").write_bytes(b"\xff\xfe\x00")
        (tmp_path / "folder").mkdir()
        for name, words in (
            ("nothing.json", "no file 'nothing.json'"),
            ("bytes.json", "bytes.json"),
            ("folder", "folder"),
        ):
            with pytest.raises(SavedRunError, match=words) as caught:
                Run.load(tmp_path / name)
            assert str(tmp_path) not in str(caught.value)

    @pytest.mark.parametrize("step", ["write", "fsync", "replace"])
    def test_a_failure_leaves_the_old_file_and_nothing_else(
        self, step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / "run.json"
        agent(answer("old")).run("go").save(path)
        before = path.read_bytes()

        def fail(*_: Any, **__: Any) -> Any:
            raise OSError("the disk is full")

        if step == "write":  # a text that cannot be written as UTF-8 fails in the middle
            with pytest.raises(ValueError):
                from agentkit._saved import write_whole

                write_whole(path, "x" * 100_000 + "\ud83d")
        else:
            monkeypatch.setattr(os, step, fail)
            with pytest.raises(OSError, match="disk is full"):
                sample().save(path)
        assert path.read_bytes() == before and [p.name for p in tmp_path.iterdir()] == ["run.json"]

    def test_the_new_file_is_whole_before_it_takes_the_place(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        seen: list[str] = []
        replace = os.replace

        def watch(source: Any, target: Any) -> None:
            seen.append(Path(source).read_text(encoding="utf-8"))
            replace(source, target)

        monkeypatch.setattr(os, "replace", watch)
        run = sample()
        path = run.save(tmp_path / "run.json")
        assert seen == [run.to_json()] and b"\r" not in path.read_bytes()
