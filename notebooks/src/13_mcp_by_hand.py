# %% [markdown]
# # 13 · MCP by hand
#
# Tools that live in somebody else's program: you write both ends of the protocol that reaches them.
# **45 minutes**, without *Further* and without the exercises 13.3 to 13.5. Builds on 02 (tools), 03 (registry), 08 (the door). Adds to
# `agentkit`: `mcp/`, with `Server`, `Client` and `Host`.
#
# **By the end you can**
#
# - say what host, client and server do, and count what a common protocol saves;
# - write a server and a client that exchange requests, results, errors and notifications;
# - put two servers behind one registry, and read all their messages;
# - recognise three failures of real connections, and cure them.

# %%
import inspect
import json
import subprocess
import sys
import tempfile
import threading
from functools import partial
from pathlib import Path

from agentkit import Agent, Registry, ToolCall, ToolError, get_model, tool
from agentkit.checks import check, hint, mcp_client_contract, mcp_server_contract, quiz, solution
from agentkit.mcp import Client, McpError, Recorder, Server, StdioTransport, current_call, jsonrpc
from agentkit.mcp.host import Host, integrations
from agentkit.mcp.jail_server import jail_server
from agentkit.mcp.orders_server import orders_server
from agentkit.mcp.session import Session
from agentkit.safety import PathJail
from agentkit.show import source
from agentkit.widgets import sequence_diagram
from agentkit.worlds import orders, research

# %% [markdown]
# ## See it fail
#
# The help desk has tools for orders. Today the question is about a file, too, and the files belong to a program of another team. Here is
# their folder, and a secret outside of it.

# %%
place = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
home = Path(place.name)
share = home / "share"
share.mkdir()
(share / "visit.md").write_text("Ms Kim comes on Friday about order A100.", encoding="utf-8")
(home / "secret.txt").write_text("The safe opens with 4711.", encoding="utf-8")
GOAL = "Read the file visit.md. Can my order A100 be refunded? Today is 2026-10-13."
model = get_model(rules=orders.rules)
alone = Agent(model, orders.tools, system=orders.system).run(GOAL)
print(alone.answer)

# %% [markdown]
# For one half of the question the agent has no tool. You could write an **adapter**, code that makes their program look like a tool of
# yours. But then each agent needs one for each service. The next cell counts the adapters. Read its output, not the code.

# %%
services = {
    "files": jail_server(share),
    "shop": orders_server(),
    "papers": Server("papers", registry=Registry(research.tools)),
}
wanted = {
    "help desk": ["files", "shop"],
    "writer": ["files", "papers"],
    "analyst": ["files", "shop", "papers"],
    "planner": ["files", "shop", "papers"],
}
hosts = {agent: Host({name: services[name] for name in names}) for agent, names in wanted.items()}
counted = integrations({agent: host.connect() for agent, host in hosts.items()})
for host in hosts.values():
    host.close()
counted

# %% [markdown]
# N agents and M services need up to N × M adapters. With a common language each side is written once: N + M parts. That language is
# **MCP**, the Model Context Protocol. Three words:
#
# - the **server** is the program that offers something, here files;
# - the **client** talks to one server;
# - the **host** is the program with the agent in it. It runs one client for each server (ten in all here), but the code of a client is
#   written once.

# %% [markdown]
# ## Build it by hand
#
# ### Four kinds of message
#
# MCP writes its messages in **JSON-RPC 2.0**, an older standard for calling functions of another program.

# %%
kinds = {
    "request": {"id": 1, "method": "tools/list"},
    "result": {"id": 1, "result": {"tools": []}},
    "error": {"id": 1, "error": {"code": -32601, "message": "There is no such method."}},
    "notification": {"method": "notifications/initialized"},
}
for kind, message in kinds.items():
    print(f"{kind:13}", json.dumps({"jsonrpc": "2.0"} | message))

# %% [markdown]
# - A **request** has an `id`, a number or a text that the sender chooses.
# - A **result** or an **error** answers it, with the same `id`. The standard calls both a **response**.
# - A **notification** has no `id` and is never answered.
#
# Both sides may send all four.
#
# ### The handshake
#
# The client begins with `initialize` and names a **revision**, a version of MCP; ours is 2025-11-25. A server that knows it agrees;
# otherwise it offers its newest, and the client may leave. Both name their **capabilities**, what they can do. Our server has only `tools`.
# (The others come in *Further* and in notebook 14.) After the answer the client sends `notifications/initialized`.

