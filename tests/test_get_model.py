"""One line, and one environment variable, swap the brain: every name that get_model knows."""

from __future__ import annotations

import subprocess
import sys
import types
from typing import Any

import pytest

from agentkit import DefinitionError, HumanModel, OfflineModel, ProviderError, get_model
from agentkit.models.base import NAMES

KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "AGENTKIT_API_KEY")


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AGENTKIT_MODEL", "AGENTKIT_BASE_URL", *KEYS):
        monkeypatch.delenv(name, raising=False)


def chosen(name: str, how: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    if how == "argument":
        return get_model(name)
    monkeypatch.setenv("AGENTKIT_MODEL", name)
    return get_model()


@pytest.mark.parametrize("key", KEYS)
def test_a_key_alone_changes_nothing(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(key, "test-key-0123456789")
    monkeypatch.setenv("AGENTKIT_BASE_URL", "http://127.0.0.1:9/v1")
    assert isinstance(get_model(), OfflineModel)


def test_an_argument_wins_over_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENTKIT_MODEL", "human")
    assert isinstance(get_model("offline"), OfflineModel) and isinstance(get_model(), HumanModel)


@pytest.mark.parametrize("how", ["argument", "variable"])
class TestProviders:
    @pytest.fixture(autouse=True)
    def sdks(self) -> None:
        pytest.importorskip("openai", reason="the OpenAI SDK is not installed (extra: providers)")
        pytest.importorskip("anthropic", reason="the Anthropic SDK is not installed (extra: providers)")

    @pytest.mark.parametrize(
        ("name", "shown"),
        [
            ("openai", "OpenAIModel({openai!r})"),
            (" openai ", "OpenAIModel({openai!r})"),
            ("openai:some-model", "OpenAIModel('some-model')"),
            ("openai: ft:some-model:org::id ", "OpenAIModel('ft:some-model:org::id')"),
            ("openai-responses", "OpenAIModel({openai!r}, api='responses', name='openai-responses')"),
            ("openai-responses:some-model", "OpenAIModel('some-model', api='responses', name='openai-responses')"),
            ("anthropic", "AnthropicModel({anthropic!r})"),
            ("anthropic:some-model", "AnthropicModel('some-model')"),
        ],
    )
    def test_a_provider_with_its_default_or_a_model_of_its_own(
        self, name: str, shown: str, how: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from agentkit.models.catalog import default_model

        wanted = shown.format(openai=default_model("openai"), anthropic=default_model("anthropic"))
        assert repr(chosen(name, how, monkeypatch)) == wanted

    def test_a_compatible_server(self, how: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("AGENTKIT_BASE_URL", " http://127.0.0.1:9/v1 ")
        made = chosen("openai-compatible:llama3.2:1b", how, monkeypatch)
        assert (made.model, made.connection.url, made.connection.own) == ("llama3.2:1b", "http://127.0.0.1:9/v1", False)
        assert chosen("openai-compatible", how, monkeypatch).model == ""

    def test_the_address_is_for_compatible_servers_only(self, how: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("AGENTKIT_BASE_URL", "http://127.0.0.1:9/v1")
        assert (
            chosen("openai", how, monkeypatch).connection.own and chosen("anthropic", how, monkeypatch).connection.own
        )

    def test_a_compatible_server_needs_an_address(self, how: str, monkeypatch: pytest.MonkeyPatch) -> None:
        with pytest.raises(
            DefinitionError, match=r"AGENTKIT_BASE_URL, for example to http://127.0.0.1:11434/v1 \(Ollama\)"
        ):
            chosen("openai-compatible", how, monkeypatch)
        monkeypatch.setenv("AGENTKIT_BASE_URL", "localhost:11434/v1")
        with pytest.raises(DefinitionError, match="must begin with http"):
            chosen("openai-compatible", how, monkeypatch)

    @pytest.mark.parametrize("name", ["openai", "anthropic"])
    def test_a_missing_package_is_told_at_once(self, name: str, how: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, name, None)
        with pytest.raises(ProviderError, match=r'pip install "agentkit-course\[providers\]"') as caught:
            chosen(name, how, monkeypatch)
        assert caught.value.code == "missing_package"


def test_a_recorded_session(monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.SimpleNamespace(RecordedModel=lambda path: ("replays", path))
    monkeypatch.setitem(sys.modules, "agentkit.models.recorded", module)
    assert get_model(r"recorded:C:\course\session.jsonl") == ("replays", r"C:\course\session.jsonl")


def test_the_small_model_in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "agentkit.models.local", types.SimpleNamespace(LocalModel=lambda: "the model"))
    assert get_model("local") == "the model"  # type: ignore[comparison-overlap]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("opanai", ["'opanai'", "Did you mean 'openai'?", "The names are: offline, human"]),
        ("antropic:some-model", ["Did you mean 'anthropic'?"]),
        ("Offline", ["Did you mean 'offline'?"]),
        (":some-model", ["not known"]),
        ("offline:x", ["'offline' stands alone"]),
        ("human:ann", ["'human' stands alone", "without ':ann'"]),
        ("recorded", ["without a file", "recorded:session.jsonl"]),
        ("recorded:", ["without a file"]),
    ],
)
@pytest.mark.parametrize("how", ["argument", "variable"])
def test_a_name_that_is_wrong(name: str, words: list[str], how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DefinitionError) as caught:
        chosen(name, how, monkeypatch)
    assert all(word in str(caught.value) for word in words), str(caught.value)
    origin = "get_model()" if how == "argument" else "the environment variable AGENTKIT_MODEL"
    assert str(caught.value).startswith(origin)


def test_the_names_are_those_of_the_documentation() -> None:
    assert all(name.partition(":")[0] in (get_model.__doc__ or "") for name in NAMES)


def test_choosing_a_provider_imports_no_sdk() -> None:
    pytest.importorskip("openai", reason="the OpenAI SDK is not installed (extra: providers)")
    pytest.importorskip("anthropic", reason="the Anthropic SDK is not installed (extra: providers)")
    code = "import sys, agentkit; agentkit.get_model('openai'), agentkit.get_model('anthropic')"
    code += "; print('openai' in sys.modules, 'anthropic' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, encoding="utf-8", timeout=60)
    assert done.stdout.split() == ["False", "False"], done.stderr
