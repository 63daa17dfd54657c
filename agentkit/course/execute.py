"""Run a notebook the way the course promises: offline, without keys, in a clean folder."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentkit.course.layout import OFFLINE
from agentkit.course.notebook import Notebook
from agentkit.errors import AgentkitError

TIMEOUT = 60
"""Seconds for one cell. Only a guard against hanging: a whole notebook needs about 10."""

PROVIDER_VARIABLE = re.compile(
    r"^(OPENAI|ANTHROPIC|AZURE_OPENAI|AGENTKIT_(MODEL|CASSETTE|BASE_URL))(_|$)|_API_KEY$|^AGENTKIT_STATE$"
)
"""Variables that would let a run reach a paid service, choose another model, or write into this user's progress."""

MEMORY_PROBE = """
def _agentkit_peak():
    import pathlib, re, sys
    status = pathlib.Path("/proc/self/status")
    if status.exists():
        return int(re.search(r"VmHWM:\\s+(\\d+)", status.read_text(encoding="utf-8")).group(1)) * 1024
    if sys.platform == "win32":
        import psutil
        return psutil.Process().memory_info().peak_wset
    import resource
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(_agentkit_peak())
"""
"""Prints the peak memory of the kernel in bytes. On Linux not through getrusage: it also counts the parent's peak."""


class NotebookError(AgentkitError):
    """A notebook did not run to its end. The message names the notebook, the cell, and the reason."""


@dataclass(frozen=True, slots=True)
class LiveKernel:
    """A live kernel that runs cells of one notebook. Made by `live_kernel`."""

    name: str
    client: Any

    def run_all(self, notebook: Notebook) -> None:
        """Run every code cell in order, storing outputs and counts. Raises `NotebookError`."""
        self.client.nb = notebook  # the client also writes each finished cell into the notebook that it knows
        self.client.reset_execution_trackers()
        for index, cell in enumerate(notebook.cells):
            if cell.cell_type == "code":
                self._run(cell, index)

    def peak_memory(self) -> int:
        """Peak memory of the kernel process so far, in bytes."""
        from nbformat.v4 import new_code_cell, new_notebook

        probe = new_notebook(cells=[new_code_cell(MEMORY_PROBE)])
        self.run_all(probe)
        return int(probe.cells[0].outputs[0].text)

    def _run(self, cell: Notebook, index: int) -> None:
        from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

        try:
            self.client.execute_cell(cell, index)
        except CellTimeoutError as error:
            raise NotebookError(
                f"{self.name}: cell {index + 1} gave no answer within {self.client.timeout} s and was given up."
            ) from error
        except DeadKernelError as error:
            raise NotebookError(
                f"{self.name}: the kernel died in cell {index + 1} (out of memory, or the process was ended)."
            ) from error
        except CellExecutionError as error:
            trace = re.sub(r"\x1b\[[\d;]*m", "", str(error))
            raise NotebookError(f"{self.name}: cell {index + 1} raised an error.\n{trace}") from error


@contextmanager
def live_kernel(notebook: Notebook, name: str, timeout: float = TIMEOUT) -> Iterator[LiveKernel]:
    """A fresh kernel in a fresh folder, with the environment of `offline_environment`.

    Args:
        notebook: the notebook whose cells will run.
        name: how error messages call it.
        timeout: seconds for one cell.
    """
    from nbclient import NotebookClient

    with tempfile.TemporaryDirectory(prefix="agentkit-", ignore_cleanup_errors=True) as folder:
        work, ipython = Path(folder) / "work", Path(folder) / "ipython"
        work.mkdir()
        client = NotebookClient(
            notebook,
            kernel_name="python3",
            timeout=timeout,
            resources={"metadata": {"path": str(work)}},
            record_timing=False,
            store_widget_state=False,
            shutdown_kernel="immediate",
            extra_arguments=["--log-level=ERROR"],
        )
        environment = offline_environment() | {"IPYTHONDIR": str(ipython)}
        with client.setup_kernel(env=environment):
            yield LiveKernel(name, client)


def offline_environment(base: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of a kernel that builds or tests a notebook.

    Provider keys and the choice of a model are removed, the network is refused except loopback, and settings of this
    user that would change outputs (a plotting backend) are left out.
    """
    base = os.environ if base is None else base
    kept = {name: value for name, value in base.items() if not PROVIDER_VARIABLE.search(name) and name != "MPLBACKEND"}
    inherited = [entry for entry in kept.get("PYTHONPATH", "").split(os.pathsep) if entry and entry != str(OFFLINE)]
    kept["PYTHONPATH"] = os.pathsep.join([str(OFFLINE), *inherited])
    kept["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"
    return kept


def execute(notebook: Notebook, name: str, timeout: float = TIMEOUT) -> Notebook:
    """Run a notebook in place and return it. Raises `NotebookError` for an error, a time-out or a dead kernel."""
    with live_kernel(notebook, name, timeout) as kernel:
        kernel.run_all(notebook)
    return notebook
