"""What has gone wrong in other people's agents, in schemas, registries and arguments: one test for each report.

The name of a test begins with the number of the report; its trigger is the one that was reported. The reports on loops,
memory, notebooks and widgets are in the files beside it, whose names begin like this one.
"""

from __future__ import annotations

import json
import re
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from jsonschema import Draft202012Validator
from pydantic import BaseModel, Field
from strategies import act, agent, answer, python

from agentkit import DefinitionError, Registry, Run, ToolCall, ToolResult, tool
from agentkit._docstring import read_docstring
from agentkit._strict import strict_form


def run(function: Any, arguments: Any, **options: Any) -> ToolResult:
    made = tool(function)
    return Registry([made]).call(ToolCall(made.name, arguments, "c1", **options))


def failure(result: ToolResult) -> tuple[str, str]:
    assert result.error is not None
    return result.error.code, result.error.message


def f(city: str, unit: str = "C") -> str:
    """Weather."""
    return city + unit


def guide() -> str:
    """A guide."""
    return "guide"


# --- schema ----------------------------------------------------------------------------------------------------------


def test_sc_01_strict_is_claimed_only_for_strict_schemas() -> None:
    sent = Registry([f]).openai()[0]["function"]
    assert sent["strict"] is True and sent["parameters"]["required"] == ["city", "unit"]
    assert sent["parameters"]["additionalProperties"] is False
    assert run(f, {"city": "Seoul", "unit": None}).data == "SeoulC"


def test_sc_04_free_keys_are_not_strict_and_keyword_parameters_are_refused() -> None:
    def free(data: dict[str, Any]) -> None:
        """Free."""

    def starred(**data: Any) -> None:
        """Starred."""

    made = tool(free)
    assert (
        not made.strict and "data" in made.strict_reason and Registry([made]).openai()[0]["function"]["strict"] is False
    )
    with pytest.raises(DefinitionError, match="data"):
        tool(starred)


def test_sc_05_string_hints_and_local_classes_are_resolved() -> None:
    class Local(BaseModel):
        x: int

    def g(one: Local, n: Annotated[int, Field(description="How many.")]) -> int:
        """Text."""
        return one.x + n

    assert isinstance(g.__annotations__["one"], str)  # the future import is on in this file
    made = tool(g)
    assert made.parameters["properties"]["n"] == {"type": "integer", "description": "How many."}
    assert run(g, {"one": {"x": 1}, "n": 2}).data == 3


class Node(BaseModel):
    children: list[Node] = []


def test_sc_06_a_recursive_model_keeps_its_reference() -> None:
    def g(node: Node) -> int:
        """Text."""
        return len(node.children)

    made = tool(g)
    for schema in (made.parameters, made.strict_parameters):
        assert schema is not None and "$ref" in json.dumps(schema) and "Node" in schema["$defs"]
        Draft202012Validator.check_schema(schema)
    assert run(g, {"node": {"children": [{"children": [{}]}, {}]}}).data == 2


def test_sc_07_a_description_beside_a_reference_is_kept_and_the_reference_resolves() -> None:
    def g(node: Annotated[Node, Field(description="The root.")]) -> None:
        """Text."""

    made = tool(g)
    assert "The root." in json.dumps(made.parameters)
    strict = made.strict_parameters
    assert strict is not None and strict["properties"]["node"] == {
        "anyOf": [{"$ref": "#/$defs/Node"}], "description": "The root.",
    }  # fmt: skip
    assert Draft202012Validator(strict).is_valid({"node": {"children": [{"children": None}]}})
    assert not Draft202012Validator(strict).is_valid({"node": 5})
    inner = {"allOf": [{"$ref": "#/$defs/N"}], "description": "x"}
    foreign = {"type": "object", "properties": {"n": inner}, "$defs": {"N": {"type": "string"}}}
    converted, reason = strict_form(foreign)
    assert reason if converted is None else "x" in json.dumps(converted)


def test_sc_09_a_description_of_several_lines_is_kept_whole() -> None:
    google = "Text.\n\nArgs:\n    mode (str): One of:\n        - fast\n        - deep\n    plain: Untyped.\n"
    numpy = "Text.\n\nParameters\n----------\nmode : str\n    One of:\n    - fast\n    - deep\nplain\n    Untyped.\n"
    sphinx = "Text.\n\n:param str mode: One of:\n    - fast\n    - deep\n:param plain: Untyped.\n"
    for text in (google, numpy, sphinx):
        words = read_docstring(text)[1]
        assert words["mode"].split() == ["One", "of:", "-", "fast", "-", "deep"] and words["plain"] == "Untyped."


def test_sc_10_a_section_ends_by_indentation_and_not_by_a_colon() -> None:
    words = read_docstring("Text.\n\nArgs:\n  headers:\n      Optional dict.\n  timeout: seconds\n")[1]
    assert words == {"headers": "Optional dict.", "timeout": "seconds"}
    assert read_docstring("Text.\n\nArgs:\n    a: Such as:\n    b: Second.\n")[1]["b"] == "Second."


def test_sc_11_a_docstring_that_opens_with_its_parameters() -> None:
    assert read_docstring("Args:\n    to: Recipient.")[1] == {"to": "Recipient."}


class Priority(Enum):
    LOW = "low"
    HIGH = "high"


def test_sc_12_a_choice_that_may_be_null_says_so() -> None:
    def g(p: Priority | None, q: Literal["a", "b"] | None) -> str:
        """Text."""
        return f"{p and p.value} {q}"

    made = tool(g)
    assert made.parameters["required"] == ["p", "q"]
    for schema in (made.parameters, made.strict_parameters):
        valid = Draft202012Validator(schema).is_valid
        assert valid({"p": None, "q": None}) and valid({"p": "low", "q": "b"})
        assert not valid({"p": "none", "q": None}) and not valid({"p": "low"})
    assert run(g, {"p": None, "q": "a"}).data == "None a" and not run(g, {"q": "a"}).ok


