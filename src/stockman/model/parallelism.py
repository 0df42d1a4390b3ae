"""How much a run does side by side unless somebody wants less."""

from __future__ import annotations

MAX_PARALLEL = 32
"""Steps; lanes keep single hosts and storages from more of them than they serve well."""
