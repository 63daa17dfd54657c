"""The server and the client that notebook 13 writes by hand, tried against the package's, in all pairings."""

from __future__ import annotations

import contextlib
import importlib.util
import inspect
import json
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from agentkit.checks.contract_mcp_server import mcp_server_contract
from agentkit.checks.nb13_checks import check_answer_to, check_hasty, check_make_server, check_outcome
from agentkit.course.notebook import read_source
from agentkit.mcp import Client, McpError, Recorder, StdioTransport
from agentkit.safety import PathJail

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "notebooks" / "src" / "13_mcp_by_hand.py"
DEFINED = (
    "initialize",
    "jail_tools",
    "definition",
    "call",
    "error",
    "reply",
    "answer",
    "serve",
    "Pipe",
    "end",
    "HandClient",
)
SHOWN = ("for ", "    print(asked", "definition(", "call(", "tools = ", "print(tools", "check(")
PACKAGED = [sys.executable, "-m", "agentkit.mcp.jail_server"]


def _cells(*names: str) -> str:
    """The code cells of the notebook that define these names, without what they show."""
    found = []
    for cell in read_source(SOURCE).cells:
        starts = tuple(f"{word} {name}{end}" for name in names for word in ("def", "class") for end in "(:")
        lines = cell.source.splitlines()
        if cell.cell_type == "code" and any(line.startswith(starts) for line in lines):
            kept = [line for line in lines if not line.startswith(SHOWN)]
            found.append("\n".join(kept))
    return "\n\n\n".join(found)


