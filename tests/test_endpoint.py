"""The life of the endpoint: it starts, stops, starts again, and leaves nothing behind, whatever is going on."""

from __future__ import annotations

import gc
import json
import socket
import threading
from pathlib import Path
from typing import Any

import psutil
import pytest
from endpoint_kit import ANSWER, KEY, Hanging, Live, ask, leftovers, serving
from strategies import bounded, python

from agentkit import DefinitionError, FinalAnswer, ProviderError
from agentkit.endpoint import Endpoint

HELLO = {"model": "offline", "messages": [{"role": "user", "content": "hello"}]}


def test_addresses_are_there_while_it_runs_and_only_then() -> None:
    endpoint = serving(ANSWER)
    with pytest.raises(DefinitionError, match="not running"):
        _ = endpoint.url
    with endpoint as running:
        assert running is endpoint and running.url.startswith("http://127.0.0.1:")
        assert running.openai_url == running.url + "/v1" and running.anthropic_url == running.url
        assert running.url in repr(running)
    assert not endpoint.running and "not running" in repr(endpoint)


def test_start_and_stop_may_be_called_twice_and_it_can_start_again() -> None:
    endpoint = serving(ANSWER)
    endpoint.stop()
    first = endpoint.start().url
    assert endpoint.start().url == first
    assert ask(f"{first}/v1/chat/completions", HELLO)[0] == 200
    endpoint.stop()
    endpoint.stop()
    with endpoint:
        assert ask(f"{endpoint.openai_url}/chat/completions", HELLO)[0] == 200
    assert len(endpoint.exchanges) == 2, "what it saw stays after it has stopped"


def test_many_starts_leave_no_thread_socket_or_file() -> None:
    with serving(ANSWER) as warm:
        ask(f"{warm.openai_url}/chat/completions", HELLO)
    process = psutil.Process()
    before = process.num_fds() if hasattr(process, "num_fds") else process.num_handles()
    threads = threading.active_count()
    ports = []
    for _ in range(6):
        with serving(ANSWER) as endpoint:
            ports.append(int(endpoint.url.rpartition(":")[2]))
            assert ask(f"{endpoint.openai_url}/chat/completions", HELLO)[0] == 200
    assert leftovers() == [] and threading.active_count() == threads
    if hasattr(process, "num_fds"):
        assert process.num_fds() == before
    listening = {c.laddr.port for c in process.net_connections(kind="tcp") if c.status == psutil.CONN_LISTEN}
    assert not listening & set(ports)


@pytest.mark.parametrize("_again", range(4))  # the client may be let in just before or just after the stop
def test_a_stop_with_an_open_connection_is_quick_and_closes_it(_again: int) -> None:
    with serving(ANSWER) as endpoint:
        port = int(endpoint.url.rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port), timeout=10) as client:
            bounded(endpoint.stop, 5)
            assert _is_closed(client)
    with pytest.raises(OSError), socket.create_connection(("127.0.0.1", port), timeout=2):
        pass


def _is_closed(client: socket.socket) -> bool:
    """Whether the other side has closed the connection; nothing may come before that."""
    try:
        return client.recv(1) == b""
    except ConnectionError:  # it was reset
        return True


def test_a_stop_while_the_model_is_busy_does_not_wait_for_it() -> None:
    model = Hanging()
    with Endpoint(model) as endpoint:
        url = f"{endpoint.openai_url}/chat/completions"
        outcome: list[str] = []
        client = threading.Thread(target=lambda: outcome.append(_outcome(url)), daemon=True)
        client.start()
        assert model.asked.wait(10)
        bounded(endpoint.stop, 5)
        client.join(10)
        assert outcome == ["no answer"], "the connection is closed, without an answer that nobody gave"
    assert [exchange.status for exchange in endpoint.exchanges] == [499]
    model.gate.set()
    assert leftovers() == []


def _outcome(url: str) -> str:
    try:
        return str(ask(url, HELLO))
    except OSError:
        return "no answer"


