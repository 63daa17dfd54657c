# %% [markdown]
# # 02 · Tools
#
# A model can only write. A **tool** is a function of yours that it may ask for in writing. Here you turn functions into
# tools, and you learn to describe them so that the right one is chosen. **45 minutes**; what is marked *Further* takes
# about 45 more. Builds on 01 (what is an agent). Adds to `agentkit`: `@tool`.

# %% [markdown]
# **By the end you can**
#
# - turn a Python function into a tool: name, description, schema, and a call that is checked;
# - give a schema its strict form, and say when it has none;
# - write a description that a model chooses, and say why a vague one is not;
# - make failure a part of a tool: what it refuses, and what it says then.

# %%
import ast
import inspect
import math
import operator
import time
from dataclasses import dataclass
from typing import Annotated, Literal

import matplotlib.pyplot as plt
from pydantic import BaseModel, Field, ValidationError, create_model

from agentkit import Agent, DefinitionError, Message, OfflineModel, Registry
from agentkit import ToolCall, ToolError, get_model, tool
from agentkit import tools as agentkit_tools
from agentkit.checks import check, hint, quiz, solution, tool_contract
from agentkit.show import bars, source, table

# %% [markdown]
# ## See it fail
#
# A question about a shop, to an agent without any tool.

# %%
question = "How many lamps are left in the Jongno shop?"
Agent(get_model(), []).run(question)

# %% [markdown]
# The agent invents nothing, and it has no answer. How could it? The number stands in a system of the shop, and no model was
# trained on that. In Python the answer is one call away.

# %%
STOCK = {("lamp", "Mapo"): 12, ("lamp", "Jongno"): 5, ("desk", "Mapo"): 0, ("desk", "Jongno"): 2}


def shop_stock(item: Literal["lamp", "desk"], shop: Literal["Mapo", "Jongno"] = "Mapo") -> int:
    """Pieces of one item that are left in one shop."""
    return STOCK[item, shop]


shop_stock("lamp", "Jongno")

# %% [markdown]
# Between this function and the model is a wall. The model cannot see Python objects. It reads text and writes text.
#
# ## Build it by hand
#
# So we need two things: a text that tells the model about the function, and a way to turn the text that the model writes
# back into a call. The first part of the text is the **name** of the tool. The function has one.

# %%
shop_stock.__name__

# %% [markdown]
# The second is the **description**: what the tool does, in words. It is most of what a model knows when it chooses. The
# docstring is the natural place for it.

# %%
inspect.getdoc(shop_stock)

# %% [markdown]
# The third part says what arguments the tool takes. **Pydantic** is a library that describes data by classes and checks
# them. We write the parameters down as such a class.

# %%
class StockArguments(BaseModel):
    item: Literal["lamp", "desk"]
    shop: Literal["Mapo", "Jongno"] = "Mapo"


schema = StockArguments.model_json_schema()
schema["type"]

# %% [markdown]
# `schema` is a **JSON Schema**: a description of JSON data, itself written in JSON. Every provider of models understands
# at least a part of it. The type is `object`, because a call has named arguments. Look at its other parts, one at a time.

# %%
schema["properties"]["item"]

# %% [markdown]
# An **enum** lists all the values that are allowed. The model need not guess how the shop writes its items. (`title` only
# repeats the name.)

# %%
schema["properties"]["shop"]

# %% [markdown]
# This one has a default, so a call may leave it out. The other may not:

# %%
schema["required"]

# %% [markdown]
# That is the whole text about a tool: name, description, schema. Now the way back. A model that wants the tool writes JSON
# text like this.

# %%
written = '{"item": "lamp", "shop": "Jongno"}'
arguments = StockArguments.model_validate_json(written)
arguments.model_dump()

# %% [markdown]
# The text was parsed and checked in one go. The values are safe to pass on, so the function can run.

# %%
shop_stock(**arguments.model_dump())

# %% [markdown]
# **Before you run the next cell:** the model writes an item that the shop does not have. Where does it stop, at the check
# or in the function?

