"""What went wrong at a service, in one place for every SDK: an exception becomes a `ProviderError` that says what to do.

The official OpenAI and Anthropic SDKs name their exceptions alike, so they are told apart by name and status, and neither SDK
is imported here. The sentence never holds a key: it is masked by form and by the very key in use.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agentkit._redact import MASK, mask_text
from agentkit.errors import AgentkitError, ProviderError

INSTALL = 'pip install "agentkit-course[providers]"'
OFFLINE = "Or work without a service: AGENTKIT_MODEL=offline."
COMPATIBLE_KEY = "AGENTKIT_API_KEY"
NO_KEY = "none"  # SDKs refuse an empty key; local servers ignore this one

_QUOTA = (
    "insufficient_quota", "billing_error", "billing_hard_limit", "billing_not_active", "credit balance",
    "exceeded your current quota", "insufficient credits",
)  # fmt: skip
_TOO_LONG = (
    "context_length", "context length", "context window", "exceed_context_size", "context size", "prompt is too long",
    "too many tokens", "input is too long", "string_above_max_length",
)  # fmt: skip
_BUSY = ("overloaded", "server_error", "api_error", "internal_error", "internal server error", "service_unavailable")


@dataclass(frozen=True, slots=True)
class Service:
    """A service as error sentences speak of it.

    ``own`` says whether it is the provider's own service or another server that speaks the same language, at ``url``.
    ``variable`` is the environment variable of its key. ``tries`` is how often the SDK sends a request.
    """

    label: str
    variable: str
    url: str
    model: str = ""
    own: bool = True
    timeout: float | None = None
    tries: int = 1

    @property
    def name(self) -> str:
        return self.label if self.own else f"the server at {mask_text(self.url)}"


def load_package(name: str) -> Any:
    """The SDK of this name. Raises `ProviderError` (``missing_package``) with the line that installs it."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        lacks = error.name if error.name is not None and error.name.split(".")[0] != name else ""
    raise _missing(name, lacks)


def require(name: str) -> None:
    """Raise `ProviderError` (``missing_package``) when the SDK of this name is not installed. It is not imported."""
    try:
        found = importlib.util.find_spec(name)
    except (ImportError, ValueError):  # a module that was blocked has no specification
        found = None
    if found is None:
        raise _missing(name)


def _missing(name: str, lacks: str = "") -> ProviderError:
    what = f"needs {lacks!r}, which is not installed" if lacks else "is not installed"
    return ProviderError(f"The package {name!r} {what}. Run: {INSTALL}. {OFFLINE}", code="missing_package")


def no_key(service: Service) -> ProviderError:
    """The error of a service whose key is not set."""
    return ProviderError(
        f"There is no API key for {service.name}. Set the environment variable {service.variable} in the terminal, and start "
        f"your program or Jupyter again from there. {OFFLINE}",
        code="no_key",
    )


def unusable_key(service: Service) -> ProviderError:
    """The error of a key that cannot be sent in a header; SDKs would show it whole in theirs."""
    return ProviderError(
        f"The API key in {service.variable} holds a space, a line break or a letter that no key has. Copy it again.",
        code="wrong_key",
    )


def interrupted() -> ProviderError:
    """The error of a stream that ended too early: what had come is no decision."""
    return ProviderError(
        "The stream ended before the reply was complete, so nothing of it was used. Run it again.", code="interrupted"
    )


def sent_error(detail: Any) -> ProviderError:
    """The error that a service sent in the place of a reply, or in the middle of one."""
    kinds, message = _told(detail if isinstance(detail, Mapping) else {"message": str(detail)})
    found = _by_words(f"{kinds} {message}".lower()) or "provider_error"
    return ProviderError(_sentence(found, Service("the service", "", ""), masked(message or kinds, "")), code=found)


