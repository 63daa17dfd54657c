"""Measure what the small model can do: ``python -m agentkit.models.local.measure`` runs everything and writes results.json.

It takes about four minutes on one free core. Prompts with the same beginning are asked one after the other, since the engine
then computes that beginning once. This rounds a little differently, so a few close answers would fall the other way if each
prompt were computed afresh; the order is fixed, so that a second run takes the same way.

``python -m agentkit.models.local.measure code`` measures only what needs no language model (the look-up and the offline
model) and keeps the rest. The tests ask for it when the offline model has changed.
"""

from __future__ import annotations

import itertools
import json
import platform
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

from agentkit._jsonsafe import dumps
from agentkit.errors import ProviderError
from agentkit.messages import CallTools, Message, ToolSpec
from agentkit.models.local import faithful, prompts
from agentkit.models.local.engine import SHARED, Completion, find_weights
from agentkit.models.local.results import RESULTS, Answer, Measured, Results, load_results, store_results
from agentkit.models.local.routing import Example, nearest
from agentkit.models.offline import OfflineModel

QUESTIONS = Path(__file__).with_name("questions.json")
SHOWN = 9  # examples in a prompt, three for each tool
NEAR = 3  # examples in a prompt that shows the nearest ones
Write = Callable[..., Completion]


@dataclass(frozen=True, slots=True)
class Phrasing:
    """A result to put into words: ``facts`` are what a right sentence must name."""

    question: str
    data: Mapping[str, Any]
    facts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Questions:
    """The content of questions.json."""

    tools: tuple[ToolSpec, ...]
    examples: tuple[Example, ...]
    questions: tuple[Example, ...]
    phrasings: tuple[Phrasing, ...]


def load_questions(path: Path = QUESTIONS) -> Questions:
    """Our own 45 questions for three tools, with 24 examples and 15 results to put into words."""
    found = json.loads(path.read_text(encoding="utf-8"))
    return Questions(
        tuple(ToolSpec(**item) for item in found["tools"]),
        tuple(Example(**item) for item in found["examples"]),
        tuple(Example(**item) for item in found["questions"]),
        tuple(Phrasing(item["question"], item["data"], tuple(item["facts"])) for item in found["phrasings"]),
    )


def orders(examples: Sequence[Example]) -> dict[str, list[Example]]:
    """The same first nine examples in three orders: mixed, grouped by tool, and grouped the other way round."""
    first = list(examples[:SHOWN])
    tools = list(dict.fromkeys(example.tool for example in first))
    grouped = sorted(first, key=lambda example: tools.index(example.tool))
    return {"mixed": first, "grouped": grouped, "reversed": grouped[::-1]}


def measure(write: Write, given: Questions, tell: Callable[[str], None] = lambda text: None) -> tuple[Measured, ...]:
    """Every method on every question.

    Args:
        write: called as ``write(messages, schema=…, max_tokens=…)``, answered with a `Completion`.
        given: the questions.
        tell: called with a line after each method.
    """
    rows: list[Measured] = []
    for row in itertools.chain(_by_model(write, given), by_code(given)):
        row = Measured(row.key, row.title, tuple(row.answers))
        rows.append(row)
        tell(f"{row.right:3} of {row.of:3}  {row.title}")
    return tuple(rows)


def _by_model(write: Write, given: Questions) -> Iterator[Measured]:
    yield _free(write, given, (), "free", "asked for JSON without examples: valid JSON")
    free = _free(write, given, given.examples[:SHOWN], "free_examples", "asked for JSON with nine examples: valid JSON")
    yield free
    yield whole_calls(free, given)
    chosen: list[Answer] = []
    for name, shown in orders(given.examples).items():
        title = f"JSON schema, nine examples {name}: right tool"
        row = _choices(write, given, _always(shown), f"choice_{name}", title)
        chosen += row.answers
        yield row
    valid = tuple(Answer(a.question, "a JSON object", a.wrote, is_object(a.wrote)) for a in chosen)
    yield Measured("choice_valid", "JSON schema, all three orders: valid JSON", valid)
    near = "JSON schema, three nearest examples: right tool"
    yield _choices(write, given, lambda question: nearest(question, given.examples, NEAR), "choice_nearest", near)
    yield _arguments(write, given)
    yield _phrasings(write, given)


def _always(shown: Sequence[Example]) -> Callable[[str], Sequence[Example]]:
    return lambda question: shown


def _free(write: Write, given: Questions, shown: Sequence[Example], key: str, title: str) -> Measured:
    answers = []
    for item in given.questions:
        text = write(prompts.free_chat(given.tools, shown, item.question), max_tokens=48).text
        answers.append(Answer(item.question, "a JSON object", text, is_object(text)))
    return Measured(key, title, tuple(answers))


