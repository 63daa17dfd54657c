"""The walls of the house: who may import whom, what `import agentkit` loads, which names are public, how files are opened."""

from __future__ import annotations

import ast
import functools
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from strategies import python

import agentkit

PACKAGE = Path(agentkit.__file__).parent
CORE = ("messages", "tools", "registry", "memory", "loop")
FRONT = ("__init__", "__main__", "cli")  # the public names and the command line may reach everywhere
FOLDERS = frozenset(p.name for p in PACKAGE.iterdir() if p.is_dir() and (p / "__init__.py").exists())
# A model of one's own is made of the core, but exercises need a brain to try things with and a world to try them in.
ALLOWED = {
    "checks": {"endpoint", "mcp", "models", "safety", "worlds"},
    "mcp": {"safety", "worlds"},
    "safety": {"worlds"},
    "worlds": {"safety"},
}
LIGHT = frozenset(
    "errors messages tools registry memory loop _approvals _arguments _docstring _door _drivers _jsonsafe _ledger _log _permits"
    " _records _redact _replies _running _schema _starting _strict _table _tasks _together _value _wire".split()
)
PUBLIC = set(
    "Agent AgentkitError Approval AskUser CallTools ContextFullError Decision DefinitionError ErrorDetail FinalAnswer HumanModel "
    "Limits Memory Message Model ModelError OfflineModel Pause ProviderError Registry Reply ReplyError Run SavedRunError "
    "ScriptError ScriptedModel Station Step TextDelta Tool ToolCall ToolError ToolResult ToolScore ToolSpec Usage anthropic_problems "
    "estimate_tokens from_anthropic from_openai from_responses get_model openai_problems parse_react render_react responses_problems to_anthropic to_openai to_responses tool".split()
)


def files() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts)


@functools.cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imported(node: ast.AST) -> list[str]:
    """The modules that a statement names; for a package also the names taken from it, since these may be modules."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        assert node.level == 0, "imports are written in full, so that this test can read them"
        return [str(node.module), *[f"{node.module}.{alias.name}" for alias in node.names]]
    return []


def own_imports(path: Path) -> Iterator[tuple[str, str]]:
    """(where, what) for each import of the package itself: the innermost function, and the path below the package."""

    def walk(node: ast.AST, where: str) -> Iterator[tuple[str, str]]:
        for child in ast.iter_child_nodes(node):
            named = isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
            inner = f"{where}.{child.name}".lstrip(".") if named else where  # type: ignore[attr-defined]
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
                continue
            for module in imported(child):
                if module.startswith("agentkit."):
                    yield where, module.removeprefix("agentkit.")
            yield from walk(child, inner)

    yield from walk(tree(path), "")


def test_the_folders_are_those_of_the_plan() -> None:
    assert {"checks", "course", "models", "widgets", "worlds"} <= FOLDERS
    assert all((PACKAGE / f"{name}.py").exists() for name in CORE)


@pytest.mark.parametrize("place", range(len(CORE)), ids=CORE)
def test_the_core_imports_only_what_stands_before_it(place: int) -> None:
    later = set(CORE[place + 1 :])
    for _, module in own_imports(PACKAGE / f"{CORE[place]}.py"):
        assert module.split(".")[0] not in later, f"{CORE[place]} imports {module}"


def test_the_core_reaches_into_folders_at_two_places_when_called() -> None:
    found = [
        (path.stem, where, module)
        for path in files()
        if path.parent == PACKAGE and path.stem not in FRONT
        for where, module in own_imports(path)
        if module.split(".")[0] in FOLDERS
    ]
    assert set(found) == {
        ("messages", "Run.player", "widgets.player"),
        ("messages", "Run.player", "widgets.player.player"),
        ("registry", "Registry.add_mcp", "mcp.bridge"),
        ("registry", "Registry.add_mcp", "mcp.bridge.add_mcp"),
    }


def test_folders_do_not_import_each_others_insides() -> None:
    for path in files():
        own = path.relative_to(PACKAGE).parts[0]
        if own not in FOLDERS or own == "widgets":
            continue
        for _, module in own_imports(path):
            other = module.split(".")[0]
            if other in FOLDERS - {own}:
                assert other in ALLOWED.get(own, set()), f"{name_of(path)} imports {module}"


def test_nothing_but_the_player_imports_widgets() -> None:
    """Apart from the folder itself and the exercises' own front, everything works where ipywidgets is missing."""
    for path in files():
        if path.relative_to(PACKAGE).parts[0] == "widgets":
            continue
        users = {where for where, module in own_imports(path) if module.split(".")[0] == "widgets"}
        assert users <= ({"Run.player"} if path.stem == "messages" else set()), name_of(path)


