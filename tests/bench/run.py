"""Speed and size of agentkit as ratios to a plain pydantic loop in the same run: ``python tests/bench/run.py``.

Medians of CPU time; baseline and agentkit take turns, so that a busy machine slows both. Nothing here is asserted: the
tests never measure time. Each part that must be cold runs in a fresh process.
"""

from __future__ import annotations

import gc
import math
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import mcp_stdio  # noqa: E402
import providers  # noqa: E402
import subjects  # noqa: E402

BASELINE_IMPORT = "from pydantic import BaseModel, create_model\nclass M(BaseModel):\n    x: int"
BASELINE_FIRST = "import subjects; subjects.baseline_loop(1)()"
OFFLINE_FIRST = """
from agentkit import Agent, OfflineModel
def temperature(city: str) -> float:
    "The temperature in a city, in degrees Celsius."
    return 21.0
run = Agent(OfflineModel(), [temperature]).run("What is the temperature in Seoul?")
assert "21" in run.answer, run
"""


def main() -> None:
    print(f"Python {sys.version.split()[0]}, load {os.getloadavg()[0]:.1f}; medians of CPU time, baseline = 1\n")
    rows: list[tuple[str, str, str, str]] = []
    per_step = {}
    for steps in (100, 500):
        ours, theirs = versus(subjects.agentkit_loop(steps), subjects.baseline_loop(steps), 2_000 // steps)
        per_step[steps] = ours
        rows.append(ratio(f"loop, {steps} steps, a step", ours / steps, theirs / steps, "us", "1.3"))
    growth = math.log(per_step[500] / per_step[100]) / math.log(5)
    rows.append(("growth from 100 to 500 steps, exponent", f"{growth:.2f}", "", "1.1"))
    ours, theirs = versus(*schemas(), 3)
    rows.append(ratio("schema and validator of a tool", ours / 100, theirs / 100, "us", "0.85"))
    for kind in ("sync", "async"):
        found = wall(subjects.agentkit_parallel(8, 0.05, kind))
        rows.append((f"eight tools of 50 ms, {kind}", f"{found * 1e3:.1f} ms", "", "56 ms"))
    bare, _ = versus(cold("pass"), cold("pass"), 7)  # what an interpreter costs that does nothing
    ours, theirs = versus(cold("import agentkit"), cold(BASELINE_IMPORT), 7)
    rows.append(ratio("import", ours - bare, theirs - bare, "ms", "0.65"))
    ours, theirs = versus(cold(OFFLINE_FIRST), cold(BASELINE_FIRST), 7)
    rows.append(ratio("import, build, first offline answer", ours - bare, theirs - bare, "ms", "1.4"))
    rows.append(("modules after import agentkit", modules(), "", "170"))
    rows.append(("peak memory, 500 steps with 4 kB results", f"{peak_memory():.1f} MB", "", "36 MB"))
    rows += providers.rows()
    rows += mcp_stdio.rows()
    print(f"{'what':44} {'agentkit':>12} {'ratio':>7} {'goal':>7}")
    for row in rows:
        print(f"{row[0]:44} {row[1]:>12} {row[2]:>7} {row[3]:>7}")


def ratio(what: str, ours: float, theirs: float, unit: str, goal: str) -> tuple[str, str, str, str]:
    scale = 1e6 if unit == "us" else 1e3
    return what, f"{ours * scale:.1f} {unit}", f"{ours / theirs:.2f}", goal


def versus(ours: Callable[[], Any], theirs: Callable[[], Any], rounds: int) -> tuple[float, float]:
    """Median seconds of CPU (children included) of both, taken in turns after one warm-up each."""
    ours(), theirs()
    taken: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        for place, work in enumerate((ours, theirs)):
            gc.collect()
            before = cpu()
            work()
            taken[place].append(cpu() - before)
    return statistics.median(taken[0]), statistics.median(taken[1])


def cpu() -> float:
    times = os.times()
    return time.process_time() + times.children_user + times.children_system


def wall(work: Callable[[], Any], rounds: int = 7) -> float:
    work()
    taken = []
    for _ in range(rounds):
        before = time.perf_counter()
        work()
        taken.append(time.perf_counter() - before)
    return statistics.median(taken)


def schemas() -> tuple[Callable[[], Any], Callable[[], Any]]:
    from baseline import PlainTool

    import agentkit as ak

    functions = subjects.distinct_functions(100)
    return (lambda: [ak.tool(f).parameters for f in functions]), (lambda: [PlainTool(f).schema for f in functions])


def fresh(code: str) -> str:
    """What a fresh process prints."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE.parents[1]), str(HERE)])}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, encoding="utf-8", check=True
    )
    return done.stdout.strip()


def cold(code: str) -> Callable[[], Any]:
    return lambda: fresh(code)


def modules() -> str:
    return fresh("import agentkit, sys; print(len(sys.modules))")


def peak_memory() -> float:
    """Megabytes. A new process inherits the peak of the one that started it, so Linux is asked about the program itself."""
    code = """
import resource, subjects
from pathlib import Path
subjects.agentkit_loop(500, 4096)()
status = Path("/proc/self/status")
lines = status.read_text(encoding="utf-8").splitlines() if status.exists() else []
own = [int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:")]
print(own[0] if own else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
    return float(fresh(code)) / (1024 * 1024)


if __name__ == "__main__":
    if not hasattr(resource, "getrusage"):
        sys.exit("This bench needs a system that counts resources (Linux or macOS).")
    main()
