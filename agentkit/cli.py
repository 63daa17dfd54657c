"""The command line: ``agentkit ask``, ``lab``, ``endpoint``, ``mcp serve``, ``reset``, ``update``, ``progress``.

Exit codes: 0 the goal was answered or the command is done; 1 it did not work, and a sentence says why; 2 the command
was written wrongly; 3 the run waits for a person; 130 interrupted.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from agentkit.errors import AgentkitError

if TYPE_CHECKING:
    from agentkit._drivers import Stream
    from agentkit.course.copies import Update
    from agentkit.loop import Agent
    from agentkit.messages import Run, ToolCall

DONE, FAILED, WAITS, INTERRUPTED = 0, 1, 3, 130
TOKEN = "AGENTKIT_ENDPOINT_TOKEN"
"""The variable with the token of an endpoint: what stands on a command line can be read by others on the machine."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code. Nothing that a user can type raises."""
    _use_utf8()
    given = [_readable(argument) for argument in (sys.argv[1:] if arguments is None else arguments)]
    options, more = _parser().parse_known_args(given)
    if more and options.run not in (_lab, _mcp):
        _parser().error(f"unrecognized arguments: {' '.join(more)}")
    options.more = more
    run: Callable[[argparse.Namespace], int] = options.run
    try:
        return run(options)
    except AgentkitError as error:
        print(error, file=sys.stderr)
        return FAILED
    except BrokenPipeError:  # the reader (`| head`) has gone; there is nobody left to tell
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        return INTERRUPTED


def _ask(options: argparse.Namespace) -> int:
    from agentkit.loop import Agent
    from agentkit.models.base import get_model
    from agentkit.worlds import orders

    agent = Agent(get_model(options.model, rules=orders.rules), orders.tools, system=orders.system)
    if options.json:
        run = agent.run(options.goal)
        print(run.to_json())
    else:
        run = _watch(agent, options.goal)
    return {"done": DONE, "paused": WAITS}.get(run.status, FAILED)


def _watch(agent: Agent, goal: str) -> Run:
    """Print words and steps as they come, ask a person where the run needs one, and print how it ended."""
    from agentkit._terminal import Printer

    printer = Printer(sys.stdout)
    run = printer.follow(agent.stream(goal))
    while run.status == "paused" and (stream := _resume(agent, run)) is not None:
        run = printer.follow(stream)
    printer.end(run)
    return run


def _resume(agent: Agent, run: Run) -> Stream | None:
    """Ask the person at the terminal and go on; None when the run has to stay paused."""
    from agentkit.messages import AskUser

    if run.stop_reason == "needs_approval":
        waiting = [call for call in run.pending if call.id in run.awaiting]
        return agent.resume_stream(run, approvals={call.id: _approved(call) for call in waiting})
    if not (run.steps and isinstance(run.steps[-1].decision, AskUser)):
        print(
            "This model leaves each decision to you, which needs a notebook: run `agentkit lab` and open notebook 05."
        )
        return None
    answer = _typed(f"{run.question}\n> ")
    return agent.resume_stream(run, answer=answer) if answer else None


def _approved(call: ToolCall) -> bool:
    """Whether the person allows this call. Without a terminal nobody can, so it is denied."""
    from agentkit.show import call_text

    print(f"The agent wants to run: {call_text(call)}")
    answer = _typed("Allow it? Type y for yes; anything else means no. ")
    if answer is None:
        print("Denied: there is no terminal on which a person could allow it.")
    return (answer or "").strip().casefold() in ("y", "yes", "예", "네")


def _typed(prompt: str) -> str | None:
    """What the person typed; None when nobody can be asked."""
    if not sys.stdin or not sys.stdin.isatty():
        return None
    try:
        return _readable(input(prompt)).strip()
    except EOFError:
        print()
        return None


def _lab(options: argparse.Namespace) -> int:
    from agentkit.course.copies import update
    from agentkit.course.lab import open_lab
    from agentkit.course.layout import find_course

    course = find_course()
    done = update(course)
    if done != type(done)():
        print(_update_text(done))
    return open_lab(course, options.more)


def _endpoint(options: argparse.Namespace) -> int:
    from agentkit.endpoint import run_endpoint
    from agentkit.models.base import get_model
    from agentkit.worlds import orders

    token = options.token or os.environ.get(TOKEN, "").strip() or None
    run_endpoint(get_model(options.model, rules=orders.rules), options.host, options.port, token)
    return DONE


