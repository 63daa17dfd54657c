# %% [markdown]
# # 05 · The loop
#
# Think, act, observe, until it is time to stop: you write the loop that makes a model an agent, and you learn to stop it, to pause
# it and to fork it. **45 minutes.** Builds on 02 (tools), 03 (registry) and 04 (memory). Adds to
# `agentkit`: `loop.py`, and the ReAct text form.
#
# **By the end you can**
#
# - write the loop by hand, with a decision that is one of three things;
# - read a model's ReAct text without believing an observation that the model invented;
# - name the reasons for which a run stops, and show a run for each;
# - pause a run, approve a call, play the model, and fork a run at an observation.

# %%
import re
from dataclasses import replace
from typing import assert_never

from agentkit import (
    Agent, AskUser, CallTools, FinalAnswer, HumanModel, Limits, Memory, Message, Registry, Reply, Run, ScriptedModel, ToolCall,
    ToolError, ToolResult, Usage, anthropic_problems, get_model, openai_problems, parse_react, render_react, to_anthropic,
    to_openai, tool,
)
from agentkit.checks import check, hint, loop_contract, quiz, react_parser_contract, solution
from agentkit.loop import think_act_observe
from agentkit.show import compare, source, table
from agentkit.widgets import approval_panel, be_the_model
from agentkit.worlds import orders

# %% [markdown]
# ## See it fail
#
# Here is the shortest loop there is: ask, run what was asked for, repeat until there is an answer. The model is a function that we
# write by hand, and it makes a small mistake: it calls the parameter `part`, while the tool calls it `item`.

# %%
def naive_loop(decide, tools, goal):
    history = [goal]
    while True:
        name, arguments = decide(history)
        if name == "answer":
            return arguments
        history.append(tools[name](**arguments))


def stock(item: str) -> int:
    """Pieces of one item in the warehouse."""
    return {"cable": 12, "lamp": 3}.get(item, 0)


def careless(history):
    return "stock", {"part": "cable"}


try:
    naive_loop(careless, {"stock": stock}, "How many cables are there?")
except TypeError:
    print("The run is gone, and its history with it.")

# %% [markdown]
# One wrong word in one call, and everything is lost. Catching the error does not help either: nobody tells this model what was
# wrong, so it would ask the same again, for ever. Nothing in this loop says when to stop.
#
# A loop needs three things that this one does not have: an observation for *every* call, a limit, and a decision with a clear form.
#
# ## Build it by hand
#
# Begin with the **decision**: what a model may say. In `agentkit` it is one of three things, and never anything else.

# %%
look_it_up = CallTools("I need the number of cables.", (ToolCall("stock", {"item": "cable"}),))
say_it = FinalAnswer("I know it now.", "There are 12 cables.")
ask_back = AskUser("The question names no item.", "Which item do you mean?")

for decision in (look_it_up, say_it, ask_back):
    print(decision)

# %% [markdown]
# Such a type is called a **closed union**: a value is exactly one of a fixed list of kinds. A `match` statement takes it apart, and
# `assert_never` in the last case makes a type checker complain when somebody adds a fourth kind and forgets this place.

# %%
def describe(decision: CallTools | FinalAnswer | AskUser) -> str:
    match decision:
        case CallTools(calls=calls):
            return "act: " + ", ".join(call.name for call in calls)
        case FinalAnswer(text=text):
            return "answer: " + text
        case AskUser(question=question):
            return "ask: " + question
        case other:
            assert_never(other)


[describe(decision) for decision in (look_it_up, say_it, ask_back)]

# %% [markdown]
# Now the loop. **Think**: the model decides. **Act**: the registry runs the calls, and whatever happens is a result. **Observe**: each
# result goes into the history, so that the model sees it next time. A `for` with a limit takes the place of `while True`.

