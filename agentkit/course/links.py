"""Write the public address of the repository where it belongs: ``python -m agentkit.course.links owner/name``.

The address stands in one place, ``[tool.agentkit] repository`` in pyproject.toml. From there it goes into
``[project.urls]`` and between two marks in the README: a Binder badge, and an nbgitpuller link for classes.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote, urlencode

from agentkit.course.layout import find_course
from agentkit.course.notebook import write_text
from agentkit.errors import AgentkitError, DefinitionError

BRANCH = "main"
FIRST = "lab/tree/my_notebooks/00_start_here.ipynb"
START, END = "<!-- links: start -->", "<!-- links: end -->"
UNKNOWN = (
    "To open the course on Binder, paste the address of your copy of this repository at mybinder.org and put\n"
    f"`{FIRST}` into the field *URL to open*. Once the address is known, `make links REPO=owner/name` puts\n"
    "a badge here."
)


def binder_address(repository: str) -> str:
    """The Binder address that opens the learner's copy of the first notebook."""
    return f"https://mybinder.org/v2/gh/{repository}/{BRANCH}?{urlencode({'urlpath': FIRST})}"


def classroom_address(repository: str) -> str:
    """An nbgitpuller address for a JupyterHub; ``HUB`` stands for the hub's own address."""
    name = repository.partition("/")[2]
    query = {
        "repo": f"https://github.com/{repository}",
        "branch": BRANCH,
        "urlpath": f"lab/tree/{name}/notebooks/00_start_here.ipynb",
    }
    return f"https://HUB/hub/user-redirect/git-pull?{urlencode(query)}"


def readme_part(repository: str) -> str:
    """What stands between the two marks of the README for this address (or for none)."""
    if not repository:
        return UNKNOWN
    return (
        f"[![Open in Binder](https://mybinder.org/badge_logo.svg)]({binder_address(repository)})\n\n"
        f"For a class on a JupyterHub, give this link (with your hub's address for `HUB`):\n"
        f"`{classroom_address(repository)}`"
    )


def write_links(root: Path, repository: str) -> None:
    """Write the address into pyproject.toml and README.md of the checkout at ``root``. Doing it twice changes nothing.

    Raises:
        DefinitionError: the address is not of the form ``owner/name``, or a file has lost the place for it.
    """
    if not re.fullmatch(r"[\w-]+/[\w.-]+", repository):
        raise DefinitionError(f"Write the address as owner/name, for example REPO=ada/agentkit. Got {repository!r}.")
    project, readme = root / "pyproject.toml", root / "README.md"
    settings = project.read_text(encoding="utf-8")
    settings = _replace(r'(?m)^repository = "[^"]*"$', f'repository = "{repository}"', settings, project)
    settings = re.sub(r"(?ms)^\[project\.urls\]\n.*?(?=^\[)", "", settings)
    urls = f'[project.urls]\nRepository = "https://github.com/{quote(repository)}"\n\n'
    settings = _replace(r"(?m)^(?=\[tool\.agentkit\]$)", urls, settings, project)
    text = readme.read_text(encoding="utf-8")
    part = f"{START}\n{readme_part(repository)}\n{END}"
    text = _replace(rf"(?s){START}.*?{END}", part, text, readme)
    write_text(project, settings)
    write_text(readme, text)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line. Returns 0, or 1 with a sentence on what to do."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        write_links(find_course().root, given[0] if len(given) == 1 else "")
    except AgentkitError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"The links now point to {given[0]}.")
    return 0


def _replace(pattern: str, new: str, text: str, path: Path) -> str:
    changed, count = re.subn(pattern, lambda _: new, text)
    if count != 1:
        raise DefinitionError(f"{path.name} has lost the place for the repository's address. Take it back from git.")
    return changed


if __name__ == "__main__":
    sys.exit(main())
