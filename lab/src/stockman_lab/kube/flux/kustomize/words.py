"""Texts as programs in Go quote them."""

from __future__ import annotations

import json


def quoted(text: str) -> str:
    """A text in double quotes."""
    return json.dumps(text, ensure_ascii=False)
