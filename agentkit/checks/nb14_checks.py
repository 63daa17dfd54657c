"""The checks of notebook 14 in which a server is tried: 14.2 and 14.5. The SDK is imported only then."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from agentkit.checks.exercise import CheckFailed, expect
from agentkit.checks.faces import shown
from agentkit.checks.nb14_plain import function_of
from agentkit.errors import AgentkitError

if TYPE_CHECKING:
    from agentkit.mcp.sdk_client import SdkClient

PRICES: Final[Mapping[str, int]] = {"cable": 9_000, "charger": 25_000}


# --- 14.2: a server --------------------------------------------------------------------------------------------------------


@contextmanager
def connected(make: Any, mode: str = "auto") -> Iterator[SdkClient]:
    """A client of the server that a learner's function makes. Raises `CheckFailed` when it makes none."""
    from mcp.server import MCPServer

    from agentkit.mcp.sdk_client import SdkClient

    server = make()
    if server is None:
        raise CheckFailed("your function returned None; return the server at its end")
    expect(isinstance(server, MCPServer), f"your function must return an MCPServer, not {shown(server)}")
    with SdkClient(server, mode=mode) as client:
        yield client


def check_prices(make_prices: Any) -> None:
    """14.2: a tool, a sentence for the model, and a resource."""
    function_of(make_prices, "14.2", "make_prices()")
    with connected(make_prices) as client:
        name = client.server_info.get("name")
        expect(name == "prices", f'the server is called {shown(name)}; make it with MCPServer("prices", …)')
        tools = {item.name: item for item in client.list_tools()}
        expect("price" in tools, f"it has no tool `price`; its tools are: {', '.join(tools) or 'none'}")
        expect(
            tools["price"].description.strip(),
            "`price` has no description, and the model chooses by it: write a docstring",
        )
        asked = list(tools["price"].input_schema.get("properties", {}))
        expect(asked == ["item"], f"`price` has the parameters {', '.join(asked) or 'none'}; it needs one, `item`")
        for item, amount in PRICES.items():
            found = client.call_tool("price", {"item": item})
            expect(not found.is_error, f"the price of {item} is {amount}, but the call failed: {shown(found.text)}")
            expect(found.text.strip() == str(amount), f"the price of {item} is {amount}, not {shown(found.text)}")
        _check_unknown(client)
        _check_addresses(client)


def _check_unknown(client: SdkClient) -> None:
    found = client.call_tool("price", {"item": "lamp"})
    expect(
        found.is_error,
        f"there is no lamp, and the answer {shown(found.text)} looks like a success; raise a ToolError",
    )
    told = all(item in found.text for item in PRICES)
    expect(
        told,
        f"there is no lamp, and the model reads only {shown(found.text)}: raise `ToolError(…)` with a sentence that names "
        "the items there are",
    )


def _check_addresses(client: SdkClient) -> None:
    for item, amount in PRICES.items():
        uri = f"prices://{item}"
        try:
            text = "".join(str(part.get("text", "")) for part in client.read_resource(uri))
        except AgentkitError:
            raise CheckFailed(
                f'nothing can be read at {uri}; add a function with @….resource("prices://{{item}}")'
            ) from None
        expect(str(amount) in text, f"at {uri} stands {shown(text)}, without the price {amount}")


# --- 14.5: a server of your own --------------------------------------------------------------------------------------------


def check_own(make_own: Any) -> None:
    """14.5: everything is tried in both eras."""
    function_of(make_own, "14.5", "make_own()")
    for mode in ("auto", "legacy"):
        with connected(make_own, mode) as client:
            _check_tools(client)
            _check_offers(client)


def _check_tools(client: SdkClient) -> None:
    tools = client.list_tools()
    expect(not client.rejected, f"the tool {client.rejected[0].name!r} cannot be used" if client.rejected else "")
    expect(len(tools) >= 2, f"the server has {len(tools)} tools; it needs two")
    for item in tools:
        expect(
            len(item.description) >= 20, f"the description of {item.name} is too short to choose by; write what it does"
        )
        for name, schema in item.input_schema.get("properties", {}).items():
            told = isinstance(schema, Mapping) and schema.get("description")
            expect(told, f"the parameter {name} of {item.name} has no words; write Annotated[…, Field(description=…)]")
    reads = [item.name for item in tools if item.annotations.get("readOnlyHint") is True]
    expect(
        0 < len(reads) < len(tools),
        f"{len(reads)} of {len(tools)} tools say that they only read; one should, by "
        "ToolAnnotations(read_only_hint=True), and one should not",
    )
    _check_calls(client, reads)


def _check_calls(client: SdkClient, reads: list[str]) -> None:
    from agentkit.checks.contract_stand_in import sample
    from agentkit.registry import Registry

    registry = Registry()
    registry.add_mcp(client, permission="read", fenced=False, only=reads)
    for item in registry:
        arguments = sample(item)
        expect(
            arguments is not None,
            f"no call of {item.name} can be made up; give its parameters examples: Field(examples=[…])",
        )
        found = client.call_tool(item.name, arguments)
        properties = item.parameters.get("properties", {})
        invented = [name for name in arguments or {} if not properties.get(name, {}).get("examples")]
        cure = ". The value was made up; give one that works by `Field(examples=[…])`" if invented else ""
        expect(not found.is_error, f"{item.name} with {shown(arguments)} failed: {shown(found.text)}{cure}")
    needing = [item for item in client.list_tools() if item.input_schema.get("required")]
    expect(needing, "no tool has a required parameter; give one a parameter without a default")
    failed = client.call_tool(needing[0].name, {})
    expect(
        failed.is_error, f"{needing[0].name} was called without its parameters and gave a success: {shown(failed.text)}"
    )


def _check_offers(client: SdkClient) -> None:
    found = [*client.list_resources(), *client.list_resource_templates()]
    expect(found, 'the server has no resource; add a function with @….resource("…://…")')
    expect(client.list_prompts(), "the server has no prompt; add a function with @….prompt()")
