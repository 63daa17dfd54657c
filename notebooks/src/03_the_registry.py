# %% [markdown]
# # 03 · The registry
#
# A model writes whatever it likes. Here you build the one door through which its calls reach your code, so that every call
# gets an answer. **45 minutes** without the part *Further*. Builds on 02 (tools). Adds to `agentkit`: `Registry`.
#
# **By the end you can**
#
# - answer any call that a model writes with a result, never with an exception;
# - read the same tool in the forms of OpenAI, Anthropic and MCP, say what differs, and rewrite one form as another;
# - notice from a fingerprint that a set of tools has changed;
# - name the stages that a call passes, and read the error code of the stage that refused it.

# %%
import difflib
import hashlib
import json
import re  # for exercise 03.5
import threading

from agentkit import Registry, ToolCall, ToolError, _door, tool
from agentkit.checks import check, hint, quiz, registry_contract, solution
from agentkit.show import source, table
from agentkit.widgets import registry_explorer
from agentkit.worlds import orders

# %% [markdown]
# ## See it fail
#
# Three plain functions of a shop. The first knows two orders, the second computes a price, the third depends on a courier
# firm that is closed today.

# %%
AMOUNTS = {"A100": 250_000, "A101": 480_000}


def order_amount(order_id: str) -> int:
    """Amount of one order, in KRW."""
    return AMOUNTS[order_id]


def parcel_price(kilos: int, express: bool = False) -> int:
    """Price of sending one parcel, in KRW."""
    return kilos * (5_000 if express else 3_000)


def book_courier(day: str) -> str:
    """Book a courier for one day."""
    raise RuntimeError("the courier firm is closed")


# %% [markdown]
# The obvious way to let a model use them is a dict from names to functions. A model writes a name and arguments, and the
# program calls the function.

# %%
functions = {"order_amount": order_amount, "parcel_price": parcel_price, "book_courier": book_courier}
written_by_a_model = [
    ("order_amount", {"order_id": "A100"}),
    ("order_amuont", {"order_id": "A100"}),
    ("order_amount", {"order": "A100"}),
    ("book_courier", {"day": "2026-10-14"}),
    ("parcel_price", {"kilos": "3"}),
]

# %% [markdown]
# All five are calls as models really write them. **Before you run the next cell:** how many of the five give a useful
# answer?

# %%
for name, arguments in written_by_a_model:
    try:
        answer = functions[name](**arguments)
    except Exception as error:
        answer = f"the program ends here with {type(error).__name__}"
    print(f"{name:13} {str(answer)[:45]}")

# %% [markdown]
# One. Three calls raise. Without our `try`, each of them ends the whole run, and the model never learns what it did wrong.
#
# The last call is the worst of all, because it does not fail. Python multiplies the text `"3"` by 3,000.

# %%
len(parcel_price("3"))

# %% [markdown]
# The price is a text of 3,000 digits. An agent would put it into its answer.
#
# ## Build it by hand
#
# A **registry** is the contract between a model and your code. It knows every tool by its name, it checks each call, and it
# answers each call with a **result**: a value that says either "ok, here are the data" or "error, here is why".

# %%
def ok(data):
    return {"ok": True, "data": data}


def failed(code, message):
    return {"ok": False, "error": {"code": code, "message": message}}


ok(250_000), failed("unknown_tool", "There is no tool 'order_amuont'.")

# %% [markdown]
# The two readers of an error need different things. A program reads the **code**, a short word that never changes. The
# model reads the **message**, a sentence that says what to do next.
#
# **Look-up.** An unknown name is a common mistake. Names are often nearly right, so we suggest the nearest one.

# %%
def unknown(name, known):
    near = difflib.get_close_matches(name, known, n=1)
    guess = f" Did you mean {near[0]!r}?" if near else ""
    names = ", ".join(known)
    return failed("unknown_tool", f"There is no tool {name!r}.{guess} The tools are: {names}.")


