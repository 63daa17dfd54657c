"""ReAct as text: a run written as Thought / Action / Action Input / Observation / Final Answer, and such text read back.

This is how agents worked before models had tool calls of their own (Yao et al. 2022), and how a model that only writes text
can still be an agent.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence

from agentkit._arguments import unfenced
from agentkit._jsonsafe import dumps, json_safe
from agentkit.errors import ReplyError
from agentkit.messages import AskUser, CallTools, FinalAnswer, Message, Reply, Run, ToolCall, ToolSpec

FORMAT = "Write 'Thought: …', then either 'Action: tool name' and 'Action Input: {…}', or 'Final Answer: …'."

# A label stands at the start of a line; old transcripts number it ("Thought 2:"), and models decorate it with stars.
_LABEL = re.compile(
    r"^[ \t]*(?:\*\*)?(thought|action input|action|observation|final answer)(?:[ \t]+\d+)?"
    r"[ \t]*(?:\*\*)?[ \t]*:[ \t]*(?:\*\*)?",
    re.IGNORECASE | re.MULTILINE,
)
INSTRUCTIONS = """Answer the question. Use a tool for everything that you do not know. Write in this form, and nothing else:

Thought: what you know, and what you need next
Action: the name of one tool
Action Input: its input, one JSON object

Then stop; the observation is given to you. When you know the answer, write:

