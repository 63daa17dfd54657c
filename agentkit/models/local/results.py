"""The results of the last measurement, read from results.json, with an interval for each rate."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from agentkit._jsonsafe import dumps
from agentkit.errors import DefinitionError

SCHEMA: Final = "agentkit.local-results/1"
RESULTS: Final = Path(__file__).with_name("results.json")
HEADER: Final = ("what", "right", "rate", "95 % interval")


@dataclass(frozen=True, slots=True)
class Answer:
    """One question of one method: what was wanted, what was written, word for word, and whether it is right."""

    question: str
    wanted: str
    wrote: str
    right: bool


@dataclass(frozen=True, slots=True)
class Measured:
    """One method: a short key, what was counted, and every answer."""

    key: str
    title: str
    answers: tuple[Answer, ...]

    @property
    def right(self) -> int:
        return sum(answer.right for answer in self.answers)

    @property
    def of(self) -> int:
        return len(self.answers)

    @property
    def interval(self) -> tuple[float, float]:
        """The Wilson 95 % interval of the rate, from 0 to 1."""
        return wilson(self.right, self.of)

    @property
    def wrong(self) -> tuple[Answer, ...]:
        return tuple(answer for answer in self.answers if not answer.right)


@dataclass(frozen=True, slots=True)
class Results:
    """One measurement: when, with what, how much CPU time it took (seconds), and one row for each method."""

    measured: str
    model: str
    engine: str
    machine: str
    seconds: float
    rows: tuple[Measured, ...]

    def row(self, key: str) -> Measured:
        """The method with this key. Raises `DefinitionError` when there is none."""
        for row in self.rows:
            if row.key == key:
                return row
        raise DefinitionError(f"There is no method {key!r}. The keys are {', '.join(row.key for row in self.rows)}.")


def wilson(right: int, of: int, z: float = 1.959964) -> tuple[float, float]:
    """The score interval of a rate, from 0 to 1; with the default ``z`` it holds the true rate 95 times of 100.

    Unlike the rate plus and minus a standard error it stays within 0 and 1, and it does not shrink to nothing when all
    or none are right. Source: E. B. Wilson (1927), "Probable inference, the law of succession, and statistical inference".

    Raises:
        DefinitionError: there are no trials, or more are right than there were.
    """
    if of < 1 or not 0 <= right <= of:
        raise DefinitionError(f"{right} of {of} is no rate: give 0 to {of} right ones of at least one trial.")
    rate, spread = right / of, z * z / of
    middle = (rate + spread / 2) / (1 + spread)
    half = z * math.sqrt(rate * (1 - rate) / of + spread / (4 * of)) / (1 + spread)
    return max(0.0, min(rate, middle - half)), min(1.0, max(rate, middle + half))  # min and max: rounding at 0 and 1


def load_results(path: Path = RESULTS) -> Results:
    """The stored measurement. Raises `DefinitionError` when the file is not one."""
    return _load(path)


@cache
def _load(path: Path) -> Results:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        if found["schema"] != SCHEMA:
            raise ValueError
        rows = tuple(_row(row) for row in found["rows"])
        names = ("measured", "model", "engine", "machine", "seconds")
        return Results(**{name: found[name] for name in names}, rows=rows)
    except (OSError, ValueError, KeyError, TypeError):
        text = f"{path.name} holds no results. Make them with: python -m agentkit.models.local.measure"
        raise DefinitionError(text) from None


def _row(row: dict[str, Any]) -> Measured:
    return Measured(row["key"], row["title"], tuple(Answer(**answer) for answer in row["answers"]))


def to_json(results: Results) -> str:
    """The results as JSON with one line for each answer, so that a person can read them."""
    head = {"schema": SCHEMA} | {key: item for key, item in asdict(results).items() if key != "rows"}
    rows = []
    for row in results.rows:
        answers = ",\n".join(f"  {dumps(asdict(answer))}" for answer in row.answers)
        rows.append(f' {{"key": {dumps(row.key)}, "title": {dumps(row.title)}, "answers": [\n{answers}\n ]}}')
    fields = "".join(f"{dumps(key)}: {dumps(item)},\n" for key, item in head.items())
    return "{\n" + fields + '"rows": [\n' + ",\n".join(rows) + "\n]}\n"


def store_results(results: Results, path: Path = RESULTS) -> None:
    """Write a measurement, for `load_results`."""
    path.write_text(to_json(results), encoding="utf-8", newline="\n")
    _load.cache_clear()


def results_table(results: Results | None = None, keys: Sequence[str] = ()) -> list[tuple[str, str, str, str]]:
    """The rows for ``show.table(results_table(), header=HEADER)``: what, k of n, the rate, and its interval.

    Args:
        results: the stored ones by default.
        keys: only these methods, in this order.
    """
    results = results or load_results()
    rows = [results.row(key) for key in keys] if keys else results.rows
    return [(row.title, f"{row.right} of {row.of}", _percent(row.right / row.of), _interval(row)) for row in rows]


def _interval(row: Measured) -> str:
    low, high = row.interval
    return f"{_percent(low)} to {_percent(high)}"


def _percent(rate: float) -> str:
    return f"{100 * rate:.0f} %"
