# %% [markdown]
# # 00 · Start here
#
# One question, two answers: a model that cannot know, and an agent that looks it up. Then you learn how these notebooks work.
# **30 minutes.** You need to know Python. You need no key, no account and no network.
#
# **By the end you can**
#
# - say what a model alone cannot do, and what an agent adds to it;
# - read a run: thought, action, observation, answer;
# - work with the exercises of this course: check, hint, solution, quiz, progress;
# - say which model decides, and change it in one line.

# %%
import os

from agentkit import Agent, get_model
from agentkit.checks import check, hint, quiz, solution
from agentkit.errors import DefinitionError
from agentkit.show import table
from agentkit.widgets import ask_box
from agentkit.worlds import orders

# %% [markdown]
# This was a **cell**, a piece of code that runs by itself. Click into a cell and press **Shift + Enter**: it runs, and the next one is
# chosen. Run the cells from top to bottom. The value of the last line appears below the cell.
#
# ## See it fail
#
# You work at the help desk of an online shop, and a customer asks this question.

# %%
question = "Can my order A100 be refunded? Today is 2026-10-13."

# %% [markdown]
# We ask a **model**: a program that reads a text and writes a text that fits it. Here it gets the question and nothing else.
#
# **Before you run the next cell:** the model has never seen this shop. What is an honest answer?

# %%
model = get_model(rules=orders.rules)
alone = Agent(model, tools=[])
alone.run(question).answer

# %% [markdown]
# The model is honest: the order stands in a database, and nobody showed it the database. Other models do not always say so. Some write
# "Yes, of course", because that is how such a text often goes on. No model of any size can *know* what it was never shown.
#
# ## An agent looks it up
#
# An **agent** is a model in a loop, with **tools**: functions that it may ask for. The desk of this shop has eight.

# %%
rows = [[tool.name, tool.description.split(". ")[0]] for tool in orders.make_tools()]
table(rows, ["tool", "what it says about itself"])

# %% [markdown]
# Now the same question, to the same model, with these tools. The last line of the cell is the **run**: everything that happened.

# %%
agent = Agent(model, orders.make_tools(), system=orders.system)
run = agent.run(question)
run

# %% [markdown]
# Read it from the top. In each **step** the model says what it thinks (the **thought**) and which tool it wants to use,
# with which values (the **action**). The program runs the tool, and what comes back is the **observation**. The model
# reads it in the next step. When it knows enough, it writes the **answer**. The percentages say how well a tool fits
# the goal; tokens are pieces of text. You may skip both today.
#
# Look at the answer again: each fact in it stands in an observation above. Nothing is invented, and you can check it.
#
# ### Other questions
#
# The same agent, another order. Nothing else was changed.

# %%
agent.run("Can my order A101 be refunded? Today is 2026-10-13.").answer

# %% [markdown]
# And in Korean. The customer asks whether order A100 can be refunded, as before.

# %%
agent.run("A100 주문 환불되나요? 오늘은 2026-10-13입니다.").answer

# %% [markdown]
# When something is missing, a good agent does not guess. It asks, and the run **pauses** until you answer.

# %%
paused = agent.run("Can my order be refunded? Today is 2026-10-13.")
print(paused.status, "|", paused.stop_reason)
print(paused.question)

# %% [markdown]
# You answer with `resume`. The agent goes on from where it was.

# %%
agent.resume(paused, answer="It is A103.").answer

# %% [markdown]
# ## A playground
#
# Type a goal, choose the tools that the agent may use, and press **Run**. Then take the tick from `track_shipment` and run it again: the
# agent can only choose among the tools that are left. Ask in your own words. Ask about another order (A100 to A141). Ask for something that
# the shop cannot do.
#
# Your changes in the box stay until you change them again. To start afresh, run the cell again.
#
# (On a web page without a running notebook you see only what the box holds now.)

# %%
ask_box(agent, goal="Where is my order A101?")

# %% [markdown]
# ## How these notebooks work
#
# **Predict.** Where it says "before you run the next cell", stop and think of an answer first. A wrong guess teaches more than no guess.
#
# **Change things.** You work on your own copy, in the folder `my_notebooks`. Nothing overwrites it. If a notebook no longer works, choose
# *Kernel → Restart Kernel and Run All Cells*. To begin again from a fresh copy, type this in a terminal. Your old notebook is kept beside
# the new one.
#
# ```
# agentkit reset 00
# ```
#
# **Exercises** answer back. `check` says *not attempted yet*, or *not yet* and what is missing, or *correct* and why. When you are stuck,
# ask for a **hint**:

