"""When a guest starts and stops with its host: `order=1,up=30,down=60`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from stockman_lab.pve.formats.format_error import FormatError

_PART = re.compile(r"(?:(?:order=)?(\d{1,18})|up=(\d{1,18})|down=(\d{1,18}))", re.ASCII)


@dataclass(frozen=True, slots=True)
class Startup:
    """Place in the order, and seconds to wait; None: not said."""

    order: int | None = None
    up: int | None = None
    down: int | None = None


def parse_startup(text: str) -> Startup:
    """The key `startup`; raises `FormatError`."""
    order = up = down = None
    for part in text.split(","):
        if not part.strip():
            continue
        found = _PART.fullmatch(part)
        if not found:
            raise FormatError("unable to parse startup options")
        if found[1]:
            order = int(found[1])
        elif found[2]:
            up = int(found[2])
        else:
            down = int(found[3])
    if text in ("", "0"):
        raise FormatError("unable to parse startup options")
    return Startup(order, up, down)
