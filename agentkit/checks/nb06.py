"""Exercises and quiz of notebook 06, your first agent."""

from __future__ import annotations

from agentkit.checks.exercise import Exercise, Wrong
from agentkit.checks.nb06_checks import check_limits, check_mine, check_price, check_say, check_totals
from agentkit.checks.nb06_quiz import QUIZ
from agentkit.checks.nb06_tests import OWN_TEST

PRICE = Exercise(
    id="06.1",
    title="What a run costs",
    prompt="Write `price(run, dollars_in, dollars_out)`: the US dollars that a run cost, when the two prices are for one "
    "million tokens in and out.",
    stub="def price(run, dollars_in, dollars_out):\n    ...\n",
    check=check_price,
    hints=(
        "`run.usage` holds the tokens of all requests together: `input_tokens` and `output_tokens`.",
        "Multiply each kind with its own price, add both, and divide by a million.",
    ),
    solution="""\
def price(run, dollars_in, dollars_out):
    return (run.usage.input_tokens * dollars_in + run.usage.output_tokens * dollars_out) / 1_000_000
""",
    why="Tokens in and tokens out have prices of their own, and `run.usage` has added up every request of the run.",
    known_wrong=(
        Wrong(
            "def price(run, dollars_in, dollars_out):\n"
            "    return run.usage.input_tokens * dollars_in + run.usage.output_tokens * dollars_out\n",
            "at 1 dollar for a million that is 2 dollars",
        ),
        Wrong(
            "def price(run, dollars_in, dollars_out):\n    usage = run.steps[-1].reply.usage\n"
            "    return (usage.input_tokens * dollars_in + usage.output_tokens * dollars_out) / 1_000_000\n",
            "the run took 2,000,000 tokens in",
        ),
        Wrong(
            "def price(run, dollars_in, dollars_out):\n"
            "    return run.usage.total_tokens * (dollars_in + dollars_out) / 1_000_000\n",
            "at 1 dollar for a million that is 2 dollars, but you return 2.2",
        ),
        Wrong(
            "def price(run, dollars_in, dollars_out):\n    usage = run.usage\n"
            "    return (usage.output_tokens * dollars_in + usage.input_tokens * dollars_out) / 1_000_000\n",
            "the run took 2,000,000 tokens in",
        ),
    ),
)

LIMITS = Exercise(
    id="06.2",
    title="Limits for a demo",
    prompt="Make `limits`: a run ends after 6 requests, after 30 seconds, or after 20,000 tokens, whatever comes first.",
    stub="limits = ...\n",
    check=check_limits,
    hints=(
        "`Limits` takes its limits by name. Which three of them do you need?",
        "`max_steps` counts requests, `timeout` is in seconds, `max_tokens` counts tokens in and out together.",
    ),
    setup="from agentkit import Limits\n",
    solution="limits = Limits(max_steps=6, timeout=30, max_tokens=20_000)\n",
    why="Each limit catches another kind of run: one that goes on and on, one that waits, and one that sends too much.",
    known_wrong=(
        Wrong("limits = Limits(max_steps=6, timeout=30)\n", "the limit of 20,000 ends the run as max_tokens"),
        Wrong(
            "limits = Limits(max_steps=6, timeout=30_000, max_tokens=20_000)\n", "the limit of 30 seconds ends the run"
        ),
        Wrong("limits = Limits(max_steps=30, timeout=6, max_tokens=20_000)\n", "ends the run as max_steps after 6"),
        Wrong(
            "limits = Limits(max_steps=6, timeout=30, max_tokens=20_000, max_cost=0.000001)\n",
            "each request costs 0.02 dollars, yours ended as max_cost",
        ),
        Wrong(
            "limits = Limits(max_steps=6, timeout=30, max_tokens=20_000, same_rounds=1)\n",
            "asks for the same thing twice, yours ended as stuck",
        ),
        Wrong('limits = {"max_steps": 6, "timeout": 30, "max_tokens": 20_000}\n', "the answer is a `Limits` value"),
    ),
)

SAY = Exercise(
    id="06.3",
    title="What the user is told",
    prompt="Write `say(run)`: the answer, or the question that the agent asks, or else a sentence of three "
    "words or more that names the stop reason.",
    stub="def say(run):\n    ...\n",
    check=check_say,
    hints=(
        "`run.answer` and `run.question` are None when there is none.",
        "First the answer, then the question; for everything else a sentence with `run.stop_reason` in it.",
    ),
    solution="""\
def say(run):
    if run.answer is not None:
        return run.answer
    if run.question is not None:
        return run.question
    return f"There is no answer yet. The run ended with the reason: {run.stop_reason}."
""",
    why="A run ends in many ways, and a user must never be shown an empty line or the word None.",
    known_wrong=(
        Wrong("def say(run):\n    return run.answer\n", "(needs_input) you return None"),
        Wrong("def say(run):\n    return run.answer or run.question\n", "(needs_approval) you return None"),
        Wrong(
            'def say(run):\n    return run.answer or run.question or "Something went wrong."\n',
            "the sentence must name the stop reason",
        ),
        Wrong(
            "def say(run):\n    return run.answer or run.question or run.stop_reason\n",
            "write a sentence of three words or more around it",
        ),
    ),
)

