"""The exercises of notebook 01, What is an agent?"""

from __future__ import annotations

from agentkit.checks.exercise import Exercise, Wrong
from agentkit.checks.nb01_checks import (
    check_act,
    check_decide_parcel,
    check_own_tool,
    check_run_loop,
    check_tools_called,
)
from agentkit.checks.nb01_quiz import QUIZ

__all__ = ["EXERCISES", "QUIZ"]

TOOLS_CALLED = Exercise(
    id="01.1",
    title="Read a history",
    prompt="Write `tools_called(history)`: the names of the tools that were called, in order.",
    stub="def tools_called(history):\n    ...\n",
    check=check_tools_called,
    hints=(
        'An entry is a call when it has the key "tool". The goal and the answer have other keys.',
        'Walk over the history and collect `entry["tool"]` from each entry with `"tool" in entry`.',
    ),
    solution='def tools_called(history):\n    return [entry["tool"] for entry in history if "tool" in entry]\n',
    why="the history holds everything that happened, so whatever you want to know about a run can be read off it.",
    known_wrong=(
        Wrong(
            'def tools_called(history):\n    return [entry["tool"] for entry in history]\n',
            "asks an entry for the key 'tool' that it does not have",
        ),
        Wrong('tools_called = ["lookup_order", "refund_policy"]\n', "hand in the function itself, without brackets"),
        Wrong(
            'def tools_called(history):\n    return [entry["tool"] for entry in history[1:-1]]\n',
            "the names stand in the order of the calls",
        ),
        Wrong(
            'def tools_called(history):\n    return sorted({entry["tool"] for entry in history if "tool" in entry})\n',
            "stands there twice",
        ),
        Wrong(
            'def tools_called(history):\n    return sum("tool" in entry for entry in history)\n',
            "return a list of names",
        ),
    ),
)

DECIDE = Exercise(
    id="01.2",
    title="A decide of your own",
    prompt="Write `decide_parcel(history)`: track the parcel first, then answer with its place.",
    stub="def decide_parcel(history):\n    ...\n",
    check=check_decide_parcel,
    hints=(
        'The goal is `history[0]["goal"]`. When the history has one entry only, nothing was looked up yet.',
        'First `{"tool": "track_shipment", "arguments": {"order_id": code}}`, with the code from the goal.',
        'Then the result is `history[-1]["result"]`, and the place is its `["location"]`.',
    ),
    setup="import re\n",
    solution="""\
def decide_parcel(history):
    if len(history) == 1:
        code = re.search(r"A\\d{3}", history[0]["goal"]).group()
        return {"tool": "track_shipment", "arguments": {"order_id": code}}
    return {"answer": f"Your parcel is at {history[-1]['result']['location']}."}
""",
    why="the same function gives another decision because the history has grown: that is all the memory it has.",
    known_wrong=(
        Wrong(
            'def decide_parcel(history):\n    return {"answer": "Your parcel is on its way."}\n',
            "nothing was looked up yet",
        ),
        Wrong(
            'def decide_parcel(history):\n    return {"tool": "track_shipment", "arguments": {"order_id": "A101"}}\n',
            "you call the tool again",
        ),
        Wrong(
            """\
def decide_parcel(history):
    if len(history) == 1:
        return {"tool": "track_shipment", "arguments": {"order_id": "A101"}}
    return {"answer": history[-1]["result"]["location"]}
""",
            "so the arguments are {'order_id': 'A114'}",
        ),
        Wrong(
            """\
def decide_parcel(history):
    if len(history) == 1:
        code = re.search(r"A\\d{3}", history[0]["goal"]).group()
        return {"tool": "track_shipment", "arguments": {"order_id": code}}
    return {"answer": "Your parcel is at the Okcheon hub."}
""",
            "must name the place of the result, 'Daejeon hub'",
        ),
    ),
)

RUN_LOOP = Exercise(
    id="01.3",
    title="Why did it end?",
    prompt='Write `run_loop(decide, tools, goal, max_steps)`: it returns `history, reason`, "answered" or "max_steps".',
    stub="def run_loop(decide, tools, goal, max_steps=8):\n    ...\n",
    check=check_run_loop,
    hints=(
        "Begin with a copy of `my_loop`. It has two ways out. Which reason belongs to which?",
        'With an answer: `return [*history, decision], "answered"`. After the loop: `return history, "max_steps"`.',
    ),
    solution="""\
def run_loop(decide, tools, goal, max_steps=8):
    history = [{"goal": goal}]
    for _ in range(max_steps):
        decision = decide(history)
        if "answer" in decision:
            return [*history, decision], "answered"
        result = tools[decision["tool"]](**decision["arguments"])
        history.append({**decision, "result": result})
    return history, "max_steps"
""",
    why="a loop has more than one way to end, and whoever reads the run must be able to tell which one it was.",
    known_wrong=(
        Wrong(
            """\
def run_loop(decide, tools, goal, max_steps=8):
    history = [{"goal": goal}]
    while True:
        decision = decide(history)
        if "answer" in decision:
            return [*history, decision], "answered"
        result = tools[decision["tool"]](**decision["arguments"])
        history.append({**decision, "result": result})
""",
            "the loop does not stop: count the steps",
        ),
        Wrong(
            """\
def run_loop(decide, tools, goal, max_steps=8):
    history = [{"goal": goal}]
    steps = 0
    while steps <= max_steps:
        decision = decide(history)
        if "answer" in decision:
            return [*history, decision], "answered"
        result = tools[decision["tool"]](**decision["arguments"])
        history.append({**decision, "result": result})
        steps += 1
    return history, "max_steps"
""",
            "the limit is 4 steps, but the model was asked 5 times",
        ),
        Wrong(
            """\
def run_loop(decide, tools, goal, max_steps=8):
    history = [{"goal": goal}]
    for _ in range(max_steps):
        decision = decide(history)
        if "answer" in decision:
            return [*history, decision], "answered"
        tools[decision["tool"]](**decision["arguments"])
    return history, "max_steps"
""",
            "not in the messages that the model sees next",
        ),
        Wrong(
            """\
def run_loop(decide, tools, goal, max_steps=8):
    history = [{"goal": goal}]
    for _ in range(max_steps):
        decision = decide(history)
        if "answer" in decision:
            return [*history, decision]
        history.append({**decision, "result": tools[decision["tool"]](**decision["arguments"])})
    return history
""",
            "return two things",
        ),
    ),
)

