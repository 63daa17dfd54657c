"""The shipping checklist of notebook 08: what a registry must have before an agent may use it, each line tried on it.

The lines are tried on a stand-in: the same tools with the same schemas, permissions and approvals, under the same policy, but
with functions that only note that they ran, and with records of its own. So nothing is bought, sent or deleted.
"""

from __future__ import annotations

from typing import Any

from agentkit._ledger import Ledger
from agentkit.checks.agent_checklist import Checklist
from agentkit.checks.contract_report import Promise, try_promises
from agentkit.checks.contract_stand_in import sample, sampled, stand_in, tools_of
from agentkit.checks.exercise import CheckFailed, expect
from agentkit.checks.faces import shown
from agentkit.messages import ToolCall

CHANGING = frozenset(
    "book buy cancel change charge create delete drop edit insert overwrite pay post purchase refund remove reset save send set"
    " transfer update upload write".split()
)
"""How the description of a tool begins when it changes something."""
DAY = 86_400.0
SECRET = "sk-checklist-0123456789abcdef"
LONG = "x" * 60_000


def shipping_checklist(registry: Any) -> Checklist:
    """Try every line of the shipping checklist on a registry. The registry is not changed and none of its tools runs.

    Args:
        registry: an `agentkit.Registry`, or one of a class made from it.
    """
    return Checklist("registry", try_promises("registry", LINES, registry).points)


def _descriptions(registry: Any) -> None:
    owner: dict[str, str] = {}
    for item in tools_of(registry):
        words = " ".join(item.description.split()).casefold()
        expect(len(words) >= 10, f"the description of {item.name} says too little for a model to choose by")
        expect(words not in owner, f"{owner.get(words)} and {item.name} have the same description")
        owner[words] = item.name
        for name, schema in item.parameters.get("properties", {}).items():
            expect(schema.get("description"), f"the parameter `{name}` of {item.name} has no description")


def _sample_call(registry: Any) -> None:
    for item in tools_of(registry):
        if sample(item) is None:
            raise CheckFailed(
                f"no valid call of {item.name} can be made up from its schema; give each parameter a type with an enum, or "
                "an example: Field(examples=[…])"
            )


def _closed(registry: Any) -> None:
    for item in tools_of(registry):
        try:
            item.validate({**(sample(item) or {}), "an_argument_nobody_knows": 1})
        except Exception:
            continue
        raise CheckFailed(
            f"{item.name} accepts an argument that it does not know, so a misspelled name is never noticed"
        )


def _bad_json(registry: Any) -> None:
    for item in tools_of(registry):
        for text in ("{'a': 1", '{"a": 1} and more', "yes"):
            probe = stand_in(registry)
            code = probe.code(ToolCall(item.name, text, "call_1"))
            expect(not probe.ran, f"{item.name} ran although its arguments were the text {shown(text)}")
            expect(code == "bad_json", f"arguments that are not JSON give {code!r} for {item.name}, not 'bad_json'")


def _truncated(registry: Any) -> None:
    for item, arguments in sampled(registry):
        probe = stand_in(registry)
        code = probe.code(ToolCall(item.name, arguments, "call_1", truncated=True), yes=True)
        expect(not probe.ran, f"{item.name} ran although the model was cut off in the middle of the call")
        expect(code == "truncated", f"a call that was cut off gives {code!r} for {item.name}, not 'truncated'")


def _bounded_retry(registry: Any) -> None:
    tools, probe = tools_of(registry), stand_in(registry)
    for item in tools:
        bad = {"an_argument_nobody_knows": 1}
        hints = []
        for number in (1, 2):
            error = probe.call(ToolCall(item.name, bad, f"{item.name}_{number}")).error
            expect(error is not None, f"{item.name} took arguments that do not fit, and nothing was said")
            hints.append(error.hint if error else "")
        expect(
            hints[0] and hints[1] and hints[0] != hints[1],
            f"after arguments of {item.name} that are wrong twice, the model is told the same again, so it may go on for ever",
        )


def _deadline(registry: Any) -> None:
    for item in tools_of(registry):
        expect(
            item.timeout is not None or (not item.blocking and item.permission == "read"),
            f"{item.name} has no deadline; set tool(timeout=…), in seconds, or blocking=False when a read is always quick",
        )


def _kinds(registry: Any) -> None:
    for item in tools_of(registry):
        verb = (item.description.split() or [""])[0].casefold()
        expect(
            item.permission != "read" or verb not in CHANGING,
            f'the description of {item.name} begins with {verb!r}, but it is a `read` tool; set permission="write"',
        )


def _approval(registry: Any) -> None:
    for item, arguments in sampled(registry, "dangerous"):
        probe = stand_in(registry)
        code = probe.code(ToolCall(item.name, arguments, "call_1"))
        expect(not probe.ran, f"{item.name} is dangerous and ran without asking; leave out `approval=False`")
        expect(
            code in ("needs_approval", "not_permitted"),
            f"{item.name} is dangerous, and a call that nobody approved gives {code!r}, not 'needs_approval'",
        )


