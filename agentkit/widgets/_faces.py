"""Static faces that several panels need: a tool as the model sees it, a result, a run with what it waits for."""

from __future__ import annotations

import json
from collections.abc import Sequence

from agentkit._text import Shown, escape, hanging, json_text, one_line, rows_html, shown
from agentkit.messages import Message, ToolResult, ToolSpec
from agentkit.show import messages_html, messages_text, result_text

SCHEMA_LIMIT = 6000


def schema_text(spec: ToolSpec) -> str:
    """The JSON Schema of a tool on several lines."""
    text = json.dumps(spec.parameters, ensure_ascii=False, indent=2, default=lambda value: f"<{type(value).__name__}>")
    return shown(text, SCHEMA_LIMIT)


def specs_face(specs: Sequence[ToolSpec]) -> Shown:
    """Tools as the model sees them: name, description and schema."""
    text, blocks = [], []
    for spec in specs:
        schema = schema_text(spec)
        title, description = one_line(spec.name), shown(spec.description)
        compact = json_text(spec.parameters, SCHEMA_LIMIT)
        text += [hanging(f"Tool {title}", description), hanging("Schema", compact, indent="  ")]
        blocks.append(
            f"<details><summary><b>Tool {escape(title)}</b>: {escape(description)}</summary>"
            f"<pre>{escape(schema).replace('<br>', chr(10))}</pre></details>"
        )
    return Shown("\n".join(text) or "(no tools)", "".join(blocks) or "<div>(no tools)</div>")


def request_face(messages: Sequence[Message], specs: Sequence[ToolSpec]) -> Shown:
    """One request: the messages and the tools, which is all that a model ever sees."""
    tools = specs_face(specs)
    return Shown(
        "\n".join(["Messages", messages_text(messages), "Tools", tools.text]),
        f"<div><b>Messages</b>{messages_html(messages)}<b>Tools</b>{tools.html}</div>",
    )


def result_html(result: ToolResult) -> str:
    """A result with whether it is ok."""
    return rows_html([("ok" if result.ok else "error", result_text(result))])


def sentence_html(text: object) -> str:
    """A sentence for the person at the panel."""
    return f"<div><i>{escape(shown(text))}</i></div>"


def joined(*parts: Shown) -> Shown:
    """One face below the other."""
    return Shown("\n".join(part.text for part in parts), f"<div>{''.join(part.html for part in parts)}</div>")


def title(text: str) -> Shown:
    """A heading as a face."""
    return Shown(text, f"<div><b>{escape(text)}</b></div>")
