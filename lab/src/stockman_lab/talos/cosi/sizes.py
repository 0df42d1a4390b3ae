"""Sizes as configurations write them."""

from __future__ import annotations

import re

_FORM = re.compile(r"^\s*(\d+(?:\.\d+)?)\s*([KMGTP]?i?B?)\s*$", re.IGNORECASE)
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}


def size_of(text: str) -> int:
    """Bytes of `10GiB` or `10GB`. 0: nothing is said, or no size of its own."""
    found = _FORM.match(text)
    if found is None:
        return 0
    unit = found[2].lower()
    base = 1024 if "i" in unit else 1000
    return int(float(found[1]) * base ** _POWERS[unit.replace("i", "").replace("b", "")])
