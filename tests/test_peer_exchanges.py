"""531 exchanges that others recorded with the real services: requests through our history and back, replies through our readers.

What must come out is computed here from the recorded documents themselves, by code that shares nothing with the package.
"""

from __future__ import annotations

import functools
import gzip
import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from _needs import require

from agentkit import (
    CallTools,
    FinalAnswer,
    Message,
    ProviderError,
    Reply,
    ToolResult,
    anthropic_problems,
    from_openai,
    openai_problems,
    to_anthropic,
    to_openai,
)
from agentkit._wire import from_anthropic, from_responses, responses_problems, to_responses

Wire = dict[str, Any]


@functools.cache
def recorded() -> list[Wire]:
    path = require("peerdata") / "provider_exchanges.json.gz"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return list(json.load(file))


def chosen(provider: str, good: bool = True) -> Iterator[Wire]:
    return (item for item in recorded() if item["provider"] == provider and (item["status"] == 200) is good)


def failing(provider: str, check: Callable[[Wire], Any]) -> dict[str, Any]:
    """The names of the exchanges for which the check finds something, and what it found."""
    found = {item["name"]: check(item) for item in chosen(provider)}
    return {name: what for name, what in found.items() if what}


def ours(item: Wire) -> tuple[Message, ...]:
    request = item["request"]
    if item["provider"] == "openai":
        return from_openai(request["messages"])
    return from_anthropic(request.get("system"), request["messages"])


def test_how_many_there_are() -> None:
    counted = Counter((item["provider"], item["status"] == 200, bool(item["sse"])) for item in recorded())
    assert counted == {
        ("anthropic", True, False): 279, ("anthropic", True, True): 16, ("anthropic", False, False): 2,
        ("openai", True, False): 176, ("openai", True, True): 48, ("openai", False, False): 10,
    }  # fmt: skip


# --- requests --------------------------------------------------------------------------------------------------------


def chat_norm(message: Wire) -> Wire:
    """What means the same in Chat Completions: no content beside calls, and a content of one plain text."""
    made = dict(message)
    if made.get("tool_calls") and not made.get("content"):
        made["content"] = None
    if isinstance(made["content"], list) and [set(part) for part in made["content"]] == [{"type", "text"}]:
        made["content"] = made["content"][0]["text"]
    return made


def turns_norm(messages: Sequence[Wire]) -> list[Wire]:
    """What means the same in Messages: neighbours, a text as content, and texts that are empty."""
    made: list[Wire] = []
    for message in messages:
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        blocks = [block for block in blocks if block["type"] != "text" or block["text"].strip()]
        if made and made[-1]["role"] == message["role"]:
            made[-1]["content"] += blocks
        elif blocks:
            made.append({"role": message["role"], "content": list(blocks)})
    return made


def system_norm(system: Any) -> Any:
    plain = isinstance(system, list) and [set(block) for block in system] == [{"type", "text"}]
    return system[0]["text"] if plain else system or ""


def test_chat_requests_come_back_as_they_were() -> None:
    assert failing("openai", lambda item: openai_problems(item["request"]["messages"])) == {}
    assert (
        failing("openai", lambda item: to_openai(ours(item)) != list(map(chat_norm, item["request"]["messages"]))) == {}
    )


def test_messages_requests_come_back_as_they_were() -> None:
    def differs(item: Wire) -> bool:
        request = item["request"]
        return to_anthropic(ours(item)) != (system_norm(request.get("system")), turns_norm(request["messages"]))

    assert failing("anthropic", lambda item: anthropic_problems(item["request"]["messages"])) == {}
    assert failing("anthropic", differs) == {}


def all_problems(history: Sequence[Message]) -> list[str]:
    """What any of the three forms would refuse."""
    if all(message.role == "system" for message in history):
        return []  # a system text alone is a request for one of the services only
    items = to_responses(history)[1]
    return (
        openai_problems(to_openai(history)) + anthropic_problems(to_anthropic(history)[1]) + responses_problems(items)
    )


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_every_request_can_be_sent_to_the_other_services(provider: str) -> None:
    """No service would refuse it, and on the way over Responses no call and no result is lost."""

    def acts(history: Sequence[Message]) -> list[Any]:
        return [m.result or [(c.id, c.name) for c in m.calls] for m in history if m.result or m.calls]

    assert failing(provider, lambda item: all_problems(ours(item))) == {}
    assert failing(provider, lambda item: acts(from_responses(*to_responses(ours(item)))) != acts(ours(item))) == {}


# --- replies ---------------------------------------------------------------------------------------------------------


def events(item: Wire) -> list[Wire]:
    lines = [line[5:].strip() for line in item["sse"].splitlines() if line.startswith("data:")]
    return [json.loads(line) for line in lines if line != "[DONE]"]


def read(item: Wire) -> tuple[Reply, str | None]:
    """The reply, and what a stream said word by word (None without a stream)."""
    from agentkit.models._chat import ChatAssembler, read_chat
    from agentkit.models._messages import MessageAssembler
    from agentkit.models._messages_read import read_message

    reader, assembler = (read_chat, ChatAssembler) if item["provider"] == "openai" else (read_message, MessageAssembler)
    if not item["sse"]:
        return reader(item["response"]), None
    made: Any = assembler()
    said = "".join([made.add(event) for event in events(item)])
    return reader(made.document()), said


Fact = tuple[str, list[tuple[str, str, Any]], tuple[int, int]]