# %%
REVISIONS = ("2025-11-25", "2025-06-18", "2024-11-05")


def initialize(params):
    asked = params.get("protocolVersion")
    return {
        "protocolVersion": asked if asked in REVISIONS else REVISIONS[0],
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "jail", "version": "1.0"},
    }


for asked in ("2025-06-18", "1999-01-01"):
    print(asked, "->", initialize({"protocolVersion": asked})["protocolVersion"])

# %% [markdown]
# ### The tools
#
# Our server offers the files of the folder. `PathJail` refuses every path that leads out of it (notebook 15). Writing needs a permission.

# %%
def jail_tools(jail, may_write):
    def list_files():
        """List all files in the folder."""
        return "\n".join(jail.names())

    def read_file(path):
        """Read one text file of the folder."""
        return jail.read(path)

    def write_file(path, text):
        """Write one text file in the folder."""
        if not may_write:
            raise ToolError("This server only reads.", code="read_only")
        jail.write(path, text)
        return f"{len(text)} characters written."

    return {function.__name__: function for function in (list_files, read_file, write_file)}


tools = jail_tools(PathJail(share), may_write=False)
print(tools["list_files"]())

# %% [markdown]
# `tools/list` describes each tool by name, description and **JSON Schema**, as in notebook 02. All our parameters are texts, and all are
# required.

# %%
def definition(function):
    names = list(inspect.signature(function).parameters)
    schema = {"type": "object", "properties": {name: {"type": "string"} for name in names}, "required": names}
    return {"name": function.__name__, "description": function.__doc__, "inputSchema": schema}


definition(tools["read_file"])

# %% [markdown]
# `tools/call` runs one. If it fails, the *model* must read why: so a failure is a result, with the mark `isError`. A JSON-RPC error goes to
# the program that sent the request (here the client); the model perhaps never sees it.

# %%
def call(function, arguments):
    try:
        text, failed = function(**arguments), False
    except ToolError as problem:
        denied = problem.code in ("outside", "read_only")
        text, failed = f"Access denied. {problem}" if denied else str(problem), True
    except Exception as problem:
        text, failed = f"The tool failed with {type(problem).__name__}.", True
    return {"content": [{"type": "text", "text": text}], "isError": failed}


call(tools["read_file"], {"path": "../secret.txt"})

# %% [markdown]
# `content` is a list of **blocks**. Ours has one, of type `text`; a block can also be an image.
#
# ### One line in, one line out
#
# Each method gets its result. An unknown method gets the error -32601, an unknown tool -32602.

# %%
def error(code, message):
    return {"error": {"code": code, "message": message}}


def reply(tools, method, params):
    """What answers a request: a result or an error."""
    if method == "initialize":
        return {"result": initialize(params)}
    if method == "ping":
        return {"result": {}}
    if method == "tools/list":
        return {"result": {"tools": [definition(function) for function in tools.values()]}}
    if method != "tools/call":
        return error(-32601, f"There is no method {method!r}.")
    if params.get("name") not in tools:
        return error(-32602, f"There is no tool {params.get('name')!r}.")
    return {"result": call(tools[params["name"]], params.get("arguments", {}))}

# %% [markdown]
# `answer` takes a line and returns a line, or `None` for a notification. A line that is not JSON gets an error, too: its sender may be
# waiting.

# %%
def answer(tools, line):
    try:
        message = json.loads(line)
    except ValueError:
        return json.dumps({"jsonrpc": "2.0", "id": None} | error(-32700, "This line is not JSON."))
    if not isinstance(message, dict) or "method" not in message:
        return json.dumps({"jsonrpc": "2.0", "id": None} | error(-32600, "This is no request."))
    if "id" not in message:
        return None
    said = reply(tools, message["method"], message.get("params", {}))
    return json.dumps({"jsonrpc": "2.0", "id": message["id"]} | said)

# %% [markdown]
# **Before you run the next cell:** which of the five lines gets a result, which an error, which nothing?

# %%
lines = [
    '{"jsonrpc": "2.0", "id": 7, "method": "ping"}',
    '{"jsonrpc": "2.0", "id": "seven", "method": "tools/destroy"}',
    '{"jsonrpc": "2.0", "method": "notifications/initialized"}',
    '{"jsonrpc": "2.0", "id": 8, "meth',
    '{"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": '
    '{"name": "write_file", "arguments": {"path": "new.md", "text": "hello"}}}',
]
for line in lines:
    print(answer(tools, line))

