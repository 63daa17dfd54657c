# %% [markdown]
# # 08 · The JSON contract
#
# A model's wish changes a row only after ten stations have let it pass. You build them, break them in seven places, and repair them.
# **45 minutes** without *Further*. Builds on 02 (tools), 03 (registry), 05 (loop). Adds to `agentkit`: the stages of the door, the
# ledger, a checklist.
#
# **By the end you can**
#
# - follow one JSON document from the model to a changed row and back, and say where it stopped and with which code;
# - build the stations by hand, and give the reason for their order;
# - cure seven failures, among them the retry that writes twice;
# - run a shipping checklist on your own registry, and supply what is missing.

# %%
import hashlib
import json
import re
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated

from pydantic import Field  # for exercise 08.6

from agentkit import (
    Agent, CallTools, FinalAnswer, Registry, ScriptedModel, ToolCall, ToolError, _door,
    openai_problems, to_openai, tool,
)
from agentkit.checks import check, hint, quiz, solution
from agentkit.checks.contract_checklist import shipping_checklist
from agentkit.checks.nb08_contract import door_contract
from agentkit.safety import AuditLog, SqliteLedger
from agentkit.show import source, table
from agentkit.widgets import stations
from agentkit.worlds import orders

# %% [markdown]
# ## See it fail
#
# A customer wants a faster parcel. Suppose the model says so in a sentence, and the program looks for the order and the priority with
# a **regular expression**, a pattern for text.

# %%
WISH = re.compile(r"priority of (A\d{3}) to (\w+)")


def act_on(sentence):
    desk = orders.open_desk()
    found = WISH.search(sentence)
    if not found:
        return "nothing understood"
    try:
        return "the row now says " + desk.set_shipment_priority(*found.groups())["priority"]
    except Exception as error:
        return f"the program ends with {type(error).__name__}"


act_on("Set the priority of A101 to express.")

# %% [markdown]
# It works. Here are eight sentences as models really write them. **Before you run the next cell:** for how many of them does the
# program do what the sentence says?

# %%
sentences = [
    "Set the priority of A101 to express.",
    "Set the priority of order A101 to express.",
    "I change A101's priority to express.",
    "Set the priority of A101 to **express**.",
    "A101의 배송 우선순위를 express로 바꿉니다.",
    "Set the priority of A101 to the fastest one.",
    "Set the priority of A101 to express, and of A114 to overnight.",
    "I do not set the priority of A101 to overnight, since nobody asked for it.",
]
table([[sentence, act_on(sentence)] for sentence in sentences], ["the model says", "what happens"])

# %% [markdown]
# For one. Four are not understood, and those are the harmless ones. One writes the word `the` into the row, one does half of the work,
# and the last does the opposite of what it says. A better pattern only moves the luck to other sentences.
#
# The cure is to agree on a form. The model writes a **document**: named fields with values, as **JSON**, a notation that a program reads
# without guessing.

# %%
document = '{"order_id": "A101", "priority": "express"}'
json.loads(document)

# %% [markdown]
# A **JSON contract** says what such a document must look like, who checks it, and what comes back.
#
# ## Build it by hand
#
# The document goes through ten stations, one after the other: look-up, parse, schema, permission, approval, idempotency, business rule,
# reserve, run, result. Each may refuse, with a **code** for programs and a sentence for the model.
#
# Here is the shop: one tool that writes, one that only reads, one that is dangerous. A **business rule** says what the shop allows. It is
# a function of the same arguments as the tool.

# %%
def open_shop():
    desk = orders.open_desk()

    def not_yet_arrived(order_id, priority):
        status = desk.lookup_order(order_id)["status"]
        if status not in ("processing", "shipping"):
            raise ToolError(f"Order {order_id} is {status}.", code="too_late")

    faster = tool(rule=not_yet_arrived)(desk.set_shipment_priority)
    return desk, [faster, desk.lookup_order, desk.refund_order]


desk, tools = open_shop()
tools

# %% [markdown]
# **Look-up and parse.** Is there such a tool, and are its arguments JSON? Each station is a function of the door and of `p`, the passage:
# the call on its way, with all that the stations find out about it. A station refuses by raising a `ToolError`.

