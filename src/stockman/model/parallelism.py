"""Default limit of parallel steps in a run."""

from __future__ import annotations

MAX_PARALLEL = 32
"""Maximum number of parallel steps; lanes limit the load of single hosts and storages further."""
