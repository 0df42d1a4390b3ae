"""Paths of values as users write them: `stringData.token`, `items[0]`, `data["tls.crt"]`.

The form with brackets only, `["data"]["tls.crt"]`, is that of SOPS.
"""

from __future__ import annotations

import json
import re

from stockman.model.pattern import pattern

ValuePath = tuple[str | int, ...]
"""Keys, and list indexes from 0."""

_NAME = pattern(r"[^.\[\]\"']+")
_BRACKET = pattern(r"""\[(?:(?P<place>[0-9]+)|(?P<key>"(?:[^"\\]|\\.)*"|'[^']*'))\]""")
_INDEX = pattern(r"0|[1-9][0-9]*")


def parse_path(text: str) -> ValuePath:
    """Parse a path; raises ValueError with a reason if it is invalid."""
    steps: list[str | int] = []
    index = 0
    while index < len(text):
        bracket = _BRACKET.match(text, index)
        if bracket is not None:
            steps.append(_parse_bracket(bracket))
            index = bracket.end()
            continue
        if steps:
            if text[index] != ".":
                raise ValueError("a `.` or a closed `[...]` is missing in it")
            index += 1
        name = _NAME.match(text, index)
        if name is None:
            raise ValueError('a name in it is empty, or needs quotes: `data["tls.crt"]`')
        steps.append(int(name[0]) if _INDEX.fullmatch(name[0]) else name[0])
        index = name.end()
    if not steps:
        raise ValueError("it is empty")
    return tuple(steps)


def format_path(path: ValuePath) -> str:
    """Format a path so that `parse_path` reads it."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif _NAME.fullmatch(step) and not _INDEX.fullmatch(step):
            text += f".{step}" if text else step
        else:
            text += f"[{json.dumps(step, ensure_ascii=False)}]"
    return text


def _parse_bracket(bracket: re.Match[str]) -> str | int:
    if bracket["place"] is not None:
        return int(bracket["place"])
    quoted = bracket["key"]
    if quoted.startswith("'"):
        return quoted[1:-1]
    try:
        return str(json.loads(quoted))
    except json.JSONDecodeError:
        raise ValueError("the text in its brackets is not closed, or has a wrong escape") from None
