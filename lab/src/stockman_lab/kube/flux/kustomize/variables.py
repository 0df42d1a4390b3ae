"""`${VARIABLES}` in texts, with defaults and replacements."""

from __future__ import annotations

import re
from collections.abc import Mapping

from stockman_lab.kube.flux.kustomize.documents import BuildFailure

_NAME = re.compile(r"[_a-zA-Z][_a-zA-Z0-9]*")
_EXPRESSION = re.compile(
    r"""\$\$
    | \$\{(?P<name>\w+)(?:
        :?[=-](?P<default>[^}]*)
        | (?P<replace>//?)(?P<old>[^/}]+)/(?P<new>[^}]*)
      )?\}
    | \$\{""",
    re.VERBOSE,
)


def check_names(variables: Mapping[str, str]) -> None:
    """Refuse variables that no text can name."""
    for name in variables:
        if not _NAME.fullmatch(name):
            raise BuildFailure(f"'{name}' var name is invalid, must match '{_NAME.pattern}'")


def substituted(text: str, variables: Mapping[str, str]) -> str:
    """A text with the values of variables in it; those without one are empty."""

    def value(result: re.Match[str]) -> str:
        if result[0] == "$$":
            return "$"
        if result["name"] is None:
            raise BuildFailure("variable substitution failed: bad substitution")
        value = variables.get(result["name"]) or result["default"] or ""
        if result["replace"]:
            return value.replace(
                result["old"], result["new"], 1 if result["replace"] == "/" else -1
            )
        return value

    return _EXPRESSION.sub(value, text)
