"""A loopback server that speaks the wire format of OpenAI and of Anthropic in front of any model.

The official SDKs, and libraries built on them, talk to it as they talk to the services: no key, no network, the real wire.

    with Endpoint(OfflineModel()) as server:
        client = openai.OpenAI(base_url=server.openai_url, api_key="none")
"""

from __future__ import annotations

from agentkit.endpoint.run import run_endpoint
from agentkit.endpoint.server import Endpoint
from agentkit.endpoint.values import Exchange

__all__ = ["Endpoint", "Exchange", "run_endpoint"]