def whole_calls(free: Measured, given: Questions) -> Measured:
    """The same answers once more, now judged by whether tool and arguments are right."""
    answers = []
    for item, answer in zip(given.questions, free.answers, strict=True):
        wanted = {"tool": item.tool, "arguments": dict(item.arguments)}
        answers.append(Answer(item.question, dumps(wanted), answer.wrote, parsed(answer.wrote) == wanted))
    return Measured("free_examples_right", "the same: tool and all arguments right", tuple(answers))


def _choices(
    write: Write, given: Questions, shown: Callable[[str], Sequence[Example]], key: str, title: str
) -> Measured:
    schema, answers = prompts.choice_schema(given.tools), []
    for item in given.questions:
        text = write(prompts.choice_chat(given.tools, shown(item.question), item.question), schema=schema).text
        answers.append(Answer(item.question, item.tool, text, parsed(text) == {"tool": item.tool}))
    return Measured(key, title, tuple(answers))


def _arguments(write: Write, given: Questions) -> Measured:
    tools = {tool.name: tool for tool in given.tools}
    answers = []
    for item in given.questions:
        tool, wanted = tools[item.tool], dict(item.arguments)
        text = write(prompts.arguments_chat(tool, item.question), schema=tool.parameters).text
        answers.append(Answer(item.question, dumps(wanted), text, parsed(text) == wanted))
    return Measured("arguments", "tool given, JSON schema: all arguments right", tuple(answers))


def _phrasings(write: Write, given: Questions) -> Measured:
    answers = []
    for item in given.phrasings:
        text = write(prompts.phrase_chat(item.question, item.data), max_tokens=60).text
        answers.append(Answer(item.question, ", ".join(item.facts), text, is_faithful(text, item)))
    return Measured("phrasing", "result given: names the fact, invents no number", tuple(answers))


def by_code(given: Questions) -> Iterator[Measured]:
    """The methods that need no language model."""
    found = [(item, nearest(item.question, given.examples, 1)[0].tool) for item in given.questions]
    looked_up = tuple(Answer(item.question, item.tool, tool, tool == item.tool) for item, tool in found)
    yield Measured("lookup", "no model, most word-similar example: right tool", looked_up)
    model, tools, arguments = OfflineModel(), [], []
    for item in given.questions:
        decision = model.decide([Message("user", item.question)], given.tools).decision
        call = decision.calls[0] if isinstance(decision, CallTools) else None
        name = call.name if call else "no call"
        wrote = dumps(dict(call.arguments)) if call and isinstance(call.arguments, Mapping) else ""
        tools.append(Answer(item.question, item.tool, name, name == item.tool))
        right = name == item.tool and parsed(wrote) == dict(item.arguments)
        arguments.append(Answer(item.question, dumps(dict(item.arguments)), f"{name} {wrote}".strip(), right))
    yield Measured("offline", "offline model: right tool", tuple(tools))
    yield Measured("offline_arguments", "offline model: right tool and all arguments right", tuple(arguments))


def parsed(text: str) -> Any:
    """The JSON value of a text, or None."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def is_object(text: str) -> bool:
    """Whether a text is one JSON object and nothing else."""
    return isinstance(parsed(text), dict)


def is_faithful(text: str, item: Phrasing) -> bool:
    """Whether a sentence names the facts of a result and no number that stands neither there nor in the question.

    This is lenient: other invented words pass. The stored answers are there to be read.
    """
    return not faithful.fault(text, item.data, item.question) and not faithful.missing(text, item.facts)


def main(path: Path = RESULTS) -> int:
    """Run everything and write the file. Returns 1 when the packages are not installed."""
    started = time.process_time()
    try:
        engine = SHARED.get(None, 1)
    except ProviderError as error:
        print(error, file=sys.stderr)
        return 1

    def write(messages: Sequence[Mapping[str, str]], **options: Any) -> Completion:
        return engine.ask(messages, reuse=True, **options)

    rows = measure(write, load_questions(), lambda line: print(line, flush=True))
    SHARED.close(None, 1)
    seconds = round(time.process_time() - started, 1)
    weights = find_weights()
    name, library = weights.name if weights else "", f"xllamacpp {version('xllamacpp')}"
    store_results(Results(date.today().isoformat(), name, library, platform.machine(), seconds, rows), path)
    print(f"{seconds:.0f} s of CPU time, written to {path.name}")
    return 0


def refresh(path: Path = RESULTS) -> int:
    """Measure again what needs no model, and keep the stored answers of the model."""
    stored, anew = load_results(path), {row.key: row for row in by_code(load_questions())}
    store_results(replace(stored, rows=tuple(anew.get(row.key, row) for row in stored.rows)), path)
    return 0


if __name__ == "__main__":
    sys.exit(refresh() if sys.argv[1:] == ["code"] else main())
