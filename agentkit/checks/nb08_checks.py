"""The checks of notebook 08: what each answer is tried with."""

from __future__ import annotations

import json
from typing import Any

from agentkit.checks.contract_checklist import shipping_checklist
from agentkit.checks.contract_report import ContractReport
from agentkit.checks.exercise import CheckFailed, expect
from agentkit.checks.faces import shown
from agentkit.errors import ToolError
from agentkit.registry import Registry

BASE = ("monday", "refund", {"order_id": "A100", "amount": 500})


def check_key(key: Any) -> None:
    """08.1: equal for equal calls, different for any other."""
    first = key(*BASE)
    expect(first is not None, "`key` returned None; did you forget `return`?")
    try:
        hash(first)
    except TypeError:
        raise CheckFailed("the key must be usable as a key of a dict, for example a text or a tuple of texts") from None
    swapped = {"amount": 500, "order_id": "A100"}
    expect(key("monday", "refund", swapped) == first, "the order of the arguments must not matter; sort the keys")
    nested = ({"a": {"x": 1, "y": 2}}, {"a": {"y": 2, "x": 1}})
    expect(
        key("r", "t", nested[0]) == key("r", "t", nested[1]),
        "the order must not matter inside an argument either; json.dumps(…, sort_keys=True) sorts every level",
    )
    try:
        hash(key("r", "t", {"items": ["pen", {"color": "red"}]}))
    except TypeError:
        raise CheckFailed(
            "an argument may hold a list or a dict, and then your key cannot be used as a key of a dict"
        ) from None
    others = {
        "another run": ("tuesday", *BASE[1:]),
        "another tool": ("monday", "charge", BASE[2]),
        "another amount": (*BASE[:2], {"order_id": "A100", "amount": 501}),
        "the amount as a text": (*BASE[:2], {"order_id": "A100", "amount": "500"}),
        "another list": (*BASE[:2], {"order_id": "A100", "amount": 500, "items": ["pen"]}),
    }
    for what, call in others.items():
        expect(key(*call) != first, f"{what} must give another key")
    one, yes = ({"order_id": "A100", "flag": flag} for flag in (1, True))
    expect(key("r", "t", one) != key("r", "t", yes), "1 and True must give different keys, and Python calls them equal")
    clash = key("a", "bc", {}) != key("ab", "c", {})
    expect(clash, "run 'a' with tool 'bc' has the same key as run 'ab' with tool 'c'; keep the parts apart")


def check_arguments_of(arguments_of: Any) -> None:
    """08.2: each form that models write, and its treatment."""
    good = {"order_id": "A100"}
    text = json.dumps(good)
    wanted: list[tuple[str, Any, str]] = [
        (text, good, "an object"),
        ("", {}, "empty text means no arguments"),
        ("  \n", {}, "white space means no arguments"),
        ("null", {}, "`null` means no arguments"),
        (json.dumps(text), good, "the object was encoded twice"),
        (f"```json\n{text}\n```", good, "the object stands in a Markdown fence"),
        (f"```\n{text}\n```", good, "the object stands in a Markdown fence without a language"),
    ]
    for written, right, why in wanted:
        try:
            found = arguments_of(written)
        except ValueError:
            raise CheckFailed(
                f"{shown(written)} must give {shown(right)} ({why}), but a ValueError was raised"
            ) from None
        expect(found == right, f"{shown(written)} must give {shown(right)} ({why}), not {shown(found)}")
    for written, why in (
        ("[1]", "a list is no object"),
        ("3", "a number is no object"),
        ("{'order_id': 'A100'}", "single quotes are not JSON"),
        ('{"order_id": "A1', "it was cut off, and what is missing is unknown"),
        (f"Sure: {text}", "there is other text around it"),
    ):
        try:
            found = arguments_of(written)
        except ValueError:
            continue
        raise CheckFailed(f"{shown(written)} must raise a ValueError ({why}), but it gave {shown(found)}")


def check_rule(may_refund: Any) -> None:
    """08.3: the two refusals with their codes, and the border between yes and no."""
    order = {"order_id": "A100", "status": "delivered", "amount": 250_000, "refunded_amount": 50_000}
    for amount in (1, 199_999, 200_000):
        try:
            said = may_refund(order, amount)
        except ToolError:
            raise CheckFailed(
                f"a refund of {amount:,} of the 200,000 that are left is allowed, and it was refused"
            ) from None
        expect(said is None, f"a rule returns nothing; it speaks by raising. Yours returned {shown(said)}")
    on_the_way = {**order, "status": "shipping"}
    _refuses(may_refund, order, 200_001, "too_much", "only 200,000 of 250,000 are left, because 50,000 were paid back")
    _refuses(may_refund, on_the_way, 1, "not_delivered", "the order is still on its way")
    _refuses(may_refund, on_the_way, 900_000, "not_delivered", "the order is not delivered; that comes first")


