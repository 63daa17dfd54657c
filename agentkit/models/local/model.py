"""The small model as the brain of an agent: code routes, the model fills the arguments and phrases the result."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Literal

from agentkit._jsonsafe import dumps, json_safe
from agentkit.errors import DefinitionError
from agentkit.messages import (
    AskUser,
    CallTools,
    Decision,
    FinalAnswer,
    Message,
    Reply,
    ToolCall,
    ToolResult,
    ToolSpec,
    Usage,
    goal_positions,
)
from agentkit.models.local import faithful, prompts
from agentkit.models.local.engine import SHARED, Completion, Engine
from agentkit.models.local.routing import Example, Route, nearest, route

NEAREST = 3  # examples in the prompt of a model that chooses
MOST_TRIES = 2  # calls for one goal; the second only after arguments that did not fit
REPAIRABLE = ("bad_json", "bad_arguments", "truncated")


class LocalModel:
    """A language model of 135 million parameters (SmolLM2), in this process, without a key or a network. English only.

    It cannot choose tools reliably, so code chooses, by shared words. The model fills the arguments, and constrained
    decoding keeps them within the tool's JSON Schema. It phrases the result, and code checks the sentence: numbers that no
    tool returned are refused, and then the data are listed instead. Each thought says which part was whose. It makes one
    call for a goal, with what the goal says. It keeps nothing between two decisions.

    The weights are loaded at the first request, once per process, in about half a second and 200 MB.

    Args:
        examples: questions with the right call. Code takes the tool of the nearest one. Arguments are filled without
            examples, since the model copies their values.
        choose: who chooses the tool: ``"code"``, or ``"model"`` (constrained to the names of the tools, with the three
            nearest examples in its prompt).
        threads: cores to use; see `Engine`.
        weights: another chat model in a GGUF file, instead of the one in the package.

    Raises:
        ProviderError: from the first request, with the code ``missing_package``, when the packages are not installed.
    """

    name = "local"

    def __init__(
        self,
        *,
        examples: Sequence[Example] = (),
        choose: Literal["code", "model"] = "code",
        threads: int = 1,
        weights: str | PathLike[str] | None = None,
    ) -> None:
        if choose not in ("code", "model"):
            raise DefinitionError(f'choose must be "code" or "model", not {choose!r}.')
        self.examples = tuple(examples)
        self.choose = choose
        self.threads = max(1, int(threads))
        self._weights = None if weights is None else Path(weights)

    @property
    def engine(self) -> Engine:
        """The loaded engine; several models of one process share it."""
        return SHARED.get(self._weights, self.threads)

    def complete(
        self,
        prompt: str | Sequence[Mapping[str, str]],
        schema: Mapping[str, Any] | None = None,
        max_tokens: int = 128,
        stop: Sequence[str] = (),
    ) -> Completion:
        """What the model writes; ``str()`` of it is the text.

        Args:
            prompt: one user message, or chat messages ``{"role": …, "content": …}``.
            schema: a JSON Schema that the reply has to keep to; see `agentkit.models.local.grammar` for its limits.
            max_tokens: where to cut the reply off.
            stop: texts before which the reply ends.
        """
        messages = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompt
        return self.engine.ask(messages, schema=schema, max_tokens=max_tokens, stop=stop)

    def generate(self, prompt: str, stop: tuple[str, ...] = ()) -> str:
        """The text for a prompt, in the form that `TextReactModel` wants."""
        return self.complete(prompt, stop=stop).text

    def decide(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Reply:
        asked = _Asked.of(messages)
        if not asked.results:
            return self._act(asked, tools, "")
        last = asked.results[-1]
        if last.error is None:
            return self._phrase(asked, last)
        if last.error.code in REPAIRABLE and len(asked.results) < MOST_TRIES:
            return self._act(asked, tools, f"Mistake in the last try: {last.error.message}")
        text = f"{last.name} could not help: {last.error.message}"
        return _reply(FinalAnswer("The tool failed, so code passes on its message; the model is not asked.", text))

    def close(self) -> None:
        """Give the memory of the engine back. The next request loads it again."""
        SHARED.close(self._weights, self.threads)

    def __repr__(self) -> str:
        return f"LocalModel({len(self.examples)} examples)"

    # --- the three steps ---------------------------------------------------------------------------------------------

    def _act(self, asked: _Asked, tools: Sequence[ToolSpec], note: str) -> Reply:
        chosen, used = self._choose(asked.text, tools)
        if chosen is None:
            said = self.complete(asked.text)
            thought = "No tool shares a word with the question, so the model answers from what it has learned. It may be wrong."
            return _reply(FinalAnswer(thought, said.text.strip() or "I do not know."), used + _usage(said))
        tool, why = chosen.tool, chosen.why
        if not tool.parameters.get("properties"):
            return _reply(CallTools(f"{why} It needs no arguments.", (ToolCall(tool.name),)), used)
        filled = self.complete(prompts.arguments_chat(tool, asked.text, note), tool.parameters)
        used += _usage(filled)
        arguments = _object(filled.text)
        if arguments is None:
            call = ToolCall(tool.name, filled.text, truncated=not filled.finished)
            return _reply(CallTools(f"{why} The model did not write a JSON object.", (call,)), used)
        wrong = _invented(arguments, asked.text)
        if wrong:
            thought = f"{why} The model wrote {dumps(arguments)}, but code found {wrong} nowhere in the question."
            return _reply(AskUser(thought, f"Please give me what {tool.name} needs: {_needs(tool)}."), used)
        thought = f"{why} The model filled the arguments, within the JSON Schema of the tool."
        return _reply(CallTools(thought, (ToolCall(tool.name, arguments),)), used)

    def _choose(self, question: str, tools: Sequence[ToolSpec]) -> tuple[Route | None, Usage]:
        """The tool, with a sentence that says who chose it."""
        if self.choose == "code":
            found = route(question, tools, self.examples)
            chosen = None if found is None else Route(found.tool, f"Code chose {found.tool.name}: {found.why}.")
            return chosen, Usage()
        if not tools:
            return None, Usage()
        shown = nearest(question, self.examples, NEAREST)
        wrote = self.complete(prompts.choice_chat(tools, shown, question), prompts.choice_schema(tools))
        name = (_object(wrote.text) or {}).get("tool")
        said = f"The model chose {name}, with {len(shown)} examples in its prompt."
        return next((Route(tool, said) for tool in tools if tool.name == name), None), _usage(wrote)

    def _phrase(self, asked: _Asked, result: ToolResult) -> Reply:
        said = self.complete(prompts.phrase_chat(asked.text, result.data), max_tokens=80)
        text = said.text.strip()
        fault = faithful.fault(text, result.data, asked.text)
        if not fault:
            thought = "The model phrased the result; code found no number in it that is not in the data."
            return _reply(FinalAnswer(thought, text), _usage(said))
        thought = f"The model wrote {dumps(text[:200])}. Code refused it, because {fault}, and lists the data instead."
        listed = f"{result.name} returned {dumps(json_safe(result.data))[:1000]}"
        return _reply(FinalAnswer(thought, listed), _usage(said))


@dataclass(frozen=True, slots=True)
class _Asked:
    """The latest goal with the user's answers to questions, and the results since then."""

    text: str
    results: tuple[ToolResult, ...]

    @classmethod
    def of(cls, messages: Sequence[Message]) -> _Asked:
        start = max(goal_positions(messages), default=0)
        since = messages[start:]
        said = [message.text for message in since if message.role == "user" and message.kind != "note"]
        return cls(" ".join(said), tuple(message.result for message in since if message.result is not None))


def _reply(decision: Decision, usage: Usage | None = None) -> Reply:
    return Reply(decision, usage or Usage())


def _usage(used: Completion) -> Usage:
    return Usage(used.input_tokens, used.output_tokens)


def _object(text: str) -> dict[str, Any] | None:
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _invented(arguments: Mapping[str, Any], text: str) -> str:
    """The first argument with a number that stands nowhere in the question; texts without numbers cannot be checked."""
    for name, value in arguments.items():
        if faithful.invented(dumps(json_safe(value)), text):
            return f"{name} {dumps(json_safe(value))}"
    return ""


def _needs(tool: ToolSpec) -> str:
    return ", ".join(tool.parameters.get("required") or tool.parameters.get("properties") or ())
