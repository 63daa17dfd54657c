"""Rules of the course about code cells and their outputs. See `agentkit.course.rules`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from agentkit.course.rules import EXERCISES, Page, Rule

LINES = 25

FORBIDDEN = (
    (re.compile(r"\bpip3? install\b"), "installs a package; the environment is made before the course begins"),
    (re.compile(r"\bsk-[\w-]{16,}|\bapi_key\s*=\s*[\"']"), "holds a key"),
    (
        re.compile(
            r"\b(gpt-?\d|chatgpt-\d|o[134]-(mini|preview|pro)|claude-[a-z\d]|gemini-\d|llama-?\d|mistral-[a-z\d]|qwen-?\d)",
            re.IGNORECASE,
        ),
        "holds the name of a model; names stand in one place in the package",
    ),
)
"""What neither a code cell nor a prose cell may hold."""

SERVICE = re.compile(r"\b(?:https?|wss?)://(?!localhost|127\.0\.0\.1|\[::1\]|[\w.-]*\bexample\b)[\w.-]+")

UNSTABLE = (
    (re.compile(r"\b0x[0-9a-fA-F]{6,}\b"), "a memory address"),
    (re.compile(r"(?<![\w.])/(?:tmp|home|root|Users|var/folders|mnt)/\w|\b[A-Z]:\\\\?\w"), "a path of one machine"),
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"), "a random id"),
    (re.compile(r"Traceback \(most recent call last\)"), "a stack trace"),
    (
        re.compile(
            r"errors\.pydantic\.dev|For further information visit|validation errors? for \w"
            r"|Input should be|got an unexpected keyword argument|missing \d+ required (positional|keyword)"
            r"|object has no attribute|object is not (callable|subscriptable|iterable)|Expecting (value|property name)"
        ),
        "text written by Python or pydantic themselves, which changes with their versions",
    ),
)
"""What no stored output may hold, because it differs between machines, runs or versions."""


def parse(source: str) -> ast.Module | None:
    """The syntax tree of a cell (``await`` at the top level is allowed), or None when it is not plain Python."""
    try:
        tree = compile(source, "cell", "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    except (SyntaxError, ValueError):
        return None
    assert isinstance(tree, ast.Module)
    return tree


def counted(page: Page) -> Iterator[str]:
    """Without its count, a cell's output is not compared by anybody."""
    for index, cell in enumerate(page.notebook.cells):
        if cell.cell_type == "code" and cell.get("execution_count") is None:
            yield f"cell {index + 1} has no execution count: it was not run"


def short_code(page: Page) -> Iterator[str]:
    for number, source in page.code():
        lines = len(source.splitlines())
        if lines > LINES:
            yield f"cell {number} has {lines} lines of code; the limit is {LINES}"


def plain_python(page: Page) -> Iterator[str]:
    for number, source in page.code():
        if parse(source) is None:
            yield f"cell {number} is not plain Python (a magic, a shell command, or a syntax error)"


def imports_first(page: Page) -> Iterator[str]:
    for place, (number, source) in enumerate(page.code()):
        tree = parse(source)
        if place and tree and any(isinstance(node, ast.Import | ast.ImportFrom) for node in ast.walk(tree)):
            yield f"cell {number} imports; all imports stand in the first code cell"


def nothing_forbidden(page: Page) -> Iterator[str]:
    for number, cell in enumerate(page.notebook.cells, start=1):
        for pattern, sentence in FORBIDDEN:
            found = pattern.search(cell.source)
            if found:
                yield f"cell {number} {sentence}: {found.group(0)!r}"
    for number, source in page.code():
        address = SERVICE.search(source)
        if address:
            yield f"cell {number} holds the address of a service: {address.group(0)!r}"


def encodings(page: Page) -> Iterator[str]:
    """Text files are opened with ``encoding="utf-8"``: a Korean Windows would choose another."""
    for number, source in page.code():
        tree = parse(source)
        for node in ast.walk(tree) if tree else ():
            if isinstance(node, ast.Call) and _needs_encoding(node):
                yield f"cell {number} opens a text file or stream without encoding: `{ast.unparse(node)}`"


def exercises(page: Page) -> Iterator[str]:
    """Three to six different exercises of this notebook, each checked, and a quiz."""
    least, most = EXERCISES.get(page.number, (3, 6))
    numbers: set[str] = set()
    for number, source in page.code():
        for found in exercise_ids(source):
            if re.fullmatch(rf"{page.number}\.\d+", found):
                numbers.add(found)
            elif re.fullmatch(r"\w+\.\d+", found):
                yield f"cell {number} checks exercise {found!r} of another notebook"
    if page.number not in {found for _, source in page.code() for found in first_arguments(source, "quiz")}:
        yield f"there is no quiz({page.number!r})"
    if not least <= len(numbers) <= most:
        yield f"there are {len(numbers)} exercises; there should be {least} to {most}"


def stable_outputs(page: Page) -> Iterator[str]:
    for index, cell in enumerate(page.notebook.cells):
        for output in cell.get("outputs", []):
            if output.output_type == "error":
                yield f"cell {index + 1} ends with an error"
            if output.get("name") == "stderr":
                yield f"cell {index + 1} writes to the error stream"
            for text in _texts(output):
                for pattern, what in UNSTABLE:
                    if pattern.search(text):
                        yield f"cell {index + 1} has {what} in its output: {_around(pattern, text)!r}"


def exercise_ids(source: str) -> list[str]:
    """The ids in the ``check("03.1", …)`` calls of a cell."""
    return first_arguments(source, "check")


def first_arguments(source: str, function: str) -> list[str]:
    """The texts that a cell gives to a function as first argument."""
    tree = parse(source)
    found = []
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, ast.Call) and _called(node) == function and node.args:
            first = node.args[0]
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                found.append(first.value)
    return found


def _called(node: ast.Call) -> str:
    function = node.func
    return function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")


def _needs_encoding(node: ast.Call) -> bool:
    name = _called(node)
    given = {keyword.arg: keyword.value for keyword in node.keywords}
    if "encoding" in given:
        return False
    if name in ("run", "Popen", "check_output"):
        return any(isinstance(given.get(key), ast.Constant) for key in ("text", "universal_newlines"))
    if name == "open":
        modes = [argument for argument in (*node.args[:2], given.get("mode")) if isinstance(argument, ast.Constant)]
        return not any(isinstance(mode.value, str) and re.fullmatch(r"[rwax+]*b[rwax+]*", mode.value) for mode in modes)
    return name in ("read_text", "write_text")


def _texts(output: dict[str, object]) -> Iterator[str]:
    if isinstance(output.get("text"), str):
        yield str(output["text"])
    data = output.get("data")
    if isinstance(data, dict):
        yield from (str(value) for kind, value in data.items() if not str(kind).startswith("image/"))


def _around(pattern: re.Pattern[str], text: str) -> str:
    found = pattern.search(text)
    return "" if found is None else text[max(0, found.start() - 20) : found.end() + 20]


CODE_RULES: tuple[Rule, ...] = (
    counted, short_code, plain_python, imports_first, nothing_forbidden, encodings, exercises, stable_outputs,
)  # fmt: skip
