"""How well something is."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum


class Health(Enum):
    """What is known of how well something is, from best to worst but for `OFF`."""

    OK = "ok"
    WARNING = "warning"
    """It works, and somebody should look at it."""
    UNKNOWN = "unknown"
    """Nobody could tell, which is not the same as good."""
    ERROR = "error"
    OFF = "off"
    """It is not wanted, so there is nothing to be well."""

    @property
    def is_good(self) -> bool:
        """Whether it works, as far as it is wanted."""
        return self in (Health.OK, Health.WARNING, Health.OFF)


_ORDER = (Health.OFF, Health.OK, Health.WARNING, Health.UNKNOWN, Health.ERROR)


def worst(found: Iterable[Health], none: Health = Health.OK) -> Health:
    """The worst of several; `none` where there are none."""
    return max(found, key=_ORDER.index, default=none)