# %% [markdown]
# A result, an error, nothing, an error without an id (none could be read), and a result again: the tool failed, the request did not.
#
# ### The server becomes a process
#
# A **process** is a running program. Ours reads lines from its **standard input** and writes answers to its **standard output**. A third
# stream, **standard error**, is for all other texts. In MCP this way has the name **stdio**.

# %%
def serve(folder, *options):
    tools = jail_tools(PathJail(folder), may_write="--write" in options)
    for line in sys.stdin.buffer:           # bytes: a text stream could expect another encoding
        said = answer(tools, line)
        if said is not None:
            print(said, flush=True)         # at once: the client is waiting

# %% [markdown]
# The program is made of the functions above: `inspect.getsource` gives their text. We write two lines into it and look at the bytes that
# come out (at most 100 of each line).

# %%
HEAD = f"""import inspect, json, sys
from agentkit import ToolError
from agentkit.safety import PathJail
REVISIONS = {REVISIONS!r}"""
PARTS = (initialize, jail_tools, definition, call, error, reply, answer, serve)
PROGRAM = "\n\n".join([HEAD, *map(inspect.getsource, PARTS), "serve(*sys.argv[1:])\n"])
(home / "server.py").write_text(PROGRAM, encoding="utf-8")
COMMAND = [sys.executable, str(home / "server.py"), str(share)]
asked = b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n'
asked += b'{"jsonrpc": "2.0", "id": 2, "method": "tools/list"}\n'
ended = subprocess.run(COMMAND, input=asked, stdout=subprocess.PIPE, check=True)
for line in ended.stdout.splitlines(keepends=True):
    print(line[:100])

# %% [markdown]
# One message is one line, ended by a line feed, `\n`. That is all there is on the wire.
#
# ### A client
#
# The client starts the server and holds the other ends of its streams. When no line is left to read, the server is gone. (`Recorder` and
# `jsonrpc.parse` are the package's; they only write each message down for later.)

# %%
class Pipe:
    def __init__(self, command, recorder=None):
        ends = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        self.process = subprocess.Popen(command, **ends)
        self.recorder = Recorder() if recorder is None else recorder

    def send(self, **message):
        line = json.dumps({"jsonrpc": "2.0", **message})
        self.recorder("client", "server", jsonrpc.parse(line), line)
        self.process.stdin.write(line.encode("utf-8") + b"\n")
        self.process.stdin.flush()

    def receive(self):
        line = self.process.stdout.readline().decode("utf-8")
        if not line:
            raise ConnectionError("The server is gone.")
        self.recorder("server", "client", jsonrpc.parse(line), line)
        return json.loads(line)

# %% [markdown]
# To end it, the specification gives an order: close its input and wait; ask it to end and wait; kill it.

# %%
def end(pipe):
    process = pipe.process
    process.stdin.close()
    for stronger in (process.terminate, process.kill):
        try:
            process.wait(timeout=1)
        except subprocess.TimeoutExpired:
            stronger()
    process.wait()
    process.stdout.close()

# %% [markdown]
# The rest is MCP: ids that count, the handshake, and a method for each request.

# %%
class HandClient(Pipe):
    last_id = 0

    def request(self, method, **params):
        self.last_id += 1
        self.send(id=self.last_id, method=method, params=params)
        while (message := self.receive()).get("id") != self.last_id:
            pass                        # not the answer that we wait for
        if "error" in message:
            raise RuntimeError(message["error"]["message"])
        return message["result"]

    def connect(self):
        me = {"name": "by hand", "version": "1.0"}
        self.request("initialize", protocolVersion=REVISIONS[0], capabilities={}, clientInfo=me)
        self.send(method="notifications/initialized")
        return self

    def list_tools(self):
        return self.request("tools/list")["tools"]

    def call_tool(self, name, arguments):
        return self.request("tools/call", name=name, arguments=arguments)

    close = end                         # a method, too

# %% [markdown]
# `--write` gives the permission to write. **Before you run the next cell:** the third call leads outside, the fourth tool does not exist.
# Which one raises an exception?

# %%
recorder = Recorder()
client = HandClient([*COMMAND, "--write"], recorder).connect()
print([each["name"] for each in client.list_tools()])
calls = [
    ("write_file", {"path": "room.md", "text": "Room 12."}),
    ("read_file", {"path": "room.md"}),
    ("read_file", {"path": "../secret.txt"}),
    ("fly", {}),
]
for name, arguments in calls:
    try:
        print(client.call_tool(name, arguments)["content"][0]["text"])
    except RuntimeError as refused:
        print("refused:", refused)