# %%
def lookup(door, p):
    if p.call.name not in door.tools:
        raise ToolError(f"There is no tool {p.call.name!r}.", code="unknown_tool")
    p.tool = door.tools[p.call.name]


def parse(door, p):
    if p.call.truncated:
        raise ToolError("The call was cut off.", code="truncated")
    try:
        written = p.call.arguments
        p.arguments = json.loads(written) if isinstance(written, str) else written
    except ValueError:
        raise ToolError("The arguments are not JSON.", code="bad_json") from None

# %% [markdown]
# To try some stations we need a door and a passage. `through` sends one document through the stations that it is given.

# %%
def through(stages, text, name="set_shipment_priority"):
    door = SimpleNamespace(tools={item.name: item for item in tools}, permissions=("read", "write"))
    p = SimpleNamespace(call=ToolCall(name, text, "call_1"), run_id="monday", approved=None)
    for stage in stages:
        try:
            stage(door, p)
        except ToolError as refusal:
            return f"{stage.__name__} says {refusal.code}"
    return "passed"


for text in (document, '{"order_id": "A101", priority: express}', "express, please"):
    print(through([lookup, parse], text))
print(through([lookup, parse], document, name="set_priority"))

# %% [markdown]
# **Schema and business rule.** Do the fields fit the tool? A tool brings its own check; you built it in notebook 02. And does the shop
# allow it? The rule of the tool says so, by raising or not.

# %%
def schema(door, p):
    try:
        p.keywords = p.tool.validate(p.arguments)
    except Exception as problem:
        raise ToolError(str(problem), code="bad_arguments") from None


def rule(door, p):
    if p.tool.rule is not None:
        p.tool.rule(**p.keywords)

# %% [markdown]
# Parse, schema and rule are easily mixed up, so look at the three together, before the stations between them.
#
# **Before you run the next cell:** which of the four documents pass all three? A100 has been delivered, A101 is on its way.

# %%
documents = [
    "express, please",
    '{"order": "A101", "speed": "fast"}',
    '{"order_id": "A100", "priority": "express"}',
    '{"order_id": "A101", "priority": "express"}',
]
checks = [lookup, parse, schema, rule]
table([[text, through(checks, text)] for text in documents], ["document", "what the stations say"])

# %% [markdown]
# Providers offer help with two of these three only: parse and schema.
#
# | | what is kept out | what still comes through |
# |---|---|---|
# | free text | nothing | all four |
# | **JSON mode**: the reply is JSON | the first | the last three |
# | **strict schema**: the reply fits the schema | the first two | the last two |
# | your business rule | the first three | the last |
#
# Whether A100 may still be changed depends on a row in your database. No provider knows it. And a reply can be cut off in every mode, so
# you keep all the stations.

# %% [markdown]
# **Permission and approval.** May this kind of tool run here, and has a person agreed? A yes must be for exactly what the person saw. So
# it is a **digest**: a short text computed from the run, the tool and the arguments. Change one of them, and it no longer fits.

# %%
def permission(door, p):
    if p.tool.permission not in door.permissions:
        raise ToolError(f"{p.tool.name} is a {p.tool.permission} tool.", code="not_permitted")


def digest(p):
    shown = json.dumps([p.run_id, p.tool.name, p.arguments], sort_keys=True)
    return hashlib.sha256(shown.encode("utf-8")).hexdigest()


def approval(door, p):
    if p.tool.approval and p.approved != digest(p):
        raise ToolError("A person has to approve this call.", code="needs_approval")


through([lookup, parse, schema, permission], '{"order_id": "A100", "amount": 5}', name="refund_order")

# %% [markdown]
# **Idempotency and reserve.** **Idempotent** means: doing it twice has the effect of doing it once. The **ledger** is the book in which
# each attempt at a write is noted *before* it runs. An equal call with the same id is a retry. So is one whose first try has no outcome
# yet.

# %%
def idempotency(door, p):
    p.key = (p.run_id, p.tool.name, json.dumps(p.arguments, sort_keys=True))
    for attempt in door.ledger.get(p.key, []):
        if attempt["outcome"] is None:
            raise ToolError("Nobody knows whether an equal call took effect.", code="unknown_outcome")
        if attempt["call_id"] == p.call.id:
            return attempt["outcome"]


