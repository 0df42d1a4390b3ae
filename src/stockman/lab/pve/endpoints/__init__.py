"""Functions that answer requests, one module for each family of them."""

from __future__ import annotations

FAMILIES: tuple[str, ...] = ("access", "cluster", "tasks", "version")
"""Modules of this package, each of which registers its functions when it is imported."""
