"""The real thing: JupyterLab in Chromium, with a person's clicks."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from _lab import Watched, browser_page, jupyter_lab

pytestmark = pytest.mark.browser

ROOT = Path(__file__).resolve().parents[2]
SCRATCH = (
    """\
from agentkit import Agent, CallTools, FinalAnswer, HumanModel, ScriptedModel, ToolCall, tool
from agentkit.widgets import approval_panel, ask_box, be_the_model, compare_runs, memory_window, registry_explorer

@tool
def lookup(order_id: str) -> str:
    "Look up an order."
    return "<b>delivered</b><script>document.title = 'broken'</script>"

@tool(permission="write", approval=True)
def refund(order_id: str, amount: int) -> str:
    "Pay money back."
    return f"paid {amount}"

script = [
    CallTools("I look it up.", (ToolCall("lookup", {"order_id": "A100"}),)),
    CallTools("I pay.", (ToolCall("refund", {"order_id": "A100", "amount": 3}),)),
    FinalAnswer("Enough.", "Paid back."),
]
agent = Agent(ScriptedModel(script), [lookup, refund])
run = agent.run("Refund order A100.")
run""",
    "run.player()",
    'be_the_model(Agent(HumanModel(), [lookup, refund]), "Where is order A100?")',
    "approval_panel(agent, run)",
    "registry_explorer(agent.registry)",
    "memory_window(run.messages)",
    'compare_runs(run, agent.resume(run, approvals={"call_2": False}))',
    'ask_box(agent, "Refund order A100.")',
)

STREAMED = (
    """\
import socket
from types import SimpleNamespace
from agentkit import Agent, FinalAnswer, ScriptedModel, TextDelta
from agentkit.widgets import watch, wire_inspector

class Streaming(ScriptedModel):
    "Each word waits until the test has seen the one before."
    def stream(self, messages, tools):
        reply = self.decide(messages, tools)
        with socket.create_connection(("127.0.0.1", PORT)) as test:
            for word in reply.decision.text.split(" "):
                test.recv(1)
                yield TextDelta(word + " ")
            test.recv(1)
        yield reply

agent = Agent(Streaming([FinalAnswer("", "<b>The</b> order was delivered 환불")]))""",
    'watch(agent.stream("Where is A100?"))',
    """\
chat = SimpleNamespace(service="chat", request={"messages": [{"role": "system", "content": "Be kind."}]}, response={})
other = SimpleNamespace(service="anthropic", request={"system": "Be kind."}, response={})
wire_inspector(chat, other)""",
)


@pytest.fixture
def opened(tmp_path: Path, require: Callable[[str], Path]) -> Iterator[Callable[[str, str], Watched]]:
    """``opened(name, text)``: the notebook with this text, in a working copy, open in JupyterLab, every cell run."""
    from contextlib import ExitStack

    browser = require("browser")
    with ExitStack() as ends:

        def open_notebook(name: str, text: str, run: bool = True) -> Watched:
            copy = tmp_path / "my_notebooks"
            copy.mkdir()
            (copy / name).write_text(text, encoding="utf-8")
            lab = ends.enter_context(jupyter_lab(copy, tmp_path / "home"))
            watched: Watched = ends.enter_context(browser_page(browser))
            watched.open(lab, name)
            if run:
                watched.run_all()
            return watched

        yield open_notebook


def notebook_of(sources: tuple[str, ...]) -> str:
    cells: list[dict[str, Any]] = [
        {"cell_type": "code", "id": f"c{n}", "source": text, "metadata": {}, "outputs": [], "execution_count": None}
        for n, text in enumerate(sources)
    ]
    kernel = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}
    return json.dumps({"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5})


def without_outputs(path: Path) -> str:
    """The learner's copy of a notebook of the course."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"], cell["execution_count"] = [], None
    return json.dumps(notebook)


def first_panel(watched: Watched, name: str) -> Any:
    """The first panel of this kind on the page."""
    found = watched.page.locator(f".agentkit-{name}").first
    found.scroll_into_view_if_needed()
    return found


