# %% [markdown]
# # 01 · What is an agent?
#
# One question in three ways: as a single model call, as fixed code, and as an agent. You write the loop that makes the difference, and you
# measure when it is worth it. **45 minutes**; what is marked *Further* takes about 25 more. Builds on 00. Adds to `agentkit`: your first look
# at `Agent` and its loop.

# %% [markdown]
# **By the end you can**
#
# - say what one model call is, and name the four parts of an agent;
# - write a workflow and a loop by hand, and say what is fixed in each;
# - measure the three ways: cost, steps, and the questions that they survive;
# - say when not to use an agent, and recognise four ways in which a loop goes wrong.

# %%
import re
from datetime import date

from agentkit import Agent, CallTools, Limits, Message, ScriptedModel, ToolCall, get_model
from agentkit.checks import check, hint, loop_contract, quiz, solution
from agentkit.loop import think_act_observe
from agentkit.show import source, table
from agentkit.worlds import orders

# %% [markdown]
# ## See it fail
#
# A **model call** gives a model some messages and gets one reply. Below, the list of messages holds one question, and the list of tools is
# empty.

# %%
question = "Can my order A100 be refunded? Today is 2026-10-13."
model = get_model(rules=orders.rules)
reply = model.decide([Message("user", question)], [])
print(type(reply.decision).__name__)
print(reply.decision.text)

# %% [markdown]
# The reply holds a decision of the model: here it gives a final answer. It cannot know, and says so.
#
# **Before you run the next cell:** we ask the same question a second time. Will the second reply differ?

# %%
model.decide([Message("user", question)], []).decision == reply.decision

# %% [markdown]
# No, the replies are equal: the model does not remember that we have asked before. One call is a **function from text to text**: what goes in
# decides what comes out, and nothing is kept in between. (A large model draws its words partly by chance, so its wording changes. It remembers nothing either.)
#
# So whatever the model needs must be in the text. Somebody has to look up the order and put it there.
#
# ## Build it by hand
#
# ### A workflow
#
# The shop's data are behind functions. This one looks up an order.

# %%
desk = orders.open_desk()
desk.lookup_order("A100")

# %% [markdown]
# The order was delivered on 2026-10-01. And this is the rule for refunds.

# %%
desk.refund_policy()

# %% [markdown]
# You could answer the question yourself now. Write down how, as code: the order, the policy, the days, and then a decision.

# %%
def refund_rule(code, today, desk):
    order, policy = desk.lookup_order(code), desk.refund_policy()
    if order["status"] != "delivered":
        return f"No, order {code} cannot be refunded now: its status is {order['status']}."
    if order["category"] in policy["final_sale_categories"]:
        return f"No, order {code} cannot be refunded: {order['category']} is a final sale."
    days = (date.fromisoformat(today) - date.fromisoformat(order["delivered_on"])).days
    if days > policy["window_days"]:
        return f"No, order {code} cannot be refunded: it was delivered {days} days ago."
    return f"Yes, order {code} can be refunded: it was delivered {days} days ago."


refund_rule("A100", "2026-10-13", desk)

# %% [markdown]
# The customer writes a sentence, not a code and a date. A **regular expression**, a pattern for text, finds both.

# %%
def workflow(question, desk):
    code = re.search(r"A\d{3}", question).group()
    today = re.search(r"\d{4}-\d{2}-\d{2}", question).group()
    return refund_rule(code, today, desk)


workflow(question, desk)

# %% [markdown]
# This is a **workflow**: a program whose steps you fixed before the question came. It needs no model here. It is quick, exact, and right.
#
# **Before you run the next cell:** two more customers write. What does the workflow do with each of their questions?

# %%
one_place = "Where is my order A101?"
two_orders = "Which of A100 and A103 can be refunded? Today is 2026-10-13."
for other in (one_place, two_orders):
    try:
        print(workflow(other, desk))
    except AttributeError:
        print("The workflow breaks.")

# %% [markdown]
# The first question has no date: `re.search` found nothing and returned `None`, and `None` has no `group`. Python raises `AttributeError`, and
# you notice it. The second is worse: it asks about *two* orders, and the workflow answers for one, without a word about the other.
#
# You can repair both. But every new kind of question needs another repair. The steps should follow the question, not the other way round.
#
# ### A loop
#
# So turn it around. Do not fix the steps. Ask after each step: **given all that happened so far, what next?** What happened so far is the
# **history**. It begins with the goal.

# %%
history = [{"goal": question}]