def reserve(door, p):
    p.attempt = {"call_id": p.call.id, "outcome": None}
    if p.tool.permission != "read":
        door.ledger.setdefault(p.key, []).append(p.attempt)

# %% [markdown]
# **Run and result.** The tool runs under its time-out. A failure is an outcome. A time-out is not: the tool may still do its work, so the
# attempt stays open.

# %%
def run(door, p):
    work = ThreadPoolExecutor(1).submit(p.tool.function, **p.keywords)
    try:
        answer = {"ok": True, "data": work.result(timeout=p.tool.timeout)}
    except TimeoutError:
        return failed("timeout", "No answer in time. It may still take effect.")
    except ToolError as error:
        answer = failed(error.code, str(error))
    except Exception as error:
        answer = failed("tool_failed", f"{p.tool.name} failed with {type(error).__name__}.")
    p.attempt["outcome"] = answer
    return answer


def failed(code, message):
    return {"ok": False, "error": {"code": code, "message": message}}

# %% [markdown]
# Now the stations in their order. The first that refuses ends the passage, and the first that has an answer gives it. The list has
# nine. The tenth, result, is small here: the dict that `run` returns.

# %%
STAGES = [lookup, parse, schema, permission, approval, idempotency, rule, reserve, run]


class HandDoor:
    def __init__(self, tools, permissions=("read", "write", "dangerous")):
        self.tools = {item.name: item for item in tools}
        self.permissions, self.ledger = permissions, {}

    def call(self, call, run_id="", approved=None):
        p = SimpleNamespace(call=call, run_id=run_id, approved=approved)
        try:
            for stage in STAGES:
                answer = stage(self, p)
                if answer is not None:
                    return answer
        except ToolError as refusal:
            return failed(refusal.code, str(refusal))

    def approve(self, call, run_id=""):
        p = SimpleNamespace(call=call, run_id=run_id)
        lookup(self, p)
        parse(self, p)
        return digest(p)

# %% [markdown]
# Follow the document from beginning to end: the row before, the answer to the model, the row after.

# %%
desk, tools = open_shop()
by_hand = HandDoor(tools)
print("before:", desk.track_shipment("A101")["priority"])
print(json.dumps(by_hand.call(ToolCall("set_shipment_priority", document, "call_1"), run_id="monday")))
print("after: ", desk.track_shipment("A101")["priority"])

# %% [markdown]
# A document went in, a row changed, a document came back. Now let the stations refuse. **Before you run the next cell:** two of
# these ten calls are answered with `ok`. Which?

# %%
refund = '{"order_id": "A100", "amount": 5}'
yes = by_hand.approve(ToolCall("refund_order", refund, "call_9"), run_id="monday")
tries = [
    ("a wrong name", ToolCall("set_priority", document), None),
    ("broken JSON", ToolCall("set_shipment_priority", document[:-1]), None),
    ("cut off", ToolCall("set_shipment_priority", document[:-1], truncated=True), None),
    ("a wrong field", ToolCall("lookup_order", '{"order": "A101"}'), None),
    ("nobody approved", ToolCall("refund_order", refund), None),
    ("approved for 5, sent 50", ToolCall("refund_order", refund.replace("5", "50")), yes),
    ("approved for 5, sent 5", ToolCall("refund_order", refund, "call_9"), yes),
    ("the order has arrived", ToolCall("set_shipment_priority", document.replace("A101", "A100")), None),
    ("sent again, same id", ToolCall("set_shipment_priority", document, "call_1"), None),
    ("no such order", ToolCall("lookup_order", '{"order_id": "A999"}'), None),
]
answers = [by_hand.call(call, run_id="monday", approved=approved) for _, call, approved in tries]
codes = ["ok" if answer["ok"] else answer["error"]["code"] for answer in answers]
table(zip([what for what, *_ in tries], codes), ["the call", "the door says"])

# %% [markdown]
# The call with the same id got its first answer from the ledger; the tool did not run again. The last one was let in, too: the tool
# ran and found nothing.

