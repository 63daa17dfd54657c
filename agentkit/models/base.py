"""Choosing a model: one line, and one environment variable, swap the brain of every notebook."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from agentkit.errors import DefinitionError, did_you_mean
from agentkit.facts import Rule
from agentkit.messages import Model

if TYPE_CHECKING:
    from agentkit.models.openai import Api

VARIABLE = "AGENTKIT_MODEL"
BASE_URL = "AGENTKIT_BASE_URL"
NAMES = ("offline", "human", "openai", "openai-responses", "anthropic", "openai-compatible", "local", "recorded:FILE")

_PLAIN = ("offline", "human", "local")  # names that stand alone
_SERVERS = "http://127.0.0.1:11434/v1 (Ollama), :8080/v1 (llama.cpp), :1234/v1 (LM Studio), :8000/v1 (vLLM)"


def get_model(name: str | None = None, *, rules: Sequence[Rule] = ()) -> Model:
    """The model of this name, or of the environment variable AGENTKIT_MODEL, or the offline model.

    Only the variable changes the default; the mere presence of a provider's key never does. Keys are read, and services
    asked, when the first request goes out.

    Args:
        name: ``"offline"`` (the brain in the box), ``"human"`` (you decide), ``"openai"``, ``"openai-responses"`` (the same
            service by its newer API), ``"anthropic"``, ``"openai-compatible"`` (the server at AGENTKIT_BASE_URL), ``"local"``
            (a small model in this process), or ``"recorded:FILE"``. A provider's name may be followed by a model of its own:
            ``"openai:MODEL"``.
        rules: what a world knows; only the offline model needs them, every other model ignores them.

    Raises:
        DefinitionError: there is no model of this name, or something that it needs is not given.
        ProviderError: a package that it needs is not installed (code ``missing_package``).
    """
    origin = "get_model()" if name else f"the environment variable {VARIABLE}"
    chosen = (name or os.environ.get(VARIABLE, "")).strip() or "offline"
    kind, _, detail = (part.strip() for part in chosen.partition(":"))
    if kind in _PLAIN and not detail:
        return _plain_model(kind, rules)
    if kind in ("openai", "openai-responses"):
        return _openai(kind, detail or None, "responses" if kind == "openai-responses" else "chat")
    if kind == "openai-compatible":
        return _openai(kind, detail or None, "chat", base_url=_base_url(origin))
    if kind == "anthropic":
        return _anthropic(detail or None)
    if kind == "recorded" and detail:
        from agentkit.models.recorded import RecordedModel

        return RecordedModel(detail)
    raise DefinitionError(_unknown(origin, chosen, kind, detail))


def _unknown(origin: str, chosen: str, kind: str, detail: str) -> str:
    if kind == "recorded":
        return f"{origin} names 'recorded' without a file. Write 'recorded:FILE', for example 'recorded:session.jsonl'."
    if kind in _PLAIN:
        return (
            f"{origin} names the model {chosen!r}, but {kind!r} stands alone: write {kind!r} without {':' + detail!r}."
        )
    known = [name.partition(":")[0] for name in NAMES]
    return (
        f"{origin} names the model {chosen!r}, which is not known. {did_you_mean(kind, known)}"
        f"The names are: {', '.join(NAMES)}; a provider's name may be followed by a model, as in 'openai:MODEL'."
    )


def _plain_model(kind: str, rules: Sequence[Rule]) -> Model:
    if kind == "offline":
        from agentkit.models.offline import OfflineModel

        return OfflineModel(rules=rules)
    if kind == "human":
        from agentkit.models.human import HumanModel

        return HumanModel()
    from agentkit.models.local import LocalModel

    return LocalModel()


def _openai(name: str, model: str | None, api: Api, base_url: str | None = None) -> Model:
    from agentkit.models._service import require
    from agentkit.models.openai import OpenAIModel

    require("openai")
    return OpenAIModel(model, api=api, base_url=base_url, name=name)


def _anthropic(model: str | None) -> Model:
    from agentkit.models._service import require
    from agentkit.models.anthropic import AnthropicModel

    require("anthropic")
    return AnthropicModel(model)


def _base_url(origin: str) -> str:
    url = os.environ.get(BASE_URL, "").strip()
    if not url:
        raise DefinitionError(
            f"{origin} names 'openai-compatible', which needs the address of a server. Set the environment variable "
            f"{BASE_URL}, for example to {_SERVERS}."
        )
    if not url.startswith(("http://", "https://")):
        raise DefinitionError(f"{BASE_URL} must begin with http:// or https://, for example {_SERVERS}; it is {url!r}.")
    return url
