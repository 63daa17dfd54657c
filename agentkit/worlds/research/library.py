"""The tools of the world `research`: a small collection of documents that can be searched and read, and a calculator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Final, TypeAlias

from pydantic import Field

from agentkit.errors import ToolError
from agentkit.safety import calculate as value_of
from agentkit.tools import Tool, tool
from agentkit.worlds import Toolbox
from agentkit.worlds.research.search import documents, index

LONGEST_QUERY: Final = 200

Hook: TypeAlias = Callable[[str], None]


class Library(Toolbox):
    """The collection with its calculator. The methods that are decorated with ``@tool`` are its tools; all of them only read.

    Args:
        before: called with the tool's name before each tool does anything. It may wait (a slow service) or raise (a
            failing one), so that a test or a lesson can show both.
    """

    def __init__(self, *, before: Hook | None = None) -> None:
        self._before = before

    @tool
    def search_documents(
        self,
        query: Annotated[
            str,
            Field(description="What to look for: a few words or a question.", min_length=1, max_length=LONGEST_QUERY),
        ],
        limit: Annotated[int, Field(description="At most how many documents.", ge=1, le=10)] = 3,
    ) -> dict[str, Any]:
        """Search the collection of documents about Python web frameworks and AI agents.

        It gives the best documents first, each with its document id, its title and the passage that fits the query.
        """
        self._begin("search_documents")
        hits = index().search(query, limit)
        results = [
            {
                "document_id": hit.document.document_id,
                "title": hit.document.title,
                "passage": hit.passage,
                "score": hit.score,
            }
            for hit in hits
        ]
        return {"query": query, "count": len(results), "results": results}

    @tool
    def read_document(
        self,
        document_id: Annotated[
            str, Field(description="The id of the document, a D and two digits.", pattern=r"^D\d{2}$", examples=["D01"])
        ],
    ) -> dict[str, Any]:
        """Read the whole text of one document by its id."""
        self._begin("read_document")
        found = next((each for each in documents() if each.document_id == document_id), None)
        if found is None:
            raise ToolError(
                f"There is no document {document_id}.", code="not_found", hint="Search for it by its topic first."
            )
        return {"document_id": found.document_id, "title": found.title, "language": found.language, "text": found.text}

    @tool
    def calculate(
        self,
        expression: Annotated[
            str,
            Field(
                description="Numbers, + - * / // % **, brackets, sqrt, abs, round, min, max.", examples=["12 * (3 + 4)"]
            ),
        ],
    ) -> dict[str, Any]:
        """Calculate the value of one arithmetic expression."""
        self._begin("calculate")
        return {"expression": expression, "value": value_of(expression)}

    def _begin(self, name: str) -> None:
        if self._before is not None:
            self._before(name)


def open_library(*, before: Hook | None = None) -> Library:
    """The collection with its tools. See `Library` for the argument."""
    return Library(before=before)


def make_tools() -> list[Tool]:
    """The tools of a fresh library."""
    return open_library().tools


def unavailable(*names: str) -> Hook:
    """A hook for `open_library`: the named tools fail, as when the service behind them is down."""

    def hook(name: str) -> None:
        if name in names:
            raise ToolError(
                f"The service behind {name} does not answer.", code="unavailable", hint="Go on without it, and say so."
            )

    return hook