# %%
try:
    StockArguments.model_validate_json('{"item": "sofa", "shop": "Jongno"}')
except ValidationError as problem:
    for part in problem.errors(include_url=False):
        print("refused:", part["loc"], part["type"], repr(part["input"]))

# %% [markdown]
# At the check. The function never ran, and the record says which argument was wrong.
#
# You need not write such a class for every function. The function already says everything: its **signature** lists the
# parameters with their types and defaults. Pydantic can make the class from that.

# %%
def arguments_model(function):
    fields = {}
    for name, parameter in inspect.signature(function).parameters.items():
        default = ... if parameter.default is parameter.empty else parameter.default
        fields[name] = (parameter.annotation, default)
    return create_model(function.__name__, **fields)


arguments_model(shop_stock).model_json_schema()["required"]

# %% [markdown]
# For pydantic, `...` as default means "required". Now all parts go into one object.

# %%
@dataclass
class HandTool:
    name: str
    description: str
    parameters: dict
    model: type[BaseModel]
    function: object

    def call(self, arguments):
        checked = self.model.model_validate(arguments)
        return self.function(**checked.model_dump())


def hand_tool(function):
    model = arguments_model(function)
    schema = model.model_json_schema()
    return HandTool(function.__name__, inspect.getdoc(function), schema, model, function)


hand_tool(shop_stock).call({"item": "lamp"})

# %% [markdown]
# The shop was left out, and its default was used: Mapo has 12 lamps.
#
# ### The strict form
#
# A model writes text, and text can be anything: a name that does not exist, a missing argument. Some providers can *force*
# a model to follow a schema, token by token. For that they ask for the **strict form**: every object is closed (no other
# keys), and every key is required.
#
# Here is a small schema that is not strict.

# %%
weather = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "unit": {"type": "string", "default": "C"}},
    "required": ["city"],
}

# %% [markdown]
# **Before you run the next cell:** `unit` must become required. But it has a default, and a call should still be able to
# say "no wish". How can a required key say that?

# %%
def to_strict(schema):
    properties = {}
    for name, part in schema["properties"].items():
        part = dict(part)
        words = "null means: not given."
        if "default" in part:
            words = f"null means the default, {part.pop('default')!r}."
        if name not in schema["required"]:
            part = {"anyOf": [part, {"type": "null"}], "description": words}
        properties[name] = part
    closed = {"required": list(properties), "additionalProperties": False}
    return {"type": "object", "properties": properties, **closed}


strict = to_strict(weather)
strict["properties"]["unit"]

# %% [markdown]
# With `null`. The key is always there, and its value may be null, which stands for the default. The strict form has no
# place for a default, so the description says it in words. The other two changes:

# %%
strict["required"], strict["additionalProperties"]

# %% [markdown]
# This short version closes the outer object only. It does not look inside, and an object inside another one must be
# closed too: exercise 02.3 does that.
#
# `agentkit` makes the strict form for every tool that has one. And its check knows that null stands for the default.

# %%
@tool
def weather_report(city: str, unit: str = "C") -> str:
    """Weather of one city."""
    return f"{city}: 21 {unit}"


print(weather_report.strict_parameters["properties"]["unit"])
print(weather_report.validate({"city": "Busan", "unit": None}))

# %% [markdown]
# Not every schema can be strict. A dict with free keys cannot list them. Then the honest answer is "no", with the reason.

# %%
@tool
def order_sheet(pieces: dict[str, int]) -> int:
    """Order several items at once: how many pieces of each."""
    return sum(pieces.values())


print(order_sheet.strict)
print(order_sheet.strict_reason)

# %% [markdown]
# Such a tool still works. The model is then only asked, not forced, to follow the schema, and the check catches the rest.
#
# ## The same piece in agentkit
#
# `@tool` does what `hand_tool` does. The function behind it is `_make`. Most of its lines find the name and the docstring,
# and refuse definitions that cannot work. These are its last six.

