"""A complete example of a notebook's exercises: the pattern for the modules in ``agentkit/checks``, used in tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agentkit.checks import CheckFailed, ContractReport, Exercise, Option, Question, Quiz, Wrong, expect, shown
from agentkit.checks.contracts import memory_contract


def _check_longest(longest: Callable[[list[str]], Any]) -> None:
    found = longest(["a", "abc", "ab"])
    expect(found == "abc", f'the longest of "a", "abc" and "ab" is "abc", but you return {shown(found)}')
    expect(longest(["ab", "cd"]) == "ab", "when two are equally long, return the first")
    expect(longest([]) == "", "an empty list has no longest text; return an empty text")


def _check_schema(schema: Any) -> None:
    if not isinstance(schema, dict):
        raise CheckFailed(f"a JSON Schema is a dict, not {shown(schema)}")
    expect(schema.get("type") == "object", 'the arguments of a tool are an object: "type" must be "object"')
    expect(schema.get("required") == ["city"], 'a call without a city makes no sense: "required" must be ["city"]')


def _check_window(window: Any) -> ContractReport:
    return memory_contract(window)


LONGEST = Exercise(
    id="T1.1",
    title="The longest text",
    prompt="Write `longest(texts)`: the longest of several texts, the first one when two are equally long.",
    stub='''\
def longest(texts):
    """The longest of the texts."""
    ...
''',
    check=_check_longest,
    hints=("`max` takes a `key`.", "`max(texts, key=len)` fails on an empty list. What does `default` do?"),
    solution='''\
def longest(texts):
    """The longest of the texts."""
    return max(texts, key=len, default="")
''',
    why="`max` returns the first of several equal ones, and `default` is returned for an empty list.",
    known_wrong=(
        Wrong("def longest(texts):\n    return sorted(texts, key=len)[0]\n", "but you return 'a'"),
        Wrong("def longest(texts):\n    return sorted(texts, key=len)[-1]\n", "return the first"),
        Wrong("def longest(texts):\n    return max(texts, key=len)\n", "ValueError in line 2 of `longest`"),
        Wrong("def longest(texts):\n    while True: pass\n", "endless loop"),
    ),
)

SCHEMA = Exercise(
    id="T1.2",
    title="A schema by hand",
    prompt="Fill in the JSON Schema of a tool that takes one city.",
    stub='schema = {"type": ..., "properties": {"city": {"type": "string"}}, "required": ...}\n',
    check=_check_schema,
    hints=("A call has named arguments. Which JSON type has names?", '"required" is a list of names.'),
    solution='schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}\n',
    why="The model writes one JSON object, and `required` names what it must not leave out.",
    known_wrong=(
        Wrong('schema = "object"\n', "a JSON Schema is a dict, not 'object'"),
        Wrong('schema = {"type": "string", "required": ["city"]}\n', '"type" must be "object"'),
        Wrong('schema = {"type": "object", "required": True}\n', '"required" must be ["city"]'),
    ),
)

_WINDOW = """\
class Window:
    def __init__(self, limit):
        self.limit = limit

    def view(self, messages):
        if len(messages) <= self.limit:
            return list(messages)
        head, tail = list(messages[:2]), []
        for unit in reversed(units(messages[2:])):
            if len(head) + len(tail) + len(unit) > self.limit:
                break
            tail = unit + tail
        return head + tail
"""

WINDOW = Exercise(
    id="T1.3",
    title="A window that never cuts a call",
    prompt="Complete `Window.view`. `units(messages)` gives the messages in lists that belong together.",
    setup="""\
def units(messages):
    found = []
    for message in messages:
        if message.role == "tool" and found:
            found[-1].append(message)
        else:
            found.append([message])
    return found
""",
    stub="""\
class Window:
    def __init__(self, limit):
        self.limit = limit

    def view(self, messages):
        if len(messages) <= self.limit:
            return list(messages)
        head, tail = list(messages[:2]), []
        ...
""",
    check=_check_window,
    hints=("Walk over the units from the newest to the oldest.", "Stop at the first unit that does not fit."),
    solution=_WINDOW,
    why="A call and its results are one unit, so no provider ever sees one without the other.",
    known_wrong=(
        Wrong(_WINDOW.replace("units(messages[2:])", "[[m] for m in messages[2:]]"), "is sent without its call"),
        Wrong(_WINDOW.replace("messages[:2]), []", "messages[:1]), []").replace("[2:]", "[1:]"), "the first goal"),
        Wrong(_WINDOW.replace("return head + tail", "head + tail"), "must be a list of messages, not None"),
    ),
)

EXERCISES = (LONGEST, SCHEMA, WINDOW)

QUIZ = Quiz(
    "T1",
    (
        Question(
            "What does a model remember between two requests?",
            (
                Option("What you send it", "A request holds everything that the model knows about the conversation."),
                Option("The whole conversation", "Nothing is kept on its side; you send it again each time."),
            ),
            right="a",
        ),
        Question(
            "Who runs a tool?",
            (
                Option("The model", "The model only writes a name and arguments."),
                Option("Your program", "Your program decides whether and how the call runs."),
                Option("The provider", "The provider passes the text on; it has no access to your functions."),
            ),
            right="b",
        ),
        Question(
            "What is an observation?",
            (
                Option("The goal", "The goal comes from the user, before any tool runs."),
                Option("A log line", "A log is for people; the model does not read it."),
                Option("The result of a tool call", "It enters the history, and the model sees it next."),
            ),
            right="c",
        ),
    ),
)
