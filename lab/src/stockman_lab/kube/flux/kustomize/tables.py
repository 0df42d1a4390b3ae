"""What kustomize knows of kinds: which lie in no namespace, and which fields mean what."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

_FILE = "fields.json"
Paths = dict[str, list[str]]
"""By path (with `+`: made where it is not there) the kinds that have it."""


@dataclass(frozen=True, slots=True)
class Table:
    """All of it."""

    cluster_wide: dict[str, list[str]]
    """Kinds by their versions."""
    selector_labels: Paths
    template_labels: Paths
    claim_labels: Paths
    annotations: Paths
    references: dict[str, Paths]
    """By kind, the fields that hold names of such objects."""


@cache
def table() -> Table:
    """The table, read once."""
    return Table(**json.loads(files(__package__).joinpath(_FILE).read_text("utf-8")))
