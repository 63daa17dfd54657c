"""The repository around the package: dependencies in step, what Binder would build, and clean tracked files."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from agentkit.course.layout import Course
from agentkit.course.links import FIRST, readme_part

ROOT = Path(__file__).resolve().parents[1]
BINARY = {".png", ".sqlite", ".db", ".gz", ".ico"}


def settings() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def requirements(*extras: str) -> list[Requirement]:
    """The package's own dependencies and those of some extras."""
    project = settings()["project"]
    lines = [*project["dependencies"]]
    for extra in extras:
        lines += project["optional-dependencies"][extra]
    return [Requirement(line) for line in lines]


def versions_in_use() -> dict[str, Version]:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pairs = [line.split("==") for line in lines if line and not line.startswith("#")]
    return {canonicalize_name(name): Version(version) for name, version in pairs}


def tracked() -> list[Path]:
    """The files that git tracks, or would track: neither ignored ones nor deleted ones."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("this is not a git checkout")
    paths = [ROOT / name for name in done.stdout.decode("utf-8").split("\0") if name]
    return [path for path in paths if path.is_file()]


def texts() -> list[tuple[str, str]]:
    """Name and text of every tracked text file. A file that is not UTF-8 fails here."""
    files = [path for path in tracked() if path.suffix not in BINARY]
    return [(path.relative_to(ROOT).as_posix(), path.read_bytes().decode("utf-8")) for path in files]


# --- dependencies -----------------------------------------------------------------------------------------------------


def test_the_core_needs_pydantic_and_one_docstring_parser() -> None:
    assert sorted(requirement.name for requirement in requirements()) == ["docstring-parser", "pydantic"]
    assert set(settings()["project"]["optional-dependencies"]) == {
        "notebooks",
        "providers",
        "local",
        "sandbox",
        "mcp",
        "agentdojo",
        "dev",
    }


def test_every_dependency_is_bounded_below_and_above_and_says_why() -> None:
    for requirement in requirements("notebooks", "providers", "local", "sandbox", "mcp", "agentdojo", "dev"):
        operators = sorted(specifier.operator for specifier in requirement.specifier)
        assert operators == ["<", ">="], f"{requirement} needs a lower and an upper bound"
    lines = (ROOT / "pyproject.toml").read_text(encoding="utf-8").splitlines()
    bounded = [line for line in lines if re.match(r'\s+"[\w-]+(\[\w+\])?>=', line)]
    assert len(bounded) == len(requirements("notebooks", "providers", "local", "sandbox", "mcp", "agentdojo", "dev"))
    assert [line for line in bounded if "#" not in line] == []


def test_the_versions_in_use_lie_in_the_ranges() -> None:
    versions = versions_in_use()
    for requirement in requirements("notebooks", "providers", "local", "sandbox", "mcp", "agentdojo", "dev"):
        version = versions[canonicalize_name(requirement.name)]
        assert requirement.specifier.contains(version), f"{requirement} does not admit the tested {version}"


@pytest.mark.parametrize(("name", "version"), [("jupyterlab", "4.4.0"), ("ipywidgets", "8.1.7")])
def test_the_ranges_admit_what_binder_brings(name: str, version: str) -> None:
    (found,) = [requirement for requirement in requirements("notebooks") if requirement.name == name]
    assert found.specifier.contains(version)


def test_conda_has_the_same_dependencies() -> None:
    wanted = {str(requirement) for requirement in requirements("notebooks", "providers", "mcp")}
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    *plain, nested = environment["dependencies"]
    assert {str(Requirement(line)) for line in nested["pip"]} == wanted
    assert [line for line in nested["pip"] if line.startswith("-")] == []  # they would rebuild Binder's layer each time
    (python,) = [line for line in plain if line.startswith("python=")]
    assert Requirement(f"x{settings()['project']['requires-python']}").specifier.contains(python.partition("=")[2])


def test_binder_has_a_copy_of_the_conda_environment() -> None:
    copy = ROOT / "binder" / "environment.yml"
    assert copy.read_bytes() == (ROOT / "environment.yml").read_bytes()
    assert not copy.is_symlink()


# --- Binder -----------------------------------------------------------------------------------------------------------


def test_binder_would_build_our_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """What repo2docker reads, through its own API, without Docker."""
    from repo2docker.app import Repo2Docker
    from repo2docker.buildpacks import CondaBuildPack

    monkeypatch.chdir(ROOT)
    candidates = [kind("an image") for kind in Repo2Docker().buildpacks]
    pack = next(candidate for candidate in candidates if candidate.detect())
    assert type(pack) is CondaBuildPack
    pack.platform = "linux/amd64"
    assert pack.binder_dir == "binder"
    assert pack.python_version == "3.12"
    assert pack.get_post_build_scripts() == ["binder/postBuild"]
    built = pack.render({})
    assert "binder/environment.yml" in built
    assert "binder/postBuild" in built


def test_the_post_build_script_is_strict_and_installs_the_package() -> None:
    path = ROOT / "binder" / "postBuild"
    text = path.read_text(encoding="utf-8")
    assert text.startswith("#!/usr/bin/env bash\n")
    assert "set -euo pipefail" in text and "pip install --no-deps -e ." in text and "agentkit update" in text
    if os.name == "posix":
        assert os.access(path, os.X_OK), "Binder runs binder/postBuild only when it is executable"


def test_the_readme_shows_the_one_known_address_or_says_how_without_one() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert readme_part(settings()["tool"]["agentkit"]["repository"]) in readme
    assert (Course(ROOT).notebooks / Path(FIRST).name).is_file()


# --- tracked files ----------------------------------------------------------------------------------------------------


def test_the_first_six_notebooks_are_there() -> None:
    numbers = [path.name.partition("_")[0] for path in Course(ROOT).notebook_files()]
    assert numbers[:6] == ["00", "01", "02", "03", "04", "05"]
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [number for number in numbers if f"\n| {number} |" not in readme] == []


def test_every_text_file_ends_with_one_newline_and_has_unix_line_ends() -> None:
    files = texts()
    assert [name for name, text in files if text and not text.endswith("\n")] == []
    assert [name for name, text in files if text.endswith("\n\n")] == []
    assert [name for name, text in files if "\r" in text] == []


INDEX = re.compile(
    r"(?i)(--(extra-)?index[-]url|--find-links|index-url\s*=|\[\[tool\.uv\.index\]\]|registry\s*=\s*[\"']h[t]tp)"
)
MACHINE = re.compile(r"(?<![\w.~)}/-])/(?:root|home|Users|work|mnt|srv|opt)/\w")


@pytest.mark.parametrize(
    ("pattern", "example"),
    [(INDEX, "pip install --index" + "-url x"), (MACHINE, "see /home/ada/course")],
    ids=["index address", "path of one machine"],
)
def test_no_tracked_file_names_a_package_index_or_a_path_of_one_machine(pattern: re.Pattern[str], example: str) -> None:
    assert pattern.search(example)
    allowed = {"tests/test_repository.py", "tests/test_notebook_rules.py", "agentkit/course/rules_code.py"}
    found = [name for name, text in texts() if name not in allowed and pattern.search(text)]
    assert found == []


def test_links_between_files_lead_somewhere() -> None:
    broken = []
    for name, text in texts():
        if not name.endswith(".md"):
            continue
        for target in re.findall(r"\]\(([^)#\s]+)", text):
            if not re.match(r"[a-z]+:", target) and not (ROOT / name).parent.joinpath(target).exists():
                broken.append(f"{name}: {target}")
    assert broken == []


def test_the_licence_is_mit() -> None:
    text = (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert text.startswith("MIT License\n") and "the agentkit authors" in text
    assert settings()["project"]["license"] == "MIT"


@pytest.mark.parametrize(
    "name", ["my_notebooks/00.ipynb", "my_notebooks/.agentkit-progress.json", ".venv/x", ".venv-3.12/x"]
)
def test_what_belongs_to_the_learner_is_ignored(name: str) -> None:
    tracked()
    assert subprocess.run(["git", "check-ignore", "-q", name], cwd=ROOT, check=False).returncode == 0


def test_data_of_the_package_are_not_ignored() -> None:
    data = [path for path in (ROOT / "agentkit").rglob("*") if path.suffix in {".csv", ".json", ".sqlite", ".typed"}]
    assert data
    listed = set(tracked())
    assert [path for path in data if path not in listed] == []


def test_the_package_says_that_it_is_typed() -> None:
    assert (ROOT / "agentkit" / "py.typed").is_file()


def test_continuous_integration_calls_make_test_and_nothing_cleverer() -> None:
    path = ROOT / ".ci" / "run"
    text = path.read_text(encoding="utf-8")
    assert text.rstrip().endswith("make test")
    assert "AGENTKIT_REQUIRE" in text and "AGENTKIT_PEERDATA" in text and "pytest" not in text
    if os.name == "posix":
        assert os.access(path, os.X_OK)


# --- make -------------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(os.name != "posix", reason="make and its scripts are for Linux and macOS")
def test_the_search_for_a_python_accepts_a_new_one_and_refuses_in_a_sentence(tmp_path: Path) -> None:
    def search(*arguments: str, path: str) -> subprocess.CompletedProcess[str]:
        command = ["/bin/sh", str(ROOT / "tools" / "find_python.sh"), *arguments]
        environment = {"PATH": path}
        return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", env=environment, check=False)

    fitting = tmp_path / "new"
    old = tmp_path / "old"
    for folder, code in ((fitting, 0), (old, 1)):
        folder.mkdir()
        (folder / "python3").write_text(f"#!/bin/sh\necho 3.12\nexit {code}\n", encoding="utf-8")
        (folder / "python3").chmod(0o755)
    assert search(path=str(fitting)).stdout == "python3\n"
    assert search("--all", path=str(fitting)).stdout == "python3\n"
    for arguments in ((), ("--all",), ("python3",)):
        refused = search(*arguments, path=str(old))
        assert refused.returncode == 1 and refused.stdout == ""
        assert "Python 3.11" in refused.stderr and "Install one" in refused.stderr


@pytest.mark.skipif(os.name != "posix", reason="make and its scripts are for Linux and macOS")
def test_an_environment_is_renewed_only_when_its_list_has_changed(tmp_path: Path) -> None:
    if shutil.which("make") is None:
        pytest.skip("there is no make here")
    ready = tmp_path / "venv" / ".ready-lab"
    ready.parent.mkdir()
    ready.touch()
    command = ["make", "-n", "-C", str(ROOT), f"VENV={tmp_path / 'venv'}", "lab"]

    def planned() -> str:
        return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=True).stdout

    newest = max((ROOT / name).stat().st_mtime for name in ("pyproject.toml", "constraints.txt", "tools/install.sh"))
    os.utime(ready, (newest + 10, newest + 10))
    assert "install.sh" not in planned() and "agentkit lab" in planned()
    os.utime(ready, (1, 1))
    assert "install.sh" in planned()
