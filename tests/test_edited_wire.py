"""Calls that a person edits, or a fork changes, go out with the new arguments and all that the provider needs back."""

from __future__ import annotations

from typing import Any

import pytest

from agentkit import (
    Agent,
    CallTools,
    FinalAnswer,
    Message,
    Registry,
    Reply,
    Run,
    ScriptedModel,
    ToolCall,
    to_anthropic,
    to_openai,
    tool,
)
from agentkit._wire import to_responses

BLOCKS = [
    {"type": "thinking", "thinking": "Pay back.", "signature": "c2ln"},
    {"type": "tool_use", "id": "t1", "name": "pay", "input": {"amount": 500}},
]
ITEMS = [
    {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "eA=="},
    {"type": "function_call", "id": "fc_1", "call_id": "t1", "name": "pay", "arguments": '{"amount":500}'},
]


@tool(permission="write", approval=True)
def pay(amount: int) -> str:
    """Pay."""
    return f"paid {amount}"


def run_with(provider: dict[str, Any]) -> tuple[Agent, Run]:
    reply = Reply(CallTools("Pay back.", (ToolCall("pay", {"amount": 500}, "t1"),)), provider=provider)
    agent = Agent(ScriptedModel([reply, FinalAnswer("", "Done.")]), Registry([pay]))
    return agent, agent.run("go")


def changed(way: str, provider: dict[str, Any]) -> tuple[Message, ...]:
    agent, run = run_with(provider)
    if way == "edit":
        return agent.resume(run, approvals={"t1": {"amount": 50}}).messages
    done = agent.resume(run, approvals={"t1": True})
    forked = done.fork(1, arguments={"t1": {"amount": 50}})
    waiting = agent.resume(forked)
    return agent.resume(waiting, approvals={"t1": True}).messages


@pytest.mark.parametrize("way", ["edit", "fork"])
def test_the_signed_thinking_stays_and_the_call_is_the_new_one(way: str) -> None:
    _, turns = to_anthropic(changed(way, {"anthropic": BLOCKS}))
    assert turns[1]["content"] == [BLOCKS[0], {**BLOCKS[1], "input": {"amount": 50}}]


@pytest.mark.parametrize("way", ["edit", "fork"])
def test_the_reasoning_item_stays_and_the_call_is_the_new_one(way: str) -> None:
    _, items = to_responses(changed(way, {"responses": ITEMS}))
    assert items[1] == ITEMS[0]
    assert items[2]["call_id"] == "t1" and items[2]["arguments"].replace(" ", "") == '{"amount":50}'


@pytest.mark.parametrize("way", ["edit", "fork"])
def test_a_chat_message_takes_the_new_arguments(way: str) -> None:
    found = to_openai(changed(way, {"openai": {"tool_calls": [{"id": "t1", "type": "function", "extra": 1}]}}))
    (call,) = found[1]["tool_calls"]
    assert call["function"]["arguments"].replace(" ", "") == '{"amount":50}' and call["extra"] == 1
