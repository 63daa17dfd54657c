"""Running the endpoint from the command line, for a class on one machine."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable

from agentkit.endpoint.server import Endpoint
from agentkit.messages import Model


def run_endpoint(
    model: Model,
    host: str = "127.0.0.1",
    port: int = 8400,
    token: str | None = None,
    *,
    say: Callable[[str], None] = print,
    done: threading.Event | None = None,
) -> None:
    """Serve a model until Ctrl-C (or until ``done`` is set). Prints the addresses and what a learner has to set.

    Raises:
        DefinitionError: the address can be reached from other machines and there is no token, or it is in use.
        ProviderError: the web server's packages are not installed.
    """
    done = done or threading.Event()
    with Endpoint(model, host=host, port=port, token=token, log=False) as server:
        say(instructions(server, token is not None))
        try:
            while not done.wait(0.5):  # short waits, since Windows does not interrupt a long one
                pass
        except KeyboardInterrupt:
            pass
    say("The endpoint has stopped.")


def instructions(server: Endpoint, needs_token: bool) -> str:
    """What to print: where it listens, and the lines that point an agent to it."""
    url = server.url
    if server.host in ("0.0.0.0", "::"):  # every address of this machine, none of which is this one
        url = f"http://{socket.gethostname()}:{url.rpartition(':')[2]}"
    lines = [
        f"The endpoint serves {server.model!r} at {url}. Stop it with Ctrl-C.",
        f"OpenAI SDK:     base_url={url}/v1",
        f"Anthropic SDK:  base_url={url}",
        "For an agent of this course, in the learner's terminal (Windows: set in place of export):",
        "  export AGENTKIT_MODEL=openai-compatible",
        f"  export AGENTKIT_BASE_URL={url}/v1",
    ]
    if needs_token:
        lines.append("  export AGENTKIT_API_KEY=…   (the token of this endpoint)")
    return "\n".join(lines)
