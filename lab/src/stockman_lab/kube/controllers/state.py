"""What a saved world keeps of its controllers: names of what they have to look at."""

from __future__ import annotations

from dataclasses import field

from stockman_lab.core.state import state


@state
class ControllersState:
    """Queues of the controllers of one cluster."""

    seen: int = 0
    """The revision up to which changes were noticed."""
    queues: dict[str, dict[str, int]] = field(default_factory=dict)
    """By controller, keys in the order in which they came, with the revision that brought them."""
    planned: set[str] = field(default_factory=set)
    """Controllers that are going to work."""
    later: dict[str, float] = field(default_factory=dict)
    """When a controller looks at a key again, by `controller key`."""
    tries: dict[str, int] = field(default_factory=dict)
    """How often something failed in a row, by `controller key`."""
    notes: dict[str, str] = field(default_factory=dict)
    """What controllers remember that no object says, by `controller what`."""
