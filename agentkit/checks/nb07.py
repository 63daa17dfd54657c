"""Exercises and quiz of notebook 07, real models."""

from __future__ import annotations

from agentkit.checks.exercise import Exercise, Wrong
from agentkit.checks.nb07_checks import check_assemble, check_mended, check_read, check_safe
from agentkit.checks.nb07_habit import HABIT
from agentkit.checks.nb07_quiz import QUIZ

_ASSEMBLE = """\
def assemble_blocks(events):
    calls, pieces = {}, {}
    for event in events:
        index = event.get("index")
        if event["type"] == "content_block_start" and event["content_block"]["type"] == "tool_use":
            block = event["content_block"]
            calls[index], pieces[index] = {"id": block["id"], "name": block["name"]}, ""
        elif event["type"] == "content_block_delta" and index in calls:
            pieces[index] += event["delta"]["partial_json"]
    return [{**calls[index], "input": json.loads(pieces[index] or "{}")} for index in sorted(calls)]
"""

ASSEMBLE = Exercise(
    id="07.4",
    title="The other stream",
    prompt="Write `assemble_blocks(events)` for the events of Anthropic's form: the calls in order, each a dictionary with "
    "the keys `id`, `name` and `input` (an object).",
    stub="def assemble_blocks(events):\n    ...\n",
    check=check_assemble,
    hints=(
        "`content_block_start` brings the id and the name of a call. Keep a dictionary from `index` to the call.",
        "Each `content_block_delta` has the `index` of its block. Join its `partial_json` to the text of that call.",
        "Parse once, at the end: `json.loads(text or '{}')`, because no text at all means no arguments.",
    ),
    setup="import json\n",
    solution=_ASSEMBLE,
    why="Pieces are joined by their index and parsed once, when they are complete.",
    known_wrong=(
        Wrong(
            _ASSEMBLE.replace("pieces[index] +=", "pieces[max(pieces)] +="),
            "the index says to which call a piece belongs",
        ),
        Wrong(_ASSEMBLE.replace(' or "{}"', ""), "a call without input"),
        Wrong(
            _ASSEMBLE.replace('json.loads(pieces[index] or "{}")', "pieces[index]"),
            "the calls are [{'id': 'toolu_0', 'name': 'search', 'input': {'query': 'ASGI'}}]",
        ),
        Wrong(
            _ASSEMBLE.replace("pieces[index] += event", "pieces[index] = event"),
            "parsed a text that is not complete JSON",
        ),
    ),
)

_READ = """\
def read(document):
    text = "".join(block["text"] for block in document["content"] if block["type"] == "text")
    calls = [
        ToolCall(block["name"], block["input"], block["id"])
        for block in document["content"]
        if block["type"] == "tool_use"
    ]
    if calls and document["stop_reason"] == "max_tokens":
        calls[-1] = replace(calls[-1], truncated=True)
    return CallTools(text, tuple(calls)) if calls else FinalAnswer("", text)
"""

READ = Exercise(
    id="07.2",
    title="The other reply",
    prompt="Write `read(document)` for a document of Anthropic's form: return the decision.",
    stub="def read(document):\n    ...\n",
    check=check_read,
    hints=(
        '`document["content"]` is a list of blocks. Go through them and look at `block["type"]`: text or tool_use.',
        "The arguments stay as they came: `input` is an object.",
        "Join the texts. With calls the text is the thought of `CallTools`, without calls it is the answer.",
        'When `document["stop_reason"]` is "max_tokens", the last call may be half: `replace(call, truncated=True)`.',
    ),
    setup="from dataclasses import replace\nfrom agentkit import CallTools, FinalAnswer, ToolCall\n",
    solution=_READ,
    why="The blocks say what was decided, and the stop reason says whether the last of them is complete.",
    known_wrong=(
        Wrong(
            'def read(document):\n    return FinalAnswer("", document["content"][0]["text"])\n',
            "the text beside a call is the thought",
        ),
        Wrong(
            _READ.replace("tuple(calls)", "tuple(calls[:1])"),
            "there are two calls",
        ),
        Wrong(
            _READ.replace(
                '    if calls and document["stop_reason"] == "max_tokens":\n'
                "        calls[-1] = replace(calls[-1], truncated=True)\n",
                "",
            ),
            "must be marked as truncated",
        ),
        Wrong(
            _READ.replace(
                "        calls[-1] = replace(calls[-1], truncated=True)\n",
                "        calls = [replace(call, truncated=True) for call in calls]\n",
            ),
            "only the last call was cut off",
        ),
        Wrong(
            _READ.replace('block["input"]', 'json.dumps(block["input"])').replace(
                "def read", "import json\n\n\ndef read"
            ),
            "the arguments stay an object, as they came",
        ),
        Wrong(_READ.replace("CallTools(text,", 'CallTools("",'), "the text beside a call is the thought"),
    ),
)

