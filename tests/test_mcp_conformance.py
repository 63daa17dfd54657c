"""Judged by others: the official conformance suite, and the command line of the official inspector."""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from _mcp_suite import Suite, suite

pytest.importorskip("mcp")

HERE = Path(__file__).parent
CONFORMANCE = "conformance/dist/index.js"
INSPECTOR = "inspector/clients/launcher/build/index.js"
EXPECTED_FAILURES = HERE / "mcp_expected_failures.yml"
SERVER_SCENARIOS = 32


@pytest.fixture(scope="module")
def programs() -> Suite:
    return suite()


@contextlib.contextmanager
def served() -> Iterator[str]:
    from mcp.shared.exceptions import MCPDeprecationWarning

    from agentkit.mcp.sdk_http import SdkHttpServer

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MCPDeprecationWarning)
        from mcp_conformance_server import Events, conformance_server

        with SdkHttpServer(conformance_server(), event_store=Events(), retry_interval=100) as web:  # type: ignore[arg-type]
            yield web.url


def test_our_sdk_server_passes_every_scenario_but_the_explained_one(programs: Suite) -> None:
    with served() as url:
        arguments = ["server", "--url", url, "--suite", "all", "--expected-failures", str(EXPECTED_FAILURES)]
        ended = programs.run(CONFORMANCE, *arguments)
    scenarios = re.findall(r"^(.) ([\w-]+): (\d+) passed, (\d+) failed", ended.stdout, re.MULTILINE)
    assert [line for line in scenarios if line[3] != "0"] == []
    assert ended.returncode == 0 and len(scenarios) == SERVER_SCENARIOS
    total = re.search(r"Total: (\d+) passed, 0 failed", ended.stdout)
    assert total is not None and int(total[1]) >= 44


def test_a_server_without_the_test_tools_does_not_pass(programs: Suite, tmp_path: Path) -> None:
    """The suite's word is worth something only if it can also say no."""
    from agentkit.mcp.sdk_http import SdkHttpServer
    from agentkit.mcp.sdk_servers import sdk_jail_server

    with SdkHttpServer(sdk_jail_server(tmp_path)) as web:
        ended = programs.run(CONFORMANCE, "server", "--url", web.url, "--scenario", "tools-call-image")
    assert ended.returncode != 0


@pytest.mark.parametrize("scenario", ["initialize", "tools_call"])
def test_our_client_by_hand_passes(scenario: str, programs: Suite) -> None:
    command = f'"{sys.executable}" "{HERE / "mcp_conformance_client.py"}"'
    with python_path():
        arguments = [
            "client",
            "--command",
            command,
            "--scenario",
            scenario,
            "--expected-failures",
            str(EXPECTED_FAILURES),
        ]
        ended = programs.run(CONFORMANCE, *arguments)
    assert ended.returncode == 0, ended.stdout[-3_000:] + ended.stderr[-3_000:]


@contextlib.contextmanager
def python_path() -> Iterator[None]:
    """The package for what the programs start, also where it is not installed."""
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = str(HERE.parent)
    try:
        yield
    finally:
        os.environ.pop("PYTHONPATH", None)
        if before is not None:
            os.environ["PYTHONPATH"] = before


# For each world: how to start its server, by hand and with the SDK; a call; and what its answer and the list must hold.
HAND = {"jail": ["agentkit.mcp.jail_server"], "orders": ["agentkit.mcp.orders_server"]}
SDK = {world: ["agentkit.mcp.sdk_servers", world] for world in HAND}
CALLS = {"jail": ("read_file", "path=a.txt"), "orders": ("lookup_order", "order_id=A100")}
TOOLS = {"jail": {"read_file", "list_files"}, "orders": {"lookup_order", "refund_policy"}}
TEXTS = {"jail": "hello", "orders": '"A100"'}


@pytest.mark.parametrize("world", ["jail", "orders"])
@pytest.mark.parametrize("modules", [HAND, SDK], ids=["hand", "sdk"])
def test_the_inspector_lists_and_calls_tools(
    modules: dict[str, list[str]], world: str, programs: Suite, tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_text("hello", encoding="utf-8")
    server = [sys.executable, "-m", *modules[world], *([str(tmp_path)] if world == "jail" else [])]
    name, argument = CALLS[world]
    call = ["--method", "tools/call", "--tool-name", name, "--tool-arg", argument]
    with python_path(), ThreadPoolExecutor() as both:  # each start of Node takes a second or two
        listing = both.submit(programs.run, INSPECTOR, "--cli", *server, "--method", "tools/list", "--strict")
        called = programs.run(INSPECTOR, "--cli", *server, *call)
        listed = listing.result()
    assert listed.returncode == 0, listed.stdout[-2_000:] + listed.stderr[-2_000:]
    assert TOOLS[world] <= {tool["name"] for tool in json.loads(listed.stdout)["tools"]}
    assert called.returncode == 0, called.stdout[-2_000:] + called.stderr[-2_000:]
    answer = json.loads(called.stdout)
    assert TEXTS[world] in answer["content"][0]["text"] and not answer.get("isError")