# %%
print("\n".join(source(agentkit_tools, only="_make").text.splitlines()[-6:]))

# %% [markdown]
# The first line makes the check and the schema from the type hints, as `arguments_model` does. The last line puts the same
# parts together as yours. `documented` is new: the words about each parameter that stand in the docstring, under `Args:`.
#
# The next tool has such words. It also has a rule: `Annotated[int, Field(…)]` is the type `int` with something added, here
# that a weight lies between 1 and 30.

# %%
@tool
def parcel_price(city: str, weight: Annotated[int, Field(ge=1, le=30)]) -> int:
    """Price of sending one parcel, in KRW.

    Args:
        city: where the parcel goes.
        weight: in kilograms, rounded up.
    """
    return 3_000 + 500 * weight


print(parcel_price.description)
parcel_price.parameters["properties"]

# %% [markdown]
# The description of the tool is the text before `Args:`. Each parameter has its own words and rules beside its type.
#
# | yours | agentkit | why |
# |---|---|---|
# | extra arguments are ignored | extra arguments are refused | see *What goes wrong* |
# | the docstring is one text | parameters described in it go into the schema | the model reads them beside each argument |
# | plain functions | async, methods, partials too | tools come in all forms |
# | pydantic's error | a sentence in our own words | the model must be able to act on it |
# | no strict form | strict form or a reason | strict is never claimed wrongly |
#
# One **contract check** tries nine promises on any way to make tools. First yours:

# %%
tool_contract(hand_tool)

# %% [markdown]
# Then the package's:

# %%
tool_contract(tool)

# %% [markdown]
# Both keep the contract. Now back to the question of the beginning, with the tool.

# %%
Agent(get_model(), [tool(shop_stock)]).run(question)

# %% [markdown]
# The model read the name, the description and the schema, wrote a call, and answered from its result.
#
# ## The description decides
#
# An agent with ten tools makes a choice at each step. What does it choose by? Above all by the description. The offline
# model in this course lets you watch: its reply carries a **score** for each tool, and a **probability** made from it. We
# need two small helpers.

# %%
def described(name, description):
    def function(order_id: str) -> str:
        return "…"

    return tool(name=name, description=description)(function)


def chances(question, *tools):
    reply = OfflineModel().decide((Message("user", question),), Registry(tools).specs())
    return {score.tool: round(score.probability, 2) for score in reply.scores}


where = "Where is the parcel of order A101 now?"

# %% [markdown]
# **Two vague descriptions.** Many real tools look like this.

# %%
vague_one = described("get_data", "Gets data.")
vague_two = described("fetch_info", "Fetches information.")
bars(chances(where, vague_one, vague_two), "two vague descriptions")

# %% [markdown]
# Nothing in either text has to do with the question, so both get the same probability: the choice is left to chance.
#
# **Before you run the next cell:** we give the first tool a description that says what it returns. Its name stays. What
# will the bars look like?

# %%
full_text = "Where a parcel is now: location, carrier, expected arrival."
specific = described("get_data", full_text)
bars(chances(where, specific, vague_two), "one specific description")

# %% [markdown]
# The specific one wins. Nothing changed but words. So a description is a **routing signal**: it sends a question to a tool.
#
# No model can tell two tools with the same description apart. Give each its own job, say it in the first sentence, and say
# what the tool is *not* for when another one is near. Under *Further* you measure two more effects: a word that pulls, and
# descriptions that become alike.
#
# ## Failure is part of the design
#
# A tool that finds nothing must say so. Here is one that does not. It knows where the parcels of two orders have been.

# %%
STOPS = {"A100": ["Incheon", "Mapo"], "A101": []}


def parcel_stops_vague(order_id: str) -> list | None:
    """Stops of the parcel of one order."""
    return STOPS.get(order_id)


print(parcel_stops_vague("A101"))
print(parcel_stops_vague("A999"))