unknown("order_amuont", functions)

# %% [markdown]
# A model that reads this sentence writes the right name next. A `KeyError` would have told nobody anything.
#
# **Check.** In notebook 02 a function became a tool. A tool brings its own check: `validate` takes the arguments as the
# model wrote them and gives back arguments of the right types.

# %%
price_tool = tool(parcel_price)
price_tool.validate({"kilos": "3"})

# %% [markdown]
# The text `"3"` became the number 3, and `express` got its default. So the silent nonsense is gone. When arguments do not
# fit, `validate` raises, and the exception is a sentence.

# %%
def checked(item, arguments):
    try:
        return item.validate(arguments), None
    except Exception as problem:
        return None, failed("bad_arguments", str(problem))


checked(price_tool, {"kilo": 3})

# %% [markdown]
# **Run.** The tool itself may raise. We report only the kind of the exception. Its text was written for a programmer, and
# as you will see below it can hold things that a model must not read.

# %%
def run(item, keywords):
    try:
        return ok(item.function(**keywords))
    except Exception as error:
        return failed("tool_failed", f"{item.name} failed with {type(error).__name__}.")


run(tool(book_courier), {"day": "2026-10-14"})

# %% [markdown]
# The three steps together are a registry.

# %%
class HandRegistry:
    """Tools by name. Every call gets a result."""

    def __init__(self, tools):
        self.tools = {item.name: item for item in tools}

    def call(self, name, arguments):
        if name not in self.tools:
            return unknown(name, self.tools)
        keywords, problem = checked(self.tools[name], arguments)
        if problem:
            return problem
        return run(self.tools[name], keywords)


by_hand = HandRegistry([tool(order_amount), tool(parcel_price), tool(book_courier)])

# %% [markdown]
# **Before you run the next cell:** the same five calls as at the beginning. How many are `ok` now?

# %%
for name, arguments in written_by_a_model:
    result = by_hand.call(name, arguments)
    print(f"{name:13} {result['data'] if result['ok'] else result['error']['message']}")

# %% [markdown]
# Two are ok, and the other three tell the model what is wrong. Nothing was raised.
#
# ### One tool, four forms
#
# The registry has a second task. Each provider wants the list of tools in a form of its own. Here is OpenAI's, for its chat
# interface.

# %%
registry = Registry([order_amount, parcel_price])
registry.openai()[0]

# %% [markdown]
# Name, description and schema: all that notebook 02 put into a tool. The schema is already the strict one. Anthropic takes
# the same three things under other keys.

# %%
registry.anthropic()[0]

# %% [markdown]
# There are two more forms: OpenAI's newer *responses* interface, and **MCP** (Model Context Protocol), the common language
# of tool servers (later in the course). To see the differences at a glance, we note where each thing stands in each form.
# `function.name` means: under the key `function`, the key `name`.

# %%
MEANING = {"parameters": "the schema", "input_schema": "the schema", "inputSchema": "the schema"}


def places(form, before=""):
    """For each thing in a form: under which keys it stands."""
    paths = {}
    for key, value in form.items():
        if isinstance(value, dict) and key not in MEANING:
            paths.update(places(value, f"{before}{key}."))
        else:
            paths[MEANING.get(key, key)] = before + key
    return paths


places(registry.openai()[0])

# %% [markdown]
# Now the same for all four forms, side by side. An empty cell means that the form does not have it.

# %%
forms = [registry.openai("chat"), registry.openai("responses"), registry.anthropic(), registry.mcp()]
columns = [places(tools_in_form[0]) for tools_in_form in forms]
rows = ["type", "name", "description", "the schema", "strict", "readOnlyHint", "destructiveHint"]
table(
    [[row, *(column.get(row, "") for column in columns)] for row in rows],
    ["what", "OpenAI chat", "OpenAI responses", "Anthropic", "MCP"],
)

