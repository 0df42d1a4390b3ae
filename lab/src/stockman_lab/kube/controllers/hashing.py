"""Short names for contents, made of letters that spell no words."""

from __future__ import annotations

import json

from stockman_lab.kube.objects import Tree

_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
_PRIME, _BASIS, _MASK = 16_777_619, 2_166_136_261, 0xFFFFFFFF


def content_hash(content: Tree, collisions: int = 0) -> str:
    """The hash of a template; other collisions, another hash."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    if collisions:
        text += str(collisions)
    value = _BASIS
    for byte in text.encode():
        value = (value ^ byte) * _PRIME & _MASK
    return "".join(_LETTERS[ord(one) % len(_LETTERS)] for one in str(value))