client.close()
print("exit code", client.process.returncode)

# %% [markdown]
# The fourth. *Access denied* is a result, for the model; an unknown tool is an error, for the program. Exit code 0: the server ended by
# itself when its input was closed.
#
# ### Look: every message
#
# In a **sequence diagram** each side is a column, and time goes down. A dashed line asks or tells, a dotted line answers. Step through the
# messages: below stands the JSON of each. (Where a notebook is only shown and not run, a table holds it: open a message there.)

# %%
sequence_diagram(recorder)

# %% [markdown]
# Message 3 is the notification: nothing answers it. Message 11, a failed tool, is still a result; 13 is an error.
#
# ## The same piece in agentkit
#
# This is the package's `initialize`. New against yours: it refuses a second handshake and checks the three fields of the request.
# `negotiate` is your line with `REVISIONS`; `batches` matters for one old revision only.

# %%
source(Session, only="_initialize")

# %% [markdown]
# Each contract takes a function that makes a new server or client. A server is one of the package, or a function that takes a line and
# returns a line. (`partial(answer, tools)` is `answer` with its first argument filled in.) A client meets small servers that misbehave.

# %%
def packaged(command):
    return Client(StdioTransport(command[0], command[1:]))


makers = {"your server": lambda: partial(answer, tools), "agentkit's server": lambda: jail_server(share)}
for name, make in makers.items():
    report = mcp_server_contract(make)
    print(f"{name}: {len(report.points)} points, all hold: {report.passed}")
by_hand = mcp_client_contract(lambda command: HandClient(command).connect())
print("agentkit's client, all hold:", mcp_client_contract(lambda command: packaged(command).connect()).passed)
by_hand

# %% [markdown]
# *noise* comes back under *What goes wrong*. A server may send a long list in **pages**, and our client reads only the first: *Further* reads
# all. So *endless list* holds for a poor reason: our client never asks for a second page.
#
# | yours | agentkit | what it adds |
# |---|---|---|
# | `reply` | `Session` | arguments are checked against the schema |
# | `Pipe` | `StdioTransport` | the server does not get your environment variables (they may hold API keys); its standard error is kept; programs that it started end with it |
# | `HandClient` | `Client` | a time-out; all pages of a list; lines that are no messages are skipped |

# %% [markdown]
# ### Two servers under one host
#
# Now the first question again. The host starts *your* server as a process and takes the shop's in memory. All tools land in one registry.
#
# A server could lie about how dangerous its tools are. So **you** say it. What you do not name waits for a person's approval.
#
# **Before you run the next cell:** how many handshakes will there be?

# %%
reading = {
    "jail": {"read_file": "read", "list_files": "read"},
    "shop": {"lookup_order": "read", "refund_policy": "read", "days_between": "read"},
}
servers = {"jail": StdioTransport(COMMAND[0], COMMAND[1:]), "shop": orders_server()}
with Host(servers, permission=reading, fenced=False) as host:
    print(host.sequence)
    print("write_file waits for approval:", host.registry.get("write_file").approval)
    run = Agent(model, host.registry, system=orders.system).run(GOAL)
run

# %% [markdown]
# Two: each client has its own connection. Both halves are answered without an adapter. The model did not notice that some of its tools live
# in another program.
#
# `fenced=False` says: these servers are ours. For somebody else's leave it out; each result then stands in a **fence**, marks that tell the
# model that strangers wrote it (notebook 15).

# %% [markdown]
# ## What goes wrong
#
# Three common failures, each in your own server with one place changed.
#
# **1. A print on standard output.** *Symptom:* the connection ends before it begins. *Cause:* standard output belongs to the protocol.
# *Cure:* in the server, `print("…", file=sys.stderr)`; in the client, skip what is no message.

# %%
def broken(name, old, new):
    assert old in PROGRAM
    path = home / f"{name}.py"
    path.write_text(PROGRAM.replace(old, new), encoding="utf-8")
    return [sys.executable, str(path), str(share)]


noisy = broken("noisy", "    for line in", '    print("Jail server 1.0 is ready.")\n    for line in')
client = HandClient(noisy)
try:
    client.connect()
except ValueError as problem:
    print("by hand:", type(problem).__name__, "for the line", repr(problem.doc.strip()))
client.close()
with packaged(noisy) as client:
    print("agentkit:", len(client.list_tools()), "tools; skipped:", [line.text for line in client.noise])

