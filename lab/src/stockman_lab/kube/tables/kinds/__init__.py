"""Cells of the tables of each built-in kind; its modules are found by `load`."""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module


@cache
def load() -> None:
    """Import all modules beside this one, once, so that their cells are known."""
    for module in pkgutil.iter_modules(__path__):
        import_module(f"{__name__}.{module.name}")
