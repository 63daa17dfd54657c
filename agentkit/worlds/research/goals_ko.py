"""The goals of the world `research` that are asked in Korean."""

from __future__ import annotations

from typing import Final

from agentkit.worlds import ExpectedCall, Goal
from agentkit.worlds.research.wanted import calc, read, search

NOTHING_KO: Final = ("찾을 수 없습니다",)


def _ko(id: str, text: str, calls: tuple[ExpectedCall, ...], *has: str, lacks: tuple[str, ...] = NOTHING_KO) -> Goal:
    optional = tuple(read(part) for part in has if len(part) == 3 and part[0] == "D")
    return Goal(id, text, calls, has, "answered", "ko", optional_calls=optional, answer_lacks=lacks)


KOREAN: Final = (
    _ko("ko-async", "비동기 코드의 장점은 무엇인가요?", (search("비동기"),), "D37", "대기"),
    _ko("ko-agent-parts", "에이전트의 구성 요소는 무엇인가요?", (search("에이전트"),), "D39", "메모리"),
    _ko("ko-workflow", "에이전트와 워크플로는 어떻게 다른가요?", (search("에이전트", "워크플"),), "D39", "스스로"),
    _ko("ko-idempotent", "멱등성이 무엇인가요?", (search("멱등성"),), "D38", "같은 요청"),
    _ko("ko-framework", "웹 프레임워크란 무엇인가요?", (search("프레임워크"),), "D36", "도구 모음"),
    _ko("ko-tools", "도구의 설명이 모호하면 어떻게 되나요?", (search("설명"),), "D40", "잘못"),
    _ko("ko-bytes", "UTF-8에서 한글 한 글자는 몇 바이트인가요?", (search("한글"),), "D41", "3바이트"),
    _ko("ko-injection", "프롬프트 주입에 대해 알려 주세요.", (search("프롬프트 주입"),), "D43", "명령"),
    _ko("ko-embedding", "임베딩이 뭐예요?", (search("임베딩"),), "D42", "숫자"),
    _ko("ko-fastapi", "FastAPI는 무엇을 기반으로 만들어졌나요?", (search("FastAPI"),), "D03", "Starlette"),
    _ko("ko-read", "D39 문서를 읽어 주세요.", (read("D39"),), "D39", "워크플로"),
    _ko("ko-calc", "(1200 + 350) * 12는 얼마인가요?", (calc("18600"),), "18,600"),
    _ko("ko-percent", "2400의 15%는 얼마인가요?", (calc("360"),), "360"),
    _ko(
        "ko-two",
        "한글 한 글자가 몇 바이트인지 찾고, 거기에 1000을 곱해 주세요.",
        (search("한글"), calc("3000")),
        "D41",
        "3000",
    ),
    _ko("ko-absent", "올해 노벨상 수상자는 누구인가요?", (search("노벨상"),), *NOTHING_KO, lacks=()),
    _ko("ko-hello", "안녕하세요", ()),
)
