"""What a client answers when the server asks: a text of its model, its folders, or a question to the person."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from agentkit.mcp.context import Context, Handler
from agentkit.mcp.jsonrpc import INVALID_PARAMS, McpError

Sampling: TypeAlias = Callable[[Mapping[str, Any]], str]
Roots: TypeAlias = Sequence[str | os.PathLike[str]]
Elicitation: TypeAlias = Callable[[str, Mapping[str, Any]], Mapping[str, Any] | None]


def answers(
    sampling: Sampling | None, roots: Roots | None, elicitation: Elicitation | None
) -> tuple[dict[str, Handler], dict[str, Any]]:
    """The handlers for what was given, and the capabilities that say so in the handshake."""
    handlers: dict[str, Handler] = {"ping": lambda context: {}}
    able: dict[str, Any] = {}
    if sampling is not None:
        handlers["sampling/createMessage"] = lambda context: _sampled(context, sampling)
        able["sampling"] = {}
    if roots is not None:
        listed = [_root(item) for item in roots]
        handlers["roots/list"] = lambda context: {"roots": listed}
        able["roots"] = {}
    if elicitation is not None:
        handlers["elicitation/create"] = lambda context: _elicited(context, elicitation)
        able["elicitation"] = {}
    return handlers, able


def _sampled(context: Context, sampling: Sampling) -> dict[str, Any]:
    if not isinstance(context.params.get("messages"), list):
        raise McpError("sampling/createMessage needs a list of messages.", code=INVALID_PARAMS)
    text = sampling(context.params)
    content = {"type": "text", "text": str(text)}
    return {"role": "assistant", "content": content, "model": "agentkit", "stopReason": "endTurn"}


def _elicited(context: Context, elicitation: Elicitation) -> dict[str, Any]:
    message, schema = context.params.get("message"), context.params.get("requestedSchema")
    if not isinstance(message, str) or not isinstance(schema, Mapping):
        raise McpError("elicitation/create needs a message and a requestedSchema.", code=INVALID_PARAMS)
    answer = elicitation(message, schema)
    return {"action": "decline"} if answer is None else {"action": "accept", "content": dict(answer)}


def _root(item: str | os.PathLike[str]) -> dict[str, str]:
    if isinstance(item, str) and "://" in item:
        return {"uri": item}
    path = Path(item).resolve()
    return {"uri": path.as_uri(), "name": path.name}
