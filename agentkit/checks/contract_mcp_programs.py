"""The servers on which a client is tried: small programs of the standard library alone, each with one thing that is hard.

They are written to a file and started with ``python -I -S FILE PORT``. At the port, the contract listens: it is told each
line that the program receives, and when it hangs up, the program ends, whatever the client does.
"""

from __future__ import annotations

from typing import Final

_PROGRAM: Final = """
import json, os, socket, sys, threading

def answered(words, failed=False):
    return {"content": [{"type": "text", "text": words}], "isError": failed}

def tool(name):
    schema = {"type": "object", "properties": {"word": {"type": "string"}}}
    return {"name": name, "description": "The tool " + name + ".", "inputSchema": schema}

def write(text):
    sys.stdout.buffer.write(text.encode("utf-8") + b"\\n")
    sys.stdout.buffer.flush()

def send(**body):
    write(json.dumps({"jsonrpc": "2.0", **body}))

def answer(message, **result):
    send(id=message["id"], result=result)

# These are what the programs differ in.
def at_start(): pass
def before(message): pass
def listed(message): answer(message, tools=[tool("look")])
def called(message): answer(message, **answered("fine"))
def at_end(): pass
{BODY}

def on(message):
    before(message)
    method = message.get("method")
    if method == "initialize":
        revision = "2025-11-25"
        asked = message.get("params", {}).get("protocolVersion")
        if asked in ("2025-06-18", "2025-03-26", "2024-11-05"):
            revision = asked
        info = {"name": "contract", "version": "1.0"}
        answer(message, protocolVersion=revision, capabilities={"tools": {}}, serverInfo=info)
    elif method == "tools/list":
        listed(message)
    elif method == "tools/call":
        called(message)
    elif method == "ping":
        answer(message)
    elif "id" in message and method is not None:
        send(id=message["id"], error={"code": -32601, "message": "There is no such method."})

def until_hung_up():
    try:
        while contract.recv(100):
            pass
    except OSError:
        pass
    os._exit(1)

contract = socket.create_connection(("127.0.0.1", int(sys.argv[1])), 10)
contract.settimeout(None)
threading.Thread(target=until_hung_up, daemon=True).start()
try:
    at_start()
    for line in sys.stdin.buffer:
        contract.sendall(line)
        on(json.loads(line))
    at_end()
except (OSError, ValueError, KeyError, TypeError, AttributeError):  # what the client sent cannot be used: it was written down
    pass
os._exit(0)
"""


def program(body: str) -> str:
    """The source of a server with these changes."""
    return _PROGRAM.replace("{BODY}", body.strip())


PLAIN: Final = program("")

PAGES: Final = program("""
pages = {None: (["north", "east"], "/2?"), "/2?": ([], "three"), "three": (["south"], None)}

def listed(message):
    cursor = message.get("params", {}).get("cursor")
    if cursor not in pages:
        return send(id=message["id"], error={"code": -32602, "message": "This is not one of my cursors."})
    names, further = pages[cursor]
    more = {} if further is None else {"nextCursor": further}
    answer(message, tools=[tool(name) for name in names], **more)
""")

ENDLESS: Final = program("""
asked = 0

def listed(message):
    global asked
    asked += 1
    if asked > LIMIT:
        contract.sendall(b'"too many"\\n')
        os._exit(1)
    answer(message, tools=[tool("look")], nextCursor="again")
""")

NOISE: Final = program("""
def at_start():
    write("Starting the server ...")

def before(message):
    for line in ("[info] a line has come", "", "{'half': ", "42"):
        write(line)
""")

NOTIFICATIONS: Final = program("""
def before(message):
    if "id" in message:
        send(method="notifications/never_heard_of", params={"id": message["id"]})
        send(method="notifications/message", params={"level": "info", "data": "a line has come"})
        send(method="notifications/progress", params={"progressToken": "nobody's", "progress": 1})
        send(method="notifications/tools/list_changed")
""")

FOREIGN: Final = program("""
last = 987654321

def called(message):
    global last
    send(id=last, result=answered("an answer that comes late"))
    send(id="somebody else's", result=answered("an answer to somebody else"))
    send(id="somebody else's", error={"code": -32603, "message": "an error of somebody else"})
    last = message["id"]
    answer(message, **answered("fine"))
""")

FAILING: Final = program("""
def called(message):
    answer(message, **answered("The shelf is empty.", failed=True))
""")

REFUSING: Final = program("""
def called(message):
    send(id=message["id"], error={"code": -32602, "message": "There is no tool of this name."})
""")

DYING: Final = program("""
def called(message):
    sys.stdout.buffer.write(b'{"jsonrpc": "2.0", "id": ')
    sys.stdout.buffer.flush()
    os._exit(3)
""")

STUBBORN: Final = program("""
def at_end():
    threading.Event().wait()
""")