# %% [markdown]
# `[]` means "not on its way yet", and `None` means "no such order". But nothing says so. The model reads `[]` or `null`,
# guesses, and tells the customer something.
#
# A tool has at least three ways not to give what was asked for: **not found**, **empty**, and **slow**. Each needs a
# decision, and the docstring tells the model about it.

# %%
@tool(timeout=0.05)
def parcel_stops(order_id: str) -> dict:
    """Stops of the parcel of one order, the newest last.

    No stops means that the parcel has not left yet. Fails with not_found when there is no such order.
    """
    if order_id not in STOPS:
        raise ToolError(f"There is no order {order_id}.", code="not_found", hint="Ask the customer.")
    if order_id == "A100":
        time.sleep(0.5)  # waits, like the server of a courier that is slow today
    return {"order_id": order_id, "stops": STOPS[order_id]}

# %% [markdown]
# `ToolError` carries a sentence for the model, a stable code for programs, and a hint. `timeout` is in seconds. The
# registry of notebook 03 runs the calls and shows what the model will read.

# %%
shop = Registry([parcel_stops])
for order_id in ("A101", "A999", "A100"):
    print(shop.call(ToolCall("parcel_stops", {"order_id": order_id})).content)

# %% [markdown]
# Three situations, three different observations. The model can tell the customer the truth in each of them.
#
# ## A calculator without eval
#
# Models are bad at arithmetic, so a calculator is a useful tool. Its input is text written by a model. Python has a
# function that computes text:

# %%
eval("250_000 * 0.1 + 3_000")

# %% [markdown]
# But `eval` runs *any* Python, and the text may come from a web page that the model has read. The next expression is
# harmless, but it shows the way out of arithmetic: from an empty pair of brackets to the classes of Python, and from there
# to files and processes.

# %%
eval("().__class__.__base__.__name__")

# %% [markdown]
# A first cure: an **allow-list**, a list of the characters that are allowed. Digits and signs only. **Before you run the
# next cell:** which of these three expressions pass: `2 * (3 + 4)`, `().__class__`, `9**9**9`?

# %%
def only_arithmetic(text):
    return set(text) <= set("0123456789+-*/(). ")


for text in ("2 * (3 + 4)", "().__class__", "9**9**9"):
    print(f"{text:12} passes: {only_arithmetic(text)}")

# %% [markdown]
# The way out needs letters, and it is closed. But the last one passes. It means 9 to the power of 9 to the power of 9. We
# do not compute it. We only compute how long the answer would be.

# %%
exponent = 9**9
digits = math.floor(exponent * math.log10(9)) + 1
print(f"9**9**9 has {digits:,} digits")

# %% [markdown]
# Python would compute for a very long time and use up the memory. No list of characters can see that. We must look at the
# *meaning* of the text before we compute: take it apart, and compute only numbers and the operations on a list of our own.
# Under *Further* you build that calculator.
#
# ## What goes wrong
#
# **An argument name is misspelled, and nobody says so.** *Symptom:* the answer is about the wrong shop. *Cause:* the model
# wrote `store` instead of `shop`; the unknown argument was ignored, and the default took its place. Your own tool does
# that:

# %%
hand_tool(shop_stock).call({"item": "lamp", "store": "Jongno"})

# %% [markdown]
# That is the number of Mapo. Nothing looks wrong. *Cure:* refuse what you do not know, and say which names exist.

# %%
stock = Registry([shop_stock])
print(stock.call(ToolCall("shop_stock", {"item": "lamp", "store": "Jongno"})).error.message)

# %% [markdown]
# **Optional is not nullable.** *Symptom:* a provider refuses a call, or a tool gets `None` and fails. *Cause:* two
# different things have similar names. **Optional** means that a key may be left out. **Nullable** means that its value may
# be null. All four combinations exist.

# %%
def both_no(note: str):
    """Neither."""


def may_be_left_out(note: str = "none"):
    """Optional."""


def may_be_null(note: str | None):
    """Nullable."""


def both_yes(note: str | None = None):
    """Both."""

