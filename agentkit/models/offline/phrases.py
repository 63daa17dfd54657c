"""The offline model's own sentences, in English and in Korean."""

from __future__ import annotations

from typing import Any

from agentkit.facts import Language

_PHRASES: dict[str, tuple[str, str]] = {
    "ask": ("I need one more thing: {what}. Can you tell me?", "한 가지가 더 필요합니다. 알려 주세요: {what}"),
    "option": ("{name} (one of: {options})", "{name} (다음 중 하나: {options})"),
    "abilities": ("My tools are: {tools}.", "제 도구는 다음과 같습니다: {tools}."),
    "no_tools": ("I have no tools, so I can look nothing up.", "도구가 없어서 아무것도 조회할 수 없습니다."),
    "no_fit": (
        "None of my tools can do this: \"{need}\".", "이 요청에 맞는 도구가 없습니다: \"{need}\"."
    ),
    "no_need": (
        "I am the offline model, a small program with rules. This asks for nothing that a tool could do.",
        "저는 오프라인 모델이라는 작은 프로그램입니다. 도구로 할 일이 없는 말씀입니다.",
    ),
    "empty_goal": (
        "The goal is empty. Please write what you want to know.",
        "목표가 비어 있습니다. 무엇이 궁금한지 적어 주세요.",
    ),
    "unknown": ("I do not know the answer to \"{need}\".", "\"{need}\"에 대한 답을 알지 못합니다."),
    "failed": ("I could not get an answer from {what}: {message}", "{what}에서 답을 얻지 못했습니다: {message}"),
    "not_permitted": ("I am not permitted to use {what}: {message}", "{what} 사용이 허용되지 않습니다: {message}"),
    "denied": ("{what} was not approved, so it was not done.", "{what}: 승인되지 않아 실행하지 않았습니다."),
    "needs_approval": (
        "{what} needs the approval of a person, so it was not done.",
        "{what}: 사람의 승인이 필요하여 실행하지 않았습니다.",
    ),
    "empty": ("{what}: nothing was found.", "{what}: 찾은 것이 없습니다."),
    "more": ("and {count} more", "외 {count}개"),
    "still_missing": (
        "I cannot go on, because I still do not know this: {what}.", "다음을 알 수 없어서 계속할 수 없습니다: {what}."
    ),
    "no_number": (
        "I could not calculate \"{need}\", because the number for it was not found.",
        "\"{need}\": 필요한 수를 찾지 못해서 계산하지 못했습니다.",
    ),
    "cut": ("I looked at the first {count} requests only.", "처음 {count}개의 요청만 처리했습니다."),
    "rule_failed": ("the rule {rule} failed with {error}", "규칙 {rule} 실행 중 오류 {error}"),
    "t_need": ("Need: \"{need}\" ({mood}).", "필요: \"{need}\" ({mood})."),
    "t_ask": ("a question", "질문"),
    "t_act": ("an action", "실행 요청"),
    "t_best": ("Best tool: {tool} ({chance}%){next}.", "가장 잘 맞는 도구: {tool} ({chance}%){next}."),
    "t_next": (", then {tool} ({chance}%)", ", 다음은 {tool} ({chance}%)"),
    "t_hesitate": (
        "I hesitate between {first} and {second}: they fit about equally well.",
        "{first}와(과) {second} 사이에서 망설입니다. 비슷하게 잘 맞습니다.",
    ),
    "t_argument": ("{name} = {value} from {source}", "{name} = {value} (출처: {source})"),
    "t_goal": ("the goal", "목표"),
    "t_answer": ("the user's answer", "사용자의 답"),
    "t_earlier": ("an earlier goal", "이전 목표"),
    "t_schema": ("the schema", "스키마"),
    "t_observed": ("the result of {tool}", "{tool} 결과"),
    "t_more": (
        "I also call {tool}, for the part of the question that the best tool does not cover.",
        "가장 잘 맞는 도구가 다루지 않는 부분을 위해 {tool}(을)를 함께 부릅니다.",
    ),
    "t_helper": ("{tool} first, because a value is missing.", "값이 하나 부족하므로 {tool}부터 실행합니다."),
    "t_followup": (
        "Now {tool} can be called: one of its values was observed, the other one is stated.",
        "{tool}(으)로 관찰한 값과 주어진 값을 함께 계산합니다.",
    ),
    "t_instead": ("{tool}, because another tool failed.", "다른 도구가 실패했으므로 {tool}(을)를 시도합니다."),
    "t_repair": ("{tool} again with repaired arguments.", "인자를 고쳐서 {tool}(을)를 다시 실행합니다."),
    "t_missing": ("{name} is stated nowhere, and I do not guess.", "{name} 값이 어디에도 없고, 추측하지 않습니다."),
    "t_done": ("I have what I need.", "필요한 것을 모두 얻었습니다."),
    "t_failed": (
        "I have all that I could get; some calls failed.",
        "얻을 수 있는 것은 모두 얻었습니다. 일부 호출은 실패했습니다.",
    ),
    "t_evidence": ("Evidence: {evidence}.", "근거: {evidence}."),
    "t_listed": ("No rule applies, so I tell what was observed.", "적용할 규칙이 없어서 관찰한 내용을 그대로 말합니다."),
    "t_no_tools": ("There is no tool to choose.", "고를 수 있는 도구가 없습니다."),
    "t_no_fit": (
        "No tool fits \"{need}\" well enough (best: {tool}, score {score}).",
        "\"{need}\"에 맞는 도구가 없습니다 (최고: {tool}, 점수 {score}).",
    ),
    "t_no_need": ("The goal asks for nothing that a tool could do.", "목표에 도구로 할 일이 없습니다."),
}  # fmt: skip


def say(language: Language, key: str, **values: Any) -> str:
    """One sentence in the language, with its values put in."""
    return _PHRASES[key][1 if language == "ko" else 0].format(**values)