# %% [markdown]
# Name and description are called the same everywhere. Three things differ: the wrapping (only OpenAI has `type`, only its
# chat form has `function`), the key of the schema, and the extras. MCP also says whether a tool only reads, and it sends
# the schema as it is, not in its strict form.

# %% [markdown]
# ### The fingerprint
#
# You tested your agent with certain tools. Are they still the same today? A description may have been edited. A tool server
# may offer other tools since yesterday. A **fingerprint** is a short text, computed from all tools, that changes when they
# change.
#
# The first attempt: write the tools down as JSON, and take a **hash** of it: a text of fixed length that depends on every
# letter. We keep its first 16 digits and letters; it is a **hexadecimal** number, whose digits are 0 to 9 and a to f.

# %%
schema = {"type": "object", "properties": {}}
order_spec = {"name": "order_amount", "description": "Amount of one order.", "parameters": schema}
price_spec = {"name": "parcel_price", "description": "Price of one parcel.", "parameters": schema}


def first_attempt(specs):
    return hashlib.sha256(json.dumps(specs).encode("utf-8")).hexdigest()[:16]


first_attempt([order_spec, price_spec])

# %% [markdown]
# **Before you run the next cell:** the same two tools in the other order. Is the fingerprint the same?

# %%
first_attempt([price_spec, order_spec]) == first_attempt([order_spec, price_spec])

# %% [markdown]
# It is not, although nothing changed that matters. An alarm that rings for nothing is soon ignored. So we bring the tools,
# and the keys inside them, into a fixed order before we hash.

# %%
def fingerprint(specs):
    texts = sorted(json.dumps(spec, sort_keys=True, ensure_ascii=False) for spec in specs)
    return hashlib.sha256("\n".join(texts).encode("utf-8")).hexdigest()[:16]


reworded = {**price_spec, "description": "Price of two parcels."}
both = fingerprint([order_spec, price_spec])
print("same after other order:      ", fingerprint([price_spec, order_spec]) == both)
print("same after other description:", fingerprint([order_spec, reworded]) == both)

# %% [markdown]
# `Registry.fingerprint` does the same, and it counts the **permission** of a tool too: the kind of tool that it is,
# `read`, `write` or `dangerous`. We change one thing at a time and compare.

# %%
base = [tool(order_amount), tool(parcel_price)]
changed = {
    "the order": base[::-1],
    "a name": [base[0], tool(name="price")(parcel_price)],
    "a description": [base[0], tool(description="Price of a parcel.")(parcel_price)],
    "the permission": [base[0], tool(permission="write")(parcel_price)],
    "one tool more": [*base, tool(book_courier)],
}
before = Registry(base).fingerprint()
rows = [[what, Registry(tools).fingerprint() == before] for what, tools in changed.items()]
table(rows, ["changed", "same fingerprint"])

# %% [markdown]
# Notice what is *not* in it: the code of the functions. The fingerprint says that the contract is the same, not that the
# tool still does what it promises.
#
# ## The same piece in agentkit
#
# The package has the same three steps, and more of them. This is the door.

# %%
source(Registry.call)

# %% [markdown]
# `admit` lets a call in or refuses it, `_run` runs it, `_result` and `_failed` make the result. A **passage** is one call on
# its way through the door. The checks are small functions, the **stages**, in a fixed order.

# %%
print([stage.__name__ for stage in _door.STAGES])
source(_door.schema)

# %% [markdown]
# The first four you have built. The others wait for notebook 08: a person's approval, calls that were made before, rules of
# the business, and a note that a call is about to run.

# %% [markdown]
# | yours | agentkit | why |
# |---|---|---|
# | arguments are a dict | arguments may be text | a model writes text; parsing it can fail |
# | every tool may run | permission and approval | some calls need a person |
# | a call runs at once | writes are remembered | a retry must not write twice |
# | waits for ever | a time-out, when a tool has one | a slow tool must not stop the agent |
# | data as they are | JSON-safe, capped, masked | see *What goes wrong* and *Further* |
# | the kind of an exception | often its text too, masked | the text can be a good hint |
#
# One **contract check** fits both. It tries seven promises on any registry.

