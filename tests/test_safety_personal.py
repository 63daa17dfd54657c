"""Masking: a planted secret or personal datum is in no record, however deep it lies; other text stays."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import profile

from agentkit import Registry, ToolCall, ToolError, tool
from agentkit._redact import mask
from agentkit.safety import AuditDatabase, AuditLog, mask_personal
from agentkit.safety.personal import passes_luhn

MAILS = [
    "kim@example.com",
    "kim.min-su+shop@mail.example.co.kr",
    "a" * 90 + "@example.com",
    "김@예시.한국",
    "o'brien@x.org",
    "kim%x@y.de",
]
CARDS = ["4111111111111111", "4111 1111 1111 1111", "4111-1111-1111-1111", "378282246310005", "3782 822463 10005", "4111.1111.1111.1111",
         "6304000000000000", "4111\u00a01111\u00a01111\u00a01111"]  # fmt: skip
RESIDENTS = ["900101-1234567", "9001011234567", "900101 2345678", "011231-4000000", "900101–1234567"]
PHONES = [
    "010-1234-5678", "010 1234 5678", "01012345678", "+82 10-1234-5678", "+82-10-1234-5678", "+821012345678", "02-123-4567", "(02) 123-4567",
    "(02)123-4567", "031.123.4567", "+49 (0)30 1234 5678", "+1 (555) 123-4567", "(555) 123-4567", "555-123-4567", "+44 20 7946 0958", "0161 496 0000",
]  # fmt: skip
KEYS = [
    "sk-abcdefgh12345678",
    "Bearer abc123def456",
    "AKIAABCDEFGHIJKLMNOP",
    "ghp_abcdefghij0123456789",
    "password=hunter2",
    "AIzaSyA1234567890abc",
]
PLANTED = [("[e-mail]", each) for each in MAILS] + [("[card]", each) for each in CARDS]
PLANTED += [("[resident number]", each) for each in RESIDENTS] + [("[phone]", each) for each in PHONES]


@pytest.mark.parametrize(("word", "text"), PLANTED, ids=[text[:24] for _, text in PLANTED])
def test_each_form_is_masked_in_each_place(word: str, text: str) -> None:
    for around in (
        "{}",
        "call {} now",
        "<{}>",
        "a: {},\n",
        "Kim ({})",
        "“{}”",
        "한국어 {} 입니다",
        '{{"x": "{}"}}',
        "to={}",
    ):
        made = mask_personal(around.format(text))
        assert word in made and text not in made
        assert not any(part in made for part in (text[-8:], text[:9])), made


@pytest.mark.parametrize("text", ["{} 123", "{} 12/27", "1 {}", "{} {}", "7 {} 7", "{}, {}"])
@pytest.mark.parametrize("card", CARDS)
def test_a_card_is_found_among_other_numbers(text: str, card: str) -> None:
    made = mask_personal(text.format(card, card))
    assert card not in made and card[-9:] not in made and made == text.format("[card]", "[card]")


@pytest.mark.parametrize(
    "text",
    [
        "2026-10-13", "2026-10-13T09:30:15.123456+09:00", "12:30", "A100", "order 12345678", "3.14159265358979", "192.168.0.1", "1,234,567.89",
        "4111111111111112", "v1.2.3-4", "1760000000000", "f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "a @ b", "@name", "0x1F", "100-200-300",
        "INV-2026-0001234", "13 of 40", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"[:40], "", "no digits",
    ],
)  # fmt: skip
def test_other_text_stays(text: str) -> None:
    assert mask_personal(text) == text


def test_values_keys_and_numbers() -> None:
    value = {"kim@x.com": [{"deep": ("010-1234-5678",)}, 4111111111111111, 1760000000000, 3.5, None, True], "n": 7}
    assert mask_personal(value) == {
        "[e-mail]": [{"deep": ["[phone]"]}, "[card]", 1760000000000, 3.5, None, True],
        "n": 7,
    }
    assert mask_personal({1: "kim@x.com"}) == {1: "[e-mail]"}


def test_luhn() -> None:
    assert passes_luhn("79927398713") and not any(passes_luhn(f"7992739871{n}") for n in "012456789")
    assert passes_luhn("4111²1111 1111 1111 1") is passes_luhn("41111111111111111")


def test_long_text_without_data_takes_no_long_time() -> None:
    for text in (
        "a" * 50_000 + "@",
        "1 " * 20_000,
        "0" * 50_000,
        "+1" * 20_000,
        "4111 " * 5_000,
        "4 " * 20_000,
        "a@b." * 10_000,
    ):
        mask_personal(text)


HERE = object()  # where the planted text goes: one strategy for all texts, since making one takes longer than using it
PLACES = st.recursive(
    st.sampled_from(["x", 1, None, True, 2.5, HERE]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b", "note"]), inner, max_size=3),
    max_leaves=10,
).map(lambda value: {"v": value, "planted": [HERE]})


def planted(value: Any, text: str) -> Any:
    if isinstance(value, dict):
        return {key: planted(item, text) for key, item in value.items()}
    if isinstance(value, list):
        return [planted(item, text) for item in value]
    return text if value is HERE else value


@given(PLACES, st.sampled_from([text for _, text in PLANTED] + KEYS))
@profile(300)
def test_OP04_nothing_planted_gets_through_nested_data(places: Any, text: str) -> None:
    assert text not in json.dumps(mask_personal(mask(planted(places, text))), ensure_ascii=False)


def test_OP04_a_short_key_in_a_field_with_a_secret_name() -> None:
    value = {
        "args": [{"Authorization": "Bearer x"}, {"headers": {"api_key": "k1", "X-Token": "t"}}],
        "password": ["a", {"b": "c"}],
    }
    found = json.dumps(mask(value))
    assert not [word for word in ("Bearer x", '"k1"', '"t"', '"a"', '"c"') if word in found]


@pytest.mark.parametrize("kind", [AuditLog, AuditDatabase])
@pytest.mark.parametrize("secret", [*KEYS, "kim@example.com", "010-1234-5678", "900101-1234567", "4111 1111 1111 1111"])
def test_OP02_no_sink_receives_a_secret(kind: Any, secret: str, tmp_path: Path) -> None:
    @tool(permission="write")
    def mail(text: str, headers: dict[str, Any]) -> str:
        """Send a mail."""
        raise ToolError(f"401 for https://x/y?key=AIzaSyA1234567890abc: {text}")

    log = kind(tmp_path / "audit")
    registry = Registry([mail], audit=log)
    trace: list[Any] = []
    call = ToolCall("mail", {"text": secret, "headers": {"Authorization": [secret], secret: 1}}, "c1")
    result = registry.call(call, run_id="r", trace=trace)
    registry.call(ToolCall("mail", f'{{"text": "{secret}", "headers": 5}}', secret), run_id="r")
    registry.call(ToolCall("mail", f'{{"text": "{secret}', "c3"), run_id="r")
    registry.call(ToolCall(f"mail {secret}", {}, "c4"), run_id="r")
    registry.approve(ToolCall("mail", {"text": secret, "headers": {}}, "c5"), run_id="r", by=secret)
    written = (tmp_path / "audit").read_bytes().decode("utf-8", "replace")
    assert len(log.records()) == 6 and log.verify() == []
    assert secret not in written and secret not in repr(log.records()) and "AIza" not in written
    assert "AIza" not in repr(result) + repr(trace) + result.content
    if secret in KEYS:
        assert secret not in repr(result) + repr(trace) + result.content