def step_and_play(watched: Watched) -> None:
    """Forward, back, forward again, then Play from the start to the last step."""
    player = first_panel(watched, "player")

    def shows(words: str) -> None:
        player.get_by_text(re.compile(words)).first.wait_for(state="visible", timeout=60_000)

    for label, words in (("1", r"^Step 1 of \d"), ("2", r"^Step 2 of \d"), ("1", r"^Step 1 of \d")):
        player.get_by_role("button", name=label, exact=True).click()
        shows(words)
    player.locator(".widget-play button").nth(1).click()  # stop goes to the start
    shows("Before the first step")
    player.locator(".widget-play button").first.click()
    shows(r"^Step (\d+) of \1$")


def be_the_model_once(watched: Watched) -> None:
    """Give the final answer as the model."""
    panel = first_panel(watched, "model")
    panel.locator('textarea[placeholder^="Thought"]').first.fill("I know enough.")
    panel.locator("select").first.select_option(label="Give the final answer")
    panel.locator('textarea[placeholder^="The answer"]').locator("visible=true").first.fill("This is my answer.")
    panel.get_by_role("button", name="Submit", exact=True).first.click()
    panel.get_by_text("This is my answer.").locator("visible=true").first.wait_for(timeout=60_000)
    panel.get_by_text(re.compile(r"done \(answered\)")).locator("visible=true").first.wait_for(timeout=60_000)


def approve_once(watched: Watched) -> None:
    """Approve every call of the first approval panel and go on."""
    panel = first_panel(watched, "approval")
    assert panel.get_by_text("No call waits for approval.").count() == 0
    for choice in panel.get_by_role("button", name="Approve", exact=True).all():
        choice.click()
    panel.get_by_role("button", name="Go on").click()
    panel.get_by_text("No call waits for approval.").wait_for(timeout=60_000)
    panel.get_by_text(re.compile(r"^Status")).first.wait_for(timeout=60_000)


def test_every_panel_is_drawn_and_answers_in_jupyterlab(opened: Callable[[str, str], Watched]) -> None:
    watched = opened("scratch.ipynb", notebook_of(SCRATCH))
    step_and_play(watched)
    be_the_model_once(watched)
    approve_once(watched)
    watched.picture("widgets")
    assert watched.page.locator(".jp-CodeCell .jp-OutputArea-output .widget-vbox").count() >= 7
    assert "broken" not in watched.page.title()
    assert watched.failures() == []


def test_words_are_seen_while_they_come_and_stay_in_the_player(opened: Callable[..., Watched]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(60)
        cells = (STREAMED[0].replace("PORT", str(server.getsockname()[1])), *STREAMED[1:])
        watched = opened("streamed.ipynb", notebook_of(cells), run=False)
        watched.start_all()
        kernel, _ = server.accept()
        with kernel:
            live = watched.page.locator(".agentkit-watch").first
            text = ""
            for word in ("<b>The</b>", "order", "was", "delivered", "환불"):
                assert f"{text}{word}" not in live.inner_text()
                text += f"{word} "
                kernel.send(b".")
                live.get_by_text(text.strip()).wait_for(timeout=60_000)
            assert watched.page.locator(".agentkit-player").count() == 0, "the run has not ended"
            watched.picture("streaming")
            kernel.send(b".")
        watched.wait_all()
    assert "done (answered)" in live.inner_text()
    player = first_panel(watched, "player")
    player.get_by_role("button", name="1", exact=True).click()
    player.get_by_text("Words as they came, 5 pieces").wait_for(timeout=60_000)
    player.get_by_text("<b>The</b> │order │was │delivered │환불").wait_for(timeout=60_000)
    wire = first_panel(watched, "wire")
    wire.get_by_role("button", name="System text", exact=True).click()
    wire.get_by_text('"system": "Be kind."').locator("visible=true").first.wait_for(timeout=60_000)
    watched.picture("wire_inspector")
    assert watched.failures() == []


def test_notebook_05_in_jupyterlab(opened: Callable[[str, str], Watched]) -> None:
    found = sorted((ROOT / "notebooks").glob("05_*.ipynb"))
    assert len(found) == 1, "There is no notebook 05 to open. Build it with: make notebooks"
    watched = opened(found[0].name, without_outputs(found[0]))
    step_and_play(watched)
    watched.picture("notebook_05_player")
    be_the_model_once(watched)
    watched.picture("notebook_05_be_the_model")
    approve_once(watched)
    watched.picture("notebook_05_approval")
    assert watched.failures() == []
