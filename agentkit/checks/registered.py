"""Finds exercises and quizzes. Each notebook's live in one module, which is imported when one of them is asked for."""

from __future__ import annotations

import importlib
import pkgutil
import re
from pathlib import Path
from types import ModuleType

from agentkit.checks.exercise import Exercise
from agentkit.checks.faces import shown
from agentkit.checks.guard import course_files
from agentkit.checks.quizzes import Quiz
from agentkit.errors import DefinitionError, did_you_mean

# What else the exercises of a notebook need may stand beside them, in nb03_checks and the like.
_MODULE = re.compile(r"nb[0-9a-z][0-9]")
_added: dict[str, str] = {}


def register(notebook: str, module: str) -> None:
    """Add the exercises of a notebook of your own.

    Args:
        notebook: the part of the ids before the point, for example ``"T1"``.
        module: the dotted name of a module that defines ``EXERCISES``, a tuple of `Exercise`, and ``QUIZ``, a `Quiz`.
    """
    _added[notebook] = module


def notebooks() -> tuple[str, ...]:
    """The notebooks that have exercises: ``("00", "01", …)``."""
    return tuple(sorted(_modules()))


def exercises_of(notebook: str) -> tuple[Exercise, ...]:
    """The exercises of one notebook, in order. Raises `DefinitionError` for a notebook without any."""
    found: tuple[Exercise, ...] = _load(notebook).EXERCISES
    return found


def quiz_of(notebook: str) -> Quiz:
    """The quiz of one notebook. Raises `DefinitionError` with a sentence when there is none."""
    found: Quiz = _load(notebook).QUIZ
    return found


def find(exercise_id: object) -> Exercise:
    """The exercise with this id. Raises `DefinitionError` with a sentence when there is none."""
    wanted = (exercise_id if isinstance(exercise_id, str) else shown(exercise_id)).strip()
    notebook, point, _ = wanted.partition(".")
    if point and notebook in _modules():
        for exercise in exercises_of(notebook):
            if exercise.id == wanted:
                return exercise
    known = [exercise.id for name in notebooks() for exercise in exercises_of(name)]
    raise DefinitionError(f"There is no exercise {wanted[:40]!r}. {_instead(wanted, known)}")


def _instead(wanted: str, known: list[str]) -> str:
    guess = did_you_mean(wanted, known)
    if guess:
        return guess.strip()
    return f"An id looks like {known[0]!r}." if known else "No exercises are registered yet."


def _modules() -> dict[str, str]:
    folder = str(Path(__file__).parent)
    package = __name__.rpartition(".")[0]
    shipped = {
        module.name[2:].upper(): f"{package}.{module.name}"
        for module in pkgutil.iter_modules([folder])
        if _MODULE.fullmatch(module.name)
    }
    return shipped | _added


def _load(notebook: str) -> ModuleType:
    modules = _modules()
    if notebook in modules:
        module = importlib.import_module(modules[notebook])
        course_files.add(module.__file__ or "")
        return module
    guess = did_you_mean(notebook, modules)
    listed = f"There are: {', '.join(sorted(modules))}." if modules else "None is registered yet."
    raise DefinitionError(f"There is no notebook {notebook[:40]!r} with exercises. {guess}{listed}")
