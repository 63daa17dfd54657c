"""Arguments for a call, filled from what is stated or observed, never invented.

Each parameter's shape (enum, pattern, date, number, name …) says what kind of value is looked for. The places are
searched in this order: the clause itself, the user's answers, what the clause refers to, earlier observations under the
same name, other statements of the goal, earlier goals.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from agentkit.models.offline import names as naming
from agentkit.models.offline.choices import flag, pick
from agentkit.models.offline.language import Word, words_of
from agentkit.models.offline.needs import Need, Reading
from agentkit.models.offline.observed import Observation, dated, named_value
from agentkit.models.offline.schema import Parameter, ToolView
from agentkit.models.offline.values import Value

_UNITS = frozenset("day week month year hour minute percent date deadline temperature distance weight length".split())
_ORDER = (
    "enum", "pattern", "email", "url", "sql", "expression", "code", "date", "integer", "number", "boolean", "array",
    "object", "entity", "any", "query", "text",
)  # fmt: skip
GOAL, ANSWER, EARLIER = "goal", "answer", "earlier"


@dataclass(frozen=True, slots=True)
class Known:
    """Everything that arguments may be taken from.

    ``reading`` is the goal; ``answers`` are the user's later answers; ``earlier`` are the goals before; ``own`` are the
    observations of this need, ``others`` all others.
    """

    reading: Reading
    answers: tuple[Reading, ...] = ()
    earlier: tuple[Reading, ...] = ()
    own: tuple[Observation, ...] = ()
    others: tuple[Observation, ...] = ()


@dataclass(slots=True)
class Filling:
    """The arguments of one call: where each came from, what is missing, and what else would have fitted."""

    arguments: dict[str, Any] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)
    missing: list[Parameter] = field(default_factory=list)
    spare: dict[str, list[Any]] = field(default_factory=dict)
    used: set[tuple[int, int]] = field(default_factory=set)

    def put(self, name: str, value: Any, source: str) -> None:
        self.arguments[name], self.sources[name] = value, source

    @property
    def observed(self) -> bool:
        """Whether a value came from an observation."""
        return any(source not in (GOAL, ANSWER, EARLIER, "schema") for source in self.sources.values())


def fill(tool: ToolView, need: Need, known: Known) -> Filling:
    """Fill the parameters of a tool for one need; the strictest shapes first, free text last."""
    filling = Filling()
    for parameter in sorted(tool.parameters, key=lambda each: (_ORDER.index(each.shape), not each.required)):
        found = _value(parameter, tool, need, known, filling)
        if found is not None:
            filling.put(parameter.name, *found)
        elif parameter.required:
            _leave_out(parameter, filling)
    _sort_dates(tool, filling)
    order = [parameter.name for parameter in tool.parameters]
    filling.arguments = {name: filling.arguments[name] for name in order if name in filling.arguments}
    return filling


def _leave_out(parameter: Parameter, filling: Filling) -> None:
    """A required value that nobody stated: the schema may itself say what to write; otherwise it is missing."""
    if parameter.has_default:
        filling.put(parameter.name, parameter.default, "schema")
    elif parameter.nullable:
        filling.put(parameter.name, None, "schema")
    elif parameter.shape == "enum" and len(parameter.choices) == 1:
        filling.put(parameter.name, parameter.choices[0], "schema")
    else:
        filling.missing.append(parameter)


def _value(
    parameter: Parameter, tool: ToolView, need: Need, known: Known, filling: Filling
) -> tuple[Any, str] | None:
    shape = parameter.shape
    if shape == "enum":
        return _enum(parameter, need, known)
    if shape == "boolean":
        stated = flag(parameter, need)
        return None if stated is None else (stated, GOAL)
    if shape == "object":
        return _object(parameter, tool, need, known)
    if shape == "array":
        return _array(parameter, tool, need, known, filling)
    if shape in ("integer", "number"):
        return _number(parameter, need, known, filling)
    if shape == "date":
        return _date(parameter, tool, need, known, filling)
    if shape in ("entity", "query", "text", "any"):
        return _free(parameter, tool, need, known, filling)
    return _typed(parameter, need, known, filling)


def _enum(parameter: Parameter, need: Need, known: Known) -> tuple[Any, str] | None:
    places = [(need.text, need.words, GOAL)]
    places += [(answer.text, words_of(answer.text), ANSWER) for answer in reversed(known.answers)]
    if parameter.required:
        places.append((known.reading.text, words_of(known.reading.text), GOAL))
    for text, words, source in places:
        found = pick(parameter.choices, text, words, exact_only=not parameter.required)
        if found is not None:
            return found, source
    if parameter.required:
        return named_value(parameter, known.own, lambda value: value in parameter.choices, _hints(need))
    return None


def _pools(need: Need, known: Known) -> list[tuple[tuple[Value, ...], str]]:
    """The stated values, nearest first."""
    return [
        (need.values, GOAL),
        (tuple(value for answer in reversed(known.answers) for value in answer.values), ANSWER),
        (need.inherited, GOAL),
    ]


def _far(need: Need, known: Known) -> list[tuple[tuple[Value, ...], str]]:
    """Values stated elsewhere: in sentences that are no needs, then in earlier goals."""
    taken = {value.start for each in known.reading.needs for value in each.values}
    loose = tuple(value for value in known.reading.values if value.start not in taken)
    return [(loose, GOAL), *((reading.values, EARLIER) for reading in reversed(known.earlier))]


def _hints(need: Need) -> frozenset[str]:
    """Words that the dictionary does not know; they may name a row of a list, such as a product."""
    return frozenset(word.stem for word in need.words if not word.known)


def _typed(parameter: Parameter, need: Need, known: Known, filling: Filling) -> tuple[Any, str] | None:
    """A value of a kind that can be recognised by its form: a code, a pattern, an address, SQL, arithmetic."""
    accept = _acceptor(parameter)
    pools = _pools(need, known)
    if not parameter.required:
        pools = pools[:1]
    near = _first(parameter, pools, accept, filling)
    if near is not None or not parameter.required:
        return near
    if parameter.shape in ("pattern", "code"):
        token = _token(parameter, need, known)
        if token is not None:
            return token
    if parameter.shape not in ("sql", "expression"):
        seen = named_value(parameter, (*known.others, *known.own), lambda v: accept_scalar(parameter, v), _hints(need))
        if seen is not None:
            return seen
    return _first(parameter, _far(need, known), accept, filling)


def _first(
    parameter: Parameter,
    pools: list[tuple[tuple[Value, ...], str]],
    accept: Callable[[Value], Any],
    filling: Filling,
) -> tuple[Any, str] | None:
    found: list[tuple[Any, str, Value]] = []
    for values, source in pools:
        for value in values:
            if (value.start, value.end) not in filling.used and (fitting := accept(value)) is not None:
                found.append((fitting, source, value))
        if found:
            break
    if not found:
        return None
    found.sort(key=lambda item: -_alike(str(item[0]), parameter.examples))
    chosen = found[0]
    filling.used.add((chosen[2].start, chosen[2].end))
    filling.spare[parameter.name] = [item[0] for item in found[1:]]
    return chosen[0], chosen[1]


def _alike(text: str, examples: tuple[Any, ...]) -> bool:
    """Whether a value has the form of an example: letters where it has letters, digits where it has digits."""

    def form(value: str) -> str:
        return re.sub(r"[^\W\d_]+", "A", re.sub(r"\d+", "9", value))

    return any(isinstance(example, str) and form(example) == form(text) for example in examples)


def _acceptor(parameter: Parameter) -> Callable[[Value], Any]:
    shape = parameter.shape
    if shape == "pattern":
        return lambda value: _by_pattern(parameter, str(value.value)) if value.kind != "expression" else None
    kinds = {
        "code": ("code", "number", "quoted"), "email": ("email",), "url": ("url",), "sql": ("sql",),
        "expression": ("expression",),
    }[shape]  # fmt: skip
    return lambda value: _as_text(value, parameter) if value.kind in kinds else None


def _as_text(value: Value, parameter: Parameter) -> str | None:
    text = str(value.value)
    if parameter.shape == "code" and value.kind == "code" and any(str(e).isupper() for e in parameter.examples):
        return text.upper()
    return text if parameter.shape != "code" or len(text) <= 60 else None


def _by_pattern(parameter: Parameter, text: str) -> str | None:
    if parameter.pattern is None or len(text) > 200:
        return None
    return next((form for form in (text, text.upper(), text.lower()) if parameter.pattern.search(form)), None)


def _token(parameter: Parameter, need: Need, known: Known) -> tuple[Any, str] | None:
    """A plain word that has the demanded form, such as a currency in capitals."""
    for text, source in [(need.masked, GOAL), *((answer.text, ANSWER) for answer in reversed(known.answers))]:
        for word in re.findall(r"[A-Za-z][\w-]*", text):
            if parameter.shape == "code":
                if source == ANSWER and len(text.split()) == 1:
                    return text.strip(), source
            elif (word.isupper() or source == ANSWER) and (found := _by_pattern(parameter, word)) is not None:
                return found, source
    return None


def accept_scalar(parameter: Parameter, value: Any) -> bool:
    """Whether an observed value can be the value of a parameter."""
    if value is None or isinstance(value, bool) or (isinstance(value, str) and not value):
        return False
    if parameter.shape == "enum":
        return value in parameter.choices
    if parameter.shape == "integer":
        return isinstance(value, int) and _in_range(parameter, value)
    if parameter.shape == "number":
        return isinstance(value, int | float) and _in_range(parameter, value)
    if parameter.shape == "pattern":
        return isinstance(value, str) and parameter.pattern is not None and bool(parameter.pattern.search(value))
    return isinstance(value, str)


def _in_range(parameter: Parameter, value: float) -> bool:
    low, high = parameter.low, parameter.high
    return (low is None or value >= low) and (high is None or value <= high)


def _number(parameter: Parameter, need: Need, known: Known, filling: Filling) -> tuple[Any, str] | None:
    def accept(value: Value) -> Any:
        if value.kind != "number" or isinstance(value.value, str) or not _in_range(parameter, value.value):
            return None
        if parameter.shape == "integer":
            return int(value.value) if float(value.value).is_integer() else None
        return value.value

    ranked = []
    for values, source in _pools(need, known):
        for value in values:
            if (value.start, value.end) in filling.used or (number := accept(value)) is None:
                continue
            near = _nearness(parameter, value, need, known.reading.text if source == GOAL else "")
            if near >= (0.0 if parameter.required else 1.0):
                ranked.append((near, -len(ranked), number, source, value))
        if ranked:
            break
    if ranked:
        _, _, number, source, value = max(ranked, key=lambda item: item[:2])
        filling.used.add((value.start, value.end))
        filling.spare[parameter.name] = [item[2] for item in ranked if item[4] is not value]
        return number, source
    if not parameter.required:
        return None
    return named_value(parameter, (*known.others, *known.own), lambda v: accept_scalar(parameter, v), _hints(need))


def _nearness(parameter: Parameter, value: Value, need: Need, text: str) -> float:
    """Do the words beside a number name the parameter? ``5 results`` does for a limit, ``30 days`` does not for money."""
    if not text:
        return 0.0
    before, after = words_of(text[max(0, value.start - 24) : value.start]), words_of(text[value.end : value.end + 24])
    terms = parameter.stems | {concept for word in parameter.words for concept in word.concepts}
    told = terms | {part for word in words_of(parameter.description) for part in (word.stem, *word.concepts)}
    beside = [word for word in (*before[-1:], *after[:1])]
    spoken = {part for word in beside for part in (word.stem, *word.concepts)}
    if spoken & terms:
        return 2.0
    limit = terms & {"limit", "top", "max", "maximum", "result", "count", "n", "k"}
    if limit and re.search(r"\b(?:top|first|last|up to|at most)\s*$", text[: value.start], re.IGNORECASE):
        return 2.0
    year = isinstance(value.value, int) and 1800 <= value.value <= 2200 and not text[value.start : value.end].count(",")
    if "year" in terms:
        return 1.5 if year else -1.0
    unit = {concept for word in after[:1] for concept in word.concepts} & _UNITS
    if unit and not unit & told and text[value.end : value.end + 8].strip()[:1].isalpha():
        return -1.0
    return 1.0 if spoken & told else 0.0


def _date(
    parameter: Parameter, tool: ToolView, need: Need, known: Known, filling: Filling
) -> tuple[Any, str] | None:
    def accept(value: Value) -> Any:
        return value.value if value.kind == "date" else None

    own = _first(parameter, _pools(need, known)[:2], accept, filling)
    if own is not None or not parameter.required:
        return own
    several = sum(each.shape == "date" and each.required for each in tool.parameters) > 1
    loose = [value for value in known.reading.values if value.kind == "date"]
    wanted = frozenset(part for word in need.words for part in (word.stem, *word.concepts))
    taken = {str(filling.arguments[name]) for name in filling.arguments if name != parameter.name}
    if several or not loose:
        seen = dated(known.own or known.others, wanted, frozenset(taken)) if not filling.observed else None
        if seen is not None:
            return seen[0], seen[2]
    return _first(parameter, [(tuple(loose), GOAL), *_far(need, known)[1:]], accept, filling)


def _sort_dates(tool: ToolView, filling: Filling) -> None:
    """Two dates of which one was observed and one stated: the earlier one is the start."""
    dates = [each.name for each in tool.parameters if each.shape == "date" and each.name in filling.arguments]
    if len(dates) == 2 and filling.observed:
        first, second = dates
        if str(filling.arguments[first]) > str(filling.arguments[second]):
            for table in (filling.arguments, filling.sources):
                table[first], table[second] = table[second], table[first]


def _object(parameter: Parameter, tool: ToolView, need: Need, known: Known) -> tuple[Any, str] | None:
    inner = ToolView(tool.name, tool.description, parameter.fields, tool.acts)
    filling = fill(inner, need, known)
    if filling.missing or not any(source != "schema" for source in filling.sources.values()):
        return None
    return filling.arguments, next(iter(filling.sources.values()))


def _array(
    parameter: Parameter, tool: ToolView, need: Need, known: Known, filling: Filling
) -> tuple[Any, str] | None:
    item = parameter.item
    if item is None or item.shape in ("array", "boolean"):
        return None
    one = Parameter(
        parameter.name, item.shape, True, False, None, False, parameter.description, parameter.words, item.choices,
        item.pattern, item.examples, item.low, item.high, item.fields,
    )  # fmt: skip
    if item.shape == "enum":
        found = [choice for choice in item.choices if pick((choice,), need.text, need.words, True) is not None]
        return (found, GOAL) if found else None
    values: list[Any] = []
    source = GOAL
    for _ in range(50):
        got = _value(one, tool, need, known, filling)
        if got is None or got[0] in values or (values and got[1] != source):
            break
        values.append(got[0])
        source = got[1]
        if item.shape == "object":
            break
    return (values, source) if values else None


def _free(
    parameter: Parameter, tool: ToolView, need: Need, known: Known, filling: Filling
) -> tuple[Any, str] | None:
    """Free text: quoted text, ``city: Seoul``, a name, a topic, or the passage that the tool is to work on."""
    text = known.reading.text
    quoted = _quoted(parameter, tool, need, text, filling)
    if quoted is not None:
        return quoted, GOAL
    labelled = naming.explicit(parameter, need.text if not parameter.required else text)
    if labelled is not None and (not parameter.required or parameter.shape != "text"):
        filling.used.add(labelled[1:])
        return labelled[0], GOAL
    found = _from_wording(parameter, tool, need, text, filling)
    if found is not None:
        return found, GOAL
    if not parameter.required:
        return None
    for answer in reversed(known.answers):
        if answer.text.strip() and (0, answer.text) not in filling.used:
            return _answered(answer), ANSWER
    seen = named_value(parameter, (*known.others, *known.own), lambda v: accept_scalar(parameter, v), _hints(need))
    return seen if seen is not None else _first_loose(parameter, need, known, filling)


def _answered(answer: Reading) -> str:
    """The answer to a question, without "It is …" and the full stop."""
    plain = re.sub(r"^(?:it is|it's|its|the|my \w+ is|in|for|i mean)\s+", "", answer.text.strip(), flags=re.IGNORECASE)
    return re.sub(r"(?:입니다|이에요|예요|이요|요)?[.!?\s]*$", "", plain) or answer.text.strip()


def _first_loose(parameter: Parameter, need: Need, known: Known, filling: Filling) -> tuple[Any, str] | None:
    if parameter.shape not in ("entity", "any"):
        return None
    kinds = ("quoted", "code")
    return _first(parameter, _far(need, known), lambda v: str(v.value) if v.kind in kinds else None, filling)


def _quoted(parameter: Parameter, tool: ToolView, need: Need, text: str, filling: Filling) -> str | None:
    """A quoted text (or an e-mail address for a recipient). The word before it may name the parameter that it is for."""
    ranked = []
    others = [each for each in tool.parameters if each.name != parameter.name]
    longer = any(each.required and each.shape in ("text", "query") and each.name not in filling.arguments for each in others)
    for place, value in enumerate(need.values):
        if (value.start, value.end) in filling.used or not _may_quote(value, parameter):
            continue
        before = {word.stem for word in words_of(text[max(0, value.start - 20) : value.start])[-1:]}
        named = bool(before & parameter.stems) or value.kind == "email"
        if not named and (any(before & each.stems for each in others) or (parameter.shape == "entity" and longer)):
            continue
        if parameter.required or named:
            ranked.append((named, -place, value))
    if not ranked:
        return None
    value = max(ranked, key=lambda item: item[:2])[2]
    filling.used.add((value.start, value.end))
    return str(value.value)


def _may_quote(value: Value, parameter: Parameter) -> bool:
    if value.kind in ("email", "url", "sql"):
        people = {"to", "recipient", "address", "mail", "from", "receiver"}
        return parameter.shape == "any" or (value.kind == "email" and bool(people & set(parameter.name.lower().split("_"))))
    return value.kind == "quoted"


def _from_wording(parameter: Parameter, tool: ToolView, need: Need, text: str, filling: Filling) -> Any:
    if parameter.shape == "any":
        plain = next((v for v in need.values if (v.start, v.end) not in filling.used and v.kind != "expression"), None)
        if plain is not None:
            filling.used.add((plain.start, plain.end))
            return plain.value
    if not parameter.required and parameter.shape != "entity":
        return None
    if parameter.shape in ("entity", "any"):
        return _entity(parameter, tool, need, text, filling)
    reader = naming.topic if parameter.shape == "query" else naming.passage
    piece = reader(need, text, tool, filling.used)
    if piece is None and parameter.shape == "query":
        return _entity(parameter, tool, need, text, filling)
    return piece[0] if piece else None


def _entity(parameter: Parameter, tool: ToolView, need: Need, text: str, filling: Filling) -> Any:
    lonely = sum(each.shape == "entity" and each.required for each in tool.parameters) < 2
    names = naming.names_in(need, tool)
    if not parameter.required:
        names = [name for name in names if _belongs(name, parameter)]
    best = naming.best_name(parameter, names, filling.used, lonely)
    if best is not None:
        filling.used.add((best.start, best.end))
        rest = [each for each in names if each is not best and (each.start, each.end) not in filling.used]
        filling.spare[parameter.name] = naming.beside(text, best, rest)
        return best.text
    code = next((v for v in need.values if v.kind == "code" and (v.start, v.end) not in filling.used), None)
    if code is not None and parameter.required:
        filling.used.add((code.start, code.end))
        return str(code.value)
    return None


def _belongs(name: naming.Name, parameter: Parameter) -> bool:
    return any(word.stem in parameter.stems for word in words_of(name.before)) or name.before in parameter.name.split("_")


def named_words(words: tuple[Word, ...]) -> str:
    """Words of a parameter's name as a person would say them."""
    return " ".join(word.text.lower() for word in words)
