"""The static face of things: a stable text form and an HTML form that say the same.

Both forms are built from the same lines, so that they cannot drift apart. The HTML is made of tables, ``<details>`` and
inline styles only, because notebook viewers drop everything else. No form holds an id, a time or a memory address.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from agentkit._compare import Laid, faces, lay
from agentkit._deltas import deltas
from agentkit._pieces import pieces
from agentkit._source import source
from agentkit._tables import bars, table
from agentkit._text import MARK, TABLE, Shown, cell, escape, hanging, json_text, one_line, rows_html, shown
from agentkit._wire_face import wire
from agentkit.messages import AskUser, CallTools, FinalAnswer, Message, Run, Step, ToolCall, ToolResult

__all__ = [
    "Shown", "bars", "call_text", "calls_text", "compare", "compared", "deltas", "end_lines", "message_lines",
    "messages_html", "messages_text", "pieces", "result_text", "role_text", "run_html", "run_text", "source", "step_html",
    "step_lines", "step_text", "table", "wire",
]  # fmt: skip

FIRST_STEPS, LAST_STEPS = 30, 10
LENGTH_LIMITS = ("length", "max_tokens", "max_output_tokens", "model_context_window_exceeded")
"""What services call it when a reply reached its length limit."""
OPEN_STEPS = 8
Line = tuple[str, str]


def call_text(call: ToolCall, limit: int | None = 1200) -> str:
    """One call on one line: the name, then the arguments as JSON (or as the model wrote them)."""
    arguments = call.arguments
    written = one_line(arguments, limit) if isinstance(arguments, str) else json_text(dict(arguments), limit)
    return f"{one_line(call.name)} {written}" + (" (cut off)" if call.truncated else "")


def calls_text(calls: Iterable[ToolCall]) -> str:
    """One line for each call."""
    return "\n".join(call_text(call) for call in calls)


def result_text(result: ToolResult, limit: int | None = 1200) -> str:
    """The observation: the data as JSON (a text as it is), or the error with its code and hint."""
    if result.error is not None:
        text = f"Error {one_line(result.error.code)}: {shown(result.error.message, limit)}"
        if result.error.hint:
            text += f" Hint: {shown(result.error.hint, limit)}"
    elif isinstance(result.data, str) and result.data:
        text = shown(result.data, limit)
    else:
        text = json_text(result.data, limit)
    return f"{text}\nNote: {shown(result.note, limit)}" if result.note else text


def step_lines(step: Step, limit: int | None = 1200) -> list[Line]:
    """A step as (label, text) pairs: Thought, then Action and Observation of each call, or the answer or question."""
    lines: list[Line] = [("Thought", shown(step.thought, limit))] if step.thought else []
    match step.decision:
        case CallTools(calls=calls):
            for place, call in enumerate(calls):
                lines.append(("Action", call_text(call, limit)))
                result = _result_of(step, call, place)
                lines.append(("Observation", "(no result yet)" if result is None else result_text(result, limit)))
        case FinalAnswer(text=text):
            lines.append(("Answer", shown(text, limit)))
        case AskUser(question=question):
            lines.append(("Question", shown(question, limit)))
    return lines


def _result_of(step: Step, call: ToolCall, place: int) -> ToolResult | None:
    """The result with the call's id; where ids are missing, the one at the same place."""
    if call.id:
        return next((result for result in step.results if result.call_id == call.id), None)
    return step.results[place] if place < len(step.results) else None


def step_text(step: Step) -> str:
    """The step for a terminal."""
    return "\n".join([f"Step {step.number}", *(hanging(*line, indent="  ") for line in step_lines(step))])


def step_html(step: Step, more: Sequence[Line] = ()) -> str:
    """The step as a table."""
    return rows_html([*step_lines(step), *more])


def run_text(run: Run) -> str:
    """The whole run as text: goal, steps, and how it ended."""
    blocks = [hanging("Goal", shown(run.goal))]
    for step in _shown_steps(run):
        if isinstance(step, str):
            blocks.append(step)
        else:
            blocks += [step_text(step), *(hanging(*line, indent="  ") for line in _said_after(run, step))]
    return "\n".join([*blocks, *(hanging(*line) for line in end_lines(run))])


def run_html(run: Run) -> str:
    """The whole run as HTML: the same lines as `run_text`."""
    blocks = [rows_html([("Goal", shown(run.goal))])]
    is_open = " open" if len(run.steps) <= OPEN_STEPS else ""
    for step in _shown_steps(run):
        if isinstance(step, str):
            blocks.append(f"<div>{escape(step)}</div>")
            continue
        body = step_html(step, _said_after(run, step))
        blocks.append(f"<details{is_open}><summary><b>Step {step.number}</b></summary>{body}</details>")
    return f"<div>{''.join(blocks)}{rows_html(end_lines(run))}</div>"


def _shown_steps(run: Run) -> list[Step | str]:
    """All steps; of a very long run the first and the last ones, with a sentence for those between."""
    left_out = len(run.steps) - FIRST_STEPS - LAST_STEPS
    if left_out <= 0:
        return list(run.steps)
    return [*run.steps[:FIRST_STEPS], f"… [{left_out:,} more steps]", *run.steps[-LAST_STEPS:]]


