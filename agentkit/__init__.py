"""agentkit: an AI agent in small pieces. A model decides, tools act, a registry checks, a memory selects, a loop repeats."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from agentkit.errors import (
    AgentkitError,
    ContextFullError,
    DefinitionError,
    ModelError,
    ProviderError,
    ReplyError,
    SavedRunError,
    ScriptError,
    ToolError,
)
from agentkit.loop import Agent, Limits
from agentkit.memory import Memory, estimate_tokens
from agentkit.messages import (
    Approval,
    AskUser,
    CallTools,
    Decision,
    ErrorDetail,
    FinalAnswer,
    Message,
    Model,
    Pause,
    Reply,
    Run,
    Step,
    TextDelta,
    ToolCall,
    ToolResult,
    ToolScore,
    ToolSpec,
    Usage,
)
from agentkit.registry import Registry
from agentkit.tools import Tool, tool

if TYPE_CHECKING:
    from agentkit._door import Station
    from agentkit._wire import (
        anthropic_problems,
        from_anthropic,
        from_openai,
        from_responses,
        openai_problems,
        responses_problems,
        to_anthropic,
        to_openai,
        to_responses,
    )
    from agentkit.models.base import get_model
    from agentkit.models.human import HumanModel
    from agentkit.models.offline import OfflineModel
    from agentkit.models.scripted import ScriptedModel
    from agentkit.models.text_react import parse_react, render_react

__version__ = "0.1.0"

# Beyond the core, a name is imported when it is first used, so that `import agentkit` stays light.
_LAZY = {
    "HumanModel": "agentkit.models.human",
    "OfflineModel": "agentkit.models.offline",
    "ScriptedModel": "agentkit.models.scripted",
    "Station": "agentkit._door",
    "anthropic_problems": "agentkit._wire",
    "from_anthropic": "agentkit._wire",
    "from_openai": "agentkit._wire",
    "from_responses": "agentkit._wire",
    "get_model": "agentkit.models.base",
    "openai_problems": "agentkit._wire",
    "parse_react": "agentkit.models.text_react",
    "render_react": "agentkit.models.text_react",
    "responses_problems": "agentkit._wire",
    "to_anthropic": "agentkit._wire",
    "to_openai": "agentkit._wire",
    "to_responses": "agentkit._wire",
}

__all__ = [
    "Agent",
    "AgentkitError",
    "Approval",
    "AskUser",
    "CallTools",
    "ContextFullError",
    "Decision",
    "DefinitionError",
    "ErrorDetail",
    "FinalAnswer",
    "HumanModel",
    "Limits",
    "Memory",
    "Message",
    "Model",
    "ModelError",
    "OfflineModel",
    "Pause",
    "ProviderError",
    "Registry",
    "Reply",
    "ReplyError",
    "Run",
    "SavedRunError",
    "ScriptError",
    "ScriptedModel",
    "Station",
    "Step",
    "TextDelta",
    "Tool",
    "ToolCall",
    "ToolError",
    "ToolResult",
    "ToolScore",
    "ToolSpec",
    "Usage",
    "anthropic_problems",
    "estimate_tokens",
    "from_anthropic",
    "from_openai",
    "from_responses",
    "get_model",
    "openai_problems",
    "parse_react",
    "render_react",
    "responses_problems",
    "to_anthropic",
    "to_openai",
    "to_responses",
    "tool",
]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'agentkit' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
