"""Exercises that answer back: checks, hints, solutions, quizzes, progress, and contracts for hand-made pieces.

The exercises of notebook 03 stand in ``nb03.py``, as ``EXERCISES`` (a tuple of `Exercise`) and ``QUIZ`` (a `Quiz` with
three questions). Nothing else is needed to register them. `tests/_example_exercises.py` shows a complete module.
"""

from __future__ import annotations

from agentkit.checks.contract_report import ContractReport
from agentkit.checks.contracts import (
    loop_contract,
    mcp_client_contract,
    mcp_server_contract,
    memory_contract,
    react_parser_contract,
    registry_contract,
    tool_contract,
)
from agentkit.checks.exercise import CheckFailed, Exercise, Verdict, Wrong, expect
from agentkit.checks.faces import shown
from agentkit.checks.front import Progress, check, hint, progress, quiz, solution, solution_source
from agentkit.checks.quizzes import Option, Question, Quiz, QuizResult
from agentkit.checks.registered import register
from agentkit.checks.selftest import faults, quiz_faults

__all__ = [
    "CheckFailed", "ContractReport", "Exercise", "Option", "Progress", "Question", "Quiz", "QuizResult", "Verdict",
    "Wrong", "check", "expect", "faults", "hint", "loop_contract", "mcp_client_contract", "mcp_server_contract",
    "memory_contract", "progress", "quiz", "quiz_faults",
    "react_parser_contract", "register", "registry_contract", "shown", "solution", "solution_source", "tool_contract",
]  # fmt: skip
