"""Open JupyterLab at the learner's copy of the first notebook."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from agentkit.course.copies import update
from agentkit.course.layout import Course
from agentkit.errors import DefinitionError

FIRST = "00_start_here.ipynb"


def lab_command(course: Course, more: Sequence[str] = ()) -> list[str]:
    """The command line that starts JupyterLab.

    Nothing is fetched: no news, no check for updates, no list of extensions. ``more`` is handed on as it is.
    """
    command = [
        sys.executable,
        "-m",
        "jupyterlab",
        f"--ServerApp.root_dir={course.root}",
        "--LabApp.news_url=None",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
        "--LabApp.extension_manager=readonly",
    ]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append("--allow-root")  # a container's only user is often root, and the server refuses it otherwise
    command.extend(more)
    if (course.copies / FIRST).is_file():
        command.append(f"{course.copies.name}/{FIRST}")
    return command


def open_lab(course: Course, more: Sequence[str] = ()) -> int:
    """Make the working copy where it is missing, then run JupyterLab until it is stopped. Returns its exit code.

    Raises:
        DefinitionError: JupyterLab is not installed.
    """
    if importlib.util.find_spec("jupyterlab") is None:
        raise DefinitionError('JupyterLab is not installed here. Run: python -m pip install -e ".[notebooks]"')
    update(course)
    return start(lab_command(course, more), course.root)


def start(command: Sequence[str], folder: Path) -> int:
    """Run a server in a folder until it ends. Where the system can, this process becomes the server.

    So Ctrl-C and a request to end reach the server itself, and it never stays behind without its parent.
    """
    if os.name == "posix":
        sys.stdout.flush()
        os.chdir(folder)
        os.execv(command[0], list(command))
    try:
        return subprocess.run(command, cwd=folder, check=False).returncode
    except KeyboardInterrupt:
        return 0  # Ctrl-C is how the server is stopped, and it has seen it too
