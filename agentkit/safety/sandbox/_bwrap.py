"""The engine bwrap: the same limited Python, in namespaces of its own (bubblewrap, Linux).

A namespace is a private view of the system. The program sees no other processes, no network, no files but the Python it needs
(read-only) and an empty folder in memory. When the first process of a process namespace ends, the kernel ends all the others,
so no child lives on. See Alexander Larsson, "bubblewrap", and the Linux manual page namespaces(7).
"""

from __future__ import annotations

import functools
import os
import shutil
import sys
from pathlib import Path
from typing import Final

from agentkit.safety.sandbox._limits import MIB, Job, SandboxResult
from agentkit.safety.sandbox._process import execute, interpreter, python_command, told

FOLDER_MB: Final = 8  # for all files of the program together
MISSING: Final = "The program bwrap is not installed. On Debian and Ubuntu: apt install bubblewrap"
REFUSED: Final = (
    "The program bwrap is here, but this system does not let it make namespaces. Containers often forbid that."
)
_SYSTEM: Final = ("/usr", "/bin", "/lib", "/lib32", "/lib64", "/etc/ld.so.cache", "/nix/store")


def why_not() -> str:
    """Why this engine cannot be used here; empty when it can."""
    if not sys.platform.startswith("linux"):
        return "bwrap needs Linux."
    program = shutil.which("bwrap")
    if program is None:
        return MISSING
    return "" if _works(program) else REFUSED


@functools.cache
def _works(program: str) -> bool:
    """Whether it can really run something: that the program exists does not say that the system lets it."""
    return bool(run(Job("6 * 7", {}, 10.0, 64, "bwrap")).value == 42)


def run(job: Job) -> SandboxResult:
    """One program in its own namespaces."""
    program = shutil.which("bwrap") or "bwrap"
    python = os.path.realpath(interpreter())
    return told(job, execute(job, [*walls(program, python), *python_command(python)], None))


def walls(program: str, python: str) -> list[str]:
    """The command line of bwrap up to the program that it runs."""
    inside = {str(Path(python).parent.parent), sys.base_prefix, sys.base_exec_prefix} - {"/", "/usr"}
    shown = [part for path in [*_SYSTEM, *sorted(inside)] for part in ("--ro-bind-try", path, path)]
    return [
        program, "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL", *shown,
        "--proc", "/proc", "--dev", "/dev", "--size", str(FOLDER_MB * MIB), "--tmpfs", "/tmp", "--chdir", "/tmp", "--",
    ]  # fmt: skip
