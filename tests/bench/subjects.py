"""What is measured: the same work done by the baseline and by agentkit, each as a function without parameters."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

Work = Callable[[], Any]


def baseline_loop(steps: int, payload: int = 8) -> Work:
    from baseline import Call, Message, PlainTool, run

    out = "x" * payload

    def echo(text: str) -> str:
        """Echo a text."""
        return out

    def model(messages: list[Message]) -> Message:
        number = len(messages) // 2 + 1
        if number > steps:
            return Message(role="assistant", text="done")
        return Message(role="assistant", calls=[Call(id=f"c{number}", name="echo", arguments={"text": "hi"})])

    tool = PlainTool(echo)
    return lambda: run(model, [tool], "goal")


def agentkit_loop(steps: int, payload: int = 8, kind: str = "sync") -> Work:
    import agentkit as ak

    out = "x" * payload

    def echo(text: str) -> str:
        """Echo a text."""
        return out

    async def aecho(text: str) -> str:
        """Echo a text."""
        return out

    class Model:
        def decide(self, messages: Any, tools: Any) -> ak.Reply:
            number = len(messages) // 2 + 1
            if number > steps:
                return ak.Reply(ak.FinalAnswer("", "done"))
            call = ak.ToolCall("echo", {"text": "hi"}, f"c{number}")
            return ak.Reply(ak.CallTools("", (call,)))

        async def adecide(self, messages: Any, tools: Any) -> ak.Reply:
            return self.decide(messages, tools)

    made = ak.tool(echo) if kind == "sync" else ak.tool(name="echo")(aecho)
    # Every round is the same here, so the guard against repetition must be told to wait.
    agent = ak.Agent(Model(), [made], limits=ak.Limits(max_steps=None, same_rounds=steps + 2))
    return (lambda: agent.run("goal")) if kind == "sync" else (lambda: asyncio.run(agent.arun("goal")))


def agentkit_parallel(calls: int, seconds: float, kind: str) -> Work:
    import agentkit as ak

    def nap(text: str) -> str:
        """Wait a little."""
        time.sleep(seconds)
        return "ok"

    async def anap(text: str) -> str:
        """Wait a little."""
        await asyncio.sleep(seconds)
        return "ok"

    made = ak.tool(nap) if kind == "sync" else ak.tool(name="nap")(anap)
    script = [ak.CallTools("", tuple(ak.ToolCall("nap", {"text": str(i)}) for i in range(calls)))]
    agent = ak.Agent(ak.ScriptedModel([*script, ak.FinalAnswer("", "done")]), [made])
    return (lambda: agent.run("goal")) if kind == "sync" else (lambda: asyncio.run(agent.arun("goal")))


def distinct_functions(count: int) -> list[Callable[..., Any]]:
    """Documented functions that no cache can take for one another."""
    source = '''
def search_{i}(query: str, limit: int = 10, tags: Optional[list[str]] = None, mode: Literal["fast", "full"] = "fast") -> str:
    """Search collection {i} and return the best matches.

    Args:
        query: What to look for, in plain words.
        limit: The largest number of results to return.
        tags: Only return results that carry all of these tags.
        mode: Whether to search quickly or fully.

    Returns:
        The matches, one a line.
    """
    return query
'''
    space: dict[str, Any] = {}
    text = "from typing import Literal, Optional\n" + "".join(source.format(i=i) for i in range(count))
    exec(compile(text, "<functions>", "exec", dont_inherit=True), space)  # without this module's own future import
    return [space[f"search_{i}"] for i in range(count)]