# %% [markdown]
# **Why this order?**
#
# - What costs nothing comes first, and nobody is asked to approve a call that does not fit its schema. (A person may still be asked
#   about a call that the rule refuses afterwards.)
# - Permission comes before approval: a person cannot allow what is forbidden here.
# - Idempotency comes before the rule. After a full refund the rule says no, and still the retry must get its first answer.
#   (The retry of an approved call has to bring its yes again: approval comes first.)
# - Reserve comes last before run, so that a refused call leaves no open attempt.

# %% [markdown]
# ## The same piece in agentkit
#
# The package has the same stations under the same names. This is the list of the eight before the tool; run and result follow in
# `Registry`.

# %%
source(_door, only="STAGES")

# %% [markdown]
# Each entry is a function like yours, and `admit` leads a call through them. A station that has nothing to do says `SKIPPED`.

# %%
source(_door.admit)

# %% [markdown]
# Compare one station with yours.

# %%
source(_door.idempotency)

# %% [markdown]
# | yours | agentkit | why |
# |---|---|---|
# | only plain JSON | unwraps fences and double encoding | models write them; failure 1 below |
# | the ledger is a dict | memory, or an SQLite file | a crash must not forget; see *Further* |
# | a yes is a digest | digest with definition, agent and end | a changed tool or an old yes asks again |
# | a new pool for each call | a daemon thread, only with a time-out | a sleeping tool never keeps the program alive |
# | a late answer is lost | it is stored in the ledger | the retry gets it |
# | data as they are | JSON-safe, shortened, masked | failure 6 below |
#
# One contract check fits both doors.

# %%
print(door_contract(HandDoor))
print("agentkit's keeps it too:", door_contract(Registry).passed)

# %% [markdown]
# ### Look
#
# Here are three calls at the package's door. The third is the first once more. **Before you run the next cell:** how far does each of
# them come?
#
# In the panel, play the stations and watch the document. Then change it in the form below and send it again: break it in as many ways as
# you can.

# %%
desk, tools = open_shop()
late = '{"order_id": "A100", "priority": "express"}'
shop_door = Registry(tools)
stations(
    shop_door,
    ToolCall("set_shipment_priority", document, "call_1"),
    ToolCall("set_shipment_priority", late, "call_2"),
    ToolCall("set_shipment_priority", document, "call_1"),
)

# %% [markdown]
# The first reached the end, the second was refused by the rule, and the third was answered from the ledger. Nothing ran for it.
#
# ## What goes wrong
#
# Seven failures from the field, each with its symptom, its cause and its cure.
#
# **1. Not JSON.** *Symptom:* the run ends in `json.loads`. *Cause:* models write more than objects. *Cure:* a fixed treatment for each
# form: what is clear is unwrapped, everything else is refused and explained.

# %%
good = '{"order_id": "A101"}'
forms = {
    "fenced": f"```json\n{good}\n```",
    "double-encoded": json.dumps(good),
    "empty": "",
    "null": "null",
    "a list": '["A101"]',
    "single quotes": "{'order_id': 'A101'}",
    "text around it": f"Sure: {good}",
}


def treated(text):
    result = shop_door.call(ToolCall("lookup_order", text))
    return "runs" if result.ok else f"{result.error.code}: {result.error.message}"


table([[what, treated(text)] for what, text in forms.items()], ["form", "treatment"])

# %% [markdown]
# Empty text and `null` count as "no arguments": right for a tool that takes none, and here the schema says what is missing.
#
# **2. The schema fails, and the model tries for ever.** *Symptom:* the same wrong call, twenty times. *Cause:* the model gets the same
# sentence each time. *Cure:* a **bounded retry**: the model is told once that it may correct the call, then to stop.

# %%
wrong = CallTools("", (ToolCall("lookup_order", {"order": "A101"}),))
stubborn = ScriptedModel([wrong, wrong, FinalAnswer("", "I could not look it up.")])
circling = Agent(stubborn, Registry(tools)).run("Where is A101?")
for step in circling.steps[:2]:
    print(step.results[0].error.code, "-", step.results[0].error.hint)

# %% [markdown]
# The code is the same. The hint is not. A call that is right is never refused because of earlier mistakes.
#
# **3. A program reads the sentence.** *Symptom:* after somebody improves a message, refunds go to the wrong queue. *Cause:* a program
# looked for a word in it. *Cure:* the **code** is the stable part. The sentence may change at any time.

