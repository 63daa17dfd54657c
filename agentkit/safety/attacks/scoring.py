"""How many attacks succeed under which defences, and what is left of the usefulness."""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from agentkit.safety.attacks.by_approvals import APPROVALS
from agentkit.safety.attacks.by_calls import CALLS
from agentkit.safety.attacks.by_files import FILES
from agentkit.safety.attacks.by_orders import ORDERS
from agentkit.safety.attacks.by_research import RESEARCH
from agentkit.safety.attacks.by_tools import TOOLS
from agentkit.safety.attacks.defences import ALL, DEFENCES, attempt, checked, try_task
from agentkit.safety.attacks.parts import Attack
from agentkit.safety.attacks.tasks import TASKS
from agentkit.show import table

ATTACKS: Final[tuple[Attack, ...]] = ORDERS + RESEARCH + FILES + TOOLS + CALLS + APPROVALS

EACH: Final[tuple[tuple[str, ...], ...]] = ((), *((name,) for name in DEFENCES), ALL)
"""No defence, each one alone, all together."""


@dataclass(frozen=True, slots=True)
class Row:
    """What some defences are worth.

    Attributes:
        defences: their names.
        attacks: the ids of the attacks that were tried.
        harmed: the ids of those that did harm.
        tasks, useful: the tasks done with nobody attacking: all, and those in which the user got what they wanted.
        attacked, useful_attacked: the same for the runs of a user during an attack by text.
    """

    defences: tuple[str, ...]
    attacks: tuple[str, ...]
    harmed: tuple[str, ...]
    tasks: int
    useful: int
    attacked: int
    useful_attacked: int

    @property
    def name(self) -> str:
        if not self.defences:
            return "none"
        return "all together" if self.defences == ALL else " + ".join(self.defences)

    @property
    def success(self) -> float:
        """The share of attacks that did harm, from 0 to 1."""
        return len(self.harmed) / len(self.attacks)

    @property
    def utility(self) -> float:
        """The share of tasks that were done with nobody attacking, from 0 to 1."""
        return self.useful / self.tasks

    @property
    def utility_attacked(self) -> float:
        """The share of users who got what they wanted during an attack, from 0 to 1."""
        return self.useful_attacked / self.attacked if self.attacked else 0.0


@dataclass(frozen=True, slots=True)
class Table:
    """The rows of a score, in the order in which they were asked for. It shows itself in a notebook."""

    rows: tuple[Row, ...]
    header = ("defence", "attacks that succeed", "tasks done", "tasks done under attack")

    def cells(self) -> list[list[str]]:
        """The rows as texts, "k of n", for `agentkit.show.table`."""
        return [
            [
                row.name,
                f"{len(row.harmed)} of {len(row.attacks)}",
                f"{row.useful} of {row.tasks}",
                f"{row.useful_attacked} of {row.attacked}",
            ]
            for row in self.rows
        ]

    def data(self) -> dict[str, tuple[float, float, float]]:
        """For a plot: for each row its attack success, utility, and utility under attack, each from 0 to 1."""
        return {row.name: (row.success, row.utility, row.utility_attacked) for row in self.rows}

    def by_kind(self) -> tuple[list[str], list[list[str]]]:
        """Header and rows of a table: for each kind of attack and each set of defences, how many of how many succeed."""
        kinds = {each.id: each.kind for each in ATTACKS}
        names = list(dict.fromkeys(kinds[id] for id in self.rows[0].attacks))

        def count(ids: Iterable[str], kind: str) -> int:
            return sum(kinds[id] == kind for id in ids)

        body = [
            [kind, *(f"{count(row.harmed, kind)} of {count(row.attacks, kind)}" for row in self.rows)] for kind in names
        ]
        return ["kind", *(row.name for row in self.rows)], body

    def __str__(self) -> str:
        return str(table(self.cells(), self.header))

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return str(table(self.cells(), self.header)._repr_html_())


def score(
    defences: Iterable[Collection[str]] = EACH,
    *,
    attacks: Iterable[Attack] = ATTACKS,
    honours: float = 0.5,
) -> Table:
    """Try every attack, and every task, under each of some sets of defences.

    Args:
        defences: sets of names from `DEFENCES`; by default none, each alone, and all together.
        attacks: the attacks to try. Those that need symbolic links are left out where the system cannot make any.
        honours: the share of fences that the gullible model honours. It is an assumption, so look at several values.

    Raises:
        DefinitionError: a defence is not known.
    """
    sets = [checked(each) for each in defences]
    tried = [each for each in attacks if links_can_be_made() or not each.links]
    return Table(tuple(_row(each, tried, honours) for each in sets))


def _row(defences: tuple[str, ...], attacks: list[Attack], honours: float) -> Row:
    outcomes = [(each, attempt(each, defences, honours=honours)) for each in attacks]
    by_text = [outcome for attack, outcome in outcomes if attack.needs_gullible]
    done = [try_task(task, defences, honours=honours).useful for task in TASKS]
    return Row(
        defences,
        tuple(each.id for each in attacks),
        tuple(outcome.name for _, outcome in outcomes if outcome.harmed),
        len(done),
        sum(done),
        len(by_text),
        sum(outcome.useful for outcome in by_text),
    )


@functools.cache
def links_can_be_made() -> bool:
    """Whether this system lets an ordinary user make symbolic links (Windows often does not)."""
    with tempfile.TemporaryDirectory(prefix="agentkit-") as folder:
        try:
            (Path(folder) / "link").symlink_to(folder, target_is_directory=True)
        except (OSError, NotImplementedError):
            return False
    return True