def _bound(registry: Any) -> None:
    for item, arguments in sampled(registry):
        if not item.approval or not arguments:
            continue
        probe = stand_in(registry)
        shown_call = ToolCall(item.name, arguments, "call_1")
        approval = probe.registry.approve(shown_call, run_id=probe.run_id)
        probe.registry.call(shown_call, run_id="another run", approved=approval)
        expect(not probe.ran, f"an approval of {item.name} in one run was good for another run")
        until = approval.until
        expect(
            until is not None and until - probe.now <= DAY,
            f"an approval of {item.name} is valid for more than a day; set Registry(approval_seconds=…)",
        )


def _once(registry: Any) -> None:
    for item, arguments in sampled(registry, "write", "dangerous"):
        probe = stand_in(registry)
        for _ in range(2):
            probe.call(ToolCall(item.name, arguments, "call_1"), yes=True)
        expect(
            len(probe.ran) < 2,
            f"the same call of {item.name}, sent twice, ran twice; keep a ledger by run and arguments",
        )


def _durable(registry: Any) -> None:
    writing = [item.name for item in tools_of(registry) if item.permission != "read"]
    expect(
        not writing or not isinstance(registry.records.ledger, Ledger),
        f"attempts at {', '.join(writing)} are kept in memory, so a crash forgets them; "
        "give Registry(ledger=SqliteLedger(path))",
    )


def _rule(registry: Any) -> None:
    for item in tools_of(registry):
        expect(
            item.permission != "dangerous" or item.rule is not None,
            f"{item.name} is dangerous and has no business rule; add tool(rule=…), which refuses before anything is done",
        )


def _audit(registry: Any) -> None:
    expect(
        tools_of(registry) and registry.records.audit is not None,
        "nobody will know later what was let through; give Registry(audit=AuditLog(path))",
    )


def _audit_first(registry: Any) -> None:
    for item, arguments in sampled(registry, "write", "dangerous"):
        probe = stand_in(registry, audit_works=False)
        code = probe.code(ToolCall(item.name, arguments, "call_1"), yes=True)
        expect(not probe.ran, f"{item.name} ran although the audit log could not be written (the code was {code!r})")


def _secrets(registry: Any) -> None:
    for item, arguments in sampled(registry):
        probe = stand_in(registry, answer={"note": f"key={SECRET}", "api_key": SECRET})
        seen = probe.call(ToolCall(item.name, arguments, "call_1"), yes=True).content
        failing = stand_in(registry, error=RuntimeError(f"401 for Bearer {SECRET}"))
        told = failing.call(ToolCall(item.name, arguments, "call_1"), yes=True).content
        expect(SECRET not in seen, f"a key in the data of {item.name} reaches the model")
        expect(SECRET not in told, f"a key in an exception of {item.name} reaches the model")
        expect(
            SECRET not in repr([*probe.events, *failing.events]),
            f"a key in a call of {item.name} reaches the audit log",
        )


def _size(registry: Any) -> None:
    for item, arguments in sampled(registry):
        probe = stand_in(registry, answer=LONG)
        size = len(probe.call(ToolCall(item.name, arguments, "call_1"), yes=True).content)
        expect(
            size < len(LONG) // 2,
            f"a result of {item.name} with {len(LONG):,} characters is sent to the model whole; lower Registry(result_limit=…)",
        )


def _trusted(registry: Any) -> None:
    tools = tools_of(registry)
    trusted = registry.permits.trusted
    expect(
        trusted, "a definition that changes later would not be noticed; look at the tools, then call registry.trust()"
    )
    for item in tools:
        expect(
            trusted.get(item.name) == item.fingerprint,
            f"the definition of {item.name} is not the one that was trusted; look at it, then call registry.trust()",
        )


LINES: tuple[Promise[Any], ...] = (
    Promise("descriptions", "every tool and parameter is described, and no two tools are alike", _descriptions),
    Promise("examples", "a valid call of every tool can be made up from its schema alone", _sample_call),
    Promise("closed schema", "an argument that a tool does not know is refused", _closed),
    Promise("not JSON", "arguments that are not JSON are refused with bad_json", _bad_json),
    Promise("truncated", "a call that was cut off never runs", _truncated),
    Promise("bounded retry", "after wrong arguments the model is told once to try again, then to stop", _bounded_retry),
    Promise("deadline", "every tool has a time-out, or is a quick read", _deadline),
    Promise("kinds", "a tool whose description says that it changes something is no read", _kinds),
    Promise("approval", "no dangerous tool runs without a person", _approval),
    Promise("bound approval", "an approval is for one run and for a day at most", _bound),
    Promise("once", "the same write, sent twice, runs once", _once),
    Promise("ledger", "attempts at writes outlive the process", _durable),
    Promise("business rule", "every dangerous tool has a rule that is asked first", _rule),
    Promise("audit log", "what was let through is written down", _audit),
    Promise("audit first", "a write runs only after it was written down", _audit_first),
    Promise("secrets", "keys reach neither the model nor the audit log", _secrets),
    Promise("size", "a very long result is shortened", _size),
    Promise("catalogue", "the definitions are trusted as they are now", _trusted),
)