def explain(error: Exception, service: Service, key: str = "", *, started: bool = False) -> Exception:
    """The exception to raise instead of this one: a `ProviderError`, or the same one when no service is to blame.

    Args:
        error: what an SDK raised.
        service: who was asked.
        key: the key in use, which is cut out of every sentence.
        started: whether a part of the reply had already arrived.
    """
    if isinstance(error, ProviderError):  # an error that was sent in the place of a reply may repeat the key
        return ProviderError(masked(str(error), key), code=error.code, status=error.status)
    if isinstance(error, AgentkitError):
        return error
    kinds = {kind.__name__ for kind in type(error).__mro__}
    types, message = _words(error)
    status = getattr(error, "status_code", None)
    status = status if isinstance(status, int) and status >= 400 else None
    found = _found(kinds, status, f"{types} {message}".lower(), started)
    if not found:
        return error
    sent_again = not started and (status is not None or "APIConnectionError" in kinds) and _may_retry(error)
    text = _sentence(found, service, masked(message, key), status, _wait(error), service.tries if sent_again else 1)
    return ProviderError(masked(text, key), code=_SHOWN.get(found, found), status=status)


def _sentence(
    found: str, service: Service, message: str, status: int | None = None, waits: str = "", tries: int = 1
) -> str:
    sentence = _SENTENCES[found]
    said = f" It said: {_shortened(message)}" if message else ""
    return sentence.format(
        name=service.name, Name=service.name[:1].upper() + service.name[1:], variable=service.variable,
        model=repr(service.model) if service.model else "that was asked for", waits=waits, offline=OFFLINE,
        tried=f" It was tried {tries} times." if tries > 1 else "", said=said,
        seconds=f"{service.timeout:g} seconds" if service.timeout else "the time allowed",
        where="the network connection" if service.own else "that it runs and that the address is right",
        status="" if status is None else f" (status {status})",
    )  # fmt: skip


def masked(text: str, key: str) -> str:
    """The text without secrets: those that have a known form, and this key."""
    return mask_text(text.replace(key, MASK) if len(key) > 3 and key != NO_KEY else text)


_SENTENCES = {
    "timeout": "{Name} did not answer within {seconds}.{tried} Try again, or give the model a longer timeout. {offline}",
    "no_server": "{Name} cannot be reached.{tried} Check {where}. {offline}",
    "interrupted": "The connection to {name} broke in the middle of a reply, so nothing of it was used. Run it again.{said}",
    "wrong_key": "{Name} refused the API key{status}. Check the environment variable {variable}: "
    "it must hold a whole, valid key.",
    "not_allowed": "{Name} does not allow this with the present key or from this place{status}.{said}",
    "quota": "The account at {name} has no credit left{status}. Add credit, or raise the limit, on its billing page. {offline}",
    "rate_limit": "{Name} is asked too often{status}.{tried}{said}{waits} Wait a little, then run it again. "
    "{offline}",
    "model_not_found": "{Name} has no model {model}{status}, or this key may not use it. Name another one, for example with "
    "AGENTKIT_MODEL=openai:NAME, anthropic:NAME or openai-compatible:NAME.{said}",
    "bad_request": "{Name} does not accept the request{status}.{said}",
    "other_api": "{Name} takes the tools of the model {model} only by its Responses API{status}. Use it with "
    "AGENTKIT_MODEL=openai-responses:NAME.{said}",
    "context_too_long": "The history is too long for the model {model}{status}. Give the agent a smaller memory, for example "
    "Memory(max_tokens=…).{said}",
    "server_error": "{Name} has a problem of its own{status}.{tried}{said}{waits} Try again later. {offline}",
    "no_route": "{Name} does not know this address{status}. Check the base URL: for an OpenAI-compatible server it usually "
    "ends in /v1.{said}",
    "not_json": "The answer of {name} is not JSON, so it is probably no model server. Check the base URL: for an "
    "OpenAI-compatible server it usually ends in /v1.",
    "provider_error": "{Name} answered with an error{status}.{said}",
}  # fmt: skip
_SHOWN = {
    "no_route": "no_server",
    "not_json": "provider_error",
    "other_api": "bad_request",
}  # sentences of their own for one of the public codes