# %%
def queue_by_text(error):
    return "apologise" if "is delivered" in error.message else "ask a colleague"


def queue_by_code(error):
    return "apologise" if error.code == "too_late" else "ask a colleague"


def refusing(sentence):
    @tool
    def change(order_id: str) -> str:
        """Change an order."""
        raise ToolError(sentence, code="too_late")

    return Registry([change]).call(ToolCall("change", {"order_id": "A100"})).error


errors = (refusing("Order A100 is delivered."), refusing("Order A100 has already arrived."))
table([[queue_by_text(error), queue_by_code(error)] for error in errors], ["by text", "by code"])

# %% [markdown]
# **4. A retry that writes twice.** *Symptom:* the customer is paid twice. *Cause:* the first payment timed out, and the call was sent
# again with a new id. *Cure:* the ledger. The bank below is closed until we open it.

# %%
def slow_bank():
    bank = SimpleNamespace(opens=threading.Event())
    desk = orders.open_desk(before=lambda name: name == "refund_order" and bank.opens.wait(5))
    bank.door = Registry([tool(timeout=0.05)(desk.refund_order)])
    bank.paid = lambda: desk.lookup_order("A100")["refunded_amount"]
    return bank


def pay(bank, call_id, run_id):
    """One payment of 100,000, and what the model reads."""
    call = ToolCall("refund_order", {"order_id": "A100", "amount": 100_000}, call_id)
    result = bank.door.call(call, run_id=run_id, approved=True)
    return result.data["refund_id"] if result.ok else result.error.code


def open_bank(bank, answers):
    bank.opens.set()
    for _ in range(500):  # the late answers arrive in other threads; we give up after 5 seconds
        if len(bank.door.late) >= answers:
            return
        threading.Event().wait(0.01)

# %% [markdown]
# Without a run id the door remembers nothing. That is the naive program. **Before you run the next cell:** how much is paid in each of
# the two cases?

# %%
naive, careful = slow_bank(), slow_bank()
print("naive:  ", pay(naive, "call_1", ""), pay(naive, "call_2", ""))
print("careful:", pay(careful, "call_1", "monday"), pay(careful, "call_2", "monday"))
open_bank(naive, 2)
open_bank(careful, 1)
print("paid:   ", naive.paid(), "and", careful.paid())
print("later:  ", pay(careful, "call_3", "monday"), "and still", careful.paid())

# %% [markdown]
# The naive bank paid 200,000. The careful one paid once, and its next try got the answer of the first. (`R002`: the shop already had a
# refund `R001`.)
#
# **5. The list and the call disagree.** *Symptom:* a tool does something else than the one you looked at. *Cause:* its definition changed
# after it was listed. *Cure:* a **fingerprint** of each definition. What differs from the trusted one needs a person.

# %%
yesterday = {item.name: item.fingerprint for item in tools}
reworded = [tool(description="Change the priority, and mail the customer list.")(tools[0]), *tools[1:]]
today = Registry(reworded)
today.trust(yesterday)
refused = today.call(ToolCall("set_shipment_priority", document, "call_1"), run_id="monday")
print(refused.error.code, "-", refused.error.message)
print(today.call(ToolCall("lookup_order", good)).ok)

# %% [markdown]
# The changed tool waits for a person, the others run. `trust()` without arguments trusts the definitions as they are now.
#
# **6. A secret in the log.** *Symptom:* a key stands in a log file that many people read. *Cause:* the program logged the call as it
# was. *Cure:* mask before anything is written down. Compare a log of your own with the registry's **audit log**, the record of what was
# let through and what was refused.

# %%
class Notes:
    def __init__(self):
        self.events = []

    def record(self, event):
        self.events.append(event)


@tool(permission="write")
def link_courier(courier: str, api_key: str) -> str:
    """Link the shop to a courier firm."""
    raise RuntimeError(f"401 for https://courier.example?key={api_key}")


notes = Notes()
linking = ToolCall("link_courier", {"courier": "Fast", "api_key": "a1b2-c3d4-e5f6"}, "call_1")
answer = Registry([link_courier], audit=notes).call(linking)
print("own log:  ", linking.arguments)
print("audit log:", notes.events[0]["event"], notes.events[0]["arguments"])
print("the model:", answer.error.message)

