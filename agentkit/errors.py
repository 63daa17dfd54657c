"""The exceptions of agentkit. The name says whose turn it is to act.

    AgentkitError
    ├── DefinitionError      yours: a tool, registry, agent, run or exercise was defined or used wrongly
    ├── ToolError            the tool's: raise it inside a tool to tell the model, in your own words, what went wrong
    ├── ModelError           the model's side could not give a reply; a run stops with ``model_error``
    │   ├── ReplyError       the model answered something that cannot be read as a decision
    │   ├── ScriptError      a ScriptedModel was asked for more, or for less, than its script holds
    │   └── ProviderError    the service behind the model failed (no key, no network, quota, server error)
    ├── ContextFullError     what must be sent does not fit into the memory's budget; a run stops with ``context_full``
    └── SavedRunError        a saved run cannot be read back

Every message is a sentence that says what to do next. What a *tool call* does wrong is never an exception: it is a
`ToolResult` with an error code, because the model has to read it.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class AgentkitError(Exception):
    """The root of all exceptions of this package."""


class DefinitionError(AgentkitError):
    """Something was defined or used wrongly by the programmer; the message says what to change."""


class ToolError(AgentkitError):
    """Raise this inside a tool: the message reaches the model as the observation, word for word (secrets masked).

    Args:
        message: one sentence for the model.
        code: a short stable code, for programs.
        hint: what the model could do next.
    """

    def __init__(self, message: str, *, code: str = "tool_error", hint: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.hint = hint


class ModelError(AgentkitError):
    """The model's side could not give a reply."""


class ReplyError(ModelError):
    """The model answered, but not with a decision that can be read."""


class ScriptError(ModelError):
    """A script and the run that used it do not agree."""


class ProviderError(ModelError):
    """The service behind the model failed; the message says what to do.

    Args:
        message: one sentence or two for the person who runs the agent. It never holds a key.
        code: a short stable code: ``no_key``, ``wrong_key``, ``not_allowed``, ``quota``, ``rate_limit``, ``no_server``,
            ``timeout``, ``model_not_found``, ``bad_request``, ``context_too_long``, ``server_error``, ``interrupted`` (a stream
            that ended too early), ``missing_package``, ``not_recorded``, or ``provider_error`` for anything else.
        status: the HTTP status, when there was an answer.
    """

    def __init__(self, message: str, *, code: str = "provider_error", status: int | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.status = status


class ContextFullError(AgentkitError):
    """What must be sent to the model does not fit into the budget."""


class SavedRunError(AgentkitError):
    """A saved run cannot be read back."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """``"Did you mean 'lookup_order'? "`` when a known name is nearly the same, else an empty string."""
    folded = {candidate.casefold(): candidate for candidate in known}
    close = difflib.get_close_matches(str(name).casefold()[:80], folded, n=1, cutoff=0.6)
    return f"Did you mean {folded[close[0]]!r}? " if close else ""
