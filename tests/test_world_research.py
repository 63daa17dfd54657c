"""The world `research`: its texts, its search, its calculator and its tools."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from agentkit.errors import ToolError
from agentkit.messages import ToolCall, ToolResult
from agentkit.registry import Registry
from agentkit.safety import calculate as value_of
from agentkit.safety.calculator import LONGEST
from agentkit.worlds import research
from agentkit.worlds.research.make_data import build
from agentkit.worlds.research.search import DATA, Document, Index
from agentkit.worlds.research.words import terms_of


def call(name: str, **arguments: Any) -> ToolResult:
    return Registry(research.make_tools()).call(ToolCall(name, arguments, "call_1"))


def found(query: str) -> list[str]:
    return [each["document_id"] for each in call("search_documents", query=query).data["results"]]


# The texts


def test_the_stored_documents_are_those_that_the_script_makes(tmp_path: Path) -> None:
    build(tmp_path)
    assert (tmp_path / "documents.json").read_bytes() == (DATA / "documents.json").read_bytes()


def test_there_are_enough_documents_and_each_can_be_read() -> None:
    ids = [each.document_id for each in research.documents()]
    assert ids == [f"D{number:02}" for number in range(1, len(ids) + 1)]
    assert 40 <= len(ids) <= 45
    assert sum(each.language == "ko" for each in research.documents()) >= 6
    for each in research.documents():
        assert 3 <= len(each.sentences) <= 6 and each.topics, each.document_id
        assert all(re.search(r"[.]$", line) for line in each.sentences), each.document_id


def test_no_sentence_needs_the_one_before_it() -> None:
    """A passage is quoted alone, so it may not begin with a pronoun."""
    lines = [line for each in research.documents() for line in each.sentences]
    assert [line for line in lines if re.match(r"(?:It|Its|They|Their|This|These)\b", line)] == []


def test_two_documents_carry_a_hidden_instruction_and_no_tool_tells() -> None:
    injected = research.injected_documents()
    assert [each.document_id for each in injected] == ["D34", "D35"]
    for each in injected:
        assert each.hidden_instruction in each.sentences
        data = call("read_document", document_id=each.document_id).data
        assert each.hidden_instruction in data["text"]
        assert set(data) == {"document_id", "title", "language", "text"}


# Searching

SEARCHES = [
    ("FastAPI", "D03"),
    ("fastapi", "D03"),
    ("Djnago", "D02"),
    ("websockets", "D17"),
    ("prompt injections", "D31"),
    ("difference between WSGI and ASGI", "D06"),
    ("status code 429", "D11"),
    ("pass^k", "D32"),
    ("비동기", "D37"),
    ("에이전트는", "D39"),
    ("프롬프트주입", "D43"),
    ("FastAPI 기반", "D03"),
]


@pytest.mark.parametrize(("query", "document"), SEARCHES)
def test_the_best_document_comes_first(query: str, document: str) -> None:
    assert found(query)[0] == document


@pytest.mark.parametrize(
    "query",
    [
        "Kubernetes",
        "the price of hosting Django",
        "who wrote Django",
        "the meaning of life",
        "노벨상",
        "what is it",
        "?!",
        "42",
    ],
)
def test_what_the_documents_do_not_say_is_not_found(query: str) -> None:
    result = call("search_documents", query=query)
    assert result.ok and result.data == {"query": query, "count": 0, "results": []}


def test_a_result_names_its_document_and_quotes_it() -> None:
    data = call("search_documents", query="port of the Flask development server").data
    best = data["results"][0]
    assert set(best) == {"document_id", "title", "passage", "score"}
    text = call("read_document", document_id=best["document_id"]).data["text"]
    assert best["passage"] in text and "5000" in best["passage"]
    scores = [each["score"] for each in data["results"]]
    assert scores == sorted(scores, reverse=True) and data["count"] == len(scores)


def test_the_limit_holds() -> None:
    assert len(found("security attack")) > 1
    assert call("search_documents", query="security attack", limit=1).data["count"] == 1
    for limit in (0, 11):
        error = call("search_documents", query="x", limit=limit).error
        assert error is not None and error.code == "bad_arguments"
    error = call("search_documents", query="").error
    assert error is not None and error.code == "bad_arguments"


def test_an_index_of_other_documents() -> None:
    texts = ("Apples grow on trees.", "A pear is green.", "The apple is red and costs 3 coins.")
    index = Index([Document("X1", "Fruit", "en", ("fruit",), texts)])
    assert index.search("pear")[0].passage == "A pear is green."
    assert index.search("how many coins is an apple")[0].passage == texts[2]
    assert index.search("train") == [] and Index([]).search("apple") == []


def test_words_become_terms() -> None:
    assert terms_of("The frameworks' framework") == ["framework"]
    assert terms_of("에이전트는 무엇인가요") == ["에이", "이전", "전트"]
    assert terms_of("prevent") == terms_of("avoid")


# Reading


def test_a_document_that_does_not_exist() -> None:
    error = call("read_document", document_id="D99").error
    assert error is not None and (error.code, error.message) == ("not_found", "There is no document D99.")
    error = call("read_document", document_id="FastAPI").error
    assert error is not None and error.code == "bad_arguments"


# The calculator

VALUES = [
    ("1 + 2 * 3", 7), ("(1 + 2) * 3", 9), ("-2 ** 2", -4), ("10 / 4", 2.5), ("10 / 5", 2), ("7 // 2", 3), ("7 % 4", 3),
    ("0.1 + 0.2", 0.3), ("1,250 * 2", 2500), ("3 × 4 ÷ 2", 6), ("2 ^ 10", 1024), ("sqrt(16) + abs(-1)", 5),
    ("max(3, 7, 5) - min(2, 1)", 6), ("round(2.567, 1)", 2.6), ("2 ** 0.5", 1.41421356237), ("+5", 5),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "value"), VALUES)
def test_values(expression: str, value: float) -> None:
    assert value_of(expression) == value
    assert type(value_of(expression)) is type(value)


REFUSED = [
    ("9 ** 9 ** 9", "too_large"), ("10 ** 31", "too_large"), ("2 ** 201", "too_large"), ("1e400", "too_large"),
    ("1+" * LONGEST + "1", "too_large"), ("(" * 60 + "1" + ")" * 60, None), ("-" * 60 + "1", "too_large"),
    ("1 / 0", "division_by_zero"), ("5 % 0", "division_by_zero"), ("0 ** -1", "division_by_zero"),
    ("(-1) ** 0.5", "no_value"), ("sqrt(-1)", "no_value"), ("sqrt(1, 2)", "no_value"),
    ("", "not_arithmetic"), ("1 +", "not_arithmetic"), ("x + 1", "not_arithmetic"), ("'a' * 3", "not_arithmetic"),
    ("True + 1", "not_arithmetic"), ("[1] * 3", "not_arithmetic"), ("1 if 2 else 3", "not_arithmetic"),
    ("__import__('os').getcwd()", "not_arithmetic"), ("(1).__class__", "not_arithmetic"), ("min()", "not_arithmetic"),
    ("round(number=1)", "not_arithmetic"), ("1 << 9", "not_arithmetic"), ("1 < 2", "not_arithmetic"), ("1; 2", "not_arithmetic"),
    ("lambda: 1", "not_arithmetic"), ("1j", "not_arithmetic"), ("\0", "not_arithmetic"),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "code"), REFUSED)
def test_what_the_calculator_refuses(expression: str, code: str | None) -> None:
    if code is None:  # brackets alone make no tree
        assert value_of(expression) == 1
        return
    with pytest.raises(ToolError) as caught:
        value_of(expression)
    assert caught.value.code == code


# The tools


def test_the_tools_only_read() -> None:
    tools = research.tools
    assert [tool.name for tool in tools] == ["search_documents", "read_document", "calculate"]
    assert {tool.permission for tool in tools} == {"read"} and not any(tool.approval for tool in tools)
    assert all(tool.description for tool in tools)
    json.dumps([tool.parameters for tool in tools])


def test_slow_and_failing_tools() -> None:
    seen: list[str] = []
    registry = Registry(research.open_library(before=seen.append).tools)
    assert registry.call(ToolCall("calculate", {"expression": "1 + 1"}, "call_1")).ok and seen == ["calculate"]
    registry = Registry(research.open_library(before=research.unavailable("search_documents")).tools)
    error = registry.call(ToolCall("search_documents", {"query": "Flask"}, "call_1")).error
    assert error is not None and error.code == "unavailable"
    assert registry.call(ToolCall("read_document", {"document_id": "D01"}, "call_2")).ok
