"""The arguments of a call as the model wrote them become a JSON object, or a sentence that says why not."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NoReturn

from agentkit._jsonsafe import json_safe, short
from agentkit.messages import ToolCall


class BadArguments(Exception):
    """The arguments are not a JSON object. ``code`` is ``bad_json``, ``truncated`` or ``bad_arguments``."""

    def __init__(self, code: str, message: str, hint: str) -> None:
        super().__init__(message)
        self.code = code
        self.hint = hint


def parse_arguments(call: ToolCall) -> dict[str, Any]:
    """The arguments as an object.

    Empty text and ``null`` mean "no arguments". JSON in a Markdown fence and JSON that was encoded twice are unwrapped.
    A call whose text was cut off is never repaired, since what is missing is unknown.
    """
    if call.truncated:
        raise BadArguments(
            "truncated", "The call was cut off before its arguments were complete.", "Send a smaller call."
        )
    value: Any = call.arguments
    if type(value) is dict:
        for item in value.values():
            if type(item) is list or type(item) is dict:
                copied: dict[str, Any] = json_safe(value)  # what a tool does with a list must not change the history
                return copied
        return value
    for _ in range(3):  # text, text in a text, and once more
        if not isinstance(value, str):
            break
        value = _load(value)
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise BadArguments(
            "bad_arguments",
            f"The arguments must be a JSON object, but they are {short(value)}.",
            'Send {"name": value, …}.',
        )
    return dict(value)


def unfenced(text: str) -> str:
    """The text without the Markdown fence that a model may have put around it."""
    text = text.strip()
    if not (text.startswith("```") and text.endswith("```") and len(text) >= 6):
        return text
    first, line_end, rest = text[3:-3].partition("\n")
    return (rest if line_end and first.strip().isalnum() else text[3:-3]).strip()


def _load(text: str) -> Any:
    text = unfenced(text)
    if not text:
        return None
    try:
        return json.loads(text, parse_constant=_not_json)
    except json.JSONDecodeError as error:
        near = short(text[max(0, error.pos - 15) : error.pos + 15])
        message = f"The arguments are not valid JSON: the mistake is at character {error.pos + 1}, near {near}."
        raise BadArguments("bad_json", message, "Send one JSON object with double quotes.") from None
    except (ValueError, RecursionError):
        message = "The arguments are not valid JSON: a number is not one that JSON has, or the nesting is too deep."
        raise BadArguments("bad_json", message, "Send one simple JSON object.") from None


def _not_json(name: str) -> NoReturn:
    raise ValueError(name)
