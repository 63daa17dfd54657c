"""Exercise 07.5: a habit of some server, and what makes its documents ordinary."""

from __future__ import annotations

from agentkit.checks.exercise import Exercise, Wrong
from agentkit.checks.nb07_checks import check_habit

_DOCUMENT = """\
def document(message):
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": "stop"}
    return {"choices": [choice], "usage": {"prompt_tokens": 9, "completion_tokens": 3}}


"""

_FIX = """\
def fix(document):
    for call in document["choices"][0]["message"].get("tool_calls") or ():
        if isinstance(call["function"]["arguments"], dict):
            call["function"]["arguments"] = json.dumps(call["function"]["arguments"])
    return document


"""

_HABIT = """\
call = {"id": "c1", "type": "function", "function": {"name": "search", "arguments": {"query": "ASGI"}}}
habit = (document({"content": None, "tool_calls": [call]}), fix)
"""

HABIT = Exercise(
    id="07.5",
    title="A habit of a server",
    prompt="Hand in a pair: a document of Chat Completions that a server with a habit of its own might send (a reader "
    "that knows only the reference cannot read it, or reads thoughts as the answer), and `fix(document)`, which makes it "
    "ordinary.",
    stub="def fix(document):\n    ...\n\n\nhabit = (..., fix)\n",
    check=check_habit,
    hints=(
        "Known habits: arguments as an object or empty, content as a list of parts, `<think>…</think>` before the answer, a "
        "call without an id, usage that is null.",
        "Begin with the document. `document({...})` of the notebook makes an ordinary one; then change one thing in it.",
        "In `fix`, look whether the habit is there. Where it is not, return the document as it is.",
    ),
    setup="import json\n\n\n" + _DOCUMENT,
    solution=_FIX + _HABIT,
    why="Each habit is met at one place, and ordinary documents pass through unchanged.",
    known_wrong=(
        Wrong(_FIX + _HABIT.replace('{"query": "ASGI"}}', '\'{"query": "ASGI"}\'}'), "there is no habit in it"),
        Wrong(
            _FIX.replace('["arguments"] = json.dumps(call["function"]["arguments"])', '["arguments"] = "{}"') + _HABIT,
            "and the server meant",
        ),
        Wrong(
            "def fix(document):\n    return document\n\n\n" + _HABIT,
            "a strict reader still cannot read the document",
        ),
        Wrong(
            'def fix(document):\n    return {"choices": document["choices"]}\n\n\n' + _HABIT,
            "an ordinary document as it is",
        ),
        Wrong(_FIX + _HABIT + "habit = fix\n", "hand in a pair"),
    ),
)
