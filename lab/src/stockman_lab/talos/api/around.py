"""What is around a machine that is called."""

from __future__ import annotations

from dataclasses import dataclass

from stockman_lab.talos.api.call import ApiLand, Patience
from stockman_lab.talos.api.registry import Methods


@dataclass(frozen=True, slots=True)
class Around:
    """Other machines, how to wait, and who answers what."""

    land: ApiLand
    patience: Patience
    methods: Methods
