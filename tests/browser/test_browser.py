"""The real thing: JupyterLab in Chromium, with a person's clicks."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from _lab import Lab, Watched, jupyter_lab, new_page, started_browser
from _needs import require

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


SAFETY_AND_MCP = (
    """\
from agentkit import Agent, CallTools, FinalAnswer, Registry, ScriptedModel, ToolCall, tool
from agentkit.mcp import Client, Recorder, Server
from agentkit.mcp.sequence import sequence
from agentkit.safety import AuditLog
from agentkit.widgets import approval_card, audit_view, sequence_diagram, stations

@tool
def lookup(order_id: str) -> str:
    "Look up an order."
    return "<b>delivered</b> 배송<script>document.title = 'broken'</script>"

@tool(permission="write", approval=True)
def refund(order_id: str, amount: int) -> str:
    "Pay money back."
    return f"paid {amount}"

log = AuditLog("audit.jsonl")
registry = Registry([lookup, refund], audit=log)
recorder = Recorder()
with Client(Server("shop", registry=registry), recorder=recorder) as client:
    client.list_tools()
    client.call_tool("lookup", {"order_id": "A100"})
sequence_diagram(recorder)""",
    "sequence(recorder)",
    'stations(registry, ToolCall("refund", {"order_id": "A100", "amount": 3}, "call_1"))',
    """\
script = [CallTools("I pay.", (ToolCall("refund", {"order_id": "A100", "amount": 3}),)), FinalAnswer("", "Paid back.")]
agent = Agent(ScriptedModel(script), registry)
approval_card(agent, agent.run("Refund order A100."))""",
    "audit_view(log)",
)


@dataclass(frozen=True)
class Started:
    """One JupyterLab and one Chromium for all tests: to start them takes longer than a test."""

    folder: Path
    lab: Lab
    chromium: Any


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Started]:
    browser = require("browser")
    folder = tmp_path_factory.mktemp("my_notebooks")
    with (
        jupyter_lab(folder, tmp_path_factory.mktemp("home")) as lab,
        started_browser(browser) as chromium,
    ):
        yield Started(folder, lab, chromium)


@pytest.fixture
def opened(started: Started) -> Iterator[Callable[..., Watched]]:
    """``opened(name, text)``: the notebook with this text, in a working copy, open in JupyterLab, every cell run."""
    with ExitStack() as ends:

        def open_notebook(name: str, text: str, run: bool = True) -> Watched:
            (started.folder / name).write_text(text, encoding="utf-8")
            watched: Watched = ends.enter_context(new_page(started.chromium))
            watched.open(started.lab, name)
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


def read_a_sequence(watched: Watched) -> None:
    """Step through the messages by button and by key, and read what each one holds."""
    panel = first_panel(watched, "sequence")

    def shows(*words: str) -> None:
        for each in words:
            panel.get_by_text(each).locator("visible=true").first.wait_for(timeout=60_000)

    shows("Message 1 of 7: request from client to server", '"method": "initialize"')
    panel.get_by_role("button", name="6", exact=True).click()
    shows("Message 6 of 7: request from client to server", '"method": "tools/call"', '"order_id": "A100"')
    panel.locator(".noUi-handle").press("ArrowRight")
    shows("Message 7 of 7: response from server to client, answers message 6", "<b>delivered</b> 배송<script>")
    assert panel.get_by_text('"method": "tools/call"').locator("visible=true").count() == 0, "only one is shown"
    panel.locator(".noUi-handle").press("ArrowLeft")
    shows("Message 6 of 7")


def unfold_a_message(watched: Watched) -> None:
    """In the table of all messages, the JSON of the last one is one click away."""
    last = watched.page.locator(".jp-RenderedHTMLCommon table details").last
    json_text = last.get_by_text("<b>delivered</b> 배송<script>")
    assert not json_text.is_visible()
    last.get_by_text("response (answers 6)").click()
    json_text.wait_for(state="visible", timeout=60_000)


def go_through_the_door(watched: Watched) -> None:
    """Look at two stations of a call, then send it again with a person's yes."""
    panel = first_panel(watched, "stations")

    def shows(words: str) -> None:
        panel.get_by_text(words).locator("visible=true").first.wait_for(timeout=60_000)

    shows("needs_approval")
    panel.get_by_role("button", name="parse", exact=True).locator("visible=true").click()
    shows("The document after parse")
    assert panel.get_by_text("needs_approval").locator("visible=true").count() == 0
    panel.get_by_text("A person approves this call").click()
    panel.get_by_role("button", name="Send through the door").click()
    shows("paid 3")
    choose = panel.locator("select").first
    assert [text.replace("\xa0", " ") for text in choose.locator("option").all_inner_texts()] == [
        "1. refund, call_1 → needs_approval (refused at approval)", "2. refund, call_1 → ok",
    ]  # fmt: skip
    choose.select_option(index=0)
    shows("The document after approval")  # all pages are drawn again, each at its last station


def approve_other_arguments(watched: Watched) -> None:
    """Fill in the form of the approval card, and go on with what was typed."""
    card = first_panel(watched, "approval")
    choices = card.get_by_role("button", name="Approve with these arguments", exact=True)
    form = card.locator("input[type=text]")
    assert form.locator("visible=true").count() == 0
    card.get_by_role("button", name="Go on").click()
    card.get_by_text("Decide about every call first").wait_for(timeout=60_000)
    choices.click()
    amount = form.locator("visible=true").nth(1)
    assert amount.input_value() == "3"
    amount.fill("2")
    amount.press("Tab")
    card.get_by_role("button", name="Go on").click()
    card.get_by_text("No call waits for approval.").wait_for(timeout=60_000)
    card.get_by_text("paid 2").first.wait_for(timeout=60_000)


def tamper_with_a_log(watched: Watched) -> None:
    """Change a record of a copy, then cut its end off, and read what the check says each time."""
    view = first_panel(watched, "audit")
    view.get_by_text("The chain holds.").wait_for(timeout=60_000)
    count = view.locator("select option").count()
    view.locator("select").select_option(index=1)
    view.get_by_role("button", name="Tamper with a copy").click()
    view.get_by_text("Record 2 was changed after it was written.").wait_for(timeout=60_000)
    view.get_by_role("button", name="cut the log off before it").click()
    view.get_by_role("button", name="Tamper with a copy").click()
    view.get_by_text(f"The log ends after record 1, but the anchor names record {count}.").wait_for(timeout=60_000)
    view.get_by_text("The chain holds.").wait_for(timeout=60_000)


def test_the_panels_of_safety_and_mcp_answer_in_jupyterlab(opened: Callable[..., Watched]) -> None:
    watched = opened("safety_and_mcp.ipynb", notebook_of(SAFETY_AND_MCP))
    for look in (read_a_sequence, unfold_a_message, go_through_the_door, approve_other_arguments, tamper_with_a_log):
        look(watched)
        watched.picture(look.__name__)
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


@pytest.mark.parametrize("number", ["13", "14"])
def test_the_notebooks_of_mcp_in_jupyterlab(number: str, opened: Callable[[str, str], Watched]) -> None:
    """They start programs and servers in a live kernel, whose streams are not those of a terminal."""
    (path,) = (ROOT / "notebooks").glob(f"{number}_*.ipynb")
    watched = opened(path.name, without_outputs(path))
    panel = first_panel(watched, "sequence")
    assert "tools/call" in panel.inner_text()
    watched.picture(f"notebook_{number}_sequence")
    assert watched.failures() == []