# %% [markdown]
# The field is masked by its name, the error text by its form. Both happen inside the door, so no caller can forget it.
#
# **7. Cut off, and repaired.** *Symptom:* a refund of 25 instead of 250,000. *Cause:* the reply reached its token limit, and a helpful
# library closed the bracket. *Cure:* what is missing is unknown, so a cut call never runs.

# %%
cut = '{"order_id": "A100", "amount": 25'
print("repaired:", json.loads(cut + "}"))
print("the door:", shop_door.call(ToolCall("refund_order", cut, truncated=True), approved=True).content)

# %% [markdown]
# The repaired document fits the schema, and 25 KRW can be refunded. No later check of the program would have noticed.
#
# ### Three failures in one run
#
# The acceptance test of this notebook: one run in which a tool times out, a document fails its schema, and a tool is not permitted. The
# run must go on, and the model must learn about each.

# %%
def busy_desk():
    courier_answers = threading.Event()  # nobody sets it
    desk = orders.open_desk(before=lambda name: name == "track_shipment" and courier_answers.wait(0.5))
    found = [tool(timeout=0.05)(desk.track_shipment), desk.set_shipment_priority, desk.refund_order]
    return desk, Registry(found, permissions=("read", "write"))


first = CallTools("Three at once.", (
    ToolCall("track_shipment", {"order_id": "A101"}),
    ToolCall("set_shipment_priority", {"order_id": "A101", "priority": "fast"}),
    ToolCall("refund_order", {"order_id": "A100", "amount": 250_000}),
))
second = CallTools("I correct one.", (ToolCall("set_shipment_priority", json.loads(document)),))
script = [first, second, FinalAnswer("", "A101 is express now. I may not refund, and could not track it.")]

# %% [markdown]
# **Before you run the next cell:** which three codes will the model read at step 1?

# %%
desk, registry = busy_desk()
eventful = Agent(ScriptedModel(script), registry).run("Make A101 faster, and refund A100.")
rows = [
    [step.number, result.name, "ok" if result.ok else result.error.code]
    for step in eventful.steps for result in step.results
]
row = desk.query_database("SELECT priority FROM shipments WHERE order_id = 'A101'", "production")["rows"]
print(table(rows, ["step", "call", "result"]))
print("the run is", eventful.status, "and the row says", row)
print("what a provider would refuse:", openai_problems(to_openai(eventful.messages)))

# %% [markdown]
# Four calls, four results, one changed row, and a history that a provider accepts.
#
# ### May it be shipped?
#
# A checklist on paper is soon forgotten. This one runs: it tries each line on your registry. In the place of your tools it puts functions
# that do nothing, so nothing is paid or sent.

# %%
shipping_checklist(Registry(orders.make_tools()))

# %% [markdown]
# The help desk of this course is not ready. Five lines say what is missing. We supply it: time-outs, a rule, a ledger and an audit log on
# disk, and trust.

# %%
box = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
desk = orders.open_desk()


def refundable(order_id, amount):
    if desk.lookup_order(order_id)["status"] != "delivered":
        raise ToolError(f"Order {order_id} has not been delivered.", code="not_delivered")


ready_tools = [
    tool(timeout=5.0, rule=refundable if item.name == "refund_order" else None)(item) for item in desk.tools
]
ledger, log = SqliteLedger(Path(box.name) / "ledger.sqlite"), AuditLog(Path(box.name) / "audit.jsonl")
ready = Registry(ready_tools, ledger=ledger, audit=log)
ready.trust()
report = shipping_checklist(ready)
ledger.close()
print(len(report.points), "lines, all hold:", report.passed)

# %% [markdown]
# A line that holds is not a proof. It says that one attempt to break the promise failed. What only you can know (is the rule right, is
# 5 seconds enough?) stays with you.
#
# ## Exercises
#
# Write your code in place of the `...` and run the cell. Stuck? `hint("08.1")` gives a first step, `hint("08.1", 2)` a second, and
# `solution("08.1")` shows ours. 08.5 and 08.6 take more time; they are not in the 45 minutes.
#
# **08.1** Write `key(run_id, tool, arguments)`. Equal calls have equal keys, whatever the order of the arguments; any other call has
# another key. It must be usable as a key of a dict.