# %% [markdown]
# What can be done is a dictionary of **tools**: plain functions, each under a name.

# %%
def days_between(start, end):
    return (date.fromisoformat(end) - date.fromisoformat(start)).days


tools = {
    "lookup_order": desk.lookup_order,
    "refund_policy": desk.refund_policy,
    "days_between": days_between,
}

# %% [markdown]
# Now the part that decides. It reads the history and returns *one* next step, as a dictionary: a tool with its arguments, or an answer. It
# does not run anything itself.

# %%
def decide(history):
    goal = history[0]["goal"]
    seen = {entry["tool"]: entry["result"] for entry in history[1:]}
    code = re.search(r"A\d{3}", goal).group()
    today = re.search(r"\d{4}-\d{2}-\d{2}", goal).group()
    if "lookup_order" not in seen:
        return {"tool": "lookup_order", "arguments": {"order_id": code}}
    if "refund_policy" not in seen:
        return {"tool": "refund_policy", "arguments": {}}
    if "days_between" not in seen:
        delivered = seen["lookup_order"]["delivered_on"]
        return {"tool": "days_between", "arguments": {"start": delivered, "end": today}}
    days, window = seen["days_between"], seen["refund_policy"]["window_days"]
    verdict = "Yes" if days <= window else "No"
    return {"answer": f"{verdict}: {days} days have passed, {window} are allowed."}


decide(history)

# %% [markdown]
# It wants to look up the order. Do it by hand, once: run the tool, put the result into the history, and ask again.

# %%
decision = decide(history)
result = tools[decision["tool"]](**decision["arguments"])
history = [{"goal": question}, {**decision, "result": result}]
decide(history)

# %% [markdown]
# The same function, a longer history, another decision. You have just played one round of the **loop**: think, act, observe. Let the
# computer repeat it. The `while` has a **step limit**, because nobody promises that `decide` ever answers.

# %%
def my_loop(decide, tools, goal, max_steps=8):
    history = [{"goal": goal}]
    steps = 0
    while steps < max_steps:
        decision = decide(history)                                   # think
        if "answer" in decision:
            return [*history, decision]
        result = tools[decision["tool"]](**decision["arguments"])    # act
        history.append({**decision, "result": result})               # observe
        steps += 1
    return history

# %% [markdown]
# **Before you run the next cell:** how many times will `decide` be asked, and what will the last entry be?

# %%
for entry in my_loop(decide, tools, question):
    print(entry)

# %% [markdown]
# Asked four times: three tools and the answer. An **agent** is a model in such a loop: it acts, observes what came of it, and reasons about the
# next step. It has four parts.
#
# | part | here | what it does |
# |---|---|---|
# | model | `decide` | chooses the next step |
# | tools | `tools` | look and act in the world |
# | memory | `history` | holds what happened, for the next decision |
# | loop | `my_loop` | asks, runs, writes down, and stops |

# %% [markdown]
# To be honest: our `decide` is as rigid as the workflow. But now all that is rigid stands in *one* function, and you can replace it. Put a
# model there that reads any question and any set of tools, and the rigid part is gone.
#
# ## The same piece in agentkit
#
# `Agent` is the loop. You give it a model and tools; `orders.system` is the **system prompt**, the instructions that stand first in its history.

# %%
agent = Agent(model, orders.make_tools(), system=orders.system)
run = agent.run(question)
run.player()

# %% [markdown]
# Press play, or move the slider. At each step the player shows thought, action and observation, and below it what the model saw. New messages
# are marked: the history grows, and the model reads all of it each time.
#
# Nothing else is needed for the answer. Take all messages before it and make *one* call with them, as in *See it fail*. No tool runs here.

# %%
before_the_answer = run.messages[:-1]
print(len(before_the_answer), "messages")
print(model.decide(before_the_answer, run.tools).decision.text)

# %% [markdown]
# It is the same function from text to text. In *See it fail* it could not know. Now the loop has put the facts into its text.
#
# Here is the loop of the package. Find `Think`, `Act` and `Observe`. Do not read every line; notebook 05 does that with you.

# %%
source(think_act_observe)

# %% [markdown]
# | yours | agentkit | why |
# |---|---|---|
# | `while steps < max_steps` | `limits.reached` | there is more to run out of than steps: time, tokens, money |
# | a decision is a dict | one of three types: call tools, answer, ask the user | the loop must handle exactly these three |
# | one call each time | several calls in one decision | independent look-ups go together |
# | a wrong tool name raises | every call gets a result | the model reads its mistake and corrects it |
#
# A **contract check** tries the same promises on both. Your loop speaks in dictionaries, so it needs a small translator.