def _reset(options: argparse.Namespace) -> int:
    from agentkit.course.copies import reset
    from agentkit.course.layout import find_course

    fresh, old = reset(find_course(), options.notebook)
    print(f"{fresh.name} is fresh again." + (f" Your old one is beside it: {old.name}." if old else ""))
    return DONE


def _update(options: argparse.Namespace) -> int:
    from agentkit.course.copies import update
    from agentkit.course.layout import find_course

    print(_update_text(update(find_course())))
    return DONE


def _update_text(done: Update) -> str:
    lines = []
    if done.added:
        lines.append(f"New in my_notebooks: {', '.join(done.added)}.")
    if done.renewed:
        lines.append(f"Renewed, because you had not changed them: {', '.join(done.renewed)}.")
    for name in done.kept:
        lines.append(
            f"{name} has a newer version; yours was left alone. `agentkit reset {name}` takes it and keeps yours."
        )
    return "\n".join(lines) or "Your notebooks are up to date."


def _progress(options: argparse.Namespace) -> int:
    from agentkit.checks import progress
    from agentkit.course.layout import find_course

    print(progress(os.environ.get("AGENTKIT_STATE") or find_course().copies))
    return DONE


def _mcp(options: argparse.Namespace) -> int:
    from agentkit.mcp.serve import add_arguments  # its options are read only when it is called

    parser = argparse.ArgumentParser(prog="agentkit mcp", description="Serve tools by the Model Context Protocol.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    add_arguments(commands.add_parser("serve", help="the tools of a world, of a folder, or of a registry of yours"))
    chosen = parser.parse_args(options.more)
    run: Callable[[argparse.Namespace], int] = chosen.run
    return run(chosen)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="agentkit", description="Build an AI agent by hand, in notebooks.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    ask = commands.add_parser("ask", help="give the agent of the order desk a goal and watch its steps")
    ask.add_argument("goal", help='for example "Can my order A100 be refunded? Today is 2026-10-13."')
    ask.add_argument("--model", metavar="NAME", help="which model decides (default: AGENTKIT_MODEL, else offline)")
    ask.add_argument("--json", action="store_true", help="print the whole run as JSON; nothing is asked")
    ask.set_defaults(run=_ask)
    lab = commands.add_parser("lab", help="open JupyterLab at your copy of the first notebook")
    lab.set_defaults(run=_lab)
    _add_endpoint(commands.add_parser("endpoint", help="serve a model to programs made for OpenAI or Anthropic"))
    mcp = commands.add_parser("mcp", add_help=False, help="serve tools to any MCP host: agentkit mcp serve --help")
    mcp.set_defaults(run=_mcp)
    reset = commands.add_parser("reset", help="a fresh copy of one notebook; the old one is kept beside it")
    reset.add_argument("notebook", help="its number or name, for example 05")
    reset.set_defaults(run=_reset)
    update = commands.add_parser("update", help="bring new notebooks into my_notebooks; your work is left alone")
    update.set_defaults(run=_update)
    progress = commands.add_parser("progress", help="how far you are with the exercises")
    progress.set_defaults(run=_progress)
    return parser


def _add_endpoint(endpoint: argparse.ArgumentParser) -> None:
    endpoint.add_argument("--model", metavar="NAME", help="which model answers (default: AGENTKIT_MODEL, else offline)")
    endpoint.add_argument("--host", default="127.0.0.1", help="the address to listen on (default: this machine only)")
    endpoint.add_argument("--port", type=_port, default=8400, help="the port (default: 8400; 0 takes a free one)")
    endpoint.add_argument("--token", help=f"the key that a client must send (or the variable {TOKEN})")
    endpoint.set_defaults(run=_endpoint)


def _port(text: str) -> int:
    number = int(text)
    if not 0 <= number <= 65535:
        raise ValueError(text)
    return number


def _use_utf8() -> None:
    """Print UTF-8 everywhere: a Korean Windows would choose cp949 for a pipe or a file and fail on most signs."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def _readable(text: str) -> str:
    """Undo what a locale without UTF-8 does to typed text: it turns each byte into a lone surrogate."""
    try:
        return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    except UnicodeEncodeError:  # half of a pair that no locale has made
        return text.encode("utf-8", "replace").decode("utf-8")
