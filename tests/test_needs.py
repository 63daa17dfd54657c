"""What a test needs beyond Python: found, skipped with a reason, or a failure where it must be there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from _needs import NEEDS, VARIABLE, find_browser, require, required, summary


def test_what_is_there_is_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENTKIT_PEERDATA", str(tmp_path))
    assert require("peerdata") == tmp_path


def test_what_is_missing_skips_with_a_reason_and_a_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AGENTKIT_PEERDATA", raising=False)
    monkeypatch.delenv(VARIABLE, raising=False)
    with pytest.raises(pytest.skip.Exception, match="needs peerdata: set AGENTKIT_PEERDATA"):
        require("peerdata")


def test_what_must_be_there_fails(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("AGENTKIT_PEERDATA", str(tmp_path / "nowhere"))
    monkeypatch.setenv(VARIABLE, "browser, peerdata")
    with pytest.raises(pytest.fail.Exception, match="AGENTKIT_REQUIRE says that this must be here"):
        require("peerdata")


def test_an_unknown_name_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "browser,brwser")
    with pytest.raises(
        pytest.UsageError, match="names brwser, but it may only hold browser, node, local, mcp-suite, peerdata"
    ):
        required()


def test_a_named_browser_that_is_not_there_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("AGENTKIT_BROWSER", str(tmp_path / "none"))
    assert find_browser() is None


def test_the_summary_counts_and_says_how() -> None:
    reasons = [f"('x.py', 1, 'Skipped: needs node: {NEEDS['node'].how}')"] * 2 + ["something else"]
    assert summary(reasons) == [f"2 skipped for want of node. To run them: {NEEDS['node'].how}."]
    assert summary([]) == []


@pytest.mark.peerdata
def test_the_marker_asks_before_the_test(require: Callable[[str], Path]) -> None:
    assert require("peerdata").is_dir()
