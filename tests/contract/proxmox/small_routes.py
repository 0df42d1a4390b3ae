"""How calls find the method that answers them."""

from __future__ import annotations

import re
from collections.abc import Callable

from tests.adapters.http_proxmox.scripted import Answer

SHAPES: list[tuple[str, re.Pattern[str], str]] = []

Handler = Callable[..., Answer]


def on(method: str, path: str) -> Callable[[Handler], Handler]:
    """Make a method answer a path; parts in braces become arguments, `rest` all that follows."""
    parts = re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", path)
    form = re.compile(parts.replace("(?P<rest>[^/]+)", "(?P<rest>.+)"))

    def kept(handler: Handler) -> Handler:
        SHAPES.append((method, form, handler.__name__))
        return handler

    return kept
