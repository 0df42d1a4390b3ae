"""What a resource holds, besides who it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

Spec: TypeAlias = Mapping[str, object]
"""By keys of YAML. What is not told is as Go has it when nobody sets it."""


@dataclass(frozen=True, slots=True)
class Content:
    """Contents of one resource, where its labels or its form are not the usual ones."""

    spec: object
    labels: dict[str, str] = field(default_factory=dict)
    annotations: dict[str, str] = field(default_factory=dict)


Contents: TypeAlias = Mapping[str, Spec | Content]
"""Of all resources of a kind, by id."""