# %% [markdown]
# They do nothing. We only want their schemas: is `note` missing from `required`, and is null one of its types?

# %%
rows = []
for function in (both_no, may_be_left_out, may_be_null, both_yes):
    parameters = tool(function).parameters
    kinds = [part.get("type") for part in parameters["properties"]["note"].get("anyOf", [])]
    signature = str(inspect.signature(function))
    rows.append([signature, "note" not in parameters.get("required", []), "null" in kinds])
table(rows, ["signature", "may be left out", "may be null"])

# %% [markdown]
# *Cure:* choose on purpose. Python's own name `Optional[str]` means nullable, not optional.
#
# **A definition that cannot work.** *Symptom:* the model is asked for an argument named `self`, or it never chooses a tool.
# *Cause:* the schema was made from a method that has no object yet, or there is no description.

# %%
class Shop:
    def opening_hours(self, day: str) -> str:
        """Opening hours of the shop on one day."""
        return f"{day}: 10 to 20"


print("naive: ", list(inspect.signature(Shop.opening_hours).parameters))
print("@tool: ", list(tool(Shop().opening_hours).parameters["properties"]))

# %% [markdown]
# *Cure:* make tools of bound methods (`Shop().opening_hours`), and let bad definitions fail at once, with a sentence for
# you. It is your mistake, not the model's, so it is an exception. `Shop.opening_hours` has no object and fails too.

# %%
def no_docstring(day: str):
    return day


def no_hint(day):
    """A day."""


for function in (no_docstring, no_hint, Shop.opening_hours):
    try:
        tool(function)
    except DefinitionError as problem:
        print(problem)

# %% [markdown]
# ## Exercises
#
# Write your code in place of the `...` and run the cell. Stuck? `hint("02.1")` gives a first step, `hint("02.1", 2)` a
# second, and `solution("02.1")` shows ours. It is the same for every exercise.
# Two more exercises stand under *Further*.

# %% [markdown]
# **02.1** A tool reads the table `feedback`, which holds stars and comments. It stands beside three other tools of the
# shop. Write a description by which a person finds it who wants to know what others think of a product. The check asks in
# three different ways, and it asks three questions that belong to the other tools.

# %%
description = ...

check("02.1", description)

# %% [markdown]
# **02.2** Write the tool `book_pickup(order_id, slot)`. An `order_id` is the letter A and three digits, nothing else;
# `slot` is one of `morning`, `afternoon` and `evening`. It returns a text that names both. Let the *schema* say so, with a
# pattern and an enum. `Annotated`, `Field`, `Literal` and `tool` are imported.

# %%
def book_pickup(order_id, slot):
    ...


check("02.2", book_pickup)

# %% [markdown]
# **02.3** Give this schema its strict form, inside and outside. Write the whole schema out, or compute it. Where a default
# disappears, the description must say it. `floor` has no default: null says that there is none.

# %%
loose = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "days": {"type": "integer", "default": 3},
        "place": {
            "type": "object",
            "properties": {"street": {"type": "string"}, "floor": {"type": "integer"}},
            "required": ["street"],
        },
    },
    "required": ["city", "place"],
}

strict_schema = ...

check("02.3", strict_schema)

# %% [markdown]
# **02.4** Write the tool `product_price(code)`. It returns the price from `PRICES`. For a code that is not there it raises
# `ToolError` with the code `not_found` and a sentence that names what was looked for. A price of 0 is a price: the product
# is free.

# %%
PRICES = {"L100": 39_000, "D200": 120_000, "G001": 0}


def product_price(code: str) -> int:
    """Price of one product, in KRW. Fails with not_found when there is no product of this code."""
    ...


check("02.4", product_price)

# %% [markdown]
# ### Quiz
#
# Answer with three letters, for example `quiz("02", "a", "b", "c")`.

# %%
quiz("02")

