"""The path jail: no text, and no link in the folder, leads out of it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import profile

from agentkit import DefinitionError, ToolError
from agentkit.safety import PathJail

OUTSIDE = "kept outside"


@pytest.fixture
def jail(tmp_path: Path) -> PathJail:
    return made(tmp_path)


def made(base: Path) -> PathJail:
    """``share`` with a few files; beside it ``share-secret``, and links between the two where the system has links."""
    root = base / "share"
    (root / "notes").mkdir(parents=True)
    (root / "notes" / "plan.md").write_text("the plan", encoding="utf-8")
    (root / "%2e%2e%2fagent-victim").mkdir()
    (root / "%2e%2e%2fagent-victim" / "x").write_text("inside", encoding="utf-8")
    (base / "share-secret").mkdir()
    (base / "share-secret" / "loot.md").write_text(OUTSIDE, encoding="utf-8")
    return PathJail(root)


def linked(jail: PathJail) -> None:
    outside = jail.root.parent / "share-secret"
    try:
        (jail.root / "out").symlink_to(outside, target_is_directory=True)
    except OSError:  # pragma: no cover
        pytest.skip("this system makes no links")
    (jail.root / "file").symlink_to(outside / "loot.md")
    (jail.root / "new").symlink_to(outside / "not_there_yet.md")
    (jail.root / "again").symlink_to("out")
    (jail.root / "notes" / "up").symlink_to(Path(os.pardir) / os.pardir, target_is_directory=True)
    (jail.root / "inside").symlink_to("notes", target_is_directory=True)
    (jail.root / "circle").symlink_to("circle")


def refused(jail: PathJail, name: str, *codes: str) -> None:
    """No way in: not resolved, not read, not written."""
    for use in (jail.resolve, jail.read, lambda found: jail.write(found, "new")):
        with pytest.raises(ToolError) as caught:
            use(name)
        assert caught.value.code in (codes or ("outside",)), (name, caught.value.code)
    assert (jail.root.parent / "share-secret" / "loot.md").read_text(encoding="utf-8") == OUTSIDE
    assert sorted(path.name for path in jail.root.parent.iterdir()) == ["share", "share-secret"]
    assert [path.name for path in (jail.root.parent / "share-secret").iterdir()] == ["loot.md"]


def test_what_is_inside_is_read_and_written(jail: PathJail) -> None:
    assert jail.read("notes/plan.md") == jail.read("notes\\plan.md") == "the plan"
    assert jail.read("./notes//../notes/plan.md") == "the plan"
    assert jail.write("new/deep/a b.txt", "안녕") == jail.root / "new" / "deep" / "a b.txt"
    assert jail.read("new/deep/a b.txt") == "안녕" and jail.read("new/deep/a b.txt", limit=1) == "안"
    assert jail.names() == ["%2e%2e%2fagent-victim/x", "new/deep/a b.txt", "notes/plan.md"]
    jail.write("notes/plan.md", "another")
    assert jail.read("notes/plan.md") == "another"
    assert jail.resolve("not/there.md") == jail.root / "not" / "there.md"


def test_SF01_a_sibling_that_begins_alike(jail: PathJail) -> None:
    refused(jail, "../share-secret/loot.md")
    refused(jail, str(jail.root.parent / "share-secret" / "loot.md"))
    refused(jail, "notes/../../share-secret/loot.md")


def test_SF02_a_path_that_goes_up(jail: PathJail) -> None:
    for name in (
        "../../../etc/passwd",
        "..",
        "notes/../..",
        "..\\share-secret\\loot.md",
        "notes/..\\../x",
        "a/b/../../../x",
    ):
        refused(jail, name)


@pytest.mark.parametrize(
    "name",
    [
        "out/loot.md",
        "out/new.md",
        "file",
        "new",
        "again/loot.md",
        "notes/up/share-secret/loot.md",
        "inside/up/x",
        "out/../x",
    ],
)
def test_SF02_a_link_that_leads_out(jail: PathJail, name: str) -> None:
    linked(jail)
    refused(jail, name)
    assert all(not found.startswith(("out", "file", "new", "again")) and "/up/" not in found for found in jail.names())


def test_a_link_that_stays_inside_is_followed_and_a_circle_is_not(jail: PathJail) -> None:
    linked(jail)
    assert jail.read("inside/plan.md") == "the plan"
    for name in ("circle", "circle/x"):
        with pytest.raises(ToolError):
            jail.read(name)
    with pytest.raises(ToolError):
        jail.write("circle/x", "no")


def test_SF03_percent_signs_are_ordinary_letters(jail: PathJail) -> None:
    assert jail.read("%2e%2e%2fagent-victim/x") == "inside"
    assert jail.resolve("%2e%2e/%2e%2e/x") == jail.root / "%2e%2e" / "%2e%2e" / "x"
    assert jail.resolve("..%2fshare-secret") == jail.root / "..%2fshare-secret"


@pytest.mark.parametrize(
    "name",
    [
        "/etc/passwd",
        "//server/share/x",
        "\\\\server\\share",
        "\\x",
        "C:\\x",
        "c:x",
        "C:/x",
        "\\\\?\\C:\\x",
        "\\\\.\\COM1",
        "/",
    ],
)
def test_absolute_paths_of_any_system(jail: PathJail, name: str) -> None:
    refused(jail, name)


@pytest.mark.parametrize(
    "name",
    [
        "con", "NUL", "nul.txt", "aux.tar.gz", "notes/Com1", "lpt9.md", "COM¹", "conin$", "con .txt", "prn/x",
        "a.", "a ", "a/b. /c", "...", ". .", "x.txt:stream", "x:$DATA", "a\x00b", "a\nb", "a\x7f", "*", "a?b", "<x", "a|b", 'a"b',
        "", "  ", "a" * 1001,
    ],
)  # fmt: skip
def test_names_that_windows_would_read_otherwise_are_refused_everywhere(jail: PathJail, name: str) -> None:
    refused(jail, name, "bad_path", "outside")


def test_names_that_only_look_reserved_are_ordinary(jail: PathJail) -> None:
    for name in ("console.txt", "com10", "null", "a.con", ".env", "..a", "a..b", "x.nul.txt", "~/.ssh/id"):
        assert jail.resolve(name).is_relative_to(jail.root)


@pytest.mark.parametrize("name", ["a" * 300, "/".join(["b" * 40] * 20), "notes/plan.md/x", "\ud800", "notes"])
def test_what_the_system_refuses_is_told_in_our_words(jail: PathJail, name: str) -> None:
    with pytest.raises(ToolError):
        jail.read(name)
    with pytest.raises(ToolError):
        jail.resolve(name + "?", must_exist=True)
    if name not in ("\ud800", "/".join(["b" * 40] * 20)):
        with pytest.raises(ToolError):
            jail.write(name, "x")


def test_only_text_is_read(jail: PathJail) -> None:
    (jail.root / "bin").write_bytes(b"\xff\x00\xfe")
    (jail.root / "cut").write_bytes("😀".encode() * 2)
    (jail.root / "long").write_bytes("a한".encode() * 5)
    with pytest.raises(ToolError, match="not text"):
        jail.read("bin")
    assert jail.read("cut", limit=1) == "😀" and jail.read("long", limit=2) == "a한"
    if hasattr(os, "mkfifo"):
        os.mkfifo(jail.root / "pipe")
        with pytest.raises(ToolError, match="not a file"):
            jail.read("pipe")


def test_a_link_put_there_between_check_and_opening_is_not_followed(
    jail: PathJail, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, real_open = jail.root / "notes" / "plan.md", os.open

    def swapped(path: os.PathLike[str], flags: int, mode: int = 0o777, **more: object) -> int:
        if Path(path) == place:
            (jail.root / "notes").rename(jail.root / "moved")
            (jail.root / "notes").symlink_to(jail.root.parent / "share-secret", target_is_directory=True)
            (jail.root.parent / "share-secret" / "plan.md").write_text(OUTSIDE, encoding="utf-8")
        return real_open(path, flags, mode)

    linked(jail)
    monkeypatch.setattr(os, "open", swapped)
    with pytest.raises(ToolError) as caught:
        jail.read("notes/plan.md")
    assert caught.value.code == "outside" and "moved" in str(caught.value)


def test_a_write_follows_no_link_and_is_whole_or_not_at_all(jail: PathJail, monkeypatch: pytest.MonkeyPatch) -> None:
    linked(jail)
    # A file beside the goal with a name that can be foreseen would be a place for a link.
    (jail.root / f".plan.md.{os.getpid()}.part").symlink_to(jail.root.parent / "share-secret" / "loot.md")
    jail.write("plan.md", "written")
    assert (jail.root.parent / "share-secret" / "loot.md").read_text(encoding="utf-8") == OUTSIDE

    with monkeypatch.context() as known:
        known.setattr("secrets.token_hex", lambda size: "0" * 16)
        (jail.root / f".{'0' * 16}.part").symlink_to(jail.root.parent / "share-secret" / "loot.md")
        with pytest.raises(ToolError):
            jail.write("plan.md", "again")
    assert (jail.root.parent / "share-secret" / "loot.md").read_text(encoding="utf-8") == OUTSIDE

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ToolError, match="cannot be written"):
        jail.write("plan.md", "new")
    assert jail.read("plan.md") == "written"
    assert not [path for path in jail.root.iterdir() if len(path.name) == 22 and path.name.endswith(".part")]


def test_the_folder_must_be_there_and_stays_unnamed(tmp_path: Path) -> None:
    with pytest.raises(DefinitionError, match="Make it first"):
        PathJail(tmp_path / "nothing")
    assert str(tmp_path) not in repr(PathJail(tmp_path))


PIECES = st.sampled_from(
    ["..", ".", "/", "\\", "//", "notes", "out", "up", "file", "inside", "again", "circle", "share-secret", "loot.md", "%2e", "C:",
     "~", " ", "...", "\x00", "．．", "share", "..\\", "x", "con"]
)  # fmt: skip
NAMES = st.one_of(
    st.lists(PIECES, max_size=8).map("".join), st.lists(PIECES, max_size=8).map("/".join), st.text(max_size=30)
)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> PathJail:
    jail = made(tmp_path_factory.mktemp("jail"))
    linked(jail)
    return jail


@given(name=NAMES)
@profile(300)
def test_no_text_gives_a_place_outside(shared: PathJail, name: str) -> None:
    try:
        real = shared.resolve(name)
    except ToolError as error:
        assert error.code in ("outside", "bad_path") and str(error).isprintable()
        return
    assert real.is_relative_to(shared.root) and Path(os.path.realpath(real)) == real
    try:
        text = shared.read(name)
    except ToolError:
        return
    assert OUTSIDE not in text


@given(name=NAMES, text=st.text(max_size=20))
@profile(100)
def test_no_text_writes_outside(tmp_path_factory: pytest.TempPathFactory, name: str, text: str) -> None:
    jail = made(tmp_path_factory.mktemp("write"))
    linked(jail)
    before = {path.name: path.read_bytes() for path in (jail.root.parent / "share-secret").iterdir()}
    try:
        real = jail.write(name, text)
        assert real.is_relative_to(jail.root) and real.is_file()
    except ToolError:
        pass
    assert {path.name: path.read_bytes() for path in (jail.root.parent / "share-secret").iterdir()} == before
    assert sorted(path.name for path in jail.root.parent.iterdir()) == ["share", "share-secret"]
    assert not list(jail.root.rglob("*.part"))


@pytest.mark.skipif(sys.platform == "win32", reason="Windows refuses these names itself")
def test_files_that_could_not_be_read_are_not_listed(jail: PathJail) -> None:
    (jail.root / "a:b").write_text("x", encoding="utf-8")
    (jail.root / "nul").write_text("x", encoding="utf-8")
    assert all(jail.read(name) for name in jail.names()) and len(jail.names()) == 2
