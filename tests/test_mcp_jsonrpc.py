"""JSON-RPC: four kinds of message, and everything that is none."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentkit.mcp import jsonrpc
from agentkit.mcp.jsonrpc import (
    ErrorResponse,
    McpError,
    Notification,
    Problem,
    Request,
    Response,
    encode,
    parse,
    parse_many,
)  # fmt: skip

MESSAGES = [
    Request(1, "tools/list"), Request("1", "tools/call", {"name": "add", "arguments": {"a": 1}}), Request(0, "ping"),
    Notification("notifications/initialized"), Notification("x", {"a": None}), Response(7, {"ok": True}), Response("7", {}),
    ErrorResponse(1, -32601, "No."), ErrorResponse(None, -32700, "Not JSON."), ErrorResponse("a", -32002, "No.", {"uri": "x"}),
]  # fmt: skip


@pytest.mark.parametrize("message", MESSAGES, ids=repr)
def test_a_message_comes_back_as_it_was(message: Any) -> None:
    text = encode(message)
    assert "\n" not in text and json.loads(text)["jsonrpc"] == "2.0"
    assert parse(text) == message


def test_mc_03_an_id_keeps_its_type() -> None:
    number, text = parse('{"jsonrpc":"2.0","id":1,"method":"m"}'), parse('{"jsonrpc":"2.0","id":"1","method":"m"}')
    assert isinstance(number, Request) and isinstance(text, Request)
    assert type(number.id) is int and type(text.id) is str
    assert '"id":1}' in encode(Response(number.id, {})).replace(',"result":{}', "")
    assert '"id":"1"' in encode(Response(text.id, {}))


@pytest.mark.parametrize(
    ("text", "code", "id", "says"),
    [
        ("{bad", -32700, None, "not JSON"), ("", -32700, None, "not JSON"), ("Starting…", -32700, None, "not JSON"),
        ('{"jsonrpc":"2.0","id":1,"method":"m","params":{"x":NaN}}', -32700, None, "not JSON"),
        ('{"jsonrpc":"2.0","id":1,"method":"m","params":{"x":-Infinity}}', -32700, None, "not JSON"),
        ("[" * 100_000, -32700, None, ""), ("1" * 5_000, -32700, None, "not JSON"),
        ("[]", -32600, None, "Batches"), ('[{"jsonrpc":"2.0","id":1,"method":"m"}]', -32600, None, "Batches"),
        ("3", -32600, None, "object"), ("null", -32600, None, "object"),
        ('{"id":1,"method":"m"}', -32600, 1, "jsonrpc"), ('{"jsonrpc":"1.0","id":1,"method":"m"}', -32600, 1, "jsonrpc"),
        ('{"jsonrpc":"2.0","id":null,"method":"m"}', -32600, None, "id"), ('{"jsonrpc":"2.0","id":true,"method":"m"}', -32600, None, "id"),
        ('{"jsonrpc":"2.0","id":1.5,"method":"m"}', -32600, None, "id"), ('{"jsonrpc":"2.0","id":[1],"method":"m"}', -32600, None, "id"),
        ('{"jsonrpc":"2.0","id":1,"method":5}', -32600, 1, "method"), ('{"jsonrpc":"2.0","id":1}', -32600, 1, "only one"),
        ('{"jsonrpc":"2.0","id":"a","method":"m","params":[1]}', -32602, "a", "params"),
        ('{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":""}}', -32600, 1, "only one"),
        ('{"jsonrpc":"2.0","id":1,"method":"m","result":{}}', -32600, 1, "only one"),
        ('{"jsonrpc":"2.0","id":1,"result":[]}', -32600, 1, "object"), ('{"jsonrpc":"2.0","id":1,"error":"no"}', -32600, 1, "error"),
        ('{"jsonrpc":"2.0","id":1,"error":{"code":"x","message":"m"}}', -32600, 1, "code"),
    ],
)  # fmt: skip
def test_what_is_no_message_is_told_with_its_code(text: str, code: int, id: Any, says: str) -> None:
    found = parse(text)
    assert isinstance(found, Problem)
    assert (found.code, found.id) == (code, id) and says in found.reason and found.text == text[:200]


def test_batches_only_where_the_revision_has_them() -> None:
    batch = '[{"jsonrpc":"2.0","id":1,"method":"m"},{"jsonrpc":"2.0","method":"n"},5]'
    first, second, third = parse_many(batch)
    assert (first, second) == (Request(1, "m"), Notification("n")) and isinstance(third, Problem)
    [empty] = parse_many("[]")
    assert isinstance(empty, Problem) and "empty" in empty.reason
    [broken] = parse_many("[{]")
    assert isinstance(broken, Problem) and broken.code == jsonrpc.PARSE_ERROR
    assert parse_many('{"jsonrpc":"2.0","method":"n"}') == [Notification("n")]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {1, 2}, object()], ids=["nan", "inf", "set", "object"])
def test_what_json_does_not_have_is_not_sent(value: Any) -> None:
    with pytest.raises(McpError, match="JSON does not have"):
        encode(Response(1, {"x": value}))


@pytest.mark.parametrize("text", ["한국어", "a\nb\r\nc", "\u2028\u2029\x85", "\x00\x1f", "half \ud83d letter", "😀"])
def test_any_text_travels_in_one_line_of_utf_8(text: str) -> None:
    line = encode(Request(1, "m", {"x": text}))
    assert "\n" not in line and "\r" not in line
    back = parse(line.encode("utf-8").decode("utf-8"))
    assert isinstance(back, Request) and back.params["x"] == text


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.integers() | st.text(), st.text(), st.dictionaries(st.text(), JSON, max_size=3))
def test_every_request_comes_back(id: int | str, method: str, params: dict[str, Any]) -> None:
    assert parse(encode(Request(id, method, params))) == Request(id, method, params)


@given(st.text())
def test_parse_never_raises(text: str) -> None:
    parse(text), parse_many(text)


@given(JSON)
def test_parse_never_raises_for_any_json(value: Any) -> None:
    for body in (value, {"jsonrpc": "2.0", "id": value, "method": value}, {"jsonrpc": "2.0", "id": 1, "error": value}):
        parse_many(json.dumps(body))


def test_the_codes_are_those_of_the_specification() -> None:
    assert (jsonrpc.PARSE_ERROR, jsonrpc.INVALID_REQUEST, jsonrpc.METHOD_NOT_FOUND) == (-32700, -32600, -32601)
    assert (jsonrpc.INVALID_PARAMS, jsonrpc.INTERNAL_ERROR, jsonrpc.RESOURCE_NOT_FOUND) == (-32602, -32603, -32002)