# %% [markdown]
# ## Recap
#
# - A tool is a name, a description and a schema, and a call that is checked before the function runs: *Build it by hand*.
# - The strict form closes every object and requires every key; null stands for the default; free keys have no strict form:
#   *The strict form*.
# - The description routes: a specific one is chosen before a vague one, and two vague ones are equal: *The description
#   decides*.
# - Not found, empty and slow are different observations, and `eval` is no tool, with an allow-list of characters or
#   without: *Failure is part of the design*, *A calculator without eval*.

# %% [markdown]
# **Next:** 03, the registry. One tool can be checked now. Next comes the door through which all of them run.

# %% [markdown]
# ## Further
#
# ### More about descriptions
#
# **The anchor effect.** A word that a question and a description share pulls the choice towards that tool, even when it is
# the wrong one. The second tool below has nothing to do with where a parcel is.

# %%
insurance = described("fetch_info", "Price of insuring a parcel.")
bars(chances(where, vague_one, insurance), "the word 'parcel' pulls")

# %% [markdown]
# The cure is not to avoid the word. It is to give the right tool a description that fits better.

# %%
bars(chances(where, specific, insurance), "the right tool fits better")

# %% [markdown]
# **The order of tools** is another anchor for large language models: they prefer what stands first or last in a long list.
# The offline model scores each tool by its text alone, so order does nothing here. You can test it with a real model later
# in the course.

# %%
print(chances(where, specific, insurance))
print(chances(where, insurance, specific))

# %% [markdown]
# **Ambiguity.** What if two descriptions are alike? We let the second one come nearer to the first, step by step.

# %%
both_facts = "What is the location and the expected arrival of the parcel of order A101?"
steps = [
    "Refund policy of the shop.",
    "Insurance of a parcel.",
    "A parcel: carrier, location.",
    "A parcel: carrier, location, arrival.",
    full_text,
]
curve = [chances(both_facts, specific, described("other_tool", text)) for text in steps]
pairs = zip(steps, curve, strict=True)
rows = [[text, chance["get_data"], chance["other_tool"]] for text, chance in pairs]
table(rows, ["description of other_tool", "P(get_data)", "P(other_tool)"])

# %% [markdown]
# The figure shows the last two columns. Two curves over the five steps: the probability of `get_data` (solid, round marks)
# begins high and falls; that of `other_tool` (dashed, square marks) begins low and rises. They meet where the descriptions
# say the same.

# %%
figure, axes = plt.subplots(figsize=(6, 3))
numbers = range(1, len(steps) + 1)
axes.plot(numbers, [step["get_data"] for step in curve], "o-", color="black", label="get_data")
axes.plot(numbers, [step["other_tool"] for step in curve], "s--", color="gray", label="other_tool")
axes.set_xlabel("step (descriptions grow alike)")
axes.set_ylabel("probability of the choice")
axes.set_xticks(list(numbers))
axes.set_ylim(0, 1.05)
axes.legend()
plt.show()

# %% [markdown]
# Where two descriptions say the same, the choice is left to chance.
#
# ### The calculator
#
# `ast.parse` turns text into a tree and runs nothing. Each node of the tree is a number, or an operation on smaller trees.

# %%
print(ast.dump(ast.parse("2 * 3", mode="eval").body))

# %% [markdown]
# So we walk over the tree and compute only what is on our list. A power is bounded *before* it is computed.

# %%
def power(base, exponent):
    if abs(base) > 1_000_000 or abs(exponent) > 50:
        limits = "Base up to 1,000,000, exponent up to 50."
        raise ToolError("This power is too large.", code="too_large", hint=limits)
    return base**exponent


OPERATIONS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul}
OPERATIONS |= {ast.Div: operator.truediv, ast.Pow: power}

# %% [markdown]
# `OPERATIONS` is the list of what is allowed. Now the walk. Each `case` below is a **class pattern**: it fits when the node
# is of this class, and it gives names to the parts of the node.

# %%
def value_of(node):
    match node:
        case ast.Constant(value=number) if type(number) in (int, float):
            return number
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return -value_of(inner)
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in OPERATIONS:
            return OPERATIONS[type(sign)](value_of(left), value_of(right))
    raise ToolError("Only numbers and + - * / ** ( ) can be computed.", code="not_arithmetic")