def _refuses(rule: Any, order: dict[str, Any], amount: int, code: str, why: str) -> None:
    try:
        rule(order, amount)
    except ToolError as error:
        expect(error.code == code, f"when {why}, the code must be {code!r}, not {shown(error.code)}")
        expect(len(str(error)) > 10, f"the refusal {code!r} needs a sentence that the model can use")
        return
    except Exception as error:
        raise CheckFailed(
            f"when {why}, raise `ToolError(…, code={code!r})`, not {type(error).__name__}: a program reads the code"
        ) from None
    raise CheckFailed(f"a refund of {amount:,} must be refused with the code {code!r}, because {why}")


def check_waves(waves: Any) -> None:
    """08.4: neighbouring reads together, everything else alone, nothing reordered."""
    for kinds, right, why in (
        (["read", "read", "read"], [[0, 1, 2]], "three reads can run at the same time"),
        (["write", "write"], [[0], [1]], "two writes run one after the other"),
        (["read", "write", "read"], [[0], [1], [2]], "the last read may depend on the write, so it must not pass it"),
        (["read", "read", "write", "read", "read"], [[0, 1], [2], [3, 4]], "reads on both sides of a write"),
        (["read", "dangerous", "read", "read"], [[0], [1], [2, 3]], "a dangerous call runs alone, like a write"),
        (["dangerous", "write"], [[0], [1]], "neither may run beside another call"),
        ([], [], "no calls, no waves"),
        (["read"], [[0]], "one call is one wave"),
    ):
        found = waves(list(kinds))
        plain = [list(wave) for wave in found] if isinstance(found, (list, tuple)) else found
        expect(plain == right, f"{shown(kinds)} must give {shown(right)} ({why}), not {shown(plain)}")


class _Bank:
    """Something to run: it counts, and fails as it is told."""

    def __init__(self, error: Exception | None = None) -> None:
        self.paid = 0
        self.error = error

    def __call__(self) -> str:
        self.paid += 1
        if self.error is not None:
            raise self.error
        return f"payment {self.paid}"


def _code(answer: Any) -> str:
    if not isinstance(answer, dict) or "ok" not in answer:
        raise CheckFailed(f"`once` must return a result like {{'ok': True, 'data': …}}, not {shown(answer)}")
    return "ok" if answer["ok"] else str(answer.get("code", ""))


def check_once(once: Any) -> None:
    """08.5: retry, second wish, another key, a failure, and an outcome that nobody knows."""
    ledger: dict[Any, Any] = {}
    bank = _Bank()
    first = once(ledger, "key", "c1", bank)
    expect(_code(first) == "ok" and first.get("data") == "payment 1", f"the first call gave {shown(first)}")
    expect(
        once(ledger, "key", "c1", bank) == first and bank.paid == 1,
        "the same call id is a retry: give the first answer",
    )
    second = once(ledger, "key", "c2", bank)
    expect(
        bank.paid == 2 and second.get("data") == "payment 2",
        "a new id after a known outcome is a new wish and must run",
    )
    expect(once(ledger, "key", "c1", bank) == first, "the first call must still have its own answer after the second")
    once(ledger, "other", "c3", bank)
    expect(bank.paid == 3, "another key is another call and must run")
    slow = _Bank(TimeoutError())
    expect(_code(once(ledger, "slow", "c1", slow)) == "timeout", "a TimeoutError must give the code 'timeout'")
    for call_id in ("c1", "c2"):
        said = _code(once(ledger, "slow", call_id, slow))
        expect(slow.paid == 1, f"after a time-out the call {call_id!r} ran again, and may have paid twice")
        expect(said == "unknown_outcome", f"after a time-out a retry must give 'unknown_outcome', not {said!r}")
    down = _Bank(RuntimeError())
    expect(_code(once(ledger, "down", "c1", down)) == "tool_failed", "any other exception must give 'tool_failed'")
    once(ledger, "down", "c2", down)
    expect(down.paid == 2, "a failure is a known outcome: the next call with a new id must run")

    def looks() -> str:
        waiting = once(ledger, "inside", "c2", _Bank())
        return _code(waiting)

    inside = once(ledger, "inside", "c1", looks)
    expect(
        inside.get("data") == "unknown_outcome",
        "reserve before you run: while a call runs, an equal one must not start",
    )


def check_shipped(registry: Any) -> ContractReport:
    """08.6: a registry with a write or dangerous tool of one's own, on which every line holds."""
    if not isinstance(registry, Registry):
        raise CheckFailed(f"hand in a `Registry`, not {shown(registry)}")
    expect(
        any(item.permission != "read" for item in registry),
        'there is only reading in it; add a tool of your own with permission="write" or "dangerous"',
    )
    return shipping_checklist(registry)