# %%
def my_loop(model, registry, goal, max_steps=8):
    history = [Message("user", goal)]
    for _ in range(max_steps):
        decision = model.decide(history, registry.specs()).decision              # think
        match decision:
            case FinalAnswer(text=text):
                return [*history, Message("assistant", text)]
            case AskUser(question=question):
                return [*history, Message("assistant", question)]
            case CallTools(thought=thought, calls=calls):
                calls = with_ids(calls, history)
                history.append(Message("assistant", thought, calls))
                for call in calls:
                    history.append(Message("tool", result=registry.call(call)))  # act, observe
            case other:
                assert_never(other)
    return history

# %% [markdown]
# One helper is missing. A call needs an **id**, so that its result can say which call it answers. We count the calls in the history:
# the ids are then the same in every run, and never used twice.

# %%
def with_ids(calls, history):
    before = sum(len(message.calls) for message in history)
    return tuple(replace(call, id=f"call_{before + number}") for number, call in enumerate(calls, 1))


with_ids(look_it_up.calls, history=[])

# %% [markdown]
# **Before you run the next cell:** the script below makes the same mistake as before, in its first call. How many messages will the
# history have at the end, and what is in the third one?

# %%
script = ScriptedModel([
    CallTools("How many cables?", (ToolCall("stock", {"part": "cable"}),)),
    CallTools("The parameter is called item.", (ToolCall("stock", {"item": "cable"}),)),
    FinalAnswer("I know it now.", "There are 12 cables."),
])
history = my_loop(script, Registry([stock]), "How many cables are there?")
table([[message.role, message.result.content if message.result else message.text] for message in history], ["role", "content"])

# %% [markdown]
# The mistake became an **observation**: it names the wrong parameter and the right one, and the model could correct itself. A
# `ScriptedModel` only replays what we wrote, so here *we* corrected it. A real model reads the observation and corrects itself.
#
# ### ReAct as text
#
# Before models had tool calls of their own, the loop was played in plain text. The form is called **ReAct**, from *reason* and *act*
# (Yao and others, 2022). Each step is written under a label. (A scripted model keeps no count: in a new run it starts again.)

# %%
print(render_react(Agent(script, [stock]).run("How many cables are there?")))

# %% [markdown]
# A program must read such text back. The obvious way is a search for each label. Look at what this model wrote: it was not content
# with its action, but went on and *invented* the observation and the answer.

# %%
forged = """Thought: I should look it up.
Action: stock
Action Input: {"item": "lamp"}
Observation: There are 900 lamps.
Final Answer: We have 900 lamps."""


def naive_parse(text):
    answer = re.search(r"Final Answer: (.*)", text)
    if answer:
        return "answer", answer.group(1)
    return "action", re.search(r"Action: (.*)", text).group(1), re.search(r"Action Input: (.*)", text).group(1)


naive_parse(forged)

# %% [markdown]
# The shop has 3 lamps, and no tool was ever called. The parser believed a number that came from nowhere. The cure is a rule: **cut the
# text at the first `Observation:`**, because only the program may write observations, and take the *first* action only.

# %%
LABELS = re.compile(r"^(Thought|Action Input|Action|Observation|Final Answer): ?", re.MULTILINE)


def my_parse(text):
    trusted = ("\n" + text).partition("\nObservation:")[0]
    pieces = LABELS.split(trusted.strip())[1:]                  # label, body, label, body, …
    parts = {}
    for label, body in zip(pieces[::2], pieces[1::2]):
        parts.setdefault(label, body)                           # the first of two equal labels counts
    action = parts.get("Action", "").strip().strip("`")
    if action and not action.lower().startswith("none"):
        return "action", action, parts.get("Action Input", "{}").strip()
    if parts.get("Final Answer", "").strip():
        return "answer", parts["Final Answer"].strip()
    return "error", "Write an Action with an Action Input, or a Final Answer."


my_parse(forged)

# %% [markdown]
# Now the action is run, and the real observation comes back. Note the last line of the parser: text without a label is an *error* that
# goes back to the model. A thought is never shown as the answer. Does it keep all the promises of a ReAct parser?

# %%
react_parser_contract(my_parse)

# %% [markdown]
# The package has such a parser too. It gives a decision instead of a tuple, and a sentence for the model when the form is wrong.

# %%
print(parse_react(forged))
print(react_parser_contract(parse_react).passed)