def _found(kinds: set[str], status: int | None, words: str, started: bool) -> str:
    """The sentence that fits; empty for an exception that no service is to blame for."""
    if status is not None:
        return _by_status(status, words)
    if "APITimeoutError" in kinds or "TimeoutException" in kinds:
        return "interrupted" if started else "timeout"
    if kinds & {"APIConnectionError", "TransportError", "InvalidURL", "StreamError"}:
        return "interrupted" if started else "no_server"
    if kinds & {"JSONDecodeError", "UnicodeDecodeError", "APIResponseValidationError"}:
        return "interrupted" if started else "not_json"
    if kinds & {"OpenAIError", "AnthropicError"}:  # among them an error that was sent in the middle of a stream
        return _by_words(words) or ("interrupted" if started else "provider_error")
    return ""


def _by_status(status: int, words: str) -> str:
    if status in (402, 429):
        return "quota" if status == 402 or any(word in words for word in _QUOTA) else "rate_limit"
    if status == 404 and "item with id" in words:  # Responses: a kept item that the service did not store
        return "bad_request"
    if status == 404:
        return "model_not_found" if "model" in words else "no_route"
    fixed = {401: "wrong_key", 403: "not_allowed", 405: "no_route", 408: "timeout", 413: "context_too_long"}
    if status in fixed:
        return fixed[status]
    if status >= 500:
        return "server_error"
    found = _by_words(words, ("quota", "context_too_long"))
    return found or ("other_api" if "/v1/responses" in words else "bad_request")


def _by_words(words: str, among: tuple[str, ...] = ()) -> str:
    """The code that the words of an error speak of, where the status says too little."""
    table = {
        "quota": _QUOTA,
        "context_too_long": _TOO_LONG,
        "rate_limit": ("rate_limit",),
        "wrong_key": ("authentication_error", "invalid_api_key"),
        "not_allowed": ("permission_error",),
        "bad_request": ("invalid_request",),
        "server_error": _BUSY,
    }
    for code, marks in table.items():
        if (not among or code in among) and any(mark in words for mark in marks):
            return code
    return ""


def _words(error: Exception) -> tuple[str, str]:
    """What the service itself says: the type and code of the error, and its message."""
    body = getattr(error, "body", None)
    inner = body.get("error", body) if isinstance(body, Mapping) else body
    if isinstance(inner, Mapping):
        return _told(inner)
    plain = isinstance(inner, str) and not inner.lstrip().startswith("<")  # the page of a proxy says nothing
    return "", str(inner) if plain else ""


def _told(detail: Mapping[str, Any]) -> tuple[str, str]:
    message = next((detail[key] for key in ("message", "detail", "error") if detail.get(key)), "")
    kinds = [str(detail[key]) for key in ("type", "code") if isinstance(detail.get(key), (str, int))]
    return " ".join(kinds), str(message)


def _shortened(words: str) -> str:
    text = " ".join(words.split())
    text = text if len(text) <= 300 else text[:300].rpartition(" ")[0] + " …"
    return text if text.endswith((".", "…", "?", "!")) else text + "."


def _wait(error: Exception) -> str:
    """How long the service asks to wait, where it says so."""
    try:
        seconds = float(_headers(error).get("retry-after", ""))
    except ValueError:
        return ""
    return f" It asks to wait {seconds:g} seconds." if 0 < seconds < 1e6 else ""


def _may_retry(error: Exception) -> bool:
    """Whether the SDKs send such a request again; a service can forbid it."""
    return bool(_headers(error).get("x-should-retry", "") != "false")


def _headers(error: Exception) -> Any:
    return getattr(getattr(error, "response", None), "headers", None) or {}
