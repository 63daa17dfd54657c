"""What the adapters and the loopback endpoint cost: ``python tests/bench/providers.py`` (part of ``make bench``).

The adapter is compared with the bare SDK on the same endpoint in the same run, in turns. The endpoint runs in a process of its
own, whose CPU time is read, so that the client's share is not counted.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

SERVER = """
import sys
from agentkit import FinalAnswer, Reply, Usage
from agentkit.endpoint import Endpoint

class Always:
    def decide(self, messages, tools):
        return Reply(FinalAnswer("", "The order A100 was delivered on 2026-10-01."), Usage(10, 10))

with Endpoint(Always(), models=["offline"], log=False) as endpoint:
    print(endpoint.url, flush=True)
    sys.stdin.read()
"""


@contextmanager
def server() -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The address of an endpoint in a process of its own."""
    process = subprocess.Popen(
        [sys.executable, "-c", SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    )
    assert process.stdin is not None and process.stdout is not None
    try:
        yield process.stdout.readline().strip(), process
    finally:
        process.stdin.close()
        process.wait(timeout=20)


def in_turns(rounds: int, *works: Callable[[], Any]) -> list[float]:
    """Median seconds of each, taken in turns after five warm-ups."""
    for work in works:
        for _ in range(5):
            work()
    taken: list[list[float]] = [[] for _ in works]
    for _ in range(rounds):
        for place, work in enumerate(works):
            before = time.perf_counter()
            work()
            taken[place].append(time.perf_counter() - before)
    return [statistics.median(each) for each in taken]


def overheads(url: str) -> list[tuple[str, float, float]]:
    """(what, seconds of the bare SDK, seconds of our adapter) for one call without streaming."""
    import anthropic
    import openai

    from agentkit import Message, tool
    from agentkit.models.anthropic import AnthropicModel
    from agentkit.models.openai import OpenAIModel

    def lookup(order_id: str) -> str:
        """Look up an order."""
        return order_id

    specs = [tool(lookup).spec]
    history = [Message("system", "Help."), Message("user", "Where is the order A100?")]
    ours: list[tuple[str, Any]] = [
        ("chat", OpenAIModel("offline", base_url=url + "/v1", api_key="none")),
        ("responses", OpenAIModel("offline", api="responses", base_url=url + "/v1", api_key="none")),
        ("anthropic", AnthropicModel("offline", base_url=url, api_key="none")),
    ]
    bare_openai = openai.OpenAI(base_url=url + "/v1", api_key="none")
    bare_anthropic = anthropic.Anthropic(base_url=url, api_key="none")
    create = {
        "chat": bare_openai.chat.completions.create,
        "responses": bare_openai.responses.create,
        "anthropic": bare_anthropic.messages.create,
    }
    found = []
    for name, model in ours:
        body = model.request(history, specs)
        bare, adapted = in_turns(
            60, lambda name=name, body=body: create[name](**body), lambda model=model: model.decide(history, specs)
        )
        found.append((name, bare, adapted))
    return found


def per_request(url: str, pid: int, count: int = 400) -> float:
    """Seconds of CPU of the server for one small chat request on a kept connection."""
    import httpx2
    import psutil

    body = {"model": "offline", "messages": [{"role": "user", "content": "Where is the order A100?"}]}
    process = psutil.Process(pid)
    with httpx2.Client(headers={"authorization": "Bearer none"}) as client:
        for _ in range(20):
            client.post(url + "/v1/chat/completions", json=body).raise_for_status()
        before = sum(process.cpu_times()[:2])
        for _ in range(count):
            client.post(url + "/v1/chat/completions", json=body)
        return (sum(process.cpu_times()[:2]) - before) / count


def rows() -> list[tuple[str, str, str, str]]:
    """The lines of the table of ``make bench``."""
    lines = []
    with server() as (url, process):
        for name, bare, adapted in overheads(url):
            lines.append(
                (
                    f"adapter over the bare SDK, {name}",
                    f"{(adapted - bare) * 1e3:+.2f} ms",
                    f"{adapted / bare:.2f}",
                    "2 ms",
                )
            )
        each = per_request(url, process.pid)
    lines.append(("endpoint, requests a second on one core", f"{1 / each:.0f}", "", "200"))
    return lines


if __name__ == "__main__":
    print(f"Python {sys.version.split()[0]}, load {os.getloadavg()[0]:.1f}")
    for row in rows():
        print(f"{row[0]:44} {row[1]:>12} {row[2]:>7} {row[3]:>7}")
