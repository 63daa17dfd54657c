"""What holds for every test: no keys, no network but loopback, and a clear word about what was skipped."""

from __future__ import annotations

import os
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from _needs import NEEDS, require, required, summary

from agentkit.course.execute import offline_environment
from agentkit.course.layout import OFFLINE

# At import, so that it holds for collection too, and for every process that a test starts. Only `make test-live`, whose
# tests call the real services, keeps the keys and the network.
LIVE = os.environ.get("AGENTKIT_LIVE") == "1"
if not LIVE:
    _environment = offline_environment()
    for _name in set(os.environ) - _environment.keys():
        del os.environ[_name]
    os.environ.update(_environment)
    runpy.run_path(str(OFFLINE / "sitecustomize.py"))


def pytest_configure(config: pytest.Config) -> None:
    required()  # an unknown name is an error of the whole run, not of one test
    _quick_hypothesis()


@pytest.hookimpl(optionalhook=True)  # only where xdist is there
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Keep each file on one worker, but let each notebook go to any: they need no common fixture and take longest."""
    from xdist.scheduler import LoadFileScheduling

    class ByFileOrNotebook(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            path, _, test = nodeid.partition("::")
            return f"{path}::{test.partition('[')[2]}" if path.endswith("test_notebooks.py") else path

    return ByFileOrNotebook(config, log) if config.getvalue("dist") == "loadfile" else None


def pytest_runtest_setup(item: pytest.Item) -> None:
    for name in NEEDS:
        if item.get_closest_marker(name) is not None:
            require(name)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reasons = [str(report.longrepr) for report in terminalreporter.stats.get("skipped", [])]
    lines = summary(reasons)
    if lines:
        terminalreporter.section("Skipped, and how to get it")
        for line in lines:
            terminalreporter.write_line(line)


@pytest.fixture(name="require")
def require_fixture() -> Callable[[str], Path]:
    """``require("browser")``: the path of what is needed, or a skip with a reason."""
    return require


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return Path(__file__).resolve().parents[1]


def _quick_hypothesis() -> None:
    """No deadlines: on a busy machine they are coin tosses. No database: a test run leaves nothing behind."""
    from hypothesis import HealthCheck, settings

    settings.register_profile("course", deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("course")
