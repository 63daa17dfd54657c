"""The exercises of notebook 14 in which a server is written with the SDK."""

from __future__ import annotations

from agentkit.checks.exercise import Exercise, Wrong
from agentkit.checks.nb14_checks import check_own, check_prices

_SERVER = '''\
def make_prices():
    """A server named prices: a tool and a resource."""
    server = MCPServer("prices", log_level="CRITICAL")

    @server.tool()
    def price(item: str) -> int:
        """The price of one item in won."""
        if item not in PRICES:
            raise ToolError(f"There is no {item}. There are: {', '.join(PRICES)}.")
        return PRICES[item]

    @server.resource("prices://{item}")
    def address(item: str) -> str:
        return str(PRICES[item])

    return server
'''


def _server_with(old: str, new: str, lacks: str) -> Wrong:
    """The solution with one thing changed, and what the learner must be told then."""
    assert old in _SERVER
    return Wrong(_SERVER.replace(old, new), lacks)


SERVER = Exercise(
    id="14.2",
    title="A server with the SDK",
    prompt="Write `make_prices()`: an MCPServer named prices with a tool `price(item)` and a resource for each item.",
    stub='''\
def make_prices():
    """A server named prices: a tool and a resource."""
    ...
''',
    check=check_prices,
    hints=(
        "Begin like `make_shop` in the notebook: make the server, add functions with decorators, return the server.",
        "An unknown item: `raise ToolError(…)` with a sentence that names all items. Other exceptions lose their words.",
        'The resource has the address `"prices://{item}"`, and its function the parameter `item`. It returns a text.',
    ),
    setup=(
        "from mcp.server.mcpserver import MCPServer\nfrom mcp.server.mcpserver.exceptions import ToolError\n"
        'PRICES = {"cable": 9_000, "charger": 25_000}\n'
    ),
    solution=_SERVER,
    why="The model reads the sentence of a ToolError and can try again. Of any other exception it reads nothing.",
    known_wrong=(
        _server_with("raise ToolError(", "raise ValueError(", "the model reads only"),
        _server_with(
            "raise ToolError(f\"There is no {item}. There are: {', '.join(PRICES)}.\")",
            "return 0",
            "looks like a success",
        ),
        _server_with(
            "raise ToolError(f\"There is no {item}. There are: {', '.join(PRICES)}.\")",
            'raise ToolError("Unknown item.")',
            "names the items there are",
        ),
        _server_with("    @server.tool()\n", "", "it has no tool `price`"),
        _server_with('        """The price of one item in won."""\n', "", "write a docstring"),
        _server_with("\n    return server\n", "", "returned None"),
        _server_with("prices://{item}", "price://{item}", "nothing can be read"),
        Wrong(
            _SERVER.replace("def make_prices", "def made") + "\nmake_prices = made()\n", 'check("14.2", make_prices)'
        ),
        Wrong(_SERVER.replace("def make_prices", "async def make_prices"), "write `def` alone"),
    ),
)

_OWN = '''\
def make_own():
    """A server of your own: two tools, a resource, a prompt."""
    server, lamps = MCPServer("house", log_level="CRITICAL"), {"desk": "off"}
    Lamp = Annotated[str, Field(description="The name of a lamp.", examples=["desk"])]

    @server.tool(annotations=ToolAnnotations(read_only_hint=True))
    def lamp(name: Lamp) -> str:
        """Whether a lamp of the house is on or off."""
        if name not in lamps:
            raise ToolError(f"There is no lamp {name}. There are: {', '.join(lamps)}.")
        return lamps[name]

    @server.tool()
    def switch(name: Lamp) -> str:
        """Switch a lamp of the house on."""
        lamps[name] = "on"
        return "on"

    @server.resource("house://lamps")
    def names() -> str:
        return "\\n".join(lamps)

    @server.prompt()
    def good_night() -> str:
        return "Which lamps are still on?"

    return server
'''


def _own_with(old: str, new: str, lacks: str) -> Wrong:
    assert old in _OWN
    return Wrong(_OWN.replace(old, new), lacks)


OWN = Exercise(
    id="14.5",
    title="A server of your own",
    prompt="Make a server on a topic of your choice: two tools, of which one says that it only reads, a resource, a prompt.",
    stub='''\
def make_own():
    """A server of your own: two tools, a resource, a prompt."""
    ...
''',
    check=check_own,
    hints=(
        "Two tools: `@server.tool(annotations=ToolAnnotations(read_only_hint=True))` for the one that only reads.",
        'Words for a parameter: `name: Annotated[str, Field(description="…", examples=["…"])]`. The check uses the example.',
        'A resource: `@server.resource("house://lamps")`. A prompt: `@server.prompt()`. Both return a text.',
    ),
    setup=(
        "from typing import Annotated\nfrom mcp.server.mcpserver import MCPServer\n"
        "from mcp.server.mcpserver.exceptions import ToolError\nfrom mcp.types import ToolAnnotations\n"
        "from pydantic import Field\n"
    ),
    solution=_OWN,
    why="It was tried in both eras, and nothing in your code knows which era it is in.",
    known_wrong=(
        _own_with("annotations=ToolAnnotations(read_only_hint=True)", "", "0 of 2 tools say that they only read"),
        _own_with('        """Switch a lamp of the house on."""\n', "", "too short to choose by"),
        _own_with('Annotated[str, Field(description="The name of a lamp.", examples=["desk"])]', "str", "has no words"),
        _own_with(', examples=["desk"]', "", "was made up"),
        _own_with('examples=["desk"]', 'examples=["door"]', "failed"),
        _own_with("    @server.prompt()\n", "", "no prompt"),
        _own_with('    @server.resource("house://lamps")\n', "", "no resource"),
    ),
)