@pytest.fixture(scope="module")
def by_hand(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    """What the notebook defines, as a module, so that the text of its functions can be read as in a notebook."""
    head = next(cell.source for cell in read_source(SOURCE).cells if cell.cell_type == "code")
    path = tmp_path_factory.mktemp("by_hand") / "nb13_by_hand.py"
    path.write_text(f"{head}\n\n\n{_cells(*DEFINED)}\n", encoding="utf-8")
    spec = importlib.util.spec_from_file_location("nb13_by_hand", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["nb13_by_hand"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def share(tmp_path: Path) -> Path:
    (tmp_path / "share").mkdir()
    (tmp_path / "secret.txt").write_text("secret", encoding="utf-8")
    (tmp_path / "share" / "visit.md").write_text("Friday, 환불", encoding="utf-8")
    return tmp_path / "share"


@pytest.fixture
def command(by_hand: ModuleType, share: Path) -> list[str]:
    """The server of the notebook as a program, made as the notebook makes it."""
    cell = next(cell.source for cell in read_source(SOURCE).cells if cell.source.startswith("HEAD"))
    names: dict[str, Any] = {**vars(by_hand), "home": share.parent, "share": share, "inspect": inspect}
    exec(compile(cell, "cell", "exec"), names)
    found: list[str] = names["COMMAND"]
    return [*found, "--write"]


def transport(command: list[str]) -> StdioTransport:
    return StdioTransport(command[0], command[1:])


def test_all_that_the_notebook_defines_was_found(by_hand: ModuleType) -> None:
    assert [name for name in DEFINED if not hasattr(by_hand, name)] == []


def test_the_server_in_the_cells_keeps_the_contract(by_hand: ModuleType, share: Path) -> None:
    report = mcp_server_contract(lambda: partial(by_hand.answer, by_hand.jail_tools(PathJail(share), False)))
    assert report.passed, report


def test_our_client_reaches_the_server_by_hand(command: list[str], share: Path) -> None:
    with Client(transport(command)) as client:
        assert [found.name for found in client.list_tools()] == ["list_files", "read_file", "write_file"]
        assert client.call_tool("read_file", {"path": "visit.md"}).text == "Friday, 환불"
        assert client.call_tool("write_file", {"path": "a/b.md", "text": "다음"}).ok
        assert (share / "a" / "b.md").read_text(encoding="utf-8") == "다음"
        outside = client.call_tool("read_file", {"path": "../secret.txt"})
        assert outside.is_error and outside.text.startswith("Access denied.")
        with pytest.raises(McpError, match="no tool 'fly'"):
            client.call_tool("fly")


def test_without_the_option_nothing_is_written(command: list[str], share: Path) -> None:
    with Client(transport(command[:-1])) as client:
        denied = client.call_tool("write_file", {"path": "new.md", "text": "x"})
    assert denied.is_error and denied.text == "Access denied. This server only reads."
    assert not (share / "new.md").exists()


@pytest.mark.parametrize("packaged", [False, True], ids=["by hand", "agentkit's"])
def test_the_client_by_hand_reaches_both_servers_and_ends_them(
    by_hand: ModuleType, command: list[str], share: Path, packaged: bool
) -> None:
    recorder = Recorder()
    client = by_hand.HandClient([*PACKAGED, str(share)] if packaged else command, recorder).connect()
    try:
        assert "read_file" in [found["name"] for found in client.list_tools()]
        said = client.call_tool("read_file", {"path": "visit.md"})
        assert (said["isError"], said["content"][0]["text"]) == (False, "Friday, 환불")
        assert client.call_tool("read_file", {"path": "../secret.txt"})["isError"] is True
        with pytest.raises(RuntimeError, match="no tool 'fly'"):
            client.call_tool("fly", {})
    finally:
        client.close()
    assert client.process.returncode == 0
    assert len(recorder) == 11, "an empty recorder is false, and must be used all the same"


def test_a_server_that_does_not_want_to_end_is_ended(by_hand: ModuleType) -> None:
    program = (
        "import signal, threading\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "print(1, flush=True)\nthreading.Event().wait()\n"
    )
    client = by_hand.Pipe([sys.executable, "-I", "-S", "-c", program])
    assert client.process.stdout.readline().strip() == b"1"
    by_hand.end(client)
    assert client.process.returncode not in (None, 0)


def test_the_program_says_nothing_that_is_no_message(command: list[str]) -> None:
    ended = subprocess.run(command, input=b'{"bad\n[1]\n\n', stdout=subprocess.PIPE, check=True, timeout=60)
    assert [b'"code": -32700' in line or b'"code": -32600' in line for line in ended.stdout.splitlines()] == [True] * 3


def _read(line: str) -> Any:
    with contextlib.suppress(ValueError):
        return json.loads(line)
    return {}


def _outcome(message: dict[str, Any], text: Callable[[list[dict[str, Any]]], str]) -> tuple[str, str]:
    if "error" in message:
        return "refused", message["error"]["message"]
    result = message["result"]
    return "failed" if result.get("isError") else "ok", text(result["content"])


def _blocks_are_all_texts(message: dict[str, Any]) -> tuple[str, str]:
    return _outcome(message, lambda blocks: "\n".join(block["text"] for block in blocks))


def _first_text(message: dict[str, Any]) -> tuple[str, str]:
    """One text where there is one; an empty content has no last block."""
    texts = "\n"
    return _outcome(
        message, lambda blocks: blocks[-1] and texts.join(each["text"] for each in blocks if each["type"] == "text")
    )


def test_what_the_exercises_say_about_answers_that_do_not_fit() -> None:
    from agentkit.checks.exercise import CheckFailed

    with pytest.raises(CheckFailed, match="did you forget `return`"):
        check_make_server(lambda: None)
    for wrong, sentence in (
        (lambda lines, id: [int(line) for line in lines], "must be skipped"),
        (lambda lines, id: [each for each in map(_read, lines) if each.get("id") == id], "asked for one more line"),
        (lambda lines, id: next(each for each in map(_read, lines) if each.get("id") == id), "`42` is JSON, but no"),
        (lambda lines, id: _read(next(lines))["result"], r"Return the whole message, \{.*\}, not \{'n': 1\}"),
        (lambda lines: None, r"with the parameters of the task: `answer_to\(lines, id\)`"),
        ("a text", "needs the function itself"),
    ):
        with pytest.raises(CheckFailed, match=sentence):
            check_answer_to(wrong)
    with pytest.raises(CheckFailed, match="asked a block for the key 'text', and it does not have it"):
        check_outcome(_blocks_are_all_texts)
    with pytest.raises(CheckFailed, match="asked for a block that is not there"):
        check_outcome(_first_text)
    assert not check_hasty(lambda line: line).passed
