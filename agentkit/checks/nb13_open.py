"""The two exercises of notebook 13 that take more time: a server to repair, and one of one's own."""

from __future__ import annotations

from agentkit.checks.exercise import Exercise, Wrong
from agentkit.checks.nb13_checks import check_hasty, check_make_server

_STUB = '''\
def hasty(line):
    """A server with one tool: one line in, one line out."""
    message = json.loads(line)
    method, params, id = message["method"], message.get("params", {}), message.get("id", 0)
    said = {}
    if method == "initialize":
        said = {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}}
        said["serverInfo"] = {"name": "hasty", "version": "1.0"}
    elif method == "tools/list":
        schema = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
        said = {"tools": [{"name": "shout", "description": "Make a text loud.", "inputSchema": schema}]}
    elif method == "tools/call":
        said = {"content": [{"type": "text", "text": params["arguments"]["text"].upper()}], "isError": False}
    return json.dumps({"jsonrpc": "2.0", "id": str(id), "result": said})
'''

_REPAIRED = '''\
def hasty(line):
    """A server with one tool: one line in, one line out."""
    try:
        message = json.loads(line)
    except ValueError:
        broken = {"code": -32700, "message": "This line is not JSON."}
        return json.dumps({"jsonrpc": "2.0", "id": None, "error": broken})
    if "id" not in message:
        return None
    method, params = message["method"], message.get("params", {})
    said = {}
    if method == "initialize":
        said = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}}
        said["serverInfo"] = {"name": "hasty", "version": "1.0"}
    elif method == "tools/list":
        schema = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
        said = {"tools": [{"name": "shout", "description": "Make a text loud.", "inputSchema": schema}]}
    elif method == "tools/call" and params.get("name") == "shout":
        given = params.get("arguments", {}).get("text")
        text = "Give the tool a text." if given is None else given.upper()
        said = {"content": [{"type": "text", "text": text}], "isError": given is None}
    elif method != "ping":
        code = -32602 if method == "tools/call" else -32601
        refused = {"code": code, "message": "There is no such method or tool."}
        return json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": refused})
    return json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": said})
'''


def _with(old: str, new: str, lacks: str) -> Wrong:
    """The solution with one thing changed, and what the learner must be told then."""
    assert old in _REPAIRED
    return Wrong(_REPAIRED.replace(old, new), lacks)


HASTY = Exercise(
    id="13.4",
    title="Repair a server",
    prompt="Repair the server `hasty` until the contract of an MCP server holds.",
    stub=_STUB,
    check=check_hasty,
    hints=(
        "Take the points one by one, from the top. The first is the revision: when do you agree to what is asked?",
        "A message without an id returns `None`, before anything else. And the id must come back as it was: no `str`.",
        "Bad JSON, an unknown method and an unknown tool are errors. A call without its text is a result with isError.",
    ),
    solution=_REPAIRED,
    why="Who speaks a protocol is judged by the unusual messages. The usual ones worked from the beginning.",
    setup="import json\n",
    known_wrong=(
        _with('"id": message["id"], "result"', '"id": str(message["id"]), "result"', "with its type"),
        _with(
            '    if "id" not in message:\n        return None\n', "    message.setdefault('id', 0)\n", "notification"
        ),
        _with('"2025-11-25"', 'params["protocolVersion"]', "unknown revision"),
        _with("-32602 if method", "-32601 if method", "unknown tool"),
        _with(
            "    try:\n        message = json.loads(line)\n    except ValueError:\n"
            '        broken = {"code": -32700, "message": "This line is not JSON."}\n'
            '        return json.dumps({"jsonrpc": "2.0", "id": None, "error": broken})\n',
            "    message = json.loads(line)\n",
            "bad JSON",
        ),
        _with(', "isError": given is None', ', "isError": False', "failing tool"),
        _with("given.upper()", "given", "must still make a text loud"),
    ),
)

_OWN = '''\
def make_server():
    """A server of your own."""

    @tool
    def count_words(text: str) -> int:
        """Count the words of a text."""
        return len(text.split())

    return Server("words", registry=Registry([count_words]))
'''

OWN = Exercise(
    id="13.5",
    title="A server of your own",
    prompt="Write `make_server()`: a server with a tool of your own, on which the contract holds.",
    stub='''\
def make_server():
    """A server of your own."""
    ...
''',
    check=check_make_server,
    hints=(
        "By hand: a dict of your functions, as `jail_tools` returns one; `partial(answer, your_tools)` is the server.",
        "With the package: `Server(name, registry=Registry([your_tool]))`. Give the tool a parameter that is required.",
    ),
    solution=_OWN,
    why="Whatever can be called can be offered. The protocol does not know what your tool does.",
    setup="from agentkit import Registry, tool\nfrom agentkit.mcp import Server\n",
    known_wrong=(
        Wrong(_OWN.replace("    return Server", "    Server"), "did you forget `return`"),
        Wrong(_OWN.replace("count_words", "read_file"), "give it a tool of your own"),
        Wrong(_OWN.replace("Registry([count_words])", "Registry()"), "at least one tool"),
        Wrong(
            _OWN.replace("text: str", "").replace("text.split()", "'two words'"), "Give one tool a required parameter"
        ),
        Wrong("def make_server():\n    return lambda line: line\n", "initialize"),
    ),
)
