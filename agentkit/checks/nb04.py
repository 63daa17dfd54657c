"""The exercises and the quiz of notebook 04, memory."""

from __future__ import annotations

from agentkit.checks.exercise import Exercise, Wrong
from agentkit.checks.nb04_checks import check_groups, check_keep, check_policy, check_repaired, check_tokens
from agentkit.checks.nb04_quiz import QUIZ

__all__ = ["EXERCISES", "QUIZ"]

TOKENS = Exercise(
    id="04.1",
    title="Estimate tokens",
    prompt="Write `tokens(text)`: the number of UTF-8 bytes divided by four, rounded up.",
    stub='''\
def tokens(text):
    """About how many tokens a text has."""
    ...
''',
    check=check_tokens,
    hints=(
        '`text.encode("utf-8")` gives the bytes, and `len` counts them.',
        "`math.ceil(number)` rounds up. So does `(count + 3) // 4`, without a division that gives a fraction.",
    ),
    solution='''\
def tokens(text):
    """About how many tokens a text has."""
    return math.ceil(len(text.encode("utf-8")) / 4)
''',
    why="Bytes follow the script: a Korean syllable has three, an English letter one.",
    setup="import math\n",
    known_wrong=(
        Wrong("def tokens(text):\n    return math.ceil(len(text) / 4)\n", "each Korean syllable has 3 bytes"),
        Wrong('def tokens(text):\n    return len(text.encode("utf-8")) // 4\n', "round up"),
        Wrong('def tokens(text):\n    return len(text.encode("utf-8")) / 4\n', "a whole number"),
        Wrong("def tokens(text):\n    return len(text.split())\n", "5 bytes are more than one token"),
    ),
)

GROUPS = Exercise(
    id="04.2",
    title="What belongs together",
    prompt="Write `groups(messages)`: a list of lists, oldest first; a call and all its results are one list.",
    stub='''\
def groups(messages):
    """The units of a history, as lists of messages."""
    ...
''',
    check=check_groups,
    hints=(
        "Walk over the messages from the oldest on. Which messages begin a new list, and which join the last one?",
        'A message with the role `"tool"` joins the last list: `found[-1].append(message)`. Any other begins a new one.',
    ),
    solution='''\
def groups(messages):
    """The units of a history, as lists of messages."""
    found = []
    for message in messages:
        if message.role == "tool":
            found[-1].append(message)
        else:
            found.append([message])
    return found
''',
    setup="from agentkit.memory import units\n",
    why="A unit is a message with the results that follow it. One call may have many results, so a fixed pair is not enough.",
    known_wrong=(
        Wrong(
            "def groups(messages):\n    return [[message] for message in messages]\n", "a group begins with a result"
        ),
        Wrong(
            "def groups(messages):\n    return [list(messages[n:n + 2]) for n in range(0, len(messages), 2)]\n",
            "more than one unit",
        ),
        Wrong(
            "def groups(messages):\n    found = []\n    for message in messages:\n"
            '        if message.role in ("system", "user") or not found:\n            found.append([message])\n'
            "        else:\n            found[-1].append(message)\n    return found\n",
            "more than one unit",
        ),
        Wrong(
            "def groups(messages):\n    found = []\n    for message in messages:\n"
            '        if message.role == "tool" and found and len(found[-1]) == 1:\n            found[-1].append(message)\n'
            "        else:\n            found.append([message])\n    return found\n",
            "a group begins with a result",
        ),
        Wrong(
            'def groups(messages):\n    return [[message] for message in messages if message.role != "tool"]\n',
            "all 2 messages must be in the groups",
        ),
        Wrong(
            "def groups(messages):\n    return [list(unit) for unit in units(messages)][::-1]\n",
            "not their positions",
        ),
        Wrong(
            "def groups(messages):\n    return [[messages[place] for place in unit] for unit in units(messages)]\n",
            "the oldest first",
        ),
    ),
)

_REPAIRED = '''\
def repaired(messages):
    """The same history, so that both providers accept it."""
    kept, waiting = [], {}
    for message in messages:
        if message.role == "tool":
            if waiting.pop(message.result.call_id, None):
                kept.append(message)
            continue
        kept += [lost(call) for call in waiting.values()]
        waiting = {call.id: call for call in message.calls}
        kept.append(message)
    return kept + [lost(call) for call in waiting.values()]
'''

