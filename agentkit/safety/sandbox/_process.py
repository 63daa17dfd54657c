"""The engine subprocess: a fresh Python with limits, watched from outside, and ended with its whole process group.

It bounds what a program uses up. It does not bound what a program may see or touch: the program has the rights of the person
who started it. A child that makes a session of its own leaves the group, and lives on.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final

from agentkit.safety.sandbox import _inside
from agentkit.safety.sandbox._folder import own_folder
from agentkit.safety.sandbox._limits import LARGEST_FILE, MIB, MOST_OUTPUT, OPEN_FILES, Job, Limit, SandboxResult
from agentkit.safety.sandbox._pipe import Pipe

POSIX: Final = os.name == "posix"
MOST_REPORT: Final = (
    16 * MOST_OUTPUT
)  # bytes; a letter may take six of them in JSON, and brackets and commas come on top
START: Final = 20.0  # seconds that Python may take to start
TICK: Final = 0.01  # seconds between two looks at a running program
WINDOWS: Final = (
    "On Windows it bounds time and output only: memory and files have no limits, and child processes live on."
)


@dataclass(frozen=True, slots=True)
class Ended:
    """How a process ended: its status (a negative signal on POSIX), and what came out of it."""

    status: int
    late: bool
    output: bytes
    report: bytes
    full: bool


def interpreter() -> str:
    """The real Python, not the launcher of a virtual environment, so that a limit hits the program itself."""
    return str(getattr(sys, "_base_executable", "") or sys.executable or "")


def why_not() -> str:
    """Why this engine cannot be used here; empty when it can."""
    if sys.platform in ("emscripten", "wasi"):
        return "A browser cannot start another process."
    return "" if interpreter() else "The path of the Python program is not known here."


def python_command(python: str) -> list[str]:
    """Isolated, without site-packages, UTF-8, unbuffered (so that the output of a stopped program is not lost)."""
    source = Path(_inside.__file__).read_text(encoding="utf-8")
    return [python, "-I", "-S", "-B", "-u", "-X", "utf8", "-c", source]


def run(job: Job) -> SandboxResult:
    """One program in a process of its own, in a folder of its own that is removed afterwards."""
    with own_folder() as folder:
        return told(job, execute(job, python_command(interpreter()), folder))


def execute(job: Job, command: Sequence[str], folder: Path | None) -> Ended:
    """Start a command with the job on its standard input, wait for its end or its limits, and end all of its group."""
    with tempfile.TemporaryFile() as task:  # a file, not a pipe: writing it cannot block, and it ends by itself
        task.write(_task(job))
        task.seek(0)
        process = _started(command, task, folder)
    assert process.stdout is not None and process.stderr is not None
    full = threading.Event()
    output = Pipe(process.stdout, MOST_OUTPUT, full)
    report = Pipe(process.stderr, MOST_REPORT, full)
    late = False
    try:
        late = not _ended_in(job.seconds, process, report.first, full)
    finally:  # also when Ctrl-C arrives here
        _end_group(process)
        process.wait()
        output.close()
        report.close()
    return Ended(process.returncode, late, output.data, report.data, full.is_set())


def _task(job: Job) -> bytes:
    task = {
        "code": job.code, "inputs": job.inputs, "seconds": job.seconds, "memory": job.memory_mb * MIB,
        "file_bytes": LARGEST_FILE, "files": OPEN_FILES, "room": MOST_OUTPUT,
    }  # fmt: skip
    return json.dumps(task).encode("ascii")


def _started(command: Sequence[str], task: IO[bytes], folder: Path | None) -> subprocess.Popen[bytes]:
    """A process in a session of its own with an empty environment (Windows cannot start Python without SYSTEMROOT)."""
    special: dict[str, Any] = {"start_new_session": True}
    environment: dict[str, str] = {}
    if not POSIX:
        special = {"creationflags": getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)}
        environment = {name: os.environ[name] for name in ("SYSTEMROOT",) if name in os.environ}
    return subprocess.Popen(
        list(command), stdin=task, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder, env=environment,
        close_fds=True, bufsize=0, **special,
    )  # fmt: skip


def _ended_in(seconds: float, process: subprocess.Popen[bytes], begun: threading.Event, full: threading.Event) -> bool:
    """Wait; False when the time is over first. A program that says too much has ended, as far as we listen.

    The time begins when Python has started, which on a busy computer may take longer than the program.
    """
    end, counted = time.monotonic() + seconds + START, False
    while not _has_ended(process):
        if full.wait(TICK):
            return True
        if begun.is_set() and not counted:
            end, counted = time.monotonic() + seconds, True
        if time.monotonic() > end:
            return False
    return True


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Whether it has ended. It is not reaped yet where that is possible, so that its number cannot be given to another."""
    if sys.platform != "win32" and hasattr(os, "waitid"):
        try:
            return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        except ChildProcessError:  # this program lets the system forget its children
            return True
    return process.poll() is not None


def _end_group(process: subprocess.Popen[bytes]) -> None:
    if sys.platform == "win32":
        process.kill()
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):  # macOS says the second when only the leader is left
        os.killpg(process.pid, signal.SIGKILL)


def told(job: Job, ended: Ended) -> SandboxResult:
    """What the end of a process means."""
    output = ended.output.decode("utf-8", "replace")
    if ended.full:
        return job.failed("", "output", output)
    if ended.late or (POSIX and ended.status in (-int(getattr(signal, "SIGXCPU", 24)), 128 + 24)):
        return job.failed("", "time", output)
    report = _report(ended.report)
    if report.get("ok") is True:
        return SandboxResult(True, report.get("value"), output, engine=job.engine)
    limit = report.get("limit", "")
    error = report.get("error", "")
    known: tuple[Limit, ...] = ("time", "memory", "output", "file size")
    if limit in known:
        return job.failed("", limit, output)
    return job.failed(error if isinstance(error, str) and error else _silent_end(ended.status), "", output)


def _report(raw: bytes) -> dict[str, Any]:
    """The report as far as it is one: the program shares its process with whoever wrote it."""
    try:
        found = json.loads(raw)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _silent_end(status: int) -> str:
    if status < 0:
        try:
            return f"The program was ended by the signal {signal.Signals(-status).name}."
        except ValueError:
            return f"The program was ended by the signal {-status}."
    return f"The program ended without an answer (exit status {status})."
