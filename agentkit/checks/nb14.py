"""The exercises and the quiz of notebook 14, MCP with the SDK."""

from __future__ import annotations

from agentkit.checks.exercise import Exercise, Wrong
from agentkit.checks.nb14_plain import check_fingerprint, check_gate, check_revision
from agentkit.checks.nb14_quiz import QUIZ
from agentkit.checks.nb14_servers import OWN, SERVER

__all__ = ["EXERCISES", "QUIZ"]

_PRINT = '''\
def fingerprint(definition):
    """A text that changes when anything in the definition does."""
    return json.dumps(definition, sort_keys=True)
'''

FINGERPRINT = Exercise(
    id="14.1",
    title="A fingerprint",
    prompt="Write `fingerprint(definition)`: a text that is the same exactly as long as a definition is, also after a restart.",
    stub='''\
def fingerprint(definition):
    """A text that changes when anything in the definition does."""
    ...
''',
    check=check_fingerprint,
    hints=(
        "The definition is JSON. Its JSON text is nearly what you need.",
        "The order of keys means nothing in JSON, so sort them: `json.dumps(…, sort_keys=True)`.",
    ),
    setup="import json\n",
    solution=_PRINT,
    why="A hash of this text would be shorter. What matters: every word that the model reads or that is checked is in it.",
    known_wrong=(
        Wrong(
            "def fingerprint(definition):\n    return definition['name'] + definition['description']\n",
            "a new parameter",
        ),
        Wrong("def fingerprint(definition):\n    return json.dumps(definition)\n", "sort the keys"),
        Wrong("def fingerprint(definition):\n    return str(sorted(definition.items()))\n", "sort the keys"),
        Wrong(
            "def fingerprint(definition):\n"
            "    kept = {key: definition[key] for key in ('name', 'description', 'inputSchema')}\n"
            "    return json.dumps(kept, sort_keys=True)\n",
            "other annotations",
        ),
        Wrong(
            "def fingerprint(definition):\n    return hash(json.dumps(definition, sort_keys=True))\n",
            "return a text",
        ),
        Wrong(
            "def fingerprint(definition):\n    return str(hash(json.dumps(definition, sort_keys=True)))\n",
            "another one after a restart",
        ),
        Wrong(
            "def fingerprint(definition):\n    return f'{id(definition)} {json.dumps(definition, sort_keys=True)}'\n",
            "two equal definitions get two fingerprints",
        ),
        Wrong(_PRINT.replace("def fingerprint(definition)", "def fingerprint()"), "with one parameter"),
        Wrong(_PRINT.replace("def ", "async def "), "write `def` alone"),
    ),
)

_REVISION = '''\
def revision(messages):
    """The revision that these messages agreed on, or None."""
    for message in messages:
        result = message.get("result", {})
        if "protocolVersion" in result:
            return result["protocolVersion"]
    for message in messages:
        meta = message.get("params", {}).get("_meta", {})
        if KEY in meta:
            return meta[KEY]
    return None
'''

REVISION = Exercise(
    id="14.3",
    title="Which revision",
    prompt="Write `revision(messages)`: the revision that recorded messages agreed on, or None.",
    stub='''\
def revision(messages):
    """The revision that these messages agreed on, or None."""
    ...
''',
    check=check_revision,
    hints=(
        "In the old era the server's answer to `initialize` has `protocolVersion` in its result. Look for it first.",
        "Without such an answer, look at `_meta` in the params of the requests, under `KEY`.",
        'A message may have no params and no result: `message.get("params", {})` gives an empty dict then.',
    ),
    setup='KEY = "io.modelcontextprotocol/protocolVersion"\n',
    solution=_REVISION,
    why="In a handshake the server has the last word. Without one, each request says for itself what it speaks.",
    known_wrong=(
        Wrong(
            "def revision(messages):\n    for message in messages:\n        params = message.get('params', {})\n"
            "        if 'protocolVersion' in params:\n            return params['protocolVersion']\n"
            "        if KEY in params.get('_meta', {}):\n            return params['_meta'][KEY]\n",
            "the answer counts",
        ),
        Wrong(
            "def revision(messages):\n    for message in messages:\n"
            "        meta = message.get('params', {}).get('_meta', {})\n"
            "        if KEY in meta:\n            return meta[KEY]\n"
            "        if 'protocolVersion' in message.get('result', {}):\n"
            "            return message['result']['protocolVersion']\n",
            "the handshake counts",
        ),
        Wrong(
            "def revision(messages):\n    for message in messages:\n"
            "        if 'protocolVersion' in message.get('result', {}):\n"
            "            return message['result']['protocolVersion']\n",
            "each request says it in `_meta`",
        ),
        Wrong(
            "def revision(messages):\n    return messages[1]['result']['protocolVersion']\n",
            "KeyError",
        ),
    ),
)

_GATE = '''\
def gate(header, tokens, needed):
    """200, 401 or 403 for a header Authorization."""
    scheme, _, token = (header or "").partition(" ")
    if scheme.lower() != "bearer" or token.strip() not in tokens:
        return 401
    return 200 if needed in tokens[token.strip()] else 403
'''


def _gate_with(old: str, new: str, lacks: str) -> Wrong:
    """The solution with one thing changed, and what the learner must be told then."""
    assert old in _GATE
    return Wrong(_GATE.replace(old, new), lacks)


GATE = Exercise(
    id="14.4",
    title="401 or 403",
    prompt="Write `gate(header, tokens, needed)`: the status for a header `Authorization` and a scope that is needed.",
    stub='''\
def gate(header, tokens, needed):
    """200, 401 or 403 for a header Authorization."""
    ...
''',
    check=check_gate,
    hints=(
        "Two questions, one after the other: who is it? (else 401) And is the token good for this? (else 403)",
        '`header.partition(" ")` gives the scheme, the space, and the token. The header may also be None.',
        'The scheme is Bearer in upper or lower case: `scheme.lower() == "bearer"`. A scope must be equal, not similar.',
    ),
    solution=_GATE,
    why="401 asks for another token, 403 for another right. A client that mixes them up asks for the wrong thing.",
    known_wrong=(
        _gate_with("return 200 if needed in tokens[token.strip()] else 403", "return 200", "does not have this scope"),
        _gate_with("else 403", "else 401", "the status is 403"),
        _gate_with("        return 401\n", "        return 403\n", "the status is 401"),
        _gate_with('scheme.lower() != "bearer"', 'scheme != "Bearer"', "upper and lower case"),
        _gate_with("needed in tokens[token.strip()]", 'needed in " ".join(tokens[token.strip()])', "is another one"),
        Wrong(
            "def gate(header, tokens, needed):\n    for token, scopes in tokens.items():\n"
            "        if token in (header or ''):\n            return 200 if needed in scopes else 403\n"
            "    return 401\n",
            "another scheme than Bearer",
        ),
    ),
)

EXERCISES = (FINGERPRINT, SERVER, REVISION, GATE, OWN)