REPAIRED = Exercise(
    id="04.3",
    title="Repair a history",
    prompt="Write `repaired(messages)`: drop results without a call, and add `lost(call)` for calls without a result.",
    stub='''\
def repaired(messages):
    """The same history, so that both providers accept it."""
    ...
''',
    check=check_repaired,
    hints=(
        "Walk over the messages and remember in a dict which calls still wait for a result: `waiting[call.id] = call`.",
        "A result that is waited for is kept, and its call waits no longer. Any other result is dropped.",
        "Before any message that is no result, and at the end, add `lost(call)` for each call that still waits.",
    ),
    solution=_REPAIRED,
    why="Every call has exactly one result, right after it, and an error is honest about what nobody has seen.",
    setup="from agentkit import Message, ToolResult\nfrom agentkit.checks.nb04_checks import lost\n",
    known_wrong=(
        Wrong(
            "def repaired(messages):\n    calls = {call.id for message in messages for call in message.calls}\n"
            "    return [m for m in messages if m.result is None or m.result.call_id in calls]\n",
            "a provider still refuses your history",
        ),
        Wrong(
            "def repaired(messages):\n    done = {m.result.call_id for m in messages if m.result}\n"
            "    calls = {call.id for m in messages for call in m.calls}\n"
            "    return [m for m in messages if (m.result is None or m.result.call_id in calls)\n"
            "            and all(call.id in done for call in m.calls)]\n",
            "has gone or has changed",
        ),
        Wrong(
            "def repaired(messages):\n    calls = {call.id: call for m in messages for call in m.calls}\n"
            "    kept = [m for m in messages if m.result is None or m.result.call_id in calls]\n"
            "    done = {m.result.call_id for m in kept if m.result}\n"
            "    return kept + [lost(call) for name, call in calls.items() if name not in done]\n",
            "one of two calls has no result",
        ),
        Wrong(
            _REPAIRED.replace("lost(call)", 'Message("tool", result=ToolResult(call.id, call.name, data=""))'),
            "must be an error",
        ),
        Wrong(
            "def repaired(messages):\n    kept = []\n    for m in messages:\n"
            "        if m.result is None:\n            kept += [m, *map(lost, m.calls)]\n    return kept\n",
            "must stay as it is",
        ),
    ),
)

_KEEP = '''\
def keep(messages, limit, pins):
    """The newest units that fit, and always what is pinned."""
    whole = [set(unit) for unit in units(messages)]
    kept = set(pinned(messages)).union(*(unit for unit in whole if unit & set(pins)))
    for unit in whole:
        if len(kept | unit) > limit:
            break
        kept |= unit
    return [messages[place] for place in sorted(kept)]
'''

KEEP = Exercise(
    id="04.4",
    title="Pin a message",
    prompt="Write `keep(messages, limit, pins)`: a window that also sends the messages at the positions in `pins`.",
    stub='''\
def keep(messages, limit, pins):
    """The newest units that fit, and always what is pinned."""
    ...
''',
    check=check_keep,
    hints=(
        "`pinned(messages)` gives the positions that are always sent, `units(messages)` the units, newest first.",
        "Work with a set of positions. Put in what must be sent first; then add the newest units while they fit.",
        "A pinned result needs its call: for each unit that holds a pin, add the whole unit.",
    ),
    solution=_KEEP,
    why="Pins are counted first, a unit is never split, and the order of the history stays.",
    setup="from agentkit.memory import pinned, units\n",
    known_wrong=(
        Wrong(_KEEP.replace("if unit & set(pins)", "if False"), "is not sent"),
        Wrong(
            _KEEP.replace(".union(*(unit for unit in whole if unit & set(pins)))", "").replace(
                "sorted(kept)", "sorted(kept | set(pins))"
            ),
            "the pinned ones count too",
        ),
        Wrong(
            _KEEP.replace(".union(*(unit for unit in whole if unit & set(pins)))", " | set(pins)"),
            "a provider refuses what is sent",
        ),
        Wrong(_KEEP.replace("sorted(kept)", "sorted(kept, key=lambda p: (p not in pins, p))"), "order of the history"),
        Wrong("def keep(messages, limit, pins):\n    return messages[-limit:]\n", "with a limit of 5"),
    ),
)

POLICY = Exercise(
    id="04.5",
    title="Your own memory",
    prompt="Write a class with `view(self, messages, tools)` that sends less than everything, and hand it in.",
    stub='''\
class MyMemory:
    """Say here what your memory sends."""

    def view(self, messages, tools):
        ...
''',
    check=check_policy,
    hints=(
        "Ideas: whole units of the latest goal only; short results for old calls; a window for each goal.",
        "To shorten an old result, make a new message: `replace(message, result=replace(message.result, data=…))`.",
        "Leave the newest unit as it is: the model has not read it yet.",
    ),
    solution='''\
class MyMemory:
    """Sends every message, but the data of results from before the latest goal are left out."""

    def view(self, messages, tools):
        latest = [place for place, message in enumerate(messages) if message.role == "user"][-1]
        return [
            self.short(message) if message.result and place < latest else message
            for place, message in enumerate(messages)
        ]

    def short(self, message):
        return replace(message, result=replace(message.result, data="(left out)", error=None))
''',
    why="The loop asks any object with a `view`; yours was used for a whole conversation, and no provider would refuse it.",
    setup="from dataclasses import replace\nfrom agentkit import Memory\n",
    known_wrong=(
        Wrong(
            "class MyMemory:\n    def view(self, messages, tools):\n        return messages",
            "sends everything",
        ),
        Wrong(
            "class MyMemory:\n    def view(self, messages, tools):\n        return messages[-4:]",
            "a provider refuses what is sent",
        ),
        Wrong(
            "class MyMemory:\n    def view(self, messages, tools):\n"
            '        return [m for m in messages if not m.calls and m.role != "tool"]',
            "does the model see what its last calls have found",
        ),
        Wrong("MyMemory = Memory\n", "a class of your own"),
        Wrong(
            "class MyMemory:\n    def view(self, messages, tools):\n        return messages[:2]",
            "ended with `stuck`",
        ),
    ),
)

EXERCISES = (TOKENS, GROUPS, REPAIRED, KEEP, POLICY)
