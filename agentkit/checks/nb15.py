"""The exercises and the quiz of notebook 15, safety."""

from __future__ import annotations

from agentkit.checks.exercise import Exercise, Wrong
from agentkit.checks.nb15_attack import ATTACK, DEFEND, OWN
from agentkit.checks.nb15_checks import check_first_break, check_levels, check_power
from agentkit.checks.nb15_quiz import QUIZ

__all__ = ["EXERCISES", "QUIZ"]

_LEVELS = """\
levels = {
    "search_notes": "read",
    "rename_note": "write",
    "delete_account": "dangerous",
    "send_money": "dangerous",
    "list_orders": "read",
    "set_reminder": "write",
}
"""


def _levels_with(name: str, level: str, lacks: str) -> Wrong:
    lines = [f'    "{name}": "{level}",' if f'"{name}"' in line else line for line in _LEVELS.splitlines()]
    return Wrong("\n".join(lines) + "\n", lacks)


LEVELS = Exercise(
    id="15.1",
    title="Levels",
    prompt='Give each of six tools its level: "read", "write" or "dangerous".',
    stub="levels = ...\n",
    check=check_levels,
    hints=(
        "Two questions: does it change anything? And if so, can the change be taken back?",
        'Changes nothing: "read". Can be taken back: "write". Cannot: "dangerous". Two tools have each level.',
    ),
    solution=_LEVELS,
    why="The level says how much harm one wrong call can do, not how likely it is.",
    known_wrong=(
        _levels_with("send_money", "write", "does not come back"),
        _levels_with("delete_account", "write", "cannot be brought back"),
        _levels_with("set_reminder", "read", "it changes something"),
        _levels_with("search_notes", "write", "changes nothing"),
    ),
)

_BREAK = '''\
def first_break(records, anchor):
    """The number of the first record that does not fit, or None."""
    count, last = anchor
    before = "start"
    for number, record in enumerate(records, 1):
        seal = hashlib.sha256(f"{before} {record['event']}".encode()).hexdigest()[:8]
        if record["before"] != before or record["hash"] != seal:
            return number
        before = record["hash"]
        if number == count and before != last:
            return number
    return len(records) + 1 if len(records) < count else None
'''


def _break_with(old: str, new: str, lacks: str) -> Wrong:
    """The solution with one thing changed, and what the learner must be told then."""
    assert old in _BREAK
    return Wrong(_BREAK.replace(old, new), lacks)


BREAK = Exercise(
    id="15.2",
    title="A chain with an anchor",
    prompt="Write `first_break(records, anchor)`: the number of the first record that does not fit, or None.",
    stub='''\
def first_break(records, anchor):
    """The number of the first record that does not fit, or None."""
    ...
''',
    check=check_first_break,
    hints=(
        "Begin with `first_gap` of the notebook. It returns a sentence; you return the number.",
        "After the loop: are there fewer records than the anchor says? Then record `len(records) + 1` is missing.",
        "Inside the loop, at the record whose number the anchor names, compare its hash with that of the anchor.",
    ),
    setup="import hashlib\n",
    solution=_BREAK,
    why="The chain finds what was changed inside. Only something kept elsewhere finds a cut end, or a log written anew.",
    known_wrong=(
        _break_with(
            "    return len(records) + 1 if len(records) < count else None\n",
            "    return None\n",
            "the end was cut off",
        ),
        _break_with("        if number == count and before != last:\n            return number\n", "", "written anew"),
        _break_with(
            'record["before"] != before or record["hash"] != seal', 'record["before"] != before', "was changed after"
        ),
        _break_with("enumerate(records, 1)", "enumerate(records)", "record 2"),
        _break_with(
            "    return len(records) + 1 if len(records) < count else None\n",
            "    return len(records) + 1 if len(records) < count else count + 1 if len(records) > count else None\n",
            "is new, and allowed",
        ),
    ),
)

_POWER = '''\
def power(base, exponent, most):
    """The power, or a ToolError before it is computed."""
    size = exponent * math.log10(abs(base)) if abs(base) > 1 else 0
    if exponent < 0 or size >= most:
        raise ToolError(f"This power has more than {most} digits.", code="too_large")
    return base**exponent
'''


def _power_with(old: str, new: str, lacks: str) -> Wrong:
    assert old in _POWER
    return Wrong(_POWER.replace(old, new), lacks)


POWER = Exercise(
    id="15.3",
    title="The size first",
    prompt="Write `power(base, exponent, most)`: the value, or a ToolError (too_large) before it is computed.",
    stub='''\
def power(base, exponent, most):
    """The power, or a ToolError before it is computed."""
    ...
''',
    check=check_power,
    hints=(
        "`base**exponent` has about `exponent * math.log10(abs(base))` digits. That number is small and quick.",
        "The logarithm of 0 does not exist. For 0, 1 and -1 the power is small, whatever the exponent.",
        'Raise `ToolError("…", code="too_large")` when the exponent is negative or the size is `most` or more.',
    ),
    setup="import math\nfrom agentkit import ToolError\n",
    solution=_POWER,
    why="Computing first and looking afterwards is too late: the value itself may need more memory than there is.",
    known_wrong=(
        Wrong(
            "def power(base, exponent, most):\n    value = base**exponent\n"
            '    if exponent < 0 or abs(value) >= 10**most:\n        raise ToolError("Too large.", code="too_large")\n'
            "    return value\n",
            "was computed before it was refused",
        ),
        _power_with("abs(base) > 1 else 0", "True else 0", "ValueError"),
        _power_with("exponent < 0 or ", "", "negative exponent"),
        _power_with("size >= most", "exponent > 200", "has few digits"),
        _power_with("size >= most", "size > most", "has 31 digits"),
        _power_with(', code="too_large"', "", "the code is too_large"),
    ),
)

EXERCISES = (LEVELS, BREAK, POWER, DEFEND, ATTACK, OWN)