# %%
registry_contract(HandRegistry)

# %% [markdown]
# And on the package's own:

# %%
registry_contract(Registry)

# %% [markdown]
# ### Every error code, once
#
# A call passes these **stages** in this order. The first that refuses it gives the error code.
#
# 1. look-up of the tool: is there a tool of this name?
# 2. parse: are the arguments a JSON object?
# 3. schema: do they fit the tool?
# 4. permission: may this kind of tool run in this registry?
# 5. approval: has a person said yes to this call, if the tool needs that?
# 6. idempotency look-up: is it the retry of a write that has not answered yet? (see *Further*)
# 7. run with time-out: does the tool answer in time?
# 8. result: the data become JSON.

# %% [markdown]
# You now produce the errors with real calls. These two tools do more than read.

# %%
@tool(permission="write")
def cancel_order(order_id: str) -> str:
    """Cancel one order."""
    return f"{order_id} is cancelled"


@tool(permission="dangerous")
def refund(order_id: str, amount: int) -> str:
    """Pay money back."""
    return f"paid {amount}"


# %% [markdown]
# A **dangerous** tool is one whose effect cannot be taken back. Each call of it needs the **approval** of a person. The
# registry below allows reading and dangerous tools, but no writing.
#
# **Before you run the next cell:** go through the six calls. At which stage of the list does each of them stop?

# %%
door = Registry([parcel_price, cancel_order, refund], permissions=("read", "dangerous"))
calls = [
    ToolCall("parcel_cost", {"kilos": 3}),
    ToolCall("parcel_price", "three kilos"),
    ToolCall("parcel_price", '{"kilos": 3, "exp', truncated=True),
    ToolCall("parcel_price", {"kilos": "three"}),
    ToolCall("cancel_order", {"order_id": "A100"}),
    ToolCall("refund", {"order_id": "A100", "amount": 500}),
]
errors = [door.call(call).error for call in calls]
table(
    [[call.name, error.code, error.message] for call, error in zip(calls, errors, strict=True)],
    ["call", "code", "message for the model"],
)

# %% [markdown]
# One call stops at the look-up of the tool, two at parse, and one each at schema, permission and approval. None of the
# tools ran. The other errors come from a tool that does run. `ToolError` is the exception by which a tool speaks to the
# model in its own words, with a code of its own if it likes.

# %%
@tool
def find_order(order_id: str) -> str:
    """Find one order. Fails with not_found when there is none."""
    raise ToolError(f"There is no order {order_id}.", code="not_found", hint="Ask the customer.")


@tool
def find_customer(name: str) -> str:
    """Find one customer by name."""
    raise ToolError(f"More than one customer is called {name}.")


warehouse_opens = threading.Event()  # nobody opens the warehouse


@tool(timeout=0.05)
def warehouse_stock(item: str) -> int:
    """Pieces of one item in the warehouse."""
    warehouse_opens.wait(1)
    return 12


# %% [markdown]
# And `book_courier` from the beginning, which raises a `RuntimeError`.

# %%
running = Registry([find_order, find_customer, warehouse_stock, book_courier])
calls = [
    ToolCall("warehouse_stock", {"item": "cable"}),
    ToolCall("find_order", {"order_id": "A999"}),
    ToolCall("find_customer", {"name": "Kim"}),
    ToolCall("book_courier", {"day": "2026-10-14"}),
]
errors = [running.call(call).error for call in calls]
table(
    [[call.name, error.code, error.message] for call, error in zip(calls, errors, strict=True)],
    ["call", "code", "message for the model"],
)

# %% [markdown]
# `not_found` is the tool's own code; a `ToolError` without one gets `tool_error`; any other exception gets `tool_failed`.
# Two more codes do not come from a call of the registry but from the loop: `denied` when a person refuses, `cancelled` when
# a run is interrupted.
#
# With approval the refund runs. Notebook 05 shows how a person gives it.