_MENDED = """\
def mended(messages):
    answered = {message.result.call_id for message in messages if message.result}
    whole = []
    for message in messages:
        whole.append(message)
        for call in message.calls:
            if call.id not in answered:
                error = ErrorDetail("cancelled", "This call was not run.")
                whole.append(Message("tool", result=ToolResult(call.id, call.name, error=error)))
    return whole
"""

MENDED = Exercise(
    id="07.3",
    title="A history that is refused",
    prompt="Write `mended(messages)`: the same history, in which every call without a result has one that says that it was not "
    "run.",
    stub="def mended(messages):\n    ...\n",
    check=check_mended,
    hints=(
        "Which calls have a result? Collect `message.result.call_id` of all messages that have a result.",
        "Go through the messages. After a message with open calls, put one tool message for each of them.",
        'The new message: `Message("tool", result=ToolResult(call.id, call.name, error=ErrorDetail(code, message)))`.',
    ),
    setup="from agentkit import ErrorDetail, Message, ToolResult\n",
    solution=_MENDED,
    why="Each call has one result, next to it, and nothing was invented: an error says what is known.",
    known_wrong=(
        Wrong(
            "def mended(messages):\n    return [message for message in messages if not message.calls]\n",
            "all messages of the history stay",
        ),
        Wrong(
            _MENDED.replace("    return whole", "    return messages + [m for m in whole if m not in messages]"),
            "a provider still refuses it",
        ),
        Wrong(
            _MENDED.replace("error=error", '"nothing found"'),
            "nobody knows what the tool would have said",
        ),
        Wrong(
            _MENDED.replace("if call.id not in answered", "if not answered"),
            "one of two calls has no result: a provider still refuses it",
        ),
    ),
)

_SAFE = """\
def safe(sentence, key):
    return sentence.replace(key, "[secret]") if len(key) > 4 else sentence
"""

SAFE = Exercise(
    id="07.1",
    title="The key in the sentence",
    prompt="Write `safe(sentence, key)`: the sentence with a mark in the place of the key, and no part of the "
    "key. A key of up to four characters is a dummy and stays.",
    stub="def safe(sentence, key):\n    ...\n",
    check=check_safe,
    hints=(
        "`sentence.replace(key, …)` replaces every place. What does it do with an empty key?",
        'Replace only a real key, one with more than four characters. Put a mark such as "[secret]" in its place.',
    ),
    solution=_SAFE,
    why="Every place is masked, the rest can still be read, and an empty or dummy key changes nothing.",
    known_wrong=(
        Wrong('def safe(sentence, key):\n    return sentence.replace(key, "[secret]")\n', "there is no key ('')"),
        Wrong(
            'def safe(sentence, key):\n    return sentence.replace(key, "[secret]") if key else sentence\n',
            "is an ordinary word ('none')",
        ),
        Wrong(
            'def safe(sentence, key):\n    return sentence.replace(key, "[secret]", 1) if len(key) > 4 else sentence\n',
            "holds the key twice, and it is still there",
        ),
        Wrong(
            'def safe(sentence, key):\n    return sentence.replace(key, "") if len(key) > 4 else sentence\n',
            "put a mark in its place",
        ),
        Wrong(
            "def safe(sentence, key):\n    return sentence.replace(key, key[:8]) if len(key) > 4 else sentence\n",
            "a part of it is still there ('zq7K')",
        ),
        Wrong(
            "def safe(sentence, key):\n    return sentence.replace(key, key[1:]) if len(key) > 4 else sentence\n",
            "a part of it is still there ('q7K-')",
        ),
        Wrong(
            'def safe(sentence, key):\n    return "The service refused the key."\n',
            "the rest of the sentence must stay",
        ),
    ),
)

__all__ = ["EXERCISES", "QUIZ"]

EXERCISES = (SAFE, READ, MENDED, ASSEMBLE, HABIT)