# %% [markdown]
# **2. An id that changes its type.** *Symptom:* the client waits for ever, though an answer came. *Cause:* the server turned the number
# into a text. *Cure:* give back the id as it came.
#
# **Before you run the next cell:** which line of your `HandClient` makes it wait? (We do not run it here: it has no time-out.)

# %%
texts = broken("texts", '"id": message["id"]', '"id": str(message["id"])')
asked = b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n'
print(subprocess.run(texts, input=asked, stdout=subprocess.PIPE, check=True).stdout.strip())
try:
    packaged(texts).connect()
except McpError as problem:
    print("agentkit:", problem)

# %% [markdown]
# The `while` in `request`: it would read on for ever, since `"1" != 1`.
#
# **3. The server dies in a call.** *Symptom:* in a client that does not notice the end, the agent hangs. *Cause:* no line will come.
# *Cure:* treat the end of the stream as an answer: the server is gone. (`sys.exit` raises `SystemExit`, which `except Exception` does not
# catch.)

# %%
dying = broken("dying", "return jail.read(path)", 'sys.exit("The disk is gone.")')
client = HandClient(dying).connect()
try:
    client.call_tool("read_file", {"path": "visit.md"})
except ConnectionError as problem:
    print("by hand:", problem)
client.close()
with packaged(dying) as client:
    try:
        client.call_tool("read_file", {"path": "visit.md"})
    except McpError as problem:
        print("agentkit:", problem)

# %% [markdown]
# Two more stand under *Further*.
#
# ## Exercises
#
# Write your code in place of the `...` and run the cell. `hint("13.1")` and `hint("13.1", 2)` help; `solution("13.1")` shows ours. 13.3 to
# 13.5 are not in the 45 minutes.
#
# **13.1** Write `kind_of(message)` for a message as a dict: `"request"`, `"notification"`, `"result"` or `"error"`.

# %%
def kind_of(message):
    """The kind of a JSON-RPC message."""
    ...


check("13.1", kind_of)

# %% [markdown]
# **13.2** An answer to `tools/call` can mean three things. Write `outcome(message)`: a pair of a word and a text. The word is `"ok"`,
# `"failed"` (the tool ran and failed) or `"refused"` (the request was). The text is that of all text blocks, joined by line feeds, or the
# message of the error. A result without `isError` is `"ok"`.

# %%
def outcome(message):
    """A pair: "ok", "failed" or "refused", and the text."""
    ...


check("13.2", outcome)

# %% [markdown]
# **13.3** Write `answer_to(lines, id)`: return the first message that answers the request `id`. Skip all else: what is no message,
# notifications, requests of the server, answers to others (the text `"1"` is not the number 1). `lines` is an iterator of texts: take them
# with `for`, and stop at the answer, for the next line may never come. Raise a `ConnectionError` when the lines end.

# %%
def answer_to(lines, id):
    """The message that answers the request with this id. Raises ConnectionError when the lines end."""
    ...


check("13.3", answer_to)

# %% [markdown]
# **13.4 Repair.** Somebody wrote this server in a hurry, and it breaks about half of its promises. Repair it until the contract holds. (As
# long as nothing is changed, `check` says "not attempted yet".)

# %%
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


print(mcp_server_contract(lambda: hasty))
check("13.4", hasty)

# %% [markdown]
# **13.5, open.** Write `make_server()` that returns a server of your own, a function from line to line (or an `agentkit.mcp.Server`), with
# at least one tool that this notebook does not have, and with a required parameter, so that a call without it can fail.

# %%
def make_server():
    """A server of your own."""
    ...


check("13.5", make_server)

# %% [markdown]
# ### Quiz
#
# Answer with three letters, for example `quiz("13", "a", "b", "c")`.

# %%
quiz("13")

# %% [markdown]
# ## Recap
#
# - Ten adapters became seven parts; host, client and server: *See it fail*.
# - A server, a client, four kinds of message: *Build it by hand*, 13.1 to 13.5.
# - Each message drawn, your server and the shop under one host: *Look*, *Two servers under one host*.
# - A print, an id and a death: *What goes wrong*, 13.3, 13.4.
#
# **Next:** 14, MCP with the SDK: the official library, HTTP, and servers that somebody else wrote.

# %% [markdown]
# ## Further
#
# Two more failures, and what the protocol can do beyond tools.
#
# ### A cursor that never advances
#
# A long list comes in pages. Each page but the last brings a **cursor**, the mark where the next one begins. *Symptom:* half of the tools,
# or a client that asks for ever. *Cause:* a client that ignores the cursor, or a server that repeats it. *Cure:* follow it, and stop when
# one comes twice.