# %%
refund_call = ToolCall("refund", {"order_id": "A100", "amount": 500})
print(door.needs_approval(refund_call))
print(door.call(refund_call, approved=True).content)

# %% [markdown]
# `content` is the observation as the model reads it: one line of JSON.
#
# ### Call any tool by hand
#
# The schema of a tool is enough to make a form from it. The explorer shows every tool of the shop's help desk. Choose one,
# fill in the form, and press *Call*. Try an order code that does not exist, and one with two digits. The stored page shows
# the list and the schemas; the form needs a live notebook.

# %%
registry_explorer(Registry(orders.tools))

# %% [markdown]
# ## What goes wrong
#
# **Arguments that are not quite JSON.** *Symptom:* the run ends in `json.loads`, or a tool gets a text where it expects
# an object. *Cause:* models write nothing at all, `null`, JSON inside a text, or JSON in a Markdown fence. *Cure:* unwrap
# what is clear, refuse the rest.

# %%
good = '{"kilos": 3}'
written = ["", "null", good, json.dumps(good), f"```json\n{good}\n```", "[3]", "{'kilos': 3}"]


def plain_parse(text):
    try:
        return type(json.loads(text)).__name__
    except ValueError as error:
        return type(error).__name__


def through_the_door(text):
    result = registry.call(ToolCall("parcel_price", text))
    return result.data if result.ok else result.error.message


rows = [[text, plain_parse(text), through_the_door(text)] for text in written]
table(rows, ["written", "json.loads", "the registry"])

# %% [markdown]
# Only one of the seven is an object for `json.loads`. The registry runs three of them and explains the other four. Empty
# text and `null` count as "no arguments", which is right for a tool that takes none.
#
# **Cut-off JSON, run as `{}`.** *Symptom:* a tool runs with its defaults although the model wrote something else. *Cause:*
# the model reached its token limit in the middle of a call, and somebody "repaired" the text.

# %%
def empty_cart(older_than_days: int = 0) -> str:
    """Remove items from the cart that are older than some days."""
    return f"removed everything older than {older_than_days} days"


def repairing(text):
    try:
        return json.loads(text)
    except ValueError:
        return {}  # the mistake


print(empty_cart(**repairing('{"older_than_days": 30')))

# %% [markdown]
# The model meant 30 days, and everything was removed. *Cure:* what is missing is unknown, so such a call is never run. The
# provider says when it cut a reply; that becomes `truncated`.

# %%
cart = Registry([empty_cart])
print(cart.call(ToolCall("empty_cart", '{"older_than_days": 30')).content)
print(cart.call(ToolCall("empty_cart", '{"older_than_days": 30', truncated=True)).content)

# %% [markdown]
# **A secret in an exception.** *Symptom:* a password stands in the history, and with it in the logs and in the next request
# to a provider. *Cause:* libraries write addresses and headers into their error texts, and the text was sent on. *Cure:*
# the registry masks what looks like a secret, in errors and in data.

# %%
def sales_report(month: str) -> str:
    """Sales of one month."""
    raise RuntimeError("cannot connect to db://report:spring-2026@db.example?token=a1b2c3d4e5")


report = Registry([sales_report]).call(ToolCall("sales_report", {"month": "2026-09"}))
report.error.message

# %% [markdown]
# Masking knows only the usual forms of secrets. Keep them out of error texts in the first place.
#
# ## Exercises
#
# Write your code in place of the `...` and run the cell. Stuck? `hint("03.1")` gives a first step, `hint("03.1", 2)` a
# second, and `solution("03.1")` shows ours. 03.5 and 03.6 take more time; they are not in the 45 minutes.
#
# **03.1** Write `nearest(name, known)`. It returns the known name that is nearest to a misspelled one, or `None` when none
# is near. Upper and lower case do not matter.