def test_the_core_names_libraries_only_inside_functions() -> None:
    for path in files():
        if path.parent != PACKAGE:
            continue
        for node in tree(path).body:
            for module in imported(node):
                top = module.split(".")[0]
                assert top == "agentkit" or top in sys.stdlib_module_names, f"{name_of(path)} imports {module}"


COUNT = """
import sys
before = set(sys.modules)
import agentkit
print(*sorted(set(sys.modules) - before))
"""


def test_import_agentkit_is_light() -> None:
    loaded = python(COUNT).split()
    tops = {module.split(".")[0] for module in loaded}
    assert tops - set(sys.stdlib_module_names) == {"agentkit"}
    ours = {module.partition(".")[2] for module in loaded if module.startswith("agentkit")} - {""}
    assert ours <= LIGHT, "a new module that every import pays for: is it needed there?"
    assert len(loaded) <= 170


def test_the_first_tool_loads_pydantic_and_the_docstring_parser_no_sooner() -> None:
    code = """
import sys, agentkit
def f(x: int) -> int:
    '''Text.

    Args:
        x: A number.
    '''
agentkit.Registry(), agentkit.Agent(agentkit.HumanModel())
print("pydantic" in sys.modules, "docstring_parser" in sys.modules)
agentkit.tool(f)
print("pydantic" in sys.modules, "docstring_parser" in sys.modules)
print(any(name in sys.modules for name in ("ipywidgets", "IPython", "matplotlib", "openai", "anthropic", "mcp", "jsonschema")))
"""
    assert python(code).split() == ["False", "False", "True", "True", "False"]


def test_the_public_names_are_exactly_these() -> None:
    assert set(agentkit.__all__) == PUBLIC and len(agentkit.__all__) == len(PUBLIC)
    assert dir(agentkit) == sorted(agentkit.__all__)
    with pytest.raises(AttributeError, match="'agentkit' has no attribute 'Agnet'"):
        _ = agentkit.Agnet


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_every_public_name_is_there_and_says_what_it_is(name: str) -> None:
    found = getattr(agentkit, name)
    if name != "Decision":  # a union of three types
        assert (found.__doc__ or "").strip() and found.__module__.startswith("agentkit")


def test_a_fresh_import_of_every_public_name() -> None:
    code = "from agentkit import *; import agentkit; print(sum(name in globals() for name in agentkit.__all__))"
    assert python(code).strip() == str(len(PUBLIC))


TEXT_METHODS = {"read_text", "write_text", "open", "fdopen"}
PROCESSES = {"run", "Popen", "check_output", "check_call", "call"}


def without_encoding(path: Path) -> Iterator[int]:
    """Lines that read or write text, or talk to a process, and leave the encoding to the machine."""
    module = tree(path)
    own = {node.name for node in ast.walk(module) if isinstance(node, ast.FunctionDef)}
    own |= {
        alias.asname or alias.name
        for node in ast.walk(module)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    for node in ast.walk(module):
        if not isinstance(node, ast.Call):
            continue
        owner = ast.unparse(node.func.value) if isinstance(node.func, ast.Attribute) else ""
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        given = {keyword.arg: ast.unparse(keyword.value) for keyword in node.keywords}
        if name in TEXT_METHODS and owner != "os" and not (owner == "" and name in own):
            modes = [ast.unparse(argument) for argument in node.args[: 1 if owner else 2]] + [given.get("mode", "")]
            if "encoding" not in given and not any("b'" in mode + "'" and "'" in mode for mode in modes):
                yield node.lineno
        if name in PROCESSES and owner == "subprocess":
            text = {"text", "universal_newlines", "errors"} & given.keys()
            if text and "encoding" not in given:
                yield node.lineno


def test_every_text_file_is_opened_with_an_encoding() -> None:
    assert [f"{name_of(path)}:{line}" for path in files() for line in without_encoding(path)] == []


@pytest.mark.parametrize(
    ("code", "wanted"),
    [
        ("open('x')", 1), ("path.open('w')", 1), ("path.read_text()", 1), ("path.write_text('t')", 1), ("open('x', 'rb')", 0),
        ("path.open('wb')", 0), ("open('x', encoding='utf-8')", 0), ("subprocess.run(['x'], text=True)", 1),
        ("subprocess.run(['x'], text=True, encoding='utf-8')", 0), ("subprocess.run(['x'])", 0), ("os.open('x', 1)", 0),
    ],
)  # fmt: skip
def test_the_check_of_encodings_can_fail(code: str, wanted: int, tmp_path: Path) -> None:
    path = tmp_path / "sample.py"
    path.write_text(code, encoding="utf-8")
    assert len(list(without_encoding(path))) == wanted
