"""Which function answers which request."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pkgutil import iter_modules
from typing import TypeAlias

from stockman_lab.pve.api.call import Call

Handler: TypeAlias = Callable[[Call], object]

ENDPOINTS: dict[tuple[str, str], Handler] = {}
"""By method and path as the schema writes it: `("GET", "/nodes/{node}/qemu")`."""

_FOLDER = "stockman_lab.pve.endpoints"


def endpoint(method: str, path: str) -> Callable[[Handler], Handler]:
    """Let a function answer a kind of request."""

    def registered(handler: Handler) -> Handler:
        if (method, path) in ENDPOINTS:
            raise ValueError(f"{method} {path} is answered twice")
        ENDPOINTS[method, path] = handler
        return handler

    return registered


def load_endpoints() -> dict[tuple[str, str], Handler]:
    """All functions that answer something; imported when first asked for."""
    for module in iter_modules(import_module(_FOLDER).__path__, f"{_FOLDER}."):
        import_module(module.name)
    return ENDPOINTS