ACT = Exercise(
    id="01.4",
    title="A tool that does not exist",
    prompt="Write `act(tools, decision)`: run the tool of a decision, or tell the model that there is no such tool.",
    stub="def act(tools, decision):\n    ...\n",
    check=check_act,
    hints=(
        'Ask first: `if decision["tool"] not in tools`. What would help a model that wrote a wrong name?',
        'Return `{"error": "There is no tool …. The tools are …."}`; `", ".join(tools)` lists the names.',
    ),
    solution="""\
def act(tools, decision):
    name = decision["tool"]
    if name not in tools:
        return {"error": f"There is no tool {name!r}. The tools are: {', '.join(tools)}."}
    return tools[name](**decision["arguments"])
""",
    why="the mistake became an observation, so the model can read it and write the right name in its next step.",
    known_wrong=(
        Wrong(
            'def act(tools, decision):\n    return tools[decision["tool"]](**decision["arguments"])\n',
            "a dictionary was asked for a key that it does not have ('stok')",
        ),
        Wrong(
            """\
def act(tools, decision):
    if decision["tool"] in tools:
        return tools[decision["tool"]](**decision["arguments"])
""",
            'for an unknown tool return {"error": "a sentence"}',
        ),
        Wrong(
            """\
def act(tools, decision):
    if decision["tool"] not in tools:
        return {"error": f"There is no tool {decision['tool']!r}."}
    return tools[decision["tool"]](**decision["arguments"])
""",
            "must name the tools that exist",
        ),
        Wrong(
            """\
def act(tools, decision):
    try:
        return tools[decision["tool"]](**decision["arguments"])
    except KeyError:
        return {"error": f"There is no tool {decision['tool']!r}. The tools are: {', '.join(tools)}."}
""",
            "raises a KeyError of its own",
        ),
        Wrong(
            """\
def act(tools, decision):
    name = decision["tool"] if decision["tool"] in tools else "stock"
    return tools[name](**decision["arguments"])
""",
            "do not run another one in its place",
        ),
    ),
)

OWN_TOOL = Exercise(
    id="01.5",
    title="Your own tool",
    prompt="Write a tool of your own and a goal for it. Hand in the run.",
    stub="run_mine = ...\n",
    check=check_own_tool,
    hints=(
        "A tool is a function with type hints and a docstring. The docstring is how the model chooses it.",
        "Give an agent your function, `Agent(get_model(), [my_function])`, and run a goal in the words of its docstring.",
        "Put a text argument into quotes in the goal, for example: How warm is it in 'Busan'?",
    ),
    setup="from agentkit import Agent, get_model\n",
    solution='''\
def temperature(city: str) -> int:
    """Temperature in a city, in degrees Celsius.

    Args:
        city: the name of the city, for example "Seoul".
    """
    return {"Seoul": 14, "Busan": 17}.get(city, 10)


run_mine = Agent(get_model(), [temperature]).run('What is the temperature in the city "Busan"?')
''',
    why="nobody told the model about your tool but the tool itself: its name, its docstring and its parameters.",
    known_wrong=(
        Wrong(
            'run_mine = Agent(get_model(), []).run("How warm is it in Busan?")\n',
            "give the agent a function of your own",
        ),
        Wrong(
            """\
def temperature(city: str) -> int:
    '''Temperature in a city, in degrees Celsius.'''
    return 17


run_mine = Agent(get_model(), [temperature]).run("Write me a poem about the sea.")
""",
            "your tool was not called",
        ),
        Wrong(
            """\
def temperature(city: str) -> int:
    '''Temperature in a city, in degrees Celsius.'''
    print(17)


run_mine = Agent(get_model(), [temperature]).run('What is the temperature in the city "Busan"?')
""",
            "nothing that your tool returned stands in the answer",
        ),
        Wrong("def run_mine(city):\n    return 17\n", "hand in a run"),
    ),
)

EXERCISES = (TOOLS_CALLED, DECIDE, RUN_LOOP, ACT, OWN_TOOL)