# %% [markdown]
# ## Look
#
# The same loop, with the offline model and the shop's database: the refund question of notebook 00.

# %%
def desk_agent(**options):
    return Agent(get_model(rules=orders.rules), orders.make_tools(), system=orders.system, **options)


run = desk_agent().run(orders.GOAL_REFUND)
run

# %% [markdown]
# A value like this run can be *played*. Press play, or move the slider. For each step the player shows the thought, the action and the
# observation, what the model saw (new messages are marked), and how much of its input was used.
#
# **Before you press play:** which messages will be marked as new at step 2?

# %%
run.player()

# %% [markdown]
# Three messages are new at step 2: what the model said at step 1, and the two results. Everything else it has seen before, and is sent
# again. That is why long runs become expensive.

# %% [markdown]
# ## The same piece in agentkit
#
# This is the whole loop of the package. Find the three words *think*, *act* and *observe*, and then every `return`: each is one way to
# stop.

# %%
source(think_act_observe)

# %% [markdown]
# It is a **generator**: it does nothing by itself. It *asks* for things with `yield`, and a **driver** gives the answers. One driver is
# ordinary code (`agent.run`), one is async code (`agent.arun`). Because of that there is one loop and not two.
#
# | yours | agentkit | why |
# |---|---|---|
# | returns a history | returns a `Run` | it says how and why it ended, and can be saved |
# | stops after 8 steps | five limits | time, tokens, cost and repetition matter too |
# | runs every call without asking | pauses when a person must approve | some calls cannot be taken back |
# | a crash loses the history | an interruption carries the run | nothing is lost |

# %%
print(loop_contract(my_loop))
print(loop_contract(Agent))

# %% [markdown]
# Both keep the same promises. So you can step the package's loop by hand as well: `agent.stream` gives one step for each `next`.

# %%
steps = desk_agent().stream("Where is my order A101?")
first = next(steps)
print(first.thought)
print(first.results[0].content)

# %% [markdown]
# A notebook already runs an event loop, and many libraries refuse to run inside it. Here the ordinary call works, and so does `await`.
# Both give the same steps.

# %%
waited = await desk_agent().arun(orders.GOAL_REFUND)  # noqa: F704
waited.steps == run.steps

# %% [markdown]
# ### Every reason to stop
#
# A **stop reason** says why a run ended. First two tools of the trade: a model that goes on and on, each time with another call, and one
# that repeats the same call.

# %%
@tool
def ping(text: str) -> str:
    """Answer with the same text."""
    return text


def again(count):
    calls = [ToolCall("ping", {"text": f"{n}"}) for n in range(count)]
    return ScriptedModel([Reply(CallTools("Once more.", (call,)), Usage(cost=0.01)) for call in calls])


def same(count):
    return ScriptedModel([CallTools("Once more.", (ToolCall("ping", {"text": "hi"}),))] * count)

# %% [markdown]
# Now one run for each reason. The clock is a function that we hand in, so that this cell gives the same result on every machine.
#
# **Before you run the next cell:** which of these runs are *paused*, and not stopped?

# %%
seconds = iter(range(0, 100, 4))
ended = [
    desk_agent().run(orders.GOAL_REFUND),
    desk_agent().run("Can my order be refunded?"),
    desk_agent().run("Please refund order A100, 250000 KRW."),
    Agent(again(9), [ping], limits=Limits(max_steps=3)).run("Go."),
    Agent(again(9), [ping], limits=Limits(timeout=10), clock=lambda: next(seconds)).run("Go."),
    Agent(again(9), [ping], limits=Limits(max_cost=0.02)).run("Go."),
    desk_agent(limits=Limits(max_tokens=500)).run(orders.GOAL_REFUND),
    desk_agent(memory=Memory(max_tokens=900)).run(orders.GOAL_REFUND),
    Agent(same(9), [ping]).run("Go."),
    Agent(again(2), [ping]).run("Go."),
]
table([[r.stop_reason, r.status, len(r.steps)] for r in ended], ["stop reason", "status", "steps"])