# %%
def translated_loop(decide, tools, goal, max_steps=8):
    def translated(history):
        decision = decide(history).decision
        if isinstance(decision, CallTools):
            return {"tool": decision.calls[0].name, "arguments": decision.calls[0].arguments}
        return {"answer": decision.text}

    return my_loop(translated, tools, goal, max_steps)

# %% [markdown]
# **Before you run the next cell:** which of these will fail: two calls at once, an unknown tool, a tool that raises, no answer?

# %%
print(len(source(my_loop).text.splitlines()), "lines")
print(loop_contract(translated_loop))
print(loop_contract(Agent))

# %% [markdown]
# Your eleven lines keep the promises that make a loop a loop; a model that never answers is stopped by the limit. Three promises are missing:
# several calls at once, an unknown tool, a tool that raises. You add one of them in exercise 01.4, under *Further*; the rest comes in notebooks 03 and 05.
#
# ## Three ways, side by side
#
# First the cost of one question. We count in real runs: the lines that you write, the model calls, the tool calls, and the tokens. A **token** is
# a piece of text of about four letters, the unit in which models are paid for.

# %%
def single_call(question):
    return model.decide([Message("user", question)], []).decision.text


def ask_agent(question):
    run = Agent(model, orders.make_tools(), system=orders.system).run(question)
    return run.answer or run.question


def lines(*functions):
    return sum(len(source(function).text.splitlines()) for function in functions)


print(workflow(question, desk))
print(ask_agent(question))

# %% [markdown]
# Workflow and agent say the same. Which tools did the workflow use? `open_desk(before=…)` takes a function that the desk calls before each
# tool, with the name of the tool. We give it `log.append`.

# %%
log = []
workflow(question, orders.open_desk(before=log.append))
log

# %% [markdown]
# The agent's tools stand in its run: each step holds its calls.

# %%
used = [call.name for step in run.steps for call in step.calls]
used

# %% [markdown]
# Now the numbers side by side.

# %%
rows = [
    ["single call", lines(single_call), 1, 0, reply.usage.total_tokens],
    ["workflow", lines(workflow, refund_rule), 0, len(log), 0],
    ["agent", lines(ask_agent), len(run.steps), len(used), run.usage.total_tokens],
]
table(rows, ["way", "lines you write", "model calls", "tool calls", "tokens (estimated)"])

# %% [markdown]
# (The lines of `agentkit` and of the tools are not counted.) The agent is the most expensive by far: in each step the model reads the whole
# history and all tool descriptions again. What do you get for it?
#
# Change the question. The world `orders` brings **goals**: questions together with what a good answer must contain.

# %%
wanted = (
    "refund-a100", "refund-a103-day-after", "refund-a102-last-day", "ko-refund-a100",
    "where-a101", "refund-two", "two-where-refund", "ask-refund",
)
goals = [goal for goal in orders.goals if goal.id in wanted]
for goal in goals:
    print(goal.text)

# %% [markdown]
# They ask about another order, with different words, in Korean, where a parcel is, about two orders, two things at once, and without a code.
#
# A small judge looks at each answer. You need not read the judge: it says "good", or what is wrong.

# %%
def judge(way, goal):
    try:
        text = way(goal.text)
    except Exception:
        return "breaks"
    if goal.stop_reason == "needs_input":
        return "good" if text.endswith("?") else "does not ask back"
    if goal.language == "ko" and not re.search("[가-힣]", text):
        return "answers in English"
    if missing := goal.missing(text):
        return f"{missing[0]} is missing"
    return "says the opposite" if goal.unwanted(text) else "good"

# %% [markdown]
# **Before you run the next cell:** how many of the eight does each way survive?

# %%
ways = {
    "single call": single_call,
    "workflow": lambda text: workflow(text, desk),
    "agent": ask_agent,
}
rows = [[goal.text, *(judge(way, goal) for way in ways.values())] for goal in goals]
survived = [sum(row[place] == "good" for row in rows) for place in (1, 2, 3)]
table([*rows, [f"survived, of {len(goals)}", *survived]], ["question", *ways])

# %% [markdown]
# Read it so: "… is missing" means that a good answer must name this, and here it does not: an order (A100), the number of days since the delivery
# (12), or the place where the parcel is (Okcheon).