# %%
def key(run_id, tool, arguments):
    """What makes two calls the same."""
    ...


check("08.1", key)

# %% [markdown]
# **08.2** Write `arguments_of(text)`. Empty text, white space and `null` give `{}`. A JSON object that is double-encoded or in a
# Markdown fence is unwrapped. Everything else raises a `ValueError`.

# %%
def arguments_of(text):
    """The arguments as a dict. Raises ValueError when they are not a JSON object."""
    ...


check("08.2", arguments_of)

# %% [markdown]
# **08.3** Write the rule `may_refund(order, amount)`. `order` has `order_id`, `status`, `amount` and `refunded_amount`. An order that is
# not `"delivered"` is refused with the code `not_delivered`. A refund of more than what is left is refused with `too_much`. The status
# comes first. Each refusal has a sentence of a few words for the model.

# %%
def may_refund(order, amount):
    """Raises ToolError when this refund is not allowed."""
    ...


check("08.3", may_refund)

# %% [markdown]
# **08.4** One reply may hold several calls. Write `waves(kinds)`: for `["read", "read", "write"]` it returns `[[0, 1], [2]]`, the
# positions of the calls in groups that may run at the same time. Neighbouring reads run together, everything else alone, and no call may
# pass another one.

# %%
def waves(kinds):
    """Groups of positions: neighbouring reads together, every other call alone."""
    ...


check("08.4", waves)

# %% [markdown]
# **08.5** Write `once(ledger, key, call_id, run)`. `ledger` is a dict that you may fill as you like. It returns
# `{"ok": True, "data": run()}` or `{"ok": False, "code": …}`: `timeout` when `run` raises `TimeoutError`, `tool_failed` for any other
# exception, `unknown_outcome` when an equal call is still open. The same id gets the first answer; a new id after a known outcome runs.

# %%
def once(ledger, key, call_id, run):
    """Run it once for each wish; a retry gets the first answer."""
    ...


check("08.5", once)

# %% [markdown]
# **08.6, open.** Make a registry that you would ship: with a write or dangerous tool of your own, on which every line of
# `shipping_checklist` holds.

# %%
my_registry = ...

check("08.6", my_registry)

# %% [markdown]
# ### Quiz
#
# Answer with three letters, for example `quiz("08", "a", "b", "c")`.

# %%
quiz("08")

# %% [markdown]
# ## Recap
#
# - A document passes ten stations; the panel says where it stopped and the code says why: *Build it by hand*, *Look*.
# - The order has reasons: cheap first, ask before you act, a retry is answered before the rule, reserve before you run: *Why this order?*
# - Seven failures, seven cures: *What goes wrong*, exercises 08.2 to 08.5.
# - A checklist that runs says what is missing: *May it be shipped?*, exercise 08.6.
#
# **Next:** 09, context engineering. Every result is now clean and safe. After fifty steps they no longer fit into what the model can read.

# %% [markdown]
# ## Further
#
# Three more things that the door does. They are not in the 45 minutes.
#
# ### Reads side by side, writes in order
#
# One reply holds seven calls. Our clock does not measure seconds. It ticks only when as many calls are inside as we expect at the same
# time: three reads, one write, one write, two reads. If the registry ran the reads one by one, the clock would never tick.

# %%
class Clock:
    def __init__(self, together):
        self.now, self.waiting = 0, [threading.Barrier(count, action=self.tick) for count in together]

    def tick(self):
        self.now += 1

    def spend(self):
        start = self.now
        self.waiting[start].wait(5)
        return start, start + 1


def busy_tools(clock):
    def look(what: str) -> list:
        """Look something up."""
        return list(clock.spend())

    def change(what: str) -> list:
        """Change something."""
        return list(clock.spend())

    return [tool(look), tool(permission="write")(change)]

# %% [markdown]
# The bars show from when to when each call ran, in ticks.

# %%
asked = ["look", "look", "look", "change", "change", "look", "look"]
calls = [ToolCall(name, {"what": f"number {n}"}, f"call_{n}") for n, name in enumerate(asked, 1)]
done = Registry(busy_tools(Clock([3, 1, 1, 2]))).call_all(calls, run_id="monday")
rows = [[r.call_id, r.name, *r.data, "░░░░" * r.data[0] + "████"] for r in done]
table(rows, ["call", "tool", "from", "to", "time"])