# %%
def nearest(name, known):
    """The known name nearest to this one, or None."""
    ...


check("03.1", nearest)

# %% [markdown]
# **03.2** Write `to_anthropic_tool(chat_tool)`. It takes one tool in the form of OpenAI's chat interface and returns it in
# the form of Anthropic: name, description and schema. The tool that was given must stay as it is.

# %%
def to_anthropic_tool(chat_tool):
    """The same tool in Anthropic's form."""
    ...


check("03.2", to_anthropic_tool)

# %% [markdown]
# **03.3** Write `safe_call(tools, name, arguments)`. `tools` is a dict from names to tools with `validate` and `function`.
# It returns a result as a dict and never raises, whatever the arguments are and whatever the tool does. The check is the
# contract above, and some stranger arguments.

# %%
def safe_call(tools, name, arguments):
    """{"ok": True, "data": …} or {"ok": False, "error": {"code": …, "message": …}}."""
    ...


check("03.3", safe_call)

# %% [markdown]
# **03.4** Write `tool_fingerprint(specs)`. `specs` is a list of dicts with `name`, `description` and `parameters`. The
# order of the list and of the keys must not matter; every other change must. It must be the same tomorrow, in another
# Python process.

# %%
def tool_fingerprint(specs):
    """A short text that changes when a tool does."""
    ...


check("03.4", tool_fingerprint)

# %% [markdown]
# **03.5** Write `masked(text)`. It replaces the value after `password=`, `token=` and `key=` by `[secret]`. A value ends at
# white space or at one of `& , ;`. Everything else stays.

# %%
def masked(text):
    """The text without the values of passwords, tokens and keys."""
    ...


check("03.5", masked)

# %% [markdown]
# **03.6, open.** What is the strangest call that a model could write? Give a list of at least eight different `ToolCall`s
# for the tools `parcel_price`, `order_amount` and `book_courier`. The check hands them to a registry: every answer must be a
# `ToolResult`, and your list must produce at least four different error codes. If you make the registry raise, you have
# found a fault in it. Please report it.

# %%
strange_calls = ...

check("03.6", strange_calls)

# %% [markdown]
# ### Quiz
#
# Answer with three letters, for example `quiz("03", "a", "b", "c")`.

# %%
quiz("03")

# %% [markdown]
# ## Recap
#
# - Any call gets a result: look up, check, run, and turn each failure into a code and a sentence: *Build it by hand*.
# - The same tool has four forms; the wrapping, the key of the schema and the extras differ: *One tool, four forms*,
#   exercise 03.2.
# - The fingerprint changes with names, descriptions, schemas and permissions, not with their order: *The fingerprint*.
# - A call passes look-up of the tool, parse, schema, permission, approval, idempotency look-up, run and result; the error
#   code tells where it stopped: *Every error code, once*.
#
# **Next:** 04, memory. Every call has its result now. Which of them does the model still see after fifty steps?

# %% [markdown]
# ## Further
#
# Four more things that a registry does. They are not in the 45 minutes.
#
# ### Names that a provider accepts
#
# OpenAI and Anthropic accept only letters, digits, `_` and `-` in a name, 64 at most. A tool with another name would make
# the whole request fail.

# %%
@tool(name="calendar.search")
def search_calendar(day: str) -> list:
    """Entries of one day in the calendar."""
    return [f"{day}: delivery"]


calendar = Registry([search_calendar])
wire_name = calendar.openai()[0]["function"]["name"]
wire_name

# %% [markdown]
# The registry sends a name that is allowed. The digits at the end come from the old name, so two different names never
# become the same one. The model will call the new name, and the registry knows which tool is meant.

# %%
result = calendar.call(ToolCall(wire_name, {"day": "2026-10-14"}))
result.name, result.data

# %% [markdown]
# ### A retry that meets its first try
#
# A write timed out. Did it happen? Nobody knows, so the model tries again. That can charge a customer twice.
# **Idempotency** means that doing something twice has the effect of doing it once. Here is a payment that is too slow at
# first.

