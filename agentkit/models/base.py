"""Choosing a model: one line, and one environment variable, swap the brain of every notebook."""

from __future__ import annotations

import os
from collections.abc import Sequence

from agentkit.errors import DefinitionError, did_you_mean
from agentkit.facts import Rule
from agentkit.messages import Model

VARIABLE = "AGENTKIT_MODEL"
NAMES = ("offline", "human")


def get_model(name: str | None = None, *, rules: Sequence[Rule] = ()) -> Model:
    """The model of this name, or of the environment variable AGENTKIT_MODEL, or the offline model.

    Only the variable changes the default; the mere presence of a provider's key never does.

    Args:
        name: ``"offline"`` (the brain in the box) or ``"human"`` (you decide).
        rules: what a world knows; only the offline model needs them, every other model ignores them.

    Raises:
        DefinitionError: there is no model of this name.
    """
    chosen = name or os.environ.get(VARIABLE, "").strip() or "offline"
    if chosen == "offline":
        from agentkit.models.offline import OfflineModel

        return OfflineModel(rules=rules)
    if chosen == "human":
        from agentkit.models.human import HumanModel

        return HumanModel()
    origin = "get_model()" if name else f"the environment variable {VARIABLE}"
    raise DefinitionError(
        f"{origin} names the model {chosen!r}, which is not known. {did_you_mean(chosen, NAMES)}"
        f"The names are: {', '.join(NAMES)}."
    )
