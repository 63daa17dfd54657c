"""Notebook 15: its two contracts refuse what breaks them, and what it recorded of the sandbox is what the sandbox says."""

from __future__ import annotations

import ast
import os
import re
import secrets
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import unquote

import pytest

from agentkit.checks.nb15_contract import FENCE, JAIL, fence_contract, jail_contract
from agentkit.course.notebook import read_notebook
from agentkit.safety import PathJail, fence
from agentkit.safety.attacks.scoring import links_can_be_made
from agentkit.safety.sandbox import engines, run_python
from agentkit.show import table

NOTEBOOK = Path(__file__).resolve().parents[1] / "notebooks" / "15_safety.ipynb"


def by_hand(text: str, name: str) -> str:
    word = secrets.token_hex(8)
    text = re.sub(r"<\s*/?\s*untrusted", "[untrusted", text, flags=re.IGNORECASE)
    name = re.sub(r"[^\w. -]", "_", name)
    return f'<untrusted id="{word}" source="{name}">\n{text}\n</untrusted id="{word}">'


def test_the_fence_of_the_package_and_one_by_hand_keep_the_contract() -> None:
    assert fence_contract(fence).failed == fence_contract(by_hand).failed == ()


BAD_FENCES: dict[str, tuple[Callable[[str, str], Any], set[str]]] = {
    "text": (lambda text, name: by_hand("removed", name), {"text"}),
    "no word": (lambda text, name: re.sub(r"[0-9a-f]{16}", "", by_hand(text, name)), {"random", "pair"}),
    "fixed word": (lambda text, name: re.sub(r"[0-9a-f]{16}", "0" * 16, by_hand(text, name)), {"random"}),
    "pair": (lambda text, name: by_hand(text, name).rpartition(" id=")[0] + ">", {"pair"}),
    "forged text": (lambda text, name: by_hand("@@", name).replace("@@", text), {"forged text"}),
    "forged source": (lambda text, name: by_hand(text, "QQQ").replace("QQQ", name), {"forged source"}),
    "nothing": (lambda text, name: None, {"text", "random", "pair", "forged text", "forged source"}),
}  # fmt: skip


@pytest.mark.parametrize(("made", "failed"), BAD_FENCES.values(), ids=BAD_FENCES.keys())
def test_a_broken_fence_is_seen(made: Callable[[str, str], Any], failed: set[str]) -> None:
    assert set(fence_contract(made).failed) == failed


def test_every_promise_of_a_fence_is_broken_by_one() -> None:
    assert {point.name for point in FENCE} == set().union(*(failed for _, failed in BAD_FENCES.values()))


def resolved(folder: Path, name: str) -> Path:
    place = (folder / name).resolve()
    if not place.is_relative_to(folder):
        raise ValueError("outside")
    return place


def by_prefix(folder: Path, name: str) -> Path:
    place = os.path.normpath(folder / name)
    if not place.startswith(str(folder)):
        raise ValueError("outside")
    return Path(place)


def without_dots(folder: Path, name: str) -> Path:
    if ".." in name:
        raise ValueError("dots")
    return folder / unquote(name)


def existing(folder: Path, name: str) -> Path:
    return resolved(folder, name).resolve(strict=True)


def test_the_jail_and_one_by_hand_keep_the_contract() -> None:
    assert jail_contract(lambda folder, name: PathJail(folder).resolve(name)).failed == ()
    assert jail_contract(resolved).failed == ()


LINK = {"link"} if links_can_be_made() else set()
BAD_PATHS: dict[str, tuple[Callable[[Path, str], Any], set[str]]] = {
    "nothing": (lambda folder, name: folder / name, {"up", "absolute", "sibling", "new outside"} | LINK),
    "prefix": (by_prefix, {"sibling"} | LINK),
    "no dots": (without_dots, {"absolute"} | LINK),
    "existing only": (existing, {"new file"}),
    "none": (lambda folder, name: None, {point.name for point in JAIL} - (set() if LINK else {"link"})),
    "the folder": (lambda folder, name: folder, {"inside", "new file"}),
}


@pytest.mark.parametrize(("made", "failed"), BAD_PATHS.values(), ids=BAD_PATHS.keys())
def test_a_broken_path_check_is_seen(made: Callable[[Path, str], Any], failed: set[str]) -> None:
    assert set(jail_contract(made).failed) == failed


# --- what the notebook recorded ------------------------------------------------------------------------------------------


def _sandbox_cell() -> Any:
    cells = read_notebook(NOTEBOOK).cells
    (found,) = [cell for cell in cells if cell.cell_type == "code" and "def in_sandbox" in cell.source]
    return found


def _shown(source: str, **names: Any) -> str:
    """The text of the last expression of a cell."""
    *before, last = ast.parse(source).body
    assert isinstance(last, ast.Expr)
    namespace: dict[str, Any] = {"table": table, **names}
    exec(compile(ast.Module(before, []), "<cell>", "exec"), namespace)
    return repr(eval(compile(ast.Expression(last.value), "<cell>", "eval"), namespace))


def test_without_the_extra_the_sandbox_cell_shows_what_is_stored() -> None:
    cell = _sandbox_cell()
    missing = [SimpleNamespace(engine="monty", available=False)]
    assert _shown(cell.source, engines=lambda: missing, run_python=None) == cell.outputs[0].data["text/plain"]


def test_with_the_extra_the_sandbox_says_what_was_recorded() -> None:
    if not any(each.engine == "monty" and each.available for each in engines()):
        pytest.skip("needs the extra `sandbox`")
    cell = _sandbox_cell()
    ran: list[str] = []

    def noted(program: str, **options: Any) -> Any:
        ran.append(program)
        return run_python(program, **options)

    assert _shown(cell.source, engines=engines, run_python=noted) == cell.outputs[0].data["text/plain"]
    assert len(ran) == 6