# %% [markdown]
# Seven calls took four ticks. The last two reads waited for the writes, because they may look at what was changed. Your `waves` of
# exercise 08.4 is the plan behind this picture.
#
# ### An approval is a document, too
#
# A paused run lists the calls that wait. It is JSON, so a web page can show it and send back a verdict.

# %%
whole = {"order_id": "A100", "amount": 250_000}
payout = CallTools("The customer asked.", (ToolCall("refund_order", whole),))
now = SimpleNamespace(seconds=1_000.0)


def refund_agent():
    script = ScriptedModel([payout, FinalAnswer("", "Done.")])
    return Agent(script, Registry(orders.make_tools(), clock=lambda: now.seconds), ids=lambda: "monday")


waiting = refund_agent().run("Refund A100.")
print(json.dumps({"status": waiting.status, "waits": [asdict(call) for call in waiting.pending]}))

# %% [markdown]
# Three verdicts are possible: approve, deny with a reason, or edit, which approves other arguments.

# %%
for verdict in (True, "Not without a receipt.", {"order_id": "A100", "amount": 50_000}):
    ended = refund_agent().resume(waiting, approvals={"call_1": verdict})
    result = ended.steps[0].results[0]
    print(json.dumps(verdict), "->", result.data["refunded_amount"] if result.ok else result.error.code)

# %% [markdown]
# The verdict becomes an `Approval`: a value that is bound to the run, the tool and its definition, and the exact arguments, and that
# ends. **Before you run the next cell:** which of the four calls runs?

# %%
door = Registry(orders.make_tools(), clock=lambda: now.seconds, approval_seconds=60)
seen_by_kim = ToolCall("refund_order", {"order_id": "A100", "amount": 5_000}, "call_1")
now.seconds = 1_000.0
yes = door.approve(seen_by_kim, run_id="monday", by="Kim")


def tried(call, run_id="monday", at=1_000.0):
    now.seconds = at
    result = door.call(call, run_id=run_id, approved=yes)
    return "runs" if result.ok else result.error.code


print("other amount:  ", tried(ToolCall("refund_order", {"order_id": "A100", "amount": 9_000}, "call_1")))
print("another run:   ", tried(seen_by_kim, run_id="tuesday"))
print("a minute later:", tried(seen_by_kim, at=1_060.0))
print("as Kim saw it: ", tried(seen_by_kim), f"(valid until {yes.until:g}, by {yes.by})")

# %% [markdown]
# ### A ledger that survives
#
# The worst moment to crash is between "I am about to pay" and "it was paid". A ledger in memory forgets both. `SqliteLedger` writes the
# first to disk before the tool runs.
#
# We cannot kill this notebook, so we interrupt the payment in the middle. The attempt is then as a killed process leaves it: reserved,
# without an outcome. (The tests of the package kill a real process.)

# %%
folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
book = Path(folder.name) / "ledger.sqlite"


@tool(permission="write")
def pay_courier(amount: int) -> str:
    """Pay the courier firm."""
    raise KeyboardInterrupt  # the power goes out here


before = SqliteLedger(book)
try:
    call = ToolCall("pay_courier", {"amount": 900}, "call_1")
    Registry([pay_courier], ledger=before).call(call, run_id="monday")
except KeyboardInterrupt:
    before.close()
    print("The process is gone.")

# %% [markdown]
# A new process opens the same file and sends the same call. **Before you run the next cell:** does it pay?

# %%
paid = []


@tool(name="pay_courier", permission="write")
def pay_courier_again(amount: int) -> str:
    """Pay the courier firm."""
    paid.append(amount)
    return "paid"


after = SqliteLedger(book)
second_try = Registry([pay_courier_again], ledger=after).call(call, run_id="monday")
doubts = after.in_doubt()
after.close()
print(second_try.error.code, "-", second_try.error.hint)
print("paid:", paid, "- in doubt:", doubts)

# %% [markdown]
# It does not pay, and it says why. `in_doubt` lists what a person should look into. The program cannot know whether the money has left.
# It can only refuse to guess.
