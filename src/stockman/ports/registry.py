"""The registries that charts and images are published in."""

from __future__ import annotations

from typing import Protocol


class Registry(Protocol):
    """OCI registries, asked without credentials."""

    async def tags(self, repository: str) -> tuple[str, ...]:
        """Every tag of the repository at an `oci://host/path` address, in the registry's order.

        All tags or none: where a registry cannot be read to the end, this raises.
        `NotFound`: no such repository, or none that the public may see. `Denied`: the registry
        wants credentials. `Rejected`: it answers something else than a list of tags.
        `Unreachable`: no answer in time, too many requests, or a fault of its own.
        """
        ...
