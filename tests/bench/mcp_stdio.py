"""What MCP over stdio costs: ``python tests/bench/mcp_stdio.py`` (part of ``make bench``).

By hand (client and server) is compared with the official SDK (client and server) in the same run, in turns: the SDK in its
default mode, and in the legacy mode, which speaks the same revision as the code by hand. The tool is the same function, and
both are used as their documentation shows. CPU time is that of the client and of the child process together: the child tells
its own, which is finer than what the system counts. A round trip is waiting time too, so both times are given.

This file must not be called mcp.py: next to it, ``import mcp`` would find it instead of the SDK.
"""

from __future__ import annotations

import asyncio
import gc
import os
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, TypeAlias

ROOT = Path(__file__).resolve().parents[2]
ROUNDS, CALLS = 7, 30
MANY = 1_000

TOOLS = """
import time

def echo(text: str) -> str:
    "Say the same."
    return text

def spent() -> str:
    "Seconds of CPU that this process has taken."
    return repr(time.process_time())
"""
BY_HAND = f"""{TOOLS}
from agentkit import Registry
from agentkit.mcp import Server, serve_stdio
serve_stdio(Server("bench", registry=Registry([echo, spent])))
"""
WITH_SDK = f"""{TOOLS}
from mcp.server import MCPServer
server = MCPServer("bench", log_level="WARNING")
server.add_tool(echo)
server.add_tool(spent)
server.run()
"""

Call: TypeAlias = Callable[[str, dict[str, Any]], Awaitable[str]]
"""Runs a tool of one connection and gives the text of its answer."""


async def timed(call: Call) -> tuple[float, float]:
    """(seconds of CPU, of client and child together; seconds by the clock) for one call."""
    gc.collect()
    child = float(await call("spent", {}))
    mine, begun = time.process_time(), time.perf_counter()
    for number in range(CALLS):
        text = f"call {number}"
        if await call("echo", {"text": text}) != text:
            raise AssertionError("This is not the answer to the call.")
    clock, mine = time.perf_counter() - begun, time.process_time() - mine
    return (mine + float(await call("spent", {})) - child) / CALLS, clock / CALLS


async def growth(call: Call, pid: int, count: int = MANY) -> tuple[int, int]:
    """Bytes by which the memory of the client and of the child has grown in the course of these calls."""
    import psutil

    both = [psutil.Process(), psutil.Process(pid)]

    def held() -> list[int]:
        gc.collect()
        return [process.memory_info().rss for process in both]

    before = held()
    for number in range(count):
        await call("echo", {"text": f"call {number}"})
    client, child = (now - then for now, then in zip(held(), before, strict=True))
    return client, child


def by_hand(stack: AsyncExitStack) -> tuple[Call, Any]:
    """A connection by hand, and its transport."""
    from agentkit.mcp import Client, StdioTransport

    transport = StdioTransport(sys.executable, ["-c", BY_HAND], env={"PYTHONPATH": str(ROOT)})
    client = stack.enter_context(Client(transport, timeout=60.0))

    async def call(name: str, arguments: dict[str, Any]) -> str:
        return client.call_tool(name, arguments).text

    return call, transport


async def with_sdk(stack: AsyncExitStack, mode: str) -> Call:
    """A connection of the SDK's own client, without anything of ours around it."""
    from mcp import Client, StdioServerParameters, stdio_client

    from agentkit.mcp._jsonschema import load_jsonschema

    load_jsonschema()  # the SDK would import it with the first answer, and then the slow way
    parameters = StdioServerParameters(command=sys.executable, args=["-c", WITH_SDK])
    client = await stack.enter_async_context(Client(stdio_client(parameters, errlog=sys.__stderr__), mode=mode))

    async def call(name: str, arguments: dict[str, Any]) -> str:
        return str((await client.call_tool(name, arguments)).content[0].text)  # type: ignore[union-attr]

    return call


async def measured() -> tuple[list[tuple[float, float]], tuple[int, int]]:
    """(CPU, clock) medians of: by hand, the SDK's default, its legacy mode; and the growth of memory by hand."""
    async with AsyncExitStack() as stack:
        ours, transport = by_hand(stack)
        calls = [ours, await with_sdk(stack, "auto"), await with_sdk(stack, "legacy")]
        for call in calls:
            await timed(call)
        gc.freeze()  # what both have imported is not looked through again for each of them
        taken: list[list[tuple[float, float]]] = [[] for _ in calls]
        for _ in range(ROUNDS):
            for place, call in enumerate(calls):
                taken[place].append(await timed(call))
        medians = [(median(each, 0), median(each, 1)) for each in taken]
        # The least of three: what is allocated once is no growth, and what leaks shows each time.
        grown = [await growth(ours, transport.pid) for _ in range(3)]
        return medians, (min(client for client, _ in grown), min(child for _, child in grown))


def median(taken: list[tuple[float, float]], place: int) -> float:
    return statistics.median(each[place] for each in taken)


def rows() -> list[tuple[str, str, str, str]]:
    """The lines of the table of ``make bench``."""
    (ours, default, legacy), (client, child) = asyncio.run(measured())
    lines = []
    for what, place in (("CPU", 0), ("clock", 1)):
        for name, theirs in (("the SDK", default), ("its legacy mode", legacy)):
            ratio = f"{ours[place] / theirs[place]:.2f}"
            lines.append((f"MCP call over stdio, {what}, to {name}", f"{ours[place] * 1e3:.2f} ms", ratio, "1.0"))
    for name, grown in (("client", client), ("server", child)):
        lines.append((f"growth in {MANY:,} MCP calls, {name}", f"{grown / 1024:+.0f} kB", "", "0 kB"))
    return lines


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    print(f"Python {sys.version.split()[0]}, load {os.getloadavg()[0]:.1f}")
    for row in rows():
        print(f"{row[0]:44} {row[1]:>12} {row[2]:>7} {row[3]:>7}")
