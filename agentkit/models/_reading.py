"""What the readers of OpenAI's two forms share: small pure functions on what came over the wire."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn, TypeAlias

from agentkit._wire import wire_name
from agentkit.errors import ReplyError
from agentkit.messages import ToolSpec
from agentkit.models._service import sent_error

Json: TypeAlias = dict[str, Any]


def route(name: Any, specs: Sequence[ToolSpec]) -> str:
    """The tool's own name for its name on the wire; an unknown name stays as it is, and the registry answers it."""
    text = name if isinstance(name, str) else ""
    return next((spec.name for spec in specs if wire_name(spec.name) == text), text)


def arguments_of(raw: Any, cut_off: bool) -> tuple[Json | str, bool]:
    """The arguments of a call, and whether they were cut off.

    A JSON object in text becomes an object. No text, and null, mean "no arguments". Any other text stays as it is, so that
    the registry can tell the model what is wrong with it. Where the reply was cut off, arguments that are not complete JSON
    are a half; they are never repaired.
    """
    if isinstance(raw, Mapping):
        return dict(raw), False
    if raw is None or (isinstance(raw, str) and not raw.strip()):
        return ("", True) if cut_off else ({}, False)
    text = raw if isinstance(raw, str) else json.dumps(raw, ensure_ascii=False)
    try:
        found = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return text, cut_off
    return (found if isinstance(found, dict) else text), False


def _refuse(name: str) -> NoReturn:
    raise ValueError(name)


def counted(found: Any) -> int:
    """A count of tokens; anything that is no count is 0."""
    return int(found) if isinstance(found, (int, float)) and not isinstance(found, bool) and found > 0 else 0


def raise_sent_error(detail: Any) -> NoReturn:
    """Raise the `ProviderError` for an error that came in the place of a reply."""
    raise sent_error(detail)


def cut_short() -> ReplyError:
    """The error of a reply that was cut off before it held anything."""
    return ReplyError(
        "The reply was cut off by its length limit before it said anything. Give the model a larger max_output_tokens; "
        "its reasoning counts towards it."
    )


def reply_form(form: str, what: str) -> ReplyError:
    """The error of a document that is no reply of this form."""
    return ReplyError(f"The answer is not in the form of {form}: it has {what}. Check the base URL.")
