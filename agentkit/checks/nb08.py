"""The exercises and the quiz of notebook 08, the JSON contract."""

from __future__ import annotations

from agentkit.checks.exercise import Exercise, Wrong
from agentkit.checks.nb08_checks import check_arguments_of, check_key, check_rule, check_waves
from agentkit.checks.nb08_open import ONCE, SHIPPED
from agentkit.checks.nb08_quiz import QUIZ

__all__ = ["EXERCISES", "QUIZ"]

KEY = Exercise(
    id="08.1",
    title="The key of a call",
    prompt="Write `key(run_id, tool, arguments)`: equal for equal calls, different for any other.",
    stub='''\
def key(run_id, tool, arguments):
    """What makes two calls the same."""
    ...
''',
    check=check_key,
    hints=(
        "`json.dumps(arguments, sort_keys=True)` is the same text for every order of the keys.",
        "Three parts belong to the key: run, tool and arguments. A tuple keeps them apart.",
    ),
    solution='''\
def key(run_id, tool, arguments):
    """What makes two calls the same."""
    return run_id, tool, json.dumps(arguments, sort_keys=True)
''',
    why="The key is fixed before the call runs, and it depends on the call alone. So a retry finds its first try.",
    setup="import json\n",
    known_wrong=(
        Wrong("def key(run_id, tool, arguments):\n    return run_id, tool, str(arguments)\n", "sort the keys"),
        Wrong(
            "def key(run_id, tool, arguments):\n    return run_id, tool, str(sorted(arguments.items()))\n",
            "inside an argument",
        ),
        Wrong(
            "def key(run_id, tool, arguments):\n    return tool, json.dumps(arguments, sort_keys=True)\n",
            "another run must give another key",
        ),
        Wrong(
            "def key(run_id, tool, arguments):\n    return run_id + tool + json.dumps(arguments, sort_keys=True)\n",
            "keep the parts apart",
        ),
        Wrong("def key(run_id, tool, arguments):\n    return [run_id, tool, arguments]\n", "key of a dict"),
        Wrong(
            "def key(run_id, tool, arguments):\n    return run_id, tool, tuple(sorted(arguments.items()))\n",
            "may hold a list or a dict",
        ),
        Wrong(
            "def frozen(value):\n    if isinstance(value, dict):\n"
            "        return tuple(sorted((name, frozen(item)) for name, item in value.items()))\n"
            "    return tuple(map(frozen, value)) if isinstance(value, list) else value\n\n\n"
            "def key(run_id, tool, arguments):\n    return run_id, tool, frozen(arguments)\n",
            "1 and True must give different keys",
        ),
    ),
)

_UNWRAP = '''\
def arguments_of(text):
    """The arguments as a dict. Raises ValueError when they are not a JSON object."""
    value = text
    for _ in range(2):
        if isinstance(value, str):
            found = re.fullmatch(r"\\s*```\\w*\\n(.*)\\n```\\s*", value, re.DOTALL)
            value = (found.group(1) if found else value).strip()
            value = json.loads(value) if value else None
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ValueError("not a JSON object")
    return value
'''

ARGUMENTS = Exercise(
    id="08.2",
    title="What models write for an object",
    prompt="Write `arguments_of(text)`: a dict for every clear form, a ValueError for everything else.",
    stub='''\
def arguments_of(text):
    """The arguments as a dict. Raises ValueError when they are not a JSON object."""
    ...
''',
    check=check_arguments_of,
    hints=(
        "`json.loads` raises a ValueError by itself. Which texts must not reach it? Look at empty text first.",
        "If `json.loads` gives a text, it was encoded twice: load it once more.",
        r'A fence: `re.fullmatch(r"\s*```\w*\n(.*)\n```\s*", text, re.DOTALL)`; its `group(1)` is what stands inside.',
    ),
    solution=_UNWRAP,
    why="What is clear is unwrapped. What is not clear is refused with a sentence, never guessed.",
    setup="import ast\nimport json\nimport re\n",
    known_wrong=(
        Wrong("def arguments_of(text):\n    return json.loads(text)\n", "no arguments"),
        Wrong(
            "def arguments_of(text):\n    try:\n        return json.loads(text) or {}\n"
            "    except ValueError:\n        return {}\n",
            "encoded twice",
        ),
        Wrong(
            _UNWRAP.replace("json.loads(value) if value", "ast.literal_eval(value) if value and value != 'null'"),
            "single quotes",
        ),
        Wrong(_UNWRAP.replace('raise ValueError("not a JSON object")', "return value"), "a list is no object"),
        Wrong(
            'def arguments_of(text):\n    found = re.search(r"\\{.*\\}", text.replace("\\\\", ""), re.DOTALL)\n'
            "    return json.loads(found.group(0)) if found else {}\n",
            "a list is no object",
        ),
    ),
)  # fmt: skip

