"""All stories of the contract, by name."""

from __future__ import annotations

from inspect import getmembers, iscoroutinefunction

from tests.contract.kubernetes.doors import Story
from tests.contract.kubernetes.stories import objects, watching, workloads

EVERY: dict[str, Story[None]] = {
    name: story
    for module in (objects, workloads, watching)
    for name, story in getmembers(module, iscoroutinefunction)
    if story.__module__ == module.__name__ and not name.startswith("_")
}
