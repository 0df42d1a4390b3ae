"""What is left on a terminal when a program has drawn over its own lines."""

from __future__ import annotations

import re

_STEERED = re.compile(r"\x1b\[(\d*)([AKJ])|\x1b\[\?\d+[hl]|\r|\n")


def settled(text: str) -> list[str]:
    """The lines that stay, colours included; moves up and clearing are all that is understood."""
    lines, row, at = [""], 0, 0
    for found in _STEERED.finditer(text):
        lines[row] += text[at : found.start()]
        at = found.end()
        if found[0] == "\n":
            row += 1
            if row == len(lines):
                lines.append("")
        elif found[2] == "A":
            row = max(row - int(found[1] or 1), 0)
        elif found[2] == "K":
            lines[row] = ""
        elif found[2] == "J":
            lines[row:] = [""]
    lines[row] += text[at:]
    return lines if lines[-1] else lines[:-1]