RULE = Exercise(
    id="08.3",
    title="A business rule",
    prompt="Write `may_refund(order, amount)`: a `ToolError` with the code not_delivered or too_much, or nothing.",
    stub='''\
def may_refund(order, amount):
    """Raises ToolError when this refund is not allowed."""
    ...
''',
    check=check_rule,
    hints=(
        'Begin with the status: `raise ToolError("…", code="not_delivered")` when it is not "delivered".',
        "What is left is `amount` of the order minus `refunded_amount`. Exactly that much is still allowed.",
    ),
    solution='''\
def may_refund(order, amount):
    """Raises ToolError when this refund is not allowed."""
    if order["status"] != "delivered":
        raise ToolError(f"Order {order['order_id']} is {order['status']}.", code="not_delivered")
    left = order["amount"] - order["refunded_amount"]
    if amount > left:
        raise ToolError(f"At most {left} can be paid back.", code="too_much", hint=f"Ask for {left} or less.")
''',
    why="The sentence is for the model and may change. The code is for programs and never changes.",
    setup="from agentkit import ToolError\n",
    known_wrong=(
        Wrong(
            'def may_refund(order, amount):\n    return order["status"] == "delivered" and amount <= order["amount"]\n',
            "a rule returns nothing",
        ),
        Wrong(
            'def may_refund(order, amount):\n    if order["status"] != "delivered":\n'
            '        raise ValueError("not_delivered")\n    if amount > order["amount"] - order["refunded_amount"]:\n'
            '        raise ValueError("too_much")\n',
            "a program reads the code",
        ),
        Wrong(
            'def may_refund(order, amount):\n    if order["status"] != "delivered":\n'
            '        raise ToolError("It is not delivered.", code="not_delivered")\n'
            '    if amount > order["amount"]:\n        raise ToolError("That is too much.", code="too_much")\n',
            "because 50,000 were paid back",
        ),
        Wrong(
            'def may_refund(order, amount):\n    if amount >= order["amount"] - order["refunded_amount"]:\n'
            '        raise ToolError("That is too much.", code="too_much")\n    if order["status"] != "delivered":\n'
            '        raise ToolError("It is not delivered.", code="not_delivered")\n',
            "is allowed, and it was refused",
        ),
    ),
)

WAVES = Exercise(
    id="08.4",
    title="What may run side by side",
    prompt="Write `waves(kinds)`: the positions of the calls in groups that may run at the same time, in order.",
    stub='''\
def waves(kinds):
    """Groups of positions: neighbouring reads together, every other call alone."""
    ...
''',
    check=check_waves,
    hints=(
        "Go through the kinds from left to right. Only a read directly after a read joins the last group.",
        "`enumerate(kinds)` gives position and kind; the kind before is `kinds[place - 1]`, if there is one.",
    ),
    solution='''\
def waves(kinds):
    """Groups of positions: neighbouring reads together, every other call alone."""
    groups = []
    for place, kind in enumerate(kinds):
        if groups and kind == "read" and kinds[place - 1] == "read":
            groups[-1].append(place)
        else:
            groups.append([place])
    return groups
''',
    why="Reads change nothing, so their order does not matter. A write stays where the model put it.",
    known_wrong=(
        Wrong("def waves(kinds):\n    return [[place] for place in range(len(kinds))]\n", "at the same time"),
        Wrong(
            'def waves(kinds):\n    reads = [p for p, k in enumerate(kinds) if k == "read"]\n'
            '    return ([reads] if reads else []) + [[p] for p, k in enumerate(kinds) if k != "read"]\n',
            "must not pass it",
        ),
        Wrong(
            "def waves(kinds):\n    groups = []\n    for place, kind in enumerate(kinds):\n"
            "        if groups and kind == kinds[place - 1]:\n            groups[-1].append(place)\n"
            "        else:\n            groups.append([place])\n    return groups\n",
            "one after the other",
        ),
        Wrong(
            "def waves(kinds):\n    groups = []\n    for place, kind in enumerate(kinds):\n"
            '        if groups and kind != "write" and kinds[place - 1] != "write":\n            groups[-1].append(place)\n'
            "        else:\n            groups.append([place])\n    return groups\n",
            "a dangerous call runs alone",
        ),
    ),
)

EXERCISES = (KEY, ARGUMENTS, RULE, WAVES, ONCE, SHIPPED)