# %% [markdown]
# Everything that is not on the list reaches the last line and is refused. The tool around it bounds the length and turns
# the remaining failures into sentences; `from None` leaves Python's own error out of the report. Its docstring says when it
# fails.

# %%
@tool
def calculate(expression: Annotated[str, Field(max_length=100, examples=["250000 * 0.1"])]) -> float:
    """Compute an arithmetic expression.

    Fails with too_large, not_arithmetic, or no_result (such as a division by zero).
    """
    try:
        result = value_of(ast.parse(expression.strip(), mode="eval").body)
        if isinstance(result, complex) or not math.isfinite(result):
            raise ToolError("This has no result in real numbers.", code="no_result")
    except (SyntaxError, ValueError):
        raise ToolError("This is not an arithmetic expression.", code="not_arithmetic") from None
    except (ZeroDivisionError, OverflowError):
        raise ToolError("This has no result.", code="no_result") from None
    return result

# %% [markdown]
# **Before you run the next cell:** six expressions. Which code will each of the last five get? (`1e999` means 1 with 999
# zeros. A float cannot be so large, so Python reads it as infinity.)

# %%
calculator = Registry([calculate])
rows = []
for text in ("2 * (3 + 4)", "9**9**9", "().__class__", "1 / 0", "1e999", "2 +"):
    result = calculator.call(ToolCall("calculate", {"expression": text}))
    rows.append([text, result.data if result.ok else f"{result.error.code}: {result.error.message}"])
table(rows, ["expression", "observation"])

# %% [markdown]
# ### One more thing that goes wrong
#
# **Strict is claimed for a schema that is not strict.** *Symptom:* a provider answers every request with an error about the
# schema. *Cause:* `"strict": true` was sent with a schema in which a key is optional or an object is open. A few lines find
# that. (They look at the outer object only.)

# %%
def strict_faults(schema):
    faults = [] if schema.get("additionalProperties") is False else ["the object is not closed"]
    optional = sorted(set(schema["properties"]) - set(schema.get("required", [])))
    return faults + [f"{name} is not required" for name in optional]


print("weather:        ", strict_faults(weather))
print("strict weather: ", strict_faults(strict))

# %% [markdown]
# *Cure:* claim strict only for a schema that was made strict. The registry does so. For a tool that has no strict form it
# says `False`. `openai("responses")` gives the tools in the form that OpenAI's interface of that name expects; 03 shows this
# form and others.

# %%
for form in Registry([weather_report, order_sheet]).openai("responses"):
    faults = strict_faults(form["parameters"]) if form["strict"] else "(not claimed)"
    print(form["name"], form["strict"], faults)

# %% [markdown]
# ### Two more exercises
#
# **02.5** Extend the calculator: `value_with_functions(node)` is `value_of`, and it also computes `abs(…)` of one number, and
# `min(…)` and `max(…)` of two or more, anywhere in an expression. Everything else must still be refused, always with a
# `ToolError`. A call is `ast.Call(func=ast.Name(id=name), args=arguments, keywords=[])`.

# %%
def value_with_functions(node):
    """The value of a tree of numbers, operations, and the functions abs, min and max."""
    match node:
        case ast.Constant(value=number) if type(number) in (int, float):
            return number
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return -value_with_functions(inner)
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in OPERATIONS:
            return OPERATIONS[type(sign)](value_with_functions(left), value_with_functions(right))
    ...
    raise ToolError("Only numbers and + - * / ** ( ) abs min max.", code="not_arithmetic")


check("02.5", value_with_functions)

# %% [markdown]
# **02.6, open.** Make a tool of your own, about anything you like, and write a question that only it can answer. The check
# puts it beside the eight tools of the shop's help desk. Your question must find your tool, and the call must go through.

# %%
my_tool = ...
my_question = ...

check("02.6", (my_tool, my_question))
