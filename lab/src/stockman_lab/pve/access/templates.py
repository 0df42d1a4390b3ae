"""Paths with places for parameters, such as `/vms/{vmid}`."""

from __future__ import annotations

import re

from stockman_lab.pve.access.parameters import Params, text

_PIECE = re.compile(r"([^{]+)|\{([^}]+)\}")

Pieces = tuple[tuple[str, str | None], ...]
"""Literal text, or the name of a parameter."""


def template(path: str) -> Pieces:
    """The pieces of a path."""
    return tuple((found[1] or "", found[2]) for found in _PIECE.finditer(path))


def filled(pieces: Pieces, params: Params) -> str:
    """The path with the values of the parameters; a missing one, or 0, becomes a dash."""
    return "".join([literal if name is None else _value(params, name) for literal, name in pieces])


def _value(params: Params, name: str) -> str:
    value = text(params, name)
    return value if value and value != "0" else "-"
