"""The tool that a model calls to run a program."""

from __future__ import annotations

from typing import Any, Final

from agentkit.errors import ToolError
from agentkit.safety.sandbox._engines import ready, run_python
from agentkit.safety.sandbox._limits import checked
from agentkit.tools import Tool, tool

_ABOUT: Final = {
    "monty": "A small part of Python: functions, loops, lists, dicts, text, json, re, math, datetime. No files, no network, no"
    " other packages, no classes that inherit.",
    "subprocess": "Python with its standard library, without other packages.",
    "bwrap": "Python with its standard library, without other packages and without a network.",
}


def python_tool(engine: str = "monty", *, seconds: float = 2.0, memory_mb: int = 64) -> Tool:
    """The tool ``run_python(code)``, to be put into a registry.

    With the engine ``monty`` a program can change nothing, so the tool only reads. With the others it starts a real process:
    the tool is dangerous, and a person has to agree to each program.

    Returns:
        A tool whose result is ``{"value": …, "output": …}``. A program that fails is a `ToolError` with the code
        ``program_failed``, or ``time_limit``, ``memory_limit``, ``output_limit``, ``file_size_limit``.

    Raises:
        DefinitionError: there is no such engine here, or a limit makes no sense.
    """
    checked("", None, seconds, memory_mb, engine)
    ready(engine)

    def run_it(code: str) -> dict[str, Any]:
        result = run_python(code, engine=engine, seconds=seconds, memory_mb=memory_mb)
        if result.ok:
            return {"value": result.value, "output": result.output}
        code_of_error = f"{result.limit.replace(' ', '_')}_limit" if result.limit else "program_failed"
        printed = f"It had printed: {result.output[:1000]}" if result.output else "It had printed nothing."
        raise ToolError(result.error, code=code_of_error, hint=printed)

    safe = engine == "monty"
    description = (
        "Run a short Python program and give back the value of its last line, and what it printed. "
        f"{_ABOUT[engine]} At most {seconds:g} seconds and {memory_mb} MiB of memory.\n\n"
        "Args:\n    code: The program. End it with an expression on a line of its own; its value is the result."
    )
    run_it.__doc__ = description
    return tool(name="run_python", permission="read" if safe else "dangerous", approval=not safe)(run_it)