# %%
hint("00.1")

# %% [markdown]
# `hint("00.1", 2)` tells a little more, and `solution("00.1")` shows our answer and the reason for it. You may always look. Try it yourself
# first.
#
# To see how far you are in the whole course, write this in a cell of your own, or type `agentkit progress` in a terminal:
#
# ```python
# from agentkit.checks import progress
#
# progress()
# ```
#
# ## Which model decides
#
# One line chooses the model: `get_model()`. Every notebook uses it.

# %%
print(os.environ.get("AGENTKIT_MODEL", "(not set)"))
print(type(get_model()).__name__)

# %% [markdown]
# Without a choice of yours it is `offline`, the model in the box. Two names need nothing else: `offline` and `human`
# (07 has the others). You choose one in a cell, `get_model("human")`, or for all notebooks with the **environment
# variable** `AGENTKIT_MODEL`, a setting of the terminal from which you start:
#
# ```
# AGENTKIT_MODEL=human agentkit lab
# ```
#
# On Windows type `set AGENTKIT_MODEL=human` first, then `agentkit lab`. For your first time through the course, stay with `offline`: the
# texts speak about its runs. A name that does not exist is told at once:

# %%
try:
    get_model("humans")
except DefinitionError as problem:
    print(problem)

# %% [markdown]
# With `human`, *you* are the model: the run pauses and waits for your decision. Notebook 05 gives you a panel for it.

# %%
by_you = Agent(get_model("human"), orders.make_tools()).run(question)
print(by_you.status, "|", by_you.question)

# %% [markdown]
# ### What the offline model is
#
# It is **not** a large language model. It is a small program with rules that you can read, so it works without a key and gives the same
# result every time.
#
# - It sees exactly what a large model would see: the messages and the descriptions of the tools. Nothing is prepared for one question.
# - It compares the words of your goal with the words of each tool, and takes what fits best. It knows English and Korean.
# - For its last step it may have rules: `rules=orders.rules` says what follows from an order, a policy and a date in this shop.

# %% [markdown]
# What it is not: it does not write freely, it knows nothing about the world, and it misses questions that a large model
# understands. What you build around it is the same for any model.

# %% [markdown]
# ## Exercises
#
# Replace the `...` by your answer and run the cell. The agent from above is called `agent`.
#
# **00.1** Write a goal of your own, so that the agent looks up order A101.

# %%
run_a101 = ...

check("00.1", run_a101)

# %% [markdown]
# Add a line `run_a101` to the cell to see the whole run.
#
# **00.2** Order A100 can be refunded on 2026-10-13. Ask the same question with another date, so that the answer becomes no.

# %%
run_later = ...

check("00.2", run_later)

# %% [markdown]
# **00.3** Write a goal that makes the agent ask you something. Hand in the paused run.

# %%
run_asking = ...

check("00.3", run_asking)

# %% [markdown]
# ### Quiz
#
# Three questions. Answer with three letters, for example `quiz("00", "a", "b", "c")`. A wrong answer is explained.

# %%
quiz("00")

# %% [markdown]
# ## Recap
#
# - A model alone cannot know what it was never shown; an agent looks it up with tools: *See it fail* and *An agent looks it up*.
# - A run is a list of steps. In most of them the model thinks, acts and gets an observation; in the last one it answers or asks: *An agent looks
#   it up*.
# - `check`, `hint`, `solution`, `quiz` and `progress` answer back, and your copy is yours: *How these notebooks work*.
# - `get_model()` or `AGENTKIT_MODEL` chooses who decides: *Which model decides*.

# %% [markdown]
# ### The map
#
# | | you build |
# |---|---|
# | **01** What is an agent? | the first loop, in eleven lines, and when not to use an agent |
# | **02** Tools | a function becomes a tool that a model can choose |
# | **03** The registry | the one door through which all calls go |
# | **04** Memory | what is kept, and what is sent |
# | **05** The loop | think, act, observe, and every way to stop |
# | **06** Your first agent | an assistant with tests, a log and a checklist |
# | **07** Real models | the piece between an agent and a service |
# | **08** The JSON contract | the stations between a model's wish and a changed row |
# | **15** Safety | attacks on an agent, and the defences |

# %% [markdown]
# More notebooks will follow, up to agents in teams and in daily use.
#
# **Next:** 01, what is an agent? You saw one work. Now you write one by hand.
