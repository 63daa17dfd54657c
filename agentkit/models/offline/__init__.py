"""The offline model, the brain in the box. Read `model` first, then `needs`, `scoring`, `planning`, `arguments`, `wording`."""

from agentkit.models.offline.model import OfflineModel

__all__ = ["OfflineModel"]
