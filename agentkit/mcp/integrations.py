"""N × M against N + M: how many parts have to be written with a common protocol, and without one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from agentkit._text import CELL, TABLE, cell, escape, one_line, pad, width

WIDE: Final = 480  # pixels of a picture
ROW: Final = 26
MIDDLE: Final = "\0MCP"  # no agent and no service has this name


class Integrations:
    """Which agent uses which service, and how much has to be written with a common protocol and without one."""

    def __init__(self, uses: Mapping[str, Iterable[str]]) -> None:
        self.uses = {agent: tuple(services) for agent, services in uses.items()}
        self.services = tuple(dict.fromkeys(service for services in self.uses.values() for service in services))

    @property
    def without(self) -> int:
        """Adapters without a protocol: one for each agent and service that meet."""
        return sum(map(len, self.uses.values()))

    @property
    def together(self) -> int:
        """Parts with a protocol: in each host the code of a client, written once, and one server for each service."""
        return len(self.uses) + len(self.services)

    @property
    def sentences(self) -> tuple[str, str]:
        return (
            f"Without a protocol: an adapter for each x, {self.without} in all.",
            f"With MCP: {len(self.uses)} hosts and {len(self.services)} servers, {self.together} in all.",
        )

    def _rows(self) -> list[list[str]]:
        return [
            [one_line(agent, 40), *("x" if service in services else "" for service in self.services)]
            for agent, services in self.uses.items()
        ]

    def __repr__(self) -> str:
        rows = [["", *(one_line(service, 40) for service in self.services)], *self._rows()]
        sizes = [max(width(row[column]) for row in rows) for column in range(len(rows[0]))]
        lines = ["  ".join(map(pad, row, sizes)).rstrip() for row in rows]
        return "\n".join([*lines, *self.sentences])

    def _repr_html_(self) -> str:
        head = "".join(f'<th style="{CELL}">{escape(one_line(text, 40))}</th>' for text in ("", *self.services))
        body = "".join(f"<tr>{''.join(cell(escape(text)) for text in row)}</tr>" for row in self._rows())
        table = f'<table style="{TABLE}"><tr>{head}</tr>{body}</table>'
        meetings = [(agent, service) for agent, services in self.uses.items() for service in services]
        hub = [(agent, MIDDLE) for agent in self.uses] + [(MIDDLE, service) for service in self.services]
        before, after = (self._picture(lines) for lines in (meetings, hub))
        return f"{table}{before}<div>{self.sentences[0]}</div>{after}<div>{self.sentences[1]}</div>"

    def _picture(self, lines: list[tuple[str, str]]) -> str:
        """Agents on the left, services on the right, and the lines between them, as SVG. The sentence below is its text."""
        places = {agent: (WIDE // 4, row) for row, agent in enumerate(self.uses)}
        rows = max(len(self.uses), len(self.services), 1)
        right = {service: (WIDE - WIDE // 4, row) for row, service in enumerate(self.services)}
        middle = {MIDDLE: (WIDE // 2, (rows - 1) / 2)}
        drawn = []
        for one, other in lines:
            (x1, y1), (x2, y2) = ({**places, **middle}[one], {**right, **middle}[other])
            drawn.append(f'<line x1="{x1}" y1="{_y(y1)}" x2="{x2}" y2="{_y(y2)}" stroke="currentColor"/>')
        for name, (x, y) in places.items():
            drawn.append(_word(name, x - 8, y, "end"))
        for name, (x, y) in right.items():
            drawn.append(_word(name, x + 8, y, "start"))
        if any(MIDDLE in line for line in lines):
            drawn.append(_word("MCP", WIDE // 2, (rows - 1) / 2 - 0.55, "middle"))
        size = f'width="{WIDE}" height="{ROW * rows + 8}" style="max-width:100%;display:block"'
        return f'<svg role="img" xmlns="http://www.w3.org/2000/svg" {size}>{"".join(drawn)}</svg>'


def _y(row: float) -> float:
    return ROW * row + ROW / 2 + 4


def _word(name: str, x: float, row: float, anchor: str) -> str:
    return (
        f'<text x="{x}" y="{_y(row) + 4}" text-anchor="{anchor}" font-size="13" fill="currentColor">'
        f"{escape(one_line(name, 24))}</text>"
    )
