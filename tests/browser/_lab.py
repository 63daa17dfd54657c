"""Start a private JupyterLab on a free port of this machine, and drive it with Chromium."""

from __future__ import annotations

import json
import os
import queue
import re
import secrets
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

READY = re.compile(r"http://127\.0\.0\.1:(\d+)/lab")
IDLE = "Python 3 (ipykernel) | Idle"
BROKEN = re.compile("javascript error|Error displaying widget|Failed to load model", re.IGNORECASE)
START_SECONDS = 90.0
ALL_NUMBERED = r"""() => {
    const cells = [...document.querySelectorAll('.jp-CodeCell')];
    const texts = cells.map(cell => (cell.querySelector('.jp-InputPrompt') || cell).textContent.trim());
    return texts.length > 0 && texts.every(text => /^\[\d+\]:$/.test(text));
}"""
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
LOOPBACK = {"127.0.0.1", "localhost", "::1"}
WITHOUT_NETWORK = {"data", "blob", "about", "devtools"}


@dataclass(frozen=True)
class Lab:
    """A running JupyterLab: its address and its secret token."""

    url: str
    token: str

    def address(self, notebook: str) -> str:
        """A workspace of its own for each notebook: JupyterLab would open again what another page had open."""
        return f"{self.url}/lab/workspaces/{notebook.partition('.')[0]}/tree/{notebook}?token={self.token}"


def _write_settings(folder: Path, theme: str) -> None:
    """No news, no update check, every cell in the page (by default Lab removes those out of sight)."""
    settings = {
        "@jupyterlab/apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
        "@jupyterlab/apputils-extension/themes": {"theme": theme},
        "@jupyterlab/notebook-extension/tracker": {"windowingMode": "none"},
    }
    for name, value in settings.items():
        path = folder / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(value), encoding="utf-8")


def _environment(home: Path, token: str, extra: Mapping[str, str]) -> dict[str, str]:
    folders = {
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "runtime",
        "JUPYTERLAB_SETTINGS_DIR": "settings",
        "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
        "IPYTHONDIR": "ipython",
    }
    made = {name: str(home / folder) for name, folder in folders.items()}
    for folder in made.values():
        Path(folder).mkdir(parents=True, exist_ok=True)
    return {**os.environ, **made, "JUPYTER_TOKEN": token, "PYTHONUTF8": "1", **extra}


@contextmanager
def jupyter_lab(
    root: Path, home: Path, *, theme: str = "JupyterLab Light", extra: Mapping[str, str] = {}
) -> Iterator[Lab]:
    """JupyterLab on the notebooks in ``root``, with all of its own files in ``home``. Ends when the block ends."""
    token = secrets.token_hex(16)
    environment = _environment(home, token, extra)
    _write_settings(home / "settings", theme)
    command = [
        sys.executable, "-m", "jupyterlab", "--no-browser", "--ServerApp.ip=127.0.0.1", "--ServerApp.port=0",
        f"--ServerApp.root_dir={root}", "--ServerApp.allow_root=True",
    ]  # fmt: skip
    process = subprocess.Popen(
        command, env=environment, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8",
        errors="replace",
    )  # fmt: skip
    try:
        yield Lab(f"http://127.0.0.1:{_port(process)}", token)
    finally:
        process.terminate()
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(timeout=20)


def _port(process: subprocess.Popen[str]) -> int:
    """The port that JupyterLab chose, read from what it prints; a thread goes on reading so that it never blocks."""
    lines: queue.Queue[str | None] = queue.Queue()

    def read() -> None:
        assert process.stdout is not None
        for line in process.stdout:
            lines.put(line)
        lines.put(None)

    threading.Thread(target=read, daemon=True).start()
    said: list[str] = []
    while True:
        try:
            line = lines.get(timeout=START_SECONDS)
        except queue.Empty:
            line = None
        if line is None:
            raise AssertionError("JupyterLab did not start. It said:\n" + "".join(said[-40:]))
        said.append(line)
        found = READY.search(line)
        if found:
            return int(found.group(1))


@dataclass
class Watched:
    """A page, and everything about it that must stay empty: errors, and requests that leave this machine."""

    page: Any
    errors: list[str] = field(default_factory=list)
    abroad: list[str] = field(default_factory=list)

    def open(self, lab: Lab, notebook: str) -> None:
        """Open a notebook and wait until its kernel is ready."""
        self.page.goto(lab.address(notebook))
        self.page.get_by_text(IDLE).wait_for(timeout=60_000)

    def run_all(self, timeout: float = 120.0) -> None:
        """Run every cell and wait until each has its number and the kernel rests. ``timeout`` is in seconds."""
        self.start_all()
        self.wait_all(timeout)

    def start_all(self) -> None:
        """Let every cell run, and do not wait."""
        self.page.get_by_role("menuitem", name="Run", exact=True).click()
        self.page.get_by_role("menuitem", name="Run All Cells", exact=True).click()

    def wait_all(self, timeout: float = 120.0) -> None:
        """Wait until each cell has its number and the kernel rests. ``timeout`` is in seconds."""
        prompts = self.page.locator(".jp-CodeCell .jp-InputPrompt")
        try:
            self.page.wait_for_function(ALL_NUMBERED, timeout=timeout * 1000)
            self.page.get_by_text(IDLE).wait_for(timeout=timeout * 1000)
        except Exception as problem:
            self.picture("not_finished")
            numbers = " ".join(prompts.all_inner_texts())
            said = "\n".join(self.failures()) or "no error output"
            raise AssertionError(f"The notebook did not run to its end. Prompts: {numbers}. {said}") from problem

    def failures(self) -> list[str]:
        """Everything on the page that says that something went wrong: error outputs, and widgets that cannot be drawn."""
        texts = self.page.locator('[data-mime-type="application/vnd.jupyter.stderr"]').all_inner_texts()
        broken = self.page.get_by_text(BROKEN).all_inner_texts()
        return [*map(str, texts), *map(str, broken), *self.errors, *(f"Request to {url}" for url in self.abroad)]

    def picture(self, name: str) -> Path:
        """Save a picture of the page where it is looked for afterwards."""
        path = artifacts() / f"{name}.png"
        self.page.screenshot(path=str(path))
        return path


@contextmanager
def started_browser(browser: Path) -> Iterator[Any]:
    """Chromium, without a page."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        chromium = play.chromium.launch(executable_path=str(browser), args=FLAGS)
        try:
            yield chromium
        finally:
            chromium.close()


@contextmanager
def new_page(chromium: Any, width: int = 1200, height: int = 1400) -> Iterator[Watched]:
    """A page of a browser that knows nothing and remembers nothing."""
    context = chromium.new_context(viewport={"width": width, "height": height})
    try:
        page = context.new_page()
        watched = Watched(page)
        page.on("pageerror", lambda error: watched.errors.append(str(error)))
        page.on("request", lambda request: _note_abroad(watched, request.url))
        page.on("websocket", lambda socket: _note_abroad(watched, socket.url))
        yield watched
    finally:
        context.close()


def _note_abroad(watched: Watched, url: str) -> None:
    parts = urlsplit(url)
    if parts.scheme not in WITHOUT_NETWORK and parts.hostname not in LOOPBACK:
        watched.abroad.append(url)


def artifacts() -> Path:
    """Where pictures are kept: the folder in AGENTKIT_ARTIFACTS, or one in the system's folder for temporary files."""
    import tempfile

    named = os.environ.get("AGENTKIT_ARTIFACTS", "").strip()
    folder = Path(named) if named else Path(tempfile.gettempdir()) / "agentkit-artifacts"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
