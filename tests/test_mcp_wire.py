"""Raw lines from servers that do what no suite checks."""

from __future__ import annotations

import pytest
from _mcp import ODD, odd

from agentkit.mcp import Client, McpError, Recorder
from agentkit.mcp.jsonrpc import Problem


def test_an_id_that_changes_its_type_is_told_at_once() -> None:
    body = "def on(message): message['id'] = str(message['id']); answer(message)"
    with (
        Client(odd(body), timeout=60) as client,
        pytest.raises(McpError, match="answered the request 2 with the id '2'"),
    ):
        client.ping()


def test_mc_01_noise_on_standard_output_is_told_and_skipped() -> None:
    body = """
say("Starting up...\\n")
def on(message):
    say("[info] got one\\n"); say("\\n"); say('{"half": \\n'); say("42\\n"); answer(message, **outcome("fine"))
"""
    recorder = Recorder()
    with Client(odd(body), timeout=30, recorder=recorder) as client:
        assert client.call_tool("x").text == "fine"
        assert [item.text for item in client.noise] == ["Starting up...", "[info] got one", '{"half":', "42"]
    assert sum(isinstance(item.message, Problem) for item in recorder) == 4


def test_noise_is_named_when_an_answer_does_not_come() -> None:
    with (
        Client(odd("def on(message): say('oops\\n')"), timeout=1) as client,
        pytest.raises(McpError, match="1 line\\(s\\) that answer nothing, the last one: 'oops'"),
    ):
        client.ping()


def test_a_message_that_comes_in_pieces_is_one_message() -> None:
    body = """
def on(message):
    text = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": outcome("\\u2028 한글 line")}, ensure_ascii=False).encode()
    for part in (text[:20], text[20:100], text[100:], b"\\n"):
        os.write(1, part); time.sleep(0.01)
"""
    with Client(odd(body), timeout=30) as client:
        assert client.call_tool("x").text == "\u2028 한글 line"


def test_half_a_line_and_then_the_end() -> None:
    body = """def on(message): say('{"jsonrpc":"2.0","id":2,"resu'); os._exit(1)"""
    with Client(odd(body), timeout=60) as client, pytest.raises(McpError, match="exit code 1"):
        client.call_tool("x")
    assert client.noise[0].text.endswith('"resu')


def test_an_answer_just_before_the_end_still_counts() -> None:
    with Client(odd("def on(message): answer(message, **outcome('last')); os._exit(1)"), timeout=30) as client:
        assert client.call_tool("x").text == "last"


def test_a_cursor_that_never_advances_is_told() -> None:
    body = "def on(message): answer(message, tools=[], nextCursor='same')"
    with (
        Client(odd(body), timeout=30) as client,
        pytest.raises(McpError, match="never ends: the cursor 'same' came twice"),
    ):
        client.list_tools()


def test_mc_05_a_server_that_dies_mid_call_ends_every_call() -> None:
    with (
        Client(odd("def on(message): os._exit(9)"), timeout=60) as client,
        pytest.raises(McpError, match=r"tools/call got no answer\. The server stopped with exit code 9"),
    ):
        client.call_tool("x")


def test_a_late_answer_after_a_cancellation_is_dropped() -> None:
    body = """
waiting = []
def on(message):
    if message["method"] == "notifications/cancelled":
        answer({"id": message["params"]["requestId"]}, **outcome("late"))
    elif message["method"] == "ping":
        answer(message)
"""
    recorder = Recorder()
    with Client(odd(body), timeout=30, recorder=recorder) as client, pytest.raises(McpError, match="did not answer"):
        client.call_tool("slow", timeout=0.05)
        client.ping()  # its answer comes after the late one, on the same pipe
    late = [item for item in recorder if '"late"' in item.text]
    assert len(late) == 1 and late[0].sender == "server"


@pytest.mark.parametrize(
    "line",
    [
        '{"jsonrpc":"2.0","id":77,"result":{}}', '{"jsonrpc":"2.0","method":"notifications/unheard_of"}',
        '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"gone","progress":1}}',  # MC-10
        '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":{},"progress":"x"}}',
        '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"What?"}}', '{"jsonrpc":"2.0","id":5,"method":"unheard/of"}',
        '{"jsonrpc":"2.0","id":6,"method":"sampling/createMessage","params":{}}', "[]",
    ],
)  # fmt: skip
def test_what_a_client_does_not_know_disturbs_nothing(line: str) -> None:
    body = f"def on(message):\n    if 'id' in message and 'method' in message: say({line!r} + chr(10)); answer(message, **outcome('fine'))"
    with Client(odd(body), timeout=30) as client:
        assert client.call_tool("x").text == "fine"


def test_an_error_without_an_id_is_named_when_no_answer_comes() -> None:
    body = """def on(message): say({"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "What?"}})"""
    with Client(odd(body), timeout=1) as client, pytest.raises(McpError, match="'What\\?'"):
        client.ping()


def test_a_server_that_pings_is_answered() -> None:
    body = """
waiting = []
def on(message):
    if message.get("method") == "tools/call":
        waiting.append(message); say({"jsonrpc": "2.0", "id": "p", "method": "ping"})
    elif message.get("id") == "p" and message.get("result") == {}:
        answer(waiting.pop(), **outcome("pong"))
"""
    with Client(odd(body), timeout=30) as client:
        assert client.call_tool("x").text == "pong"


def test_a_handshake_that_comes_back_as_an_error() -> None:
    head = "import json, sys\nBODY\nfor line in sys.stdin: on(json.loads(line))"
    body = """def on(message): print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32602, "message": "Too old."}}), flush=True)"""
    assert head != ODD
    with pytest.raises(McpError, match="Too old") as caught:
        Client(odd(body, head), timeout=30).connect()
    assert caught.value.code == -32602
