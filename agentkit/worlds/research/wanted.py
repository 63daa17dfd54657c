"""Short ways to write down an expected call of the world `research`.

There is no single right query and no single right way to write a calculation. So an expected argument may be a *pattern*
that equals every value which will do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from agentkit.errors import ToolError
from agentkit.safety import calculate as value_of
from agentkit.worlds import ExpectedCall


@dataclass(frozen=True, slots=True, eq=False)
class Mentions:
    """Equals every text that holds all these words, in upper or lower case."""

    words: tuple[str, ...]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Mentions):
            return self.words == other.words
        return isinstance(other, str) and all(word.casefold() in other.casefold() for word in self.words)

    def __hash__(self) -> int:
        return hash(self.words)

    def __str__(self) -> str:
        return " ".join(self.words)

    def __repr__(self) -> str:
        return f"<mentions {self}>"


@dataclass(frozen=True, slots=True, eq=False)
class Worth:
    """Equals every expression with the same value (or, for an error code, with the same failure) as this one."""

    expression: str

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Worth):
            other = other.expression
        return isinstance(other, str) and _outcome(other) == _outcome(self.expression)

    def __hash__(self) -> int:
        return hash(_outcome(self.expression))

    def __str__(self) -> str:
        return self.expression

    def __repr__(self) -> str:
        return f"<worth {self}>"


def _outcome(expression: str) -> Any:
    try:
        return value_of(expression)
    except ToolError as error:
        return error.code


def search(*words: str) -> ExpectedCall:
    return "search_documents", {"query": Mentions(words)}


def read(document_id: str) -> ExpectedCall:
    return "read_document", {"document_id": document_id}


def calc(expression: str) -> ExpectedCall:
    return "calculate", {"expression": Worth(expression)}