# %% [markdown]
# `needs_input` and `needs_approval` are pauses: somebody can go on with these runs. Two more reasons come below: `forked` and
# `cancelled`. Now look at the run that was `stuck`: the same call gave the same result three times, then the model was told once.

# %%
ended[8]

# %% [markdown]
# The last run of the table ended as `model_error`: the script had nothing more to say. A provider that fails ends a run in the same way,
# with a sentence in `run.error`, and not with an exception in your program.

# %%
ended[-1].error

# %% [markdown]
# ### Be the model
#
# What would *you* decide, if you saw only what a model sees? A `HumanModel` answers every request with a pause.

# %%
human = Agent(HumanModel(), orders.make_tools(), system=orders.system)
paused = human.run("Where is my order A101?")
print(paused.status, paused.stop_reason)
print(paused.question)

# %% [markdown]
# A **paused** run is data: it waits in a variable, not in a thread. `resume` goes on with it. First by hand: you decide to look the parcel
# up, and then you answer.

# %%
mine = CallTools("The parcel of A101 can be tracked.", (ToolCall("track_shipment", {"order_id": "A101"}),))
paused = human.resume(paused, decision=mine)
print(paused.messages[-1].result.data["location"])
human.resume(paused, decision=FinalAnswer("I saw where it is.", "Your parcel is on its way.")).status

# %% [markdown]
# Now in the panel. Choose a tool, fill in its form, and press the button. Try a wrong order code too: what comes back is what a model
# would have to live with.

# %%
be_the_model(human, "Can my order A103 be refunded? Today is 2026-10-13.")

# %% [markdown]
# ### A call that waits for a person
#
# Paying money back cannot be undone, so the tool `refund_order` asks for **approval**: the run pauses before the call, and the calls that
# wait are listed in it.

# %%
desk = desk_agent()
asking = desk.run("Please refund order A100, 250000 KRW.")
print(asking.status, asking.stop_reason)
print(asking.pending)

# %% [markdown]
# The pause survives everything, because it is a value. You can save it, read it in another process, and go on there. The verdict is given
# for one call by its id: `True`, `False`, or other arguments. (Each `desk_agent()` opens a new shop, so each refund is the first.)

# %%
waiting = Run.from_json(asking.to_json())
call_id = waiting.awaiting[0]
for verdict in (True, False, {"order_id": "A100", "amount": 50_000}):
    finished = desk_agent().resume(waiting, approvals={call_id: verdict})
    result = next(message.result for message in finished.messages if message.result and message.result.call_id == call_id)
    print(verdict, "->", result.content)

# %% [markdown]
# **Before you run the next cell:** nothing in the panel is chosen yet. What happens if you press the button at once?

# %%
approval_panel(desk, asking)

# %% [markdown]
# Nothing runs: the panel asks you to decide about every call first. Without a verdict a call is neither approved nor refused.
#
# ### Fork: what if?
#
# A **fork** is a run that leaves another one at some step. Change what was observed, and see where the agent goes. What if the shop
# allowed refunds for 10 days only, instead of 30?

# %%
step = run.steps[0]
call = next(call for call in step.calls if call.name == "refund_policy")
seen = next(result.data for result in step.results if result.call_id == call.id)
branch = run.fork(step.number, observations={call.id: {**seen, "window_days": 10}})
print(branch.status, branch.stop_reason)
other = desk_agent().resume(branch)
print(other.answer)

# %% [markdown]
# One changed number, and the answer changes. Side by side you see where the two runs part:

# %%
compare(run, other, labels=("30 days", "10 days"))

# %% [markdown]
# ## What goes wrong
#
# **One of several calls fails, and the others are lost.** The model asked for three things at once; one tool raised; the program threw
# all three results away. The next request then has calls without results, and a provider refuses it.

# %%
asked = Message("assistant", "Three at once.", tuple(ToolCall("ping", {"text": t}, f"call_{t}") for t in "abc"))
broken = [Message("user", "Go."), asked, Message("tool", result=ToolResult("call_a", "ping", "a"))]
for problem in openai_problems(to_openai(broken)) + anthropic_problems(to_anthropic(broken)[1]):
    print(problem)