# %% [markdown]
# The single call survives nothing, since it can look nothing up. The workflow survives the questions that its writer thought of. The agent was written
# with no question in mind: its steps follow from the goal and the tools. That is **flexibility**, and the tokens are its price.
#
# Two honest remarks. The offline model draws its last conclusion with rules of this shop (`rules=orders.rules`); a large model would read the
# policy itself. And eight questions are few: ask in your own words in the playground of 00, and you will find a question that it misses.

# %% [markdown]
# ## When not to use an agent
#
# Now the shop puts a form on its page: one field for the code, one for the date. Every request looks the same. Ten customers fill it in, and
# both ways answer.

# %%
codes = ["A100", "A102", "A103", "A106", "A109", "A110", "A112", "A116", "A118", "A120"]
runs, refundable, same = [], 0, 0
for code in codes:
    by_rule = refund_rule(code, "2026-10-13", desk)
    by_agent = agent.run(f"Can order {code} be refunded? Today is 2026-10-13.")
    runs.append(by_agent)
    refundable += by_rule.startswith("Yes")
    same += by_rule.startswith("Yes") == by_agent.answer.startswith("Yes")
print(f"refundable: {refundable} of {len(codes)}")
print(f"the same verdict: {same} of {len(codes)}")

# %% [markdown]
# Both are right, so compare the price, and the **paths**: the different series of tools that were used.

# %%
paths = {tuple(call.name for step in run.steps for call in step.calls) for run in runs}
asked = sum(len(run.steps) for run in runs)
tokens = sum(run.usage.total_tokens for run in runs)
rows = [["fixed code", 0, 0, 1], ["agent", asked, tokens, len(paths)]]
table(rows, ["way", "model calls", "tokens (estimated)", "paths"])

# %% [markdown]
# On a fixed form the fixed code wins: no tokens, and one path that you can test and promise. The agent's path depends on the data and on its model.
#
# | the task | take |
# |---|---|
# | all that is needed stands in the text (translate, summarise) | a single call |
# | you can write the steps down | a workflow; a model may serve in one step |
# | the steps depend on the question and on what is found | an agent |
#
# Take the first row that fits. Many good systems are workflows with one small agent inside.
#
# ## What goes wrong
#
# **1. A loop without an end.** This `decide` always finds one more order to look at. Only the step limit ends it.

# %%
def restless(history):
    return {"tool": "lookup_order", "arguments": {"order_id": f"A{99 + len(history)}"}}


history = my_loop(restless, tools, "Look at everything.", max_steps=4)
print([entry["arguments"]["order_id"] for entry in history[1:]])
print("answered:", "answer" in history[-1])

# %% [markdown]
# Symptom: the bill grows, and no answer comes. Cause: nothing but an answer stops the loop. Cure: a limit, always.
#
# **2. The result never enters the history.** One line was forgotten. The tool works, and nobody tells the model.

# %%
def forgetful_loop(decide, tools, goal, max_steps=4):
    history, calls = [{"goal": goal}], []
    while len(calls) < max_steps:
        decision = decide(history)
        if "answer" in decision:
            return calls
        tools[decision["tool"]](**decision["arguments"])             # the result is lost
        calls.append(decision["tool"])
    return calls


print(forgetful_loop(decide, tools, question))

# %% [markdown]
# Symptom: the same call again and again. Cause: the same history leads to the same decision. Cure: look at what the model *saw* (the player
# shows it), not at what the tool returned.
#
# **3. An answer without a look.** This `decide` knows how such answers usually sound.

# %%
def confident(history):
    return {"answer": "Yes, order A101 can be refunded."}


told = my_loop(confident, tools, "Can my order A101 be refunded? Today is 2026-10-13.")
print("told:", told[-1]["answer"])
print("looked at:", [entry["tool"] for entry in told if "tool" in entry])
print("truth:", refund_rule("A101", "2026-10-13", desk))

# %% [markdown]
# Symptom: a fluent sentence. Cause: a model writes what sounds right. Cure: before you trust an answer, ask on which observations it rests. A
# program can do that, and warn you when there are none.
#
# **4. An action that nobody asked for.** The customer asks *whether* a refund is possible. This model pays.

# %%
def eager(history):
    if len(history) == 1:
        return {"tool": "refund_order", "arguments": {"order_id": "A100", "amount": 250_000}}
    return {"answer": "Yes, and I have already done it."}


shop = orders.open_desk()
my_loop(eager, {"refund_order": shop.refund_order}, question)
print("paid back:", shop.lookup_order("A100")["refunded_amount"])

