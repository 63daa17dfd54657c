"""The same goals in other words: 46 in English and 12 in Korean.

They measure how well a model copes with wording, so each takes its expectations from its original. They are written as
readers write: short and long, formal and casual, some with a typing mistake, some by people whose first language is
another. When a model fails one of them, improve the model, not the text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from agentkit.worlds import Goal
from agentkit.worlds.research.goals import goals

__all__ = ["korean", "paraphrases"]

_ORIGINALS: Final = {goal.id: goal for goal in goals}

_ENGLISH: Final[Mapping[str, str]] = {
    "fastapi-base": "Can you tell me which libraries FastAPI builds on?",
    "fastapi-422": "If a request sent to FastAPI has the wrong types, what status code comes back?",
    "flask-port": "I started the Flask development server. Which port is it on?",
    "django-port": "django dev server: which port by default?",
    "django-orm": "I need an admin site and an ORM out of the box. Which framework has them?",
    "starlette-offers": "What do I get from Starlette?",
    "wsgi-pep": "In which PEP can I read about WSGI?",
    "asgi-what": "Please explain to me what ASGI is.",
    "asgi-arguments": "Name the three arguments of an ASGI application.",
    "wsgi-asgi": "How does ASGI differ from WSGI?",
    "gunicorn-windows": "I'm on Windows. Can I use Gunicorn?",
    "gunicorn-silent": "How long may a Gunicorn worker be silent before it is restarted?",
    "uvicorn-what": "uvicorn - what is that?",
    "choose-api": "What would you recommend for a web API with typed requests?",
    "middleware-what": "I keep reading about middleware. What does it do?",
    "idempotent": "Tell me the HTTP methods that are idempotent.",
    "status-429": "My client got a 429. What does that mean?",
    "escaping": "What is automatic escaping good for?",
    "sql-injection": "What can I do to avoid SQL injections?",
    "cookie-size": "What's the maximum size of a cookie?",
    "csrf-cure": "How can a form be protected against CSRF?",
    "websocket-code": "Which code does the server answer when a connection becomes a WebSocket?",
    "sse-type": "I want to know the media type of server sent events.",
    "event-loop-block": "Why is it bad to block the event loop?",
    "reverse-proxy": "Why do people put a reverse proxy in front of a Python server?",
    "agent-what": 'Define "AI agent" for me.',
    "agent-workflow": "Agent or workflow: what is the difference?",
    "agent-limits": "What should limit the loop of an agent?",
    "react-who": "Who are the authors of ReAct?",
    "token-size": "Roughly how many charcters are there in one token of English?",
    "memory-cut": "When I cut old messages from the history, which ones have to stay together?",
    "rag-what": "What is RAG?",
    "mcp-messages": "What format do the messages of MCP have?",
    "injection-help": "How do I defend my agent against prompt injection?",
    "pass-k": "I want to know whether all of my tries succeed. Which measure is that?",
    "retry-write": "What is an idempotency key needed for when I retry?",
    "read-d12": "I would like to read D12, please.",
    "read-sse": "Find the document about server-sent events and read all of it to me.",
    "calc-brackets": "Compute (1200 + 350) * 12 for me, please.",
    "calc-percent": "What's 15 percent of 2400?",
    "calc-words": "12 multiplied by 250, how much is that?",
    "calc-root": "Could you work out the square root of 1764?",
    "two-token-chars": "I have 20000 characters of English text. Find out how many characters a token has and "
    "divide 20000 by it.",
    "two-cookie": "What is 20 times the number of bytes that browsers allow for one cookie?",
    "two-port": "Which port does the development server of Flask use? Please add 1 to that.",
    "absent-kubernetes": "Is there anything about Kubernetes in the documents?",
    "absent-price": "How much money do I pay per month for hosting a Django site?",
    "absent-mountain": "I wonder how high Mount Fuji is.",
}

_KOREAN: Final[Mapping[str, str]] = {
    "ko-async": "비동기로 코드를 쓰면 뭐가 좋아요?",
    "ko-agent-parts": "에이전트는 무엇으로 이루어져 있나요? 구성 요소를 알려 주세요.",
    "ko-workflow": "워크플로와 에이전트의 차이점을 설명해 줘",
    "ko-idempotent": "멱등성이란?",
    "ko-tools": "왜 도구 설명을 모호하게 쓰면 안 되나요?",
    "ko-bytes": "한글 글자 하나가 UTF-8에서 차지하는 바이트 수를 알려줘",
    "ko-injection": "프롬프트 주입이 뭔지 궁금해요",
    "ko-embedding": "임베딩에 대해 설명해 주세요",
    "ko-fastapi": "FastAPI는 어떤 라이브러리를 기반으로 하나요?",
    "ko-read": "문서 D39를 보여 줘",
    "ko-percent": "2400의 15퍼센트를 계산해 주세요",
    "ko-absent": "이번 노벨상은 누가 받았어요?",
}


def _said(id: str, text: str, prefix: str) -> Goal:
    return replace(_ORIGINALS[id], id=f"{prefix}{id}", text=text)


paraphrases: Final = tuple(_said(id, text, "para-") for id, text in _ENGLISH.items())
korean: Final = tuple(_said(id, text, "para-") for id, text in _KOREAN.items())
