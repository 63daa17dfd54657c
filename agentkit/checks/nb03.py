"""The exercises and the quiz of notebook 03, the registry."""

from __future__ import annotations

from agentkit.checks.exercise import Exercise, Wrong
from agentkit.checks.nb03_checks import (
    check_anthropic_tool,
    check_fingerprint,
    check_masked,
    check_nearest,
    check_safe_call,
    check_strange,
)
from agentkit.checks.nb03_quiz import QUIZ

__all__ = ["EXERCISES", "QUIZ"]

NEAREST = Exercise(
    id="03.1",
    title="Did you mean",
    prompt="Write `nearest(name, known)`: the known name nearest to a misspelled one, or None. Case does not matter.",
    stub='''\
def nearest(name, known):
    """The known name nearest to this one, or None."""
    ...
''',
    check=check_nearest,
    hints=(
        "`difflib.get_close_matches(word, possibilities, n=1)` gives a list with the nearest word, or an empty list.",
        "Compare everything in lower case, but return the name as it is known: keep a dict from lower case to name.",
    ),
    solution='''\
def nearest(name, known):
    """The known name nearest to this one, or None."""
    by_lower_case = {each.lower(): each for each in known}
    close = difflib.get_close_matches(name.lower(), by_lower_case, n=1)
    return by_lower_case[close[0]] if close else None
''',
    why="A suggestion turns a dead end into a correct next call, and no suggestion is better than a wrong one.",
    setup="import difflib\n",
    known_wrong=(
        Wrong(
            "def nearest(name, known):\n    return difflib.get_close_matches(name, known, n=1)\n",
            "return the name itself, not a list",
        ),
        Wrong(
            "def nearest(name, known):\n"
            "    return max(known, key=lambda each: difflib.SequenceMatcher(None, name.lower(), each.lower()).ratio())\n",
            "nothing is near",
        ),
        Wrong(
            "def nearest(name, known):\n"
            "    close = difflib.get_close_matches(name, known, n=1)\n    return close[0] if close else None\n",
            "upper and lower case",
        ),
        Wrong(
            "def nearest(name, known):\n"
            "    close = difflib.get_close_matches(name.lower(), [each.lower() for each in known], n=1)\n"
            "    return close[0] if close else None\n",
            "as it is written in `known`",
        ),
    ),
)

ANTHROPIC = Exercise(
    id="03.2",
    title="One form into another",
    prompt="Write `to_anthropic_tool(chat_tool)`: one tool from OpenAI's chat form into Anthropic's form.",
    stub='''\
def to_anthropic_tool(chat_tool):
    """The same tool in Anthropic's form."""
    ...
''',
    check=check_anthropic_tool,
    hints=(
        "Look at the table of the four forms. In the chat form everything stands under the key `function`.",
        "Return a new dict with `name`, `description` and `input_schema`. Which key of the chat form holds the schema?",
    ),
    solution='''\
def to_anthropic_tool(chat_tool):
    """The same tool in Anthropic's form."""
    body = chat_tool["function"]
    return {"name": body["name"], "description": body["description"], "input_schema": body["parameters"]}
''',
    why="The content of a tool is the same everywhere. Only the wrapping and the key of the schema differ.",
    known_wrong=(
        Wrong('def to_anthropic_tool(chat_tool):\n    return chat_tool["function"]\n', "`input_schema`"),
        Wrong(
            'def to_anthropic_tool(chat_tool):\n    return {"type": "function", "name": chat_tool["function"]["name"],\n'
            '        "description": chat_tool["function"]["description"],\n'
            '        "input_schema": chat_tool["function"]["parameters"]}\n',
            "`type` belongs to OpenAI's forms",
        ),
        Wrong(
            'def to_anthropic_tool(chat_tool):\n    body = chat_tool["function"]\n'
            '    body["input_schema"] = body.pop("parameters")\n    return body\n',
            "must stay as it is",
        ),
        Wrong(
            'def to_anthropic_tool(chat_tool):\n    body = chat_tool["function"]\n'
            '    return {"name": body["name"], "description": body["description"],\n'
            '        "input_schema": body["parameters"]["properties"]}\n',
            "the whole schema",
        ),
    ),
)