def test_a_stop_while_a_stream_is_open_ends_the_stream_and_the_models_iterator() -> None:
    model = Live(["one ", "two ", "three"], FinalAnswer("", "one two three"))
    with Endpoint(model) as endpoint:
        with socket.create_connection(("127.0.0.1", int(endpoint.url.rpartition(":")[2])), timeout=10) as client:
            _send(client, "/v1/chat/completions", {**HELLO, "stream": True})
            received = b""
            while b"one" not in received:
                received += client.recv(65536)
            bounded(endpoint.stop, 5)
            assert _is_closed(client)
        assert b"two" not in received and b"[DONE]" not in received
    model.gate.set()
    assert model.closed.wait(10) and model.written == 2, "the iterator was closed at its next item"
    assert leftovers() == []
    assert endpoint.exchanges[0].response is None and endpoint.exchanges[0].events


def test_a_client_that_goes_away_frees_the_endpoint() -> None:
    model = Live(["one ", "two ", "three"], FinalAnswer("", "one two three"))
    with Endpoint(model) as endpoint:
        with socket.create_connection(("127.0.0.1", int(endpoint.url.rpartition(":")[2])), timeout=10) as client:
            _send(client, "/v1/messages", {**HELLO, "stream": True, "max_tokens": 50})
            while b"one" not in client.recv(65536):
                pass
        model.gate.set()
        assert model.closed.wait(10)
    assert leftovers() == []


def _send(client: socket.socket, path: str, body: Any) -> None:
    data = json.dumps(body).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nx-api-key: {KEY}\r\nanthropic-version: 2023-06-01\r\n"
    client.sendall(f"{head}Content-Length: {len(data)}\r\n\r\n".encode() + data)


def test_an_endpoint_that_is_not_stopped_does_not_keep_the_process_alive() -> None:
    code = """
import urllib.request
from agentkit import FinalAnswer, ScriptedModel
from agentkit.endpoint import Endpoint
server = Endpoint(ScriptedModel([FinalAnswer("", "x")])).start()
print(urllib.request.urlopen(urllib.request.Request(server.url + "/v1/models", headers={"x-api-key": "k"})).status)
"""
    assert python(code).strip() == "200"


def test_an_endpoint_that_is_forgotten_ends_by_itself() -> None:
    endpoint = serving(ANSWER).start()
    assert ask(f"{endpoint.openai_url}/chat/completions", HELLO)[0] == 200
    del endpoint
    gc.collect()
    assert leftovers() == []


def test_it_works_where_an_event_loop_runs_already() -> None:
    import asyncio

    async def cell() -> int:
        with serving(ANSWER) as endpoint:
            return (await asyncio.to_thread(ask, f"{endpoint.openai_url}/chat/completions", HELLO))[0]

    assert asyncio.run(cell()) == 200


def test_a_port_in_use_is_told_in_a_sentence() -> None:
    with serving(ANSWER) as one:
        port = int(one.url.rpartition(":")[2])
        with pytest.raises(DefinitionError, match=f"cannot listen on 127.0.0.1, port {port}"):
            serving(ANSWER, port=port).start()
    with pytest.raises(DefinitionError, match="cannot listen"):
        serving(ANSWER, port=70000).start()


def test_the_same_port_can_be_taken_again_at_once() -> None:
    with serving(ANSWER) as one:
        port = int(one.url.rpartition(":")[2])
        assert ask(f"{one.openai_url}/chat/completions", HELLO)[0] == 200
    with serving(ANSWER, port=port) as two:
        assert ask(f"{two.openai_url}/chat/completions", HELLO)[0] == 200


def test_missing_packages_are_told_with_the_line_that_helps(monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib.util

    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ProviderError, match=r"starlette and uvicorn.*pip install") as caught:
        serving(ANSWER).start()
    assert caught.value.code == "missing_package"


def test_importing_it_loads_no_web_server_and_no_sdk() -> None:
    code = "import sys, agentkit.endpoint; print([n for n in ('starlette', 'uvicorn', 'openai', 'anthropic', 'anyio') if n in sys.modules])"
    assert python(code).strip() == "[]"


def test_it_uses_no_model_of_the_package() -> None:
    folder = Path(__file__).parents[1] / "agentkit" / "endpoint"
    assert all("agentkit.models" not in path.read_text(encoding="utf-8") for path in folder.glob("*.py"))


def test_the_socket_names_its_protocol_so_that_answers_are_not_held_back() -> None:
    """asyncio turns Nagle's algorithm off only then; with it every answer takes 40 ms longer."""
    with serving(ANSWER)._listen() as sock:
        assert sock.proto == socket.IPPROTO_TCP