# --- registry --------------------------------------------------------------------------------------------------------


def test_rg_01_an_invented_wrapper_tool_is_answered_with_the_valid_names() -> None:
    uses = {"tool_uses": [{"recipient_name": "functions.read", "parameters": {"path": "a"}}]}
    code, message = failure(Registry([f, guide]).call(ToolCall("multi_tool_use.parallel", uses, "c1")))
    assert code == "unknown_tool" and "The tools are: f, guide." in message


def test_rg_03_self_is_not_a_parameter() -> None:
    class T:
        base = 10

        @tool
        def g(self, x: int) -> int:
            """Text."""
            return self.base + x

        def h(self, x: int) -> int:
            """Text."""
            return self.base - x

    for made in (T().g, tool(T().h)):
        assert list(made.parameters["properties"]) == ["x"]
    registry = Registry([T().g, T().h])
    assert [registry.call(ToolCall(name, {"x": 1})).data for name in "gh"] == [11, 9]


@pytest.mark.parametrize("name", ["calendar.search", "Dockerfile problems scanner", "tool/名前", "a" * 65])
def test_rg_04_a_name_that_providers_refuse_is_mapped_and_mapped_back(name: str) -> None:
    registry = Registry([tool(name=name)(guide)])
    for sent in (registry.openai()[0]["function"]["name"], registry.anthropic()[0]["name"]):
        assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", sent)
        assert registry.call(ToolCall(sent)) == ToolResult("", name, "guide")
    made = agent(act(ToolCall(registry.openai()[0]["function"]["name"])), answer(), tools=registry).run("go")
    assert made.steps[0].results[0].data == "guide"


# --- arguments -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", ["", "  \n", "null", "{}", {}, None])
def test_ar_01_no_arguments_in_any_form(arguments: Any) -> None:
    assert run(guide, arguments).data == "guide"


def test_ar_02_arguments_that_were_encoded_twice() -> None:
    def g(order_id: str) -> str:
        """Text."""
        return order_id

    assert run(g, '"{\\"order_id\\":\\"27422\\"}"').data == "27422"
    for wrong in ('"[1]"', '"5"', "[1]", "5"):
        code, message = failure(run(g, wrong))
        assert code == "bad_arguments" and "must be a JSON object" in message


def test_ar_05_a_call_that_was_cut_off_never_runs() -> None:
    ran: list[str] = []

    def write(path: str = "", content: str = "") -> None:
        """Write."""
        ran.append(path)

    for arguments in ('{"path":"x.py","content":"abc', {}, "{}"):
        result = run(write, arguments, truncated=True)
        code, message = failure(result)
        assert code == "truncated" and "cut off" in message and result.error and "smaller" in result.error.hint
    assert ran == []


def test_ar_07_json_that_is_wrong_but_whole_is_not_called_truncated() -> None:
    code, message = failure(run(f, '{"action": listt_windows"}'))
    assert code == "bad_json" and "not valid JSON" in message and "character 12" in message
    assert "cut off" not in message and "trunc" not in message


def test_ar_08_an_argument_name_that_does_not_exist_is_an_error_with_the_accepted_ones() -> None:
    ran: list[str] = []

    def read_doc(topic: str = "", limit: int = 5) -> None:
        """Read."""
        ran.append(topic)

    code, message = failure(run(read_doc, {"path": "x"}))
    assert code == "bad_arguments" and "path is not a parameter" in message and "topic, limit" in message and ran == []


def test_ar_09_a_tool_without_parameters_says_so_and_the_model_can_recover() -> None:
    code, message = failure(run(guide, {"reasoning_effort": "low"}))
    assert code == "bad_arguments" and "It takes no parameters." in message
    made = agent(act(ToolCall("guide", {"reasoning_effort": "low"})), act(ToolCall("guide")), answer(), tools=[guide])
    assert [step.results[0].ok for step in made.run("go").steps[:2]] == [False, True]


class Payload(BaseModel):
    amount: int


def test_ar_10_models_arrive_as_instances_wherever_they_stand() -> None:
    def pay(p: Payload, many: list[Payload], named: dict[str, Payload], maybe: Payload | None = None) -> int:
        """Pay."""
        return p.amount + many[0].amount + named["k"].amount + (maybe.amount if maybe else 0)

    one = {"amount": 1}
    assert run(pay, {"p": one, "many": [one], "named": {"k": one}, "maybe": one}).data == 4
    assert run(pay, {"p": one, "many": [one], "named": {"k": one}}).data == 3


# --- install ---------------------------------------------------------------------------------------------------------


def test_in_01_korean_text_survives_a_machine_that_is_not_set_to_utf_8(tmp_path: Path) -> None:
    code = r"""
import sys
from agentkit import Agent, FinalAnswer, OfflineModel, Run, ScriptedModel
run = Agent(ScriptedModel([FinalAnswer("\uc0dd\uac01", "\ud658\ubd88 \U0001f525")])).run("\ud658\ubd88?")
assert Run.load(run.save(sys.argv[1])) == run
assert Agent(OfflineModel()).run("\ud658\ubd88?").status
"""
    path = tmp_path / "실행.json"
    python(code, str(path), PYTHONUTF8="0", LC_ALL="C", LANG="C", PYTHONIOENCODING="cp949", PYTHONCOERCECLOCALE="0")
    assert Run.load(path).answer == "환불 🔥" and "환불".encode() in path.read_bytes()
