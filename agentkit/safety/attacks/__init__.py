"""A set of attacks on agents, and what each defence stops of it.

`score` tries every attack in `ATTACKS` under no defence, under each one alone, and under all of them, and measures beside it
whether users still get what they want. Harm and usefulness are read off the world (what was sent, paid, written, read),
never off an answer. The numbers tell about this set and about a model that believes everything; they are not those of any
real model. The layout follows AgentDojo (Debenedetti et al. 2024): attack success, utility, and utility under attack.
"""

from __future__ import annotations

from agentkit.safety.attacks.defences import ALL, DEFENCES, Outcome, attempt, try_task
from agentkit.safety.attacks.gullible import GullibleModel
from agentkit.safety.attacks.hidden import order
from agentkit.safety.attacks.parts import Attack, Task
from agentkit.safety.attacks.scoring import ATTACKS, EACH, Row, Table, score
from agentkit.safety.attacks.tasks import TASKS

__all__ = [
    "ALL", "ATTACKS", "DEFENCES", "EACH", "TASKS", "Attack", "GullibleModel", "Outcome", "Row", "Table", "Task", "attempt",
    "order", "score", "try_task",
]  # fmt: skip