# %%
def slow_payment():
    bank_opens, paid = threading.Event(), []

    @tool(permission="write", timeout=0.05)
    def charge(order_id: str, amount: int) -> str:
        """Charge a customer for an order."""
        bank_opens.wait(5)
        paid.append(order_id)
        return f"payment number {len(paid)}"

    return Registry([charge]), bank_opens, paid


bank, bank_opens, paid = slow_payment()
bill = {"order_id": "A100", "amount": 250_000}
first = bank.call(ToolCall("charge", bill, "call_1"), run_id="monday")
first.error.message, first.error.hint

# %% [markdown]
# The registry gave up waiting, but the payment still waits for the bank. Now the bank opens, and the answer comes late.
# Nobody waits for it any more, so the registry keeps it in `late`.

# %%
bank_opens.set()
for _ in range(500):
    if bank.late:
        break
    # The answer arrives in another thread. We look for it every 0.01 seconds, and give up after 5 seconds.
    threading.Event().wait(0.01)
print(bank.late[0].content)

# %% [markdown]
# **Before you run the next cell:** the model retries the same call. How many payments will there be, one or two?

# %%
again = bank.call(ToolCall("charge", bill, "call_2"), run_id="monday")
print(again.content)
print("payments:", len(paid))

# %% [markdown]
# One. The retry met its first try and got its answer. The registry recognises a retry by the run, the tool and the
# arguments, and only as long as the outcome was unknown. From now on the outcome is known, so the next equal call is a new
# wish. Without a `run_id` nothing is remembered; the loop of notebook 05 always gives one.

# %%
third = bank.call(ToolCall("charge", bill, "call_3"), run_id="monday")
print(third.content)
print("payments:", len(paid))

# %% [markdown]
# ### Values that JSON does not have
#
# *Symptom:* the run ends while the result is written, or a server refuses the request.
# *Cause:* tools return bytes, NaN, sets, generators, or two million characters. *Cure:* make every result JSON-safe and cap
# its size, with a note.

# %%
def generator():
    yield from (1, 2, 3)


VALUES = {
    "bytes": lambda: b"\xff\xd8\xff",
    "nan": lambda: float("nan"),
    "set": lambda: {3, 1, 2},
    "generator": generator,
    "rows": lambda: [{"row": number, "text": "x" * 200} for number in range(9_000)],
}
made = [tool(name=name, description="Returns it.")(make) for name, make in VALUES.items()]
strange_values = Registry(made)

# %% [markdown]
# The left column shows what `json.dumps` makes of each value, the right one what the registry gives to the model. `rows` is
# about two million characters long.

# %%
def plain_dump(make):
    try:
        text = json.dumps(make())
        return text if len(text) < 40 else f"{len(text):,} characters"
    except (TypeError, ValueError) as error:
        return type(error).__name__


def short_answer(name):
    result = strange_values.call(ToolCall(name))
    return result.note or json.dumps(result.data)


rows = [[name, plain_dump(make), short_answer(name)] for name, make in VALUES.items()]
table(rows, ["value", "json.dumps", "registry"])

# %% [markdown]
# Look at `nan`. `json.dumps` writes `NaN` without quotes, which is not JSON, and the fault appears later, at the provider.
# The registry sends the text `"NaN"` in quotes.
#
# ### Reads run side by side
#
# One reply may hold several calls. Independent reads can run at the same time; writes run one
# after another. The barrier below opens only when three calls are inside it at the same time, so this cell proves that they
# were.

# %%
meeting = threading.Barrier(3, timeout=5)


def shop_stock(shop: str) -> str:
    """Stock of one shop."""
    meeting.wait()
    return f"{shop}: open"


shops = Registry([shop_stock])
three = [ToolCall("shop_stock", {"shop": name}, f"call_{name}") for name in ("north", "south", "west")]
[result.data for result in shops.call_all(three)]