def chat_facts(item: Wire) -> Fact:
    """The text, the calls and the token counts, straight from the record."""
    if not item["sse"]:
        message, usage = item["response"]["choices"][0]["message"], item["response"]["usage"]
        calls = [
            (c["id"], c["function"]["name"], json.loads(c["function"]["arguments"]))
            for c in message.get("tool_calls") or ()
        ]
        return message["content"] or "", calls, (usage["prompt_tokens"], usage["completion_tokens"])
    text, counts, parts = "", (0, 0), {}  # type: ignore[var-annotated]
    for event in events(item):
        if event.get("usage"):
            counts = (event["usage"]["prompt_tokens"], event["usage"]["completion_tokens"])
        for choice in event["choices"]:
            text += choice["delta"].get("content") or ""
            for piece in choice["delta"].get("tool_calls") or ():
                part = parts.setdefault(piece["index"], [piece.get("id"), piece["function"].get("name"), ""])
                part[2] += piece["function"].get("arguments") or ""
    return text, [(i, name, json.loads(arguments)) for i, name, arguments in parts.values()], counts


def messages_facts(item: Wire) -> Fact:
    document = item["response"]
    blocks, usage = ([dict(b) for b in document["content"]], dict(document["usage"])) if document else ([], {})
    for event in events(item) if item["sse"] else ():
        if event["type"] == "message_start":
            usage = dict(event["message"]["usage"])
        elif event["type"] == "content_block_start":
            blocks.append({**event["content_block"], "json": ""})
        elif event["type"] == "content_block_delta":
            blocks[event["index"]]["json"] += event["delta"].get("partial_json", "")
            blocks[event["index"]]["text"] = blocks[event["index"]].get("text", "") + event["delta"].get("text", "")
        elif event["type"] == "message_delta":
            usage |= event["usage"]
    text = "".join(b["text"] for b in blocks if b["type"] == "text")
    calls = [
        (b["id"], b["name"], json.loads(b["json"]) if b.get("json") else b["input"])
        for b in blocks
        if b["type"] == "tool_use"
    ]
    keys = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    return text, calls, (sum(usage.get(key) or 0 for key in keys), usage["output_tokens"])


def unread(item: Wire) -> str:
    """How the reply differs from what the record says; "" when it does not."""
    reply, said = read(item)
    text, calls, counts = chat_facts(item) if item["provider"] == "openai" else messages_facts(item)
    decision = reply.decision
    if isinstance(decision, CallTools):
        if [(c.id, c.name, c.arguments) for c in decision.calls] != calls or any(c.truncated for c in decision.calls):
            return f"calls {decision.calls} for {calls}"
        if not bare(decision.thought).endswith(bare(text)):
            return f"thought {decision.thought!r} for {text!r}"
    elif not isinstance(decision, FinalAnswer) or calls or bare(decision.text) != bare(text):
        return f"decision {decision} for {text!r}"
    if said is not None and bare(said) != bare(text):
        return f"stream {said!r} for {text!r}"
    usage = reply.usage
    if usage is None or (usage.input_tokens, usage.output_tokens) != counts:
        return f"usage {usage} for {counts}"
    return ""


def bare(text: str) -> str:
    """The text without white space: an empty line is put where something else stood between two texts."""
    return "".join(text.split())


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_every_reply_is_read_and_says_what_the_record_says(provider: str) -> None:
    assert failing(provider, unread) == {}


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_every_reply_can_be_answered_in_every_form(provider: str) -> None:
    """The reply in the history, its calls answered: no service would refuse that, and blocks go back as they came."""

    def refused(item: Wire) -> list[str]:
        reply, _ = read(item)
        decision = reply.decision
        calls = decision.calls if isinstance(decision, CallTools) else ()
        text = decision.text if isinstance(decision, FinalAnswer) else decision.thought
        results = [Message("tool", result=ToolResult(call.id, call.name, 1)) for call in calls]
        history = [
            *ours(item),
            Message("assistant", text, calls, provider=reply.provider),
            *results,
            Message("user", "go"),
        ]
        found = all_problems(history)
        if provider == "anthropic" and not item["sse"]:
            sent = [turn for turn in to_anthropic(history)[1] if turn["role"] == "assistant"]
            content = turns_norm([{"role": "assistant", "content": item["response"]["content"]}])
            if content and plain(sent[-1]["content"]) != plain(content[0]["content"]):
                found.append(f"sent {sent[-1]['content']}")
        return found

    assert failing(provider, refused) == {}


def plain(blocks: Sequence[Wire]) -> list[Wire]:
    """Blocks without what says nothing: keys that are null, and that the assistant itself was the caller."""
    return [{k: v for k, v in b.items() if v is not None and v != {"type": "direct"}} for b in blocks]


# --- what the services refused ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_what_a_service_refused_is_explained(provider: str) -> None:
    """All of these histories are sound: the model did not know a role, a kind of part, an option, or was not there itself."""
    pytest.importorskip(provider, reason="needs the SDKs of the providers: pip install 'agentkit-course[providers]'")
    httpx2 = pytest.importorskip("httpx2")
    from agentkit.models.anthropic import AnthropicModel
    from agentkit.models.openai import OpenAIModel

    validator = openai_problems if provider == "openai" else anthropic_problems
    refused = list(chosen(provider, good=False))
    assert refused
    for item in refused:
        assert validator(item["request"]["messages"]) == []
        answer = httpx2.Response(item["status"], json=item["response"])
        client = httpx2.Client(transport=httpx2.MockTransport(lambda request, answer=answer: answer))
        made: Any = OpenAIModel if provider == "openai" else AnthropicModel
        model = made(item["request"]["model"], api_key="test-key-0123456789", http_client=client, max_retries=0)
        with pytest.raises(ProviderError) as told:
            model.decide(ours(item), ())
        error = told.value
        wanted = {400: "bad_request", 404: "model_not_found"}[item["status"]]
        assert (error.code, error.status) == (wanted, item["status"]), item["name"]
        assert item["response"]["error"]["message"].split(":")[0] in str(error) and str(error).rstrip().endswith(".")