_SAFE = '''\
def safe_call(tools, name, arguments):
    """{"ok": True, "data": …} or {"ok": False, "error": {"code": …, "message": …}}."""
    if name not in tools:
        return {"ok": False, "error": {"code": "unknown_tool", "message": f"There is no tool {name!r}."}}
    try:
        keywords = tools[name].validate(arguments)
    except Exception:
        return {"ok": False, "error": {"code": "bad_arguments", "message": f"The arguments do not fit {name}."}}
    try:
        return {"ok": True, "data": tools[name].function(**keywords)}
    except Exception as error:
        problem = f"{name} failed with {type(error).__name__}."
        return {"ok": False, "error": {"code": "tool_failed", "message": problem}}
'''

SAFE_CALL = Exercise(
    id="03.3",
    title="A call that never raises",
    prompt="Write `safe_call(tools, name, arguments)`: a result for every call, never an exception.",
    stub='''\
def safe_call(tools, name, arguments):
    """{"ok": True, "data": …} or {"ok": False, "error": {"code": …, "message": …}}."""
    ...
''',
    check=check_safe_call,
    hints=(
        "Three things can go wrong, in this order: no such tool, arguments that do not fit, a tool that raises.",
        "`tools[name].validate(arguments)` gives the keywords or raises. It needs a `try` of its own, before the run.",
        "Catch `Exception`, not one kind of it: you do not know what a tool raises.",
    ),
    solution=_SAFE,
    why="Each failure has its own code and a sentence, and the function only runs with arguments that were checked.",
    known_wrong=(
        Wrong(
            _SAFE.replace("if name not in tools:", "if tools[name] is None:"),
            "unknown tool: ",
        ),
        Wrong(
            _SAFE.replace("keywords = tools[name].validate(arguments)", "keywords = arguments"),
            "the tool ran all the same",
        ),
        Wrong(_SAFE.replace("except Exception as error:", "except ValueError as error:"), "tool that raises: "),
        Wrong(_SAFE.replace('"code": "unknown_tool", ', ""), "no `code`"),
        Wrong(_SAFE.replace("except Exception:", "except ValueError:"), "raised"),
    ),
)

_FINGERPRINT = '''\
def tool_fingerprint(specs):
    """A short text that changes when a tool does."""
    texts = sorted(json.dumps(spec, sort_keys=True) for spec in specs)
    return hashlib.sha256(json.dumps(texts).encode("utf-8")).hexdigest()[:16]
'''

FINGERPRINT = Exercise(
    id="03.4",
    title="A fingerprint that ignores order",
    prompt="Write `tool_fingerprint(specs)`: order does not matter, every other change does.",
    stub='''\
def tool_fingerprint(specs):
    """A short text that changes when a tool does."""
    ...
''',
    check=check_fingerprint,
    hints=(
        "Turn each spec into text with `json.dumps(spec, sort_keys=True)`. Which order do the texts stand in?",
        "Sort the texts, join them, and take `hashlib.sha256(text.encode('utf-8')).hexdigest()`.",
    ),
    solution=_FINGERPRINT,
    why="Equal contents have one written form, so their hash is equal; `hash()` would change with every Python process.",
    setup="import hashlib\nimport json\n",
    answer="tool_fingerprint",
    known_wrong=(
        Wrong(_FINGERPRINT.replace("sorted(", "list("), "the order of the tools"),
        Wrong(_FINGERPRINT.replace(", sort_keys=True", ""), "the order of the keys"),
        Wrong(_FINGERPRINT.replace("json.dumps(spec, sort_keys=True)", 'spec["name"]'), "description"),
        Wrong(
            "def tool_fingerprint(specs):\n    return hash(tuple(sorted(json.dumps(s, sort_keys=True) for s in specs)))\n",
            "another number in every Python process",
        ),
        Wrong(
            "def tool_fingerprint(specs):\n    texts = sorted(json.dumps(s, sort_keys=True) for s in specs)\n"
            "    return str(hash(tuple(texts)))\n",
            "in another Python process",
        ),
        Wrong(
            "def tool_fingerprint(specs):\n    return joined(json.dumps(s, sort_keys=True) for s in specs)\n"
            "def joined(texts):\n    return format(hash('|'.join(sorted(texts))) & 0xFFFFFFFF, '08x')\n",
            "in another Python process",
        ),
        Wrong(
            "def tool_fingerprint(specs):\n"
            '    text = "".join(sorted("".join(json.dumps(s, sort_keys=True) for s in specs)))\n'
            '    return hashlib.sha256(text.encode("utf-8")).hexdigest()\n',
            "swapped",
        ),
    ),
)