TOTALS = Exercise(
    id="06.5",
    title="Read a log",
    prompt="Write `totals(text)` for a request log in JSONL: a dictionary with the number of requests, all tokens "
    "(in and out together), all seconds, and the error codes in order.",
    stub="def totals(text):\n    ...\n",
    check=check_totals,
    hints=(
        "Each line is one JSON object. `text.splitlines()` gives the lines; skip the empty ones.",
        "Make a list of objects first: `[json.loads(line) for line in text.splitlines() if line.strip()]`.",
        "`errors` is a list in each line: join these lists, and do not count the lines that have some.",
    ),
    setup="import json\n",
    solution="""\
def totals(text):
    lines = [json.loads(line) for line in text.splitlines() if line.strip()]
    return {
        "requests": len(lines),
        "tokens": sum(line["tokens_in"] + line["tokens_out"] for line in lines),
        "seconds": sum(line["seconds"] for line in lines),
        "errors": [code for line in lines for code in line["errors"]],
    }
""",
    why="One line for one request makes a log that any program can read, add up and cut in two.",
    known_wrong=(
        Wrong(
            "def totals(text):\n    n = json.loads(text)\n"
            '    return {"requests": 1, "tokens": n["tokens_in"] + n["tokens_out"], "seconds": n["seconds"], "errors": []}\n',
            "parse each line by itself",
        ),
        Wrong(
            "def totals(text):\n    lines = [json.loads(line) for line in text.split('\\n')]\n    return {}\n",
            "parse each line by itself",
        ),
        Wrong(
            "def totals(text):\n    lines = [json.loads(line) for line in text.splitlines() if line]\n"
            '    return {"requests": len(lines), "tokens": sum(n["tokens_in"] for n in lines),\n'
            '            "seconds": sum(n["seconds"] for n in lines), "errors": [c for n in lines for c in n["errors"]]}\n',
            "for a log of one request the tokens are 110",
        ),
        Wrong(
            "def totals(text):\n    lines = [json.loads(line) for line in text.splitlines() if line]\n"
            '    return {"requests": len(lines), "tokens": sum(n["tokens_in"] + n["tokens_out"] for n in lines),\n'
            '            "seconds": sum(n["seconds"] for n in lines), "errors": [n["errors"] for n in lines]}\n',
            "the errors are []",
        ),
        Wrong(
            "def totals(text):\n    lines = [json.loads(line) for line in text.strip().split('\\n') if text]\n"
            '    return {"requests": len(lines), "tokens": sum(n["tokens_in"] + n["tokens_out"] for n in lines),\n'
            '            "seconds": sum(n["seconds"] for n in lines), "errors": [c for n in lines for c in n["errors"]]}\n',
            "a log with empty lines your code parsed a text that is not JSON",
        ),
    ),
)

_ASSISTANT = """\
from agentkit import Agent, Limits, Memory, get_model, tool
from agentkit.worlds import research


def assistant(model=None, tools=(), **changes):
    pieces = {
        "system": research.system,
        "limits": Limits(max_steps=8, timeout=60, max_tokens=20_000),
        "memory": Memory(max_tokens=8_000),
    }
    model = model or get_model("offline", rules=research.rules)
    return Agent(model, [*research.make_tools(), *tools], **{**pieces, **changes})
"""

_TOOL = '''\
@tool
def reading_time(document_id: str) -> dict:
    """Reading time of a document in minutes, by the id of the document.

    Args:
        document_id: the id of the document, a D and two digits.
    """
    words = len(research.open_library().read_document(document_id)["text"].split())
    return {"document_id": document_id, "minutes": round(words / 200, 1)}


'''

_MINE = 'mine = (assistant(tools=[reading_time]), "What is the reading time of document D08?")\n'

OWN_TOOL = Exercise(
    id="06.6",
    title="A tool of your own",
    prompt="Write a tool, put it into the assistant beside its own tools, and hand in the pair of the agent and a goal that "
    "needs your tool. Every line of the checklist must hold.",
    stub="mine = ...\n",
    check=check_mine,
    hints=(
        "A tool is a function with type hints and a docstring, under `@tool`. Describe each parameter under `Args:`.",
        "`assistant(tools=[your_tool])` makes an agent that has your tool beside its own.",
        "The model chooses by words. Ask with the words that stand in the description of your tool.",
    ),
    setup=_ASSISTANT,
    solution=_TOOL + _MINE,
    why="The loop, the memory and the tests did not change. A new ability is a new tool with a clear description.",
    known_wrong=(
        Wrong(
            'mine = (assistant(), "On which port does Uvicorn listen?")\n',
            "none of them is your own",
        ),
        Wrong(
            _TOOL + _MINE.replace("tools=[reading_time]", 'tools=[reading_time], system=""'),
            "the checklist misses a line. system prompt",
        ),
        Wrong(
            _TOOL.replace("    Args:\n        document_id: the id of the document, a D and two digits.\n", "") + _MINE,
            "the parameter `document_id` of reading_time has no description",
        ),
        Wrong(
            _TOOL + _MINE.replace("What is the reading time of document D08?", "On which port does Uvicorn listen?"),
            "not yours",
        ),
        Wrong(_TOOL + _MINE.replace("D08", "D99"), "every time it failed"),
    ),
)

__all__ = ["EXERCISES", "QUIZ"]

EXERCISES = (PRICE, LIMITS, SAY, OWN_TEST, TOTALS, OWN_TOOL)
