"""The brain in the box: `OfflineModel`, a small, open, deterministic decision procedure.

How it decides, one module for each step:

    history    what was asked, answered and observed
    needs      the goal, split into needs; mood: question or action
    scoring    how well each tool's text fits a need; softmax
    arguments  values for the parameters, from what is stated or observed
    plan       which calls a need takes, and what is missing
    answer     the last step in words, with the rules of a world
    lexicon    the small Korean–English dictionary that the words go through
"""

from agentkit.models.offline.model import OfflineModel

__all__ = ["OfflineModel"]
