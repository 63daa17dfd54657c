"""Code that a model wrote, run where it can do little harm.

There are three engines: ``monty`` (a small Python without a way out; the default), ``subprocess`` (a real Python with limits,
which shows what limits alone do not stop), and ``bwrap`` (a real Python in namespaces of its own). `protects` says what each
one protects from and what not.
"""

from __future__ import annotations

from agentkit.safety.sandbox._engines import Availability, engines, run_python
from agentkit.safety.sandbox._limits import SandboxResult
from agentkit.safety.sandbox._protects import HEADER, protects
from agentkit.safety.sandbox._tool import python_tool

__all__ = ["Availability", "HEADER", "SandboxResult", "engines", "protects", "python_tool", "run_python"]
