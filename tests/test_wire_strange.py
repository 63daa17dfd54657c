"""Documents that are nearly right: each is refused with sentences or read, and nothing in between."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import profile
from test_wire import ANTHROPIC_GOOD, OPENAI_GOOD
from test_wire_anthropic import KEPT as ANTHROPIC_KEPT
from test_wire_openai import KEPT as OPENAI_KEPT
from test_wire_responses import GOOD as RESPONSES_GOOD
from test_wire_responses import KEPT as RESPONSES_KEPT

from agentkit import DefinitionError, anthropic_problems, from_openai, openai_problems, to_anthropic, to_openai
from agentkit._wire import from_anthropic, from_responses, responses_problems, to_responses

DOCUMENTS: dict[str, list[Any]] = {
    "openai": [*OPENAI_GOOD.values(), *OPENAI_KEPT.values()],
    "anthropic": [*ANTHROPIC_GOOD.values(), *(wire for _, wire in ANTHROPIC_KEPT.values())],
    "responses": [found for found in [*RESPONSES_GOOD.values(), *RESPONSES_KEPT.values()] if isinstance(found, list)],
}
FORMS: dict[str, tuple[Any, Any, Any]] = {
    "openai": (openai_problems, from_openai, to_openai),
    "anthropic": (anthropic_problems, lambda wire: from_anthropic("", wire), lambda ours: to_anthropic(ours)[1]),
    "responses": (responses_problems, lambda wire: from_responses("", wire), lambda ours: to_responses(ours)[1]),
}
OTHERS: dict[str, Any] = {
    "openai": lambda ours: openai_problems(to_openai(ours)),
    "anthropic": lambda ours: anthropic_problems(to_anthropic(ours)[1]),
    "responses": lambda ours: responses_problems(to_responses(ours)[1]),
}
odd = st.recursive(
    st.sampled_from(
        [None, True, 0, 1.5, "", " ", "a", "c", "text", "user", "assistant", "tool", "system", "function", "{}"]
    ),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["type", "text", "id"]), inner, max_size=2)
    ),
    max_leaves=3,
)


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every place in a document: what holds it, and the key or number there."""
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield value, key
        yield from places(value[key])


@st.composite
def nearly_right(draw: st.DrawFn, form: str) -> list[Any]:
    """A good document in which up to three places were changed, dropped or doubled."""
    document: list[Any] = copy.deepcopy(draw(st.sampled_from(DOCUMENTS[form])))
    for _ in range(draw(st.integers(0, 3))):
        holder, key = draw(st.sampled_from(list(places(document)) or [(document, 0)]))
        change = draw(st.sampled_from(["odd", "odd", "drop", "double"]))
        if change == "odd" and holder:
            holder[key] = draw(odd)
        elif change == "drop" and holder:
            del holder[key]
        elif isinstance(holder, list) and holder:
            holder.insert(key, copy.deepcopy(holder[key]))
    return document


@pytest.mark.parametrize("form", FORMS)
@profile(300)
@given(data=st.data())
def test_whatever_comes_is_refused_with_sentences_or_read(form: str, data: st.DataObject) -> None:
    """No exception but ours. What a validator accepts is read and sent again in the same form, which it accepts again."""
    problems, read, write = FORMS[form]
    document = data.draw(nearly_right(form))
    before = copy.deepcopy(document)
    found = problems(document)
    assert all(type(problem) is str and problem.endswith(".") for problem in found)
    try:
        ours = read(document)
    except DefinitionError:
        assert found, "the validator accepted what cannot be read"
        return
    sent = write(ours)
    assert document == before, "reading does not touch what it reads"
    assert write(read(sent)) == sent, "once it is in our form, the way back and forth changes nothing"
    if not found and any(m.role != "system" and (m.text.strip() or m.calls) for m in ours):
        assert {name: check(ours) for name, check in OTHERS.items() if check(ours)} == {}, (
            "valid for one, valid for all"
        )