# %% [markdown]
# The money is gone, and it cannot be taken back. Cause: our loop runs whatever is asked for. Cure: some tools need **approval**: a person says yes
# before the call is made. Under *Further* you see `agentkit` stop three of these four.
#
# ## Exercises
#
# Stuck? `hint("01.1")` gives a first step, `hint("01.1", 2)` a second, and `solution("01.1")` shows ours. It is the same for every exercise.
# Two more stand under *Further*.
#
# **01.1** Write `tools_called(history)`: the names of the tools that were called, in order. A history looks like those that `my_loop` returns.

# %%
def tools_called(history):
    ...


check("01.1", tools_called)

# %% [markdown]
# **01.2** Write your own `decide` for questions like "Where is my order A101?". It calls `track_shipment` with the code from the goal. When the result
# is there, it answers with the place; the result has it under `"location"`.

# %%
def decide_parcel(history):
    ...


check("01.2", decide_parcel)

# %% [markdown]
# **01.3** `my_loop` ends without a word about why. Write `run_loop(decide, tools, goal, max_steps)`, which returns two things, `history, reason`.
# The reason is `"answered"` or `"max_steps"`.

# %%
def run_loop(decide, tools, goal, max_steps=8):
    ...


check("01.3", run_loop)

# %% [markdown]
# ### Quiz
#
# Answer with three letters, for example `quiz("01", "a", "b", "c")`.

# %%
quiz("01")

# %% [markdown]
# ## Recap
#
# - One call is a function from text to text. An agent has four parts, model, tools, memory and loop: *See it fail* and *A loop*.
# - In a workflow the steps are fixed before the question comes; in a loop each step follows from the history: *Build it by hand*.
# - The agent survived the most questions and cost the most tokens, in runs that you counted: *Three ways, side by side*.
# - A fixed form wants fixed code: *When not to use an agent*. No limit, a lost result, an answer without a look, an action that nobody asked for:
#   *What goes wrong*.

# %% [markdown]
# **Next:** 02, tools. The model chose well because each tool said what it does. How does a function say that?

# %% [markdown]
# ## Further
#
# **Agentkit and the endless loop.** A limit is set even if you set none, and the run says why it stopped. Here a model that never answers.

# %%
class Restless:
    def decide(self, messages, tools):
        code = f"A{100 + len(messages) // 2}"
        return CallTools("One more.", (ToolCall("lookup_order", {"order_id": code}),))


limited = Agent(Restless(), orders.make_tools(), limits=Limits(max_steps=4))
endless = limited.run("Look at everything.")
print(endless.status, endless.stop_reason, len(endless.steps))

# %% [markdown]
# **Agentkit and the lost result.** Here is the offline model with a memory that hides all results: a class with one method, `view`, that says
# what is sent.

# %%
class OnlyTheGoal:
    def view(self, messages, tools):
        return [message for message in messages if message.role in ("system", "user")]


hidden = Agent(model, orders.make_tools(), memory=OnlyTheGoal()).run("Where is my order A101?")
print([call.name for step in hidden.steps for call in step.calls])
print(hidden.status, hidden.stop_reason)

# %% [markdown]
# `agentkit` notices that rounds repeat, and stops the run as `stuck`.
#
# **Agentkit and the refund.** The tool itself says that it needs approval. The run pauses *before* the call, whichever model asks. A
# `ScriptedModel` replays decisions that we wrote: with it you can show one exact situation, and test it.

# %%
shop = orders.open_desk()
call = ToolCall("refund_order", {"order_id": "A100", "amount": 250_000})
pay = CallTools("It can be refunded, so I pay.", (call,))
careful = Agent(ScriptedModel([pay]), shop.tools).run(question)
print(careful.status, careful.stop_reason)
print("paid back:", shop.lookup_order("A100")["refunded_amount"])

# %% [markdown]
# ### Two more exercises
#
# **01.4** Write the part of the loop that acts. `act(tools, decision)` returns what the tool returns. When there is no tool of that name, it
# returns `{"error": "…"}` with a sentence that names the wrong tool and the tools that exist.

# %%
def act(tools, decision):
    ...


check("01.4", act)

# %% [markdown]
# **01.5, open.** Write a tool of your own: a function with type hints and a docstring, about anything you like. Give it to an agent together with
# a goal, and hand in the run. The answer must rest on what your tool returned.

# %%
run_mine = ...

check("01.5", run_mine)