# %% [markdown]
# The cure is the registry: every call gets exactly one result, in the order of the calls, and an error is a result like any other.

# %%
@tool
def door(number: int) -> str:
    """Open one of the doors."""
    if number == 2:
        raise ToolError("Door 2 is locked.")
    return f"door {number} is open"


three = CallTools("All three.", tuple(ToolCall("door", {"number": n}) for n in (1, 2, 3)))
opened = Agent(ScriptedModel([three, FinalAnswer("", "Two are open.")]), [door]).run("Open the doors.")
print([result.content for result in opened.steps[0].results])

# %% [markdown]
# **The stop button loses everything.** A run took ten minutes, you interrupt it, and nothing is left. In `agentkit` the interruption
# carries the run so far, and its history can be continued.

# %%
class Interrupted:
    """A model during which somebody presses the stop button."""

    def decide(self, messages, tools):
        if len(messages) > 2:
            raise KeyboardInterrupt
        return CallTools("First step.", (ToolCall("door", {"number": 1}),))


try:
    Agent(Interrupted(), [door]).run("Open door 1.")
except KeyboardInterrupt as stop:
    kept = stop.run
print(kept.stop_reason, len(kept.messages), openai_problems(to_openai(kept.messages)))

# %% [markdown]
# **`asyncio.run` in a notebook.** It starts an event loop, and a notebook already has one, so it fails there. The symptom is an error
# about a running event loop; the cure is `await agent.arun(…)`, or simply `agent.run(…)`.
#
# ## Exercises
#
# **05.1 Name the kind.** Write `kind(decision)` with a `match`: return `"act"`, `"answer"` or `"ask"`.

# %%
def kind(decision):
    ...


check("05.1", kind)

# %% [markdown]
# Stuck? `hint("05.1")` gives a first step, `hint("05.1", 2)` a second; `solution("05.1")` shows ours.
#
# **05.2 First action only.** Write `first_action(text)`: the name of the first action in a ReAct text, or `None` when there is none before
# the first observation.

# %%
def first_action(text):
    ...


check("05.2", first_action)

# %% [markdown]
# **05.3 Is it stuck?** Write `is_stuck(rounds, limit)`. Each round is a tuple `(name, arguments, result)`. Return `True` when the last
# `limit` rounds are all equal.

# %%
def is_stuck(rounds, limit):
    ...


check("05.3", is_stuck)

# %% [markdown]
# **05.4 A careful clerk.** Write `verdicts(run)`: for a run that waits for approval, a dictionary from call id to `True` or `False`. Approve
# refunds of at most 100,000; refuse every other call that waits.

# %%
def verdicts(run):
    ...


check("05.4", verdicts)

# %% [markdown]
# **05.5 Your own loop.** Write `run_agent(model, tools, goal, max_steps)` without looking back. `tools` is a registry: `tools.call(call)`
# runs a call and `tools.specs()` describes the tools. Return the list of messages. Every call needs an id of its own, a question to the
# user ends the loop too, and it must pass the contract of a loop.

# %%
def run_agent(model, tools, goal, max_steps=8):
    ...


check("05.5", run_agent)

# %% [markdown]
# **05.6 What if? (open)** Ask the desk about an order of your choice, fork the run at a step with an observation of your own, resume it, and
# hand in both runs as a pair. The answers must differ.

# %%
pair = ...

check("05.6", pair)

# %% [markdown]
# A quick quiz: which letters are right?

# %%
quiz("05")

# %% [markdown]
# Answer with your letters, for example `quiz("05", "a", "a", "a")`.
#
# ## Recap
#
# - The loop by hand, with a decision that is one of three things: *Build it by hand*.
# - ReAct text, and no belief in invented observations: *ReAct as text*.
# - The reasons to stop, each with a run: *Every reason to stop*.
# - Pause, approve, play the model, fork: *Be the model*, *A call that waits for a person*, *Fork*.
#
# **Next:** 06, your first agent. You have all the pieces: tools, registry, memory and loop. Next you put them together into a research
# assistant, and test it.
