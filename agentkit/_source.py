"""The source of an object, as a value that a notebook can show."""

from __future__ import annotations

import ast
import functools
import html
import inspect
import linecache
import re
import textwrap
from types import FunctionType, ModuleType
from typing import Any

from agentkit._text import Shown
from agentkit.errors import DefinitionError, did_you_mean

PRE = "font-family:monospace;overflow-x:auto;border-left:4px solid rgba(128,128,128,0.5);padding:2px 0 2px 10px;margin:4px 0"


def source(obj: object, only: str | None = None) -> Shown:
    """The source text of a module, class, function, method or tool, without file names and line numbers.

    Args:
        obj: what to show. An instance stands for its class.
        only: a part of it: the name of a method, function, class or variable, or the words of a comment, which then
            shows the lines from that comment to the next empty line.

    Raises:
        DefinitionError: there is no source to read, or no such part.
    """
    bare = _bare(obj)
    text = textwrap.dedent(_source_text(bare)).rstrip()
    if only is not None:
        text = _part(text, only, bare)
    return Shown(text, f'<pre style="{PRE}">{html.escape(text, quote=True)}</pre>')


def _bare(obj: Any) -> Any:
    """The function inside a tool, partial, property or bound method; the class of an instance."""
    for _ in range(20):
        if isinstance(obj, functools.partial):
            obj = obj.func
        elif isinstance(obj, property):
            obj = obj.fget
        elif isinstance(obj, (staticmethod, classmethod)) or inspect.ismethod(obj):
            obj = obj.__func__
        elif not isinstance(obj, type) and callable(getattr(obj, "__wrapped__", None)):
            obj = obj.__wrapped__
        else:
            break
    if isinstance(obj, (type, ModuleType, FunctionType)) or inspect.isbuiltin(obj):
        return obj
    function = getattr(obj, "function", None)
    return function if isinstance(function, FunctionType) else type(obj)


def _source_text(obj: Any) -> str:
    try:
        return inspect.getsource(obj)
    except (OSError, TypeError):
        text = _class_in_a_cell(obj) if isinstance(obj, type) else None
    if text is None:
        name = getattr(obj, "__name__", type(obj).__name__)
        raise DefinitionError(
            f"There is no source text for {name!r}. Give a module, class or function written in Python."
        )
    return text


def _class_in_a_cell(cls: type) -> str | None:
    """A class defined in a notebook cell: Python cannot find it before 3.13, but its methods know their cell."""
    for member in vars(cls).values():
        function = _bare(member) if not isinstance(member, type) else None
        if isinstance(function, FunctionType) and function.__qualname__.startswith(f"{cls.__qualname__}."):
            text = "".join(linecache.getlines(function.__code__.co_filename))
            found = _node_text(text, cls.__name__)
            if found is not None:
                return found
    return None


def _part(text: str, only: str, whole: object) -> str:
    """The part of that name; a module may also have it from another module, and a class from its parent."""
    found = _node_text(text, only) or _commented(text, only)
    inherited = getattr(whole, only, None) if only.isidentifier() else None
    if found is None and isinstance(inherited, (FunctionType, type, property)):
        return textwrap.dedent(_source_text(_bare(inherited))).rstrip()
    if found is None:
        guess = did_you_mean(only, [name for name, _ in _named(text)])
        raise DefinitionError(f"The source has no part named {only!r}. {guess}".rstrip())
    return textwrap.dedent(found).rstrip()


def _node_text(text: str, name: str) -> str | None:
    """The lines of the last definition of that name, with its decorators."""
    nodes = [node for found, node in _named(text) if found == name]
    if not nodes:
        return None
    node = nodes[-1]
    first = min([node.lineno, *(mark.lineno for mark in getattr(node, "decorator_list", []))])
    return textwrap.dedent("\n".join(text.splitlines()[first - 1 : node.end_lineno]))


def _named(text: str) -> list[tuple[str, ast.stmt]]:
    """Every function, class and assigned name of a source text, in order. A text that is no Python has none."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return []
    found: list[tuple[str, ast.stmt]] = []
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.append((node.name, node))
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found += [(target.id, node) for target in targets if isinstance(target, ast.Name)]
    return sorted(found, key=lambda pair: pair[1].lineno)


def _commented(text: str, words: str) -> str | None:
    """The lines from the comment with these words to the next empty line."""
    lines = text.splitlines()
    pattern = re.compile(r"^\s*#.*" + re.escape(words))
    start = next((place for place, line in enumerate(lines) if pattern.match(line)), None)
    if start is None:
        return None
    end = next((place for place in range(start, len(lines)) if not lines[place].strip()), len(lines))
    return "\n".join(lines[start:end])
