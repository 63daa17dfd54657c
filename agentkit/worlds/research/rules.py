"""What follows from the facts of the world `research`.

Each rule is a plain function from `Facts` to one `Conclusion`, or to None when what it needs is not known. A rule knows
*shapes* of data, such as "has a passage", never the name of a tool or the words of the goal.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from agentkit.facts import Conclusion, Facts, Failure, Rule
from agentkit.worlds.research.phrases import number, say, speaks_of

CLOSE: Final = 0.8  # a document whose score is this near to the best one is named as well
FAILURE_CODES: Final = ("not_found", "division_by_zero", "too_large", "no_value", "not_arithmetic", "unavailable")


def whole_document(facts: Facts) -> Conclusion | None:
    """A document that was read: its text, with its title."""
    return _joined(
        Conclusion(
            say(facts.language, "text", id=d["document_id"], title=d["title"], text=d["text"]),
            (f"document {d['document_id']}",),
        )
        for d in _having(facts, "document_id", "title", "text")
    )


def passage_found(facts: Facts) -> Conclusion | None:
    """The best passage of each search, with the document that it stands in, unless that document was then read."""
    read = {d["document_id"] for d in _having(facts, "document_id", "text")}
    return _joined(_passage(d, facts) for d in _searches(facts) if d["results"] and _ids(d).isdisjoint(read))


def nothing_found(facts: Facts) -> Conclusion | None:
    """A search without a result is an answer too: the documents do not say."""
    return _joined(
        Conclusion(say(facts.language, "nothing", query=d["query"]), (f"no document about {d['query']}",))
        for d in _searches(facts)
        if not d["results"]
    )


def value_calculated(facts: Facts) -> Conclusion | None:
    """What the calculator says."""
    return _joined(
        Conclusion(
            say(facts.language, "value", expression=d["expression"], value=number(d["value"])),
            (f"{d['expression']} = {d['value']}",),
        )
        for d in _having(facts, "expression", "value")
    )


def failed(facts: Facts) -> Conclusion | None:
    """What could not be done, and why."""
    return _joined(_failure(each, facts) for each in facts.failures if _matters(each, facts))


parts: Final[tuple[Rule, ...]] = (whole_document, passage_found, nothing_found, value_calculated, failed)


def everything(facts: Facts) -> Conclusion | None:
    """What all `parts` have to say, in their order."""
    return _joined(conclusion for rule in parts if (conclusion := rule(facts)))


rules: Final[tuple[Rule, ...]] = (everything,)


def _searches(facts: Facts) -> Iterator[Mapping[str, Any]]:
    return (d for d in _having(facts, "query", "results") if isinstance(d["results"], list))


def _passage(data: Mapping[str, Any], facts: Facts) -> Conclusion:
    best, *others = data["results"]
    text = say(facts.language, "found", passage=best["passage"], id=best["document_id"], title=best["title"])
    near = [each for each in others if each.get("score", 0) >= CLOSE * best.get("score", 0)]
    if near:
        titles = ", ".join(f'{each["document_id"]} "{each["title"]}"' for each in near)
        text = f"{text} {say(facts.language, 'more', titles=titles)}"
    return Conclusion(text, (f"document {best['document_id']}",))


def _ids(data: Mapping[str, Any]) -> set[Any]:
    return {each["document_id"] for each in data["results"]}


def _matters(failure: Failure, facts: Facts) -> bool:
    if failure.code not in FAILURE_CODES or not speaks_of(failure.code):
        return False
    # A service that was down and then answered the same question is no longer news.
    return not (failure.code == "unavailable" and any(fact.arguments == failure.arguments for fact in facts.results))


def _failure(failure: Failure, facts: Facts) -> Conclusion:
    values = {"id": failure.arguments.get("document_id", "-"), "expression": failure.arguments.get("expression", "-")}
    return Conclusion(say(facts.language, failure.code, **values), (failure.code,))


def _having(facts: Facts, *keys: str) -> Iterator[Mapping[str, Any]]:
    return (fact.data for fact in facts.results if _has(fact.data, *keys))


def _has(data: Any, *keys: str) -> bool:
    return isinstance(data, Mapping) and all(data.get(key) is not None for key in keys)


def _joined(conclusions: Iterable[Conclusion]) -> Conclusion | None:
    """Several conclusions as one; the same sentence is said once."""
    found = list(conclusions)
    if not found:
        return None
    sentences = dict.fromkeys(conclusion.text for conclusion in found)
    evidence = dict.fromkeys(each for conclusion in found for each in conclusion.evidence)
    return Conclusion(" ".join(sentences), tuple(evidence))
