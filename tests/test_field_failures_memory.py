"""What has gone wrong in other people's agents, in memories, widgets and notebooks: one test for each report."""

from __future__ import annotations

import ast
import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest
from strategies import TOOLS, Counting, act, agent, answer, bounded, call, look, problems

import agentkit
from agentkit import Agent, ContextFullError, Memory, Message, Registry, ToolResult, estimate_tokens, tool
from agentkit.memory import message_tokens, tool_tokens

# --- memory ----------------------------------------------------------------------------------------------------------


def asked(call_id: str, data: Any = 1) -> list[Message]:
    return [
        Message("assistant", "", (call("look", call_id, key="k"),)),
        Message("tool", result=ToolResult(call_id, "look", data)),
    ]


SYSTEM, GOAL = Message("system", "Be brief."), Message("user", "What?")


def test_mt_01_a_window_never_starts_in_the_middle_of_a_call() -> None:
    history = [SYSTEM, GOAL, *asked("c1"), Message("assistant", "done")]
    for most in range(3, 6):
        view = Memory(max_messages=most).view(history)
        assert problems(view) == [] and view[-1].text == "done"
    assert [m.role for m in Memory(max_messages=4).view(history)] == ["system", "user", "assistant"]


def test_mt_02_nothing_is_removed_where_nothing_has_to_be() -> None:
    history = (SYSTEM, GOAL, *asked("c1"))
    assert Memory(max_messages=10, max_tokens=10_000).view(history) is history


def test_mt_03_the_first_steps_send_what_has_happened() -> None:
    script = Counting([*[act(call("look", key=str(i))) for i in range(4)], answer()])
    run = Agent(script, TOOLS, memory=Memory(max_messages=6)).run("go")
    for number in (1, 2, 3):
        assert run.sent(number) == run.messages[: 2 * number - 1]
    assert run.sent(5)[0] == run.messages[0] and run.sent(5)[-1] == run.messages[-2]


def test_mt_04_a_tool_result_that_is_sent_is_the_one_that_was_kept() -> None:
    history = [GOAL, *asked("c0"), *asked("c1", {"a": 1})]
    view = Memory(max_messages=3).view(history)
    assert view[-1] is history[-1] and view[-1].result is not None and view[-1].result.data == {"a": 1}


@pytest.mark.parametrize(("text", "least"), [("안녕하세요" * 50, 150), ("🔥🎉💯", 3), ("日本語" * 10, 20)])
def test_mt_05_korean_and_emoji_are_not_counted_like_english(text: str, least: int) -> None:
    assert estimate_tokens(text) >= least > len(text) // 4


@pytest.mark.parametrize("text", ["東京都渋谷区神南一丁目" * 20, "ภาษาไทยไม่มีช่องว่าง" * 20])
def test_mt_06_a_text_without_spaces_is_not_one_token(text: str) -> None:
    assert estimate_tokens(text) >= len(text) // 2


def test_mt_07_the_latest_request_of_the_user_is_always_sent() -> None:
    history = [
        GOAL,
        Message("assistant", "a"),
        Message("user", "the latest"),
        *[m for i in range(30) for m in asked(f"c{i}", "x" * 50)],
    ]
    for memory in (Memory(max_messages=5), Memory(max_tokens=120)):
        texts = [m.text for m in memory.view(history)]
        assert "What?" in texts and "the latest" in texts and len(texts) < len(history)


def test_mt_09_the_messages_about_to_be_sent_are_measured() -> None:
    turns = [m for i in range(200) for m in asked(f"c{i}", "x" * 100)]
    view = Memory(max_tokens=2_000).view([GOAL, *turns])
    assert sum(map(message_tokens, view)) <= 2_000
    with pytest.raises(ContextFullError):
        Memory(max_tokens=2_000).view([GOAL, *turns, *asked("last", "x" * 1_000_000)])
    resumed = agent(answer(), memory=Memory(max_tokens=2_000)).run("more", history=[GOAL, *turns])
    assert sum(map(message_tokens, resumed.sent(1))) + tool_tokens(resumed.tools) <= 2_000


def test_mt_11_tool_schemas_and_the_system_prompt_count() -> None:
    specs = [agentkit.ToolSpec(f"t{i}", "d" * 1_000, {"type": "object"}) for i in range(50)]
    history = [Message("system", "s" * 4_000), GOAL, *asked("c1")]
    assert list(Memory(max_tokens=1_500).view(history, ())) == history
    with pytest.raises(ContextFullError):
        Memory(max_tokens=12_000).view(history, specs)
    with pytest.raises(ContextFullError):
        Memory(max_tokens=900).view(history, ())


# --- notebooks and widgets ---------------------------------------------------------------------------------------------


def test_nb_01_a_run_inside_a_running_event_loop() -> None:
    async def cell() -> Any:
        return agent(act(call("look", key="a")), answer("Fine.")).run("hi")

    assert bounded(lambda: asyncio.run(cell())).answer == "Fine."


def test_nb_02_what_is_shown_is_the_same_every_time() -> None:
    def shown() -> list[str]:
        run = Agent(agentkit.ScriptedModel([act(call("look", key="a"), call("broken")), answer()]), TOOLS).run("go")
        return [repr(run), str(run), run._repr_html_(), repr(run.steps), repr(Registry(TOOLS)), repr(look)]

    first, second = shown(), shown()
    assert first == second
    for text in first:
        assert not re.search(r" at 0x[0-9a-f]+|\b\d+(\.\d+)? ?(ms|seconds)\b|[0-9a-f]{16}", text)


def test_nb_10_a_registering_cell_may_run_twice() -> None:
    registry = Registry()
    cell = "@tool\ndef greet(name: str) -> str:\n    'Greet.'\n    return 'Hi ' + name\nregistry.add(greet)"
    space: dict[str, Any] = {"tool": tool, "registry": registry, "__name__": "__main__"}
    for _ in range(2):
        exec(cell, space)
    made = Agent(agentkit.ScriptedModel([act(call("greet", name="Mina")), answer()]), registry)
    assert (
        len(registry) == 1 and made.run("go") != made.run("go") and made.run("go").messages == made.run("go").messages
    )


def widget_modules() -> list[Path]:
    return sorted((Path(agentkit.__file__).parent / "widgets").glob("*.py"))


def named(path: Path) -> tuple[set[str], set[str]]:
    """The plain names and the attributes that a module uses."""
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    return names, {node.attr for node in nodes if isinstance(node, ast.Attribute)}


def test_wi_01_no_widget_prints_from_a_thread_or_into_an_output_area() -> None:
    for path in widget_modules():
        names, attributes = named(path)
        assert not (names | attributes) & {"Output", "Thread", "interact", "append_stdout"}, path.name
        assert not names & {"print"}, path.name
        # Only the view of a stream has to be there before its cell ends; it is displayed once, by the thread of the cell.
        assert "display" not in names or path.name == "watch.py", path.name


def test_wi_02_no_widget_clears_an_output_area() -> None:
    assert widget_modules()
    for path in widget_modules():
        assert "clear_output" not in set.union(*named(path)), path.name


def test_wi_03_a_run_can_be_read_where_no_widget_lives() -> None:
    pytest.importorskip("ipywidgets")
    run = agent(act(call("look", key="a")), answer("It is a.")).run("What is a?")
    shown = run.player()
    bundle = shown._repr_mimebundle_()
    plain = bundle[0] if isinstance(bundle, tuple) else bundle
    still = json.dumps({kind: text for kind, text in plain.items() if "widget" not in kind}, ensure_ascii=False)
    for text in (str(run), run._repr_html_(), still):
        assert "It is a." in text and "look" in text
