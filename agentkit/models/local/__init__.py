"""A small language model that runs in this process, on the CPU, without a key or a network.

SmolLM2-135M-Instruct has 135 million parameters, about a thousandth of a large model. It is here to be looked at, not to be
relied on: see `load_results` for what it gets right and wrong.

    engine       the native library: load once, ask, close
    grammar      JSON Schema for constrained decoding
    routing      which tool, by shared words: code, no model
    faithful     whether a sentence says only what the data say
    prompts      the texts that the model is given
    model        `LocalModel`: the agent brain made of these
    questions    45 questions of our own, with examples (questions.json)
    measure      runs all of it and writes results.json
    results      reads results.json: `load_results`, `results_table`, `wilson`
"""

from agentkit.models.local.engine import Completion
from agentkit.models.local.model import LocalModel
from agentkit.models.local.results import load_results, results_table, wilson
from agentkit.models.local.routing import Example

__all__ = ["Completion", "Example", "LocalModel", "load_results", "results_table", "wilson"]
