"""Turns an exception of a learner's code into a sentence of our own.

The text that Python and pydantic write is never shown: it changes from version to version, and a stored output would
change with it. The type of the exception, the place, and the name or key it is about are enough to find the fault.
"""

from __future__ import annotations

import json
from types import TracebackType

from agentkit.checks.faces import shown
from agentkit.checks.guard import Ended, is_learners
from agentkit.errors import AgentkitError

_MEANS: dict[type[BaseException], str] = {
    ModuleNotFoundError: "a module was imported that is not installed",
    ImportError: "something was imported that the module does not have",
    UnboundLocalError: "a variable was used before it was given a value",
    NameError: "a name was used that is not defined",
    AttributeError: "an attribute or method was used that the object does not have",
    KeyError: "a dictionary was asked for a key that it does not have",
    IndexError: "a list or text was asked for a position that it does not have",
    ZeroDivisionError: "a number was divided by zero",
    RecursionError: "a function called itself without end",
    NotImplementedError: "a part of it is not written yet",
    AssertionError: "an assert in it did not hold",
    StopIteration: "an iterator was asked for more than it has",
    FileNotFoundError: "a file was opened that does not exist",
    UnicodeError: "text was read or written in the wrong encoding",
    OSError: "a file or a connection could not be used",
    SystemExit: "it tried to end Python itself",
    TypeError: "a value has the wrong type, or a function was called with the wrong arguments",
    json.JSONDecodeError: "the text is not JSON",
    ValueError: "a value has the right type but is not acceptable",
}


def explain(ended: Ended) -> str:
    """One sentence about a guarded call that gave no value."""
    if ended.too_long == "steps":
        return "Your code did not come to an end: it looks like an endless loop. What makes the loop stop?"
    if ended.too_long == "seconds":
        return "Your code was given up because it waited too long. Does it sleep, or wait for input?"
    assert ended.error is not None
    return explain_error(ended.error)


def explain_error(error: BaseException) -> str:
    """One sentence that names the exception, what it means, and where in the learner's code it was raised."""
    name = type(error).__name__
    if isinstance(error, AgentkitError):
        return f"{name}: {error}"
    place = _place(error.__traceback__)
    meaning = _meaning(error)
    if not place:
        return f"The check cannot use your answer as it is ({name}{f': {meaning}' if meaning else ''})."
    return f"Your code raised {name}{place}{f': {meaning}' if meaning else ''}."


def _meaning(error: BaseException) -> str:
    meaning = next((text for kind, text in _MEANS.items() if isinstance(error, kind)), "")
    about: object = None
    if isinstance(error, KeyError):
        about = error.args[0] if error.args else None
    elif isinstance(error, (NameError, AttributeError, ImportError)):
        about = error.name
    return f"{meaning} ({shown(about)})" if meaning and isinstance(about, (str, int)) else meaning


def _place(traceback: TracebackType | None) -> str:
    """Where in the learner's code it happened: `` in line 3 of `window` ``, counted from the line with ``def``."""
    found = ""
    while traceback is not None:
        code = traceback.tb_frame.f_code
        inner = (
            code.co_name.startswith("<") and code.co_name != "<module>"
        )  # a comprehension or lambda inside a function
        if is_learners(code.co_filename) and not (inner and found):
            line = traceback.tb_lineno - code.co_firstlineno + 1
            found = f" in line {line}" if code.co_name == "<module>" else f" in line {line} of `{code.co_name}`"
        traceback = traceback.tb_next
    return found
