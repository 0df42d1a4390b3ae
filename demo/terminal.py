"""The visible lines of a terminal after escape sequences."""

from __future__ import annotations

import re

_SEQUENCE = re.compile(r"\x1b\[(\d*)([AKJ])|\x1b\[\?\d+[hl]|\r|\n")


def visible_lines(text: str) -> list[str]:
    """Return the visible lines with colors. Supports moving up and clearing."""
    lines, row, at = [""], 0, 0
    for match in _SEQUENCE.finditer(text):
        lines[row] += text[at : match.start()]
        at = match.end()
        if match[0] == "\n":
            row += 1
            if row == len(lines):
                lines.append("")
        elif match[2] == "A":
            row = max(row - int(match[1] or 1), 0)
        elif match[2] == "K":
            lines[row] = ""
        elif match[2] == "J":
            lines[row:] = [""]
    lines[row] += text[at:]
    return lines if lines[-1] else lines[:-1]