def _said_after(run: Run, step: Step) -> list[Line]:
    """What the user or the loop said between this step and the next."""
    later = [other.seen for other in run.steps if other.number > step.number]
    between = run.messages[step.seen : min(later, default=len(run.messages))]
    labels = {"goal": "Goal", "answer": "User answer", "note": "Note"}
    return [(labels[message.kind], shown(message.text)) for message in between if message.role == "user"]


def end_lines(run: Run) -> list[Line]:
    """How a run ended, or what it waits for."""
    last = run.steps[-1].decision if run.steps else None
    lines: list[Line] = []
    if run.answer is not None and not (isinstance(last, FinalAnswer) and last.text == run.answer):
        lines.append(("Answer", shown(run.answer)))
    if run.question is not None and not (isinstance(last, AskUser) and last.question == run.question):
        lines.append(("Question", shown(run.question)))
    lines += _cut_off(run)
    for call in run.pending:
        why = "waits for approval" if call.id in run.awaiting else "not run yet"
        lines.append(("Pending", f"{call_text(call)} ({why})"))
    if run.error:
        lines.append(("Error", shown(run.error)))
    return [*lines, ("Status", _status(run))]


def _cut_off(run: Run) -> list[Line]:
    """A line for a last reply whose text ended at the length limit. Half a call says so itself."""
    reply = run.steps[-1].reply if run.steps else None
    reason = (reply.provider or {}).get("stop_reason") if reply is not None else None
    if reply is None or isinstance(reply.decision, CallTools) or reason not in LENGTH_LIMITS:
        return []
    return [("Cut off", f"The length limit ended this reply ({reason}), so it is not complete.")]


def _status(run: Run) -> str:
    steps = "1 step" if len(run.steps) == 1 else f"{len(run.steps)} steps"
    parts = [f"{run.status} ({run.stop_reason})", steps]
    if run.usage.total_tokens:
        parts.append(f"{run.usage.input_tokens:,} tokens in, {run.usage.output_tokens:,} out")
    if run.usage.cost is None:
        parts.append("cost unknown")
    elif run.usage.cost:
        parts.append(f"cost {run.usage.cost:.6f} USD")
    return ", ".join(parts)


def message_lines(message: Message, limit: int | None = 1200) -> list[str]:
    """What one message says: its text, its calls, or the result as the model reads it."""
    lines = [shown(message.text, limit)] if message.text else []
    lines += [f"calls {call_text(call, limit)}" for call in message.calls]
    if message.result is not None:
        lines.append(f"{one_line(message.result.name)} → {_read_by_model(message.result, limit)}")
    return lines or ["(empty)"]


def _read_by_model(result: ToolResult, limit: int | None) -> str:
    try:
        return shown(result.content, limit)
    except (TypeError, ValueError):  # data that is no JSON, from a registry written by hand
        return result_text(result, limit)


def role_text(message: Message) -> str:
    """The role; for a user message also what kind it is."""
    return f"user ({message.kind})" if message.role == "user" else str(message.role)


def messages_text(messages: Sequence[Message], marked: Collection[int] = (), limit: int | None = 1200) -> str:
    """A history, one message after the other. ``marked`` holds the positions (from 0) to mark as new."""
    blocks = []
    for place, message in enumerate(messages):
        label = f"{place + 1}. {role_text(message)}" + (" (new)" if place in marked else "")
        blocks.append(hanging(label, "\n".join(message_lines(message, limit))))
    return "\n".join(blocks) if blocks else "(no messages)"


def messages_html(messages: Sequence[Message], marked: Collection[int] = (), limit: int | None = 1200) -> str:
    """The same as a table. A marked message says "new" and has a thick edge, so that colour is never needed."""
    if not messages:
        return "<div>(no messages)</div>"
    rows = []
    for place, message in enumerate(messages):
        new = place in marked
        label = f"{place + 1}. {role_text(message)}" + (" (new)" if new else "")
        text = escape("\n".join(message_lines(message, limit)))
        rows.append(f"<tr>{cell(f'<b>{label}</b>' if new else label, MARK if new else '')}{cell(text)}</tr>")
    return f'<table style="{TABLE}">{"".join(rows)}</table>'


def compare(run_a: Run, run_b: Run, labels: tuple[str, str] = ("A", "B")) -> Shown:
    """Two runs side by side, step by step, with the first difference marked."""
    return faces(compared(run_a, run_b), labels)


def compared(run_a: Run, run_b: Run) -> list[Laid]:
    """The rows of a comparison, as `agentkit._compare.lay` describes them."""
    return lay(
        [_all_lines(run, limit=None) for run in (run_a, run_b)],
        [_all_lines(run, limit=600) for run in (run_a, run_b)],
    )


def _all_lines(run: Run, limit: int | None) -> list[tuple[str, list[Line]]]:
    """Every row of a comparison: its name and its lines."""
    rows: list[tuple[str, list[Line]]] = [("Goal", [("Goal", shown(run.goal, limit))])]
    rows += [(f"Step {step.number}", [*step_lines(step, limit), *_said_after(run, step)]) for step in run.steps]
    return [*rows, ("End", end_lines(run))]
