"""Contracts: the promises that a hand-made piece and the package's own both keep.

Each takes the piece itself and says in its docstring how little the piece must have. It returns a `ContractReport`.
"""

from __future__ import annotations

from agentkit.checks.contract_loop import loop_contract
from agentkit.checks.contract_mcp_client import mcp_client_contract
from agentkit.checks.contract_mcp_server import mcp_server_contract
from agentkit.checks.contract_memory import memory_contract
from agentkit.checks.contract_react import react_parser_contract
from agentkit.checks.contract_registry import registry_contract
from agentkit.checks.contract_report import ContractReport, Point
from agentkit.checks.contract_tool import tool_contract

__all__ = [
    "ContractReport",
    "Point",
    "loop_contract",
    "mcp_client_contract",
    "mcp_server_contract",
    "memory_contract",
    "react_parser_contract",
    "registry_contract",
    "tool_contract",
]
