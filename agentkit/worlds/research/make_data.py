"""Make ``documents.json`` of the world `research` from ``texts.md``.

Run ``python -m agentkit.worlds.research.make_data`` after a change of a text. Every build gives the same file.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

from agentkit.worlds.research.search import DATA

_HEADING = re.compile(r"## (D\d{2}) (.+)")


def read_texts(path: Path = DATA / "texts.md") -> list[dict[str, Any]]:
    """The documents as written: id, title, language, topics, sentences, and the hidden instruction of an attack."""
    documents: list[dict[str, Any]] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if heading := _HEADING.fullmatch(line):
            title = heading[2]
            language = "ko" if re.search("[가-힣]", title) else "en"
            documents.append({"document_id": heading[1], "title": title, "language": language})
        elif not documents or not line:
            continue
        elif line.startswith("topics: "):
            documents[-1].update(
                topics=line.removeprefix("topics: ").split(", "), sentences=[], hidden_instruction=None
            )
        else:
            if line.startswith("hidden: "):
                line = line.removeprefix("hidden: ")
                documents[-1]["hidden_instruction"] = line
            documents[-1]["sentences"].append(line)
    return documents


def build(folder: Path = DATA) -> None:
    """Write ``documents.json`` into a folder."""
    text = json.dumps(read_texts(), ensure_ascii=False, indent=1) + "\n"
    (folder / "documents.json").write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    build(Path(sys.argv[1]) if len(sys.argv) > 1 else DATA)