MASKED = Exercise(
    id="03.5",
    title="Mask a secret",
    prompt="Write `masked(text)`: the value after `password=`, `token=` and `key=` becomes `[secret]`; the rest stays.",
    stub='''\
def masked(text):
    """The text without the values of passwords, tokens and keys."""
    ...
''',
    check=check_masked,
    hints=(
        "`re.sub(pattern, replacement, text)` replaces every place that matches.",
        r"A value is one or more characters that do not end it: `[^\s&,;]+`.",
        r"Keep the word in a group and write it back: `re.sub(r'(password|token|key)=…', r'\1=[secret]', text)`.",
    ),
    solution='''\
def masked(text):
    """The text without the values of passwords, tokens and keys."""
    return re.sub(r"(password|token|key)=[^\\s&,;]+", r"\\1=[secret]", text)
''',
    why="Only the value goes; the words around it stay, so that the sentence can still be understood.",
    setup="import re\n",
    known_wrong=(
        Wrong(
            "import re\ndef masked(text):\n    return re.sub(r'(password|token|key)=.+', r'\\1=[secret]', text)\n",
            "what stands after the value must stay",
        ),
        Wrong(
            "import re\ndef masked(text):\n"
            "    return re.sub(r'(password|token|key)=[^\\s&,;]+', r'\\1=[secret]', text, count=1)\n",
            "the second secret",
        ),
        Wrong(
            "def masked(text):\n    for word in ('password', 'token', 'key'):\n"
            "        text = text.replace(word, '[secret]')\n    return text\n",
            "is still there",
        ),
        Wrong(
            "import re\ndef masked(text):\n    return re.sub(r'(password|token|key)\\W+\\w+', r'\\1=[secret]', text)\n",
            "but it becomes",
        ),
    ),
    answer="masked",
)

STRANGE = Exercise(
    id="03.6",
    title="The strangest calls",
    prompt="Give a list of at least eight different strange `ToolCall`s that produce at least four different error codes.",
    stub="strange_calls = ...\n",
    check=check_strange,
    hints=(
        "Begin with what you saw: a wrong name, a wrong argument, text that is not JSON, a call that was cut off.",
        "The arguments of a `ToolCall` may be anything: a number, a list, text, NaN, a dict in a dict in a dict.",
    ),
    solution="""\
strange_calls = [
    ToolCall("parcel_prise", {"kilos": 1}),
    ToolCall("", {}),
    ToolCall("parcel_price", "one kilo"),
    ToolCall("parcel_price", '{"kilos": 1', truncated=True),
    ToolCall("parcel_price", {"kilos": float("nan")}),
    ToolCall("parcel_price", {"kilos": {"kilos": {"kilos": 1}}}),
    ToolCall("order_amount", [1, 2, 3]),
    ToolCall("book_courier", {"day": "tomorrow" * 1_000}),
]
""",
    why="Whatever you wrote, the answer was a result with a code. That is the whole promise of a registry.",
    setup="from agentkit import ToolCall\n",
    known_wrong=(
        Wrong("strange_calls = ['parcel_price'] * 8\n", "each of them must be a `ToolCall`"),
        Wrong("strange_calls = [ToolCall('parcel_prise', {'kilos': 1})] * 8\n", "different"),
        Wrong("strange_calls = [ToolCall('tool_' + str(n)) for n in range(9)]\n", "error codes"),
        Wrong("strange_calls = [ToolCall('parcel_price', 'three')]\n", "at least 8"),
    ),
)

EXERCISES = (NEAREST, ANTHROPIC, SAFE_CALL, FINGERPRINT, MASKED, STRANGE)
