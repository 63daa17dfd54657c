"""The exercises and the quiz of notebook 13, MCP by hand."""

from __future__ import annotations

from agentkit.checks.exercise import Exercise, Wrong
from agentkit.checks.nb13_checks import check_answer_to, check_kind, check_outcome
from agentkit.checks.nb13_open import HASTY, OWN
from agentkit.checks.nb13_quiz import QUIZ

__all__ = ["EXERCISES", "QUIZ"]


def _with(solution: str, old: str, new: str, lacks: str) -> Wrong:
    """The solution with one thing changed, and what the learner must be told then."""
    assert old in solution
    return Wrong(solution.replace(old, new), lacks)


_KIND = '''\
def kind_of(message):
    """The kind of a JSON-RPC message."""
    if "method" in message:
        return "request" if "id" in message else "notification"
    return "result" if "result" in message else "error"
'''

KIND = Exercise(
    id="13.1",
    title="Four kinds of message",
    prompt='Write `kind_of(message)`: "request", "notification", "result" or "error".',
    stub='''\
def kind_of(message):
    """The kind of a JSON-RPC message."""
    ...
''',
    check=check_kind,
    hints=(
        "Look at the four lines printed under *Four kinds of message*. Which two have a `method`?",
        'With a `method`: `"id" in message` tells a request from a notification. Without: is there a `result`?',
    ),
    solution=_KIND,
    why="The keys alone say what a message is. Their values may be 0, empty or null.",
    known_wrong=(
        _with(_KIND, '"id" in message', 'message.get("id")', "0 is an id like any other"),
        _with(_KIND, '"result" in message', 'message.get("result")', "an empty result is a result"),
        Wrong(_KIND.replace("(message)", "()"), "needs the function itself"),
        _with(_KIND, '"request" if "id" in message else "notification"', '"request"', "it has a method and no id"),
        Wrong(
            'def kind_of(message):\n    if "id" not in message:\n        return "notification"\n'
            '    return "result" if "result" in message else "request"\n',
            "'error' (it has an error)",
        ),
    ),
)

_OUTCOME = '''\
def outcome(message):
    """A pair: "ok", "failed" or "refused", and the text."""
    if "error" in message:
        return "refused", message["error"]["message"]
    result = message["result"]
    text = "\\n".join(block["text"] for block in result["content"] if block["type"] == "text")
    return "failed" if result.get("isError") else "ok", text
'''

OUTCOME = Exercise(
    id="13.2",
    title="Three outcomes of a call",
    prompt='Write `outcome(message)`: "ok", "failed" or "refused", and the text.',
    stub='''\
def outcome(message):
    """A pair: "ok", "failed" or "refused", and the text."""
    ...
''',
    check=check_outcome,
    hints=(
        'Begin with `if "error" in message`: then there is no result to look at.',
        'In a result, `result.get("isError")` says whether the tool failed; it may be missing.',
        'The text: `"\\n".join(block["text"] for block in result["content"] if block["type"] == "text")`.',
    ),
    solution=_OUTCOME,
    why="A refused request is a mistake of the program. A failed tool is news for the model. Never mix them up.",
    known_wrong=(
        _with(_OUTCOME, '"failed" if result.get("isError") else "ok"', '"ok"', "the tool says that it failed"),
        _with(_OUTCOME, 'result.get("isError")', 'result["isError"]', "`isError` may be missing"),
        _with(
            _OUTCOME,
            '"\\n".join(block["text"] for block in result["content"] if block["type"] == "text")',
            'result["content"][0]["text"]',
            "there are two blocks",
        ),
        _with(_OUTCOME, ' if block["type"] == "text"', "", "an image has no text"),
        _with(_OUTCOME, '"refused"', '"failed"', "there is no result"),
    ),
)

_ANSWER = '''\
def answer_to(lines, id):
    """The message that answers the request with this id. Raises ConnectionError when the lines end."""
    for line in lines:
        try:
            message = json.loads(line)
        except ValueError:
            continue
        if not isinstance(message, dict) or "method" in message:
            continue
        if message.get("id") == id:
            return message
    raise ConnectionError("The server is gone.")
'''

ANSWER = Exercise(
    id="13.3",
    title="The answer among other lines",
    prompt="Write `answer_to(lines, id)`: the first message that answers this request.",
    stub='''\
def answer_to(lines, id):
    """The message that answers the request with this id. Raises ConnectionError when the lines end."""
    ...
''',
    check=check_answer_to,
    hints=(
        "Go through the lines with `for`. A `try` around `json.loads` skips what is no JSON.",
        "A message with a `method` answers nothing. And `42` is JSON, but no message: ask `isinstance(message, dict)`.",
        '`1 == "1"` is False already; do not turn ids into texts. After the loop, raise the ConnectionError.',
    ),
    solution=_ANSWER,
    why="One stream carries everything. An answer is known by its id and by nothing else, least of all by its place.",
    setup="import json\n",
    known_wrong=(
        _with(
            _ANSWER,
            "        try:\n            message = json.loads(line)\n        except ValueError:\n            continue\n",
            "        message = json.loads(line)\n",
            "must be skipped",
        ),
        _with(_ANSWER, ' or "method" in message', "", "the server's own request has the same id"),
        _with(
            _ANSWER,
            'message.get("id") == id',
            'str(message.get("id")) == str(id)',
            "the text '1' is not the number",
        ),
        _with(
            _ANSWER,
            '        if message.get("id") == id:\n            return message\n',
            "        return message\n",
            "a late answer",
        ),
        _with(_ANSWER, '    raise ConnectionError("The server is gone.")\n', "", "raise a ConnectionError"),
        _with(_ANSWER, "in lines", "in list(lines)", "asked for one more line after the answer"),
        _with(
            _ANSWER, 'not isinstance(message, dict) or "method" in message', '"method" in message', "is JSON, but no"
        ),
        _with(
            _ANSWER, "            return message\n", '            return message.get("result")\n', "the whole message"
        ),
    ),
)

EXERCISES = (KIND, OUTCOME, ANSWER, HASTY, OWN)