Thought: I know the answer.
Final Answer: the answer"""
STOP = ("\nObservation:",)
MOST_REPEATED = 1000  # characters of a reply in the wrong form that are shown to the model again

_BRACKETS = re.compile(r"([\w.\-/]+)\s*\[(.*)\]", re.DOTALL)
_NOTHING = re.compile(r"(none|n/?a|null|no action|nothing)\b", re.IGNORECASE)


def render_react(run: Run) -> str:
    """A run in the ReAct text form, one block for each step."""
    lines = [f"Question: {run.goal}"]
    for step in run.steps:
        if step.thought:
            lines.append(f"Thought: {step.thought}")
        results = {result.call_id: result for result in step.results}
        for call in step.calls:
            text = call.arguments if isinstance(call.arguments, str) else dumps(json_safe(call.arguments))
            lines += [f"Action: {call.name}", f"Action Input: {text}"]
            if call.id in results:
                lines.append(f"Observation: {results[call.id].content}")
        match step.decision:
            case FinalAnswer(text=answer):
                lines.append(f"Final Answer: {answer}")
            case AskUser(question=question):
                lines.append(f"Final Answer: {question}")
            case _:
                pass
    return "\n".join(lines)


def react_prompt(messages: Sequence[Message], tools: Sequence[ToolSpec], instructions: str = INSTRUCTIONS) -> str:
    """A history and the tools as one text that ends where the model has to go on, after ``Thought:``."""
    results = {message.result.call_id: message.result for message in messages if message.result is not None}
    system = [message.text for message in messages if message.role == "system" and message.text]
    blocks = [*system, instructions, _tool_text(tools)]
    lines: list[str] = []
    labels = {"goal": "Question", "answer": "Answer of the user", "note": "Note"}
    for message in messages:
        if message.role == "user":
            lines.append(f"{labels[message.kind]}: {message.text}")
        elif message.role == "assistant":
            if message.calls and message.text:
                lines.append(f"Thought: {message.text}")
            elif message.text:
                lines.append(f"Final Answer: {message.text}")
            for call in message.calls:
                text = call.arguments if isinstance(call.arguments, str) else dumps(json_safe(call.arguments))
                lines += [f"Action: {call.name}", f"Action Input: {text}"]
                if call.id in results:
                    lines.append(f"Observation: {results[call.id].content}")
    return "\n\n".join([*blocks, "\n".join([*lines, "Thought:"])])


def _tool_text(tools: Sequence[ToolSpec]) -> str:
    if not tools:
        return "There are no tools. Give the final answer at once."
    lines = [
        f"- {tool.name}: {' '.join(tool.description.split())} JSON Schema of its input: {dumps(json_safe(tool.parameters))}"
        for tool in tools
    ]
    return "\n".join(["Tools:", *lines])


class TextReactModel:
    """A model that only writes text, as the brain of an agent.

    The history becomes one ReAct text, and the text that comes back is read by `parse_react`. A reply in the wrong form is
    shown to the model once, with a sentence that says what is wrong. Parallel calls, questions to the user and token counts
    do not exist in this form.

    Args:
        generate: called with the prompt and the texts at which to stop; returns the text that follows the prompt. It need
            not stop there, since everything after an invented observation is cut.
        instructions: what to tell the model about the form.
        name: what to call the model, for example in a recording.

    Raises:
        ReplyError: from `decide`, when the second try is in the wrong form, too, or is no text.
    """

    def __init__(
        self, generate: Callable[[str, tuple[str, ...]], str], *, instructions: str = INSTRUCTIONS, name: str = "text"
    ) -> None:
        self.generate = generate
        self.instructions = instructions
        self.name = name

    def decide(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Reply:
        prompt = react_prompt(messages, tools, self.instructions)
        text = self._continuation(prompt)
        try:
            return Reply(parse_react(text, tools))
        except ReplyError as error:
            wrong = text.split(STOP[0])[0][:MOST_REPEATED]
            again = f"{prompt.removesuffix('Thought:')}{wrong}\nNote: {error}\nThought:"
        return Reply(parse_react(self._continuation(again), tools))

    def _continuation(self, prompt: str) -> str:
        """What the model wrote after ``Thought:``, together with that word (which some models write once more)."""
        text = self.generate(prompt, STOP)
        if not isinstance(text, str):
            raise ReplyError(f"generate() must return text, but it gave a value of type {type(text).__name__}.")
        first = _LABEL.match(text.lstrip())
        return text.lstrip() if first else f"Thought: {text.strip()}"

    def __repr__(self) -> str:
        return f"TextReactModel({self.name})"


def parse_react(text: str, tools: Sequence[ToolSpec] = ()) -> CallTools | FinalAnswer:
    """The first decision in a model's ReAct text.

    Only the first action counts. Everything from the first ``Observation:`` on is cut: the model invented it, and an answer
    that builds on it is not accepted. The action may be written as ``Action: name`` with an ``Action Input:`` (JSON, several
    lines, fenced or not), or as ``Action: name[input]``; an input that is not a JSON object fills the tool's only parameter
    when ``tools`` tell which that is, and ``input`` otherwise.

    Raises:
        ReplyError: there is neither an action nor an answer, or the action is "None" or names no tool. The sentence tells
            the model the form to use.
    """
    parts = _sections(text)
    thought = " ".join(body for label, body in parts if label == "thought" and body)
    for place, (label, body) in enumerate(parts):
        if label == "final answer":
            if not body:
                raise ReplyError(f"The final answer is empty. {FORMAT}")
            return FinalAnswer(thought, body)
        if label == "action":
            following = parts[place + 1] if place + 1 < len(parts) else ("", "")
            call_input = following[1] if following[0] == "action input" else None
            earlier = " ".join(body for label, body in parts[:place] if label == "thought" and body)
            return CallTools(earlier, (_call(body, call_input, tools),))
    raise ReplyError(f"The reply has neither an action nor a final answer. {FORMAT}")


def _sections(text: str) -> list[tuple[str, str]]:
    """(label, body) in order, up to the first invented observation. Text before the first label is a thought."""
    marks = list(_LABEL.finditer(text))
    opening = text[: marks[0].start()] if marks else text
    found = [("thought", opening.strip())] if opening.strip() and marks else []
    for place, mark in enumerate(marks):
        label = mark.group(1).lower()
        if label == "observation":
            break
        end = marks[place + 1].start() if place + 1 < len(marks) else len(text)
        found.append((label, text[mark.end() : end].strip()))
    return found


def _call(action: str, call_input: str | None, tools: Sequence[ToolSpec]) -> ToolCall:
    action = _plain(action).strip("*").strip()
    if not action or _NOTHING.match(action):
        raise ReplyError(f"The action is empty, so there is nothing to run. {FORMAT}")
    bracketed = _BRACKETS.fullmatch(action)
    if bracketed and call_input is None:
        action, call_input = bracketed.group(1), bracketed.group(2)
    if re.search(r"\s", action) and action not in {tool.name for tool in tools}:
        raise ReplyError(f"The action {action[:60]!r} is not the name of a tool. {FORMAT}")
    return ToolCall(action, _arguments(action, _plain(call_input or ""), tools))


def _plain(text: str) -> str:
    """Without the back-ticks, fences and bold marks that models put around names and JSON."""
    text = unfenced(text).strip("`").strip()
    bold = len(text) > 4 and text.startswith("**") and text.endswith("**")
    return text[2:-2].strip() if bold else text


def _arguments(name: str, text: str, tools: Sequence[ToolSpec]) -> dict[str, object] | str:
    if not text or text.startswith("{"):
        return _object_or_text(text)
    parameters = next((list(tool.parameters.get("properties", {})) for tool in tools if tool.name == name), ["input"])
    if len(parameters) != 1:
        return text
    quoted = len(text) > 1 and text[0] == text[-1] == '"' and '"' not in text[1:-1]
    return {parameters[0]: text[1:-1] if quoted else text}


def _object_or_text(text: str) -> dict[str, object] | str:
    """A complete JSON object; anything else stays text, so that the registry can tell the model what is wrong with it."""
    try:
        value = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, dict) else text
