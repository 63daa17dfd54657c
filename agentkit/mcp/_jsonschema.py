"""The library `jsonschema`, imported without what takes seconds and is not used here.

When it is imported it also tries to import a checker for the text format "iri", which builds a whole grammar: about two
seconds of computing. JupyterLab brings that package, so in a notebook the first call of a tool would wait for it.
"""

from __future__ import annotations

import sys
from typing import Any

from agentkit.errors import DefinitionError

_SLOW = "rfc3987_syntax"


def load_jsonschema() -> Any:
    """The module. Raises `DefinitionError` when it is not installed."""
    hidden = "jsonschema" not in sys.modules and _SLOW not in sys.modules
    if hidden:
        sys.modules[_SLOW] = None  # type: ignore[assignment]  # to an import this means "not installed", which is allowed
    try:
        import jsonschema
    except ImportError:
        told = 'Tools of other servers need the package jsonschema: pip install "agentkit-course[mcp]".'
        raise DefinitionError(told) from None
    finally:
        if hidden:
            del sys.modules[_SLOW]
    return jsonschema