# %%
def all_tools(client):
    found, seen, more = [], set(), {}
    while True:
        page = client.request("tools/list", **more)
        found += page["tools"]
        cursor = page.get("nextCursor")
        if cursor is None:
            return found
        if cursor in seen:
            raise RuntimeError(f"The cursor {cursor!r} came twice.")
        seen.add(cursor)
        more = {"cursor": cursor}


class PagingClient(HandClient):
    list_tools = all_tools

# %% [markdown]
# Here is a server that repeats its cursor, and the contract once more.

# %%
endless = broken("endless", '"tools": [definition', '"nextCursor": "2", "tools": [definition')
client = PagingClient(endless).connect()
try:
    client.list_tools()
except RuntimeError as problem:
    print(problem)
client.close()
report = mcp_client_contract(lambda command: PagingClient(command).connect())
print("still fails:", report.failed)

# %% [markdown]
# *pages* holds now. *noise* is left, and `answer_to` of 13.3 is its cure.
#
# ### A list that changes
#
# A server gets a new tool while you are connected. *Symptom:* the agent does not know it, or calls one that is gone. *Cure:* the server
# sends a notification, and the client asks for the list again. A registry does so before its next call. (`add_mcp` puts the tools of a
# client into a registry: notebook 14.) Your `permission="read"` was said about the tools that were there, so a new one asks a person.

# %%
@tool
def opening_hours(day: str) -> str:
    """When the shop is open."""
    return "9 to 18"


shop, registry = orders_server(), Registry()
with Client(shop) as client:
    registry.add_mcp(client, permission="read", fenced=False)
    before = len(registry)
    shop.add(opening_hours)
    print(client.notifications[-1].method)
    registry.call(ToolCall("refund_policy", {}, "call_1"))
    print(before, "->", len(registry), "tools; the new one asks:", registry.get("opening_hours").approval)

# %% [markdown]
# ### What a server may ask
#
# | side | capabilities |
# |---|---|
# | server | `tools`, `resources` (data to read), `prompts` (ready texts for a user to choose), `logging` |
# | client | `sampling` (its model writes a text), `roots` (its folders), `elicitation` (the client asks its user) |
#
# In this revision the server may ask the client back while it works on a call. **Sampling** asks the client's model for a text, so that the
# server needs no key of its own. **Roots** asks for the folders it may work in. With **logging** and **progress** it tells how things are
# going. The client answers only what it named as its capabilities.

# %%
@tool
def tidy(topic: str) -> str:
    """Make a title for a topic."""
    now = current_call()
    now.progress(1, 2, "asking for roots")
    roots = [root["uri"] for root in now.roots()]
    now.log("info", f"{len(roots)} root")
    now.progress(2, 2, "asking the model")
    return now.sample(f"A title for: {topic}")


seen = []
office = Server("office", registry=Registry([tidy]))
talk = Recorder()
answers = {"sampling": lambda asked: "Files, in order", "roots": ["file:///share"]}
with Client(office, recorder=talk, **answers) as client:
    made = client.call_tool("tidy", {"topic": "files"}, progress=lambda *told: seen.append(told[:2]))
print(made.text, seen)

# %% [markdown]
# The pairs are the progress: 1 of 2, then 2 of 2. The title came from the client, where a small function plays the model. Look at who sends
# requests here: both sides do.

# %%
sequence_diagram(talk)

# %% [markdown]
# The newest revision, 2026-07-28, **deprecates** sampling, roots and logging: they still work for a time, but build nothing new on them.
# Notebook 14 shows what takes their place.
#
# ### Cancelling
#
# The client gives up after 0.2 s and says so. **Before you run the next cell:** does the tool hear that nobody waits any more?

# %%
stopped = threading.Event()


@tool
def count_stars() -> str:
    """Count all stars. It takes long."""
    now, pause = current_call(), threading.Event()
    while not now.cancelled:
        pause.wait(0.01)
    stopped.set()
    return "many"


sky = Recorder()
with Client(Server("sky", registry=Registry([count_stars])), recorder=sky) as client:
    try:
        client.call_tool("count_stars", timeout=0.2)
    except McpError as problem:
        print(problem)
    print("the tool stopped:", stopped.wait(5))
print([item.message.method for item in list(sky)[-2:]])

# %% [markdown]
# Yes, because it looks at `cancelled`. Its answer is gone for good, even if the tool had just been done. A tool that never looks goes on
# working for nobody.
